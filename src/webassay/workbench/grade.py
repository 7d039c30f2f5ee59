"""Grading again, offline: stored runs, and log folders of other people's harnesses."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from webassay.benchmarks.base import Benchmark, Selection
from webassay.benchmarks.verified import layout, published_bases
from webassay.compose.given import AnyPath
from webassay.compose.models import ModelOptions, OpenModels
from webassay.compose.registries import BENCHMARKS, GRADERS
from webassay.compose.setup import Setup
from webassay.compose.tasks import TaskSet, select
from webassay.core.errors import InputError
from webassay.core.progress import Progress
from webassay.core.rater import RULES
from webassay.core.registry import nearest
from webassay.core.task import LegacyCheck, Task
from webassay.core.trajectory import Trajectory
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Verdict
from webassay.grading.grade import DEFAULT_POLICY, Policy
from webassay.grading.logs import GradedLog
from webassay.grading.logs import grade_logs as grade_folders
from webassay.grading.published.legacy import ModelQuestion, check_legacy
from webassay.grading.reference import GraderDisagreement, differences, reference_python, reference_verdicts
from webassay.llm.client import Budget, Message, Settings
from webassay.play.settings import selection_of
from webassay.play.work import graded
from webassay.store import Store
from webassay.store.runs import open_run


@dataclass(frozen=True)
class GradeOptions:
    tasks: tuple[str, ...] = ()
    """Only these; empty: all."""
    agents: tuple[str, ...] = ()
    policy: Policy = DEFAULT_POLICY
    benchmark: str = ""
    """Names the tasks of a run whose benchmark is code of somebody else's, see `tasks.select`, or those of trajectories
    that were imported."""
    tasks_file: str = ""
    """The benchmark's task file, for imported trajectories."""
    config: Path | None = None
    """Where the sites were, by WebArena-Verified's configuration file; default: by their published ports."""
    replies: Mapping[str, str] = field(default_factory=dict)
    """What a model said to the questions of old protocols, see `ask_model`. What it said before is kept."""
    grader: str = RULES
    """Any that is installed, or `file.py:NAME`. Others than the rules take neither a policy nor replies."""


EVERYTHING = GradeOptions()


@dataclass(frozen=True)
class GradedUnit:
    unit: UnitOfWork
    verdict: Verdict
    before: Verdict | None
    goal: str = ""
    trace: str = ""
    """The stack trace of the agent's own code, where that failed."""

    @property
    def changed(self) -> bool:
        return self.before is not None and self.before.status != self.verdict.status


def grade(setup: Setup, run: AnyPath, options: GradeOptions = EVERYTHING) -> Iterator[GradedUnit]:
    """Grades a stored run again as the iterator is consumed, offline, with today's key and grader. Verdicts of before
    and of other graders are kept. Executes nothing that the run names."""
    run = Path(run)
    grader = GRADERS.get(GRADERS.adopt(options.grader))
    with open_run(run, setup.tell, writable=True, thorough=True) as store:
        wanted = [unit for unit in store.units() if _wants(options, unit)]
        if not wanted:
            raise InputError(
                f"{run} has no episode of {', '.join((*options.tasks, *options.agents)) or 'any agent'}.",
                hint="`webassay report RUN --json` shows which tasks and agents it has.",
            )
        keys = Keys.of(store, setup, options)
        for number, unit in enumerate(wanted, 1):
            setup.on_progress(Progress("grading", number, len(wanted)))
            found = keys.find(store, unit)
            if found is None:
                continue
            task, trajectory = found
            before = store.verdict(trajectory.id, grader.name, replies=_is_old(task))
            if grader.name == RULES:
                replies = _replies(before, options.replies)
                verdict = grader.grade(task, trajectory, store.blobs, options.policy, replies=replies)
            elif trajectory.ending.kind == "fault":
                continue  # It is no fault of the agent's, and is played again.
            else:
                verdict = graded(grader, task, trajectory, store.blobs)
            if before != verdict:
                store.add_verdict(verdict)
            ending = trajectory.ending
            crashed = ending.kind == "agent_crashed" and ending.fault is not None
            trace = ending.fault.trace if crashed and ending.fault else ""
            yield GradedUnit(unit, verdict, before, trajectory.goal.instruction, trace)
        if keys.without:
            setup.tell(keys.left_ungraded(len(wanted)))


