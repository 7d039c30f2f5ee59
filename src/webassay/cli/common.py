"""What several commands share."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from webassay.analysis.rows import Row
    from webassay.catalog import Catalog, Selection
    from webassay.core.report import Report
    from webassay.core.verdict import Verdict
    from webassay.store import Store

GRADER = "rules"

Benchmark = Annotated[
    str, typer.Option("--benchmark", "-b", help="`arena`, a registered one, or a JSON file of tasks.")
]
TasksFile = Annotated[
    Path | None, typer.Option("--tasks-file", help="The task file of an outside benchmark, where it is not fetched.")
]
Templates = Annotated[list[str] | None, typer.Option("--template", help="Only this template (repeatable).")]
Tasks = Annotated[list[str] | None, typer.Option("--task", "-t", help="Only this task (repeatable).")]
Instances = Annotated[int, typer.Option("--instances", "-n", min=1, max=100, help="Instances of each template.")]
WorldSeed = Annotated[int, typer.Option("--world-seed", min=0, help="Which seeded copy of the sites.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Which draw of the templates' parameters.")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="At most this many tasks.")]


def cache_dir() -> Path:
    """Built worlds and downloaded task files; safe to delete."""
    if chosen := os.environ.get("WEBASSAY_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "webassay"


def chromium() -> Path:
    from webassay.browser.chromium import find_chromium

    return find_chromium(os.environ.get("WEBASSAY_CHROMIUM"))


def console(*, stderr: bool = False) -> "Console":
    from rich.console import Console

    return Console(stderr=stderr, highlight=False)


@contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl-C in the middle of long work is no accident and no traceback."""
    try:
        yield
    except KeyboardInterrupt:
        print("\nInterrupted. What was finished is kept: the same command goes on from there.", file=sys.stderr)
        raise typer.Exit(130) from None


@contextmanager
def progress(title: str, total: int | None = None) -> "Iterator[tuple[Progress, TaskID]]":
    """A bar on standard error, so that standard output stays clean; nothing where nobody looks."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
    if total is not None:
        columns.append(TimeRemainingColumn())
    out = console(stderr=True)
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as bar:
        yield bar, bar.add_task(title, total=total)


def build(chosen: "Selection") -> "Catalog":
    """The tasks, with a bar: the first time, the worlds have to be made."""
    from webassay.catalog import Catalog

    catalog = Catalog(chosen, cache=cache_dir())
    with progress("building tasks"):
        _ = catalog.tasks
    return catalog


def rows_of(place: Path, *, grader: str = GRADER) -> "list[Row]":
    """Every planned unit of a run, and what became of it."""
    from webassay.store import Store

    with Store.open(place) as store:
        return _rows(store, grader)


def _rows(store: "Store", grader: str) -> "list[Row]":
    from webassay.analysis.report import row_of

    rows = []
    for unit in store.units():
        trajectory = store.trajectory(unit.id)
        verdict = None if trajectory is None else store.verdict(trajectory.id, grader)
        facts = {**unit.facts, "agent": unit.agent, "task_id": unit.task_id, "trial": unit.trial, "seed": unit.seed}
        rows.append(row_of(facts, trajectory, verdict))
    return rows


def verdicts_of(place: Path) -> "list[Verdict]":
    """Of every grader and judge, on the attempts that count."""
    from webassay.store import Store

    with Store.open(place) as store:
        return [verdict for _, trajectory in store.trajectories() for verdict in store.verdicts(trajectory.id)]


def report_of(store: "Store", *, title: str = "") -> "Report":
    from webassay.analysis.report import summarise

    return summarise(_rows(store, GRADER), title=title)
