"""The formulas. Plain numbers in, plain numbers out; nothing here knows what an agent or a task is.

Section numbers refer to the WebArena Verified paper; docs/statistics.md says where each formula comes from and where it
stops being reliable. Four rules hold throughout:

- What cannot be computed is None, never 0 and never a guess: no units, one template, a constant ranking.
- No interval says more than can be known: none of a share leaves 0 to 1, and none has width 0.
- Every bootstrap takes a seed, so that a report made twice is the same report.
- Floats are added with `math.fsum`: `sum` rounds differently from Python 3.12 on.

Wilson's interval and Kendall's tau are written out although scipy.stats has them: decision 0105 says why.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
Floats = NDArray[np.float64]

CONFIDENCE = 0.95
BOOTSTRAP_REPEATS = 2000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number, the interval around it, and the number of independent units behind it."""

    value: float | None
    low: float | None
    high: float | None
    units: int
    method: str

    @property
    def half_width(self) -> float | None:
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


@cache
def _special() -> Any:
    """scipy's special functions, which take longer to load than most commands take that need none of them."""
    return import_module("scipy.special")


def z_of(confidence: float) -> float:
    """Two-sided normal quantile: 1.96 for 0.95, 1.282 for 0.80."""
    _within(confidence, "confidence")
    return float(_special().ndtri(0.5 + confidence / 2))


def t_of(confidence: float, degrees: int) -> float:
    _within(confidence, "confidence")
    return float(_special().stdtrit(degrees, 0.5 + confidence / 2))


# --- success rates --------------------------------------------------------------------------------------


def wilson(successes: int, n: int, confidence: float = CONFIDENCE, *, z: float | None = None) -> Estimate:
    """The share of successes with Wilson's score interval (micro success; over-acceptance, section 3.2)."""
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes out of {n}")
    if n == 0:
        return Estimate(None, None, None, 0, "wilson")
    low, high = score_bounds(successes / n, n, z_of(confidence) if z is None else z)
    return Estimate(successes / n, low, high, n, "wilson")


def score_bounds(share: float, n: float, z: float) -> tuple[float, float]:
    """Every true share that lies within z standard errors of this one (Wilson 1927); n need not be whole."""
    center = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # At 0 and 1 the bound is exactly that, and the share always lies inside; rounding must not move either.
    low = 0.0 if share == 0 else min(share, max(0.0, center - half))
    high = 1.0 if share == 1 else max(share, min(1.0, center + half))
    return low, high


def mean_share(values: Iterable[float], observations: int = 0, confidence: float = CONFIDENCE) -> Estimate:
    """The mean of shares (each from 0 to 1, one for each template) with Wilson's interval for clustered data.

    The effective sample size is that of independent trials with the same standard error as this mean has between
    templates, at most as many as there are `observations` (tasks). The quantile is that of t, as the spread is
    estimated (Korn and Graubard 1998; Dean and Pagano 2015). With many templates this is the t-interval. Where all are
    0 or all are 1 there is no spread to go by, and each template counts as one trial. One template says nothing about
    others: no interval.
    """
    data = [float(value) for value in values]
    if not all(0 <= value <= 1 for value in data):
        raise ValueError("shares lie between 0 and 1")
    if not data:
        return Estimate(None, None, None, 0, "wilson-t")
    mean = math.fsum(data) / len(data)
    if len(data) == 1:
        return Estimate(mean, None, None, 1, "wilson-t")
    error = math.fsum((value - mean) ** 2 for value in data) / (len(data) - 1) / len(data)
    most = max(observations, len(data))
    if mean in (0, 1):
        size = float(len(data))
    else:
        size = min(most, mean * (1 - mean) / error) if error > 1e-15 else most
    low, high = score_bounds(mean, size, t_of(confidence, len(data) - 1))
    return Estimate(mean, low, high, len(data), "wilson-t")


