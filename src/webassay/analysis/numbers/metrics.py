"""What a yes-or-no judge is worth against a reference, and how sure one can be of it. Plain numbers in and out.

Everything is a function of counts that are sums over clusters (a task with all its trajectories). So a resample of
whole clusters is a sum of their counts, and clusters with equal counts need to be drawn only once, together: a hundred
thousand rows cost no more than a thousand.

The interval comes from the spread over the resamples, not from their percentiles. Percentiles are too narrow where
clusters are few, have width 0 where a judge made no mistake, and say nothing near 0 and 1, where the false positive
rate of a good judge is. For shares the spread gives an effective number of trials for Wilson's interval, as in
`stats.mean_share`; for coefficients from -1 to 1 the interval is symmetric on Fisher's scale.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from webassay.analysis.numbers import stats
from webassay.analysis.numbers.stats import Estimate, Floats

Metric = Literal["accuracy", "precision", "recall", "f1", "kappa", "fpr", "fnr", "mcc"]
METRICS: tuple[Metric, ...] = ("accuracy", "precision", "recall", "f1", "kappa", "fpr", "fnr", "mcc")
COEFFICIENTS: frozenset[str] = frozenset({"kappa", "mcc"})
"""From -1 to 1; the other metrics are shares."""

TP, FP, FN, TN = range(4)
"""Places in a row of counts."""
METHOD = "cluster bootstrap"


def counts_of(said: Floats, truth: Floats) -> Floats:
    """One row of four counts for each item; both arguments are arrays of truth values."""
    yes, right = np.asarray(said, dtype=bool), np.asarray(truth, dtype=bool)
    return np.stack([yes & right, yes & ~right, ~yes & right, ~yes & ~right], axis=-1).astype(np.float64)


def by_cluster(rows: Floats, cluster: Floats) -> Floats:
    """Sums of rows that belong together, in the order of the clusters."""
    _, place = np.unique(cluster, return_inverse=True)
    sums = [np.bincount(place, weights=column) for column in np.asarray(rows, dtype=np.float64).T]
    return np.stack(sums, axis=1) if sums and len(rows) else np.zeros((0, rows.shape[-1]))


def metric_values(counts: Floats) -> dict[Metric, Floats]:
    """Every metric, of one row of counts or of many; nan where it is undefined, as precision without a single yes."""
    tp, fp, fn, tn = (counts[..., place] for place in (TP, FP, FN, TN))
    total, yes, right = tp + fp + fn + tn, tp + fp, tp + fn
    no, wrong = fn + tn, fp + tn
    chance = yes * right + no * wrong
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "accuracy": (tp + tn) / total,
            "precision": tp / yes,
            "recall": tp / right,
            "f1": 2 * tp / (2 * tp + fp + fn),
            "kappa": np.where(total**2 == chance, np.nan, (total * (tp + tn) - chance) / (total**2 - chance)),
            "fpr": fp / wrong,
            "fnr": fn / right,
            "mcc": (tp * tn - fp * fn) / np.sqrt(yes * right * no * wrong),
        }


def _trials(counts: Floats) -> dict[Metric, Floats]:
    """How many items each metric is about."""
    tp, fp, fn, tn = (counts[..., place] for place in (TP, FP, FN, TN))
    total = tp + fp + fn + tn
    return {
        "accuracy": total,
        "precision": tp + fp,
        "recall": tp + fn,
        "f1": tp + fp + fn,
        "kappa": total,
        "fpr": fp + tn,
        "fnr": tp + fn,
        "mcc": total,
    }


# --- resampling -----------------------------------------------------------------------------------------


def resampled(parts: Floats, *, draws: int = stats.BOOTSTRAP_REPEATS, seed: int = 0) -> Floats:
    """Sums over clusters that were drawn with replacement, one row a draw."""
    random, n = np.random.default_rng(seed), len(parts)
    distinct, times = _distinct(parts)
    if len(distinct) < n / 8 + 300:
        # How often each kind of cluster is drawn is multinomial: the same as drawing them one by one.
        return np.asarray(random.multinomial(n, times / n, size=draws) @ distinct)
    sums = np.empty((draws, parts.shape[1]))
    for draw in range(draws):  # one at a time: all of them would not fit into memory
        sums[draw] = np.bincount(random.integers(0, n, size=n), minlength=n) @ parts
    return sums


def _distinct(parts: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """The different rows, and how often each occurs. Rows of small counts are compared as one number each."""
    base = parts.max(initial=0) + 1
    if base ** parts.shape[1] < 2**52 and (parts >= 0).all() and (parts == np.floor(parts)).all():
        code = parts @ base ** np.arange(parts.shape[1])
        _, first, times = np.unique(code, return_index=True, return_counts=True)
        return parts[first], times
    distinct, times = np.unique(parts, axis=0, return_counts=True)
    return distinct, times


@dataclass(frozen=True, slots=True)
class Measurement:
    """Metrics with intervals, and the resamples behind them."""

    estimates: Mapping[Metric, Estimate]
    draws: Mapping[Metric, Floats]


def measure(parts: Floats, *, draws: int = stats.BOOTSTRAP_REPEATS, seed: int = 0) -> Measurement:
    """`parts`: a row of four counts for each cluster."""
    parts = np.asarray(parts, dtype=np.float64).reshape(-1, 4)
    parts = parts[parts.sum(axis=1) > 0]
    total = parts.sum(axis=0)
    values = metric_values(total)
    sums = resampled(parts, draws=draws, seed=seed) if len(parts) > 1 else np.full((1, 4), np.nan)
    drawn, trials, of_cluster = metric_values(sums), _trials(total), _trials(parts)
    estimates: dict[Metric, Estimate] = {}
    for name in METRICS:
        value = float(values[name])
        clusters = int((of_cluster[name] > 0).sum())
        if np.isnan(value) or clusters < 2:
            estimates[name] = Estimate(None if np.isnan(value) else value, None, None, clusters, METHOD)
            continue
        spread = spread_of(drawn[name])
        low: float | None
        high: float | None
        if name not in COEFFICIENTS:
            low, high = around_share(value, spread, clusters, float(trials[name]))
        elif spread > 1e-9:
            low, high = around_coefficient(value, spread, clusters)
        else:
            low, high = _nothing_differed(value, total, clusters)
        estimates[name] = Estimate(value, low, high, clusters, METHOD)
    return Measurement(estimates, drawn)


def spread_of(draws: Floats) -> float:
    known = draws[~np.isnan(draws)]
    return float(known.std(ddof=1)) if len(known) > 1 else 0.0


def around_share(value: float, spread: float, clusters: int, trials: float) -> tuple[float, float]:
    """Wilson's interval for as many trials as would give a share this spread: at most one for each item; where there is
    no spread to go by, one for each cluster."""
    if value in (0.0, 1.0):
        size = float(clusters)
    else:
        size = trials if spread < 1e-9 else min(trials, value * (1 - value) / spread**2)
    return stats.score_bounds(value, size, stats.t_of(stats.CONFIDENCE, clusters - 1))


def around_coefficient(value: float, spread: float, clusters: int) -> tuple[float, float]:
    """Symmetric on Fisher's scale, which has no ends to run into."""
    inside = min(max(value, -1 + 1e-9), 1 - 1e-9)
    reach = stats.t_of(stats.CONFIDENCE, clusters - 1) * spread / (1 - inside**2)
    return float(np.tanh(np.arctanh(inside) - reach)), float(np.tanh(np.arctanh(inside) + reach))


