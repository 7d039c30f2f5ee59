"""One environment's place in the engine: its episodes, one after the other. All of it runs in the engine's loop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from webassay.core.interaction import Decision, Goal, Observation, ObservationPart
from webassay.core.task import Task
from webassay.core.trajectory import AgentInfo, MemoryBlobs, Trajectory, WritableBlobs
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Verdict
from webassay.doors.engine import Engine, Shared
from webassay.play.episode import OUR_FAULTS, Episode, EpisodeContext, Limits, Recording
from webassay.workbench import Exercise, Journal, Selection, Workbench

T = TypeVar("T")

ATTEMPTS = 3
"""How often a reset tries to open a world and a browser session before it gives up."""


@dataclass(frozen=True)
class Plan:
    """What an environment plays, and how."""

    bench: Workbench
    selection: Selection
    exercise: Exercise
    limits: Limits
    parts: tuple[ObservationPart, ...]
    agent: str
    out: Path | None


@dataclass(frozen=True)
class Opened:
    goal: Goal
    bases: dict[str, str]
    seen: Observation


@dataclass(frozen=True)
class Finished:
    trajectory: Trajectory
    verdict: Verdict
    blobs: WritableBlobs


class Seat:
    def __init__(self, engine: Engine, plan: Plan) -> None:
        self._engine = engine
        self._plan = plan
        self._shared = AsyncExitStack()
        self._context: EpisodeContext | None = None
        self._journal: Journal | None = None
        self._episode: Episode | None = None
        self._unit: UnitOfWork | None = None
        self._trials = 0
        self._one_at_a_time = asyncio.Lock()
        engine.welcome(self)

    async def reset(self, task: Task) -> Opened:
        """A fresh episode. One that is under way is abandoned: it is neither graded nor recorded."""
        async with self._one_at_a_time:
            await self._abandon()
            if self._context is None:
                await self._take_what_is_shared()
            for _ in range(ATTEMPTS - 1):
                try:
                    return await self._open(task)
                except OUR_FAULTS:
                    continue  # What died, a browser or a site server, is replaced at the next attempt.
            return await self._open(task)

    async def step(self, decision: Decision | str) -> tuple[Observation | None, Finished | None]:
        """What is seen after the step, None if nobody could look, and how the episode ended, if it did."""
        async with self._one_at_a_time:
            episode, seen = self._episode, None
            assert episode is not None
            try:
                try:
                    await episode.step(decision)
                    seen = await episode.observe(self._plan.parts)
                except (TimeoutError, *OUR_FAULTS):
                    if not episode.over:
                        raise
                return seen, await self._finish(episode) if episode.over else None
            except BaseException:
                await self._abandon()
                raise

    async def close(self) -> None:
        async with self._one_at_a_time:
            await self._abandon()
            self._context = self._journal = None
            await self._shared.aclose()
            self._engine.dismiss(self)

    # --- inside -----------------------------------------------------------------------------------------------

    async def _take_what_is_shared(self) -> None:
        plan = self._plan
        arena = self._engine.shared(("arena", plan.bench.setup), plan.bench.open_arena)
        context = await self._shared.enter_async_context(_taken(arena))
        if plan.out is not None:
            place = plan.out.resolve()
            run = self._engine.shared(("run", place), lambda: _journal(plan.bench, place))
            self._journal = await self._shared.enter_async_context(_taken(run))
            self._journal.expect(plan.selection, plan.limits)
        recording = Recording(parts=()) if self._journal is None else Recording()
        self._context = replace(context, limits=plan.limits, recording=recording)

    async def _open(self, task: Task) -> Opened:
        episode = self._episode = self._new_episode(task)
        try:
            await episode.open()
            return Opened(episode.goal, episode.bases, await episode.observe(self._plan.parts))
        except BaseException:
            await self._abandon()
            raise

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

    async def _finish(self, episode: Episode) -> Finished:
        blobs = episode.context.blobs
        trajectory, verdict = self._plan.exercise.graded(episode.task, await episode.finish(), blobs)
        if self._journal is not None and self._unit is not None:
            self._journal.add(self._unit, trajectory, verdict)
        self._episode = None
        return Finished(trajectory, verdict, blobs)

    async def _abandon(self) -> None:
        episode, self._episode = self._episode, None
        if episode is not None:
            await episode.abandon()


@asynccontextmanager
async def _taken(shared: Shared[T]) -> AsyncIterator[T]:
    yield await shared.take()
    await shared.give_back()


@asynccontextmanager
async def _journal(bench: Workbench, place: Path) -> AsyncIterator[Journal]:
    with bench.journal(place) as journal:
        yield journal
