"""What a result can be written as. Each format writes reports, and documents (leaderboards, audits, subsets)."""

from collections.abc import Callable
from dataclasses import dataclass

from rich.console import RenderableType

from webassay.analysis.output import writers
from webassay.analysis.output.document import Document
from webassay.analysis.results import page, report_text, spreadsheet
from webassay.core.report import Report


@dataclass(frozen=True)
class ReportFormat:
    name: str
    summary: str
    report: Callable[[Report], RenderableType]
    document: Callable[[Document], RenderableType]


TABLE = ReportFormat("table", "Tables for a terminal.", report_text.to_table, writers.to_table)
SUMMARY = ReportFormat(
    "summary",
    "Who passed how much and what that says, for a terminal; of a list everything.",
    report_text.to_summary,
    writers.to_table,
)
MARKDOWN = ReportFormat("markdown", "Tables for a README or a paper.", report_text.to_markdown, writers.to_markdown)
JSON = ReportFormat("json", "Everything, as data.", report_text.to_json, lambda made: made.json + "\n")
CSV = ReportFormat("csv", "Rows for a spreadsheet; of several tables the last one.", spreadsheet.to_csv, writers.to_csv)
HTML = ReportFormat("html", "One self-contained page.", page.to_html, writers.to_html)