def t_interval(values: Iterable[float], confidence: float = CONFIDENCE) -> Estimate:
    """The mean with its two-sided t-interval (section 4.4; F.1, equation 3).

    As published. It leaves 0 and 1 where there are few units, and has width 0 where all are equal; reports use
    `mean_share` in its place.
    """
    data = [float(value) for value in values]
    if not data:
        return Estimate(None, None, None, 0, "t")
    mean = math.fsum(data) / len(data)
    if len(data) == 1:
        return Estimate(mean, None, None, 1, "t")
    variance = math.fsum((value - mean) ** 2 for value in data) / (len(data) - 1)
    half = t_of(confidence, len(data) - 1) * math.sqrt(variance / len(data))
    return Estimate(mean, mean - half, mean + half, len(data), "t")


def means_by(units: Iterable[tuple[K, float]]) -> dict[K, float]:
    """The mean of each group, in the order the groups first appear."""
    groups: dict[K, list[float]] = {}
    for key, value in units:
        groups.setdefault(key, []).append(float(value))
    return {key: math.fsum(values) / len(values) for key, values in groups.items()}


def template_rates(units: Iterable[tuple[K, Hashable, float]]) -> dict[K, float]:
    """Success rate by template, from (template, task, score): averages trials by task, then tasks by template.

    If every task has the same number of trials, this is the plain mean (H.5); otherwise a task that was tried more
    often still does not weigh more.
    """
    tasks = means_by(((template, task), score) for template, task, score in units)
    return means_by((template, rate) for (template, _), rate in tasks.items())


def site_macro(rates: Iterable[tuple[Hashable, float]], confidence: float = CONFIDENCE) -> Estimate:
    """The mean over websites of their mean template rates; the website is the unit (F.3)."""
    known = list(rates)
    return mean_share(means_by(known).values(), len(known), confidence)


# --- comparisons ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Test minus reference, over the units that both have."""

    estimate: Estimate
    p_value: float | None
    deviation: float | None
    """The standard deviation of the differences; None for fewer than two."""
    only_test: int
    only_reference: int


def paired_difference(
    test: Mapping[K, float], reference: Mapping[K, float], observations: int = 0, confidence: float = CONFIDENCE
) -> PairedDifference:
    """The mean per-template difference of shares with its t-interval (F.2; G.1, equation 4), which ends at -1 and 1,
    and two-sided p-value. Where all differences are equal, t has nothing to go by: then the interval comes from those
    of the two means (Newcombe 1998) and the p-value from the sign test, which knows how many there are. Where every
    difference is -1, 0 or 1, as with one task a template, the p-value is exact (McNemar's test), and the interval is no
    narrower than the exact one of the pairs that differ: on few such pairs, t says too much."""
    shared = [key for key in test if key in reference]
    differences = [test[key] - reference[key] for key in shared]
    missing = len(test) - len(shared), len(reference.keys() - test.keys())
    estimate = t_interval(differences, confidence)
    value, low, high = estimate.value, estimate.low, estimate.high
    if value is None or low is None or high is None:
        return PairedDifference(estimate, None, None, *missing)
    deviation = math.sqrt(math.fsum((d - value) ** 2 for d in differences) / (len(differences) - 1))
    if deviation > 1e-12:
        t = -abs(value) / deviation * math.sqrt(len(differences))
        p_value = float(2 * _special().stdtr(len(differences) - 1, t))
    else:
        sides = [mean_share([own[key] for key in shared], observations, confidence) for own in (test, reference)]
        low, high = square_and_add(*sides)
        p_value = 1.0 if abs(value) < 1e-12 else 2 * 0.5 ** len(differences)
    if all(difference in (-1, 0, 1) for difference in differences):
        p_value, (least, most) = exact_pairs(differences.count(1), differences.count(-1), len(differences), confidence)
        low, high = min(low, least), max(high, most)
    within = Estimate(value, max(-1.0, low), min(1.0, high), len(differences), estimate.method)
    return PairedDifference(within, p_value, deviation, *missing)


def exact_pairs(
    better: int, worse: int, pairs: int, confidence: float = CONFIDENCE
) -> tuple[float, tuple[float, float]]:
    """McNemar's exact two-sided p-value, and the interval of the mean difference that goes with it: that of Clopper and
    Pearson for the share of better ones among the pairs that differ."""
    differing, tail = better + worse, (1 - confidence) / 2
    if not differing:
        return 1.0, (0.0, 0.0)
    p_value = min(1.0, 2 * float(_special().bdtr(min(better, worse), differing, 0.5)))
    low = float(_special().betaincinv(better, worse + 1, tail)) if better else 0.0
    high = float(_special().betaincinv(better + 1, worse, 1 - tail)) if worse else 1.0
    share = differing / pairs
    return p_value, ((2 * low - 1) * share, (2 * high - 1) * share)


