"""What a result can be written as. Each format writes reports, and lists (leaderboards, audits, subsets)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import RenderableType

from webassay.analysis import listing, page, render
from webassay.analysis.listing import Section
from webassay.core.report import Report


@dataclass(frozen=True)
class Listed:
    """A result that is a list of tables."""

    title: str
    sections: Sequence[Section]
    json: str
    """The same as data."""


@dataclass(frozen=True)
class ReportFormat:
    name: str
    summary: str
    report: Callable[[Report], RenderableType]
    listed: Callable[[Listed], RenderableType]


TABLE = ReportFormat(
    "table",
    "Tables for a terminal.",
    render.to_table,
    lambda made: listing.to_table(made.title, made.sections),
)
MARKDOWN = ReportFormat(
    "markdown",
    "Tables for a README or a paper.",
    render.to_markdown,
    lambda made: listing.to_markdown(made.title, made.sections),
)
JSON = ReportFormat("json", "Everything, as data.", render.to_json, lambda made: made.json + "\n")
CSV = ReportFormat(
    "csv",
    "Rows for a spreadsheet; of several tables the last one.",
    render.to_csv,
    lambda made: listing.to_csv(made.sections[-1]),
)
HTML = ReportFormat(
    "html",
    "One self-contained page.",
    page.to_html,
    lambda made: listing.to_html(made.title, made.sections),
)
