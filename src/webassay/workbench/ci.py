"""Run directories as test cases, for a pipeline."""

from webassay.analysis.episode.view import reasons
from webassay.analysis.numbers.rows import ResultRow, together
from webassay.analysis.results.ci import UnitCase
from webassay.compose.given import Paths
from webassay.compose.setup import Setup
from webassay.core.rater import Rater
from webassay.store import Store
from webassay.workbench.report import read_runs, result_rows


def cases(setup: Setup, runs: Paths, grader: str = "") -> list[UnitCase]:
    """Every planned unit, and in words why it did not pass."""
    with read_runs(setup, runs, grader) as (stores, _, rater):
        by_run = {name: list(result_rows(store, rater)) for name, store in stores.items()}
        found = [(store, row) for name, store in stores.items() for row in by_run[name]]
        return [
            UnitCase(named.agent, _name(row), row.status, row.seconds, _reasons(store, row, rater))
            for (store, row), named in zip(found, together(by_run), strict=True)
        ]


def _name(row: ResultRow) -> str:
    return f"{row.task_id}/{row.trial}" if row.trial else row.task_id


def _reasons(store: Store, row: ResultRow, rater: Rater) -> tuple[str, ...]:
    if row.status == "pass":
        return ()
    played = store.trajectory(f"{row.agent}/{row.task_id}/{row.trial}") if row.played else None
    if played is None:
        return ("It was never played.",)
    verdict = store.verdict(played.id, rater.name, raters=rater.counting)
    if verdict is None:
        return (played.ending.message or f"{rater.label} gave no verdict.",)
    faults = (verdict.fault.message,) if verdict.fault is not None else ()
    return (*reasons(verdict), *faults) or (f"{rater.label} decided nothing.",)
