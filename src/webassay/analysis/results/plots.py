"""The pictures that need Altair (the extra `plots`); without it a report has its tables and the two own drawings.

Colors are CSS variables of the page, so that one SVG serves the light page, the dark page and paper.
"""

import importlib.util
import re
from collections.abc import Sequence
from math import fsum
from typing import TYPE_CHECKING, Any

from webassay.analysis.results.report import group_order
from webassay.analysis.results.report_text import contestants
from webassay.core.report import AgentReport, Report
from webassay.core.text import printable

if TYPE_CHECKING:
    import altair as alt

_WIDTH = 780
_INK, _MUTED, _LINE, _ACCENT, _BAD = "var(--ink)", "var(--muted)", "var(--line)", "var(--accent)", "var(--bad)"
_MOST_NAMES = 48
"""More templates than this are drawn without their names."""


def available() -> bool:
    return all(importlib.util.find_spec(name) is not None for name in ("altair", "vl_convert"))


def draw(report: Report) -> dict[str, str]:
    """Name to SVG, for the pictures that the report has data for; empty without Altair."""
    if not available():
        return {}
    charts: dict[str, alt.TopLevelMixin | None] = {
        "heatmap": _heatmap(report),
        "frontier": _frontier(report),
        "exploration": _exploration(report),
    }
    for grouping in report.groupings:
        charts[f"by {grouping.name}"] = _bars(contestants(report), grouping.name)
    return {name: _svg(chart, place) for place, (name, chart) in enumerate(charts.items()) if chart is not None}


def _altair() -> Any:
    import altair  # noqa: PLC0415 - a second of start-up, and an extra that may be missing

    return altair


def _svg(chart: Any, place: int) -> str:
    import vl_convert  # noqa: PLC0415 - see above

    axis = {"labelColor": _MUTED, "titleColor": _MUTED, "gridColor": _LINE, "domainColor": _LINE, "tickColor": _LINE}
    # Text is measured in another font than the reader's: leave room on the left, where names stand.
    room = {"left": 40, "right": 20, "top": 5, "bottom": 5}
    looks = chart.properties(padding=room).configure(background="transparent", font="system-ui, sans-serif")
    looks = looks.configure_view(stroke=None).configure_axis(
        **axis, titleFontWeight="normal", labelFontSize=12, titleFontSize=12, labelLimit=220
    )
    looks = looks.configure_header(labelColor=_INK, titleColor=_MUTED, labelFontSize=12).configure_legend(
        labelColor=_MUTED, titleColor=_MUTED
    )
    svg: str = vl_convert.vegalite_to_svg(_drawable(looks.to_dict()))
    # Inline SVGs share one document: their clip paths must not share names, and the name space is implied.
    svg = re.sub(r'\b(id="|url\(#)([a-z]+\d+)', rf"\g<1>plot{place}-\g<2>", svg)
    return re.sub(r'\sxmlns(:xlink)?="[^"]*"', "", svg)


