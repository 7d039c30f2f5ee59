"""How numbers, names and tables are written, for a terminal and for Markdown."""

import textwrap
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from webassay.core.report import Interval
from webassay.core.text import printable

DASH = "–"


# --- how numbers are written ----------------------------------------------------------------------------


def percent(value: float | None, digits: int = 1) -> str:
    return DASH if value is None else f"{100 * value:.{digits}f} %"


def with_bounds(interval: Interval) -> str:
    """`49.0 % [44.2, 53.9]`; without an interval the value alone."""
    if interval.value is None or interval.low is None or interval.high is None:
        return percent(interval.value)
    return f"{percent(interval.value)} {bounds(interval)}"


def bounds(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return DASH
    return f"[{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def points(interval: Interval) -> str:
    return DASH if interval.value is None else f"{100 * interval.value:+.1f}"


def number(value: float | None, digits: int = 1) -> str:
    return DASH if value is None else f"{value:,.{digits}f}"


def tokens(value: float) -> str:
    return f"{value / 1e6:.2f} M" if value >= 1e6 else f"{value / 1e3:.1f} k" if value >= 1e4 else f"{value:.0f}"


def money(value: float | None) -> str:
    return DASH if value is None else f"${value:,.2f}" if value >= 1 else f"${value:.4f}"


def p_value(value: float | None) -> str:
    return DASH if value is None else "< 0.001" if value < 0.001 else f"{value:.3f}"


def decimal(interval: Interval) -> str:
    """`0.72 [0.61, 0.83]`, for numbers that are not shares."""
    if interval.value is None:
        return DASH
    if interval.low is None or interval.high is None:
        return f"{interval.value:.2f}"
    return f"{interval.value:.2f} [{interval.low:.2f}, {interval.high:.2f}]"


def plain_interval(interval: Interval) -> str:
    if interval.value is None:
        return "–"
    if interval.low is None or interval.high is None:
        return f"{interval.value:.3f}"
    return f"{interval.value:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


# --- tables ---------------------------------------------------------------------------------------------


def rich_table(
    title: str | None, headings: Sequence[str], rows: Sequence[Sequence[str]], *, lines: bool = False
) -> Table:
    """`lines`: cells are ours, and a number may have its interval on a line below."""
    table = Table(
        title=Text(printable(title)) if title else None,
        title_justify="left",
        title_style="bold",
        header_style="bold",
        box=SIMPLE_HEAD,
    )
    table.padding = (0, 1, 0, 0)
    for place, heading in enumerate(headings):
        cells = [row[place] for row in rows]
        right = place > 0 and 2 * sum(map(_like_a_number, cells)) >= len(cells)
        if right:
            # Headings are broken into lines before numbers are; where it is too narrow, names and texts give way.
            longest = max([8, *(len(line) for cell in cells for line in cell.split("\n"))])
            heading = textwrap.fill(heading, longest, break_long_words=False)
        table.add_column(heading, justify="right" if right else "left", no_wrap=right, overflow="fold")
    for row in rows:
        # Text, not markup: an agent may be called `[red]`, or worse.
        table.add_row(*(Text(printable(cell, lines=lines)) for cell in row))
    return table


def _like_a_number(cell: str) -> bool:
    return cell[:1] in "0123456789+-–$<[" and len(cell) < 24


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    return lines + ["| " + " | ".join(plain(cell) for cell in row) + " |" for row in rows]


def plain(text: str) -> str:
    """Names come from outside: they must not break the table or become markup."""
    escaped = "".join(f"\\{char}" if char in "\\|<>*_`[]#" else char for char in printable(" ".join(text.split())))
    return " ".join(escaped.split())
