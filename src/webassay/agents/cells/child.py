"""Somebody's agent file, in a process that holds no key and dies alone.

One process serves one episode at a time and then the next, so that importing the file costs once. Whatever goes wrong
in it (it blocks, exits, kills itself, writes nonsense) ends the process and with it the episode of its own agent; the
next episode gets a new one.
"""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from webassay.agents.base import PARTS, Agent, AgentFactory, AgentRequest, BrowserDriver, DevToolsEndpoint, Need
from webassay.agents.cells.cell import ProgramCell
from webassay.agents.cells.child_main import BUFFER, LARGEST, LENGTH, packed, received
from webassay.core.errors import ActionError, AgentError, BudgetError, InputError, ModelError, WebassayError, boundary
from webassay.core.interaction import Action, Decision, Goal, Observation, ObservationPart, Usage
from webassay.core.record import Json
from webassay.llm.client import Message, Model, Settings

LOAD_SECONDS = 60.0
"""For importing the file."""
STOP_SECONDS = 5.0

_encoder = msgspec.msgpack.Encoder()


class _Trouble(msgspec.Struct):
    message: str
    hint: str = ""


class _Loaded(msgspec.Struct):
    """What it says when its file is loaded, or cannot be."""

    result: dict[str, Any] = {}
    error: _Trouble | None = None