def _nothing_differed(value: float, total: Floats, clusters: int) -> tuple[float | None, float | None]:
    """Every resample says the same. A judge that agrees always would have this coefficient if as many labels differed
    as Wilson's interval for the accuracy allows; of one that always says the same nothing can be learnt."""
    if abs(value) < 1 - 1e-9:
        return None, None
    share = (1 + value) / 2
    low, high = around_share(share, 0.0, clusters, float(total.sum()))
    yes, truth = float(total[TP] + total[FP]) / total.sum(), float(total[TP] + total[FN]) / total.sum()
    chance = yes * truth + (1 - yes) * (1 - truth)
    bounds = [(share - chance) / (1 - chance) for share in (low, high)]
    return max(-1.0, min(value, *bounds)), min(1.0, max(value, *bounds))


# --- differences between two judges ---------------------------------------------------------------------


def differences(
    first: Floats, second: Floats, *, draws: int = stats.BOOTSTRAP_REPEATS, seed: int = 0
) -> dict[Metric, tuple[Estimate, float | None]]:
    """First minus second on the same clusters, with a two-sided p-value from the spread over joint resamples."""
    both = np.concatenate([first, second], axis=1)
    both = both[both.sum(axis=1) > 0]
    total = both.sum(axis=0)
    one, other = metric_values(total[:4]), metric_values(total[4:])
    found: dict[Metric, tuple[Estimate, float | None]] = {}
    if len(both) < 2:
        return {
            name: (Estimate(_known(float(one[name] - other[name])), None, None, len(both), METHOD), None)
            for name in METRICS
        }
    sums = resampled(both, draws=draws, seed=seed)
    drawn = (metric_values(sums[:, :4]), metric_values(sums[:, 4:]))
    alone = [measure(both[:, :4], draws=draws, seed=seed), measure(both[:, 4:], draws=draws, seed=seed)]
    for name in METRICS:
        value = _known(float(one[name] - other[name]))
        sides = [side.estimates[name] for side in alone]
        spread, degrees = spread_of(drawn[0][name] - drawn[1][name]), len(both) - 1
        # As for one judge: what rests on one cluster has no interval, whatever the other judge's number rests on.
        one_cluster = any(side.units < 2 for side in sides)
        # Where all resamples say the same, the intervals of the two judges are all there is to go by.
        nothing_known = spread <= 1e-12 and any(side.low is None for side in sides)
        if value is None or one_cluster or nothing_known:
            found[name] = Estimate(value, None, None, len(both), METHOD), None
            continue
        if spread > 1e-12:
            reach = stats.t_of(stats.CONFIDENCE, degrees) * spread
            low, high, p = value - reach, value + reach, stats.two_sided_p(value / spread, degrees)
        else:
            low, high = stats.square_and_add(*sides)
            # All clusters say the same: a sign test, as for agents.
            p = 1.0 if abs(value) < 1e-12 else 2 * 0.5 ** len(both)
        widest = 2.0 if name in COEFFICIENTS else 1.0
        found[name] = Estimate(value, max(-widest, low), min(widest, high), len(both), METHOD), p
    return found


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value


