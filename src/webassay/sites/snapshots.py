"""A site's pristine database, and the rows in which another state of it differs."""

from base64 import b64encode
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from json import dumps
from typing import Any

import apsw

from webassay.sites.pages import DatabasePages
from webassay.sites.receipts import QuerySource

SqlValue = str | int | float | bytes | None
Row = dict[str, Any]
FollowedRow = tuple[Any, ...]
"""The values of the columns of a `FollowedTable`."""
Key = tuple[SqlValue, ...]
RowId = tuple[str, Key]
"""A table, and a key in which values that SQLite takes for equal are equal."""


@dataclass(frozen=True)
class ChangedRow:
    """A row that differs from the snapshot, complete before and after."""

    table: str
    key: dict[str, SqlValue]
    before: dict[str, SqlValue] | None
    after: dict[str, SqlValue] | None


@dataclass(frozen=True)
class TableShape:
    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    has_rowids: bool


@dataclass(frozen=True)
class FollowedTable:
    shape: TableShape
    columns: tuple[str, ...]
    """Its key, and what is not telemetry."""
    by_rowid: bool
    """The key is the number by which SQLite knows its rows."""
    places: tuple[int, ...]
    """Where the key stands in the rows that SQLite hands over."""
    collations: tuple[str, ...]
    """Those of the key."""

    @cached_property
    def _select(self) -> str:
        where = " AND ".join(f"{quoted(column)} = ?" for column in self.shape.key)
        if self.by_rowid:
            where = f"{quoted(self.shape.key[0])} IN (SELECT value FROM json_each(?))"
        return f"SELECT {', '.join(map(quoted, self.columns))} FROM main.{quoted(self.shape.name)} WHERE {where}"

    @cached_property
    def _plain_key(self) -> bool:
        return self.by_rowid or set(self.collations) == {"BINARY"}

    @cached_property
    def _key_columns(self) -> list[tuple[str, int]]:
        return [(column, self.columns.index(column)) for column in self.shape.key]

    def id(self, key: Key) -> RowId:
        return self.shape.name, key if self._plain_key else tuple(map(_folded, self.collations, key))

    def key_of(self, row: FollowedRow) -> Row:
        return {column: row[place] for column, place in self._key_columns}

    def rows(self, db: apsw.Connection, keys: Collection[Key]) -> dict[RowId, FollowedRow]:
        """Those that are there; many at once where the key is a number."""
        if not self.by_rowid:
            found = [(self.id(key), db.execute(self._select, key).fetchone()) for key in keys]
            return {id: row for id, row in found if row is not None}
        ((_, place),) = self._key_columns
        listed = db.execute(self._select, (dumps([key[0] for key in keys]),))
        return {(self.shape.name, (row[place],)): row for row in listed}


@dataclass(frozen=True)
class Suspects:
    """The rowids of the rows that may differ, in each state."""

    old: list[int]
    new: list[int]


@dataclass(frozen=True)
class Snapshot:
    """A site's pristine database, ready to be opened as often as needed."""

    pages: DatabasePages = field(repr=False)

    @cached_property
    def schema(self) -> list[tuple[SqlValue, ...]]:
        with closing(self.pages.copy().connect()) as db:
            return schema_of(db)

    @cached_property
    def keys(self) -> dict[str, tuple[str, ...]]:
        """The primary key of every table."""
        with closing(self.pages.copy().connect()) as db:
            return {table.name: table.key for table in tables_of(db)}

    @cached_property
    def reads(self) -> dict[str, frozenset[str]]:
        """The tables that hold what a name in a query stands for: those of an index behind it, for a view all of
        them."""
        tables = {str(name) for kind, name, *_ in self.schema if kind == "table"}
        found = {name.lower(): frozenset((name,)) for name in self.keys}
        for kind, name, _, page, _ in self.schema:
            if kind == "view":
                found[str(name).lower()] = frozenset(tables)
            elif kind == "table" and not page:
                found[str(name).lower()] = frozenset(one for one in tables if one.startswith(f"{name!s}_"))
        return found

    @cached_property
    def sources(self) -> dict[str, QuerySource]:
        """What is known of the queries that were asked of it."""
        return {}

    @cached_property
    def _followed(self) -> dict[str, dict[str, FollowedTable]]:
        return {}

    def followed(self, site: str, classes: Mapping[str, Mapping[str, str]]) -> Mapping[str, FollowedTable]:
        """The tables of a site of which something is not telemetry."""
        if site not in self._followed:
            with closing(self.pages.copy().connect()) as db:
                self._followed[site] = followed(db, classes)
        return self._followed[site]

    @cached_property
    def _owners(self) -> dict[str, dict[int, str]]:
        """For each table or index, the numbers of its pages and what they are: leaf, internal or overflow."""
        owners: dict[str, dict[int, str]] = {}
        with closing(self.pages.copy().connect()) as db:
            for name, page, kind in db.execute("SELECT name, pageno, pagetype FROM dbstat"):
                owners.setdefault(name, {})[page] = kind
        return owners

    def diff(self, current: DatabasePages) -> list[ChangedRow]:
        """The rows in which another state of this database, with the same schema, differs from this one."""
        # A separate connection: the site's may have half-read queries, temporary tables, hooks.
        with closing(current.copy().connect()) as db:
            db.execute("ATTACH ? AS pristine", (self.pages.copy().file_name(),))
            differing = self.pages.differing(current)
            changes: list[ChangedRow] = []
            for table in tables_of(db):
                # A table's content is determined by its pages: the same bytes in both states mean the same rows.
                if not differing.isdisjoint(self._owners[table.name]):
                    changes += compared(db, table, self._suspects(db, table, current, differing))
            return changes

    def _suspects(
        self, db: apsw.Connection, table: TableShape, current: DatabasePages, differing: set[int]
    ) -> Suspects | None:
        """The rows on pages that belong to the table in one state only, or differ. All other rows are the same in both.
        None if rows cannot be told from the pages."""
        if not table.has_rowids or any(name.lower() == "_rowid_" for name in table.columns):
            return None
        before = self._owners[table.name]
        listed: list[Any] = db.execute(
            "SELECT pageno, pagetype FROM dbstat WHERE schema = 'main' AND name = ?", (table.name,)
        ).fetchall()
        after: dict[int, str] = dict(listed)
        # A page that was freed may keep its bytes, so it must still belong to the table.
        kept = (before.keys() & after.keys()) - differing
        old = _rowids(self.pages, before, kept)
        new = _rowids(current, after, kept)
        return None if old is None or new is None else Suspects(old, new)


