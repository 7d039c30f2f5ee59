"""What a revision changed, on tasks of which each changes one thing."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.test_protocols import old, verified
from tests.support import verified_logs as logs
from webassay.analysis.benchmark.changes import changes, of_changes
from webassay.benchmarks import verified as verified_benchmark
from webassay.benchmarks import webarena
from webassay.core.errors import InputError


def what(tmp_path: Path, before: dict[str, Any], after: dict[str, Any]) -> tuple[str, ...]:
    (tmp_path / "old.json").write_text(json.dumps([before]))
    (tmp_path / "new.json").write_text(json.dumps([after]))
    made = changes(webarena.load(tmp_path / "old.json"), verified_benchmark.load(tmp_path / "new.json"))
    assert len(of_changes(made)) == 2
    return made.changes[0].what


def request(url: str, method: str = "GET") -> dict[str, Any]:
    return {"evaluator": "NetworkEventEvaluator", "expected": {"url": url, "http_method": method}}


def opening(before: str, after: str, method: str = "GET") -> tuple[dict[str, Any], dict[str, Any]]:
    one, other = old(1), verified(1, [])
    one["eval"] = {"eval_types": ["url_match"], "reference_url": before, "reference_answers": None}
    other["eval"][0]["expected"] = {"task_type": "navigate", "status": "SUCCESS", "retrieved_data": None}
    other["eval"].append(request(after, method))
    return one, other


def test_another_value_or_none(tmp_path: Path) -> None:
    assert what(tmp_path, old(1, exact_match="red"), verified(1, ["Red"])) == ()
    assert what(tmp_path, old(1, exact_match="red"), verified(1, ["blue"])) == ("values changed",)
    assert what(tmp_path, old(1, exact_match="Yes"), verified(1, ["True"])) == ()


def test_another_goal_rule_or_code(tmp_path: Path) -> None:
    after = {**verified(1, ["red"]), "intent": "Get thing 1."}
    assert what(tmp_path, old(1, must_include=["red"]), after) == ("goal reworded", "substring replaced")
    assert what(tmp_path, old(1, fuzzy_match=["red"]), verified(1, ["red"])) == ("model replaced",)
    after = verified(1, [])
    after["eval"][0]["expected"] = {"task_type": "retrieve", "status": "NOT_FOUND_ERROR", "retrieved_data": None}
    assert what(tmp_path, old(1, fuzzy_match="N/A"), after) == ("code for N/A",)


def test_another_target_or_a_request_in_place_of_a_page(tmp_path: Path) -> None:
    assert what(tmp_path, *opening("__GITLAB__/a/b", "__GITLAB__/a/b?x=1")) == ()
    assert what(tmp_path, *opening("__GITLAB__/a/b", "__GITLAB__/c")) == ("target changed",)
    before, after = opening("", "__GITLAB__/save", "POST")
    target = {"url": "last", "locator": "document.title", "required_contents": {"must_include": ["x"]}}
    before["eval"] = {"eval_types": ["program_html"], "reference_answers": None, "program_html": [target]}
    after["eval"][0]["expected"]["task_type"] = "mutate"
    assert what(tmp_path, before, after) == ("substring replaced", "page replaced")


def test_tasks_on_one_side_only(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text(json.dumps([old(1, exact_match="a"), old(2, exact_match="b")]))
    (tmp_path / "new.json").write_text(json.dumps([verified(2, ["b"]), verified(3, ["c"])]))
    made = changes(webarena.load(tmp_path / "old.json"), verified_benchmark.load(tmp_path / "new.json"))
    assert {one.task: one.what for one in made.changes} == {"2": (), "1": ("gone",), "3": ("new",)}
    assert (made.tasks, made.unchanged_goals) == (1, 1)


@pytest.mark.external
def test_the_published_revision() -> None:
    try:
        before = webarena.load(webarena.fetch(logs.cache_directory()))
    except InputError as error:
        pytest.skip(f"the published tasks cannot be had: {error.message}")
    made = changes(before, verified_benchmark.load(logs.published_file()))
    assert (made.tasks, made.counts["goal reworded"], made.counts["code for N/A"]) == (812, 673, 36)
    assert made.counts["model replaced"] == 82
