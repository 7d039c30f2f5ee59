"""What agents did besides succeeding: cost, actions, recovery, failures, process, errors, and how far they looked
before giving up."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from statistics import quantiles

import numpy as np

from webassay.analysis.numbers import stats
from webassay.analysis.numbers.columns import MEASURES, MISSING, PASS, AgentColumns, AgentRows, ReportData, distinct
from webassay.analysis.numbers.intervals import interval
from webassay.analysis.numbers.tallies import AgentTally, UnachievableRun
from webassay.core.report import (
    Behavior,
    Diagnosis,
    Efficiency,
    ErrorCount,
    Exploration,
    FailureMode,
    Parsing,
    Process,
    RefusalAttempt,
    Spread,
    Tally,
    UsualEffort,
)

EXPLORATION_THRESHOLD = 0.5
MINIMUM_STEPS: dict[str, int] = {"gitlab": 3, "reddit": 3, "shopping_admin": 3, "map": 2, "shopping": 2}
"""From the paper's Figure 2; a site that is not named here is held to the ratio alone."""

GOOD_PROCESS = 0.8
"""From here on the Universal Verifier calls a process a success."""


# --- cost -----------------------------------------------------------------------------------------------


def efficiency(agent: AgentColumns) -> Efficiency:
    spreads = {name: _spread(agent.measure(name)) for name in MEASURES}
    priced = ~np.isnan(agent.column("cost_usd"))
    successes = int(((agent.column("status") == PASS) & priced).sum())
    return Efficiency(**spreads, cost_per_success=spreads["cost_usd"].total / successes if successes else None)


