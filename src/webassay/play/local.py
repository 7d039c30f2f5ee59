"""A run on this machine: several episodes at once in one browser and one event loop, and one writer."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from webassay.core.errors import SameFaultError, TaskError, WebassayError, boundary
from webassay.core.unit import UnitOfWork
from webassay.play.episode import EpisodeContext
from webassay.play.troubles import SAME_IN_A_ROW, Streaks
from webassay.play.work import Build, Played, TaskGrader, graded, perform
from webassay.store import Store


@dataclass(frozen=True, slots=True)
class RunSettings:
    workers: int = 2
    attempts: int = 3
    """How often a unit is played in one run before its fault is left standing."""
    same_in_a_row: int | None = SAME_IN_A_ROW
    """How often an agent's same fault or crash, with nothing in between that worked, stops the run; None: never."""
    stopped: Callable[[], bool] = lambda: False
    """Whether no other episode is to begin; those that are being played come to their end."""


@dataclass(slots=True)
class RunProgress:
    """Kept up to date while the run goes on; looking at it costs nothing."""

    total: int
    """Units to play in this run."""
    done: int = 0
    """Those that will not be played again in this run."""
    retried: int = 0
    """Episodes that faulted and are played again."""
    statuses: Mapping[str, int] = field(default_factory=Counter)
    """What became of those that are done."""

    @property
    def left(self) -> int:
        return self.total - self.done


OnDone = Callable[[Played, RunProgress], None]
"""Told about every episode once it is stored."""

DEFAULTS = RunSettings()


async def run_units(
    store: Store,
    build: Build,
    context: EpisodeContext,
    graders: Sequence[TaskGrader],
    *,
    agents: Collection[str] | None = None,
    settings: RunSettings = DEFAULTS,
    on_done: OnDone = lambda *_: None,
) -> RunProgress:
    """Plays what is planned and not in the store yet, of these agents only: what somebody else planned in the same
    directory is not executed.

    A unit that faults is played again after the others, since what broke it (a dead browser, a dead site server) has
    often been replaced by then. A store that cannot be written or a spent budget stops the run at once; whatever is
    finished is kept. So does the same fault again and again. Nothing else does.
    """
    statuses: Counter[str] = Counter()
    progress = RunProgress(total=store.count_unfinished(agents), statuses=statuses)
    fresh = store.unfinished(agents)
    again: deque[tuple[UnitOfWork, int]] = deque()
    streaks = Streaks(settings.same_in_a_row)

    async def work() -> None:
        while not settings.stopped() and (job := _next(fresh, again)) is not None:
            unit, times = job
            played = await perform(unit, build, context, graders, attempt=store.attempts(unit.id))
            store.add_episode(unit.id, played.trajectory, played.verdicts)
            if played.trajectory.ending.kind == "fault" and times < settings.attempts:
                again.append((unit, times + 1))
                progress.retried += 1
            else:
                progress.done += 1
                statuses[played.status] += 1
            on_done(played, progress)
            if reason := streaks.is_too_long(played):
                raise SameFaultError(
                    f"Stopped: {unit.agent} had the same {reason.kind} {settings.same_in_a_row} times in a row: "
                    f"{reason.text}",
                    hint="What was played is kept. Once it is fixed, run the same command again; an agent that you "
                    "have edited needs a new --out. --keep-going never stops.",
                )

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(max(1, settings.workers)):
                group.create_task(work())
    except ExceptionGroup as errors:
        # One of ours says everything there is to say; a group would only wrap it.
        ours = next((error for error in errors.exceptions if isinstance(error, WebassayError)), None)
        raise ours or errors from None
    return progress


def _next(fresh: Iterator[UnitOfWork], again: deque[tuple[UnitOfWork, int]]) -> tuple[UnitOfWork, int] | None:
    unit = next(fresh, None)
    if unit is not None:
        return unit, 1
    return again.popleft() if again else None


def grade_missing(
    store: Store, build: Build, graders: Sequence[TaskGrader], *, agents: Collection[str] | None = None
) -> int:
    """Grades trajectories whose runner died between playing and grading. A task that cannot be built any more leaves
    its trajectory as it is."""
    count = 0
    for unit, trajectory in store.ungraded(agents):
        try:
            with boundary(TaskError, f"Task {unit.task_id} cannot be built"):
                task = build.task(unit)
        except TaskError:
            continue
        for grader in graders:
            store.add_verdict(graded(grader, task, trajectory, store.blobs))
        count += 1
    return count
