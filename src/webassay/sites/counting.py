"""Whether rows contributed to a value that a query computed: asked by deleting them in a copy of the pristine database.

Dependence on a value would not do: a count of complete orders changes with the status of a pending one. Deletion tells.
"""

from collections.abc import Iterable
from contextlib import closing, suppress
from typing import Any

import apsw

from webassay.core.served import ServedCount
from webassay.sites.kit import World
from webassay.sites.receipts import Computed
from webassay.sites.snapshots import quoted

MOST_DELETED = 300
"""If there are more rows, so many are deleted, spread over all of them: each takes some milliseconds."""

Shown = set[tuple[tuple[Any, ...], int]]
"""A line of a result, and the place in it."""
Found = list[tuple[Any, ...]]


def is_counted(world: World, wanted: ServedCount, computed: Iterable[Computed]) -> bool:
    """Whether the site showed this value from a query to which each of the rows contributes."""
    if wanted.table not in world.snapshot.keys:
        return False  # Of another site.
    queries: dict[tuple[str, tuple[Any, ...]], Shown] = {}
    for sql, params, values, place in computed:
        if values[place] == wanted.value and wanted.table in sql:
            queries.setdefault((sql, params), set()).add((values, place))
    for (sql, params), shown in queries.items():
        with suppress(apsw.Error), closing(world.without_visitor()) as db:
            if _contribute(db, world.snapshot.keys[wanted.table], wanted, sql, params, shown):
                return True
    return False


def _contribute(
    db: apsw.Connection, columns: tuple[str, ...], wanted: ServedCount, sql: str, params: tuple[Any, ...], shown: Shown
) -> bool:
    before: Found = db.execute(sql, params).fetchall()
    shown = {one for one in shown if repr(wanted.value) in _line(before, *one)}
    where = " AND ".join(f"{quoted(column)} IS ?" for column in columns)
    for key in wanted.rows[:: -(-len(wanted.rows) // MOST_DELETED)]:
        if not shown:
            return False
        db.execute("SAVEPOINT whole")
        db.execute(f"DELETE FROM {quoted(wanted.table)} WHERE {where}", key)
        after: Found = db.execute(sql, params).fetchall()
        db.execute("ROLLBACK TO whole; RELEASE whole")
        shown = {one for one in shown if _line(before, *one) != _line(after, *one)}
    return bool(shown)


def _line(found: Found, values: tuple[Any, ...], place: int) -> list[str]:
    """What stands in that place, in all lines that begin as this one does."""
    return sorted(repr(row[place]) for row in found if not place or row[0] == values[0])
