"""What the episodes of a door are: which tasks, within which limits, observed how. Planned once, before serving:
drawing tasks is synchronous and takes seconds."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from webassay.core.errors import InputError
from webassay.core.interaction import ObservationPart
from webassay.play.episode import Limits
from webassay.workbench import Exercise, Selection, Workbench

TEXTS: tuple[ObservationPart, ...] = ("tree", "pruned", "text", "html")
PICTURES: tuple[ObservationPart, ...] = ("screenshot", "marks")


@dataclass(frozen=True)
class SeatPlan:
    bench: Workbench
    selection: Selection
    exercise: Exercise
    limits: Limits
    parts: tuple[ObservationPart, ...]
    agent: str
    out: Path | None
    idle_seconds: float | None = None


@dataclass(frozen=True)
class SeatSettings:
    """What every door lets its users choose. All are plain data, so that a harness can write them to a file."""

    benchmark: str = "arena"
    templates: Sequence[str] = ()
    """Empty: all of them."""
    tasks: Sequence[str] = ()
    """Only these, by their ids; empty: all of them."""
    instances: int = 3
    """How many tasks are drawn from each template."""
    world_seed: int = 0
    seed: int = 0
    """Draws the tasks of each template."""
    parts: Sequence[str] = ("tree", "screenshot")
    grader: str = "rules"
    max_steps: int | None = None
    """None: as many as the task allows."""
    episode_seconds: float = 3600.0
    idle_seconds: float | None = None
    """An episode that nobody touches for so long is abandoned; None: never."""
    actions_a_step: int = 20
    out: str | os.PathLike[str] | None = None
    """A run directory to record every finished episode in."""
    agent: str = "policy"
    """What the run directory calls the agent."""
    cache: str | os.PathLike[str] | None = None
    chromium: str | None = None

    def plan(self, *besides: ObservationPart) -> SeatPlan:
        """`besides`: parts that the door itself needs."""
        bench = Workbench(cache=self.cache, chromium=self.chromium)
        selection = Selection(
            benchmark=self.benchmark,
            templates=names_in(self.templates, "templates"),
            tasks=names_in(self.tasks, "tasks"),
            instances=self.instances,
            world_seed=self.world_seed,
            seed=self.seed,
        )
        parts = tuple(dict.fromkeys((*parts_in(self.parts), *besides)))
        limits = Limits(steps=self.max_steps, episode_seconds=self.episode_seconds, actions_a_step=self.actions_a_step)
        exercise = bench.exercise(selection, grader=self.grader)
        out = None if self.out is None else Path(self.out)
        return SeatPlan(bench, selection, exercise, limits, parts, self.agent, out, self.idle_seconds)


def names_in(given: Sequence[str], setting: str) -> tuple[str, ...]:
    if isinstance(given, str):
        raise InputError(f"{setting} is a list of names, not one name.", hint=f"Write {setting}=({given!r},).")
    return tuple(given)


def parts_in(given: Sequence[str]) -> tuple[ObservationPart, ...]:
    known = {*TEXTS, *PICTURES, "boxes", "links"}
    for part in names_in(given, "parts"):
        if part not in known:
            raise InputError(f"An observation has no part {part!r}.", hint=f"Parts: {', '.join(sorted(known))}.")
    return tuple(part for part in get_args(ObservationPart) if part in given)
