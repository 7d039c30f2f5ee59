"""Records, errors and the grammar of actions."""

import asyncio
import contextlib
import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.support import samples
from webassay.core.errors import ActionError, BrowserError, Fault, TaskError, boundary
from webassay.core.interaction import ACTIONS, BASIC_ACTIONS, Action, Response, parse_actions
from webassay.core.record import canonical_json, content_hash
from webassay.core.task import Expectation, load_tasks
from webassay.core.trajectory import RowChange, RowsResult

# --- records --------------------------------------------------------------------------------------------


def test_records_are_frozen_and_closed():
    with pytest.raises(ValidationError):
        samples.goal().instruction = "other"
    with pytest.raises(ValidationError, match="surprise"):
        samples.goal(surprise=1)


def test_a_record_read_back_is_equal_and_has_the_same_hash():
    for record in (samples.task(), samples.trajectory(), samples.verdict()):
        again = type(record).from_json(record.to_json())
        assert again == record
        assert again.content_hash() == record.content_hash()


def test_the_hash_follows_the_content_and_not_the_order_of_keys():
    assert content_hash({"a": 1, "b": 2}) == content_hash({"b": 2, "a": 1})
    assert samples.task().content_hash() != samples.task(revision=2).content_hash()
    assert content_hash("\ud800").startswith("sha256:")


def test_not_a_number_has_no_canonical_text():
    with pytest.raises(ValueError, match="JSON"):
        canonical_json(float("nan"))


def test_a_task_without_checks_cannot_be_loaded():
    task = json.loads(samples.task().to_json())
    task["checks"] = []
    with pytest.raises(TaskError, match=r"tasks\.json: 0: .*without checks"):
        load_tasks(json.dumps([task]), "tasks.json")


@pytest.mark.parametrize("field", ["checks", "goal", "id"])
def test_a_bad_task_file_says_where(field):
    task = json.loads(samples.task().to_json())
    task[field] = {"kind": "telepathy"}
    with pytest.raises(TaskError, match=rf"0\.{field}"):
        load_tasks(json.dumps([task]), "tasks.json")
    with pytest.raises(TaskError, match=r"tasks\.json"):
        load_tasks("{", "tasks.json")


def test_goals_are_filled_in_with_the_addresses_of_the_sites():
    goal = samples.goal(start_urls=("__SHOP__/a", "__FORUM__/b"), instruction="See __SHOP__/c")
    at = goal.at({"shop": "http://shop.x.localhost:1/", "forum": "http://forum.x.localhost:1"})
    assert at.start_urls == ("http://shop.x.localhost:1/a", "http://forum.x.localhost:1/b")
    assert at.instruction == "See http://shop.x.localhost:1/c"


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "string"},
        {"type": "string", "value": "a", "pattern": "a"},
        {"type": "list", "value": "a"},
        {"type": "string", "items": []},
        {"type": "object", "value": "a"},
    ],
)
def test_an_expectation_says_one_thing(wrong):
    with pytest.raises(ValidationError):
        Expectation(**wrong)


def test_expectations_of_plain_values():
    made = Expectation.of([{"name": "x", "price": 2}, None])
    assert made.items[0].fields["price"] == Expectation(type="number", value=2)
    assert made.items[1] == Expectation(type="null")
    assert Expectation.of(True).type == "boolean"


# --- errors ---------------------------------------------------------------------------------------------


def test_a_foreign_exception_takes_the_name_of_the_boundary_and_keeps_its_cause():
    with (
        pytest.raises(BrowserError, match="Opening a page: division by zero") as caught,
        boundary(BrowserError, "Opening a page"),
    ):
        1 / 0  # noqa: B018
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    fault = Fault.of(caught.value)
    assert fault.boundary == "BrowserError"
    assert "ZeroDivisionError" in fault.trace


def test_our_own_errors_and_interrupts_pass_through_a_boundary():
    with pytest.raises(TaskError), boundary(BrowserError, "x"):
        raise TaskError("no")
    for passing in (KeyboardInterrupt, asyncio.CancelledError):
        with pytest.raises(passing), boundary(BrowserError, "x"):
            raise passing


# --- actions --------------------------------------------------------------------------------------------


