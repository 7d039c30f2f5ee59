"""The synchronous edge, inside a loop that runs already, as in a notebook."""

import asyncio
import subprocess
import sys

import pytest

from webassay import run_sync


async def double(number: int) -> int:
    await asyncio.sleep(0)
    if number < 0:
        raise ValueError("negative")
    return 2 * number


def test_work_is_waited_for_with_and_without_a_running_loop() -> None:
    async def cell() -> int:
        return run_sync(double(3))

    assert run_sync(double(2)) == 4
    assert asyncio.run(cell()) == 6


async def test_what_the_work_raises_is_raised() -> None:
    with pytest.raises(ValueError, match="negative"):
        run_sync(double(-1))


INTERRUPTED = """
import asyncio, os, signal
from webassay import run_sync

async def work():
    os.kill(os.getpid(), signal.SIGINT)
    try:
        await asyncio.Event().wait()
    finally:
        print("cleaned up")

async def cell():
    run_sync(work())

signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    asyncio.new_event_loop().run_until_complete(cell())
except KeyboardInterrupt:
    print("interrupted")
"""


def test_interrupting_a_cell_stops_the_work() -> None:
    """The work never ends by itself."""
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60)
    assert {"cleaned up", "interrupted"} == set(done.stdout.split("\n")) - {""}, done.stderr
