"""Numbers out of run directories: reports, comparisons, leaderboards, audits, subsets."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from webassay.analysis.benchmark.audit import audit as audit_tasks
from webassay.analysis.benchmark.audit import audit_document
from webassay.analysis.benchmark.changes import changes, of_changes
from webassay.analysis.benchmark.subset import TEXT, Procedure, select, subset_document
from webassay.analysis.numbers.agreement import Label
from webassay.analysis.numbers.columns import ReportData, gather
from webassay.analysis.numbers.rows import ResultRow, blocks_of_rows, rows_of, together
from webassay.analysis.output.document import Document
from webassay.analysis.results.leaderboard import leaderboard as rank
from webassay.analysis.results.leaderboard import leaderboard_document
from webassay.analysis.results.opinions import beside
from webassay.analysis.results.report import Names as GraderNames
from webassay.analysis.results.report import report_of
from webassay.analysis.results.tables import tables as count_tables
from webassay.analysis.results.tables import tables_document
from webassay.compose.given import Names, Paths, names, paths
from webassay.compose.registries import GROUPINGS
from webassay.compose.setup import Setup
from webassay.core.errors import InputError
from webassay.core.rater import PUBLISHED, RULES, Rater, raters
from webassay.core.record import Json
from webassay.core.registry import nearest
from webassay.core.report import Report
from webassay.core.verdict import Fingerprint
from webassay.judging.taxonomy import TAXONOMIES
from webassay.play.settings import limits_in_words, trusted_in, worlds_in_words
from webassay.store import Store
from webassay.store.runs import open_runs
from webassay.workbench import outcomes
from webassay.workbench.broken import broken_agents
from webassay.workbench.parallel_reading import LedgerReader, ledger_reader
from webassay.workbench.tasks import named_tasks

CATEGORIES = {
    f"{taxonomy}:{code.code.partition('.')[0]}": code.category
    for taxonomy, codes in TAXONOMIES.items()
    for code in codes.values()
}
"""What the error categories are called, such as `paper:2`."""

LISTED = 10
"""How many units a warning names."""

_NO_RULES = Rater(RULES, RULES, (), frozenset([RULES]), keyed=True)
"""Stands for the rules where they gave no verdict at all."""


# --- whose verdicts -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Graders:
    """Everybody who gave a verdict in some runs."""

    stores: Sequence[Store]

    @cached_property
    def fingerprints(self) -> Mapping[str, Fingerprint]:
        found: dict[str, Fingerprint] = {}
        for store in self.stores:
            found |= store.raters()
        return found

    @cached_property
    def all(self) -> tuple[Rater, ...]:
        return raters(self.fingerprints)

    @cached_property
    def names(self) -> GraderNames:
        return GraderNames({id: rater.label for rater in self.all for id in rater.ids}, CATEGORIES, tuple(GROUPINGS))

    @cached_property
    def rules(self) -> Rater:
        return next((rater for rater in self.all if rater.name == RULES), _NO_RULES)

    @cached_property
    def rules_decided(self) -> bool:
        return any(store.has_decided(RULES) for store in self.stores)

    def default(self) -> Rater:
        """The rules. Where they have decided nothing and there is one other grader, that one; verdicts that came with
        imported trajectories stand back behind those that were made here."""
        found = [rater for rater in self.all if rater.name != RULES]
        others = [rater for rater in found if not rater.name.startswith(PUBLISHED)] or found
        return others[0] if len(others) == 1 and not self.rules_decided else self.rules

    def get(self, wanted: str) -> Rater:
        """By name, by name and model, or by whatever else tells it apart."""
        said = " ".join(wanted.split())
        fitting = [rater for rater in self.all if said in rater.names]
        if not fitting and said == RULES:
            return _NO_RULES
        if not fitting:
            known = {name for rater in self.all for name in (rater.name, rater.label)} | {RULES}
            raise nearest("grader", wanted, known, hint=self._listed())
        exact = [rater for rater in fitting if rater.label == said]
        if len(exact or fitting) > 1:
            labels = ", ".join(rater.label for rater in fitting)
            raise InputError(
                f"{len(fitting)} graders are called {said}: {labels}.",
                hint=f'Name one of them: --grader "{fitting[0].label}"',
            )
        return (exact or fitting)[0]

    def chosen(self, wanted: Sequence[str]) -> list[Rater]:
        return list(dict.fromkeys(map(self.get, wanted))) or [self.default()]

    def _listed(self) -> str:
        return f"These gave verdicts: {', '.join(rater.label for rater in self.all)}." if self.all else ""

    def unused(self, rater: Rater) -> str:
        """What somebody should know who did not name a grader and sees no verdicts."""
        others = [one.label for one in self.all if one.name != RULES]
        if rater.name != RULES or self.rules_decided or not others:
            return ""
        return f'The rules decided nothing; judges did: {", ".join(others)}. Choose one: --grader "{others[0]}".'


@contextmanager
def read_runs(setup: Setup, runs: Paths, grader: str = "") -> Iterator[tuple[Mapping[str, Store], Graders, Rater]]:
    """The runs by name, everybody who gave a verdict in them, and whose verdicts count: a named grader's, or the
    default's."""
    with open_runs(named(paths(runs)), setup.tell) as stores:
        everybody = Graders(list(stores.values()))
        (rater,) = everybody.chosen([grader] if grader else [])
        yield stores, everybody, rater


