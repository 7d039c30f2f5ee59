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
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from msgspec.structs import astuple
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


def site_of(sites: Sequence[str]) -> str:
    return sites[0] if len(sites) == 1 else SEVERAL_SITES if sites else ""


_CASE = ("benchmark", "template", "task_id", "sites", "kind", "chore", "difficulty", "modality", "obstacles", "claimed")
_FIELDS = Row.__struct_fields__
_items = dict.items
Turned = dict[str, tuple[Any, ...]]


def turned(rows: Sequence[Row]) -> Turned:
    """Field to the values of all rows. Turning a block of rows at once, and going over what comes out, are loops in C:
    three times as fast as taking each row apart."""
    if not rows:
        return dict.fromkeys(_FIELDS, ())
    return dict(zip(_FIELDS, zip(*map(astuple, rows), strict=True), strict=True))


class Numbered(dict[H, int]):
    """Values and their numbers, in order of first appearance: looking up a new value gives it the next number."""

    def __missing__(self, value: H) -> int:
        number = self[value] = len(self)
        return number


DIMENSIONS: tuple[Dimension, ...] = (
    "benchmark", "site", "kind", "chore", "difficulty", "modality", "obstacles", "claimed"
)  # fmt: skip
"""What rows can be grouped by; a profile has a name, or none, for each."""
Profile = tuple[str, tuple[str, ...], str, str, str, str, str, str]
"""The sites are still all there."""


class Attempted(NamedTuple):
    """A scored run on an unachievable task."""

    site: str
    steps: int
    passed: bool
    evidence: bool = False
    """It had seen what shows that the task cannot be done."""


LISTED_ATTEMPTS = 200
"""Attempts that an agent is shown with, one by one; all others are only counted."""


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


Case = tuple[str, str, str, tuple[str, ...], str, str, str, str, str, str]
"""The unit of a row and its profile, in the order of `_CASE`. They are looked up together: that is one lookup."""


class Cases(Numbered[Case]):
    def __init__(self) -> None:
        self.units = Units()
        self.profiles: Numbered[Profile] = Numbered()
        self.unit_of = array("I")
        """Case to unit, by number."""
        self.profile_of = array("I")

    def __missing__(self, case: Case) -> int:
        benchmark, template, task_id, *profile = case
        self.unit_of.append(self.units[benchmark, template, task_id])
        self.profile_of.append(self.profiles[benchmark, *profile])  # type: ignore[index]
        return super().__missing__(case)


class Shared:
    """What the columns of all agents refer to by number."""

    def __init__(self) -> None:
        self.cases = Cases()
        self.units, self.profiles = self.cases.units, self.cases.profiles
        self.graders: Numbered[str] = Numbered()
        self.keys: Numbered[str] = Numbered()
        self.effort: dict[str, array[int]] = defaultdict(lambda: array("I"))
        """Site to the steps of successful runs of feasible tasks, of all agents."""


