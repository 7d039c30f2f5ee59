"""What went wrong, where, and of which kind. This explains a verdict and never changes one.

Two taxonomies are in use, and their numbers collide: 5.1 is an underspecified task in the paper, and an unsolicited
side effect in the released code. So a code is always stored with its taxonomy and its name.
"""

import re
from collections.abc import Mapping, Sequence

from pydantic import Field

from webassay.core.interaction import ACTIONS
from webassay.core.record import Record
from webassay.core.trajectory import Trajectory
from webassay.judging.case import PromptBuilder
from webassay.judging.evidence import Evidence, describe_evidence
from webassay.judging.inquiry import Inquiry, Taxonomy
from webassay.judging.ledger import Form, Question
from webassay.judging.outcome import Outcome
from webassay.judging.scoring import Score, summary
from webassay.llm.client import UnusableReply


class Code(Record):
    code: str
    category: str
    name: str
    meaning: str

    @property
    def slug(self) -> str:
        return re.sub(r"[^a-z0-9]+", "_", self.name.lower()).strip("_")


def _table(*rows: tuple[str, str, str, str]) -> dict[str, Code]:
    return {row[0]: Code(code=row[0], category=row[1], name=row[2], meaning=row[3]) for row in rows}


_SELECTION = (
    ("1.1", "Selection", "Missing intent", "an entirely wrong product, place, person or service was chosen"),
    ("1.2", "Selection", "Unauthorized substitution", "something similar was taken in its place, without a word"),
    ("1.3", "Selection", "Wrong action type", "the right thing, but the wrong thing done to it"),
    ("1.4", "Selection", "Wrong values or constraint violation", "wrong parameters, a condition not kept"),
    ("1.5", "Selection", "Other selection error", "none of the above"),
)
_HALLUCINATION = (
    ("2.1", "Hallucination", "Output contradiction", "the answer says the opposite of what the evidence shows"),
    ("2.2", "Hallucination", "Action contradiction", "a possible action is claimed that the evidence shows undone"),
    ("2.3", "Hallucination", "Output fabrication", "the answer states something with no basis at all"),
    ("2.4", "Hallucination", "Action fabrication", "an action is claimed that was not even possible, or data made up"),
    ("2.5", "Hallucination", "Other hallucination", "none of the above"),
)
_EXECUTION = (
    ("3.1", "Execution and strategy", "Computational mistake", "right method, wrong count, sum or reading"),
    ("3.2", "Execution and strategy", "Platform non-compliance", "the named platform was not used, or left silently"),
    ("3.3", "Execution and strategy", "Incomplete delivery", "everything was found, but not given to the person"),
    ("3.4", "Execution and strategy", "Environment failure", "blocked by the site, a CAPTCHA, a log-in wall"),
    ("3.5", "Execution and strategy", "Incomplete task execution", "parts of the task were left out or cut short"),
    ("3.6", "Execution and strategy", "Other execution error", "none of the above"),
)
_CRITICAL = (
    ("4.1", "Critical point", "Premature stop", "stopped before it although the task gave permission"),
    ("4.2", "Critical point", "Violation", "crossed it without permission"),
    ("4.3", "Critical point", "Other critical point error", "none of the above"),
)

