"""Numbers out of run directories: reports, comparisons, leaderboards, audits, subsets."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from webassay.analysis.agreement import Label
from webassay.analysis.audit import audit
from webassay.analysis.formats import Listed
from webassay.analysis.leaderboard import leaderboard
from webassay.analysis.report import summarise
from webassay.analysis.rows import Row, row_of, together
from webassay.analysis.subset import Procedure, select
from webassay.core.report import Report
from webassay.core.task import Task
from webassay.core.verdict import Verdict
from webassay.store import Store
from webassay.workbench.playing import RULES


def rows(run: Path, grader: str = RULES) -> Iterator[Row]:
    """Every planned unit of a run, and what became of it."""
    with Store.open(run) as store:
        yield from map(row_of, store.rows(grader))


def by_run(runs: Sequence[Path], grader: str = RULES) -> Mapping[str, list[Row]]:
    return {path.name: list(rows(path, grader)) for path in runs}


def report(runs: Sequence[Path], *, anchor: str | None = None, title: str = "", grader: str = RULES) -> Report:
    """Reads summaries only, one row at a time."""
    found = {path.name: rows(path, grader) for path in runs}
    return summarise(together(found), anchor=anchor, title=title or ", ".join(found))


def leaderboard_of(runs: Sequence[Path], *, title: str = "Leaderboard", grader: str = RULES) -> Listed:
    return Listed.leaderboard(leaderboard(by_run(runs, grader), title=title), title)


def audit_of(tasks: Sequence[Task], runs: Sequence[Path] = (), labels: Sequence[Label] = ()) -> Listed:
    played = [row for path in runs for row in rows(path)]
    found = [verdict for path in runs for verdict in verdicts(path)]
    return Listed.audit(audit(tasks, played, verdicts=found, labels=labels))


def subset_of(runs: Sequence[Path], procedure: Procedure, grader: str = RULES) -> Listed:
    return Listed.subset(select(list(together(by_run(runs, grader))), procedure))


def verdicts(run: Path) -> Iterator[Verdict]:
    """Of every grader and judge, on the attempts that count."""
    with Store.open(run) as store:
        yield from store.newest_verdicts()