def test_the_first_fifteen_actions_are_the_basic_set():
    assert len(BASIC_ACTIONS) == 15
    assert BASIC_ACTIONS[-2:] == ("send_msg_to_user", "report_infeasible")
    assert len(ACTIONS) == 33


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("click('12')", [("click", {"bid": "12"})]),
        ("click(12)", [("click", {"bid": "12"})]),
        ('fill("a3", "it\'s")', [("fill", {"bid": "a3", "value": "it's"})]),
        ("scroll(0, -200.5)", [("scroll", {"delta_x": 0, "delta_y": -200.5})]),
        ("select_option('1', ['a', 'b'])", [("select_option", {"bid": "1", "options": ["a", "b"]})]),
        ("select_option('1', 'a')", [("select_option", {"bid": "1", "options": ["a"]})]),
        ("click('1', button='right', modifiers=['Shift'])",
         [("click", {"bid": "1", "button": "right", "modifiers": ["Shift"]})]),
        ("fill('1', 'x', True)", [("fill", {"bid": "1", "value": "x", "enable_autocomplete_menu": True})]),
        ("noop()", [("noop", {})]),
        (r"fill('1', '\d')", [("fill", {"bid": "1", "value": r"\d"})]),
        ("click('1')\nfill('2', 'x')", [("click", {"bid": "1"}), ("fill", {"bid": "2", "value": "x"})]),
        ("click('1'); noop(500)", [("click", {"bid": "1"}), ("noop", {"wait_ms": 500})]),
        ("click('1'), noop(500)", [("click", {"bid": "1"}), ("noop", {"wait_ms": 500})]),
        ("  noop ( ) click('1',  )\t# click('2')\n   noop()\n#click('3')",
         [("noop", {}), ("click", {"bid": "1"}), ("noop", {})]),
        ("fill('1', 'a)b(') noop()", [("fill", {"bid": "1", "value": "a)b("}), ("noop", {})]),
        ("fill('1', \"\"\"\n# head\nclick('2')\n\"\"\") noop()",
         [("fill", {"bid": "1", "value": "\n# head\nclick('2')\n"}), ("noop", {})]),
        ("```python\nclick('1')\n```", [("click", {"bid": "1"})]),
        ("Now:\n```\nclick('1')\n```\nthen\n```noop()```\nnot click('2').", [("click", {"bid": "1"}), ("noop", {})]),
        ("Let's do it with click('1'), not tap('2').", [("click", {"bid": "1"})]),
        ("The page is ```<a>```, so click('1')", [("click", {"bid": "1"})]),
    ],
)  # fmt: skip
def test_actions_are_read(text, expected):
    assert [(action.name, action.args) for action in parse_actions(text)] == expected


TEXT = st.text(st.characters(exclude_characters="'\\\x00", exclude_categories=["Cs"]), max_size=30)


@given(TEXT, st.sampled_from(["", "I'll write it down: ", "noop()\n"]), st.sampled_from(["", "\nclick('2')", " Done."]))
def test_a_text_in_quotes_may_run_over_lines(value, before, after):
    found = parse_actions(f"{before}fill('1', '{value}'){after}")
    fills = [action.args["value"] for action in found if action.name == "fill"]
    assert fills == [value]


@given(TEXT)
def test_what_stands_in_a_text_is_never_an_action(value):
    found = parse_actions(f"I'd say fill('1', '\nclick(\"9\")\n{value}') is right.")
    assert [action.name for action in found] == ["fill"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I should look at the orders first.", "There is no action in “I should look at the orders first.”."),
        ("I'd tap('1')", "There is no action 'tap'."),
        ("send_msg_to_user('it's 4')", "send_msg_to_user('it's 4') cannot be read: unterminated string literal."),
        ('{"action": "retrieve"}', "An answer is sent with send_msg_to_user('…')."),
        ("click('12", "click( was never closed."),
    ],
)
def test_what_cannot_be_read_says_why(text, said):
    with pytest.raises(ActionError) as caught:
        parse_actions(text)
    assert said in str(caught.value)
    assert "<unknown>" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "click",
        "click(",
        "fly('1')",
        "click()",
        "click('1', '2', '3', '4')",
        "click(bid='1', bid='2')",
        "click('1', bid='2')",
        "click(x)",
        "click(1.5)",
        "click(True)",
        "click('1', ['left'])",
        "fill('1', 'x', 1)",
        "scroll('a', 1)",
        "scroll(1e999, 1)",
        "scroll(10**9, 1)",
        "__import__('os').system('true')",
        "click(__import__('os'))",
        "click(*['1'])",
        "click(**{'bid': '1'})",
        "x = click('1')",
        "for n in range(3): click('1')",
        "click('1') fly('2')",
        "fill('1', 'it's click(\"2\")')",
        "I'd say click('1'",
        "Let's tap('1')",
        "# click('1')",
        "a" * 90_000 + " '",
        "click(" * 15_000,
        "import os",
        "(lambda: 1)()",
        "click('1' * 10**9)",
        "click('" + "a" * 200_000 + "')",
        "click(" + "[" * 5000 + "]" * 5000 + ")",
        "-" * 5000 + "1",
        "click('\x00')\x00",
        "so click('1') " * 7000,
        "and fill('1', 'a\nb') " * 4500,
    ],
)
def test_nothing_else_is_an_action_and_the_agent_is_told_why(text):
    with pytest.raises(ActionError) as caught:
        parse_actions(text)
    assert 0 < len(caught.value.message) < 1000


