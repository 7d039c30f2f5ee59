"""What agents did beside succeeding: cost, actions, recovery, failures, and how far they looked before giving up."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median, quantiles

from webassay.analysis import stats
from webassay.analysis.rows import Row
from webassay.core.report import (
    Attempt,
    Behaviour,
    Efficiency,
    Exploration,
    FailureMode,
    Interval,
    Parsing,
    Spread,
    Tally,
    UsualEffort,
)

EXPLORATION_THRESHOLD = 0.5
MINIMUM_STEPS: dict[str, int] = {"gitlab": 3, "reddit": 3, "shopping_admin": 3, "map": 2, "shopping": 2}
"""Of the paper's Figure 2; a site that is not named here is held to the ratio alone."""


SEVERAL_SITES = "several sites"


def interval(estimate: stats.Estimate) -> Interval:
    return Interval(
        value=estimate.value, low=estimate.low, high=estimate.high, units=estimate.units, method=estimate.method
    )


def site_of(row: Row) -> str:
    return row.sites[0] if len(row.sites) == 1 else SEVERAL_SITES if row.sites else ""


# --- cost -----------------------------------------------------------------------------------------------


def efficiency(rows: Sequence[Row]) -> Efficiency:
    played = [row for row in rows if row.played]
    costs = [row.cost_usd for row in played if row.cost_usd is not None]
    successes = sum(row.status == "pass" for row in played if row.cost_usd is not None)
    return Efficiency(
        steps=_spread([row.steps for row in played]),
        seconds=_spread([row.seconds for row in played]),
        input_tokens=_spread([row.input_tokens for row in played if row.input_tokens is not None]),
        output_tokens=_spread([row.output_tokens for row in played if row.output_tokens is not None]),
        cost_usd=_spread(costs),
        cost_per_success=sum(costs) / successes if successes else None,
    )


def _spread(values: Sequence[float]) -> Spread:
    if not values:
        return Spread(known=0, total=0.0, mean=None, median=None, p90=None)
    ordered = sorted(values)
    total = float(sum(ordered))
    # Nearest rank: a value that occurred, also for three episodes.
    p90 = ordered[-(-9 * len(ordered) // 10) - 1]
    return Spread(
        known=len(ordered), total=total, mean=total / len(ordered), median=float(median(ordered)), p90=float(p90)
    )


# --- actions --------------------------------------------------------------------------------------------


def behaviour(rows: Sequence[Row]) -> Behaviour:
    played = [row for row in rows if row.played]
    families: Counter[str] = Counter()
    for row in played:
        for name, count in row.actions.items():
            families[_family(name)] += count
    stumbled = [row for row in played if row.errors and row.score is not None]
    return Behaviour(
        actions=_tallies(row.actions for row in played),
        families={name: families[name] / families.total() for name, _ in families.most_common()},
        tools=_tallies(row.tools for row in played),
        endings=dict(Counter(row.ending for row in played if row.ending).most_common()),
        action_errors=sum(row.errors for row in played),
        episodes_with_errors=sum(bool(row.errors) for row in played),
        retries=sum(row.retries for row in played),
        retries_that_worked=sum(row.retries_that_worked for row in played),
        recovered_episodes=interval(stats.wilson(sum(row.status == "pass" for row in stumbled), len(stumbled))),
    )


def _family(action: str) -> str:
    if action.startswith(("keyboard", "press", "fill", "clear")):
        return "keyboard"
    if action.startswith(("goto", "go_", "tab_", "new_tab")):
        return "navigation"
    if action in ("send_msg_to_user", "report_infeasible"):
        return "answer"
    if action == "noop":
        return "waiting"
    return "mouse"


def _tallies(counters: Iterable[Mapping[str, int]]) -> tuple[Tally, ...]:
    counts: Counter[str] = Counter()
    episodes: Counter[str] = Counter()
    for counter in counters:
        counts.update(counter)
        episodes.update(name for name, count in counter.items() if count)
    ordered = sorted(counts, key=lambda name: (-counts[name], name))
    return tuple(Tally(name=name, count=counts[name], episodes=episodes[name]) for name in ordered)


# --- failures -------------------------------------------------------------------------------------------


def failure_modes(rows: Sequence[Row]) -> tuple[FailureMode, ...]:
    """By check and code, over the episodes that did not pass; an episode can have several."""
    counts: Counter[tuple[str, str]] = Counter()
    episodes: Counter[tuple[str, str]] = Counter()
    for row in rows:
        if row.status in ("fail", "fault"):
            found = row.findings or (("unexplained", ""),)
            counts.update(found)
            episodes.update(set(found))
    ordered = sorted(counts, key=lambda mode: (-episodes[mode], mode))
    return tuple(
        FailureMode(check=check, code=code, count=counts[check, code], episodes=episodes[check, code])
        for check, code in ordered
    )


def parsing(rows: Sequence[Row]) -> Parsing | None:
    answers = [row for row in rows if row.answered and row.score is not None]
    if not answers:
        return None
    after = sum(row.unreadable for row in answers)
    before = sum(row.unreadable or row.recovered for row in answers)
    return Parsing(
        answers=len(answers),
        unreadable_before=interval(stats.wilson(before, len(answers))),
        unreadable_after=interval(stats.wilson(after, len(answers))),
    )


# --- unachievable tasks ---------------------------------------------------------------------------------


def usual_effort(rows: Sequence[Row]) -> tuple[UsualEffort, ...]:
    """What a success takes on each site, the quickest first. All agents count, so that none sets its own bar."""
    successful: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        if row.kind != "unachievable" and row.status == "pass":
            successful[site_of(row)].append(row.steps)
    found = []
    for site, steps in successful.items():
        lower, middle, upper = quantiles(steps, n=4, method="inclusive") if len(steps) > 1 else steps * 3
        found.append(UsualEffort(site=site, runs=len(steps), lower=lower, median=middle, upper=upper))
    return tuple(sorted(found, key=lambda effort: (effort.median, effort.site)))


def explorations(
    rows: Sequence[Row],
    *,
    threshold: float = EXPLORATION_THRESHOLD,
    minimum: Mapping[str, int] = MINIMUM_STEPS,
) -> dict[str, Exploration]:
    """For each agent that met unachievable tasks: R = steps / median steps of successful feasible runs on that site."""
    medians = {effort.site: effort.median for effort in usual_effort(rows)}
    attempts: dict[str, list[Attempt]] = defaultdict(list)
    for row in rows:
        if row.kind == "unachievable" and row.score is not None:
            attempts[row.agent].append(_attempt(row, medians.get(site_of(row)), threshold, minimum))
    return {agent: _exploration(tried, threshold) for agent, tried in attempts.items()}


def _attempt(row: Row, usual: float | None, threshold: float, minimum: Mapping[str, int]) -> Attempt:
    site = site_of(row)
    ratio = row.steps / usual if usual else None
    too_few = row.steps < minimum.get(site, 0)
    adequate = False if too_few else None if ratio is None else ratio >= threshold
    return Attempt(
        task_id=row.task_id,
        site=site,
        steps=row.steps,
        ratio=ratio,
        credited=row.status == "pass",
        adequate=adequate,
    )


def _exploration(attempts: Sequence[Attempt], threshold: float) -> Exploration:
    credited = [attempt for attempt in attempts if attempt.credited]
    inadequate = sum(attempt.adequate is False for attempt in credited)
    return Exploration(
        threshold=threshold,
        attempts=tuple(attempts),
        credited=len(credited),
        inadequate=inadequate,
        undecided=sum(attempt.adequate is None for attempt in credited),
        over_acceptance=interval(stats.wilson(inadequate, len(attempts))),
    )
