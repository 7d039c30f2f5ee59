"""Task x Trajectory -> Verdict, by rule. Deterministic: the same two records give the same verdict, byte for byte."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from pydantic import Field

from webassay.compare import Sites, UnreadableValue
from webassay.core.errors import Fault, GradingError, StoreError, boundary
from webassay.core.record import Json, Record
from webassay.core.served import ServedRecord
from webassay.core.task import (
    ActivityCheck,
    EvidenceCheck,
    LegacyCheck,
    NetworkCheck,
    PageCheck,
    ProgramCheck,
    ResponseCheck,
    StateCheck,
    Task,
)
from webassay.core.touched import TouchedRecord
from webassay.core.trajectory import (
    Blobs,
    PageResult,
    ProgramResult,
    RowsResult,
    SessionResult,
    TouchedResult,
    Trajectory,
)
from webassay.core.verdict import REPORTED, Aspect, Finding, Fingerprint, Status, Verdict, decides
from webassay.grading.network.activity import Visits, check_activity, check_page, checkpoint_reach
from webassay.grading.network.check import READING, NetworkGrader
from webassay.grading.network.events import Event, events
from webassay.grading.network.witness import Witness, records_of
from webassay.grading.published.legacy import check_legacy
from webassay.grading.rules.program import check_program
from webassay.grading.rules.response import ReadResponse, applicable, check_response, read_response
from webassay.grading.rules.seen import check_evidence
from webassay.grading.rules.state import check_state, counted_rows
from webassay.grading.rules.transient import check_transient

VERSION = "9"
"""Raise it whenever a change can move a verdict: verdicts of different versions are never put on one leaderboard.
tests/contract/test_grader_version.py fails when the rules change, so that nobody forgets to decide."""

Level = Literal["off", "report", "enforce"]

GRADED_ENDINGS = frozenset(("answered", "gave_up", "imported"))


class Policy(Record):
    """How much proof of work and unrequested changes weigh."""

    activity: Level = "enforce"
    collateral: Level | None = None
    """None: enforced when the sites' rows were compared, only reported when all we have is a network log."""
    record: Level | None = Field(default=None, exclude_if=lambda value: value is None)
    """How much findings of the sites' own records weigh; None: as much as `activity`. `off` also takes every request
    and page at its word, for episodes altered to prove a key."""
    partial_credit: Literal["none", "any"] = Field(default="none", exclude_if=lambda value: value == "none")
    """Old protocols only. `any`: a part of the score is a success, as WebChoreArena's AgentOccam runner counts."""


DEFAULT_POLICY = Policy()

SITE_BASES = "site_bases"
"""Where a trajectory read from a log keeps, in its provenance, all base URLs of each site."""


def grade(
    task: Task,
    trajectory: Trajectory,
    blobs: Blobs,
    policy: Policy = DEFAULT_POLICY,
    sites: Sites | None = None,
    network: Sequence[Event] | None = None,
    replies: Mapping[str, str] | None = None,
) -> Verdict:
    """`sites` overrides the trajectory's base URLs, `network` is its log if already read, and `replies` are a
    model's answers to the questions of an old protocol."""
    grading = _Grading(task, trajectory, blobs, policy, sites, network)
    grading.replies = dict(replies or {})
    if trajectory.ending.kind == "fault":
        fault = trajectory.ending.fault or Fault(boundary="episode", message=trajectory.ending.message or "unknown")
        return grading.verdict("fault", fault)
    try:
        with boundary(GradingError, f"Grading task {task.id}"):
            grading.run()
    except (GradingError, StoreError) as error:
        # A damaged blob is missing evidence of one episode, not a reason to stop grading the others.
        message = Finding(check="grader", status="fault", message=error.message, code="cannot_grade")
        grading.findings.append(message)
        grading.aspects.clear()
        # An agent that never answered has failed, whatever else could not be checked.
        return grading.verdict("fail" if grading.ending_fails else "fault", Fault.of(error))
    return grading.verdict(grading.status())


