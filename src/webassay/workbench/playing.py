"""Runs: agents on tasks, recorded and graded in a run directory that survives being killed."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from webassay.agents.base import (
    Agent,
    AgentFactory,
    AgentRequest,
    AskPerson,
    BrowserDriver,
    Need,
    Solution,
    check_needs,
    make_agent,
)
from webassay.agents.cells.cell import Cell, need_cell
from webassay.agents.cells.child import Nursery
from webassay.agents.cells.external import COMMAND, external
from webassay.agents.oracle import OracleOptions
from webassay.arena.kit.detours import past_obstacles
from webassay.benchmarks.base import Selection
from webassay.benchmarks.open import OpenTask, open_task
from webassay.browser.session import Browser, SessionSettings
from webassay.compose.models import ModelOptions, OpenModels
from webassay.compose.registries import AGENTS, ENVIRONMENTS, GRADERS, GROUPINGS, TEMPLATES
from webassay.compose.setup import Setup
from webassay.compose.tasks import TaskSet, adopted, chores_of, environment_for, key_files, select
from webassay.core.errors import InputError
from webassay.core.files import clear_abandoned
from webassay.core.options import read_options, read_spec
from webassay.core.progress import OnNotice, OnProgress, Progress, unheard
from webassay.core.rater import RULES
from webassay.core.registry import Files
from webassay.core.task import Task
from webassay.core.unit import UnitOfWork
from webassay.environments.base import Reachable
from webassay.llm.client import PROVIDERS_CHOICE, Budget, Patience
from webassay.play.episode import EpisodeContext, Limits, Recording
from webassay.play.local import Progress as RunProgress
from webassay.play.local import Settings as RunSettings
from webassay.play.local import grade_missing, run_units
from webassay.play.plan import plan
from webassay.play.settings import remember, remember_trusted
from webassay.play.work import Played
from webassay.store import Store
from webassay.store.runs import damage_notices, extend_run, open_run, remove_empty


@dataclass(frozen=True)
class PlayOptions:
    """How episodes are played, whatever the tasks and agents."""

    trials: int = 1
    workers: int = 2
    model: ModelOptions | None = None
    environment: str = ""
    """Empty: where the benchmark says."""
    allow: tuple[str, ...] = ()
    """Hosts that open tasks may reach, in addition to those of their start pages."""
    headed: bool = False
    offline: bool = False
    video: bool = False
    trace: bool = False
    ask: AskPerson | None = None
    """How to ask the person at the terminal."""
    limits: Limits = field(default_factory=Limits)
    recording: Recording = field(default_factory=Recording)
    """What is kept of every step; less makes a run smaller and faster."""
    trust_agent: bool = False
    """Agent files run in this process, and programs without a cell: nothing keeps them from the keys."""
    agent_env: tuple[str, ...] = ()
    """Variables that agent files and programs get besides what every program needs, such as the key of a model."""
    agent_dirs: tuple[Path, ...] = ()
    """Folders that they may write."""


DEFAULTS = PlayOptions()


async def run(
    setup: Setup,
    out: Path,
    agents: Sequence[str],
    selection: Selection,
    options: PlayOptions,
    on_progress: OnProgress,
    wanted: Callable[[UnitOfWork], bool] = lambda unit: True,
) -> None:
    """Whatever can be wrong with the call is found before anything is written. `wanted`: which agents play which of
    the tasks."""
    Store.check_place(out)
    specs = expand(agents, setup.tell)
    models = _models(setup, options)
    builder = Builder(options, models, _cell(setup, out, options, key_files(selection)))
    try:
        for spec in specs:
            builder.check(spec)
        await _run(setup, out, specs, adopted(selection), builder, on_progress, wanted)
    finally:
        await builder.close()
        await models.close()


async def _run(
    setup: Setup,
    out: Path,
    specs: Sequence[str],
    selection: Selection,
    builder: "Builder",
    on_progress: OnProgress,
    wanted: Callable[[UnitOfWork], bool],
) -> None:
    options = builder.options
    chromium = setup.find_chromium()
    clear_abandoned()
    if options.environment:
        ENVIRONMENTS.load(read_spec(options.environment)[0])  # a wrong name is found before the tasks are made
    on_progress(Progress("building tasks"))
    builder.tasks = select(selection, setup)
    builder.check_solutions(specs)
    place = environment_for(builder.tasks, setup, named=options.environment, allow=options.allow)
    if isinstance(place, Reachable) and not options.offline:
        await place.look()
    with extend_run(out) as store:
        for said in damage_notices(store, played_now=True):
            setup.tell(said)
        remember(store, selection, offline=options.offline, limits=options.limits)
        names = builder.name_agents(specs, store)
        remember_trusted(store, filter(builder.is_trusted, names))
        baselines = {name for name in names if builder.is_baseline(name)}
        tasks = builder.tasks.tasks
        units = plan(tasks, names, trials=options.trials, seed=selection.seed, baselines=baselines, groupings=GROUPINGS)
        store.plan([unit for unit in units if wanted(unit)])
        graders = [GRADERS.get(RULES)]
        grade_missing(store, builder, graders, agents=names)
        if not store.count_unfinished(names):
            return

        def done(played: Played, run: RunProgress) -> None:
            on_progress(Progress("episodes", run.done, run.total, run.statuses))

        async with place as environment, Browser(chromium, headed=options.headed) as browser:
            context = EpisodeContext(
                browser,
                environment,
                store.blobs,
                limits=options.limits,
                recording=options.recording,
                settings=_session_settings(store, options),
                offline=options.offline,
            )
            settings = RunSettings(workers=options.workers)
            await run_units(store, builder, context, graders, agents=names, settings=settings, on_done=done)


def _cell(setup: Setup, out: Path, options: PlayOptions, keys: tuple[Path, ...]) -> Cell | None:
    """For agents that are not trusted: without a view of the run, of the worlds that were built for it, or of the files
    that its tasks come from."""
    if options.trust_agent:
        return None
    for folder in options.agent_dirs:
        if not folder.is_dir():
            raise InputError(
                f"{folder} is not a directory.", hint="Name an existing folder that the agent may write to."
            )
        if folder.resolve().is_relative_to(out.resolve()):
            raise InputError(f"{folder} is in the run directory, which no agent may see.", hint="Name another folder.")
    return Cell(hidden=(out, setup.cache, *keys), writable=options.agent_dirs, variables=options.agent_env)


async def try_goals(
    setup: Setup,
    out: Path,
    agents: Sequence[str],
    goals: Sequence[OpenTask],
    options: PlayOptions,
    on_progress: OnProgress,
) -> None:
    """The goals are kept next to the run, so that it can be graded again like any other."""
    for goal in goals:
        open_task(goal)
    file = out.with_name(f"{out.name}-tasks.json")
    text = json.dumps([goal.model_dump(mode="json") for goal in goals])
    was_there = file.exists()
    if was_there and file.read_text(encoding="utf-8") != text:
        # The run beside it is graded by it.
        raise InputError(f"{file} has other goals.", hint="Choose another --out, or delete the file and its run.")
    made = [folder for folder in file.parents if not folder.exists()]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    try:
        await run(setup, out, agents, Selection(benchmark="open", file=str(file)), options, on_progress)
    except InputError:
        if not was_there:
            file.unlink()  # Nothing was played, so nothing is left behind.
            remove_empty(made)
        raise


@dataclass(frozen=True)
class EpisodeEnd:
    agent: str
    task_id: str
    kind: str
    steps: int
    said: str
    """The answer, or why there is none."""
    writes: tuple[str, ...] = ()
    """Requests that changed something, where no rule knows which should have."""


def endings(run: Path, tell: OnNotice) -> Iterator[EpisodeEnd]:
    with open_run(run, tell) as store:
        for unit, trajectory in store.trajectories():
            said = trajectory.answer or trajectory.ending.message
            verdict = store.verdict(trajectory.id, RULES)
            found = verdict.findings if verdict is not None else ()
            writes = tuple(finding.message for finding in found if finding.check == "network.writes")
            yield EpisodeEnd(unit.agent, unit.task_id, trajectory.ending.kind, len(trajectory.steps), said, writes)


@dataclass(frozen=True)
class Crash:
    """How often an agent's own code failed, and how it did so first."""

    agent: str
    times: int
    episodes: int
    unit: str
    said: str
    """The trace of the agent's own code, or what happened where there is none."""


