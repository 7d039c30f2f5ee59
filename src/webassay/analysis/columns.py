"""Rows, taken in one at a time and kept as columns of numbers.

A report looks at every row some forty times, grouped in different ways. As objects, a million rows would need
gigabytes; as columns they need some sixty bytes each, and grouping them is arithmetic. Whatever only has to be counted
is counted as the rows come in.

The numbers are those of the plain formulas, to the last digit: sums of whole numbers are exact anyway, all others go
through `math.fsum`.
"""

import gc
import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from webassay.analysis.rows import Row
from webassay.core.report import Counts, Dimension

H = TypeVar("H", bound=Hashable)
Ints = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
Cluster = tuple[str, str]
"""Benchmark and template."""
Task = tuple[str, str]
"""Benchmark and task id."""

MEASURES = ("steps", "seconds", "input_tokens", "output_tokens", "cost_usd")
STATUSES = ("pass", "fail", "abstain", "fault", "missing")
PASS, FAIL, ABSTAIN, FAULT, MISSING = range(5)
_NUMBER = {status: number for number, status in enumerate(STATUSES)}
_UNKNOWN = math.nan
_UNEXPLAINED = (("unexplained", ""),)

SEVERAL_SITES = "several sites"
DIAGNOSIS = "diagnosis"
"""The check under which judges report errors of a taxonomy."""


def site_of(row: Row) -> str:
    return row.sites[0] if len(row.sites) == 1 else SEVERAL_SITES if row.sites else ""


class Numbered(dict[H, int]):
    """Values and their numbers, in order of first appearance: looking up a new value gives it the next number."""

    def __missing__(self, value: H) -> int:
        number = self[value] = len(self)
        return number


DIMENSIONS: tuple[Dimension, ...] = ("benchmark", "site", "kind", "chore", "difficulty", "modality", "claimed")
"""What rows can be grouped by; a profile has a name, or none, for each."""
Profile = tuple[str, str, str, str, str, str, str]


class Attempted(NamedTuple):
    """A scored run on an unachievable task."""

    task_id: str
    site: str
    steps: int
    passed: bool
    evidence: bool = False
    """It had seen what shows that the task cannot be done."""


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


class Shared:
    """What the columns of all agents refer to by number."""

    def __init__(self) -> None:
        self.units = Units()
        self.profiles: Numbered[Profile] = Numbered()
        self.graders: Numbered[str] = Numbered()
        self.keys: Numbered[str] = Numbered()
        self.effort: dict[str, array[int]] = defaultdict(lambda: array("I"))
        """Site to the steps of successful runs of feasible tasks, of all agents."""


class Tallied:
    """What only has to be counted: how an agent's episodes went, whether or not they succeeded."""

    def __init__(self) -> None:
        self.actions: Counter[str] = Counter()
        self.action_episodes: Counter[str] = Counter()
        self.tools: Counter[str] = Counter()
        self.tool_episodes: Counter[str] = Counter()
        self.endings: Counter[str] = Counter()
        self.errors = self.episodes_with_errors = self.retries = self.retries_that_worked = 0
        self.stumbled = self.recovered = 0
        """Scored episodes with a failed action, and those of them that passed."""
        self.failures: Counter[tuple[str, str]] = Counter()
        self.failure_episodes: Counter[tuple[str, str]] = Counter()
        self.diagnosed = self.diagnosed_with_errors = 0
        self.errors_found: Counter[str] = Counter()
        self.error_episodes: Counter[str] = Counter()
        """Code, as the judge wrote it, to how often; and to how many episodes. Categories are `taxonomy:number`."""
        self.first_error_steps = array("d")
        self.answers = self.unreadable_before = self.unreadable_after = 0
        self.priced_successes = 0
        self.attempted: list[Attempted] = []

    def add(self, row: Row, site: str) -> None:
        """An episode that was played."""
        status, passed = row.status, row.status == "pass"
        _count(row.actions, self.actions, self.action_episodes)
        if row.tools:
            _count(row.tools, self.tools, self.tool_episodes)
        if row.ending:
            self.endings[row.ending] += 1
        if row.errors:
            self.errors += row.errors
            self.episodes_with_errors += 1
            self.retries += row.retries
            self.retries_that_worked += row.retries_that_worked
        if row.diagnosed:
            self._add_diagnosis(row)
        if status == "fail" or status == "fault":
            found = row.findings or _UNEXPLAINED
            if row.diagnosed:
                found = tuple(mode for mode in found if mode[0] != DIAGNOSIS)
            for mode in found:
                self.failures[mode] += 1
            for mode in found if len(found) == 1 else set(found):
                self.failure_episodes[mode] += 1
        if passed or status == "fail":
            self._add_scored(row, site, passed)

    def _add_diagnosis(self, row: Row) -> None:
        codes = [code for check, code in row.findings if check == DIAGNOSIS]
        named = [*codes, *map(category_of, codes)]
        self.diagnosed += 1
        self.diagnosed_with_errors += bool(codes)
        self.errors_found.update(named)
        self.error_episodes.update(set(named))
        if row.first_error_step is not None:
            self.first_error_steps.append(row.first_error_step)

    def _add_scored(self, row: Row, site: str, passed: bool) -> None:
        if row.errors:
            self.stumbled += 1
            self.recovered += passed
        if row.answered:
            self.answers += 1
            if row.unreadable or row.recovered:
                self.unreadable_before += 1
                self.unreadable_after += row.unreadable
        if passed and row.cost_usd is not None:
            self.priced_successes += 1
        if row.kind == "unachievable" and row.traced:
            self.attempted.append(Attempted(row.task_id, site, row.steps, passed, row.evidence is True))


