"""One verification in progress, as every stage gets it: case, models, profile, ledger, and what is known without a
model."""

from dataclasses import dataclass, field
from functools import cached_property

from webassay.core.record import Json
from webassay.core.verdict import Finding
from webassay.judging.case import Case, CaseFrame, PromptBuilder
from webassay.judging.ledger import Ledger, Models
from webassay.judging.record.excerpts import Weigher, excerpt, weigher
from webassay.judging.record.facts import is_telling, named_in, values_of
from webassay.judging.record.findings import against
from webassay.judging.record.pages import Book, place
from webassay.judging.record.readings import appears_in, line_read
from webassay.judging.universal.profile import Profile
from webassay.judging.universal.sheet import date_of, describe_history, describe_task


@dataclass
class Inquiry:
    case: Case
    models: Models
    profile: Profile
    ledger: Ledger = field(default_factory=Ledger)
    record_findings: tuple[Finding, ...] = ()
    """What the record says against the answer."""
    facts: tuple[Finding, ...] = ()
    """What it says beside that."""
    book: Book = field(default_factory=Book)
    """The text of the pages; empty if the profile does not count that as evidence."""

    @cached_property
    def telling(self) -> tuple[Json, ...]:
        """Values of the answer and names in the task: a page, or a line of it, that holds one of them matters."""
        goal = self.case.goal
        found = dict.fromkeys((*values_of(goal, self.case.trajectory), *named_in(goal.instruction)))
        return tuple(value for value in found if is_telling(value))

    @cached_property
    def weigh(self) -> Weigher:
        def holds_value(line: str) -> bool:
            return any(appears_in(value, line_read(line)) for value in self.telling)

        lines = (page.lines for page in self.book.pages.values())
        return weigher(self.case.goal.instruction, holds_value, lines)

    @cached_property
    def history(self) -> str:
        return describe_history(self.case)

    @cached_property
    def today(self) -> str:
        return date_of(self.case.trajectory, self.book)

    def bare_task_prompt(self) -> PromptBuilder:
        """For what must not depend on the trajectory: of the date, only what anybody could know."""
        return describe_task(self.case, date_of(self.case.trajectory, None))

    def task_prompt(self) -> PromptBuilder:
        """A prompt that starts with the task, as every stage does."""
        return describe_task(self.case, self.today)

    def record_prompt(self) -> PromptBuilder:
        """A prompt that starts with the task, and what the agent did and said."""
        builder = self.task_prompt().data("action history", self.history).data("final answer", self.case.answer)
        certain, suspected = against(self.record_findings)
        if certain:
            builder.note("What a program found in the record against the answer. This is certain:")
            builder.data("certain", _listed(certain))
        if suspected:
            builder.note("What a program suspects. It may be wrong; the pages decide:")
            builder.data("suspicions", _listed(suspected))
        if self.facts:
            builder.note("Where to look: what a program read in the record, whatever the task asked for:")
            builder.data("facts", _listed(self.facts))
        return builder

    def add_frame(self, builder: PromptBuilder, frame: CaseFrame, words: int, *, picture: bool = True) -> PromptBuilder:
        """One page: its number, its picture, and its text if the profile counts that as evidence."""
        same = f" (the same as {', '.join(map(str, frame.also))})" if frame.also else ""
        builder.note(f"Screenshot {frame.number} of {self.case.total_frames}{same}:")
        if frame.seen.url:
            where = place(frame.seen.url, self.case.trajectory.bases.values())
            builder.data(f"address of screenshot {frame.number}", where)
        page = self.book.pages.get(frame.number)
        if picture or page is None or not page.stands_for_its_picture:
            builder.picture(self.case.picture(frame))
        if lines := page.lines if page is not None else ():
            builder.data(f"main text of the page in screenshot {frame.number}", excerpt(lines, words, self.weigh))
        return builder


def _listed(findings: "list[Finding] | tuple[Finding, ...]") -> str:
    return "\n".join(f"- {finding.message}" for finding in findings)
