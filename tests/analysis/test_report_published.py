"""WebChoreArena's published tables through the report: overall is the micro average, and dropped tasks are named."""

import json
from pathlib import Path
from typing import Any

import pytest

from webassay.analysis.numbers.rows import ResultRow
from webassay.analysis.results.report import summarize

DATA = Path(__file__).parents[3] / "shared" / "data" / "webchorearena"

pytestmark = [
    pytest.mark.external,
    pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data/webchorearena is not there"),
]


def tables() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DATA / "paper_tables.json").read_text())
    return found


def rows_of(agent: str, line: dict[str, Any], planned: list[int]) -> list[ResultRow]:
    """What the published integers say: so many planned, so many of them scored, so many passed."""
    made = []
    for site, (size, scored, passed) in enumerate(zip(planned, line["n"], line["successes"], strict=True)):
        for i in range(size):
            status: Any = "pass" if i < passed else "fail" if i < scored else "missing"
            made.append(ResultRow(agent=agent, task_id=f"{site}.{i}", status=status, benchmark="webchorearena"))
    return made


def planned(table: str) -> list[int]:
    lines = tables()[table].values()
    return [max(sizes) for sizes in zip(*(line["n"] for line in lines), strict=True)]


@pytest.mark.parametrize(
    ("table", "agent", "missing"), [("table1", "AgentOccam/ClaudeSonnet4", 1), ("table2", "GPT-5/img", 3)]
)
def test_overall_is_the_micro_average_and_dropped_tasks_are_named(table: str, agent: str, missing: int) -> None:
    lines = tables()[table]
    report = summarize([row for name, line in lines.items() for row in rows_of(name, line, planned(table))])
    overall = {one.name: round(100 * (one.success.micro.value or 0), 1) for one in report.agents}
    assert overall == {name: line["overall_published"] for name, line in lines.items()}
    dropped = {one.name: one.success.counts.missing for one in report.agents if one.success.counts.missing}
    assert dropped == {agent: missing}
    (warning,) = report.warnings
    assert warning.startswith(f"{agent}: ") and f"({missing} missing)" in warning


def test_sites_of_the_full_set() -> None:
    assert planned("table1") == list(tables()["webchorearena_sites"].values())
