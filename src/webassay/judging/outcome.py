"""Would the user say that it is done? Decided apart from the points, with every objection named and sorted."""

from collections.abc import Sequence

from pydantic import Field

from webassay.core.record import Record
from webassay.core.verdict import Finding
from webassay.judging.case import PromptBuilder
from webassay.judging.evidence import Evidence, describe_evidence
from webassay.judging.inquiry import Inquiry
from webassay.judging.ledger import Form, Question, gather_all, gather_pair, prompt
from webassay.judging.rubric import CriticalPoint, describe_point
from webassay.judging.scoring import Score, process_score, summary
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
    primary_intent: str = ""
    reasoning: str = ""
    nitpicks: tuple[str, ...] = ()
    critical_issues: tuple[str, ...] = ()
    rule_checks: tuple[RuleCheck, ...] = ()


class Outcome(Record):
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


class _OutcomeForm(Form):
    primary_intent: str
    reasoning: str
    output_success: bool


class _RuleForm(Form):
    rule: str
    applies: bool
    effect: str | None = ""


class _CheckedForm(_OutcomeForm):
    rule_checks: list[_RuleForm]
    nitpicks: list[str] = Field(default_factory=list)
    critical_issues: list[str] = Field(default_factory=list)
    useful: bool


async def decide(
    inquiry: Inquiry, scores: Sequence[Score], evidence: Sequence[Evidence], point: CriticalPoint | None
) -> Outcome:
    casting = gather_all(_vote(inquiry, scores, evidence, point, vote) for vote in range(inquiry.profile.votes))
    votes, (violation, why) = await gather_pair(casting, _check_violation(inquiry, evidence, scores, point))
    success = majority([vote.success for vote in votes])
    contradicted = [finding.message for finding in inquiry.record_findings if decisive(finding)] if success else []
    return Outcome(
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
    inquiry: Inquiry, scores: Sequence[Score], evidence: Sequence[Evidence], point: CriticalPoint | None, vote: int
) -> Vote:
    checked = inquiry.profile.checked_outcome
    criteria = [score.criterion for score in scores]

    def build() -> PromptBuilder:
        builder = inquiry.record_prompt().data("scored rubric", summary(scores))
        if checked:
            builder.note(f"Share of the points: {100 * process_score(scores):.0f} %")
        if point is not None:
            builder.data("critical point of the task", describe_point(point))
        return builder.data("evidence", describe_evidence(criteria, evidence, range(len(criteria))))

    key = str(vote) if inquiry.profile.votes > 1 else ""
    try:
        if checked:
            form = await inquiry.ledger.form(
                inquiry.models.outcome,
                Question("outcome", key, prompt("outcome_checked")),
                build,
                _CheckedForm,
                _consistent,
            )
            return Vote(
                success=form.output_success,
                primary_intent=form.primary_intent,
                reasoning=form.reasoning,
                nitpicks=tuple(form.nitpicks),
                critical_issues=tuple(form.critical_issues),
                rule_checks=tuple(
                    RuleCheck(rule=rule.rule, applies=rule.applies, effect=rule.effect or "")
                    for rule in form.rule_checks
                ),
            )
        plain = await inquiry.ledger.form(inquiry.models.outcome, Question("outcome", key), build, _OutcomeForm)
        return Vote(success=plain.output_success, primary_intent=plain.primary_intent, reasoning=plain.reasoning)
    except UnusableReply as error:
        inquiry.ledger.fell_back("outcome", error)
        return Vote(success=None, reasoning="No usable reply was given.")


def _consistent(form: _CheckedForm) -> str:
    """A verdict must agree with its own reasons, and must consider every rule."""
    missing = [rule for rule in RULES if rule not in {check.rule for check in form.rule_checks}]
    if missing:
        return f"rule_checks lack {', '.join(missing)}"
    if form.output_success and form.critical_issues:
        return "output_success is true, but there are critical_issues: either they are nitpicks, or it failed"
    if not form.output_success and not form.critical_issues:
        return "output_success is false, but critical_issues is empty: name the critical issue, or it succeeded"
    return ""


class _ViolationForm(Form):
    reasoning: str = ""
    cp_violation: bool


async def _check_violation(
    inquiry: Inquiry, evidence: Sequence[Evidence], scores: Sequence[Score], point: CriticalPoint | None
) -> tuple[bool | None, str]:
    """None if nobody looked. There can only be a violation if the task has a critical point."""
    if not inquiry.profile.critical_points:
        return None, ""
    if point is None or not point.present:
        return False, "the task has no critical point"
    criteria = [score.criterion for score in scores]

    def build() -> PromptBuilder:
        builder = inquiry.record_prompt().data("critical point of the task", describe_point(point))
        return builder.data("evidence", describe_evidence(criteria, evidence, range(len(criteria))))

    try:
        form = await inquiry.ledger.form(inquiry.models.outcome, Question("cp_violation"), build, _ViolationForm)
    except UnusableReply as error:
        inquiry.ledger.fell_back("cp_violation", error)
        return None, ""
    return form.cp_violation, form.reasoning
