"""Whether SQLite can rely on a ledger: its tables are the ones we made, and its trees and indexes hold together."""

from pathlib import Path

import apsw

from webassay.store.connections import temporary_copy
from webassay.store.failures import structural_error
from webassay.store.integrity.inspection import Damage
from webassay.store.integrity.seals import SEALED
from webassay.store.schema import has_our_tables

_MOST = 5


def check_structure(db: apsw.Connection, ledger: Path, *, writable: bool) -> tuple[apsw.Connection, list[Damage]]:
    """Damaged indexes are made again from their tables: in place by who may write, in a copy by who reads. Anything
    worse is an error. Who writes must be able to rely on the pages of records too."""
    if not has_our_tables(db):
        raise structural_error(ledger, "its tables are not defined as they were")
    complaints = _complaints(db, complete=writable)
    if not complaints:
        return db, []
    if not writable:
        db = temporary_copy(db)
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
            raise structural_error(ledger, f"two of its rows are the same where they must differ ({error})") from error
        if _complaints(db, complete=writable):
            raise structural_error(ledger, "; ".join(complaints[:_MOST]))
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")
