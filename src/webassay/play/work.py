"""One unit of work: build, play, grade. It needs no store, so it can be done in any process, on any machine.

Whatever goes wrong in a unit stays in it. What the agent did wrong ends its episode as `agent_crashed`, which graders
fail; anything else is a `fault`, which is played again. Only three things pass through: a spent budget, a store that
cannot be written, and the caller's own cancellation.
"""

import asyncio
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Protocol, TypeVar

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from webassay.agents.base import Agent, BrowserDriver
from webassay.core.errors import (
    AgentError,
    BudgetError,
    Fault,
    GradingError,
    StoreError,
    TaskError,
    WebassayError,
    boundary,
)
from webassay.core.interaction import Goal, ResponseProtocol
from webassay.core.record import Record
from webassay.core.task import Task
from webassay.core.text import MAX_TEXT, well_formed_json
from webassay.core.trajectory import AgentInfo, Blobs, Ending, EndingKind, Trajectory
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Finding, Fingerprint, Verdict
from webassay.play.episode import EpisodeContext, play

R = TypeVar("R", bound=Record)

MAX_RECORD = 5 * MAX_TEXT
"""Characters of one record as JSON; the texts of a longer one are cut until it fits."""
_LIMITS = (MAX_TEXT, 100_000, 1_000)

_WRITTEN_BY_THE_AGENT = frozenset(
    ("actions", "action_text", "thought", "memory", "raw", "info", "usage", "answer", "settings", "model", "prompts")
)
"""Fields of a trajectory whose content comes from the agent."""


class Build(Protocol):
    """How a unit becomes things."""

    def task(self, unit: UnitOfWork) -> Task: ...

    def agent(self, unit: UnitOfWork, task: Task) -> Agent | BrowserDriver: ...


class TaskGrader(Protocol):
    """If it breaks, its fault is stored under its name and version, like the rest of its verdicts."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def __call__(self, task: Task, trajectory: Trajectory, blobs: Blobs, /) -> Verdict: ...


class Played(Record):
    """A unit, and what became of it. Plain data: blobs went through the context."""

    unit: UnitOfWork
    trajectory: Trajectory
    verdicts: tuple[Verdict, ...]

    @property
    def status(self) -> str:
        """What the first grader says; without one, whether it has to be played again."""
        if self.verdicts:
            return self.verdicts[0].status
        return "fault" if self.trajectory.ending.kind == "fault" else "abstain"


async def perform(
    unit: UnitOfWork, build: Build, context: EpisodeContext, graders: Sequence[TaskGrader], *, attempt: int = 0
) -> Played:
    """`attempt` is how often the unit was played before; it becomes part of the trajectory's id."""
    name = f"{unit.id}/{attempt}"
    started_at, started = datetime.now(UTC), time.monotonic()
    task: Task | None = None
    try:
        with boundary(TaskError, f"Task {unit.task_id} cannot be built"):
            task = build.task(unit)
        trajectory = storable(await _play(unit, task, build, context, name))
    except (BudgetError, StoreError):
        raise
    except WebassayError as error:
        trajectory = storable(
            Trajectory(
                id=name,
                task_id=unit.task_id,
                task_hash="" if task is None else task.content_hash(),
                template=str(unit.metadata.get("template") or ""),
                benchmark=str(unit.metadata.get("benchmark") or ""),
                goal=_NO_GOAL if task is None else task.goal,
                agent=AgentInfo(name=unit.agent),
                seed=unit.seed,
                trial=unit.trial,
                started_at=started_at.isoformat(timespec="seconds"),
                seconds=round(time.monotonic() - started, 3),
                ending=_ending(error),
            )
        )
    verdicts = () if task is None else tuple(graded(grader, task, trajectory, context.blobs) for grader in graders)
    return Played(unit=unit, trajectory=trajectory, verdicts=verdicts)


def graded(grader: TaskGrader, task: Task, trajectory: Trajectory, blobs: Blobs) -> Verdict:
    """A grader that breaks has found nothing out: a fault, not a failure."""
    try:
        with boundary(GradingError, f"Grading {trajectory.id}"):
            return storable(_signed(grader(task, trajectory, blobs), grader, task, trajectory))
    except BudgetError:
        raise
    except WebassayError as error:
        return storable(
            Verdict(
                trajectory_id=trajectory.id,
                task_id=task.id,
                status="fault",
                findings=(Finding(check="grader", status="fault", message=error.message, code="cannot_grade"),),
                fingerprint=Fingerprint(grader=grader.name, version=grader.version, key=task.content_hash()),
                fault=Fault.of(error),
            )
        )


def _signed(verdict: Verdict, grader: TaskGrader, task: Task, trajectory: Trajectory) -> Verdict:
    """Whatever it says of itself: a verdict is stored under the name of the grader that gave it, and nobody else's."""
    own = {"grader": grader.name, "version": grader.version, "key": verdict.fingerprint.key or task.content_hash()}
    stamp = verdict.fingerprint.model_copy(update=own)
    return verdict.model_copy(update={"trajectory_id": trajectory.id, "task_id": task.id, "fingerprint": stamp})


def storable(record: R) -> R:
    """The record itself if it can be written. Otherwise its texts are repaired and, where it is too long, cut."""
    if _fits(record):
        return record
    with boundary(WebassayError, "The record cannot be stored"):
        plain = record.model_dump()
        for limit in _LIMITS:
            repaired = type(record).model_validate(well_formed_json(plain, limit=limit))
            if _fits(repaired):
                return repaired
    raise WebassayError(f"The record cannot be stored: it has more than {MAX_RECORD:,} characters.")


def _fits(record: Record) -> bool:
    try:
        return len(record.to_json()) <= MAX_RECORD
    except PydanticSerializationError:
        return False


_NO_GOAL = Goal(instruction="", start_urls=(), protocol=ResponseProtocol(name="unknown", instructions=""))
"""Stands for the goal of a task that could not be built."""


def _ending(error: WebassayError) -> Ending:
    kind: EndingKind = "agent_crashed" if isinstance(error, AgentError) else "fault"
    return Ending(kind=kind, message=str(error), fault=Fault.of(error))


async def _play(unit: UnitOfWork, task: Task, build: Build, context: EpisodeContext, name: str) -> Trajectory:
    with boundary(AgentError, f"{unit.agent} cannot be built"):
        agent = build.agent(unit, task)

    async def episode() -> Trajectory:
        try:
            return await play(task, agent, context, id=name, seed=unit.seed, trial=unit.trial)
        except SystemExit as error:
            raise AgentError(f"{unit.agent} tried to end the process.") from error

    # A task of its own, so that an agent that cancels the current task ends its episode and not the worker.
    playing = asyncio.ensure_future(episode())
    try:
        with boundary(WebassayError, f"Playing {unit.id}"):
            return await playing
    except asyncio.CancelledError as error:
        worker = asyncio.current_task()
        if worker is not None and worker.cancelling():
            raise
        raise AgentError(f"{unit.agent} canceled its own episode.") from error
    except WebassayError as error:
        if _is_the_agents(error.__cause__):
            raise AgentError(f"{unit.agent} returned what cannot be recorded: {error}") from error
        raise


def _is_the_agents(error: BaseException | None) -> bool:
    """A record that does not validate is the agent's doing where the agent wrote the field."""
    if not isinstance(error, ValidationError):
        return False
    return any(_WRITTEN_BY_THE_AGENT.intersection(map(str, detail["loc"])) for detail in error.errors())
