"""Points with the evidence: by votes, with a closer look where the evidence takes away what the actions had earned,
and with penalties for lasting effects that nobody asked for."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from webassay.judging.case import PromptBuilder
from webassay.judging.ledger import JudgeQuestion, ReplyForm, gather_all
from webassay.judging.record.findings import changed_rows
from webassay.judging.universal.evidence import Material, about
from webassay.judging.universal.inquiry import Inquiry
from webassay.judging.universal.rubric import Criterion, CriticalPoint, describe, tell_point
from webassay.judging.universal.scoring import Cause, CriterionScore, in_order, process_score, summary
from webassay.llm.client import UnusableReply

_DIFFERENCE = 0.25
"""The share of a criterion's points by which two passes must differ for a closer look."""
_CLOSER_PICTURES = 6
_CLOSER_WORDS = 3000
MOST_PENALTY = 3


class _Rescore(ReplyForm):
    criterion_idx: int
    applicable_evidence: str = ""
    post_image_justification: str = Field(min_length=1)
    cause: Cause = "none"
    post_image_earned_points: float | None = Field(ge=0)


class RescoreForm(ReplyForm):
    items: list[_Rescore]


def _vote_key(inquiry: Inquiry, vote: int) -> str:
    # A second sample of one question must be another question to a cache.
    return str(vote) if inquiry.profile.votes > 1 else ""


def _points_fit(items: Sequence[_Rescore], scores: Sequence[CriterionScore], wanted: Sequence[int]) -> str:
    if problem := in_order([item.criterion_idx for item in items], wanted):
        return problem
    for item in items:
        most = scores[item.criterion_idx].criterion.max_points
        if item.post_image_earned_points is not None and item.post_image_earned_points > most:
            return f"criterion_idx {item.criterion_idx}: at most {most:g} points"
    return ""


async def rescore(
    inquiry: Inquiry, scores: Sequence[CriterionScore], material: Material, point: CriticalPoint | None, vote: int
) -> tuple[CriterionScore, ...]:
    """Criteria whose condition does not hold get 0 and are not asked about. Raises UnusableReply, since the points
    of the actions alone are no substitute."""
    wanted = [index for index, score in enumerate(scores) if score.applies]
    kept = [
        score if score.applies else score.model_copy(update={"points": 0.0, "post_justification": "does not apply"})
        for score in scores
    ]
    if not wanted:
        return tuple(kept)
    criteria = [score.criterion for score in scores]

    def build() -> PromptBuilder:
        builder = tell_point(inquiry.record_prompt(), point).data("rubric", describe(criteria, wanted))
        builder.data("what the actions alone claim, and notes on reality", _claimed(scores, wanted))
        return material.add_to(builder, criteria, wanted, "whole")

    def check(form: RescoreForm) -> str:
        return _points_fit(form.items, scores, wanted)

    question = JudgeQuestion("rescore", _vote_key(inquiry, vote))
    form = await inquiry.ledger.form(inquiry.models.score, question, build, RescoreForm, check)
    for item in form.items:
        kept[item.criterion_idx] = _rescored(kept[item.criterion_idx], item)
    return tuple(kept)


def _rescored(score: CriterionScore, item: _Rescore) -> CriterionScore:
    points = item.post_image_earned_points
    return score.model_copy(
        update={
            "applicable_evidence": item.applicable_evidence,
            "post_justification": item.post_image_justification,
            "cause": item.cause,
            "points": 0.0 if points is None else points,
            "told": points is not None,
        }
    )


def _claimed(scores: Sequence[CriterionScore], wanted: Sequence[int]) -> str:
    """Without the points of the first pass: they would only pull the second one towards them."""
    return "\n".join(
        f"criterion_idx {index}: {scores[index].justification}"
        + (f"\n  what the actions cannot show: {scores[index].cannot_tell}" if scores[index].cannot_tell else "")
        + (f"\n  reality: {scores[index].reality_notes}" if scores[index].reality_notes else "")
        for index in wanted
    )


# --- a closer look --------------------------------------------------------------------------------------


class CloserForm(ReplyForm):
    items: list[_Rescore]


def differing(scores: Sequence[CriterionScore]) -> list[int]:
    """Criteria for which the actions alone had earned more than the evidence bears out."""
    return [
        index
        for index, score in enumerate(scores)
        if score.applies
        and not score.penalty
        and score.told
        and score.action_only - score.points >= _DIFFERENCE * score.criterion.max_points
    ]


