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

from webassay.core.errors import InputError
from webassay.core.labels import Said, Stage, decided

Aspect = Literal["outcome", "process"]
THRESHOLD = 0.8
"""A process score from here on is a good process."""


class Rating(NamedTuple):
    """What one rater said of one item."""

    item: str
    rater: str
    said: Said
    word: str = ""
    """A third label, as it came."""
    score: float | None = None
    """Of the process, from 0 to 1."""
    process: bool | None = None
    """Whether the process was good, where the rater said so without a score."""
    stage: Stage = "blind"
    run: str = ""
    """A judge that is asked several times has several runs."""


@dataclass(slots=True)
class Facts:
    """What is known of an item beside its ratings; empty and None: nobody said."""

    cluster: str = ""
    """Items of one cluster are not independent: trajectories of one task."""
    split: str = ""
    benchmark: str = ""
    agent: str = ""
    terminated: bool | None = None
    """The agent stopped by itself, and not because its budget was used up."""
    steps: float | None = None

    def merge(self, other: "Facts") -> None:
        """What was not known yet is taken over."""
        for name in self.__slots__:
            if getattr(self, name) in ("", None):
                setattr(self, name, getattr(other, name))


@dataclass
class Gathered:
    """Everything that was read."""

    labels: list[Rating] = field(default_factory=list)
    predictions: list[Rating] = field(default_factory=list)
    facts: dict[str, Facts] = field(default_factory=dict)

    def know(self, item: str, facts: Facts) -> None:
        known = self.facts.setdefault(item, facts)
        if known is not facts:
            known.merge(facts)


# --- one truth out of several people ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Truth:
    """What the raters of one stage decided together."""

    outcome: Mapping[str, bool]
    process: Mapping[str, bool]
    scores: Mapping[str, float]
    """Median scores of the process."""
    tied: tuple[str, ...] = ()
    """As many for as against, and nobody to break the tie."""
    undecided: tuple[str, ...] = ()
    """Nobody said pass or fail."""
    broken: tuple[str, ...] = ()
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
    outcome: dict[str, bool] = {}
    process: dict[str, bool] = {}
    scores: dict[str, float] = {}
    noted: dict[str, list[str]] = {"tied": [], "undecided": [], "broken": [], "decided": []}
    for item, own in by_item.items():
        usual = [one for one in own if one.rater != tie_breaker] or own
        third = [one for one in own if one.rater == tie_breaker]
        passed, how = _majority([_vote(one) for one in usual], [_vote(one) for one in third])
        if passed is not None:
            outcome[item] = passed
        noted[how].append(item)
        score = _median(usual, third, threshold)
        if score is not None:
            scores[item], process[item] = score, score >= threshold
        else:
            good, _ = _majority([one.process for one in usual], [one.process for one in third])
            if good is not None:
                process[item] = good
    return Truth(outcome, process, scores, *(tuple(noted[how]) for how in ("tied", "undecided", "broken")))


def _vote(rating: Rating) -> bool | None:
    return decided(rating.said)


def _majority(votes: Sequence[bool | None], third: Sequence[bool | None]) -> tuple[bool | None, str]:
    known = [vote for vote in votes if vote is not None]
    breaking = [vote for vote in third if vote is not None]
    ahead = 2 * sum(known) - len(known)
    if ahead:
        return ahead > 0, "decided"
    if breaking:
        return breaking[-1], "broken"
    return None, "tied" if known else "undecided"


def _median(usual: Sequence[Rating], third: Sequence[Rating], threshold: float) -> float | None:
    known = [one.score for one in usual if one.score is not None]
    if known and 2 * sum(score >= threshold for score in known) == len(known):
        known += [one.score for one in third if one.score is not None]
    return float(median(known)) if known else None


# --- judges -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Judge:
    """Everything that one judge said, run by run."""

    name: str
    runs: Mapping[str, Mapping[str, Rating]]
    """Run to item to rating."""
    baseline: bool = False

    @property
    def has_scores(self) -> bool:
        return any(one.score is not None for own in self.runs.values() for one in own.values())

    @property
    def has_process(self) -> bool:
        return any(one.process is not None for own in self.runs.values() for one in own.values())

    def process_from(self) -> str:
        return "score" if self.has_scores else "label" if self.has_process else "outcome"

    def verdicts(self, run: str, aspect: Aspect, threshold: float = THRESHOLD) -> dict[str, bool | None]:
        """Item to pass, fail or nothing. A judge without process scores or labels is taken by its outcome."""
        source = self.process_from() if aspect == "process" else "outcome"
        own = self.runs[run].items()
        if source == "score":
            return {item: None if one.score is None else one.score >= threshold for item, one in own}
        return {item: one.process if source == "label" else _vote(one) for item, one in own}


def judges_of(predictions: Iterable[Rating]) -> list[Judge]:
    """In the order they first appear. Two predictions of one judge on one item must be of different runs."""
    found: dict[str, dict[str, dict[str, Rating]]] = {}
    for one in predictions:
        run = found.setdefault(one.rater, {}).setdefault(one.run, {})
        if one.item in run:
            raise InputError(
                f"{one.rater} has two predictions for {one.item}.",
                hint="If the judge was asked several times, a column `run` must tell the times apart.",
            )
        run[one.item] = one
    return [Judge(name, runs) for name, runs in found.items()]


def baselines(facts: Mapping[str, Facts], items: Sequence[str]) -> list[Judge]:
    """What anybody can say without looking. A judge that is not clearly better is worth nothing."""
    ended = {item: facts[item].terminated for item in items}
    return [
        _baseline("always fail", dict.fromkeys(items, False)),
        _baseline("always pass", dict.fromkeys(items, True)),
        _baseline("it terminated", {item: end for item, end in ended.items() if end is not None}),
        _baseline("shortest wins", _shortest(facts, items)),
    ]


def _baseline(name: str, said: Mapping[str, bool]) -> Judge:
    own = {item: Rating(item, name, "pass" if yes else "fail") for item, yes in said.items()}
    return Judge(name, {"": own}, baseline=True)


def _shortest(facts: Mapping[str, Facts], items: Sequence[str]) -> dict[str, bool]:
    """Of the trajectories of one task the shortest is taken for a success. One that is alone with its task is compared
    with the median of all."""
    known = {item: steps for item in items if (steps := facts[item].steps) is not None}
    if not known:
        return {}
    by_cluster: dict[str, list[str]] = defaultdict(list)
    for item in known:
        by_cluster[facts[item].cluster or item].append(item)
    middle = median(known.values())
    said = {}
    for own in by_cluster.values():
        least = min(known[item] for item in own)
        for item in own:
            said[item] = known[item] == least if len(own) > 1 else known[item] < middle
    return said


def words_of(ratings: Iterable[Rating]) -> dict[str, int]:
    """The third labels and how often each was given, the commonest first."""
    return dict(Counter(one.word for one in ratings if one.said == "third").most_common())
