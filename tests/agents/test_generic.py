"""The BrowserGym-style agent, its screenshot twin, and the agent that only knows."""

import pytest

from tests.support.agent_pages import GOAL, TREE, page, tagged
from webassay.agents.base import Agent
from webassay.agents.models.computer import POINTER_STYLE
from webassay.agents.models.conversation import cut_tree, estimate_tokens
from webassay.agents.models.generic import Generic, GenericOptions, TreeOptions
from webassay.agents.models.knowledge import Knowledge
from webassay.agents.models.memory import WindowMemory
from webassay.core.errors import AgentError, BudgetError, ModelError
from webassay.core.interaction import Action, Usage
from webassay.llm.client import Budget, Image, budgeted
from webassay.llm.replay import Act, ScriptedModel


async def started(agent: Agent, **changes: object) -> Agent:
    await agent.start(GOAL.model_copy(update=changes))
    return agent


async def test_a_step_records_everything_about_itself() -> None:
    usage = Usage(calls=1, input_tokens=900, output_tokens=30, cost_usd=0.01, seconds=0.5)
    reply = tagged("click('4')", think="Go home.", memory="Seen: #189.")
    agent = await started(Generic(ScriptedModel.of([Act(text=reply, usage=usage)])))
    decision = await agent.decide(page(0))
    assert decision.actions == (Action.of("click", "4"),)
    assert (decision.thought, decision.memory, decision.raw) == ("Go home.", "step 0: Seen: #189.", reply)
    assert decision.usage == usage
    assert decision.info["calls"] == 1
    assert str(decision.info["prompt_hash"]).startswith("sha256:")
    assert decision.info["seconds"] == [0.5]


async def test_several_actions_are_done_in_order() -> None:
    agent = await started(Generic(ScriptedModel.of([tagged("fill('30', 'lamp')\nkeyboard_press('Enter')")])))
    assert [action.name for action in (await agent.decide(page(0))).actions] == ["fill", "keyboard_press"]


async def test_a_parse_error_goes_back_to_the_model_and_is_recorded() -> None:
    model = ScriptedModel.of(["I would click Home.", tagged("klick('4')"), tagged("click(4)")])
    agent = await started(Generic(model))
    decision = await agent.decide(page(0))
    assert decision.actions == (Action.of("click", "4"),)
    assert "<action>" in model.asked[1].messages[-1].text
    assert "'klick' is not one of your actions. You have" in model.asked[2].messages[-1].text
    assert decision.info["calls"] == 3
    assert decision.info["unreadable"] == 2
    assert decision.info["replies"] == ["I would click Home.", tagged("klick('4')"), tagged("click(4)")]
    assert decision.usage.calls == 3


async def test_a_refusal_needs_a_status_that_exists() -> None:
    right = "report_infeasible('no lamp', 'NOT_FOUND_ERROR')"
    model = ScriptedModel.of([tagged("report_infeasible('no lamp', 'GONE')"), tagged(right)])
    agent = await started(Generic(model))
    assert (await agent.decide(page(0))).actions == (Action.of("report_infeasible", "no lamp", "NOT_FOUND_ERROR"),)
    assert "status must be one of ACTION_NOT_ALLOWED_ERROR" in model.asked[1].messages[-1].text


async def test_points_are_an_option() -> None:
    pointing = await started(
        Generic(ScriptedModel.of([tagged("mouse_click(10, 20)")]), options=TreeOptions(coordinates=True))
    )
    assert set(pointing.wants) == {"tree", "screenshot"}
    assert (await pointing.decide(page(0))).actions == (Action.of("mouse_click", 10, 20),)
    model = ScriptedModel.of([tagged("mouse_click(10, 20)"), tagged("click('4')")])
    without = await started(Generic(model))
    assert (await without.decide(page(0))).actions == (Action.of("click", "4"),)
    assert "not one of your actions" in model.asked[1].messages[-1].text


async def test_a_tag_named_in_a_thought_is_not_the_tag() -> None:
    reply = "<think>I could write <action> here, or <memory>.</think><memory>kept</memory><action>click('4')</action>"
    agent = await started(Generic(ScriptedModel.of([reply])))
    decision = await agent.decide(page(0))
    assert decision.actions == (Action.of("click", "4"),)
    assert decision.memory == "step 0: kept"


async def test_four_retries_then_an_empty_step_then_the_end() -> None:
    model = ScriptedModel.of([Act(text="no", times=99)])
    agent = await started(Generic(model))
    decision = await agent.decide(page(0))
    assert decision.actions == ()
    assert "problem" in decision.info
    assert len(model.asked) == 5
    with pytest.raises(AgentError, match="two steps in a row"):
        await agent.decide(page(1))