def sites_of(trajectory: Trajectory) -> Sites:
    """Under all the base URLs that are known."""
    kept = trajectory.provenance.get(SITE_BASES)
    try:
        if not isinstance(kept, dict):
            return Sites(trajectory.bases)
        return Sites({str(site): tuple(map(str, urls)) for site, urls in kept.items() if isinstance(urls, list)})
    except UnreadableValue as problem:
        raise GradingError(f"A base URL in the trajectory cannot be read: {problem}.") from None


class _Grading:
    """One pass over the checks of one task."""

    def __init__(
        self,
        task: Task,
        trajectory: Trajectory,
        blobs: Blobs,
        policy: Policy,
        sites: Sites | None,
        network: Sequence[Event] | None,
    ) -> None:
        self.task, self.trajectory, self.blobs, self.policy = task, trajectory, blobs, policy
        self.given_sites, self.read = sites, network
        self.records: dict[str, ServedRecord] = {}
        self.witness: Witness | None = None
        self.findings: list[Finding] = []
        self.aspects: dict[str, Aspect] = {}
        self.replies: dict[str, str] = {}
        self.used: dict[str, str] = {}

    @cached_property
    def sites(self) -> Sites:
        return self.given_sites or sites_of(self.trajectory)

    def run(self) -> None:
        if self.trajectory.task_id != self.task.id:
            raise GradingError(
                f"The trajectory belongs to task {self.trajectory.task_id!r}, but the key to {self.task.id!r}."
            )
        self._ending()
        read = self._response()
        self._witness()
        visits = self._network()
        if self.witness is not None and self._record_level != "off":
            self._add(self.witness.findings(), self._record_level)
        self._evidence()
        self._pages()
        self._state()
        self._legacy()
        self._unruled()
        # Without a log, nobody knows which pages were loaded.
        known = self.task.checkpoints if self.trajectory.network is not None else ()
        reach, milestones = checkpoint_reach(known, visits)
        passed = {"pass": True, "fail": False}.get(self.status())
        if reach is not None:
            self.aspects["checkpoint_reach"] = Aspect(value=reach)
        self.aspects["outcome"] = Aspect(value=passed)
        if read is not None:
            how = "invalid" if read.findings else "recovered" if read.recovered else "strict"
            self.aspects["response_format"] = Aspect(value=how, note=", ".join(read.recovered))
            self.aspects["outcome_unrepaired"] = Aspect(value=passed and not read.recovered)
        self.findings += milestones

    def status(self) -> Status:
        """The worst finding decides."""
        found = {finding.status for finding in self.findings if decides(finding)}
        worst: tuple[Status, ...] = ("fault", "fail", "abstain")
        return next((status for status in worst if status in found), "pass")

    def verdict(self, status: Status, fault: Fault | None = None) -> Verdict:
        return Verdict(
            trajectory_id=self.trajectory.id,
            task_id=self.task.id,
            status=status,
            aspects=self.aspects,
            findings=tuple(self.findings),
            fingerprint=Fingerprint(
                grader=RULES.name,
                version=RULES.version,
                key=_key_hash(self.task),
                settings=_settings(self.policy),
            ),
            replies=dict(self.used),
            fault=fault,
        )

    @property
    def ending_fails(self) -> bool:
        """An agent that never answered has failed, but a stopped one may have finished as far as a verifier can
        tell."""
        kind = self.trajectory.ending.kind
        stopped = kind in ("step_limit", "time_limit")
        return kind not in GRADED_ENDINGS and not (stopped and self._program is not None)

    def _ending(self) -> None:
        kind = self.trajectory.ending.kind
        if kind not in GRADED_ENDINGS:
            detail = f": {self.trajectory.ending.message}" if self.trajectory.ending.message else ""
            message = f"The episode did not end with an answer ({kind.replace('_', ' ')}){detail}."
            finding = Finding(check="ending", status="fail", message=message[:1000], code=kind)
            self._add([finding], "enforce" if self.ending_fails else "report")

    def _response(self) -> ReadResponse | None:
        checks = [check for check in self.task.checks if isinstance(check, ResponseCheck)]
        if not checks:
            return None
        protocol = self.task.goal.protocol.name
        read = read_response(self.trajectory.answer, protocol)
        for check in checks:
            asked = applicable(check, read, self.trajectory, protocol)
            self.findings += check_response(asked, read, protocol, self.sites)
        return read

    def _network(self) -> Visits:
        """Everything that needs the log, in a single pass over it."""
        activity = [check for check in self.task.checks if isinstance(check, ActivityCheck)]
        requests = [check for check in self.task.checks if isinstance(check, NetworkCheck)]
        visits = Visits(self.sites, activity, self.task.checkpoints)
        network = NetworkGrader(requests, self.sites, self.task.sites, anywhere=self._open)
        if self.trajectory.network is None:
            if requests or (activity and self.policy.activity != "off"):
                raise GradingError("The checks need a network log, and none was recorded.")
            return visits
        every = network.looks_at_reading
        for event in events(self.trajectory.network, self.blobs) if self.read is None else self.read:
            if self.witness is not None and not self.witness.vouches_for(event):
                continue
            if not visits.settled:
                visits.add(event)
            if every or event.method not in READING:
                network.add(event)
        outcome = network.finish()
        self.findings += outcome.findings
        if self.policy.activity != "off":
            for check in activity:
                self._activity(check, visits, network.proven)
        if self._open:
            self._writes(outcome.writes, network.side_effects)
        elif not any(self.trajectory.probed(RowsResult)):
            self._damaging_requests(outcome.damage, network.side_effects)
        return visits

    @property
    def _record_level(self) -> Level:
        return self.policy.record or self.policy.activity

    def _witness(self) -> None:
        """The sites' own records, where there are any, are held against everything that the browser says."""
        self.records = records_of(self.trajectory, self.blobs)
        if self.records and self.policy.record != "off":
            self.witness = Witness(self.records, self.trajectory.bases)

    @property
    def _open(self) -> bool:
        """Nobody here knows its sites, or what its goal asks to be changed."""
        return not self.trajectory.bases and any(check.kind == "judged" for check in self.task.checks)

    def _writes(self, writes: list[str], count: int) -> None:
        said = [f"A request changed something: {write}." for write in writes]
        if count > len(writes):
            said.append(f"{count - len(writes)} more requests changed something.")
        for message in said or ["No request changed anything."]:
            self.findings.append(Finding(check="network.writes", status="pass", message=message))

    def _activity(self, check: ActivityCheck, visits: Visits, proven: bool) -> None:
        sessions, login = self.trajectory.probed(SessionResult), self.task.logins.get(check.site)
        self._add(check_activity(check, visits, sessions, login, proven), self.policy.activity)

    def _evidence(self) -> None:
        checks = [check for check in self.task.checks if isinstance(check, EvidenceCheck)]
        if not checks or self.policy.activity == "off":
            return
        missing = [site for site in self.task.sites if site not in self.records]
        if missing:
            raise GradingError(
                f"What {' and '.join(missing)} served was not recorded; the episode has to be played again."
            )
        findings = check_evidence(checks, self.records, " ".join((self.task.goal.instruction, *self.task.goal.hints)))
        held = all(finding.status == "pass" for finding in findings)
        self.aspects["evidence"] = Aspect(value=held)
        vouched = all(record.evidence == "receipts" for record in self.records.values())
        self.aspects["evidence_by"] = Aspect(value="receipts" if vouched else "texts")
        self._add(findings, self.policy.activity)

    def _damaging_requests(self, damage: list[Finding], count: int) -> None:
        """Without the sites' rows, requests are the next best evidence."""
        level = self.policy.collateral or "report"
        if level == "off":
            return
        self._add(damage, level)
        if not damage:
            message = "There were no unrequested writes."
            self.findings.append(Finding(check="network.collateral", status="pass", message=message))
        self.aspects["side_effects"] = Aspect(value=float(count), note="unrequested writes")

    def _pages(self) -> None:
        for check in self.task.checks:
            if isinstance(check, PageCheck):
                pages = self.trajectory.probed(PageResult)
                self.findings.append(check_page(check, pages, self.sites, self.witness))

    @property
    def _program(self) -> ProgramCheck | None:
        return next((check for check in self.task.checks if isinstance(check, ProgramCheck)), None)

    def _judged_by(self, check: ProgramCheck) -> None:
        probed = self.trajectory.probed
        outcome = check_program(check, probed(ProgramResult), probed(RowsResult))
        self.findings.append(outcome.verdict)
        level = self.policy.collateral or ("report" if check.may_change is None else "enforce")
        self.findings += outcome.changes
        if outcome.collateral is not None:
            self._add(outcome.collateral if level != "off" else (), level)
            self.aspects["side_effects"] = Aspect(value=float(len(outcome.collateral)), note="unrequested changes")

    def _state(self) -> None:
        program = self._program
        if program is not None:
            self._judged_by(program)
            return
        checks = [check for check in self.task.checks if isinstance(check, StateCheck)]
        results = {result.site: result for result in self.trajectory.probed(RowsResult)}
        missing = [site for site in self.task.sites if site not in results]
        if missing and (checks or results):
            raise GradingError(f"Row changes were not recorded for {', '.join(missing)}.")
        if not results:
            return
        level = self.policy.collateral or "enforce"
        rows = counted_rows(iter(results.values()))
        check = StateCheck(changes=tuple(change for one in checks for change in one.changes))
        outcome = check_state(check, rows, self.sites, None if level == "off" else "fail")
        required = [finding for finding in outcome.findings if finding.check != "state.collateral"]
        self._add(required, "enforce")
        self._add([finding for finding in outcome.findings if finding.check == "state.collateral"], level)
        self.aspects["side_effects"] = Aspect(value=float(outcome.side_effects), note="unrequested row changes")

        self._transient()

    def _transient(self) -> None:
        """What others will have noticed weighs as much as damage that stayed; what nobody saw is told, and weighs only
        for whoever asks for that."""
        touched = list(self.trajectory.probed(TouchedResult))
        if not touched or self.policy.collateral == "off":
            return
        records = [(one.site, TouchedRecord.unpack(self.blobs.read(one.blob))) for one in touched]
        found, count = check_transient(records)
        level = self.policy.collateral
        levels: dict[str, Level] = {"noticed": level or "enforce", "reported": level or "report", "own": "report"}
        for one in found:
            self._add([one.finding], levels[one.weight])
        self.aspects["transient_writes"] = Aspect(value=float(count), note="rows changed and changed back")

    def _legacy(self) -> None:
        for check in self.task.checks:
            if isinstance(check, LegacyCheck):
                outcome = check_legacy(
                    check, self.trajectory, self.replies, any_credit=self.policy.partial_credit == "any"
                )
                self.findings += outcome.findings
                self.aspects["legacy_score"] = Aspect(value=outcome.score)
                self.used |= {name: self.replies[name] for name in outcome.answered}

    def _unruled(self) -> None:
        if any(check.kind == "judged" for check in self.task.checks):
            message = "No rule decides this task; it needs a judge."
            self.findings.append(Finding(check="judged", status="abstain", message=message, code="judged"))

    def _add(self, findings: Iterable[Finding], level: Level) -> None:
        """At level `report`, failing findings are kept but decide nothing."""
        for finding in findings:
            if level == "report" and finding.status == "fail":
                message = f"{finding.message} (reported, not enforced)"
                finding = finding.model_copy(update={"message": message, "code": REPORTED + finding.code})
            self.findings.append(finding)


_hashes: dict[int, tuple[Task, str]] = {}


def _key_hash(task: Task) -> str:
    """The task's content hash, computed once for all the trajectories that this process grades against it."""
    known = _hashes.get(id(task))
    if known is None or known[0] is not task:
        if len(_hashes) >= 2000:
            _hashes.clear()
        known = _hashes[id(task)] = (task, task.content_hash())
    return known[1]


@lru_cache(maxsize=64)
def _settings(policy: Policy) -> dict[str, Json]:
    return policy.model_dump(mode="json")


@dataclass(frozen=True)
class Grader:
    """A grader that can be chosen by name. Its name and version are part of every verdict's fingerprint."""

    name: str
    summary: str
    version: str
    grade: Callable[..., Verdict]
    """Given a task, a trajectory and its blobs; the rules also take a `Policy`."""

    def __call__(self, task: Task, trajectory: Trajectory, blobs: Blobs) -> Verdict:
        return self.grade(task, trajectory, blobs)


RULES = Grader(
    name="rules",
    summary="Checks the answer, the network log and the changed rows against the task's key.",
    version=VERSION,
    grade=grade,
)
