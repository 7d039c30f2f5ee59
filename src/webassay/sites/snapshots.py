"""A site's pristine database as bytes, and the rows in which another state of it differs."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from json import dumps
from typing import Any

import apsw

SqlValue = str | int | float | bytes | None

_TABLE_LEAF = 13
"""The first byte of a page that holds rows. The leaves of a table WITHOUT ROWID begin with another one."""
_CHUNK = 1 << 18


@dataclass(frozen=True)
class Change:
    """A row that differs from the snapshot, complete before and after."""

    table: str
    key: dict[str, SqlValue]
    before: dict[str, SqlValue] | None
    after: dict[str, SqlValue] | None


@dataclass(frozen=True)
class Table:
    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]


@dataclass(frozen=True)
class Suspects:
    """The rowids of the rows that may differ, in each state."""

    old: list[int]
    new: list[int]


@dataclass(frozen=True)
class Snapshot:
    """A site's pristine database, ready to be copied."""

    data: bytes = field(repr=False)

    @cached_property
    def schema(self) -> list[tuple[SqlValue, ...]]:
        return schema_of(copy_of(self.data))

    @cached_property
    def _page_size(self) -> int:
        size = int.from_bytes(self.data[16:18], "big")
        return 65536 if size == 1 else size

    @cached_property
    def _pages(self) -> dict[str, dict[int, str]]:
        """Of each table or index, the numbers of its pages and what they are: leaf, internal or overflow."""
        pages: dict[str, dict[int, str]] = {}
        for name, page, kind in copy_of(self.data).execute("SELECT name, pageno, pagetype FROM dbstat"):
            pages.setdefault(name, {})[page] = kind
        return pages

    def diff(self, current: bytes) -> list[Change]:
        """The rows in which another state of this database, with the same schema, differs from this one."""
        # A separate connection: the site's may have half-read queries, temporary tables, hooks.
        with closing(copy_of(current)) as db:
            db.execute("ATTACH ':memory:' AS pristine")
            db.deserialize("pristine", self.data)
            changed = self._changed_pages(current)
            changes: list[Change] = []
            for table in tables_of(db):
                # A table's content is determined by its pages: the same bytes in both states mean the same rows.
                if not changed.isdisjoint(self._pages[table.name]):
                    changes += compared(db, table, self._suspects(db, table, current, changed))
            return changes

    def _changed_pages(self, current: bytes) -> set[int]:
        """The numbers of the pages of this state that are other bytes in the current one, or gone."""
        size, mine = self._page_size, memoryview(self.data)

        def differing(start: int, end: int, step: int) -> Iterator[int]:
            for at in range(start, end, step):
                if not current.startswith(mine[at : min(at + step, end)], at):
                    yield at

        chunks = differing(0, len(mine), _CHUNK)
        return {
            place // size + 1
            for chunk in chunks
            for place in differing(chunk, min(chunk + _CHUNK, len(mine)), size)
        }  # fmt: skip

    def _suspects(self, db: apsw.Connection, table: Table, current: bytes, changed: set[int]) -> Suspects | None:
        """The rows on pages that belong to the table in one state only, or differ. All other rows are the same in both.
        None if rows cannot be told from the pages."""
        before = self._pages[table.name]
        listed: list[Any] = db.execute(
            "SELECT pageno, pagetype FROM dbstat WHERE schema = 'main' AND name = ?", (table.name,)
        ).fetchall()
        after: dict[int, str] = dict(listed)
        # A page that was freed may keep its bytes, so it must still belong to the table.
        kept = (before.keys() & after.keys()) - changed
        if any(name.lower() == "_rowid_" for name in table.columns):
            return None
        old = self._rowids(self.data, before, kept)
        new = self._rowids(current, after, kept)
        return None if old is None or new is None else Suspects(old, new)

    def _rowids(self, data: bytes, pages: Mapping[int, str], kept: set[int]) -> list[int] | None:
        found: list[int] = []
        for number in pages.keys() - kept:
            page = data[(number - 1) * self._page_size : number * self._page_size]
            if pages[number] == "leaf" and page[0] == _TABLE_LEAF:
                found += _rowids_on(page)
            elif pages[number] != "internal":  # The rest of a long row: whose, the page does not say.
                return None
        return found


