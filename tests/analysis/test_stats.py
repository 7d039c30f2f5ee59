"""The formulas against other people's implementations, against hand-made cases, and against their own laws."""

import math
import random
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from scripts.bench_statistics import coverage, paired_coverage
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW

from webassay.analysis.numbers import stats

rates = st.lists(st.floats(0, 1), min_size=2, max_size=60)
levels = st.sampled_from([0.0, 0.5, 1.0])
seeds = st.integers(0, 2**32 - 1)


class TestWilson:
    @given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.5, 0.999))
    def test_agrees_with_statsmodels(self, counts: tuple[int, int], confidence: float) -> None:
        ours = stats.wilson(*counts, confidence)
        low, high = proportion_confint(*counts, alpha=1 - confidence, method="wilson")
        assert (ours.low, ours.high) == (pytest.approx(low, abs=1e-12), pytest.approx(high, abs=1e-12))

    @given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
    def test_holds_its_value_and_stays_within_bounds(self, counts: tuple[int, int]) -> None:
        found = stats.wilson(*counts)
        assert found.low is not None and found.high is not None and found.value is not None
        assert 0 <= found.low <= found.value <= found.high <= 1

    def test_never_says_certain(self) -> None:
        assert stats.wilson(0, 20).high == pytest.approx(0.1611, abs=1e-4)
        assert stats.wilson(20, 20).low == pytest.approx(0.8389, abs=1e-4)
        assert stats.wilson(0, 0) == stats.Estimate(None, None, None, 0, "wilson")

    @pytest.mark.parametrize("counts", [(-1, 3), (4, 3)])
    def test_refuses_impossible_counts(self, counts: tuple[int, int]) -> None:
        with pytest.raises(ValueError, match="successes out of"):
            stats.wilson(*counts)

    def test_papers_z_is_80_percent(self) -> None:
        assert stats.z_of(0.80) == pytest.approx(1.282, abs=5e-4)
        assert stats.z_of(0.95) == pytest.approx(1.960, abs=5e-4)


class TestMeanShare:
    @given(rates, st.integers(0, 500))
    def test_stays_within_bounds_holds_its_value_and_never_says_certain(self, values: list[float], n: int) -> None:
        found = stats.mean_share(values, n)
        assert found.low is not None and found.high is not None and found.value is not None
        assert 0 <= found.low <= found.value <= found.high <= 1
        assert found.high - found.low > 0

    @given(st.lists(st.integers(0, 8).map(lambda n: n / 8), min_size=2, max_size=60), st.integers(0, 500))
    def test_failures_mirror_successes(self, values: list[float], n: int) -> None:
        found, mirrored = stats.mean_share(values, n), stats.mean_share([1 - value for value in values], n)
        assert found.low == pytest.approx(1 - (mirrored.high or 0), abs=1e-9)
        assert found.high == pytest.approx(1 - (mirrored.low or 0), abs=1e-9)

    @given(rates)
    def test_more_confidence_is_wider(self, values: list[float]) -> None:
        narrow, wide = stats.mean_share(values, confidence=0.8), stats.mean_share(values, confidence=0.95)
        assert (wide.low or 0) <= (narrow.low or 0) + 1e-12
        assert (wide.high or 0) >= (narrow.high or 0) - 1e-12

    @given(st.integers(2, 60), seeds)
    def test_of_single_tries_it_is_wilsons_with_the_quantile_of_t(self, n: int, seed: int) -> None:
        """Where every template has one task and the spread is that of a coin, the effective size is n - 1."""
        passed = random.Random(seed).randint(0, n)
        values = [1.0] * passed + [0.0] * (n - passed)
        found = stats.mean_share(values, n)
        size = n if passed in (0, n) else n - 1
        z = stats.t_of(0.95, n - 1)
        low, high = stats.score_bounds(passed / n, size, z)
        assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))

    def test_is_the_t_interval_for_many_templates(self) -> None:
        drawn = np.random.default_rng(3).beta(2, 2, 500).tolist()
        ours, published = stats.mean_share(drawn, 5000), stats.t_interval(drawn)
        assert ours.low == pytest.approx(published.low, abs=0.002)
        assert ours.high == pytest.approx(published.high, abs=0.002)

    def test_what_few_templates_leave_open(self) -> None:
        assert stats.mean_share([0.4]) == stats.Estimate(0.4, None, None, 1, "wilson-t")
        assert stats.mean_share([]).value is None
        two = stats.mean_share([0.0, 1.0], 6)
        assert (two.low or 0) < 0.01 and (two.high or 0) > 0.99
        three = stats.mean_share([1.0, 1.0, 1.0], 9)
        assert (three.low, three.high) == (pytest.approx(0.139, abs=0.001), 1.0)
        twenty = stats.mean_share([0.0] * 20, 60)
        assert (twenty.low, twenty.high) == (0.0, pytest.approx(0.180, abs=0.001))

    def test_equal_templates_are_worth_their_tasks_at_most(self) -> None:
        few, many = stats.mean_share([0.5] * 10, 20), stats.mean_share([0.5] * 10, 200)
        assert (few.low or 0) < (many.low or 0) < 0.5 < (many.high or 0) < (few.high or 0)

    @pytest.mark.parametrize("wrong", [[-0.1, 0.5], [0.5, 1.2], [math.nan, 0.5]])
    def test_refuses_what_is_no_share(self, wrong: list[float]) -> None:
        with pytest.raises(ValueError, match="between 0 and 1"):
            stats.mean_share(wrong)


