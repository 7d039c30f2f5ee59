"""Ratings as arrays: one entry for each labeled item, always in the same order."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webassay.analysis.numbers.stats import Floats
from webassay.core.errors import InputError
from webassay.core.rater import decided
from webassay.study.ratings import NOTHING, Aspect, Facts, Rating, Truth

Votes = NDArray[np.int8]
"""1 is pass, 0 is fail, -1 is neither."""
Places = NDArray[np.int64]
SILENCES = ("missing", "unsure", "third")


class Items:
    """The labeled items, and what is known of them."""

    def __init__(self, names: Sequence[str], facts: Mapping[str, Facts]) -> None:
        self.names = names
        self.index = {name: place for place, name in enumerate(names)}
        self.facts = [facts.get(name, NOTHING) for name in names]
        self.cluster, clusters = _codes([one.cluster or name for one, name in zip(self.facts, names, strict=True)])
        self.clusters = len(clusters)
        self.clustered = any(one.cluster for one in self.facts)
        ended = [one.terminated for one in self.facts]
        self.terminated: Votes = np.array([-1 if end is None else int(end) for end in ended], dtype=np.int8)
        self.steps: Floats = np.array([np.nan if one.steps is None else one.steps for one in self.facts])

    def __len__(self) -> int:
        return len(self.names)

    def votes(self, found: Mapping[str, bool]) -> Votes:
        made = np.full(len(self), -1, dtype=np.int8)
        made[[self.index[name] for name in found]] = list(found.values())
        return made

    def scores(self, found: Mapping[str, float]) -> Floats:
        made = np.full(len(self), np.nan)
        made[[self.index[name] for name in found]] = list(found.values())
        return made

    def groups(self, dimensions: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
        """Which items belong to each group; those of which nothing is known belong to none."""
        columns = [[getattr(one, name) for one in self.facts] for name in dimensions]
        if not any(map(any, columns)):
            return {}
        rows = list(zip(*columns, strict=True))
        names = [" × ".join(part or "none" for part in row) if any(row) else "" for row in rows]
        codes, found = _codes(names)
        return {name: codes == found[name] for name in sorted(found) if name}


def _codes(names: Sequence[str]) -> tuple[Places, dict[str, int]]:
    found: dict[str, int] = {}
    return np.array([found.setdefault(name, len(found)) for name in names], dtype=np.int64), found


@dataclass(frozen=True)
class Known:
    """The truth of one stage."""

    outcome: Votes
    process: Votes
    scores: Floats

    @classmethod
    def of(cls, truth: Truth, items: Items) -> "Known":
        return cls(items.votes(truth.outcome), items.votes(truth.process), items.scores(truth.scores))

    def about(self, aspect: Aspect) -> Votes:
        return self.outcome if aspect == "outcome" else self.process


@dataclass(frozen=True)
class Voice:
    """What one judge said in one run."""

    outcome: Votes
    process: Votes
    scores: Floats
    silence: Votes
    """Where the outcome is neither pass nor fail: which of `SILENCES` it is."""

    def about(self, aspect: Aspect) -> Votes:
        return self.outcome if aspect == "outcome" else self.process


@dataclass(frozen=True)
class JudgeVotes:
    name: str
    voices: Mapping[str, Voice]
    """Run to what was said in it."""
    baseline: bool = False
    process_from: str = "outcome"
    """Whether it is taken by its score, its label, or only its outcome, where processes are compared."""
    strangers: Sequence[str] = ()
    """Items that nobody labeled."""

    @property
    def first(self) -> Voice:
        return next(iter(self.voices.values()))


def judges_of(predictions: Iterable[Rating], items: Items, threshold: float) -> list[JudgeVotes]:
    """In the order they first appear. Two predictions of one judge on one item must be of different runs."""
    found: dict[str, dict[str, list[Rating]]] = defaultdict(lambda: defaultdict(list))
    for one in predictions:
        found[one.rater][one.run].append(one)
    made = []
    for name, runs in found.items():
        every = [one for own in runs.values() for one in own]
        source = (
            "score"
            if any(one.score is not None for one in every)
            else "label"
            if any(one.process is not None for one in every)
            else "outcome"
        )
        voices = {run: _voice(own, items, source, threshold) for run, own in runs.items()}
        strangers = sorted({one.item for one in every if one.item not in items.index})
        made.append(JudgeVotes(name, voices, process_from=source, strangers=strangers))
    return made


def _voice(ratings: Sequence[Rating], items: Items, source: str, threshold: float) -> Voice:
    unique = {one.item: one for one in ratings}
    if len(unique) < len(ratings):
        seen: set[str] = set()
        twice = next(one for one in ratings if one.item in seen or seen.add(one.item))  # type: ignore[func-returns-value]
        raise InputError(
            f"{twice.rater} has two predictions for {twice.item}.",
            hint="If the judge was asked several times, a column `run` must tell the times apart.",
        )
    own = [one for one in ratings if one.item in items.index]
    places = [items.index[one.item] for one in own]

    def array(values: Sequence[float | None], nothing: float, kind: Any) -> NDArray[Any]:
        made = np.full(len(items), nothing, dtype=kind)
        made[places] = [nothing if value is None else value for value in values]
        return made

    outcome = array([decided(one.said) for one in own], -1, np.int8)
    scores = np.full(len(items), np.nan)
    process = outcome
    if source == "score":
        scores = array([one.score for one in own], np.nan, np.float64)
        process = np.where(np.isnan(scores), -1, scores >= threshold - 1e-9).astype(np.int8)
    elif source == "label":
        process = array([one.process for one in own], -1, np.int8)
    silences = {said: place for place, said in enumerate(SILENCES)}
    silence = array([silences.get(one.said, 0) for one in own], 0, np.int8)
    return Voice(outcome, process, scores, silence)


def baselines(items: Items) -> list[JudgeVotes]:
    """What anybody can say without looking. A judge that is not clearly better is worth nothing."""
    none = np.zeros(len(items), dtype=np.int8)
    said = {
        "always fail": none,
        "always pass": none + np.int8(1),
        "it terminated": items.terminated,
        "shortest wins": _shortest(items),
    }
    nothing = np.full(len(items), np.nan)
    return [JudgeVotes(name, {"": Voice(votes, votes, nothing, none)}, baseline=True) for name, votes in said.items()]


def _shortest(items: Items) -> Votes:
    """The shortest trajectory of each task is taken for a success. One that is alone with its task is compared
    with the median of all."""
    known = ~np.isnan(items.steps)
    made = np.full(len(items), -1, dtype=np.int8)
    if not known.any():
        return made
    steps, cluster = items.steps[known], items.cluster[known]
    least = np.full(items.clusters, np.inf)
    np.minimum.at(least, cluster, steps)
    alone = np.bincount(cluster, minlength=items.clusters)[cluster] == 1
    made[known] = np.where(alone, steps < np.median(steps), steps == least[cluster])
    return made