async def test_one_readable_reply_forgives_the_last_failure() -> None:
    bad = [Act(text="no", times=5)]
    agent = await started(Generic(ScriptedModel.of([*bad, tagged("noop()"), *bad])))
    assert [len((await agent.decide(page(step))).actions) for step in range(3)] == [0, 1, 0]


async def test_history_shows_actions_errors_and_memories_but_no_thoughts_and_no_old_pages() -> None:
    model = ScriptedModel.of([tagged("click('4')", think="SECRET THOUGHT", memory="KEPT"), tagged("noop()")])
    agent = await started(Generic(model))
    await agent.decide(page(0, tree="OLD PAGE"))
    await agent.decide(page(1, last_error="the element is covered"))
    text = model.asked[1].messages[-1].text
    assert "click(bid='4')" in text
    assert text.count("the element is covered") == 2  # once for the page, once in the history
    assert "KEPT" in text
    assert "SECRET THOUGHT" not in text
    assert "OLD PAGE" not in text


async def test_a_new_episode_starts_from_nothing() -> None:
    model = ScriptedModel.of([tagged("noop()", memory="OLD NOTE"), tagged("noop()")])
    agent = await started(Generic(model))
    await agent.decide(page(0))
    await agent.start(GOAL)
    await agent.decide(page(0))
    assert model.asked[0].messages == model.asked[1].messages


async def test_one_action_a_step_can_be_demanded() -> None:
    model = ScriptedModel.of([tagged("click('4')\nclick('33')"), tagged("click('4')")])
    agent = await started(Generic(model, options=GenericOptions(several_actions=False)))
    assert len((await agent.decide(page(0))).actions) == 1
    assert len(model.asked) == 2


async def test_actions_outside_the_set_are_refused() -> None:
    model = ScriptedModel.of([tagged("mouse_click(1, 2)"), tagged("noop()")])
    agent = await started(Generic(model))
    await agent.decide(page(0))
    assert "not one of your actions" in model.asked[1].messages[-1].text


async def test_the_tree_is_cut_to_the_budget_and_nothing_else_is() -> None:
    model = ScriptedModel.of([tagged("noop()")])
    agent = await started(Generic(model, options=GenericOptions(prompt_tokens=3000)))
    tree = "\n".join(f"\t[{n}] link 'number {n}'" for n in range(2000))
    await agent.decide(page(0, tree=tree))
    system, user = model.asked[0].messages
    assert estimate_tokens(system.text) + estimate_tokens(user.text) <= 3000 + 40
    assert "[0] link" in user.text
    assert "[1999] link" not in user.text
    assert "... Deleted" in user.text
    assert GOAL.instruction in user.text


def test_cutting_counts_what_it_deletes() -> None:
    lines = [f"line {n}" for n in range(100)]
    cut = cut_tree("\n".join(lines), 50)
    kept = cut.split("\n")[:-1]
    assert kept == lines[: len(kept)]
    assert f"Deleted {100 - len(kept)} lines" in cut
    assert cut_tree(TREE, 10_000) == TREE
    assert cut_tree("x" * 1000, 0) == "... Deleted 1 lines to make the page fit."


@pytest.mark.parametrize(
    ("modality", "wants", "has_tree", "has_picture"),
    [
        ("tree", ("tree",), True, False),
        ("tree+screenshot", ("tree", "screenshot"), True, True),
        ("screenshot", ("screenshot", "marks"), False, True),
    ],
)
async def test_the_task_decides_what_is_seen(
    modality: str, wants: tuple[str, ...], has_tree: bool, has_picture: bool
) -> None:
    model = ScriptedModel.of([tagged("noop()")])
    agent = await started(Generic(model), modality=modality)
    assert tuple(agent.wants) == wants
    await agent.decide(page(0, screenshot=b"jpeg" if has_picture else None))
    user = model.asked[0].messages[-1]
    assert ("[33] link 'Next'" in user.text) is has_tree
    assert any(isinstance(part, Image) for part in user.parts) is has_picture


async def test_what_is_seen_can_be_overridden() -> None:
    agent = await started(
        Generic(ScriptedModel.of([]), options=GenericOptions(modality="tree+screenshot")), modality="tree"
    )
    assert tuple(agent.wants) == ("tree", "screenshot")


# --- tools and memories ---------------------------------------------------------------------------------


async def test_a_tool_costs_no_step_and_its_result_comes_back() -> None:
    model = ScriptedModel.of([tagged("calculate('25.50 + 4.50')"), tagged("send_msg_to_user('30')")])
    agent = await started(Generic(model, options=GenericOptions(tools=("calculator",))))
    decision = await agent.decide(page(0))
    assert decision.actions == (Action.of("send_msg_to_user", "30"),)
    assert model.asked[1].messages[-1].text.startswith("calculate gave: 30")
    assert decision.info["tool_uses"] == {"calculate": 1}
    assert decision.usage.calls == 2


