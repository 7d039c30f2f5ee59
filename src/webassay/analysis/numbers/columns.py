"""Rows, taken in a block at a time and kept as columns of numbers.

A report looks at every row some forty times, grouped in different ways. As objects, a million rows would need
gigabytes; as columns they need some sixty bytes each, and grouping them is arithmetic. Whatever only has to be counted
is counted as the rows come in.

The numbers are those of the plain formulas, to the last digit: sums of whole numbers are exact anyway, all others go
through `math.fsum`.
"""

import gc
import math
from array import array
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from struct import pack
from typing import Any, NamedTuple, Self, TypeVar, cast

import numpy as np
from msgspec.json import Decoder, encode
from numpy.typing import NDArray

from webassay.analysis.numbers.rows import UNACHIEVABLE, Block, ResultRow, blocks_of_rows
from webassay.analysis.numbers.tallies import AgentTally, Tallies
from webassay.core.groupings import GROUPINGS, ordered
from webassay.core.report import Counts

H = TypeVar("H", bound=Hashable)
Ints = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
Chosen = NDArray[np.bool_]
Numbers = NDArray[Any]
Cluster = tuple[str, str]
"""Benchmark and template."""
Task = tuple[str, str]
"""Benchmark and task id."""

MEASURES = ("steps", "seconds", "input_tokens", "output_tokens", "cost_usd")
STATUSES = ("pass", "fail", "abstain", "fault", "missing")
PASS, FAIL, ABSTAIN, FAULT, MISSING = range(5)
_NUMBER = {status: number for number, status in enumerate(STATUSES)}
_UNKNOWN = math.nan


class Numbered(dict[H, int]):
    """Values and their numbers, in order of first appearance: looking up a new value gives it the next number."""

    def __missing__(self, value: H) -> int:
        number = self[value] = len(self)
        return number


class Units(Numbered[tuple[str, str, str]]):
    """Benchmark, template and task id: what trials are averaged within."""

    def __init__(self) -> None:
        self.clusters: Numbered[Cluster] = Numbered()
        self.tasks: Numbered[Task] = Numbered()
        self.cluster_of = array("I")
        """Unit to cluster, by number."""
        self.task_of = array("I")

    def __missing__(self, unit: tuple[str, str, str]) -> int:
        benchmark, template, task_id = unit
        self.cluster_of.append(self.clusters[benchmark, template or f"task {task_id}"])
        self.task_of.append(self.tasks[benchmark, task_id])
        return super().__missing__(unit)


Grouped = tuple[tuple[str, tuple[str, ...]], ...]
"""Groupings, each with the groups of one row; what it is in none of is left out."""


_read_groups = Decoder(dict[str, tuple[str, ...]]).decode


class RowCase(NamedTuple):
    """The unit of a row, and what it is grouped by. They are looked up together: that is one lookup."""

    benchmark: str
    template: str
    task_id: str
    sites: tuple[str, ...]
    kind: str
    modality: str
    claimed: str
    kept: str
    """The groups that the run keeps, as JSON: a text remembers its hash, and a row is looked up by this."""

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        return _read_groups(self.kept)

    def grouped(self) -> Grouped:
        """By what the run keeps and by what every row says."""
        own = {one.name: one.groups_of(self) for one in GROUPINGS}
        return tuple((name, groups) for name, groups in {**self.groups, **own}.items() if groups)


class Cases(Numbered[tuple[Any, ...]]):
    """`Case` by `Case`, as plain tuples."""

    def __init__(self) -> None:
        self.units = Units()
        self.profiles: Numbered[Grouped] = Numbered()
        self.unit_of = array("I")
        """Case to unit, by number."""
        self.profile_of = array("I")
        self._profile_by: dict[tuple[Any, ...], int] = {}
        """What groups depend on, to the profile: many tasks share it, and asking every grouping takes long."""

    def __missing__(self, case: tuple[Any, ...]) -> int:
        of = RowCase(*case)
        self.unit_of.append(self.units[of.benchmark, of.template, of.task_id])
        facts = (of.benchmark, *case[3:])
        profile = self._profile_by.get(facts)
        if profile is None:
            profile = self._profile_by[facts] = self.profiles[of.grouped()]
        self.profile_of.append(profile)
        return super().__missing__(case)