def category_of(code: str) -> str:
    """`paper:2.1:output_contradiction` belongs to `paper:2`."""
    taxonomy, _, rest = code.partition(":")
    return f"{taxonomy}:{rest.partition(':')[0].partition('.')[0]}"


def _count(found: Mapping[str, int], counts: Counter[str], episodes: Counter[str]) -> None:
    for name, count in found.items():
        counts[name] += count
        if count:
            episodes[name] += 1


class AgentColumns:
    """The rows of one agent. Every column has a value for every row."""

    def __init__(self, name: str, shared: Shared) -> None:
        self.name = name
        self.shared = shared
        self.model = ""
        self.baseline = False
        self.tallied = Tallied()
        self._numbers = array("I")
        """Unit, profile, grader and key of every row."""
        self._status = array("B")
        self._reach, self._process = array("d"), array("d")
        self._measures = array("d")
        """MEASURES of every row."""

    def add(self, row: Row) -> None:
        shared, site, reach, status = self.shared, site_of(row), row.checkpoint_reach, row.status
        profile = (row.benchmark, site, row.kind, row.chore, row.difficulty, row.modality, row.claimed)
        process = row.process_score
        self._numbers.extend(
            (
                shared.units[row.benchmark, row.template, row.task_id],
                shared.profiles[profile],
                shared.graders[row.fingerprint],
                shared.keys[row.key_hash],
            )
        )
        self._status.append(_NUMBER[status])
        self._reach.append(_UNKNOWN if reach is None else reach)
        self._process.append(_UNKNOWN if process is None else process)
        self.baseline = self.baseline or row.baseline
        if status == "missing":
            return
        read, written, cost, traced = row.input_tokens, row.output_tokens, row.cost_usd, row.traced
        self._measures.extend(
            (
                row.steps if traced else _UNKNOWN,
                row.seconds if traced else _UNKNOWN,
                _UNKNOWN if read is None else read,
                _UNKNOWN if written is None else written,
                _UNKNOWN if cost is None else cost,
            )
        )
        self.tallied.add(row, site)
        self.model = self.model or row.model
        if status == "pass" and row.kind != "unachievable" and traced:
            shared.effort[site].append(row.steps)

    def whole(self) -> "Part":
        """All rows. The columns are looked at, not copied, so nothing may be added while this is alive."""
        numbers = np.frombuffer(self._numbers, dtype=np.uint32).reshape(-1, 4)
        return Part(
            self.shared,
            unit=numbers[:, 0],
            profile=numbers[:, 1],
            grader=numbers[:, 2],
            key=numbers[:, 3],
            status=np.frombuffer(self._status, dtype=np.uint8),
            reach=np.frombuffer(self._reach, dtype=np.float64),
            process=np.frombuffer(self._process, dtype=np.float64),
        )

    def measure(self, name: str) -> Floats:
        """Of the episodes that were played and for which it is known, in ascending order."""
        values = np.frombuffer(self._measures, dtype=np.float64).reshape(-1, len(MEASURES))[:, MEASURES.index(name)]
        return np.sort(values[~np.isnan(values)])


