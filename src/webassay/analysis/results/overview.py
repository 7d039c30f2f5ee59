"""A run at first sight: the success of each agent with its interval, and what it took. The numbers are a report's."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from webassay.analysis.numbers import stats
from webassay.analysis.numbers.intervals import interval
from webassay.analysis.numbers.rows import BUILT_IN_BASELINES
from webassay.core.report import Counts, Interval


class Sums(Protocol):
    """One agent on one template, as `store.overview` adds them up."""

    @property
    def agent(self) -> str: ...
    @property
    def benchmark(self) -> str: ...
    @property
    def template(self) -> str: ...
    @property
    def tasks(self) -> int: ...
    @property
    def rates(self) -> float: ...
    @property
    def scored_tasks(self) -> int: ...
    @property
    def passed(self) -> int: ...
    @property
    def failed(self) -> int: ...
    @property
    def abstained(self) -> int: ...
    @property
    def faulted(self) -> int: ...
    @property
    def missing(self) -> int: ...
    @property
    def steps(self) -> int: ...
    @property
    def seconds(self) -> float: ...
    @property
    def traced(self) -> int: ...
    @property
    def cost(self) -> float | None: ...


@dataclass(frozen=True)
class AgentOverview:
    name: str
    success: Interval
    counts: Counts
    steps: float | None
    """The mean, as are the seconds; None: nobody knows."""
    seconds: float | None
    cost: float | None
    """All episodes together, as far as it is known."""
    baseline: bool = False
    model: str = ""


@dataclass(frozen=True)
class RunOverview:
    benchmarks: tuple[str, ...]
    templates: int
    tasks: int
    """The most that one agent has: agents of a run are given the same ones."""
    counts: Counts
    agents: tuple[AgentOverview, ...]


def overview(sums: Iterable[Sums], baselines: Mapping[str, bool | None], models: Mapping[str, str]) -> RunOverview:
    own: dict[str, list[Sums]] = {}
    for one in sums:
        own.setdefault(one.agent, []).append(one)
    agents = [_agent(name, parts, baselines.get(name), models.get(name, "")) for name, parts in own.items()]
    # As in a report: best first, those without a score last; of equals, those that try first.
    agents.sort(key=lambda one: (one.success.value is None, -(one.success.value or 0.0), one.baseline, one.name))
    every = [one for parts in own.values() for one in parts]
    return RunOverview(
        benchmarks=tuple(dict.fromkeys(one.benchmark for one in every if one.benchmark)),
        templates=len({(one.benchmark, one.template) for one in every}),
        tasks=max((sum(one.tasks for one in parts) for parts in own.values()), default=0),
        counts=_counts(every),
        agents=tuple(agents),
    )


def _agent(name: str, parts: list[Sums], baseline: bool | None, model: str) -> AgentOverview:
    rates = [one.rates / one.scored_tasks for one in parts if one.scored_tasks]
    traced, costs = sum(one.traced for one in parts), [one.cost for one in parts if one.cost is not None]
    return AgentOverview(
        name=name,
        success=interval(stats.mean_share(rates, sum(one.scored_tasks for one in parts))),
        counts=_counts(parts),
        steps=sum(one.steps for one in parts) / traced if traced else None,
        seconds=sum(one.seconds for one in parts) / traced if traced else None,
        cost=sum(costs) if costs else None,
        baseline=name in BUILT_IN_BASELINES if baseline is None else baseline,
        model=model,
    )


def _counts(parts: Iterable[Sums]) -> Counts:
    found = list(parts)
    sums = {
        "passed": sum(one.passed for one in found),
        "failed": sum(one.failed for one in found),
        "abstained": sum(one.abstained for one in found),
        "faulted": sum(one.faulted for one in found),
        "missing": sum(one.missing for one in found),
    }
    return Counts(planned=sum(sums.values()), **sums)