class Shared:
    """What the columns of all agents refer to by number."""

    def __init__(self) -> None:
        self.cases = Cases()
        self.units, self.profiles = self.cases.units, self.cases.profiles
        self.graders: Numbered[str] = Numbered()
        self.keys: Numbered[str] = Numbered()

    def groupings(self) -> list[str]:
        """Those that have a group, in the order of a report."""
        return ordered({name for profile in self.profiles for name, _ in profile})

    def groups_by_profile(self, grouping: str) -> dict[str, Chosen]:
        """Group to whether each profile is in it, in order of first appearance."""
        members: dict[str, Chosen] = {}
        for number, profile in enumerate(self.profiles):
            for name in dict(profile).get(grouping, ()):
                members.setdefault(name, np.zeros(len(self.profiles), dtype=np.bool_))[number] = True
        return members


_NUMBERS = {
    **dict.fromkeys(("agent", "case", "grader", "key"), "I"),
    **dict.fromkeys(("status", "answered", "unreadable", "recovered"), "B"),
    **dict.fromkeys(("reach", "process", *MEASURES, "errors", "retries", "retries_that_worked"), "d"),
}
"""Column to what its numbers are stored as."""


class Columns:
    """Every column has a value for every row; what is not known is `nan`."""

    def __init__(self) -> None:
        self.shared = Shared()
        self.agents: Numbered[str] = Numbered()
        self._arrays = {name: array(kind) for name, kind in _NUMBERS.items()}

    def extend(self, of: Block) -> None:
        shared = self.shared
        self._add("agent", map(self.agents.__getitem__, of["agent"]))
        kept, last, said = [], None, ""
        for groups in of["groups"]:
            if groups is not last:  # Every agent plays a task before the next one comes: one object, many times.
                last, said = groups, encode(groups).decode()
            kept.append(said)
        cases = zip(*(of[name] for name in RowCase._fields[:-1]), kept, strict=True)
        self._add("case", map(shared.cases.__getitem__, cases))
        self._add("grader", map(shared.graders.__getitem__, of["fingerprint"]))
        self._add("key", map(shared.keys.__getitem__, of["key_hash"]))
        self._add("status", map(_NUMBER.__getitem__, of["status"]))
        self._add("reach", _known(of["checkpoint_reach"]))
        self._add("process", _known(of["process_score"]))
        for name in ("input_tokens", "output_tokens", "cost_usd"):
            self._add(name, _known(of[name]))
        for name in ("steps", "seconds"):
            self._add(name, of[name] if all(of["traced"]) else _where(of["traced"], of[name]))
        for name in ("errors", "retries", "retries_that_worked", "answered", "unreadable", "recovered"):
            self._add(name, of[name])

    def _add(self, name: str, values: Iterable[float]) -> None:
        # Packed at once: `array.extend` asks for one number after the other, which takes five times as long.
        own = tuple(values)
        self._arrays[name].frombytes(pack(f"{len(own)}{_NUMBERS[name]}", *own))

    def append(self, later: "Columns") -> None:
        own, theirs = self._tables(), later._tables()
        for name, kind in _NUMBERS.items():
            values = later.column(name)
            if name in own:
                values = np.asarray([own[name][one] for one in theirs[name]], dtype=kind)[values]
            self._arrays[name].frombytes(values.tobytes())

    def _tables(self) -> dict[str, Numbered[Any]]:
        """Column to what its numbers stand for."""
        shared = self.shared
        return {"agent": self.agents, "case": shared.cases, "grader": shared.graders, "key": shared.keys}

    def column(self, name: str) -> Numbers:
        """Looked at, not copied, so nothing may be added while it is alive."""
        return np.frombuffer(self._arrays[name], dtype=_NUMBERS[name])

    def part(self, rows: Ints | None = None) -> "AgentRows":
        """All rows, or those with these numbers."""
        found = {name: self.column(name) for name in ("case", "grader", "key", "status", "reach", "process")}
        if rows is not None:
            found = {name: column[rows] for name, column in found.items()}
        case = found.pop("case")
        return AgentRows(
            self.shared,
            unit=np.asarray(self.shared.cases.unit_of)[case],
            profile=np.asarray(self.shared.cases.profile_of)[case],
            **found,
        )


