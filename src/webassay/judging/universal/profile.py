"""The choices on which the paper, the released code and we differ; docs/decisions/0401 and 0407 give the reasons."""

from typing import Literal

from pydantic import Field

from webassay.core.errors import InputError
from webassay.core.record import Record
from webassay.judging.prompts import Prompts
from webassay.judging.taxonomy import Taxonomy

Pruning = Literal["paper", "released", "off"]
Selector = Literal["outcome", "process", "both"]

PROCESS_THRESHOLD = 0.8


class Profile(Record):
    """`UniversalOptions` says what the choices mean to a user."""

    name: str
    votes: int = 1
    """Odd. The median decides rescoring and side effects, the majority the outcome."""
    top_k: int = 5
    most_pictures: int = 24
    prune: Pruning = "paper"
    minimum_relevance: int = Field(default=0, ge=0, le=5)
    """At most 5, because a screenshot with that score must never be dropped."""
    relevance_batch: int = 1
    evidence_batch: int = 1
    unjudged_relevance: int = 0
    """The score of a screenshot for which no usable reply came back."""
    merge_frames: bool = False
    """Identical pictures are judged once."""
    page_text: bool = False
    text_budget: int = 0
    record_findings: bool = False
    """What the record proves without a model is shown to the model, and votes cannot overrule it."""
    critical_points: bool = False
    conditions_from: int = 1
    """A call settles the conditions if at least this many criteria have one."""
    checked_outcome: bool = False
    """The outcome lists every rule, nitpick and critical issue, and must agree with its own list."""
    closer_look: bool = False
    """Where the evidence takes away what the actions alone had earned, the pages are looked at once more."""
    sparing: bool = False
    """No calls for side effects where no row differs, the diagnosis of a clean success, or a task valid by its text."""
    validity: bool = False
    diagnose: bool = True
    taxonomy: Taxonomy = "paper"
    short_circuits: tuple[str, ...] = ()
    """Rules that decide before a model is asked; see `verify.SHORT_CIRCUITS`."""
    attempts: int = 5
    max_side: int = 0
    final: Selector = "outcome"
    prompts: Prompts = Field(default_factory=Prompts, exclude=True)
    """The fingerprint holds the hashes of those that are used."""

    def with_changes(self, **changes: object) -> "Profile":
        made = Profile.model_validate({**self.model_dump(), "prompts": self.prompts, **changes})
        if made.votes < 1 or made.votes % 2 == 0:
            raise InputError(f"The number of votes must be odd, not {made.votes}.")
        if min(made.relevance_batch, made.evidence_batch, made.attempts, made.most_pictures) < 1 or made.top_k < 0:
            raise InputError("relevance_batch, evidence_batch, most_pictures and attempts must be at least 1.")
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
        top_k=0,
        relevance_batch=8,
        evidence_batch=4,
        unjudged_relevance=5,
        merge_frames=True,
        page_text=True,
        text_budget=58_000,
        record_findings=True,
        critical_points=True,
        conditions_from=2,
        checked_outcome=True,
        closer_look=True,
        sparing=True,
        validity=True,
        taxonomy="webassay",
        short_circuits=("no_actions", "no_answer", "aborted", "no_evidence"),
        attempts=3,
        max_side=1536,
    ),
}
