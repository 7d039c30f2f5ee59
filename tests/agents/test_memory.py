"""Memories: what is kept, what is shown, and what is refused."""

from decimal import Decimal
from fractions import Fraction
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webassay.agents.models.memory import (
    MAX_ROWS,
    MEMORIES,
    Memory,
    MemoryName,
    NotesMemory,
    PlanMemory,
    TableMemory,
    WindowMemory,
    number_in,
)
from webassay.agents.models.tools import Call, Toolbox
from webassay.core.errors import ActionError
from webassay.core.interaction import Action
from webassay.llm.replay import ScriptedModel


def started(memory: Memory) -> Any:
    memory.start("the task")
    memory.at("http://a/", 0)
    return memory


def test_notes_are_kept_word_for_word() -> None:
    notes = started(NotesMemory())
    notes.remember(" $10 on 4 January ")
    notes.at("http://b/", 3)
    notes.remember("")
    notes.remember("two\nlines")
    assert notes.show() == "step 0: $10 on 4 January\nstep 3: two\nlines"
    notes.start("another task")
    assert notes.show() == ""


def table() -> TableMemory:
    made: TableMemory = started(TableMemory())
    made.add(
        "posts",
        [
            {"title": "Rain", "comments": 12, "forum": "weather"},
            {"title": "Sun", "comments": "1,200", "forum": "weather"},
            {"title": "Ants", "comments": "$7.50", "forum": "nature"},
        ],
    )
    return made


def test_a_table_counts_filters_and_adds_up() -> None:
    posts = table()
    assert posts.compute("posts", "count") == "count = 3 over 3 rows"
    assert posts.compute("posts", "sum", "comments") == "sum = 1219.5 over 3 rows"
    assert posts.compute("posts", "max", "comments", {"forum": "weather"}) == "max = 1200 over 2 rows"
    assert posts.compute("posts", "count", where={"comments": [">=", 12]}) == "count = 2 over 2 rows"
    assert posts.compute("posts", "count", where={"title": ["contains", "AN"]}) == "count = 1 over 1 rows"
    assert posts.compute("posts", "mean", "comments", by="forum").splitlines()[1:] == ["weather: 606", "nature: 7.5"]
    assert posts.compute("posts", "distinct", "forum").startswith("distinct = 2")
    assert posts.print("posts", sort="-comments", limit=1).splitlines()[1].startswith("title: Sun")
    assert posts.remove("posts", {"forum": "weather"}) == "Table posts: 2 rows removed, 1 left."


def test_a_table_shows_its_shape_and_not_all_its_rows() -> None:
    posts: TableMemory = started(TableMemory())
    posts.add("numbers", [{"n": n} for n in range(600)])
    assert "600 rows, columns n" in posts.show()
    assert len(posts.show().splitlines()) == 4


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda t: t.compute("nothing", "count"), "no table"),
        (lambda t: t.compute("posts", "sum", "title"), "no number in 'Rain'"),
        (lambda t: t.compute("posts", "median", "comments"), "cannot be computed"),
        (lambda t: t.compute("posts", "count", where={"nothing": 1}), "no column"),
        (lambda t: t.compute("posts", "count", where={"title": ["like", "x"]}), "not a comparison operator"),
        (lambda t: t.compute("posts", "count", where="title"), "dictionary"),
        (lambda t: t.add("posts", "a row"), "list of dictionaries"),
        (lambda t: t.add("posts", [{"a": [1]}]), "short text"),
        (lambda t: t.add("posts", [{}] * (MAX_ROWS + 1)), "at most"),
        (lambda t: t.remove("posts", {}), "needs a condition"),
    ],
)
def test_what_a_table_cannot_do_is_told_to_the_agent(call: Any, told: str) -> None:
    with pytest.raises(ActionError, match=told):
        call(table())


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">="])
@pytest.mark.parametrize("odd", ["n/a", None, "3 stars", True])
def test_more_and_less_than_a_number_is_asked_of_numbers_only(sign: str, odd: Any) -> None:
    reviews: TableMemory = started(TableMemory())
    reviews.add("reviews", [{"stars": 5}, {"stars": odd}, {"stars": 2}, {"author": "Ana"}])
    with pytest.raises(ActionError, match=rf"stars {sign} 3: {odd!r} is not a number.*table_remove"):
        reviews.compute("reviews", "count", where={"stars": [sign, 3]})
    assert reviews.compute("reviews", "count", where={"stars": odd}) == "count = 1 over 1 rows"
    assert reviews.compute("reviews", "count", where={"stars": ["!=", 5]}) == "count = 2 over 2 rows"
    reviews.remove("reviews", {"stars": odd})
    assert reviews.compute("reviews", "count", where={"stars": [sign, 3]}) == "count = 1 over 1 rows"


