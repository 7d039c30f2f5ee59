"""Shortcuts: the wrong readings of a hasty agent, each written as the key that it believes in.

A condition bites where the shortcut that ignores it leads somewhere else than the key. Instances where it does not are
never drawn; and an episode that is right in everything but ends where the shortcut leads must fail.
"""

import json
from collections.abc import Mapping
from typing import Any

from webassay.arena.kit.key import Key
from webassay.core.record import Json
from webassay.core.task import Expectation, ExpectedChange, StateCheck, Task
from webassay.core.trajectory import PageResult, RowChange, RowsResult, Trajectory
from webassay.sites.kit import World, json_value

Shortcuts = Mapping[str, Key]
"""What the hasty reader overlooks (`first-page-only`) to where that leads."""


def bites(right: Key, wrong: Key) -> bool:
    """Whether the two decide differently."""
    return _decided(right) != _decided(wrong)


def _decided(key: Key) -> tuple[object, ...]:
    changes = sorted(change.model_dump_json(exclude={"label"}) for change in key.changes)
    pages = sorted(page.model_dump_json() for page in key.pages)
    return (_said(key.results), key.status, changes, pages)


def _said(results: Expectation | None) -> object:
    if results is None or results.items is None:
        return None
    # As it is written: with or without a unit, the same number is the same answer.
    items = [json.dumps(_value(item)) for item in results.items]
    return items if results.ordered else sorted(items)


# --- grafting ---------------------------------------------------------------------------------------------


def grafted(task: Task, right: Trajectory, wrong: Key, worlds: Mapping[str, World]) -> Trajectory:
    """The right episode, with the end that the shortcut leads to."""
    wrong = wrong.on(task.sites)
    action = "retrieve" if wrong.results else "mutate" if wrong.changes else "navigate"
    results = None if wrong.results is None else [_value(item) for item in wrong.results.items or ()]
    answer = {"action": action, "status": "SUCCESS", "results": results}
    probes = []
    for probe in right.probes:
        if isinstance(probe, RowsResult):
            probe = _with_rows(probe, wrong.changes, worlds)
        elif isinstance(probe, PageResult) and wrong.pages:
            page = wrong.pages[0]
            probe = probe.model_copy(update={"url": f"{right.bases[page.site].rstrip('/')}{page.path}"})
        probes.append(probe)
    return right.model_copy(update={"answer": json.dumps(answer), "probes": tuple(probes)})


def _value(expected: Expectation) -> Json:
    """As an agent would write it."""
    if expected.fields is not None:
        return {name: _value(inner) for name, inner in expected.fields.items()}
    return f"${expected.value}" if expected.type == "currency" else expected.value


def _with_rows(rows: RowsResult, changes: tuple[ExpectedChange, ...], worlds: Mapping[str, World]) -> RowsResult:
    wanted = [change for change in changes if change.site == rows.site]
    if rows.site not in worlds:
        return rows
    world = worlds[rows.site]
    known = {change.table: dict(world.site.columns[change.table]) for change in wanted}
    kept = [change for change in rows.changes if not rows.counts(change)]
    made = [_row(change, world, number) for number, change in enumerate(wanted)]
    return rows.model_copy(update={"changes": (*kept, *made), "columns": {**rows.columns, **known}})


def _row(change: ExpectedChange, world: World, number: int) -> RowChange:
    values: dict[str, Any] = {column: _value(wanted) for column, wanted in change.values.items()}
    if change.operation == "insert":
        key = {"id": 10**9 + number}
        return RowChange(table=change.table, key=key, after={**key, **values})
    condition = " AND ".join(f"{column} = ?" for column in change.where)
    found = world.row(f"SELECT * FROM {change.table} WHERE {condition}", *change.where.values())  # type: ignore[arg-type]
    assert found is not None, f"{change.table} has no row {change.where}"
    before = {column: json_value(value) for column, value in found.items()}
    after = None if change.operation == "delete" else {**before, **values}
    return RowChange(table=change.table, key=dict(change.where), before=before, after=after)


def as_task(task: Task, wrong: Key) -> Task:
    """The task that the hasty reader has in mind, to see that a played shortcut really leads there."""
    return task.model_copy(update={"checks": (StateCheck(changes=wrong.on(task.sites).changes),)})
