"""Pictures drawn without any library: intervals, differences to an anchor, and counts side by side."""

from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

from webassay.core.report import Interval

_WIDTH = 860
_LEFT, _MOST_LEFT = 220, 400
"""Room for the names: as much as the longest needs, but half of the picture is for the intervals."""
_LETTER = 7.3
_MOST_LETTERS = int((_MOST_LEFT - 14) / _LETTER)
_RIGHT = 170
_ROW = 34
_TOP = 14


class Bar(NamedTuple):
    label: str
    interval: Interval
    text: str
    faint: bool = False
    """Drawn hollow: the anchor, or an agent that is no contestant."""


def forest(
    bars: Sequence[Bar],
    *,
    low: float,
    high: float,
    step: float,
    zero: bool = False,
    percent: bool = True,
) -> str:
    """Point and interval for each bar, on an axis in percent or in plain numbers; colors come from the page's
    style."""
    height = _TOP + _ROW * len(bars) + 30
    span = high - low
    longest = max((len(bar.label) for bar in bars), default=0)
    left = min(max(_LEFT, round(14 + _LETTER * longest)), _MOST_LEFT)

    def x(value: float) -> float:
        return round(left + (min(max(value, low), high) - low) / span * (_WIDTH - left - _RIGHT), 1)

    parts = [f'<svg class="forest" role="img" viewBox="0 0 {_WIDTH} {height}">']
    parts.append(f"<title>{escape('; '.join(f'{bar.label}: {bar.text}' for bar in bars))}</title>")
    bottom = height - 24
    for tick in range(round(span / step) + 1):
        value = low + tick * step
        parts.append(f'<line class="grid" x1="{x(value)}" x2="{x(value)}" y1="{_TOP - 6}" y2="{bottom}"/>')
        sign = "+" if zero and value > 1e-9 else ""
        shown = f"{sign}{100 * value:.0f}{'' if zero else ' %'}" if percent else f"{value:.1f}"
        parts.append(f'<text class="tick" x="{x(value)}" y="{height - 7}" text-anchor="middle">{shown}</text>')
    if zero:
        parts.append(f'<line class="zero" x1="{x(0)}" x2="{x(0)}" y1="{_TOP - 6}" y2="{bottom}"/>')
    for place, bar in enumerate(bars):
        parts += _bar(bar, left, _TOP + _ROW * place + _ROW / 2, x)
    return "".join([*parts, "</svg>"])


def _bar(bar: Bar, left: int, y: float, x: Callable[[float], float]) -> list[str]:
    kind = "bar faint" if bar.faint else "bar"
    parts = [f'<g class="{kind}"><text class="label" x="{left - 14}" y="{y + 4}" text-anchor="end">']
    parts.append(f"{escape(_shortened(bar.label, _MOST_LETTERS))}</text>")
    interval = bar.interval
    if interval.low is not None and interval.high is not None:
        ends = x(interval.low), x(interval.high)
        parts.append(f'<line class="whisker" x1="{ends[0]}" x2="{ends[1]}" y1="{y}" y2="{y}"/>')
        parts += [f'<line class="whisker" x1="{end}" x2="{end}" y1="{y - 5}" y2="{y + 5}"/>' for end in ends]
    if interval.value is not None:
        parts.append(f'<circle class="point" cx="{x(interval.value)}" cy="{y}" r="5"/>')
    parts.append(f'<text class="value" x="{_WIDTH - _RIGHT + 16}" y="{y + 4}">{escape(bar.text)}</text></g>')
    return parts


def _shortened(label: str, most: int) -> str:
    return label if len(label) <= most else f"{label[: most - 1]}…"


class HistogramRow(NamedTuple):
    label: str
    values: Sequence[float]
    """One for each series."""
    heading: bool = False
    """A category, which stands above its parts."""


MOST_SERIES = 4
_THICK = 11


def histogram(rows: Sequence[HistogramRow], series: Sequence[str]) -> str:
    """A group of bars for each row, one bar a series, on an axis from 0; the style knows four series."""
    top = _TOP + 22 * len(series) + 8
    high = max((value for row in rows for value in row.values), default=0.0) or 1.0
    left, width = _LEFT + 80, _WIDTH - _LEFT - 80 - 60
    group = _THICK * len(series) + 12
    height = top + group * len(rows) + 8
    told = "; ".join(
        f"{row.label}: {', '.join(f'{name} {v:.3f}' for name, v in zip(series, row.values, strict=True))}"
        for row in rows
    )
    parts = [f'<svg class="forest histogram" role="img" viewBox="0 0 {_WIDTH} {height}"><title>{escape(told)}</title>']
    for place, name in enumerate(series):
        y = _TOP + 22 * place
        parts.append(f'<rect class="series{place}" x="{left}" y="{y}" width="14" height="11"/>')
        parts.append(f'<text x="{left + 22}" y="{y + 10}">{escape(name)}</text>')
    parts.append(f'<line class="zero" x1="{left}" x2="{left}" y1="{top - 4}" y2="{height - 4}"/>')
    for row_place, row in enumerate(rows):
        y = top + group * row_place
        kind = "label heading" if row.heading else "label"
        middle = y + _THICK * len(series) / 2 + 4
        parts.append(f'<text class="{kind}" x="{left - 12}" y="{middle}" text-anchor="end">')
        parts.append(f"{escape(_shortened(row.label, 42))}</text>")
        for place, value in enumerate(row.values):
            end, at = round(value / high * width, 1), y + _THICK * place
            parts.append(f'<rect class="series{place}" x="{left}" y="{at}" width="{end}" height="{_THICK - 1}"/>')
            parts.append(f'<text class="tick" x="{left + end + 6}" y="{at + 9}">{value:.2f}</text>')
    return "".join([*parts, "</svg>"])
