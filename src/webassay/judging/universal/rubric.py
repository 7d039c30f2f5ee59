"""The rubric: written from the task alone, checked, stored, frozen.

It never sees the trajectory, so one per task is enough: `RubricCache` keeps it by task, prompts and model. The validity
of the task's text is kept by itself, as another model may judge it. A person can review (`lint`) and freeze a rubric.
"""

import asyncio
import difflib
import json
import os
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar, cast

from pydantic import Field, ValidationError, model_validator

from webassay.core.errors import InputError
from webassay.core.interaction import Goal
from webassay.core.record import Record, content_hash
from webassay.judging.case import PromptBuilder
from webassay.judging.ledger import JudgeQuestion, ReplyForm
from webassay.judging.universal.inquiry import Inquiry


class Criterion(Record):
    criterion: str = Field(min_length=1)
    description: str = Field(min_length=1)
    max_points: float = Field(gt=0, le=100)
    condition: str = ""


class CriticalPoint(Record):
    """Where the task would commit the user to something, or expose them."""

    present: bool
    action: str = ""
    permission: bool = False
    missing_information: tuple[str, ...] = ()
    underspecified: tuple[str, ...] = ()
    expected_behaviour: str = ""
    reasoning: str = ""

    @property
    def type(self) -> str:
        """One of nine types."""
        if not self.present:
            return "NO_CRITICAL_POINT"
        return "_".join(
            (
                "PERMISSION_GRANTED" if self.permission else "NO_PERMISSION",
                "MISSING_INFO" if self.missing_information else "INFO_PROVIDED",
                "TASK_UNDERSPECIFIED" if self.underspecified else "TASK_SPECIFIED",
            )
        )


class Validity(Record):
    ambiguous: bool
    invalid: bool
    codes: tuple[str, ...] = ()
    reasoning: str = ""

    @property
    def word(self) -> str:
        return "invalid" if self.invalid else "ambiguous" if self.ambiguous else "valid"


class Rubric(Record):
    version: Literal[1] = 1
    items: tuple[Criterion, ...] = Field(min_length=1)
    critical_point: CriticalPoint | None = None
    review: str = Field(default="", exclude_if=lambda value: not value)
    """What the check of its dependencies found."""

    @property
    def total(self) -> float:
        return sum(item.max_points for item in self.items)

    @property
    def conditional(self) -> tuple[int, ...]:
        return tuple(index for index, item in enumerate(self.items) if item.condition)

    @classmethod
    def from_foreign(cls, value: Any) -> "Rubric":
        """A rubric of the released code, scored or not. Drops scores and penalties, and flattens nested items."""
        try:
            return cls(items=tuple(_flat(value["items"])))
        except (KeyError, TypeError, ValidationError) as error:
            raise InputError(f"This is not a rubric: {error}") from None


def _flat(items: Sequence[Any]) -> Iterator[Criterion]:
    for item in items:
        if item.get("penalty"):
            continue
        if item.get("items"):
            yield from _flat(item["items"])
        else:
            kept = {key: item[key] for key in ("criterion", "description", "max_points")}
            yield Criterion(**kept, condition=item.get("condition") or "")


# --- writing --------------------------------------------------------------------------------------------


class _Item(ReplyForm):
    criterion: str = Field(min_length=1)
    description: str = Field(min_length=1)
    max_points: float = Field(gt=0, le=100)
    condition: str | None = ""

    def made(self) -> Criterion:
        return Criterion(
            criterion=self.criterion.strip(),
            description=self.description.strip(),
            max_points=self.max_points,
            condition=(self.condition or "").strip(),
        )


class RubricForm(ReplyForm):
    items: list[_Item] = Field(min_length=1, max_length=30)


class _CriticalPointForm(ReplyForm):
    reasoning: str = ""
    action: str | None = ""
    missing_information: list[str] = Field(default_factory=list)
    underspecified: list[str] = Field(default_factory=list)
    expected_behaviour: str | None = ""
    permission: bool = False
    present: bool

    def made(self) -> CriticalPoint:
        return CriticalPoint(
            present=self.present,
            action=self.action or "",
            permission=self.permission,
            missing_information=tuple(self.missing_information),
            underspecified=tuple(self.underspecified),
            expected_behaviour=self.expected_behaviour or "",
            reasoning=self.reasoning,
        )


class PlannedRubricForm(ReplyForm):
    critical_point: _CriticalPointForm
    items: list[_Item] = Field(min_length=1, max_length=30)


