"""Episodes that the caller steps: what they are played in, how they are graded, and where they are kept."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Self

from webassay.benchmarks.base import Selection
from webassay.browser.session import Browser
from webassay.compose.builder import PlayOptions
from webassay.compose.given import AnyPath
from webassay.compose.registries import GRADERS, GROUPINGS
from webassay.compose.setup import Setup
from webassay.compose.tasks import environment_for, select, sites
from webassay.core.errors import InputError
from webassay.core.interaction import Goal, Observation
from webassay.core.protocols import ARENA_PROTOCOL
from webassay.core.rater import RULES
from webassay.core.task import JudgedCheck, Task
from webassay.core.trajectory import Blobs, MemoryBlobs, Trajectory, WritableBlobs
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Verdict
from webassay.environments.arena import ARENA, Arena
from webassay.play.episode import Episode, EpisodeContext, Limits
from webassay.play.plan import metadata, unit_seed
from webassay.play.settings import remember
from webassay.play.work import graded, storable
from webassay.store import Store
from webassay.workbench.play import DEFAULTS
from webassay.workbench.tasks import ALL_TASKS


@asynccontextmanager
async def open_arena(setup: Setup, options: PlayOptions = DEFAULTS) -> AsyncIterator[EpisodeContext]:
    """One site server and one browser, for episodes that you step yourself, any number side by side. Blobs stay in
    memory: give each episode its own with `dataclasses.replace`."""
    async with (
        Arena(sites(setup.tell), cache=setup.cache) as arena,
        Browser(setup.find_chromium(), headed=options.headed) as browser,
    ):
        yield EpisodeContext(browser, arena, MemoryBlobs(), limits=options.limits, recording=options.recording)


async def look(setup: Setup, site: str, path: str = "/", user: str = "", world_seed: int = 0) -> Observation:
    """One page of a site of ours as an agent sees it, for those who write templates."""
    task = Task(
        id=f"look.{site}",
        benchmark=ARENA.name,
        template="look",
        kind="navigate",
        goal=Goal(
            instruction="Look.",
            start_urls=(f"__{site.upper()}__/{path.lstrip('/')}",),
            protocol=ARENA_PROTOCOL,
            sites=(site,),
        ),
        checks=(JudgedCheck(),),
        sites=(site,),
        logins={site: user} if user else {},
        world_seed=world_seed,
    )
    page: Observation | None = None
    async with open_arena(setup) as arena, Episode(task, arena, id="look") as episode:
        page = await episode.observe(["tree"])
    if page is None:  # An episode keeps what went wrong in it to itself.
        raise InputError(f"{path} of {site} cannot be shown: {episode.trajectory.ending.message}")
    return page


class Exercise:
    """Arena tasks to step through, with their grader."""

    def __init__(self, setup: Setup, selection: Selection = ALL_TASKS, *, grader: str = RULES) -> None:
        self._grader = GRADERS.get(grader)
        self._set = select(selection, setup)
        if self._set.benchmark.environment != ARENA.name:
            raise InputError(
                f"Tasks of {selection.benchmark!r} are not played in the arena.",
                hint=f"They are played in {self._set.benchmark.environment!r}, which cannot be reset.",
            )
        environment_for(self._set, setup)  # refuses tasks of sites that are not embedded

    @property
    def tasks(self) -> tuple[Task, ...]:
        return self._set.tasks

    def get(self, task_id: str) -> Task:
        return self._set.get(task_id)

    def graded(self, task: Task, trajectory: Trajectory, blobs: Blobs) -> tuple[Trajectory, Verdict]:
        """The trajectory as it can be stored, and what the grader found in it."""
        kept = storable(trajectory)
        return kept, graded(self._grader, task, kept, blobs)


class Journal:
    """A run directory that grows by one finished episode at a time; every episode is a trial of its task. Close it, or
    use it in a `with`."""

    def __init__(self, out: AnyPath) -> None:
        self._store = Store.create(Path(out))
        self._trials: Counter[tuple[str, str]] = Counter()
        for unit in self._store.units():
            self._trials[unit.agent, unit.task_id] = max(self._trials[unit.agent, unit.task_id], unit.trial + 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._store.close()

    @property
    def blobs(self) -> WritableBlobs:
        return self._store.blobs

    def expect(self, selection: Selection, limits: Limits) -> None:
        """Every episode of a run directory comes from the same selection, so that it can be graded again."""
        remember(self._store, selection, limits=limits)

    def next_trial(self, agent: str, task: Task, seed: int) -> UnitOfWork:
        trial = self._trials[agent, task.id]
        self._trials[agent, task.id] += 1
        about = {**metadata(task, GROUPINGS), "baseline": False}
        return UnitOfWork(
            agent=agent, task_id=task.id, trial=trial, seed=unit_seed(seed, task.id, trial), metadata=about
        )

    def add(self, unit: UnitOfWork, trajectory: Trajectory, verdict: Verdict) -> None:
        self._store.plan([unit])
        self._store.add_episode(unit.id, trajectory, [verdict])
