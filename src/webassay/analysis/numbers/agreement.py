"""How well raters agree: people with people, judges with people, graders with graders.

Items of one template, or trajectories of one task, are not independent, so every interval comes from resampling whole
clusters. An item that a rater did not rate is None or absent; the caller decides whether that counts as a failure,
because published numbers differ on it.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np

from webassay.analysis.numbers import stats
from webassay.analysis.numbers.intervals import interval
from webassay.core.errors import InputError
from webassay.core.rater import labels, rater_id
from webassay.core.record import Record
from webassay.core.report import Interval
from webassay.core.verdict import Verdict

Item = Hashable
Ratings = Mapping[str, Mapping[Item, Any]]
"""Rater to item to label."""
Scale = Literal["nominal", "ordinal"]


class GraderPair(Record):
    first: str
    second: str
    items: int
    """Items rated by both."""
    same: Interval
    """Share of identical labels."""
    kappa: Interval
    weighted: Interval | None
    """Quadratic weights, for ordered labels."""


class Agreement(Record):
    raters: tuple[str, ...]
    items: int
    rated_by_all: int
    pairs: tuple[GraderPair, ...]
    fleiss: Interval
    """Over items that everyone rated."""
    alpha: Interval
    """Krippendorff's alpha, over all items with at least two ratings."""
    scale: Scale


class JudgeAccuracy(Record):
    """A judge compared with the truth, both yes or no."""

    items: int
    missing: int
    """Items on which the judge gave no verdict."""
    agreement: Interval
    precision: Interval
    recall: Interval
    false_positive_rate: Interval
    false_negative_rate: Interval
    kappa: Interval


def agreement(
    ratings: Ratings, *, clusters: Mapping[Item, Hashable] | None = None, scale: Scale = "nominal", seed: int = 0
) -> Agreement:
    """`clusters` maps an item to its cluster; by default every item is its own."""
    raters = tuple(ratings)
    if len(raters) < 2:
        raise InputError("Agreement needs two raters.", hint=f"Given: {', '.join(raters) or 'none'}.")
    items = list(dict.fromkeys(item for own in ratings.values() for item in own))
    table = {item: tuple(ratings[rater].get(item) for rater in raters) for item in items}
    levels = sorted({value for row in table.values() for value in row if value is not None})
    nothing = np.zeros(len(levels) + 2)
    fleiss = {item: nothing if None in row else stats.fleiss_part(row, levels) for item, row in table.items()}
    alpha = {item: stats.coincidences(row, levels) for item, row in table.items()}
    return Agreement(
        raters=raters,
        items=len(items),
        rated_by_all=sum(None not in row for row in table.values()),
        pairs=tuple(
            _pair(
                (raters[i], raters[j]), {item: (row[i], row[j]) for item, row in table.items()}, clusters, scale, seed
            )
            for i, j in combinations(range(len(raters)), 2)
        ),
        fleiss=_clustered(fleiss, clusters, stats.fleiss_of, seed),
        alpha=_clustered(alpha, clusters, lambda total: stats.alpha_of(total, levels, scale), seed),
        scale=scale,
    )


def _pair(
    names: tuple[str, str],
    rated: Mapping[Item, tuple[Any, Any]],
    clusters: Mapping[Item, Hashable] | None,
    scale: Scale,
    seed: int,
) -> GraderPair:
    both = {item: two for item, two in rated.items() if None not in two}
    levels = sorted({value for two in both.values() for value in two})
    parts = {item: stats.contingency([two], levels) for item, two in both.items()}
    ordered = scale == "ordinal"
    return GraderPair(
        first=names[0],
        second=names[1],
        items=len(both),
        same=interval(stats.wilson(sum(a == b for a, b in both.values()), len(both))),
        kappa=_clustered(parts, clusters, stats.kappa_of, seed),
        weighted=_clustered(parts, clusters, lambda t: stats.kappa_of(t, "quadratic"), seed) if ordered else None,
    )


def _clustered(
    parts: Mapping[Item, stats.Floats],
    clusters: Mapping[Item, Hashable] | None,
    statistic: Callable[[stats.Floats], float | None],
    seed: int,
) -> Interval:
    groups: dict[Hashable, stats.Floats] = {}
    for item, part in parts.items():
        cluster = item if clusters is None else clusters.get(item, item)
        groups[cluster] = groups[cluster] + part if cluster in groups else part
    return interval(stats.summed_bootstrap(list(groups.values()), statistic, seed=seed))


