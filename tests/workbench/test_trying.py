"""`webassay try`: the goals lie beside the run, which is graded by them."""

from pathlib import Path

import pytest

from webassay import Workbench
from webassay.benchmarks.open import OpenTask
from webassay.core.errors import InputError
from webassay.workbench import PlayOptions

GOAL = OpenTask(id="one", goal="Find the price.", url="http://127.0.0.1:1/")


async def attempt(out: Path, goal: OpenTask) -> None:
    await Workbench().try_goals(out, ["no-such-agent"], [goal], PlayOptions())


async def test_goals_of_an_earlier_run_survive_a_mistyped_agent(tmp_path: Path) -> None:
    kept = tmp_path / "run-tasks.json"
    with pytest.raises(InputError, match="no-such-agent"):
        await attempt(tmp_path / "run", GOAL)
    assert not kept.exists(), "nothing was played, so nothing is left behind"
    kept.write_text(f"[{GOAL.model_dump_json()}]".replace('":', '": ').replace(',"', ', "'))
    before = kept.read_bytes()
    with pytest.raises(InputError, match="no-such-agent"):
        await attempt(tmp_path / "run", GOAL)
    assert kept.read_bytes() == before


async def test_goals_of_an_earlier_run_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "run-tasks.json").write_text("[]")
    with pytest.raises(InputError, match="has other goals"):
        await attempt(tmp_path / "run", GOAL)
    assert (tmp_path / "run-tasks.json").read_text() == "[]"