class Child:
    """The process, from this side of the socket."""

    def __init__(self, process: "subprocess.Popen[bytes]", channel: socket.socket) -> None:
        self._process = process
        self._channel = channel
        self._writer: asyncio.StreamWriter | None = None
        self._listening: asyncio.Task[None] | None = None
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._asked = 0
        self.model: Model | None = None
        self._model_failure: WebassayError | None = None
        self._answering: set[asyncio.Task[None]] = set()
        self.dead = ""

    @classmethod
    def spawn(cls, cell: ProgramCell | None, shown: Sequence[Path]) -> "Child":
        ours, theirs = socket.socketpair()
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
        with theirs:
            program = [sys.executable, "-P", "-m", "webassay.agents.cells.child_main", str(theirs.fileno())]
            command = program if cell is None else cell.command(program, shown)
            process = subprocess.Popen(
                command,
                env=None if cell is None else _with_this_package(cell.environment()),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        return cls(process, ours)

    def load(self, spec: str, wishes: Mapping[str, str]) -> dict[str, Any]:
        """Before anything starts, and before there is a loop to wait in."""
        self._channel.settimeout(LOAD_SECONDS)
        request = {"id": 0, "do": "load", "spec": spec, "wishes": dict(wishes), "sys_path": sys.path}
        try:
            self._channel.sendall(packed(request))
            (length,) = LENGTH.unpack(self._exactly(LENGTH.size))
            if length > LARGEST:
                raise ValueError("it is too long")
            reply = msgspec.msgpack.decode(self._exactly(length), type=_Loaded)
        except (OSError, ValueError, RecursionError) as error:  # A decoding error is a ValueError, too.
            self.kill()
            reason = f"it took longer than {LOAD_SECONDS:g} s" if isinstance(error, TimeoutError) else self.dead
            raise InputError(f"{spec} could not be loaded: {reason}.") from None
        if reply.error is not None:
            self.kill()
            raise InputError(reply.error.message, hint=reply.error.hint)
        return reply.result

    def _exactly(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            part = self._channel.recv(count - len(data))
            if not part:
                raise ConnectionError("it ended")
            data += part
        return bytes(data)

    async def call(self, do: str, **arguments: Any) -> Any:
        """A call that is given up ends the process: nobody knows what it is still doing."""
        if self._writer is None:
            self._channel.setblocking(False)
            reader, self._writer = await asyncio.open_connection(sock=self._channel, limit=BUFFER)
            self._listening = asyncio.create_task(self._listen(reader))
        if self.dead:
            raise AgentError(self.dead)
        self._model_failure = None  # What failed in an earlier step excuses nothing now.
        self._asked += 1
        number = self._asked
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            self._writer.write(packed({"id": number, "do": do, **arguments}))
            return await answer
        except asyncio.CancelledError:
            self.kill()
            raise
        finally:
            self._waiting.pop(number, None)

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        try:
            while True:
                self._take(await received(reader))
        except (asyncio.IncompleteReadError, ConnectionError):
            for _ in range(100):  # How it ended is known a moment later.
                if self._process.poll() is None:
                    await asyncio.sleep(0.02)
            self.kill()
        except (ValueError, TypeError, KeyError, AttributeError):
            self.kill("wrote what is no message")

    def _take(self, message: dict[str, Any]) -> None:
        if "ask" in message:
            task = asyncio.create_task(self._ask(message))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)
            return
        answer = self._waiting.get(message["id"])
        if answer is None or answer.done():
            return
        error = message.get("error")
        if error is None:
            answer.set_result(message["result"])
        elif error["kind"] == "ModelError" and self._model_failure is not None:
            answer.set_exception(self._model_failure)
        else:
            answer.set_exception(AgentError(str(error["message"]), hint=str(error["hint"]), trace=str(error["trace"])))

    async def _ask(self, message: dict[str, Any]) -> None:
        """Only a failure that really happened here may pass as one of the model: it would be played again."""
        reply: dict[str, Any] = {"answer": message["ask"]}
        try:
            if self.model is None:
                raise AgentError("The agent was given no model.")
            with boundary(AgentError, "The question cannot be asked"):
                answer = await self.model.ask(
                    msgspec.convert(message["messages"], tuple[Message, ...]),
                    schema=message["schema"],
                    settings=msgspec.convert(message["settings"], Settings),
                    purpose=str(message["purpose"]),
                )
            reply["reply"] = {**asdict(answer), "usage": answer.usage.model_dump()}
        except (ModelError, BudgetError, AgentError) as error:
            if not isinstance(error, AgentError):
                self._model_failure = error
            reply["error"] = str(error)
        if self._writer is not None and not self.dead:
            self._writer.write(packed(reply))

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self, why: str = "") -> None:
        """All of it: the group, and in a cell whatever else there is."""
        if self.dead:
            return
        code = self._process.poll()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        how = "ended" if code is None or code >= 0 else f"was killed by signal {-code}"
        if code is not None and code > 128:
            how = f"was killed by signal {code - 128}"
        self.dead = f"The agent's process {why or how}."
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(AgentError(self.dead))
        if self._writer is not None:
            self._writer.close()
        else:
            self._channel.close()

    async def end(self) -> None:
        self.kill()
        tasks = [*self._answering, *([self._listening] if self._listening else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _with_this_package(environment: dict[str, str]) -> dict[str, str]:
    """The child imports the same webassay as we do, wherever it was found."""
    here = str(Path(__file__).resolve().parents[3])
    paths = [here, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    return {**environment, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}


# --- agents -----------------------------------------------------------------------------------------------


@dataclass
class Nursery:
    """The processes of one agent file: as many as there are episodes at the same time."""

    spec: str
    wishes: Mapping[str, str]
    cell: ProgramCell | None
    _idle: list[Child] = field(default_factory=list)
    _all: list[Child] = field(default_factory=list)

    def load(self) -> AgentFactory:
        """What the file offers. The process that looked is not used further: it was there before the run directory,
        which a cell can only hide once it exists."""
        child, loaded = self._fresh()
        child.kill()
        needs: tuple[Need, ...] = tuple(loaded["needs"])
        if foreign := [need for need in needs if need != "model"]:
            raise InputError(
                f"{self.spec} needs a {foreign[0]}, which an agent in its own process cannot be given.",
                hint="If you trust it with your keys, give --trust-agent.",
            )
        kind: Callable[[Nursery, AgentRequest], Agent | BrowserDriver] = ChildDriver if loaded["drives"] else ChildAgent
        name, summary = str(loaded["name"]), str(loaded["summary"])
        return AgentFactory(
            name, summary, lambda request: kind(self, request), needs=needs, baseline=loaded["baseline"]
        )

    def _fresh(self) -> tuple[Child, dict[str, Any]]:
        file = Path(self.spec.rpartition(":")[0]).absolute()
        child = Child.spawn(self.cell, [file, file.parent, *map(Path, sys.path)])
        self._all.append(child)
        return child, child.load(self.spec, self.wishes)

    async def take(self) -> Child:
        while self._idle:
            child = self._idle.pop()
            if not child.dead:
                return child
        child, _ = await asyncio.to_thread(self._fresh)
        return child

    def give_back(self, child: Child) -> None:
        if not child.dead:
            self._idle.append(child)

    async def close(self) -> None:
        for child in self._all:
            await child.end()


class _InChild:
    def __init__(self, nursery: Nursery, request: AgentRequest) -> None:
        self._nursery, self._request = nursery, request
        self._child: Child | None = None
        self.name = request.name
        self.wants: Sequence[ObservationPart] = ()
        self.settings: dict[str, Json] = {}
        self.prompts: dict[str, Json] = {}
        self.model = ""

    async def prepare(self) -> None:
        """Starting a process is our work, and not on the agent's time."""
        try:
            self._child = await self._nursery.take()
        except InputError as error:
            raise AgentError(str(error)) from None

    async def start(self, goal: Goal) -> None:
        with boundary(AgentError, f"{self.name} could not be made"):
            child, request = self._alive, self._request
            child.model = request.model
            made = await child.call(
                "make",
                name=request.name,
                seed=request.seed,
                model=None if request.model is None else request.model.name,
                settings=asdict(request.settings),
            )
            self._is(made)
        started = await child.call("start", goal=goal.to_json())
        with boundary(AgentError, f"{self.name} cannot be described"):
            self._is(started)

    def _is(self, described: Mapping[str, Any]) -> None:
        self.name = str(described["name"])
        self.wants = tuple(part for part in described["wants"] if part in PARTS)
        self.settings, self.prompts = described["settings"], described["prompts"]
        self.model = str(described["model"])

    @property
    def _alive(self) -> Child:
        if self._child is None:
            raise AgentError(f"{self.name} has no process.")
        return self._child

    async def stop(self) -> None:
        child, self._child = self._child, None
        if child is None or child.dead:
            return
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await child.call("stop")
        except (TimeoutError, AgentError):
            child.kill()
        self._nursery.give_back(child)


class ChildAgent(_InChild):
    async def decide(self, observation: Observation) -> Decision | str:
        decided = await self._alive.call("decide", seen=_encoder.encode(observation))
        with boundary(AgentError, f"{self.name} returned what cannot be read"):
            return _decision(decided, self.name)


class ChildDriver(_InChild):
    guarded = True

    async def drive(self, door: DevToolsEndpoint) -> str:
        child = self._alive
        door.admit(child.pid)
        return str(await child.call("drive", endpoint=door.endpoint, page=door.page))


def _decision(decided: Any, name: str) -> Decision | str:
    if isinstance(decided, str):
        return decided
    try:
        actions = tuple(Action.of(str(one["name"]), **one["args"]) for one in decided["actions"])
    except ActionError as error:
        raise AgentError(f"{name} decided on what is no action: {error}") from None
    usage = decided["usage"]
    return Decision(
        actions=actions,
        thought=str(decided["thought"]),
        memory=str(decided["memory"]),
        raw=str(decided["raw"]),
        usage=None if usage is None else Usage.model_validate(usage),
        info=dict(decided["info"]),
    )
