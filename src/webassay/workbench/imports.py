"""Trajectories of other people, into run directories and out of them."""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from webassay.benchmarks.base import Selection
from webassay.compose.given import AnyPath, Paths, paths, several
from webassay.compose.registries import GRADERS, GROUPINGS, IMPORTERS
from webassay.compose.setup import Setup
from webassay.compose.tasks import select
from webassay.core.errors import InputError
from webassay.core.progress import Progress
from webassay.core.rater import RULES
from webassay.core.text import well_formed
from webassay.core.trajectory import Trajectory
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Verdict
from webassay.grading.logs import log_folders, read_log
from webassay.importers.archives import is_archive, unpacked
from webassay.importers.base import ImportedRun, Importer, LooseVerdict, import_items, with_id
from webassay.play.plan import plan
from webassay.play.settings import remember
from webassay.play.work import storable
from webassay.store import Store
from webassay.store.runs import extend_run, open_run
from webassay.workbench.grade import LogOptions, benchmark_with_logs


@dataclass
class ImportResult:
    """What became of an import."""

    added: int = 0
    known: int = 0
    """Items that the run directory had already."""
    skipped: list[tuple[Path, str]] = field(default_factory=list)
    """Items that could not be read, and why."""
    verdicts: int = 0
    """New verdicts of people and of published judges that came with the items."""
    homeless: list[str] = field(default_factory=list)
    """Verdicts that fit no item, or several, and where they stood."""


def import_trajectories(
    setup: Setup, places: Paths, out: AnyPath, format: str | None = None, *, agent: str = ""
) -> ImportResult:
    """Trajectories with what people and published judges said of them. `agent`: whose they are, where the files do not
    say."""
    files = paths(places)
    for path in files:
        if not path.exists():
            raise InputError(f"{path} does not exist.")
    with extend_run(Path(out)) as store:
        return import_into(setup, store, files, format=format, agent=agent)


def import_into(
    setup: Setup, store: Store, files: Sequence[Path], *, format: str | None = None, agent: str = ""
) -> ImportResult:
    """Every item is a unit of its own, however many share a task; an item that is there already is left alone. `agent`
    is whose they are, where the files do not say."""
    if format is not None:
        format = IMPORTERS.adopt(format)
    agent = well_formed(agent)
    made, known = ImportResult(), set(store.trajectory_ids())
    claims: list[LooseVerdict] = []
    for path in files:
        for found in _items(path, store, format, made):
            if isinstance(found, LooseVerdict):
                claims.append(found)
                continue
            trajectory = _of_agent(found.trajectory, agent)
            if trajectory.id in known:
                made.known += 1
            else:
                known.add(trajectory.id)
                unit = _free_unit(store, trajectory)
                store.plan([unit])
                store.add_trajectory(unit.id, trajectory.model_copy(update={"trial": unit.trial}))
                made.added += 1
            made.verdicts += _add(store, found.verdicts, trajectory.id, trajectory.task_id)
            setup.on_progress(Progress("importing", made.added + made.known))
    _match(store, claims, made)
    return made


def _items(path: Path, store: Store, format: str | None, made: ImportResult) -> Iterator[ImportedRun | LooseVerdict]:
    importers = tuple(IMPORTERS) if format is None else (IMPORTERS.get(format),)
    if is_archive(path):
        with unpacked(path) as folder:
            yield from import_items(folder, store.blobs, importers, format=format, on_error=_skip(made))
    else:
        yield from import_items(path, store.blobs, importers, format=format, on_error=_skip(made))


def _of_agent(trajectory: Trajectory, agent: str) -> Trajectory:
    if not agent or trajectory.agent.name != "unknown":
        return trajectory
    named = trajectory.agent.model_copy(update={"name": agent})
    # Another agent's is another item, even where the files do not differ in a byte.
    return with_id(trajectory.model_copy(update={"agent": named}), trajectory.id)


def _match(store: Store, claims: Sequence[LooseVerdict], made: ImportResult) -> None:
    """Puts verdicts from files of their own on the items that they name."""
    places: dict[str, list[tuple[str, str, str]]] = {}
    for result in store.rows("") if claims else ():
        unit = f"{result.agent}/{result.task_id}/{result.trial}"
        if (found := store.find_trajectory(unit)) is not None and result.trajectory is not None:
            places.setdefault(result.task_id, []).append((found[0], result.agent, result.trajectory.benchmark))
    for claim in claims:
        fitting = [
            id
            for id, agent, benchmark in places.get(claim.task_id, ())
            if claim.agent in ("", agent) and claim.benchmark in ("", benchmark)
        ]
        if len(fitting) == 1:
            made.verdicts += _add(store, [claim.verdict], fitting[0], claim.task_id)
        else:
            named = f"{claim.agent} on {claim.task_id}" if claim.agent else claim.task_id
            why = f"{len(fitting)} trajectories fit" if fitting else "there is no trajectory"
            made.homeless.append(f"{claim.where}: {why} ({named})")


def _add(store: Store, verdicts: Sequence[Verdict], trajectory_id: str, task_id: str) -> int:
    """Only what is new: importing again adds nothing. A character that cannot be stored is replaced: whatever somebody
    wrote beside a verdict, it counts."""
    if not verdicts:
        return 0
    there = {(one.fingerprint.content_hash(), one.status, one.findings) for one in store.verdicts(trajectory_id)}
    placed = [storable(one.model_copy(update={"trajectory_id": trajectory_id, "task_id": task_id})) for one in verdicts]
    new = [one for one in placed if (one.fingerprint.content_hash(), one.status, one.findings) not in there]
    store.add_verdicts(new)
    return len(new)


