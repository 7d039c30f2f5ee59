"""A verdict: what one grader or judge found in one trajectory. Append-only; never changed, only made again."""

from typing import Literal

from pydantic import Field

from webassay.core.errors import Fault
from webassay.core.record import Json, Record

Status = Literal["pass", "fail", "abstain", "fault"]


class Finding(Record):
    """One thing that was looked at, and what was seen."""

    check: str
    """Which check or stage, such as `response`, `state`, `activity`, `parse`."""
    status: Status
    message: str
    expected: Json = None
    actual: Json = None
    steps: tuple[int, ...] = ()
    """Steps of the trajectory that show it, counted from 0."""
    code: str = ""
    """A stable short name of the reason, for counting."""


REPORTED = "reported."
"""How the code of a failing finding starts that the grading policy reports without enforcing."""


def decides(finding: Finding) -> bool:
    """Checkpoints and findings that are only reported never change a verdict's status."""
    return finding.check != "checkpoint" and not finding.code.startswith(REPORTED)


class Aspect(Record):
    """A number or a yes/no that stands on its own: outcome, process score, checkpoint reach, side effects."""

    value: float | bool | str | None
    note: str = ""


class Fingerprint(Record):
    """Two verdicts may be compared only where these agree."""

    grader: str
    version: str
    """Raised by hand when a change can move a verdict; a test pins it to the source."""
    source: str = ""
    """Hash of the source code, in verdicts made before versions were pinned."""
    key: str = ""
    """The task's content hash; empty for judges, who have no key."""
    model: str = ""
    prompts: dict[str, str] = Field(default_factory=dict)
    settings: dict[str, Json] = Field(default_factory=dict)


class Verdict(Record):
    version: Literal[1] = 1
    trajectory_id: str
    task_id: str
    status: Status
    aspects: dict[str, Aspect] = Field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    fingerprint: Fingerprint
    replies: dict[str, Json] = Field(default_factory=dict)
    """Raw replies of models and every intermediate, by stage."""
    cost_usd: float | None = None
    fault: Fault | None = None

    @property
    def score(self) -> float | None:
        """1, 0, or None where nothing was decided."""
        return {"pass": 1.0, "fail": 0.0}.get(self.status)
