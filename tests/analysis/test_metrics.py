"""What a judge is worth, against plain formulas and against other people's libraries."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from scripts.bench_agreement import coverage
from statsmodels.stats.inter_rater import cohens_kappa

from webassay.analysis.numbers import metrics, stats

tables = st.lists(st.integers(0, 30), min_size=4, max_size=4)
labels = st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 5)), min_size=1, max_size=60)


def counted(rows):
    """What a judge said, what is true, and the cluster: counted by cluster."""
    said, truth, cluster = (np.array(column) for column in zip(*rows, strict=True))
    return metrics.by_cluster(metrics.counts_of(said, truth), cluster)


studies = labels.map(counted)
shares = st.floats(0, 1).map(lambda value: round(value, 2))


def plain(tp: int, fp: int, fn: int, tn: int) -> dict[str, float | None]:
    """The definitions, one by one."""

    def share(part: float, whole: float) -> float | None:
        return part / whole if whole else None

    n = tp + fp + fn + tn
    agreed = share(tp + tn, n)
    chance = ((tp + fp) * (tp + fn) + (fn + tn) * (fp + tn)) / n**2 if n else None
    spread = math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return {
        "accuracy": agreed,
        "precision": share(tp, tp + fp),
        "recall": share(tp, tp + fn),
        "f1": share(2 * tp, 2 * tp + fp + fn),
        "kappa": (agreed - chance) / (1 - chance) if agreed is not None and chance not in (None, 1.0) else None,
        "fpr": share(fp, fp + tn),
        "fnr": share(fn, fn + tp),
        "mcc": share(tp * tn - fp * fn, spread),
    }


@given(tables)
def test_every_metric_is_its_definition(table):
    found = metrics.metric_values(np.array(table, dtype=float))
    for name, expected in plain(*table).items():
        if expected is None:
            assert math.isnan(found[name]), name
        else:
            assert found[name] == pytest.approx(expected, abs=1e-12), name


@given(tables)
def test_kappa_is_that_of_statsmodels(table):
    tp, fp, fn, tn = table
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = cohens_kappa([[tp, fp], [fn, tn]], return_results=False) if sum(table) else math.nan
    ours = float(metrics.metric_values(np.array(table, dtype=float))["kappa"])
    assert (math.isnan(ours) and not math.isfinite(theirs)) or ours == pytest.approx(theirs, abs=1e-12)


@given(labels)
def test_counts_by_cluster_add_up(rows):
    parts = counted(rows)
    assert len(parts) == len({cluster for *_, cluster in rows})
    assert parts.sum(axis=0).tolist() == [
        sum(s and t for s, t, _ in rows),
        sum(s and not t for s, t, _ in rows),
        sum(not s and t for s, t, _ in rows),
        sum(not s and not t for s, t, _ in rows),
    ]


@given(studies, st.integers(0, 3))
def test_intervals_hold_the_number_and_stay_where_numbers_can_be(parts, seed):
    found = metrics.measure(parts, draws=100, seed=seed)
    for name, one in found.estimates.items():
        if one.low is None or one.high is None:
            continue
        floor = -1.0 if name in metrics.COEFFICIENTS else 0.0
        assert floor <= one.low <= one.value <= one.high <= 1.0, name
        assert one.high > one.low, name


@given(studies)
def test_a_study_made_twice_is_the_same_and_a_judge_does_not_differ_from_itself(parts):
    assert metrics.measure(parts, draws=50).estimates == metrics.measure(parts, draws=50).estimates
    for estimate, p in metrics.differences(parts, parts, draws=50).values():
        assert estimate.value in (None, 0.0) and p in (None, 1.0)


def test_judges_without_a_mistake_or_with_one_answer_are_not_certain():
    parts = np.array([[1.0, 0, 0, 0], [0, 0, 0, 1.0]] * 10)
    found = metrics.measure(parts).estimates
    assert found["fpr"].value == 0 and 0.2 < found["fpr"].high < 0.4
    assert found["kappa"].value == 1 and 0.5 < found["kappa"].low < 0.8
    assert found["accuracy"].low == pytest.approx(stats.wilson(20, 20, z=stats.t_of(0.95, 19)).low)
    # One cluster says nothing about others.
    found = metrics.measure(np.array([[10.0, 2, 3, 20]]))
    assert found.estimates["accuracy"].value == pytest.approx(30 / 35)
    assert found.estimates["accuracy"].low is None
    # Whoever always says the same has a kappa of 0 and no interval, alone or against another one.
    found = metrics.measure(np.array([[0.0, 0, 1, 0], [0, 0, 0, 1.0]] * 10)).estimates["kappa"]
    assert (found.value, found.low, found.high) == (0.0, None, None)
    lazy = np.array([[2.0, 1, 0, 0], [1.0, 2, 0, 0], [3.0, 1, 0, 0]])
    estimate, p = metrics.differences(lazy, lazy)["kappa"]
    assert (estimate.value, estimate.low, estimate.high, p) == (0.0, None, None, None)


def test_twenty_copies_of_four_clusters_tell_no_more_than_four():
    base = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 1.0, 0], [0, 0, 0, 1.0]])
    few, copied = metrics.measure(20 * base), metrics.measure(np.repeat(base, 20, axis=0))
    width = [one.estimates["accuracy"].high - one.estimates["accuracy"].low for one in (few, copied)]
    assert width[0] > 3 * width[1]


@pytest.mark.parametrize("distinct", [True, False])
def test_drawing_kinds_of_clusters_is_drawing_clusters(distinct):
    """Both ways of drawing give the mean and the spread of a sum of independent draws."""
    random = np.random.default_rng(0)
    parts = random.random((400, 2)) if distinct else random.integers(0, 3, (2000, 2)).astype(float)
    sums = metrics.resampled(parts, draws=4000)
    assert sums.mean(axis=0) == pytest.approx(parts.sum(axis=0), rel=0.01)
    assert sums.std(axis=0) == pytest.approx(parts.std(axis=0) * math.sqrt(len(parts)), rel=0.05)


def test_a_clear_difference_is_seen():
    good = np.array([[1.0, 0, 0, 0], [0, 0, 0, 1.0]] * 40)
    bad = np.array([[0.0, 0, 1, 0], [0, 0, 0, 1.0]] * 40)
    estimate, p = metrics.differences(good, bad)["accuracy"]
    assert estimate.value == pytest.approx(0.5) and estimate.low > 0.35 and p < 1e-6
    # One that is the same in every cluster is no chance.
    right, wrong = np.array([[1.0, 0, 0, 1]] * 20), np.array([[0.0, 1, 1, 0]] * 20)
    estimate, p = metrics.differences(right, wrong)["accuracy"]
    assert estimate.value == 1.0 and estimate.low > 0.5 and p == pytest.approx(2 * 0.5**20)


@pytest.mark.parametrize("said", [1.0, 0.0], ids=["differ", "agree"])
def test_what_rests_on_one_cluster_has_no_interval_in_a_difference_either(said):
    """All failures are trajectories of one task, so every resample has the same false positive rate."""
    tasks = [[4.0, 0, 0, 0], [3.0, 0, 1, 0], [2.0, 0, 2, 0]]
    first = np.array([*tasks, [0.0, said, 0, 3 - said]])
    second = np.array([*tasks[::-1], [0.0, 0, 0, 3]])
    estimate, p = metrics.differences(first, second)["fpr"]
    assert (estimate.value, estimate.low, estimate.high, p) == (pytest.approx(said / 3), None, None, None)
    estimate, p = metrics.differences(first, second)["accuracy"]
    assert estimate.low < estimate.value < estimate.high and p is not None


# --- scores ---------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(shares, shares), min_size=3, max_size=40))
def test_correlations_are_those_of_scipy(pairs):
    x, y = (np.array(column) for column in zip(*pairs, strict=True))
    found = metrics.correlations(x, y, np.arange(len(x)), draws=20)
    assert found.mean_absolute_difference.value == pytest.approx(np.abs(x - y).mean())
    if len(set(x)) < 2 or len(set(y)) < 2:
        assert found.pearson.value is None and found.spearman.value is None
        return
    assert found.pearson.value == pytest.approx(scipy_stats.pearsonr(x, y)[0], abs=1e-6)
    assert found.spearman.value == pytest.approx(scipy_stats.spearmanr(x, y)[0], abs=1e-9)


def test_correlations_have_intervals_that_hold_them():
    random = np.random.default_rng(0)
    x = random.random(200)
    found = metrics.correlations(x, np.clip(x + random.normal(0, 0.3, 200), 0, 1), np.arange(200) // 2)
    for one in (found.pearson, found.spearman, found.mean_absolute_difference):
        assert one.units == 100 and one.low < one.value < one.high
        assert one.high - one.low < 0.3


@pytest.mark.parametrize("clusters", [3, 4, 30])
def test_perfect_correlation_is_no_certainty(clusters):
    x = np.arange(clusters) / clusters
    found = metrics.correlations(x, x + 0.1, np.arange(clusters), draws=50)
    for one in (found.pearson, found.spearman, found.mean_absolute_difference):
        assert one.value is not None and (one.low, one.high) == (None, None)


# --- do the intervals hold what they promise? -------------------------------------------------------------


@pytest.mark.parametrize(
    ("clusters", "judge"), [(10, (0.4, 0.8, 0.9)), (30, (0.3, 0.5, 0.98)), (100, (0.5, 0.95, 0.97))]
)
def test_intervals_hold_the_truth(clusters, judge):
    """Never clearly less than 95 %; with few clusters it may be more."""
    found = coverage(clusters, 3, judge, repeats=200)
    assert min(found.values()) >= 0.92, found
