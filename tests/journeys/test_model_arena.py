"""Both agents solve arena tasks with a scripted model over a real socket.

The script is derived from the reference solution while it is played: a shadow walks the same pages with the
template's solution and writes, in the notation of the agent, what the model is to say next.

The model must be able to say it: every id that it names stands in the prompt that it was given just then, and every
fact that the key asks for has stood in one of its prompts, on the tree form or the pruned form, whichever the agent
shows.
"""

import re
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
import pytest_asyncio

from tests.support.agent_pages import occam_reply, tagged
from tests.support.templates import sampled
from tests.support.worlds import arena, bench
from webassay import Selection, Task
from webassay.agents.base import Agent
from webassay.agents.models.generic import Generic
from webassay.agents.models.occam import Occam
from webassay.agents.oracle import Oracle
from webassay.browser.devtools.chromium import find_chromium
from webassay.browser.session import Browser
from webassay.compose.builder import solution_of
from webassay.core.interaction import ACTIONS, Action, Decision, Goal, Observation, ObservationPart
from webassay.core.served import plain
from webassay.core.task import EvidenceCheck, Fact, Sight
from webassay.core.trajectory import MemoryBlobs, Trajectory
from webassay.environments.arena import Arena
from webassay.grading.grade import grade
from webassay.llm.client import Message, Model, close, retrying
from webassay.llm.providers import connect
from webassay.llm.replay import Script, replaying
from webassay.play.episode import EpisodeContext, play

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
in_one_loop = pytest.mark.asyncio(loop_scope="module")

# --- what the model is to say -----------------------------------------------------------------------------


class Tags:
    """In the generic agent's notation."""

    opening = ""

    def say(self, action: Action, page: Observation) -> str:
        return tagged(action.text, memory=f"note of step {page.step}")


@dataclass
class Commands:
    """In AgentOccam's notation, which has fewer actions."""

    opening = occam_reply("branch [0] [Follow the reference]")
    filled: tuple[str, str] = ("", "")

    def say(self, action: Action, page: Observation) -> str:
        return occam_reply(f"note [note of step {page.step}]\n{self._command(action, page)}")

    def _command(self, action: Action, page: Observation) -> str:
        if ACTIONS[action.name].ends_episode:
            return f"stop [{next(iter(action.args.values()))}]"
        if action.name in ("go_back", "goto", "tab_focus"):
            return " ".join([action.name, *(f"[{value}]" for value in action.args.values())])
        if action.name == "hover":
            # What opens under the mouse has a button for those who have none.
            name = next(node.name for node in page.nodes if node.id == action.get("bid"))
            button = page.find("button", f"Show {name} menu")
            return f"click [{button.id}]"
        if action.name in ("press", "keyboard_press"):
            return f"type [{self.filled[0]}] [{self.filled[1]}] [1]"
        if action.name == "click":
            return f"click [{action.get('bid')}]"
        if action.name == "fill":
            self.filled = (action.get("bid"), action.get("value"))
            return f"type [{self.filled[0]}] [{self.filled[1]}] [0]"
        if action.name == "select_option":
            return f"type [{action.get('bid')}] [{action.get('options')[0]}] [0]"
        raise AssertionError(f"AgentOccam has no {action.name}")


@dataclass
class Shadow:
    """The agent under test, and beside it the reference solution that tells the model what to say."""

    inner: Generic | Occam
    oracle: Agent
    notation: Tags | Commands
    line: list[str] = field(default_factory=list)
    wants: Sequence[ObservationPart] = ()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def start(self, goal: Goal) -> None:
        await self.oracle.start(goal)
        await self.inner.start(goal)
        self.wants = tuple({*self.inner.wants, *self.oracle.wants})

    async def decide(self, observation: Observation) -> Decision:
        if observation.step == 0 and self.notation.opening:
            self.line[:] = [self.notation.opening]
        else:
            (action,) = (await self.oracle.decide(observation)).actions
            self.line[:] = [self.notation.say(action, observation)]
        return await self.inner.decide(observation)


# --- where it is played -----------------------------------------------------------------------------------


@dataclass
class Place:
    browser: Browser
    environment: Arena


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def place() -> AsyncIterator[Place]:
    async with Browser(find_chromium()) as browser, arena() as environment:
        yield Place(browser, environment)


async def solved(
    place: Place, template: str, make: Callable[[Model], Generic | Occam], notation: Tags | Commands
) -> Trajectory:
    (task,) = bench().tasks(Selection(templates=(template,), instances=1))
    line: list[str] = []
    prompts: list[str] = []
    unseen: list[str] = []

    def author(messages: Sequence[Message]) -> str:
        prompts.append(messages[-1].text)
        named = re.findall(r"bid='(\w+)'|(?:click|type|hover) \[(\w+)\]", line[0])
        unseen.extend(id for id in map("".join, named) if f"[{id}]" not in prompts[-1])
        return line[0]

    async with replaying(Script(author)) as server:
        model = connect(f"openai:reference@{server.url}", env={})
        oracle = Oracle(solution_of(task))
        shadow = Shadow(make(retrying(model)), oracle, notation, line)
        blobs = MemoryBlobs()
        scene = EpisodeContext(browser=place.browser, environment=place.environment, blobs=blobs)
        trajectory = await play(task, shadow, scene, id=f"{shadow.name}/{task.id}")
        await close(model)
    verdict = grade(task, trajectory, blobs)
    assert verdict.status == "pass", [finding.message for finding in verdict.findings] + [trajectory.ending.message]
    assert unseen == []
    assert missing(task, prompts) == []
    return trajectory


def missing(task: Task, prompts: Sequence[str]) -> list[Fact]:
    """What the answer cannot be known without and no prompt showed, of the page's content alone."""
    pages = [f" {plain(_content(prompt))} " for prompt in prompts]

    def shows(sight: Sight) -> bool:
        texts = [f" {plain(text)} " for text in sight.texts]
        return any(all(text in page for text in texts) for page in pages)

    facts = [fact for check in task.checks if isinstance(check, EvidenceCheck) for fact in check.facts]
    return [fact for fact in facts if not any(all(map(shows, sights)) for sights in fact.any_of)]


def _content(prompt: str) -> str:
    """The names, values and cells of a tree, without its ids and roles."""
    found = []
    for text in prompt.splitlines():
        literals = re.findall(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", text)
        if text.lstrip().startswith("|"):
            found.append(re.sub(r"\||\[\w+\]|\b(?:link|button|text)\b(?= )", " ", text))
        else:
            found += [re.sub(r"\\(.)", r"\1", literal[1:-1]) for literal in literals]
            found += re.findall(r"\[value: ([^\]]*)\]", text)  # As the short form writes it.
    return " ".join(found)


SHORT = ("shop.cart-sold-out", "shop.open-cheapest")


@in_one_loop
@pytest.mark.parametrize("template", sampled(*SHORT))
async def test_generic(place: Place, template: str) -> None:
    trajectory = await solved(place, template, Generic, Tags())
    for step in trajectory.steps:
        assert f"step {step.index}: note of step {step.index}" in step.memory
        assert step.usage is not None and step.usage.input_tokens > 0


@in_one_loop
@pytest.mark.parametrize("template", sampled(*SHORT))
async def test_occam(place: Place, template: str) -> None:
    trajectory = await solved(place, template, Occam, Commands())
    last = trajectory.steps[-1]
    assert "[1] Follow the reference (active)" in last.memory
    assert f"note: STEP {last.index}: note of step {last.index}" in last.memory
    plans = last.info["plans"]
    assert isinstance(plans, list) and len(plans) == 2
