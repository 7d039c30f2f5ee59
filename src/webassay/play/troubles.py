"""What goes wrong in a run: said in few words, and noticed when it is always the same."""

import re
from dataclasses import dataclass, field

from webassay.core.text import first_line
from webassay.core.trajectory import Trajectory
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Verdict
from webassay.play.work import Played

SAME_IN_A_ROW = 5
"""So often the same reason, and nothing that worked in between: it will not get better by itself."""


@dataclass(frozen=True)
class Reason:
    """Why an episode says nothing about an agent, or ended before its time."""

    kind: str
    """`fault`, `crash` or `abstain`."""
    text: str

    @property
    def essence(self) -> tuple[str, str]:
        """What two of the same kind have in common: addresses, counters and times differ."""
        return self.kind, re.sub(r"\b[0-9a-f]{8,}\b|\d+(\.\d+)?", "#", self.text)


def reason_of(unit: UnitOfWork, trajectory: Trajectory, verdict: Verdict | None) -> Reason | None:
    """None: it was played to its end and graded."""
    ending = trajectory.ending
    if ending.kind in ("fault", "agent_crashed"):
        return _reason("fault" if ending.kind == "fault" else "crash", ending.message, unit)
    if verdict is None or verdict.status not in ("fault", "abstain"):
        return None
    said = verdict.fault.message if verdict.fault is not None else ""
    why = said or next((one.message for one in verdict.findings if one.status == verdict.status), "")
    return _reason(verdict.status, why or "no rule decides this task", unit)


def _reason(kind: str, text: str, unit: UnitOfWork) -> Reason:
    for name in (unit.id, unit.task_id):
        text = text.replace(name, "the task")
    return Reason(kind, first_line(text) or "no reason was given")


@dataclass
class Streaks:
    """The faults and crashes of each agent since something of it worked."""

    most: int | None = SAME_IN_A_ROW
    """None: nothing is ever too much."""
    _counts: dict[str, tuple[tuple[str, str], int]] = field(default_factory=dict)

    def is_too_long(self, played: Played) -> Reason | None:
        """The reason, once it has come too often in a row."""
        verdict = played.verdicts[0] if played.verdicts else None
        reason = reason_of(played.unit, played.trajectory, verdict)
        agent = played.unit.agent
        if reason is None or reason.kind == "abstain":
            self._counts.pop(agent, None)
            return None
        essence, count = self._counts.get(agent, (reason.essence, 0))
        count = count + 1 if essence == reason.essence else 1
        self._counts[agent] = reason.essence, count
        return reason if self.most is not None and count >= self.most else None
