"""`webassay store`: what is damaged in a run directory, and what can be had back."""

import typer

from webassay.cli import common
from webassay.cli.command import DATA, Command
from webassay.cli.options import Run


def check(run: Run) -> None:
    """List all damage: rows, records, pictures, logs. Everything is read; nothing is changed.

    Example: `webassay store check runs/first`
    """
    with common.workbench() as bench:
        found = bench.check_store(run)
    for damage in found:
        common.say(f"{damage.message} Affected unit: {damage.unit}." if damage.unit else damage.message)
    if not found:
        common.say(f"{run} is undamaged.")
        return
    units = len({damage.unit for damage in found if damage.unit})
    affected = f"Units to play again with `webassay run`: {units}" if units else "No known unit is affected"
    common.say(f"Damaged items: {len(found)}. {affected}.")
    raise typer.Exit(1)


def repair(run: Run) -> None:
    """Write a new ledger from every intact row. The damaged ledger is kept next to it.

    Afterwards, `webassay run` plays again what is missing, or `webassay grade` grades it again.

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


STORE = Command(
    "store", DATA, "Find damage in run directories, recover intact rows.", {"check": check, "repair": repair}
)
