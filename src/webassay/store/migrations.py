"""The ledger's tables, as named steps from nothing to today. A released step is never edited: a new one follows it.

A step is SQL and, where rows have to be read to be moved, a function. All of a step happens in one transaction.
"""

import contextlib
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import apsw

from webassay.core.trajectory import Trajectory
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Verdict
from webassay.store.blobs import BlobFolder
from webassay.store.columns import insert, trajectory_row, unit_row, verdict_row
from webassay.store.integrity.seals import NUMBERED, SEALED, digest, seal


class Migration(NamedTuple):
    name: str
    sql: str
    move: Callable[[apsw.Connection, BlobFolder], None] | None = None


def _move_to_columns(db: apsw.Connection, blobs: BlobFolder) -> None:
    """One record at a time: those of a long run do not all fit into memory. `columns.py` still writes the columns that
    these tables have; a step that takes one away must give this one a copy of it."""
    for ordinal, record in _all(db, "SELECT ordinal, record FROM unit_1 ORDER BY ordinal"):
        # In version 1 the first unit has the ordinal 0.
        _insert_2(db, "unit", {"ordinal": ordinal + 1, **unit_row(UnitOfWork.from_json(record), record)})
    # Version 1 did not keep the order in which trajectories came.
    for name, unit_id, attempt in _all(db, "SELECT id, unit, attempt FROM trajectory_1 ORDER BY id"):
        record = db.execute("SELECT record FROM trajectory_1 WHERE id = ?", (name,)).get
        columns, text = trajectory_row(unit_id, attempt, Trajectory.from_json(record), record)
        _insert_2(db, "trajectory", columns)
        db.execute("INSERT INTO trajectory_record VALUES (?, ?)", (db.last_insert_rowid(), text))
    for (ordinal,) in _all(db, "SELECT ordinal FROM verdict_1 ORDER BY ordinal"):
        record = db.execute("SELECT record FROM verdict_1 WHERE ordinal = ?", (ordinal,)).get
        columns, text, _ = verdict_row(db, Verdict.from_json(record), blobs, time="")
        _insert_2(db, "verdict", {"ordinal": ordinal, **columns})
        db.execute("INSERT INTO verdict_record VALUES (?, ?)", (ordinal, text))
    db.execute("DROP TABLE unit_1; DROP TABLE trajectory_1; DROP TABLE verdict_1")


def _insert_2(db: apsw.Connection, table: str, columns: dict[str, Any]) -> None:
    """Version 2 had a checksum of the summary, which version 5 takes away again."""
    insert(db, table, {**columns, "summary_check": zlib.crc32(str(columns["summary"]).encode())})


def _list_raters(db: apsw.Connection, blobs: BlobFolder) -> None:
    """Who decided is in every summary. Its fingerprint is read from one record each; a damaged one is passed over."""
    db.execute("UPDATE verdict SET rater = json_extract(summary, '$.grader') WHERE json_valid(summary)")
    for (rater,) in _all(db, "SELECT DISTINCT rater FROM verdict WHERE rater <> ''"):
        example = db.execute(
            "SELECT json_extract(r.record, '$.fingerprint') FROM verdict v JOIN verdict_record r USING (ordinal) "
            "WHERE v.rater = ? AND json_valid(r.record) ORDER BY v.ordinal LIMIT 1",
            (rater,),
        ).get
        if example is not None:
            insert(db, "rater", {"id": rater, "example": example})


def _seal_all(db: apsw.Connection, blobs: BlobFolder) -> None:
    """What is damaged already gets no seal, so that it stays known as damaged."""
    for table, columns in SEALED.items():
        if table == "tally":
            continue
        key = columns[0]
        for name in _all(db, f"SELECT {key} FROM {table}"):
            with contextlib.suppress(UnicodeDecodeError):
                row = db.execute(f"SELECT {', '.join(columns)} FROM {table} WHERE {key} = ?", name).fetchall()
                if row and _was_sound(db, table, name[0]):
                    stamp = seal(table, dict(zip(columns, row[0], strict=True)))
                    db.execute(f"UPDATE {table} SET seal = ? WHERE {key} = ?", (stamp, *name))
    for table in NUMBERED:
        db.execute(f"ALTER TABLE {table} DROP COLUMN summary_check")
        count = db.execute(f"SELECT count(*) FROM {table} NOT INDEXED").get
        insert(db, "tally", tallied := {"name": table, "rows": count})
        db.execute("UPDATE tally SET seal = ? WHERE name = ?", (seal("tally", tallied), table))


_RECORDS = {
    "unit": "SELECT CAST(record AS BLOB) FROM unit WHERE ordinal = ?",
    "trajectory": "SELECT CAST(record AS BLOB) FROM trajectory_record WHERE ordinal = ?",
    "verdict": "SELECT CAST(record AS BLOB) FROM verdict_record WHERE ordinal = ?",
}


def _was_sound(db: apsw.Connection, table: str, ordinal: int) -> bool:
    """By what version 4 had: a hash of the record, and a checksum of the summary."""
    if table not in NUMBERED:
        return True
    query = f"SELECT hash, CAST(summary AS BLOB), summary_check FROM {table} WHERE ordinal = ?"
    row: tuple[Any, ...] = db.execute(query, (ordinal,)).fetchall()[0]
    stamp, summary, check = row
    record = db.execute(_RECORDS[table], (ordinal,)).get
    return zlib.crc32(summary) == check and record is not None and digest(record) == stamp


def _all(db: apsw.Connection, query: str) -> list[tuple[Any, ...]]:
    return db.execute(query).fetchall()