class TestTInterval:
    @given(rates)
    def test_agrees_with_statsmodels(self, values: list[float]) -> None:
        ours = stats.t_interval(values)
        low, high = DescrStatsW(values).tconfint_mean()
        assert ours.low == pytest.approx(low, abs=1e-9)
        assert ours.high == pytest.approx(high, abs=1e-9)

    def test_by_hand(self) -> None:
        # Mean 0.5, s = 0.5, T = 3: 0.5 ± 4.3027 * 0.5 / sqrt(3), beyond 0 and 1 on purpose.
        found = stats.t_interval([0.0, 0.5, 1.0])
        assert found.value == 0.5
        assert found.low == pytest.approx(0.5 - 4.302653 * 0.5 / math.sqrt(3), abs=1e-6)
        assert found.low < 0
        assert stats.t_interval([0.4]) == stats.Estimate(0.4, None, None, 1, "t")
        assert stats.t_interval([]).value is None
        assert stats.t_interval([1.0] * 7).half_width == 0
        assert stats.t_interval([0.0] * 7) == stats.Estimate(0.0, 0.0, 0.0, 7, "t")

    @given(rates, st.randoms(use_true_random=False))
    def test_order_does_not_matter(self, values: list[float], shuffler: random.Random) -> None:
        shuffled = values.copy()
        shuffler.shuffle(shuffled)
        assert stats.t_interval(shuffled).low == pytest.approx(stats.t_interval(values).low, abs=1e-12)


class TestMacro:
    def test_each_template_and_each_site_counts_once(self) -> None:
        units = [("a", i, 1.0) for i in range(9)] + [("b", 0, 0.0)]
        assert stats.template_rates(units) == {"a": 1.0, "b": 0.0}
        # A task that was tried more often does not weigh more.
        units = [("a", 1, 1.0), ("a", 2, 0.0), ("a", 2, 0.0), ("a", 2, 0.0)]
        assert stats.template_rates(units) == {"a": 0.5}
        found = stats.site_macro([("shop", 1.0), ("shop", 1.0), ("shop", 1.0), ("wiki", 0.0)])
        assert (found.value, found.units) == (0.5, 2)


