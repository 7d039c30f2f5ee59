"""Commands that read verdicts: report, compare, leaderboard, audit, subset, protocols."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webassay.cli import common
from webassay.cli.common import Csv, Format, Html, Json, Markdown, Runs
from webassay.cli.showing import Episodes, EpisodesForAll, write_page

if TYPE_CHECKING:
    from webassay.workbench import Label

Grader = Annotated[
    str | None,
    typer.Option("--grader", help='Whose verdicts: rules, a judge ("webjudge openai:NAME"), a person (human:NAME).'),
]
Graders = Annotated[
    list[str] | None,
    typer.Option(
        "--grader",
        help='Whose verdicts: rules, a judge ("webjudge openai:NAME"), a person (human:NAME). Repeat it to put several '
        "beside each other; the first one is behind the numbers.",
    ),
]


def register(app: typer.Typer) -> None:
    app.command(cls=EpisodesForAll, short_help="Success with intervals, as text, page or data.")(report)
    app.command(short_help="Agents against an anchor, template by template.")(compare)
    app.command(short_help="Many runs on one page, never mixing graders.")(leaderboard)
    app.command(short_help="What is wrong with a benchmark, task by task.")(audit)
    app.command(short_help="The hard part of a benchmark, by the paper's rule.")(subset)
    app.command(short_help="WebArena episodes under the old and the verified protocol.")(protocols)


def report(
    runs: Runs,
    grader: Graders = None,
    html: Html = None,
    episodes: Episodes = None,
    as_json: Json = False,
    markdown: Markdown = False,
    as_csv: Csv = False,
    format: Format = None,
) -> None:
    """Success with intervals, counts and failure modes: on the terminal, as a page, or as data.

    The verdicts are those of the rules, or of the only judge where no rule decided. A judge's report also has process
    scores and what went wrong, by error code.

    Example: `webassay report runs/first --html report.html --episodes failed`

    Example: `webassay report runs/om2w --grader "universal openai:NAME" --grader human:anna`
    """
    form = common.chosen_format(format, as_json, markdown, as_csv)
    with common.workbench() as bench:
        made = bench.report(runs, graders=grader or ())
        common.give(made, form)
        write_page(bench, made, runs, html, episodes, quiet=form != "table")


def compare(
    runs: Runs,
    anchor: Annotated[str | None, typer.Option("--anchor", help="Compare with this agent; default: the best.")] = None,
    grader: Graders = None,
    html: Html = None,
    as_json: Json = False,
    markdown: Markdown = False,
    as_csv: Csv = False,
    format: Format = None,
) -> None:
    """Paired differences between agents over the templates that both played, corrected for many comparisons.

    Example: `webassay compare runs/a runs/b --anchor oracle`

    Example: `webassay compare runs/om2w --grader webjudge --grader rules`
    """
    with common.workbench() as bench:
        made = bench.report(runs, anchor=anchor, graders=grader or ())
    common.give(made, common.chosen_format(format, as_json, markdown, as_csv), html)


def leaderboard(
    runs: Runs,
    title: Annotated[str, typer.Option("--title", help="Stands above the table.")] = "Leaderboard",
    grader: Grader = None,
    html: Html = None,
    as_json: Json = False,
    markdown: Markdown = False,
    as_csv: Csv = False,
    format: Format = None,
) -> None:
    """Many runs in one table, by the fingerprints of graders and data: scores under different rules stay apart.

    Example: `webassay leaderboard runs/* --html leaderboard.html`
    """
    with common.workbench() as bench:
        made = bench.leaderboard(runs, title=title, grader=grader or "")
    common.give(made, common.chosen_format(format, as_json, markdown, as_csv), html)


def audit(
    benchmark: Annotated[
        list[str],
        typer.Argument(help="webarena, webarena-verified, webchorearena=FILE, arena, or files of tasks."),
    ],
    runs: Annotated[list[Path] | None, typer.Option("--runs", help="Runs on these tasks (repeatable).")] = None,
    labels: Annotated[
        Path | None, typer.Option("--labels", help="Manual labels (JSON list), for agreement between annotators.")
    ] = None,
    grader: Grader = None,
    html: Html = None,
    as_json: Json = False,
    markdown: Markdown = False,
    as_csv: Csv = False,
    format: Format = None,
) -> None:
    """Brittle checks, doubtful keys, tasks that give their answer away: a list to work through, with a fix for each.

    Example: `webassay tasks fetch webarena`, then `webassay audit webarena`
    """
    with common.workbench() as bench:
        made = bench.audit(benchmark, runs or (), _labels(labels), grader or "")
    common.give(made, common.chosen_format(format, as_json, markdown, as_csv), html)


def subset(
    runs: Runs,
    level: Annotated[str, typer.Option("--level", help="`text`: the paper's 95 %; `appendix`: z = 1.282.")] = "text",
    size: Annotated[int | None, typer.Option("--size", min=1, help="At most this many tasks.")] = None,
    seed: common.Seed = 0,
    grader: Grader = None,
    html: Html = None,
    as_json: Json = False,
    markdown: Markdown = False,
    as_csv: Csv = False,
    format: Format = None,
) -> None:
    """The tasks that tell agents apart, chosen from runs of several agents, with how far the choice can be trusted.

    Example: `webassay subset runs/* --size 137 --json`
    """
    from webassay.registry import nearest
    from webassay.workbench import PROCEDURES

    if level not in PROCEDURES:
        raise nearest("level", level, PROCEDURES)
    procedure = PROCEDURES[level].model_copy(update={"size": size, "seed": seed})
    with common.workbench() as bench:
        made = bench.subset(runs, procedure, grader or "")
    common.give(made, common.chosen_format(format, as_json, markdown, as_csv), html)


def protocols(
    places: Annotated[
        list[Path],
        typer.Argument(help="Runs of webarena or webarena-verified, or folders of WebArena-Verified's logs."),
    ],
    old_tasks: Annotated[Path | None, typer.Option("--old-tasks", help="The original tasks, unless fetched.")] = None,
    verified_tasks: Annotated[Path | None, typer.Option("--verified-tasks", help="The verified ones.")] = None,
    config: Annotated[Path | None, typer.Option("--config", help="Of the harness that wrote the logs.")] = None,
    html: Html = None,
    as_json: Json = False,
    markdown: Markdown = False,
    as_csv: Csv = False,
    format: Format = None,
) -> None:
    """The same episodes by the original WebArena's protocol and by WebArena Verified's: false negatives and positives.

    A structured response is read by the old protocol as the plain answer that it stands for. What the old protocol
    reads on pages that were not recorded stays undecided.

    Example: `webassay tasks fetch webarena`, then `webassay protocols logs/ --csv > differing.csv`
    """
    from webassay.workbench import ProtocolOptions

    options = ProtocolOptions(str(old_tasks or ""), str(verified_tasks or ""), config)
    with common.workbench() as bench:
        made = bench.protocols(places, options)
    common.give(made, common.chosen_format(format, as_json, markdown, as_csv), html)


def _labels(path: Path | None) -> "list[Label]":
    from pydantic import TypeAdapter, ValidationError

    from webassay.core.errors import InputError
    from webassay.core.files import read_regular
    from webassay.workbench import Label

    if path is None:
        return []
    try:
        return TypeAdapter(list[Label]).validate_json(read_regular(path))
    except ValidationError as error:
        raise InputError(f"{path} is not a list of labels: {error.errors()[0]['msg']}.") from error
