"""A run: one unit may break in any way, and the others are played all the same."""

import asyncio
import contextlib
import pickle
from dataclasses import replace

import pytest

from tests.play.test_episode import FakeBrowser, FakeEnvironment, FakeSession, Happened
from tests.support import samples
from webassay.benchmarks.base import Selection
from webassay.core.errors import AgentError, BudgetError, InputError, StoreError, TaskError
from webassay.core.interaction import Decision
from webassay.core.task import ResponseCheck
from webassay.core.text import MAX_TEXT
from webassay.core.trajectory import MemoryBlobs
from webassay.core.unit import UnitOfWork
from webassay.grading.grade import RULES, VERSION, grade
from webassay.play.episode import EpisodeContext, Limits
from webassay.play.local import RunSettings, grade_missing, run_units
from webassay.play.plan import plan
from webassay.play.settings import limits_in_words, remember
from webassay.play.work import MAX_RECORD, Played, perform
from webassay.store import Store
from webassay.workbench import Workbench

ANSWER = '{"action": "navigate", "status": "SUCCESS"}'
HALF = "\ud83d"


def open_the_page(name):
    return samples.task(id=name, kind="navigate", checks=(ResponseCheck(action="navigate"),))


class Agent:
    """Answers at once, unless its unit is one that misbehaves."""

    name = "subject"
    wants = ()

    def __init__(self, misbehave=None):
        self.misbehave = misbehave

    async def start(self, goal):
        pass

    async def decide(self, observation):
        if self.misbehave is not None and (said := await self.misbehave()) is not None:
            return said
        return Decision.answer(ANSWER)


class Builder:
    """Tasks named t0, t1, ...; `misbehaviour` by task."""

    def __init__(self, **misbehaviour):
        self.misbehaviour = misbehaviour
        self.played: list[str] = []

    def task(self, unit):
        if self.misbehaviour.get(unit.task_id) == "no task":
            raise TaskError("The key cannot be read.")
        return open_the_page(unit.task_id)

    def agent(self, unit, task):
        self.played.append(unit.id)
        if self.misbehaviour.get(unit.task_id) == "no agent":
            raise ValueError("no such weights")
        return Agent(self.misbehaviour.get(task.id))


class QuietSession(FakeSession):
    """Its network log is one that graders can read."""

    async def seal(self):
        return b""


def context(blobs, environment=None, **session) -> EpisodeContext:
    happened = Happened()
    browser = FakeBrowser(QuietSession(happened, **session))
    return EpisodeContext(browser=browser, environment=environment or FakeEnvironment(happened), blobs=blobs)


@pytest.fixture
def store(tmp_path):
    with Store.create(tmp_path / "run") as opened:
        opened.plan(plan([samples.task(id=f"t{number}") for number in range(3)], ["subject"]))
        yield opened


async def run(store, builder, where=None, **rest):
    return await run_units(store, builder, where or context(store.blobs), [RULES], **rest)


def endings(store) -> dict[str, str]:
    return {unit.task_id: trajectory.ending.kind for unit, trajectory in store.trajectories()}


def statuses(store) -> dict[str, str]:
    return {unit.task_id: store.verdict(trajectory.id, "rules").status for unit, trajectory in store.trajectories()}


async def raises(error):
    raise error


async def cancel_the_own_task():
    asyncio.current_task().cancel()
    await asyncio.sleep(1)


