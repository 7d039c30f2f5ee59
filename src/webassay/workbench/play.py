"""Runs: agents on tasks, recorded and graded in a run directory that survives being killed."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from webassay.agents.cells.cell import ProgramCell
from webassay.benchmarks.base import Selection
from webassay.benchmarks.open import OpenTask, open_task
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
from webassay.core.unit import UnitOfWork
from webassay.environments.base import Reachable
from webassay.llm.client import Budget, Patience
from webassay.play.episode import EpisodeContext
from webassay.play.local import RunProgress, RunSettings, grade_missing, run_units
from webassay.play.plan import plan
from webassay.play.settings import remember, remember_trusted
from webassay.play.work import Played
from webassay.store import Store
from webassay.store.runs import damage_notices, extend_run, open_run, remove_empty
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
) -> None:
    """Plays every agent on every task and grades it. A run that was cut off is resumed; nothing is played twice.
    Whatever can be wrong with the call is found before anything is written. `wanted`: which agent plays which task."""
    out = Path(out)
    Store.check_place(out)
    specs = expand(names(agents), setup.tell)
    models = _models(setup, options)
    builder = Builder(options, models, _cell(setup, out, options, key_files(selection)))
    try:
        for spec in specs:
            builder.check(spec)
        await _run(setup, out, specs, adopted(selection), builder, wanted)
    finally:
        await builder.close()
        await models.close()


async def _run(
    setup: Setup,
    out: Path,
    specs: Sequence[str],
    selection: Selection,
    builder: Builder,
    wanted: Callable[[UnitOfWork], bool],
) -> None:
    options = builder.options
    chromium = setup.find_chromium()
    clear_abandoned()
    if options.environment:
        ENVIRONMENTS.load(read_spec(options.environment)[0])  # a wrong name is found before the tasks are made
    setup.on_progress(Progress("building tasks"))
    builder.tasks = select(selection, setup)
    builder.check_solutions(specs)
    place = environment_for(builder.tasks, setup, named=options.environment, allow=options.allow)
    if isinstance(place, Reachable) and not options.offline:
        await place.look()
    with extend_run(out) as store:
        for said in damage_notices(store, played_now=True):
            setup.tell(said)
        remember(store, selection, offline=options.offline, limits=options.limits)
        named = builder.name_agents(specs, store)
        remember_trusted(store, filter(builder.is_trusted, named))
        baselines = {name for name in named if builder.is_baseline(name)}
        tasks = builder.tasks.tasks
        units = plan(tasks, named, trials=options.trials, seed=selection.seed, baselines=baselines, groupings=GROUPINGS)
        store.plan([unit for unit in units if wanted(unit)])
        graders = [GRADERS.get(RULES)]
        grade_missing(store, builder, graders, agents=named)
        if not store.count_unfinished(named):
            return

        def done(played: Played, run: RunProgress) -> None:
            setup.on_progress(Progress("episodes", run.done, run.total, run.statuses))

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
            await run_units(store, builder, context, graders, agents=named, settings=settings, on_done=done)


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
class Crash:
    """How often an agent's own code failed, and how it did so first."""

    agent: str
    times: int
    episodes: int
    unit: str
    trace: str
    """The trace of the agent's own code, or what happened where there is none."""


def crashes(setup: Setup, run: AnyPath) -> list[Crash]:
    """The agents whose own code failed, each with the trace of the first time."""
    with open_run(Path(run), setup.tell) as store:
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