@dataclass(frozen=True)
class Keys:
    """The tasks of a run, by the ids of its units."""

    tasks: TaskSet
    imported: bool
    """The run holds trajectories of other people, who may call the tasks by their numbers alone."""
    bases: Mapping[str, Sequence[str]]
    without: list[tuple[str, str]] = field(default_factory=list)
    """Trajectories that were looked at and have no key here: the other benchmark that each is of, or nothing where it
    names none, and the task's id. Tasks of a run's own can go, too, when its benchmark changes."""

    @classmethod
    def of(cls, store: Store, setup: Setup, options: GradeOptions) -> "Keys":
        if store.setting("selection") is None and options.benchmark:
            chosen = Selection(benchmark=options.benchmark, file=options.tasks_file)
            return cls(select(chosen, setup), True, layout(options.config).bases)
        selection = selection_of(store)
        trusted = bool(options.benchmark) and options.benchmark == selection.benchmark
        return cls(select(_named(selection, options), setup, trusted=trusted), False, {})

    def find(self, store: Store, unit: UnitOfWork) -> tuple[Task, Trajectory] | None:
        """The episode that counts, and its key. None: it was not played, or it is no task of this benchmark."""
        trajectory = store.trajectory(unit.id)
        if trajectory is None:
            return None
        benchmark = trajectory.benchmark
        task = self.of_imported(unit.task_id, benchmark) if self.imported else self._by_id.get(unit.task_id)
        if task is None:
            other = "" if self._possible(benchmark) else benchmark
            self.without.append((other, unit.task_id))
            return None
        if not self.imported:
            return task, trajectory
        bases = {site: urls[0] for site, urls in self.bases.items()} or trajectory.bases
        changed = {"task_id": task.id, "bases": bases or published_bases(_addresses(trajectory))}
        return task, trajectory.model_copy(update=changed)

    def of_imported(self, task_id: str, benchmark: str) -> Task | None:
        """The key to somebody else's trajectory. None: it is no task of this benchmark, whatever number it has."""
        possible = self._possible(benchmark)
        exact, name = self._by_id.get(task_id), _NUMBERED.fullmatch(task_id)
        if exact is not None and exact.benchmark in possible:
            return exact
        if name is None:
            return None
        if name["benchmark"]:
            possible &= self._possible(name["benchmark"])
        ids = [f"{one}.{number_in(task_id)}" for one in possible]
        return self._by_id.get(ids[0]) if len(ids) == 1 else None

    def _possible(self, benchmark: str) -> frozenset[str]:
        """Which of the tasks' benchmarks a name may mean. BrowserGym writes underscores."""
        if benchmark in _NO_BENCHMARK:
            return self._benchmarks
        return frozenset(one for one in self._benchmarks if one.replace("_", "-") == benchmark.replace("_", "-"))

    def left_ungraded(self, of: int) -> str:
        """In words: how many of how many, and why."""
        others = Counter(other for other, _ in self.without if other)
        why = [f"{count} of {other}" for other, count in others.most_common(_MOST_NAMED)]
        if rest := others.total() - sum(count for _, count in others.most_common(_MOST_NAMED)):
            why.append(f"{rest} of others")
        if unknown := [task_id for other, task_id in self.without if not other]:
            why.append(f"{len(unknown)} with an id that no task has, such as {unknown[0]}")
        benchmark = self.tasks.selection.benchmark
        said = f"{len(self.without)} of {of} trajectories cannot be graded, because they are not of {benchmark}'s tasks"
        return f"{said}: {', '.join(why)}."

    @cached_property
    def _benchmarks(self) -> frozenset[str]:
        return frozenset(task.benchmark for task in self.tasks.tasks)

    @cached_property
    def _by_id(self) -> dict[str, Task]:
        return {task.id: task for task in self.tasks.tasks}


_NUMBERED = re.compile(r"(?:task_)?[0-9]+|(?:browsergym/)?(?P<benchmark>[\w-]+)(?:\.[0-9]+)?\.[0-9]+")
"""Names of numbered tasks. BrowserGym writes `webarena.102`, and `webarena_verified.TEMPLATE.102`."""
_NO_BENCHMARK = frozenset(("", "agentrewardbench", "fara", "har"))
"""What importers call the benchmark where the files do not say which it was."""
_MOST_NAMED = 10


def number_in(task_id: str) -> str:
    """`webarena.102`, `browsergym/webarena.102` and `102` are one task."""
    found = re.search(r"(\d+)$", task_id)
    return found[1].lstrip("0") or "0" if found else task_id


def _addresses(trajectory: Trajectory) -> Iterator[str]:
    for seen in (*(step.seen for step in trajectory.steps), trajectory.last_seen):
        if seen is not None:
            yield from (seen.url, *seen.tabs)


def _named(selection: Selection, options: GradeOptions) -> Selection:
    if options.benchmark and options.benchmark != selection.benchmark:
        raise InputError(
            f"The run was made with the benchmark {selection.benchmark}, not {options.benchmark}.",
            hint="Omit --benchmark, or give the one that the run was made with.",
        )
    return replace(selection)


