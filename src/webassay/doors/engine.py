"""What all doors of a process share: an event loop in a thread, a browser, a site server, run directories.

Harnesses are synchronous, or have an event loop of their own. Every episode lives in this one. Whoever needs the engine
hires it; the last one to leave stops it. What is still open when Python exits is closed then.
"""

import asyncio
import atexit
import os
import threading
import weakref
from collections.abc import Callable, Coroutine, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")

STOP_SECONDS = 60.0


class Guest(Protocol):
    """Uses the engine; is asked to leave when Python exits."""

    async def close(self) -> None: ...


class SharedResource(Generic[T]):
    """Opened for the first who takes it, closed when the last has given it back."""

    def __init__(self, open: Callable[[], AbstractAsyncContextManager[T]]) -> None:
        self._open = open
        self._users = 0
        self._stack = AsyncExitStack()
        self._thing: asyncio.Task[T] | None = None
        self._changing = asyncio.Lock()

    async def take(self) -> T:
        async with self._changing:
            if self._thing is None:
                # A task of its own: an interrupted caller must not leave half a browser behind.
                self._thing = asyncio.create_task(self._stack.enter_async_context(self._open()))
                self._thing.add_done_callback(lambda task: task.cancelled() or task.exception())
            thing = self._thing
            self._users += 1
        try:
            return await asyncio.shield(thing)
        except BaseException:
            self._users -= 1
            if thing.done() and self._thing is thing:
                self._thing = None  # It could not be opened; the next one tries again.
            raise

    async def give_back(self) -> None:
        self._users -= 1
        if self._users == 0:
            await self.close()

    async def close(self) -> None:
        async with self._changing:
            if self._users == 0 and self._thing is not None:
                thing, self._thing = self._thing, None
                await asyncio.wait([thing])
                await self._stack.aclose()


class Engine:
    """An event loop in a thread of its own, and what is shared in it."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._guests: set[Guest] = set()
        self._shared: dict[Hashable, SharedResource[Any]] = {}
        self._errands: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="webassay-doors", daemon=True)
        self._thread.start()

    @property
    def here(self) -> bool:
        """False in a forked process: the thread stayed behind in the other one."""
        return self._process == os.getpid()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Does the work in the loop and waits for it. Interrupting the wait cancels the work."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Does the work in the engine's loop, awaited from any loop. Canceling the wait cancels the work."""
        if asyncio.get_running_loop() is self._loop:
            return await work
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Work that nobody waits for. Call it in the engine's loop."""
        task = self._loop.create_task(work)
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)

    def shared(self, key: Hashable, open: Callable[[], AbstractAsyncContextManager[T]]) -> SharedResource[T]:
        return self._shared.setdefault(key, SharedResource(open))

    def welcome(self, guest: Guest) -> None:
        self._guests.add(guest)

    def dismiss(self, guest: Guest) -> None:
        self._guests.discard(guest)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        # Not asyncio.run: it ends by starting a thread, which Python refuses while it exits.
        loop, threads = self._loop, _LastingThreads(thread_name_prefix="webassay-doors")
        loop.set_default_executor(threads)
        try:
            loop.run_until_complete(self._live())
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            threads.shutdown()
            loop.close()

    async def _live(self) -> None:
        await self._stopping.wait()
        for guest in list(self._guests):
            await guest.close()
        for shared in self._shared.values():
            await shared.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


class _LastingThreads(ThreadPoolExecutor):
    """Threads for small pieces of work. When Python exits it refuses new work in threads before it lets us clean up;
    the work is then done at once."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> "Future[T]":
        try:
            return super().submit(fn, *args, **kwargs)
        except RuntimeError:
            done: Future[T] = Future()
            done.set_result(fn(*args, **kwargs))
            return done


class _Process:
    """The engine of this process, and how many doors use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._users = 0
        self._left_behind: list[Engine | None] = []

    def forget(self) -> None:
        """In a forked process nothing has been started yet, whatever the other one was doing. Its engine is kept, as
        collecting it would delete folders that the other one still uses."""
        self._left_behind.append(self._engine)
        self._lock, self._engine, self._users = threading.Lock(), None, 0

    def hire(self) -> Engine:
        with self._lock:
            if self._engine is None:
                self._engine = Engine()
                # At exit, what was registered last runs first. Finalizers would delete the folders of open sessions;
                # they are registered with the first one ever made, so make one and register after it.
                weakref.finalize(self._engine, int)
                atexit.unregister(self.end)
                atexit.register(self.end)
            self._users += 1
            return self._engine

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._engine is not None:
                engine, self._engine = self._engine, None
                engine.stop()

    def end(self) -> None:
        with self._lock:
            if self._engine is not None:
                engine, self._engine = self._engine, None
                engine.stop()


_HERE = _Process()
hire, leave = _HERE.hire, _HERE.leave


class Lease:
    """The engine, for as long as a `with` or an `async with` lasts."""

    def __enter__(self) -> Engine:
        return hire()

    def __exit__(self, *_: object) -> None:
        leave()

    async def __aenter__(self) -> Engine:
        return hire()

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(leave)  # It waits for the engine's thread.


os.register_at_fork(after_in_child=_HERE.forget)
