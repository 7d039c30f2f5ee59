"""The examples of how to extend webassay, taken from the pages and tried."""

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.agent_pages import GOAL, page
from tests.support.judging_samples import png
from webassay.agents.base import AgentRequest, make_agent
from webassay.core.errors import InputError, ModelError
from webassay.core.interaction import Action, Node
from webassay.core.options import describe_options, read_options, read_spec
from webassay.core.registry import load_attribute
from webassay.core.trajectory import MemoryBlobs
from webassay.importers.base import import_all
from webassay.llm.client import Message, Unavailable
from webassay.llm.providers import Provider, connect

DOCS = Path(__file__).parents[2] / "docs"


def example(name: str, tmp_path: Path) -> Any:
    """What the one Python block that defines this name makes of it."""
    pages = "\n".join(path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md")))
    (block,) = [block for block in re.findall(r"```python\n(.*?)```", pages, re.DOTALL) if f"\n{name} = " in block]
    file = tmp_path / f"example_{name.lower()}.py"
    file.write_text(block, encoding="utf-8")
    return load_attribute(f"{file}:{name}")


async def test_an_agent(tmp_path: Path) -> None:
    factory = example("LINK_READER", tmp_path)
    name, wishes = read_spec("link-reader[steps=1]")
    options = read_options(name, factory.options, wishes)
    agent: Any = make_agent(factory, AgentRequest(name="link-reader[steps=1]", options=options))
    await agent.start(GOAL)
    seen = page(0, nodes=(Node("7", "link", "Orders", 0),))
    assert (await agent.decide(seen)).actions == (Action.of("click", "7"),)
    assert (await agent.decide(seen)).actions[0].name == "send_msg_to_user"
    assert agent.name == "link-reader[steps=1]"
    assert [option.name for option in describe_options(factory.options)] == ["steps"]
    with pytest.raises(InputError, match="at least 0"):
        read_options(name, factory.options, {"steps": "-1"})


def test_an_importer(tmp_path: Path) -> None:
    importer = example("MY_HARNESS", tmp_path)
    shots = tmp_path / "data" / "first" / "shots"
    shots.mkdir(parents=True)
    (shots / "1.png").write_bytes(png(1))
    record = {"task_id": "t", "task": "Look.", "actions": ["click"], "answer": "half \ud800"}
    (shots.parent / "run.json").write_text(json.dumps(record))
    blobs = MemoryBlobs()
    (run,) = import_all(tmp_path / "data", blobs, [importer])
    assert (run.steps[0].action_text, run.answer) == ("click", "half �")
    assert run.id.startswith("my-harness-t-")
    (shots.parent / "run.json").write_text("{}")
    with pytest.raises(InputError, match=r"first: `task_id` must be text"):
        list(import_all(tmp_path / "data", blobs, [importer]))


async def test_a_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    provider: Provider = example("TINY", tmp_path)
    answers = [httpx.Response(429), httpx.Response(200, json={"text": "hi"}), httpx.Response(200, json={})]
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return answers[len(asked) - 1]

    monkeypatch.setattr(httpx, "AsyncClient", partial(httpx.AsyncClient, transport=httpx.MockTransport(answer)))
    with pytest.raises(InputError, match="TINY_KEY"):
        connect("tiny:small", env={}, find=lambda name: provider)
    model = connect("tiny:small", env={"TINY_KEY": "secret"}, find=lambda name: provider)
    talk = [Message.user("hello")]
    with pytest.raises(Unavailable):
        await model.ask(talk)
    assert (await model.ask(talk)).text == "hi"
    with pytest.raises(ModelError, match="asking tiny:small"):
        await model.ask(talk)
    assert json.loads(asked[0].content) == {"model": "small", "text": "hello"}
