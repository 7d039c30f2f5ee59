"""Run directories that are read together, and which trajectory a name means there."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from webassay.core.errors import InputError
from webassay.core.summary import UnitResult
from webassay.store import Store


class _Names(NamedTuple):
    """By name: the items that it means, each with a run that holds it."""

    ids: dict[str, dict[str, str]]
    units: dict[str, dict[str, str]]
    tasks: dict[str, dict[str, str]]


class RunPool:
    """Every trajectory has an item of its own: its id, or its run and its id where another run has given the same id to
    another trajectory, as two runs of one agent do. In copies of a run it is the same trajectory, and the same item."""

    def __init__(self, stores: Mapping[str, Store]) -> None:
        self.stores = stores
        self._items = _items(stores)
        self._names = _Names(defaultdict(dict), defaultdict(dict), defaultdict(dict))
        self.results = {run: list(self._played(run)) for run in stores}
        """Everything that was played, each with its item."""
        for run, played in self.results.items():
            for item, result in played:
                self._names.units[f"{result.agent}/{result.task_id}/{result.trial}"][item] = run
                self._names.tasks[result.task_id][item] = run
        for (run, trajectory_id), item in self._items.items():
            self._names.ids[trajectory_id][item] = run

    def item(self, run: str, trajectory_id: str) -> str:
        return self._items.get((run, trajectory_id), trajectory_id)

    def _played(self, run: str) -> Iterator[tuple[str, UnitResult]]:
        store = self.stores[run]
        for result in store.rows(""):
            found = store.find_trajectory(f"{result.agent}/{result.task_id}/{result.trial}")
            if found is not None and result.trajectory is not None:
                yield self.item(run, found[0]), result

    def differ(self, run: str, other: str) -> bool:
        """Whether an id means one trajectory in this run and another one in that."""
        own = {name: item for (place, name), item in self._items.items() if place == run}
        return any(self._items.get((other, name), item) != item for name, item in own.items())

    def named(self, name: str) -> str:
        """The item that a table means by a trajectory's id, a unit, or a task with a single trajectory. What is not
        known here stays as it is."""
        meant = next((found[name] for found in self._names if name in found), {})
        if len(runs := sorted(set(meant.values()))) > 1 and len(meant) > 1:
            raise InputError(
                f"{name} means different trajectories in {' and '.join(runs)}.",
                hint="Give one of these run directories at a time, or ids that only one of them has.",
            )
        return next(iter(meant)) if len(meant) == 1 else name


def _items(stores: Mapping[str, Store]) -> dict[tuple[str, str], str]:
    places: dict[str, list[str]] = defaultdict(list)
    for run, store in stores.items():
        for trajectory_id in store.trajectory_ids():
            places[trajectory_id].append(run)
    found: dict[tuple[str, str], str] = {}
    for trajectory_id, runs in places.items():
        found |= {(run, trajectory_id): trajectory_id for run in runs}
        if len(runs) > 1:
            contents = {run: _content(stores[run], trajectory_id) for run in runs}
            homes = {content: run for run, content in reversed(contents.items())}
            if len(homes) > 1:
                found |= {(run, trajectory_id): f"{homes[contents[run]]}: {trajectory_id}" for run in runs}
    return found


def _content(store: Store, trajectory_id: str) -> str:
    trajectory = store.trajectory_by_id(trajectory_id)
    return "" if trajectory is None else trajectory.content_hash()
