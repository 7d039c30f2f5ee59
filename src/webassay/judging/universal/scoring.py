"""Points: first from the actions alone, then with the evidence. Models give points; the arithmetic is ours."""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from webassay.core.record import Record
from webassay.judging.case import PromptBuilder
from webassay.judging.ledger import JudgeQuestion, ReplyForm
from webassay.judging.universal.evidence import Evidence, Material, about, describe_evidence
from webassay.judging.universal.inquiry import Inquiry
from webassay.judging.universal.profile import PROCESS_THRESHOLD
from webassay.judging.universal.rubric import Criterion, Rubric, alike, describe, tell_point

_SAME_CRITERION = 0.7

Cause = Literal["none", "controllable", "uncontrollable"]


class CriterionScore(Record):
    """One criterion, scored."""

    criterion: Criterion
    action_only: float
    justification: str
    cannot_tell: str = ""
    """What the actions alone do not show."""
    condition_met: bool | None = None
    """None: it has no condition."""
    condition_reasoning: str = ""
    reality_notes: str = ""
    applicable_evidence: str = ""
    post_justification: str = ""
    cause: Cause = "none"
    """Whose doing it is that points are missing."""
    points: float = 0.0
    """With the evidence. These count."""
    told: bool = True
    """False: the evidence does not decide this criterion."""
    penalty: bool = False
    looked_closer: str = ""
    """What a second look at the pages found, where the two passes differed."""

    @property
    def applies(self) -> bool:
        return self.condition_met is not False


def process_score(scores: Sequence[CriterionScore]) -> float | None:
    """The share of points earned on criteria that apply and can be told; None without any. Penalties raise the
    total."""
    counting = [score for score in scores if score.applies and score.told]
    if all(score.penalty for score in counting):
        return None
    return sum(score.points for score in counting) / sum(score.criterion.max_points for score in counting)


def process_success(scores: Sequence[CriterionScore]) -> bool | None:
    """None where the criteria that cannot be told would decide it, and where no criterion applies."""
    worst = [score if score.told else score.model_copy(update={"told": True, "points": 0.0}) for score in scores]
    best = [
        score if score.told else score.model_copy(update={"told": True, "points": score.criterion.max_points})
        for score in scores
    ]
    low, high = process_score(worst), process_score(best)
    if low is None or high is None or succeeded(low) != succeeded(high):
        return None
    return succeeded(low)


def action_only_score(scores: Sequence[CriterionScore]) -> float | None:
    applying = [score for score in scores if score.applies and not score.penalty]
    possible = sum(score.criterion.max_points for score in applying)
    return sum(score.action_only for score in applying) / possible if possible else None


def succeeded(score: float) -> bool:
    # Points are sums of decimals: 0.8 must not fail for being 0.7999999999999999.
    return score >= PROCESS_THRESHOLD - 1e-9


# --- from the actions alone -----------------------------------------------------------------------------


class _ActionScore(ReplyForm):
    criterion_idx: int
    criterion: str = ""
    justification: str = Field(min_length=1)
    cannot_tell: str | None = ""
    is_condition_met: bool | None = None
    earned_points: float = Field(ge=0)


class ActionForm(ReplyForm):
    items: list[_ActionScore]


async def score_actions(inquiry: Inquiry, rubric: Rubric) -> tuple[CriterionScore, ...]:
    """The first of two passes: it says what was claimed, for the second to be compared with, and earns no points
    itself. Raises UnusableReply if no usable scores come back."""

    def build() -> PromptBuilder:
        return tell_point(inquiry.record_prompt(), rubric.critical_point).data("rubric", describe(rubric.items))

    def check(form: ActionForm) -> str:
        if problem := in_order([item.criterion_idx for item in form.items], range(len(rubric.items))):
            return problem
        for item, criterion in zip(form.items, rubric.items, strict=True):
            if item.criterion and alike(item.criterion, criterion.criterion) < _SAME_CRITERION:
                return f"criterion_idx {item.criterion_idx} is {criterion.criterion!r}, not {item.criterion!r}"
            if item.earned_points > criterion.max_points:
                return f"criterion_idx {item.criterion_idx}: at most {criterion.max_points:g} points"
            if item.cannot_tell and inquiry.profile.closer_look and item.earned_points >= criterion.max_points:
                return f"criterion_idx {item.criterion_idx}: something cannot be told, so not all points can be earned"
        return ""

    form = await inquiry.ledger.form(inquiry.models.score, JudgeQuestion("action_only"), build, ActionForm, check)
    return tuple(
        CriterionScore(
            criterion=criterion,
            action_only=item.earned_points,
            justification=item.justification,
            cannot_tell=item.cannot_tell or "",
            condition_met=item.is_condition_met if criterion.condition else None,
        )
        for item, criterion in zip(form.items, rubric.items, strict=True)
    )