@pytest.mark.parametrize("workers", [1, 2])
class TestOneUnitBreaks:
    """The second of three units misbehaves; the first and the last are answered."""

    async def check(self, store, workers, ending, builder, where=None):
        await run(store, builder, where, settings=RunSettings(workers=workers))
        assert endings(store) == {"t0": "answered", "t1": ending, "t2": "answered"}
        assert statuses(store)["t1"] == ("fault" if ending == "fault" else "fail")
        return store.trajectory("subject/t1/0")

    @pytest.mark.parametrize(
        "misbehave",
        [lambda: raises(asyncio.CancelledError()), cancel_the_own_task, lambda: raises(SystemExit(3)), "no agent"],
        ids=["cancels", "cancels its task", "ends the process", "cannot be built"],
    )
    async def test_the_agent_breaks(self, store, workers, misbehave):
        await self.check(store, workers, "agent_crashed", Builder(t1=misbehave))

    async def test_the_environment_breaks_in_a_way_nobody_foresaw(self, store, workers):
        class Environment(FakeEnvironment):
            @contextlib.asynccontextmanager
            async def stage(self, task):
                if task.id == "t1":
                    raise ZeroDivisionError(HALF)
                async with super().stage(task) as stage:
                    yield stage

        where = context(store.blobs, Environment(Happened()))
        played = await self.check(store, workers, "fault", Builder(), where)
        assert played.id == "subject/t1/0/2"
        assert "ZeroDivisionError" in played.ending.fault.trace


async def test_half_a_character_is_stored_as_a_mark_and_graded(store):
    async def answer():
        return Decision.answer(f"caf{HALF}", thought=HALF)

    await run(store, Builder(t1=answer))
    kept = store.trajectory("subject/t1/0")
    assert (kept.answer, kept.steps[0].thought, kept.ending.kind) == ("caf�", "�", "answered")
    assert statuses(store) == {"t0": "pass", "t1": "fail", "t2": "pass"}


async def test_half_a_character_of_a_page_costs_nobody_anything(store):
    async def click():
        return None if first.pop(0) else "click('9')"

    first = [False, True]
    session = QuietSession(Happened(), refuses="click")
    act = session.act

    async def refuse(action):
        acted = await act(action)
        acted.error = HALF
        return acted

    session.act = refuse
    where = EpisodeContext(FakeBrowser(session), FakeEnvironment(Happened()), store.blobs)
    await run(store, Builder(t1=click), where)
    assert store.trajectory("subject/t1/0").steps[0].error == "�"
    assert statuses(store) == {"t0": "pass", "t1": "pass", "t2": "pass"}


async def test_an_endless_answer_is_cut(store):
    async def answer():
        return Decision.answer("x" * 50_000_000)

    await run(store, Builder(t1=answer))
    kept = store.trajectory("subject/t1/0")
    assert MAX_TEXT <= len(kept.answer) < MAX_TEXT + 100
    assert len(kept.to_json()) <= MAX_RECORD
    assert statuses(store)["t1"] == "fail"


async def test_a_task_that_cannot_be_built_is_a_fault_without_a_verdict(store):
    await run(store, Builder(t1="no task"))
    assert endings(store) == {"t0": "answered", "t1": "fault", "t2": "answered"}
    assert store.verdicts("subject/t1/0/0") == []


async def test_a_grader_that_breaks_fails_nobody(store):
    def strict(task, trajectory, blobs):
        if task.id == "t1":
            raise KeyError("results")
        return grade(task, trajectory, blobs)

    await run_units(store, Builder(), context(store.blobs), [replace(RULES, grade=strict)])
    (verdict,) = store.verdicts("subject/t1/0/0")
    assert (verdict.status, verdict.fingerprint.grader, verdict.fingerprint.version) == ("fault", "rules", VERSION)
    assert Workbench().report([store.path]).counts.faulted == 1
    assert store.count_unfinished() == 0


@pytest.mark.parametrize("error", [StoreError("The disk is full."), BudgetError("Enough was spent.")])
async def test_a_full_disk_and_a_spent_budget_stop_everything(store, error):
    builder = Builder(t0=lambda: raises(error))
    with pytest.raises(type(error)):
        await run(store, builder, settings=RunSettings(workers=1))
    assert builder.played == ["subject/t0/0"]
    assert store.count_unfinished() == 3


async def test_cancelling_the_run_is_no_crash_of_an_agent(store):
    waiting = asyncio.Event()

    async def wait():
        waiting.set()
        await asyncio.sleep(60)

    running = asyncio.create_task(run(store, Builder(t0=wait), settings=RunSettings(workers=1)))
    await waiting.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert store.count_unfinished() == 3