class AgentColumns:
    """The rows of one agent, once all have come."""

    def __init__(self, name: str, columns: Columns, tallied: AgentTally) -> None:
        self.name = name
        self.shared = columns.shared
        self.tallied = tallied
        self._columns = columns
        self._rows = np.flatnonzero(columns.column("agent") == columns.agents[name])

    def column(self, name: str) -> Numbers:
        return self._columns.column(name)[self._rows]

    @property
    def scored(self) -> Chosen:
        return self.column("status") <= FAIL

    def efforts(self) -> dict[str, Numbers]:
        """Site to the steps of the runs that did what was asked; to say that it cannot be done is not among them."""
        part, steps = self.whole(), self.column("steps")
        successes = (part.status == PASS) & ~np.isnan(steps)
        unachievable = self.shared.groups_by_profile("kind").get(UNACHIEVABLE)
        if unachievable is not None:
            successes &= ~unachievable[part.profile]
        sites = self.shared.groups_by_profile("site")
        return {name: steps[successes & members[part.profile]] for name, members in sites.items()}

    def whole(self) -> "AgentRows":
        return self._columns.part(self._rows)

    def measure(self, name: str) -> Floats:
        """The values of all episodes that were played and for which it is known, in ascending order."""
        values = self.column(name)
        return np.sort(values[~np.isnan(values) & (self.column("status") != MISSING)])


def _where(chosen: Sequence[bool], values: Sequence[float]) -> Sequence[float]:
    return [value if known else _UNKNOWN for value, known in zip(values, chosen, strict=True)]


def _known(values: Sequence[float | None]) -> Sequence[float]:
    if None not in values:
        return cast(Sequence[float], values)
    return [_UNKNOWN if value is None else value for value in values]


@dataclass(frozen=True, slots=True)
class AgentRows:
    """Some rows of one agent, as columns."""

    shared: Shared
    unit: Ints
    profile: Ints
    grader: Ints
    key: Ints
    status: NDArray[np.uint8]
    reach: Floats
    process: Floats
    """Judges' process scores."""

    def where(self, chosen: Chosen) -> "AgentRows":
        rows = np.flatnonzero(chosen)  # once, and not in each of the columns
        return AgentRows(
            self.shared,
            unit=self.unit.take(rows),
            profile=self.profile.take(rows),
            grader=self.grader.take(rows),
            key=self.key.take(rows),
            status=self.status.take(rows),
            reach=self.reach.take(rows),
            process=self.process.take(rows),
        )

    @property
    def task(self) -> Ints:
        return np.asarray(self.shared.units.task_of)[self.unit]

    @property
    def scored(self) -> NDArray[np.bool_]:
        return self.status <= FAIL

    def counts(self) -> Counts:
        seen = np.bincount(self.status, minlength=len(STATUSES)).tolist()
        return Counts(
            planned=sum(seen),
            passed=seen[PASS],
            failed=seen[FAIL],
            abstained=seen[ABSTAIN],
            faulted=seen[FAULT],
            missing=seen[MISSING],
        )

    def rates(self, *, unscored_fail: bool = False) -> dict[int, float]:
        """Cluster to success rate, in order of first appearance; units without a score are left out or fail."""
        chosen = np.ones(len(self.status), dtype=np.bool_) if unscored_fail else self.scored
        return self._by_cluster(self.unit[chosen], (self.status[chosen] == PASS).astype(np.float64))

    def reaches(self) -> dict[int, float]:
        known = ~np.isnan(self.reach)
        return self._by_cluster(self.unit[known], self.reach[known])

    def processes(self) -> tuple[dict[int, float], Floats]:
        """Cluster to mean process score, and the scores themselves; of scored units alone."""
        known = self.scored & ~np.isnan(self.process)
        return self._by_cluster(self.unit[known], self.process[known]), self.process[known]

    def _by_cluster(self, unit: Ints, values: Floats) -> dict[int, float]:
        """Trials are averaged in their task and tasks in their template, as in `stats.template_rates`."""
        units, means = grouped_means(unit, values)
        clusters, rates = grouped_means(np.asarray(self.shared.units.cluster_of)[units], means)
        return dict(zip(clusters.tolist(), rates.tolist(), strict=True))

    def trials(self) -> tuple[Ints, Ints, Ints]:
        """For every scored unit: its cluster, how often it was tried, how often it passed."""
        tried = np.bincount(self.unit[self.scored], minlength=len(self.shared.units))
        passed = np.bincount(self.unit[self.status == PASS], minlength=len(self.shared.units))
        units = np.flatnonzero(tried)
        return np.asarray(self.shared.units.cluster_of)[units], tried[units], passed[units]

    def keyed_tasks(self) -> Ints:
        """Tasks with the keys they were graded with, each pair once, as task times the number of keys plus key."""
        without = self.shared.keys.get("", -1)
        known = self.key != without
        return distinct(self.task[known].astype(np.int64) * len(self.shared.keys) + self.key[known])

    def grouped(self, grouping: str) -> dict[str, "AgentRows"]:
        """Rows that are in no group of it are in none of these."""
        members = self.shared.groups_by_profile(grouping)
        parts = {name: self.where(own[self.profile]) for name, own in members.items()}
        return {name: part for name, part in parts.items() if len(part.profile)}

    def grader_counts(self) -> dict[str, int]:
        """Fingerprint to rows, by name; a row that nobody graded has none."""
        counts = np.bincount(self.grader, minlength=len(self.shared.graders)).tolist()
        named = zip(self.shared.graders, counts, strict=True)
        return dict(sorted((name, count) for name, count in named if name and count))


