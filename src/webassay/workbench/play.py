"""Runs: agents on tasks, recorded and graded in a run directory that survives being killed."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from webassay.agents.cells.cell import ProgramCell
from webassay.benchmarks.base import RANDOM_WORLD, Selection
from webassay.benchmarks.open import OPEN, OpenTask, open_task
from webassay.browser.session import Browser, SessionSettings
from webassay.compose.builder import Builder, PlayOptions, expand
from webassay.compose.given import AnyPath, Names, names
from webassay.compose.models import OpenModels
from webassay.compose.registries import ENVIRONMENTS, GRADERS, GROUPINGS
from webassay.compose.setup import Setup
from webassay.compose.tasks import adopted, environment_for, key_files, select
from webassay.core.errors import InputError
from webassay.core.files import clear_abandoned
from webassay.core.options import read_spec
from webassay.core.progress import Progress
from webassay.core.rater import RULES
from webassay.core.text import quoted
from webassay.core.trajectory import RecordedObservation
from webassay.core.unit import UnitOfWork
from webassay.environments.base import Environment, Reachable
from webassay.llm.client import Budget, Patience
from webassay.play.episode import EpisodeContext
from webassay.play.local import RunProgress, RunSettings, grade_missing, run_units
from webassay.play.plan import plan
from webassay.play.rehearsal import LAST_LINES, open_sites, start_agent
from webassay.play.settings import (
    refuse_changed,
    refuse_others,
    remember,
    remember_agents,
    remember_trusted,
    selection_of,
    with_drawn_seed,
)
from webassay.play.troubles import SAME_IN_A_ROW, Reason, reason_of
from webassay.play.work import Played, TaskGrader
from webassay.store import Store
from webassay.store.live import LiveNotes
from webassay.store.runs import damage_notices, extend_run, is_run, open_run, remove_empty
from webassay.workbench.broken import in_vain
from webassay.workbench.plan import PlannedRun, planned_run
from webassay.workbench.tasks import ALL_TASKS

DEFAULTS = PlayOptions()


async def run(
    setup: Setup,
    out: AnyPath,
    agents: Names,
    selection: Selection = ALL_TASKS,
    options: PlayOptions = DEFAULTS,
    *,
    wanted: Callable[[UnitOfWork], bool] = lambda unit: True,
    ready: Callable[[PlannedRun], None] = lambda planned: None,
) -> None:
    """Plays every agent on every task and grades it. A run that was cut off is resumed; nothing is played twice.
    Whatever can be wrong with the call is found before anything is written. `wanted`: which agent plays which task.
    `ready` hears what will be played."""
    async with _prepared(setup, out, agents, selection, options, wanted) as prepared:
        await prepared.play(ready)


async def plan_run(
    setup: Setup,
    out: AnyPath,
    agents: Names,
    selection: Selection = ALL_TASKS,
    options: PlayOptions = DEFAULTS,
    *,
    wanted: Callable[[UnitOfWork], bool] = lambda unit: True,
) -> PlannedRun:
    """What `run` would play; nothing is written and nobody is asked."""
    async with _prepared(setup, out, agents, selection, options, wanted) as prepared:
        return prepared.planned()


@asynccontextmanager
async def _prepared(
    setup: Setup,
    out: AnyPath,
    agents: Names,
    selection: Selection,
    options: PlayOptions,
    wanted: Callable[[UnitOfWork], bool],
) -> AsyncIterator["_Run"]:
    out = Path(out)
    Store.check_place(out)
    specs = expand(names(agents), setup.tell)
    models = _models(setup, options)
    builder = Builder(options, models, _cell(setup, out, options, key_files(selection)))
    try:
        for spec in specs:
            builder.check(spec)
        yield _Run(setup, out, specs, _seeded(setup, out, adopted(selection)), builder, wanted)
    finally:
        await builder.close()
        await models.close()


def _seeded(setup: Setup, out: Path, selection: Selection) -> Selection:
    """The selection with a seed of its own, that of the run if it drew one before."""
    if selection.world_seed != RANDOM_WORLD:
        return selection
    if not is_run(out):
        return with_drawn_seed(selection, None)
    with open_run(out, setup.tell) as store:
        return with_drawn_seed(selection, store)


@dataclass
class _Run:
    setup: Setup
    out: Path
    specs: Sequence[str]
    selection: Selection
    builder: Builder
    wanted: Callable[[UnitOfWork], bool]

    def _place(self) -> Environment:
        """Where these tasks are played, once they are made."""
        builder, options = self.builder, self.builder.options
        self.setup.on_progress(Progress("building tasks"))
        builder.tasks = select(self.selection, self.setup)
        builder.check_solutions(self.specs)
        return environment_for(builder.tasks, self.setup, named=options.environment, allow=options.allow)

    async def play(self, ready: Callable[[PlannedRun], None]) -> None:
        setup, builder, options = self.setup, self.builder, self.builder.options
        chromium = setup.find_chromium()
        clear_abandoned()
        if options.environment:
            ENVIRONMENTS.load(read_spec(options.environment)[0])  # a wrong name is found before the tasks are made
        resumed = is_run(self.out)
        if resumed:
            with open_run(self.out, lambda said: None, thorough=False) as store:
                self._named(store)  # What cannot be resumed is refused before the tasks are made.
        else:
            await self._ask_model()
        place = self._place()
        if isinstance(place, Reachable) and not options.offline:
            await place.look()
        with extend_run(self.out) as store:
            for said in damage_notices(store, played_now=True):
                setup.tell(said)
            named = self._named(store)
            remember(store, self.selection, offline=options.offline, limits=options.limits)
            remember_agents(store, {name: builder.made_of(name) for name in named})
            remember_trusted(store, filter(builder.is_trusted, named))
            units = self._units(named)
            store.plan(units)
            graders = [GRADERS.get(RULES)]
            grade_missing(store, builder, graders, agents=named)
            left = list(store.unfinished(named))
            ready(planned_run(builder, units, left, store))
            if not left:
                return
            if resumed:
                await self._ask_model()
            async with place as environment, Browser(chromium, headed=options.headed) as browser:
                live = LiveNotes(store.path)
                context = EpisodeContext(
                    browser,
                    environment,
                    store.blobs,
                    limits=options.limits,
                    recording=options.recording,
                    settings=_session_settings(store, options),
                    offline=options.offline,
                    on_seen=partial(_noted, live),
                )
                if not (options.keep_going or options.offline or isinstance(place, Reachable)):
                    await self._rehearse(left, context)
                try:
                    await self._play(store, context, graders, named, live)
                finally:
                    live.clear()

    def _named(self, store: Store) -> list[str]:
        """What reports call the agents, if this run can go on with them."""
        builder = self.builder
        refuse_others(store, self.selection, offline=builder.options.offline, limits=builder.options.limits)
        named = builder.name_agents(self.specs, lambda name: bool(store.count_units([name])))
        refuse_changed(store, {name: builder.made_of(name) for name in named})
        return named

    def _units(self, named: Sequence[str]) -> list[UnitOfWork]:
        assert self.builder.tasks is not None
        baselines = {name for name in named if self.builder.is_baseline(name)}
        units = plan(
            self.builder.tasks.tasks,
            named,
            trials=self.builder.options.trials,
            seed=self.selection.seed,
            baselines=baselines,
            groupings=GROUPINGS,
        )
        chosen = [unit for unit in units if self.wanted(unit)]
        if not chosen:
            raise InputError("None of these tasks is to be played.", hint="Choose other tasks or agents.")
        return chosen

    def planned(self) -> PlannedRun:
        self._place()
        if not is_run(self.out):
            units = self._units(self.builder.name_agents(self.specs, lambda name: False))
            return planned_run(self.builder, units, units, None)
        with open_run(self.out, self.setup.tell) as store:
            named = self._named(store)
            units, known = self._units(named), {unit.id for unit in store.units(named)}
            open_ones = {unit.id for unit in store.unfinished(named)}
            left = [unit for unit in units if unit.id not in known or unit.id in open_ones]
            return planned_run(self.builder, units, left, store)

    async def _ask_model(self) -> None:
        options = self.builder.options
        if options.model is not None and not options.keep_going:
            self.setup.on_progress(Progress(f"asking {options.model.model} whether it answers"))
            await self.builder.models.check(options.model.model, options.model.settings, self.setup.tell)

    async def _rehearse(self, left: Sequence[UnitOfWork], context: EpisodeContext) -> None:
        builder = self.builder
        assert builder.tasks is not None
        self.setup.on_progress(Progress("opening the sites"))
        await open_sites(builder.tasks.tasks, context)
        for unit in {unit.agent: unit for unit in reversed(left)}.values():
            if builder.is_from_outside(unit.agent):
                self.setup.on_progress(Progress(f"starting {unit.agent}"))
                task = builder.task(unit)
                await start_agent(partial(builder.agent, unit, task), task, context)

    async def _play(
        self,
        store: Store,
        context: EpisodeContext,
        graders: Sequence[TaskGrader],
        named: Sequence[str],
        live: LiveNotes,
    ) -> None:
        options, tell, told = self.builder.options, self.setup.tell, set[tuple[str, str, str]]()
        trouble = ""

        def done(played: Played, run: RunProgress) -> None:
            nonlocal trouble
            live.forget(played.trajectory.id)
            reason = reason_of(played.unit, played.trajectory, played.verdicts[0] if played.verdicts else None)
            bad = reason is not None and reason.kind != "abstain"
            trouble = f"{reason.kind}: {reason.text}" if reason and bad else trouble
            self.setup.on_progress(Progress("episodes", run.done, run.total, run.statuses, trouble))
            if (vain := in_vain(played.trajectory)) and (played.unit.agent, "vain", "") not in told:
                told.add((played.unit.agent, "vain", ""))
                tell(f"{quoted(played.unit.id)}: {vain}")
            if reason and bad and (played.unit.agent, *reason.essence) not in told:
                told.add((played.unit.agent, *reason.essence))
                fault = played.trajectory.ending.fault
                lines = fault.trace.rstrip().splitlines()[-LAST_LINES:] if fault and reason.kind == "crash" else []
                tell("\n".join([f"{reason.kind} in {quoted(played.unit.id)}: {reason.text}", *lines]))

        settings = RunSettings(
            options.workers,
            same_in_a_row=None if options.keep_going else SAME_IN_A_ROW,
            stopped=lambda: live.stop_is_wanted,
        )
        ended = await run_units(store, self.builder, context, graders, agents=named, settings=settings, on_done=done)
        if ended.left and live.stop_is_wanted:
            tell(f"Stopped from the viewer, with {ended.left} episodes left. The same command goes on from there.")


def _noted(live: LiveNotes, trajectory: str, step: int, seen: RecordedObservation) -> None:
    live.note(trajectory, step, seen.url, seen.title, seen.screenshot.hash if seen.screenshot else "")


def _cell(setup: Setup, out: Path, options: PlayOptions, keys: tuple[Path, ...]) -> ProgramCell | None:
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
    return ProgramCell(hidden=(out, setup.cache, *keys), writable=options.agent_dirs, variables=options.agent_env)


async def try_goals(
    setup: Setup,
    out: AnyPath,
    agents: Names,
    goals: Sequence[OpenTask],
    options: PlayOptions = DEFAULTS,
) -> None:
    """Plays goals on sites of your choice, recorded like any task. They are kept next to the run, so that it can be
    graded again."""
    out = Path(out)
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
        await run(setup, out, agents, Selection(benchmark="open", file=str(file)), options)
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
    message: str
    """The answer, or why there is none."""
    writes: tuple[str, ...] = ()
    """Requests that changed something, where no rule knows which should have."""


def endings(setup: Setup, run: AnyPath) -> Iterator[EpisodeEnd]:
    """How each episode of a run ended, and what its agent said last."""
    with open_run(Path(run), setup.tell) as store:
        for unit, trajectory in store.trajectories():
            said = trajectory.answer or trajectory.ending.message
            verdict = store.verdict(trajectory.id, RULES)
            found = verdict.findings if verdict is not None else ()
            writes = tuple(finding.message for finding in found if finding.check == "network.writes")
            yield EpisodeEnd(unit.agent, unit.task_id, trajectory.ending.kind, len(trajectory.steps), said, writes)


@dataclass(frozen=True)
class Trouble:
    """One thing that went wrong in a run, and how often."""

    agent: str
    reason: Reason
    times: int
    episodes: int
    """All that the agent played."""
    unit: str
    """Where it did so first."""
    trace: str
    """From the agent's own code, where that failed."""