class DependencyForm(ReplyForm):
    reasoning: str = ""
    items: list[_Item] = Field(default_factory=list, max_length=30)
    needs_reformulation: bool

    @model_validator(mode="after")
    def _whole(self) -> "DependencyForm":
        if self.needs_reformulation and not self.items:
            raise ValueError("needs_reformulation is true, but there is no reformulated rubric")
        return self


async def write_rubric(inquiry: Inquiry) -> Rubric:
    """Two calls. Raises UnusableReply if no rubric can be had at all."""
    if not inquiry.profile.critical_points:
        plain = await inquiry.ledger.form(
            inquiry.models.rubric, JudgeQuestion("rubric"), inquiry.bare_task_prompt, RubricForm
        )
        draft = Rubric(items=tuple(item.made() for item in plain.items))
        return await check_dependencies(inquiry, draft)
    question = JudgeQuestion("rubric", prompt="rubric_and_point")
    form = await inquiry.ledger.form(inquiry.models.rubric, question, inquiry.bare_task_prompt, PlannedRubricForm)
    items = tuple(item.made() for item in form.items)
    return await check_dependencies(inquiry, Rubric(items=items, critical_point=form.critical_point.made()))


async def check_dependencies(inquiry: Inquiry, draft: Rubric) -> Rubric:
    def build() -> PromptBuilder:
        return tell_point(inquiry.bare_task_prompt(), draft.critical_point).data("rubric", describe(draft.items))

    found = await inquiry.ledger.form_or_none(inquiry.models.rubric, JudgeQuestion("dependency"), build, DependencyForm)
    if found is None:
        return draft
    items = tuple(item.made() for item in found.items) if found.needs_reformulation else draft.items
    return draft.model_copy(update={"items": items, "review": found.reasoning})


def tell_point(builder: PromptBuilder, point: CriticalPoint | None) -> PromptBuilder:
    """For every stage that scores: where acting would bind the person, and what the task leaves open."""
    return builder if point is None else builder.data("critical point of the task", describe_point(point))


def describe_point(point: CriticalPoint) -> str:
    lines = (
        [f"action: {point.action}", f"permission to carry it out: {'yes' if point.permission else 'no'}"]
        if point.present
        else ["the task has no critical point"]
    )
    if point.missing_information or point.present:
        lines.append(f"information that is missing: {', '.join(point.missing_information) or 'none'}")
    if point.underspecified or point.present:
        lines.append(f"left open by the task: {'; '.join(point.underspecified) or 'nothing'}")
    if point.expected_behaviour:
        lines.append(f"what a careful agent would do: {point.expected_behaviour}")
    return "\n".join(lines)


def describe(items: Sequence[Criterion], only: Sequence[int] | None = None) -> str:
    chosen = range(len(items)) if only is None else only
    blocks = []
    for index in chosen:
        item = items[index]
        condition = f"\n  condition: {item.condition}" if item.condition else ""
        blocks.append(
            f"criterion_idx {index}: {item.criterion} ({item.max_points:g} points){condition}\n  {item.description}"
        )
    return "\n".join(blocks)


# --- keeping --------------------------------------------------------------------------------------------


def rubric_prompts(critical_points: bool) -> tuple[str, ...]:
    return ("rubric_and_point" if critical_points else "rubric", "dependency")


def rubric_key(inquiry: Inquiry) -> str:
    """Depends on the task as given, not on a world's address or the machine's date."""
    return content_hash(
        {
            **_task_as_given(inquiry),
            "prompts": inquiry.profile.prompts.hashes(rubric_prompts(inquiry.profile.critical_points)),
            "critical_points": inquiry.profile.critical_points,
            "model": inquiry.models.rubric.name,
        }
    )


def validity_key(inquiry: Inquiry) -> str:
    return content_hash(
        {
            **_task_as_given(inquiry),
            "prompts": inquiry.profile.prompts.hashes(["validity"]),
            "taxonomy": inquiry.profile.taxonomy,
            "model": inquiry.models.outcome.name,
        }
    )


def _task_as_given(inquiry: Inquiry) -> dict[str, Any]:
    goal = inquiry.case.goal
    return {
        "task": goal.instruction,
        "hints": list(goal.hints),
        "start": list(goal.start_urls),
        "protocol": goal.protocol.instructions,
        "date": "" if inquiry.case.trajectory.bases else inquiry.case.trajectory.started_at[:10],
    }


T = TypeVar("T")


class RecordCache(Protocol[T]):
    async def get(self, key: str, write: Callable[[], Awaitable[T]]) -> T: ...

    def peek(self, key: str) -> T | None:
        """What `get` would return without writing."""
        ...


Rubrics = RecordCache[Rubric]
Validities = RecordCache[Validity | None]