def part_of(rows: Iterable[ResultRow]) -> AgentRows:
    """Takes the rows of one agent."""
    columns = Columns()
    for block in blocks_of_rows(rows):
        columns.extend(block)
    return columns.part()


def distinct(numbers: Ints) -> Ints:
    """In ascending order. `np.unique` makes a hash table, which takes several times as long."""
    ordered = np.sort(numbers)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def grouped_means(keys: Ints, values: Floats) -> tuple[Ints, Floats]:
    """The mean of each group, rounded once, in order of first appearance."""
    sizes = np.bincount(keys)
    if sizes.max(initial=0) <= 1:
        return keys, values
    if np.array_equal(values, np.trunc(values)):
        sums = np.bincount(keys, weights=values)  # of whole numbers: exact
    else:
        order = np.argsort(keys, kind="stable")
        plain, ends = values[order].tolist(), np.cumsum(sizes).tolist()
        sums = np.asarray([math.fsum(plain[start:end]) for start, end in pairwise([0, *ends])])
    first = np.empty(len(sizes), dtype=np.int64)
    first[keys[::-1]] = np.arange(len(keys))[::-1]  # of several that are written to one place, the last one stays
    groups = np.flatnonzero(sizes)
    groups = groups[np.argsort(first[groups])]
    return groups, sums[groups] / sizes[groups]


@dataclass(slots=True)
class ReportData:
    shared: Shared
    agents: dict[str, AgentColumns]
    benchmarks: list[str]

    def counts(self) -> Counts:
        own = [agent.whole().counts() for agent in self.agents.values()]
        return Counts(**{name: sum(getattr(one, name) for one in own) for name in Counts.model_fields})


class ReportDataBuilder:
    """Rows taken in so far, from anywhere, also from an iterator over a ledger; none of them is kept."""

    def __init__(self) -> None:
        self._columns, self._tallies = Columns(), Tallies()
        self._benchmarks: dict[str, None] = {}

    def take(self, blocks: Iterable[Block]) -> Self:
        with _no_search_for_cycles():
            for block in blocks:
                self._columns.extend(block)
                self._tallies.extend(block)
                self._benchmarks |= dict.fromkeys(filter(None, block["benchmark"]))
        return self

    def append(self, later: "ReportDataBuilder") -> Self:
        """What was taken in elsewhere, as if it had come after everything here."""
        self._columns.append(later._columns)
        self._tallies.append(later._tallies)
        self._benchmarks |= later._benchmarks
        return self

    def finish(self) -> ReportData:
        self._tallies.finish()
        agents = {name: AgentColumns(name, self._columns, self._tallies[name]) for name in self._columns.agents}
        return ReportData(self._columns.shared, agents, list(self._benchmarks))


def gather(blocks: Iterable[Block]) -> ReportData:
    return ReportDataBuilder().take(blocks).finish()


@contextmanager
def _no_search_for_cycles() -> Iterator[None]:
    """Rows hold no cycles; looking for some among a hundred thousand of them takes a fifth of a report's time."""
    searching = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searching:
            gc.enable()
