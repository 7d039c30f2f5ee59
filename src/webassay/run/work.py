"""One unit of work: build, play, store, grade, store."""

from collections.abc import Callable, Sequence
from typing import Protocol

from webassay.agents.base import Agent, BrowserDriver
from webassay.core.task import Task
from webassay.core.trajectory import Blobs, Trajectory
from webassay.core.verdict import Verdict
from webassay.episode import EpisodeContext, play
from webassay.store import Store, StoreBlobs, UnitOfWork

Grader = Callable[[Task, Trajectory, Blobs], Verdict]


class Build(Protocol):
    """How names become things; the catalogue is the one implementation outside tests."""

    def task(self, task_id: str) -> Task: ...

    def agent(self, name: str, task: Task, seed: int) -> Agent | BrowserDriver: ...


async def perform(
    unit: UnitOfWork, build: Build, scene: EpisodeContext, graders: Sequence[Grader], store: Store
) -> tuple[Trajectory, list[Verdict]]:
    task = build.task(unit.task_id)
    agent = build.agent(unit.agent, task, unit.seed)
    attempt_id = f"{unit.id}/{store.attempts(unit.id)}"
    trajectory = await play(task, agent, scene, id=attempt_id, seed=unit.seed, trial=unit.trial)
    store.add_trajectory(unit.id, trajectory)
    verdicts = [grader(task, trajectory, StoreBlobs(store)) for grader in graders]
    for verdict in verdicts:
        store.add_verdict(verdict)
    return trajectory, verdicts
