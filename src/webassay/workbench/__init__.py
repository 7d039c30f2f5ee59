"""The application: everything that webassay does, as plain Python. The command line and every other door call this.

    from webassay import Workbench, Selection

    bench = Workbench()
    await bench.run("runs/first", ["oracle", "naive-zero"], Selection(instances=1))
    print(bench.report(["runs/first"]).agents[0].success.macro)
    rows = bench.rows(["runs/first"])          # dictionaries, ready for pandas.DataFrame or polars.DataFrame

What takes long is a coroutine. A notebook awaits it; a script calls `webassay.run_sync(…)`, the one synchronous edge.
Long work reports through `on_progress`; nothing here prints.
"""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from webassay.agents.cells.external import COMMAND
from webassay.analysis.benchmark.changes import changes, of_changes
from webassay.analysis.benchmark.subset import APPENDIX, TEXT, Procedure
from webassay.analysis.episode.text import to_text as episode_in_words
from webassay.analysis.episode.text import units_table as units_in_words
from webassay.analysis.episode.view import EpisodeView, UnitLine
from webassay.analysis.numbers.agreement import Label
from webassay.analysis.output.document import Document
from webassay.analysis.results.formats import ReportFormat
from webassay.benchmarks.base import Selection
from webassay.benchmarks.open import OpenTask
from webassay.browser.devtools.install import ensure_chromium
from webassay.compose.models import ModelOptions
from webassay.compose.registries import BENCHMARKS, KINDS, TEMPLATES
from webassay.compose.setup import Setup, default_cache
from webassay.compose.tasks import Column, adopted, query, select, site_tables
from webassay.core.errors import InputError
from webassay.core.interaction import Goal
from webassay.core.progress import OnNotice, OnProgress, Progress, silent, unheard
from webassay.core.rater import RULES
from webassay.core.registry import Registry, nearest
from webassay.core.report import Report
from webassay.core.task import Task
from webassay.core.trajectory import Trajectory
from webassay.core.verdict import Verdict
from webassay.environments.arena import ArenaStage
from webassay.faultbench import generate as faultbench
from webassay.faultbench import score as fault_scores
from webassay.faultbench.plan import BenchOptions
from webassay.faultbench.records import FaultBench
from webassay.faultbench.score import bench_in_words
from webassay.grading.grade import Policy
from webassay.grading.logs import GradedLog
from webassay.grading.logs import explain as explain_rules
from webassay.grading.reference import Difference
from webassay.judging.plan import describe_plan
from webassay.judging.universal.explain import explain as explain_judge
from webassay.judging.universal.explain import explain_review as describe_review
from webassay.judging.universal.rubric import freeze
from webassay.judging.universal.verify import Review
from webassay.llm.hosted import estimated_cost
from webassay.llm.replay import Script, replaying
from webassay.play.episode import EpisodeContext
from webassay.sites.kit import SqlValue
from webassay.store import runs as damage
from webassay.store.runs import Damage, Repaired, is_run
from webassay.study import sources as agreeing
from webassay.study.label_files import Mapped
from webassay.study.results import StudyOptions
from webassay.study.sources import AgreeOptions
from webassay.workbench import (
    checking,
    contamination,
    failures,
    grading,
    importing,
    judging,
    labelling,
    outcomes,
    playing,
    protocols,
    reporting,
    serving,
    showing,
    stepping,
    submitting,
)
from webassay.workbench.checking import Proof
from webassay.workbench.contamination import GuessOptions, GuessPlan
from webassay.workbench.grading import Asked, Graded, GradeOptions, LogOptions
from webassay.workbench.importing import Imported, LogImport
from webassay.workbench.judging import Verification, VerifyOptions
from webassay.workbench.planted import Planted, planted
from webassay.workbench.playing import DEFAULTS, Crash, EpisodeEnd, PlayOptions
from webassay.workbench.protocols import ProtocolOptions
from webassay.workbench.stepping import Exercise, Journal
from webassay.workbench.submitting import Submission

__all__ = [
    "COMMAND",
    "KINDS",
    "PROCEDURES",
    "AgreeOptions",
    "ArenaStage",
    "Asked",
    "BenchOptions",
    "Damage",
    "Difference",
    "Document",
    "EpisodeView",
    "Exercise",
    "GradeOptions",
    "GradedLog",
    "GuessOptions",
    "Imported",
    "Journal",
    "Label",
    "LogImport",
    "LogOptions",
    "Mapped",
    "ModelOptions",
    "OpenTask",
    "PlayOptions",
    "Policy",
    "Progress",
    "Proof",
    "ProtocolOptions",
    "Repaired",
    "ReportFormat",
    "Selection",
    "StudyOptions",
    "Submission",
    "UnitLine",
    "VerifyOptions",
    "Workbench",
    "bench_in_words",
    "describe_plan",
    "describe_review",
    "episode_in_words",
    "freeze",
    "in_words",
    "is_run",
    "units_in_words",
]

