"""Mistakes that agents made on purpose, beside what the rules said of the same episodes."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from webassay.agents.flawed.flawed import FLAWED, errs
from webassay.compose.given import AnyPath
from webassay.compose.setup import Setup
from webassay.core.rater import RULES
from webassay.store.runs import open_run


@dataclass
class MistakeCount:
    """How often an agent of known ability erred, and what the rules made of it."""

    episodes: int = 0
    """The ones that the rules passed or failed."""
    erred: int = 0
    failed: int = 0
    agreed: int = 0
    """Episodes that passed without a mistake or failed with one."""

    def add(self, erred: bool, failed: bool) -> None:
        self.episodes += 1
        self.erred += erred
        self.failed += failed
        self.agreed += erred == failed


def mistakes(setup: Setup, run: AnyPath) -> dict[str, MistakeCount]:
    """By agent that errs on purpose: how often it did, and whether the rules failed just those episodes. Whether an
    episode has a mistake can be drawn again from its seed, so nobody had to be told."""
    counts: dict[str, MistakeCount] = defaultdict(MistakeCount)
    with open_run(Path(run), setup.tell) as store:
        for unit, trajectory in store.trajectories():
            skill = trajectory.agent.settings.get("skill")
            if unit.agent.partition("[")[0] != FLAWED.name or not isinstance(skill, float):
                continue
            verdict = store.verdict(trajectory.id, RULES)
            # An abstention or a fault says neither that there is a mistake nor that there is none.
            if verdict is not None and verdict.status in ("pass", "fail"):
                counts[unit.agent].add(errs(unit.agent, unit.seed, skill), verdict.status == "fail")
    return dict(counts)
