"""The application: everything that webassay does, as plain Python. The command line and every other door call this.

    from webassay import Workbench, Selection

    bench = Workbench()
    await bench.run("runs/first", ["oracle", "naive-zero"], Selection(instances=1))
    print(bench.report(["runs/first"]).agents[0].success.macro)
    bench.open("runs/first").frame()           # one row for each planned unit, in pandas or polars

What takes long is a coroutine. A notebook awaits it; a script calls `webassay.run_sync(…)`, the one synchronous edge.
Long work reports through `on_progress`; nothing here prints.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from webassay.agents.cells.external import COMMAND
from webassay.analysis.benchmark.subset import APPENDIX, TEXT, Procedure
from webassay.analysis.episode.text import to_text as episode_in_words
from webassay.analysis.episode.text import units_table as units_in_words
from webassay.analysis.episode.view import EpisodeView, UnitLine
from webassay.analysis.numbers.agreement import Label
from webassay.analysis.output.document import Document
from webassay.analysis.results.ci import Threshold, UnitCase, failed_in_markdown, to_junit
from webassay.analysis.results.formats import ReportFormat
from webassay.arena.kit.proof import as_table
from webassay.benchmarks.base import RANDOM_WORLD, Selection
from webassay.benchmarks.open import OpenTask
from webassay.compose.builder import PlayOptions
from webassay.compose.given import AnyPath, Names, Paths, names, several
from webassay.compose.models import ModelOptions
from webassay.compose.registries import KINDS
from webassay.compose.setup import Setup, default_cache
from webassay.compose.tasks import site_tables
from webassay.core.progress import OnNotice, OnProgress, Progress, silent, unheard
from webassay.core.rater import RULES
from webassay.core.registry import Registry
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
from webassay.grading.reference import GraderDisagreement
from webassay.judging.plan import describe_estimate
from webassay.judging.universal.explain import explain as explain_judge
from webassay.judging.universal.explain import explain_review as describe_review
from webassay.judging.universal.rubric import freeze
from webassay.llm.hosted import estimated_cost
from webassay.store import runs as damage
from webassay.store.runs import Damage, RepairReport, is_run
from webassay.study import labels as _labels
from webassay.study import sources as agreeing
from webassay.study.label_files import LabelColumns
from webassay.study.results import StudyOptions
from webassay.study.sources import AgreeOptions
from webassay.workbench import check as _check
from webassay.workbench import ci as _ci
from webassay.workbench import contamination as _contamination
from webassay.workbench import errors as _errors
from webassay.workbench import grade as _grade
from webassay.workbench import imports as _imports
from webassay.workbench import judge as _judge
from webassay.workbench import mistakes as _mistakes
from webassay.workbench import notebook as _notebook
from webassay.workbench import play as _play
from webassay.workbench import protocols as _protocols
from webassay.workbench import report as _report
from webassay.workbench import serve as _serve
from webassay.workbench import shelf as _shelf
from webassay.workbench import show as _show
from webassay.workbench import step as _step
from webassay.workbench import submit as _submit
from webassay.workbench import tasks as _tasks
from webassay.workbench.contamination import GuessOptions
from webassay.workbench.grade import GradeOptions, LogOptions
from webassay.workbench.imports import ImportResult, LogImport
from webassay.workbench.judge import VerifyOptions
from webassay.workbench.notebook import Run
from webassay.workbench.plan import PlannedRun
from webassay.workbench.protocols import ProtocolOptions
from webassay.workbench.shelf import Shelf, ShelvedRun, ShelvedUnit
from webassay.workbench.step import Exercise, Journal
from webassay.workbench.submit import Submission

__all__ = [
    "COMMAND",
    "PROCEDURES",
    "RANDOM_WORLD",
    "AgreeOptions",
    "ArenaStage",
    "BenchOptions",
    "Document",
    "EpisodeView",
    "Exercise",
    "GradeOptions",
    "GradedLog",
    "GraderDisagreement",
    "GuessOptions",
    "ImportResult",
    "Journal",
    "Label",
    "LabelColumns",
    "LogImport",
    "LogOptions",
    "ModelOptions",
    "OpenTask",
    "PlannedRun",
    "PlayOptions",
    "Policy",
    "Progress",
    "ProtocolOptions",
    "ReportFormat",
    "Run",
    "Selection",
    "Shelf",
    "ShelvedRun",
    "ShelvedUnit",
    "StudyOptions",
    "Submission",
    "Threshold",
    "UnitCase",
    "UnitLine",
    "VerifyOptions",
    "Workbench",
    "as_table",
    "bench_in_words",
    "describe_estimate",
    "describe_review",
    "episode_in_words",
    "failed_in_markdown",
    "freeze",
    "in_words",
    "is_run",
    "to_junit",
    "units_in_words",
]

AS_THEY_ARE = AgreeOptions()

PROCEDURES: Mapping[str, Procedure] = {"text": TEXT, "appendix": APPENDIX}
"""How the hard subset is chosen: by the paper's text, or by its appendix."""


