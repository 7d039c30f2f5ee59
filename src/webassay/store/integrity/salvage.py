"""Rows of a ledger that SQLite cannot read, found in the file page by page.

A seal proves a row wherever it lies, so no tree has to be followed: every page that may hold rows is tried, and what
has a seal or a hash that fits is taken. Pages that do not even look like pages are tried byte by byte.
"""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from webassay.store.integrity.seals import NUMBERED, SEALED, as_text, digest, seal_values
from webassay.store.integrity.wal import read_wal
from webassay.store.schema import make_tables

_TABLE_LEAF, _INDEX_LEAF, _INDEX_INNER, _TABLE_INNER = 13, 10, 2, 5
_MOST_PAYLOAD = 64 << 20
_MOST_COLUMNS = 20


class _Cell(NamedTuple):
    rowid: int
    values: tuple[Any, ...]
    """What should be text and is not is bytes."""


@dataclass
class Salvage:
    rows: dict[str, dict[Any, dict[str, Any]]] = field(default_factory=lambda: {table: {} for table in SEALED})
    """By table and by first column; text as text."""
    broken: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """Rows of the right shape whose seal does not fit, each with its seal."""
    records: dict[bytes, bytes] = field(default_factory=dict)
    """By hash: every long text that a row may be about."""


def salvage(ledger: Path) -> Salvage:
    pages = _Pages(ledger)
    found = Salvage()
    for cell in pages.cells(_cell_starts):
        _take(cell, found)
    expected = {name: row["rows"] for name, row in found.rows["tally"].items()}
    if any(len(found.rows[table]) < expected.get(table, 1) for table in NUMBERED):
        for cell in pages.cells(_possible_starts):
            _take(cell, found)
    return found


@cache
def _shapes() -> dict[int, list[tuple[str, tuple[str, ...]]]]:
    """Tables by their number of columns, each with its columns as they lie in the file."""
    shapes: dict[int, list[tuple[str, tuple[str, ...]]]] = {}
    with apsw.Connection(":memory:") as db:
        make_tables(db)
        for table in SEALED:
            columns = tuple(row[1] for row in db.execute(f"PRAGMA table_info({table})"))
            shapes.setdefault(len(columns), []).append((table, columns))
    return shapes


def _take(cell: _Cell, found: Salvage) -> None:
    if len(cell.values) == 2 and isinstance(cell.values[1], str):
        record = cell.values[1].encode()
        found.records[digest(record)] = record
    for table, columns in _shapes().get(len(cell.values), ()):
        numbered = table in NUMBERED
        row = dict(zip(columns, cell.values, strict=True))
        if numbered:
            row["ordinal"] = cell.rowid
        for name in ("seconds", "score"):  # SQLite keeps 2.0 as 2
            row |= {name: float(row[name])} if isinstance(row.get(name), int) else {}
        kept = row.pop("seal")
        values = tuple(row[name] for name in SEALED[table])
        if seal_values(table, values) == kept:
            found.rows[table].setdefault(values[0], row)
        elif numbered and isinstance(row["hash"], bytes) and len(row["hash"]) == 32:
            found.broken.append((table, {**row, "seal": kept}))


# --- pages ----------------------------------------------------------------------------------------------------

Starts = Callable[[bytes, int], Iterator[int]]


