"""Summaries are read by two roads, a quick one and a patient one, that lead to the same place."""

import json

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from webassay.core.summary import UnitSummary, read_trajectory_summary, read_unit_summary

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
NAMES = st.sampled_from(UnitSummary.__struct_fields__) | st.text(max_size=8)


@given(st.dictionaries(NAMES, ANYTHING, max_size=8))
@example({"seed": True})
@example({"seed": 7.0})
@example({"seed": 10**30})
@example({"sites": ["shop", 3]})
@example({"baseline": None, "kind": None})
@example({"groups": {"shelf": ["top", 3], "odd": "x"}})
@example({"baseline": 1})
def test_whatever_the_metadata_holds_both_roads_agree(metadata):
    assert read_unit_summary(json.dumps(metadata).encode()) == UnitSummary.told(metadata)


@pytest.mark.parametrize("field", ["steps", "errors", "retries", "retries_that_worked", "input_tokens"])
@pytest.mark.parametrize("count", [-1, 10**16, 10**400])
def test_a_count_that_no_column_holds_is_refused_where_it_is_read(field: str, count: int) -> None:
    told = {"agent": "a", "task_id": "t", "ending": "answered", field: count}
    with pytest.raises(msgspec.ValidationError, match=field):
        read_trajectory_summary(json.dumps(told).encode())