def in_order(given: Sequence[int], wanted: Sequence[int]) -> str:
    return "" if list(given) == list(wanted) else f"criterion_idx {list(wanted)} are needed, in this order"


# --- conditions -----------------------------------------------------------------------------------------


class _Condition(ReplyForm):
    criterion_idx: int
    condition: str = ""
    reasoning: str = ""
    is_condition_met: bool | None


class ConditionsForm(ReplyForm):
    disambiguation: list[_Condition]


async def settle_conditions(
    inquiry: Inquiry, scores: Sequence[CriterionScore], material: Material
) -> tuple[CriterionScore, ...]:
    """Decides from the evidence which conditions held, and asks a model if several may exclude each other. A
    condition about which nothing is known counts as not met, so its criterion is neither earned nor missed."""
    wanted = [index for index, score in enumerate(scores) if score.criterion.condition]
    settled: Mapping[int, tuple[bool, str]] = {
        index: (_seen(scores[index], material.evidence, index), "") for index in wanted
    }
    if wanted and len(wanted) >= inquiry.profile.conditions_from:
        settled = await _ask_conditions(inquiry, scores, material, wanted) or settled
    return tuple(
        score.model_copy(update={"condition_met": settled[index][0], "condition_reasoning": settled[index][1]})
        if index in settled
        else score
        for index, score in enumerate(scores)
    )


def _seen(score: CriterionScore, evidence: Sequence[Evidence], index: int) -> bool:
    """What the last screenshot says that says anything; where none does, what the actions said."""
    said = [item.condition_holds for item in about(evidence, index) if item.condition_holds is not None]
    return said[-1] if said else bool(score.condition_met)


async def _ask_conditions(
    inquiry: Inquiry, scores: Sequence[CriterionScore], material: Material, wanted: Sequence[int]
) -> Mapping[int, tuple[bool, str]] | None:
    criteria = [score.criterion for score in scores]

    def build() -> PromptBuilder:
        builder = inquiry.record_prompt().data("criteria with conditions", describe(criteria, wanted))
        return material.add_to(builder, criteria, wanted)

    def check(form: ConditionsForm) -> str:
        if problem := in_order([item.criterion_idx for item in form.disambiguation], wanted):
            return problem
        for item in form.disambiguation:
            condition = criteria[item.criterion_idx].condition
            if len(item.condition) > len(condition) // 2 and alike(item.condition, condition) < _SAME_CRITERION:
                return f"the condition of criterion_idx {item.criterion_idx} is {condition!r}"
        return ""

    form = await inquiry.ledger.form_or_none(
        inquiry.models.score, JudgeQuestion("conditions"), build, ConditionsForm, check
    )
    if form is None:
        return None
    return {
        item.criterion_idx: (
            item.is_condition_met is True,
            item.reasoning if item.is_condition_met is not None else f"cannot be told. {item.reasoning}".strip(),
        )
        for item in form.disambiguation
    }


# --- reality --------------------------------------------------------------------------------------------


class _Note(ReplyForm):
    criterion_idx: int
    reality_notes: str | None = ""


class RealityForm(ReplyForm):
    reality_checks: list[_Note]


async def check_reality(inquiry: Inquiry, scores: Sequence[CriterionScore], material: Material) -> tuple[str, ...]:
    """For each criterion, a note on how the world differs from what the rubric assumed."""
    criteria = [score.criterion for score in scores]

    def build() -> PromptBuilder:
        builder = inquiry.record_prompt().data("rubric", describe(criteria))
        return builder.data("evidence", describe_evidence(criteria, material.evidence, range(len(criteria))))

    def check(form: RealityForm) -> str:
        return in_order([item.criterion_idx for item in form.reality_checks], range(len(criteria)))

    form = await inquiry.ledger.form_or_none(inquiry.models.score, JudgeQuestion("reality"), build, RealityForm, check)
    if form is None:
        return ("",) * len(criteria)
    return tuple(item.reality_notes or "" for item in form.reality_checks)


def summary(scores: Sequence[CriterionScore]) -> str:
    lines = []
    for index, score in enumerate(scores):
        mark = "PENALTY " if score.penalty else ""
        state = "" if score.applies else " (does not apply: its condition was not met)"
        if not score.told:
            state = " (cannot be told from the evidence)"
        elif score.cause != "none":
            state = f" (the cause of what is missing was {score.cause})"
        lines.append(
            f"{index}. {mark}{score.criterion.criterion}: {score.points:g} of {score.criterion.max_points:g}{state}\n"
            f"   {score.post_justification or score.justification}"
        )
    return "\n".join(lines)