def two_sided_p(t: float, degrees: int) -> float:
    return float(2 * _special().stdtr(degrees, -abs(t)))


def square_and_add(one: Estimate, other: Estimate) -> tuple[float, float]:
    """The ends of the difference of two means, as if they were independent: wider than for pairs, never too narrow."""
    (a, low_a, high_a), (b, low_b, high_b) = ((x.value or 0.0, x.low or 0.0, x.high or 0.0) for x in (one, other))
    return a - b - math.hypot(a - low_a, high_b - b), a - b + math.hypot(high_a - a, b - low_b)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment, in the order given."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for rank, index in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = running
    return adjusted


def power_of(templates: int, difference: float, deviation: float, alpha: float = 0.05) -> float:
    """The probability that the two-sided paired t-test detects a true difference with so many templates."""
    if templates < 2 or deviation <= 0:
        raise ValueError("power needs two templates and a positive deviation")
    degrees = templates - 1
    shift = abs(difference) / deviation * math.sqrt(templates)
    edge = float(_special().stdtrit(degrees, 1 - alpha / 2))
    # Far in the tail, where the share below the edge is 0 to nine digits, scipy's non-central t returns nan.
    below = np.nan_to_num(_special().nctdtr(degrees, shift, np.array([edge, -edge])), nan=0.0)
    return float(1 - below[0] + below[1])


def templates_needed(
    difference: float, deviation: float, power: float = 0.8, alpha: float = 0.05, *, limit: int = 10_000_000
) -> int | None:
    """The smallest number of templates that detects a difference with this power; None beyond the limit."""
    _within(power, "power")
    if difference == 0:
        return None
    low, high = 1, 2
    while power_of(high, difference, deviation, alpha) < power:
        low, high = high, high * 2
        if high > limit:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if power_of(middle, difference, deviation, alpha) < power:
            low = middle
        else:
            high = middle
    return high


# --- bootstrap ------------------------------------------------------------------------------------------


def cluster_bootstrap(
    clusters: Sequence[T],
    statistic: Callable[[Sequence[T]], float | None],
    *,
    confidence: float = CONFIDENCE,
    repeats: int = BOOTSTRAP_REPEATS,
    seed: int = 0,
) -> Estimate:
    """Percentile interval from resampling whole clusters; draws without a value are left out."""
    value = statistic(clusters)
    if value is None or len(clusters) < 2:
        return Estimate(value, None, None, len(clusters), "cluster bootstrap")
    draws = np.random.default_rng(seed).integers(0, len(clusters), size=(repeats, len(clusters)))
    drawn = (statistic([clusters[i] for i in draw]) for draw in draws)
    low, high = _percentiles([x for x in drawn if x is not None], confidence)
    return Estimate(value, low, high, len(clusters), "cluster bootstrap")


def bootstrap_mean(
    values: Iterable[float], *, confidence: float = CONFIDENCE, repeats: int = BOOTSTRAP_REPEATS, seed: int = 0
) -> Estimate:
    """`cluster_bootstrap` for a mean of cluster means, vectorised: a check on the t-interval."""
    data = np.asarray(list(values), dtype=np.float64)
    if len(data) < 2:
        return Estimate(float(data[0]) if len(data) else None, None, None, len(data), "cluster bootstrap")
    low, high = _percentiles(data[_draws(len(data), repeats, seed)].mean(axis=1), confidence)
    return Estimate(float(data.mean()), low, high, len(data), "cluster bootstrap")


@lru_cache(maxsize=1)
def _draws(clusters: int, repeats: int, seed: int) -> NDArray[np.int64]:
    """Kept, since all agents of a report are usually drawn for on equally many templates."""
    return np.random.default_rng(seed).integers(0, clusters, size=(repeats, clusters))