async def look_closer(
    inquiry: Inquiry, scores: Sequence[CriterionScore], material: Material, point: CriticalPoint | None, vote: int
) -> tuple[CriterionScore, ...]:
    """Shows the pages themselves to whoever settles the difference. If that fails, the evidence stands."""
    # Where the record itself speaks against the answer, the evidence was not misread.
    is_certain = any(finding.status == "fail" for finding in inquiry.record_findings)
    wanted = differing(scores) if inquiry.profile.closer_look and not is_certain else []
    if not wanted:
        return tuple(scores)
    criteria = [score.criterion for score in scores]
    numbers = {item.screenshot for index in wanted for item in about(material.evidence, index)}
    numbers = numbers.intersection(material.examined.pictures) or numbers
    frames = [frame for frame in inquiry.case.frames if frame.number in numbers][-_CLOSER_PICTURES:]

    def build() -> PromptBuilder:
        builder = tell_point(inquiry.record_prompt(), point).data("criteria", describe(criteria, wanted))
        builder.data("the two passes", "\n".join(_two_passes(scores[index], index) for index in wanted))
        material.add_to(builder, criteria, wanted)
        for frame in frames:
            inquiry.add_frame(builder, frame, _CLOSER_WORDS)
        return builder

    def check(form: CloserForm) -> str:
        return _points_fit(form.items, scores, wanted)

    question = JudgeQuestion("closer_look", _vote_key(inquiry, vote))
    form = await inquiry.ledger.form_or_none(inquiry.models.score, question, build, CloserForm, check)
    if form is None:
        return tuple(scores)
    kept = list(scores)
    for item in form.items:
        looked = f"{item.applicable_evidence} {item.post_image_justification}".strip()
        settled = _rescored(kept[item.criterion_idx], item)
        kept[item.criterion_idx] = settled.model_copy(update={"looked_closer": looked})
    return tuple(kept)


def _two_passes(score: CriterionScore, index: int) -> str:
    return (
        f"criterion_idx {index}: from the actions alone {score.action_only:g} of {score.criterion.max_points:g} "
        f"({score.justification})\n  with the evidence {score.points:g} ({score.post_justification})"
    )


# --- side effects ---------------------------------------------------------------------------------------


class _Penalty(ReplyForm):
    criterion: str = Field(min_length=1)
    description: str = Field(min_length=1)
    post_image_justification: str = ""
    max_points: float = Field(gt=0, le=MOST_PENALTY)


class SideEffectsForm(ReplyForm):
    reasoning: str = ""
    penalty_criteria: list[_Penalty] = Field(default_factory=list)
    requires_penalty: bool


async def find_side_effects(
    inquiry: Inquiry, scores: Sequence[CriterionScore], material: Material, point: CriticalPoint | None, vote: int
) -> tuple[CriterionScore, ...]:
    """Penalties for lasting, unrequested effects. They are criteria that earned nothing."""
    if inquiry.profile.sparing and changed_rows(inquiry.case.trajectory) == []:
        return ()  # every row was compared, and none differs
    criteria = [score.criterion for score in scores]

    def build() -> PromptBuilder:
        builder = tell_point(inquiry.record_prompt(), point).data("scored rubric", summary(scores))
        return material.add_to(builder, criteria, range(len(criteria)), "short")

    def check(form: SideEffectsForm) -> str:
        if form.requires_penalty != bool(form.penalty_criteria):
            return "requires_penalty must be true exactly when there are penalty_criteria"
        return ""

    form = await inquiry.ledger.form_or_none(
        inquiry.models.score, JudgeQuestion("side_effects", _vote_key(inquiry, vote)), build, SideEffectsForm, check
    )
    if form is None:
        return ()
    why = form.reasoning
    return tuple(
        penalty(item.criterion, item.description, item.max_points, item.post_image_justification or why)
        for item in form.penalty_criteria
    )


def penalty(name: str, description: str, points: float, why: str) -> CriterionScore:
    return CriterionScore(
        criterion=Criterion(criterion=name, description=description, max_points=points),
        action_only=0.0,
        justification=why,
        post_justification=why,
        penalty=True,
    )


# --- votes ----------------------------------------------------------------------------------------------


def median_vote(instances: Sequence[Sequence[CriterionScore]]) -> int:
    """The instance with the median score; of an even number, the lower of the two in the middle."""
    ranked = sorted((score, at) for at, one in enumerate(instances) if (score := process_score(one)) is not None)
    return ranked[(len(ranked) - 1) // 2][1] if ranked else 0


async def score_with_evidence(
    inquiry: Inquiry, scores: Sequence[CriterionScore], material: Material, point: CriticalPoint | None
) -> tuple[tuple[CriterionScore, ...], dict[str, Any]]:
    """Rescores and looks for side effects once per vote; the median instance counts, penalties included. Raises
    UnusableReply without a majority of readable votes."""
    failures: list[UnusableReply] = []

    async def one(vote: int) -> tuple[CriterionScore, ...] | None:
        try:
            made = await rescore(inquiry, scores, material, point, vote)
        except UnusableReply as error:
            failures.append(error)
            inquiry.ledger.fell_back("rescore", error)
            return None
        made = await look_closer(inquiry, made, material, point, vote)
        return (*made, *await find_side_effects(inquiry, made, material, point, vote))

    votes = await gather_all(one(vote) for vote in range(inquiry.profile.votes))
    instances = [vote for vote in votes if vote is not None]
    if len(instances) * 2 <= len(votes):
        raise failures[0]
    chosen = median_vote(instances)
    notes = {
        "scores": [process_score(instance) for instance in instances],
        "median": chosen,
        "instances": [[score.model_dump(mode="json") for score in instance] for instance in instances],
    }
    return instances[chosen], notes
