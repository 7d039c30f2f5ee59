"""How far judges can be trusted, as data. docs/agreement.md says what each number means."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from webassay.analysis.numbers import stats
from webassay.core.rater import Stage
from webassay.core.record import Record
from webassay.core.report import Interval
from webassay.study.ceiling import Ceiling
from webassay.study.ratings import THRESHOLD, Aspect

Missing = Literal["left-out", "failure"]
DIMENSIONS = ("split", "benchmark", "agent")


class Reference(Record):
    """What the judges are measured by."""

    raters: tuple[str, ...]
    said: dict[str, int]
    """Labels of this stage: pass, fail, unsure, third, missing."""
    third_labels: dict[str, int]
    passed: int
    failed: int
    tied: int
    """Left out: as many for as against, and no tie-breaker."""
    ties_broken: int
    undecided: int
    """Left out: nobody said pass or fail."""


class JudgeRow(Record):
    """One judge against the reference, over all items or one group."""

    judge: str
    aspect: Aspect
    stage: Stage
    dimension: str = ""
    group: str = ""
    baseline: bool = False
    process_from: str = ""
    """For the process: whether the judge was taken by its score, its label, or only its outcome."""
    runs: int
    items: int
    """Verdicts that could be compared, over all runs."""
    missing: int
    unsure: int
    third: int
    true_positives: int
    false_positives: int
    false_negatives: int
    true_negatives: int
    reference_rate: float | None
    judge_rate: float | None
    unterminated: float | None
    """Share of trajectories that ran out of their budget."""
    metrics: dict[str, Interval]


class ScoreRow(Record):
    """A judge's process scores against people's."""

    judge: str
    against: Literal["median", "each annotator"]
    items: int
    pearson: Interval
    spearman: Interval
    mean_absolute_difference: Interval


class JudgePair(Record):
    """Two judges on the items on which both decided."""

    first: str
    second: str
    items: int
    both_right: int
    only_first_right: int
    only_second_right: int
    both_wrong: int
    differences: dict[str, Interval]
    """First minus second."""
    p_values: dict[str, float | None]
    """Adjusted by Holm's method over all pairs."""


class Flips(Record):
    """How people changed their mind after they saw a judge's verdict."""

    aspect: Aspect
    judge: str
    """Whose verdict they are compared with; empty: none."""
    labels: int
    """Given in both stages."""
    flipped: int
    to_fail: int
    to_pass: int
    towards_judge_fail: int = 0
    towards_judge_pass: int = 0
    away: int = 0
    unknown: int = 0
    """Flips where the judge had said nothing."""


class Repeats(Record):
    """One judge, asked several times."""

    judge: str
    aspect: Aspect
    runs: int
    mean: dict[str, float | None]
    deviation: dict[str, float | None]
    lowest: dict[str, float | None]
    highest: dict[str, float | None]
    unstable: float | None
    """Share of items on which the runs do not all say the same."""


class EndingRow(Record):
    """Trajectories by how they ended."""

    ending: Literal["terminated", "over budget"]
    passed: int
    failed: int
    rate: Interval


class Study(Record):
    version: Literal[1] = 1
    items: int
    """With a label of any kind."""
    clusters: int
    stage: Stage
    threshold: float
    missing: Missing
    draws: int
    reference: Reference
    judges: tuple[JudgeRow, ...]
    groups: tuple[JudgeRow, ...] = ()
    by_stage: tuple[JudgeRow, ...] = ()
    scores: tuple[ScoreRow, ...] = ()
    ceiling: tuple[Ceiling, ...] = ()
    pairs: tuple[JudgePair, ...] = ()
    flips: tuple[Flips, ...] = ()
    repeats: tuple[Repeats, ...] = ()
    endings: tuple[EndingRow, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class StudyOptions:
    missing: Missing = "left-out"
    """What an item counts as on which a judge said neither pass nor fail."""
    stage: Stage = "blind"
    tie_breaker: str = ""
    threshold: float = THRESHOLD
    by: Sequence[Sequence[str]] = ()
    """Dimensions to group by, each alone or several crossed; empty: each alone that has more than one group."""
    draws: int = stats.BOOTSTRAP_REPEATS
    seed: int = 0