def crashes(run: Path, tell: OnNotice) -> list[Crash]:
    with open_run(run, tell) as store:
        played: Counter[str] = Counter()
        crashed: dict[str, list[str]] = {}
        for row in store.rows(RULES):
            played[row.agent] += row.trajectory is not None
            if row.trajectory is not None and row.trajectory.ending == "agent_crashed":
                crashed.setdefault(row.agent, []).append(f"{row.agent}/{row.task_id}/{row.trial}")
        found = []
        for agent, units in crashed.items():
            first = store.trajectory(units[0])
            fault = first.ending.fault if first is not None else None
            said = fault.trace or fault.message if fault is not None else ""
            found.append(Crash(agent, len(units), played[agent], units[0], said))
        return found


def expand(names: Sequence[str], tell: OnNotice = unheard) -> list[str]:
    """The name of a family (`naive`) stands for all of its members."""
    families: dict[str, list[str]] = {}
    if any(name not in AGENTS and ":" not in name and "[" not in name for name in names):
        for factory in AGENTS.usable(tell):
            families.setdefault(factory.family, []).append(factory.name)
    if not names:
        raise InputError("No agent was given.", hint="Give --agent NAME or --agent-cmd PROGRAM.")
    return list(dict.fromkeys(member for name in names for member in families.get(name, [name])))


