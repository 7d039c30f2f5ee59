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


@pytest.mark.parametrize(("limit", "templates"), [(1, 1), (2, 2), (4, 4), (5, 4), (9, 4), (None, 4), (99, 4)])
def test_a_limit_takes_as_many_templates_as_it_can(limit, templates):
    found = spread(TASKS, limit)
    assert len(found) == min(limit or 99, len(TASKS))
    assert len({task.template for task in found}) == templates
    assert found == sorted(found, key=TASKS.index), "in the benchmark's own order"


def test_a_limit_keeps_the_mix_of_kinds_and_sites():
    kinds = ["retrieve"] * 6 + ["mutate"] * 3 + ["unachievable"] * 3
    tasks = [
        TASK.model_copy(
            update={"id": str(place), "template": str(place), "kind": kind, "sites": (("shop", "admin")[place % 2],)}
        )
        for place, kind in enumerate(kinds)
    ]
    found = spread(tasks, 4)
    assert sorted(task.kind for task in found) == ["mutate", "retrieve", "retrieve", "unachievable"]
    assert sorted(task.sites[0] for task in found) == ["admin", "admin", "shop", "shop"]


def test_few_of_the_arena_are_chosen_before_they_are_drawn():
    found = Workbench().tasks(Selection(instances=1, limit=10))
    assert len({task.template for task in found}) == 10
    kinds, sites = ([getattr(task, name) for task in found] for name in ("kind", "sites"))
    assert kinds.count("unachievable") == 1 and {("shop",), ("admin",)} <= set(sites)
    assert {task.id for task in Workbench().tasks(Selection(instances=1, limit=5))} <= {task.id for task in found}


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
