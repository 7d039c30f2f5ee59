"""`webassay store`: what is damaged in a run directory, and what can be had back."""

from pathlib import Path
from typing import Annotated

import typer

from webassay.cli import common

app = typer.Typer(help="Find damage in run directories, and recover what is whole.", no_args_is_help=True)

Run = Annotated[Path, typer.Argument(help="A run directory.")]


def register(parent: typer.Typer) -> None:
    parent.add_typer(app, name="store")


@app.command()
def check(run: Run) -> None:
    """Name every damage: rows, records, pictures, logs. Everything is read, nothing is changed.

    Example: `webassay store check runs/first`
    """
    with common.workbench() as bench:
        found = bench.check_store(run)
    for damage in found:
        common.say(f"{damage.what} It costs {damage.unit}." if damage.unit else damage.what)
    if not found:
        common.say(f"{run} is whole.")
        return
    units = len({damage.unit for damage in found if damage.unit})
    costs = f"{units} units, which `webassay run` plays again" if units else "no unit that is known"
    common.say(f"Damages: {len(found)}. They cost {costs}.".replace(" 1 units, which", " 1 unit, which"))
    raise typer.Exit(1)


@app.command()
def repair(run: Run) -> None:
    """Write a new ledger of every row that is whole. The damaged one is kept beside it.

    What is missing then is played again by `webassay run`, or graded again by `webassay grade`.

    Example: `webassay store repair runs/first`
    """
    with common.workbench() as bench:
        made = bench.repair_store(run)
    rows = ", ".join(f"{count} {name}{'' if count == 1 else 's'}" for name, count in _named(made.recovered).items())
    common.say(f"Recovered: {rows}.")
    for lost in made.lost:
        common.say(f"Lost: {lost}.")
    common.say(f"The damaged ledger is kept as {made.kept_as}.")


def _named(recovered: "dict[str, int]") -> "dict[str, int]":
    return {{"trajectory": "episode"}.get(table, table): count for table, count in recovered.items()}
