"""What a result can be written as. Each format writes reports, and lists (leaderboards, audits, subsets)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from rich.console import RenderableType

from webassay.analysis.benchmark.audit import Audit
from webassay.analysis.benchmark.subset import Subset
from webassay.analysis.output import listing
from webassay.analysis.output import text as render
from webassay.analysis.output.section import Section
from webassay.analysis.results import page
from webassay.analysis.results.leaderboard import Leaderboard
from webassay.analysis.results.spreadsheet import to_csv
from webassay.analysis.results.tables import Tables, of_tables
from webassay.core.report import Report


@dataclass(frozen=True)
class Listed:
    """A result that is a list of tables."""

    title: str
    sections: Sequence[Section]
    json: str
    """The same as data."""
    rows: Section | None = None
    """The same for a spreadsheet, where the last of the tables is not that."""

    @classmethod
    def leaderboard(cls, made: Leaderboard, title: str = "Leaderboard") -> Self:
        return cls(title, listing.of_leaderboard(made), made.model_dump_json(indent=1))

    @classmethod
    def audit(cls, made: Audit) -> Self:
        return cls(f"Audit of {', '.join(made.benchmarks)}", listing.of_audit(made), made.model_dump_json(indent=1))

    @classmethod
    def tables(cls, made: Tables) -> Self:
        return cls("Tables", of_tables(made), made.model_dump_json(indent=1))

    @classmethod
    def subset(cls, made: Subset) -> Self:
        return cls("Subset", listing.of_subset(made), made.model_dump_json(indent=1))


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
SUMMARY = ReportFormat(
    "summary",
    "Who passed how much and what that says, for a terminal; of a list everything.",
    render.to_summary,
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
    to_csv,
    lambda made: listing.to_csv(made.rows or made.sections[-1]),
)
HTML = ReportFormat(
    "html",
    "One self-contained page.",
    page.to_html,
    lambda made: listing.to_html(made.title, made.sections),
)