@dataclass(frozen=True)
class Outcome:
    measured: int
    """Units that passed or failed without a crash, or that only a judge can decide."""
    troubles: tuple[Trouble, ...]


def outcome(setup: Setup, run: AnyPath) -> Outcome:
    """Whether a run has measured anything, and what went wrong in it, most frequent first."""
    with open_run(Path(run), setup.tell) as store:
        measured, played = 0, Counter[str]()
        found: dict[tuple[str, ...], list[tuple[Reason, str, str]]] = {}
        for row in store.rows(RULES):
            if row.trajectory is None:
                continue
            status, crashed = row.verdict.status if row.verdict else "", row.trajectory.ending == "agent_crashed"
            left_to_judges = row.unit.benchmark == OPEN.name and row.trajectory.ending != "fault"
            well = left_to_judges or (status in ("pass", "fail") and not crashed)
            played[row.agent] += 1
            measured += well
            if well:
                continue
            unit = UnitOfWork(agent=row.agent, task_id=row.task_id, trial=row.trial)
            trajectory = store.trajectory(unit.id)
            reason = trajectory and reason_of(unit, trajectory, store.verdict(trajectory.id, RULES))
            if trajectory and reason:
                fault = trajectory.ending.fault
                trace = (fault.trace or fault.message) if fault is not None and crashed else ""
                found.setdefault((row.agent, *reason.essence), []).append((reason, unit.id, trace))
        troubles = [
            Trouble(agent, all[0][0], len(all), played[agent], *all[0][1:]) for (agent, *_), all in found.items()
        ]
        return Outcome(measured, tuple(sorted(troubles, key=lambda one: -one.times)))


