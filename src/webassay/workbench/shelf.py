"""Run directories side by side, each opened when somebody looks into it and kept open: what the viewer reads from.

Pages are made in threads, and a connection to SQLite is one thread's at a time, so each run has a lock. What was read
is kept until the ledger changes; of a run in progress it is read again, but never more than a fifth of the time.
"""

import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from webassay.analysis.numbers.columns import gather
from webassay.analysis.numbers.rows import Block, ResultRow, blocks_of_results, rows_in
from webassay.analysis.results.overview import RunOverview, overview
from webassay.analysis.results.report import report_of, summarize
from webassay.compose.given import Paths, paths
from webassay.compose.setup import Setup
from webassay.compose.tasks import TaskSet
from webassay.core.errors import InputError
from webassay.core.rater import RULES, Rater
from webassay.core.registry import nearest
from webassay.core.report import Report
from webassay.core.summary import Attempt
from webassay.store import LEDGER, Store
from webassay.store.blobs import BlobFolder
from webassay.store.connections import is_being_written
from webassay.store.live import LiveNote, ask_to_stop, live_notes, stop_is_wanted
from webassay.store.runs import is_run, open_run
from webassay.workbench.report import Graders, named
from webassay.workbench.show import Recorded

T = TypeVar("T")

MOST_KEPT = 64
"""Results of one run that are kept, such as its report by one grader."""
LATEST = 12
SHARE = 0.2
"""The most time that goes into reading a run that changes all the time."""


class ShelvedUnit(NamedTuple):
    """One planned unit in one of the runs."""

    run: str
    agent: str
    """As it is called here: with the run's name where several runs have an agent of that name."""
    row: ResultRow

    @property
    def unit(self) -> str:
        return f"{self.row.agent}/{self.row.task_id}/{self.row.trial}"


class Kept(NamedTuple):
    value: Any
    changes: Hashable
    """What the ledger had seen when it was made."""
    since: float
    took: float

    def is_fresh(self, changes: Hashable) -> bool:
        return changes == self.changes or time.monotonic() - self.since < self.took / SHARE


class LiveView(NamedTuple):
    run: str
    is_live: bool
    planned: int
    done: int
    notes: tuple[LiveNote, ...]
    latest: tuple[tuple[Attempt, str], ...]
    """With their status by the rules, newest first."""
    stopping: bool


class ShelvedRun:
    def __init__(self, setup: Setup, name: str, path: Path) -> None:
        self.name, self.path = name, path
        self.notices: list[str] = []
        """What is damaged, in words."""
        self._setup = replace(setup, tell=self._tell)
        self._lock = threading.RLock()
        self._recorded: Recorded | None = None
        self._file: tuple[int, int] | None = None
        self._kept: dict[Hashable, Kept] = {}

    def _tell(self, said: str) -> None:
        if said not in self.notices:
            self.notices.append(said)

    @contextmanager
    def open(self) -> Iterator[Recorded]:
        """For one thread at a time. A ledger that was put in another one's place is opened again."""
        with self._lock:
            if not is_run(self.path):
                self.close()
                raise InputError(f"{self.path} is gone.", hint="Was the run directory moved or deleted?")
            found = (self.path / LEDGER).stat()
            if self._recorded is None or self._file != (found.st_dev, found.st_ino):
                self.close()
                self._recorded = Recorded(self._setup, open_run(self.path, self._tell, thorough=False))
                self._file = (found.st_dev, found.st_ino)
            yield self._recorded

    def tasks(self) -> TaskSet | str:
        """The tasks of the run, or why they cannot be built again. It may take long, and holds up nobody else."""
        with self.open() as recorded:
            promised = recorded.promised_tasks
        return promised.result()

    def close(self) -> None:
        with self._lock:
            if self._recorded is not None:
                self._recorded.store.close()
            self._recorded = None
            self._kept.clear()
            self.notices.clear()

    def kept(self, key: Hashable, make: Callable[[Store], T]) -> T:
        """What was made of the ledger before, unless it has changed since."""
        with self.open() as recorded:
            changes = recorded.store.changes
            found = self._kept.pop(key, None)
            if found is None or not found.is_fresh(changes):
                started = time.monotonic()
                made = make(recorded.store)
                now = time.monotonic()
                found = Kept(made, changes, now, now - started)
            self._kept[key] = found
            while len(self._kept) > MOST_KEPT:
                del self._kept[next(iter(self._kept))]
            value: T = found.value
            return value

    @property
    def changes(self) -> int:
        with self.open() as recorded:
            return recorded.store.changes

    @property
    def is_live(self) -> bool:
        """Whether a process writes to it right now."""
        return is_being_written(self.path)

    @property
    def blobs(self) -> BlobFolder:
        """Pictures, trees and logs; they may be read by several threads at once."""
        with self.open() as recorded:
            return recorded.store.blobs

    def live(self) -> LiveView:
        """What is being played in it, and what was played last."""
        with self.open() as recorded:
            store = recorded.store
            latest = []
            for one in store.latest_attempts(LATEST):
                verdict = store.verdict(one.trajectory_id, RULES)
                latest.append((one, "not graded" if verdict is None else verdict.status))
            planned = store.count_units()
            return LiveView(
                self.name, self.is_live, planned, planned - store.count_unfinished(), tuple(live_notes(self.path)),
                tuple(latest), stop_is_wanted(self.path),
            )  # fmt: skip

    def ask_to_stop(self) -> None:
        ask_to_stop(self.path)

    def blocks(self, rater: Rater) -> list[Block]:
        return self.kept(
            ("blocks", rater.label),
            lambda store: list(blocks_of_results(store.rows(rater.name, raters=rater.counting))),
        )

    def rows(self, rater: Rater) -> list[ResultRow]:
        return self.kept(("rows", rater.label), lambda _: list(rows_in(self.blocks(rater))))

    def agents(self, rater: Rater) -> frozenset[str]:
        return self.kept(
            ("agents", rater.label),
            lambda _: frozenset(agent for block in self.blocks(rater) for agent in block["agent"]),
        )

    def overview(self, rater: Rater) -> RunOverview:
        """The report's success, counts and costs, at a tenth of its price."""

        def make(store: Store) -> RunOverview:
            sums, words = store.overview(rater.name, rater.counting)
            told = words.values()
            return overview(sums, {one.agent: one.baseline for one in told}, {one.agent: one.model for one in told})

        return self.kept(("overview", rater.label), make)

    def report(self, rater: Rater) -> Report:
        """This run alone."""

        def make(store: Store) -> Report:
            names = Graders([store]).names
            return report_of(gather(self.blocks(rater)), title=self.name, grader=rater.label, names=names)

        return self.kept(("report", rater.label), make)


