"""`webassay faultbench`: trajectories with known mistakes, and how well judges find them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webassay.cli import common
from webassay.cli.command import JUDGE, Command
from webassay.cli.options import Json, Seed, Templates, Workers, WorldSeed, shows

if TYPE_CHECKING:
    from webassay.workbench import Document


def generate(
    out: Annotated[Path, typer.Option("--out", "-o", help="The bench directory; an unfinished bench is resumed.")],
    count: Annotated[
        int, typer.Option("--count", "-n", min=2, max=100_000, help="Trajectories; half are honest.")
    ] = 200,
    seed: Seed = 0,
    world_seed: WorldSeed = 0,
    code: Annotated[
        list[str] | None, typer.Option("--code", help="Only this kind of mistake, such as 2.1 (repeatable).")
    ] = None,
    template: Templates = None,
    longest: Annotated[
        int, typer.Option("--longest", min=1, max=240, help="Leave out tasks that may take more steps.")
    ] = 40,
    name: Annotated[str, typer.Option("--name", help="The bench's name.")] = "faultbench-v1",
    workers: Workers = 2,
    as_json: Json = False,
) -> None:
    """Play arena tasks with exactly one known mistake each, paired with honest runs that look alike.

    The label is the mistake that was made, with its code, its step and whether the rules can see it. Half of the
    templates are for tuning (dev), the other half for testing. The same seed makes the same labels, actions and
    changes. Pairs that could not be made are counted, and a table shows how evenly the bench covers codes, sites and
    lengths.

    If the command is killed, interrupted or crashes, run it again to resume: no finished pair is played again.

    Example: `webassay faultbench generate -o faultbench-v1 -n 1000`
    """
    from webassay import run_sync
    from webassay.workbench import BenchOptions, bench_in_words

    options = BenchOptions(
        name=name,
        trajectories=count,
        seed=seed,
        world_seed=world_seed,
        workers=workers,
        codes=tuple(code or ()),
        templates=tuple(template or ()),
        longest=longest,
    )
    with common.workbench() as bench:
        generated = run_sync(bench.make_faultbench(out, options))
    if as_json:
        print(generated.model_dump_json(indent=1))
    else:
        run = common.quoted(out)
        common.give(bench_in_words(generated), "table")
        common.say(
            f"\nJudge it: webassay verify {run} --judge NAME --model MODEL; then webassay faultbench score {run}"
        )
    if generated.disagreements:
        raise typer.Exit(1)


@shows
def score(
    bench: Annotated[Path, typer.Argument(help="A bench made by `generate`, with verdicts by `webassay verify`.")],
    prediction: Annotated[
        list[str] | None,
        typer.Option("--predictions", help="NAME=FILE: JSON lines from your own judge (repeatable)."),
    ] = None,
) -> "Document":
    """How well judges find a bench's mistakes: kappa, FPR, FNR, what they find of each kind, and how close they come to
    the step, on the whole bench and on each half, next to baselines that need no judge.

    Every judge with verdicts in the bench is scored. A line of `--predictions` has trajectory_id, outcome (pass or
    fail) and optionally code and step (from 0).

    Example: `webassay verify faultbench-v1 --judge webjudge --model openai:NAME`, then
    `webassay faultbench score faultbench-v1`
    """
    with common.workbench() as work:
        return work.score_faultbench(bench, prediction or ())


FAULTBENCH = Command(
    "faultbench",
    JUDGE,
    "A bench for judges: trajectories with one known mistake each.",
    {"generate": generate, "score": score},
    5,
)
