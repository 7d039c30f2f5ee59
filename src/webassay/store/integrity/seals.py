"""A seal on every row of the ledger: a hash over all its columns and its number, so that no flipped bit is read as if
it had been written. Records are too long to be read for every report; their own hash is one of the columns."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import apsw
import msgspec

SEALED: Mapping[str, tuple[str, ...]] = {
    "setting": ("key", "value"),
    "rater": ("id", "example"),
    "tally": ("name", "rows"),
    "unit": ("ordinal", "id", "agent", "task", "trial", "benchmark", "template", "hash", "summary"),
    "trajectory": (
        *("ordinal", "id", "unit", "unit_ordinal", "attempt", "agent", "task", "ending", "faulted"),
        *("steps", "seconds", "time", "hash", "summary"),
    ),
    "verdict": (
        *("ordinal", "trajectory", "trajectory_ordinal", "unit", "task", "agent", "grader", "rater", "model"),
        *("fingerprint", "status", "score", "time", "hash", "replies", "summary"),
    ),
}
"""The tables whose rows have a seal, and the columns that it covers."""
NUMBERED = ("unit", "trajectory", "verdict")
"""Their rows are numbered from 1 without gaps; the tally knows how many there are."""


def digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


_pack = msgspec.msgpack.Encoder().encode


def seal(table: str, row: Mapping[str, Any]) -> bytes:
    return seal_values(table, tuple(row[name] for name in SEALED[table]))


def seal_values(table: str, values: tuple[Any, ...]) -> bytes:
    """Takes the values in the order of `SEALED`. Text, bytes, whole and other numbers are packed differently, as SQLite
    keeps them apart too."""
    return digest(_pack((table, values)))


class Scan(NamedTuple):
    rows: int
    last: Any
    """The first column of the last row that is sound: the highest number, in a table that has numbers."""
    broken: list[tuple[Any, ...]]
    """Rows whose seal does not fit, in the order of `SEALED`. What is not text any more is bytes."""


def scan(db: apsw.Connection, table: str) -> Scan:
    """Looks at every row of a table, read from the table itself and not through an index."""
    try:
        return _scan(table, db.execute(f"SELECT {', '.join(SEALED[table])}, seal FROM main.{table} NOT INDEXED"))
    except UnicodeDecodeError:
        return _scan(table, _rows_as_bytes(db, table))


def _scan(table: str, rows: Iterable[tuple[Any, ...]]) -> Scan:
    # A report waits for this, over hundreds of thousands of rows.
    sha256, pack = hashlib.sha256, _pack
    count, last, broken = 0, 0, []
    for row in rows:
        count += 1
        if sha256(pack((table, row[:-1]))).digest() == row[-1]:
            last = row[0]
        else:
            broken.append(row[:-1])
    return Scan(count, last, broken)


def _rows_as_bytes(db: apsw.Connection, table: str) -> Iterator[tuple[Any, ...]]:
    """For a table in which something is not text that should be."""
    cells = ", ".join(
        f"typeof({name}), iif(typeof({name}) = 'text', CAST({name} AS BLOB), {name})"
        for name in (*SEALED[table], "seal")
    )
    for row in db.execute(f"SELECT {cells} FROM main.{table} NOT INDEXED"):
        pairs = list(zip(row[::2], row[1::2], strict=True))
        values = [as_text(value) if kind == "text" else value for kind, value in pairs]
        # A bit can make bytes into text that is none: the same bytes, and yet not what was written.
        if any(kind == "text" and isinstance(value, bytes) for (kind, _), value in zip(pairs, values, strict=True)):
            values[-1] = None
        yield tuple(values)


def as_text(value: Any) -> Any:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def text(value: Any) -> str:
    """Readable, whatever a damaged column holds."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
