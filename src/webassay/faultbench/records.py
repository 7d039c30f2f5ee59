"""The records of a fault bench: what is known of each of its trajectories, and what the bench as a whole is."""

from typing import Literal, get_args

from pydantic import Field

from webassay.core.record import Json, Record
from webassay.core.report import Interval
from webassay.core.verdict import Status

Half = Literal["dev", "test"]
Length = Literal["short", "medium", "long"]
LENGTHS: tuple[Length, ...] = get_args(Length)
"""How long the reference solution is."""


class FaultLabel(Record):
    """What one trajectory is, by how it was made. A judge never sees it."""

    version: Literal[1] = 1
    trajectory_id: str
    task_id: str
    template: str
    site: str
    half: Half
    pair: int
    """A trajectory with a mistake and its honest counterpart have the same number."""
    mistake: str = ""
    """Empty: none."""
    code: str = ""
    """In the taxonomy of webassay."""
    outcome: bool | None
    """Whether what was asked for was done; None: the task itself does not say what that is."""
    step: int | None = None
    """Index of the step in which the mistake was made."""
    visible: bool = True
    """Whether the rules can see the mistake."""
    rules: Status
    """What they say."""
    steps: int
    actions: str
    """Checksum of all that was decided, the answer included, with the sites' addresses left out."""
    changes: str
    """Checksum of the rows that differ, without what the site assigns by the clock."""


class Excluded(Record):
    """A pair that was tried and is not part of the bench."""

    mistake: str
    code: str
    task_id: str
    why: str
    detail: str = ""


class CodeOnSite(Record):
    """The pairs of one code on one site."""

    code: str
    site: str
    applies: bool
    """Whether any task of the site allows the mistake, as far as can be said before it is played."""
    wanted: int
    """In a bench of that size that is even."""
    made: int
    lengths: dict[Length, int] = Field(default_factory=dict)
    """Those that were made, by the length of the reference solution."""


class FaultBench(Record):
    version: Literal[1] = 1
    name: str
    seed: int
    world_seed: int
    trajectories: int
    codes: dict[str, int]
    """Trajectories with a mistake, by code."""
    templates: dict[str, int]
    sites: dict[str, int]
    difficulties: dict[str, int]
    halves: dict[str, int]
    seen_by_rules: int
    """Mistakes that the rules can see."""
    rules_agree: int
    """How many of these the rules see as the label says."""
    disagreements: tuple[Excluded, ...] = ()
    unseen: dict[str, int] = Field(default_factory=dict)
    """Mistakes that the rules cannot see, by code."""
    excluded: tuple[Excluded, ...] = ()
    given_away: float | None
    """AUC of a classifier that knows length, steps, time, number of pages and share of early scrolling alone, on
    templates it has not seen."""
    given_away_interval: Interval | None = None
    """The same, with its interval over templates; None: too few, or made before it was computed."""
    lengths: dict[Length, int] = Field(default_factory=dict)
    """Trajectories by the length of the reference solution."""
    cells: tuple[CodeOnSite, ...] = ()
    """What was wanted and made; empty: made before that was written down."""
    options: dict[str, Json] = Field(default_factory=dict)
    """What it was made with."""
    labels: str
    """Checksum of the labels."""