def arguments(parameter):
    text = st.text(max_size=30)
    kinds = {
        "id": st.text(string.ascii_letters + string.digits, min_size=1, max_size=6),
        "text": text,
        "number": st.integers(-100_000, 100_000) | st.floats(-1e5, 1e5),
        "choice": st.sampled_from(parameter.choices or ("",)),
        "flag": st.booleans(),
        "texts": st.lists(text, max_size=4),
    }
    return kinds[parameter.kind]


@given(st.data())
def test_what_an_action_prints_reads_back_as_itself(data):
    signature = data.draw(st.sampled_from(list(ACTIONS.values())))
    action = Action.of(signature.name, *[data.draw(arguments(parameter)) for parameter in signature.parameters])
    assert parse_actions(action.text) == (action,)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"send_msg_to_user('\ud83d\ude00')", "\U0001f600"),
        (r"send_msg_to_user('a \ud83d b')", "a \ufffd b"),
        (r"send_msg_to_user(text='\ude00\ud83d')", "\ufffd\ufffd"),
        ("send_msg_to_user('\ud83d\ude00')", "\U0001f600"),
        (r"I say send_msg_to_user('\ud83d\ude00') now", "\U0001f600"),
        (r"select_option('1', ['\ud83d\ude00', '\ud800'])", ["\U0001f600", "\ufffd"]),
    ],
)
def test_two_escapes_of_one_character_are_that_character(text, value):
    (action,) = parse_actions(text)
    assert list(action.args.values())[-1] == value


def test_programs_cannot_bring_half_characters_in_either():
    assert Action.of("send_msg_to_user", "\ud83d\ude00\ud800").get("text") == "\U0001f600\ufffd"
    assert Action.of("select_option", "1", "\ud800").get("options") == ["\ufffd"]


@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_no_text_does_worse_than_an_action_error(text):
    with contextlib.suppress(ActionError):
        parse_actions(text)


# --- responses ------------------------------------------------------------------------------------------


def test_a_response_is_read_by_the_names_of_either_protocol():
    ours = Response.strictly('{"action": "retrieve", "status": "SUCCESS", "results": [1]}')
    theirs = Response.strictly('{"task_type": "retrieve", "status": "SUCCESS", "retrieved_data": [1]}')
    assert ours == theirs
    assert samples.trajectory(answer='{"status": "SUCCESS"}').response.status == "SUCCESS"


@pytest.mark.parametrize("text", ["", "[1]", "42", "prose", "{", "[" * 100_000])
def test_anything_else_is_no_response(text):
    assert Response.strictly(text) is None


# --- rows -------------------------------------------------------------------------------------------------

ROWS = RowsResult(
    site="shop",
    changes=(),
    columns={
        "orders": {"id": "journal", "status": "content", "changed_at": "journal", "views": "telemetry"},
        "sessions": {"id": "telemetry", "seen_at": "telemetry"},
    },
)
ORDER = {"id": 1, "status": "pending", "changed_at": 5, "views": 7}


@pytest.mark.parametrize(
    ("before", "after", "counts"),
    [
        (ORDER, {**ORDER, "status": "canceled"}, True),
        (ORDER, {**ORDER, "changed_at": 6}, False),
        (ORDER, {**ORDER, "views": 8}, False),
        (ORDER, {**ORDER, "unheard_of": 1}, True),
        (None, ORDER, True),
        (None, {"id": 1, "changed_at": 5}, True),
        (ORDER, None, True),
    ],
)
def test_a_change_counts_by_the_class_of_its_columns(before, after, counts):
    change = RowChange(table="orders", key={"id": 1}, before=before, after=after)
    assert ROWS.counts(change) is counts


def test_a_row_of_nothing_but_telemetry_never_counts():
    session = {"id": 1, "seen_at": 2}
    for before, after in ((None, session), (session, None), (session, {**session, "seen_at": 3})):
        assert not ROWS.counts(RowChange(table="sessions", key={"id": 1}, before=before, after=after))


values = st.none() | st.integers(0, 2) | st.sampled_from(("", "a"))
rows = st.none() | st.fixed_dictionaries(dict.fromkeys(("id", "status", "changed_at", "views"), values))


@given(rows, rows)
def test_undoing_a_change_counts_as_much_as_the_change(before, after):
    done = RowChange(table="orders", key={"id": 1}, before=before, after=after)
    undone = RowChange(table="orders", key={"id": 1}, before=after, after=before)
    if before is not None or after is not None:
        assert ROWS.counts(done) == ROWS.counts(undone)
        assert ROWS.differing(done).keys() == ROWS.differing(undone).keys()
