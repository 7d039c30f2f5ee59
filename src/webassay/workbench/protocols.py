"""Episodes of WebArena's tasks under both protocols, the old one and WebArena Verified's."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from webassay.analysis.benchmark.protocols import EpisodePair, compare_protocols, of_protocols
from webassay.analysis.output.document import Document
from webassay.benchmarks.base import Selection
from webassay.benchmarks.verified import BENCHMARK, HARD, LOGS, PAPER, number_of
from webassay.compose.given import Paths, paths
from webassay.compose.registries import GRADERS
from webassay.compose.setup import Setup
from webassay.compose.tasks import select
from webassay.core.errors import Fault, GradingError, InputError, StoreError
from webassay.core.progress import Progress
from webassay.core.protocols import FINER_STATUSES, PAPER_PROTOCOL, RELEASED_PROTOCOL
from webassay.core.rater import RULES
from webassay.core.task import Task
from webassay.core.trajectory import Blobs, Ending, MemoryBlobs, PageResult, Trajectory
from webassay.core.verdict import Verdict
from webassay.grading.grade import DEFAULT_POLICY, Policy
from webassay.grading.logs import log_folders, read_log
from webassay.grading.network.events import events, is_navigation
from webassay.grading.published.legacy import as_free_text
from webassay.grading.rules.response import read_response
from webassay.store.runs import is_run, open_run


@dataclass(frozen=True)
class ProtocolOptions:
    old_tasks: str = ""
    """The task file of the original WebArena; empty: the fetched one."""
    verified_tasks: str = ""
    config: Path | None = None
    """The configuration of the harness that wrote the logs."""
    policy: Policy = DEFAULT_POLICY


BOTH_PROTOCOLS = ProtocolOptions()


def protocols(setup: Setup, places: Paths, options: ProtocolOptions = BOTH_PROTOCOLS) -> Document:
    """Runs or log folders of WebArena's tasks, graded by the old protocol and by the verified one."""
    keys = _Keys.of(setup, options)
    pairs: list[EpisodePair] = []
    left_out: Counter[str] = Counter()
    for place in paths(places):
        for trajectory, blobs in _episodes(place, keys, options, setup):
            if why := keys.why_not(trajectory):
                left_out[why] += 1
            else:
                pairs.append(_graded(trajectory, blobs, keys, options.policy))
                setup.on_progress(Progress("grading by both", len(pairs)))
    why = ", ".join(f"{count} {why}" for why, count in left_out.items())
    if not pairs:
        raise InputError(
            f"There is no episode here that both protocols can grade{f': {why}' if why else ''}.",
            hint="Give a run of webarena-verified or webarena-verified-paper, or a folder of WebArena-Verified's logs.",
        )
    if left_out:
        were = "was" if left_out.total() == 1 else "were"
        setup.tell(f"{left_out.total()} of {left_out.total() + len(pairs)} episodes {were} left out: {why}.")
    made = compare_protocols(pairs)
    return Document("Old and verified protocol", of_protocols(made), made.model_dump_json(indent=1))


@dataclass(frozen=True)
class _Keys:
    """Tasks by their numbers."""

    old: Mapping[int, Task]
    verified: Mapping[str, Mapping[int, Task]]
    """By the name of the response protocol that the agent was told."""
    hard: set[int]

    @classmethod
    def of(cls, setup: Setup, options: ProtocolOptions) -> "_Keys":
        def numbered(benchmark: str, file: str) -> dict[int, Task]:
            return {number_of(task): task for task in select(Selection(benchmark=benchmark, file=file), setup).tasks}

        verified = options.verified_tasks
        return cls(
            numbered("webarena", options.old_tasks),
            {RELEASED_PROTOCOL.name: numbered(BENCHMARK, verified), PAPER_PROTOCOL.name: numbered(PAPER, verified)},
            set(numbered(HARD, verified)),
        )

    @property
    def released(self) -> Mapping[int, Task]:
        return self.verified[RELEASED_PROTOCOL.name]

    def why_not(self, trajectory: Trajectory) -> str:
        """Why an episode cannot be compared; empty if it can be."""
        number = _number(trajectory)
        if number not in self.old or number not in self.released:
            return "with an id of no task that both benchmarks have"
        if trajectory.goal.protocol.name not in self.verified:
            # Its parts would have to be guessed, and a wrong guess would count against the old protocol.
            return "with a plain answer, which the verified protocol cannot read"
        return ""


def _number(trajectory: Trajectory) -> int:
    benchmark, _, name = trajectory.task_id.rpartition(".")
    return int(name) if re.fullmatch("[0-9]{1,9}", name) and benchmark in ("webarena", BENCHMARK) else -1


def _episodes(place: Path, keys: _Keys, options: ProtocolOptions, setup: Setup) -> Iterator[tuple[Trajectory, Blobs]]:
    if is_run(place):
        with open_run(place, setup.tell, thorough=True) as store:
            for _, trajectory in store.trajectories():
                yield trajectory, store.blobs
        return
    layout, by_folder = LOGS.layout(options.config), LOGS.by_folder(tuple(keys.released.values()))
    for name in log_folders(place, by_folder, layout):
        blobs = MemoryBlobs()
        yield read_log(place / name, by_folder[name], layout, blobs, place.resolve().name), blobs


def _graded(trajectory: Trajectory, blobs: Blobs, keys: _Keys, policy: Policy) -> EpisodePair:
    number, rules = _number(trajectory), GRADERS.get(RULES)
    task = keys.verified[trajectory.goal.protocol.name][number]
    old = rules.grade(keys.old[number], _for_the_old(trajectory, keys.old[number], blobs), blobs, policy)
    verified = rules.grade(task, trajectory.model_copy(update={"task_id": task.id}), blobs, policy)
    return EpisodePair(
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
    changed: dict[str, object] = {"task_id": task.id, "answer": as_free_text(_with_released_code(trajectory.answer))}
    if trajectory.last_seen is None and not any(trajectory.probed(PageResult)) and trajectory.network is not None:
        try:
            pages = [event.url for event in events(trajectory.network, blobs) if is_navigation(event)]
        except (GradingError, StoreError) as error:
            changed["ending"] = Ending(kind="fault", message=error.message, fault=Fault.of(error))
            pages = []
        if pages:
            page = PageResult(url=pages[-1], title="", tabs=(pages[-1],))
            changed["probes"] = (*trajectory.probes, page)
    return trajectory.model_copy(update=changed)


_RELEASED_CODES = {finer: code for code, all_finer in FINER_STATUSES.items() for finer in all_finer}


def _with_released_code(answer: str) -> str:
    """The paper has codes for errors that its release does not know."""
    response = read_response(answer, PAPER_PROTOCOL.name).value or {}
    code = _RELEASED_CODES.get(str(response.get("status")))
    return answer if code is None else json.dumps({**response, "status": code})


def _why(verdict: Verdict) -> str:
    said = dict.fromkeys(one.message for one in verdict.findings if one.status == verdict.status != "pass")
    return ("; ".join(said) or (verdict.fault.message if verdict.fault else ""))[:300]