def summed_bootstrap(
    parts: Sequence[Floats],
    statistic: Callable[[Floats], float | None],
    *,
    confidence: float = CONFIDENCE,
    repeats: int = BOOTSTRAP_REPEATS,
    seed: int = 0,
) -> Estimate:
    """`cluster_bootstrap` for a statistic of the sum over clusters, as matrix products."""
    if not parts:
        return Estimate(None, None, None, 0, "cluster bootstrap")
    stack = np.asarray(parts, dtype=np.float64)
    value = statistic(stack.sum(axis=0))
    if value is None or len(parts) < 2:
        return Estimate(value, None, None, len(parts), "cluster bootstrap")
    random = np.random.default_rng(seed)
    drawn = []
    for _ in range(repeats):  # one draw at a time: all of them would not fit into memory for many clusters
        times = np.bincount(random.integers(0, len(parts), size=len(parts)), minlength=len(parts))
        total = statistic(np.tensordot(times, stack, axes=1))
        if total is not None:
            drawn.append(total)
    low, high = _percentiles(drawn, confidence)
    return Estimate(value, low, high, len(parts), "cluster bootstrap")


def _percentiles(draws: Sequence[float] | Floats, confidence: float) -> tuple[float | None, float | None]:
    _within(confidence, "confidence")
    if len(draws) == 0:
        return None, None
    tail = (1 - confidence) / 2
    low, high = np.quantile(np.asarray(draws, dtype=np.float64), (tail, 1 - tail))
    return float(low), float(high)


# --- repeated trials ------------------------------------------------------------------------------------


def pass_at_k(n: int, successes: int, k: int) -> float:
    """The probability that at least one of k trials passes, drawn without replacement from n."""
    _trials(n, successes, k)
    return 1.0 - math.comb(n - successes, k) / math.comb(n, k)


def pass_hat_k(n: int, successes: int, k: int) -> float:
    """The probability that all of k trials pass (pass^k), drawn without replacement from n."""
    _trials(n, successes, k)
    return math.comb(successes, k) / math.comb(n, k)


def _trials(n: int, successes: int, k: int) -> None:
    if not (1 <= k <= n and 0 <= successes <= n):
        raise ValueError(f"k={k} of n={n} trials with {successes} successes")


# --- rankings -------------------------------------------------------------------------------------------