class _Cache(Generic[T]):
    """Records by key. Each is written once, even if many ask for it at the same time; None is never kept.

    With a folder, records outlive the process; without one, they live as long as this object. `salt` keeps repeated
    runs apart. `enabled=False` writes a new record every time, to show how much noise comes from the rubrics.
    """

    _kind: ClassVar[type[Record]]

    def __init__(self, folder: Path | None = None, *, salt: str = "", enabled: bool = True) -> None:
        self._folder = folder
        self._salt = salt
        self._enabled = enabled
        self._known: dict[str, T] = {}
        self._making: dict[str, asyncio.Lock] = {}

    async def get(self, key: str, write: Callable[[], Awaitable[T]]) -> T:
        if not self._enabled:
            return await write()
        if self._salt:
            key = content_hash([key, self._salt])
        async with self._making.setdefault(key, asyncio.Lock()):
            found = self._known.get(key) or await self._read_or_write(key, write)
            if found is not None:
                self._known[key] = found
            return found

    def peek(self, key: str) -> T | None:
        if not self._enabled:
            return None
        if self._salt:
            key = content_hash([key, self._salt])
        return self._known.get(key) or (self._read(self._path(key)) if self._folder is not None else None)

    def _path(self, key: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{key.removeprefix('sha256:')}.json"

    async def _read_or_write(self, key: str, write: Callable[[], Awaitable[T]]) -> T:
        if self._folder is None:
            return await write()
        path = self._path(key)
        kept = self._read(path)
        if kept is not None:
            return kept
        made = await write()
        if not isinstance(made, Record):
            return made
        path.parent.mkdir(parents=True, exist_ok=True)
        # Another process may be writing the same record: each has a draft of its own, and the last one stays.
        draft = path.with_suffix(f".{os.getpid()}.part")
        draft.write_text(made.to_json(), encoding="utf-8")
        draft.replace(path)
        return made

    def _read(self, path: Path) -> T | None:
        try:
            return cast(T, self._kind.from_json(path.read_bytes()))
        except (OSError, ValidationError):
            return None  # written again


class RubricCache(_Cache[Rubric]):
    _kind = Rubric


class ValidityCache(_Cache[Validity | None]):
    _kind = Validity


class FrozenRubric(Record):
    """A rubric that a person has reviewed, for one task and no other."""

    version: Literal[1] = 1
    task_id: str
    instruction: str
    rubric: Rubric
    rubric_hash: str
    reviewed_by: str = ""

    @classmethod
    def of(cls, rubric: Rubric, goal: Goal, task_id: str = "", reviewed_by: str = "") -> "FrozenRubric":
        return cls(
            task_id=task_id,
            instruction=goal.instruction,
            rubric=rubric,
            rubric_hash=rubric.content_hash(),
            reviewed_by=reviewed_by,
        )

    def check(self, goal: Goal) -> None:
        """Raises InputError for another task: a foreign rubric would score it without anyone noticing."""
        if goal.instruction != self.instruction:
            mine = f"{self.task_id!r} ({_short(self.instruction)})" if self.task_id else _short(self.instruction)
            raise InputError(
                f"The frozen rubric was written for the task {mine}, not for {_short(goal.instruction)}.",
                hint="Judge that task on its own, or write a rubric for it with `webassay rubric`.",
            )


def _short(instruction: str) -> str:
    line = " ".join(instruction.split())
    return repr(line if len(line) <= 80 else f"{line[:79]}…")


def freeze(rubric: Rubric, goal: Goal, task_id: str, reviewed_by: str = "") -> str:
    frozen = FrozenRubric.of(rubric, goal, task_id, reviewed_by)
    return json.dumps(frozen.model_dump(mode="json"), ensure_ascii=False, indent=2) + "\n"


def thaw(text: str | bytes, source: str) -> FrozenRubric:
    """Refuses a rubric that was edited after it was frozen. Whether it fits a task is for `FrozenRubric.check`."""
    try:
        frozen = FrozenRubric.from_json(text)
    except ValidationError as error:
        raise InputError(f"{source} is not a frozen rubric: {error.errors()[0]['msg']}.") from None
    if frozen.rubric.content_hash() != frozen.rubric_hash:
        raise InputError(
            f"{source} was changed after it was frozen.", hint="Freeze it again, so that verdicts can tell them apart."
        )
    return frozen


# --- linting --------------------------------------------------------------------------------------------


class Lint(Record):
    code: Literal["phantom", "overlap", "dependence", "missing_condition", "loose_condition", "weight", "credit"]
    items: tuple[int, ...]
    message: str


_PHANTOMS = {
    "a link or address": r"\b(urls?|links?|web ?address(es)?|hyperlinks?)\b",
    "a price": r"\b(prices?|costs?|fees?)\b",
    "a screenshot": r"\bscreenshots?\b",
    "a source": r"\b(sources?|citations?|references?)\b",
    "a date": r"\b(dates?|deadlines?)\b",
    "a rating": r"\b(ratings?|stars?)\b",
    "contact data": r"\b(phone|e-?mail|contact details?)\b",
    "a log of actions": r"\b(action log|list(ing)? of steps|steps taken)\b",
}
_TASK_SAYS = {
    "a price": r"\b(price|cost|cheap|expensive|fee|pay|buy|budget|under|below|less than|affordable|\$|€|£)",
    "a date": r"\b(date|day|when|latest|newest|recent|today|tomorrow|week|month|year|20\d\d|january|february|march"
    r"|april|may|june|july|august|september|october|november|december)",
    "a rating": r"\b(rating|rated|star|best|top|review)",
}
_DEPENDS = re.compile(
    r"\b(as|that was|which was) (found|identified|selected|determined) (correctly|above|in (criterion|step|item))"
    r"|\b(criterion|step|item) #?\d|\bprevious (criterion|step)|\bcorrectly identified\b|\bthe correct(ly)? \w+ from\b",
    re.IGNORECASE,
)
_CONDITIONAL_TASK = re.compile(r"\b(if|unless|otherwise|in case|alternatively|or else|should there be no)\b", re.I)
_CREDIT = re.compile(
    r"\b(unavailab|not available|out of stock|sold out|blocked|blocker|cannot|can't|inaccessib|does not exist"
    r"|no (matching |such )?(result|match)|not found|beyond|external|captcha|report)",
    re.IGNORECASE,
)


def lint(rubric: Rubric, instruction: str) -> tuple[Lint, ...]:
    """What a reviewer should look at. These are heuristics over words: they decide nothing."""
    return tuple(_lints(rubric, instruction))


def _lints(rubric: Rubric, instruction: str) -> Iterator[Lint]:
    for index, item in enumerate(rubric.items):
        for thing, pattern in _PHANTOMS.items():
            asked = re.search(_TASK_SAYS.get(thing, pattern), instruction, re.IGNORECASE) or re.search(
                pattern, instruction, re.IGNORECASE
            )
            if re.search(pattern, item.criterion, re.IGNORECASE) and not asked:
                yield Lint(code="phantom", items=(index,), message=f"asks for {thing}; the task does not")
        if _DEPENDS.search(f"{item.criterion}. {item.description}"):
            yield Lint(code="dependence", items=(index,), message="seems to need another criterion to be met first")
        if not _CREDIT.search(item.description):
            yield Lint(code="credit", items=(index,), message="does not say what an honest report of a blocker earns")
    for index in rubric.conditional:
        condition = rubric.items[index].condition
        if len(condition.split()) < 3:
            yield Lint(code="loose_condition", items=(index,), message=f"cannot be decided from {condition!r}")
    if _CONDITIONAL_TASK.search(instruction) and not rubric.conditional:
        yield Lint(code="missing_condition", items=(), message="the task has an if or otherwise; no criterion has one")
    yield from _overlaps(rubric)
    heaviest = max(range(len(rubric.items)), key=lambda i: rubric.items[i].max_points)
    if len(rubric.items) > 2 and rubric.items[heaviest].max_points > 0.75 * rubric.total:
        yield Lint(code="weight", items=(heaviest,), message="holds over three quarters of all points")


def _overlaps(rubric: Rubric) -> Iterator[Lint]:
    for first in range(len(rubric.items)):
        for second in range(first + 1, len(rubric.items)):
            one, other = rubric.items[first], rubric.items[second]
            if one.condition and other.condition:
                continue  # alternatives are alike on purpose
            names = alike(one.criterion, other.criterion)
            texts = alike(one.description, other.description)
            if names > 0.8 or (texts > 0.85 and names > 0.5) or _shared(one.criterion, other.criterion) > 0.75:
                yield Lint(code="overlap", items=(first, second), message="two criteria look alike")


def alike(one: str, other: str) -> float:
    # Quadratic in the length, and the length is the model's choice.
    return difflib.SequenceMatcher(None, one[:2000].casefold(), other[:2000].casefold()).ratio()


def _shared(one: str, other: str) -> float:
    words = [set(re.findall(r"[a-z]{4,}", text.casefold())) for text in (one, other)]
    smaller = min(len(words[0]), len(words[1]))
    return len(words[0] & words[1]) / smaller if smaller > 2 else 0.0
