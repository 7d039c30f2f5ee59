"""The process in which somebody's agent file runs. Its one argument is the number of a socket; all else comes over it.

A message is a length and a msgpack map. `{"id", "do", …}` asks for something; `{"id", "result"}` or `{"id", "error"}`
answers. The agent's own questions to a model go the other way, as `{"ask", …}`, so that no key is needed here.
"""

import asyncio
import os
import socket
import struct
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import msgspec

from webassay.agents.base import (
    Agent,
    AgentFactory,
    AgentRequest,
    BrowserDriver,
    DevToolsEndpoint,
    as_factory,
    checked_decision,
    make_agent,
    own_cancellation,
    without_exit,
)
from webassay.core.errors import AgentError, Fault, InputError, ModelError, WebassayError, boundary
from webassay.core.interaction import Decision, Goal, Observation, Usage
from webassay.core.options import read_options
from webassay.core.registry import load_attribute
from webassay.core.text import capped, well_formed, well_formed_json
from webassay.llm.client import Answering, Model, Question, Reply, Settings

LENGTH = struct.Struct(">I")
LARGEST = 256 * 1024 * 1024
BUFFER = 4 * 1024 * 1024
"""Bytes: a page with its picture goes over in one piece."""

_decoder = msgspec.msgpack.Decoder()
_observations = msgspec.msgpack.Decoder(Observation)


def packed(message: Mapping[str, Any]) -> bytes:
    data = msgspec.msgpack.encode(message)
    return LENGTH.pack(len(data)) + data


