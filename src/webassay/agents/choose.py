"""Agents that need a model, by a name that says everything about them.

    generic                                           as WebChoreArena ran it
    generic[memory=table,tools=calculator+scratchpad]
    generic[modality=tree+screenshot]                 beside `generic` in one command: the paper's Table 2
    occam[judge=yes,max_steps=30]
    computer, knowledge

The whole text is the agent's name in every report, so two settings are never mixed up.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from typing import Any, TypeVar

from webassay.agents import generic, occam
from webassay.agents.base import Agent
from webassay.agents.computer import Computer
from webassay.agents.knowledge import Knowledge
from webassay.agents.memory import Memory, memory_named
from webassay.agents.tools import Tool, tools_named
from webassay.core.errors import InputError
from webassay.llm.client import PROVIDERS_CHOICE, Model, Settings, configured

MODEL_AGENTS: Mapping[str, str] = {
    "generic": "BrowserGym-style: the whole tree, the whole history of actions and memories.",
    "occam": "AgentOccam-style: a pruned tree, plans that branch and prune, notes.",
    "computer": "A screenshot in, mouse and keyboard out.",
    "knowledge": "Answers from the task alone, without a browser: what a model already knew.",
}

_SWITCHES = {"yes": True, "no": False}
_MODALITIES = ("tree", "screenshot", "tree+screenshot")

Options = TypeVar("Options", generic.Options, occam.Options)


def is_model_agent(spec: str) -> bool:
    return spec.partition("[")[0] in MODEL_AGENTS


def model_agent(spec: str, model: Model, settings: Settings = PROVIDERS_CHOICE) -> Agent:
    """A fresh agent for one episode; what cannot be meant is refused with an `InputError`."""
    name, wishes = read_spec(spec)
    asking = configured(model, settings)
    agent: generic.Generic | occam.Occam | Knowledge
    if name == "knowledge":
        _no_more(name, wishes, ())
        agent = Knowledge(asking)
    else:
        agent = _with_memory(name, asking, wishes)
    agent.name = spec
    chosen = {**asdict(settings), "stop": list(settings.stop)}
    agent.settings["model"] = {key: value for key, value in chosen.items() if value not in (None, [])}
    return agent


def _with_memory(name: str, model: Model, wishes: dict[str, str]) -> generic.Generic | occam.Occam:
    memory: Memory | None = memory_named(wishes.pop("memory")) if "memory" in wishes else None
    tools: tuple[Tool, ...] = tools_named(wishes.pop("tools").split("+")) if "tools" in wishes else ()
    if name == "occam":
        return occam.Occam(model, memory=memory, tools=tools, options=_options(name, occam.Options, wishes))
    make: Callable[..., generic.Generic] = Computer if name == "computer" else generic.Generic
    return make(model, memory=memory, tools=tools, options=_options(name, generic.Options, wishes))


def read_spec(spec: str) -> tuple[str, dict[str, str]]:
    name, bracket, rest = spec.partition("[")
    if name not in MODEL_AGENTS or (bracket and not rest.endswith("]")):
        raise InputError(f"{spec!r} is not an agent with a model.", hint=f"Known: {', '.join(MODEL_AGENTS)}.")
    wishes: dict[str, str] = {}
    for part in filter(None, rest.removesuffix("]").split(",")):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value or key in wishes:
            raise InputError(f"{spec!r}: {part!r} cannot be read.", hint="Write name[key=value,key=value].")
        wishes[key] = value
    return name, wishes


def _options(name: str, kind: type[Options], wishes: Mapping[str, str]) -> Options:
    defaults = kind()
    known: dict[str, Any] = {field.name: getattr(defaults, field.name) for field in fields(kind)}
    _no_more(name, wishes, ("memory", "tools", *known))
    return kind(**{key: _value(key, text, known[key]) for key, text in wishes.items()})


def _no_more(name: str, wishes: Mapping[str, str], known: tuple[str, ...]) -> None:
    for key in wishes:
        if key not in known:
            raise InputError(f"{name} has no setting {key!r}.", hint=f"It has {', '.join(known) or 'none'}.")


def _value(key: str, text: str, default: Any) -> Any:
    if key == "modality":
        if text in _MODALITIES:
            return text
        raise InputError(f"There is no modality {text!r}.", hint=f"Known: {', '.join(_MODALITIES)}.")
    if isinstance(default, bool):
        if text in _SWITCHES:
            return _SWITCHES[text]
        raise InputError(f"{key} must be yes or no, not {text!r}.")
    if text.isdecimal() and len(text) < 10:
        return int(text)
    raise InputError(f"{key} must be a whole number, not {text!r}.")
