"""The fault bench: trajectories with exactly one known mistake, each beside an honest one that looks alike.

Both of a pair are really played, on the same task, with as many steps and pages. The label is the mistake that was
injected; the rules grade independently, and what they say is written next to it. A pair that did not come about (no
occasion, no effect, an honest run that fails) is counted and left out, for reasons that the rules have no part in.
"""

import asyncio
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from webassay.agents.base import Agent
from webassay.agents.pacing import Pace, Paced, is_idle
from webassay.agents.slips import NO_OCCASION, Course, Incident, Scene
from webassay.analysis.lookalike import Feature, features_of, given_away
from webassay.benchmarks.base import Selection
from webassay.browser.session import Browser
from webassay.core.errors import InputError, TaskError
from webassay.core.faultbench import Excluded, FaultBench, FaultLabel, Half
from webassay.core.record import Json, blob_hash, content_hash
from webassay.core.task import Task
from webassay.core.trajectory import PageResult, RowsResult, Step, Trajectory
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Verdict
from webassay.environments.base import Environment
from webassay.episode import EpisodeContext
from webassay.run.plan import metadata, unit_seed
from webassay.run.work import Played, perform
from webassay.sites.kit import World
from webassay.store import Store
from webassay.workbench.injecting import CODES, Kind, Occasion
from webassay.workbench.kinds import BENCHMARKS, GRADERS, TEMPLATES
from webassay.workbench.playing import RULES, remember
from webassay.workbench.setup import OnProgress, Progress, Setup
from webassay.workbench.tasks import TaskSet, environment_for, open_world, select

PLAYER = "player"
"""The agent of every trajectory: its name must not tell what it did."""
LABELS, MANIFEST, TASKS = "labels.jsonl", "faultbench.json", "tasks.json"
_ATTEMPTS = 3


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
        """Of each template: enough for the codes that few templates can have."""
        return 2 + self.pairs // 60


@dataclass(frozen=True)
class Job:
    kind: Kind
    task: Task
    occasion: int
    """How often the task was used before: what is random differs each time."""


@dataclass
class Pair:
    job: Job
    wrong: Played
    honest: Played
    step: int


async def generate(setup: Setup, out: Path, options: BenchOptions, on_progress: OnProgress) -> FaultBench:
    if out.exists() and any(out.iterdir()):
        raise InputError(f"{out} is not empty.", hint="Give another --out; a bench is made in one go.")
    unknown = [code for code in options.codes if code not in CODES]
    if unknown:
        raise InputError(f"No mistake has the code {unknown[0]!r}.", hint=f"There are {', '.join(CODES)}.")
    chromium = setup.find_chromium()
    on_progress(Progress("building tasks"))
    planner = Planner(setup, options)
    place = planner.environment()
    with Store.create(out) as store:
        async with place as environment, Browser(chromium) as browser:
            context = EpisodeContext(browser, environment, store.blobs)
            player = Player(planner, context, options)
            pairs, excluded = await _collect(planner, player, options, on_progress)
        return _write(store, out, planner, options, pairs, excluded)


async def _collect(
    planner: "Planner", player: "Player", options: BenchOptions, on_progress: OnProgress
) -> tuple[list[Pair], list[Excluded]]:
    """In waves, so that which pairs are taken depends on what was played, never on how fast."""
    queues = planner.queues()
    pairs: list[Pair] = []
    excluded: list[Excluded] = []
    while len(pairs) < options.pairs:
        wave = planner.wave(queues, Counter(pair.job.kind.code for pair in pairs), options.pairs - len(pairs))
        if not wave:
            break
        results = await _at_once(player, wave, options.workers, lambda done: on_progress(
            Progress("pairs", len(pairs) + done, options.pairs)
        ))  # fmt: skip
        for result in results:
            if isinstance(result, Excluded):
                excluded.append(result)
            else:
                pairs.append(result)
    return pairs, excluded


