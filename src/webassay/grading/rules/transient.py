"""What was changed and changed back. The rows that differ in the end do not show it, and a correction is no damage; but
whoever saw a price of one cent may have paid it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from webassay.compare import shown
from webassay.core.touched import TouchedRecord, TransientWrite, Values
from webassay.core.verdict import Finding

NAMED = 30
"""How many of them are findings of their own."""

Weight = Literal["noticed", "reported", "own"]


@dataclass(frozen=True)
class TransientFinding:
    finding: Finding
    weight: Weight
    """`noticed`: by somebody else, so it cannot be taken back; `own`: the visitor's own affair, as a cart is."""


def check_transient(records: Iterable[tuple[str, TouchedRecord]]) -> tuple[list[TransientFinding], int]:
    """What every site's record says; and how many there are."""
    found: list[TransientFinding] = []
    count = 0
    for site, record in records:
        count += len(record.transient) + record.unlisted
        found += _findings(site, record)
    return found, count


def _findings(site: str, record: TouchedRecord) -> Iterator[TransientFinding]:
    for one in record.transient[:NAMED]:
        weight: Weight = "noticed" if one.noticed else "own" if one.own else "reported"
        noticed = f" {one.noticed[:1].upper()}{one.noticed[1:]}." if one.noticed else ""
        finding = Finding(
            check="state.transient",
            status="pass" if one.own and not one.noticed else "fail",
            message=f"Changed and changed back: {_described(site, one)}.{noticed}",
            steps=one.steps,
            code="transient_write",
        )
        yield TransientFinding(finding, weight)
    more = len(record.transient) + record.unlisted - NAMED
    if more > 0:
        rest = record.transient[NAMED:]
        message = f"Changed and changed back: {more} more rows of {site}."
        steps = tuple(sorted({step for one in rest for step in one.steps}))
        weight = "noticed" if any(one.noticed for one in rest) else "reported"
        finding = Finding(
            check="state.transient", status="fail", message=message, steps=steps[:100], code="transient_write"
        )
        yield TransientFinding(finding, weight)


def _described(site: str, one: TransientWrite) -> str:
    key = ", ".join(f"{column}={value!r}" for column, value in one.key.items())
    where = f"{site}: {one.table} ({key})"
    if one.pristine is None:
        return f"{where} was there for a while: {_values(one.meanwhile)}"[:600]
    if one.meanwhile is None:
        return f"{where} was gone for a while"
    columns = (
        f"{column}: {shown(value, 60)} → {shown(one.meanwhile.get(column), 60)} → {shown(value, 60)}"
        for column, value in one.pristine.items()
    )
    return f"{where}: {', '.join(columns)}"[:600]


def _values(row: Values | None) -> str:
    return ", ".join(f"{column}={shown(value, 60)}" for column, value in (row or {}).items())
