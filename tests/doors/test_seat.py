"""The seat and the engine without gymnasium and, through the fake seat, without a browser."""

import asyncio
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.support.fake_seat import FakeSeat
from webassay.core.errors import InputError
from webassay.core.registry import load_attribute
from webassay.doors.engine import Lease

PLUGIN_DOOR = Path(__file__).parents[2] / "examples" / "plugin" / "src" / "webassay_example" / "door.py"

WITHOUT_GYMNASIUM = """
import sys
sys.modules["gymnasium"] = None
import webassay.doors.engine, webassay.doors.seat, webassay.doors.gym
from webassay.compose.registries import DOORS
print(DOORS.summaries())
"""


def test_doors_work_where_gymnasium_cannot_be_imported():
    command = [sys.executable, "-W", "error", "-c", WITHOUT_GYMNASIUM]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "pip install 'webassay[gym]'" in done.stdout and "numpy" not in done.stderr


@pytest.mark.parametrize(
    ("replies", "status", "ending"),
    [
        (["click('1')", "send_msg_to_user('right')"], "pass", "answered"),
        (["send_msg_to_user('wrong')"], "fail", "answered"),
        (["noop()"] * 20, "fail", "gave_up"),
    ],
)
async def test_a_door_of_forty_lines_plays_an_episode(replies, status, ending):
    play, seat, prompts = load_attribute(f"{PLUGIN_DOOR}:play"), FakeSeat(), []

    def policy(prompt: str) -> str:
        prompts.append(prompt)
        return replies[len(prompts) - 1]

    result = await play(seat, "fake.0", policy)
    assert (result.verdict.status, result.trajectory.ending.kind) == (status, ending)
    assert seat.decisions == replies and len(prompts) == len(replies)
    assert all("http://shop.localhost/" in prompt and "x1" not in prompt for prompt in prompts)
    await seat.close()
    with pytest.raises(InputError, match="no episode under way"):
        await seat.observe()


# --- the engine -------------------------------------------------------------------------------------------------


async def place() -> tuple[str, asyncio.AbstractEventLoop]:
    return threading.current_thread().name, asyncio.get_running_loop()


def test_synchronous_callers_work_in_the_engines_loop():
    with Lease() as engine:
        name, loop = engine.call(place())
        assert (name, engine.call(engine.do(place()))) == ("webassay-doors", (name, loop))


async def test_asynchronous_callers_work_in_the_engines_loop_too():
    async with Lease() as engine, Lease() as same:
        name, loop = await engine.do(place())
        assert name == "webassay-doors" and loop is not asyncio.get_running_loop() and same is engine
    assert loop.is_closed()


async def test_canceling_the_wait_cancels_the_work():
    started, canceled = threading.Event(), threading.Event()

    async def long() -> None:
        started.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            canceled.set()
            raise

    async with Lease() as engine:
        waiting = asyncio.create_task(engine.do(long()))
        await asyncio.to_thread(started.wait, 10)
        waiting.cancel()
        assert await asyncio.to_thread(canceled.wait, 10)
        assert (await asyncio.gather(waiting, return_exceptions=True))[0].__class__ is asyncio.CancelledError