def in_words(verdict: Verdict, trajectory: Trajectory | None = None) -> str:
    """What was expected and found, for a person to read."""
    by_rule = verdict.fingerprint.grader == RULES or verdict.fingerprint.key  # Judges have no key.
    return explain_rules(verdict) if by_rule else explain_judge(verdict, trajectory)


P = ParamSpec("P")
R = TypeVar("R")


def _with_setup(function: Callable[Concatenate[Setup, P], R]) -> "Callable[Concatenate[Workbench, P], R]":
    @wraps(function)
    def method(self: "Workbench", /, *args: P.args, **kwargs: P.kwargs) -> R:
        return function(self.setup, *args, **kwargs)

    return method


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
        self.setup = Setup(Path(cache) if cache else default_cache(), chromium, on_progress, on_notice)

    def kinds(self) -> Mapping[str, Registry[Any]]:
        """Everything that can be named: agents, benchmarks, environments, judges, importers, sites and so on."""
        return KINDS

    # tasks
    tasks = _with_setup(_tasks.tasks)
    query = _with_setup(_tasks.query)
    fetch = _with_setup(_tasks.fetch)
    adopt_templates = staticmethod(_tasks.adopt_templates)
    site_tables = staticmethod(site_tables)
    estimated_cost = staticmethod(estimated_cost)

    # playing
    run = _with_setup(_play.run)
    plan_run = _with_setup(_play.plan_run)
    try_goals = _with_setup(_play.try_goals)
    endings = _with_setup(_play.endings)
    outcome = _with_setup(_play.outcome)
    failed_units = _with_setup(_play.failed_units)
    open_arena = _with_setup(_step.open_arena)
    look = _with_setup(_step.look)
    exercise = _with_setup(_step.Exercise)
    journal = staticmethod(_step.Journal)
    check = _with_setup(_check.check)
    serve = _with_setup(_serve.serve)
    tryouts = _with_setup(_serve.tryouts)
    replay_model = _with_setup(_serve.replay_model)
    install_chromium = _with_setup(_serve.install_chromium)

    # verdicts
    grade = _with_setup(_grade.grade)
    ask_model = _with_setup(_grade.ask_model)
    grade_logs = _with_setup(_grade.grade_logs)
    compare_graders = _with_setup(_grade.compare_graders)
    verification = _with_setup(_judge.Verification)
    review_rubric = _with_setup(_judge.review_rubric)
    goal = _with_setup(_judge.goal)
    label = _with_setup(_labels.label)

    async def make_faultbench(self, out: AnyPath, options: BenchOptions) -> FaultBench:
        """Trajectories with one known mistake each, beside honest ones that look alike, as a run with labels."""
        options = replace(options, templates=self.adopt_templates(options.templates))
        return await faultbench.generate(self.setup, Path(out), options, self.setup.on_progress)

    def score_faultbench(self, bench: AnyPath, predictions: Names = ()) -> Document:
        """How well the judges whose verdicts are in a fault bench find its mistakes; `NAME=FILE` adds others."""
        return fault_scores.score_bench(Path(bench), self.setup.tell, names(predictions))

    # trajectories of other people
    import_trajectories = _with_setup(_imports.import_trajectories)
    import_logs = _with_setup(_imports.import_logs)
    export_trajectories = _with_setup(_imports.export_trajectories)
    package_submission = _with_setup(_submit.package_submission)
    agentlab_table = _with_setup(_submit.agentlab_table)

    # one run
    open = _with_setup(_notebook.open_recorded)

    # one episode
    units = _with_setup(_show.units)
    episode = _with_setup(_show.episode)
    episode_page = _with_setup(_show.episode_page)
    write_episode_trace = _with_setup(_show.write_episode_trace)
    write_report = _with_setup(_show.write_report)
    mistakes = _with_setup(_mistakes.mistakes)

    # looking around
    shelf = _with_setup(_shelf.Shelf)

    # damage
    def check_store(self, run: AnyPath) -> list[Damage]:
        """Every damage in a run directory, down to single rows and blobs. Reads everything and changes nothing."""
        return damage.check(Path(run))

    def repair_store(self, run: AnyPath) -> RepairReport:
        """A new ledger of every row that is whole; the damaged one is kept beside it."""
        return damage.repair(Path(run))

    # numbers
    graders = _with_setup(_report.graders)
    rows = _with_setup(_report.rows)
    report = _with_setup(_report.report)
    cases = _with_setup(_ci.cases)
    leaderboard = _with_setup(_report.leaderboard)
    audit = _with_setup(_report.audit)
    audit_against = _with_setup(_report.audit_against)
    subset = _with_setup(_report.subset)
    tables = _with_setup(_report.tables)
    errors = _with_setup(_errors.errors)
    contamination = _with_setup(_contamination.contamination)
    contamination_plan = _with_setup(_contamination.contamination_plan)
    protocols = _with_setup(_protocols.protocols)

    def agree(self, labels: AnyPath, predictions: Paths = (), options: AgreeOptions = AS_THEY_ARE) -> Document:
        """How far judges agree with people: files of labels and predictions, or run directories with verdicts of both.
        `NAME=PATH` gives a judge its name; several paths of one name are several runs of one judge."""
        return agreeing.agree(self.setup, str(labels), [str(one) for one in several(predictions)], options)
