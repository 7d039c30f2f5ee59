"""What commands share: the workbench with a progress bar, and how they print."""

import os
import shlex
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rich.console import Console, RenderableType
    from rich.table import Table

    from webassay.core.progress import Progress
    from webassay.core.report import Report
    from webassay.workbench import Document, ReportFormat, Workbench


@contextmanager
def workbench(*, waits: bool = False) -> "Iterator[Workbench]":
    """The application, with a bar on standard error while it works; none if it only `waits` to be stopped. Ctrl-C is no
    accident and no traceback."""
    notices: set[str] = set()

    def tell(notice: str) -> None:
        if notice not in notices:  # Several parts of one command may come across the same thing.
            notices.add(notice)
            say(f"! {notice}", stderr=True)

    with _bar(waits) as show:
        from webassay.workbench import Workbench  # Takes a second; on a busy machine, many.

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
def _bar(waits: bool) -> "Iterator[Callable[[Progress], None]]":
    """On standard error: a bar for a person, and where nobody looks a line now and then."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    from webassay.core.text import printable

    out = console(stderr=True)
    if waits:
        yield lambda progress: None
        return
    if not out.is_terminal:
        with _Lines() as lines_only:
            yield lines_only.show
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
            counts = _counts(progress)
            title = f"{progress.doing} ({counts})" if counts else progress.doing
            if progress.trouble:
                title += f"\n  latest {printable(progress.trouble)}"
            bar.update(
                lines[progress.doing],  # type: ignore[arg-type]
                completed=progress.done,
                total=progress.total,
                description=title,
            )

        yield show


def _counts(progress: "Progress") -> str:
    return ", ".join(f"{count} {status}" for status, count in progress.counts.items() if count)


class _Lines:
    """What a log file shows of long work: some twenty lines, one for each unit where there are fewer; and one more
    whenever nothing was said for long."""

    def __init__(self) -> None:
        self._shown: dict[str, int] = {}
        self._now = "working"
        self._said = time.monotonic() - HEAD_START
        self._since = time.monotonic()
        self._over = threading.Event()

    def show(self, progress: "Progress") -> None:
        last, total = self._shown.get(progress.doing, 0), progress.total
        how_far = f" {progress.done}/{total}" if total else ""
        more = "; ".join(filter(None, (_counts(progress), progress.trouble and f"latest {progress.trouble}")))
        now = f"{progress.doing}{how_far}" + (f": {more}" if more else "")
        self._since = self._since if now == self._now else time.monotonic()
        self._now = now
        if total and (progress.done - last >= max(1, total // MOST_LINES) or progress.done == total != last):
            self._shown[progress.doing] = progress.done
            self._say(self._now)

    def _say(self, text: str) -> None:
        self._said = time.monotonic()
        say(text, stderr=True)

    def __enter__(self) -> "_Lines":
        threading.Thread(target=self._beat, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def _beat(self) -> None:
        while not self._over.wait(1.0):
            if time.monotonic() - self._said > MOST_SILENCE:
                self._say(f"… {self._now} ({time.monotonic() - self._since:.0f} s)")


BELOW_THRESHOLD = 4
"""The exit code where agents did not reach what was asked of them."""
MOST_LINES = 20
MOST_SILENCE = 8.0
"""Seconds."""
HEAD_START = 4.0
"""Seconds for which it was silent already: a busy machine takes as long to load Python."""
WIDE = 160
"""Columns of a table in a file or a pipe, unless COLUMNS says otherwise."""


def console(*, stderr: bool = False) -> "Console":
    """No markup and no emoji codes: names of files and agents may hold brackets and colons."""
    from rich.console import Console

    out = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not out.is_terminal and "COLUMNS" not in os.environ:
        out.width = WIDE
    return out


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
    """Somebody's trace, safe to print."""
    from webassay.core.text import printable

    return "\n".join(f"    {line}" for line in printable(text.rstrip(), lines=True).split("\n"))


def tell_outcome(bench: "Workbench", run: Path) -> int:
    """What went wrong, each reason with its count; the exit code that is due."""
    from webassay.core.text import printable, quoted

    found = bench.outcome(run)
    for one in found.troubles[:MOST_REASONS]:
        times = f"{one.reason.kind} in {one.times} of {one.episodes} episodes"
        first = f"first in {quoted(one.unit)}"
        print(f"\n{printable(one.agent)}: {times}, {first}: {printable(one.reason.text)}", file=sys.stderr)
        if one.trace and one.trace.strip() != one.reason.text:
            print(indented(one.trace), file=sys.stderr)
    if more := found.troubles[MOST_REASONS:]:
        print(
            f"\n… and {len(more)} other reasons; `webassay show {quoted(str(run))}` lists the units.", file=sys.stderr
        )
    if found.measured:
        return 0
    crashes = bool(found.troubles) and all(one.reason.kind == "crash" for one in found.troubles)
    why = (
        "every episode ended in a crash of the agent, which counts as a failure but says nothing about it"
        if crashes
        else "no episode was played to its end and decided"
    )
    print(f"\nNothing was measured: {why}.", file=sys.stderr)
    return NOTHING_MEASURED


MOST_REASONS = 8
NOTHING_MEASURED = 3
SPENT = 5
"""Exit codes are in docs/running.md."""


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


def quoted(path: Path) -> str:
    """For commands to be pasted."""
    return shlex.quote(str(path))


def program() -> str:
    """How this program is called from here: by its name, or by its path where the shell does not find it."""
    if shutil.which("webassay"):
        return "webassay"
    return os.path.relpath(sys.argv[0]) if Path(sys.argv[0]).name == "webassay" else "python -m webassay"


def give(result: "Report | Document", form: str, html: Path | None = None) -> None:
    """A table for a person, or text for a program; and the page, if one is wanted."""
    from webassay.compose.registries import FORMATS

    rendered = _rendered(result, FORMATS.load(form))
    if isinstance(rendered, str):
        # A program gets it as it is; JSON has no such characters anyway.
        (say if sys.stdout.isatty() else print)(rendered.rstrip("\n"))
    else:
        console().print(rendered)
    if html is not None:
        place = write(html, str(_rendered(result, FORMATS.get("html"))))
        say(f"Report: {place}", stderr=form != "table")


def give_units(rows: "Sequence[Mapping[str, object]]", form: str) -> None:
    """Rows of units, for a program."""
    from webassay.compose.registries import FORMATS
    from webassay.core.errors import InputError

    write_rows = FORMATS.load(form).units
    if write_rows is None:
        able = ", ".join(one.name for one in FORMATS if one.units is not None)
        raise InputError(f"--units cannot be written as {form}.", hint=f"Choose --format: {able}.")
    written = write_rows(rows)
    if isinstance(written, str):
        print(written, end="")
    elif sys.stdout.isatty():
        raise InputError(f"{form} is not for a terminal.", hint="Send it to a file: > units.parquet")
    else:
        sys.stdout.buffer.write(written)


def _rendered(result: "Report | Document", form: "ReportFormat") -> "RenderableType":
    from webassay.core.report import Report

    return form.report(result) if isinstance(result, Report) else form.document(result)
