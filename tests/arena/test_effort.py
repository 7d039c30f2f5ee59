"""How long, how hard, and where an agent is stopped."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webassay.arena.kit.effort import DIFFICULTIES, STEP_LIMITS, Effort, pages_of
from webassay.core.errors import TaskError

lengths = st.integers(1, STEP_LIMITS[-1] // 2)
efforts = st.builds(Effort, st.integers(1, 1000), st.integers(1, 100), lengths, lengths)


@given(efforts, efforts)
def test_more_of_everything_is_never_easier(one, other):
    both = Effort(max(one.rows, other.rows), max(one.pages, other.pages), max(one.steps, other.steps))
    for sites in (1, 2, 3):
        levels = [DIFFICULTIES.index(effort.difficulty(sites)) for effort in (one, both)]
        assert levels == sorted(levels)
    assert DIFFICULTIES.index(one.difficulty(1)) <= DIFFICULTIES.index(one.difficulty(2))


@given(efforts)
def test_the_highest_difficulty_is_a_long_list_on_many_pages_and_nothing_else(effort):
    for sites in (1, 3):
        assert (effort.difficulty(sites) == "extreme") == (effort.rows >= 200 and effort.pages >= 10)


@given(efforts)
def test_the_limit_is_one_of_few_and_twice_what_the_longest_route_takes(effort):
    assert effort.step_limit in STEP_LIMITS
    assert effort.step_limit >= 2 * max(effort.steps, effort.longest)


def test_a_route_that_is_too_long_for_any_limit_is_refused():
    with pytest.raises(TaskError, match="241 steps is too long"):
        _ = Effort(1, 1, 3, longest=241).step_limit


@given(st.integers(0, 1000), st.integers(1, 40))
def test_pages_hold_all_rows_and_none_is_empty(rows, size):
    count = pages_of(rows, size)
    assert (count - 1) * size < max(rows, 1) <= count * size