class Tallied:
    """What only has to be counted: how an agent's episodes went, whether or not they succeeded."""

    def __init__(self) -> None:
        self.actions: Counter[tuple[str, int]] = Counter()
        """Action and how often an episode has it, to how many episodes have it so often."""
        self.tools: Counter[tuple[str, int]] = Counter()
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
        self.attempted: Counter[Attempted] = Counter()
        self.first_attempts: list[tuple[str, Attempted]] = []
        """With the task's id."""

    def extend(self, rows: Sequence[Row], of: Turned) -> None:
        """Episodes that were played."""
        self.actions.update(chain.from_iterable(map(_items, of["actions"])))
        self.tools.update(chain.from_iterable(map(_items, filter(None, of["tools"]))))
        self.endings.update(filter(None, of["ending"]))
        for row in [row for row, errors in zip(rows, of["errors"], strict=True) if errors]:
            self.errors += row.errors
            self.episodes_with_errors += 1
            self.retries += row.retries
            self.retries_that_worked += row.retries_that_worked
        if any(of["diagnosed"]):
            for row in [row for row in rows if row.diagnosed]:
                self._add_diagnosis(row)
        modes = [_failure_modes(row) for row, status in zip(rows, of["status"], strict=True) if status in _FAILED]
        self.failures.update(chain.from_iterable(modes))
        self.failure_episodes.update(chain.from_iterable(map(set, modes)))
        scored, of = _only(rows, of, _SCORED)
        self._extend_scored(scored, of)

    def _add_diagnosis(self, row: Row) -> None:
        codes = [code for check, code in row.findings if check == DIAGNOSIS]
        named = [*codes, *map(category_of, codes)]
        self.diagnosed += 1
        self.diagnosed_with_errors += bool(codes)
        self.errors_found.update(named)
        self.error_episodes.update(set(named))
        if row.first_error_step is not None:
            self.first_error_steps.append(row.first_error_step)

    def _extend_scored(self, rows: Sequence[Row], of: Turned) -> None:
        stumbled = [status for status, errors in zip(of["status"], of["errors"], strict=True) if errors]
        self.stumbled += len(stumbled)
        self.recovered += stumbled.count("pass")
        self.answers += sum(of["answered"])
        if any(of["unreadable"]) or any(of["recovered"]):
            unreadable = [row.unreadable for row in rows if row.answered and (row.unreadable or row.recovered)]
            self.unreadable_before += len(unreadable)
            self.unreadable_after += sum(unreadable)
        priced = [cost for status, cost in zip(of["status"], of["cost_usd"], strict=True) if status == "pass"]
        self.priced_successes += len(priced) - priced.count(None)
        if "unachievable" in of["kind"]:
            self._add_attempts([row for row in rows if row.kind == "unachievable" and row.traced])

    def _add_attempts(self, rows: Sequence[Row]) -> None:
        tried = [
            (row.task_id, Attempted(site_of(row.sites), row.steps, row.status == "pass", row.evidence is True))
            for row in rows
        ]
        self.attempted.update([one for _, one in tried])
        self.first_attempts += tried[: LISTED_ATTEMPTS - len(self.first_attempts)]


_SCORED = frozenset(("pass", "fail"))
_FAILED = frozenset(("fail", "fault"))
_PLAYED = frozenset(STATUSES) - {"missing"}


def _only(rows: Sequence[Row], of: Turned, statuses: frozenset[str]) -> tuple[Sequence[Row], Turned]:
    """The rows with one of these statuses: mostly all of them."""
    if statuses.issuperset(of["status"]):
        return rows, of
    chosen = [row for row, status in zip(rows, of["status"], strict=True) if status in statuses]
    return chosen, turned(chosen)


def _failure_modes(row: Row) -> Sequence[tuple[str, str]]:
    """What a judge diagnosed is counted apart from these."""
    found = row.findings or _UNEXPLAINED
    return [mode for mode in found if mode[0] != DIAGNOSIS] if row.diagnosed else found


def category_of(code: str) -> str:
    """`paper:2.1:output_contradiction` belongs to `paper:2`."""
    taxonomy, _, rest = code.partition(":")
    return f"{taxonomy}:{rest.partition(':')[0].partition('.')[0]}"


