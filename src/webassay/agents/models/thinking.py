"""What agents that think with a model have in common: settings, memory, tools, and how they are made."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, TypeVar

from webassay.agents.base import Agent, AgentFactory, AgentRequest
from webassay.agents.models.memory import MEMORIES, Memory, MemoryName
from webassay.agents.models.prompts import tips_for
from webassay.agents.models.tools import Tool, Toolbox, ToolName, tools_named
from webassay.core.errors import InputError
from webassay.core.interaction import Goal, Modality
from webassay.core.options import Count, NoOptions
from webassay.core.record import Json
from webassay.llm.client import Model, configured

O = TypeVar("O")  # noqa: E741


@dataclass(frozen=True, slots=True)
class ThinkingOptions:
    modality: Modality | None = None
    """What it sees of a page; none: what the task asks for."""
    memory: MemoryName = "notes"
    """What it keeps from page to page."""
    tools: tuple[ToolName, ...] = ()
    """Joined by `+`."""
    tool_rounds: Count = 8
    """How often the model may use tools within one step before it has to act."""
    tips: bool = True
    """What people who know the sites would tell it: WebArena's four, our shop and our start page; others have none."""


@dataclass(frozen=True, slots=True)
class Equipment:
    memory: Memory
    toolbox: Toolbox
    settings: dict[str, Json]
    """As recorded with every trajectory; once it is known what the task asks for, `modality` says what was seen."""


def equip(
    options: ThinkingOptions,
    memory: Memory | None,
    tools: Sequence[Tool] | None,
    memory_tools: Callable[[Memory], Sequence[Tool]] = lambda memory: memory.tools(),
) -> Equipment:
    """Memory and tools as the options name them, unless others are passed in."""
    memory = MEMORIES[options.memory]() if memory is None else memory
    tools = tools_named(options.tools) if tools is None else tools
    toolbox = Toolbox.of([*tools, *memory_tools(memory)])
    return Equipment(memory, toolbox, {**asdict(options), "memory": memory.kind, "tools": list(toolbox.tools)})


def tips_of(goal: Goal, options: ThinkingOptions) -> str:
    return "\n".join(filter(None, map(tips_for, goal.sites))) if options.tips else ""


class _Thinking(Agent, Protocol):
    settings: dict[str, Json]


def thinking_factory(
    name: str,
    summary: str,
    build: Callable[[Model, Any], _Thinking],
    options: type = NoOptions,
    *,
    baseline: bool = False,
) -> AgentFactory:
    """`build` gets the model, already configured, and the options."""

    def make(request: AgentRequest) -> Agent:
        if request.model is None:
            raise InputError(f"{request.name} needs a model.")
        agent = build(configured(request.model, request.settings), request.options)
        agent.name = request.name
        chosen = {**asdict(request.settings), "stop": list(request.settings.stop)}
        agent.settings["model"] = {key: value for key, value in chosen.items() if value not in (None, [])}
        return agent

    return AgentFactory(name, summary, make, options=options, needs=("model",), baseline=baseline)