def test_texts_are_compared_by_alphabet_and_not_with_numbers() -> None:
    days: TableMemory = started(TableMemory())
    days.add("days", [{"day": "2023-05-02"}, {"day": "2023-04-30"}])
    assert days.compute("days", "count", where={"day": [">", "2023-05-01"]}) == "count = 1 over 1 rows"
    days.add("days", {"day": 2023})
    with pytest.raises(ActionError, match="'2023-05-01' is not a number"):
        days.compute("days", "count", where={"day": [">", "2023-05-01"]})


def test_a_limit_and_an_order_that_make_no_sense_are_refused() -> None:
    box = Toolbox.of(table().tools())
    for wrong in ({"limit": float("inf")}, {"sort": 5}):
        with pytest.raises(ActionError, match="wrong way"):
            box.use(Call("table_show", ("posts",), wrong))


@given(st.lists(st.decimals(-(10**6), 10**6, places=2), min_size=1, max_size=30))
def test_the_sum_of_a_column_is_exact(values: list[Decimal]) -> None:
    memory: TableMemory = started(TableMemory())
    memory.add("t", [{"v": str(value)} for value in values])
    shown = memory.compute("t", "sum", "v").split()[2]
    assert Fraction(shown) == sum(Fraction(value) for value in values)


@given(st.lists(st.integers(-50, 50), max_size=30), st.integers(-50, 50))
def test_conditions_split_a_table_in_two(values: list[int], edge: int) -> None:
    memory: TableMemory = started(TableMemory())
    memory.add("t", [{"v": value} for value in values])
    below = memory.compute("t", "count", where={"v": ["<", edge]}).split()[2]
    rest = memory.compute("t", "count", where={"v": [">=", edge]}).split()[2]
    assert int(below) + int(rest) == len(values)


@pytest.mark.parametrize(
    ("cell", "number"),
    [(3, 3), ("3", 3), ("1,234.50", 1234.5), ("-$5", -5), ("3 stars", None), (True, None), (None, None), ("nan", None)],
)
def test_numbers_in_cells(cell: Any, number: float | None) -> None:
    assert number_in(cell) == (None if number is None else Fraction(number))


async def test_a_window_stays_bounded_and_asks_now_and_then() -> None:
    window: WindowMemory = started(WindowMemory(keep=3, slack=2))
    model = ScriptedModel.of(["SUMMARY A", "SUMMARY B"])
    for step in range(9):
        window.at("http://a/", step)
        window.remember(f"note {step}")
        await window.tidy(model)
    assert len(model.asked) == 2
    assert "note 0" in model.asked[0].messages[0].text
    assert "SUMMARY A" in model.asked[1].messages[0].text
    assert window.summary == "SUMMARY B"
    assert [text for _, text in window.recent] == ["note 6", "note 7", "note 8"]
    assert window.show().startswith("Summary of everything before: SUMMARY B\nstep 6")


async def test_an_empty_summary_loses_nothing() -> None:
    window: WindowMemory = started(WindowMemory(keep=1, slack=0))
    window.remember("a")
    window.remember("b")
    await window.tidy(ScriptedModel.of([" "]))
    assert [text for _, text in window.recent] == ["a", "b"]


def test_plans_as_a_memory_of_any_agent() -> None:
    memory: PlanMemory = started(PlanMemory())
    box = Toolbox.of(memory.tools())
    box.use(Call("plan_branch", (0, "try the search"), {}))
    memory.at("http://b/", 1)
    memory.remember("the search is broken")
    back = box.use(Call("plan_prune", (0, "search broken"), {}))
    assert back.actions == (Action.of("goto", "http://a/"),)
    assert "given up below: search broken" in memory.show()
    assert "try the search" not in memory.show()
    with pytest.raises(ActionError, match="no plan"):
        box.use(Call("plan_prune", (1, "hidden"), {}))
    with pytest.raises(ActionError, match="wrong way"):
        box.use(Call("plan_branch", ("zero", "x"), {}))


def test_memories_by_name() -> None:
    assert tuple(MEMORIES) == get_args(MemoryName)
    for name, make in MEMORIES.items():
        assert make().kind == name
        assert make().guide()
