"""Where the facts of the key were served: on which page, in which step, and which ones never were."""

from collections.abc import Mapping
from dataclasses import dataclass

from webassay.analysis.episode.requests import BEFORE, steps_of_answers
from webassay.core.served import ServedRecord
from webassay.core.task import EvidenceCheck, Task
from webassay.core.trajectory import Blobs, Trajectory
from webassay.grading.network.witness import records_of
from webassay.grading.rules.seen import FactShown, described, where_shown


@dataclass(frozen=True)
class FactPlace:
    site: str
    path: str
    step: int | None
    """Index; -1: the start pages, before the agent looked. None: nobody knows."""

    @property
    def at_start(self) -> bool:
        return self.step == BEFORE


@dataclass(frozen=True)
class FactLine:
    fact: str
    shown: bool
    places: tuple[FactPlace, ...] = ()


@dataclass(frozen=True)
class EvidenceView:
    """One check of the key."""

    facts: tuple[FactLine, ...]
    needed: int
    recorded: bool = True
    """Whether the sites kept a record at all."""
    omitted: int = 0
    """Answers for which the record had no room."""

    @property
    def shown(self) -> int:
        return sum(line.shown for line in self.facts)

    @property
    def enough(self) -> bool:
        return self.shown >= self.needed


def evidence_views(task: Task, trajectory: Trajectory, blobs: Blobs) -> tuple[EvidenceView, ...]:
    """One for each check that asks for evidence. Raises GradingError or StoreError where a record cannot be read."""
    checks = [check for check in task.checks if isinstance(check, EvidenceCheck)]
    if not checks:
        return ()
    records = records_of(trajectory, blobs)
    steps = steps_of_answers(trajectory, blobs, records)
    omitted = sum(record.omitted for record in records.values())
    goal = task.goal.instruction
    return tuple(
        EvidenceView(
            facts=tuple(_line(one, records, steps) for one in where_shown(check, records, goal)),
            needed=check.needed,
            recorded=bool(records),
            omitted=omitted,
        )
        for check in checks
    )


def _line(shown: FactShown, records: Mapping[str, ServedRecord], steps: Mapping[tuple[str, int], int]) -> FactLine:
    places = []
    for one in shown.places:
        answer = records[one.site].served[one.answer]
        step = BEFORE if answer.start else steps.get((one.site, one.answer))
        places.append(FactPlace(one.site, answer.path, step))
    return FactLine(described(shown.fact), shown.known, tuple(dict.fromkeys(places)))
