"""What went wrong, where, and of which kind. This explains a verdict and never changes one."""

import re
from collections.abc import Mapping, Sequence

from pydantic import Field

from webassay.core.calls import read_calls
from webassay.core.errors import ActionError
from webassay.core.interaction import ACTIONS
from webassay.core.record import Record
from webassay.core.trajectory import Step, Trajectory
from webassay.judging.case import PromptBuilder
from webassay.judging.ledger import JudgeQuestion, ReplyForm
from webassay.judging.taxonomy import TAXONOMIES, TOOL_CODES, VALIDITY, Code, Taxonomy
from webassay.judging.universal.evidence import Material
from webassay.judging.universal.inquiry import Inquiry
from webassay.judging.universal.outcome import VotedOutcome
from webassay.judging.universal.rubric import Rubric, Validities, Validity, tell_point, validity_key
from webassay.judging.universal.scoring import CriterionScore, process_score, summary

_INJECTED = frozenset(("thoughts", "action", "_call_id"))
_MAX_STEPS = 10_000
_MAX_SAID = 400


# --- steps ----------------------------------------------------------------------------------------------


def read_steps(text: str, last: int) -> tuple[int, ...]:
    """`3-7,12` as numbers from 1 to `last`. What cannot be read is left out."""
    found: set[int] = set()
    for part in re.split(r"[,;]| and ", text):
        match = re.fullmatch(r"\D*(\d{1,6})(?:\s*(?:-|–|—|to)\s*\D*(\d{1,6}))?\D*", part.strip()[:200])
        if match is None:
            continue
        first = int(match[1])
        end = int(match[2] or first)
        found.update(range(max(1, first), min(end, last, first + _MAX_STEPS) + 1))
    return tuple(sorted(found))


class FailurePoint(Record):
    steps: tuple[int, ...]
    """Numbers of the actions, from 1; empty if the reply names none that exist."""
    code: str
    taxonomy: Taxonomy
    slug: str
    category: str
    what_happened: str
    agent_reasoning: str = ""
    evidence: str = ""
    impact: str = ""
    by_program: bool = False


class FailureDiagnosis(Record):
    reasoning: str = ""
    points: tuple[FailurePoint, ...] = ()

    @property
    def first_step(self) -> int | None:
        """The earliest step of any failure; computed, never the model's word."""
        steps = [step for point in self.points for step in point.steps]
        return min(steps) if steps else None


# --- tool errors, by program ----------------------------------------------------------------------------


def own_actions() -> dict[str, frozenset[str]]:
    return {name: frozenset(p.name for p in signature.parameters) for name, signature in ACTIONS.items()}


def tool_errors(
    trajectory: Trajectory, definitions: Mapping[str, frozenset[str]], taxonomy: Taxonomy
) -> tuple[FailurePoint, ...]:
    """Calls of tools that do not exist, or with arguments that the tool does not take, or that cannot be read."""
    invalid, unknown = (TAXONOMIES[taxonomy][code] for code in TOOL_CODES[taxonomy])
    points = []
    for step in trajectory.steps:
        calls = [(action.name, frozenset(action.args)) for action in step.actions]
        named, given = step.info.get("action"), step.info.get("arguments")
        if isinstance(named, str) and not calls:
            calls = [(named, frozenset(given) if isinstance(given, dict) else frozenset())]
        if not calls and step.error and step.action_text:
            points.append(_unreadable(step, definitions, taxonomy))
        for name, arguments in calls:
            wrong = arguments - definitions.get(name, frozenset()) - _INJECTED
            if name not in definitions:
                points.append(_by_program(unknown, taxonomy, step.index, f"There is no tool {name!r}."))
            elif wrong:
                said = f"{name} has no argument {', '.join(sorted(wrong))}."
                points.append(_by_program(invalid, taxonomy, step.index, said))
    return tuple(points)


def _unreadable(step: Step, definitions: Mapping[str, frozenset[str]], taxonomy: Taxonomy) -> FailurePoint:
    """A call that came as text, and of which no action could be made."""
    invalid, unknown = (TAXONOMIES[taxonomy][code] for code in TOOL_CODES[taxonomy])
    try:
        named = [call.name for call in read_calls(step.action_text, definitions)]
    except ActionError:
        named = []
    missing = next((name for name in named if name not in definitions), None)
    if missing is not None:
        return _by_program(unknown, taxonomy, step.index, f"There is no tool {missing!r}.")
    return _by_program(invalid, taxonomy, step.index, f"The call cannot be read: {step.error}"[:_MAX_SAID])


def _by_program(code: Code, taxonomy: Taxonomy, index: int, said: str) -> FailurePoint:
    return FailurePoint(
        steps=(index + 1,),
        code=code.code,
        taxonomy=taxonomy,
        slug=code.slug,
        category=code.category,
        what_happened=said,
        by_program=True,
    )


# --- the rest, by a model -------------------------------------------------------------------------------


class _Point(ReplyForm):
    step_numbers: str | int = ""
    what_happened: str
    agent_reasoning: str | None = ""
    evidence: str | None = ""
    impact: str | None = ""
    error_code: str


class DiagnosisForm(ReplyForm):
    reasoning: str = ""
    failure_points: list[_Point] = Field(default_factory=list)
    has_failure: bool


def clean(scores: Sequence[CriterionScore], material: Material, outcome: VotedOutcome, against: bool) -> bool:
    """A success that nothing at all was said against has nothing to be diagnosed."""
    honest = not any(item.dishonest or item.discrepancies for item in material.evidence)
    reached = outcome.success is True and not outcome.spoken.nitpicks and not outcome.cp_violation
    score = process_score(scores)
    return reached and honest and not against and score is not None and score >= 1.0 - 1e-9