class TestPaired:
    @given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=3, max_size=40))
    def test_agrees_with_scipy(self, pairs: list[tuple[float, float]]) -> None:
        test = {i: a for i, (a, _) in enumerate(pairs)}
        reference = {i: b for i, (_, b) in enumerate(pairs)}
        differences = [a - b for a, b in pairs]
        found = stats.paired_difference(test, reference)
        assert found.p_value is not None
        if np.std(differences) > 1e-6:
            assert found.p_value == pytest.approx(float(scipy_stats.ttest_1samp(differences, 0).pvalue), abs=1e-9)
            published = stats.t_interval(differences)
            assert found.estimate.low == max(-1, published.low or 0)
            assert found.estimate.high == min(1, published.high or 0)

    @given(st.lists(st.tuples(levels, levels), min_size=2, max_size=12))
    def test_stays_within_bounds_and_never_says_certain(self, pairs: list[tuple[float, float]]) -> None:
        found = stats.paired_difference(*({i: pair[side] for i, pair in enumerate(pairs)} for side in (0, 1))).estimate
        assert found.low is not None and found.high is not None and found.value is not None
        assert -1 <= found.low <= found.value <= found.high <= 1
        assert found.high > found.low

    @given(
        st.dictionaries(st.integers(0, 30), st.floats(0, 1), min_size=2),
        st.dictionaries(st.integers(0, 30), st.floats(0, 1), min_size=2),
    )
    def test_swapping_turns_the_sign(self, a: dict[int, float], b: dict[int, float]) -> None:
        one, other = stats.paired_difference(a, b), stats.paired_difference(b, a)
        if one.estimate.value is None:
            assert other.estimate.value is None
        else:
            assert other.estimate.value == pytest.approx(-one.estimate.value, abs=1e-12)
        assert (one.only_test, one.only_reference) == (other.only_reference, other.only_test)

    def test_only_shared_templates_count(self) -> None:
        found = stats.paired_difference({"a": 1.0, "b": 0.5, "x": 1.0}, {"a": 0.5, "b": 0.5, "y": 0.0, "z": 0.0})
        assert (found.estimate.value, found.estimate.units) == (0.25, 2)
        assert (found.only_test, found.only_reference) == (1, 2)

    @pytest.mark.parametrize(("templates", "p"), [(2, 0.5), (5, 0.0625), (20, 2**-19)])
    def test_differences_all_alike_are_judged_by_their_number(self, templates: int, p: float) -> None:
        better, worse = dict.fromkeys(range(templates), 0.4), dict.fromkeys(range(templates), 0.1)
        assert stats.paired_difference(better, worse).p_value == pytest.approx(p)

    def test_identical_agents_do_not_differ(self) -> None:
        same = dict.fromkeys(range(5), 0.5)
        assert stats.paired_difference(same, same).p_value == 1.0


@pytest.mark.slow  # their correction takes a second an example
@settings(max_examples=20)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_agrees_with_statsmodels(values: list[float]) -> None:
    expected = multipletests(values, method="holm")[1]
    assert stats.holm(values) == pytest.approx(list(expected), abs=1e-12)


class TestPower:
    @pytest.mark.parametrize("templates", [5, 20, 190])
    @pytest.mark.parametrize("effect", [0.05, 0.2, 0.5])
    def test_agrees_with_statsmodels(self, templates: int, effect: float) -> None:
        expected = TTestPower().power(effect, templates, 0.05)
        assert stats.power_of(templates, effect, 1.0) == pytest.approx(expected, abs=1e-6)

    def test_templates_needed_is_the_first_that_suffices(self) -> None:
        needed = stats.templates_needed(0.03, 0.3)
        assert needed is not None
        assert stats.power_of(needed, 0.03, 0.3) >= 0.8 > stats.power_of(needed - 1, 0.03, 0.3)
        assert needed == pytest.approx(TTestPower().solve_power(0.1, power=0.8, alpha=0.05), abs=1)
        assert stats.templates_needed(0.0, 0.3) is None
        assert stats.templates_needed(50.0, 0.001) == 2
        assert stats.power_of(190, 0.8, 1.0) == pytest.approx(1.0)
        assert stats.power_of(6, 50.0, 1.0) == pytest.approx(1.0)


