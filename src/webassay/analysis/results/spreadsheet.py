"""A report as rows for a spreadsheet."""

import csv
import io

from webassay.analysis.output.writers import csv_cell
from webassay.core.report import Interval, Process, Report, Success

CSV_HEADINGS = [
    *("agent", "dimension", "group"),
    *("planned", "attempted", "scored", "passed", "failed", "abstained", "faulted", "missing", "templates"),
    *("macro", "macro_low", "macro_high", "worst", "worst_low", "worst_high", "micro", "micro_low", "micro_high"),
    *("process", "process_low", "process_high", "good_process", "good_process_low", "good_process_high"),
    *("errors", "error_episodes", "errors_per_episode"),
]
_MACRO, _ERRORS = (CSV_HEADINGS.index(name) - 3 for name in ("macro", "errors"))

CsvNumbers = list[float | int | None]


def to_csv(report: Report) -> str:
    """One line for each agent, each of its groups, its site-macro, its errors and each grader's opinion; numbers in
    full, empty where there is none."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_HEADINGS)

    def write(agent: str, dimension: str, group: str, numbers: CsvNumbers) -> None:
        filled = [*numbers, *[None] * (len(CSV_HEADINGS) - 3 - len(numbers))]
        writer.writerow([csv_cell(agent), dimension, csv_cell(group), *filled])

    for agent in report.agents:
        write(agent.name, "all", "", _csv_numbers(agent.success, agent.process))
        for group in agent.groups:
            write(agent.name, group.dimension, group.name, _csv_numbers(group.success))
        if agent.site_macro.units > 1:
            write(agent.name, "site-macro", "", [*[None] * _MACRO, *_ends(agent.site_macro)])
        for level in ("categories", "codes") if agent.diagnosis else ():
            for error in getattr(agent.diagnosis, level):
                name = f"{error.taxonomy} {error.code} {error.name}".rstrip()
                numbers: CsvNumbers = [*[None] * _ERRORS, error.count, error.episodes, error.rate]
                write(agent.name, "error category" if level == "categories" else "error", name, numbers)
    for one in report.opinions:
        write(one.agent, "grader", one.grader, _csv_numbers(one.success, one.process))
    return out.getvalue()


def _csv_numbers(success: Success, process: Process | None = None) -> CsvNumbers:
    counts = success.counts
    numbers: CsvNumbers = [counts.planned, counts.attempted, counts.scored, counts.passed, counts.failed]
    numbers += [counts.abstained, counts.faulted, counts.missing, success.templates]
    for interval in (success.macro, success.worst, success.micro):
        numbers += _ends(interval)
    for interval in (process.mean, process.good) if process else ():
        numbers += _ends(interval)
    return numbers


def _ends(interval: Interval) -> CsvNumbers:
    return [interval.value, interval.low, interval.high]