def _wants(options: GradeOptions, unit: UnitOfWork) -> bool:
    return (not options.tasks or unit.task_id in options.tasks) and (not options.agents or unit.agent in options.agents)


# --- what only a model can compare ------------------------------------------------------------------------------


@dataclass(frozen=True)
class ModelReplies:
    """What a model was asked about a run, or would be."""

    questions: int
    characters: int
    """The length of all questions together."""
    replies: Mapping[str, str]
    cost_usd: float | None = None


async def ask_model(
    setup: Setup, run: AnyPath, options: GradeOptions = EVERYTHING, model: ModelOptions | None = None
) -> ModelReplies:
    """Asks what old protocols leave to a model and has no reply yet, for `GradeOptions.replies`. Without a model the
    questions are only counted."""
    with open_run(Path(run), setup.tell, thorough=True) as store:
        keys = Keys.of(store, setup, options)
        wanted: dict[str, ModelQuestion] = {}
        units = [unit for unit in store.units() if _wants(options, unit)]
        for unit in units:
            found = keys.find(store, unit)
            if found is None or not _is_old(found[0]):
                continue
            task, trajectory = found
            known = _replies(store.verdict(trajectory.id, RULES, replies=True), options.replies)
            for check in task.checks:
                if isinstance(check, LegacyCheck):
                    outcome = check_legacy(check, trajectory, known)
                    wanted |= {one.id: one for one in outcome.questions if outcome.score != 0.0}
        if model is None and keys.without:  # Else grading, which follows, says so.
            setup.tell(keys.left_ungraded(len(units)))
    size = sum(len(one.prompt) for one in wanted.values())
    if model is None or not wanted:
        return ModelReplies(len(wanted), size, {})
    models = OpenModels(setup.cache / "replies", budget=Budget(usd=model.max_usd), cache=model.cache)
    # As the published harness asks, unless told otherwise.
    settings = model.settings.over(Settings(temperature=0.0, max_tokens=768))
    replies, spent = {}, 0.0
    try:
        asked = models.get(model.model)
        for number, question in enumerate(wanted.values(), 1):
            reply = await asked.ask([Message.user(question.prompt)], settings=settings, purpose=question.kind)
            replies[question.id] = reply.text
            spent += reply.usage.cost_usd or 0.0
            setup.on_progress(Progress("asking", number, len(wanted)))
    finally:
        await models.close()
    return ModelReplies(len(wanted), size, replies, spent)


def _is_old(task: Task) -> bool:
    return any(isinstance(check, LegacyCheck) for check in task.checks)


def _replies(before: Verdict | None, new: Mapping[str, str]) -> dict[str, str]:
    kept = {} if before is None else {name: said for name, said in before.replies.items() if isinstance(said, str)}
    return {**kept, **new}


# --- logs of others -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LogOptions:
    benchmark: str
    tasks_file: str = ""
    config: Path | None = None
    """The harness's own configuration file."""
    policy: Policy = DEFAULT_POLICY
    processes: int = 1


def grade_logs(setup: Setup, folder: AnyPath, options: LogOptions) -> Iterator[GradedLog]:
    """Grades log folders of another harness."""
    benchmark = benchmark_with_logs(options.benchmark)
    assert benchmark.logs is not None
    layout = benchmark.logs.layout(options.config)
    tasks = select(Selection(benchmark=options.benchmark, file=options.tasks_file), setup).tasks
    logs = grade_folders(Path(folder), benchmark.logs.by_folder(tasks), layout, options.policy, options.processes)
    for number, log in enumerate(logs, 1):
        setup.on_progress(Progress("grading logs", number))
        yield log


def compare_graders(
    setup: Setup, folder: AnyPath, logs: Sequence[GradedLog], options: LogOptions, other: str = "reference"
) -> Sequence[GraderDisagreement]:
    """Where another grader decides otherwise on the same logs; `reference` is the published one of WebArena-Verified,
    in an environment of its own."""
    if other != "reference":
        raise nearest("comparison grader", other, ("reference",))
    setup.on_progress(Progress("the published grader"))
    benchmark = benchmark_with_logs(options.benchmark)
    assert benchmark.logs is not None
    python = reference_python(setup.cache)
    numbers = [int(log.number) for log in logs]
    theirs = reference_verdicts(Path(folder), numbers, benchmark.logs.layout(options.config), python)
    return differences(logs, list(theirs))


def benchmark_with_logs(name: str) -> Benchmark:
    if name in BENCHMARKS and BENCHMARKS.get(name).logs is not None:
        return BENCHMARKS.get(name)
    raise nearest("benchmark with gradable logs", name, [one.name for one in BENCHMARKS if one.logs is not None])
