"""Both agents against a scripted model over a real socket and a real browser, through everything that goes wrong."""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio

from tests.support.agent_pages import occam_reply, tagged
from tests.support.toy import Lines, Place, serving
from webassay.agents.models.generic import Generic
from webassay.agents.models.occam import Occam
from webassay.browser.devtools.chromium import find_chromium
from webassay.browser.session import Browser
from webassay.core.errors import BudgetError
from webassay.core.trajectory import Trajectory
from webassay.llm.client import Budget, Model, Patience, assemble, close
from webassay.llm.providers import Price, connect
from webassay.llm.replay import Act, ReplayServer, Script, replaying

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

QUICK = Patience(first=0.01, ceiling=0.02)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def place() -> AsyncIterator[Place]:
    with serving() as base:
        async with Browser(find_chromium()) as browser:
            yield Place(browser, base)


@asynccontextmanager
async def model_for(lines: Lines, budget: Budget | None = None) -> AsyncIterator[tuple[Model, ReplayServer]]:
    """Every layer that a real run has, on a real socket."""
    async with replaying(Script(lines)) as server:
        model = connect(f"openai:toy@{server.url}", env={}, price=Price(input=1.0, output=2.0))
        yield assemble(model, budget=budget or Budget(), concurrency=2, patience=QUICK), server
        await close(model)


def element(role: str, name: str, question: str) -> str:
    """The id of an element in the last page that was shown, in either notation."""
    found = re.findall(rf"\[(\w+)\] {role} '{name}'|{role} \[(\w+)\] '{name}'", question)
    assert found, f"no {role} {name!r} in the prompt"
    return "".join(found[-1])


def click(role: str, name: str, **rest: str) -> Callable[[str], str]:
    return lambda question: tagged(f"click('{element(role, name, question)}')", **rest)


def occam_click(role: str, name: str, before: str = "") -> Callable[[str], str]:
    def line(question: str) -> str:
        bid = element(role, name, question)
        return occam_reply(f"{before}click [{bid}]", highlight=bid)

    return line


ANSWER = tagged("send_msg_to_user('$42.00')")


def errors(trajectory: Trajectory) -> list[str]:
    return [step.error for step in trajectory.steps if step.error]


async def test_generic_solves_the_task_and_records_it(place: Place) -> None:
    lines = Lines(
        [
            click("link", "My orders", think="The orders are there."),
            click("link", "Next", memory="189: $25.50, 191: $4.50"),
            ANSWER,
        ]
    )
    async with model_for(lines) as (model, server):
        trajectory = await place.play(Generic(model))
    assert (trajectory.ending.kind, trajectory.answer) == ("answered", "$42.00")
    assert errors(trajectory) == []
    assert [step.seen.title for step in trajectory.steps] == ["Home", "Orders", "Orders"]
    assert trajectory.steps[1].memory == "step 1: 189: $25.50, 191: $4.50"
    assert "189: $25.50, 191: $4.50" in lines.asked[2]
    assert trajectory.agent.model == f"openai:toy@{server.url}"
    assert "generic_user.md" in trajectory.agent.prompts
    for step in trajectory.steps:
        assert step.usage is not None and (step.usage.cost_usd or 0) > 0
        assert step.raw and step.info["prompt_hash"]


async def test_occam_plans_notes_prunes_and_solves(place: Place) -> None:
    lines = Lines(
        [
            occam_reply("branch [0] [Use the search]"),
            lambda q: occam_reply(f"type [{element('textbox', 'Search', q)}] [total] [1]"),
            occam_reply("note [The search finds nothing]"),
            occam_reply("prune [0] [The search finds nothing]"),
            occam_click("link", "My orders"),
            occam_click("link", "Next", before="note [Page 1: $30]\n"),
            occam_reply("stop [$42.00]"),
        ]
    )
    async with model_for(lines) as (model, _):
        trajectory = await place.play(Occam(model))
    assert (trajectory.ending.kind, trajectory.answer) == ("answered", "$42.00")
    assert errors(trajectory) == []
    titles = [step.seen.title for step in trajectory.steps]
    # Pruning really goes back: after the search's page, the page where plan 0 was made is in front again.
    assert titles == ["Home", "Home", "Search", "Search", "Home", "Orders", "Orders"]
    assert "note: STEP 2: The search finds nothing" in trajectory.steps[2].memory
    assert "given up below: The search finds nothing" in trajectory.steps[3].memory
    assert "Page 1: $30" in trajectory.steps[6].memory
    plans = trajectory.steps[6].info["plans"]
    assert len(plans) == 2


# --- what goes wrong --------------------------------------------------------------------------------------

MISHAPS = {
    "parse error": "I would click on the orders.",
    "429": Act(status=429, text="slow down", retry_after=0),
    "500": Act(status=500),
    "cut connection": Act(text="never seen " * 30, broken="cut"),
    "invalid JSON": Act(broken="invalid"),
}


WAYS = {
    Generic: (click("link", "My orders"), click("link", "Next"), ANSWER),
    Occam: (occam_click("link", "My orders"), occam_reply("stop [$42.00]")),
}


@pytest.mark.parametrize("mishap", MISHAPS.values(), ids=MISHAPS.keys())
@pytest.mark.parametrize("make", WAYS)
async def test_an_agent_recovers(place: Place, make: type[Generic | Occam], mishap: Act | str) -> None:
    lines = Lines([line for step in WAYS[make] for line in (mishap, step)])
    async with model_for(lines) as (model, _):
        trajectory = await place.play(make(model))
    assert trajectory.ending.kind == "answered", trajectory.ending.message
    assert (trajectory.answer, len(trajectory.steps)) == ("$42.00", len(WAYS[make]))
    assert len(lines.asked) == 2 * len(WAYS[make])


async def test_generic_recovers_from_a_stale_element(place: Place) -> None:
    def reload_then_send(question: str) -> str:
        return tagged(
            f"click('{element('button', 'Reload', question)}')\nclick('{element('button', 'Send', question)}')"
        )

    lines = Lines([click("link", "My orders"), reload_then_send, click("button", "Send again"), ANSWER])
    async with model_for(lines) as (model, _):
        trajectory = await place.play(Generic(model))
    assert trajectory.ending.kind == "answered"
    assert [bool(step.error) for step in trajectory.steps] == [False, True, False, False]
    assert trajectory.steps[1].error in lines.asked[2]


@pytest.mark.parametrize("make", WAYS)
async def test_the_spend_cap_stops_the_run_and_says_so(place: Place, make: type[Generic | Occam]) -> None:
    lines = Lines([WAYS[make][0]] * 3)
    budget = Budget(usd=0.0001)
    async with model_for(lines, budget) as (model, _):
        with pytest.raises(BudgetError, match="spend cap"):
            await place.play(make(model))
    assert len(lines.asked) == 1
    assert (budget.spent.cost_usd or 0) >= 0.0001


async def test_a_model_that_never_comes_back_is_a_fault_and_not_a_failure(place: Place) -> None:
    lines = Lines([click("link", "My orders"), *[Act(status=503)] * 20])
    async with model_for(lines) as (model, _):
        trajectory = await place.play(Generic(model))
    assert trajectory.ending.kind == "fault"
    assert trajectory.ending.fault is not None and trajectory.ending.fault.boundary == "ModelError"
    assert len(trajectory.steps) == 1
