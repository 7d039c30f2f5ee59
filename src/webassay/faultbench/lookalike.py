"""Whether trajectories give away by their length, or by where they scroll, that they hold a mistake: a classifier that
knows nothing else."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webassay.core.report import Interval
from webassay.core.trajectory import Trajectory

Floats = NDArray[np.float64]
_FOLDS = 5
_SPLITS = 10
_RESAMPLES = 1000
_ROUNDS = 200
_PENALTY = 1.0


class Feature(NamedTuple):
    wrong: bool
    steps: int
    pages: int
    seconds: float
    length: int
    """Characters of everything that the agent decided and said."""
    early_scrolls: float
    """Share of the steps that do nothing but scroll, before the last one that does something."""


def pages_of(trajectory: Trajectory) -> int:
    return len({step.seen.url.partition("#")[0] for step in trajectory.steps})


def features_of(trajectory: Trajectory, *, wrong: bool) -> Feature:
    said = sum(
        len(step.thought) + len(step.action_text) + sum(len(action.text) for action in step.actions)
        for step in trajectory.steps
    )
    return Feature(
        wrong, len(trajectory.steps), pages_of(trajectory), trajectory.seconds, said, _early_scrolls(trajectory)
    )


def _early_scrolls(trajectory: Trajectory) -> float:
    scrolls = [
        bool(step.actions) and all(action.name == "scroll" for action in step.actions) for step in trajectory.steps[:-1]
    ]  # The last step is the answer.
    while scrolls and scrolls[-1]:
        scrolls.pop()
    return sum(scrolls) / max(1, len(trajectory.steps))


def given_away(features: Sequence[Feature], groups: Sequence[str], *, seed: int = 0) -> Interval | None:
    """AUC of a logistic regression, tested on groups that it was not trained on, with an interval over groups; None:
    too few to say. The groups are split several times, and the scores are averaged."""
    names = sorted(set(groups))
    wrong = np.array([feature.wrong for feature in features])
    if len(names) < 2 or len(set(wrong)) < 2:
        return None
    plain = np.array([feature[1:] for feature in features], dtype=np.float64)
    known = np.column_stack([plain, np.log1p(plain)])
    rng = np.random.default_rng(seed)
    place = {name: number for number, name in enumerate(names)}
    group = np.array([place[name] for name in groups])
    scores = np.zeros(len(wrong))
    for _ in range(_SPLITS):
        folds = rng.permutation(len(names))[group] % min(_FOLDS, len(names))
        one = _out_of_fold(known, wrong, folds)
        if one is None:
            return None
        scores += one
    low, high = _resampled(scores, wrong, group, rng)
    return Interval(
        value=auc(scores, wrong),
        low=low,
        high=high,
        units=len(names),
        method="cross-validated, bootstrap over templates",
    )


def _out_of_fold(known: Floats, wrong: NDArray[np.bool_], folds: NDArray[np.int64]) -> Floats | None:
    scores = np.zeros(len(wrong))
    for fold in set(folds):
        train = folds != fold
        if len(set(wrong[train])) < 2:
            return None
        center, spread = known[train].mean(axis=0), known[train].std(axis=0) + 1e-9
        weights = _fit((known[train] - center) / spread, wrong[train].astype(np.float64))
        scores[~train] = np.column_stack([np.ones((~train).sum()), (known[~train] - center) / spread]) @ weights
    return scores


def _resampled(
    scores: Floats, wrong: NDArray[np.bool_], group: NDArray[np.int64], rng: np.random.Generator
) -> tuple[float, float]:
    """The 95 % interval of the AUC over groups that are drawn with replacement."""
    members = [np.flatnonzero(group == number) for number in range(group.max() + 1)]
    found = []
    for _ in range(_RESAMPLES):
        drawn = np.concatenate([members[number] for number in rng.integers(len(members), size=len(members))])
        if 0 < wrong[drawn].sum() < len(drawn):
            found.append(auc(scores[drawn], wrong[drawn]))
    low, high = np.quantile(found, (0.025, 0.975))
    return float(low), float(high)


def alone(features: Sequence[Feature]) -> dict[str, float]:
    """The AUC of each feature by itself, without a classifier: 0.5 says nothing, and so does what is about as far
    below it as chance would be."""
    wrong = np.array([feature.wrong for feature in features])
    if len(set(wrong)) < 2:
        return {}
    names = Feature._fields[1:]
    return {name: auc(np.array([float(getattr(one, name)) for one in features]), wrong) for name in names}


def _fit(x: Floats, y: Floats) -> Floats:
    """Ridge-penalised, by Newton's method."""
    x = np.column_stack([np.ones(len(x)), x])
    weights = np.zeros(x.shape[1])
    penalty = np.full(x.shape[1], _PENALTY)
    penalty[0] = 0.0
    for _ in range(_ROUNDS):
        share = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        slope = x.T @ (y - share) - penalty * weights
        bend = (x * (share * (1 - share))[:, None]).T @ x + np.diag(penalty + 1e-9)
        move = np.linalg.solve(bend, slope)
        weights = weights + move
        if np.abs(move).max() < 1e-8:
            break
    return weights


def auc(scores: Floats, wrong: NDArray[np.bool_]) -> float:
    """The share of pairs of a wrong and a right one in which the wrong one has the higher score; ties count half."""
    ours, theirs = scores[wrong], scores[~wrong]
    above = (ours[:, None] > theirs[None, :]).sum() + 0.5 * (ours[:, None] == theirs[None, :]).sum()
    return float(above / (len(ours) * len(theirs)))
