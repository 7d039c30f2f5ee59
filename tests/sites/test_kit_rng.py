from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webassay.sites.rng import Stream

SEEDS = st.integers(min_value=0, max_value=2**80)
PATHS = st.lists(st.one_of(st.text(max_size=5), st.integers()), max_size=4)


def test_values_never_change() -> None:
    """Every world's data hangs on these: a change here is a change of every pinned checksum."""
    stream = Stream(7, "products", 3)
    assert [stream.below(1000) for _ in range(8)] == [160, 729, 373, 860, 26, 435, 509, 167]
    assert [stream.long_tail(1000) for _ in range(8)] == [447, 107, 1, 1, 599, 156, 55, 938]
    assert stream.shuffled("abcdef") == ["a", "f", "d", "c", "e", "b"]


@given(SEEDS, PATHS, st.integers(min_value=1, max_value=2**64))
def test_below_stays_below(seed: int, path: list[str | int], n: int) -> None:
    stream = Stream(seed, *path)
    assert all(0 <= stream.below(n) < n for _ in range(20))


@given(SEEDS, PATHS, st.integers(min_value=0, max_value=20))
def test_a_child_does_not_depend_on_what_was_drawn_before(seed: int, path: list[str | int], drawn: int) -> None:
    used = Stream(seed)
    for _ in range(drawn):
        used.below(10)
    assert [used.child(*path).below(2**64)] == [Stream(seed, *path).below(2**64)]


def test_paths_are_told_apart() -> None:
    paths: list[tuple[str | int, ...]] = [("a", "b"), ("ab",), ("a", "b", ""), (1,), ("1",), ("a, 'b'",), ()]
    assert len({Stream(0, *path).below(2**64) for path in paths}) == len(paths)


@pytest.mark.parametrize("n", [2, 3, 7, 10])
def test_every_value_is_equally_likely(n: int) -> None:
    stream = Stream(1, "fair", n)
    counts = Counter(stream.below(n) for _ in range(60_000))
    expected = 60_000 / n
    chi_square = sum((counts[value] - expected) ** 2 / expected for value in range(n))
    assert chi_square < 30  # Far beyond the 99.9th percentile of up to 9 degrees of freedom.


def test_rejection_keeps_large_ranges_fair() -> None:
    """Without drawing again, every third value of this range would come up twice as often as the others."""
    n = 3 * 2**62
    stream = Stream(2)
    thirds = Counter(stream.below(n) % 3 for _ in range(30_000))
    assert all(9_700 < thirds[third] < 10_300 for third in range(3))


@given(SEEDS, st.lists(st.integers(), max_size=30), st.data())
def test_samples_are_places_of_the_sequence(seed: int, items: list[int], data: st.DataObject) -> None:
    k = data.draw(st.integers(min_value=0, max_value=len(items)))
    drawn = Stream(seed).sample(items, k)
    assert len(drawn) == k
    assert not Counter(drawn) - Counter(items)
    assert sorted(Stream(seed).shuffled(items)) == sorted(items)


def test_weights_and_chances() -> None:
    stream = Stream(3)
    counts = Counter(stream.weighted([("never", 0), ("rare", 1), ("often", 9)]) for _ in range(10_000))
    assert counts["never"] == 0
    assert 900 < counts["rare"] < 1_100
    assert 2_400 < sum(stream.chance(1, 4) for _ in range(10_000)) < 2_600
    assert {stream.between(-2, 2) for _ in range(200)} == {-2, -1, 0, 1, 2}


@pytest.mark.parametrize("n", [1, 2, 7, 64, 1000])
def test_the_tail_is_long_and_whole(n: int) -> None:
    stream = Stream(4, n)
    counts = Counter(stream.long_tail(n) for _ in range(40_000))
    assert set(counts) <= set(range(n))
    assert len(counts) > n * 0.9
    if n >= 64:
        assert counts[0] > 4 * counts[7] > 0
        assert sum(count for place, count in counts.items() if place >= n // 2) > 1_000


def test_nonsense_is_refused() -> None:
    for nonsense in (
        lambda s: s.below(0),
        lambda s: s.below(2**64 + 1),
        lambda s: s.sample([1], 2),
        lambda s: s.long_tail(0),
    ):
        with pytest.raises(ValueError):
            nonsense(Stream(0))
    with pytest.raises(ValueError):
        Stream(0).choice([])
