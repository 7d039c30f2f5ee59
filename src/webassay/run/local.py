"""A run on this machine: several episodes at once in one browser, one event loop."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from webassay.core.errors import WebassayError
from webassay.core.trajectory import Trajectory
from webassay.core.verdict import Verdict
from webassay.episode import EpisodeContext
from webassay.run.work import Build, Grader, perform
from webassay.store import Store, StoreBlobs, UnitOfWork

Watch = Callable[[UnitOfWork, Trajectory, list[Verdict]], None]


@dataclass(frozen=True, slots=True)
class Settings:
    workers: int = 2
    attempts: int = 3
    """How often a unit is played in one run before its fault is left standing."""


DEFAULTS = Settings()


async def run_units(
    store: Store,
    build: Build,
    scene: EpisodeContext,
    graders: Sequence[Grader],
    *,
    settings: Settings = DEFAULTS,
    watch: Watch = lambda *_: None,
) -> None:
    """Plays what the plan has and the store has not.

    A unit that faults is played again after the others, since what broke it (a dead browser, a dead
    site server) has often been replaced by then. A store that cannot be written, or a budget that is spent, stops the
    run at once: playing on would only lose more. What was finished is kept.
    """
    queue: asyncio.Queue[tuple[UnitOfWork, int]] = asyncio.Queue()
    for unit in store.unfinished():
        queue.put_nowait((unit, 1))

    async def work() -> None:
        while not queue.empty():
            unit, attempt = queue.get_nowait()
            trajectory, verdicts = await perform(unit, build, scene, graders, store)
            if trajectory.ending.kind == "fault" and attempt < settings.attempts:
                queue.put_nowait((unit, attempt + 1))
            watch(unit, trajectory, verdicts)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(max(1, settings.workers)):
                group.create_task(work())
    except ExceptionGroup as errors:
        # One of ours says all that there is to say; a group would only wrap it.
        ours = next((error for error in errors.exceptions if isinstance(error, WebassayError)), None)
        raise ours or errors from None


def grade_missing(store: Store, build: Build, graders: Sequence[Grader]) -> int:
    """Trajectories whose runner died between playing and grading."""
    graded = 0
    for _, trajectory in store.trajectories():
        if not store.verdicts(trajectory.id):
            for grader in graders:
                store.add_verdict(grader(build.task(trajectory.task_id), trajectory, StoreBlobs(store)))
            graded += 1
    return graded
