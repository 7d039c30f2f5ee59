"""Whether SQLite can rely on a ledger: its tables are the ones we made, and its trees and indexes hold together."""

from functools import cache
from pathlib import Path

import apsw

from webassay.store.blobs import BlobFolder
from webassay.store.failures import structural
from webassay.store.integrity.inspection import Damage
from webassay.store.integrity.seals import SEALED
from webassay.store.migrations import MIGRATIONS
from webassay.store.opening import copied

_SCHEMA = "SELECT type, CAST(name AS BLOB), CAST(tbl_name AS BLOB), CAST(sql AS BLOB) FROM sqlite_schema ORDER BY 2"
_MOST = 5


def apply(db: apsw.Connection, name: str, blobs: BlobFolder) -> None:
    """One migration, inside a transaction of the caller's."""
    step = next(step for step in MIGRATIONS if step.name == name)
    db.execute("CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY) WITHOUT ROWID")
    db.execute(step.sql)
    if step.move is not None:
        step.move(db, blobs)
    db.execute("INSERT INTO migration VALUES (?)", (name,))


def make_tables(db: apsw.Connection) -> None:
    """Today's, all empty."""
    for step in MIGRATIONS:
        apply(db, step.name, BlobFolder(Path(), writable=False))


@cache
def _todays_schema() -> list[tuple[object, ...]]:
    db = apsw.Connection(":memory:")
    make_tables(db)
    return db.execute(_SCHEMA).fetchall()


def is_todays(db: apsw.Connection) -> bool:
    return db.execute(_SCHEMA).fetchall() == _todays_schema()


def check_structure(db: apsw.Connection, ledger: Path, *, writable: bool) -> tuple[apsw.Connection, list[Damage]]:
    """Damaged indexes are made again from their tables: in place by who may write, in a copy by who reads. Anything
    worse is an error. Who writes must be able to rely on the pages of records too."""
    if not is_todays(db):
        raise structural(ledger, "its tables are not defined as they were")
    complaints = _complaints(db, complete=writable)
    if not complaints:
        return db, []
    if not writable:
        db = copied(db)
    _make_indexes_again(db, ledger, complaints, writable=writable)
    return db, [Damage(f"index: {complaint}. It was rebuilt.") for complaint in complaints[:_MOST]]


def _complaints(db: apsw.Connection, *, complete: bool) -> list[str]:
    checks = ["PRAGMA integrity_check"] if complete else [f"PRAGMA integrity_check({table})" for table in SEALED]
    return [str(said) for check in checks for (said,) in db.execute(check) if said != "ok"]


def _make_indexes_again(db: apsw.Connection, ledger: Path, complaints: list[str], *, writable: bool) -> None:
    """Whether the indexes were all that was wrong shows afterwards, before anything is kept."""
    db.execute("BEGIN IMMEDIATE")
    try:
        try:
            db.execute("REINDEX")
        except apsw.ConstraintError as error:
            # A damaged row has what only one row may have; which of the two it is, only `repair` finds out.
            raise structural(ledger, f"two of its rows are the same where they must differ ({error})") from error
        if _complaints(db, complete=writable):
            raise structural(ledger, "; ".join(complaints[:_MOST]))
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")