async def _at_once(
    player: "Player", jobs: Sequence[Job], workers: int, tell: Callable[[int], None]
) -> list["Pair | Excluded"]:
    results: dict[int, Pair | Excluded] = {}
    waiting = iter(list(enumerate(jobs)))

    async def work() -> None:
        for number, job in waiting:
            results[number] = await player.pair(job)
            tell(sum(isinstance(result, Pair) for result in results.values()))

    async with asyncio.TaskGroup() as group:
        for _ in range(max(1, workers)):
            group.create_task(work())
    return [results[number] for number in range(len(jobs))]


# --- what is played ---------------------------------------------------------------------------------------------


class Planner:
    def __init__(self, setup: Setup, options: BenchOptions) -> None:
        self._setup, self._options = setup, options
        self._worlds: dict[tuple[str, int], World] = {}
        self._efforts: dict[str, int] = {}
        self._used: Counter[str] = Counter()

    @cached_property
    def tasks(self) -> dict[tuple[str, ...], list[Task]]:
        """By what stands in their way."""
        wanted = {kind.obstacles for code in self._codes for kind in CODES[code]}
        return {obstacles: list(self._drawn(obstacles)) for obstacles in sorted(wanted)}

    @property
    def _codes(self) -> Sequence[str]:
        return self._options.codes or tuple(CODES)

    def _drawn(self, obstacles: tuple[str, ...]) -> Iterator[Task]:
        options = self._options
        chosen = Selection(
            templates=options.templates or tuple(TEMPLATES.names()),
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
        every = tuple(task for tasks in self.tasks.values() for task in tasks)
        if not every:
            raise InputError("No task is left.", hint="Allow longer ones, or other templates.")
        return environment_for(TaskSet(Selection(), BENCHMARKS.get("arena"), every), self._setup)

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
        rng = random.Random(content_hash([self._options.seed, job.kind.name, job.task.id, job.occasion, part]))
        scene = Scene(rng, Incident(), job.task.kind, self.effort(job.task))
        return Occasion(job.task, drawn, self.worlds(job.task), scene)

    def queues(self) -> dict[str, list[Job]]:
        """For each code, what can be tried, in an order in which templates and halves take turns."""
        return {code: self._queue(code) for code in self._codes}

    def _queue(self, code: str) -> list[Job]:
        by_template: dict[str, list[Job]] = defaultdict(list)
        for kind in CODES[code]:
            for task in self.tasks[kind.obstacles]:
                job = Job(kind, task, 0)
                if task.kind in kind.kinds and kind.fits(self.occasion(job, "fits")):
                    by_template[task.template].append(job)
        rng = random.Random(content_hash([self._options.seed, code]))
        for jobs in by_template.values():
            rng.shuffle(jobs)
        halves = self.halves
        names = sorted(by_template)
        rng.shuffle(names)
        sides = [[name for name in names if halves[name] == half] for half in ("dev", "test")]
        # Codes take turns in which half comes first, so that a small bench has both.
        sides = sides[:: 1 if list(self._codes).index(code) % 2 else -1]
        turns = [name for two in _zipped(*sides) for name in two]
        return [job for row in _zipped(*(by_template[name] for name in turns)) for job in row]

    def wave(self, queues: dict[str, list[Job]], have: Counter[str], missing: int) -> list[Job]:
        """One job at a time for the code that has fewest, as long as there is one."""
        taken = Counter(have)
        jobs: list[Job] = []
        while len(jobs) < missing and any(queues.values()):
            code = min((code for code in queues if queues[code]), key=lambda code: (taken[code], code))
            job = queues[code].pop(0)
            taken[code] += 1
            jobs.append(replace(job, occasion=self._used[job.task.id]))
            self._used[job.task.id] += 1
        return jobs

    @cached_property
    def halves(self) -> dict[str, Half]:
        """By template; the templates of each kind in turns, so that both halves have every kind."""
        names = sorted({(task.kind, task.template) for task in self.tasks.get((), []) or self._any_tasks()})
        rng = random.Random(content_hash([self._options.seed, "halves"]))
        by_kind: dict[str, list[str]] = defaultdict(list)
        for kind, name in names:
            by_kind[kind].append(name)
        for own in by_kind.values():
            rng.shuffle(own)
        in_turn = [name for kind in sorted(by_kind) for name in by_kind[kind]]
        return {name: "dev" if number % 2 == 0 else "test" for number, name in enumerate(in_turn)}

    def _any_tasks(self) -> list[Task]:
        return [task for tasks in self.tasks.values() for task in tasks]


def _zipped(*lists: Sequence[Any]) -> Iterator[list[Any]]:
    """Rows of what is left in each."""
    for place in range(max(map(len, lists), default=0)):
        yield [own[place] for own in lists if place < len(own)]


class Player:
    """Plays the two of a pair, one after the other."""

    def __init__(self, planner: Planner, context: EpisodeContext, options: BenchOptions) -> None:
        self._planner, self._context, self._options = planner, context, options

    async def pair(self, job: Job) -> Pair | Excluded:
        occasion = self._planner.occasion(job, "mistake")
        stays = job.task.kind == "navigate"
        more = self._planner.occasion(job, "pace").rng.randint(2, 6)
        relaxed = Pace(more=more, more_pages=0 if stays else more // 2, stays=stays)
        honest = await self._play(job, lambda: occasion.right, relaxed, "honest")
        if _status(honest) != "pass":
            return _left_out(job, "the honest counterpart does not pass", _said(honest))

        def mistaken() -> Course:
            nonlocal occasion  # Played again after a fault of ours, it must be the same mistake.
            occasion = self._planner.occasion(job, "mistake")
            return job.kind.make(occasion)

        wrong = await self._play(job, mistaken, _as_long_as(honest.trajectory, stays), "wrong")
        if why := self._unusable(job, wrong.trajectory, honest.trajectory):
            return _left_out(job, *why)
        if _is_longer(wrong.trajectory, honest.trajectory):
            honest = await self._play(job, lambda: occasion.right, _as_long_as(wrong.trajectory, stays), "honest")
            if _status(honest) != "pass":
                return _left_out(job, "the honest counterpart does not pass", _said(honest))
        incident = occasion.scene.incident
        step = len(wrong.trajectory.steps) - 1 if incident.step is None else incident.step
        if incident.throughout:
            step = _first_difference(wrong.trajectory, honest.trajectory)
        if job.kind.retold is not None:
            wrong, step = _retold(wrong, job.kind.retold(occasion)), 0
        return Pair(job, wrong, honest, step)

    async def _play(self, job: Job, make: Callable[[], Course], pace: Pace, part: str) -> Played:
        seed = content_hash([self._options.seed, job.kind.name, job.task.id, job.occasion, part, "pace"])
        unit = UnitOfWork(
            agent=PLAYER,
            task_id=job.task.id,
            seed=unit_seed(self._options.seed, job.task.id, job.occasion),
            metadata={**metadata(job.task), "baseline": False},
        )
        for attempt in range(_ATTEMPTS):
            cast = _Part(job.task, Paced(PLAYER, make(), pace, random.Random(seed)))
            played = await perform(unit, cast, self._context, [GRADERS.get(RULES).grade], attempt=attempt)
            if played.trajectory.ending.kind != "fault":
                break
        return played

    def _unusable(self, job: Job, wrong: Trajectory, honest: Trajectory) -> tuple[str, str] | None:
        ending = wrong.ending
        if ending.kind == "agent_crashed":
            lacking = ending.message.partition(f"{NO_OCCASION} for this mistake: ")[2]
            return ("no occasion", lacking) if lacking else ("the mistaken course leads nowhere", ending.message)
        if ending.kind not in ("answered", "gave_up"):
            return "it did not come to an end", f"{ending.kind}: {ending.message}"
        if job.kind.outcome is False and _end(wrong) == _end(honest):
            return "without effect", "it ends as the honest one does"
        return None


@dataclass(frozen=True)
class _Part:
    """One episode that is cast already."""

    given: Task
    player: Agent

    def task(self, unit: UnitOfWork) -> Task:
        return self.given

    def agent(self, unit: UnitOfWork, task: Task) -> Agent:
        return self.player


def _status(played: Played) -> str:
    return played.verdicts[0].status if played.verdicts else "fault"


def _said(played: Played) -> str:
    found = [finding.message for verdict in played.verdicts for finding in verdict.findings if finding.status != "pass"]
    return "; ".join([*found[:2], played.trajectory.ending.message])[:400]


def _left_out(job: Job, why: str, detail: str) -> Excluded:
    return Excluded(mistake=job.kind.name, code=job.kind.code, task_id=job.task.id, why=why, detail=detail)


def _retold(played: Played, instruction: str) -> Played:
    goal = played.trajectory.goal.model_copy(update={"instruction": instruction})
    return played.model_copy(update={"trajectory": played.trajectory.model_copy(update={"goal": goal})})


# --- what two episodes have in common ---------------------------------------------------------------------------


def _pages(trajectory: Trajectory) -> int:
    return len({step.seen.url.partition("#")[0] for step in trajectory.steps})


def _as_long_as(trajectory: Trajectory, stays: bool) -> Pace:
    return Pace(steps=len(trajectory.steps), pages=_pages(trajectory), stays=stays)


def _is_longer(one: Trajectory, other: Trajectory) -> bool:
    return len(one.steps) > len(other.steps) or _pages(one) > _pages(other)


def _plain(trajectory: Trajectory, text: str) -> str:
    """Without the addresses of the sites, which nobody can know beforehand."""
    for site, base in trajectory.bases.items():
        text = text.replace(base.rstrip("/"), f"__{site.upper()}__")
    return text


def _decided(trajectory: Trajectory, step: Step) -> str:
    made = step.action_text or json.dumps([action.model_dump(mode="json") for action in step.actions], sort_keys=True)
    return _plain(trajectory, f"{step.thought}\n{made}")


def _changes(trajectory: Trajectory) -> Json:
    """The content of the rows that differ, in order."""
    found = []
    for rows in trajectory.probed(RowsResult):
        for change in rows.changes:
            if rows.counts(change):
                told = {name: list(values) for name, values in rows.differing(change).items()}
                found.append(json.dumps([rows.site, change.table, change.operation, told], sort_keys=True))
    return sorted(found)  # type: ignore[return-value]


def _end(trajectory: Trajectory) -> tuple[str, str, tuple[str, ...]]:
    pages = tuple(_plain(trajectory, page.url) for page in trajectory.probed(PageResult))
    return trajectory.answer, json.dumps(_changes(trajectory)), pages if '"navigate"' in trajectory.answer else ()


def _first_difference(wrong: Trajectory, honest: Trajectory) -> int:
    """The first thing that is done otherwise; what is idle does not count."""

    def acts(one: Trajectory) -> list[tuple[int, str]]:
        return [(step.index, _decided(one, step)) for step in one.steps if not is_idle(step.action_text, step.thought)]

    for (step, mine), (_, theirs) in zip(acts(wrong), acts(honest), strict=False):
        if mine != theirs:
            return step
    return len(wrong.steps) - 1


# --- what is written --------------------------------------------------------------------------------------------


def _write(
    store: Store,
    out: Path,
    planner: Planner,
    options: BenchOptions,
    pairs: Sequence[Pair],
    excluded: Sequence[Excluded],
) -> FaultBench:
    agreeing = [pair for pair in pairs if _agrees(pair)]
    tasks = {pair.job.task.id: pair.job.task for pair in agreeing}
    file = out / TASKS
    listed = "[\n" + ",\n".join(task.to_json() for task in tasks.values()) + "\n]\n"
    file.write_text(listed, encoding="utf-8")
    remember(store, Selection(benchmark=str(file)))
    labels: list[FaultLabel] = []
    features: list[Feature] = []
    trials: Counter[str] = Counter()
    for number, pair in enumerate(agreeing):
        rng = random.Random(content_hash([options.seed, "order", number]))
        both = [(pair.wrong, pair.job.kind), (pair.honest, None)]
        rng.shuffle(both)
        for played, kind in both:
            trial = trials[pair.job.task.id]
            trials[pair.job.task.id] += 1
            kept = _kept(store, played, trial)
            labels.append(_label(kept, pair, number, kind, planner.halves[pair.job.task.template]))
            features.append(features_of(kept.trajectory, wrong=kind is not None, pages=_pages(kept.trajectory)))
    text = "".join(f"{label.to_json()}\n" for label in labels)
    (out / LABELS).write_text(text, encoding="utf-8")
    made = _manifest(options, pairs, labels, features, excluded)
    (out / MANIFEST).write_text(made.model_dump_json(indent=1) + "\n", encoding="utf-8")
    return made


def _agrees(pair: Pair) -> bool:
    """What the rules cannot see, they pass."""
    kind = pair.job.kind
    return _status(pair.wrong) == ("fail" if kind.visible and kind.outcome is False else "pass")


def _kept(store: Store, played: Played, trial: int) -> Played:
    """Under a name that does not tell which of the two it is."""
    unit = played.unit.model_copy(update={"trial": trial})
    name = f"{unit.id}/0"
    trajectory = played.trajectory.model_copy(update={"id": name, "trial": trial})
    verdicts: list[Verdict] = [one.model_copy(update={"trajectory_id": name}) for one in played.verdicts]
    store.plan([unit])
    store.add_episode(unit.id, trajectory, verdicts)
    return Played(unit=unit, trajectory=trajectory, verdicts=tuple(verdicts))


def _label(played: Played, pair: Pair, number: int, kind: Kind | None, half: Half) -> FaultLabel:
    trajectory = played.trajectory
    decided = [_decided(trajectory, step) for step in trajectory.steps]
    return FaultLabel(
        trajectory_id=trajectory.id,
        task_id=pair.job.task.id,
        template=pair.job.task.template,
        site=pair.job.task.sites[0],
        half=half,
        pair=number,
        mistake=kind.name if kind else "",
        code=kind.code if kind else "",
        outcome=kind.outcome if kind else True,
        step=pair.step if kind else None,
        visible=kind.visible if kind else True,
        rules=played.verdicts[0].status,
        steps=len(trajectory.steps),
        actions=content_hash([*decided, _plain(trajectory, trajectory.answer)]),
        changes=content_hash(_changes(trajectory)),
    )


def _manifest(
    options: BenchOptions,
    pairs: Sequence[Pair],
    labels: Sequence[FaultLabel],
    features: Sequence[Feature],
    excluded: Sequence[Excluded],
) -> FaultBench:
    wrong = [label for label in labels if label.code]
    visible = [pair for pair in pairs if pair.job.kind.visible]
    disputed = [pair for pair in pairs if not _agrees(pair)]
    difficulty = {pair.job.task.id: pair.job.task.difficulty for pair in pairs}
    text = "".join(f"{label.to_json()}\n" for label in labels)
    return FaultBench(
        name=options.name,
        seed=options.seed,
        world_seed=options.world_seed,
        trajectories=len(labels),
        codes=_counted(label.code for label in wrong),
        templates=_counted(label.template for label in labels),
        sites=_counted(label.site for label in labels),
        difficulties=_counted(difficulty[label.task_id] for label in labels),
        halves=_counted(label.half for label in labels),
        seen_by_rules=len(visible),
        rules_agree=sum(map(_agrees, visible)),
        disagreements=tuple(
            _left_out(pair.job, f"the rules say {_status(pair.wrong)}", _said(pair.wrong)) for pair in disputed
        ),
        unseen=_counted(label.code for label in wrong if not label.visible),
        excluded=tuple(excluded),
        given_away=given_away(features, [label.template for label in labels], seed=options.seed),
        labels=blob_hash(text.encode()),
    )


def _counted(values: Iterator[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))
