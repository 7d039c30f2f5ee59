"""The wrappers around a model: retries, limits, the spend cap, the cache and JSON answers."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webassay.core.errors import BudgetError, InputError, ModelError
from webassay.core.interaction import Usage
from webassay.llm.client import (
    PRESETS,
    PROVIDERS_CHOICE,
    Budget,
    Image,
    Message,
    Patience,
    Question,
    Reply,
    Settings,
    Unavailable,
    UnusableReply,
    add_usage,
    ask_json,
    assemble,
    budgeted,
    cached,
    close,
    configured,
    for_trial,
    limited,
    model_of,
    preset,
    read_json,
    reply_from_json,
    reply_to_json,
    request_hash,
    retrying,
)
from webassay.llm.replay import Act, ScriptedModel

HELLO = [Message.user("hello")]


class Naps:
    """Stands in for sleeping; remembers how long."""

    def __init__(self) -> None:
        self.taken: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)
        await asyncio.sleep(0)


# --- settings -------------------------------------------------------------------------------------------


def test_presets_are_those_of_the_papers_appendix() -> None:
    assert preset("generic/gpt-4o") == Settings(temperature=0.1, max_tokens=2000)
    assert preset("occam/gpt-4o") == Settings(temperature=0.5, top_p=0.95, max_tokens=128_000)
    assert preset("occam/claude-3.7-sonnet") == Settings(temperature=0.95, top_p=0.95, max_tokens=4096)
    assert preset("generic/gemini-2.5-pro") == Settings(temperature=0.1, top_p=0.95, max_tokens=8000)
    assert preset("generic/gpt-5").reasoning_effort == "medium"
    assert {name.split("/")[0] for name in PRESETS} == {"generic", "occam"}
    with pytest.raises(InputError, match="no preset"):
        preset("generic/nobody")


@pytest.mark.parametrize("own", [0.7, 0.0])
async def test_configured_fills_in_only_what_is_not_set(own):
    model = ScriptedModel.of(["a"])
    await configured(model, Settings(temperature=0.1, max_tokens=9)).ask(HELLO, settings=Settings(temperature=own))
    assert model.asked[0].settings == Settings(temperature=own, max_tokens=9)


# --- retries --------------------------------------------------------------------------------------------


async def test_retry_after_is_honoured_to_the_second() -> None:
    naps = Naps()
    model = ScriptedModel.of([Act(status=429, retry_after=7.0), Act(status=503), "fine"])
    reply = await retrying(model, Patience(sleep=naps)).ask(HELLO)
    assert reply.text == "fine"
    assert reply.raw["attempts"] == 3
    assert naps.taken[0] == 7.0
    assert 1.0 <= naps.taken[1] <= 2.0  # second back-off: 2 s, less at most half for jitter


async def test_retries_are_bounded_by_number() -> None:
    naps = Naps()
    model = ScriptedModel.of([Act(status=500, times=99)])
    with pytest.raises(ModelError, match="after 3 attempts"):
        await retrying(model, Patience(attempts=3, sleep=naps)).ask(HELLO)
    assert len(model.asked) == 3


async def test_retries_are_bounded_by_time_and_never_sleep_for_nothing() -> None:
    naps = Naps()
    model = ScriptedModel.of([Act(status=429, retry_after=4000, times=99)])
    with pytest.raises(ModelError, match="after 1 attempt and 0 s of waiting"):
        await retrying(model, Patience(sleep=naps)).ask(HELLO)
    assert naps.taken == []


async def test_what_will_never_work_is_not_tried_again() -> None:
    model = ScriptedModel.of([Act(status=401, text="bad key"), "never"])
    with pytest.raises(ModelError, match="bad key"):
        await retrying(model, Patience(sleep=Naps())).ask(HELLO)
    assert len(model.asked) == 1


# --- limits ---------------------------------------------------------------------------------------------


async def test_no_more_questions_at_once_than_allowed() -> None:
    now, most = 0, 0

    async def count(question: Question) -> Reply:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0)
        now -= 1
        return Reply("ok")

    model = limited(model_of("counting", count), concurrency=3)
    await asyncio.gather(*(model.ask(HELLO) for _ in range(12)))
    assert most == 3


# --- the spend cap --------------------------------------------------------------------------------------


def priced(usd: float | None) -> Act:
    return Act(text="x", usage=Usage(calls=1, input_tokens=10, output_tokens=5, cost_usd=usd), times=99)


async def test_the_spend_cap_stops_before_the_next_question() -> None:
    budget = Budget(usd=0.25)
    inner = ScriptedModel.of([priced(0.1)])
    model = budgeted(inner, budget)
    for _ in range(2):
        await model.ask(HELLO)
    with pytest.raises(BudgetError, match=r"\$0.25"):
        await model.ask(HELLO)
    assert len(inner.asked) == 2
    assert budget.spent.cost_usd == pytest.approx(0.2)


async def test_a_cap_can_be_spent_to_the_last_cent() -> None:
    model = budgeted(ScriptedModel.of([priced(0.1)]), Budget(usd=1.0))
    for _ in range(10):
        await model.ask(HELLO)
    with pytest.raises(BudgetError, match=r"\$1"):
        await model.ask(HELLO)


@pytest.mark.parametrize("known", [True, False])
async def test_many_at_once_do_not_run_through_the_cap(known: bool) -> None:
    budget = Budget(usd=1.0)
    act = priced(0.4).model_copy(update={"delay": 0.001})
    model = budgeted(ScriptedModel.of([act]), budget)
    if known:
        await model.ask(HELLO)
    results = await asyncio.gather(*(model.ask(HELLO) for _ in range(20)), return_exceptions=True)
    assert sum(isinstance(result, BudgetError) for result in results) == 20 - 2 + known
    assert budget.spent.cost_usd == pytest.approx(0.8)


async def test_a_cap_in_dollars_needs_a_price() -> None:
    model = budgeted(ScriptedModel.of([priced(None)]), Budget(usd=5))
    with pytest.raises(BudgetError, match="not known"):
        await model.ask(HELLO)


async def test_tokens_and_calls_can_be_capped_too() -> None:
    by_tokens = budgeted(ScriptedModel.of([priced(None)]), Budget(tokens=30))
    for _ in range(2):
        await by_tokens.ask(HELLO)
    with pytest.raises(BudgetError, match="30 tokens"):
        await by_tokens.ask(HELLO)
    by_calls = budgeted(ScriptedModel.of([priced(None)]), Budget(calls=1))
    await by_calls.ask(HELLO)
    with pytest.raises(BudgetError, match="1 calls"):
        await by_calls.ask(HELLO)


def test_an_unknown_cost_makes_the_sum_unknown() -> None:
    assert add_usage([Usage(cost_usd=1.0), Usage()]).cost_usd is None
    assert add_usage([]).cost_usd == 0


# --- the cache ------------------------------------------------------------------------------------------


async def test_the_cache_answers_without_asking_and_without_cost(tmp_path: Path) -> None:
    inner = ScriptedModel.of([priced(0.5)])
    budget = Budget(usd=10)
    model = cached(budgeted(inner, budget), tmp_path)
    first = await model.ask(HELLO)
    second = await cached(budgeted(inner, budget), tmp_path).ask(HELLO)
    assert (first.cached, second.cached) == (False, True)
    assert second.text == first.text
    assert second.usage.cost_usd == 0.0
    assert len(inner.asked) == 1
    assert budget.spent.cost_usd == 0.5


@pytest.mark.parametrize(
    "change",
    [
        {"messages": [Message.user("hello", Image(b"1"))]},
        {"messages": [Message.system("hello")]},
        {"schema": {"type": "object"}},
        {"settings": Settings(seed=2)},
        {"purpose": "vote 2"},
    ],
)
async def test_anything_that_could_change_the_answer_is_another_entry(tmp_path: Path, change: dict[str, Any]) -> None:
    model = cached(ScriptedModel.of(["one", "two"]), tmp_path)
    await model.ask(HELLO)
    question: dict[str, Any] = {"messages": HELLO, **change}
    assert (await model.ask(question.pop("messages"), **question)).text == "two"


async def test_trials_do_not_share_answers_and_the_first_one_reads_old_caches(tmp_path: Path) -> None:
    inner = ScriptedModel.of(["one", "two", "three"])
    await cached(inner, tmp_path).ask(HELLO)
    model = assemble(inner, folder=tmp_path, budget=Budget(calls=2))
    said = [(await for_trial(model, trial).ask(HELLO)).text for trial in (0, 1, 2, 1, 0)]
    assert said == ["one", "two", "three", "two", "one"]
    assert len(inner.asked) == 3
    with pytest.raises(BudgetError):  # the budget is shared by all trials
        await for_trial(model, 3).ask(HELLO)


async def test_a_salt_is_never_lost_silently(tmp_path: Path) -> None:
    bare = ScriptedModel.of(["one"])
    assert for_trial(bare, 2) is bare
    with pytest.raises(TypeError, match="before anything is wrapped"):
        for_trial(configured(cached(bare, tmp_path), Settings(seed=1)), 2)


# --- all of it --------------------------------------------------------------------------------------------


async def test_the_stack_is_in_the_right_order(tmp_path: Path) -> None:
    naps, budget = Naps(), Budget(usd=0.5)
    inner = ScriptedModel.of([Act(status=503), priced(0.5)])
    model = assemble(inner, folder=tmp_path, budget=budget, concurrency=1, patience=Patience(sleep=naps))
    first, second = [await model.ask(HELLO) for _ in range(2)]
    # One failure and one answer: retried, charged once, and free the second time, even when the money is gone.
    assert (first.raw["attempts"], len(naps.taken), budget.spent.cost_usd) == (2, 1, 0.5)
    assert (second.cached, len(inner.asked)) == (True, 2)
    with pytest.raises(BudgetError):
        await model.ask([Message.user("another")])


async def test_waiting_for_a_retry_keeps_nobody_from_asking() -> None:
    """With one slot, a question that waits lets the next one through."""
    order: list[str] = []
    waits = asyncio.Event()

    async def answer(question: Question) -> Reply:
        order.append(question.messages[0].text)
        if order == ["slow"]:
            raise Unavailable("busy")
        return Reply("ok")

    async def sleep(seconds: float) -> None:
        await waits.wait()

    model = assemble(model_of("m", answer), concurrency=1, patience=Patience(sleep=sleep))
    slow = asyncio.create_task(model.ask([Message.user("slow")]))
    await asyncio.sleep(0)
    await model.ask([Message.user("quick")])
    waits.set()
    await slow
    assert order == ["slow", "quick", "slow"]


async def test_without_a_folder_there_is_no_cache() -> None:
    model = assemble(ScriptedModel.of(["one", "two"]))
    assert [(await model.ask(HELLO)).text for _ in range(2)] == ["one", "two"]


async def test_closing_reaches_the_model_under_all_wrappers(tmp_path: Path) -> None:
    closed: list[str] = []

    class Open(ScriptedModel):
        async def close(self) -> None:
            closed.append(self.name)

    await close(configured(assemble(Open.of([]), folder=tmp_path, budget=Budget()), Settings(seed=1)))
    assert closed == ["scripted"]


async def test_a_question_is_kept_as_it_was_asked() -> None:
    model, talk = ScriptedModel.of(["a", "b"]), [Message.user("one")]
    await model.ask(talk)
    talk.append(Message.user("two"))
    await model.ask(talk)
    assert [len(question.messages) for question in model.asked] == [1, 2]


# --- replies ----------------------------------------------------------------------------------------------


@given(st.text(st.characters(), max_size=20), st.text(st.characters(), max_size=20))
def test_a_reply_can_always_be_stored(text: str, thinking: str) -> None:
    reply = Reply(text, raw={"thinking": thinking, "number": float("nan")})
    again = reply_from_json(json.loads(json.dumps(reply_to_json(reply), ensure_ascii=False).encode()))
    assert again == reply
    if text.isascii():
        assert reply.text == text


def test_a_reply_is_bounded_and_joined() -> None:
    assert Reply("\ud83d\ude00 \ud800").text == "😀 �"
    assert Reply("x" * 5_000_000).text.endswith("[cut: 5,000,000 characters, 4,000,000 kept]")


async def test_a_torn_cache_entry_is_asked_again(tmp_path: Path) -> None:
    model = cached(ScriptedModel.of(["one", "two"]), tmp_path)
    await model.ask(HELLO)
    (entry,) = tmp_path.rglob("*.json")
    entry.write_text('{"text": "on', encoding="utf-8")
    assert (await model.ask(HELLO)).text == "two"
    assert json.loads(entry.read_text(encoding="utf-8"))["text"] == "two"


async def test_errors_are_not_cached(tmp_path: Path) -> None:
    model = cached(ScriptedModel.of([Act(status=400), "fine"]), tmp_path)
    with pytest.raises(ModelError):
        await model.ask(HELLO)
    assert (await model.ask(HELLO)).text == "fine"


def test_the_hash_of_a_question_tells_parts_from_messages() -> None:
    one = Question([Message.user("a", "b")], None, PROVIDERS_CHOICE, "")
    two = Question([Message.user("a"), Message.user("b")], None, PROVIDERS_CHOICE, "")
    assert request_hash("m", one) != request_hash("m", two)


# --- JSON answers ---------------------------------------------------------------------------------------

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


async def test_a_bad_answer_is_repaired_with_its_error_in_view() -> None:
    model = ScriptedModel.of(["no json here", '{"n": "seven"}', 'Sure:\n```json\n{"n": 7}\n```'])
    value, replies = await ask_json(model, HELLO, schema=NUMBER)
    assert value == {"n": 7}
    assert len(replies) == 3
    assert "no JSON object" in model.asked[1].messages[-1].text
    assert "integer" in model.asked[2].messages[-1].text
    assert model.asked[2].messages[-2] == Message.assistant('{"n": "seven"}')


async def test_repair_is_bounded_and_keeps_the_evidence() -> None:
    model = ScriptedModel.of([Act(text="{}", times=99)])
    with pytest.raises(UnusableReply, match="2 replies") as caught:
        await ask_json(model, HELLO, schema=NUMBER, attempts=2)
    assert [reply.text for reply in caught.value.replies] == ["{}", "{}"]


async def test_the_callers_own_check_may_refuse_or_improve() -> None:
    def even(value: Any) -> int:
        if value["n"] % 2:
            raise ValueError("n must be even")
        return int(value["n"])

    model = ScriptedModel.of(['{"n": 1}', '{"n": 2}'])
    value, _ = await ask_json(model, HELLO, validate=even)
    assert value == 2
    assert "n must be even" in model.asked[1].messages[-1].text


async def test_an_answer_cut_at_the_limit_is_told_so() -> None:
    model = ScriptedModel.of([Act(text='{"n": 1', finish_reason="length"), '{"n": 1}'])
    await ask_json(model, HELLO, schema=NUMBER)
    assert "cut off" in model.asked[1].messages[-1].text


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_bare_json_reads_as_itself(value: Any) -> None:
    assert read_json(json.dumps(value)) == value


@given(st.dictionaries(st.text(max_size=5), json_values, max_size=3), st.text("abc .:\n", max_size=20))
def test_json_in_prose_is_found(value: Any, prose: str) -> None:
    assert read_json(f"{prose}```json\n{json.dumps(value)}\n```{prose}") == value


def test_deeply_nested_json_is_refused_not_crashed_on() -> None:
    with pytest.raises(ValueError, match="no JSON"):
        read_json("[" * 100_000)
