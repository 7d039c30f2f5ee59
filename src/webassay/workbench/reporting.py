"""Numbers out of run directories: reports, comparisons, leaderboards, audits, subsets."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from webassay.analysis import listing
from webassay.analysis.agreement import Label
from webassay.analysis.audit import audit
from webassay.analysis.commands import together
from webassay.analysis.formats import Listed
from webassay.analysis.leaderboard import leaderboard
from webassay.analysis.report import summarise
from webassay.analysis.rows import Row, rows_of
from webassay.analysis.subset import Procedure, select
from webassay.core.report import Report
from webassay.core.task import Task
from webassay.core.verdict import Verdict
from webassay.store import Store
from webassay.workbench.playing import RULES


def rows(run: Path, grader: str = RULES) -> Iterator[Row]:
    """Every planned unit of a run, and what became of it."""
    with Store.open(run) as store:
        yield from rows_of(store, grader)


def by_run(runs: Sequence[Path], grader: str = RULES) -> Mapping[str, list[Row]]:
    return {path.name: list(rows(path, grader)) for path in runs}


def report(runs: Sequence[Path], *, anchor: str | None = None, title: str = "", grader: str = RULES) -> Report:
    found = by_run(runs, grader)
    return summarise(together(found), anchor=anchor, title=title or ", ".join(found))


def leaderboard_of(runs: Sequence[Path], *, title: str = "Leaderboard", grader: str = RULES) -> Listed:
    made = leaderboard(by_run(runs, grader), title=title)
    return Listed(title, listing.of_leaderboard(made), made.model_dump_json(indent=1))


def audit_of(tasks: Sequence[Task], runs: Sequence[Path] = (), labels: Sequence[Label] = ()) -> Listed:
    played = [row for path in runs for row in rows(path)]
    made = audit(tasks, played, verdicts=[verdict for path in runs for verdict in verdicts(path)], labels=labels)
    title = f"Audit of {', '.join(made.benchmarks)}"
    return Listed(title, listing.of_audit(made), made.model_dump_json(indent=1))


def subset_of(runs: Sequence[Path], procedure: Procedure, grader: str = RULES) -> Listed:
    made = select(together(by_run(runs, grader)), procedure)
    return Listed("Subset", listing.of_subset(made), made.model_dump_json(indent=1))


def verdicts(run: Path) -> Iterator[Verdict]:
    """Of every grader and judge, on the attempts that count."""
    with Store.open(run) as store:
        yield from store.verdicts_that_count()
