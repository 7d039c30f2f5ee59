"""Grids: long tables that visitors filter, sort, page, narrow to some columns, act on in bulk, and export.

A `Grid` is its columns and where they come from. What a visitor sees of it is said by the URL alone: `status=pending`,
`total_from=10`, `sort=total`, `dir=desc`, `limit=50`, `p=2`, `show-status=1` for each chosen column, `q` for words.
Unknown settings are an error. The template is `web/grid.html`.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from starlette.exceptions import HTTPException
from starlette.responses import Response

from webassay.sites.kit import Row, SqlValue, World
from webassay.sites.receipts import carried, collected, ours, ours_all, written
from webassay.sites.web.dates import read_date, short_date, short_time
from webassay.sites.web.forms import FormFields, read_cents, whole_number
from webassay.sites.web.lists import Paging, WrongSetting, one_of, same_list

PAGE_SIZES = (20, 30, 50, 100)
LONGEST_FILTER = 100

Kind = Literal["text", "number", "money", "date", "time", "choice"]
_RANGES = ("number", "money", "date", "time")


def money_text(cents: int) -> str:
    return f"{'-' if cents < 0 else ''}${abs(cents) // 100:,}.{abs(cents) % 100:02d}"


_SHOW: Mapping[str, Callable[[Any], str]] = {"money": money_text, "date": short_date, "time": short_time}


@dataclass(frozen=True)
class Column:
    name: str
    label: str
    sql: str
    kind: Kind = "text"
    choices: Mapping[str, str] = field(default_factory=dict)
    """What a column of this kind can contain, and how that is written."""
    shown: bool = True
    """Whether it is there before a visitor has chosen columns."""
    link: str = ""
    """Where the entry leads to: a path in which `{…}` stands for another column, or for `key`."""
    searched: bool = False
    """Whether words are looked for here."""
    sorted_by: str = ""
    """SQL of what its order follows, where that is not what is shown."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", ours(self.label))
        object.__setattr__(self, "choices", ours_all(dict(self.choices)))

    @property
    def order(self) -> str:
        """SQL: a visitor sees labels, so they are what is sorted, and not what stands for them."""
        if self.sorted_by or not self.choices:
            return self.sorted_by or self.sql
        labels = sorted(self.choices, key=lambda value: self.choices[value].casefold())
        quoted = [value.replace("'", "''") for value in labels]
        places = " ".join(f"WHEN '{value}' THEN {place}" for place, value in enumerate(quoted))
        return f"CASE CAST({self.sql} AS TEXT) {places} ELSE {len(labels)} END"

    @property
    def is_range(self) -> bool:
        return self.kind in _RANGES

    def text(self, row: Row) -> str:
        value = row[self.name]
        if value is None:
            return ""
        text = self.choices.get(str(value), str(value)) if self.choices else _SHOW.get(self.kind, str)(value)
        shown: str = carried(text, value)
        return shown

    def href(self, row: Row) -> str:
        return self.link.format_map(row)


@dataclass(frozen=True)
class BulkAction:
    """What can be done with all rows that are ticked."""

    name: str
    label: str


