"""What people and judges said of trajectories, and what counts as the truth among several people.

A rating says pass or fail; or that its author was unsure; or something third ("partially"); or nothing. Only the first
two can be compared, and the others are counted, because a judge that is silent on the hard cases looks better than it
is.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal, NamedTuple

from webassay.core.rater import LabelMeaning, Stage, decided

Aspect = Literal["outcome", "process"]
THRESHOLD = 0.8
"""A process score from here on is a good process."""


def is_good(score: float, threshold: float) -> bool:
    """A mean of scores may miss the threshold by a rounding error."""
    return score >= threshold - 1e-9


class Rating(NamedTuple):
    """What one rater said of one item."""

    item: str
    rater: str
    said: LabelMeaning
    word: str = ""
    """A third label, as it came."""
    score: float | None = None
    """How good the process was, from 0 to 1."""
    process: bool | None = None
    """Whether the process was good, where the rater said so without a score."""
    stage: Stage = "blind"
    run: str = ""
    """A judge that is asked several times has several runs."""


class Facts(NamedTuple):
    """What is known of an item beside its ratings; empty and None: nobody said."""

    cluster: str = ""
    """Items of one cluster are not independent: trajectories of one task."""
    split: str = ""
    benchmark: str = ""
    agent: str = ""
    terminated: bool | None = None
    """The agent stopped by itself, and not because its budget was used up."""
    steps: float | None = None

    def filled(self, other: "Facts") -> "Facts":
        """What is not known here is taken from there."""
        return Facts(
            self.cluster or other.cluster,
            self.split or other.split,
            self.benchmark or other.benchmark,
            self.agent or other.agent,
            other.terminated if self.terminated is None else self.terminated,
            other.steps if self.steps is None else self.steps,
        )


NOTHING = Facts()


@dataclass
class StudyData:
    """Everything that was read."""

    labels: list[Rating] = field(default_factory=list)
    predictions: list[Rating] = field(default_factory=list)
    facts: dict[str, Facts] = field(default_factory=dict)

    def know(self, item: str, facts: Facts) -> None:
        known = self.facts.get(item)
        self.facts[item] = facts if known is None else known.filled(facts)


# --- one truth out of several people ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Truth:
    """What the raters of one stage decided together."""

    outcome: Mapping[str, bool]
    process: Mapping[str, bool]
    scores: Mapping[str, float]
    """Median scores of the process."""
    tied: Sequence[str] = ()
    """As many for as against, and nobody to break the tie."""
    undecided: Sequence[str] = ()
    """Nobody said pass or fail."""
    broken: Sequence[str] = ()
    """Ties that the tie-breaker decided."""

    def of(self, aspect: Aspect) -> Mapping[str, bool]:
        return self.outcome if aspect == "outcome" else self.process


def decide(ratings: Iterable[Rating], *, tie_breaker: str = "", threshold: float = THRESHOLD) -> Truth:
    """The majority of outcomes, and the median of process scores. Where the others are split evenly, the vote and the
    score of `tie_breaker` count as well; otherwise they do not. Where nobody gave a score, the majority of process
    labels decides."""
    by_item: dict[str, list[Rating]] = defaultdict(list)
    for rating in ratings:
        by_item[rating.item].append(rating)
    if all(len(own) == 1 for own in by_item.values()):
        return _of_one([own[0] for own in by_item.values()], threshold)
    outcome: dict[str, bool] = {}
    process: dict[str, bool] = {}
    scores: dict[str, float] = {}
    noted: dict[str, list[str]] = {"decided": [], "tied": [], "undecided": [], "broken": []}
    for item, own in by_item.items():
        usual = [one for one in own if one.rater != tie_breaker] or own if len(own) > 1 else own
        third = [one for one in own if one.rater == tie_breaker] if tie_breaker else []
        passed, how = _majority([decided(one.said) for one in usual], [decided(one.said) for one in third])
        if passed is not None:
            outcome[item] = passed
        noted[how].append(item)
        score = _median(usual, third, threshold)
        if score is not None:
            scores[item], process[item] = score, is_good(score, threshold)
            continue
        good, _ = _majority([one.process for one in usual], [one.process for one in third])
        if good is not None:
            process[item] = good
    return Truth(outcome, process, scores, noted["tied"], noted["undecided"], noted["broken"])


def _of_one(ratings: Sequence[Rating], threshold: float) -> Truth:
    """Where nobody else labeled the same items, nothing has to be weighed."""
    votes = [(one.item, decided(one.said)) for one in ratings]
    scores = {one.item: one.score for one in ratings if one.score is not None}
    process = {one.item: one.process for one in ratings if one.process is not None}
    return Truth(
        outcome={item: vote for item, vote in votes if vote is not None},
        process={**process, **{item: is_good(score, threshold) for item, score in scores.items()}},
        scores=scores,
        undecided=[item for item, vote in votes if vote is None],
    )


def _majority(votes: Sequence[bool | None], third: Sequence[bool | None]) -> tuple[bool | None, str]:
    known = [vote for vote in votes if vote is not None]
    ahead = 2 * sum(known) - len(known)
    if ahead:
        return ahead > 0, "decided"
    breaking = [vote for vote in third if vote is not None]
    if breaking:
        return breaking[-1], "broken"
    return None, "tied" if known else "undecided"


def _median(usual: Sequence[Rating], third: Sequence[Rating], threshold: float) -> float | None:
    known = [one.score for one in usual if one.score is not None]
    if len(known) < 2:
        return known[0] if known else None
    if 2 * sum(is_good(score, threshold) for score in known) == len(known):
        known += [one.score for one in third if one.score is not None]
    return float(median(known))


def words_of(ratings: Iterable[Rating]) -> dict[str, int]:
    """The third labels and how often each was given, the commonest first."""
    return dict(Counter(one.word for one in ratings if one.said == "third").most_common())
