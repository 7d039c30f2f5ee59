"""Points: first from the actions alone, then with the evidence. Models give points; the arithmetic is ours."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from webassay.core.record import Record
from webassay.judging.case import PromptBuilder
from webassay.judging.evidence import Evidence, about, describe_evidence
from webassay.judging.inquiry import PROCESS_THRESHOLD, Inquiry
from webassay.judging.ledger import Form, Question, gather_all
from webassay.judging.rubric import Criterion, Rubric, alike, describe, describe_point
from webassay.llm.client import UnusableReply

_SAME_CRITERION = 0.7


class Score(Record):
    """One criterion, scored."""

    criterion: Criterion
    action_only: float
    justification: str
    condition_met: bool | None = None
    """None: it has no condition."""
    condition_reasoning: str = ""
    reality_notes: str = ""
    applicable_evidence: str = ""
    post_justification: str = ""
    points: float = 0.0
    """With the evidence. These count."""
    penalty: bool = False

    @property
    def applies(self) -> bool:
        return self.condition_met is not False


def process_score(scores: Sequence[Score]) -> float:
    """Points earned out of all points of the criteria that apply. Penalties raise the total and earn nothing."""
    applying = [score for score in scores if score.applies]
    possible = sum(score.criterion.max_points for score in applying)
    return sum(score.points for score in applying) / possible if possible else 0.0


def action_only_score(scores: Sequence[Score]) -> float:
    applying = [score for score in scores if score.applies and not score.penalty]
    possible = sum(score.criterion.max_points for score in applying)
    return sum(score.action_only for score in applying) / possible if possible else 0.0


def succeeded(score: float) -> bool:
    # Points are sums of decimals: 0.8 must not fail for being 0.7999999999999999.
    return score >= PROCESS_THRESHOLD - 1e-9


# --- from the actions alone -----------------------------------------------------------------------------


class _ActionScore(Form):
    criterion_idx: int
    criterion: str = ""
    justification: str = Field(min_length=1)
    earned_points: float = Field(ge=0)
    is_condition_met: bool | None = None


class _ActionForm(Form):
    items: list[_ActionScore]


async def score_actions(inquiry: Inquiry, rubric: Rubric) -> tuple[Score, ...]:
    """The first of two passes. Raises UnusableReply if no usable scores come back."""

    def build() -> PromptBuilder:
        builder = inquiry.record_prompt().data("rubric", describe(rubric.items))
        if rubric.critical_point is not None:
            builder.data("critical point of the task", describe_point(rubric.critical_point))
        return builder

    def check(form: _ActionForm) -> str:
        if problem := _in_order([item.criterion_idx for item in form.items], range(len(rubric.items))):
            return problem
        for item, criterion in zip(form.items, rubric.items, strict=True):
            if item.criterion and alike(item.criterion, criterion.criterion) < _SAME_CRITERION:
                return f"criterion_idx {item.criterion_idx} is {criterion.criterion!r}, not {item.criterion!r}"
            if item.earned_points > criterion.max_points:
                return f"criterion_idx {item.criterion_idx}: at most {criterion.max_points:g} points"
            if criterion.condition and item.is_condition_met is None:
                return f"criterion_idx {item.criterion_idx} has a condition: is_condition_met is needed"
        return ""

    form = await inquiry.ledger.form(inquiry.models.score, Question("action_only"), build, _ActionForm, check)
    return tuple(
        Score(
            criterion=criterion,
            action_only=item.earned_points,
            justification=item.justification,
            condition_met=item.is_condition_met if criterion.condition else None,
            points=item.earned_points,
        )
        for item, criterion in zip(form.items, rubric.items, strict=True)
    )


def _in_order(given: Sequence[int], wanted: Sequence[int]) -> str:
    return "" if list(given) == list(wanted) else f"criterion_idx {list(wanted)} are needed, in this order"


# --- conditions -----------------------------------------------------------------------------------------


class _Condition(Form):
    criterion_idx: int
    condition: str = ""
    reasoning: str = ""
    is_condition_met: bool


class _ConditionsForm(Form):
    disambiguation: list[_Condition]


async def settle_conditions(
    inquiry: Inquiry, scores: Sequence[Score], evidence: Sequence[Evidence]
) -> tuple[Score, ...]:
    """Decides from the evidence which conditions held. Asks a model if several may exclude each other."""
    wanted = [index for index, score in enumerate(scores) if score.criterion.condition]
    settled: Mapping[int, tuple[bool, str]] = {index: (_seen(scores[index], evidence, index), "") for index in wanted}
    if wanted and len(wanted) >= inquiry.profile.conditions_from:
        settled = await _ask_conditions(inquiry, scores, evidence, wanted) or settled
    return tuple(
        score.model_copy(update={"condition_met": settled[index][0], "condition_reasoning": settled[index][1]})
        if index in settled
        else score
        for index, score in enumerate(scores)
    )


def _seen(score: Score, evidence: Sequence[Evidence], index: int) -> bool:
    """What the screenshots say; where none says anything, what the actions said."""
    said = [item.condition_holds for item in about(evidence, index) if item.condition_holds is not None]
    return any(said) if said else bool(score.condition_met)


async def _ask_conditions(
    inquiry: Inquiry, scores: Sequence[Score], evidence: Sequence[Evidence], wanted: Sequence[int]
) -> Mapping[int, tuple[bool, str]] | None:
    criteria = [score.criterion for score in scores]

    def build() -> PromptBuilder:
        builder = inquiry.record_prompt().data("criteria with conditions", describe(criteria, wanted))
        return builder.data("evidence", describe_evidence(criteria, evidence, wanted))

    def check(form: _ConditionsForm) -> str:
        return _in_order([item.criterion_idx for item in form.disambiguation], wanted)

    try:
        form = await inquiry.ledger.form(inquiry.models.score, Question("conditions"), build, _ConditionsForm, check)
    except UnusableReply as error:
        inquiry.ledger.fell_back("conditions", error)
        return None
    return {item.criterion_idx: (item.is_condition_met, item.reasoning) for item in form.disambiguation}


# --- reality --------------------------------------------------------------------------------------------


class _Note(Form):
    criterion_idx: int
    reality_notes: str | None = ""


class _RealityForm(Form):
    reality_checks: list[_Note]


async def check_reality(inquiry: Inquiry, scores: Sequence[Score], evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """For each criterion, a note on how the world differs from what the rubric assumed."""
    criteria = [score.criterion for score in scores]

    def build() -> PromptBuilder:
        builder = inquiry.record_prompt().data("rubric", describe(criteria))
        return builder.data("evidence", describe_evidence(criteria, evidence, range(len(criteria))))

    def check(form: _RealityForm) -> str:
        return _in_order([item.criterion_idx for item in form.reality_checks], range(len(criteria)))

    try:
        form = await inquiry.ledger.form(inquiry.models.score, Question("reality"), build, _RealityForm, check)
    except UnusableReply as error:
        inquiry.ledger.fell_back("reality", error)
        return ("",) * len(criteria)
    return tuple(item.reality_notes or "" for item in form.reality_checks)


# --- with the evidence ----------------------------------------------------------------------------------


class _Rescore(Form):
    criterion_idx: int
    applicable_evidence: str = ""
    post_image_justification: str = Field(min_length=1)
    post_image_earned_points: float = Field(ge=0)


class _RescoreForm(Form):
    items: list[_Rescore]


async def rescore(
    inquiry: Inquiry, scores: Sequence[Score], evidence: Sequence[Evidence], vote: int
) -> tuple[Score, ...]:
    """Criteria whose condition does not hold get 0 and are not asked about."""
    wanted = [index for index, score in enumerate(scores) if score.applies]
    kept = [
        score if score.applies else score.model_copy(update={"points": 0.0, "post_justification": "does not apply"})
        for score in scores
    ]
    if not wanted:
        return tuple(kept)
    criteria = [score.criterion for score in scores]

    def build() -> PromptBuilder:
        builder = inquiry.record_prompt().data("rubric", describe(criteria, wanted))
        builder.data("scores from the actions alone, and notes on reality", _baseline(scores, wanted))
        return builder.data("evidence", describe_evidence(criteria, evidence, wanted))

    def check(form: _RescoreForm) -> str:
        if problem := _in_order([item.criterion_idx for item in form.items], wanted):
            return problem
        for item in form.items:
            if item.post_image_earned_points > criteria[item.criterion_idx].max_points:
                return f"criterion_idx {item.criterion_idx}: at most {criteria[item.criterion_idx].max_points:g} points"
        return ""

    try:
        form = await inquiry.ledger.form(
            inquiry.models.score, Question("rescore", _vote_key(inquiry, vote)), build, _RescoreForm, check
        )
    except UnusableReply as error:
        inquiry.ledger.fell_back("rescore", error)
        return tuple(kept)
    for item in form.items:
        kept[item.criterion_idx] = kept[item.criterion_idx].model_copy(
            update={
                "applicable_evidence": item.applicable_evidence,
                "post_justification": item.post_image_justification,
                "points": item.post_image_earned_points,
            }
        )
    return tuple(kept)


def _baseline(scores: Sequence[Score], wanted: Sequence[int]) -> str:
    return "\n".join(
        f"criterion_idx {index}: {scores[index].action_only:g} of {scores[index].criterion.max_points:g} from the "
        f"actions alone ({scores[index].justification})\n  reality: {scores[index].reality_notes or '-'}"
        for index in wanted
    )


def _vote_key(inquiry: Inquiry, vote: int) -> str:
    # A second sample of one question must be another question to a cache.
    return str(vote) if inquiry.profile.votes > 1 else ""


# --- side effects ---------------------------------------------------------------------------------------


class _Penalty(Form):
    criterion: str = Field(min_length=1)
    description: str = Field(min_length=1)
    max_points: float = Field(gt=0, le=10)
    post_image_justification: str = ""


class _SideEffectsForm(Form):
    reasoning: str = ""
    requires_penalty: bool
    penalty_criteria: list[_Penalty] = Field(default_factory=list)


async def find_side_effects(
    inquiry: Inquiry, scores: Sequence[Score], evidence: Sequence[Evidence], vote: int
) -> tuple[Score, ...]:
    """Penalties for lasting, unrequested effects. They are criteria that earned nothing."""
    criteria = [score.criterion for score in scores]

    def build() -> PromptBuilder:
        builder = inquiry.record_prompt().data("scored rubric", summary(scores))
        return builder.data("evidence", describe_evidence(criteria, evidence, range(len(criteria))))

    def check(form: _SideEffectsForm) -> str:
        if form.requires_penalty != bool(form.penalty_criteria):
            return "requires_penalty must be true exactly when there are penalty_criteria"
        return ""

    try:
        form = await inquiry.ledger.form(
            inquiry.models.score, Question("side_effects", _vote_key(inquiry, vote)), build, _SideEffectsForm, check
        )
    except UnusableReply as error:
        inquiry.ledger.fell_back("side_effects", error)
        return ()
    return tuple(
        penalty(item.criterion, item.description, item.max_points, item.post_image_justification)
        for item in form.penalty_criteria
    )


def penalty(name: str, description: str, points: float, why: str) -> Score:
    return Score(
        criterion=Criterion(criterion=name, description=description, max_points=points),
        action_only=0.0,
        justification=why,
        post_justification=why,
        penalty=True,
    )


def summary(scores: Sequence[Score]) -> str:
    lines = []
    for index, score in enumerate(scores):
        mark = "PENALTY " if score.penalty else ""
        state = "" if score.applies else " (does not apply: its condition was not met)"
        lines.append(
            f"{index}. {mark}{score.criterion.criterion}: {score.points:g} of {score.criterion.max_points:g}{state}\n"
            f"   {score.post_justification or score.justification}"
        )
    return "\n".join(lines)


# --- votes ----------------------------------------------------------------------------------------------


def median_vote(instances: Sequence[Sequence[Score]]) -> int:
    """The instance with the median score. The number of instances is odd, so there is one."""
    ranked = sorted(range(len(instances)), key=lambda index: (process_score(instances[index]), index))
    return ranked[len(ranked) // 2]


async def score_with_evidence(
    inquiry: Inquiry, scores: Sequence[Score], evidence: Sequence[Evidence]
) -> tuple[tuple[Score, ...], dict[str, Any]]:
    """Rescores and looks for side effects once per vote. The median instance stands, penalties included."""

    async def one(vote: int) -> tuple[Score, ...]:
        made = await rescore(inquiry, scores, evidence, vote)
        return (*made, *await find_side_effects(inquiry, made, evidence, vote))

    instances = await gather_all(one(vote) for vote in range(inquiry.profile.votes))
    chosen = median_vote(instances)
    notes = {
        "scores": [process_score(instance) for instance in instances],
        "median": chosen,
        "instances": [[score.model_dump(mode="json") for score in instance] for instance in instances],
    }
    return instances[chosen], notes
