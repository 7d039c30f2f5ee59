"""The step that a label of the fault bench names, over pages that take the place of a browser."""

import random
from types import SimpleNamespace

import pytest

from tests.support import samples
from webassay.agents.flawed.pacing import is_idle
from webassay.agents.flawed.slips import Scene
from webassay.core.errors import StoreError
from webassay.core.interaction import Action, Node, Observation
from webassay.core.trajectory import AgentInfo, Ending, RecordedObservation, Step
from webassay.faultbench import generate as faultbench
from webassay.faultbench.generate import Player
from webassay.faultbench.inject import MISTAKES, Occasion
from webassay.faultbench.journal import FaultJournal, PlayedPair
from webassay.faultbench.plan import BenchOptions, Job
from webassay.play.work import Played

BASE = "http://admin.test"
ORDERS = {"/orders": ["A", "B"], "/orders?p=2": ["C"], "/orders?due=1": ["A"], "/orders?due=1&p=2": ["C"]}
MISTAKE = {one.name: one for one in MISTAKES}


def page(path, step):
    """A grid in two pages, which can be filtered, and a page to go on to."""
    rows = [Node("", "cell", row, 1) for row in ORDERS.get(path, [])]
    links = {"Home": "/home", "Orders": "/orders", "Only due": "/orders?due=1"}
    if path in ORDERS and "p=2" not in path:
        links["Next"] = f"{path}{'&' if '?' in path else '?'}p=2"
    nodes = [Node(str(place), "link", name, 1, url=BASE + url) for place, (name, url) in enumerate(links.items(), 1)]
    return Observation(url=BASE + path, title=path, tabs=(), active_tab=0, step=step, nodes=(*nodes, *rows))


def click(seen, name):
    return Action.of("click", seen.find("link", name).id)


def read_everything(seen):
    """From the list in front, to its end."""
    rows = [node.name for node in seen.nodes if node.role == "cell"]
    while seen.find("link", "Next") is not None:
        seen = yield click(seen, "Next")
        rows += [node.name for node in seen.nodes if node.role == "cell"]
    return {"action": "retrieve", "status": "SUCCESS", "results": rows}


def all_orders(seen):
    seen = yield click(seen, "Orders")
    return (yield from read_everything(seen))


def due_orders(seen):
    """The list that is opened first goes on, too, and the right course does not read it."""
    seen = yield click(seen, "Orders")
    seen = yield click(seen, "Only due")
    return (yield from read_everything(seen))


def due_orders_first(seen):
    """More is done after the list."""
    answer = yield from due_orders(seen)
    yield Action.of("goto", f"{BASE}/home")
    return answer


async def perform(unit, cast, context, graders, attempt):
    """What an episode would be: the agent decides, and links are followed."""
    agent, path, steps = cast.player, "/home", []
    await agent.start(cast.given.goal)
    while True:
        seen = page(path, len(steps))
        decision = await agent.decide(seen)
        (action,) = decision.actions
        recorded = RecordedObservation(url=seen.url)
        steps.append(Step(index=len(steps), seen=recorded, actions=decision.actions, thought=decision.thought))
        if action.name == "send_msg_to_user":
            break
        if action.name == "click":
            path = next(node.url for node in seen.nodes if node.id == action.get("bid")).removeprefix(BASE)
        elif action.name == "goto":
            path = action.get("url").removeprefix(BASE)
    answer = action.get("text")
    trajectory = samples.trajectory(
        id=f"{unit.id}/{attempt}",
        task_id=unit.task_id,
        agent=AgentInfo(name=unit.agent),
        steps=tuple(steps),
        answer=answer,
        ending=Ending(kind="answered"),
    )
    status = "pass" if '"C"' in answer else "fail"
    verdict = samples.verdict(trajectory_id=trajectory.id, task_id=unit.task_id, status=status)
    return Played(unit=unit, trajectory=trajectory, verdicts=(verdict,))


def cast(kind, course, seed):
    def occasion(job, what):
        return Occasion(job.task, SimpleNamespace(solve=course), {}, Scene(random.Random(f"{seed} {what}")))

    job = Job(MISTAKE[kind], samples.task(), half="dev", length="short", occasion=seed)
    return Player(SimpleNamespace(occasion=occasion), None, BenchOptions(seed=seed)), job