async def received(reader: asyncio.StreamReader) -> dict[str, Any]:
    """Raises `asyncio.IncompleteReadError` at the end, and ValueError for what is no message."""
    (length,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
    if length > LARGEST:
        raise ValueError(f"a message of {length:,} bytes")
    try:
        message = _decoder.decode(await reader.readexactly(length))
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(str(error)) from None
    if not isinstance(message, dict):
        raise ValueError("a message without keys")
    return message


class Worker:
    """One agent at a time, made anew for each episode."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._factory: AgentFactory | None = None
        self._options: Any = None
        self._agent: Agent | BrowserDriver | None = None
        self._questions: dict[int, asyncio.Future[Reply]] = {}
        self._asked = 0
        self._working: set[asyncio.Task[None]] = set()
        self._do: dict[str, Callable[[dict[str, Any]], Awaitable[Any]]] = {
            "load": self._load,
            "make": self._make,
            "start": self._start,
            "decide": self._decide,
            "drive": self._drive,
            "stop": self._stop,
        }

    async def serve(self) -> None:
        while True:
            try:
                message = await received(self._reader)
            except (asyncio.IncompleteReadError, ConnectionError):
                os._exit(0)  # Nobody is there any more; whatever the agent still does is for nothing.
            if "answer" in message:
                self._answered(message)
                continue
            task = asyncio.create_task(self._answer(message))
            self._working.add(task)
            task.add_done_callback(self._working.discard)

    async def _answer(self, message: dict[str, Any]) -> None:
        reply: dict[str, Any] = {"id": message["id"]}
        try:
            reply["result"] = await self._do[message["do"]](message)
        except WebassayError as error:
            fault = Fault.of(error)
            reply["error"] = {
                "kind": type(error).__name__,
                "message": capped(error.message),
                "hint": capped(error.hint),
                "trace": capped(fault.trace),
            }
        self._writer.write(packed(reply))
        await self._writer.drain()

    # --- making ------------------------------------------------------------------------------------------

    async def _load(self, message: dict[str, Any]) -> dict[str, Any]:
        spec: str = message["spec"]
        sys.path.extend(entry for entry in message["sys_path"] if entry not in sys.path)
        thing = load_attribute(spec)
        factory = thing if isinstance(thing, AgentFactory) else as_factory(thing, spec)
        self._factory = factory
        self._options = read_options(spec, factory.options, message["wishes"])
        return {
            "name": capped(factory.name, 1000),
            "summary": capped(factory.summary, 1000),
            "needs": list(factory.needs),
            "baseline": bool(factory.baseline),
            "drives": _drives(thing, factory),
        }

    async def _make(self, message: dict[str, Any]) -> dict[str, Any]:
        assert self._factory is not None
        model: Model | None = None
        if message["model"] is not None:
            model = _Asking(message["model"], self._ask)
        request = AgentRequest(
            name=message["name"],
            options=self._options,
            seed=message["seed"],
            model=model,
            settings=msgspec.convert(message["settings"], Settings),
        )
        self._agent = make_agent(self._factory, request)
        return _described(self._agent, message["name"])

    # --- playing -----------------------------------------------------------------------------------------

    async def _asked_to(self, doing: str, *about: Any) -> Any:
        agent = self._agent
        assert agent is not None
        with boundary(AgentError, f"{agent.name} could not {doing}"), own_cancellation(agent.name):
            # A task of its own, so that an agent that cancels the current task is answered for all the same.
            return await asyncio.ensure_future(without_exit(partial(getattr(agent, doing), *about), agent.name))

    async def _start(self, message: dict[str, Any]) -> dict[str, Any]:
        """Described again, because what an agent wants to see may depend on the goal."""
        goal = Goal.from_json(message["goal"])
        await self._asked_to("start", goal)
        assert self._agent is not None
        return _described(self._agent, self._agent.name)

    async def _decide(self, message: dict[str, Any]) -> Any:
        seen = _observations.decode(message["seen"])
        decided = await self._asked_to("decide", seen)
        assert self._agent is not None
        return _sent(checked_decision(decided, self._agent.name))

    async def _drive(self, message: dict[str, Any]) -> str:
        door = DevToolsEndpoint(message["endpoint"], message["page"])
        return capped(str(await self._asked_to("drive", door)))

    async def _stop(self, message: dict[str, Any]) -> None:
        agent, self._agent = self._agent, None
        end = getattr(agent, "stop", None)
        if agent is not None and end is not None:
            with boundary(AgentError, f"{agent.name} could not stop"), own_cancellation(agent.name):
                await asyncio.ensure_future(without_exit(end, agent.name))

    # --- the agent's own questions -----------------------------------------------------------------------

    async def _ask(self, question: Question) -> Reply:
        self._asked += 1
        number = self._asked
        future = self._questions[number] = asyncio.get_running_loop().create_future()
        data = {
            "ask": number,
            "messages": list(question.messages),
            "schema": None if question.schema is None else dict(question.schema),
            "settings": asdict(question.settings),
            "purpose": question.purpose,
        }
        self._writer.write(packed(data))
        reply: Reply = await future
        return reply

    def _answered(self, message: dict[str, Any]) -> None:
        future = self._questions.pop(message["answer"], None)
        if future is None or future.done():
            return
        if "error" in message:
            future.set_exception(ModelError(message["error"]))
            return
        reply = message["reply"]
        usage = Usage.model_validate(reply["usage"])
        future.set_result(Reply(reply["text"], usage, reply["finish_reason"], reply["cached"], reply["raw"]))


class _Asking(Answering):
    """The model of an agent that holds no key."""

    def __init__(self, name: str, answer: Callable[[Question], Awaitable[Reply]]) -> None:
        self.name = name
        self._answer = answer

    async def answer(self, question: Question) -> Reply:
        return await self._answer(question)


def _drives(thing: Any, factory: AgentFactory) -> bool:
    """Whether it moves the browser itself. Where no class says so, one is made only to look at it."""
    if isinstance(thing, type) or factory.needs:
        return hasattr(thing, "drive") and not hasattr(thing, "decide")
    try:
        agent = make_agent(factory, AgentRequest(name=factory.name))
    except (AgentError, InputError):
        return False  # Every episode will say why.
    return isinstance(agent, BrowserDriver) and not isinstance(agent, Agent)


def _described(agent: Agent | BrowserDriver, name: str) -> dict[str, Any]:
    with boundary(AgentError, f"{name} cannot be described"):
        return {
            "name": capped(str(agent.name), 1000),
            "wants": [str(part) for part in agent.wants],
            **{key: well_formed_json(dict(getattr(agent, key, {}))) for key in ("settings", "prompts")},
            "model": capped(str(getattr(agent, "model", "")), 1000),
        }


def _sent(decision: Decision | str) -> Any:
    if isinstance(decision, str):
        return well_formed(decision)
    return well_formed_json(
        {
            "actions": [{"name": action.name, "args": action.args} for action in decision.actions],
            "thought": decision.thought,
            "memory": decision.memory,
            "raw": decision.raw,
            "usage": None if decision.usage is None else decision.usage.model_dump(),
            "info": decision.info,
        }
    )


async def _main(descriptor: int) -> None:
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=descriptor), limit=BUFFER)
    await Worker(reader, writer).serve()


def main(arguments: Sequence[str]) -> None:
    asyncio.run(_main(int(arguments[0])))


if __name__ == "__main__":
    main(sys.argv[1:])