def _models(setup: Setup, options: PlayOptions) -> OpenModels:
    given = options.model
    return OpenModels(
        setup.cache / "replies",
        budget=Budget(usd=given.max_usd if given else None),
        concurrency=options.workers,
        patience=Patience(seconds=options.limits.decide_seconds / 2),
        cache=given is None or given.cache,
    )


def _session_settings(store: Store, options: PlayOptions) -> SessionSettings:
    return SessionSettings(
        video_dir=store.path / "video" if options.video else None,
        trace_dir=store.path / "trace" if options.trace else None,
    )


@dataclass
class Builder:
    """Makes tasks and agents for units; the one implementation of `run.work.Build`."""

    options: PlayOptions
    models: OpenModels
    cell: Cell | None = None
    """Where agents run that are not trusted; None: they are trusted."""
    tasks: TaskSet | None = None
    _factories: dict[str, tuple[AgentFactory, Any]] = field(default_factory=dict)
    _files: Files = field(default_factory=dict)
    """A file of agents is executed once a run, however many agents and episodes it gives."""
    _specs: dict[str, str] = field(default_factory=dict)
    """Name in reports to what the user typed."""
    _nurseries: list[Nursery] = field(default_factory=list)

    def task(self, unit: UnitOfWork) -> Task:
        assert self.tasks is not None
        return self.tasks.get(unit.task_id)

    def agent(self, unit: UnitOfWork, task: Task) -> Agent | BrowserDriver:
        return make_agent(self._factory(unit.agent)[0], self._request(unit, task))

    def check(self, name: str) -> None:
        """Before anything starts: does this name mean an agent, and is there all that it needs?"""
        available: list[Need] = ["solution"]  # That depends on the tasks: `check_solutions`.
        if self.options.model is not None:
            self.models.get(self.options.model.model)
            _ = self.options.model.settings  # What cannot be read is refused now, not in every episode.
            available.append("model")
        if self.options.ask is not None:
            available.append("person")
        check_needs(self._factory(name)[0], name, available)

    def check_solutions(self, names: Sequence[str]) -> None:
        """Before anything is played: an agent that plays reference solutions needs one for every task."""
        assert self.tasks is not None
        needing = next((name for name in names if "solution" in self._factory(name)[0].needs), None)
        unsolved = next((task for task in self.tasks.tasks if task.template not in TEMPLATES), None)
        if needing is not None and unsolved is not None:
            raise InputError(
                f"{needing} plays reference solutions, and task {unsolved.id} has none.",
                hint="It plays arena tasks only: choose those, or another agent.",
            )

    def name_agents(self, specs: Sequence[str], store: Store) -> list[str]:
        """What reports call them: built-in and installed ones as they were typed, with their settings; somebody's own
        by its own name. Where two would share a name, both say where they come from; a run that already knows an agent
        by what was typed keeps that name."""
        wanted = {spec: self._own_name(spec) for spec in specs}
        taken = Counter(wanted.values())
        for spec, name in wanted.items():
            shared = taken[name] > 1 or (name != spec and name in AGENTS)
            shown = spec if store.count_units([spec]) else f"{name} ({spec})" if shared and name != spec else name
            self._specs[shown] = spec
        return list(self._specs)

    def _own_name(self, spec: str) -> str:
        if not spec.startswith(COMMAND) and (":" not in spec or spec in AGENTS):
            return spec
        name = self._factory(spec)[0].name
        return f"{name}[{spec.partition('[')[2]}" if spec.endswith("]") and not spec.startswith(COMMAND) else name

    def is_baseline(self, name: str) -> bool:
        return self._factory(name)[0].baseline

    def is_trusted(self, name: str) -> bool:
        """What came from outside, and was run as if it were ours."""
        return self.cell is None and _from_outside(self._specs.get(name, name))

    async def close(self) -> None:
        for nursery in self._nurseries:
            await nursery.close()

    def _factory(self, name: str) -> tuple[AgentFactory, Any]:
        """Loaded once a run, however many episodes there are."""
        spec = self._specs.get(name, name)
        if spec not in self._factories:
            if self.cell is not None and _from_outside(spec):
                need_cell(spec)
            self._factories[spec] = self._loaded(spec)
        return self._factories[spec]

    def _loaded(self, spec: str) -> tuple[AgentFactory, Any]:
        if spec.startswith(COMMAND):
            return external(spec.removeprefix(COMMAND), self.cell), None
        # A path may have brackets of its own.
        name, wishes = read_spec(spec) if spec.endswith("]") or ":" not in spec else (spec, {})
        if self.cell is not None and _from_outside(name):
            nursery = Nursery(name, wishes, self.cell)
            self._nurseries.append(nursery)
            return nursery.load(), None
        factory = AGENTS.load(name, self._files)
        return factory, read_options(name, factory.options, wishes)

    def _request(self, unit: UnitOfWork, task: Task) -> AgentRequest:
        chosen = self.options.model
        factory, options = self._factory(unit.agent)
        return AgentRequest(
            name=unit.agent,
            options=options,
            seed=unit.seed,
            model=self.models.get(chosen.model, trial=unit.trial) if chosen else None,
            settings=chosen.settings if chosen else PROVIDERS_CHOICE,
            ask=self.options.ask,
            solution=solution_of(task, _route(options)) if "solution" in factory.needs else None,
            kind=task.kind if "solution" in factory.needs else "",
        )


def _from_outside(spec: str) -> bool:
    """A program, or a file or module that the user named: neither built in nor installed as an agent."""
    return spec.startswith(COMMAND) or (":" in spec and spec not in AGENTS)


def _route(options: object) -> str:
    return options.route if isinstance(options, OracleOptions) else ""


def solution_of(task: Task, route: str = "") -> Solution:
    """The reference solution, or another route of the template."""
    if task.template not in TEMPLATES:
        raise InputError(
            f"Task {task.id} has no reference solution: {task.template!r} is not an arena template.",
            hint="The oracle plays arena tasks only.",
        )
    solve = TEMPLATES.get(task.template).from_parameters(task.parameters).route(route)
    return past_obstacles(solve, task.goal.hints, chores_of(task.sites)) if task.obstacles else solve
