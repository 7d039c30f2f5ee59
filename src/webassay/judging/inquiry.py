"""One verification under way: the case, the models, the profile, the books. What every stage is handed.

A profile is the set of choices in which the paper, the released code and we differ. `webassay` is the default; the
reasons are in docs/decisions/0401-verifier-profiles.md.
"""

from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from webassay.core.errors import InputError
from webassay.core.record import Record
from webassay.core.verdict import Finding
from webassay.judging.case import Case, Frame, PromptBuilder
from webassay.judging.ledger import Ledger, Models

Pruning = Literal["paper", "released", "off"]
Taxonomy = Literal["paper", "released"]
Selector = Literal["outcome", "process", "both"]

PROCESS_THRESHOLD = 0.8


class Profile(Record):
    name: str
    votes: int = 1
    """Odd: rescoring and side effects by median, outcome by majority."""
    top_k: int = 5
    prune: Pruning = "paper"
    minimum_relevance: int = Field(default=0, ge=0, le=5)
    """At most 5: whatever has that score is never left out."""
    relevance_batch: int = 1
    """Screenshots in one relevance call."""
    unjudged_relevance: int = 0
    """The score of a screenshot that no usable reply was ever given for."""
    merge_frames: bool = False
    """Identical pictures are judged once."""
    page_text: bool = False
    """Page text and accessibility trees are evidence too."""
    facts: bool = False
    """What can be established without a model is told to the model and may not be overruled."""
    critical_points: bool = False
    conditions_from: int = 1
    """The call that settles conditions is made from this many conditional criteria on."""
    checked_outcome: bool = False
    """The outcome names every rule, nitpick and critical issue, and must agree with its own list."""
    validity: bool = False
    diagnose: bool = True
    taxonomy: Taxonomy = "paper"
    short_circuits: tuple[str, ...] = ()
    """Rules that decide before any model is asked; see `verify.SHORT_CIRCUITS`."""
    attempts: int = 5
    max_side: int = 0
    final: Selector = "outcome"

    def with_changes(self, **changes: object) -> "Profile":
        """Checked like a new one."""
        made = Profile.model_validate({**self.model_dump(), **changes})
        if made.votes < 1 or made.votes % 2 == 0:
            raise InputError(f"The number of votes must be odd, not {made.votes}.")
        if made.top_k < 1 or made.relevance_batch < 1 or made.attempts < 1:
            raise InputError("top_k, relevance_batch and attempts must be at least 1.")
        return made


PROFILES: dict[str, Profile] = {
    "paper": Profile(name="paper", short_circuits=("aborted",)),
    "released": Profile(
        name="released",
        prune="released",
        critical_points=True,
        conditions_from=2,
        validity=True,
        taxonomy="released",
        short_circuits=("no_actions", "no_answer", "aborted", "frames_missing"),
    ),
    "webassay": Profile(
        name="webassay",
        relevance_batch=6,
        unjudged_relevance=5,
        merge_frames=True,
        page_text=True,
        facts=True,
        critical_points=True,
        conditions_from=2,
        checked_outcome=True,
        validity=True,
        short_circuits=("no_actions", "no_answer", "aborted", "no_evidence"),
        attempts=3,
        max_side=1536,
    ),
}


@dataclass
class Inquiry:
    case: Case
    models: Models
    profile: Profile
    ledger: Ledger = field(default_factory=Ledger)
    facts: tuple[Finding, ...] = ()

    def sheet(self) -> PromptBuilder:
        """The task, as every stage sees it."""
        paper = PromptBuilder().data("task", self.case.goal.instruction)
        if self.case.goal.hints:
            paper.data("what the agent was told beside the task", "\n".join(self.case.goal.hints))
        if self.case.start:
            paper.note("The task starts on this page; starting there is part of the task and costs nothing.")
            paper.data("start page", self.case.start)
        if self.case.trajectory.started_at:
            paper.data("date of the run (for words such as today)", self.case.trajectory.started_at[:10])
        return paper

    def record_sheet(self) -> PromptBuilder:
        """The task and what the agent did and said."""
        paper = self.sheet().data("action history", self.case.history).data("final answer", self.case.answer)
        if self.facts:
            paper.note("Facts that a program established from the record. They are certain:")
            paper.data("facts", "\n".join(f"- {fact.message}" for fact in self.facts))
        return paper

    def add_frame(self, paper: PromptBuilder, frame: Frame, words: int) -> PromptBuilder:
        """One page: its number, its picture, and its text where that is evidence too."""
        same = f" (the same as {', '.join(map(str, frame.also))})" if frame.also else ""
        paper.note(f"Screenshot {frame.number} of {self.case.total_frames}{same}:")
        if frame.seen.url:
            paper.data(f"address of screenshot {frame.number}", frame.seen.url)
        paper.picture(self.case.picture(frame))
        if self.profile.page_text and (text := self.case.words(frame, words)):
            paper.data(f"text of the page in screenshot {frame.number}", text)
        return paper