AnyPath = str | PathLike[str]
Paths = AnyPath | Sequence[AnyPath]
Names = str | Sequence[str]

ALL_TASKS = Selection()
EVERYTHING = GradeOptions()
AS_THEY_ARE = AgreeOptions()
BOTH_PROTOCOLS = ProtocolOptions()
NAIVE_ONLY = GuessOptions()

PROCEDURES: Mapping[str, Procedure] = {"text": TEXT, "appendix": APPENDIX}
"""How the hard subset is chosen: by the paper's text, or by its appendix."""


def in_words(verdict: Verdict, trajectory: Trajectory | None = None) -> str:
    """What was expected and found, for a person to read."""
    by_rule = verdict.fingerprint.grader == RULES or verdict.fingerprint.key  # Judges have no key.
    return explain_rules(verdict) if by_rule else explain_judge(verdict, trajectory)


class Workbench:
    def __init__(
        self,
        *,
        cache: AnyPath | None = None,
        chromium: str | None = None,
        on_progress: OnProgress = silent,
        on_notice: OnNotice = unheard,
    ) -> None:
        """`cache`: built worlds, fetched tasks and replies of models; default: the user's cache directory. `on_notice`
        hears, in words, what is damaged in a run directory."""
        self.setup = Setup(cache=Path(cache) if cache else default_cache(), chromium=chromium, tell=on_notice)
        self.on_progress = on_progress

    def kinds(self) -> Mapping[str, Registry[Any]]:
        """Everything that can be named: agents, benchmarks, environments, judges, importers, sites and so on."""
        return KINDS

    # --- tasks ------------------------------------------------------------------------------------------------

    def tasks(self, selection: Selection = ALL_TASKS) -> tuple[Task, ...]:
        """With their keys. The first time, the worlds that they are drawn from have to be built."""
        self.on_progress(Progress("building tasks"))
        return select(adopted(selection), self.setup).tasks

    def adopt_templates(self, names: Sequence[str]) -> tuple[str, ...]:
        """Templates in files of yours, `file.py:Class`, to grade and show runs that were made with them: a run says how
        its templates are called, never where they are. Returns how they are called."""
        return tuple(map(TEMPLATES.adopt, names))

    def site_tables(self, site: str) -> list[Column]:
        """What a site's database looks like, for whoever writes queries and keys."""
        return site_tables(site)

    def query(self, site: str, sql: str, world_seed: int = 0, scale: str = "") -> list[dict[str, SqlValue]]:
        """Rows of a site's pristine world, which the query cannot change."""
        return query(self.setup, site, sql, world_seed, scale)

    def fetch(self, benchmark: str) -> Path:
        """Gets an outside benchmark's task file into the cache."""
        fetch = BENCHMARKS.get(benchmark).fetch if benchmark in BENCHMARKS else None
        if fetch is None:
            raise nearest("fetchable benchmark", benchmark, [one.name for one in BENCHMARKS if one.fetch is not None])
        self.on_progress(Progress(f"fetching {benchmark}"))
        return fetch(self.setup.cache)

    def estimated_cost(self, model: str, input_tokens: int, output_tokens: int) -> float | None:
        """In US dollars, by list prices; None where no list knows the model."""
        return estimated_cost(model, input_tokens, output_tokens)

    # --- playing ----------------------------------------------------------------------------------------------

    async def run(
        self,
        out: AnyPath,
        agents: Names,
        selection: Selection = ALL_TASKS,
        options: PlayOptions = DEFAULTS,
    ) -> None:
        """Plays every agent on every task and grades it. A run that was cut off is resumed; nothing is played twice."""
        await playing.run(self.setup, Path(out), _names(agents), selection, options, self.on_progress)

    async def try_goals(
        self,
        out: AnyPath,
        agents: Names,
        goals: Sequence[OpenTask],
        options: PlayOptions = DEFAULTS,
    ) -> None:
        """Goals on sites of your choice, recorded like any task."""
        await playing.try_goals(self.setup, Path(out), _names(agents), goals, options, self.on_progress)

    def open_arena(self, options: PlayOptions = DEFAULTS) -> AbstractAsyncContextManager[EpisodeContext]:
        """One site server and one browser, for episodes that you step yourself; any number side by side."""
        return stepping.open_arena(self.setup, options)

    def exercise(self, selection: Selection = ALL_TASKS, *, grader: str = RULES) -> Exercise:
        """Arena tasks to step through, with their grader."""
        return Exercise(self.setup, selection, grader)

    def journal(self, out: AnyPath) -> Journal:
        """A run directory for episodes that you step yourself; close it, or use it in a `with`."""
        return Journal(Path(out))

    def endings(self, run: AnyPath) -> Iterator[EpisodeEnd]:
        """How each episode of a run ended, and what its agent said last."""
        return playing.endings(Path(run), self.setup.tell)

    def crashes(self, run: AnyPath) -> list[Crash]:
        """The agents whose own code failed, each with the trace of the first time."""
        return playing.crashes(Path(run), self.setup.tell)

    async def check(
        self, out: AnyPath, selection: Selection = ALL_TASKS, options: PlayOptions = DEFAULTS
    ) -> list[Proof]:
        """Plays every route of the oracle, shortcuts and a naive agent, then grafts mistakes onto the right episodes:
        the proof that tasks are solvable and strict."""
        selection = adopted(selection)
        await checking.play(self.setup, Path(out), selection, options, self.on_progress)
        return checking.prove(self.setup, Path(out), selection, self.on_progress)

    async def serve(self, *, port: int, seed: int = 0, users: Names = (), ready: Callable[[ArenaStage], None]) -> None:
        """The embedded sites on a port of this machine, until cancelled. `users`: SITE=NAME, to be logged in."""
        await serving.serve(self.setup, port, seed, serving.read_logins(_names(users)), ready)

    async def replay_model(self, script: AnyPath, *, port: int, ready: Callable[[str], None]) -> None:
        """Stands in for a model, with scripted replies, until cancelled; `ready` hears the address."""
        async with replaying(Script.load(Path(script)), port=port) as server:
            ready(server.url)
            await asyncio.Event().wait()

    def install_chromium(self, tell: Callable[[str], None]) -> Path:
        """Finds a Chromium or installs one; `tell` hears which commands are tried."""
        return ensure_chromium(self.setup.chromium, tell=tell)

    # --- verdicts ---------------------------------------------------------------------------------------------

    def grade(self, run: AnyPath, options: GradeOptions = EVERYTHING) -> Iterator[Graded]:
        """Grades a stored run again, offline, as the iterator is consumed. Executes nothing that the run names."""
        return grading.grade_run(self.setup, Path(run), options, self.on_progress)

    async def ask_model(
        self, run: AnyPath, options: GradeOptions = EVERYTHING, model: ModelOptions | None = None
    ) -> Asked:
        """Answers to what old protocols leave to a model, for `GradeOptions.replies`; without a model, how many."""
        return await grading.ask_model(self.setup, Path(run), options, model, self.on_progress)

    def grade_logs(self, folder: AnyPath, options: LogOptions) -> Iterator[GradedLog]:
        """Grades log folders of another harness."""
        return grading.grade_log_folder(self.setup, Path(folder), options, self.on_progress)

    def compare_graders(
        self, folder: AnyPath, logs: Sequence[GradedLog], options: LogOptions, other: str = "reference"
    ) -> Sequence[Difference]:
        """Where another grader decides otherwise on the same logs; `reference` is the published one."""
        if other != "reference":
            raise nearest("comparison grader", other, ("reference",))
        return grading.compare_with_reference(self.setup, Path(folder), logs, options, self.on_progress)

    def verification(self, places: Paths, options: VerifyOptions) -> Verification:
        """Judges over runs and over trajectories of other people; `with` it, then `estimate()` or `run()`."""
        return Verification(self.setup, _paths(places), options, self.on_progress)

    def label(self, run: AnyPath, labels: AnyPath, annotator: str) -> int:
        """A person's labels, from CSV or JSON lines, as verdicts of the grader `human:ANNOTATOR`; returns how many."""
        return labelling.label_run(self.setup, Path(run), Path(labels), annotator)

    async def review_rubric(self, goal: Goal, options: VerifyOptions) -> Review:
        """A rubric from the task alone, with what a person should look at before it is used."""
        return await judging.review(self.setup, goal, options)

    def goal(self, task: str, selection: Selection = ALL_TASKS) -> Goal:
        """Of a task by its id; a text with blanks in it is a goal itself."""
        return judging.goal_of(self.setup, task, selection)

    async def make_faultbench(self, out: AnyPath, options: BenchOptions) -> FaultBench:
        """Trajectories with one known mistake each, beside honest ones that look alike, as a run with labels."""
        options = replace(options, templates=self.adopt_templates(options.templates))
        return await faultbench.generate(self.setup, Path(out), options, self.on_progress)

    def score_faultbench(self, bench: AnyPath, predictions: Names = ()) -> Document:
        """How well the judges whose verdicts are in a fault bench find its mistakes; `NAME=FILE` adds others."""
        return fault_scores.score_bench(Path(bench), self.setup.tell, _names(predictions))

    # --- trajectories of other people -------------------------------------------------------------------------

    def import_trajectories(
        self, paths: Paths, out: AnyPath, format: str | None = None, *, agent: str = ""
    ) -> Imported:
        """With what people and published judges said of them. `agent`: whose they are, where the files do not say."""
        found = _paths(paths)
        for path in found:
            if not path.exists():
                raise InputError(f"{path} does not exist.")
        with damage.extend_run(Path(out)) as store:
            return importing.import_into(store, found, self.on_progress, format=format, agent=agent)

    def import_logs(self, folders: Paths, out: AnyPath, wanted: LogImport) -> Imported:
        """Log folders of a benchmark's own harness, as a graded run."""
        return importing.import_logs(
            self.setup, Path(out), [Path(one) for one in _several(folders)], wanted, self.on_progress
        )

    def export_trajectories(self, run: AnyPath, out: AnyPath, format: str) -> int:
        return importing.export_run(self.setup, Path(run), Path(out), format, self.on_progress)

    def package_submission(self, run: AnyPath, out: AnyPath, told: Submission) -> dict[str, Any]:
        """A package for WebArena-Verified's leaderboard; returns what its `submission.json` says."""
        return submitting.package(self.setup, Path(run), Path(out), told, self.on_progress)

    def agentlab_table(self, runs: Paths, grader: str = "") -> Document:
        """One line an episode, with the columns of AgentLab's result tables."""
        return submitting.agentlab(_paths(runs), grader, self.setup.tell)

    # --- one episode ------------------------------------------------------------------------------------------

    def units(self, run: AnyPath, part: str = "") -> list[UnitLine]:
        """The units of a run with their status; `part`: those that a name or a part of one can mean."""
        with showing.opened(self.setup, Path(run)) as recorded:
            return recorded.matching(part) if part else recorded.units

    def planted(self, run: AnyPath) -> dict[str, Planted]:
        """Of agents that err on purpose: how often they did, and whether the rules failed just those episodes."""
        return planted(Path(run), self.setup.tell)

    def episode(self, run: AnyPath, unit: str) -> EpisodeView:
        """Everything about one episode. `unit`: `agent/task/trial`, a trajectory id, or a part that only one has."""
        with showing.opened(self.setup, Path(run)) as recorded:
            return recorded.view(recorded.one(unit))

    def episode_page(self, run: AnyPath, unit: str) -> str:
        """The same as one HTML page with its pictures in it; it loads nothing."""
        with showing.opened(self.setup, Path(run)) as recorded:
            return recorded.page(recorded.view(recorded.one(unit)))

    def write_report(self, report: Report, runs: Paths, html: AnyPath, *, episodes: showing.Which = "none") -> int:
        """The report's page, with a table of its episodes. `episodes` also writes a page for `all` of them, or for
        those that did not pass (`failed`), into a folder next to it. Returns how many."""
        return showing.write_report(self.setup, report, _paths(runs), Path(html), episodes, self.on_progress)

    # --- damage -----------------------------------------------------------------------------------------------

    def check_store(self, run: AnyPath) -> list[Damage]:
        """Every damage in a run directory, down to single rows and blobs. Reads everything and changes nothing."""
        return damage.check(Path(run))

    def repair_store(self, run: AnyPath) -> Repaired:
        """A new ledger of every row that is whole; the damaged one is kept beside it."""
        return damage.repair(Path(run))

    # --- numbers ----------------------------------------------------------------------------------------------

    def graders(self, runs: Paths) -> list[str]:
        """Everybody who gave a verdict in these runs, by the names that `grader` takes."""
        return reporting.labels_of_graders(_paths(runs), self.setup.tell)

    def rows(self, runs: Paths, grader: str = "") -> list[dict[str, Any]]:
        """One flat dictionary for every planned unit, ready for pandas or polars."""
        return reporting.flat_rows(_paths(runs), grader, self.setup.tell)

    def report(self, runs: Paths, *, anchor: str | None = None, title: str = "", graders: Names = ()) -> Report:
        """Success with intervals; agents are compared with `anchor`, by default the best one. The first of `graders`
        decides, the others stand beside it; without any, the rules do, or the only judge where no rule decided."""
        return reporting.report(_paths(runs), anchor=anchor, title=title, wanted=_names(graders))

    def leaderboard(self, runs: Paths, *, title: str = "Leaderboard", grader: str = "") -> Document:
        return reporting.leaderboard_of(_paths(runs), self.setup.tell, title=title, wanted=grader)

    def audit(
        self,
        benchmarks: Names,
        runs: Paths = (),
        labels: Sequence[Label] = (),
        grader: str = "",
    ) -> Document:
        """What is wrong with benchmarks, task by task. `NAME=FILE` reads a benchmark from a file."""
        tasks = [task for name in _names(benchmarks) for task in self._named_tasks(name)]
        return reporting.audit_of(tasks, _paths(runs), labels, grader, self.setup.tell)

    def audit_against(self, before: str, after: str) -> Document:
        """What one benchmark changed in the tasks of another, by their numbers: goal, key and checks."""
        made = changes(self._named_tasks(before), self._named_tasks(after))
        return Document(f"{made.after} against {made.before}", of_changes(made), made.model_dump_json(indent=1))

    def agree(self, labels: AnyPath, predictions: Paths = (), options: AgreeOptions = AS_THEY_ARE) -> Document:
        """How far judges agree with people: files of labels and predictions, or run directories with verdicts of both.
        `NAME=PATH` gives a judge its name; several paths of one name are several runs of one judge."""
        return agreeing.agree(self.setup, str(labels), [str(one) for one in _several(predictions)], options)

    def subset(self, runs: Paths, procedure: Procedure = TEXT, grader: str = "", benchmark: str = "") -> Document:
        """The tasks that tell agents apart, by the rule of the WebArena Verified paper. Published outcomes will do in
        place of runs: tables of task, agent and outcome, whose templates and sites `benchmark` knows."""
        tables, places = outcomes.apart(_paths(runs))
        known = self._named_tasks(benchmark) if benchmark else ()
        published = [row for table in tables for row in outcomes.read(table, known)]
        return reporting.subset_of(places, procedure, grader, self.setup.tell, published)

    def tables(self, runs: Paths, grader: str = "", benchmark: str = "") -> Document:
        """Success by type and site, by modality and site, with and without tools, and of one benchmark against another.
        Published outcomes will do in place of runs, as for `subset`."""
        found, places = outcomes.apart(_paths(runs))
        known = self._named_tasks(benchmark) if benchmark else ()
        published = [row for table in found for row in outcomes.read(table, known)]
        return reporting.tables_of(places, grader, self.setup.tell, published)

    def errors(self, runs: Paths, grader: str = "") -> Document:
        """Why episodes failed, in the classes of WebArena Verified's A.1 and WebChoreArena's section 6."""
        return failures.failures(_paths(runs), grader, self.on_progress, self.setup.tell)

    async def contamination(self, selection: Selection, options: GuessOptions = NAIVE_ONLY) -> Document:
        """What agents get that do not look at any page, over any benchmark that can be graded. Nothing is played."""
        return await contamination.contamination(self.setup, selection, options, self.on_progress)

    async def contamination_plan(self, selection: Selection, model: ModelOptions) -> GuessPlan:
        """What asking a model about every task would take. Nothing is asked."""
        return await contamination.plan(self.setup, selection, model)

    def protocols(self, places: Paths, options: ProtocolOptions = BOTH_PROTOCOLS) -> Document:
        """Runs or log folders of WebArena's tasks, graded by the old protocol and by the verified one."""
        return protocols.protocols(self.setup, _paths(places), options, self.on_progress)

    def _named_tasks(self, name: str) -> tuple[Task, ...]:
        benchmark, _, file = name.partition("=")
        return self.tasks(Selection(benchmark=benchmark, file=file))


def _several(given: Paths) -> list[AnyPath]:
    """A single one needs no list around it; taken for a list, its letters would be the paths."""
    return [given] if isinstance(given, str | PathLike) else list(given)


def _paths(given: Paths) -> list[Path]:
    """Each place once, however it is written."""
    found: dict[str, Path] = {}
    for one in _several(given):
        found.setdefault(os.path.realpath(one), Path(one))
    return list(found.values())


def _names(given: Names) -> list[str]:
    return [given] if isinstance(given, str) else list(given)
