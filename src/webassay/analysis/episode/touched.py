"""The rows that each step wrote, from the record that the sites keep of it, marked as they ended."""

import zlib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from webassay.analysis.episode.requests import BEFORE
from webassay.analysis.episode.view import KeyView, RowLine, RowMark, compact
from webassay.core.errors import GradingError, StoreError
from webassay.core.touched import TouchedRecord, TouchedRow, Values
from webassay.core.trajectory import Blobs, TouchedResult, Trajectory

TouchedBySteps = Mapping[int, tuple[RowLine, ...]]


def touched_rows(trajectory: Trajectory, blobs: Blobs, key: KeyView) -> TouchedBySteps:
    """Index of a step to the rows that it wrote; -1: before the agent began. Empty where no record was kept, or none
    that can be read."""
    ends = {(line.table, line.row): line.mark for line in key.rows if line.mark != "missing"}
    found: dict[int, list[RowLine]] = defaultdict(list)
    for probe in trajectory.probed(TouchedResult):
        try:
            record = TouchedRecord.unpack(blobs.read(probe.blob))
        except (GradingError, StoreError, ValueError, zlib.error):
            continue
        for step, requests in record.by_step().items():
            for request in requests:
                for row in request.rows:
                    line = _line(request.site, row, record, ends)
                    if line is not None:
                        found[BEFORE if step is None else step].append(line)
    return {step: tuple(lines) for step, lines in sorted(found.items())}


def _line(site: str, row: TouchedRow, record: TouchedRecord, ends: Mapping[tuple[str, str], RowMark]) -> RowLine | None:
    """None for what the site alone keeps, such as a time stamp of an updated row."""
    classes = record.columns.get(row.table, {})
    before, after = row.before or {}, row.after or {}
    shown = [name for name in {**before, **after} if classes.get(name, "content") == "content"]
    if row.operation == "update" and not shown:
        return None
    named = _named(row.key)
    values = tuple(
        (name, compact(before[name]) if name in before else "", compact(after[name]) if name in after else "")
        for name in shown
    )
    mark = ends.get((row.table, named), "undone")
    return RowLine(mark, site, row.table, row.operation, named, values)


def _named(key: Values) -> str:
    return ", ".join(f"{column}={compact(value, 80)}" for column, value in key.items())


def with_steps(key: KeyView, touched: TouchedBySteps) -> KeyView:
    """The rows of the key's view, with the steps that wrote them."""
    steps: dict[tuple[str, str], list[int]] = defaultdict(list)
    for step, lines in touched.items():
        for line in lines:
            steps[line.table, line.row].append(step)
    return replace(
        key,
        rows=tuple(
            replace(line, steps=tuple(dict.fromkeys(steps.get((line.table, line.row), ())))) for line in key.rows
        ),
    )