@dataclass(frozen=True)
class Grid:
    path: str
    title: str
    noun: str
    """What a row is, in the plural."""
    source: str
    """SQL after FROM."""
    columns: tuple[Column, ...]
    key: str
    """SQL of the number by which a row is known."""
    sort: str
    """The column that it is sorted by at first, the highest on top unless `down` says otherwise."""
    keys: tuple[str, ...] = ()
    """SQL of the primary keys of the other rows that a row is made of, so that receipts know them."""
    down: bool = True
    actions: tuple[BulkAction, ...] = ()
    condition: str = "1"
    """SQL that every row of the grid meets."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", ours(self.title))
        object.__setattr__(self, "noun", ours(self.noun))

    def column(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)


class Chip(NamedTuple):
    """A filter that is in use."""

    label: str
    value: str
    without: str
    """The grid without it."""


@dataclass(frozen=True)
class GridPage:
    grid: Grid
    rows: list[Row]
    paging: Paging
    shown: tuple[Column, ...]
    sort: str
    down: bool
    query: Mapping[str, str]
    errors: Mapping[str, str]
    sizes: Sequence[int] = PAGE_SIZES

    def url(self, **changes: str | int | None) -> str:
        return same_list(self.query, **changes)

    def sort_url(self, name: str) -> str:
        """The other direction, if it is sorted by this column already."""
        down = not self.down if name == self.sort else False
        return self.url(sort=name, dir="desc" if down else "asc")

    def kept(self, *without: str) -> list[tuple[str, str]]:
        """What a form of the grid has to repeat so that nothing else changes."""
        return [
            (name, value)
            for name, value in self.query.items()
            if name not in ("p", *without) and not any(end and name.startswith(end) for end in _prefixes(without))
        ]

    def chips(self) -> Iterator[Chip]:
        if words := self.query.get("q", "").strip():
            yield Chip(ours("Keyword"), words, self.url(q=None))
        for column in self.grid.columns:
            low, high = self.query.get(f"{column.name}_from", ""), self.query.get(f"{column.name}_to", "")
            if column.is_range and (low or high):
                text = f"{low or '…'} – {high or '…'}"
                yield Chip(column.label, text, self.url(**{f"{column.name}_from": None, f"{column.name}_to": None}))
            elif not column.is_range and (value := self.query.get(column.name, "")):
                yield Chip(column.label, column.choices.get(value, value), self.url(**{column.name: None}))

    @property
    def unfiltered(self) -> str:
        kept = {name: value for name, value in self.query.items() if name in ("sort", "dir", "limit") or _shows(name)}
        return same_list(kept)

    @property
    def filter_names(self) -> tuple[str, ...]:
        return tuple(name for column in self.grid.columns for name in _filter_names(column))


def _prefixes(names: Sequence[str]) -> list[str]:
    return [name for name in names if name.endswith("-")]


def _shows(name: str) -> bool:
    return name.startswith("show-")


def _filter_names(column: Column) -> tuple[str, ...]:
    return (f"{column.name}_from", f"{column.name}_to") if column.is_range else (column.name,)


# --- reading ----------------------------------------------------------------------------------------------


def read_grid(world: World, grid: Grid, query: Mapping[str, str]) -> GridPage:
    known = {name for column in grid.columns for name in (*_filter_names(column), f"show-{column.name}")}
    for name in query:
        if name not in known and name not in ("p", "limit", "sort", "dir", "q"):
            raise WrongSetting(name, f'"{name[:40]}" is not a setting of this list.')
    shown = _shown(grid, query)
    sort = one_of("sort", query.get("sort", grid.sort), [column.name for column in grid.columns])
    usual = grid.down if sort == grid.sort else False
    down = one_of("dir", query.get("dir", "desc" if usual else "asc"), ("asc", "desc")) == "desc"
    size = int(one_of("limit", query.get("limit", str(PAGE_SIZES[0])), [str(known) for known in PAGE_SIZES]))
    condition, params, errors = _conditions(grid, query)
    total = 0 if errors else world.scalar(f"SELECT count(*) FROM {grid.source} WHERE {condition}", *params)
    paging = Paging.at(query.get("p", "1"), size, total)
    page = GridPage(grid, [], paging, shown, sort, down, query, errors)
    if total:
        page.rows.extend(_rows(world, page, condition, params, f"LIMIT {paging.size} OFFSET {paging.skipped}"))
    return page


def export_grid(world: World, grid: Grid, query: Mapping[str, str]) -> Response:
    """All rows that the filters leave, with the columns that are shown, as a file."""
    page = read_grid(world, grid, query)
    condition, params, errors = _conditions(grid, query)
    if errors:
        raise HTTPException(422, " ".join(errors.values()))
    lines = [[column.text(row) for column in page.shown] for row in _rows(world, page, condition, params, "")]
    text = _as_csv([[column.label for column in page.shown], *lines])
    if (receipts := collected()) is not None:
        receipts.vouched = _as_csv(map(written, lines))
    name = grid.path.strip("/").replace("/", "-")
    headers = {"content-disposition": f'attachment; filename="{name}.csv"'}
    return Response(text, media_type="text/csv", headers=headers)


def _as_csv(lines: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([_unformula(entry) for entry in line] for line in lines)
    return text.getvalue()


def _unformula(text: str) -> str:
    """A spreadsheet would compute it."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def _shown(grid: Grid, query: Mapping[str, str]) -> tuple[Column, ...]:
    chosen = [column for column in grid.columns if f"show-{column.name}" in query]
    return tuple(chosen or [column for column in grid.columns if column.shown])