@dataclass(frozen=True)
class LogImport:
    """Log folders of a benchmark's own harness, to be made into a run."""

    logs: LogOptions
    agent: str = ""
    """Whose logs they are; empty: the folder's name."""
    only_present: bool = False
    """Plan only the tasks that have a log. Otherwise the others are missing, and the report says so."""


def import_logs(setup: Setup, folders: Paths, out: AnyPath, wanted: LogImport) -> ImportResult:
    """Every log becomes an episode, graded by the rules. A log that is as it was is left alone; one that changed, or
    changed back, becomes another attempt, and the newest counts."""
    options, rules = wanted.logs, GRADERS.get(RULES)
    benchmark = benchmark_with_logs(options.benchmark)
    assert benchmark.logs is not None
    layout = benchmark.logs.layout(options.config)
    selection = Selection(benchmark=options.benchmark, file=options.tasks_file)
    tasks = select(selection, setup).tasks
    by_folder = benchmark.logs.by_folder(tasks)
    named = _whose([Path(one) for one in several(folders)], wanted)
    found = {agent: (folder, log_folders(folder, by_folder, layout)) for agent, folder in named.items()}
    made, done = ImportResult(), 0
    with extend_run(Path(out)) as store:
        remember(store, selection)
        for agent, (folder, names) in found.items():
            planned = [by_folder[name] for name in names] if wanted.only_present else tasks
            units = {unit.task_id: unit for unit in plan(planned, [agent], groupings=GROUPINGS)}
            store.plan(units.values())
            for name in names:
                task = by_folder[name]
                read = storable(read_log(folder / name, task, layout, store.blobs, agent))
                trajectory = _with_id(read, units[task.id], store)
                done += 1
                setup.on_progress(Progress("importing logs", done, sum(len(names) for _, names in found.values())))
                if trajectory is None:
                    made.known += 1
                    continue
                verdict = storable(rules.grade(task, trajectory, store.blobs, options.policy))
                store.add_episode(units[task.id].id, trajectory, [verdict])
                made.added += 1
    return made


def _whose(folders: Sequence[Path], wanted: LogImport) -> dict[str, Path]:
    if wanted.agent and len(folders) > 1:
        raise InputError("One agent cannot have several log folders.", hint="Import them one by one.")
    named = {well_formed(wanted.agent or folder.resolve().name): folder for folder in folders}
    if len(named) < len(folders):
        raise InputError("Two log folders have the same name.", hint="Import them one by one, each with its --agent.")
    return named


def _with_id(trajectory: Trajectory, unit: UnitOfWork, store: Store) -> Trajectory | None:
    """The same log has the same id, wherever its folder is; a number is added where it comes back after another one.
    None: it is what was imported last, or what counts because a later log could not be read."""
    content = trajectory.model_copy(update={"id": ""}).content_hash().removeprefix("sha256:")
    name, counting = f"{unit.id}/{content[:16]}", store.find_trajectory(unit.id)
    current = {one.trajectory_id for one in store.attempts_at(unit.id)[-1:]} | ({counting[0]} if counting else set())
    if any(one == name or one.startswith(f"{name}.") for one in current):
        return None
    # A damaged row still has its id, although nobody sees it.
    if store.find_trajectory(name) is not None or store.damage.items:
        name = f"{name}.{store.attempts(unit.id)}"
    return trajectory.model_copy(update={"id": name, "task_hash": str(unit.metadata["task_hash"])})


def _skip(made: ImportResult) -> Callable[[Path, InputError], None]:
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


def export_trajectories(setup: Setup, run: AnyPath, out: AnyPath, format: str) -> int:
    """One folder a trajectory, in another project's layout. Every trajectory has a folder of its own."""
    importer = IMPORTERS.get(format)
    if importer.write is None:
        able = [one.name for one in IMPORTERS if one.write is not None]
        raise InputError(f"{format} can be read but not written.", hint=f"These can: {', '.join(able)}.")
    taken: set[str] = set()
    with open_run(Path(run), setup.tell) as store:
        for unit, trajectory in store.trajectories():
            name = _free_folder(importer, unit, trajectory, taken)
            taken.add(name)
            importer.write(trajectory, store.blobs, Path(out) / name)
            setup.on_progress(Progress("exporting", len(taken)))
    return len(taken)


def _free_folder(importer: Importer, unit: UnitOfWork, trajectory: Trajectory, taken: Set[str]) -> str:
    """Two units may want the same folder: layouts know tasks by their numbers alone. They are then told apart as trials
    of one task are."""
    if importer.folder is None:
        return _folder_name(unit.id, taken)
    for trial in range(unit.trial, unit.trial + len(taken) + 1):
        name = importer.folder(trajectory.model_copy(update={"trial": trial}))
        if name not in taken:
            return name
    raise InputError(f"{name} is the folder of two trajectories.", hint="The format must name a folder for each trial.")


def _folder_name(unit_id: str, taken: Set[str]) -> str:
    """As the unit is called, where a file system takes that; agents and tasks may be called anything."""
    name = unit_id.replace("/", "_")
    if re.fullmatch(r"[\w.,:=@+\[\] -]{1,150}", name) and name not in taken:
        return name
    mark = hashlib.sha256(unit_id.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{re.sub(r'[^A-Za-z0-9.]+', '-', name).strip('-.')[:100]}-{mark}"
