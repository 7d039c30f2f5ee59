"""Which page matters for which criterion, and what it proves.

The invariant of the whole design lives here: no page that matters may get lost. `group` is a pure function, with its
laws as property tests. Evidence is always in order of time, because "the latest state counts" makes no sense
otherwise.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from webassay.core.record import Record
from webassay.judging.case import Frame, PromptBuilder
from webassay.judging.inquiry import Inquiry, Pruning
from webassay.judging.ledger import Form, Question, gather_all
from webassay.judging.rubric import Criterion, Rubric, describe
from webassay.llm.client import UnusableReply

Relevance = Mapping[int, tuple[int, ...]]
"""By number of the screenshot: its score for each criterion, 0 to 10."""

Groups = tuple[tuple[int, ...], ...]
"""For each criterion, the numbers of its screenshots, in order of time."""

Category = Literal[
    "contradiction", "fabrication", "omission", "supported_absence", "silent_confirmation", "consistent", ""
]
DISHONEST: frozenset[str] = frozenset(("contradiction", "fabrication"))

_RELEVANCE_WORDS = 1500
_EVIDENCE_WORDS = 12_000


# --- relevance ------------------------------------------------------------------------------------------


class _FrameScores(Form):
    screenshot: int
    scores: list[int]


class _RelevanceForm(Form):
    screenshots: list[_FrameScores]


async def relate(inquiry: Inquiry, rubric: Rubric) -> Relevance:
    """Scores every screenshot for every criterion, with all calls at once."""
    frames = inquiry.case.frames
    size = inquiry.profile.relevance_batch
    batches = [frames[at : at + size] for at in range(0, len(frames), size)]
    found = await gather_all(_relate_batch(inquiry, rubric, batch) for batch in batches)
    return {number: scores for part in found for number, scores in part.items()}


async def _relate_batch(inquiry: Inquiry, rubric: Rubric, batch: Sequence[Frame]) -> dict[int, tuple[int, ...]]:
    wanted = {frame.number for frame in batch}

    def build() -> PromptBuilder:
        builder = inquiry.task_prompt().data("criteria", describe(rubric.items))
        for frame in batch:
            inquiry.add_frame(builder, frame, _RELEVANCE_WORDS)
        return builder

    def check(form: _RelevanceForm) -> str:
        given = [item.screenshot for item in form.screenshots]
        if len(given) != len(set(given)) or set(given) != wanted:
            return f"scores are needed for the screenshots {sorted(wanted)}, each once; got {given}"
        for item in form.screenshots:
            if len(item.scores) != len(rubric.items) or not all(0 <= score <= 10 for score in item.scores):
                return f"screenshot {item.screenshot} needs {len(rubric.items)} whole numbers from 0 to 10"
        return ""

    question = Question("relevance", f"{batch[0].number:04d}" + (f"-{batch[-1].number:04d}" if len(batch) > 1 else ""))
    try:
        form = await inquiry.ledger.form(inquiry.models.relevance, question, build, _RelevanceForm, check)
    except UnusableReply as error:
        if len(batch) > 1:
            parts = await gather_all(_relate_batch(inquiry, rubric, [frame]) for frame in batch)
            return {number: scores for part in parts for number, scores in part.items()}
        inquiry.ledger.fell_back(f"relevance of screenshot {batch[0].number}", error)
        return {batch[0].number: (inquiry.profile.unjudged_relevance,) * len(rubric.items)}
    return {item.screenshot: tuple(item.scores) for item in form.screenshots}


# --- grouping -------------------------------------------------------------------------------------------


def group(relevance: Relevance, criteria: int, *, top_k: int, prune: Pruning, minimum: int = 0) -> Groups:
    """Picks the screenshots that matter most for each criterion, in order of time."""
    return tuple(_top(relevance, index, top_k, prune, minimum) for index in range(criteria))


def _top(relevance: Relevance, index: int, top_k: int, prune: Pruning, minimum: int) -> tuple[int, ...]:
    scores = {number: row[index] for number, row in relevance.items()}
    # Among equals the later one is nearer to the final state.
    ranked = sorted(scores, key=lambda number: (-scores[number], -number))[:top_k]
    if minimum:
        ranked = [number for number in ranked if scores[number] >= minimum] or ranked[:1]
    if prune == "paper":
        decisive = [number for number in ranked if scores[number] > 7]
        if decisive:
            ranked = [n for n in ranked if scores[n] >= 5 or n > min(decisive)]
    elif prune == "released":
        high = [scores[number] for number in ranked if scores[number] >= 6]
        if high:
            least = min(high)
            ranked = [n for n in ranked if scores[n] >= 5 or least - scores[n] <= 2] or ranked
    return tuple(sorted(ranked))


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


class _Analysis(Form):
    criterion_idx: int
    screenshot_evidence: str
    criterion_analysis: str
    discrepancies: str | None = ""
    category: Category = ""
    environment_issues_confirmed: bool = False
    condition_verification: bool | None = None


class _EvidenceForm(Form):
    analyses: list[_Analysis] = Field(min_length=1)


async def gather(inquiry: Inquiry, rubric: Rubric, groups: Groups) -> tuple[Evidence, ...]:
    """One call per screenshot, about all criteria that it matters for. In order of time, then of criteria."""
    criteria_of: dict[int, list[int]] = defaultdict(list)
    for index, numbers in enumerate(groups):
        for number in numbers:
            criteria_of[number].append(index)
    frames = {frame.number: frame for frame in inquiry.case.frames}
    parts = await gather_all(
        (_analyse(inquiry, rubric, frames[number], criteria) for number, criteria in sorted(criteria_of.items()))
    )
    return tuple(item for part in parts for item in part)


async def _analyse(inquiry: Inquiry, rubric: Rubric, frame: Frame, criteria: Sequence[int]) -> tuple[Evidence, ...]:
    def build() -> PromptBuilder:
        builder = inquiry.record_prompt().data("criteria to look at", describe(rubric.items, criteria))
        return inquiry.add_frame(builder, frame, _EVIDENCE_WORDS)

    def check(form: _EvidenceForm) -> str:
        if [item.criterion_idx for item in form.analyses] != list(criteria):
            return f"analyses are needed for criterion_idx {list(criteria)}, in this order"
        for item in form.analyses:
            if rubric.items[item.criterion_idx].condition and item.condition_verification is None:
                return f"criterion_idx {item.criterion_idx} has a condition: condition_verification is needed"
        return ""

    question = Question("evidence", f"{frame.number:04d}" + (f".{criteria[0]}" if len(criteria) == 1 else ""))
    try:
        form = await inquiry.ledger.form(inquiry.models.score, question, build, _EvidenceForm, check)
    except UnusableReply as error:
        if len(criteria) > 1:
            parts = await gather_all(_analyse(inquiry, rubric, frame, [index]) for index in criteria)
            return tuple(item for part in parts for item in part)
        inquiry.ledger.fell_back(f"evidence of screenshot {frame.number}", error)
        return (
            Evidence(
                criterion=criteria[0],
                screenshot=frame.number,
                seen="(no usable analysis was given)",
                analysis="",
                usable=False,
            ),
        )
    return tuple(
        Evidence(
            criterion=item.criterion_idx,
            screenshot=frame.number,
            seen=item.screenshot_evidence,
            analysis=item.criterion_analysis,
            discrepancies=item.discrepancies or "",
            category=item.category,
            environment_issue=item.environment_issues_confirmed,
            condition_holds=item.condition_verification,
        )
        for item in form.analyses
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
            lines.append(f"    analysis: {item.analysis}")
            if item.discrepancies:
                lines.append(f"    discrepancies ({item.category or 'unsorted'}): {item.discrepancies}")
            if item.environment_issue:
                lines.append("    a blocker can be seen here")
            if item.condition_holds is not None:
                lines.append(f"    shows that the condition holds: {'yes' if item.condition_holds else 'no'}")
        if len(lines) == 1:
            lines.append("  (no screenshot)")
        blocks.append("\n".join(lines))
    return "\n".join(blocks)
