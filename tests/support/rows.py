"""Rows for tests of reports: one letter says how a task ended."""

from typing import Any

from webassay.analysis.numbers.rows import ResultRow

STATUSES = {"p": "pass", "f": "fail", "a": "abstain", "x": "fault", "m": "missing"}


def rows_of(agent: str, statuses: str, template_size: int = 2, **rest: Any) -> list[ResultRow]:
    """One row per letter (p, f, a, x for fault, m for missing), so many tasks to a template."""
    return [
        ResultRow(agent=agent, task_id=f"t{i}", status=STATUSES[letter], template=f"T{i // template_size}", **rest)
        for i, letter in enumerate(statuses)
    ]