# --- scores ---------------------------------------------------------------------------------------------

MANY_CLUSTERS = 5000
FEWER_DRAWS = 100
"""Ranks have to be found again in every resample; with very many clusters the spread is known well enough."""


@dataclass(frozen=True, slots=True)
class Correlations:
    pearson: Estimate
    spearman: Estimate
    mean_absolute_difference: Estimate


def correlations(
    one: Floats, other: Floats, cluster: Floats, *, draws: int = stats.BOOTSTRAP_REPEATS, seed: int = 0
) -> Correlations:
    """Two scores from 0 to 1 of the same items."""
    x, y = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    _, place = np.unique(cluster, return_inverse=True)
    n = int(place.max()) + 1 if len(place) else 0
    (x_levels, x_place), (y_levels, y_place) = (np.unique(values, return_inverse=True) for values in (x, y))
    dx, dy = (values - values.mean() if len(values) else values for values in (x, y))
    sums = np.stack([np.ones(len(x)), dx, dy, dx * dx, dy * dy, dx * dy, np.abs(x - y)], axis=1)

    # Not as products of matrices: their library starts threads, which cost more than they save here.
    def found(weights: Floats) -> tuple[float, float, float]:
        total = np.einsum("i,ij->j", weights, sums)
        rx, ry = _midranks(weights, x_place, len(x_levels)), _midranks(weights, y_place, len(y_levels))
        middle = float(total[0]) / 2  # the mean of all ranks
        ranks = (np.einsum("i,i,i->", weights, one, other) for one, other in ((rx, rx), (ry, ry), (rx, ry)))
        xx, yy, xy = (float(rank) - float(total[0]) * middle**2 for rank in ranks)
        gap = float(total[6] / total[0]) if total[0] else float("nan")
        return _pearson(total), _ratio(xx, yy, xy, float(total[0]) ** 3), gap

    values = found(np.ones(len(x)))
    repeats = draws if n <= MANY_CLUSTERS else min(draws, FEWER_DRAWS)
    random = np.random.default_rng(seed)
    drawn = np.array(
        [found(np.bincount(random.integers(0, n, size=n), minlength=n)[place].astype(float)) for _ in range(repeats)]
        if n > 1
        else [(np.nan,) * 3]
    )
    made = [
        _bounded(value, spread_of(column), n, kind)
        for kind, (value, column) in enumerate(zip(values, drawn.T, strict=True))
    ]
    return Correlations(*made)


def _bounded(value: float, spread: float, clusters: int, kind: int) -> Estimate:
    if np.isnan(value):
        return Estimate(None, None, None, clusters, METHOD)
    # Where all resamples say the same, as for perfect correlation, they do not say how sure that is.
    if clusters < 3 or spread < 1e-9:
        return Estimate(value, None, None, clusters, METHOD)
    if kind < 2:
        low, high = around_coefficient(value, spread, clusters)
        return Estimate(value, min(low, value), max(high, value), clusters, METHOD)
    reach = stats.t_of(stats.CONFIDENCE, clusters - 1) * spread
    return Estimate(value, max(0.0, value - reach), value + reach, clusters, METHOD)


def _midranks(weights: Floats, place: NDArray[np.integer], levels: int) -> Floats:
    """The middle of the ranks that items of one value share, each item counted as often as its weight says."""
    heavy = np.bincount(place, weights=weights, minlength=levels)
    return np.asarray((np.cumsum(heavy) - heavy / 2)[place])


def _pearson(sums: Floats) -> float:
    n, x, y, xx, yy, xy = (float(one) for one in sums[:6])
    if n == 0:
        return float("nan")
    return _ratio(xx - x * x / n, yy - y * y / n, xy - x * y / n, n)


def _ratio(xx: float, yy: float, xy: float, scale: float) -> float:
    """Rounding leaves a trace of spread in a constant: what is tiny beside `scale` is none."""
    if min(xx, yy) <= 1e-12 * scale:
        return float("nan")
    return max(-1.0, min(1.0, xy / math.sqrt(xx * yy)))