async def test_only_agents_named_this_time_are_executed(store):
    store.plan(plan([samples.task(id="t0")], ["rm -rf", "other"]))
    builder = Builder()
    progress = await run(store, builder, agents=["other"])
    assert builder.played == ["other/t0/0"]
    assert (progress.total, progress.done, progress.left) == (1, 1, 0)
    assert [unit.agent for unit in store.unfinished()] == ["subject"] * 3 + ["rm -rf"]


async def test_progress_counts_units_not_episodes(store):
    seen = []
    builder = Builder(t1="no task")
    await run(
        store,
        builder,
        settings=RunSettings(workers=1),
        on_done=lambda played, p: seen.append((played.unit.task_id, p.done, p.left, p.retried, dict(p.statuses))),
    )
    assert seen == [
        ("t0", 1, 2, 0, {"pass": 1}),
        ("t1", 1, 2, 1, {"pass": 1}),
        ("t2", 2, 1, 1, {"pass": 2}),
        ("t1", 2, 1, 2, {"pass": 2}),
        ("t1", 3, 0, 2, {"pass": 2, "fault": 1}),
    ]
    # The fault is left for the next run, with attempts that are counted on.
    again = Builder()
    await run(store, again)
    assert again.played == ["subject/t1/0"]
    assert store.trajectory("subject/t1/0").id == "subject/t1/0/3"


async def test_what_was_played_can_travel():
    unit = UnitOfWork(agent="subject", task_id="t0", trial=2, seed=5)
    played = await perform(unit, Builder(), context(MemoryBlobs()), [RULES], attempt=4)
    assert played.trajectory.id == "subject/t0/2/4"
    assert (played.trajectory.trial, played.trajectory.seed, played.status) == (2, 5, "pass")
    assert Played.from_json(played.to_json()) == played
    assert pickle.loads(pickle.dumps(played)) == played


async def test_a_unit_that_cannot_even_be_configured_is_a_fault():
    class Unusable(Builder):
        def agent(self, unit, task):
            raise InputError("generic needs a model.", hint="Give --model.")

    played = await perform(UnitOfWork(agent="generic", task_id="t0"), Unusable(), context(MemoryBlobs()), [RULES])
    assert (played.trajectory.ending.kind, played.status) == ("fault", "fault")
    assert "needs a model" in played.trajectory.ending.message


async def test_an_agent_error_is_the_agents_own():
    builder = Builder(t0=lambda: raises(AgentError("I give up.")))
    played = await perform(UnitOfWork(agent="subject", task_id="t0"), builder, context(MemoryBlobs()), [RULES])
    assert (played.trajectory.ending.kind, played.status) == ("agent_crashed", "fail")


def test_what_nobody_graded_is_graded_later(store):
    units = list(store.units())
    for unit in units[:2]:
        answered = samples.trajectory(id=f"{unit.id}/0", task_id=unit.task_id, answer=ANSWER)
        store.add_trajectory(unit.id, answered)
    store.add_verdict(grade(open_the_page("t0"), store.trajectory(units[0].id), store.blobs))
    assert grade_missing(store, Builder(), [RULES]) == 1
    assert grade_missing(store, Builder(), [RULES]) == 0
    assert len(store.verdicts(f"{units[1].id}/0")) == 1


def test_baselines_are_named_by_whoever_plans():
    tasks = [samples.task(id="t0")]
    known = plan(tasks, ["naive-zero", "knowledge-graph"], baselines=["naive-zero"])
    assert [unit.metadata["baseline"] for unit in known] == [True, False]
    assert "baseline" not in plan(tasks, ["naive-zero"])[0].metadata


def test_limits_belong_to_the_run(tmp_path):
    with Store.create(tmp_path / "run") as fresh:
        remember(fresh, Selection(), limits=Limits(steps=5))
        remember(fresh, Selection(), limits=Limits(steps=5))
        assert limits_in_words(fresh) == "5 steps, 20 actions a step, 600 s a decision, 3600 s an episode"
        with pytest.raises(InputError, match=r"with other options: the limit of steps was 5, now 6"):
            remember(fresh, Selection(), limits=Limits(steps=6))