class TestBootstrap:
    def test_same_seed_same_interval(self) -> None:
        values = [i * i / 900 for i in range(30)]
        assert stats.bootstrap_mean(values, seed=3) == stats.bootstrap_mean(values, seed=3)
        assert stats.bootstrap_mean(values, seed=3) != stats.bootstrap_mean(values, seed=4)

    def test_is_near_the_t_interval_for_many_templates(self) -> None:
        values = np.random.default_rng(1).beta(1, 1, 400).tolist()
        drawn, formula = stats.bootstrap_mean(values), stats.t_interval(values)
        assert drawn.low == pytest.approx(formula.low, abs=0.005)
        assert drawn.high == pytest.approx(formula.high, abs=0.005)

    def test_general_and_fast_form_agree(self) -> None:
        values = [0.1, 0.4, 0.4, 0.8]
        general = stats.cluster_bootstrap(values, lambda drawn: sum(drawn) / len(drawn), repeats=200)
        fast = stats.bootstrap_mean(values, repeats=200)
        assert (general.low, general.high) == (pytest.approx(fast.low), pytest.approx(fast.high))

    def test_of_sums_is_the_same_again(self) -> None:
        parts = [np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.array([0.0, 5.0]), np.array([2.0, 2.0])]

        def share(total: stats.Floats) -> float:
            return float(total[0] / total[1])

        general = stats.cluster_bootstrap(parts, lambda drawn: share(np.sum(drawn, axis=0)), repeats=300, seed=5)
        summed = stats.summed_bootstrap(parts, share, repeats=300, seed=5)
        assert (summed.low, summed.high) == (pytest.approx(general.low), pytest.approx(general.high))
        assert stats.summed_bootstrap([], share).value is None

    def test_draws_without_a_value_are_left_out(self) -> None:
        found = stats.cluster_bootstrap([0, 1], lambda drawn: 1.0 if 1 in drawn else None, repeats=50)
        assert (found.low, found.high) == (1.0, 1.0)
        assert stats.bootstrap_mean([0.3]).low is None
        assert stats.cluster_bootstrap([0.3], lambda drawn: drawn[0]).low is None


class TestTrials:
    @given(st.integers(1, 8).flatmap(lambda n: st.tuples(st.integers(0, n), st.integers(1, n), st.just(n))))
    def test_equal_the_share_of_all_draws(self, case: tuple[int, int, int]) -> None:
        successes, k, n = case
        draws = list(combinations([1] * successes + [0] * (n - successes), k))
        assert stats.pass_at_k(n, successes, k) == pytest.approx(sum(any(d) for d in draws) / len(draws))
        assert stats.pass_hat_k(n, successes, k) == pytest.approx(sum(all(d) for d in draws) / len(draws))

    def test_one_trial_is_the_success_rate(self) -> None:
        assert stats.pass_at_k(5, 2, 1) == stats.pass_hat_k(5, 2, 1) == pytest.approx(0.4)
        with pytest.raises(ValueError, match="k=3 of n=2"):
            stats.pass_at_k(2, 1, 3)


class TestKendall:
    @given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=20))
    def test_agrees_with_scipy(self, pairs: list[tuple[int, int]]) -> None:
        x, y = [a for a, _ in pairs], [b for _, b in pairs]
        ours = stats.kendall_tau_b(x, y)
        if len(set(x)) == 1 or len(set(y)) == 1:
            assert ours is None
        else:
            assert ours == pytest.approx(float(scipy_stats.kendalltau(x, y).statistic), abs=1e-12)

    def test_reversed_is_minus_one(self) -> None:
        assert stats.kendall_tau_b([1, 2, 3, 4], [4, 3, 2, 1]) == -1
        assert stats.kendall_tau_b([0.1, 0.3, 0.9], [0.2, 0.4, 0.5]) == 1


