"""Rows in, a report out: success with intervals, breakdowns, comparisons, and the warnings that belong to them."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from webassay.analysis import behaviour, stats
from webassay.analysis.behaviour import interval, site_of
from webassay.analysis.rows import Row
from webassay.core.errors import InputError
from webassay.core.report import (
    AgentReport,
    Comparison,
    Contamination,
    Counts,
    Dimension,
    Exploration,
    Frontier,
    Grading,
    Group,
    Interval,
    Report,
    Success,
    Trials,
)

Cluster = tuple[str, str]

POINTS_WORTH_SEEING = 0.03
MAXIMUM_K = 10
FEW_TEMPLATES = 20
"""Below this the t-interval holds the truth clearly less often than it says: docs/statistics.md has the table."""

_ASCENDING = ("easy", "medium", "hard")
"""These are shown in this order, everything else by name."""

_DIMENSIONS: dict[Dimension, Callable[[Row], str]] = {
    "benchmark": lambda row: row.benchmark,
    "site": site_of,
    "kind": lambda row: row.kind,
    "chore": lambda row: row.chore,
    "difficulty": lambda row: row.difficulty,
    "modality": lambda row: row.modality,
    "claimed": lambda row: row.claimed,
}


def summarise(rows: Sequence[Row], *, anchor: str | None = None, title: str = "") -> Report:
    """Agents in order of success, compared with the anchor: the best one unless another is named."""
    by_agent: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_agent[row.agent].append(row)
    if anchor is not None and anchor not in by_agent:
        raise InputError(f"There is no agent {anchor!r} to compare with.", hint=f"Agents: {', '.join(by_agent)}.")
    explored = behaviour.explorations(rows)
    agents = [_agent(name, own, explored) for name, own in by_agent.items()]
    agents.sort(key=_standing)
    contestants = [agent.name for agent in agents if not agent.baseline] or [agent.name for agent in agents]
    reference = anchor or (contestants[0] if contestants else "")
    # Baselines are no contestants: to test against them would only weaken Holm's correction of the rest.
    others = [name for name in contestants if name != reference]
    return Report(
        title=title,
        benchmarks=tuple(dict.fromkeys(row.benchmark for row in rows if row.benchmark)),
        counts=_counts(rows),
        tasks=len({row.task for row in rows}),
        templates=len({row.cluster for row in rows}),
        agents=tuple(agents),
        anchor=reference if others else "",
        comparisons=_comparisons(by_agent, reference, others),
        frontier=_frontier(agents),
        usual_effort=behaviour.usual_effort(rows) if explored else (),
        contamination=_contamination(agents, rows),
        gradings=_gradings(by_agent),
        warnings=tuple(_warnings(by_agent)),
    )


def _standing(agent: AgentReport) -> tuple[bool, float, bool, str]:
    """Best first; agents without a score last; of equals, those that tried first."""
    value = agent.success.macro.value
    return (value is None, -(value or 0.0), agent.baseline, agent.name)


# --- success --------------------------------------------------------------------------------------------


def success_of(rows: Sequence[Row]) -> Success:
    rates = _rates(rows)
    scored = [row for row in rows if row.score is not None]
    return Success(
        counts=_counts(rows),
        templates=len(rates),
        macro=interval(stats.t_interval(rates.values())),
        worst=interval(stats.t_interval(_rates(rows, unscored=0.0).values())),
        micro=interval(stats.wilson(sum(row.status == "pass" for row in scored), len(scored))),
    )


def _counts(rows: Iterable[Row]) -> Counts:
    seen = Counter(row.status for row in rows)
    return Counts(
        planned=seen.total(),
        passed=seen["pass"],
        failed=seen["fail"],
        abstained=seen["abstain"],
        faulted=seen["fault"],
        missing=seen["missing"],
    )


def _rates(rows: Iterable[Row], unscored: float | None = None) -> dict[Cluster, float]:
    """Template to success rate; units without a score are left out, or take the value given."""
    scores = ((row.cluster, row.task, row.score if row.score is not None else unscored) for row in rows)
    return stats.template_rates((cluster, task, score) for cluster, task, score in scores if score is not None)


def _agent(name: str, rows: Sequence[Row], explored: Mapping[str, Exploration]) -> AgentReport:
    rates = _rates(rows)
    site_rates = [
        (site, rate)
        for site, own in _grouped(rows, site_of).items()
        if site != behaviour.SEVERAL_SITES
        for rate in _rates(own).values()
    ]
    # Template names are shown bare unless two benchmarks could share one.
    several = len({cluster[0] for cluster in rates}) > 1
    return AgentReport(
        name=name,
        model=next((row.model for row in rows if row.model), ""),
        success=success_of(rows),
        bootstrap=interval(stats.bootstrap_mean(rates.values())),
        site_macro=interval(stats.site_macro(site_rates)),
        checkpoint_reach=_reach(rows),
        templates={f"{benchmark}/{name}" if several else name: rate for (benchmark, name), rate in rates.items()},
        groups=_groups(rows),
        efficiency=behaviour.efficiency(rows),
        behaviour=behaviour.behaviour(rows),
        failures=behaviour.failure_modes(rows),
        parsing=behaviour.parsing(rows),
        trials=_trials(rows),
        exploration=explored.get(name),
        baseline=any(row.baseline for row in rows),
    )


def _grouped(rows: Iterable[Row], key: Callable[[Row], str]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if key(row):
            groups[key(row)].append(row)
    return groups


def _groups(rows: Sequence[Row]) -> tuple[Group, ...]:
    return tuple(
        Group(dimension=dimension, name=name, success=success_of(own), checkpoint_reach=_reach(own))
        for dimension, key in _DIMENSIONS.items()
        for name, own in sorted(_grouped(rows, key).items(), key=lambda group: group_order(group[0]))
    )


def group_order(name: str) -> tuple[int, str]:
    return (_ASCENDING.index(name) if name in _ASCENDING else len(_ASCENDING), name)


def _reach(rows: Sequence[Row]) -> Interval | None:
    reached = [(row.cluster, row.task, row.checkpoint_reach) for row in rows if row.checkpoint_reach is not None]
    return interval(stats.t_interval(stats.template_rates(reached).values())) if reached else None


def _trials(rows: Sequence[Row]) -> tuple[Trials, ...]:
    scores: dict[tuple[Cluster, tuple[str, str]], list[float]] = defaultdict(list)
    for row in rows:
        if row.score is not None:
            scores[row.cluster, row.task].append(row.score)
    most = min(max(map(len, scores.values()), default=0), MAXIMUM_K)
    if most < 2:
        return ()
    result = []
    for k in range(1, most + 1):
        enough = [(cluster, own) for (cluster, _), own in scores.items() if len(own) >= k]
        some = stats.means_by((cluster, stats.pass_at_k(len(own), int(sum(own)), k)) for cluster, own in enough)
        every = stats.means_by((cluster, stats.pass_hat_k(len(own), int(sum(own)), k)) for cluster, own in enough)
        result.append(
            Trials(
                k=k,
                tasks=len(enough),
                at_least_one=interval(stats.t_interval(some.values())),
                every=interval(stats.t_interval(every.values())),
            )
        )
    return tuple(result)


# --- comparisons ----------------------------------------------------------------------------------------


def _comparisons(by_agent: Mapping[str, Sequence[Row]], anchor: str, others: Sequence[str]) -> tuple[Comparison, ...]:
    made = [_compare(by_agent[name], by_agent[anchor]) for name in others]
    known = [(i, one.p_value) for i, one in enumerate(made) if one.p_value is not None]
    for (i, _), adjusted in zip(known, stats.holm([p for _, p in known]), strict=True):
        made[i] = made[i].model_copy(update={"p_adjusted": adjusted})
    return tuple(made)


def _compare(test: Sequence[Row], reference: Sequence[Row]) -> Comparison:
    """Over the tasks that both have a score for: a task that only one was scored on says nothing of the two."""
    tasks_test = {row.task for row in test if row.score is not None}
    tasks_reference = {row.task for row in reference if row.score is not None}
    shared = tasks_test & tasks_reference
    rates_test = _rates(row for row in test if row.task in shared)
    rates_reference = _rates(row for row in reference if row.task in shared)
    found = stats.paired_difference(rates_test, rates_reference)
    clusters_test, clusters_reference = (
        {row.cluster for row in own if row.score is not None} for own in (test, reference)
    )
    return Comparison(
        agent=test[0].agent,
        anchor=reference[0].agent,
        difference=interval(found.estimate),
        p_value=found.p_value,
        p_adjusted=None,
        tasks=len(shared),
        tasks_left_out=len(tasks_test ^ tasks_reference),
        identical_tasks=tasks_test == tasks_reference,
        identical_templates=clusters_test == clusters_reference,
        templates_to_see_3_points=_needed(found.estimate),
        warnings=tuple(_mismatches(test, reference, shared)),
    )


def _needed(estimate: stats.Estimate) -> int | None:
    """From the interval back to the deviation that made it."""
    if not estimate.half_width:
        return None
    deviation = estimate.half_width / stats.t_of(stats.CONFIDENCE, estimate.units - 1) * estimate.units**0.5
    return stats.templates_needed(POINTS_WORTH_SEEING, deviation)


def _mismatches(test: Sequence[Row], reference: Sequence[Row], shared: set[tuple[str, str]]) -> Iterable[str]:
    graders = [{row.fingerprint for row in own if row.fingerprint and row.task in shared} for own in (test, reference)]
    if graders[0] != graders[1]:
        yield "graded by different graders: " + " / ".join(", ".join(sorted(own)) or "unknown" for own in graders)
    keys = [
        {(row.task, row.key_hash) for row in own if row.key_hash and row.task in shared} for own in (test, reference)
    ]
    changed = {task for task, _ in keys[0] ^ keys[1]} if keys[0] and keys[1] else set()
    if changed:
        yield f"{len(changed)} of {len(shared)} shared tasks were graded with different keys"


# --- around the numbers ---------------------------------------------------------------------------------


def _frontier(agents: Sequence[AgentReport]) -> Frontier | None:
    contestants = [agent for agent in agents if not agent.baseline and agent.success.macro.value is not None]
    if not contestants:
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


def _contamination(agents: Sequence[AgentReport], rows: Sequence[Row]) -> Contamination | None:
    members = [agent for agent in agents if agent.baseline]
    if not members:
        return None
    names = {agent.name for agent in members}
    tried = {row.task for row in rows if row.agent in names and row.score is not None}
    solved = {row.task for row in rows if row.agent in names and row.status == "pass"}
    macros = [agent.success.macro.value for agent in members if agent.success.macro.value is not None]
    return Contamination(
        members=tuple(agent.name for agent in members),
        mean=Interval(value=sum(macros) / len(macros) if macros else None, units=len(macros), method="mean of agents"),
        union=interval(stats.wilson(len(solved), len(tried))),
        solved=tuple(sorted(task for _, task in solved)),
    )


def _gradings(by_agent: Mapping[str, Sequence[Row]]) -> tuple[Grading, ...]:
    return tuple(
        Grading(agent=agent, fingerprint=fingerprint, units=units)
        for agent, rows in by_agent.items()
        for fingerprint, units in sorted(Counter(row.fingerprint for row in rows if row.fingerprint).items())
    )


def _warnings(by_agent: Mapping[str, Sequence[Row]]) -> Iterable[str]:
    unscored: dict[str, list[str]] = defaultdict(list)
    for agent, rows in by_agent.items():
        counts = _counts(rows)
        left = {"missing": counts.missing, "faulted": counts.faulted, "abstained": counts.abstained}
        if any(left.values()):
            said = ", ".join(f"{count} {name}" for name, count in left.items() if count)
            unscored[f"{counts.scored} of {counts.planned} units have a verdict ({said})"].append(agent)
    for said, agents in unscored.items():
        yield f"{_named(agents)}: {said}."
    mixed = [agent for agent, rows in by_agent.items() if len({row.fingerprint for row in rows if row.fingerprint}) > 1]
    if mixed:
        yield f"{_named(mixed)}: verdicts come from several graders; grade again before quoting a number."
    templates = len({row.cluster for rows in by_agent.values() for row in rows})
    if 0 < templates < FEW_TEMPLATES:
        few = "one template" if templates == 1 else f"{templates} templates"
        yield f"Only {few}: near 0 % and 100 % the t-interval is too narrow; read Wilson's beside it."
    plans = {frozenset(row.task for row in rows) for rows in by_agent.values()}
    if len(plans) > 1:
        yield "The agents were planned on different tasks; only the paired differences compare like with like."
    graders = {frozenset(row.fingerprint for row in rows if row.fingerprint) for rows in by_agent.values()}
    if len(graders) > 1:
        yield "The agents were graded by different graders or settings: their scores are not comparable."


def _named(agents: Sequence[str]) -> str:
    return ", ".join(agents[:3]) + (f" and {len(agents) - 3} more" if len(agents) > 3 else "")
