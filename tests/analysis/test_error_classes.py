"""Each class of errors on the smallest episode that shows it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.test_protocols import verified
from tests.support import samples
from tests.support import verified_logs as logs
from webassay.analysis.results.error_classes import CLASSES, UNEXPLAINED, classes_of
from webassay.core.interaction import Action
from webassay.core.trajectory import Ending, RecordedObservation, Step
from webassay.core.verdict import Finding
from webassay.judging.taxonomy import TAXONOMIES
from webassay.workbench import LogImport, LogOptions, Workbench


def classes(
    *findings: Finding, goal: str = "Do it.", errors: tuple[str, ...] = (), ending: Any = "answered", **step: Any
) -> set[str]:
    seen = RecordedObservation(url="http://site/")
    steps = tuple(Step(index=n, seen=seen, error=error, **step) for n, error in enumerate(errors))
    trajectory = samples.trajectory(goal=samples.goal(instruction=goal), ending=Ending(kind=ending), steps=steps)
    verdict = samples.verdict(status="fail", findings=findings)
    return set(classes_of(trajectory, verdict))


def wrong(check: str, code: str = "mismatch", **rest: Any) -> Finding:
    return Finding(check=check, status="fail", message="", code=code, **rest)


@pytest.mark.parametrize(
    ("error", "name"),
    [
        ("There is no element [12] on this page any more: the page changed since it was seen.", "timing"),
        ("click: the page did not respond; it may be stuck.", "timing"),
        ("TimeoutError: Locator.click: Timeout 500ms exceeded.", "timing"),
        ("There is no element [99] on this page.", "element"),
        ('ValueError: Could not find element with bid "a51"', "element"),
        ("Element [3]: It is disabled.", "element"),
        ("http://x/ could not be opened: net::ERR_NAME_NOT_RESOLVED.", "navigation"),
    ],
)
def test_errors_of_actions(error: str, name: str) -> None:
    assert classes(errors=(error,)) == {name}
    assert classes(errors=(error, "", "", "", "", "")) == {UNEXPLAINED}, "the agent got over it"


@pytest.mark.parametrize(
    ("finding", "goal", "name"),
    [
        (wrong("response.action"), "", "criteria"),
        (wrong("response.status"), "", "criteria"),
        (wrong("response.results", expected=["red"], actual=["blue"]), "", "content"),
        (wrong("response.results", expected=[12], actual=[11]), "How many posts are there?", "counting"),
        (wrong("legacy.must_include", expected="12", actual="11"), "Count the posts.", "counting"),
        (wrong("response.results", expected=["$12.50"], actual=["12.40"]), "What is the average price?", "calculation"),
        (wrong("response.results", expected=["Top 5"], actual=["Top 6"]), "How many?", "content"),
        (wrong("page", "wrong_page"), "", "navigation"),
        (wrong("legacy.url_match", "url_match"), "", "navigation"),
        (wrong("evidence", "no_evidence"), "", "exploration"),
        (wrong("state", "missing_change"), "", "operation"),
        (wrong("legacy.program_html.exact_match", "x"), "", "operation"),
        (wrong("diagnosis", "webassay:3.7:incomplete_count"), "", "counting"),
        (wrong("diagnosis", "released:6.1:invalid_invocation"), "", "element"),
    ],
)
def test_findings(finding: Finding, goal: str, name: str) -> None:
    assert classes(finding, goal=goal) == {name}


def test_going_in_circles() -> None:
    scroll = (Action.of("scroll", 0, 500),)
    assert classes(errors=("",) * 6, actions=scroll) == {"exploration"}
    assert classes(errors=("",) * 3, actions=scroll) == {UNEXPLAINED}
    assert classes(errors=("",) * 6, actions=(Action.of("click", "1"),)) == {UNEXPLAINED}
    assert classes(ending="step_limit") == {"exploration"}
    assert classes(wrong("evidence", "reported.no_evidence")) == {UNEXPLAINED}


def test_every_class_has_its_code_in_the_taxonomy() -> None:
    known = TAXONOMIES["webassay"]
    assert all(code in known for one in CLASSES for code in (one.code, *one.diagnosed))
    assert len(CLASSES) == 9


def test_over_a_run(tmp_path: Path) -> None:
    keys = [verified(n, ["red"]) for n in range(3)]
    (tmp_path / "tasks.json").write_text(json.dumps(keys))
    for key in keys:
        answer, trace = logs.right_log(key)
        data = {0: answer, 1: {**answer, "retrieved_data": ["blue"]}, 2: {**answer, "task_type": "MUTATE"}}
        logs.write(tmp_path / "mine", key["task_id"], data[key["task_id"]], trace)
    bench = Workbench(cache=tmp_path / "cache")
    options = LogImport(LogOptions("webarena-verified", str(tmp_path / "tasks.json")))
    bench.import_logs([tmp_path / "mine"], tmp_path / "run", options)
    made = json.loads(bench.errors([tmp_path / "run"]).json)
    assert (made["episodes"], made["failed"]) == (3, 2)
    counted = {one["name"]: one["episodes"] for one in made["counts"] if one["group"] == "site: shopping"}
    assert (counted["content"], counted["criteria"], counted["counting"]) == (1, 1, 0)
