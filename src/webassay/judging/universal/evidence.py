"""How much each page matters for each criterion, and what it proves.

Evidence is always told in order of time, because "the latest state counts" makes no sense otherwise.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from webassay.core.record import Record
from webassay.judging.case import CaseFrame, PromptBuilder
from webassay.judging.ledger import JudgeQuestion, ReplyForm, gather_all
from webassay.judging.taxonomy import DISHONEST, Category
from webassay.judging.universal.inquiry import Inquiry
from webassay.judging.universal.rubric import Criterion, Rubric, describe
from webassay.judging.universal.selection import Examined, Groups, Relevance
from webassay.llm.client import UnusableReply

Amount = Literal["whole", "short", "none"]

_RELEVANCE_WORDS = 700
_EVIDENCE_WORDS = 8000
"""Enough for a list of 36 products: a sum cannot be checked against half of its rows."""


# --- relevance ------------------------------------------------------------------------------------------


class _FrameScores(ReplyForm):
    screenshot: int
    scores: list[int]


class RelevanceForm(ReplyForm):
    screenshots: list[_FrameScores]


async def relate(inquiry: Inquiry, rubric: Rubric) -> Relevance:
    """Scores every screenshot for every criterion, with all calls at once."""
    frames = inquiry.case.frames
    size = inquiry.profile.relevance_batch
    batches = [frames[at : at + size] for at in range(0, len(frames), size)]
    found = await gather_all(_relate_batch(inquiry, rubric, batch) for batch in batches)
    return {number: scores for part in found for number, scores in part.items()}


async def _relate_batch(inquiry: Inquiry, rubric: Rubric, batch: Sequence[CaseFrame]) -> dict[int, tuple[int, ...]]:
    wanted = {frame.number for frame in batch}

    def build() -> PromptBuilder:
        builder = inquiry.task_prompt().data("criteria", describe(rubric.items))
        builder.data("final answer of the agent", inquiry.case.answer)
        for frame in batch:
            # To say whether a page matters, its text is enough where there is one; the picture comes with the evidence.
            inquiry.add_frame(builder, frame, _RELEVANCE_WORDS, picture=not inquiry.profile.page_text)
        return builder

    def check(form: RelevanceForm) -> str:
        given = [item.screenshot for item in form.screenshots]
        if len(given) != len(set(given)) or set(given) != wanted:
            return f"scores are needed for the screenshots {sorted(wanted)}, each once; got {given}"
        for item in form.screenshots:
            if len(item.scores) != len(rubric.items) or not all(0 <= score <= 10 for score in item.scores):
                return f"screenshot {item.screenshot} needs {len(rubric.items)} whole numbers from 0 to 10"
        return ""

    try:
        form = await inquiry.ledger.form(
            inquiry.models.relevance, JudgeQuestion("relevance", _span(batch)), build, RelevanceForm, check
        )
    except UnusableReply as error:
        if len(batch) > 1:
            parts = await gather_all(_relate_batch(inquiry, rubric, [frame]) for frame in batch)
            return {number: scores for part in parts for number, scores in part.items()}
        inquiry.ledger.fell_back(f"relevance of screenshot {batch[0].number}", error)
        return {batch[0].number: (inquiry.profile.unjudged_relevance,) * len(rubric.items)}
    return {item.screenshot: tuple(item.scores) for item in form.screenshots}


def _span(batch: Sequence[CaseFrame]) -> str:
    return f"{batch[0].number:04d}" + (f"-{batch[-1].number:04d}" if len(batch) > 1 else "")


# --- evidence -------------------------------------------------------------------------------------------


class Evidence(Record):
    """What one screenshot shows about one criterion."""

    criterion: int
    screenshot: int
    seen: str
    analysis: str
    discrepancies: str = ""
    category: Category = ""
    environment_issue: bool = False
    condition_holds: bool | None = None
    usable: bool = True
    """False: no usable reply came back."""

    @property
    def dishonest(self) -> bool:
        return self.category in DISHONEST


@dataclass(frozen=True)
class Material:
    """All that the stages which score and decide are given of the pages."""

    evidence: tuple[Evidence, ...] = ()
    examined: Examined = field(default_factory=Examined)
    total: int = 0
    """Screenshots in the record."""
    page_text: str = ""
    """As many pages as fit, for the stages that score and decide."""
    short_text: str = ""
    """The pages that matter most, for the stages that look for what went wrong."""
    short_pages: tuple[int, ...] = ()

    def add_to(
        self, builder: PromptBuilder, items: Sequence[Criterion], only: Sequence[int], text: Amount = "none"
    ) -> PromptBuilder:
        builder.data("what was examined, and what was not", self.examined.describe(self.total))
        shown = {"whole": self.page_text, "short": self.short_text, "none": ""}[text]
        if shown:
            listed = ", ".join(map(str, self.short_pages))
            which = (
                ""
                if shown == self.page_text
                else f" that matter most (screenshots {listed}; there is no room here for the others)"
            )
            builder.note(f"The text of the pages{which}, in order of time. It is evidence like the pictures:")
            builder.data("text of the pages", shown)
        return builder.data("evidence", describe_evidence(items, self.evidence, only))


class _Analysis(ReplyForm):
    criterion_idx: int
    screenshot_evidence: str
    discrepancies: str | None = ""
    category: Category = ""
    environment_issues_confirmed: bool = False
    condition_verification: bool | None = None
    criterion_analysis: str


class _Analysed(ReplyForm):
    screenshot: int
    analyses: list[_Analysis] = Field(min_length=1)


class EvidenceForm(ReplyForm):
    screenshots: list[_Analysed] = Field(min_length=1)


Wanted = Mapping[int, Sequence[int]]
"""By number of the screenshot: the criteria it is looked at for."""


@dataclass(frozen=True, slots=True)
class TextPages:
    """Pages whose text does part of the work."""

    told: Collection[int] = ()
    """Whoever decides reads these whole, so nobody needs to copy them."""
    without_picture: Collection[int] = ()
    """These are asked about by their text alone."""


async def gather(inquiry: Inquiry, rubric: Rubric, groups: Groups, reading: TextPages) -> tuple[Evidence, ...]:
    """Asks about each screenshot once, for all criteria that it matters for. In order of time, then of criteria."""
    criteria_of: dict[int, list[int]] = defaultdict(list)
    for index, numbers in enumerate(groups):
        for number in numbers:
            criteria_of[number].append(index)
    batches = _batches(sorted(criteria_of), inquiry.profile.evidence_batch, reading.without_picture)
    parts = await gather_all(
        _analyse(inquiry, rubric, {number: criteria_of[number] for number in batch}, reading) for batch in batches
    )
    return tuple(item for part in parts for item in part)


def _batches(numbers: Sequence[int], pictures: int, without_picture: Collection[int]) -> list[list[int]]:
    """In order of time. Two pages of text take up as much attention as one with its picture."""
    batches: list[list[int]] = []
    room = 0
    for number in numbers:
        size = 1 if number in without_picture else 2
        if size > room:
            batches.append([])
            room = 2 * pictures
        batches[-1].append(number)
        room -= size
    return batches


async def _analyse(inquiry: Inquiry, rubric: Rubric, batch: Wanted, reading: TextPages) -> tuple[Evidence, ...]:
    frames = [frame for frame in inquiry.case.frames if frame.number in batch]
    asked = sorted({index for criteria in batch.values() for index in criteria})

    def build() -> PromptBuilder:
        builder = inquiry.record_prompt().data("criteria to look at", describe(rubric.items, asked))
        for frame in frames:
            inquiry.add_frame(builder, frame, _EVIDENCE_WORDS, picture=frame.number not in reading.without_picture)
        if told := [frame.number for frame in frames if frame.number in reading.told]:
            builder.note(f"Whoever decides reads the text of these pages whole: {', '.join(map(str, told))}.")
        for number, criteria in batch.items():
            builder.note(f"Screenshot {number}: say what it shows for criterion_idx {', '.join(map(str, criteria))}.")
        return builder

    def check(form: EvidenceForm) -> str:
        given = _by_place(form)
        missing = [
            (number, index) for number, indexes in batch.items() for index in indexes if (number, index) not in given
        ]
        listed = "; ".join(f"screenshot {number}, criterion_idx {index}" for number, index in missing)
        return f"these analyses are missing: {listed}" if missing else ""

    single = len(batch) == 1 and len(asked) == 1
    question = JudgeQuestion("evidence", _span(frames) + (f".{asked[0]}" if single else ""))
    try:
        form = await inquiry.ledger.form(inquiry.models.score, question, build, EvidenceForm, check)
    except UnusableReply as error:
        if not single:
            smaller: list[Wanted] = (
                [{number: batch[number]} for number in batch]
                if len(batch) > 1
                else [{frames[0].number: [index]} for index in asked]
            )
            parts = await gather_all(_analyse(inquiry, rubric, part, reading) for part in smaller)
            return tuple(item for part in parts for item in part)
        inquiry.ledger.fell_back(f"evidence of screenshot {frames[0].number}", error)
        return (_nothing_usable(asked[0], frames[0].number),)
    given = _by_place(form)
    return tuple(_made(number, given[number, index]) for number, indexes in batch.items() for index in indexes)


def _by_place(form: EvidenceForm) -> dict[tuple[int, int], _Analysis]:
    """By screenshot and criterion. What was not asked for may be there too."""
    return {(page.screenshot, item.criterion_idx): item for page in form.screenshots for item in page.analyses}


def _nothing_usable(criterion: int, screenshot: int) -> Evidence:
    seen = "(no usable analysis was given)"
    return Evidence(criterion=criterion, screenshot=screenshot, seen=seen, analysis="", usable=False)


def _made(screenshot: int, item: _Analysis) -> Evidence:
    said = (item.discrepancies or "").strip()
    return Evidence(
        criterion=item.criterion_idx,
        screenshot=screenshot,
        seen=item.screenshot_evidence,
        analysis=item.criterion_analysis,
        discrepancies="" if said.casefold().strip(".- ") in ("none", "no", "n/a", "nothing") else said,
        category=item.category,
        environment_issue=item.environment_issues_confirmed,
        condition_holds=item.condition_verification,
    )


def about(evidence: Sequence[Evidence], criterion: int) -> tuple[Evidence, ...]:
    """In order of time, whatever order it came in."""
    return tuple(sorted((item for item in evidence if item.criterion == criterion), key=lambda item: item.screenshot))


def describe_evidence(items: Sequence[Criterion], evidence: Sequence[Evidence], only: Sequence[int]) -> str:
    """For a prompt: by criterion, each in order of time."""
    blocks = []
    for index in only:
        lines = [f"criterion_idx {index}: {items[index].criterion}"]
        for item in about(evidence, index):
            lines.append(f"  Screenshot {item.screenshot}: {item.seen}")
            if item.analysis:
                lines.append(f"    analysis: {item.analysis}")
            if item.discrepancies:
                kind = f" ({item.category})" if item.category else ""
                lines.append(f"    discrepancies{kind}: {item.discrepancies}")
            if item.environment_issue:
                lines.append("    a blocker can be seen here")
            if item.condition_holds is not None:
                lines.append(f"    shows that the condition holds: {'yes' if item.condition_holds else 'no'}")
        if len(lines) == 1:
            lines.append("  (no screenshot was examined for this)")
        blocks.append("\n".join(lines))
    return "\n".join(blocks)
