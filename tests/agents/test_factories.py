"""Agents by a name that says everything about them, and what they are made from."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_pages import GOAL, page
from webassay.agents.base import (
    Agent,
    AgentRequest,
    BrowserDriver,
    as_factory,
    check_needs,
    make_agent,
)
from webassay.agents.cells.external import COMMAND, external
from webassay.compose.registries import AGENTS
from webassay.core.errors import AgentError, InputError
from webassay.core.interaction import Action, Decision, Walk
from webassay.core.options import describe_options, read_options, read_spec
from webassay.core.trajectory import AgentInfo
from webassay.llm.client import PROVIDERS_CHOICE, Model, Settings, preset
from webassay.llm.replay import ScriptedModel
from webassay.play.recording import describe

MODEL = ScriptedModel.of([])
MODEL_AGENTS = [factory.name for factory in AGENTS if "model" in factory.needs]


def made(spec: str, model: Model | None = MODEL, settings: Settings = PROVIDERS_CHOICE, **rest: Any) -> Any:
    name, wishes = read_spec(spec)
    factory = AGENTS.get(name)
    options = read_options(name, factory.options, wishes)
    return make_agent(factory, AgentRequest(name=spec, options=options, model=model, settings=settings, **rest))


def model_agent(spec: str, model: Model = MODEL, settings: Settings = PROVIDERS_CHOICE) -> Any:
    return made(spec, model, settings)


def test_every_agent_describes_itself() -> None:
    assert MODEL_AGENTS == ["computer", "generic", "knowledge", "occam"]
    naive = [factory for factory in AGENTS if factory.family == "naive"]
    assert len(naive) == 20
    assert {factory.name for factory in AGENTS} - {factory.name for factory in naive} == {
        *MODEL_AGENTS,
        "flawed",
        "human",
        "oracle",
    }
    assert {factory.name for factory in AGENTS if factory.baseline} == {"knowledge", *(f.name for f in naive)}
    assert all(factory.summary.endswith(".") for factory in AGENTS)
    for factory in AGENTS:
        assert all(option.summary for option in describe_options(factory.options)), factory.name


async def test_the_settings_in_the_name_are_used_recorded_and_part_of_the_name() -> None:
    spec = (
        "generic[memory=table,tools=calculator+scratchpad,modality=tree+screenshot,several_actions=no,parse_retries=2]"
    )
    agent = model_agent(spec, MODEL)
    assert agent.name == spec
    settings = agent.settings
    assert settings["memory"] == "table"
    assert settings["modality"] == "tree+screenshot"
    assert (settings["several_actions"], settings["parse_retries"]) == (False, 2)
    assert {"calculate", "scratchpad_read", "table_add"} <= set(settings["tools"])
    await agent.start(GOAL)
    assert tuple(agent.wants) == ("tree", "screenshot")
    judged = model_agent("occam[judge=yes,max_steps=30,detailed_steps=3]", MODEL)
    assert judged.settings["judge"] is True
    assert "occam_judge.md" in judged.prompts


@pytest.mark.parametrize(
    ("spec", "asked", "seen"),
    [
        ("generic", "screenshot", "screenshot"),
        ("generic[modality=tree+screenshot]", "tree", "tree+screenshot"),
        ("generic[coordinates=yes]", "tree", "tree+screenshot"),
        ("occam", "tree", "tree"),
        ("occam", "screenshot", "tree+screenshot"),
        ("occam[modality=tree]", "tree+screenshot", "tree"),
        ("computer", "tree", "screenshot"),
        ("computer[modality=screenshot]", "tree", "screenshot"),
    ],
)
async def test_what_was_seen_is_recorded(spec: str, asked: str, seen: str) -> None:
    agent = model_agent(spec, MODEL)
    await agent.start(GOAL.model_copy(update={"modality": asked}))
    assert agent.settings["modality"] == seen
    assert ("screenshot" in agent.wants) is ("screenshot" in seen)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("nobody", "no agent 'nobody'"),
        ("genric", "Did you mean generic"),
        ("generic[memory=table", "cannot be read"),
        ("generic[memory]", "cannot read 'memory'"),
        ("generic[tips=yes,tips=no]", "cannot read 'tips=no'"),
        ("generic[memory=elephant]", "'elephant'.*notes, table, window, plans"),
        ("generic[tools=hammer]", "'hammer'.*calculator, scratchpad"),
        ("generic[tools=calculator+hammer]", "'hammer'"),
        ("generic[modality=smell]", r"'smell'.*tree, screenshot, tree\+screenshot"),
        ("occam[modality=screenshot]", r"'screenshot'.*tree, tree\+screenshot"),
        ("computer[modality=tree]", r"'tree'.*Choose one of screenshot"),
        ("generic[tips=maybe]", "yes or no"),
        ("generic[parse_retries=many]", "whole number"),
        ("generic[parse_retries=-1]", "at least 0"),
        ("occam[candidates=0]", "at least 1"),
        ("occam[detailed_steps=-2]", "at least 0"),
        ("generic[judge=yes]", "no setting 'judge'"),
        ("knowledge[memory=table]", "no setting 'memory'"),
    ],
)
def test_what_cannot_be_meant_is_refused(spec: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        model_agent(spec, MODEL)


async def test_the_models_settings_are_sent_and_recorded() -> None:
    model = ScriptedModel.of(["I do not know."])
    agent = model_agent("knowledge", model, preset("generic/gpt-4o"))
    await agent.start(GOAL)
    await agent.decide(page(0))
    assert model.asked[0].settings == preset("generic/gpt-4o")
    assert agent.settings["model"] == {"temperature": 0.1, "max_tokens": 2000}


@pytest.mark.parametrize("name", MODEL_AGENTS)
def test_what_is_recorded_about_an_agent_fits_the_record(name: str) -> None:
    agent = model_agent(name, MODEL, Settings(0.5, 0.9, 100, "low", 7, ("END",)))
    info = describe(agent)
    assert AgentInfo.from_json(info.to_json()) == info
    assert info.settings["model"]["stop"] == ["END"]


def test_two_episodes_share_nothing() -> None:
    one, two = model_agent("generic[memory=table]", MODEL), model_agent("generic[memory=table]", MODEL)
    assert one._memory is not two._memory


@pytest.mark.parametrize("name", [factory.name for factory in AGENTS])
async def test_a_name_without_settings_makes_that_agent(name: str) -> None:
    async def ask(text: str) -> str:
        return "30"

    def solution(first: object) -> Walk:
        yield Action.of("noop")
        return None

    agent = made(name, ask=ask, solution=solution, seed=7)
    assert isinstance(agent, BrowserDriver if name == "human" else Agent)
    assert agent.name == name
    await agent.start(GOAL)


def test_the_seed_reaches_the_walkers() -> None:
    assert made("naive-random-clicker", seed=7).settings == {"seed": 7, "steps": 6}


async def test_the_oracle_plays_the_solution_it_was_given() -> None:
    def solution(first: object) -> Walk:
        seen = yield Action.of("click", "4")
        return {"first": getattr(first, "url", ""), "then": seen.url}

    oracle = made("oracle", solution=solution)
    await oracle.start(GOAL)
    assert (await oracle.decide(page(0, url="http://a/"))).actions == (Action.of("click", "4"),)
    assert (await oracle.decide(page(1, url="http://b/"))).actions[0].get("text") == (
        '{"first": "http://a/", "then": "http://b/"}'
    )


# --- needs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "need", "told"),
    [
        ("generic[memory=table]", "model", r"generic\[memory=table\] needs a model. Give one"),
        ("knowledge", "model", "needs a model"),
        ("human", "person", "needs a person at a terminal"),
        ("oracle", "solution", "needs tasks with a reference solution"),
    ],
)
def test_what_is_missing_is_said_before_and_when_it_is_made(name: str, need: Any, told: str) -> None:
    factory = AGENTS.get(read_spec(name)[0])
    check_needs(factory, name, {need})
    with pytest.raises(InputError, match=told):
        check_needs(factory, name, set())
    with pytest.raises(InputError, match=told):
        made(name, model=None)


def test_an_agent_without_needs_needs_nothing() -> None:
    check_needs(AGENTS.get("naive-yes"), "naive-yes", ())
    assert made("naive-yes", model=None).name == "naive-yes"


# --- agents of others -------------------------------------------------------------------------------------


class Theirs:
    """Says hello.

    And more.
    """

    name = "their-own-name"
    wants = ("tree",)

    async def start(self, goal: object) -> None: ...

    async def decide(self, observation: object) -> Decision:
        return Decision.answer("hello")


class Needy(Theirs):
    def __init__(self, key: str) -> None: ...


class Broken(Theirs):
    def __init__(self) -> None:
        raise RuntimeError("no licence")


class Nameless:
    async def start(self, goal: object) -> None: ...

    async def decide(self, observation: object) -> str:
        return "noop()"


def test_a_class_and_a_function_are_agents() -> None:
    for thing in (Theirs, lambda: Theirs()):
        factory = as_factory(thing, "file.py:thing")
        one, two = (make_agent(factory, AgentRequest(name="file.py:thing")) for _ in range(2))
        assert one is not two
        assert (factory.name, one.name) == ("their-own-name", "their-own-name")
    assert as_factory(Theirs, "x").summary == "Says hello."
    assert as_factory(factory, "y") is factory


@pytest.mark.parametrize(
    ("thing", "told"),
    [(Theirs(), "fresh agent"), (dict, "not an agent"), (Needy, "without arguments: .*'key'"), (5, "is an object")],
)
def test_what_cannot_be_an_agent_is_refused_at_once(thing: object, told: str) -> None:
    with pytest.raises(InputError, match=told):
        as_factory(thing, "file.py:thing")


@pytest.mark.parametrize(
    ("thing", "error", "told"),
    [
        (Broken, AgentError, "file.py:thing could not be made: no licence"),
        (Nameless, InputError, "not an agent"),
        (lambda: 5, InputError, "not an agent"),
    ],
)
def test_what_turns_out_not_to_be_an_agent_is_refused(thing: object, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        make_agent(as_factory(thing, "file.py:thing"), AgentRequest(name="file.py:thing"))


def test_a_program_is_an_agent_and_a_bad_command_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"there is no file my agent\.mjs"):
        external("node 'my agent.mjs'")
    (tmp_path / "my agent.mjs").touch()
    factory = external("node 'my agent.mjs'")
    assert factory.name == f"{COMMAND}node 'my agent.mjs'"
    agent = make_agent(factory, AgentRequest(name=factory.name))
    assert describe(agent).settings == {"command": "node 'my agent.mjs'"}
    named = external("my-agent=node 'my agent.mjs' --mode=fast")
    agent = make_agent(named, AgentRequest(name=named.name))
    assert (named.name, agent.name) == ("my-agent", "my-agent")
    assert describe(agent).settings == {"command": "node 'my agent.mjs' --mode=fast"}
    with pytest.raises(InputError, match="is empty"):
        external("my-agent=")
    with pytest.raises(InputError, match="cannot be read"):
        external("node 'unclosed")


class Fine:
    name, wants = "fine", ("tree",)

    async def start(self, goal): ...

    async def decide(self, page): ...


@pytest.mark.parametrize(
    ("wants", "said"),
    [(("tre",), "Did you mean 'tree'?"), ("tree", "write wants = ('tree',)"), (("tree", "smell"), "names 'smell'")],
)
def test_what_it_wants_to_see_is_a_tuple_of_parts_that_there_are(wants, said):
    wrong = type("Wrong", (Fine,), {"wants": wants})
    with pytest.raises(InputError, match="cannot be played") as error:
        as_factory(wrong, "file.py:Wrong")
    assert said in str(error.value)

    def late():
        agent = Fine()
        agent.wants = wants
        return agent

    with pytest.raises(AgentError, match="cannot be played") as error:
        make_agent(as_factory(late, "file.py:late"), AgentRequest("late"))
    assert said in str(error.value)


def test_what_an_agent_wants_may_depend_on_the_goal():
    each = type("Each", (Fine,), {"wants": property(lambda self: ("tree", "text"))})
    assert make_agent(as_factory(each, "file.py:Each"), AgentRequest("each")).wants == ("tree", "text")
