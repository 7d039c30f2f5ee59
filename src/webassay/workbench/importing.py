"""Trajectories of other people, into run directories and out of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from webassay.core.errors import InputError
from webassay.core.trajectory import Trajectory
from webassay.core.unit import UnitOfWork
from webassay.importers.base import import_all
from webassay.store import LEDGER, Store
from webassay.workbench.kinds import IMPORTERS
from webassay.workbench.setup import OnProgress, Progress


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


def export_run(run: Path, out: Path, format: str, on_progress: OnProgress) -> int:
    """One folder a trajectory, in another project's layout."""
    importer = IMPORTERS.get(format)
    if importer.write is None:
        able = [one.name for one in IMPORTERS if one.write is not None]
        raise InputError(f"{format} can be read but not written.", hint=f"These can: {', '.join(able)}.")
    count = 0
    with Store.open(run) as store:
        for unit, trajectory in store.trajectories():
            folder = out / unit.id.replace("/", "_")
            importer.write(trajectory, store.blobs, folder)
            count += 1
            on_progress(Progress("exporting", count))
    return count


def is_run(path: Path) -> bool:
    return (path / LEDGER).is_file()
