"""A grader: decides by the task's key, as the rules do, but does not care about the form of the answer."""

from webassay.core.task import ResponseCheck, Task
from webassay.core.trajectory import Blobs, Trajectory
from webassay.core.verdict import Finding, Fingerprint, Verdict
from webassay.grading.grade import Grader


def _right_answers(task: Task) -> list[str]:
    """What the keys of this package's benchmark list."""
    keys = [check.results for check in task.checks if isinstance(check, ResponseCheck)]
    return [str(item.value) for key in keys if key is not None for item in key.items or ()]


def _grade(task: Task, trajectory: Trajectory, blobs: Blobs) -> Verdict:
    said = trajectory.answer.casefold()
    missing = [answer for answer in _right_answers(task) if answer.casefold() not in said]
    findings = tuple(
        Finding(check="lenient", status="fail", message=f"The answer does not name {answer!r}.", code="missing")
        for answer in missing
    )
    return Verdict(
        trajectory_id=trajectory.id,
        task_id=task.id,
        status="fail" if missing else "pass",
        findings=findings,
        fingerprint=Fingerprint(grader=LENIENT.name, version=LENIENT.version),
    )


LENIENT = Grader("lenient", "Passes an answer that names the right value, in whatever form.", "1", _grade)