def _drawable(value: Any) -> Any:
    """The library that draws takes the whole process with it when a name has a control character."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {key: _drawable(item) for key, item in value.items()}
    return [_drawable(item) for item in value] if isinstance(value, list) else value


def _rate(alt: Any, title: str) -> dict[str, Any]:
    return {"scale": alt.Scale(domain=[0, 1]), "axis": alt.Axis(format=".0%", title=title)}


def _bars(agents: Sequence[AgentReport], grouping: str) -> Any:
    alt = _altair()
    data = [
        {
            "agent": agent.name,
            "group": group.name,
            "rate": group.success.macro.value,
            "low": max(0.0, group.success.macro.low) if group.success.macro.low is not None else None,
            "high": min(1.0, group.success.macro.high) if group.success.macro.high is not None else None,
        }
        for agent in agents
        for group in agent.groups
        if group.dimension == grouping and group.success.macro.value is not None
    ]
    order = sorted({str(row["group"]) for row in data}, key=group_order)
    if len(order) < 2:
        return None
    base = alt.Chart(alt.Data(values=data)).encode(
        y=alt.Y("agent:N", sort=[agent.name for agent in agents], axis=alt.Axis(title=None))
    )
    bars = base.mark_bar(color=_ACCENT, opacity=0.45, height=10).encode(x=alt.X("rate:Q", **_rate(alt, "")))
    whiskers = base.mark_rule(color=_INK, strokeWidth=1.2).encode(x=alt.X("low:Q", **_rate(alt, "")), x2="high:Q")
    return (
        alt.layer(bars, whiskers)
        .properties(width=370, height=alt.Step(18))
        .facet(facet=alt.Facet("group:N", title=None, sort=order), columns=2)
    )


def _heatmap(report: Report) -> Any:
    rates: dict[str, list[float]] = {}
    for agent in report.agents:
        for template, rate in agent.templates.items():
            rates.setdefault(template, []).append(rate)
    if len(rates) < 2:
        return None
    alt = _altair()
    order = sorted(rates, key=lambda template: (-fsum(rates[template]) / len(rates[template]), template))
    names = [agent.name for agent in report.agents]
    data = [
        {"agent": agent.name, "template": template, "rate": rate}
        for agent in report.agents
        for template, rate in agent.templates.items()
    ]
    few = len(order) <= _MOST_NAMES
    title = f"{len(order)} templates, the easiest first"
    axis = alt.Axis(title=title, titlePadding=30 if few else 5, labels=few, ticks=few, labelAngle=-60)
    return (
        alt.Chart(alt.Data(values=data))
        .mark_rect(color=_ACCENT, stroke=_LINE, strokeWidth=0.3)
        .encode(
            x=alt.X("template:N", sort=order, axis=axis),
            y=alt.Y("agent:N", sort=names, axis=alt.Axis(title=None)),
            opacity=alt.Opacity("rate:Q", scale=alt.Scale(domain=[0, 1], range=[0.03, 1]), legend=None),
        )
        .properties(width=_WIDTH, height=alt.Step(20))
    )


def _frontier(report: Report) -> Any:
    frontier = report.frontier
    if frontier is None or len(frontier.costs) < 2:
        return None
    alt = _altair()
    data = [
        {
            "agent": agent.name,
            "cost": frontier.costs[agent.name],
            "rate": agent.success.macro.value,
            "best": agent.name in frontier.agents,
        }
        for agent in report.agents
        if agent.name in frontier.costs
    ]
    title = "mean cost of an episode (US dollars)" if frontier.measure == "cost_usd" else "mean steps of an episode"
    base = alt.Chart(alt.Data(values=data)).encode(
        x=alt.X("cost:Q", axis=alt.Axis(title=title, tickCount=8), scale=alt.Scale(zero=True)),
        y=alt.Y("rate:Q", **_rate(alt, "template-macro success")),
    )
    best = base.transform_filter("datum.best")
    return alt.layer(
        best.mark_line(interpolate="step-after", color=_ACCENT, strokeDash=[4, 3]),
        base.transform_filter("!datum.best").mark_circle(size=70, color=_MUTED),
        best.mark_circle(size=90, color=_ACCENT),
        base.mark_text(align="left", dx=8, dy=-8, color=_INK).encode(text="agent:N"),
    ).properties(width=_WIDTH - 60, height=280)


def _exploration(report: Report) -> Any:
    """The paper's Figure 2: credited refusals against the usual effort on their site, and how often too little was
    enough."""
    explored = [agent for agent in report.agents if agent.exploration is not None]
    usual = {effort.site: effort for effort in report.usual_effort if effort.median > 0}
    data = [
        {"agent": agent.name, "site": one.site, "ratio": one.ratio, "adequate": one.adequate is not False}
        for agent in explored
        if agent.exploration is not None
        for one in agent.exploration.attempts
        if one.credited and one.ratio is not None
    ]
    if not data:
        return None
    alt = _altair()
    threshold = next(agent.exploration.threshold for agent in explored if agent.exploration is not None)
    seen = {str(row["site"]) for row in data}
    sites = [site for site in usual if site in seen]
    ends = [{"site": s, "low": e.lower / e.median, "high": e.upper / e.median} for s, e in usual.items() if s in seen]
    y = alt.Y("site:N", sort=sites, axis=alt.Axis(title=None))
    title = "steps / median steps of successful feasible runs on that site (gray: their middle half)"
    x_axis, bounds = alt.Axis(title=title), alt.Data(values=[{"from": 0, "to": threshold}])
    too_few = alt.Chart(bounds).mark_rect(color=_BAD, opacity=0.08).encode(x=alt.X("from:Q", axis=x_axis), x2="to:Q")
    limit = alt.Chart(bounds).mark_rule(color=_BAD, strokeDash=[5, 3]).encode(x="to:Q")
    middle = (
        alt.Chart(alt.Data(values=ends))
        .mark_bar(color=_MUTED, opacity=0.25, height=24)
        .encode(x=alt.X("low:Q", axis=x_axis), x2="high:Q", y=y)
    )
    marks = (
        alt.Chart(alt.Data(values=data))
        .mark_point(shape="cross", angle=45, size=45, filled=True, opacity=0.75)
        .encode(
            x=alt.X("ratio:Q", axis=x_axis),
            y=y,
            color=alt.condition("datum.adequate", alt.value(_ACCENT), alt.value(_BAD)),
        )
    )
    by_site = alt.layer(too_few, middle, limit, marks).properties(width=_WIDTH - 140, height=alt.Step(40))
    return alt.vconcat(by_site, _over_acceptance(alt, explored), spacing=25)


def _over_acceptance(alt: Any, agents: Sequence[AgentReport]) -> Any:
    data = [
        {"agent": agent.name, "rate": rate.value, "low": rate.low, "high": rate.high, "none": rate.value == 0}
        for agent in agents
        if agent.exploration is not None and (rate := agent.exploration.over_acceptance).value is not None
    ]
    scale = _rate(alt, "credited with too little exploration, of all attempts (hollow: none)")
    base = alt.Chart(alt.Data(values=data)).encode(y=alt.Y("agent:N", sort=None, axis=alt.Axis(title=None)))
    whiskers = base.mark_rule(color=_INK).encode(x=alt.X("low:Q", **scale), x2="high:Q")
    points = base.mark_point(size=60, color=_ACCENT, opacity=1).encode(
        x=alt.X("rate:Q", **scale),
        fill=alt.condition("datum.none", alt.value("var(--card)"), alt.value(_ACCENT)),
    )
    return alt.layer(whiskers, points).properties(width=_WIDTH - 140, height=alt.Step(22))
