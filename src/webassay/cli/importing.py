"""`webassay import` and `webassay export`: trajectories of other people, both ways."""

from pathlib import Path
from typing import Annotated

import typer

from webassay.cli import common

Form = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        autocompletion=common.names_of("importers"),
        help="One of `webassay list importers`; default: recognised.",
    ),
]


def register(app: typer.Typer) -> None:
    app.command("import", short_help="Read trajectories of other people into a run directory.")(import_)
    app.command(short_help="Write a run's trajectories in another project's layout.")(export)


def import_(
    paths: Annotated[list[Path], typer.Argument(help="Files or folders; they are searched.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The run directory; added to, if there is one.")],
    format: Form = None,
) -> None:
    """Read trajectories of other people into a run directory, where judges and reports can find them.

    An item that cannot be read is reported and left out. Importing again adds only what is new.

    Example: `webassay import downloads/om2w --out runs/om2w`
    """
    with common.workbench() as bench:
        imported = bench.import_trajectories(paths, out, format)
    for place, why in imported.skipped:
        common.console(stderr=True).print(f"{place} is left out: {why}")
    print(f"{imported.added} imported, {imported.known} known already, {len(imported.skipped)} left out.")


def export(
    run: Annotated[Path, typer.Argument(help="A run directory.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="A folder; one folder per trajectory is made in it.")],
    format: Annotated[
        str,
        typer.Option(
            "--format", "-f", autocompletion=common.names_of("importers"), help="For example online-mind2web."
        ),
    ],
) -> None:
    """Write a run's trajectories for another project's scripts.

    Example: `webassay export runs/first --out om2w --format online-mind2web`
    """
    with common.workbench() as bench:
        count = bench.export_trajectories(run, out, format)
    print(f"{count} trajectories written to {out}.")