async def test_a_tool_beside_an_action_shows_its_result_in_the_history() -> None:
    model = ScriptedModel.of([tagged("calculate('6*7')\nclick('33')"), tagged("noop()")])
    agent = await started(Generic(model, options=GenericOptions(tools=("calculator",))))
    assert (await agent.decide(page(0))).actions == (Action.of("click", "33"),)
    await agent.decide(page(1))
    assert "calculate: 42" in model.asked[1].messages[-1].text


async def test_tools_alone_end_after_a_bounded_number_of_rounds() -> None:
    model = ScriptedModel.of([Act(text=tagged("calculate('1')"), times=99)])
    agent = await started(Generic(model, options=GenericOptions(tools=("calculator",), tool_rounds=3)))
    assert (await agent.decide(page(0))).actions == ()
    assert len(model.asked) == 4


async def test_a_tool_that_fails_says_why() -> None:
    model = ScriptedModel.of([tagged("calculate('1/0')"), tagged("noop()")])
    agent = await started(Generic(model, options=GenericOptions(tools=("calculator",))))
    await agent.decide(page(0))
    assert "division by zero" in model.asked[1].messages[-1].text


async def test_a_table_survives_pages() -> None:
    model = ScriptedModel.of(
        [
            tagged("table_add('orders', [{'total': 25.5}, {'total': 4.5}])\nclick('33')"),
            tagged("table_compute('orders', 'sum', 'total')"),
            tagged("send_msg_to_user('30')"),
        ]
    )
    agent = await started(Generic(model, options=GenericOptions(memory="table")))
    first = await agent.decide(page(0))
    assert "Table orders: 2 rows" in first.memory
    second = await agent.decide(page(1))
    assert "sum = 30 over 2 rows" in model.asked[2].messages[-1].text
    assert second.info["tool_uses"] == {"table_add": 1, "table_compute": 1}


async def test_pruning_a_plan_goes_back_to_its_page() -> None:
    model = ScriptedModel.of(
        [tagged("plan_branch(0, 'search')\nclick('33')"), tagged("plan_prune(0, 'nothing there')"), tagged("noop()")]
    )
    agent = await started(Generic(model, options=GenericOptions(memory="plans")))
    await agent.decide(page(0))
    decision = await agent.decide(page(1, url="http://shop.test/elsewhere"))
    assert decision.actions == (Action.of("goto", "http://shop.test/orders"),)


async def test_what_a_summary_costs_is_part_of_the_step() -> None:
    usage = Usage(calls=1, cost_usd=0.1)
    acts = [Act(text=tagged("noop()", memory=f"note {n}"), usage=usage) for n in range(2)]
    model = ScriptedModel.of([*acts, Act(text="SUMMARY", usage=usage), Act(text=tagged("noop()"), usage=usage)])
    agent = await started(Generic(model, memory=WindowMemory(keep=1, slack=0)))
    await agent.decide(page(0))
    decision = await agent.decide(page(1))
    assert decision.usage.cost_usd == pytest.approx(0.2)
    assert decision.raw == tagged("noop()", memory="note 1")
    assert "SUMMARY" in decision.memory


# --- what is not the agent's fault ----------------------------------------------------------------------


async def test_a_model_that_fails_and_a_budget_that_ends_pass_through() -> None:
    agent = await started(Generic(ScriptedModel.of([Act(status=400, text="refused")])))
    with pytest.raises(ModelError, match="refused"):
        await agent.decide(page(0))
    agent = await started(Generic(budgeted(ScriptedModel.of([]), Budget(calls=0))))
    with pytest.raises(BudgetError):
        await agent.decide(page(0))


# --- the others -----------------------------------------------------------------------------------------


async def test_the_computer_agent_sees_a_picture_and_points() -> None:
    model = ScriptedModel.of([tagged("click('4')"), tagged("mouse_click(100, 40)\nkeyboard_type('lamp')")])
    agent = await started(Generic(model, style=POINTER_STYLE))
    assert tuple(agent.wants) == ("screenshot",)
    decision = await agent.decide(page(0, tree=None, screenshot=b"jpeg"))
    assert [action.name for action in decision.actions] == ["mouse_click", "keyboard_type"]
    user = model.asked[0].messages[-1]
    assert "link 'Next'" not in user.text
    assert "1280 by 720" in user.text
    assert any(isinstance(part, Image) for part in user.parts)


async def test_the_knowledge_agent_answers_from_the_goal_alone() -> None:
    model = ScriptedModel.of([' {"action": "retrieve"} '])
    agent = await started(Knowledge(model))
    assert tuple(agent.wants) == ()
    decision = await agent.decide(page(0))
    assert decision.actions == (Action.of("send_msg_to_user", '{"action": "retrieve"}'),)
    text = model.asked[0].messages[0].text
    assert GOAL.instruction in text
    assert "shop.test" not in text