TAXONOMIES: Mapping[Taxonomy, Mapping[str, Code]] = {
    "paper": _table(
        *_SELECTION,
        *_HALLUCINATION,
        *_EXECUTION,
        *_CRITICAL,
        ("5.1", "Task ambiguity", "Underspecified", "the task leaves out something essential"),
        ("5.2", "Task ambiguity", "Ambiguous", "several readings or targets are possible"),
        ("5.3", "Task ambiguity", "Unsafe", "the task asks for something harmful or forbidden"),
        ("5.4", "Task ambiguity", "Other ambiguity", "none of the above"),
        ("6.1", "Side effect", "Unsolicited", "a lasting change, enrolment or addition that nobody asked for"),
        ("6.2", "Side effect", "Other side effect", "none of the above"),
        ("7.1", "Tool interaction", "Invalid invocation", "a tool that exists, called with wrong arguments"),
        ("7.2", "Tool interaction", "Hallucinated action", "a tool that does not exist"),
        ("7.3", "Tool interaction", "Intent-action mismatch", "the call is not what the agent said it would do"),
        ("7.4", "Tool interaction", "Other tool error", "none of the above"),
    ),
    "released": _table(
        *_SELECTION,
        *_HALLUCINATION,
        *_EXECUTION,
        ("3.2.1", "Execution and strategy", "API sniffing", "the site's interfaces were called instead of its pages"),
        *_CRITICAL,
        ("5.1", "Side effect", "Unsolicited", "a lasting change, enrolment or addition that nobody asked for"),
        ("5.2", "Side effect", "Other side effect", "none of the above"),
        ("6.1", "Tool interaction", "Invalid invocation", "a tool that exists, called with wrong arguments"),
        ("6.2", "Tool interaction", "Hallucinated action", "a tool that does not exist"),
        ("6.3", "Tool interaction", "Intent-action mismatch", "the call is not what the agent said it would do"),
        ("6.4", "Tool interaction", "Fine-grained grounding", "the right place was missed by a little"),
        ("6.5", "Tool interaction", "Grounding intent-action mismatch", "another element was hit than was meant"),
        ("6.6", "Tool interaction", "Other tool error", "none of the above"),
        ("7.1", "Task ambiguity", "Underspecified", "the task leaves out something essential"),
        ("7.2", "Task ambiguity", "Ambiguous", "several readings or targets are possible"),
        ("7.3", "Task ambiguity", "Other ambiguity", "none of the above"),
        ("8.1", "Invalid task", "Impossible", "cannot be done by anybody"),
        ("8.2", "Invalid task", "Illegal", "against the law"),
        ("8.3", "Invalid task", "Not safe for work", "sexual or violent content"),
        ("8.4", "Invalid task", "Irresponsible", "harmful to people or groups"),
        ("8.5", "Invalid task", "Unsafe", "dangerous"),
        ("8.6", "Invalid task", "Other invalid task", "none of the above"),
    ),
}

_TOOL_CODES: Mapping[Taxonomy, tuple[str, str]] = {"paper": ("7.1", "7.2"), "released": ("6.1", "6.2")}
_VALIDITY: Mapping[Taxonomy, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "paper": (("5.1", "5.2", "5.4"), ("5.3",)),
    "released": (("7.1", "7.2", "7.3"), ("8.1", "8.2", "8.3", "8.4", "8.5", "8.6")),
}
_INJECTED = frozenset(("thoughts", "action", "_call_id"))
_MAX_STEPS = 10_000


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


class Diagnosis(Record):
    reasoning: str = ""
    points: tuple[FailurePoint, ...] = ()

    @property
    def first_step(self) -> int | None:
        """Of all failures. Computed, never the model's word."""
        steps = [step for point in self.points for step in point.steps]
        return min(steps) if steps else None


# --- tool errors, by program ----------------------------------------------------------------------------


def own_actions() -> dict[str, frozenset[str]]:
    return {name: frozenset(p.name for p in signature.parameters) for name, signature in ACTIONS.items()}


def tool_errors(
    trajectory: Trajectory, definitions: Mapping[str, frozenset[str]], taxonomy: Taxonomy
) -> tuple[FailurePoint, ...]:
    """Calls of tools that do not exist, or with arguments that the tool does not take."""
    invalid, unknown = (TAXONOMIES[taxonomy][code] for code in _TOOL_CODES[taxonomy])
    points = []
    for step in trajectory.steps:
        calls = [(action.name, frozenset(action.args)) for action in step.actions]
        named, given = step.info.get("action"), step.info.get("arguments")
        if isinstance(named, str) and not calls:
            calls = [(named, frozenset(given) if isinstance(given, dict) else frozenset())]
        for name, arguments in calls:
            wrong = arguments - definitions.get(name, frozenset()) - _INJECTED
            if name not in definitions:
                points.append(_by_program(unknown, taxonomy, step.index, f"There is no tool {name!r}."))
            elif wrong:
                said = f"{name} has no argument {', '.join(sorted(wrong))}."
                points.append(_by_program(invalid, taxonomy, step.index, said))
    return tuple(points)


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


class _Point(Form):
    step_numbers: str | int = ""
    error_code: str
    what_happened: str
    agent_reasoning: str | None = ""
    evidence: str | None = ""
    impact: str | None = ""


