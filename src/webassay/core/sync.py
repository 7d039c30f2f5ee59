"""The one synchronous edge."""

import asyncio
import contextlib
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """Waits for a coroutine from ordinary code; also where a loop is running already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        running = False
    else:
        running = True
    return _in_a_thread(work) if running else asyncio.run(work)


def _in_a_thread(work: Coroutine[Any, Any, T]) -> T:
    """Ctrl-C reaches whoever waits here, and not the thread: it is passed on as a cancellation, and waited for."""
    stopped = threading.Event()
    under_way: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[T]]] = []

    async def stoppable() -> T:
        task = asyncio.current_task()
        assert task is not None
        under_way.append((asyncio.get_running_loop(), task))
        if stopped.is_set():  # Looked at only now: whoever stops it later finds the task.
            work.close()
            raise asyncio.CancelledError
        return await work

    with ThreadPoolExecutor(1) as thread:
        try:
            return thread.submit(asyncio.run, stoppable()).result()
        except BaseException:
            stopped.set()
            for loop, task in under_way:
                with contextlib.suppress(RuntimeError):  # It has ended by itself.
                    loop.call_soon_threadsafe(task.cancel)
            raise
