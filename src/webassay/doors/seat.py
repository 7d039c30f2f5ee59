"""A seat: where a door plays one episode at a time.

    with Lease() as engine:                                 # from synchronous code
        seat = EngineSeat(engine, SeatSettings().plan())
        opening = engine.call(seat.open(task_id))
        turn = engine.call(seat.step("click('12')"))
        ...
        engine.call(seat.close())

From asynchronous code it is `async with Lease()` and `await seat.open(task_id)`, in any event loop of asyncio.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from webassay.core.errors import InputError
from webassay.core.interaction import Decision, Goal, Observation
from webassay.core.task import Task
from webassay.core.trajectory import AgentInfo, Ending, MemoryBlobs, Trajectory, WritableBlobs
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Verdict, decides
from webassay.doors.addresses import PlainAddresses
from webassay.doors.engine import Engine, SharedResource
from webassay.doors.plan import SeatPlan
from webassay.play.episode import OUR_FAULTS, Episode, EpisodeContext, Recording
from webassay.workbench import Journal, Workbench

T = TypeVar("T")
P = ParamSpec("P")

ATTEMPTS = 3
"""How often `open` tries to get a world and a browser session before it gives up."""


@dataclass(frozen=True)
class Opening:
    task: Task
    """With its key: not for the agent."""
    goal: Goal
    addresses: PlainAddresses
    observation: Observation


@dataclass(frozen=True)
class EpisodeResult:
    trajectory: Trajectory
    verdict: Verdict
    """Its messages say what was expected: not for the agent."""
    blobs: WritableBlobs

    @property
    def score(self) -> float | None:
        """None: nothing can be said about the agent, and a harness must not be sent a 0."""
        return self.verdict.score

    @property
    def failed_checks(self) -> tuple[str, ...]:
        """Names and codes, which give nothing of the answer away."""
        failed = [one for one in self.verdict.findings if one.status != "pass" and decides(one)]
        return tuple(f"{one.check}: {one.code or one.status}" for one in failed)

    @property
    def fault(self) -> str:
        fault = self.verdict.fault
        return fault.message if fault is not None and self.verdict.status == "fault" else ""


@dataclass(frozen=True)
class Turn:
    observation: Observation | None
    """None: nobody could look anymore."""
    result: EpisodeResult | None = None
    """Set once the episode is over."""


class Seat(Protocol):
    """All that a door needs. Where there is no episode, everything but `open`, `abandon` and `close` is an InputError.

    A step whose caller is canceled leaves an episode that can be finished or abandoned, but not played on.
    """

    async def open(self, task_id: str) -> Opening:
        """A fresh episode. One that is under way is abandoned."""
        ...

    async def observe(self) -> Turn: ...

    async def step(self, decision: Decision | str) -> Turn: ...

    async def finish(self) -> EpisodeResult:
        """Seals, probes and grades what a limit of the harness cut off; of an episode that is over, its result."""
        ...

    async def time_out(self, message: str) -> EpisodeResult:
        """As `finish`; the episode says that its time was up."""
        ...

    async def abandon(self) -> None:
        """Neither graded nor recorded."""
        ...

    async def close(self) -> None:
        """Abandons what is under way and gives back what is shared."""
        ...


def in_engine(
    method: Callable[Concatenate["EngineSeat", P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate["EngineSeat", P], Coroutine[Any, Any, T]]:
    """Runs it in the engine's loop, whichever loop it is awaited in, one call at a time."""

    async def run(self: "EngineSeat", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.engine.do(self.in_turn(method(self, *args, **kwargs)))

    return run


class EngineSeat:
    """A seat in this process's engine."""

    def __init__(self, engine: Engine, plan: SeatPlan) -> None:
        self.engine = engine
        self._plan = plan
        self._shared = AsyncExitStack()
        self._context: EpisodeContext | None = None
        self._journal: Journal | None = None
        self._episode: Episode | None = None
        self._interrupted = False
        self._result: EpisodeResult | None = None
        self._unit: UnitOfWork | None = None
        self._trials = 0
        self._one_at_a_time = asyncio.Lock()
        self._turns = 0
        self._idle: asyncio.TimerHandle | None = None
        engine.welcome(self)

    @in_engine
    async def open(self, task_id: str) -> Opening:
        task = self._plan.exercise.get(task_id)
        await self._abandon()
        if self._context is None:
            await self._take_what_is_shared()
        for _ in range(ATTEMPTS - 1):
            try:
                return await self._open(task)
            except OUR_FAULTS:
                continue  # What died, a browser or a site server, is replaced at the next attempt.
        return await self._open(task)

    @in_engine
    async def observe(self) -> Turn:
        return await self._turn(None)

    @in_engine
    async def step(self, decision: Decision | str) -> Turn:
        return await self._turn(decision)

    @in_engine
    async def finish(self) -> EpisodeResult:
        return self._result or await self._finish(self._under_way())

    @in_engine
    async def time_out(self, message: str) -> EpisodeResult:
        if self._result is None:
            episode = self._under_way()
            episode.ending = episode.ending or Ending(kind="time_limit", message=message)
            await self._finish(episode)
        assert self._result is not None
        return self._result

    @in_engine
    async def abandon(self) -> None:
        await self._abandon()

    @in_engine
    async def close(self) -> None:
        await self._abandon()
        self._context = self._journal = None
        await self._shared.aclose()
        self.engine.dismiss(self)

    # --- inside the engine's loop -------------------------------------------------------------------------------

    async def in_turn(self, work: Awaitable[T]) -> T:
        self._turns += 1
        if self._idle is not None:
            self._idle.cancel()
        async with self._one_at_a_time:
            try:
                return await work
            finally:
                if self._plan.idle_seconds is not None and self._episode is not None:
                    loop, turns = asyncio.get_running_loop(), self._turns
                    self._idle = loop.call_later(
                        self._plan.idle_seconds, lambda: self.engine.start(self._abandon_untouched(turns))
                    )

    async def _abandon_untouched(self, turns: int) -> None:
        async with self._one_at_a_time:
            if turns == self._turns:
                await self._abandon()

    async def _take_what_is_shared(self) -> None:
        plan = self._plan
        arena = self.engine.shared(("arena", plan.bench.setup), plan.bench.open_arena)
        context = await self._shared.enter_async_context(_lent(arena))
        if plan.out is not None:
            place = plan.out.resolve()
            run = self.engine.shared(("run", place), lambda: _journal(plan.bench, place))
            self._journal = await self._shared.enter_async_context(_lent(run))
            self._journal.expect(plan.selection, plan.limits)
        recording = Recording(parts=()) if self._journal is None else Recording()
        self._context = replace(context, limits=plan.limits, recording=recording)

    async def _open(self, task: Task) -> Opening:
        episode = self._episode = self._new_episode(task)
        try:
            await episode.open()
            observation = await episode.observe(self._plan.parts)
        except BaseException:
            await self._abandon()
            raise
        return Opening(task, episode.goal, PlainAddresses(episode.bases), observation)

    def _new_episode(self, task: Task) -> Episode:
        assert self._context is not None
        agent, self._unit = AgentInfo(name=self._plan.agent), None
        if self._journal is None:
            self._trials += 1
            context = replace(self._context, blobs=MemoryBlobs())
            return Episode(task, context, id=f"{agent.name}/{task.id}/{self._trials - 1}", agent=agent)
        unit = self._unit = self._journal.next_trial(agent.name, task, self._plan.selection.seed)
        context = replace(self._context, blobs=self._journal.blobs)
        return Episode(task, context, id=f"{unit.id}/0", seed=unit.seed, trial=unit.trial, agent=agent)

    def _under_way(self) -> Episode:
        if self._episode is None:
            raise InputError("There is no episode under way.", hint="Open one.")
        return self._episode

    async def _turn(self, decision: Decision | str | None) -> Turn:
        episode, observation = self._under_way(), None
        if self._interrupted:
            raise InputError("A step of this episode was interrupted.", hint="Finish it, or open another one.")
        try:
            if decision is not None:
                await episode.step(decision)
            observation = await episode.observe(self._plan.parts)
        except (TimeoutError, *OUR_FAULTS):
            if not episode.over:
                await self._abandon()
                raise
        except asyncio.CancelledError:
            self._interrupted = True
            raise
        except BaseException:
            await self._abandon()
            raise
        return Turn(observation, await self._finish(episode) if episode.over else None)

    async def _finish(self, episode: Episode) -> EpisodeResult:
        try:
            blobs = episode.context.blobs
            trajectory, verdict = self._plan.exercise.graded(episode.task, await episode.finish(), blobs)
            if self._journal is not None and self._unit is not None:
                self._journal.add(self._unit, trajectory, verdict)
        except BaseException:
            await self._abandon()
            raise
        self._episode, self._result = None, EpisodeResult(trajectory, verdict, blobs)
        return self._result

    async def _abandon(self) -> None:
        episode, self._episode, self._interrupted, self._result = self._episode, None, False, None
        if episode is not None:
            await episode.abandon()


@asynccontextmanager
async def _lent(shared: SharedResource[T]) -> AsyncIterator[T]:
    yield await shared.take()
    await shared.give_back()


@asynccontextmanager
async def _journal(bench: Workbench, place: Path) -> AsyncIterator[Journal]:
    with bench.journal(place) as journal:
        yield journal