def _spread(ordered: stats.Floats) -> Spread:
    n = len(ordered)
    if n == 0:
        return Spread(known=0, total=0.0, mean=None, median=None, p90=None)
    total = math.fsum(ordered.tolist())  # plain floats: to sum numpy's own takes twice as long
    return Spread(
        known=n,
        total=total,
        mean=total / n,
        median=float(ordered[n // 2] if n % 2 else (ordered[n // 2 - 1] + ordered[n // 2]) / 2),
        # Nearest rank: a value that occurred, even among three episodes.
        p90=float(ordered[-(-9 * n // 10) - 1]),
    )


# --- actions --------------------------------------------------------------------------------------------


def actions_of(agent: AgentColumns) -> Behavior:
    seen = agent.tallied
    actions = _tallies(seen.actions)
    families: Counter[str] = Counter()
    for one in actions:
        families[_family(one.name)] += one.count
    errors, retries, worked = (agent.column(name) for name in ("errors", "retries", "retries_that_worked"))
    failing = (errors > 0) & (agent.column("status") != MISSING)
    stumbled = failing & agent.scored
    recovered = stumbled & (agent.column("status") == PASS)
    return Behavior(
        actions=actions,
        families={name: families[name] / families.total() for name, _ in families.most_common()},
        tools=_tallies(seen.tools),
        endings={name: count for name, count in seen.endings.most_common() if name},
        action_errors=int(errors[failing].sum()),
        episodes_with_errors=int(failing.sum()),
        retries=int(retries[failing].sum()),
        retries_that_worked=int(worked[failing].sum()),
        recovered_episodes=interval(stats.wilson(int(recovered.sum()), int(stumbled.sum()))),
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


def _tallies(seen: Mapping[tuple[str, int], int]) -> tuple[Tally, ...]:
    counts, episodes = Counter[str](), Counter[str]()
    for (name, times), having in seen.items():
        if times:
            counts[name] += times * having
            episodes[name] += having
    ordered = sorted(counts, key=lambda name: (-counts[name], name))
    return tuple(Tally(name=name, count=counts[name], episodes=episodes[name]) for name in ordered)


# --- failures -------------------------------------------------------------------------------------------


def failure_modes(agent: AgentColumns) -> tuple[FailureMode, ...]:
    """By check and code, over the episodes that did not pass; an episode can have several."""
    counts, episodes = agent.tallied.failures, agent.tallied.failure_episodes
    ordered = sorted(counts, key=lambda mode: (-episodes[mode], mode))
    return tuple(
        FailureMode(check=check, code=code, count=counts[check, code], episodes=episodes[check, code])
        for check, code in ordered
    )


def parsing(agent: AgentColumns) -> Parsing | None:
    answered = agent.scored & (agent.column("answered") > 0)
    answers = int(answered.sum())
    if not answers:
        return None
    unreadable = answered & (agent.column("unreadable") > 0)
    recovered = answered & (agent.column("recovered") > 0)
    return Parsing(
        answers=answers,
        unreadable_before=interval(stats.wilson(int((unreadable | recovered).sum()), answers)),
        unreadable_after=interval(stats.wilson(int(unreadable.sum()), answers)),
    )


# --- what judges add ------------------------------------------------------------------------------------


def process(part: AgentRows) -> Process | None:
    means, scores = part.processes()
    if not means:
        return None
    good = int((scores >= GOOD_PROCESS).sum())
    # Somebody's own judge may score on another scale, which has no ends that we know of.
    shares = all(0 <= mean <= 1 for mean in means.values())
    tasks = len(distinct(part.unit[part.scored & ~np.isnan(part.process)]))
    mean = stats.mean_share(means.values(), tasks) if shares else stats.t_interval(means.values())
    return Process(
        mean=interval(mean),
        good=interval(stats.wilson(good, len(scores))),
        threshold=GOOD_PROCESS,
    )


def diagnosis(agent: AgentColumns, categories: Mapping[str, str]) -> Diagnosis | None:
    """`categories` names them, such as `paper:2`."""
    seen = agent.tallied
    if not seen.diagnosed:
        return None

    def counted(code: str, name: str) -> ErrorCount:
        taxonomy, _, rest = code.partition(":")
        count = seen.errors_found[code]
        return ErrorCount(
            taxonomy=taxonomy,
            code=rest.partition(":")[0],
            name=name,
            count=count,
            episodes=seen.error_episodes[code],
            rate=count / seen.diagnosed,
        )

    ordered = sorted(seen.errors_found, key=_in_order)
    return Diagnosis(
        episodes=seen.diagnosed,
        with_errors=seen.diagnosed_with_errors,
        categories=tuple(counted(code, categories.get(code, "")) for code in ordered if code.count(":") < 2),
        codes=tuple(counted(code, code.split(":", 2)[2].replace("_", " ")) for code in ordered if code.count(":") >= 2),
        first_step=_spread(np.sort(np.frombuffer(seen.first_error_steps, dtype=np.float64))),
    )


def _in_order(code: str) -> tuple[str, list[tuple[int, str]]]:
    """2.10 comes after 2.9."""
    taxonomy, _, rest = code.partition(":")
    parts = rest.partition(":")[0].split(".")
    return taxonomy, [(int(part), "") if part.isdecimal() else (0, part) for part in parts]


# --- unachievable tasks ---------------------------------------------------------------------------------


def usual_effort(gathered: ReportData) -> tuple[UsualEffort, ...]:
    """What a success takes on each site, quickest first. All agents count, so that none sets its own bar."""
    efforts = defaultdict[str, list[stats.Floats]](list)
    for agent in gathered.agents.values():
        for site, steps in agent.efforts().items():
            efforts[site].append(steps)
    found = []
    for site, own in efforts.items():
        steps = np.sort(np.concatenate(own)).tolist()
        if not steps:
            continue
        lower, middle, upper = quantiles(steps, n=4, method="inclusive") if len(steps) > 1 else [steps[0]] * 3
        found.append(UsualEffort(site=site, runs=len(steps), lower=lower, median=middle, upper=upper))
    return tuple(sorted(found, key=lambda effort: (effort.median, effort.site)))


def explorations(
    gathered: ReportData,
    *,
    threshold: float = EXPLORATION_THRESHOLD,
    minimum: Mapping[str, int] = MINIMUM_STEPS,
) -> dict[str, Exploration]:
    """For each agent that met unachievable tasks: R = steps / median steps of successful feasible runs on that site."""
    medians = {effort.site: effort.median for effort in usual_effort(gathered)}

    def looked_at(tried: UnachievableRun, task_id: str = "") -> RefusalAttempt:
        usual = medians.get(tried.site)
        ratio = tried.steps / usual if usual else None
        too_few = tried.steps < minimum.get(tried.site, 0)
        adequate = False if too_few else None if ratio is None else ratio >= threshold
        if tried.passed and tried.evidence:
            adequate = True  # Steps are a guess at whether it looked; here it is known.
        return RefusalAttempt(
            task_id=task_id, site=tried.site, steps=tried.steps, ratio=ratio, credited=tried.passed, adequate=adequate
        )

    return {
        name: _exploration(agent.tallied, looked_at, threshold)
        for name, agent in gathered.agents.items()
        if agent.tallied.attempted
    }


def _exploration(tallied: AgentTally, looked_at: Callable[..., RefusalAttempt], threshold: float) -> Exploration:
    counted = [(looked_at(tried), times) for tried, times in tallied.attempted.items()]
    credited = [(one.adequate, times) for one, times in counted if one.credited]
    inadequate = sum(times for adequate, times in credited if adequate is False)
    return Exploration(
        threshold=threshold,
        attempts=tuple(looked_at(tried, task_id) for task_id, tried in tallied.first_attempts),
        credited=sum(times for _, times in credited),
        inadequate=inadequate,
        undecided=sum(times for adequate, times in credited if adequate is None),
        over_acceptance=interval(stats.wilson(inadequate, tallied.attempted.total())),
    )
