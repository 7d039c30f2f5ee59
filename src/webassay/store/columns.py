"""A record as a row: the columns that are searched, the summary, and the text with its hash."""

import json
from collections.abc import Mapping
from typing import Any

import apsw

from webassay.core.summary import TrajectorySummary, UnitSummary, VerdictSummary
from webassay.core.trajectory import Trajectory
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Verdict
from webassay.store.blobs import BlobFolder
from webassay.store.integrity.seals import NUMBERED, digest, seal


def unit_row(unit: UnitOfWork) -> dict[str, Any]:
    text, summary = unit.to_json(), UnitSummary.of(unit).to_json()
    return {
        "id": unit.id,
        "agent": unit.agent,
        "task": unit.task_id,
        "trial": unit.trial,
        "benchmark": str(unit.metadata.get("benchmark") or ""),
        "template": str(unit.metadata.get("template") or ""),
        "hash": digest(text.encode()),
        "summary": summary,
        "record": text,
    }


def insert_unit(db: apsw.Connection, ordinal: int, unit: UnitOfWork) -> None:
    insert_sealed(db, "unit", {"ordinal": ordinal, **unit_row(unit)})


def insert_trajectory(db: apsw.Connection, ordinal: int, unit_id: str, attempt: int, trajectory: Trajectory) -> None:
    columns, record = trajectory_row(unit_id, attempt, trajectory)
    parent = _ordinal(db, "unit", unit_id)
    insert_sealed(db, "trajectory", {"ordinal": ordinal, "unit_ordinal": parent, **columns})
    # A record without its row is left over from a row that was damaged.
    db.execute("INSERT OR REPLACE INTO trajectory_record VALUES (?, ?)", (ordinal, record))


def trajectory_row(unit_id: str, attempt: int, trajectory: Trajectory) -> tuple[dict[str, Any], str]:
    """The columns, and the record."""
    text, summary = trajectory.to_json(), TrajectorySummary.of(trajectory).to_json()
    columns = {
        "id": trajectory.id,
        "unit": unit_id,
        "attempt": attempt,
        "agent": trajectory.agent.name,
        "task": trajectory.task_id,
        "ending": trajectory.ending.kind,
        "faulted": int(trajectory.ending.kind == "fault"),
        "steps": len(trajectory.steps),
        "seconds": float(trajectory.seconds),
        "time": trajectory.started_at,
        "hash": digest(text.encode()),
        "summary": summary,
    }
    return columns, text


def _ordinal(db: apsw.Connection, table: str, name: str) -> int | None:
    found = db.execute(f"SELECT ordinal FROM {table} WHERE id = ?", (name,)).fetchone()
    return None if found is None else int(found[0])


def insert_verdict(db: apsw.Connection, ordinal: int, verdict: Verdict, blobs: BlobFolder, *, time: str) -> None:
    columns, record, rater = verdict_row(db, verdict, blobs, time=time)
    if not db.execute("SELECT 1 FROM rater WHERE id = ?", (rater,)).fetchall():
        insert_sealed(db, "rater", {"id": rater, "example": verdict.fingerprint.to_json()})
    played = _ordinal(db, "trajectory", verdict.trajectory_id)
    insert_sealed(db, "verdict", {"ordinal": ordinal, "rater": rater, "trajectory_ordinal": played, **columns})
    db.execute("INSERT OR REPLACE INTO verdict_record VALUES (?, ?)", (ordinal, record))


def verdict_row(
    db: apsw.Connection, verdict: Verdict, blobs: BlobFolder, *, time: str
) -> tuple[dict[str, Any], str, str]:
    """The columns, the record, and the rater's id. The raw replies go into a blob of their own: they are
    long, and only explanations read them."""
    replies = ""
    if verdict.replies:
        # ASCII, because a reply may hold half a character, which JSON can escape and UTF-8 cannot hold.
        replies = blobs.write(json.dumps(verdict.replies).encode("ascii"), "application/json").to_json()
        verdict = verdict.model_copy(update={"replies": {}})
    found = VerdictSummary.of(verdict)
    text, summary = verdict.to_json(), found.to_json()
    played = db.execute("SELECT unit, agent FROM trajectory WHERE id = ?", (verdict.trajectory_id,)).fetchall()
    unit_id, agent = played[0] if played else ("", "")
    columns = {
        "trajectory": verdict.trajectory_id,
        "unit": unit_id,
        "task": verdict.task_id,
        "agent": agent,
        "grader": verdict.fingerprint.grader,
        "model": verdict.fingerprint.model,
        "fingerprint": verdict.fingerprint.content_hash(),
        "status": verdict.status,
        "score": None if verdict.score is None else float(verdict.score),
        "time": time,
        "hash": digest(text.encode()),
        "replies": replies,
        "summary": summary,
    }
    return columns, text, found.grader


def insert_sealed(db: apsw.Connection, table: str, columns: Mapping[str, Any]) -> None:
    """A row with a number is never written over; a setting, a rater or a tally is."""
    replace = "" if table in NUMBERED else "OR REPLACE"
    insert(db, table, {**columns, "seal": seal(table, columns)}, replace)


def insert(db: apsw.Connection, table: str, columns: Mapping[str, Any], replace: str = "") -> None:
    names, values = ", ".join(columns), ", ".join(f":{name}" for name in columns)
    # The table itself: where rows are damaged, a view of the same name leaves them out.
    db.execute(f"INSERT {replace} INTO main.{table} ({names}) VALUES ({values})", columns)