def graders(setup: Setup, runs: Paths) -> list[str]:
    """Everybody who gave a verdict in these runs, by the names that `grader` takes."""
    with read_runs(setup, runs) as (_, everybody, _):
        return [rater.label for rater in everybody.all]


def rows(setup: Setup, runs: Paths, grader: str = "") -> list[dict[str, Any]]:
    """One flat dictionary for every planned unit, ready for pandas or polars."""
    with read_runs(setup, runs, grader) as (stores, _, rater):
        return [{"run": run, **row.as_dict()} for run, found in _by_run(stores, rater).items() for row in found]


def result_rows(store: Store, rater: Rater) -> Iterator[ResultRow]:
    """Every planned unit of a run that is not damaged, and what became of it."""
    return rows_of(store.rows(rater.name, raters=rater.counting))


def _by_run(stores: Mapping[str, Store], rater: Rater) -> Mapping[str, list[ResultRow]]:
    return {name: list(result_rows(store, rater)) for name, store in stores.items()}


def named(runs: Sequence[Path]) -> Mapping[str, Path]:
    """A run is called by its folder's name, or by its path where two folders share one."""
    names = [Path(os.path.realpath(path)).name for path in runs]  # `.` has no name of its own
    seen = Counter(names)
    return {name if seen[name] == 1 else str(path): path for name, path in zip(names, runs, strict=True)}


# --- results --------------------------------------------------------------------------------------------------


def report(setup: Setup, runs: Paths, *, anchor: str | None = None, title: str = "", graders: Names = ()) -> Report:
    """Success with intervals; agents are compared with `anchor`, by default the best one. The first of `graders` is
    behind every number; the others, and the rules where they decided something, stand beside it. Without any, the
    rules decide, or the only judge where no rule decided. What is damaged is one of its warnings."""
    runs, wanted = paths(runs), names(graders)
    damage: list[str] = []
    with ledger_reader(runs) as reading, open_runs(named(runs), damage.append) as stores:
        found = Graders(list(stores.values()))
        chosen = found.chosen(wanted)
        first = chosen[0]
        if wanted and found.rules_decided and found.rules not in chosen:
            chosen.append(found.rules)
        graded = {rater.label: _gathered(stores, rater, reading) for rater in chosen}
        made = report_of(
            graded[first.label],
            anchor=anchor,
            title=title or ", ".join(stores),
            grader=first.label,
            names=found.names,
        )
        told = [found.unused(first)] if not wanted else []
        attempts, lucky = _attempts(stores, first)
        broken = broken_agents(made, stores)
        warnings = (*damage, *broken, *made.warnings, *filter(None, (*told, *lucky)), *_trusted(stores))
        facts = {**made.facts, **_limits(stores), "attempts": attempts}
        made = made.model_copy(update={"warnings": warnings, "facts": facts})
        return beside(made, graded, found.names)


def _limits(stores: Mapping[str, Store]) -> dict[str, Json]:
    """Two runs under different limits are not the same experiment, so the report says which they were; and whose keys
    could be known."""
    found: dict[str, Json] = {}
    for name, store in stores.items():
        if said := limits_in_words(store):
            found["limits" if len(stores) == 1 else f"limits of {name}"] = said
        if said := worlds_in_words(store):
            found["worlds" if len(stores) == 1 else f"worlds of {name}"] = said
    return found


def _attempts(stores: Mapping[str, Store], rater: Rater) -> tuple[Json, list[str]]:
    """How often each unit was played, and which passed only when played again: faults are ours, but a second throw is
    a second throw."""
    again: dict[str, Json] = {}
    after_faults: list[str] = []
    after_others: list[str] = []
    for name, store in stores.items():
        before = "" if len(stores) == 1 else f"{name}: "
        for unit, (count, place) in store.played_again().items():
            again[f"{before}{unit}"] = count
            endings = _earlier_endings(store, unit) if _has_passed(store, rater, place) else set()
            if endings:
                (after_faults if endings == {"fault"} else after_others).append(f"{before}{unit}")
    said = []
    if after_faults:
        how = "when they were played again, after a fault"
        said.append(f"{len(after_faults)} of the units that passed did so {how}: {_first(after_faults)}.")
    if after_others:
        how = "in a later attempt, such as a log that was imported again, although an earlier one had not faulted"
        said.append(f"{len(after_others)} of the units that passed did so {how}: {_first(after_others)}.")
    return again or "one for each unit that was played", said


