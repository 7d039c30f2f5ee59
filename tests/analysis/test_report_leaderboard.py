"""Scores stand on one board only when they mean the same thing."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.support.rows import rows_of
from webassay.analysis.numbers.rows import ResultRow, together
from webassay.analysis.results import formats
from webassay.analysis.results.leaderboard import leaderboard, leaderboard_document
from webassay.analysis.results.report import summarize


def run(agent: str, statuses: str, **rest: Any) -> list[ResultRow]:
    rows = rows_of(agent, statuses, 1, **({"benchmark": "arena", "fingerprint": "rules 1"} | rest))
    return [replace(row, key_hash="" if row.status == "fault" else f"k{row.task_id}") for row in rows]


MENDED = [replace(row, key_hash="mended") for row in run("b", "pff")]


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        pytest.param({"x": run("weak", "pff"), "y": run("strong", "ppf")}, [["strong", "weak"]], id="by success"),
        pytest.param({"x": run("a", "ppf"), "y": run("b", "pff", fingerprint="rules 2")}, [["a"], ["b"]], id="grader"),
        pytest.param({"x": run("a", "ppf"), "y": MENDED}, [["a"], ["b"]], id="key"),
        pytest.param({"x": run("a", "ppf"), "y": run("b", "pf")}, [["a"], ["b"]], id="tasks"),
        pytest.param({"x": run("a", "ppf"), "y": run("b", "pxf"), "z": run("c", "xff")}, [["a", "b", "c"]], id="fault"),
        pytest.param({"x": run("none", "xxx"), "y": run("some", "fff")}, [["some", "none"]], id="no score is last"),
    ],
)
def test_agents_are_ranked_where_grader_keys_and_tasks_are_the_same(runs: Any, expected: list[list[str]]) -> None:
    """A unit that faulted has no key, which is not another key."""
    assert [[entry.agent for entry in board.entries] for board in leaderboard(runs).boards] == expected


def test_the_same_agent_of_two_runs_is_told_apart() -> None:
    rows = together({"monday": run("a", "pp"), "friday": run("a", "pf") + run("b", "pp")})
    assert list(dict.fromkeys(row.agent for row in rows)) == ["a (monday)", "a (friday)", "b"]


@pytest.mark.parametrize("form", ["markdown", "json", "csv", "html"])
def test_comes_out_in_every_form(form: Any) -> None:
    runs = {"r1": run("<b>a</b>", "ppf"), "r2": run("b", "pff")}
    made = getattr(formats, form.upper())
    report = summarize(together(runs), title=", ".join(runs))
    for text in (made.document(leaderboard_document(leaderboard(runs))), made.report(report)):
        assert isinstance(text, str)
        if form != "csv":
            assert "r1" in text
        if form == "html":
            assert "<b>a</b>" not in text
