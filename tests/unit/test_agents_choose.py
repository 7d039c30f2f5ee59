"""Agents by a name that says everything about them."""

import pytest

from tests.unit.agent_pages import GOAL, page
from webassay.agents.base import Agent
from webassay.agents.choose import MODEL_AGENTS, is_model_agent, model_agent
from webassay.core.errors import InputError
from webassay.core.trajectory import AgentInfo
from webassay.episode import describe
from webassay.llm.client import Settings, preset
from webassay.llm.replay import Scripted

MODEL = Scripted.of([])


@pytest.mark.parametrize("name", MODEL_AGENTS)
async def test_every_name_makes_an_agent(name: str) -> None:
    agent = model_agent(name, MODEL)
    assert isinstance(agent, Agent)
    assert agent.name == name
    await agent.start(GOAL)


async def test_the_settings_in_the_name_are_used_recorded_and_part_of_the_name() -> None:
    spec = (
        "generic[memory=table,tools=calculator+scratchpad,modality=tree+screenshot,several_actions=no,parse_retries=2]"
    )
    agent = model_agent(spec, MODEL)
    assert agent.name == spec
    settings = agent.settings  # type: ignore[attr-defined]
    assert settings["memory"] == "table"
    assert settings["modality"] == "tree+screenshot"
    assert (settings["several_actions"], settings["parse_retries"]) == (False, 2)
    assert {"calculate", "scratchpad_read", "table_add"} <= set(settings["tools"])
    await agent.start(GOAL)
    assert tuple(agent.wants) == ("tree", "screenshot")
    judged = model_agent("occam[judge=yes,max_steps=30,detailed_steps=3]", MODEL)
    assert judged.settings["judge"] is True  # type: ignore[attr-defined]
    assert "occam_judge.md" in judged.prompts  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("nobody", "not an agent"),
        ("generic[memory=table", "not an agent"),
        ("generic[memory]", "cannot be read"),
        ("generic[tips=yes,tips=no]", "cannot be read"),
        ("generic[memory=elephant]", "no memory"),
        ("generic[tools=hammer]", "no tool"),
        ("generic[modality=smell]", "no modality"),
        ("generic[tips=maybe]", "yes or no"),
        ("generic[parse_retries=-1]", "whole number"),
        ("generic[judge=yes]", "no setting 'judge'"),
        ("knowledge[memory=table]", "no setting 'memory'"),
    ],
)
def test_what_cannot_be_meant_is_refused(spec: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        model_agent(spec, MODEL)


async def test_the_models_settings_are_sent_and_recorded() -> None:
    model = Scripted.of(["I do not know."])
    agent = model_agent("knowledge", model, preset("generic/gpt-4o"))
    await agent.start(GOAL)
    await agent.decide(page(0))
    assert model.asked[0].settings == preset("generic/gpt-4o")
    assert agent.settings["model"] == {"temperature": 0.1, "max_tokens": 2000}  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", MODEL_AGENTS)
def test_what_is_recorded_about_an_agent_fits_the_record(name: str) -> None:
    agent = model_agent(name, MODEL, Settings(0.5, 0.9, 100, "low", 7, ("END",)))
    info = describe(agent)
    assert AgentInfo.from_json(info.to_json()) == info
    assert info.settings["model"]["stop"] == ["END"]  # type: ignore[index, call-overload]


def test_model_agents_are_told_from_others() -> None:
    assert is_model_agent("occam[judge=yes]")
    assert not is_model_agent("oracle")
    assert not is_model_agent("my_module:Agent")


def test_two_episodes_share_nothing() -> None:
    one, two = model_agent("generic[memory=table]", MODEL), model_agent("generic[memory=table]", MODEL)
    assert one._memory is not two._memory  # type: ignore[attr-defined]
