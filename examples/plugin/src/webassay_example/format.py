"""`one-line`: a report format with a line for each agent."""

from webassay.analysis.output.document import Document
from webassay.analysis.results.formats import ReportFormat
from webassay.core.report import Report


def _report(report: Report) -> str:
    return "\n".join(f"{agent.name}: {agent.success.counts.passed} passed" for agent in report.agents)


def _document(document: Document) -> str:
    return document.title


ONE_LINE = ReportFormat("one-line", "A line for each agent.", _report, _document)