def against(
    judge: Mapping[Item, bool | None],
    truth: Mapping[Item, bool],
    *,
    missing: Literal["left out", "failure"] = "left out",
    clusters: Mapping[Item, Hashable] | None = None,
    seed: int = 0,
) -> JudgeAccuracy:
    """`missing="failure"` counts a missing verdict as "not done", as Online-Mind2Web's published numbers do."""
    silent = [item for item in truth if judge.get(item) is None]
    said = {item: bool(judge.get(item)) for item in truth if missing == "failure" or judge.get(item) is not None}
    rows = {item: (label, truth[item]) for item, label in said.items()}
    counts = {pair: sum(row == pair for row in rows.values()) for pair in _PAIRS}
    yes, no = counts[True, True] + counts[False, True], counts[True, False] + counts[False, False]
    parts = {item: stats.contingency([row], (False, True)) for item, row in rows.items()}
    return JudgeAccuracy(
        items=len(rows),
        missing=len(silent),
        agreement=interval(stats.wilson(counts[True, True] + counts[False, False], len(rows))),
        precision=interval(stats.wilson(counts[True, True], counts[True, True] + counts[True, False])),
        recall=interval(stats.wilson(counts[True, True], yes)),
        false_positive_rate=interval(stats.wilson(counts[True, False], no)),
        false_negative_rate=interval(stats.wilson(counts[False, True], yes)),
        kappa=_clustered(parts, clusters, stats.kappa_of, seed),
    )


_PAIRS = ((True, True), (True, False), (False, True), (False, False))


def between_graders(verdicts: Sequence[Verdict]) -> Agreement | None:
    """Raters on the same trajectories: one judge with two models is two raters. An abstention or fault is no rating;
    of one rater the newest verdict counts. None with fewer than two raters."""
    ids = [rater_id(verdict.fingerprint) for verdict in verdicts]
    label_of = labels({id: verdict.fingerprint for id, verdict in zip(ids, verdicts, strict=True)})
    ratings: dict[str, dict[Item, Any]] = defaultdict(dict)
    clusters: dict[Item, Hashable] = {}
    for id, verdict in zip(ids, verdicts, strict=True):
        rated = {"pass": True, "fail": False}.get(verdict.status)
        ratings[label_of[id]][verdict.trajectory_id] = rated
        clusters[verdict.trajectory_id] = verdict.task_id
    return agreement(ratings, clusters=clusters) if len(ratings) > 1 else None


# --- manual labels of tasks (appendix B) ----------------------------------------------------------------


class Label(Record):
    """One annotator's yes or no on one category of one task."""

    task_id: str
    site: str
    annotator: Literal["primary", "verifier"]
    category: str
    value: bool


class SiteKappa(Record):
    site: str
    tasks: int
    categories: dict[str, float | None]
    kappa: Interval
    """Mean over the categories, without those where kappa is undefined."""


class Annotation(Record):
    sites: tuple[SiteKappa, ...]
    overall: Interval
    """Weighted by tasks."""


def annotation(labels: Sequence[Label], *, seed: int = 0) -> Annotation:
    """Only tasks that both annotators labeled count."""
    sites = list(dict.fromkeys(label.site for label in labels))
    categories = list(dict.fromkeys(label.category for label in labels))
    both: dict[tuple[str, str, str], dict[str, bool]] = defaultdict(dict)
    for label in labels:
        both[label.site, label.task_id, label.category][label.annotator] = label.value
    tasks: dict[tuple[str, str], stats.Floats] = {}
    for (site, task, category), two in both.items():
        if len(two) == 2:
            tables = tasks.setdefault((site, task), np.zeros((len(sites), len(categories), 2, 2)))
            tables[sites.index(site), categories.index(category), int(two["primary"]), int(two["verifier"])] += 1
    per_site = {
        site: [tables[i] for (name, _), tables in tasks.items() if name == site] for i, site in enumerate(sites)
    }
    return Annotation(
        sites=tuple(
            SiteKappa(
                site=site,
                tasks=len(own),
                categories={name: stats.kappa_of(sum(t[i] for t in own)) for i, name in enumerate(categories)}
                if own
                else {},
                kappa=interval(stats.summed_bootstrap(own, _macro_kappa, seed=seed)),
            )
            for site, own in per_site.items()
        ),
        overall=interval(stats.summed_bootstrap(list(tasks.values()), _weighted_kappa, seed=seed)),
    )


def _macro_kappa(tables: stats.Floats) -> float | None:
    known = [kappa for table in tables if (kappa := stats.kappa_of(table)) is not None]
    return math.fsum(known) / len(known) if known else None


def _weighted_kappa(sites: stats.Floats) -> float | None:
    """Every task has one label in each category, so a site's largest table gives its number of tasks."""
    known = [
        (float(tables.sum(axis=(1, 2)).max()), kappa) for tables in sites if (kappa := _macro_kappa(tables)) is not None
    ]
    total = math.fsum(weight for weight, _ in known)
    return math.fsum(weight * kappa for weight, kappa in known) / total if total else None
