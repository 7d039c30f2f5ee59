"""A report as one HTML file: nothing to load, readable on a screen in light and dark, and on paper."""

import math
import re
from collections.abc import Sequence

from markupsafe import Markup

from webassay.analysis.episode.view import EpisodeList
from webassay.analysis.output import text
from webassay.analysis.output.html import environment, framed
from webassay.analysis.output.svg import MOST_SERIES, Bar, HistogramRow, forest, histogram
from webassay.analysis.results import plots
from webassay.analysis.results import report_text as render
from webassay.analysis.results.report import group_order
from webassay.core.report import AgentReport, Comparison, Group, Report, ReportedGrouping


def to_html(report: Report, episodes: EpisodeList | None = None) -> str:
    return environment.get_template("report.html").render(
        report=report,
        episodes=episodes,
        contestants=render.contestants(report),
        render=render,
        intervals=Markup(_intervals(report.agents)),
        differences=Markup(_differences(report.comparisons)),
        errors=Markup(_errors(report)),
        sections={section.title: section for section in render.sections(report)},
        groupings=_groupings(report),
        plots={name: Markup(svg) for name, svg in plots.draw(report).items()},
        plots_missing=not plots.available(),
        warnings=list(render.all_warnings(report)),
    )


Report.in_notebook = lambda report: framed(to_html(report))


def _intervals(agents: Sequence[AgentReport]) -> str:
    bars = [
        Bar(agent.name, agent.success.macro, text.with_bounds(agent.success.macro), agent.baseline) for agent in agents
    ]
    return forest(bars, low=0.0, high=1.0, step=0.2) if bars else ""


def _differences(comparisons: Sequence[Comparison]) -> str:
    bars = [
        Bar(one.agent, one.difference, f"{text.points(one.difference)} {text.bounds(one.difference)}")
        for one in comparisons
    ]
    if not bars:
        return ""
    ends = [abs(end) for bar in bars for end in (bar.interval.low, bar.interval.high, bar.interval.value) if end]
    # A round axis that holds every interval, at least ten points each way.
    reach = max(0.1, math.ceil(10 * max(ends, default=0.1)) / 10)
    step = reach / 2 if reach <= 0.2 else reach / 4
    return forest(bars, low=-reach, high=reach, step=step, zero=True)


def _errors(report: Report) -> str:
    """Categories with their codes below them, for the first few agents that were diagnosed."""
    found = [(agent.name, agent.diagnosis) for agent in render.contestants(report) if agent.diagnosis][:MOST_SERIES]
    rates: dict[tuple[str, str], dict[str, float]] = {}
    names: dict[tuple[str, str], str] = {}
    for agent, diagnosis in found:
        for error in (*diagnosis.categories, *diagnosis.codes):
            key = (error.taxonomy, error.code)
            rates.setdefault(key, {})[agent] = error.rate
            names[key] = error.name
    several = len({taxonomy for taxonomy, _ in rates}) > 1
    rows = []
    for taxonomy, code in sorted(rates, key=lambda key: (key[0], [int(part) for part in re.findall(r"\d+", key[1])])):
        own, name = rates[taxonomy, code], names[taxonomy, code]
        label = f"{taxonomy} {code} {name}" if several else f"{code} {name}"
        rows.append(HistogramRow(label, [own.get(agent, 0.0) for agent, _ in found], heading="." not in code))
    return histogram(rows, [agent for agent, _ in found]) if rows else ""


Groups = tuple[ReportedGrouping, list[str], list[tuple[AgentReport, list[Group | None]]]]
"""A grouping, its groups, and for each agent its results in that order."""


def _groupings(report: Report) -> list[Groups]:
    shown: list[Groups] = []
    agents = render.contestants(report)
    for grouping in report.groupings:
        own = {
            (agent.name, group.name): group
            for agent in agents
            for group in agent.groups
            if group.dimension == grouping.name
        }
        names = sorted({name for _, name in own}, key=group_order)
        if len(names) > 1 or (names and grouping.shown_alone):
            rows = [(agent, [own.get((agent.name, name)) for name in names]) for agent in agents]
            shown.append((grouping, names, rows))
    return shown
