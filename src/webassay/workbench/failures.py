"""Why the episodes of runs failed, in the classes of the papers."""

from collections.abc import Sequence
from pathlib import Path

from webassay.analysis.output.document import Document
from webassay.analysis.results.error_classes import Failed, classes_of, errors, of_errors
from webassay.core.progress import OnNotice, OnProgress, Progress
from webassay.core.summary import UnitSummary
from webassay.core.verdict import Finding, Verdict
from webassay.store import Store
from webassay.store.runs import open_runs
from webassay.workbench.reporting import Graders, named


def failures(runs: Sequence[Path], wanted: str, on_progress: OnProgress, tell: OnNotice) -> Document:
    """By the verdicts of the rules or of a named grader; what judges diagnosed counts as well."""
    found, episodes = [], 0
    with open_runs(named(runs), tell) as stores:
        (rater,) = Graders(list(stores.values())).chosen([wanted] if wanted else [])
        raters = rater.counting
        for store in stores.values():
            for unit, trajectory in store.trajectories():
                verdict = store.verdict(trajectory.id, rater.name, raters=raters)
                if verdict is None or verdict.score is None:
                    continue
                episodes += 1
                on_progress(Progress("reading", episodes))
                if verdict.status == "fail":
                    summary = UnitSummary.of(unit)
                    whole = verdict.model_copy(update={"findings": (*verdict.findings, *_diagnosed(store, verdict))})
                    found.append(
                        Failed(
                            agent=unit.agent,
                            task=unit.task_id,
                            site="-".join(summary.sites),
                            chore="+".join(summary.groups.get("chore", ())),
                            classes=tuple(sorted(classes_of(trajectory, whole))),
                        )
                    )
    made = errors(episodes, found)
    return Document("Errors", of_errors(made), made.model_dump_json(indent=1))


def _diagnosed(store: Store, verdict: Verdict) -> list[Finding]:
    others = store.verdicts(verdict.trajectory_id)
    return [
        finding
        for one in others
        if one.fingerprint != verdict.fingerprint
        for finding in one.findings
        if finding.check == "diagnosis"
    ]
