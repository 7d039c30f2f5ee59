"""Would the user say that it is done? Decided apart from the points, with every objection named and sorted."""

from collections.abc import Sequence

from pydantic import Field

from webassay.core.record import Record
from webassay.core.verdict import Finding
from webassay.judging.case import PromptBuilder
from webassay.judging.ledger import JudgeQuestion, ReplyForm, gather_all, gather_pair
from webassay.judging.universal.evidence import Material
from webassay.judging.universal.inquiry import Inquiry
from webassay.judging.universal.rubric import CriticalPoint, tell_point
from webassay.judging.universal.scoring import CriterionScore, process_score, summary
from webassay.llm.client import UnusableReply

RULES = (
    "entity_non_existence",
    "multi_item_cart",
    "critical_point_output",
    "semantic_precision",
    "primary_deliverable",
    "under_specified",
    "rubric_context",
)


class RuleCheck(Record):
    rule: str
    applies: bool
    effect: str = ""


class Vote(Record):
    success: bool | None
    """None: the evidence does not decide it, or no usable reply was given."""
    primary_intent: str = ""
    reasoning: str = ""
    missing_evidence: tuple[str, ...] = ()
    """What would have to be seen to decide it."""
    nitpicks: tuple[str, ...] = ()
    critical_issues: tuple[str, ...] = ()
    rule_checks: tuple[RuleCheck, ...] = ()
    useful: bool | None = None
    """Whether the person would call the result useful."""


class VotedOutcome(Record):
    success: bool | None
    """None: no quorum."""
    votes: tuple[Vote, ...]
    cp_violation: bool | None = None
    cp_reasoning: str = ""
    overruled: tuple[str, ...] = ()
    """Findings from the record that the votes went against; the findings stand."""

    @property
    def spoken(self) -> Vote:
        """The first vote that agrees with the majority."""
        return next((vote for vote in self.votes if vote.success == self.success), self.votes[0])


class OutcomeForm(ReplyForm):
    primary_intent: str
    reasoning: str
    output_success: bool | None


class _RuleForm(ReplyForm):
    rule: str
    effect: str | None = ""
    applies: bool


class CheckedForm(ReplyForm):
    primary_intent: str
    rule_checks: list[_RuleForm]
    missing_evidence: list[str] = Field(default_factory=list)
    nitpicks: list[str] = Field(default_factory=list)
    critical_issues: list[str] = Field(default_factory=list)
    useful: bool
    reasoning: str
    output_success: bool | None


async def decide(
    inquiry: Inquiry, scores: Sequence[CriterionScore], material: Material, point: CriticalPoint | None
) -> VotedOutcome:
    casting = gather_all(_vote(inquiry, scores, material, point, vote) for vote in range(inquiry.profile.votes))
    votes, (violation, why) = await gather_pair(casting, _check_violation(inquiry, material, scores, point))
    success = majority([vote.success for vote in votes])
    certain = [finding.message for finding in inquiry.record_findings if decisive(finding)]
    contradicted = certain if success is not False else []
    return VotedOutcome(
        success=False if contradicted else success,
        votes=tuple(votes),
        cp_violation=violation,
        cp_reasoning=why,
        overruled=tuple(contradicted),
    )


def decisive(finding: Finding) -> bool:
    """No opinion can outweigh it. The others are suspicions, for the model to weigh."""
    return finding.status == "fail"


def majority(votes: Sequence[bool | None]) -> bool | None:
    """More than half of the votes must be cast, and more than half of those must say success."""
    cast = [vote for vote in votes if vote is not None]
    if len(cast) < len(votes) // 2 + 1:
        return None
    return sum(cast) * 2 > len(cast)


async def _vote(
    inquiry: Inquiry, scores: Sequence[CriterionScore], material: Material, point: CriticalPoint | None, vote: int
) -> Vote:
    checked = inquiry.profile.checked_outcome
    criteria = [score.criterion for score in scores]

    def build() -> PromptBuilder:
        builder = tell_point(inquiry.record_prompt(), point).data("scored rubric", summary(scores))
        share = process_score(scores)
        if checked:
            said = "cannot be told" if share is None else f"{100 * share:.0f} %"
            builder.note(f"Share of the points: {said}")
        return material.add_to(builder, criteria, range(len(criteria)), "whole")

    key = str(vote) if inquiry.profile.votes > 1 else ""
    try:
        if checked:
            question = JudgeQuestion("outcome", key, "outcome_checked")
            return _checked_vote(
                await inquiry.ledger.form(inquiry.models.outcome, question, build, CheckedForm, _consistent)
            )
        plain = await inquiry.ledger.form(inquiry.models.outcome, JudgeQuestion("outcome", key), build, OutcomeForm)
        return Vote(success=plain.output_success, primary_intent=plain.primary_intent, reasoning=plain.reasoning)
    except UnusableReply as error:
        inquiry.ledger.fell_back("outcome", error)
        return Vote(success=None, reasoning="No usable reply was given.")


def _checked_vote(form: CheckedForm) -> Vote:
    return Vote(
        success=form.output_success,
        primary_intent=form.primary_intent,
        reasoning=form.reasoning,
        missing_evidence=tuple(form.missing_evidence),
        nitpicks=tuple(form.nitpicks),
        critical_issues=tuple(form.critical_issues),
        rule_checks=tuple(
            RuleCheck(rule=rule.rule, applies=rule.applies, effect=rule.effect or "") for rule in form.rule_checks
        ),
        useful=form.useful,
    )


def _consistent(form: CheckedForm) -> str:
    """A verdict must agree with its own reasons, and must consider every rule."""
    missing = [rule for rule in RULES if rule not in {check.rule for check in form.rule_checks}]
    if missing:
        return f"rule_checks lack {', '.join(missing)}"
    if form.output_success is None:
        if form.critical_issues or not form.missing_evidence:
            return (
                "output_success is null: then missing_evidence says what would decide it, and nothing is critical yet"
            )
        return ""
    if form.output_success and form.critical_issues:
        return "output_success is true, but there are critical_issues: either they are nitpicks, or it failed"
    if form.output_success and not form.useful:
        return "output_success is true, but useful is false: if the person cannot use it, name the critical issue"
    if not form.output_success and not form.critical_issues:
        return "output_success is false, but critical_issues is empty: name the critical issue, or it succeeded"
    return ""


class ViolationForm(ReplyForm):
    reasoning: str = ""
    cp_violation: bool


async def _check_violation(
    inquiry: Inquiry, material: Material, scores: Sequence[CriterionScore], point: CriticalPoint | None
) -> tuple[bool | None, str]:
    """None if nobody looked. There can only be a violation if the task has a critical point."""
    if not inquiry.profile.critical_points:
        return None, ""
    if point is None or not point.present:
        return False, "the task has no critical point"
    criteria = [score.criterion for score in scores]

    def build() -> PromptBuilder:
        return material.add_to(tell_point(inquiry.record_prompt(), point), criteria, range(len(criteria)))

    form = await inquiry.ledger.form_or_none(
        inquiry.models.outcome, JudgeQuestion("cp_violation"), build, ViolationForm
    )
    if form is None:
        return None, ""
    return form.cp_violation, form.reasoning
