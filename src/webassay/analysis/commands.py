"""What the command line calls: plain arguments in, something to print or to write out."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from msgspec.structs import replace
from rich.console import RenderableType

from webassay.analysis import audit as auditing
from webassay.analysis import leaderboard as boards
from webassay.analysis import listing, page, render, subset
from webassay.analysis.agreement import Label
from webassay.analysis.report import summarise
from webassay.analysis.rows import Row
from webassay.core.report import Report
from webassay.core.task import Task
from webassay.core.verdict import Verdict

Form = Literal["table", "markdown", "json", "csv", "html"]

_REPORTS: dict[Form, Callable[[Report], RenderableType]] = {
    "table": render.to_table,
    "markdown": render.to_markdown,
    "json": render.to_json,
    "csv": render.to_csv,
    "html": page.to_html,
}


def report(
    runs: Mapping[str, Iterable[Row]], *, form: Form = "table", anchor: str | None = None, title: str = ""
) -> RenderableType:
    """Also `compare`: run name to rows. The rows of a single run are never held in memory."""
    return _REPORTS[form](summarise(together(runs), anchor=anchor, title=title or ", ".join(runs)))


def together(runs: Mapping[str, Iterable[Row]]) -> Iterable[Row]:
    """An agent that occurs in several runs is told apart by the run's name."""
    if len(runs) == 1:
        return next(iter(runs.values()))
    held = {run: list(rows) for run, rows in runs.items()}
    seen = Counter(agent for rows in held.values() for agent in {row.agent for row in rows})
    return [
        replace(row, agent=f"{row.agent} ({run})") if seen[row.agent] > 1 else row
        for run, rows in held.items()
        for row in rows
    ]


def leaderboard(
    runs: Mapping[str, Sequence[Row]], *, form: Form = "html", title: str = "Leaderboard"
) -> RenderableType:
    made = boards.leaderboard(runs, title=title)
    return _listed(title, listing.of_leaderboard(made), form, made.model_dump_json(indent=1))


def audit(
    tasks: Sequence[Task],
    rows: Sequence[Row] = (),
    *,
    verdicts: Sequence[Verdict] = (),
    labels: Sequence[Label] = (),
    form: Form = "table",
) -> RenderableType:
    made = auditing.audit(tasks, rows, verdicts=verdicts, labels=labels)
    title = f"Audit of {', '.join(made.benchmarks)}"
    return _listed(title, listing.of_audit(made), form, made.model_dump_json(indent=1))


def choose_subset(
    rows: Iterable[Row], procedure: subset.Procedure = subset.TEXT, *, form: Form = "table"
) -> RenderableType:
    made = subset.select(list(rows), procedure)
    return _listed("Subset", listing.of_subset(made), form, made.model_dump_json(indent=1))


def _listed(title: str, sections: Sequence[listing.Section], form: Form, json: str) -> RenderableType:
    """CSV is the last table: the tasks to work through, the subset, the last board."""
    if form == "json":
        return json + "\n"
    if form == "csv":
        return listing.to_csv(sections[-1])
    if form == "html":
        return listing.to_html(title, sections)
    return listing.to_markdown(title, sections) if form == "markdown" else listing.to_table(title, sections)
