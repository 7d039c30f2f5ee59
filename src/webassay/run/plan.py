"""Which episodes a run consists of. The plan is data: resuming is the plan less what the store has."""

from collections.abc import Sequence

from webassay.core.record import content_hash
from webassay.core.task import Task
from webassay.store import UnitOfWork


def plan(tasks: Sequence[Task], agents: Sequence[str], *, trials: int = 1, seed: int = 0) -> list[UnitOfWork]:
    """Every agent on every task, task by task, so that an unfinished run still compares like with like."""
    return [
        UnitOfWork(
            agent=agent,
            task_id=task.id,
            trial=trial,
            seed=unit_seed(seed, task.id, trial),
            facts=facts(task),
        )
        for trial in range(trials)
        for task in tasks
        for agent in agents
    ]


def unit_seed(seed: int, task_id: str, trial: int) -> int:
    """The same for every agent: what is random in a task is not what tells agents apart."""
    return int(content_hash([seed, task_id, trial]).removeprefix("sha256:")[:8], 16)


def facts(task: Task) -> dict[str, object]:
    """What a report may know of a task: how to group it, never what the answer is."""
    return {
        "benchmark": task.benchmark,
        "template": task.template,
        "kind": task.kind,
        "sites": list(task.sites),
        "chore": task.chore,
        "difficulty": task.difficulty,
        "modality": task.goal.modality,
        "task_hash": task.content_hash(),
    }
