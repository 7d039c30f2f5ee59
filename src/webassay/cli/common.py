"""What several commands share."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console, RenderableType
    from rich.table import Table

    from webassay.core.report import Report
    from webassay.workbench import Listed, Progress, ReportFormat, Selection, Workbench


def names_of(kind: str) -> "Callable[[str], list[str]]":
    """Completion for the names of one kind of thing, installed ones included."""

    def complete(incomplete: str) -> list[str]:
        from webassay.compose.registries import KINDS

        return [name for name in KINDS[kind].names() if name.startswith(incomplete)]

    return complete


Benchmark = Annotated[
    str,
    typer.Option(
        "--benchmark",
        "-b",
        autocompletion=names_of("benchmarks"),
        help="One of `webassay list benchmarks`, or a JSON file of tasks.",
    ),
]
TasksFile = Annotated[
    Path | None, typer.Option("--tasks-file", help="An outside benchmark's task file, unless it was fetched.")
]
Templates = Annotated[
    list[str] | None,
    typer.Option(
        "--template",
        autocompletion=names_of("templates"),
        help="Only this template, or your own: file.py:Class (repeatable).",
    ),
]
Adopted = Annotated[
    list[str] | None,
    typer.Option("--template", help="A template of the run from a file of yours: file.py:Class (repeatable)."),
]
Tasks = Annotated[list[str] | None, typer.Option("--task", "-t", help="Only this task (repeatable).")]
Instances = Annotated[int, typer.Option("--instances", "-n", min=1, max=100, help="Instances of each template.")]
WorldSeed = Annotated[int, typer.Option("--world-seed", min=0, help="Seed of the sites' data.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the templates' parameters.")]
Difficulty = Annotated[str, typer.Option("--difficulty", help="Only tasks that are easy, medium, hard or extreme.")]
Scale = Annotated[
    str, typer.Option("--scale", help="Size of the sites, where they have sizes: small, default or large.")
]
Obstacles = Annotated[
    list[str] | None,
    typer.Option("--obstacles", help="An obstacle, such as cookie-banner or slow; `any` draws one (repeatable)."),
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="At most this many tasks.")]
Runs = Annotated[list[Path], typer.Argument(help="Run directories.")]
Html = Annotated[Path | None, typer.Option("--html", help="Also write one self-contained page here.")]
Json = Annotated[bool, typer.Option("--json", help="Everything, as JSON, on standard output.")]
Markdown = Annotated[bool, typer.Option("--markdown", help="Tables for a README or a paper.")]
Csv = Annotated[bool, typer.Option("--csv", help="Rows for a spreadsheet.")]
Format = Annotated[
    str | None,
    typer.Option("--format", autocompletion=names_of("formats"), help="Any of `webassay list formats`."),
]


def selection(
    benchmark: str = "arena",
    tasks_file: Path | None = None,
    template: list[str] | None = None,
    task: list[str] | None = None,
    difficulty: str = "",
    obstacles: list[str] | None = None,
    **drawn: int | str | None,
) -> "Selection":
    from webassay.workbench import Selection

    return Selection(
        benchmark=benchmark,
        file=str(tasks_file or ""),
        templates=tuple(template or ()),
        tasks=tuple(task or ()),
        difficulty=difficulty,
        obstacles=tuple(obstacles or ()),
        **drawn,  # type: ignore[arg-type]
    )


@contextmanager
def workbench() -> "Iterator[Workbench]":
    """The application, with a bar on standard error while it works. Ctrl-C is no accident and no traceback."""
    from webassay.workbench import Workbench

    told: set[str] = set()

    def tell(said: str) -> None:
        if said not in told:  # Several parts of one command may come across the same thing.
            told.add(said)
            say(f"! {said}", stderr=True)

    with _bar() as show:
        try:
            yield Workbench(
                cache=os.environ.get("WEBASSAY_CACHE"),
                chromium=os.environ.get("WEBASSAY_CHROMIUM"),
                on_progress=show,
                on_notice=tell,
            )
        except KeyboardInterrupt:
            print("\nInterrupted. Finished work is kept; run the same command again to resume.", file=sys.stderr)
            raise typer.Exit(130) from None


@contextmanager
def _bar() -> "Iterator[Callable[[Progress], None]]":
    """On standard error: a bar for a person, and where nobody looks a line now and then."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    out = console(stderr=True)
    if not out.is_terminal:
        yield _Lines().show
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=out, transient=True) as bar:
        lines: dict[str, int] = {}

        def show(progress: "Progress") -> None:
            if progress.doing not in lines:
                for line in lines.values():
                    bar.update(line, visible=False)  # type: ignore[arg-type]
                lines[progress.doing] = bar.add_task(progress.doing, total=progress.total)
            said = ", ".join(f"{count} {status}" for status, count in progress.counts.items() if count)
            bar.update(
                lines[progress.doing],  # type: ignore[arg-type]
                completed=progress.done,
                total=progress.total,
                description=f"{progress.doing} ({said})" if said else progress.doing,
            )

        yield show


