"""Which rows a world's requests wrote, in order.

SQLite says of every row that something writes to it. Before the transaction ends, each such row is read once and held
against what it was before; so a statement that was undone, or a row that was replaced by its like, is no change. Only
content and journal columns are followed: sessions and counters change with every page.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import apsw

from webassay.core.touched import TouchedRecord, TouchedRow, TouchingRequest, TransientWrite, Values
from webassay.sites.snapshots import FollowedRow, FollowedTable, Key, Row, RowId, SqlValue, json_value

MOST_ROWS = 20_000
MOST_TEXT = 8 * 1024 * 1024
"""Characters of values. Beyond it, rows are kept without them."""
MOST_TRANSIENT = 1_000
LONGEST_VALUE = 400
LONGEST_PATH = 600

EXISTENCE = -1
"""Stands for a row's being there, among the places of its columns."""


@dataclass(frozen=True)
class Noticed:
    """What somebody else notices as soon as it is written, whether or not it is taken back."""

    what: str
    """In words: `a customer could have paid that price`."""
    where: Mapping[str, SqlValue] = field(default_factory=dict)
    """Only of rows with these values."""

    def of(self, table: FollowedTable, row: FollowedRow) -> bool:
        return all(row[table.columns.index(column)] == value for column, value in self.where.items())


class Asked(NamedTuple):
    """The request that is being answered."""

    site: str = ""
    method: str = ""
    path: str = ""
    at: float = 0.0
    step: int | None = None


class Touch(NamedTuple):
    """A row that a transaction leaves different from how it found it."""

    table: FollowedTable
    id: RowId
    before: FollowedRow | None
    after: FollowedRow | None
    changed: tuple[int, ...]
    """Places of its columns, or that of its existence."""

    @property
    def there(self) -> FollowedRow:
        row = self.before if self.before is not None else self.after
        assert row is not None
        return row


def _changed(before: FollowedRow | None, after: FollowedRow | None) -> tuple[int, ...]:
    if before is None or after is None:
        return () if before is after else (EXISTENCE,)
    return tuple([place for place, pair in enumerate(zip(before, after, strict=True)) if not _same(*pair)])


def _same(one: SqlValue, other: SqlValue) -> bool:
    return one == other and type(one) is type(other)


@dataclass(slots=True)
class _Story:
    """What became of one column of one row, or of the row's existence."""

    first: Any
    """Its value before it was ever changed; of its existence, the row."""
    last: Any
    """Its value before its last change."""
    steps: set[int] = field(default_factory=set)
    noticed: str = ""


@dataclass(slots=True)
class _WrittenRow:
    table: FollowedTable
    key: Row
    stories: dict[int, _Story] = field(default_factory=dict)


