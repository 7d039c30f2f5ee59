"""`webassay tables` and `errors`: the papers' tables."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webassay.cli import common
from webassay.cli.command import LOOK, Command
from webassay.cli.options import Grader, Runs, shows

if TYPE_CHECKING:
    from webassay.workbench import Document


@shows
def tables(
    runs: Annotated[
        list[Path], typer.Argument(help="Run directories, or tables (CSV, JSON lines) of task, agent and outcome.")
    ],
    benchmark: Annotated[
        str, typer.Option("--benchmark", "-b", help="For a table: where its tasks' types and sites are found.")
    ] = "",
    grader: Grader = "",
) -> "Document":
    """WebChoreArena's tables: type of chore by site, modality by site, tools, and one benchmark against another.

    Shares are of scored episodes. A task of two types counts under both.

    Example: `webassay tables runs/webarena runs/chores --html tables.html`
    """
    with common.workbench() as bench:
        return bench.tables(runs, grader, benchmark)


@shows
def errors(
    runs: Runs,
    grader: Grader = "",
) -> "Document":
    """Why episodes failed: WebArena Verified's five classes of errors and WebChoreArena's four patterns.

    Based on what the record shows, and on judges' diagnoses where there are any.

    Example: `webassay errors runs/first --markdown`
    """
    with common.workbench() as bench:
        return bench.errors(runs, grader)


TABLES = Command("tables", LOOK, "Success by type and site, modality, tools, benchmark.", tables, 5)
ERRORS = Command("errors", LOOK, "Why episodes failed, in the papers' classes.", errors, 6)