def _rowids_on(page: bytes) -> Iterator[int]:
    """Every cell of a leaf begins with the length of the row and its rowid."""
    for place in range(8, 8 + 2 * int.from_bytes(page[3:5], "big"), 2):
        at = int.from_bytes(page[place : place + 2], "big")
        _, at = _varint(page, at)
        rowid, _ = _varint(page, at)
        yield rowid


def _varint(page: bytes, at: int) -> tuple[int, int]:
    """The number there, and where it ends: seven bits a byte as long as the eighth is set, all eight of the ninth."""
    value = 0
    for place in range(at, at + 8):
        value = value << 7 | page[place] & 0x7F
        if page[place] < 0x80:
            return value, place + 1
    value = value << 8 | page[at + 8]
    return value - (1 << 64) if value >= 1 << 63 else value, at + 9


def compared(db: apsw.Connection, table: Table, suspects: Suspects | None = None) -> Iterator[Change]:
    """The rows in which `main` differs from `pristine`: of all, or of the suspects.

    Not SQLite's own `Session.diff`: it compares by the column's collation and affinity, and would miss a changed
    capital in a NOCASE column, or 1 turning into 1.0."""
    name = quoted(table.name)
    columns = [quoted(column) for column in table.columns]
    match = " AND ".join(f"new.{quoted(column)} = old.{quoted(column)}" for column in table.key)
    differs = " OR ".join(
        f"new.{column} IS NOT old.{column} COLLATE BINARY OR typeof(new.{column}) <> typeof(old.{column})"
        for column in columns
    )
    both = ", ".join(f"old.{column}" for column in columns) + ", " + ", ".join(f"new.{column}" for column in columns)
    first_key = quoted(table.key[0])

    def rows(one: str, other: str, condition: str, among: list[int] | None) -> Iterator[tuple[SqlValue, ...]]:
        order = ", ".join(f"{one}.{quoted(column)}" for column in table.key)
        schema = {"new": "main", "old": "pristine"}
        chosen = "" if among is None else f"{one}._rowid_ IN (SELECT value FROM json_each(?)) AND "
        yield from db.execute(
            f"SELECT {both} FROM {schema[one]}.{name} AS {one} LEFT JOIN {schema[other]}.{name} AS {other} ON {match}"
            f" WHERE {chosen}({other}.{first_key} IS NULL{condition}) ORDER BY {order}",
            () if among is None else (dumps(among),),
        )

    half = len(columns)
    gone = rows("old", "new", "", None if suspects is None else suspects.old)
    others = rows("new", "old", f" OR {differs}", None if suspects is None else suspects.new)
    for row in (*gone, *others):
        before = dict(zip(table.columns, row[:half], strict=True))
        after = dict(zip(table.columns, row[half:], strict=True))
        existed, exists = before[table.key[0]] is not None, after[table.key[0]] is not None
        there = before if existed else after
        yield Change(
            table=table.name,
            key={column: there[column] for column in table.key},
            before=before if existed else None,
            after=after if exists else None,
        )


def copy_of(data: bytes) -> apsw.Connection:
    db = apsw.Connection(":memory:")
    db.deserialize("main", data)
    return db


def schema_of(db: apsw.Connection) -> list[tuple[SqlValue, ...]]:
    return db.execute(
        "SELECT type, name, tbl_name, rootpage, sql FROM main.sqlite_schema ORDER BY name, type"
    ).fetchall()


def tables_of(db: apsw.Connection) -> tuple[Table, ...]:
    """Ordinary tables by name, without SQLite's own, virtual and shadow tables."""
    names: list[Any] = db.execute(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%'"
        " ESCAPE '\\' ORDER BY name"
    ).fetchall()
    tables = []
    for (name,) in names:
        # hidden = 0: an ordinary column; the others are generated.
        info: list[Any] = db.execute(
            "SELECT name, pk FROM pragma_table_xinfo(?, 'main') WHERE hidden = 0", (name,)
        ).fetchall()
        key = tuple(column for column, place in sorted(info, key=lambda item: item[1]) if place)
        tables.append(Table(name, tuple(column for column, _ in info), key))
    return tuple(tables)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
