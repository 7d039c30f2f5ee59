"""Which episodes a run consists of. The plan is data: resuming means the plan minus what the store has."""

from collections.abc import Collection, Iterable, Sequence

from webassay.core.groupings import GROUPINGS, Grouping, groups_of_task
from webassay.core.record import Json, content_hash
from webassay.core.task import Task
from webassay.core.unit import UnitOfWork


def plan(
    tasks: Sequence[Task],
    agents: Sequence[str],
    *,
    trials: int = 1,
    seed: int = 0,
    baselines: Collection[str] | None = None,
    groupings: Iterable[Grouping] = GROUPINGS,
) -> list[UnitOfWork]:
    """Every agent on every task, task by task, so that an unfinished run still compares like with like.

    `baselines` names the agents that do not try to solve the task. None: nobody knows, and reports go by the names of
    the built-in ones.
    """
    groupings = tuple(groupings)
    known = [(task, metadata(task, groupings)) for task in tasks]
    return [
        UnitOfWork(
            agent=agent,
            task_id=task.id,
            trial=trial,
            seed=unit_seed(seed, task.id, trial),
            metadata=about if baselines is None else {**about, "baseline": agent in baselines},
        )
        for trial in range(trials)
        for task, about in known
        for agent in agents
    ]


def unit_seed(seed: int, task_id: str, trial: int) -> int:
    """The same for every agent: what is random in a task must not be what tells agents apart."""
    return int(content_hash([seed, task_id, trial]).removeprefix("sha256:")[:8], 16)


def metadata(task: Task, groupings: Iterable[Grouping] = GROUPINGS) -> dict[str, Json]:
    """What a report may know about a task: how to group it, never what the answer is."""
    groups: dict[str, Json] = {name: list(own) for name, own in groups_of_task(task, groupings).items()}
    return {
        "benchmark": task.benchmark,
        "template": task.template,
        "kind": task.kind,
        "sites": list(task.sites),
        "modality": task.goal.modality,
        "groups": groups,
        "task_hash": task.content_hash(),
    }
