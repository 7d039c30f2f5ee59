"""Commands that read verdicts: report, compare, leaderboard, audit, subset."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from webassay.cli import common

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import RenderableType

    from webassay.analysis.agreement import Label
    from webassay.core.report import Report
    from webassay.core.task import Task

Form = Literal["table", "markdown", "json", "csv", "html"]

Runs = Annotated[list[Path], typer.Argument(help="Run directories.")]
Html = Annotated[Path | None, typer.Option("--html", help="Write one self-contained page here.")]
Json = Annotated[bool, typer.Option("--json", help="Everything, as JSON, on standard output.")]
Markdown = Annotated[bool, typer.Option("--markdown", help="Tables for a README or a paper.")]
Csv = Annotated[bool, typer.Option("--csv", help="Rows for a spreadsheet.")]


def register(app: typer.Typer) -> None:
    app.command(short_help="Success with intervals, as text, page or data.")(report)
    app.command(short_help="Agents against an anchor, template by template.")(compare)
    app.command(short_help="Many runs on one page, never mixing graders.")(leaderboard)
    app.command(short_help="What is wrong with a benchmark, task by task.")(audit)
    app.command(short_help="The hard part of a benchmark, by the paper's rule.")(subset)


def report(
    runs: Runs, html: Html = None, as_json: Json = False, markdown: Markdown = False, as_csv: Csv = False
) -> None:
    """Success with intervals, counts and failure modes: on the terminal, as a page, or as data.

    Example: `webassay report runs/first --html report.html`
    """
    from webassay.analysis import commands

    rows = {path.name: common.rows_of(path) for path in runs}
    _give(lambda form: commands.report(rows, form=form), _form(as_json, markdown, as_csv), html)


def compare(
    runs: Runs,
    anchor: Annotated[str | None, typer.Option("--anchor", help="Compare with this agent; default: the best.")] = None,
    html: Html = None,
    as_json: Json = False,
    markdown: Markdown = False,
    as_csv: Csv = False,
) -> None:
    """Paired differences between agents over the templates that both played, corrected for many comparisons.

    Example: `webassay compare runs/a runs/b --anchor oracle`
    """
    from webassay.analysis import commands

    rows = {path.name: common.rows_of(path) for path in runs}
    _give(lambda form: commands.report(rows, form=form, anchor=anchor), _form(as_json, markdown, as_csv), html)


def leaderboard(
    runs: Runs,
    title: Annotated[str, typer.Option("--title", help="Stands above the table.")] = "Leaderboard",
    html: Html = None,
    as_json: Json = False,
    markdown: Markdown = False,
    as_csv: Csv = False,
) -> None:
    """Many runs in one table, by the fingerprints of graders and data: scores under different rules stay apart.

    Example: `webassay leaderboard runs/* --html leaderboard.html`
    """
    from webassay.analysis import commands

    rows = {path.name: common.rows_of(path) for path in runs}
    _give(lambda form: commands.leaderboard(rows, form=form, title=title), _form(as_json, markdown, as_csv), html)


def audit(
    benchmark: Annotated[
        list[str],
        typer.Argument(help="webarena, webarena-verified, webchorearena=FILE, arena, or files of tasks."),
    ],
    runs: Annotated[list[Path] | None, typer.Option("--runs", help="Runs on these tasks (repeatable).")] = None,
    labels: Annotated[
        Path | None, typer.Option("--labels", help="Manual labels (JSON list), for agreement between annotators.")
    ] = None,
    html: Html = None,
    as_json: Json = False,
    markdown: Markdown = False,
    as_csv: Csv = False,
) -> None:
    """Brittle checks, doubtful keys, tasks that give their answer away: a list to work through, with a fix for each.

    Example: `webassay tasks fetch webarena`, then `webassay audit webarena`
    """
    from webassay.analysis import commands

    tasks = [task for name in benchmark for task in _tasks(name)]
    rows = [row for path in runs or [] for row in common.rows_of(path)]
    verdicts = [verdict for path in runs or [] for verdict in common.verdicts_of(path)]
    manual = _labels(labels)

    def made(form: Form) -> "RenderableType":
        return commands.audit(tasks, rows, verdicts=verdicts, labels=manual, form=form)

    _give(made, _form(as_json, markdown, as_csv), html)


def subset(
    runs: Runs,
    level: Annotated[str, typer.Option("--level", help="`text`: the paper's 95 %; `appendix`: z = 1.282.")] = "text",
    size: Annotated[int | None, typer.Option("--size", min=1, help="At most this many tasks.")] = None,
    seed: common.Seed = 0,
    html: Html = None,
    as_json: Json = False,
    markdown: Markdown = False,
    as_csv: Csv = False,
) -> None:
    """The tasks that tell agents apart, chosen from runs of several agents, with how far the choice can be trusted.

    Example: `webassay subset runs/* --size 137 --json`
    """
    from webassay.analysis import commands
    from webassay.analysis import subset as subsets
    from webassay.catalog import nearest

    levels = {"text": subsets.TEXT, "appendix": subsets.APPENDIX}
    if level not in levels:
        raise nearest("level", level, levels)
    procedure = levels[level].model_copy(update={"size": size, "seed": seed})
    rows = commands.together({path.name: common.rows_of(path) for path in runs})
    _give(lambda form: commands.choose_subset(rows, procedure, form=form), _form(as_json, markdown, as_csv), html)


def _tasks(name: str) -> "Sequence[Task]":
    from webassay.catalog import Selection

    benchmark, _, file = name.partition("=")
    return common.build(Selection(benchmark=benchmark, file=file)).tasks


def _labels(path: Path | None) -> "list[Label]":
    from pydantic import TypeAdapter, ValidationError

    from webassay.analysis import agreement
    from webassay.core.errors import InputError

    if path is None:
        return []
    try:
        return TypeAdapter(list[agreement.Label]).validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    except ValidationError as error:
        raise InputError(f"{path} is not a list of labels: {error.errors()[0]['msg']}.") from error


def _form(as_json: bool, markdown: bool, as_csv: bool) -> Form:
    return "json" if as_json else "markdown" if markdown else "csv" if as_csv else "table"


def _give(made: "Callable[[Form], RenderableType]", form: Form, html: Path | None) -> None:
    """A table for a person, or text for a program; beside it the page where one is wanted."""
    given = made(form)
    if form == "table":
        common.console().print(given)
    else:
        print(str(given).rstrip("\n"))
    if html is not None:
        place = write(html, str(made("html")))
        common.console(stderr=form != "table").print(f"Report: {place}")


def show(found: "Report") -> None:
    from webassay.analysis.render import to_table

    common.console().print(to_table(found))


def write(path: Path, text: str) -> Path:
    from webassay.core.errors import InputError

    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error
    return path
