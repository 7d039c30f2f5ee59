"""What a fault bench tries, and in which order: even over codes, sites and lengths, as far as the tasks allow it."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import NamedTuple

from webassay.agents.flawed.slips import Incident, Scene
from webassay.benchmarks.base import Selection
from webassay.compose.registries import BENCHMARKS, TEMPLATES
from webassay.compose.setup import Setup
from webassay.compose.tasks import TaskSet, environment_for, open_world, select
from webassay.core.errors import InputError, TaskError
from webassay.core.record import Json, content_hash
from webassay.core.task import Task
from webassay.environments.base import Environment
from webassay.faultbench.inject import CODES, Mistake, Occasion
from webassay.faultbench.records import LENGTHS, CodeOnSite, Excluded, Half, Length
from webassay.sites.kit import World

LACKS_OCCASION = "no occasion"
"""Why a pair was left out: the task does not allow the mistake."""
_WAVE = 44
"""Pairs that are planned at a time: what came of them decides what is tried next."""
_PATIENCE = 4
"""So many pairs of a code that did not come about on a site count like one that did, so that a site on which it hardly
ever does is not tried for ever."""
_SHORT, _MEDIUM = 9, 15
"""The most steps of a reference solution that is called short, and of one that is called medium."""


@dataclass(frozen=True)
class BenchOptions:
    name: str = "faultbench-v1"
    trajectories: int = 200
    seed: int = 0
    world_seed: int = 0
    workers: int = 2
    codes: tuple[str, ...] = ()
    """Only these kinds of mistakes; empty: all."""
    templates: tuple[str, ...] = ()
    longest: int = 40
    """Tasks whose reference solution may take more steps are left out."""

    @property
    def pairs(self) -> int:
        return self.trajectories // 2

    @property
    def instances(self) -> int:
        """How many of each template: enough for the codes that few templates can have."""
        return 2 + self.pairs // 60

    @property
    def what_counts(self) -> dict[str, Json]:
        """What decides what the bench is."""
        told = {name: value for name, value in asdict(self).items() if name != "workers"}
        return {**told, "codes": list(self.codes), "templates": list(self.templates)}


@dataclass(frozen=True)
class Job:
    mistake: Mistake
    task: Task
    half: Half
    length: Length
    occasion: int = 0
    """How often the task was used before: what is random differs each time."""

    @property
    def site(self) -> str:
        return self.task.sites[0]

    @property
    def key(self) -> str:
        return content_hash([self.mistake.name, self.task.content_hash(), self.occasion])


class Tried(NamedTuple):
    """What has come of the jobs so far."""

    made: Sequence[Job]
    failed: Sequence[tuple[Job, Excluded]]


class Planner:
    def __init__(self, setup: Setup, options: BenchOptions) -> None:
        self._setup, self.options = setup, options
        self._worlds: dict[tuple[str, int], World] = {}
        self._efforts: dict[str, int] = {}
        self._used: Counter[str] = Counter()

    @cached_property
    def tasks(self) -> dict[tuple[str, ...], list[Task]]:
        """By what stands in their way."""
        wanted = {mistake.obstacles for code in self._codes for mistake in CODES[code]}
        return {obstacles: list(self._drawn(obstacles)) for obstacles in sorted(wanted)}

    @property
    def _codes(self) -> Sequence[str]:
        return self.options.codes or tuple(CODES)

    def _drawn(self, obstacles: tuple[str, ...]) -> Iterator[Task]:
        options = self.options
        chosen = Selection(
            templates=options.templates or tuple(template.name for template in TEMPLATES.usable(self._setup.tell)),
            instances=options.instances,
            world_seed=options.world_seed,
            seed=options.seed,
            obstacles=obstacles,
        )
        for task in self._selected(chosen):
            if self.effort(task) <= options.longest:
                yield task

    def _selected(self, chosen: Selection) -> Sequence[Task]:
        """A world may have fewer instances of a template than are asked for."""
        try:
            return select(chosen, self._setup).tasks
        except TaskError:
            if len(chosen.templates) > 1:
                each = (self._selected(replace(chosen, templates=(name,))) for name in chosen.templates)
                return [task for own in each for task in own]
            return self._selected(replace(chosen, instances=chosen.instances - 1)) if chosen.instances > 1 else []

    def environment(self) -> Environment:
        if not self.every_task:
            raise InputError("No task is left.", hint="Raise --longest, or choose other templates.")
        return environment_for(TaskSet(Selection(), BENCHMARKS.get("arena"), self.every_task), self._setup)

    def worlds(self, task: Task) -> dict[str, World]:
        for site in task.sites:
            if (site, task.world_seed) not in self._worlds:
                self._worlds[site, task.world_seed] = open_world(self._setup, site, task.world_seed, task.world_scale)
        return {site: self._worlds[site, task.world_seed] for site in task.sites}

    def effort(self, task: Task) -> int:
        if task.id not in self._efforts:
            drawn = TEMPLATES.get(task.template).from_parameters(task.parameters)
            self._efforts[task.id] = drawn.effort(self.worlds(task)).steps
        return self._efforts[task.id]

    def occasion(self, job: Job, part: str) -> Occasion:
        drawn = TEMPLATES.get(job.task.template).from_parameters(job.task.parameters)
        rng = random.Random(content_hash([self.options.seed, job.mistake.name, job.task.id, job.occasion, part]))
        scene = Scene(rng, Incident(), job.task.kind, self.effort(job.task))
        return Occasion(job.task, drawn, self.worlds(job.task), scene)

    @cached_property
    def jobs(self) -> dict[str, list[Job]]:
        """For each code, what can be tried, in an order that depends on the seed."""
        return {code: self._queue(code) for code in self._codes}

    def _queue(self, code: str) -> list[Job]:
        jobs = []
        for mistake in CODES[code]:
            for task in self.tasks[mistake.obstacles]:
                job = Job(mistake, task, self.halves[task.template], length_of(self.effort(task)))
                if task.kind in mistake.kinds and mistake.fits(self.occasion(job, "fits")):
                    jobs.append(job)
        random.Random(content_hash([self.options.seed, code])).shuffle(jobs)
        return jobs

    def wave(self, queues: dict[str, list[Job]], tried: Tried) -> list[Job]:
        """One job at a time for the code that has fewest, as long as there is one."""
        balance = Balance(tried)
        missing = self.options.pairs - len(tried.made)
        jobs: list[Job] = []
        while len(jobs) < min(missing, _WAVE) and any(queues.values()):
            code = min((code for code in queues if queues[code]), key=lambda code: (balance.of(code), code))
            queue = queues[code]
            job = queue.pop(min(range(len(queue)), key=lambda place: balance.turn(queue[place])))
            balance.add(job)
            jobs.append(replace(job, occasion=self._used[job.task.id]))
            self._used[job.task.id] += 1
        return jobs

    @cached_property
    def halves(self) -> dict[str, Half]:
        """By template; the templates of each kind in turns, so that both halves have every kind."""
        names = sorted({(task.kind, task.template) for task in self.every_task})
        rng = random.Random(content_hash([self.options.seed, "halves"]))
        by_kind: dict[str, list[str]] = defaultdict(list)
        for kind, name in names:
            by_kind[kind].append(name)
        for own in by_kind.values():
            rng.shuffle(own)
        in_turn = [name for kind in sorted(by_kind) for name in by_kind[kind]]
        return {name: "dev" if number % 2 == 0 else "test" for number, name in enumerate(in_turn)}

    @property
    def every_task(self) -> tuple[Task, ...]:
        return tuple(task for tasks in self.tasks.values() for task in tasks)


def length_of(steps: int) -> Length:
    return LENGTHS[0] if steps <= _SHORT else LENGTHS[1] if steps <= _MEDIUM else LENGTHS[2]


class Balance:
    """Whose turn it is."""

    def __init__(self, tried: Tried) -> None:
        self._taken: Counter[tuple[str, ...]] = Counter()
        self._fruitless: Counter[tuple[str, ...]] = Counter()
        for job in tried.made:
            self.add(job)
        for job, excluded in tried.failed:
            self._fruitless[job.mistake.code, job.site] += 1
            if excluded.why == LACKS_OCCASION:
                self._fruitless[job.mistake.name, job.task.template] += 1

    def add(self, job: Job) -> None:
        code, site = job.mistake.code, job.site
        self._taken.update([
            (code,), (code, site), (site,), (code, site, job.mistake.name), (code, job.length), (job.length,),
            (code, site, job.half), (job.half,), (code, job.task.template), (job.task.template,),
        ])  # fmt: skip

    def of(self, code: str) -> int:
        return self._taken[code,]

    def turn(self, job: Job) -> tuple[int, ...]:
        """The lowest is next: sites come first, then what has an occasion, mistakes of the same code, lengths, halves
        and templates."""
        taken, code, site = self._taken, job.mistake.code, job.site
        return (
            taken[code, site] + self._fruitless[code, site] // _PATIENCE,
            taken[site,],
            self._fruitless[job.mistake.name, job.task.template],
            taken[code, site, job.mistake.name],
            taken[code, job.length],
            taken[job.length,],
            taken[code, site, job.half],
            taken[job.half,],
            taken[code, job.task.template],
            taken[job.task.template,],
        )


def cells(jobs: Mapping[str, Sequence[Job]], pairs: int, made: Sequence[Job]) -> tuple[CodeOnSite, ...]:
    """For every code and site what an even bench of that size has, and what this one has. `jobs`: all that could be
    tried; a code is wanted on the sites that have a task for it."""
    sites = sorted({job.site for own in jobs.values() for job in own})
    possible = {code: [site for site in sites if any(job.site == site for job in jobs[code])] for code in jobs}
    codes = [code for code in jobs if possible[code]]
    wanted: Counter[tuple[str, str]] = Counter()
    of_site: Counter[str] = Counter()
    for number in range(pairs if codes else 0):
        code = codes[number % len(codes)]
        site = min(possible[code], key=lambda site: (wanted[code, site], of_site[site]))
        wanted[code, site] += 1
        of_site[site] += 1
    found = Counter((job.mistake.code, job.site) for job in made)
    lengths = Counter((job.mistake.code, job.site, job.length) for job in made)
    return tuple(
        CodeOnSite(
            code=code,
            site=site,
            applies=site in possible[code],
            wanted=wanted[code, site],
            made=found[code, site],
            lengths={length: lengths[code, site, length] for length in LENGTHS},
        )
        for code in jobs
        for site in sites
    )