def test_frontier_keeps_what_nothing_beats() -> None:
    points = [(5.0, 0.9), (1.0, 0.2), (2.0, 0.2), (2.0, 0.6), (6.0, 0.9)]
    assert stats.frontier(points) == [1, 3, 0]
    assert stats.frontier([(1.0, 0.5), (1.0, 0.5)]) == [0, 1]


class TestAgreement:
    @given(st.lists(st.tuples(levels, levels), min_size=1, max_size=60))
    @pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
    def test_cohen_agrees_with_statsmodels(self, weights: str, pairs: list[tuple[float, float]]) -> None:
        # All three levels once on the diagonal, so that both sides see the same table.
        pairs = [*pairs, (0.0, 0.0), (0.5, 0.5), (1.0, 1.0)]
        table = np.zeros((3, 3))
        for a, b in pairs:
            table[int(2 * a), int(2 * b)] += 1
        kind = {"none": None, "linear": "linear", "quadratic": "quadratic"}[weights]
        expected = cohens_kappa(table, wt=kind, return_results=False)
        ours = stats.cohen_kappa([a for a, _ in pairs], [b for _, b in pairs], weights=weights)  # type: ignore[arg-type]
        assert ours == pytest.approx(float(expected), abs=1e-9)

    def test_cohen_by_the_papers_formula(self) -> None:
        # a, b, c, d of appendix B.
        a, b, c, d = 20, 5, 10, 15
        first = [1] * (a + b) + [0] * (c + d)
        second = [1] * a + [0] * b + [1] * c + [0] * d
        assert stats.cohen_kappa(first, second) == pytest.approx(0.4)
        assert stats.cohen_kappa([1, 1, 1], [1, 1, 1]) is None
        assert stats.cohen_kappa([], []) is None

    @given(st.lists(st.lists(levels, min_size=4, max_size=4), min_size=2, max_size=40))
    def test_fleiss_agrees_with_statsmodels(self, ratings: list[list[float]]) -> None:
        ours = stats.fleiss_kappa(ratings)
        if len({value for row in ratings for value in row}) == 1:
            assert ours is None
            return
        expected = statsmodels_fleiss(aggregate_raters(np.array(ratings))[0])
        assert ours == pytest.approx(float(expected), abs=1e-9)

    # The four observers and twelve units of Krippendorff's "Computing Krippendorff's Alpha-Reliability".
    OBSERVERS = (
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    )

    @pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
    def test_krippendorffs_own_example(self, level: str, alpha: float) -> None:
        units = list(zip(*self.OBSERVERS, strict=True))
        assert stats.krippendorff_alpha(units, level=level) == pytest.approx(alpha, abs=5e-4)  # type: ignore[arg-type]

    @given(st.lists(st.lists(levels, min_size=3, max_size=3), min_size=2, max_size=30))
    def test_perfect_agreement_is_one(self, ratings: list[list[float]]) -> None:
        same = [[row[0]] * 3 for row in ratings]
        if len({row[0] for row in ratings}) > 1:
            assert stats.fleiss_kappa(same) == pytest.approx(1)
            assert stats.krippendorff_alpha(same) == pytest.approx(1)

    def test_items_with_one_rating_say_nothing(self) -> None:
        rows = [[1, 1], [0, 1], [1, 0], [0, 0]]
        assert stats.krippendorff_alpha([*rows, [1, None], [None, None]]) == stats.krippendorff_alpha(rows)


class TestGini:
    def test_equal_sizes_and_one_that_has_everything(self) -> None:
        assert stats.gini([5, 5, 5]) == pytest.approx(0)
        assert stats.gini([0, 0, 0, 12]) == pytest.approx(0.75)

    @given(st.lists(st.integers(1, 100), min_size=1, max_size=30))
    def test_equals_the_mean_difference(self, sizes: list[int]) -> None:
        n = len(sizes)
        expected = sum(abs(a - b) for a in sizes for b in sizes) / (2 * n * sum(sizes))
        assert stats.gini(sizes) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0])