async def diagnose(
    inquiry: Inquiry, rubric: Rubric, scores: Sequence[CriterionScore], material: Material, outcome: VotedOutcome
) -> FailureDiagnosis:
    taxonomy = inquiry.profile.taxonomy
    definitions = own_actions() if inquiry.case.trajectory.source == "webassay" else {}
    found = tool_errors(inquiry.case.trajectory, definitions, taxonomy) if definitions else ()
    # Where the tools are known, wrong calls of them are found by program and not asked about.
    by_program = TOOL_CODES[taxonomy] if definitions else ()
    codes = {name: code for name, code in TAXONOMIES[taxonomy].items() if name not in by_program}
    if inquiry.profile.sparing and clean(scores, material, outcome, bool(inquiry.record_findings)):
        return FailureDiagnosis(reasoning="a clean success: nobody was asked", points=found)
    criteria = [score.criterion for score in scores]

    def build() -> PromptBuilder:
        builder = tell_point(inquiry.record_prompt(), rubric.critical_point).data("scored rubric", summary(scores))
        material.add_to(builder, criteria, range(len(criteria)), "short")
        said = {True: "success", False: "failure", None: "undecided"}[outcome.success]
        builder.data("outcome", f"{said}. {outcome.spoken.reasoning}")
        listed = "\n".join(f"{code.code} {code.category}: {code.name} ({code.meaning})" for code in codes.values())
        return builder.note(f"Codes:\n{listed}")

    def check(form: DiagnosisForm) -> str:
        unknown = [point.error_code for point in form.failure_points if _code_of(point.error_code) not in codes]
        if unknown:
            return f"there is no code {unknown[0]!r}; use one of {', '.join(codes)}"
        if form.has_failure != bool(form.failure_points):
            return "has_failure must be true exactly when there are failure_points"
        return ""

    form = await inquiry.ledger.form_or_none(
        inquiry.models.outcome, JudgeQuestion("diagnosis"), build, DiagnosisForm, check
    )
    if form is None:
        return FailureDiagnosis(reasoning="No usable reply was given.", points=found)
    last = len(inquiry.case.trajectory.steps)
    told = [_told(point, codes[_code_of(point.error_code)], taxonomy, last) for point in form.failure_points]
    points = sorted((*found, *told), key=lambda point: (point.steps or (last + 1,), point.code))
    return FailureDiagnosis(reasoning=form.reasoning, points=tuple(points))


def _code_of(text: str) -> str:
    """`2.1`, `2.1 Output contradiction` and `[2.1]` are the same code."""
    match = re.search(r"\d+(?:\.\d+)+", text[:200])
    return match[0] if match else text


def _told(point: _Point, code: Code, taxonomy: Taxonomy, last: int) -> FailurePoint:
    return FailurePoint(
        steps=read_steps(str(point.step_numbers), last),
        code=code.code,
        taxonomy=taxonomy,
        slug=code.slug,
        category=code.category,
        what_happened=point.what_happened,
        agent_reasoning=point.agent_reasoning or "",
        evidence=point.evidence or "",
        impact=point.impact or "",
    )


# --- the task itself ------------------------------------------------------------------------------------


class ValidityForm(ReplyForm):
    reasoning_is_ambiguous: str = ""
    ambiguity_codes: list[str] = Field(default_factory=list)
    is_ambiguous: bool
    reasoning_is_invalid: str = ""
    invalid_task_codes: list[str] = Field(default_factory=list)
    is_invalid: bool


async def settle_validity(inquiry: Inquiry, validities: Validities) -> Validity | None:
    """Sparing: by the task alone first, once per task; with the record only if the task looks wrong by itself."""
    if not inquiry.profile.sparing:
        return await check_validity(inquiry, with_record=True)
    first = await validities.get(validity_key(inquiry), lambda: check_validity(inquiry, with_record=False))
    return first if first is None or first.word == "valid" else await check_validity(inquiry, with_record=True)


async def check_validity(inquiry: Inquiry, *, with_record: bool) -> Validity | None:
    taxonomy = inquiry.profile.taxonomy
    ambiguity, invalidity = VALIDITY[taxonomy]
    codes = TAXONOMIES[taxonomy]

    def build() -> PromptBuilder:
        builder = inquiry.record_prompt() if with_record else inquiry.bare_task_prompt()
        for title, chosen in (("Codes of ambiguity", ambiguity), ("Codes of an invalid task", invalidity)):
            listed = "\n".join(f"{code} {codes[code].name} ({codes[code].meaning})" for code in chosen)
            builder.note(f"{title}:\n{listed}")
        return builder

    def check(form: ValidityForm) -> str:
        wrong = [code for code in form.ambiguity_codes if _code_of(code) not in ambiguity]
        wrong += [code for code in form.invalid_task_codes if _code_of(code) not in invalidity]
        if wrong:
            return f"there is no code {wrong[0]!r} here"
        if (form.ambiguity_codes and not form.is_ambiguous) or (form.invalid_task_codes and not form.is_invalid):
            return "a code is given for something that is_ambiguous or is_invalid denies"
        return ""

    question = JudgeQuestion("validity", "record" if with_record and inquiry.profile.sparing else "")
    form = await inquiry.ledger.form_or_none(inquiry.models.outcome, question, build, ValidityForm, check)
    if form is None:
        return None
    return Validity(
        ambiguous=form.is_ambiguous,
        invalid=form.is_invalid,
        codes=tuple(_code_of(code) for code in (*form.ambiguity_codes, *form.invalid_task_codes)),
        reasoning=" ".join(part for part in (form.reasoning_is_ambiguous, form.reasoning_is_invalid) if part),
    )