def _rows(world: World, page: GridPage, condition: str, params: Sequence[SqlValue], limit: str) -> list[Row]:
    grid = page.grid
    columns = ", ".join(f"{column.sql} AS {column.name}" for column in grid.columns)
    keys = "".join(f", {key} AS key_{place}" for place, key in enumerate(grid.keys))
    direction = "DESC" if page.down else "ASC"
    column = grid.column(page.sort)
    collation = " COLLATE NOCASE" if column.kind == "text" else ""
    order = f"{column.order}{collation} {direction}, {grid.key} {direction}"
    return world.rows(
        f"SELECT {grid.key} AS key{keys}, {columns} FROM {grid.source} WHERE {condition} ORDER BY {order} {limit}",
        *params,
    )


Condition = tuple[str, tuple[SqlValue, ...]]


def _conditions(grid: Grid, query: Mapping[str, str]) -> tuple[str, list[SqlValue], dict[str, str]]:
    conditions: list[Condition] = [(grid.condition, ())]
    errors: dict[str, str] = {}
    for column in grid.columns:
        for name in _filter_names(column):
            typed = query.get(name, "").strip()
            if typed:
                found = _condition(column, name, typed[:LONGEST_FILTER])
                if isinstance(found, str):
                    errors[name] = found
                else:
                    conditions.append(found)
    for word in query.get("q", "")[:LONGEST_FILTER].split():
        places = [column for column in grid.columns if column.searched]
        conditions.append((
            " OR ".join(f"instr(lower({column.sql}), ?)" for column in places) or "0", (sql_lower(word),) * len(places)
        ))  # fmt: skip
    sql = " AND ".join(f"({condition})" for condition, _ in conditions)
    return sql, [value for _, values in conditions for value in values], errors


def sql_lower(text: str) -> str:
    """As SQLite does it, which leaves an É alone."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)


def _condition(column: Column, name: str, typed: str) -> Condition | str:
    """What a filter asks for, or what is wrong with it."""
    if column.kind == "choice":
        if typed not in column.choices:
            return f'There is no {column.label.lower()} "{typed[:40]}".'
        return f"CAST({column.sql} AS TEXT) = ?", (typed,)
    if not column.is_range:
        return f"instr(lower({column.sql}), ?)", (sql_lower(typed),)
    compared = ">=" if name.endswith("_from") else "<="
    if column.kind in ("date", "time"):
        day = read_date(typed)
        return (
            "Enter a date such as 03/31/2026." if day is None else (f"substr({column.sql}, 1, 10) {compared} ?", (day,))
        )
    number = read_cents(typed) if column.kind == "money" else whole_number(typed)
    if number is None:
        return "Enter an amount such as 24.99." if column.kind == "money" else "Enter a whole number."
    return f"{column.sql} {compared} ?", (number,)


# --- acting in bulk ---------------------------------------------------------------------------------------


def picked(form: FormFields) -> list[int]:
    """The rows that are ticked."""
    numbers = [whole_number(name.removeprefix("pick-")) for name in form.names("pick-")]
    return sorted({number for number in numbers if number is not None})
