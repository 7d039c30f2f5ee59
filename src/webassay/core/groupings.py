"""The ways in which results are taken apart: by site, by kind, by difficulty. Each is declared once, here.

The plan asks each grouping which groups a task is in, and the run keeps the answer. So a report needs neither the task
nor the grouping, and shows one that only a plug-in knows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from webassay.core.errors import InputError, boundary
from webassay.core.task import Task

SEVERAL_SITES = "several sites"
Groups = Mapping[str, tuple[str, ...]]
"""Grouping to the groups that a task is in; a task that is in none has no entry."""


class ResultFacts(Protocol):
    """What a result says of itself beside its groups."""

    @property
    def benchmark(self) -> str: ...
    @property
    def sites(self) -> Sequence[str]: ...
    @property
    def kind(self) -> str: ...
    @property
    def modality(self) -> str: ...
    @property
    def claimed(self) -> str: ...
    @property
    def groups(self) -> Groups: ...


@dataclass(frozen=True)
class Grouping:
    name: str
    summary: str
    of_task: Callable[[Task], str | Iterable[str]] | None = None
    """The group or groups of a task, read when a run is planned; empty: none."""
    of_result: Callable[[ResultFacts], str] | None = None
    """The group of a result, for what every result says anyway."""
    title: str = ""
    """What a report writes behind "By"; empty: the name."""
    shown_alone: bool = False
    """Shown even where all tasks are in one group: success on easy tasks is not success on hard ones."""
    by_site: bool = True
    """`webassay tables` has a table of it, with a column for each site."""

    def groups_of(self, result: ResultFacts) -> tuple[str, ...]:
        if self.of_result is None:
            return result.groups.get(self.name, ())
        group = self.of_result(result)
        return (group,) if group else ()


def site_of(sites: Sequence[str]) -> str:
    return sites[0] if len(sites) == 1 else SEVERAL_SITES if sites else ""


def _tagged(kind: str) -> Callable[[Task], list[str]]:
    return lambda task: [tag.partition(":")[2] for tag in task.tags if tag.startswith(f"{kind}:")]


GROUPINGS = (
    Grouping("benchmark", "The benchmark.", of_result=lambda one: one.benchmark, by_site=False),
    Grouping(
        "site", "The site, or several sites together.", of_result=lambda one: site_of(one.sites), by_site=False
    ),
    Grouping("kind", "Retrieve, mutate, navigate, or unachievable.", of_result=lambda one: one.kind),
    Grouping(
        "chore", "The type of chore; a task can have two.", lambda task: _tagged("chore")(task) or task.chore or ""
    ),
    Grouping("difficulty", "As the task says.", lambda task: task.difficulty, shown_alone=True, by_site=False),
    Grouping("modality", "What the task shows: a tree, a picture, or both.", of_result=lambda one: one.modality),
    Grouping("observation", "What a task needs to be seen as.", lambda task: _tagged("observation")(task)[:1]),
    Grouping(
        "obstacles", "What stood in the way.", lambda task: "+".join(task.obstacles), shown_alone=True, by_site=False
    ),
    Grouping(
        "claimed", "The status that the agent reported: how far its word can be trusted.",
        of_result=lambda one: one.claimed, title="the status that the agent reported", by_site=False,
    ),
)  # fmt: skip


def groups_of_task(task: Task, groupings: Iterable[Grouping] = GROUPINGS) -> dict[str, list[str]]:
    """What a run keeps."""
    found: dict[str, list[str]] = {}
    for grouping in groupings:
        if grouping.of_task is not None:
            with boundary(InputError, f"The grouping {grouping.name} cannot place the task {task.id}"):
                groups = grouping.of_task(task)
                found[grouping.name] = [groups] if isinstance(groups, str) else [str(one) for one in groups]
    kept = {name: [group for group in groups if group] for name, groups in found.items()}
    return {name: groups for name, groups in kept.items() if groups}


def ordered(names: Iterable[str]) -> list[str]:
    """Our own groupings in the order above, then all others by name."""
    places = {grouping.name: place for place, grouping in enumerate(GROUPINGS)}
    return sorted(names, key=lambda name: (places.get(name, len(places)), name))
