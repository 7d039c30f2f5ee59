"""A seat on real sites in a real browser, from both kinds of callers."""

import asyncio
from pathlib import Path

import pytest

from tests.support.worlds import CACHE
from webassay.core.errors import InputError
from webassay.core.registry import load_attribute
from webassay.doors.engine import Lease
from webassay.doors.plan import SeatSettings
from webassay.doors.seat import EngineSeat

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

PLUGIN_DOOR = Path(__file__).parents[2] / "examples" / "plugin" / "src" / "webassay_example" / "door.py"
NOT_FOUND = '{"action": "retrieve", "status": "NOT_FOUND_ERROR", "results": null}'
SETTINGS = {"templates": ("shop.price-of-nothing",), "instances": 1, "cache": str(CACHE), "parts": ("tree",)}
PLAN = SeatSettings(**SETTINGS).plan()
(TASK,) = PLAN.exercise.tasks


@pytest.fixture(scope="module")
def engine():
    with Lease() as engine:
        keeper = EngineSeat(engine, PLAN)  # As long as it has the browser, the others share it.
        engine.call(keeper.open(TASK.id))
        yield engine
        engine.call(keeper.close())


@pytest.fixture
def seat(engine):
    seat = EngineSeat(engine, PLAN)
    yield seat
    engine.call(seat.close())


def test_a_synchronous_harness_plays_and_may_look_again(engine, seat):
    opening = engine.call(seat.open(TASK.id))
    assert (opening.task, opening.goal.instruction) == (TASK, TASK.goal.instruction)
    assert engine.call(seat.observe()).observation.url == opening.observation.url
    assert engine.call(seat.step("scroll(0, 10)")).result is None
    result = engine.call(seat.step("send_msg_to_user('It is there.')")).result
    assert (result.score, result.trajectory.ending.kind, len(result.trajectory.steps)) == (0.0, "answered", 2)
    assert result.failed_checks and engine.call(seat.finish()) is result


async def test_an_asynchronous_door_plays_in_any_loop(engine):
    evaluate = load_attribute(f"{PLUGIN_DOOR}:evaluate")
    actions = iter(["goto('http://shop.localhost/search?q=zzz')", f"send_msg_to_user({NOT_FOUND!r})"])
    scores = await evaluate(lambda prompt: next(actions), SeatSettings(**SETTINGS))
    assert scores == {TASK.id: 0.0}, "it did not look for what the task asks for"


def test_what_a_limit_of_the_harness_cut_off_is_graded(engine, seat):
    engine.call(seat.open(TASK.id))
    engine.call(seat.step("scroll(0, 10)"))
    result = engine.call(seat.finish())
    assert (result.score, result.trajectory.ending.kind) == (0.0, "gave_up")
    assert result.trajectory.network is not None and result.trajectory.probes
    with pytest.raises(InputError, match="no episode under way"):
        engine.call(seat.step("noop()"))


async def test_an_interrupted_step_can_still_be_graded_but_not_played_on(engine, seat):
    await seat.open(TASK.id)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(seat.step("noop(60000)"), 0.5)
    with pytest.raises(InputError, match="interrupted"):
        await seat.step("noop()")
    result = await seat.time_out("The harness gave it half a second.")
    assert (result.score, result.trajectory.ending.kind) == (0.0, "time_limit")
    assert result.trajectory.ending.message == "The harness gave it half a second."
    await seat.abandon()
    with pytest.raises(InputError, match="no episode under way"):
        await seat.finish()


async def test_an_episode_that_nobody_touches_is_abandoned(engine):
    seat = EngineSeat(engine, SeatSettings(**SETTINGS, idle_seconds=1.0).plan())
    await seat.open(TASK.id)
    for _ in range(3):
        await asyncio.sleep(0.5)
        await seat.observe()
    await asyncio.sleep(2)
    with pytest.raises(InputError, match="no episode under way"):
        await seat.finish()
    await seat.close()
