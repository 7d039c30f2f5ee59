"""A few that mirror the many."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from webassay.benchmarks.base import features, mirroring

KINDS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=60)


@given(KINDS, st.integers(0, 70))
def test_of_one_kind_each_the_shares_are_those_of_all(kinds, count):
    chosen = mirroring([(kind,) for kind in kinds], count)
    assert len(set(chosen)) == len(chosen) == min(count, len(kinds))
    taken, known = Counter(kinds[place] for place in chosen), Counter(kinds)
    for kind in known:
        assert abs(taken[kind] - len(chosen) * known[kind] / len(kinds)) < 2


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["x", "y"])), min_size=2, max_size=30))
def test_more_hold_fewer_and_the_order_of_sites_does_not_matter(things):
    marks = [features(kind, site, "easy") for kind, site in things]
    assert mirroring(marks, 5)[:3] == mirroring(marks, 3)
    assert features("a", ("x", "y"), "easy") == features("a", ("y", "x"), "easy")


def test_a_tenth_of_the_arena_is_a_small_arena():
    kinds = ["retrieve"] * 49 + ["mutate"] * 37 + ["unachievable"] * 13 + ["navigate"] * 4
    chosen = Counter(kinds[place] for place in mirroring([(kind,) for kind in kinds], 10))
    assert 4 <= chosen["retrieve"] <= 6 and 3 <= chosen["mutate"] <= 5 and 1 <= chosen["unachievable"] <= 2
