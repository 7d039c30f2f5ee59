"""Several graders on the same episodes: what each of them says, and how far they agree."""

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from webassay.analysis.numbers import stats
from webassay.analysis.numbers.columns import FAIL, MISSING, PASS, Ints, ReportData
from webassay.analysis.numbers.intervals import interval
from webassay.analysis.results import behavior
from webassay.analysis.results.report import NO_NAMES, Names, success_of_part
from webassay.core.report import Concord, GraderOpinion, Report

Graded = Mapping[str, ReportData]
"""Label of a grader to its rows. All have the same rows in the same order: a grader only fills in the verdicts."""


def beside(report: Report, graded: Graded, names: Names = NO_NAMES) -> Report:
    """The report with the opinions of all these graders, its own among them."""
    if len(graded) < 2:
        return report
    order = [agent.name for agent in report.agents]
    opinions = [
        GraderOpinion(
            grader=label,
            agent=agent,
            success=success_of_part(part := gathered.agents[agent].whole()),
            process=behavior.process(part),
            diagnosis=behavior.diagnosis(gathered.agents[agent], names.categories),
        )
        for agent in order
        for label, gathered in graded.items()
    ]
    pairs = combinations(graded.items(), 2)
    concords = tuple(_concord(*first, *second) for first, second in pairs)
    return report.model_copy(update={"opinions": tuple(opinions), "concords": concords})


def _concord(first: str, one: ReportData, second: str, other: ReportData) -> Concord:
    statuses, tasks = [], []
    for agent, columns in one.agents.items():
        mine, theirs = columns.whole(), other.agents[agent].whole()
        statuses.append(np.stack([mine.status, theirs.status]))
        tasks.append(mine.task)
    status = np.concatenate(statuses, axis=1) if statuses else np.zeros((2, 0), dtype=np.uint8)
    task = np.concatenate(tasks) if tasks else np.zeros(0, dtype=np.int64)
    decided = (status <= FAIL).all(axis=0)
    played = (status != MISSING).all(axis=0)
    tables = _tables(task[decided], status[:, decided])
    counts = tables.sum(axis=0).astype(int).tolist()
    total = int(decided.sum())
    return Concord(
        first=first,
        second=second,
        both_pass=counts[PASS][PASS],
        only_first_passes=counts[PASS][FAIL],
        only_second_passes=counts[FAIL][PASS],
        both_fail=counts[FAIL][FAIL],
        undecided=int((played & ~decided).sum()),
        same=interval(stats.wilson(counts[PASS][PASS] + counts[FAIL][FAIL], total)),
        kappa=interval(stats.summed_bootstrap(list(tables), stats.kappa_of)),
    )


def _tables(task: Ints, status: Ints) -> stats.Floats:
    """For each task a table of what the two say: episodes of one task are not independent."""
    known, place = np.unique(task, return_inverse=True)
    tables = np.zeros((len(known), 2, 2))
    np.add.at(tables, (place, status[0], status[1]), 1)
    return tables
