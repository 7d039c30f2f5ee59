"""Episodes of WebArena's tasks under both protocols, the old one and WebArena Verified's."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from webassay.analysis.formats import Listed
from webassay.analysis.protocols import Pair, compare_protocols, of_protocols
from webassay.benchmarks.base import Selection
from webassay.benchmarks.verified import BENCHMARK, HARD, LOGS, number_of
from webassay.core.errors import InputError
from webassay.core.task import Task
from webassay.core.trajectory import Blobs, MemoryBlobs, PageResult, Trajectory
from webassay.core.verdict import Verdict
from webassay.grading.events import events, is_navigation
from webassay.grading.grade import DEFAULT_POLICY, Policy
from webassay.grading.legacy import as_free_text
from webassay.grading.logs import logged, read_log
from webassay.store import Store
from webassay.workbench.importing import is_run
from webassay.workbench.kinds import GRADERS
from webassay.workbench.playing import RULES
from webassay.workbench.setup import OnProgress, Progress, Setup
from webassay.workbench.tasks import select


@dataclass(frozen=True)
class ProtocolOptions:
    old_tasks: str = ""
    """The task file of the original WebArena; empty: the fetched one."""
    verified_tasks: str = ""
    config: Path | None = None
    """Of the harness that wrote the logs."""
    policy: Policy = DEFAULT_POLICY


def protocols(setup: Setup, places: Sequence[Path], options: ProtocolOptions, on_progress: OnProgress) -> Listed:
    verified = select(Selection(benchmark=BENCHMARK, file=options.verified_tasks), setup).tasks
    old = select(Selection(benchmark="webarena", file=options.old_tasks), setup).tasks
    hard = {number_of(task) for task in select(Selection(benchmark=HARD, file=options.verified_tasks), setup).tasks}
    keys = _Keys({number_of(task): task for task in old}, {number_of(task): task for task in verified}, hard)
    pairs: list[Pair] = []
    for place in places:
        for trajectory, blobs in _episodes(place, keys, options):
            pairs += _graded(trajectory, blobs, keys, options.policy)
            on_progress(Progress("grading by both", len(pairs)))
    if not pairs:
        raise InputError(
            "No episode of a WebArena task was found.",
            hint="Give a run of webarena or webarena-verified, or a folder of WebArena-Verified's logs.",
        )
    made = compare_protocols(pairs)
    return Listed("Old and verified protocol", of_protocols(made), made.model_dump_json(indent=1))


@dataclass(frozen=True)
class _Keys:
    old: Mapping[int, Task]
    verified: Mapping[int, Task]
    hard: set[int]


def _episodes(place: Path, keys: _Keys, options: ProtocolOptions) -> Iterator[tuple[Trajectory, Blobs]]:
    if is_run(place):
        with Store.open(place, thorough=True) as store:
            for _, trajectory in store.trajectories():
                yield trajectory, store.blobs
        return
    layout, by_folder = LOGS.layout(options.config), LOGS.by_folder(tuple(keys.verified.values()))
    for name in logged(place, by_folder, layout):
        blobs = MemoryBlobs()
        yield read_log(place / name, by_folder[name], layout, blobs, place.resolve().name), blobs


def _graded(trajectory: Trajectory, blobs: Blobs, keys: _Keys, policy: Policy) -> Iterator[Pair]:
    benchmark, _, name = trajectory.task_id.rpartition(".")
    number = int(name) if name.isdigit() and benchmark in ("webarena", BENCHMARK) else -1
    if number not in keys.old or number not in keys.verified:
        return
    task, rules = keys.verified[number], GRADERS.get(RULES)
    old = rules.grade(keys.old[number], _for_the_old(trajectory, keys.old[number], blobs), blobs, policy)
    verified = rules.grade(task, trajectory.model_copy(update={"task_id": task.id}), blobs, policy)
    yield Pair(
        agent=trajectory.agent.name,
        task=str(number),
        template=task.template,
        site="-".join(task.sites),
        kind=task.kind,
        hard=number in keys.hard,
        old=old.status,
        verified=verified.status,
        why_old=_why(old),
        why_verified=_why(verified),
    )


def _for_the_old(trajectory: Trajectory, task: Task, blobs: Blobs) -> Trajectory:
    """As an agent of the old benchmark would have ended: with a plain answer, on the page in front."""
    changed: dict[str, object] = {"task_id": task.id, "answer": as_free_text(trajectory.answer)}
    if trajectory.last_seen is None and not any(trajectory.probed(PageResult)) and trajectory.network is not None:
        pages = [event.url for event in events(trajectory.network, blobs) if is_navigation(event)]
        if pages:
            page = PageResult(url=pages[-1], title="", tabs=(pages[-1],))
            changed["probes"] = (*trajectory.probes, page)
    return trajectory.model_copy(update=changed)


def _why(verdict: Verdict) -> str:
    said = dict.fromkeys(one.message for one in verdict.findings if one.status == verdict.status != "pass")
    return "; ".join(said)[:300]
