"""`webassay audit`: what is wrong with a benchmark."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webassay.cli import common
from webassay.cli.command import DATA, Command
from webassay.cli.options import Grader, shows

if TYPE_CHECKING:
    from webassay.workbench import Document, Label


@shows
def audit(
    benchmark: Annotated[
        list[str],
        typer.Argument(help="webarena, webarena-verified, webchorearena=FILE, arena, or files of tasks."),
    ],
    runs: Annotated[list[Path] | None, typer.Option("--runs", help="Runs on these tasks (repeatable).")] = None,
    labels: Annotated[
        Path | None, typer.Option("--labels", help="Manual labels (JSON list), for agreement between annotators.")
    ] = None,
    against: Annotated[
        str | None, typer.Option("--against", help="A revision of the benchmark, to list what it changed.")
    ] = None,
    grader: Grader = "",
) -> "Document":
    """Brittle checks, doubtful keys, tasks that give their answer away: a list to work through, with a fix for each.

    Example: `webassay tasks fetch webarena`, then `webassay audit webarena`

    Example: `webassay audit webarena --against webarena-verified --csv > changes.csv`
    """
    from webassay.core.errors import InputError

    if against and (len(benchmark) > 1 or runs or labels):
        raise InputError(
            "--against compares two benchmarks and nothing else.",
            hint="Give one benchmark, without --runs and --labels.",
        )
    with common.workbench() as bench:
        if against:
            return bench.audit_against(benchmark[0], against)
        return bench.audit(benchmark, runs or (), _labels(labels), grader)


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


AUDIT = Command("audit", DATA, "What is wrong with a benchmark, task by task.", audit)