@dataclass(frozen=True)
class FailedUnits:
    """What did not pass in a run, to be played again somewhere else."""

    selection: Selection
    trials: int
    units: frozenset[tuple[str, str, int]]
    """Agent, task, trial."""

    def __contains__(self, unit: UnitOfWork) -> bool:
        return (unit.agent, unit.task_id, unit.trial) in self.units


def failed_units(setup: Setup, run: AnyPath) -> FailedUnits:
    """Units that failed, faulted or were left undecided; what was never played belongs to the run itself."""
    with open_run(Path(run), setup.tell) as store:
        units = frozenset(
            (row.agent, row.task_id, row.trial)
            for row in store.rows(RULES)
            if row.trajectory is not None and (row.verdict is None or row.verdict.status != "pass")
        )
        if not units:
            raise InputError(f"Every unit of {run} that was played has passed.", hint="There is nothing to play again.")
        return FailedUnits(selection_of(store), 1 + max(trial for *_, trial in units), units)


def _models(setup: Setup, options: PlayOptions) -> OpenModels:
    given = options.model
    return OpenModels(
        setup.cache / "replies",
        budget=Budget(usd=given.max_usd if given else None),
        concurrency=options.workers,
        patience=Patience(seconds=options.limits.decide_seconds / 2, tell=setup.tell),
        cache=given is None or given.cache,
    )


def _session_settings(store: Store, options: PlayOptions) -> SessionSettings:
    return SessionSettings(
        video_dir=store.path / "video" if options.video else None,
        trace_dir=store.path / "trace" if options.trace else None,
    )
