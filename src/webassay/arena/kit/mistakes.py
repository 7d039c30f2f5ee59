"""Mistakes grafted onto a right episode and graded offline: a key that lets one of them pass is a wrong key.

Each spoils one thing in an episode that passes, and so must *fail*: a fault would mean that the check in question was
never made. Only mistakes that need rows other than the oracle's have to be played in a browser.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from webassay.core.interaction import STATUSES
from webassay.core.record import Json
from webassay.core.served import SERVED_TYPE, ServedCells, ServedNode, ServedRecord, plain
from webassay.core.task import ActivityCheck, Cell, CellKey, EvidenceCheck, Fact, ResponseCheck, Sight, Task
from webassay.core.trajectory import (
    Ending,
    NetworkLog,
    PageResult,
    ProbeResult,
    RowChange,
    RowsResult,
    ServedResult,
    SessionResult,
    Trajectory,
    WritableBlobs,
)

Mistake = tuple[str, Trajectory]


def mistakes(task: Task, right: Trajectory, blobs: WritableBlobs) -> Iterator[Mistake]:
    """Named wrong versions of a right trajectory; every one must fail. Changed network logs are written to `blobs`,
    from which the mistakes have to be graded."""
    answer = json.loads(right.answer)
    yield "says nothing", right.model_copy(update={"answer": ""})
    yield "answers in prose", right.model_copy(update={"answer": "I have done what you asked for, I think."})
    yield "never stops", right.model_copy(update={"ending": Ending(kind="step_limit")})
    for status in STATUSES:
        if status not in _accepted(task):
            yield f"claims {status}", _answering(right, {**answer, "status": status, **_error(status)})
    yield from _idle(task, right, blobs)
    yield from _unseen(task, right, blobs)
    yield from _wrong_results(right, answer)
    yield from _wrong_rows(right)
    for session in right.probed(SessionResult):
        if session.site in task.logins:
            yield f"is logged out of {session.site}", _replacing(right, session, {"user": ""})
    if task.kind == "navigate":
        elsewhere = f"{next(iter(right.bases.values()))}/contact"
        for page in right.probed(PageResult):
            yield "ends on another page", _replacing(right, page, {"url": elsewhere})


def _idle(task: Task, right: Trajectory, blobs: WritableBlobs) -> Iterator[Mistake]:
    """Right, but without the work: nothing loaded at all, or nothing but the first page."""
    if right.network is None:
        return
    lines = blobs.read(right.network.blob).splitlines(keepends=True)
    yield "does nothing on the site", _with_log(right, [], blobs)
    if any(isinstance(check, ActivityCheck) and check.visits for check in task.checks):
        yield "sees the first page only", _with_log(right, lines[:1], blobs)


def _with_log(right: Trajectory, lines: list[bytes], blobs: WritableBlobs) -> Trajectory:
    blob = blobs.write(b"".join(lines), "application/jsonl")
    return right.model_copy(update={"network": NetworkLog(blob=blob, count=len(lines))})


# --- without the evidence -----------------------------------------------------------------------------------


def _unseen(task: Task, right: Trajectory, blobs: WritableBlobs) -> Iterator[Mistake]:
    """Right, but without having seen it: at once, from memory, and with each of the facts missing."""
    records = {probe: ServedRecord.unpack(blobs.read(probe.blob)) for probe in right.probed(ServedResult)}
    if not records:
        return
    yield "answers at step 0", _at_once(right, records, blobs)
    places = _Places(records.values())
    checks = [check for check in task.checks if isinstance(check, EvidenceCheck)]
    for number, check in enumerate(checks, 1):
        spare = len(check.facts) - check.needed
        for first in range(0, len(check.facts), spare + 1):
            # So many that what is left is less than the share: with share 1, one at a time.
            window = (check.facts[first:] + check.facts[:first])[: spare + 1]
            lacking = {probe: places.without(record, window) for probe, record in records.items()}
            yield f"never saw fact {first + 1} of check {number}", _having_seen(right, lacking, blobs)


def _at_once(right: Trajectory, records: Mapping[ServedResult, ServedRecord], blobs: WritableBlobs) -> Trajectory:
    """Nothing seen but what the harness opened, nothing changed, and still on the first page."""
    start = {
        probe: msgspec.structs.replace(
            record,
            served=tuple(one for one in record.served if one.start),
            cells=tuple(one for one in record.cells if one.start),
            counts=(),
        )
        for probe, record in records.items()
    }
    early = _having_seen(right, start, blobs)
    for rows in right.probed(RowsResult):
        early = _with_rows(early, rows, ())
    for page in right.probed(PageResult):
        early = _replacing(early, page, {"url": right.steps[0].seen.url if right.steps else page.url})
    return early


class _Places:
    """Where in some records a token stands."""

    def __init__(self, records: Iterable[ServedRecord]) -> None:
        self._lines: dict[str, set[str]] = defaultdict(set)
        lines = {part for record in records for node in record.nodes for part in node.parts if isinstance(part, str)}
        for line in lines:
            for token in plain(line).split(" "):
                self._lines[token].add(line)

    def without(self, record: ServedRecord, facts: Iterable[Fact]) -> ServedRecord:
        """The record with all places of these facts taken out, and as little else as possible."""
        lines: set[str] = set()
        pictures: set[str] = set()
        cells: set[Cell] = set()
        for fact in facts:
            for way in fact.any_of:
                cells |= {sight.cell for sight in way if sight.cell is not None}
                taken = min(map(self._lines_of, way), key=len)
                lines |= taken
                pictures |= {sight.picture for sight in way if sight.picture}
        nodes = tuple(
            ServedNode(node.row, tuple(part for part in node.parts if part not in lines)) for node in record.nodes
        )
        served = tuple(one for one in record.served if one.path.partition("?")[0] not in pictures)
        shown = tuple(
            ServedCells(
                one.table, one.column, [key for key in one.rows if cells.isdisjoint(_cells(one, key))], one.start
            )
            for one in record.cells
        )
        return msgspec.structs.replace(record, nodes=nodes, served=served, cells=shown, counts=())

    def _lines_of(self, sight: Sight) -> set[str]:
        """Every line with the rarest of its tokens: without these lines, it stands nowhere."""
        tokens = (token for text in sight.texts for token in plain(text).split(" "))
        return min((self._lines.get(token, set()) for token in tokens), key=len, default=set())


def _cells(shown: ServedCells, key: CellKey) -> set[Cell]:
    """By which it can be asked for."""
    return {Cell(table=shown.table, key=key, column=column) for column in (shown.column, "")}


def _having_seen(right: Trajectory, records: Mapping[ServedResult, ServedRecord], blobs: WritableBlobs) -> Trajectory:
    for probe, record in records.items():
        blob = blobs.write(record.pack(level=1), SERVED_TYPE)
        right = _replacing(right, probe, {"blob": blob, "count": len(record.served)})
    return right


# --- another answer -----------------------------------------------------------------------------------------


def with_results(right: Trajectory, *results: Json) -> Trajectory:
    """The same episode with another answer, such as that of a hasty reading."""
    return _answering(right, {**json.loads(right.answer), "results": list(results)})


def _accepted(task: Task) -> set[str]:
    return {status for check in task.checks if isinstance(check, ResponseCheck) for status in check.status}


def _error(status: str) -> dict[str, Json]:
    return {} if status == "SUCCESS" else {"results": None, "error_details": "It did not work."}


def _answering(right: Trajectory, answer: dict[str, Json]) -> Trajectory:
    return right.model_copy(update={"answer": json.dumps(answer)})


def _wrong_results(right: Trajectory, answer: dict[str, Any]) -> Iterator[Mistake]:
    results = answer.get("results")
    if not isinstance(results, list) or not results:
        return
    for number, value in enumerate(results):
        for name, spoiled in _spoiled(value):
            wrong = [*results[:number], spoiled, *results[number + 1 :]]
            yield f"result {number + 1}: {name}", _answering(right, {**answer, "results": wrong})
    yield "leaves out a result", _answering(right, {**answer, "results": results[:-1]})
    yield "adds a result", _answering(right, {**answer, "results": [*results, results[0]]})
    yield "offers alternatives", _answering(right, {**answer, "results": [[value, "other"] for value in results]})
    yield "answers with a pattern", _answering(right, {**answer, "results": ["^.*$" for _ in results]})
    yield "answers yes", _answering(right, {**answer, "results": ["yes" for _ in results]})


def _spoiled(value: Json) -> Iterator[tuple[str, Json]]:
    if isinstance(value, bool):
        yield "the opposite", not value
    elif isinstance(value, int | float):
        yield "one more", value + 1
        yield "the other sign", -value if value else -1
        yield "ten times", value * 10 if value else 10
    elif isinstance(value, str):
        yield "something added", f"{value} extra"
        half = value[: len(value) // 2]
        if half and not _same_number(value, half):
            yield "the first half", half
    elif isinstance(value, dict):
        for key, inner in value.items():
            for name, spoiled in _spoiled(inner):
                yield f"{key}: {name}", {**value, key: spoiled}


def _same_number(one: str, other: str) -> bool:
    """$30.00 and $30: half of the text may be all of the amount."""
    found = [re.fullmatch(r"[$]?(\d[\d,]*)(?:\.0*)?", text) for text in (one, other)]
    amounts = {match[1].replace(",", "") if match is not None else "" for match in found}
    return len(amounts) == 1 and "" not in amounts


def _wrong_rows(right: Trajectory) -> Iterator[Mistake]:
    for rows in right.probed(RowsResult):
        changes = tuple(change for change in rows.changes if rows.counts(change))
        if not changes:
            continue
        yield f"changes nothing on {rows.site}", _with_rows(right, rows, ())
        yield f"does half of it on {rows.site}", _with_rows(right, rows, changes[:-1])
        for change in changes:
            for column, spoiled in _spoiled_row(rows, change):
                others = tuple(other for other in changes if other != change)
                yield f"{change.table}.{column} differs", _with_rows(right, rows, (*others, spoiled))
        again = changes[0]
        extra = again.model_copy(update={"key": {name: f"{value}x" for name, value in again.key.items()}})
        yield f"does it twice on {rows.site}", _with_rows(right, rows, (*changes, extra))


def _spoiled_row(rows: RowsResult, change: RowChange) -> Iterator[tuple[str, RowChange]]:
    """Each content column that the right episode wrote, with another value."""
    if change.after is None:
        return
    for column, (_, value) in rows.differing(change).items():
        for _, spoiled in _spoiled(value):
            yield column, change.model_copy(update={"after": {**change.after, column: spoiled}})
            break


def _with_rows(right: Trajectory, rows: RowsResult, changes: tuple[RowChange, ...]) -> Trajectory:
    return _replacing(right, rows, {"changes": changes})


def _replacing(right: Trajectory, probe: ProbeResult, update: dict[str, Any]) -> Trajectory:
    wrong = probe.model_copy(update=update)
    return right.model_copy(update={"probes": tuple(wrong if one == probe else one for one in right.probes)})