class AgentColumns:
    """The rows of one agent. Every column has a value for every row."""

    def __init__(self, name: str, shared: Shared) -> None:
        self.name = name
        self.shared = shared
        self.model = ""
        self.baseline = False
        self.tallied = Tallied()
        self._case, self._grader, self._key = (array("I") for _ in range(3))
        self._status = array("B")
        self._reach, self._process = array("d"), array("d")
        self._measures = {name: array("d") for name in MEASURES}
        """Of the rows that were played."""

    def extend(self, rows: Sequence[Row]) -> None:
        shared, of = self.shared, turned(rows)
        self._case.extend(map(shared.cases.__getitem__, zip(*(of[name] for name in _CASE), strict=True)))
        self._grader.extend(map(shared.graders.__getitem__, of["fingerprint"]))
        self._key.extend(map(shared.keys.__getitem__, of["key_hash"]))
        self._status.extend(map(_NUMBER.__getitem__, of["status"]))
        self._reach.extend(_known(of["checkpoint_reach"]))
        self._process.extend(_known(of["process_score"]))
        self.baseline = self.baseline or any(of["baseline"])
        self._extend_played(*_only(rows, of, _PLAYED))

    def _extend_played(self, rows: Sequence[Row], of: Turned) -> None:
        for name in ("steps", "seconds"):
            values = zip(of[name], of["traced"], strict=True)
            self._measures[name].extend([value if traced else _UNKNOWN for value, traced in values])
        for name in ("input_tokens", "output_tokens", "cost_usd"):
            self._measures[name].extend(_known(of[name]))
        self.model = self.model or next(filter(None, of["model"]), "")
        self._add_effort(of)
        self.tallied.extend(rows, of)

    def _add_effort(self, of: Turned) -> None:
        effort = self.shared.effort
        for status, kind, traced, sites, steps in zip(
            of["status"], of["kind"], of["traced"], of["sites"], of["steps"], strict=True
        ):
            if status == "pass" and kind != "unachievable" and traced:
                effort[site_of(sites)].append(steps)

    def whole(self) -> "Part":
        """All rows. The columns are looked at, not copied, so nothing may be added while this is alive."""
        case, grader, key = (np.frombuffer(one, dtype=np.uint32) for one in (self._case, self._grader, self._key))
        return Part(
            self.shared,
            unit=np.asarray(self.shared.cases.unit_of)[case],
            profile=np.asarray(self.shared.cases.profile_of)[case],
            grader=grader,
            key=key,
            status=np.frombuffer(self._status, dtype=np.uint8),
            reach=np.frombuffer(self._reach, dtype=np.float64),
            process=np.frombuffer(self._process, dtype=np.float64),
        )

    def measure(self, name: str) -> Floats:
        """Of the episodes that were played and for which it is known, in ascending order."""
        values = np.frombuffer(self._measures[name], dtype=np.float64)
        return np.sort(values[~np.isnan(values)])


def _known(values: Sequence[float | None]) -> Sequence[float]:
    if None not in values:
        return cast(Sequence[float], values)
    return [_UNKNOWN if value is None else value for value in values]


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
        return distinct(self.task[known].astype(np.int64) * len(self.shared.keys) + self.key[known])

    def grouped(self, dimension: Dimension) -> dict[str, "Part"]:
        """Rows that have no name in this dimension belong to no group."""
        place = DIMENSIONS.index(dimension)
        names: Numbered[str] = Numbered()
        told = [profile[place] for profile in self.shared.profiles]
        group_of = np.asarray([names[one if isinstance(one, str) else site_of(one)] for one in told], dtype=np.int64)
        groups = group_of[self.profile]
        sizes = np.bincount(groups, minlength=len(names)).tolist()
        return {name: self.where(groups == number) for name, number in names.items() if name and sizes[number]}

    def grader_counts(self) -> dict[str, int]:
        """Fingerprint to rows, by name; a row that nobody graded has none."""
        counts = np.bincount(self.grader, minlength=len(self.shared.graders)).tolist()
        named = zip(self.shared.graders, counts, strict=True)
        return dict(sorted((name, count) for name, count in named if name and count))


def distinct(numbers: Ints) -> Ints:
    """In ascending order. `np.unique` makes a hash table, which takes several times as long."""
    ordered = np.sort(numbers)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


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


_BLOCK = 1000
"""Rows held at a time: more of them leave the processor's cache, fewer make the loops in C too short."""


def gather(rows: Iterable[Row]) -> Gathered:
    """Takes rows from anywhere, also from an iterator over a ledger, and keeps none of them."""
    shared, agents = Shared(), dict[str, AgentColumns]()
    benchmarks: dict[str, None] = {}
    coming = iter(rows)
    with _no_search_for_cycles():
        while block := list(islice(coming, _BLOCK)):
            by_agent: dict[str, list[Row]] = defaultdict(list)
            for row in block:
                by_agent[row.agent].append(row)
            for name, own in by_agent.items():
                if name not in agents:
                    agents[name] = AgentColumns(name, shared)
                agents[name].extend(own)
            benchmarks |= dict.fromkeys([row.benchmark for row in block if row.benchmark])
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