class _DiagnosisForm(Form):
    reasoning: str = ""
    has_failure: bool
    failure_points: list[_Point] = Field(default_factory=list)


async def diagnose(
    inquiry: Inquiry, scores: Sequence[Score], evidence: Sequence[Evidence], outcome: Outcome
) -> Diagnosis:
    taxonomy = inquiry.profile.taxonomy
    codes = TAXONOMIES[taxonomy]
    definitions = own_actions() if inquiry.case.trajectory.source == "webassay" else {}
    found = tool_errors(inquiry.case.trajectory, definitions, taxonomy) if definitions else ()
    criteria = [score.criterion for score in scores]

    def build() -> PromptBuilder:
        builder = inquiry.record_prompt().data("scored rubric", summary(scores))
        builder.data("evidence", describe_evidence(criteria, evidence, range(len(criteria))))
        said = {True: "success", False: "failure", None: "undecided"}[outcome.success]
        builder.data("outcome", f"{said}. {outcome.spoken.reasoning}")
        listed = "\n".join(f"{code.code} {code.category}: {code.name} ({code.meaning})" for code in codes.values())
        return builder.note(f"Codes:\n{listed}")

    def check(form: _DiagnosisForm) -> str:
        unknown = [point.error_code for point in form.failure_points if _code_of(point.error_code) not in codes]
        if unknown:
            return f"there is no code {unknown[0]!r}; use one of {', '.join(codes)}"
        if form.has_failure != bool(form.failure_points):
            return "has_failure must be true exactly when there are failure_points"
        return ""

    try:
        form = await inquiry.ledger.form(inquiry.models.outcome, Question("diagnosis"), build, _DiagnosisForm, check)
    except UnusableReply as error:
        inquiry.ledger.fell_back("diagnosis", error)
        return Diagnosis(reasoning="No usable reply was given.", points=found)
    last = len(inquiry.case.trajectory.steps)
    told = [
        _told(point, codes[_code_of(point.error_code)], taxonomy, last)
        for point in form.failure_points
        if not (definitions and _code_of(point.error_code) in _TOOL_CODES[taxonomy])
    ]
    points = sorted((*found, *told), key=lambda point: (point.steps or (last + 1,), point.code))
    return Diagnosis(reasoning=form.reasoning, points=tuple(points))


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


class Validity(Record):
    ambiguous: bool
    invalid: bool
    codes: tuple[str, ...] = ()
    reasoning: str = ""

    @property
    def word(self) -> str:
        return "invalid" if self.invalid else "ambiguous" if self.ambiguous else "valid"


class _ValidityForm(Form):
    reasoning_is_ambiguous: str = ""
    is_ambiguous: bool
    ambiguity_codes: list[str] = Field(default_factory=list)
    reasoning_is_invalid: str = ""
    is_invalid: bool
    invalid_task_codes: list[str] = Field(default_factory=list)


async def check_validity(inquiry: Inquiry, *, with_record: bool = True) -> Validity | None:
    taxonomy = inquiry.profile.taxonomy
    ambiguity, invalidity = _VALIDITY[taxonomy]
    codes = TAXONOMIES[taxonomy]

    def build() -> PromptBuilder:
        builder = inquiry.record_prompt() if with_record else inquiry.task_prompt()
        listed = "\n".join(f"{code} {codes[code].name} ({codes[code].meaning})" for code in (*ambiguity, *invalidity))
        return builder.note(f"Codes:\n{listed}")

    def check(form: _ValidityForm) -> str:
        wrong = [code for code in form.ambiguity_codes if _code_of(code) not in ambiguity]
        wrong += [code for code in form.invalid_task_codes if _code_of(code) not in invalidity]
        return f"there is no code {wrong[0]!r} here" if wrong else ""

    try:
        form = await inquiry.ledger.form(inquiry.models.outcome, Question("validity"), build, _ValidityForm, check)
    except UnusableReply as error:
        inquiry.ledger.fell_back("validity", error)
        return None
    return Validity(
        ambiguous=form.is_ambiguous,
        invalid=form.is_invalid,
        codes=tuple(_code_of(code) for code in (*form.ambiguity_codes, *form.invalid_task_codes)),
        reasoning=" ".join(part for part in (form.reasoning_is_ambiguous, form.reasoning_is_invalid) if part),
    )