async def pair(monkeypatch, kind, course, seed):
    monkeypatch.setattr(faultbench, "perform", perform)
    player, job = cast(kind, course, seed)
    return await player.pair(job)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("course", "in_its_place"),
    [
        (all_orders, "I know enough, and answer."),
        (due_orders, "I know enough, and answer."),
        (due_orders_first, "I open another address."),
    ],
)
async def test_the_end_of_a_list_is_missed_where_the_right_course_goes_on(monkeypatch, course, in_its_place, seed):
    made = await pair(monkeypatch, "first-page-only", course, seed)
    wrong, honest = (
        [step for step in one.trajectory.steps if not is_idle(step.thought)] for one in (made.wrong, made.honest)
    )
    turned = next(place for place, step in enumerate(honest) if "'Next'" in step.thought)
    assert [step.thought for step in wrong[:turned]] == [step.thought for step in honest[:turned]]
    assert (wrong[turned].thought, made.step) == (in_its_place, wrong[turned].index)


def idling(run):
    """Whether it idles before the last thing that it does, and how often it idles at all."""
    idle = [is_idle(step.thought) for step in run.trajectory.steps[:-1]]
    last = max(place for place, one in enumerate(idle) if not one)
    return any(idle[:last]), sum(idle)


@pytest.mark.parametrize(("kind", "off"), [("withheld", 0.1), ("first-page-only", 0.2), ("cut-short", 0.4)])
async def test_a_mistaken_run_idles_on_the_way_as_an_honest_one_does(monkeypatch, kind, off):
    """A shorter course has fewer pages on which it might, and no others are left for it."""
    count = 150
    pairs = [await pair(monkeypatch, kind, due_orders_first, seed) for seed in range(count)]
    wrong, honest = [idling(one.wrong) for one in pairs], [idling(one.honest) for one in pairs]
    early = [sum(on_the_way for on_the_way, _ in own) / count for own in (wrong, honest)]
    assert abs(early[0] - early[1]) < off
    for one, (_, mine), (_, theirs) in zip(pairs, wrong, honest, strict=True):
        assert len(one.wrong.trajectory.steps) == len(one.honest.trajectory.steps)
        assert mine == theirs or kind != "withheld"


def breaking(at, how):
    """From that episode on, three times."""
    count = 0

    async def broken(unit, cast, context, graders, attempt):
        nonlocal count
        count += 1
        played = await perform(unit, cast, context, graders, attempt)
        if not at <= count < at + 3:
            return played
        if how == "grading":
            verdict = played.verdicts[0].model_copy(update={"status": "fault"})
            return played.model_copy(update={"verdicts": (verdict,)})
        ended = played.trajectory.model_copy(update={"ending": Ending(kind="fault", message="the browser died")})
        return played.model_copy(update={"trajectory": ended, "verdicts": ()})

    return broken


@pytest.mark.parametrize("how", ["playing", "grading"])
@pytest.mark.parametrize("at", [1, 2], ids=["honest", "wrong"])
async def test_a_fault_of_ours_is_told_and_tried_again_by_the_next(monkeypatch, tmp_path, at, how):
    player, job = cast("withheld", all_orders, 1)
    with FaultJournal(tmp_path, {}) as journal:
        monkeypatch.setattr(faultbench, "perform", breaking(at, how))
        (result,) = await faultbench._at_once(player, journal, [job], 1, lambda done: None)
    assert result.why == faultbench.FAULTED
    monkeypatch.setattr(faultbench, "perform", perform)
    with FaultJournal(tmp_path, {}) as journal:
        assert journal.get(job.key) is None
        (result,) = await faultbench._at_once(player, journal, [job], 1, lambda done: None)
        assert isinstance(result, PlayedPair)
    with FaultJournal(tmp_path, {}) as journal:
        assert journal.get(job.key) == result


async def test_an_error_of_ours_is_not_wrapped(monkeypatch, tmp_path):
    async def full(*_, **__):
        raise StoreError("The disk is full.")

    monkeypatch.setattr(faultbench, "perform", full)
    player, job = cast("withheld", all_orders, 1)
    with FaultJournal(tmp_path, {}) as journal, pytest.raises(StoreError, match="full"):
        await faultbench._at_once(player, journal, [job], 2, lambda done: None)
