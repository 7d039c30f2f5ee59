"""`webassay agree`: how far judges can be trusted."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from webassay.cli import common
from webassay.cli.command import JUDGE, Command
from webassay.cli.options import shows

if TYPE_CHECKING:
    from webassay.workbench import Document

Missing = Literal["left-out", "failure"]
Stage = Literal["blind", "informed"]


@shows
def agree(
    labels: Annotated[str, typer.Argument(help="People's labels: a table, or a run directory.")],
    predictions: Annotated[
        list[str] | None,
        typer.Argument(help="Judges' verdicts: tables, or run directories. NAME=PATH names a judge."),
    ] = None,
    map: Annotated[
        list[str] | None,
        typer.Option("--map", help="ROLE=COLUMN: what a column holds. COLUMN,COLUMN: several; COLUMN>0.5: a bound."),
    ] = None,
    passing: Annotated[list[str] | None, typer.Option("--pass", help="A word that means pass (repeatable).")] = None,
    failing: Annotated[list[str] | None, typer.Option("--fail", help="A word that means fail (repeatable).")] = None,
    missing: Annotated[
        Missing, typer.Option("--missing", help="What an item without a verdict counts as.")
    ] = "left-out",
    stage: Annotated[Stage, typer.Option("--stage", help="Labels given before or after people saw a judge.")] = "blind",
    tie_breaker: Annotated[
        str, typer.Option("--tie-breaker", help="The annotator who decides when the others are split evenly.")
    ] = "",
    reference: Annotated[
        str, typer.Option("--reference", help="Whose verdicts are the truth: a judge, or one annotator.")
    ] = "",
    judge: Annotated[list[str] | None, typer.Option("--judge", help="Only this judge (repeatable).")] = None,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", help="Group by split, benchmark or agent; crossed: benchmark,agent (repeatable)."),
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", min=0.0, max=1.0, help="The lowest process score that counts as good.")
    ] = 0.8,
    draws: Annotated[int, typer.Option("--draws", min=100, max=100_000, help="Resamples for the intervals.")] = 2000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Resampling seed: same seed, same intervals.")] = 0,
) -> "Document":
    """How far judges agree with people: accuracy, precision, recall, F1, kappa, FPR, FNR and MCC with intervals,
    compared with baselines that do not look, and how far people agree with each other.

    Tables are CSV, TSV, JSON or JSONL, with the columns id and label (or prediction), and optionally cluster,
    annotator, split, benchmark, agent, score, process, stage, run, terminated and steps. Several label columns are
    several annotators; several prediction columns are several judges.

    Example: `webassay agree labels.csv webjudge.csv universal.csv --html trust.html`

    Example: `webassay agree dev.csv --map id=agent,task_id --map label=human --map prediction=judge_a,judge_b`

    Example: `webassay agree runs/om2w --reference "universal openai:NAME" --by benchmark,agent`
    """
    from webassay.workbench import AgreeOptions, LabelColumns, StudyOptions

    options = AgreeOptions(
        mapped=LabelColumns.read(map or (), passing or (), failing or ()),
        reference=reference,
        judges=judge or (),
        study=StudyOptions(missing, stage, tie_breaker, threshold, _crossed(by or ()), draws, seed),
    )
    with common.workbench() as bench:
        return bench.agree(labels, predictions or (), options)


def _crossed(by: list[str] | tuple[str, ...]) -> list[list[str]]:
    return [[name.strip() for name in one.split(",")] for one in by]


AGREE = Command("agree", JUDGE, "How far judges agree with people, and people with each other.", agree, 4)