class _Lines:
    """What a log file shows of long work: some twenty lines, one for each unit where there are fewer."""

    def __init__(self) -> None:
        self._said: dict[str, int] = {}

    def show(self, progress: "Progress") -> None:
        if not progress.total or not progress.done:
            return
        step = max(1, progress.total // MOST_LINES)
        last = self._said.get(progress.doing, 0)
        if progress.done - last < step and (progress.done < progress.total or progress.done == last):
            return
        self._said[progress.doing] = progress.done
        counts = ", ".join(f"{count} {status}" for status, count in progress.counts.items() if count)
        say(f"{progress.doing} {progress.done}/{progress.total}" + (f": {counts}" if counts else ""), stderr=True)


MOST_LINES = 20
WIDE = 160
"""Columns of a table in a file or a pipe, unless COLUMNS says otherwise."""


def console(*, stderr: bool = False) -> "Console":
    """No markup and no emoji codes: names of files and agents may hold brackets and colons."""
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = WIDE
    return made


def say(text: str, *, stderr: bool = False) -> None:
    """Prints what somebody else wrote: whatever would steer the terminal is shown as an escape."""
    from webassay.core.text import printable

    # At once: in a log file, what comes later on the other stream would else stand before it.
    print(printable(text, lines=True), file=sys.stderr if stderr else sys.stdout, flush=True)


def show(table: "Table") -> None:
    """For a person as a table; in a pipe one line a row, whole, with tabs between the cells."""
    from webassay.core.text import printable

    out = console()
    if out.is_terminal:
        out.print(table)
        return
    for cells in zip(*(column.cells for column in table.columns), strict=True):
        print("\t".join(printable(str(cell)) for cell in cells))


def indented(text: str) -> str:
    """What somebody's code said, safe to print."""
    from webassay.core.text import printable

    return "\n".join(f"    {line}" for line in printable(text.rstrip(), lines=True).split("\n"))


def tell_crashes(bench: "Workbench", run: Path) -> None:
    """Whoever wrote the agent wants to see at once what it ran into."""
    from webassay.core.text import printable

    for crash in bench.crashes(run):
        times = f"{crash.times} of {crash.episodes} episodes"
        print(f"\n{printable(crash.agent)} crashed in {times}; first in {printable(crash.unit)}:", file=sys.stderr)
        print(indented(crash.said), file=sys.stderr)


def refuse(reason: str, hint: str, **options: object) -> None:
    """Options that would do nothing here: who gives one must not believe that it was heeded."""
    from webassay.core.errors import InputError

    for name, value in options.items():
        # Zero was given too: `--max-usd 0`.
        if value is not None and value is not False and value != []:
            raise InputError(f"--{name.replace('_', '-')} {reason}.", hint=hint)


def new_directory(name: str) -> Path:
    number = 1
    while (place := Path("runs") / f"{name}-{number}").exists():
        number += 1
    return place


def write(path: Path, text: str) -> Path:
    from webassay.core.errors import InputError

    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error
    return path


# --- results ----------------------------------------------------------------------------------------------------


def chosen_format(name: str | None, as_json: bool = False, markdown: bool = False, as_csv: bool = False) -> str:
    return name or ("json" if as_json else "markdown" if markdown else "csv" if as_csv else "table")


def quoted(path: Path) -> str:
    """For commands to be pasted."""
    return shlex.quote(str(path))


def program() -> str:
    """How this program is called from here: by its name, or by its path where the shell does not find it."""
    if shutil.which("webassay"):
        return "webassay"
    return os.path.relpath(sys.argv[0]) if Path(sys.argv[0]).name == "webassay" else "python -m webassay"


def give(made: "Report | Listed", form: str, html: Path | None = None) -> None:
    """A table for a person, or text for a program; and the page, if one is wanted."""
    from webassay.compose.registries import FORMATS

    given = _rendered(made, FORMATS.load(form))
    if isinstance(given, str):
        # A program gets it as it is; JSON has no such characters anyway.
        (say if sys.stdout.isatty() else print)(given.rstrip("\n"))
    else:
        console().print(given)
    if html is not None:
        place = write(html, str(_rendered(made, FORMATS.get("html"))))
        say(f"Report: {place}", stderr=form != "table")


def _rendered(made: "Report | Listed", form: "ReportFormat") -> "RenderableType":
    from webassay.core.report import Report

    return form.report(made) if isinstance(made, Report) else form.listed(made)