MIGRATIONS: tuple[Migration, ...] = (
    Migration(
        "001-ledger",
        """
        CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE unit (
            id TEXT PRIMARY KEY, ordinal INTEGER NOT NULL UNIQUE, record TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE trajectory (
            id TEXT PRIMARY KEY, unit TEXT NOT NULL, attempt INTEGER NOT NULL, faulted INTEGER NOT NULL,
            record TEXT NOT NULL, UNIQUE (unit, attempt)
        ) WITHOUT ROWID;
        CREATE TABLE verdict (
            ordinal INTEGER PRIMARY KEY, trajectory TEXT NOT NULL, grader TEXT NOT NULL, fingerprint TEXT NOT NULL,
            record TEXT NOT NULL
        );
        CREATE INDEX verdict_of ON verdict (trajectory, grader, ordinal);
        """,
    ),
    Migration(
        "002-columns-and-summaries",
        """
        ALTER TABLE unit RENAME TO unit_1;
        ALTER TABLE trajectory RENAME TO trajectory_1;
        ALTER TABLE verdict RENAME TO verdict_1;
        DROP INDEX verdict_of;
        CREATE TABLE unit (
            ordinal INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, agent TEXT NOT NULL, task TEXT NOT NULL,
            trial INTEGER NOT NULL, benchmark TEXT NOT NULL, template TEXT NOT NULL,
            hash BLOB NOT NULL, summary TEXT NOT NULL, summary_check INTEGER NOT NULL, record TEXT NOT NULL
        );
        CREATE INDEX unit_by_agent ON unit (agent);
        CREATE INDEX unit_by_task ON unit (task);
        CREATE INDEX unit_by_template ON unit (benchmark, template);
        CREATE TABLE trajectory (
            ordinal INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, unit TEXT NOT NULL, attempt INTEGER NOT NULL,
            agent TEXT NOT NULL, task TEXT NOT NULL, ending TEXT NOT NULL, faulted INTEGER NOT NULL,
            steps INTEGER NOT NULL, seconds REAL NOT NULL, time TEXT NOT NULL,
            hash BLOB NOT NULL, summary TEXT NOT NULL, summary_check INTEGER NOT NULL, UNIQUE (unit, attempt)
        );
        CREATE INDEX trajectory_that_counts ON trajectory (unit, faulted, attempt DESC);
        CREATE INDEX trajectory_by_task ON trajectory (task, agent);
        CREATE INDEX trajectory_by_ending ON trajectory (ending);
        CREATE TABLE trajectory_record (ordinal INTEGER PRIMARY KEY, record TEXT NOT NULL);
        CREATE TABLE verdict (
            ordinal INTEGER PRIMARY KEY, trajectory TEXT NOT NULL, unit TEXT NOT NULL, task TEXT NOT NULL,
            agent TEXT NOT NULL, grader TEXT NOT NULL, model TEXT NOT NULL, fingerprint TEXT NOT NULL,
            status TEXT NOT NULL, score REAL, time TEXT NOT NULL,
            hash BLOB NOT NULL, replies TEXT NOT NULL, summary TEXT NOT NULL, summary_check INTEGER NOT NULL
        );
        CREATE INDEX verdict_of ON verdict (trajectory, grader);
        CREATE INDEX verdict_by_fingerprint ON verdict (fingerprint, trajectory, status);
        CREATE INDEX verdict_by_task ON verdict (task, agent);
        CREATE INDEX verdict_by_status ON verdict (grader, status);
        CREATE TABLE verdict_record (ordinal INTEGER PRIMARY KEY, record TEXT NOT NULL);
        """,
        _move_to_columns,
    ),
    Migration(
        "003-raters",
        """
        ALTER TABLE verdict ADD COLUMN rater TEXT NOT NULL DEFAULT '';
        CREATE TABLE rater (id TEXT PRIMARY KEY, example TEXT NOT NULL) WITHOUT ROWID;
        DROP INDEX verdict_of;
        CREATE INDEX verdict_of ON verdict (trajectory, grader, rater);
        """,
        _list_raters,
    ),
    Migration(
        # A report goes over the units in the order of the plan. By number, what belongs to a unit lies in that order
        # too; by name it is scattered over the whole ledger.
        "004-numbered-parents",
        """
        ALTER TABLE trajectory ADD COLUMN unit_ordinal INTEGER;
        UPDATE trajectory SET unit_ordinal = (SELECT ordinal FROM unit WHERE id = trajectory.unit);
        DROP INDEX trajectory_that_counts;
        CREATE INDEX trajectory_that_counts ON trajectory (unit_ordinal, faulted, attempt DESC);
        ALTER TABLE verdict ADD COLUMN trajectory_ordinal INTEGER;
        UPDATE verdict SET trajectory_ordinal = (SELECT ordinal FROM trajectory WHERE id = verdict.trajectory);
        CREATE INDEX verdict_on ON verdict (trajectory_ordinal, grader, rater);
        """,
    ),
    Migration(
        # Indexes are checked against their tables whenever a ledger is opened, and nobody asked through these.
        "005-seals",
        """
        ALTER TABLE setting ADD COLUMN seal BLOB;
        ALTER TABLE rater ADD COLUMN seal BLOB;
        ALTER TABLE unit ADD COLUMN seal BLOB;
        ALTER TABLE trajectory ADD COLUMN seal BLOB;
        ALTER TABLE verdict ADD COLUMN seal BLOB;
        CREATE TABLE tally (name TEXT PRIMARY KEY, rows INTEGER NOT NULL, seal BLOB) WITHOUT ROWID;
        DROP INDEX unit_by_agent;
        DROP INDEX unit_by_task;
        DROP INDEX unit_by_template;
        DROP INDEX trajectory_by_task;
        DROP INDEX trajectory_by_ending;
        DROP INDEX verdict_by_task;
        """,
        _seal_all,
    ),
)