def test_confidence_is_a_share(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        stats.wilson(1, 2, confidence)


# --- do the intervals hold the truth as often as they say? drawn with a fixed seed, so the numbers do not move --


@pytest.mark.parametrize(("templates", "rate"), [(20, 0.5), (50, 0.3), (190, 0.5)])
def test_t_interval_holds_what_it_promises(templates: int, rate: float) -> None:
    assert coverage("t over templates", templates, rate, repeats=1000) == pytest.approx(0.95, abs=0.02)


def test_t_interval_degrades_where_the_documentation_says() -> None:
    assert coverage("t over templates", 10, 0.02, repeats=500) < 0.6
    assert coverage("t over templates", 10, 0.5, repeats=500) > 0.93


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("templates", [2, 3, 5, 10, 20, 50, 200])
def test_what_reports_show_holds_what_it_promises(templates: int, rate: float) -> None:
    """Never clearly less; with few templates it may be more."""
    assert coverage("Wilson for clusters", templates, rate, repeats=1000) >= 0.92


def test_with_one_template_nothing_is_promised() -> None:
    assert coverage("Wilson for clusters", 1, 0.5, repeats=10) == 0


@pytest.mark.parametrize("rate", [0.05, 0.5])
@pytest.mark.parametrize("templates", [2, 3, 5, 10, 50])
def test_paired_differences_hold_what_they_promise(templates: int, rate: float) -> None:
    for difference in (0.0, 0.1):
        right, _, seen = paired_coverage(templates, difference, rate=rate, repeats=800)
        assert right >= 0.92
        assert difference or seen <= 0.07


def test_tasks_of_a_template_are_not_independent() -> None:
    """Why Wilson's interval over tasks is not the primary one."""
    assert coverage("Wilson over tasks", 100, 0.5, repeats=500) < 0.88
    assert coverage("Wilson over tasks", 100, 0.5, repeats=500, correlation=0.001) > 0.93


def test_bootstrap_and_paired_difference_hold_what_they_promise() -> None:
    assert coverage("cluster bootstrap", 100, 0.5, repeats=400) == pytest.approx(0.95, abs=0.025)
    right, _, seen = paired_coverage(50, 0.0, repeats=1000)
    assert right == pytest.approx(0.95, abs=0.02)
    assert seen == pytest.approx(0.05, abs=0.02)


class TestExactPairs:
    """One task a template, tried once: every difference is -1, 0 or 1."""

    @staticmethod
    def compared(better: int, worse: int, same: int) -> stats.PairedDifference:
        sides = [(1.0, 0.0)] * better + [(0.0, 1.0)] * worse + [(1.0, 1.0)] * same
        return stats.paired_difference(*(dict(enumerate(side)) for side in zip(*sides, strict=True)))

    @given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 12))
    def test_agrees_with_the_binomial_test(self, better: int, worse: int, same: int) -> None:
        if better + worse + same < 2:
            return
        found = self.compared(better, worse, same)
        exact = float(scipy_stats.binomtest(better, better + worse).pvalue) if better + worse else 1.0
        assert found.p_value == pytest.approx(exact)

    @given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 12))
    def test_the_interval_holds_0_wherever_the_test_does_not_exclude_it(
        self, better: int, worse: int, same: int
    ) -> None:
        if better + worse + same < 2:
            return
        found = self.compared(better, worse, same)
        low, high = found.estimate.low, found.estimate.high
        assert low is not None and high is not None and found.p_value is not None
        assert -1 <= low <= (better - worse) / (better + worse + same) <= high <= 1
        if found.p_value > 0.05:
            assert low <= 1e-9 and high >= -1e-9

    def test_more_pairs_that_differ_are_never_less_certain(self) -> None:
        seven, ten = self.compared(7, 0, 3), self.compared(10, 0, 0)
        assert (seven.p_value, ten.p_value) == (pytest.approx(2 * 0.5**7), pytest.approx(2 * 0.5**10))
