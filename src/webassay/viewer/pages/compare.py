"""Agents against each other on the same tasks, those first where they differ."""

from typing import Any

from markupsafe import Markup
from starlette.responses import Response

from webassay.analysis.output import text
from webassay.analysis.output.svg import Bar, forest
from webassay.core.report import Report
from webassay.viewer.page import Page, PageVisit
from webassay.viewer.pages.episodes import wanted_of
from webassay.workbench import look

MOST_AGENTS = 12
MOST_ROWS = 200
MOST_TEMPLATES = 25


def compare(visit: PageVisit) -> Response:
    shelf = visit.shelf
    visit.runs()
    rater = shelf.rater(visit.one("grader"))
    wanted = wanted_of(visit, look.facet_names(shelf, rater))
    others = {name: values for name, values in wanted.items() if name not in ("agent", "status", "failure")}
    every = look.narrow(shelf, rater, others)
    known = list(every.facets.get("agent", {}))
    baselines = {one.agent for one in every.units if one.row.baseline}
    contestants = [name for name in known if name not in baselines]
    asked_for = set(wanted.get("agent", ()))
    chosen = [name for name in known if name in asked_for or name.rpartition(" (")[0] in asked_for]
    chosen = chosen or (contestants if len(contestants) > 1 else known)[:MOST_AGENTS]
    asked = {**others, "agent": tuple(chosen)}
    given: dict[str, Any] = {"known": known, "chosen": chosen, "wanted": others, "anchor": ""}
    if len(chosen) < 2:
        return visit.page("compare.html", "Compare", **given, report=None)
    anchor = visit.one("anchor") if visit.one("anchor") in chosen else None
    report = look.report_on(shelf, rater, asked, anchor)
    order = [agent.name for agent in report.agents]
    units = look.narrow(shelf, rater, asked).units
    return visit.page(
        "compare.html",
        "Compare",
        **{**given, "anchor": report.anchor},
        report=report,
        differences=Markup(_differences(report)),
        templates=look.heat(units, "template", order).sorted("differ"),
        tasks=look.heat(units, "task", order).sorted("differ"),
        most_templates=MOST_TEMPLATES,
        most=MOST_ROWS,
    )


def _differences(report: Report) -> str:
    bars = [
        Bar(one.agent, one.difference, f"{text.points(one.difference)} {text.bounds(one.difference)}")
        for one in report.comparisons
    ]
    return forest(bars, low=-1.0, high=1.0, step=0.5, zero=True) if bars else ""


COMPARE = Page("compare", "/compare", "Agents against each other.", compare, title="Compare", place=3)
