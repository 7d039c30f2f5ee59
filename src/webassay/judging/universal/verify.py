"""The Universal Verifier: the stages in order, and the verdict they add up to.

    rubric -> action-only scores -> relevance -> selection -> evidence -> conditions -> reality
           -> rescoring, a closer look and side effects (by votes) -> outcome (by votes) -> diagnosis

Every stage is a typed function in its own module. `Verdict.replies` keeps what each returned, and every raw reply.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from webassay.core.errors import Fault, ModelError
from webassay.core.interaction import Goal
from webassay.core.record import Json
from webassay.core.trajectory import AgentInfo, Blobs, Ending, MemoryBlobs, Trajectory
from webassay.core.verdict import Aspect, Finding, Fingerprint, Status, Verdict
from webassay.judging.case import Case
from webassay.judging.ledger import Ledger, Models, gather_pair
from webassay.judging.record.facts import facts_of, is_telling, named_in, values_on
from webassay.judging.record.findings import record_findings
from webassay.judging.record.pages import Book, Digest, digest
from webassay.judging.record.readings import appears_in, line_read
from webassay.judging.universal import diagnosis as diagnosing
from webassay.judging.universal.diagnosis import FailureDiagnosis
from webassay.judging.universal.evidence import Material, TextPages, gather, relate
from webassay.judging.universal.inquiry import Inquiry
from webassay.judging.universal.outcome import VotedOutcome, decide
from webassay.judging.universal.profile import PROFILES, Profile, Selector
from webassay.judging.universal.rescoring import penalty, score_with_evidence
from webassay.judging.universal.resources import VerifierResources, reading_once
from webassay.judging.universal.rubric import Lint, Rubric, Validity, lint, rubric_key, rubric_prompts, write_rubric
from webassay.judging.universal.scoring import (
    CriterionScore,
    action_only_score,
    check_reality,
    process_score,
    process_success,
    score_actions,
    settle_conditions,
    succeeded,
)
from webassay.judging.universal.selection import Examined, Groups, Relevance, group, select, without_picture
from webassay.llm.client import UnusableReply

NAME = "universal"
VERSION = "11"

_ALWAYS = ("action_only", "relevance", "evidence", "conditions", "reality", "rescore", "side_effects")


def stages(profile: Profile, *, frozen_rubric: bool = False) -> tuple[str, ...]:
    """The prompts of the stages that ask a model."""
    chosen = {
        **dict.fromkeys(rubric_prompts(profile.critical_points), not frozen_rubric),
        **dict.fromkeys(_ALWAYS, True),
        "closer_look": profile.closer_look,
        "outcome_checked" if profile.checked_outcome else "outcome": True,
        "cp_violation": profile.critical_points,
        "diagnosis": profile.diagnose,
        "validity": profile.validity,
    }
    return tuple(stage for stage, used in chosen.items() if used)


def universal_fingerprint(models: Models | None, profile: Profile, resources: VerifierResources) -> Fingerprint:
    settings: dict[str, Json] = {**profile.model_dump(mode="json")}
    if resources.rubric is not None:
        settings["rubric"] = resources.rubric.rubric_hash
    if resources.read_picture is not None and profile.record_findings:
        settings["read_picture"] = resources.read_picture.name
    used = stages(profile, frozen_rubric=resources.rubric is not None)
    return Fingerprint(
        grader=NAME,
        version=VERSION,
        model=models.name if models else "",
        prompts=profile.prompts.hashes(used),
        settings=settings,
    )


async def verify(
    goal: Goal,
    trajectory: Trajectory,
    blobs: Blobs,
    models: Models | None,
    profile: Profile = PROFILES["webassay"],
    resources: VerifierResources | None = None,
) -> Verdict:
    """Abstains without a model; a broken model makes it a fault. Raises for a spent budget, a lost blob, and a
    frozen rubric of another task."""
    resources = resources or VerifierResources()
    if resources.rubric is not None:
        resources.rubric.check(goal)
    case = Case.of(
        goal, trajectory, blobs, text=profile.page_text, merge=profile.merge_frames, max_side=profile.max_side
    )
    known, facts, book = await asyncio.to_thread(_look_up, case, profile, resources)
    draft = _Draft(case, profile, universal_fingerprint(models, profile, resources), known, facts)
    if (rule := short_circuit(case, profile)) is not None:
        return draft.by_rule(rule)
    if models is None:
        return draft.undecided("no_model", "No model was given.")
    ledger = Ledger(resources.limit, profile.attempts, profile.prompts)
    inquiry = Inquiry(case, models, profile, ledger, known, facts, book)
    try:
        findings = await _run(inquiry, resources)
    except UnusableReply as error:
        return draft.undecided("unusable_reply", error.message, ledger)
    except ModelError as error:
        return draft.faulted(error, ledger)
    return draft.finished(findings, ledger)


def _look_up(
    case: Case, profile: Profile, resources: VerifierResources
) -> tuple[tuple[Finding, ...], tuple[Finding, ...], Book]:
    """What can be known without a model: what speaks against the answer, what else the record says, and its pages."""
    read_picture = reading_once(resources.read_picture)
    bases = case.trajectory.bases.values()
    book = Book.of(case.frames, case.blobs, read_picture, bases) if profile.page_text else Book()
    if not profile.record_findings:
        return (), (), book
    known = record_findings(case.goal, case.trajectory, case.blobs, read_picture)
    return known, facts_of(case.goal, case.trajectory, book), book


@dataclass
class StageResults:
    """What the stages found, in order."""

    rubric: Rubric
    relevance: Relevance
    groups: Groups
    material: Material
    scores: tuple[CriterionScore, ...]
    instances: dict[str, Any]
    outcome: VotedOutcome
    diagnosis: FailureDiagnosis | None = None
    validity: Validity | None = None


async def _run(inquiry: Inquiry, resources: VerifierResources) -> StageResults:
    profile = inquiry.profile
    if resources.rubric is not None:
        rubric = resources.rubric.rubric
    else:
        rubric = await resources.rubrics.get(rubric_key(inquiry), lambda: write_rubric(inquiry))
    point = rubric.critical_point
    first, relevance = await gather_pair(score_actions(inquiry, rubric), relate(inquiry, rubric))
    groups, told, short = choose(inquiry, rubric, relevance)
    by_text = frozenset() if profile.top_k else without_picture(relevance, inquiry.book)
    numbers = [frame.number for frame in inquiry.case.frames]
    material = Material(
        await gather(inquiry, rubric, groups, TextPages(told.whole, by_text)),
        Examined.of(numbers, groups, told, relevance, by_text),
        inquiry.case.total_frames,
        told.text,
        short.text,
        tuple(sorted((*short.whole, *short.part))),
    )
    settled, notes = await gather_pair(
        settle_conditions(inquiry, first, material), check_reality(inquiry, first, material)
    )
    noted = [score.model_copy(update={"reality_notes": note}) for score, note in zip(settled, notes, strict=True)]
    scores, instances = await score_with_evidence(inquiry, noted, material, point)
    scores = with_known_side_effects(scores, inquiry.record_findings)
    outcome = await decide(inquiry, scores, material, point)
    found = StageResults(rubric, relevance, groups, material, scores, instances, outcome)
    found.diagnosis, found.validity = await gather_pair(
        diagnosing.diagnose(inquiry, rubric, scores, material, outcome) if profile.diagnose else _nothing(),
        diagnosing.settle_validity(inquiry, resources.validities) if profile.validity else _nothing(),
    )
    return found


def choose(inquiry: Inquiry, rubric: Rubric, relevance: Relevance) -> tuple[Groups, Digest, Digest]:
    """Which pages are looked at as pictures, and which are told as text: to whoever decides, and to the others."""
    profile, book, count = inquiry.profile, inquiry.book, len(rubric.items)
    written = " ".join(f"{item.criterion} {item.description}" for item in rubric.items)
    telling = {*inquiry.telling, *filter(is_telling, named_in(written))}
    held = frozenset(n for n, page in book.pages.items() if values_on(page, telling))
    last = max(book.pages, default=0)

    def rank(number: int) -> float:
        return 100.0 * (number in held) + 50.0 * (number == last) + max(relevance.get(number, (0,)))

    def matters(line: str) -> bool:
        return any(appears_in(value, line_read(line)) for value in telling)

    told = digest(book, profile.text_budget, rank, matters)
    if profile.top_k:
        groups = group(relevance, count, top_k=profile.top_k, prune=profile.prune, minimum=profile.minimum_relevance)
    else:
        groups = select(relevance, count, profile.most_pictures, held, book, frozenset(told.whole))
    return groups, told, digest(book, profile.text_budget * 3 // 10, rank, matters)


async def _nothing() -> None:
    return None


def with_known_side_effects(scores: Sequence[CriterionScore], known: Sequence[Finding]) -> tuple[CriterionScore, ...]:
    """An unrequested change in the rows costs points, whatever the model made of it."""
    unasked = [finding for finding in known if finding.code == "unasked_change" and finding.status == "fail"]
    if not unasked or any(score.penalty for score in scores):
        return tuple(scores)
    said = " ".join(finding.message for finding in unasked)
    return (*scores, penalty("Unrequested change, shown by the record", said, 2.0, said))


# --- the rubric alone -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TaskReview:
    """A task, reviewed before anyone has tried it."""

    rubric: Rubric
    lints: tuple[Lint, ...]
    validity: Validity | None
    degraded: tuple[str, ...] = ()


async def review_task(goal: Goal, models: Models, profile: Profile = PROFILES["webassay"]) -> TaskReview:
    """Writes and lints a rubric, for a person to correct and freeze. Raises UnusableReply if there is none."""
    untried = Trajectory(id="", goal=goal, agent=AgentInfo(name=""), ending=Ending(kind="imported"))
    ledger = Ledger(attempts=profile.attempts, prompts=profile.prompts)
    inquiry = Inquiry(Case.of(goal, untried, MemoryBlobs()), models, profile, ledger)
    rubric, validity = await gather_pair(write_rubric(inquiry), diagnosing.check_validity(inquiry, with_record=False))
    return TaskReview(rubric, lint(rubric, goal.instruction), validity, tuple(ledger.degraded))


# --- short circuits -------------------------------------------------------------------------------------

_UNFINISHED = frozenset(("step_limit", "time_limit", "agent_crashed"))


@dataclass(frozen=True, slots=True)
class Rule:
    """Decides a case before a model is asked."""

    name: str
    status: Status
    says: str
    holds: Callable[[Case], bool]


def _shots_and_actions(case: Case) -> int:
    pages = [step.seen for step in case.trajectory.steps]
    shots = sum(page.screenshot is not None for page in pages) + (case.trajectory.last_seen is not None)
    return abs(shots - sum(bool(step.actions or step.action_text) for step in case.trajectory.steps))


SHORT_CIRCUITS: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        Rule("aborted", "fault", "The run itself broke.", lambda case: case.trajectory.ending.kind == "fault"),
        Rule(
            "no_actions",
            "fail",
            "The agent did nothing.",
            lambda case: not any(step.actions or step.action_text for step in case.trajectory.steps),
        ),
        Rule(
            "no_answer",
            "fail",
            "The agent never came to an end.",
            lambda case: case.trajectory.ending.kind in _UNFINISHED,
        ),
        Rule(
            "frames_missing",
            "fail",
            "There are two or more screenshots too few or too many for the actions.",
            lambda case: _shots_and_actions(case) >= 2,
        ),
        Rule("no_evidence", "abstain", "No page of it was recorded.", lambda case: not case.frames),
    )
}


def short_circuit(case: Case, profile: Profile) -> Rule | None:
    return next(
        (rule for name, rule in SHORT_CIRCUITS.items() if name in profile.short_circuits and rule.holds(case)), None
    )


# --- the verdict ----------------------------------------------------------------------------------------


@dataclass
class _Draft:
    case: Case
    profile: Profile
    stamp: Fingerprint
    known: tuple[Finding, ...]
    facts: tuple[Finding, ...]

    def _verdict(
        self,
        status: Status,
        findings: Sequence[Finding],
        aspects: dict[str, Aspect],
        *,
        ledger: Ledger | None = None,
        fault: Fault | None = None,
        intermediates: dict[str, Json] | None = None,
    ) -> Verdict:
        replies = dict(intermediates or {})
        if ledger is not None:
            replies["calls"] = dict(sorted(ledger.calls.items()))
            replies["degraded"] = list(ledger.degraded)
            replies["usage"] = ledger.usage.model_dump(mode="json")
        return Verdict(
            trajectory_id=self.case.trajectory.id,
            task_id=self.case.trajectory.task_id,
            status=status,
            aspects=aspects,
            findings=(*findings, *self.known, *self.facts),
            fingerprint=self.stamp,
            replies=replies,
            cost_usd=ledger.usage.cost_usd if ledger else 0.0,
            fault=fault,
        )

    def by_rule(self, rule: Rule) -> Verdict:
        finding = Finding(check="short_circuit", status=rule.status, message=rule.says, code=rule.name)
        fault = self.case.trajectory.ending.fault if rule.status == "fault" else None
        aspects = {"outcome": Aspect(value=False if rule.status == "fail" else None, note=rule.name)}
        if rule.status == "fail":
            aspects["process_score"] = Aspect(value=0.0, note=rule.name)
            aspects["process_success"] = Aspect(value=False, note=rule.name)
        return self._verdict(rule.status, [finding], aspects, fault=fault)

    def undecided(self, code: str, why: str, ledger: Ledger | None = None) -> Verdict:
        finding = Finding(check=NAME, status="abstain", message=why, code=code)
        return self._verdict("abstain", [finding], {"outcome": Aspect(value=None, note=code)}, ledger=ledger)

    def faulted(self, error: ModelError, ledger: Ledger) -> Verdict:
        finding = Finding(check=NAME, status="fault", message=error.message, code="model_error")
        return self._verdict("fault", [finding], {}, ledger=ledger, fault=Fault.of(error))

    def finished(self, found: StageResults, ledger: Ledger) -> Verdict:
        final = final_of(found.outcome, process_success(found.scores), self.profile.final)
        status: Status = "abstain" if final is None else "pass" if final else "fail"
        return self._verdict(
            status,
            [*_criterion_findings(found, self.case), *_outcome_findings(found), *_failure_findings(found)],
            _aspects(found, ledger),
            ledger=ledger,
            intermediates=_intermediates(found),
        )


def final_of(outcome: VotedOutcome, process: bool | None, selector: Selector) -> bool | None:
    """Crossing a critical point without permission is never a success."""
    reached = outcome.success
    if reached and outcome.cp_violation:
        reached = False
    if selector == "process":
        return process
    if selector == "both":
        return False if reached is False or process is False else None if None in (reached, process) else True
    return reached


def _aspects(found: StageResults, ledger: Ledger) -> dict[str, Aspect]:
    score, before = process_score(found.scores), action_only_score(found.scores)
    plain = [item for item in found.scores if not item.penalty]
    shifted = any(item.applies and item.told and abs(item.points - item.action_only) > 1e-9 for item in plain)
    dishonest = any(item.dishonest for item in found.material.evidence)
    aspects = {
        "outcome": Aspect(value=found.outcome.success, note=found.outcome.spoken.primary_intent),
        "process_score": Aspect(value=score),
        "process_success": Aspect(value=process_success(found.scores)),
        "process_action_only": Aspect(value=before),
        "hallucination": Aspect(value=shifted and dishonest, note="claims and evidence differ" if dishonest else ""),
        "side_effects": Aspect(value=float(sum(item.penalty for item in found.scores))),
        "calls": Aspect(value=float(ledger.count)),
        "votes": Aspect(value=f"{sum(v.success is True for v in found.outcome.votes)}/{len(found.outcome.votes)}"),
    }
    if found.outcome.cp_violation is not None:
        aspects["cp_violation"] = Aspect(value=found.outcome.cp_violation, note=found.outcome.cp_reasoning)
    if found.diagnosis is not None:
        first = found.diagnosis.first_step
        aspects["first_failure_step"] = Aspect(value=None if first is None else float(first))
    if found.validity is not None:
        aspects["task_validity"] = Aspect(value=found.validity.word, note=found.validity.reasoning)
    return aspects


def _criterion_findings(found: StageResults, case: Case) -> list[Finding]:
    steps = {number: frame.step for frame in case.frames for number in frame.numbers}
    last = max(len(case.trajectory.steps) - 1, 0)
    findings = []
    for index, score in enumerate(found.scores):
        shown = found.groups[index] if index < len(found.groups) else ()
        status: Status = "pass" if succeeded(score.points / score.criterion.max_points) else "fail"
        findings.append(
            Finding(
                check="side_effect" if score.penalty else "criterion",
                status=status if score.applies and score.told else "abstain",
                message=f"{score.criterion.criterion}: {score.post_justification or score.justification}",
                expected=score.criterion.max_points,
                actual=score.points,
                steps=tuple(sorted({min(steps[number], last) for number in shown})) if case.trajectory.steps else (),
                code=_criterion_code(score),
            )
        )
    return findings


def _criterion_code(score: CriterionScore) -> str:
    if not score.applies:
        return "condition_not_met"
    return "penalty" if score.penalty else "criterion" if score.told else "cannot_tell"


def _outcome_findings(found: StageResults) -> list[Finding]:
    vote = found.outcome.spoken
    findings = [
        Finding(check="outcome", status="fail", message=issue, code="critical_issue") for issue in vote.critical_issues
    ]
    findings += [Finding(check="outcome", status="pass", message=nitpick, code="nitpick") for nitpick in vote.nitpicks]
    findings += [
        Finding(check="outcome", status="fail", message=f"The votes went against a fact: {fact}", code="overruled")
        for fact in found.outcome.overruled
    ]
    if found.outcome.cp_violation:
        why = found.outcome.cp_reasoning
        findings.append(Finding(check="critical_point", status="fail", message=why, code="cp_violation"))
    if found.outcome.success is None:
        lacking = [item for one in found.outcome.votes for item in one.missing_evidence]
        message = f"The evidence does not decide it. What is missing: {' '.join(lacking)}" if lacking else "No quorum."
        code = "cannot_tell" if lacking else "no_quorum"
        findings.append(Finding(check="outcome", status="abstain", message=message, code=code))
    return findings


def _failure_findings(found: StageResults) -> list[Finding]:
    points = found.diagnosis.points if found.diagnosis else ()
    return [
        Finding(
            check="diagnosis",
            status="fail",
            message=point.what_happened,
            steps=tuple(step - 1 for step in point.steps),
            code=f"{point.taxonomy}:{point.code}:{point.slug}",
        )
        for point in points
    ]


def _intermediates(found: StageResults) -> dict[str, Json]:
    return {
        "rubric": found.rubric.model_dump(mode="json"),
        "relevance": {str(number): list(scores) for number, scores in found.relevance.items()},
        "groups": [list(numbers) for numbers in found.groups],
        "examined": {
            "pictures": list(found.material.examined.pictures),
            "excerpts": list(found.material.examined.excerpts),
            "texts": list(found.material.examined.texts),
            "parts": list(found.material.examined.parts),
            "unseen": {str(number): why for number, why in found.material.examined.unseen.items()},
        },
        "evidence": [item.model_dump(mode="json") for item in found.material.evidence],
        "scores": [score.model_dump(mode="json") for score in found.scores],
        "instances": found.instances,
        "outcome": found.outcome.model_dump(mode="json"),
        "diagnosis": found.diagnosis.model_dump(mode="json") if found.diagnosis else None,
        "validity": found.validity.model_dump(mode="json") if found.validity else None,
    }
