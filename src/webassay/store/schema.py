"""The ledger's tables. There is one version of them; a ledger of another version is refused.

A trajectory has the number of its unit, and a verdict the number of its trajectory. A report goes over the units in the
order of the plan: by number, what belongs to a unit lies in that order too; by name it is scattered over the ledger.
"""

from functools import cache

import apsw

VERSION = 1
"""Stored as SQLite's `user_version`. Raise it with any change to the tables, or to what a seal covers."""

TABLES = """
CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL, seal BLOB) WITHOUT ROWID;
CREATE TABLE rater (id TEXT PRIMARY KEY, example TEXT NOT NULL, seal BLOB) WITHOUT ROWID;
CREATE TABLE tally (name TEXT PRIMARY KEY, rows INTEGER NOT NULL, seal BLOB) WITHOUT ROWID;
CREATE TABLE unit (
    ordinal INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, agent TEXT NOT NULL, task TEXT NOT NULL,
    trial INTEGER NOT NULL, benchmark TEXT NOT NULL, template TEXT NOT NULL,
    hash BLOB NOT NULL, summary TEXT NOT NULL, record TEXT NOT NULL, seal BLOB
);
CREATE TABLE trajectory (
    ordinal INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, unit TEXT NOT NULL, attempt INTEGER NOT NULL,
    agent TEXT NOT NULL, task TEXT NOT NULL, ending TEXT NOT NULL, faulted INTEGER NOT NULL,
    steps INTEGER NOT NULL, seconds REAL NOT NULL, time TEXT NOT NULL,
    hash BLOB NOT NULL, summary TEXT NOT NULL, unit_ordinal INTEGER, seal BLOB, UNIQUE (unit, attempt)
);
CREATE INDEX trajectory_that_counts ON trajectory (unit_ordinal, faulted, attempt DESC);
CREATE TABLE trajectory_record (ordinal INTEGER PRIMARY KEY, record TEXT NOT NULL);
CREATE TABLE verdict (
    ordinal INTEGER PRIMARY KEY, trajectory TEXT NOT NULL, unit TEXT NOT NULL, task TEXT NOT NULL,
    agent TEXT NOT NULL, grader TEXT NOT NULL, model TEXT NOT NULL, fingerprint TEXT NOT NULL,
    status TEXT NOT NULL, score REAL, time TEXT NOT NULL, hash BLOB NOT NULL, replies TEXT NOT NULL,
    summary TEXT NOT NULL, rater TEXT NOT NULL, trajectory_ordinal INTEGER, seal BLOB
);
CREATE INDEX verdict_of ON verdict (trajectory, grader, rater);
CREATE INDEX verdict_on ON verdict (trajectory_ordinal, grader, rater);
CREATE INDEX verdict_by_fingerprint ON verdict (fingerprint, trajectory, status);
CREATE INDEX verdict_by_status ON verdict (grader, status);
CREATE TABLE verdict_record (ordinal INTEGER PRIMARY KEY, record TEXT NOT NULL);
"""


def make_tables(db: apsw.Connection) -> None:
    db.execute(TABLES)
    db.pragma("user_version", VERSION)


def definitions(db: apsw.Connection) -> list[tuple[object, ...]]:
    """Names as bytes, because damage may have made them something that is not text."""
    columns = "type, CAST(name AS BLOB), CAST(tbl_name AS BLOB), CAST(sql AS BLOB)"
    return db.execute(f"SELECT {columns} FROM sqlite_schema ORDER BY 2").fetchall()


def has_our_tables(db: apsw.Connection) -> bool:
    return definitions(db) == _ours()


@cache
def _ours() -> list[tuple[object, ...]]:
    db = apsw.Connection(":memory:")
    make_tables(db)
    return definitions(db)
