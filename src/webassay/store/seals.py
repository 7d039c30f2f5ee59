"""A seal on every row of the ledger: a hash over all its columns and its number, so that no flipped bit is read as if
it had been written. Records are too long to be read for every report; their own hash is one of the columns."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
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


_KINDS = {str: "text", bytes: "blob", int: "integer", float: "real", type(None): "null"}
_pack = msgspec.msgpack.Encoder().encode


def seal(table: str, row: Mapping[str, Any]) -> bytes:
    values = [row[name] for name in SEALED[table]]
    kinds = "".join(_KINDS[type(value)] for value in values)
    return sealed_as(table, kinds, [value.encode() if isinstance(value, str) else value for value in values])


def sealed_as(table: str, kinds: str, values: Sequence[Any]) -> bytes:
    # The kinds too: SQLite keeps text and bytes of the same content apart, and so must we.
    return digest(_pack((table, kinds, values)))


class Scanned(NamedTuple):
    values: tuple[Any, ...]
    """In the order of `SEALED`; text as bytes, since damaged text may not be text any more."""
    sound: bool


def scan(db: apsw.Connection, table: str, order: str = "") -> Iterator[Scanned]:
    """Every row of a table, read from the table itself and not through an index."""
    names = SEALED[table]
    kinds = " || ".join(f"typeof({name})" for name in names)
    cells = ", ".join(f"iif(typeof({name}) = 'text', CAST({name} AS BLOB), {name})" for name in names)
    query = f"SELECT {kinds}, iif(typeof(seal) = 'blob', seal, NULL), {cells} FROM main.{table} NOT INDEXED {order}"
    for kind, kept, *values in db.execute(query):
        yield Scanned(tuple(values), sealed_as(table, kind, values) == kept)


def text(value: Any) -> str:
    """Of a column that may be damaged."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
