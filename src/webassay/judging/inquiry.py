"""One verification in progress: the case, the models, the profile and the ledger. Every stage gets this.

A profile holds the choices on which the paper, the released code and we differ. `webassay` is the default;
docs/decisions/0401-verifier-profiles.md gives the reasons.
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
    """Odd. The median decides rescoring and side effects, the majority the outcome."""
    top_k: int = 5
    prune: Pruning = "paper"
    minimum_relevance: int = Field(default=0, ge=0, le=5)
    """At most 5, because a screenshot with that score must never be dropped."""
    relevance_batch: int = 1
    """Screenshots per relevance call."""
    unjudged_relevance: int = 0
    """The score of a screenshot for which no usable reply came back."""
    merge_frames: bool = False
    """Identical pictures are judged once."""
    page_text: bool = False
    """Page text and accessibility trees count as evidence, too."""
    record_findings: bool = False
    """What the record proves without a model is shown to the model, and votes cannot overrule it."""
    critical_points: bool = False
    conditions_from: int = 1
    """A call settles the conditions if at least this many criteria have one."""
    checked_outcome: bool = False
    """The outcome lists every rule, nitpick and critical issue, and must agree with its own list."""
    validity: bool = False
    diagnose: bool = True
    taxonomy: Taxonomy = "paper"
    short_circuits: tuple[str, ...] = ()
    """Rules that decide before a model is asked; see `verify.SHORT_CIRCUITS`."""
    attempts: int = 5
    max_side: int = 0
    final: Selector = "outcome"

    def with_changes(self, **changes: object) -> "Profile":
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
        record_findings=True,
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
    record_findings: tuple[Finding, ...] = ()

    def task_prompt(self) -> PromptBuilder:
        """A prompt that starts with the task, as every stage does."""
        builder = PromptBuilder().data("task", self.case.goal.instruction)
        if self.case.goal.hints:
            builder.data("what the agent was told beside the task", "\n".join(self.case.goal.hints))
        if self.case.start:
            builder.note("The task starts on this page; starting there is part of the task and costs nothing.")
            builder.data("start page", self.case.start)
        if self.case.trajectory.started_at:
            builder.data("date of the run (for words such as today)", self.case.trajectory.started_at[:10])
        return builder

    def record_prompt(self) -> PromptBuilder:
        """A prompt that starts with the task, and what the agent did and said."""
        builder = self.task_prompt().data("action history", self.case.history).data("final answer", self.case.answer)
        if self.record_findings:
            builder.note("Facts that a program established from the record. They are certain:")
            builder.data("facts", "\n".join(f"- {finding.message}" for finding in self.record_findings))
        return builder

    def add_frame(self, builder: PromptBuilder, frame: Frame, words: int) -> PromptBuilder:
        """One page: its number, its picture, and its text if the profile counts that as evidence."""
        same = f" (the same as {', '.join(map(str, frame.also))})" if frame.also else ""
        builder.note(f"Screenshot {frame.number} of {self.case.total_frames}{same}:")
        if frame.seen.url:
            builder.data(f"address of screenshot {frame.number}", frame.seen.url)
        builder.picture(self.case.picture(frame))
        if self.profile.page_text and (text := self.case.words(frame, words)):
            builder.data(f"text of the page in screenshot {frame.number}", text)
        return builder
