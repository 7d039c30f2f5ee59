"""The examples of the README: your own agent in ten lines, your own model in one flag."""

import ast
from pathlib import Path

import pytest

from tests.support.agent_pages import GOAL, page
from webassay.agents.base import Agent, AgentRequest, as_factory, make_agent
from webassay.agents.models.generic import Generic
from webassay.core.interaction import Action, Node
from webassay.core.registry import load_attribute
from webassay.llm.providers import connect

EXAMPLES = Path(__file__).parents[2] / "examples"


def lines_of_code(name: str) -> int:
    tree = ast.parse((EXAMPLES / name).read_text(encoding="utf-8"))
    spans = [(node.lineno, node.end_lineno) for node in tree.body if not isinstance(node, ast.Expr)]
    text = (EXAMPLES / name).read_text(encoding="utf-8").splitlines()
    return sum(1 for first, last in spans for line in text[first - 1 : last] if line.strip())


async def test_your_own_agent_in_ten_lines() -> None:
    assert lines_of_code("own_agent.py") <= 10
    spec = f"{EXAMPLES / 'own_agent.py'}:FirstHeading"
    agent = make_agent(as_factory(load_attribute(spec), spec), AgentRequest(name=spec))
    assert isinstance(agent, Agent)
    assert agent.name == "first-heading"
    await agent.start(GOAL)
    decision = await agent.decide(page(0, nodes=(Node("7", "heading", "My Orders", 0),)))
    assert decision.actions[0].name == "send_msg_to_user"
    assert "My Orders" in decision.actions[0].get("text")


async def test_your_own_model_in_one_flag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    agent = Generic(connect("python:own_model:Parrot", env={}))
    await agent.start(GOAL)
    decision = await agent.decide(page(0))
    assert decision.actions == (Action.of("send_msg_to_user", "I have seen the page."),)