class Shelf:
    def __init__(self, setup: Setup, runs: Paths) -> None:
        self.setup = setup
        places = paths(runs)
        for place in places:
            if not is_run(place):
                raise InputError(
                    f"{place} is not a run directory.", hint="`webassay run` and `webassay import` make one."
                )
        self.runs: Mapping[str, ShelvedRun] = {
            name: ShelvedRun(setup, name, path) for name, path in named(places).items()
        }
        self._lock = threading.Lock()
        self._kept: dict[Hashable, Kept] = {}

    def close(self) -> None:
        for run in self.runs.values():
            run.close()

    def kept(self, key: Hashable, make: Callable[[], T]) -> T:
        """What was made of all runs together before, unless one of them has changed since."""
        changes = tuple(run.changes for run in self.runs.values())
        with self._lock:
            found = self._kept.pop(key, None)
            if found is not None and found.is_fresh(changes):
                self._kept[key] = found
        if found is None or not found.is_fresh(changes):
            started = time.monotonic()
            made = make()
            now = time.monotonic()
            found = Kept(made, changes, now, now - started)
            with self._lock:
                self._kept[key] = found
                while len(self._kept) > MOST_KEPT:
                    del self._kept[next(iter(self._kept))]
        value: T = found.value
        return value

    def run(self, name: str) -> ShelvedRun:
        if name not in self.runs:
            raise nearest("run", name, self.runs, hint="")
        return self.runs[name]

    @contextmanager
    def _graders(self, runs: Sequence[str]) -> Iterator[Graders]:
        with ExitStack() as stack:
            # Always in this order: two threads that wait for each other's locks would wait for ever.
            own = [run for name, run in self.runs.items() if name in runs]
            yield Graders([stack.enter_context(run.open()).store for run in own])

    def graders(self, runs: Sequence[str] = ()) -> tuple[Rater, ...]:
        """Everybody who gave a verdict in these runs; none: in all of them."""
        with self._graders(runs or tuple(self.runs)) as found:
            return found.all

    def rater(self, grader: str = "", runs: Sequence[str] = ()) -> Rater:
        """Whose verdicts count: a named grader's, or the default's."""
        with self._graders(runs or tuple(self.runs)) as found:
            (rater,) = found.chosen([grader] if grader else [])
            return rater

    def entries(self, rater: Rater, runs: Sequence[str] = ()) -> list[ShelvedUnit]:
        """Every planned unit of these runs; none: of all."""
        chosen = tuple(runs) or tuple(self.runs)
        rows = {name: self.run(name).rows(rater) for name in chosen}
        shared = self.shared_agents(rater, chosen)
        return [
            ShelvedUnit(name, f"{row.agent} ({name})" if row.agent in shared else row.agent, row)
            for name, own in rows.items()
            for row in own
        ]

    def shared_agents(self, rater: Rater, runs: Sequence[str]) -> frozenset[str]:
        """Agents that several of these runs have."""
        if len(runs) < 2:
            return frozenset()
        seen: set[str] = set()
        shared: set[str] = set()
        for name in runs:
            own = self.run(name).agents(rater)
            shared |= seen & own
            seen |= own
        return frozenset(shared)

    def report_on(self, entries: Sequence[ShelvedUnit], *, anchor: str | None = None) -> Report:
        """Success with intervals and paired differences, of these units alone."""
        rows = [
            one.row if one.agent == one.row.agent else msgspec.structs.replace(one.row, agent=one.agent)
            for one in entries
        ]
        with self._graders(tuple(self.runs)) as found:
            names = found.names
        return summarize(rows, anchor=anchor, names=names)