@dataclass(frozen=True, slots=True)
class Part:
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

    def where(self, chosen: NDArray[np.bool_]) -> "Part":
        return Part(
            self.shared,
            unit=self.unit[chosen],
            profile=self.profile[chosen],
            grader=self.grader[chosen],
            key=self.key[chosen],
            status=self.status[chosen],
            reach=self.reach[chosen],
            process=self.process[chosen],
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
        """Of every scored unit: its cluster, how often it was tried, how often it passed."""
        tried = np.bincount(self.unit[self.scored], minlength=len(self.shared.units))
        passed = np.bincount(self.unit[self.status == PASS], minlength=len(self.shared.units))
        units = np.flatnonzero(tried)
        return np.asarray(self.shared.units.cluster_of)[units], tried[units], passed[units]

    def keyed_tasks(self) -> Ints:
        """Tasks with the keys they were graded with, each pair once, as task times the number of keys plus key."""
        without = self.shared.keys.get("", -1)
        known = self.key != without
        return np.unique(self.task[known].astype(np.int64) * len(self.shared.keys) + self.key[known])

    def grouped(self, dimension: Dimension) -> dict[str, "Part"]:
        """Rows that have no name in this dimension belong to no group."""
        place = DIMENSIONS.index(dimension)
        names: Numbered[str] = Numbered()
        group_of = np.asarray([names[profile[place]] for profile in self.shared.profiles], dtype=np.int64)
        groups = group_of[self.profile]
        sizes = np.bincount(groups, minlength=len(names)).tolist()
        return {name: self.where(groups == number) for name, number in names.items() if name and sizes[number]}

    def grader_counts(self) -> dict[str, int]:
        """Fingerprint to rows, by name; a row that nobody graded has none."""
        counts = np.bincount(self.grader, minlength=len(self.shared.graders)).tolist()
        named = zip(self.shared.graders, counts, strict=True)
        return dict(sorted((name, count) for name, count in named if name and count))


def grouped_means(keys: Ints, values: Floats) -> tuple[Ints, Floats]:
    """The mean of each group, rounded once, in order of first appearance."""
    if np.bincount(keys).max(initial=0) <= 1:
        return keys, values
    order = np.argsort(keys, kind="stable")
    ordered, sorted_values = keys[order], values[order]
    starts = np.append(0, np.flatnonzero(ordered[1:] != ordered[:-1]) + 1)
    sizes = np.append(starts[1:], len(keys)) - starts
    first = np.argsort(order[starts])
    if np.array_equal(values, np.trunc(values)):
        means = np.add.reduceat(sorted_values, starts) / sizes
    else:
        plain, ends = sorted_values.tolist(), (starts + sizes).tolist()
        sums = [math.fsum(plain[start:end]) for start, end in zip(starts.tolist(), ends, strict=True)]
        means = np.asarray(sums, dtype=np.float64) / sizes
    return ordered[starts][first], np.asarray(means, dtype=np.float64)[first]


@dataclass(slots=True)
class Gathered:
    shared: Shared
    agents: dict[str, AgentColumns]
    benchmarks: list[str]

    def counts(self) -> Counts:
        own = [agent.whole().counts() for agent in self.agents.values()]
        return Counts(**{name: sum(getattr(one, name) for one in own) for name in Counts.model_fields})


def gather(rows: Iterable[Row]) -> Gathered:
    """Takes rows from anywhere, also from an iterator over a ledger, and keeps none of them."""
    shared, agents = Shared(), dict[str, AgentColumns]()
    benchmarks: dict[str, None] = {}
    with _no_search_for_cycles():
        for row in rows:
            own = agents.get(row.agent)
            if own is None:
                own = agents[row.agent] = AgentColumns(row.agent, shared)
            own.add(row)
            if row.benchmark:
                benchmarks[row.benchmark] = None
    return Gathered(shared, agents, list(benchmarks))


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
