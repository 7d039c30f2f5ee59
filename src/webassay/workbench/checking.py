"""Proof of the tasks: the oracle passes each one, and mistakes grafted onto its episodes fail."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from webassay.benchmarks.arena.mistakes import mistakes
from webassay.benchmarks.base import Selection
from webassay.core.task import Task
from webassay.core.trajectory import Trajectory
from webassay.core.verdict import Verdict
from webassay.store import Store
from webassay.workbench.kinds import GRADERS
from webassay.workbench.playing import RULES
from webassay.workbench.setup import OnProgress, Progress, Setup
from webassay.workbench.tasks import select


@dataclass
class Proof:
    """What was shown of one template."""

    template: str
    passed: int = 0
    """Instances that the oracle solves."""
    caught: int = 0
    """Mistakes that fail."""
    most_steps: int = 0
    problems: list[str] = field(default_factory=list)


def prove(setup: Setup, run: Path, selection: Selection, on_progress: OnProgress) -> list[Proof]:
    """Of a run that the oracle has played."""
    proofs: dict[str, Proof] = {}
    tasks = select(selection, setup)
    with Store.open(run) as store:
        for number, (unit, trajectory) in enumerate(store.trajectories(), 1):
            on_progress(Progress("grafting mistakes", number, len(tasks.tasks)))
            task = tasks.get(unit.task_id)
            proof = proofs.setdefault(task.template, Proof(task.template))
            _prove(task, trajectory, store, proof)
    return [proofs[name] for name in sorted(proofs)]


def _prove(task: Task, trajectory: Trajectory, store: Store, proof: Proof) -> None:
    blobs, grade = store.blobs, GRADERS.get(RULES).grade
    verdict = grade(task, trajectory, blobs)
    if verdict.status != "pass":
        proof.problems.append(f"{task.id}: the oracle does not pass: {_why(verdict, trajectory)}")
        return
    proof.passed += 1
    proof.most_steps = max(proof.most_steps, len(trajectory.steps))
    for name, wrong in mistakes(task, trajectory, blobs):
        status = grade(task, wrong, blobs).status
        if status == "fail":
            proof.caught += 1
        else:
            proof.problems.append(f"{task.id}: a wrong episode does not fail ({status}): {name}")


def _why(verdict: Verdict, trajectory: Trajectory) -> str:
    said = "; ".join(finding.message for finding in verdict.findings if finding.status != "pass") or verdict.status
    ending = trajectory.ending
    return f"{said} ({ending.kind}: {ending.message})" if ending.message else said


def problems(proofs: list[Proof]) -> Iterator[str]:
    return (problem for proof in proofs for problem in proof.problems)
