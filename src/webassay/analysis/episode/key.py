"""A task's key next to what an episode left behind, for a person to read."""

from collections.abc import Iterator

from webassay.analysis.episode.view import KeyLine, KeyView, RowLine, compact, short_address
from webassay.core.errors import GradingError, StoreError, boundary
from webassay.core.task import Check, EvidenceCheck, ExpectedChange, PageCheck, ResponseCheck, StateCheck, Task
from webassay.core.trajectory import Blobs, PageResult, RowChange, RowsResult, Trajectory
from webassay.grading.grade import sites_of
from webassay.grading.network.activity import check_page
from webassay.grading.network.witness import Witness, records_of
from webassay.grading.rules.expect import plain
from webassay.grading.rules.response import FIELDS, applicable, check_response, read_response
from webassay.grading.rules.seen import described
from webassay.grading.rules.state import check_state, counted_rows


def key_view(task: Task, trajectory: Trajectory, blobs: Blobs) -> KeyView:
    """Every part is compared by the grader's own functions, so that this page and the verdict cannot disagree."""
    notes: list[str] = []
    if trajectory.task_hash and trajectory.task_hash != task.content_hash():
        notes.append("The task has changed since this episode was played; this is today's key.")
    lines: list[KeyLine] = []
    for check in task.checks:
        try:
            with boundary(GradingError, f"The {check.kind} check"):
                lines += _lines(check, task, trajectory, blobs)
        except (GradingError, StoreError) as error:
            notes.append(error.message)
    rows, uncounted = row_lines(trajectory, None)
    try:
        with boundary(GradingError, "The changed rows"):
            rows, uncounted = row_lines(trajectory, task)
    except GradingError as error:
        notes.append(error.message)
    return KeyView(tuple(lines), rows, uncounted, notes=tuple(notes))


def without_key(trajectory: Trajectory, why: str) -> KeyView:
    """What changed is known without a key; whether it should have is not."""
    rows, uncounted = row_lines(trajectory, None)
    return KeyView(rows=rows, uncounted=uncounted, missing=why)


def _lines(check: Check, task: Task, trajectory: Trajectory, blobs: Blobs) -> Iterator[KeyLine]:
    if isinstance(check, ResponseCheck):
        yield from _response(check, task.goal.protocol.name, trajectory)
    elif isinstance(check, PageCheck):
        bases = trajectory.bases
        witness = Witness(records_of(trajectory, blobs), bases)
        found = check_page(check, trajectory.probed(PageResult), sites_of(trajectory), witness)
        yield KeyLine(
            "page", compact(found.expected), short_address(compact(found.actual), bases), found.status, found.message
        )
    elif isinstance(check, EvidenceCheck):
        facts = f"{check.needed} of {len(check.facts)} facts: " if len(check.facts) > 1 else ""
        yield KeyLine("evidence", compact(facts + "; ".join(map(described, check.facts)), 2000), "")
    elif not isinstance(check, StateCheck):  # its rows have a table of their own
        asked = check.model_dump(mode="json", exclude_defaults=True, exclude={"kind"})
        yield KeyLine(check.kind, compact(asked, 600), "")


def _response(check: ResponseCheck, protocol: str, trajectory: Trajectory) -> Iterator[KeyLine]:
    read = read_response(trajectory.answer, protocol)
    check = applicable(check, read, trajectory, protocol)
    findings = check_response(check, read, protocol, sites_of(trajectory))
    said = {finding.check: finding for finding in findings}
    fields, value = FIELDS[protocol], read.value
    results = "(none)" if check.results is None else _expected(plain(check.results))
    for what, name, expected in (
        ("action", fields.action, check.action or "(any)"),
        ("status", "status", " or ".join(check.status)),
        ("results", fields.results, results),
    ):
        found = "(unreadable)" if value is None else compact(value.get(name), 2000)
        of_it = said.get(f"response.{what}")
        yield KeyLine(what, expected, found, of_it.status if of_it else None, of_it.message if of_it else "")


def _expected(value: object) -> str:
    return compact(value, 2000)  # type: ignore[arg-type]


# --- rows -----------------------------------------------------------------------------------------------


def row_lines(trajectory: Trajectory, task: Task | None) -> tuple[tuple[RowLine, ...], int]:
    """Rows that changed, marked where there is a key, then those that should have; and how many do not count."""
    results = {result.site: result for result in trajectory.probed(RowsResult)}
    rows = counted_rows(iter(results.values()))
    uncounted = sum(len(result.changes) for result in results.values()) - len(rows)
    if task is None:
        return tuple(_changed(row.of, row.change, "changed") for row in rows), uncounted
    changes = tuple(change for check in task.checks if isinstance(check, StateCheck) for change in check.changes)
    wanted = [change for change in changes for _ in range(change.count)]
    outcome = check_state(StateCheck(changes=changes), rows, sites_of(trajectory), "fail")
    fulfilled = set(outcome.pairs.values())
    lines = [
        _changed(row.of, row.change, "expected" if number in fulfilled else "unexpected")
        for number, row in enumerate(rows)
        if number in fulfilled or row.damages
    ]
    if results:
        lines += [_missing(change) for position, change in enumerate(wanted) if position not in outcome.pairs]
    return tuple(lines), uncounted + len(rows) - sum(line.mark != "missing" for line in lines)


def _changed(result: RowsResult, change: RowChange, mark: str) -> RowLine:
    values = tuple(
        (column, "" if change.before is None else compact(before), "" if change.after is None else compact(after))
        for column, (before, after) in result.differing(change).items()
    )
    key = ", ".join(f"{column}={compact(value, 80)}" for column, value in change.key.items())
    return RowLine(mark, result.site, change.table, change.operation, key, values)  # type: ignore[arg-type]


def _missing(change: ExpectedChange) -> RowLine:
    where = ", ".join(f"{column}={compact(value, 80)}" for column, value in change.where.items())
    values = tuple((column, "", _expected(plain(wanted))) for column, wanted in change.values.items())
    return RowLine("missing", change.site, change.table, change.operation, where, values)
