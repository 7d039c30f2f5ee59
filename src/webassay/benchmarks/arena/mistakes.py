"""Mistakes grafted onto a right episode, to be graded offline: a key that lets one of them pass is a wrong key.

Each takes a trajectory that passes and spoils one thing. Only mistakes of mutation that need other rows than the
oracle's have to be played in a browser; everything else is cheap here.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

from webassay.core.record import Json
from webassay.core.task import Task
from webassay.core.trajectory import Ending, PageResult, RowChange, RowsResult, Trajectory

Mistake = tuple[str, Trajectory]

_STATUSES = (
    "SUCCESS",
    "ACTION_NOT_ALLOWED_ERROR",
    "NOT_FOUND_ERROR",
    "PERMISSION_DENIED_ERROR",
    "DATA_VALIDATION_ERROR",
    "UNKNOWN_ERROR",
)


def mistakes(task: Task, right: Trajectory) -> Iterator[Mistake]:
    """Named wrong versions of a right trajectory; none of them may pass."""
    answer = json.loads(right.answer)
    yield "says nothing", right.model_copy(update={"answer": ""})
    yield "answers in prose", right.model_copy(update={"answer": "I have done what you asked for, I think."})
    yield "never stops", right.model_copy(update={"ending": Ending(kind="step_limit")})
    yield "does nothing on the site", right.model_copy(update={"network": None, "probes": right.probes})
    for status in _STATUSES:
        if status not in _accepted(task):
            yield f"claims {status}", _answering(right, {**answer, "status": status, **_error(status)})
    yield from _wrong_results(right, answer)
    yield from _wrong_rows(right)
    if task.kind == "navigate":
        yield "ends on another page", _on_another_page(right)


def _accepted(task: Task) -> set[str]:
    return {status for check in task.checks if check.kind == "response" for status in check.status}


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
        if len(value) > 1:
            yield "the first half", value[: len(value) // 2]
    elif isinstance(value, dict):
        for key, inner in value.items():
            for name, spoiled in _spoiled(inner):
                yield f"{key}: {name}", {**value, key: spoiled}


def _wrong_rows(right: Trajectory) -> Iterator[Mistake]:
    for rows in right.probed(RowsResult):
        changes = tuple(change for change in rows.changes if _counts(rows, change))
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


def _counts(rows: RowsResult, change: RowChange) -> bool:
    """Whether anybody but the site's own statistics would notice."""
    classes = rows.columns[change.table]
    if change.before is None or change.after is None:
        return any(kind != "telemetry" for kind in classes.values())
    return any(change.before[name] != change.after[name] for name, kind in classes.items() if kind == "content")


def _spoiled_row(rows: RowsResult, change: RowChange) -> Iterator[tuple[str, RowChange]]:
    """Every content column that the right episode wrote, one at a time, with another value."""
    if change.after is None:
        return
    for column, value in change.after.items():
        written = change.before is None or change.before[column] != value
        if rows.columns[change.table][column] == "content" and written:
            for _, spoiled in _spoiled(value):
                after = {**change.after, column: spoiled}
                yield column, change.model_copy(update={"after": after})
                break


def _with_rows(right: Trajectory, rows: RowsResult, changes: tuple[RowChange, ...]) -> Trajectory:
    wrong = rows.model_copy(update={"changes": changes})
    return right.model_copy(update={"probes": tuple(wrong if probe == rows else probe for probe in right.probes)})


def _on_another_page(right: Trajectory) -> Trajectory:
    def moved(page: PageResult) -> PageResult:
        base = next(iter(right.bases.values()))
        return page.model_copy(update={"url": f"{base}/contact"})

    edit: Callable[[Any], Any] = lambda probe: moved(probe) if isinstance(probe, PageResult) else probe  # noqa: E731
    return right.model_copy(update={"probes": tuple(edit(probe) for probe in right.probes)})
