"""What a run is about to do: how many episodes, for how long, and for how much money."""

import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from webassay.compose.builder import Builder
from webassay.core.rater import RULES
from webassay.core.unit import UnitOfWork
from webassay.llm.hosted import estimated_cost
from webassay.llm.providers import own_price
from webassay.store import Store

SECONDS_TO_OPEN = 1.0
SECONDS_A_STEP = 0.5
"""For browser and site, where several episodes share a machine."""
SECONDS_A_REPLY = 5.0
TOKENS_IN, TOKENS_OUT = 8000, 300
"""What a model reads and writes in one step."""
SHARE_OF_LIMIT = 0.25
"""How many of the steps that a task allows are taken; the oracle takes a fifth to a quarter."""
SHARE_WITH_MODEL = 0.4
"""Models make detours, and cost must not surprise."""
ENOUGH = 3
"""Episodes of an agent in this run from which its own figures are taken."""


@dataclass(frozen=True)
class PlannedRun:
    tasks: int
    templates: int
    agents: int
    episodes: int
    """To play now."""
    finished: int
    """Planned, and played before."""
    workers: int
    seconds: float
    usd: float | None
    """None: nobody knows; 0: no model is asked by us."""
    assumed: str
    """What the estimate rests on."""

    @property
    def in_words(self) -> str:
        what = f"{count(self.tasks, 'task')} of {count(self.templates, 'template')}, {count(self.agents, 'agent')}"
        if not self.episodes:
            return f"{what}: nothing left to play, {count(self.finished, 'episode')} were played before."
        done = f" ({self.finished} were played before)" if self.finished else ""
        cost = "" if self.usd == 0 else "; cost unknown" if self.usd is None else f"; about ${self.usd:.2f}"
        return (
            f"{what}: {count(self.episodes, 'episode')} to play{done}, {self.workers} at a time; "
            f"about {duration(self.seconds)}{cost} ({self.assumed})."
        )


def count(number: int, thing: str) -> str:
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def duration(seconds: float) -> str:
    """Rounded as an estimate should be."""
    if seconds < 90:
        return f"{max(10, round(seconds, -1)):.0f} seconds"
    if seconds < 5400:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours"


def planned_run(
    builder: Builder, units: Sequence[UnitOfWork], left: Sequence[UnitOfWork], store: Store | None
) -> PlannedRun:
    """`left`: the units to play now."""
    measured = _measured(store) if store is not None else {}
    options, tasks = builder.options, {unit.task_id for unit in units}
    chosen = options.model
    seconds, usd, unknown_price, outside, shares = 0.0, 0.0, False, False, set[float]()
    for unit in left:
        if unit.agent in measured:
            own_seconds, own_usd = measured[unit.agent]
            seconds, usd = seconds + own_seconds, usd + (own_usd or 0.0)
            continue
        limit = options.limits.steps or builder.task(unit).max_steps
        thinking = "model" in builder.needs(unit.agent)
        share = SHARE_WITH_MODEL if thinking else SHARE_OF_LIMIT
        steps = 1 if builder.is_baseline(unit.agent) else max(1.0, share * limit)
        shares.add(share)
        outside = outside or builder.is_from_outside(unit.agent)
        seconds += SECONDS_TO_OPEN + steps * (SECONDS_A_STEP + (SECONDS_A_REPLY if thinking else 0.0))
        if chosen is not None and thinking:
            price = _price(chosen.model)
            unknown_price = unknown_price or price is None
            usd += steps * (price or 0.0)
    workers = min(options.workers, max(1, len(left)))
    asking = SHARE_WITH_MODEL in shares
    at_once = workers if asking else min(workers, os.cpu_count() or 1)
    assumed = " or ".join(f"{share:.0%}" for share in sorted(shares))
    said = [f"assuming that agents take {assumed} of their steps" if shares else "as before in this run"]
    said += [f"{SECONDS_A_REPLY:g} s a reply"] if asking else []
    said += ["not counting models that they ask themselves"] if outside else []
    said += [f"{TOKENS_IN:,} tokens a step"] if usd and shares else []
    return PlannedRun(
        tasks=len(tasks),
        templates=len({unit.metadata.get("template") or unit.task_id for unit in units}),
        agents=len({unit.agent for unit in units}),
        episodes=len(left),
        finished=len(units) - len(left),
        workers=workers,
        seconds=seconds / at_once,
        usd=None if unknown_price else usd,
        assumed=", ".join(said),
    )


def _price(spec: str) -> float | None:
    """US dollars for one step."""
    own = own_price()
    if own is not None:
        return (TOKENS_IN * own.input + TOKENS_OUT * own.output) / 1_000_000
    return estimated_cost(spec, TOKENS_IN, TOKENS_OUT)


def _measured(store: Store) -> Mapping[str, tuple[float, float | None]]:
    """Agents that have played enough: seconds and dollars of an episode in the middle."""
    played: dict[str, list[tuple[float, float | None]]] = {}
    for row in store.rows(RULES):
        if row.trajectory is not None and row.trajectory.ending != "fault":
            played.setdefault(row.agent, []).append((row.trajectory.seconds, row.trajectory.cost_usd))
    return {
        agent: (statistics.median(one[0] for one in found), statistics.median(one[1] or 0.0 for one in found))
        for agent, found in played.items()
        if len(found) >= ENOUGH
    }