def _rowids(pages: DatabasePages, kinds: Mapping[int, str], kept: set[int]) -> list[int] | None:
    """Those on the pages that were not kept. None if a page does not say."""
    found: list[int] = []
    for number in kinds.keys() - kept:
        if kinds[number] == "leaf":
            found += _rowids_on(pages.page(number))
        elif kinds[number] != "internal":  # The rest of a long row: whose, the page does not say.
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


def compared(db: apsw.Connection, table: TableShape, suspects: Suspects | None = None) -> Iterator[ChangedRow]:
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
        yield ChangedRow(
            table=table.name,
            key={column: there[column] for column in table.key},
            before=before if existed else None,
            after=after if exists else None,
        )


def schema_of(db: apsw.Connection) -> list[tuple[SqlValue, ...]]:
    return db.execute(
        "SELECT type, name, tbl_name, rootpage, sql FROM main.sqlite_schema ORDER BY name, type"
    ).fetchall()


def tables_of(db: apsw.Connection) -> tuple[TableShape, ...]:
    """Ordinary tables by name, without SQLite's own, virtual and shadow tables."""
    # wr: WITHOUT ROWID.
    listed: list[Any] = db.execute(
        "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%'"
        " ESCAPE '\\' ORDER BY name"
    ).fetchall()
    tables = []
    for name, without_rowids in listed:
        # hidden = 0: an ordinary column; the others are generated.
        info: list[Any] = db.execute(
            "SELECT name, pk FROM pragma_table_xinfo(?, 'main') WHERE hidden = 0", (name,)
        ).fetchall()
        key = tuple(column for column, place in sorted(info, key=lambda item: item[1]) if place)
        tables.append(TableShape(name, tuple(column for column, _ in info), key, not without_rowids))
    return tuple(tables)


def followed(db: apsw.Connection, classes: Mapping[str, Mapping[str, str]]) -> dict[str, FollowedTable]:
    """The tables of which something is not telemetry. Raises `ValueError` for one whose rows cannot be followed."""
    found = {}
    for shape in tables_of(db):
        known = classes.get(shape.name, {})
        columns = tuple(name for name in shape.columns if name in shape.key or known.get(name) != "telemetry")
        if all(known.get(name) == "telemetry" for name in columns):
            continue
        rows: list[Any] = db.execute("SELECT name, hidden FROM pragma_table_xinfo(?, 'main')", (shape.name,)).fetchall()
        by_rowid = _is_rowid(db, shape)
        if not by_rowid and any(hidden == 2 for _, hidden in rows):
            raise ValueError(
                f"table {shape.name} has a virtual generated column and a key that is no INTEGER PRIMARY KEY, so"
                " nobody can tell which of its rows are written; make the column STORED"
            )
        names = [name for name, _ in rows]
        meta = [db.column_metadata("main", shape.name, column)[1] for column in shape.key]
        places = tuple(names.index(column) for column in shape.key)
        found[shape.name] = FollowedTable(shape, columns, by_rowid, places, tuple(meta))
    return found


def _is_rowid(db: apsw.Connection, shape: TableShape) -> bool:
    sql = "SELECT 1 FROM pragma_index_list(?, 'main') WHERE origin = 'pk'"
    return shape.has_rowids and len(shape.key) == 1 and db.execute(sql, (shape.name,)).fetchone() is None


_LOWER = {upper: upper + 32 for upper in range(65, 91)}


def _folded(collation: str, value: SqlValue) -> SqlValue:
    if isinstance(value, str) and collation.upper() == "NOCASE":
        return value.translate(_LOWER)
    return value.rstrip(" ") if isinstance(value, str) and collation.upper() == "RTRIM" else value


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def json_value(value: SqlValue) -> Any:
    """The value as unambiguous JSON."""
    if isinstance(value, bytes):
        return {"blob": b64encode(value).decode()}
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return {"real": str(value)}
    return value
