"""Why the episodes of runs failed, in the classes of the papers."""

from webassay.analysis.output.document import Document
from webassay.analysis.results.error_classes import FailedEpisode, classes_of, of_errors
from webassay.analysis.results.error_classes import errors as count_errors
from webassay.compose.given import Paths
from webassay.compose.setup import Setup
from webassay.core.progress import Progress
from webassay.core.summary import UnitSummary
from webassay.core.verdict import Finding, Verdict
from webassay.store import Store
from webassay.workbench.report import read_runs


def errors(setup: Setup, runs: Paths, grader: str = "") -> Document:
    """Why episodes failed, in the classes of WebArena Verified's A.1 and WebChoreArena's section 6: by the verdicts of
    the rules or of a named grader; what judges diagnosed counts as well."""
    found, episodes = [], 0
    with read_runs(setup, runs, grader) as (stores, _, rater):
        raters = rater.counting
        for store in stores.values():
            for unit, trajectory in store.trajectories():
                verdict = store.verdict(trajectory.id, rater.name, raters=raters)
                if verdict is None or verdict.score is None:
                    continue
                episodes += 1
                setup.on_progress(Progress("reading", episodes))
                if verdict.status == "fail":
                    summary = UnitSummary.of(unit)
                    whole = verdict.model_copy(update={"findings": (*verdict.findings, *_diagnosed(store, verdict))})
                    found.append(
                        FailedEpisode(
                            agent=unit.agent,
                            task=unit.task_id,
                            site="-".join(summary.sites),
                            chore="+".join(summary.groups.get("chore", ())),
                            classes=tuple(sorted(classes_of(trajectory, whole))),
                        )
                    )
    made = count_errors(episodes, found)
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
