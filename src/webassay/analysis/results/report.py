"""Rows in, a report out: success with intervals, breakdowns, comparisons, and the warnings that belong to them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import fsum

import numpy as np

from webassay.analysis.numbers import stats
from webassay.analysis.numbers.columns import (
    PASS,
    AgentColumns,
    AgentRows,
    Ints,
    ReportData,
    distinct,
    gather,
    grouped_means,
    part_of,
)
from webassay.analysis.numbers.intervals import interval
from webassay.analysis.numbers.rows import ResultRow, blocks_of_rows
from webassay.analysis.results import behavior
from webassay.core.errors import InputError
from webassay.core.groupings import GROUPINGS, SEVERAL_SITES, Grouping
from webassay.core.report import (
    AgentReport,
    Comparison,
    Contamination,
    Exploration,
    Frontier,
    Grading,
    Group,
    Interval,
    Report,
    ReportedGrouping,
    Success,
    Trials,
    is_reference,
)

POINTS_WORTH_SEEING = 0.03
MAXIMUM_K = 10
FEW_TEMPLATES = 5
"""Below this a report says so: the intervals are honest, and hardly exclude anything."""

_ASCENDING = ("easy", "medium", "hard", "extreme")
"""These are shown in this order, everything else by name."""


@dataclass(frozen=True)
class Names:
    """What ids are called; without a name, a report shows the id."""

    raters: Mapping[str, str] = field(default_factory=dict)
    """Id to label."""
    categories: Mapping[str, str] = field(default_factory=dict)
    """Error categories, such as `paper:2`."""
    groupings: Sequence[Grouping] = GROUPINGS


NO_NAMES = Names()


def summarize(
    rows: Iterable[ResultRow], *, anchor: str | None = None, title: str = "", grader: str = "", names: Names = NO_NAMES
) -> Report:
    """Agents in order of success, compared with the anchor: the best one unless another is named.

    Rows may come from an iterator over a ledger; none of them is kept.
    """
    return report_of(gather(blocks_of_rows(rows)), anchor=anchor, title=title, grader=grader, names=names)


def report_of(
    gathered: ReportData, *, anchor: str | None = None, title: str = "", grader: str = "", names: Names = NO_NAMES
) -> Report:
    columns = gathered.agents
    if anchor is not None and anchor not in columns:
        raise InputError(f"There is no agent {anchor!r} to compare with.", hint=f"Agents: {', '.join(columns)}.")
    parts = {name: own.whole() for name, own in columns.items()}
    explored = behavior.explorations(gathered)
    agents = [_agent(own, parts[name], explored.get(name), names) for name, own in columns.items()]
    agents.sort(key=_standing)
    contestants = [agent.name for agent in agents if not agent.baseline] or [agent.name for agent in agents]
    if anchor is None or not is_reference(anchor):  # Nobody asks whether an agent is worse than the key.
        contestants = [name for name in contestants if not is_reference(name)] or contestants
    reference = anchor or (contestants[0] if contestants else "")
    # Baselines are no contestants: testing against them would only weaken Holm's correction of the rest.
    others = [name for name in contestants if name != reference]
    return Report(
        title=title,
        benchmarks=tuple(gathered.benchmarks),
        counts=gathered.counts(),
        tasks=len(gathered.shared.units.tasks),
        templates=len(gathered.shared.units.clusters),
        agents=tuple(agents),
        groupings=_groupings(gathered, names),
        anchor=reference if others else "",
        comparisons=_comparisons(parts, reference, others),
        frontier=_frontier(agents),
        usual_effort=behavior.usual_effort(gathered) if explored else (),
        contamination=_contamination(agents, parts, gathered),
        gradings=_gradings(parts, names),
        grader=grader,
        warnings=(*_warnings(parts, gathered), *_evidence_by_texts(gathered)),
    )


def _groupings(gathered: ReportData, names: Names) -> tuple[ReportedGrouping, ...]:
    known = {grouping.name: grouping for grouping in names.groupings}
    found = [known.get(name) or Grouping(name, "") for name in gathered.shared.groupings()]
    return tuple(
        ReportedGrouping(name=one.name, title=one.title or one.name, shown_alone=one.shown_alone) for one in found
    )


def _standing(agent: AgentReport) -> tuple[bool, float, bool, str]:
    """Best first; agents without a score last; of equals, those that tried first."""
    value = agent.success.macro.value
    return (value is None, -(value or 0.0), agent.baseline, agent.name)


# --- success --------------------------------------------------------------------------------------------


def success_of(rows: Iterable[ResultRow]) -> Success:
    """Takes the rows of one agent."""
    return success_of_part(part_of(rows))


def success_of_part(part: AgentRows) -> Success:
    rates, counts = part.rates(), part.counts()
    macro = interval(stats.mean_share(rates.values(), _distinct(part.unit[part.scored])))
    complete = counts.scored == counts.planned
    return Success(
        counts=counts,
        templates=len(rates),
        macro=macro,
        worst=macro if complete else interval(_worst(part)),
        micro=interval(stats.wilson(counts.passed, counts.scored)),
    )


def _worst(part: AgentRows) -> stats.Estimate:
    return stats.mean_share(part.rates(unscored_fail=True).values(), _distinct(part.unit))


def _distinct(numbers: Ints) -> int:
    return int(np.count_nonzero(np.bincount(numbers)))


def _agent(columns: AgentColumns, part: AgentRows, explored: Exploration | None, names: Names) -> AgentReport:
    rates = part.rates()
    clusters = list(part.shared.units.clusters)
    named = {clusters[number]: rate for number, rate in rates.items()}
    site_rates = [
        (site, rate)
        for site, own in part.grouped("site").items()
        if site != SEVERAL_SITES
        for rate in own.rates().values()
    ]
    # Template names are shown bare unless two benchmarks could share one.
    several = len({benchmark for benchmark, _ in named}) > 1
    return AgentReport(
        name=columns.name,
        model=columns.tallied.model,
        success=success_of_part(part),
        bootstrap=interval(stats.bootstrap_mean(rates.values())),
        site_macro=interval(stats.site_macro(site_rates)),
        checkpoint_reach=_reach(part),
        templates={f"{benchmark}/{name}" if several else name: rate for (benchmark, name), rate in named.items()},
        groups=tuple(
            Group(dimension=grouping, name=name, success=success_of_part(own), checkpoint_reach=_reach(own))
            for grouping in part.shared.groupings()
            for name, own in sorted(part.grouped(grouping).items(), key=lambda group: group_order(group[0]))
        ),
        efficiency=behavior.efficiency(columns),
        behavior=behavior.actions_of(columns),
        failures=behavior.failure_modes(columns),
        parsing=behavior.parsing(columns),
        trials=_trials(part),
        exploration=explored,
        baseline=columns.tallied.baseline,
        process=behavior.process(part),
        diagnosis=behavior.diagnosis(columns, names.categories),
    )


def group_order(name: str) -> tuple[int, str]:
    return (_ASCENDING.index(name) if name in _ASCENDING else len(_ASCENDING), name)


def _reach(part: AgentRows) -> Interval | None:
    reached = part.reaches()
    if not reached:
        return None
    return interval(stats.mean_share(reached.values(), _distinct(part.unit[~np.isnan(part.reach)])))


def _trials(part: AgentRows) -> tuple[Trials, ...]:
    cluster, tried, passed = part.trials()
    most = min(int(tried.max(initial=0)), MAXIMUM_K)
    if most < 2:
        return ()
    at_k, hat_k = cache(stats.pass_at_k), cache(stats.pass_hat_k)
    result = []
    for k in range(1, most + 1):
        enough = tried >= k
        some, every = (
            [chance(n, successes, k) for n, successes in np.stack([tried[enough], passed[enough]], axis=1).tolist()]
            for chance in (at_k, hat_k)
        )
        result.append(
            Trials(
                k=k,
                tasks=int(enough.sum()),
                at_least_one=interval(stats.mean_share(_means(cluster[enough], some), len(some))),
                every=interval(stats.mean_share(_means(cluster[enough], every), len(every))),
            )
        )
    return tuple(result)


def _means(keys: Ints, values: Sequence[float]) -> list[float]:
    means: list[float] = grouped_means(keys, np.asarray(values, dtype=np.float64))[1].tolist()
    return means


# --- comparisons ----------------------------------------------------------------------------------------


def _comparisons(parts: Mapping[str, AgentRows], anchor: str, others: Sequence[str]) -> tuple[Comparison, ...]:
    made = [_compare(name, parts[name], anchor, parts[anchor]) for name in others]
    known = [(i, one.p_value) for i, one in enumerate(made) if one.p_value is not None]
    for (i, _), adjusted in zip(known, stats.holm([p for _, p in known]), strict=True):
        made[i] = made[i].model_copy(update={"p_adjusted": adjusted})
    return tuple(made)


def _compare(agent: str, test: AgentRows, anchor: str, reference: AgentRows) -> Comparison:
    """Over the tasks that both have a score for: a task that only one was scored on says nothing about the two."""
    tasks_test, tasks_reference = (distinct(part.task[part.scored]) for part in (test, reference))
    shared = np.intersect1d(tasks_test, tasks_reference, assume_unique=True)
    both = [part.where(np.isin(part.task, shared)) for part in (test, reference)]
    found = stats.paired_difference(both[0].rates(), both[1].rates(), len(shared))
    return Comparison(
        agent=agent,
        anchor=anchor,
        difference=interval(found.estimate),
        p_value=found.p_value,
        p_adjusted=None,
        tasks=len(shared),
        tasks_left_out=len(tasks_test) + len(tasks_reference) - 2 * len(shared),
        identical_tasks=len(tasks_test) == len(tasks_reference) == len(shared),
        identical_templates=test.rates().keys() == reference.rates().keys(),
        templates_to_see_3_points=stats.templates_needed(POINTS_WORTH_SEEING, found.deviation)
        if found.deviation
        else None,
        warnings=tuple(_mismatches(both[0], both[1], len(shared))),
    )


def _mismatches(test: AgentRows, reference: AgentRows, shared: int) -> Iterator[str]:
    """Both over the tasks they share."""
    graders = [list(part.grader_counts()) for part in (test, reference)]
    if graders[0] != graders[1]:
        yield "graded by different graders: " + " / ".join(", ".join(own) or "unknown" for own in graders)
    keyed = [part.keyed_tasks() for part in (test, reference)]
    if len(keyed[0]) and len(keyed[1]):
        only_one_has = np.setxor1d(keyed[0], keyed[1], assume_unique=True)
        changed = len(distinct(only_one_has // len(test.shared.keys)))
        if changed:
            yield f"{changed} of {shared} shared tasks were graded with different keys"


# --- around the numbers ---------------------------------------------------------------------------------


def _frontier(agents: Sequence[AgentReport]) -> Frontier | None:
    contestants = [agent for agent in agents if not agent.baseline and agent.success.macro.value is not None]
    contestants = [agent for agent in contestants if not is_reference(agent.name)] or contestants
    contestants = [
        agent for agent in contestants if agent.success.macro.value
    ] or contestants  # Failing fast is no merit.
    if not contestants or not all(agent.efficiency.steps.known for agent in contestants):
        return None
    priced = all(agent.efficiency.cost_usd.known == agent.efficiency.steps.known for agent in contestants)
    costs = {
        agent.name: (agent.efficiency.cost_usd if priced else agent.efficiency.steps).mean or 0.0
        for agent in contestants
    }
    best = stats.frontier([(costs[agent.name], agent.success.macro.value or 0.0) for agent in contestants])
    return Frontier(
        measure="cost_usd" if priced else "steps", costs=costs, agents=tuple(contestants[i].name for i in best)
    )


def _contamination(
    agents: Sequence[AgentReport], parts: Mapping[str, AgentRows], gathered: ReportData
) -> Contamination | None:
    members = [agent for agent in agents if agent.baseline]
    if not members:
        return None
    own = [parts[agent.name] for agent in members]
    tried = distinct(np.concatenate([part.task[part.scored] for part in own]))
    solved = distinct(np.concatenate([part.task[part.status == PASS] for part in own]))
    names = list(gathered.shared.units.tasks)
    macros = [agent.success.macro.value for agent in members if agent.success.macro.value is not None]
    return Contamination(
        members=tuple(agent.name for agent in members),
        mean=Interval(value=fsum(macros) / len(macros) if macros else None, units=len(macros), method="mean of agents"),
        union=interval(stats.wilson(len(solved), len(tried))),
        solved=tuple(sorted(names[number][1] for number in solved.tolist())),
    )


def _gradings(parts: Mapping[str, AgentRows], names: Names) -> tuple[Grading, ...]:
    return tuple(
        Grading(agent=agent, fingerprint=fingerprint, units=units, label=names.raters.get(fingerprint, ""))
        for agent, part in parts.items()
        for fingerprint, units in part.grader_counts().items()
    )


def _warnings(parts: Mapping[str, AgentRows], gathered: ReportData) -> Iterator[str]:
    unscored: dict[str, list[str]] = defaultdict(list)
    for agent, part in parts.items():
        counts = part.counts()
        left = {"missing": counts.missing, "faulted": counts.faulted, "abstained": counts.abstained}
        if any(left.values()):
            said = ", ".join(f"{count} {name}" for name, count in left.items() if count)
            unscored[f"{counts.scored} of {counts.planned} units have a verdict ({said})"].append(agent)
    for said, agents in unscored.items():
        yield f"{_named(agents)}: {said}."
    graders = {agent: frozenset(part.grader_counts()) for agent, part in parts.items()}
    mixed = [agent for agent, own in graders.items() if len(own) > 1]
    if mixed:
        yield f"{_named(mixed)}: verdicts come from several graders; grade again before quoting a number."
    templates = len(gathered.shared.units.clusters)
    if 0 < templates < FEW_TEMPLATES:
        if templates == 1:
            yield "Only one template: it says nothing about others, and micro's interval is about its own tasks."
        else:
            yield f"Only {templates} templates: too few to say much about others, and the intervals show it."
    if len({distinct(part.task).tobytes() for part in parts.values()}) > 1:
        yield "The agents were planned on different tasks; only the paired differences compare like with like."
    if len({own for own in graders.values() if own}) > 1:
        yield "The agents were graded by different graders or settings: their scores are not comparable."


def _evidence_by_texts(gathered: ReportData) -> Iterator[str]:
    if count := sum(one.tallied.evidence_by["texts"] for one in gathered.agents.values()):
        where = f"{count} episodes" if count > 1 else "one episode"
        yield f"Evidence in {where} is by texts, not by receipts: it counts even if a site only repeated its visitor."


def _named(agents: Sequence[str]) -> str:
    return ", ".join(agents[:3]) + (f" and {len(agents) - 3} more" if len(agents) > 3 else "")
