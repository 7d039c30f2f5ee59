"""Whether trajectories give away by their length that they hold a mistake: a classifier that knows nothing else."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webassay.core.trajectory import Trajectory

Floats = NDArray[np.float64]
_FOLDS = 5
_ROUNDS = 200
_PENALTY = 1.0


class Feature(NamedTuple):
    wrong: bool
    steps: int
    pages: int
    seconds: float
    length: int
    """Characters of everything that the agent decided and said."""


def features_of(trajectory: Trajectory, *, wrong: bool, pages: int) -> Feature:
    said = sum(
        len(step.thought) + len(step.action_text) + sum(len(action.text) for action in step.actions)
        for step in trajectory.steps
    )
    return Feature(wrong, len(trajectory.steps), pages, trajectory.seconds, said)


def given_away(features: Sequence[Feature], groups: Sequence[str], *, seed: int = 0) -> float | None:
    """AUC of a logistic regression, tested on groups that it was not trained on; None: too few to say."""
    names = sorted(set(groups))
    if len(names) < 2 or len({feature.wrong for feature in features}) < 2:
        return None
    order = np.random.default_rng(seed).permutation(len(names))
    fold_of = {names[place]: number % min(_FOLDS, len(names)) for number, place in enumerate(order)}
    folds = np.array([fold_of[group] for group in groups])
    wrong = np.array([feature.wrong for feature in features])
    plain = np.array([feature[1:] for feature in features], dtype=np.float64)
    known = np.column_stack([plain, np.log1p(plain)])
    scores = np.zeros(len(wrong))
    for fold in range(folds.max() + 1):
        train = folds != fold
        if len(set(wrong[train])) < 2:
            return None
        centre, spread = known[train].mean(axis=0), known[train].std(axis=0) + 1e-9
        weights = _fit((known[train] - centre) / spread, wrong[train].astype(np.float64))
        scores[~train] = np.column_stack([np.ones((~train).sum()), (known[~train] - centre) / spread]) @ weights
    return auc(scores, wrong)


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