class TouchLog:
    """What one world was written, from its opening to its reset."""

    def __init__(
        self,
        tables: Mapping[str, FollowedTable],
        untouched: Callable[[], apsw.Connection],
        noticed: Mapping[str, Noticed],
        own: Iterable[str],
    ) -> None:
        """`untouched`: the database as it would be if nobody but others had written to it."""
        self.tables: set[str] = set()
        """All that were written to, whether they are followed or not."""
        self.asked = Asked()
        self._followed_tables = tables
        self._untouched = untouched
        self._noticed = noticed
        self._own = frozenset(own)
        self._pending: dict[str, dict[RowId, Key]] = {}
        self._known: dict[RowId, FollowedRow | None] = {}
        """Rows as they stand now, if anything was ever written to them."""
        self._requests: dict[Asked, list[TouchedRow]] = {}
        self._more: dict[Asked, int] = {}
        self._room, self._text = MOST_ROWS, MOST_TEXT
        self._rows: dict[RowId, _WrittenRow] = {}
        self._notices: dict[str, dict[int, Noticed]] = {}

    # --- while somebody writes ---

    def hear(self, change: apsw.PreUpdate) -> None:
        """SQLite calls it before it writes a row."""
        name = change.table_name
        self.tables.add(name)
        table = self._followed_tables.get(name)
        if table is None or change.database_name != "main":
            return
        keys: list[Key]
        if table.by_rowid:
            keys = [(change.rowid,), (change.rowid_new,)]
        else:
            keys = [tuple(row[place] for place in table.places) for row in (change.old, change.new) if row is not None]
        pending = self._pending.setdefault(name, {})
        for key in keys:
            pending.setdefault(table.id(key), key)

    def settle(self, db: apsw.Connection) -> list[Touch]:
        """Called at the end of a transaction, before it is final: what it changes."""
        pending, self._pending = self._pending, {}
        found: list[Touch] = []
        for name, keys in pending.items():
            table = self._followed_tables[name]
            unknown = [key for id, key in keys.items() if id not in self._known]
            first = table.rows(self._untouched(), unknown) if unknown else {}
            now = table.rows(db, keys.values())
            for id in keys:
                before = self._known[id] if id in self._known else first.get(id)
                after = now.get(id)
                changed = _changed(before, after)
                if changed:
                    found.append(Touch(table, id, before, after, changed))
        return found

    def keep(self, touches: Iterable[Touch], *, by_others: bool) -> None:
        """The transaction is final."""
        for touch in touches:
            self._known[touch.id] = touch.after
            if not by_others:
                self._list(touch)
                self._follow(touch)

    def drop(self) -> None:
        """The transaction was undone."""
        self._pending.clear()

    def _list(self, touch: Touch) -> None:
        rows = self._requests.setdefault(self.asked, [])
        if self._room <= 0:
            self._more[self.asked] = self._more.get(self.asked, 0) + 1
            return
        self._room -= 1
        table = touch.table
        places = range(len(table.columns)) if touch.changed == (EXISTENCE,) else touch.changed
        before, after = _listed(table, touch.before, places), _listed(table, touch.after, places)
        self._text -= sum(len(str(value)) for row in (before, after) if row for value in row.values())
        if self._text <= 0:
            before, after = before and {}, after and {}
        rows.append(TouchedRow(table.shape.name, _key(table, touch.there), before, after))

    def _follow(self, touch: Touch) -> None:
        table = touch.table
        row = self._rows.get(touch.id)
        if row is None:
            row = self._rows[touch.id] = _WrittenRow(table, table.key_of(touch.there))
        for place in touch.changed:
            before = touch.before if place == EXISTENCE or touch.before is None else touch.before[place]
            story = row.stories.get(place)
            if story is None:
                story = row.stories[place] = _Story(before, before)
            story.last = before
            if self.asked.step is not None:
                story.steps.add(self.asked.step)
        for place, notice in self._noticed_in(table).items():
            story = row.stories.get(place)
            if story is not None and not story.noticed and _stands(touch, place, story.first):
                story.noticed = notice.what if notice.of(table, touch.after or touch.there) else ""

    def _noticed_in(self, table: FollowedTable) -> dict[int, Noticed]:
        found = self._notices.get(table.shape.name)
        if found is None:
            names = {_name(table, place): place for place in (EXISTENCE, *range(len(table.columns)))}
            found = {names[name]: notice for name, notice in self._noticed.items() if name in names}
            self._notices[table.shape.name] = found
        return found

    # --- when the agent has stopped ---

    def record(self, classes: Mapping[str, Mapping[str, str]]) -> TouchedRecord:
        transient = sorted(self._transient(classes), key=lambda one: not one.noticed)
        tables = {row.table for rows in self._requests.values() for row in rows} | {one.table for one in transient}
        return TouchedRecord(
            requests=tuple(
                TouchingRequest(
                    site=asked.site, method=asked.method, path=_cut(asked.path, LONGEST_PATH), at=round(asked.at, 3),
                    step=asked.step, rows=tuple(rows), more=self._more.get(asked, 0),
                )
                for asked, rows in self._requests.items()
            ),
            transient=tuple(transient[:MOST_TRANSIENT]),
            unlisted=max(0, len(transient) - MOST_TRANSIENT),
            columns={table: dict(classes[table]) for table in sorted(tables)},  # type: ignore[arg-type]
        )  # fmt: skip

    def _transient(self, classes: Mapping[str, Mapping[str, str]]) -> Iterator[TransientWrite]:
        for id, row in self._rows.items():
            pristine = row.table.rows(self._untouched(), [tuple(row.key.values())]).get(id)
            now = self._known[id]
            if (pristine is None) != (now is None):
                continue
            if EXISTENCE in row.stories:
                yield self._taken_back(row, [EXISTENCE], pristine)
            elif pristine is not None and now is not None:
                kinds = classes[row.table.shape.name]
                places = [
                    place
                    for place in row.stories
                    if kinds.get(row.table.columns[place]) == "content" and _same(pristine[place], now[place])
                ]
                if places:
                    yield self._taken_back(row, places, pristine)

    def _taken_back(self, row: _WrittenRow, places: list[int], pristine: FollowedRow | None) -> TransientWrite:
        table, stories = row.table, [row.stories[place] for place in places]
        meanwhile: Values | None
        if places == [EXISTENCE]:
            was = _listed(table, pristine)
            meanwhile = _listed(table, stories[0].last) if pristine is None else None
        else:
            was = _listed(table, pristine, places)
            meanwhile = {table.columns[place]: _short(row.stories[place].last) for place in places}
        names = {_name(table, place) for place in places}
        return TransientWrite(
            table=table.shape.name,
            key={column: _short(value) for column, value in row.key.items()},
            pristine=was,
            meanwhile=meanwhile,
            steps=tuple(sorted(set[int]().union(*[story.steps for story in stories]))),
            noticed="; ".join(dict.fromkeys(story.noticed for story in stories if story.noticed)),
            own=table.shape.name in self._own or names <= self._own,
        )


def _name(table: FollowedTable, place: int) -> str:
    """As sites name it: `table` for the existence of its rows, else `table.column`."""
    return table.shape.name if place == EXISTENCE else f"{table.shape.name}.{table.columns[place]}"


def _stands(touch: Touch, place: int, first: Any) -> bool:
    """Whether the row is there and is not what it was at first."""
    if place == EXISTENCE:
        return touch.changed == (EXISTENCE,)
    return touch.after is not None and not _same(touch.after[place], first)


def _key(table: FollowedTable, row: FollowedRow) -> Values:
    return {column: _short(value) for column, value in table.key_of(row).items()}


def _listed(table: FollowedTable, row: FollowedRow | None, places: Iterable[int] | None = None) -> Values | None:
    if row is None:
        return None
    return {table.columns[place]: _short(row[place]) for place in (range(len(row)) if places is None else places)}


def _short(value: SqlValue) -> Any:
    if isinstance(value, bytes):
        value = value[:LONGEST_VALUE]
    return _cut(value, LONGEST_VALUE) if isinstance(value, str) else json_value(value)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit:,} more characters)"
