"""The AgentOccam-style agent: its notation, its plans, its history, its judge."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.agent_pages import GOAL, PRUNED, occam_reply, page
from webassay.agents.base import Agent
from webassay.agents.models.occam import Occam, OccamCommand, OccamOptions, highlight, parse_command, sections
from webassay.agents.models.plans import PlanTree
from webassay.core.errors import ActionError, AgentError
from webassay.core.interaction import Action, Tab
from webassay.llm.replay import Act, ScriptedModel


async def started(agent: Occam, **changes: object) -> Occam:
    await agent.start(GOAL.model_copy(update=changes))
    return agent


# --- the notation ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("click [33]", OccamCommand("click", ("33",))),
        ("click [a12]", OccamCommand("click", ("a12",))),
        ("type [30] [blue lamp] [1]", OccamCommand("type", ("30", "blue lamp", "1"))),
        ("type [30] [blue lamp] [0]", OccamCommand("type", ("30", "blue lamp", "0"))),
        ("type [30] [blue lamp] [press_enter_after=0]", OccamCommand("type", ("30", "blue lamp", "0"))),
        ("type [30] [blue lamp]", OccamCommand("type", ("30", "blue lamp", "1"))),
        ("type [30] [1]", OccamCommand("type", ("30", "1", "1"))),
        ("type [30] [1] [0]", OccamCommand("type", ("30", "1", "0"))),
        ("type [30] [a [b] c] [0]", OccamCommand("type", ("30", "a [b] c", "0"))),
        ("go_back", OccamCommand("go_back")),
        ("note [a [b]\nc]", OccamCommand("note", ("a [b]\nc",))),
        ('stop [{"results": [1, 2]}]', OccamCommand("stop", ('{"results": [1, 2]}',))),
        ('stop {"results": [1]}', OccamCommand("stop", ('{"results": [1]}',))),
        (
            "report_infeasible [NOT_FOUND_ERROR] [no such [blue] lamp]",
            OccamCommand("report_infeasible", ("NOT_FOUND_ERROR", "no such [blue] lamp")),
        ),
        ("click_at [612] [48.5]", OccamCommand("click_at", ("612", "48.5"))),
        ("drag [1] [2] [3] [4]", OccamCommand("drag", ("1", "2", "3", "4"))),
        ("type_at [30] [7] [a [b]] [0]", OccamCommand("type_at", ("30", "7", "a [b]", "0"))),
        ("report_infeasible [impossible]", OccamCommand("report_infeasible", ("", "impossible"))),
        ("branch [0] [look around]", OccamCommand("branch", ("0", "look around"))),
        ("prune [12] [no [luck]]", OccamCommand("prune", ("12", "no [luck]"))),
    ],
)
def test_commands_are_read(text: str, command: OccamCommand) -> None:
    assert parse_command(text) == command


@pytest.mark.parametrize(
    "text", ["", "click", "click 33", "click [3] [4]", "hover [3]", "type [3]", "branch [x] [y]", "stop", "go_back [1]"]
)
def test_what_is_not_a_command_is_refused(text: str) -> None:
    with pytest.raises(ActionError, match="not an action"):
        parse_command(text)


@given(st.text(max_size=40), st.sampled_from("01"))
def test_any_text_can_be_typed(text: str, enter: str) -> None:
    assert parse_command(f"type [30] [{text}] [{enter}]") == OccamCommand("type", ("30", text, enter))


@given(st.text(max_size=60))
def test_no_text_does_worse_than_a_refusal(text: str) -> None:
    try:
        assert parse_command(text).name
    except ActionError as error:
        assert str(error)


def test_sections_by_their_headings() -> None:
    found = sections("**REASON:** because\nACTION: click [3]\n## OBSERVATION HIGHLIGHT:\n3, 4")
    assert found == {"REASON": "because", "ACTION": "click [3]", "OBSERVATION HIGHLIGHT": "3, 4"}


def test_a_text_without_headings_has_no_sections() -> None:
    assert sections("") == {}
    assert sections("I would click on the orders.") == {}


@pytest.mark.parametrize(
    ("said", "actions"),
    [
        ("click_at [10] [20]", [Action.of("mouse_click", 10.0, 20.0)]),
        ("hover_at [10] [20]", [Action.of("mouse_move", 10.0, 20.0)]),
        ("drag [1] [2] [3] [4]", [Action.of("mouse_drag_and_drop", 1.0, 2.0, 3.0, 4.0)]),
        ("type_at [1] [2] [tea] [0]", [Action.of("mouse_click", 1.0, 2.0), Action.of("keyboard_type", "tea")]),
    ],
)
async def test_points_are_an_option(said: str, actions: list[Action]) -> None:
    agent = await started(Occam(ScriptedModel.of([occam_reply(said)]), options=OccamOptions(coordinates=True)))
    assert "screenshot" in agent.wants
    assert (await agent.decide(page(0))).actions == tuple(actions)
    model = ScriptedModel.of([occam_reply(said), occam_reply("click [33]")])
    without = await started(Occam(model))
    assert "screenshot" not in without.wants
    assert (await without.decide(page(0))).actions == (Action.of("click", "33"),)
    assert "name elements by their ids" in model.asked[1].messages[-1].text


# --- plans ----------------------------------------------------------------------------------------------


def grown() -> PlanTree:
    tree = PlanTree("the task")
    for step, (parent, intent) in enumerate([(0, "first"), (1, "inner"), (0, "second"), (3, "deep")]):
        tree.at(f"http://shop.test/{step}", step)
        tree.branch(parent, intent)
    return tree


def test_branches_know_their_parent_and_their_page() -> None:
    tree = grown()
    assert tree.active.intent == "deep"
    assert [(plan.parent, plan.url[-1]) for plan in list(tree.plans.values())[1:]] == [
        (0, "0"),
        (1, "1"),
        (0, "2"),
        (3, "3"),
    ]


def test_pruning_hides_what_came_later_and_keeps_the_reason() -> None:
    tree = grown()
    tree.prune(1, "wrong shop")
    assert tree.active_id == 1
    assert [plan.id for plan in tree.plans.values() if plan.visible] == [0, 1]
    assert "given up below: wrong shop" in tree.show()
    with pytest.raises(ActionError, match=r"no plan \[4\]"):
        tree.branch(4, "from a hidden plan")
    assert tree.branch(1, "again").id == 5  # ids are never used twice


def test_pruning_forgets_notes_and_steps_of_the_plan() -> None:
    tree = PlanTree("the task")
    tree.at("http://shop.test/", 0)
    tree.note("a note")
    tree.took_step()
    tree.prune(0, "start again")
    assert tree.active.notes == []
    assert tree.active.steps == []


def test_the_same_note_twice_is_refused() -> None:
    tree = PlanTree("the task")
    tree.note("$10")
    tree.at("http://shop.test/", 4)
    with pytest.raises(ActionError, match="already there"):
        tree.note("$10")


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=25))
def test_the_active_plan_is_always_visible_and_connected(moves: list[tuple[bool, int]]) -> None:
    tree = PlanTree("the task")
    for step, (branch, target) in enumerate(moves):
        tree.at(f"http://shop.test/{step}", step)
        try:
            if branch:
                tree.branch(target, "x")
            else:
                tree.prune(target, "y")
        except ActionError:
            assert target not in tree.plans or not tree.plans[target].visible
        plan = tree.active
        assert plan.visible
        while plan.parent is not None:
            plan = tree.plans[plan.parent]
            assert plan.visible
    assert tree.show().count("(active)") == 1


async def test_branch_note_and_prune_in_an_episode() -> None:
    model = ScriptedModel.of(
        [
            occam_reply("branch [0] [Use the search]"),
            occam_reply("note [The search is empty]\nclick [33]"),
            occam_reply("prune [0] [The search finds nothing]"),
            occam_reply("stop [30]"),
        ]
    )
    agent = await started(Occam(model))
    assert (await agent.decide(page(0))).actions == ()
    second = await agent.decide(page(1, url="http://shop.test/search"))
    assert second.actions == (Action.of("click", "33"),)
    assert "note: STEP 1: The search is empty" in second.memory
    third = await agent.decide(page(2, url="http://shop.test/nowhere"))
    assert third.actions == (Action.of("goto", "http://shop.test/orders"),)
    plans = third.info["plans"]
    assert [(plan["id"], plan["visible"], plan["active"]) for plan in plans] == [(0, True, True), (1, False, False)]  # type: ignore[index, call-overload]
    last = await agent.decide(page(3))
    assert last.actions == (Action.of("send_msg_to_user", "30"),)
    text = model.asked[3].messages[-1].text
    assert "given up below: The search finds nothing" in text
    assert "Use the search" not in text.partition("INTERACTION HISTORY")[0]


async def test_history_is_that_of_the_active_plan() -> None:
    model = ScriptedModel.of(
        [
            occam_reply("click [33]", reason="REASON AT THE ROOT", highlight="33"),
            occam_reply("branch [0] [inner]", reason="BRANCHING"),
            occam_reply("click [4]"),
        ]
    )
    agent = await started(Occam(model))
    for step in range(3):
        await agent.decide(page(step, pruned=f"{PRUNED}\n\ttext 'visit {step}'"))
    text = model.asked[2].messages[-1].text
    assert "BRANCHING" in text
    assert "REASON AT THE ROOT" not in text
    shown = model.asked[1].messages[-1].text
    assert "REASON AT THE ROOT" in shown
    assert "ACTION: click [33]" in shown


# --- the page -------------------------------------------------------------------------------------------


def test_a_highlight_keeps_ancestors_descendants_and_named_siblings() -> None:
    page_text = "root [1] 'r'\n\tlist [2] 'l'\n\t\titem [3] 'a'\n\t\t\tlink [4] 'x'\n\t\titem [5] 'b'\n\tfoot [6] 'f'"
    assert highlight(page_text, ["3"]).split("\n") == [
        "root [1] 'r'",
        "\tlist [2] 'l'",
        "\t\titem [3] 'a'",
        "\t\t\tlink [4] 'x'",
        "\t\titem [5] 'b'",
    ]
    assert highlight(page_text, ["99"]) == ""


def test_an_element_of_a_large_part_is_left_out() -> None:
    page_text = "root 'r'\n\tlink [1] 'home'\n\tlist [2] 'l'\n" + "\n".join(
        f"\t\titem [{n}] 'x'" for n in range(10, 60)
    )
    assert highlight(page_text, ["12"]) == ""
    assert "[1]" in highlight("root 'r'\n\tlink [1] 'home'", ["1", "12"])


async def test_a_long_highlight_gives_way_to_the_models_own_description() -> None:
    wordy = PRUNED.replace("'Search'", "'" + "word " * 250 + "'")
    model = ScriptedModel.of(
        [occam_reply("click [33]", highlight="30", description="MY OWN WORDS"), occam_reply("go_back")]
    )
    agent = await started(Occam(model))
    await agent.decide(page(0, pruned=wordy))
    await agent.decide(page(1))
    assert "): MY OWN WORDS" in model.asked[1].messages[-1].text


async def test_only_the_latest_steps_in_detail_where_asked() -> None:
    model = ScriptedModel.of([occam_reply("click [33]", highlight="33", description=f"SUMMARY {n}") for n in range(4)])
    agent = await started(Occam(model, options=OccamOptions(detailed_steps=1)))
    for step in range(4):
        await agent.decide(page(step, pruned=f"{PRUNED}\n\ttext 'visit {step}'"))
    text = model.asked[3].messages[-1].text
    assert "): SUMMARY 0" in text
    assert "): SUMMARY 1" in text
    assert "): SUMMARY 2" not in text


# --- validity -------------------------------------------------------------------------------------------


BACK = Action.of("go_back")


@pytest.mark.parametrize(
    ("said", "complaint", "then", "action"),
    [
        ("I would click on Next.", "no action in your answer", "go_back", BACK),
        (occam_reply("click [999]"), "no element [999]", "click [33]", Action.of("click", "33")),
        (occam_reply("click [33]\nclick [4]"), "one action only", "click [4]", Action.of("click", "4")),
        (occam_reply("goto [http://[orders/17]"), "'http://[orders/17' is not an address.", "go_back", BACK),
        (occam_reply("go_home"), "no go_home", "go_back", BACK),
        (
            occam_reply("report_infeasible [GONE] [no lamp]"),
            "status must be one of ACTION_NOT_ALLOWED_ERROR",
            "report_infeasible [NOT_FOUND_ERROR] [no lamp]",
            Action.of("report_infeasible", "no lamp", "NOT_FOUND_ERROR"),
        ),
    ],
)
async def test_what_cannot_be_done_is_asked_for_again(said: str, complaint: str, then: str, action: Action) -> None:
    model = ScriptedModel.of([said, occam_reply(then)])
    agent = await started(Occam(model))
    assert (await agent.decide(page(0))).actions == (action,)
    assert complaint in model.asked[1].messages[-1].text


async def test_the_validity_loop_is_bounded() -> None:
    model = ScriptedModel.of([Act(text=occam_reply("click [999]"), times=99)])
    agent = await started(Occam(model, options=OccamOptions(validity_retries=3)))
    decision = await agent.decide(page(0))
    assert decision.actions == ()
    assert len(model.asked) == 4
    with pytest.raises(AgentError, match="two steps in a row"):
        await agent.decide(page(1))


async def test_typing_presses_enter_and_choosing_selects() -> None:
    model = ScriptedModel.of(
        [occam_reply("type [30] [lamp]"), occam_reply("type [30] [lamp] [0]"), occam_reply("type [20] [Total] [1]")]
    )
    agent = await started(Occam(model))
    assert (await agent.decide(page(0))).actions == (Action.of("fill", "30", "lamp"), Action.of("press", "30", "Enter"))
    assert (await agent.decide(page(1))).actions == (Action.of("fill", "30", "lamp"),)
    assert (await agent.decide(page(2))).actions == (Action.of("select_option", "20", "Total"),)


async def test_the_last_step_is_announced() -> None:
    model = ScriptedModel.of([Act(text=occam_reply("go_back"), times=2)])
    agent = await started(Occam(model, options=OccamOptions(max_steps=2)))
    await agent.decide(page(0))
    await agent.decide(page(1))
    assert "FINAL STEP" not in model.asked[0].messages[-1].text
    assert "FINAL STEP" in model.asked[1].messages[-1].text


async def test_go_home_exists_across_sites() -> None:
    model = ScriptedModel.of([occam_reply("go_home")])
    agent = await started(Occam(model), sites=("shop", "forum"), hints=("The sites are listed at http://home.test/.",))
    assert (await agent.decide(page(0))).actions == (Action.of("goto", "http://home.test/"),)


async def test_tabs_are_listed_and_switched_where_there_are_several() -> None:
    model = ScriptedModel.of(
        [
            occam_reply("tab_focus [1]"),
            occam_reply("go_back"),
            occam_reply("tab_focus [2]"),
            occam_reply("tab_focus [1]"),
        ]
    )
    agent = await started(Occam(model))
    shop, office = Tab("http://shop.test/", "Shop"), Tab("http://admin.test/", "Back office")
    assert (await agent.decide(page(0, tabs=(shop,), active_tab=0))).actions == (Action.of("go_back"),)
    assert (await agent.decide(page(1, tabs=(shop, office), active_tab=1))).actions == (Action.of("tab_focus", 1),)
    asked = [one.messages[-1].text for one in model.asked]
    assert "OPEN TABS" not in asked[0]
    assert "There is no tab 1. Only one is open." in asked[1]
    assert "OPEN TABS:\n0: Shop http://shop.test/\n1 (in front): Back office http://admin.test/\n" in asked[2]
    assert "There is no tab 2. Tabs are counted from 0, and the last one is 1." in asked[3]


async def test_an_address_can_be_opened() -> None:
    addresses = ("http://other.test/a?b=[1]", "/orders/17?show=all")
    model = ScriptedModel.of([occam_reply(f"note [It is 17]\ngoto [{address}]") for address in addresses])
    agent = await started(Occam(model))
    assert (await agent.decide(page(0))).actions == (Action.of("goto", "http://other.test/a?b=[1]"),)
    assert (await agent.decide(page(1))).actions == (Action.of("goto", "http://shop.test/orders/17?show=all"),)


# --- the judge ------------------------------------------------------------------------------------------

CANDIDATES = (
    "OBSERVATION DESCRIPTION:\nOrders.\n\n"
    "CANDIDATE 1:\nREASON:\nMore.\nACTION:\nclick [33]\n\n"
    "CANDIDATE 2:\nREASON:\nAgain.\nACTION:\nclick [33]\n\n"
    "CANDIDATE 3:\nREASON:\nWrong.\nACTION:\nclick [999]\n\n"
    "CANDIDATE 4:\nREASON:\nEnough.\nACTION:\nstop [30]\n\nOBSERVATION HIGHLIGHT:\n33"
)


async def test_the_judge_chooses_among_what_can_be_done() -> None:
    for choice in (0, 1):
        model = ScriptedModel.of([CANDIDATES, f'{{"ratings": ["a", "b"], "choice": {choice}}}'])
        agent = await started(Occam(model, options=OccamOptions(judge=True)))
        decision = await agent.decide(page(0))
        offered = decision.info["candidates"]
        assert sorted(map(str, offered)) == ["click [33]", "stop [30]"]
        wanted = {"click [33]": Action.of("click", "33"), "stop [30]": Action.of("send_msg_to_user", "30")}
        assert decision.actions == (wanted[str(offered[choice])],)
        assert model.asked[1].purpose == "judge"


async def test_a_judge_that_cannot_be_read_leaves_the_first() -> None:
    model = ScriptedModel.of([CANDIDATES, Act(text="the second one", times=9)])
    agent = await started(Occam(model, options=OccamOptions(judge=True)))
    decision = await agent.decide(page(0))
    offered = decision.info["candidates"]
    assert (decision.actions[0].name == "click") == (offered[0] == "click [33]")
    assert decision.usage.calls == 4


# --- other memories and tools ---------------------------------------------------------------------------


async def test_occam_with_another_memory() -> None:
    model = ScriptedModel.of([occam_reply("note [$30 in March]"), occam_reply("stop [30]")])
    agent = await started(Occam(model, options=OccamOptions(memory="notes")))
    decision = await agent.decide(page(0))
    assert decision.memory == "step 0: $30 in March"
    await agent.decide(page(1))
    assert "MEMORY:\nstep 0: $30 in March" in model.asked[1].messages[-1].text


async def test_occam_with_a_table_and_a_calculator() -> None:
    model = ScriptedModel.of(
        [
            occam_reply("table_add('o', [{'t': 25.5}, {'t': 4.5}])"),
            occam_reply("table_compute('o', 'sum', 't')"),
            occam_reply("calculate('30 / 2')"),
            occam_reply("stop [30]"),
        ]
    )
    agent = await started(Occam(model, options=OccamOptions(memory="table", tools=("calculator",))))
    decision = await agent.decide(page(0))
    assert decision.actions == (Action.of("send_msg_to_user", "30"),)
    assert decision.info["tool_uses"] == {"table_add": 1, "table_compute": 1, "calculate": 1}
    assert "sum = 30 over 2 rows" in model.asked[2].messages[-1].text


async def test_occam_fits_the_seam() -> None:
    agent = Occam(ScriptedModel.of([]))
    assert isinstance(agent, Agent)
    await started(agent, modality="tree+screenshot")
    assert tuple(agent.wants) == ("pruned", "screenshot")
