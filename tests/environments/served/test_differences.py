"""What differs between two states, as rows."""

from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webassay.environments.differences import ORDER, column_classes, differences, is_journal, same, undone

ROW = st.fixed_dictionaries(
    {"text": st.text(max_size=2), "tags": st.lists(st.text(max_size=1), max_size=2)},
    optional={"done": st.booleans(), "by": st.fixed_dictionaries({"name": st.text(max_size=1)})},
)
TABLE = st.lists(ROW, max_size=4).flatmap(
    lambda rows: st.permutations(range(9)).map(
        lambda ids: [{"id": number, **row} for number, row in zip(ids, rows, strict=False)]
    )
)
INNER = st.fixed_dictionaries({"lists": TABLE.map(lambda rows: [{**row, "steps": [{"id": 1, **row}]} for row in rows])})
STATE = st.fixed_dictionaries(
    {
        "chores": TABLE,
        "settings": st.dictionaries(st.sampled_from("abc"), st.integers(0, 2)),
        "count": st.integers(0, 2),
    },
    optional={"inner": INNER, "note": st.none() | st.text(max_size=2)},
)


@given(STATE)
def test_nothing_differs_from_itself(state):
    assert differences(state, state) == []


@given(STATE, STATE)
def test_without_all_changes_everything_is_as_it_was(before, after):
    """Apart from the order of tables, which has no place of its own to go back to."""
    back = reduce(undone, differences(before, after), after)
    left = differences(before, back)
    assert all(column.startswith(ORDER) for one in left for column in {**one.row.before, **one.row.after}), left


@given(STATE, STATE)
def test_each_change_is_named_once(before, after):
    found = differences(before, after)
    assert len({(one.row.table, str(one.row.key)) for one in found}) == len(found)
    assert bool(found) == (not same(before, after))


def test_rows_read_like_those_of_a_site():
    before = {"mails": [{"id": 1, "read": False, "from": {"name": "A"}}, {"id": 2, "read": True}], "folders": {"x": {}}}
    after = {
        "mails": [{"id": 2, "read": True}, {"id": 1, "read": True, "from": {"name": "B"}}, {"id": 3}],
        "folders": {},
    }
    found = [(one.row.operation, one.row.table, one.row.key, one.row.before, one.row.after)
             for one in differences(before, after)]  # fmt: skip
    assert found == [
        ("update", "mails.from", {"mails.id": 1}, {"name": "A"}, {"name": "B"}),
        ("update", "mails", {"id": 1}, {"read": False}, {"read": True}),
        ("insert", "mails", {"id": 3}, None, {"id": 3}),
        ("delete", "folders.x", {}, {}, None),
        ("update", "state", {}, {f"{ORDER} mails": [1, 2]}, {f"{ORDER} mails": [2, 1]}),
    ]


def test_a_table_is_identified_by_what_all_of_its_rows_have():
    before = {"t": [{"id": 1, "uuid": "a", "n": 1}, {"uuid": "b", "n": 1}]}
    after = {"t": [{"id": 1, "uuid": "a", "n": 1}, {"uuid": "b", "n": 2}]}
    (change,) = differences(before, after)
    assert (change.row.table, change.row.key, change.row.after) == ("t", {"uuid": "b"}, {"n": 2})
    assert undone(after, change) == before


def test_an_order_is_undone_by_what_identified_the_rows():
    before = {"t": [{"uuid": "a"}, {"id": 2, "uuid": "b"}]}
    after = {"t": [{"id": 2, "uuid": "b"}, {"id": 1, "uuid": "a"}]}
    order = next(one for one in differences(before, after) if not one.way)
    assert [row["uuid"] for row in undone(after, order)["t"]] == ["a", "b"]


STAMPS = ["updatedAt", "updated_at", "lastModified", "createdOn", "_nextEmailId", "nextId", "timestamp", "lastLogin"]
CONTENT = ["due_date", "snoozeUntil", "date", "seen", "lastName", "opened", "startTime", "nextStep", "used",
           "scheduledAt", "", "next", "last", "active", "id"]  # fmt: skip


@pytest.mark.parametrize("name", STAMPS + CONTENT)
def test_stamps_and_counters_are_known_by_their_names(name):
    assert is_journal(name) is (name in STAMPS)


def test_an_application_may_name_more_of_them():
    found = differences({"a": {"views": 1, "b": 1}}, {"a": {"views": 2, "b": 2}})
    assert column_classes(found, ["views"]) == {"a": {"views": "journal", "b": "content"}}
    assert same({"views": 1}, {"views": 2}, ["views"]) and not same({"views": 1}, {"views": 2})
