"""Trajectories of other people, into run directories and out of them."""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from webassay.benchmarks.base import Selection
from webassay.core.errors import InputError
from webassay.core.trajectory import Trajectory
from webassay.core.unit import UnitOfWork
from webassay.grading.logs import logged, read_log
from webassay.importers.base import import_all
from webassay.run.plan import plan
from webassay.run.work import storable
from webassay.store import LEDGER, Store
from webassay.workbench.damage import added_to, in_words, open_for_numbers
from webassay.workbench.grading import LogOptions, benchmark_with_logs
from webassay.workbench.kinds import GRADERS, IMPORTERS
from webassay.workbench.playing import RULES, remember
from webassay.workbench.setup import OnProgress, Progress, Setup
from webassay.workbench.tasks import select


@dataclass
class Imported:
    """What became of an import."""

    added: int = 0
    known: int = 0
    """Items that the run directory had already."""
    skipped: list[tuple[Path, str]] = field(default_factory=list)
    """Items that could not be read, and why."""


def import_into(store: Store, paths: Sequence[Path], on_progress: OnProgress, *, format: str | None = None) -> Imported:
    """Every item is a unit of its own, however many share a task; an item that is there already is left alone."""
    if format is not None:
        IMPORTERS.get(format)
    made, known = Imported(), set(store.trajectory_ids())
    for path in paths:
        for trajectory in import_all(path, store.blobs, tuple(IMPORTERS), format=format, on_error=_skip(made)):
            if trajectory.id in known:
                made.known += 1
            else:
                known.add(trajectory.id)
                unit = _free_unit(store, trajectory)
                store.plan([unit])
                store.add_trajectory(unit.id, trajectory)
                made.added += 1
            on_progress(Progress("importing", made.added + made.known))
    return made


@dataclass(frozen=True)
class LogImport:
    """Log folders of a benchmark's own harness, to be made into a run."""

    logs: LogOptions
    agent: str = ""
    """Whose logs they are; empty: the folder's name."""
    only_present: bool = False
    """Plan only the tasks that have a log. Otherwise the others are missing, and the report says so."""


def import_logs(
    setup: Setup, out: Path, folders: Sequence[Path], wanted: LogImport, on_progress: OnProgress
) -> Imported:
    """Every log becomes an episode, graded by the rules. A log that is there already is left alone; one that changed
    becomes another attempt, and the newest counts."""
    options, rules = wanted.logs, GRADERS.get(RULES)
    benchmark = benchmark_with_logs(options.benchmark)
    assert benchmark.logs is not None
    layout = benchmark.logs.layout(options.config)
    selection = Selection(benchmark=options.benchmark, file=options.tasks_file)
    tasks = select(selection, setup).tasks
    by_folder = benchmark.logs.by_folder(tasks)
    found = {agent: (folder, logged(folder, by_folder, layout)) for agent, folder in _whose(folders, wanted).items()}
    made, done = Imported(), 0
    with added_to(out) as store:
        remember(store, selection)
        for agent, (folder, names) in found.items():
            planned = [by_folder[name] for name in names] if wanted.only_present else tasks
            units = {unit.task_id: unit for unit in plan(planned, [agent])}
            store.plan(units.values())
            for name in names:
                task = by_folder[name]
                read = storable(read_log(folder / name, task, layout, store.blobs, agent))
                trajectory = _with_id(read, units[task.id])
                done += 1
                on_progress(Progress("importing logs", done, sum(len(names) for _, names in found.values())))
                if store.find_trajectory(trajectory.id) is not None:
                    made.known += 1
                    continue
                verdict = storable(rules.grade(task, trajectory, store.blobs, options.policy))
                store.add_episode(units[task.id].id, trajectory, [verdict])
                made.added += 1
    return made


def _whose(folders: Sequence[Path], wanted: LogImport) -> dict[str, Path]:
    if wanted.agent and len(folders) > 1:
        raise InputError("One agent cannot have several log folders.", hint="Import them one by one.")
    named = {wanted.agent or folder.resolve().name: folder for folder in folders}
    if len(named) < len(folders):
        raise InputError("Two log folders have the same name.", hint="Import them one by one, each with its --agent.")
    return named


def _with_id(trajectory: Trajectory, unit: UnitOfWork) -> Trajectory:
    """The same log has the same id, wherever its folder is."""
    content = trajectory.model_copy(update={"id": ""}).content_hash().removeprefix("sha256:")
    return trajectory.model_copy(
        update={"id": f"{unit.id}/{content[:16]}", "task_hash": str(unit.metadata["task_hash"])}
    )


def _skip(made: Imported) -> Callable[[Path, InputError], None]:
    return lambda place, error: made.skipped.append((place, str(error)))


def _free_unit(store: Store, trajectory: Trajectory) -> UnitOfWork:
    """Two runs of one agent on one task are two trials: neither is lost."""
    unit = UnitOfWork(
        agent=trajectory.agent.name,
        task_id=trajectory.task_id or trajectory.id,
        metadata={"benchmark": trajectory.benchmark, "template": trajectory.template},
    )
    while store.attempts(unit.id):
        unit = unit.model_copy(update={"trial": unit.trial + 1})
    return unit


def export_run(setup: Setup, run: Path, out: Path, format: str, on_progress: OnProgress) -> int:
    """One folder a trajectory, in another project's layout."""
    importer = IMPORTERS.get(format)
    if importer.write is None:
        able = [one.name for one in IMPORTERS if one.write is not None]
        raise InputError(f"{format} can be read but not written.", hint=f"These can: {', '.join(able)}.")
    count = 0
    with open_for_numbers(run) as store:
        for said in in_words(store):
            setup.tell(said)
        for unit, trajectory in store.trajectories():
            folder = out / _folder_name(unit.id)
            importer.write(trajectory, store.blobs, folder)
            count += 1
            on_progress(Progress("exporting", count))
    return count


def _folder_name(unit_id: str) -> str:
    """As the unit is called, where a file system takes that; agents and tasks may be called anything."""
    name = unit_id.replace("/", "_")
    if re.fullmatch(r"[\w.,:=@+\[\] -]{1,150}", name):
        return name
    mark = hashlib.sha256(unit_id.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{re.sub(r'[^A-Za-z0-9.]+', '-', name).strip('-.')[:100]}-{mark}"


def is_run(path: Path) -> bool:
    return (path / LEDGER).is_file()
