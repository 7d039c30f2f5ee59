"""What the viewer shows beside single episodes: results narrowed down, agents on tasks, and one task from all sides."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from webassay.analysis.episode.asked import TaskView, asked_lines
from webassay.analysis.episode.view import reasons
from webassay.analysis.results import facets
from webassay.analysis.results.heat import HeatMap, heat_map
from webassay.compose.registries import TEMPLATES
from webassay.core.errors import InputError
from webassay.core.rater import Rater
from webassay.core.report import Report
from webassay.workbench.shelf import Shelf, ShelvedRun, ShelvedUnit

__all__ = ["facet_names", "heat", "narrow", "reasons", "report_on", "task_view"]

Wanted = Mapping[str, Sequence[str]]
"""Facet to the values that will do; `agent` is one of them."""

AGENT = "agent"
RUN = "run"


@dataclass(frozen=True)
class Narrowed:
    """Some units, and what there is to narrow them down by."""

    units: Sequence[ShelvedUnit]
    facets: Mapping[str, Counter[str]]
    """The values of these units; of a facet that is chosen already, those of all that the others leave."""


def facet_names(shelf: Shelf, rater: Rater) -> list[str]:
    rows = (row for run in shelf.runs.values() for row in run.rows(rater))
    return shelf.kept(("facet names", rater.label), lambda: [RUN, AGENT, *facets.names_in(rows)])


def narrow(shelf: Shelf, rater: Rater, wanted: Wanted) -> Narrowed:
    asked = {name: tuple(values) for name, values in wanted.items() if values}
    key = ("narrowed", rater.label, tuple(sorted(asked.items())))
    return shelf.kept(key, lambda: _narrowed(shelf, rater, asked))


def _narrowed(shelf: Shelf, rater: Rater, asked: Wanted) -> Narrowed:
    names = facet_names(shelf, rater)
    every = shelf.entries(rater)
    kept = _fitting(every, asked)
    counts = _counted(kept, [name for name in names if name not in asked])
    for name in asked:
        others = {other: values for other, values in asked.items() if other != name}
        counts |= _counted(_fitting(every, others), [name])
    return Narrowed(kept, {name: counts[name] for name in names if counts.get(name)})


def _fitting(units: Sequence[ShelvedUnit], asked: Wanted) -> Sequence[ShelvedUnit]:
    runs, agents = asked.get(RUN), asked.get(AGENT)
    if runs or agents:
        units = [
            one
            for one in units
            # As it is called here, or in its own run: a link from that run's line means it too.
            if (not runs or one.run in runs) and (not agents or one.agent in agents or one.row.agent in agents)
        ]
    rest = {name: values for name, values in asked.items() if name not in (RUN, AGENT)}
    if not rest:
        return units
    fits = facets.narrowed([one.row for one in units], rest)
    return [one for one, fit in zip(units, fits, strict=True) if fit]


def _counted(units: Sequence[ShelvedUnit], names: Sequence[str]) -> dict[str, Counter[str]]:
    counts = facets.counted([one.row for one in units], [name for name in names if name not in (RUN, AGENT)])
    if RUN in names:
        counts[RUN] = Counter(one.run for one in units)
    if AGENT in names:
        counts[AGENT] = Counter(one.agent for one in units)
    return counts


def report_on(shelf: Shelf, rater: Rater, wanted: Wanted, anchor: str | None = None) -> Report:
    """Success with intervals, and paired differences, of the units that are left."""
    key = ("report", rater.label, tuple(sorted((name, tuple(values)) for name, values in wanted.items())), anchor)
    return shelf.kept(key, lambda: shelf.report_on(narrow(shelf, rater, wanted).units, anchor=anchor))


def heat(units: Sequence[ShelvedUnit], by: str, agents: Sequence[str] = ()) -> HeatMap:
    """`by`: template or task."""
    of = facets.facet("task" if by == "task" else "template")
    return heat_map(((one.agent, one.row) for one in units), lambda row: of(row)[0], agents)


def task_view(run: ShelvedRun, task_id: str) -> TaskView:
    """With its key, if the tasks of the run can be built again."""
    made = TaskView(task_id)
    tasks = run.tasks()
    if isinstance(tasks, str):
        return replace(made, missing=tasks)
    try:
        task = tasks.get(task_id)
    except InputError as error:
        return replace(made, missing=f"The key could not be built again: {error}")
    made = replace(
        made,
        goal=task.goal.at({site: f"{site}:" for site in task.sites}),
        kind=task.kind,
        difficulty=task.difficulty,
        sites=task.sites,
        asked=asked_lines(task),
        task_hash=task.content_hash(),
    )
    if task.template not in TEMPLATES:
        return made
    template = TEMPLATES.get(task.template)  # What a run names is only looked up, never loaded.
    return replace(made, summary=template.summary, misread=tuple(template.misread), ways=tuple(template.ways))