def kendall_tau_b(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Rank correlation with ties (section 4.5, H.3); None if all items of a ranking are tied."""
    if len(x) != len(y):
        raise ValueError("rankings of different length")
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    upper = np.triu_indices(len(a), 1)
    signs_a = np.sign(a[:, None] - a[None, :])[upper]
    signs_b = np.sign(b[:, None] - b[None, :])[upper]
    untied = float(np.sum(signs_a != 0)) * float(np.sum(signs_b != 0))
    if untied == 0:
        return None
    # Rounding can take the quotient just above 1.
    return max(-1.0, min(1.0, float(np.sum(signs_a * signs_b)) / math.sqrt(untied)))


def frontier(points: Sequence[tuple[float, float]]) -> list[int]:
    """Indices of the (cost, success) points that no other point dominates, cheapest first."""

    def beaten(i: int) -> bool:
        cost, success = points[i]
        return any(
            c <= cost and s >= success and (c < cost or s > success) for j, (c, s) in enumerate(points) if j != i
        )

    return sorted((i for i in range(len(points)) if not beaten(i)), key=lambda i: points[i])


# --- agreement ------------------------------------------------------------------------------------------
#
# Each coefficient is a function of a table that is a sum over items. So the table of a resample is a sum of cluster
# tables, and a bootstrap never touches the items again.

Weights = Literal["none", "linear", "quadratic"]
Scale = Literal["nominal", "ordinal", "interval"]


def cohen_kappa(a: Sequence[Any], b: Sequence[Any], *, weights: Weights = "none") -> float | None:
    """Cohen's kappa of two raters over the same items (appendix B); None if chance alone explains all agreement.

    Weights use the sorted order of the levels that occur, so they make sense only for ordered levels.
    """
    levels = sorted(set(a) | set(b))
    return kappa_of(contingency(list(zip(a, b, strict=True)), levels), weights)


def contingency(pairs: Iterable[tuple[Any, Any]], levels: Sequence[Any]) -> Floats:
    place = {level: i for i, level in enumerate(levels)}
    table = np.zeros((len(levels), len(levels)))
    for one, other in pairs:
        table[place[one], place[other]] += 1
    return table


def kappa_of(table: Floats, weights: Weights = "none") -> float | None:
    if table.sum() == 0:
        return None
    observed = table / table.sum()
    chance = np.outer(observed.sum(axis=1), observed.sum(axis=0))
    distance = np.abs(np.subtract.outer(np.arange(len(table)), np.arange(len(table)))).astype(np.float64)
    penalty = distance > 0 if weights == "none" else distance if weights == "linear" else distance**2
    expected = float((penalty * chance).sum())
    return None if expected == 0 else 1 - float((penalty * observed).sum()) / expected


def fleiss_kappa(ratings: Sequence[Sequence[Any]]) -> float | None:
    """Fleiss' kappa; one row per item, all with the same number of ratings."""
    if not ratings:
        return None
    if len(ratings[0]) < 2 or any(len(row) != len(ratings[0]) for row in ratings):
        raise ValueError("every item needs the same number of ratings, at least two")
    levels = sorted({rating for row in ratings for rating in row})
    return fleiss_of(np.sum([fleiss_part(row, levels) for row in ratings], axis=0))


def fleiss_part(row: Sequence[Any], levels: Sequence[Any]) -> Floats:
    """One item's summands: the count of each level, the item's agreement, and 1 for the item itself."""
    counts = np.array([list(row).count(level) for level in levels], dtype=np.float64)
    agreement = ((counts**2).sum() - len(row)) / (len(row) * (len(row) - 1))
    return np.append(counts, [agreement, 1.0])


def fleiss_of(total: Floats) -> float | None:
    counts, agreement, items = total[:-2], float(total[-2]), float(total[-1])
    if items == 0:
        return None
    chance = float(((counts / counts.sum()) ** 2).sum())
    return None if chance == 1 else (agreement / items - chance) / (1 - chance)


def krippendorff_alpha(ratings: Sequence[Sequence[Any]], *, level: Scale = "nominal") -> float | None:
    """Krippendorff's alpha; one row per item, None for a missing rating."""
    levels = sorted({value for row in ratings for value in row if value is not None})
    parts = [coincidences(row, levels) for row in ratings]
    return alpha_of(np.sum(parts, axis=0), levels, level) if parts and levels else None


def coincidences(row: Sequence[Any], levels: Sequence[Any]) -> Floats:
    """Pairs of ratings within one item, weighted by its number of ratings; a single rating makes no pair."""
    given = [value for value in row if value is not None]
    counts = np.array([given.count(level) for level in levels], dtype=np.float64)
    if len(given) < 2:
        return np.zeros((len(levels), len(levels)))
    return np.asarray((np.outer(counts, counts) - np.diag(counts)) / (len(given) - 1))


def alpha_of(table: Floats, levels: Sequence[Any], level: Scale = "nominal") -> float | None:
    totals = table.sum(axis=1)
    n = float(totals.sum())
    if n < 2:
        return None
    distance = _distances(levels, totals, level)
    expected = float((np.outer(totals, totals) * distance).sum()) / (n - 1)
    return None if expected == 0 else 1 - float((table * distance).sum()) / expected


def _distances(levels: Sequence[Any], totals: Floats, level: Scale) -> Floats:
    if level == "nominal":
        return np.asarray(1.0 - np.eye(len(levels)))
    if level == "interval":
        values = np.asarray(levels, dtype=np.float64)
        return np.asarray(np.subtract.outer(values, values) ** 2)
    # Ordinal: the number of ratings between the two levels, counting half of those at the ends.
    middles = np.cumsum(totals) - totals / 2
    return np.asarray(np.subtract.outer(middles, middles) ** 2)


# --- inequality -----------------------------------------------------------------------------------------


def gini(sizes: Iterable[float]) -> float | None:
    """0 if all sizes are equal, towards 1 if one has everything (template balance, section 4.4)."""
    ordered = sorted(sizes)
    total = math.fsum(ordered)
    if not ordered or total == 0:
        return None
    n = len(ordered)
    return 2 * math.fsum(i * size for i, size in enumerate(ordered, 1)) / (n * total) - (n + 1) / n


def _within(share: float, name: str) -> None:
    if not 0 < share < 1:
        raise ValueError(f"{name} must lie between 0 and 1, not be {share}")