class _Pages:
    """The file with its log on top."""

    def __init__(self, ledger: Path) -> None:
        self.data = ledger.read_bytes()
        self.log = read_wal(ledger)
        size = int.from_bytes(self.data[16:18])
        size = 65536 if size == 1 else size
        self.size = self.log.page_size or (size if size >= 512 and size & (size - 1) == 0 else 4096)
        self.count = max([-(-len(self.data) // self.size), *self.log.pages])

    def page(self, number: int) -> bytes:
        return self.log.pages.get(number) or self.data[(number - 1) * self.size : number * self.size]

    def cells(self, starts: Starts) -> Iterator[_Cell]:
        for number in range(1, self.count + 1):
            page = self.page(number)
            head = 100 if number == 1 else 0
            if len(page) < self.size or not page[head]:
                continue  # A page that continues a long text begins with a zero.
            kind = page[head]
            for start in starts(page, head):
                cell = self._cell(page, start, kind)
                if cell is not None:
                    yield cell

    def _cell(self, page: bytes, start: int, kind: int) -> _Cell | None:
        try:
            if kind in (_INDEX_LEAF, _INDEX_INNER):
                size, at = _varint(page, start + (4 if kind == _INDEX_INNER else 0))
                rowid, most = 0, (self.size - 12) * 64 // 255 - 23
            else:
                size, at = _varint(page, start)
                rowid, at = _varint(page, at)
                most = self.size - 35
            if not 2 <= size <= _MOST_PAYLOAD:
                return None
            if size <= most:
                return _decode_cell(rowid, page[at : at + size], size)
            if _columns(page[at:]) == 0:
                return None
            least = (self.size - 12) * 32 // 255 - 23
            local = least + (size - least) % (self.size - 4)
            local = local if local <= most else least
            first = int.from_bytes(page[at + local : at + local + 4])
            return _decode_cell(rowid, page[at : at + local] + self._rest(first, size - local), size)
        except (IndexError, ValueError):
            return None

    def _rest(self, number: int, size: int) -> bytes:
        parts, left = [], size
        while left > 0 and 0 < number <= self.count:
            page = self.page(number)
            number, part = int.from_bytes(page[:4]), page[4 : 4 + left]
            parts.append(part)
            left -= len(part) or left
        return b"".join(parts)


def _cell_starts(page: bytes, head: int) -> Iterator[int]:
    """Where the page says that its cells begin."""
    if page[head] not in (_TABLE_LEAF, _INDEX_LEAF, _INDEX_INNER):
        return
    at = head + (12 if page[head] == _INDEX_INNER else 8)
    for number in range(min(int.from_bytes(page[head + 3 : head + 5]), len(page) // 4)):
        start = int.from_bytes(page[at + 2 * number : at + 2 * number + 2])
        if start:
            yield start


def _possible_starts(page: bytes, head: int) -> Iterator[int]:
    if page[head] in (_INDEX_LEAF, _INDEX_INNER, _TABLE_INNER):
        return
    shapes = {2, *_shapes()}
    # Of a numbered row the first value is its number, which lies elsewhere: every record begins with a null.
    at = page.find(0, head + 8)
    while at > 0:
        if _columns(page[at - 1 : at + 150]) in shapes:
            # Before the record stand two numbers of one to nine bytes: its size, and the row's.
            yield from (start for start in range(max(head + 8, at - 12), at - 2) if _two_numbers(page, start) == at - 1)
        at = page.find(0, at + 1)


def _two_numbers(page: bytes, start: int) -> int:
    """Where two numbers that begin here end."""
    return _varint(page, _varint(page, start)[1])[1]


def _columns(payload: bytes) -> int:
    """How many values the head of a record announces; 0 if it cannot be one."""
    size = payload[0]
    if not 3 <= size < 128 or len(payload) < size:
        return 0
    at = count = 1
    while at < size and count <= _MOST_COLUMNS + 1:
        _, at = _varint(payload, at)
        count += 1
    return count - 1 if at == size else 0


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for number in range(9):
        byte = data[at + number]
        if number == 8:
            return (value << 8) | byte, at + 9
        value = (value << 7) | (byte & 0x7F)
        if byte < 0x80:
            return value, at + number + 1
    raise IndexError


_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


def _decode_cell(rowid: int, payload: bytes, size: int) -> _Cell | None:
    if len(payload) != size or _columns(payload) not in {2, *_shapes()}:
        return None
    head, at = payload[0], 1
    types = []
    while at < head:
        kind, at = _varint(payload, at)
        types.append(kind)
    values: list[Any] = []
    for kind in types:
        value, length = _value(kind, payload, at)
        at += length
        values.append(value)
    return _Cell(rowid, tuple(values)) if at == size else None


def _value(kind: int, payload: bytes, at: int) -> tuple[Any, int]:
    if kind == 0:
        return None, 0
    if kind in _INTEGERS:
        length = _INTEGERS[kind]
        return int.from_bytes(payload[at : at + length], signed=True), length
    if kind == 7:
        return struct.unpack(">d", payload[at : at + 8])[0] if at + 8 <= len(payload) else 0.0, 8
    if kind in (8, 9):
        return kind - 8, 0
    if kind < 12:
        raise ValueError
    length = (kind - 12) // 2
    data = payload[at : at + length]
    return data if kind % 2 == 0 else as_text(data), length