def _has_passed(store: Store, rater: Rater, place: int) -> bool:
    results = store.rows(rater.name, raters=rater.counting, places=(place, place))
    return any(one.verdict is not None and one.verdict.status == "pass" for one in results)


def _earlier_endings(store: Store, unit: str) -> set[str]:
    """How the attempts before the one that counts ended."""
    counted = store.find_trajectory(unit)
    attempts = store.attempts_at(unit)
    place = next((place for place, one in enumerate(attempts) if counted and one.trajectory_id == counted[0]), 0)
    return {one.ending for one in attempts[:place]}


def _first(units: Sequence[str]) -> str:
    return ", ".join(units[:LISTED]) + (f" and {len(units) - LISTED} more" if len(units) > LISTED else "")


def _trusted(stores: Mapping[str, Store]) -> Iterator[str]:
    for name, store in stores.items():
        if agents := trusted_in(store):
            yield (
                f"{', '.join(agents)} ran with --trust-agent in {name}: nothing kept the agent's own code from the "
                "keys and the record."
            )


def _gathered(stores: Mapping[str, Store], rater: Rater, reading: LedgerReader) -> ReportData:
    if len(stores) == 1:
        (store,) = stores.values()
        return reading.gather(store, rater)  # no row is ever made
    return gather(blocks_of_rows(together({name: result_rows(store, rater) for name, store in stores.items()})))


def leaderboard(setup: Setup, runs: Paths, *, title: str = "Leaderboard", grader: str = "") -> Document:
    """Many runs in one table; scores under different rules stay apart."""
    with read_runs(setup, runs, grader) as (stores, everybody, rater):
        return leaderboard_document(rank(_by_run(stores, rater), title=title, names=everybody.names))


def audit(
    setup: Setup, benchmarks: Names, runs: Paths = (), labels: Sequence[Label] = (), grader: str = ""
) -> Document:
    """What is wrong with benchmarks, task by task. `NAME=FILE` reads a benchmark from a file. The agreement is that of
    all graders; everything else goes by the one that is wanted."""
    tasks = [task for name in names(benchmarks) for task in named_tasks(setup, name)]
    with read_runs(setup, runs, grader) as (stores, _, rater):
        played = [row for found in _by_run(stores, rater).values() for row in found]
        verdicts = [verdict for store in stores.values() for verdict in store.newest_verdicts()]
    return audit_document(audit_tasks(tasks, played, verdicts=verdicts, labels=labels))


def audit_against(setup: Setup, before: str, after: str) -> Document:
    """What one benchmark changed in the tasks of another, by their numbers: goal, key and checks."""
    changed = changes(named_tasks(setup, before), named_tasks(setup, after))
    title = f"{changed.after} against {changed.before}"
    return Document(title, of_changes(changed), changed.model_dump_json(indent=1))


def subset(setup: Setup, runs: Paths, procedure: Procedure = TEXT, grader: str = "", benchmark: str = "") -> Document:
    """The tasks that tell agents apart, by the rule of the WebArena Verified paper. Published outcomes will do in
    place of runs: tables of task, agent and outcome, whose templates and sites `benchmark` knows."""
    places, published = _published(setup, runs, benchmark)
    if not places:
        return subset_document(select(published, procedure))
    with read_runs(setup, places, grader) as (stores, _, rater):
        return subset_document(select([*together(_by_run(stores, rater)), *published], procedure))


def tables(setup: Setup, runs: Paths, grader: str = "", benchmark: str = "") -> Document:
    """Success by type and site, by modality and site, with and without tools, and of one benchmark against another.
    Published outcomes will do in place of runs, as for `subset`."""
    places, published = _published(setup, runs, benchmark)
    if not places:
        return tables_document(count_tables(published, GROUPINGS))
    with read_runs(setup, places, grader) as (stores, _, rater):
        by_run = _by_run(stores, rater)
    # An agent that played two benchmarks in two runs is one agent here, unless it played a task twice.
    played = [row for own in by_run.values() for row in own]
    once = len({(row.agent, row.task, row.trial) for row in played}) == len(played)
    return tables_document(count_tables([*(played if once else together(by_run)), *published], GROUPINGS))


def _published(setup: Setup, places: Paths, benchmark: str) -> tuple[list[Path], list[ResultRow]]:
    """The run directories among these places, and the rows of the tables of published outcomes."""
    files, runs = outcomes.apart(paths(places))
    known = named_tasks(setup, benchmark) if benchmark else ()
    return runs, [row for file in files for row in outcomes.read(file, known)]
