"""Agents that do not look, and subsets from published outcomes."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.test_protocols import old, verified
from webassay.core.errors import InputError
from webassay.core.naive import at_random, numbers_of, yes_or_no
from webassay.llm.replay import Script, replaying
from webassay.workbench import PROCEDURES, GuessOptions, ModelOptions, Selection, Workbench


def test_guesses() -> None:
    assert yes_or_no("Is it open?") == yes_or_no("Check if it is open") == ["Yes"]
    assert yes_or_no("List the shops") == yes_or_no("What does it do?") == ["No"]
    assert numbers_of("2 of 3.5") == [2, 3.5]
    assert at_random("Find the red one") == at_random("Find the red one")
    assert len({str(at_random(f"Find thing {n}")) for n in range(50)}) > 20


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    references = ({"exact_match": "Yes"}, {"must_include": ["0"]}, {"fuzzy_match": "N/A"}, {"must_include": ["x"]})
    keys = [old(number, **reference) for number, reference in enumerate(references)]
    (tmp_path / "old.json").write_text(json.dumps(keys))
    (tmp_path / "verified.json").write_text(json.dumps([verified(0, ["Yes"]), verified(1, ["0"])]))
    return Workbench(cache=tmp_path / "cache")


async def lines(bench: Workbench, selection: Selection, options: GuessOptions | None = None) -> dict[str, Any]:
    made = json.loads((await bench.contamination(selection, options or GuessOptions())).json)
    return {line["agent"]: line for line in made["lines"]} | {"": made}


async def test_old_keys_give_a_lot_away(bench: Workbench, tmp_path: Path) -> None:
    found = await lines(bench, Selection(benchmark="webarena", file=str(tmp_path / "old.json")))
    passed = {name: line["passed"] for name, line in found.items() if name and line["passed"]}
    assert passed == {"naive-yes": 1, "naive-zero": 1, "naive-na": 1}
    assert (found["naive-zero"]["vulnerable"], found["naive-zero"]["passed_vulnerable"]) == (2, 1)
    assert found[""]["union"]["value"] == 0.75
    assert found[""]["sum_of_rates"] == pytest.approx(0.75)
    assert not any(name.startswith("naive-status-not") for name in found), "it says N/A, as naive-na does"


async def test_verified_keys_give_nothing_to_those_who_did_nothing(bench: Workbench, tmp_path: Path) -> None:
    found = await lines(bench, Selection(benchmark="webarena-verified", file=str(tmp_path / "verified.json")))
    assert found[""]["union"]["value"] == 0
    assert all(line["undecided"] == 0 for name, line in found.items() if name)
    said = [one["answer"] for one in found[""]["guesses"] if one["agent"] == "naive-yes"]
    assert json.loads(said[0]) == {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["Yes"]}


async def test_what_a_model_knows(bench: Workbench, tmp_path: Path) -> None:
    selection = Selection(benchmark="webarena", file=str(tmp_path / "old.json"))
    plan = await bench.contamination_plan(selection, ModelOptions("openai:gpt-5"))
    assert plan.calls == 4 and plan.input_tokens > 100 and plan.cost_usd is not None
    async with replaying(Script(lambda messages: "I know: x and 0")) as server:
        options = GuessOptions(("knowledge",), ModelOptions(f"openai:any@{server.url}"))
        found = await lines(bench, selection, options)
    assert (found["knowledge"]["passed"], found["knowledge"]["passed_vulnerable"]) == (2, 2)
    mine = await lines(bench, selection, GuessOptions(("naive-no",), answers={"webarena.0": "Yes"}))
    assert mine["yours"]["passed"] == 1
    with pytest.raises(InputError, match=r"no task other\.1"):
        await bench.contamination(selection, GuessOptions(answers={"other.1": "Yes"}))
    with pytest.raises(InputError, match="has to be played"):
        await bench.contamination(selection, GuessOptions(("naive-link-follower",)))


# --- outcomes -------------------------------------------------------------------------------------------


def outcomes(easy: int = 3, hard: int = 5) -> list[tuple[str, str, int]]:
    """Six agents; the first tasks are solved by all, the others by the first agent only."""
    return [
        (str(task), f"agent {agent}", int(task < easy or agent == 0))
        for task in range(easy + hard)
        for agent in range(6)
    ]


def test_a_subset_from_published_outcomes(bench: Workbench, tmp_path: Path) -> None:
    table = tmp_path / "outcomes.csv"
    table.write_text("task,agent,outcome\n" + "".join(f"{t},{a},{o}\n" for t, a, o in outcomes()))
    made = json.loads(bench.subset([table]).json)
    assert made["tasks"] == ["3", "4", "5", "6", "7"]
    assert (made["counts"]["easy"], made["counts"]["hard"], made["counts"]["all"]) == (3, 5, 8)
    wide = tmp_path / "wide.csv"
    cells = [",".join(str(o) for t, _, o in outcomes() if t == str(task)) for task in range(8)]
    wide.write_text("Task ID,note," + ",".join(f"a{n}" for n in range(6)) + "\n")
    with wide.open("a") as file:
        file.writelines(f"{task},said something,{line}\n" for task, line in enumerate(cells))
    assert json.loads(bench.subset([wide]).json)["tasks"] == made["tasks"]
    strict = PROCEDURES["text"].model_copy(update={"minimum_coverage": 7})
    with pytest.raises(InputError, match="at most of 6"):
        bench.subset([table], strict)


def test_templates_and_sites_come_from_the_benchmark(bench: Workbench, tmp_path: Path) -> None:
    keys = [{**old(n, exact_match="x"), "sites": ["map"] if n == 4 else ["shopping"]} for n in range(8)]
    (tmp_path / "old.json").write_text(json.dumps(keys))
    table = tmp_path / "outcomes.csv"
    table.write_text("task,agent,outcome\n" + "".join(f"webarena.{t},{a},{o}\n" for t, a, o in outcomes()))
    made = json.loads(bench.subset([table], benchmark=f"webarena={tmp_path / 'old.json'}").json)
    assert made["tasks"] == [f"webarena.{n}" for n in (3, 5, 6, 7)]
    assert (made["counts"]["removed"], made["templates_of_all"]) == (1, 1)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("what,agent,outcome\n1,a,1\n", "no column for the task"),
        ("task,agent\n1,a\n", "no column for the outcome"),
        ("task,agent,outcome\n1,a,perhaps\n", "line 2: 'perhaps' is not an outcome"),
        ("task,words\n1,hello\n", "no column of outcomes"),
    ],
)
def test_tables_that_cannot_be_used(bench: Workbench, tmp_path: Path, text: str, problem: str) -> None:
    table = tmp_path / "outcomes.csv"
    table.write_text(text)
    with pytest.raises(InputError, match=problem):
        bench.subset([table])
