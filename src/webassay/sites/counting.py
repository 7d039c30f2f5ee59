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


def is_counted(world: World, wanted: ServedCount, computed: Iterable[Computed]) -> bool:
    """Whether the site showed this value from a query to which each of the rows contributes."""
    if wanted.table not in world.snapshot.keys:
        return False  # Of another site.
    for sql, params, values, place in computed:
        if values[place] == wanted.value and wanted.table in sql:
            with suppress(apsw.Error), closing(world.without_visitor()) as db:
                if _contribute(db, world.snapshot.keys[wanted.table], wanted, _Query(db, sql, params, values, place)):
                    return True
    return False


class _Query:
    def __init__(
        self, db: apsw.Connection, sql: str, params: tuple[Any, ...], values: tuple[Any, ...], place: int
    ) -> None:
        self._db, self._sql, self._params, self._values, self._place = db, sql, params, values, place

    def found(self) -> list[str]:
        """The value now, and those of other lines that begin as its line does."""
        rows: list[Any] = self._db.execute(self._sql, self._params).fetchall()
        return sorted(repr(row[self._place]) for row in rows if not self._place or row[0] == self._values[0])


def _contribute(db: apsw.Connection, columns: tuple[str, ...], wanted: ServedCount, query: _Query) -> bool:
    before = query.found()
    if repr(wanted.value) not in before:
        return False
    where = " AND ".join(f"{quoted(column)} IS ?" for column in columns)
    for key in wanted.rows[:: -(-len(wanted.rows) // MOST_DELETED)]:
        db.execute("SAVEPOINT whole")
        db.execute(f"DELETE FROM {quoted(wanted.table)} WHERE {where}", key)
        same = query.found() == before
        db.execute("ROLLBACK TO whole; RELEASE whole")
        if same:
            return False
    return True
