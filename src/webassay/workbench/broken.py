"""Agents that are probably wired wrongly: a score of 0 would hide it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice

from webassay.core.report import AgentReport, Report
from webassay.core.text import first_line
from webassay.core.trajectory import Trajectory
from webassay.store import Store

MOST_STEPS = 0.5
"""The share of steps in vain from which an agent is warned about."""
KNOWN_LATER = " Known actions:"
"""The list would only hide what was wrong."""
FEWEST = 3
LOOKED_AT = 20
"""Episodes, for what was said most often."""
LONGEST = 160


def broken_agents(report: Report, stores: Mapping[str, Store]) -> Iterator[str]:
    """What a developer should know before anybody looks at a score."""
    for agent in report.agents:
        crashed, played = agent.behavior.endings.get("agent_crashed", 0), agent.success.counts.attempted
        if crashed:
            yield f"{agent.name} crashed in {crashed} of {played} episodes, which count as failures."
        steps, failed = round(agent.efficiency.steps.total), agent.behavior.action_errors
        if not agent.baseline and failed >= max(FEWEST, MOST_STEPS * steps):
            said = _most_frequent(agent, stores)
            most = f", most often: {said}" if said else "."
            yield f"{agent.name}: in {failed} of {steps} steps an action could not be read or carried out{most}"


def in_vain(trajectory: Trajectory) -> str:
    """What an agent hears while it plays that did nothing in a whole episode; empty: it did something."""
    steps = trajectory.steps
    if len(steps) < FEWEST or not all(step.error for step in steps):
        return ""
    return f"not one of {len(steps)} steps could be carried out, the last one because: {_short(steps[-1].error)}"


def _short(error: str) -> str:
    return first_line(error.partition(KNOWN_LATER)[0])[:LONGEST]


def _most_frequent(agent: AgentReport, stores: Mapping[str, Store]) -> str:
    said: Counter[str] = Counter()
    for store in stores.values():
        for _, trajectory in islice(store.trajectories([agent.name]), LOOKED_AT):
            said.update(_short(step.error) for step in trajectory.steps if step.error)
    return said.most_common(1)[0][0] if said else ""
