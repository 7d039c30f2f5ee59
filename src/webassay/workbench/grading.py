"""Grading again, offline: stored runs, and log folders of other people's harnesses."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from webassay.benchmarks.base import Benchmark, Selection
from webassay.core.errors import InputError
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Verdict
from webassay.grading.grade import DEFAULT_POLICY, Policy
from webassay.grading.logs import GradedLog, grade_logs
from webassay.grading.reference import Difference, differences, reference_python, reference_verdicts
from webassay.registry import nearest
from webassay.store import Store
from webassay.workbench.damage import in_words
from webassay.workbench.kinds import BENCHMARKS, GRADERS
from webassay.workbench.playing import RULES, selection_of
from webassay.workbench.setup import OnProgress, Progress, Setup
from webassay.workbench.tasks import select


@dataclass(frozen=True)
class GradeOptions:
    tasks: tuple[str, ...] = ()
    """Only these; empty: all."""
    agents: tuple[str, ...] = ()
    policy: Policy = DEFAULT_POLICY
    benchmark: str = ""
    """Names the tasks of a run whose benchmark is code of somebody else's; see `tasks.select`."""


@dataclass(frozen=True)
class Graded:
    unit: UnitOfWork
    verdict: Verdict
    before: Verdict | None
    trace: str = ""
    """Of the agent's own code, where that failed."""

    @property
    def changed(self) -> bool:
        return self.before is not None and self.before.status != self.verdict.status


def grade_run(setup: Setup, run: Path, options: GradeOptions, on_progress: OnProgress) -> Iterator[Graded]:
    """With today's key and grader. Old verdicts are kept."""
    rules = GRADERS.get(RULES)
    with Store.open(run, writable=True, thorough=True) as store:
        for said in in_words(store):
            setup.tell(said)
        selection = selection_of(store)
        trusted = bool(options.benchmark) and options.benchmark == selection.benchmark
        tasks = select(_named(selection, options), setup, trusted=trusted)
        wanted = [unit for unit in store.units() if _wants(options, unit)]
        if not wanted:
            raise InputError(
                f"{run} has no episode of {', '.join((*options.tasks, *options.agents)) or 'any agent'}.",
                hint="`webassay report RUN --json` shows which tasks and agents it has.",
            )
        for number, unit in enumerate(wanted, 1):
            on_progress(Progress("grading", number, len(wanted)))
            trajectory = store.trajectory(unit.id)
            if trajectory is None:
                continue
            before = store.verdict(trajectory.id, RULES)
            verdict = rules.grade(tasks.get(unit.task_id), trajectory, store.blobs, options.policy)
            if before != verdict:
                store.add_verdict(verdict)
            ending = trajectory.ending
            crashed = ending.kind == "agent_crashed" and ending.fault is not None
            yield Graded(unit, verdict, before, ending.fault.trace if crashed and ending.fault else "")


def _named(selection: Selection, options: GradeOptions) -> Selection:
    if options.benchmark and options.benchmark != selection.benchmark:
        raise InputError(
            f"The run was made with the benchmark {selection.benchmark}, not {options.benchmark}.",
            hint="Leave --benchmark out, or give the name that the run was made with.",
        )
    return replace(selection)


def _wants(options: GradeOptions, unit: UnitOfWork) -> bool:
    return (not options.tasks or unit.task_id in options.tasks) and (not options.agents or unit.agent in options.agents)


# --- logs of others -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LogOptions:
    benchmark: str
    tasks_file: str = ""
    config: Path | None = None
    """The harness's own configuration file."""
    policy: Policy = DEFAULT_POLICY
    processes: int = 1


def grade_log_folder(setup: Setup, folder: Path, options: LogOptions, on_progress: OnProgress) -> Iterator[GradedLog]:
    benchmark = benchmark_with_logs(options.benchmark)
    assert benchmark.logs is not None
    layout = benchmark.logs.layout(options.config)
    tasks = select(Selection(benchmark=options.benchmark, file=options.tasks_file), setup).tasks
    logs = grade_logs(folder, benchmark.logs.by_folder(tasks), layout, options.policy, options.processes)
    for number, log in enumerate(logs, 1):
        on_progress(Progress("grading logs", number))
        yield log


def compare_with_reference(
    setup: Setup, folder: Path, logs: Sequence[GradedLog], options: LogOptions, on_progress: OnProgress
) -> Sequence[Difference]:
    """The published grader of WebArena-Verified on the same logs, in an environment of its own."""
    on_progress(Progress("the published grader"))
    benchmark = benchmark_with_logs(options.benchmark)
    assert benchmark.logs is not None
    python = reference_python(setup.cache)
    numbers = [int(log.number) for log in logs]
    theirs = reference_verdicts(folder, numbers, benchmark.logs.layout(options.config), python)
    return differences(logs, list(theirs))


def benchmark_with_logs(name: str) -> Benchmark:
    able = [benchmark.name for benchmark in BENCHMARKS if benchmark.logs is not None]
    if name not in able:
        raise nearest("benchmark with logs to grade", name, able)
    return BENCHMARKS.get(name)
