"""What a run says before it plays, which tasks a limit takes, and what a later run takes up again."""

import pytest

from tests.support import samples
from tests.support.toy import TASK
from webassay import PlayOptions, Selection, Workbench, run_sync
from webassay.compose.tasks import spread
from webassay.core.errors import InputError
from webassay.core.unit import UnitOfWork
from webassay.store import Store
from webassay.workbench.plan import duration

TEMPLATES = ["a"] * 3 + ["b"] * 3 + ["c"] * 1 + ["d"] * 3
TASKS = [TASK.model_copy(update={"id": f"{name}{place}", "template": name}) for place, name in enumerate(TEMPLATES)]


@pytest.mark.parametrize(
    ("limit", "taken"),
    [
        (1, "a0"),
        (2, "a0 c6"),
        (4, "a0 b3 c6 d7"),
        (5, "a0 a1 b3 c6 d7"),
        (9, "a0 a1 a2 b3 b4 c6 d7 d8"),
        (None, " ".join(task.id for task in TASKS)),
        (99, " ".join(task.id for task in TASKS)),
    ],
)
def test_a_limit_takes_as_many_templates_as_it_can(limit, taken):
    found = [task.id for task in spread(TASKS, limit)]
    assert len(found) == min(limit or 99, len(TASKS))
    assert set(taken.split()) <= set(found)
    assert found == sorted(found, key=lambda name: int(name[1:])), "in the benchmark's own order"


@pytest.mark.parametrize(
    ("seconds", "words"), [(3, "10 seconds"), (62, "60 seconds"), (100, "2 minutes"), (7000, "1.9 hours")]
)
def test_an_estimate_is_rounded(seconds, words):
    assert duration(seconds) == words


PRICE_OF_NOTHING = Selection(templates=("shop.price-of-nothing",), instances=2)


def test_a_plan_counts_what_is_left_and_writes_nothing(tmp_path, monkeypatch):
    bench, out = Workbench(), tmp_path / "run"
    planned = run_sync(bench.plan_run(out, ["oracle", "naive-zero"], PRICE_OF_NOTHING, PlayOptions(trials=2)))
    assert (planned.tasks, planned.templates, planned.agents, planned.episodes) == (2, 1, 2, 8)
    assert "8 episodes to play, 2 at a time" in planned.in_words and "cost" not in planned.in_words
    assert not out.exists()
    monkeypatch.setenv("WEBASSAY_MODEL_PRICE", "1/10")
    asked = PlayOptions(model=samples_model())
    dear = run_sync(bench.plan_run(out, ["generic"], PRICE_OF_NOTHING, asked))
    assert dear.usd == pytest.approx(2 * 12 * (8000 + 10 * 300) / 1e6) and "about $0.26" in dear.in_words
    monkeypatch.delenv("WEBASSAY_MODEL_PRICE")
    assert "cost unknown" in run_sync(bench.plan_run(out, ["generic"], PRICE_OF_NOTHING, asked)).in_words


def samples_model():
    from webassay import ModelOptions

    return ModelOptions("openai:nosuch@http://127.0.0.1:1/v1")


def test_what_did_not_pass_is_taken_up_again(tmp_path):
    bench, run = Workbench(), tmp_path / "run"
    with Store.create(run) as store:
        store.set("selection", '{"benchmark": "arena", "instances": 7}')
        for number, status in enumerate(("pass", "fail", "abstain", "fault", "")):
            unit = UnitOfWork(agent="a", task_id=f"t{number}", trial=number % 2)
            store.plan([unit])
            if status:
                played = samples.trajectory(id=f"{unit.id}/0", task_id=unit.task_id)
                store.add_episode(unit.id, played, [samples.verdict(trajectory_id=played.id, status=status)])
    failed = bench.failed_units(run)
    assert {task for _, task, _ in failed.units} == {"t1", "t2", "t3"}
    assert (failed.selection.instances, failed.trials) == (7, 2)
    assert UnitOfWork(agent="a", task_id="t1", trial=1) in failed
    assert UnitOfWork(agent="a", task_id="t1", trial=0) not in failed


def test_nothing_to_play_is_an_error_and_leaves_nothing(tmp_path):
    with pytest.raises(InputError, match="None of these tasks"):
        run_sync(Workbench().run(tmp_path / "run", ["naive-zero"], PRICE_OF_NOTHING, wanted=lambda unit: False))
    assert not (tmp_path / "run").exists()
