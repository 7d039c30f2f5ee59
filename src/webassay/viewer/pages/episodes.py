"""The episodes behind a number: narrowed down by anything that a run knows of them, all of it in the address."""

from collections.abc import Callable, Mapping
from typing import Any

from starlette.responses import Response

from webassay.viewer.page import Page, PageVisit
from webassay.workbench import ShelvedUnit, look

PAGE = 100
MOST_AGENTS = 12
"""Success is shown for so many at once."""
MOST_VALUES = 60
"""Values of one facet that are listed."""
TITLES = {"failure": "what went wrong", "obstacles": "obstacle", "claimed": "status that it reported"}

SORTS: Mapping[str, tuple[str, Callable[[ShelvedUnit], Any]]] = {
    "plan": ("order of the plan", lambda one: 0),
    "steps": ("most steps", lambda one: -one.row.steps),
    "seconds": ("longest", lambda one: -one.row.seconds),
    "cost": ("most expensive", lambda one: -(one.row.cost_usd or 0.0)),
    "task": ("task", lambda one: one.row.task_id),
}


def wanted_of(visit: PageVisit, names: list[str]) -> dict[str, tuple[str, ...]]:
    """The facets that the address names."""
    asked = {name: tuple(dict.fromkeys(visit.all(name))) for name in names}
    return {name: values for name, values in asked.items() if values}


def episodes(visit: PageVisit) -> Response:
    shelf = visit.shelf
    visit.runs()  # An unknown one is 404.
    rater = shelf.rater(visit.one("grader"))
    wanted = wanted_of(visit, look.facet_names(shelf, rater))
    found = look.narrow(shelf, rater, wanted)
    sort = visit.one("sort") if visit.one("sort") in SORTS else "plan"
    units = found.units if sort == "plan" else sorted(found.units, key=SORTS[sort][1])
    start = visit.number("from", 0)
    agents = len(found.facets.get("agent", ()))
    summary = look.report_on(shelf, rater, wanted).agents if 0 < agents <= MOST_AGENTS else ()
    return visit.page(
        "episodes.html",
        "Episodes",
        units=units[start : start + PAGE],
        total=len(units),
        start=start,
        size=PAGE,
        wanted=wanted,
        facets=found.facets,
        titles=TITLES,
        most=MOST_VALUES,
        sorts={name: title for name, (title, _) in SORTS.items()},
        sort=sort,
        summary=summary,
        rater=rater,
        raters=shelf.graders(),
    )


EPISODES = Page("episodes", "/episodes", "Episodes, narrowed down.", episodes, title="Episodes", place=2)
