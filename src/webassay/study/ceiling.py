"""How far people agree with each other: no judge can be shown to be better than that."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from webassay.analysis.numbers import metrics
from webassay.analysis.numbers.intervals import interval
from webassay.analysis.numbers.stats import Estimate, Floats
from webassay.core.rater import Stage, decided
from webassay.core.record import Record
from webassay.core.report import Interval
from webassay.study.ratings import Rating, is_good

MOST_PAIRS = 20
Kind = Literal["outcome", "process", "process score"]


class RaterPair(Record):
    first: str
    second: str
    items: int
    same: Interval
    kappa: Interval


class Ceiling(Record):
    """Two people on the same item, over all items that have several labels."""

    kind: Kind
    """`process score`: the scores, cut at the threshold."""
    stage: Stage
    raters: int
    items: int
    """With at least two labels."""
    comparisons: int
    """Pairs of labels of one item."""
    disagreements: int
    """Items on which not everybody says the same."""
    same: Interval
    kappa: Interval
    """Cohen's, of the earlier against the later rater of each pair; the order is that of the file."""
    alpha: Interval
    """Krippendorff's, which needs no order and no equal number of labels."""
    pearson: Interval | None = None
    spearman: Interval | None = None
    mean_absolute_difference: Interval | None = None
    pairs: tuple[RaterPair, ...] = ()
    """Pairs of named raters, those with most items in common first."""


class _Label(NamedTuple):
    rater: int
    value: bool
    score: float


def ceilings(
    by_stage: Mapping[Stage, Sequence[Rating]], cluster_of: Callable[[str], str], threshold: float, draws: int
) -> tuple[Ceiling, ...]:
    """For every stage and kind of label that two people gave."""
    made = []
    kinds: tuple[Kind, ...] = ("outcome", "process", "process score")
    for stage, labels in by_stage.items():
        order = {name: place for place, name in enumerate(dict.fromkeys(one.rater for one in labels))}
        for kind in kinds if len(order) > 1 else ():
            found: dict[str, list[_Label]] = defaultdict(list)
            for one in labels:
                if (value := _value(one, kind, threshold)) is not None:
                    found[one.item].append(_Label(order[one.rater], value, one.score or 0.0))
            several = {item: sorted(own) for item, own in found.items() if len(own) > 1}
            if several:
                made.append(_ceiling(kind, stage, several, list(order), (cluster_of, draws)))
    return tuple(made)


def _value(one: Rating, kind: Kind, threshold: float) -> bool | None:
    if kind == "outcome":
        return decided(one.said)
    if kind == "process":
        return one.process
    return None if one.score is None else is_good(one.score, threshold)


def _ceiling(
    kind: Kind,
    stage: Stage,
    several: dict[str, list[_Label]],
    names: Sequence[str],
    how: tuple[Callable[[str], str], int],
) -> Ceiling:
    cluster_of, draws = how
    pairs = [(item, one, other) for item, own in several.items() for one, other in combinations(own, 2)]
    cluster = np.array([cluster_of(item) for item, _, _ in pairs])
    cells = metrics.counts_of(
        np.array([one.value for _, one, _ in pairs]), np.array([other.value for _, _, other in pairs])
    )
    found = metrics.measure(metrics.by_cluster(cells, cluster), draws=draws).estimates
    scores = None
    if kind == "process score":
        earlier, later = [one.score for _, one, _ in pairs], [other.score for _, _, other in pairs]
        scores = metrics.correlations(np.array(earlier), np.array(later), cluster, draws=draws)
    return Ceiling(
        kind=kind,
        stage=stage,
        raters=len({label.rater for own in several.values() for label in own}),
        items=len(several),
        comparisons=len(pairs),
        disagreements=sum(len({label.value for label in own}) > 1 for own in several.values()),
        same=interval(found["accuracy"]),
        kappa=interval(found["kappa"]),
        alpha=interval(_alpha(several, cluster_of, draws)),
        pearson=interval(scores.pearson) if scores else None,
        spearman=interval(scores.spearman) if scores else None,
        mean_absolute_difference=interval(scores.mean_absolute_difference) if scores else None,
        pairs=tuple(_named(pairs, cells, cluster, names, draws)),
    )


def _named(
    pairs: Sequence[tuple[str, _Label, _Label]], cells: Floats, cluster: Floats, names: Sequence[str], draws: int
) -> Iterable[RaterPair]:
    places: dict[tuple[int, int], list[int]] = defaultdict(list)
    for place, (_, one, other) in enumerate(pairs):
        places[one.rater, other.rater].append(place)
    for (first, second), own in sorted(places.items(), key=lambda entry: -len(entry[1]))[:MOST_PAIRS]:
        found = metrics.measure(metrics.by_cluster(cells[own], cluster[own]), draws=draws).estimates
        yield RaterPair(
            first=names[first],
            second=names[second],
            items=len(own),
            same=interval(found["accuracy"]),
            kappa=interval(found["kappa"]),
        )


def _alpha(several: dict[str, list[_Label]], cluster_of: Callable[[str], str], draws: int) -> Estimate:
    """`stats.krippendorff_alpha` for two values: what an item adds are its agreeing and disagreeing pairs."""
    yes = np.array([sum(label.value for label in own) for own in several.values()], dtype=float)
    count = np.array([len(own) for own in several.values()], dtype=float)
    no = count - yes
    rows = np.stack([yes * (yes - 1), yes * no, no * (no - 1)], axis=1) / (count - 1)[:, None]
    parts = metrics.by_cluster(rows, np.array([cluster_of(item) for item in several]))

    def alpha(sums: Floats) -> Floats:
        both, apart, neither = (sums[..., place] for place in range(3))
        ones, zeros = both + apart, apart + neither
        total = ones + zeros
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(ones * zeros == 0, np.nan, 1 - (total - 1) * apart / (ones * zeros)))

    value = float(alpha(parts.sum(axis=0)))
    if np.isnan(value) or len(parts) < 2:
        return Estimate(None if np.isnan(value) else value, None, None, len(parts), metrics.METHOD)
    spread = metrics.spread_of(alpha(metrics.resampled(parts, draws=draws)))
    if spread == 0:
        return Estimate(value, None, None, len(parts), metrics.METHOD)
    low, high = metrics.around_coefficient(value, spread, len(parts))
    return Estimate(value, min(low, value), max(high, value), len(parts), metrics.METHOD)
