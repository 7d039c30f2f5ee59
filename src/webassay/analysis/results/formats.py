"""What a result can be written as. Each format writes reports, and documents (leaderboards, audits, subsets)."""

from collections.abc import Callable
from dataclasses import dataclass

from rich.console import RenderableType

from webassay.analysis.output import units, writers
from webassay.analysis.output.document import Document
from webassay.analysis.output.units import Rows
from webassay.analysis.results import ci, page, report_text, spreadsheet
from webassay.core.report import Report


@dataclass(frozen=True)
class ReportFormat:
    name: str
    summary: str
    report: Callable[[Report], RenderableType]
    document: Callable[[Document], RenderableType]
    units: Callable[[Rows], str | bytes] | None = None
    """One row for each planned unit, if the format can hold them."""


TABLE = ReportFormat("table", "Tables for a terminal.", report_text.to_table, writers.to_table)
SUMMARY = ReportFormat(
    "summary",
    "Who passed how much and what that says, for a terminal; of a list everything.",
    report_text.to_summary,
    writers.to_table,
)
MARKDOWN = ReportFormat("markdown", "Tables for a README or a paper.", report_text.to_markdown, writers.to_markdown)
JSON = ReportFormat(
    "json", "Everything, as data.", report_text.to_json, lambda made: made.json + "\n", units.rows_to_json
)
CSV = ReportFormat(
    "csv",
    "Rows for a spreadsheet; of several tables the last one.",
    spreadsheet.to_csv,
    writers.to_csv,
    units.rows_to_csv,
)
PARQUET = ReportFormat(
    "parquet", "Rows of units for data frames: report --units.", units.no_report, units.no_report, units.rows_to_parquet
)
GITHUB = ReportFormat("github", "A short summary for the page of a GitHub run.", ci.to_github, writers.to_markdown)
HTML = ReportFormat("html", "One self-contained page.", page.to_html, writers.to_html)
