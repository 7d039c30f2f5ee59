"""Any program in any language as an agent.

The program gets one JSON object on its standard input:

    {"version": 1, "goal": {…the Goal…}, "instruction": "…", "start_urls": ["…"],
     "cdp": "http://127.0.0.1:PORT", "page": "ws://127.0.0.1:PORT/devtools/page/ID"}

It drives the browser itself over the Chrome DevTools Protocol: the whole browser at `cdp`, as Playwright and Puppeteer
do, or the tab in front at `page`, with one WebSocket. The start pages are already open. What it prints to standard
output is its answer, and exiting with 0 ends the episode. webassay watches from outside: pages, pictures, network and
changes to the sites are recorded as for any other agent.
"""

import asyncio
import contextlib
import json
import os
import re
import shlex
import signal
from collections.abc import Sequence

from webassay.agents.base import AgentFactory, DevToolsEndpoint
from webassay.core.errors import AgentError, InputError
from webassay.core.interaction import Goal, ObservationPart
from webassay.core.record import Json

COMMAND = "cmd:"
"""Before the command line of a program that drives the browser itself."""
MAX_ANSWER = 1_000_000
"""Bytes; a longer answer means the program has gone wrong."""
GRACE_SECONDS = 3.0


class External:
    wants: Sequence[ObservationPart] = ()

    def __init__(self, command: str, name: str = "external") -> None:
        self.name = name
        try:
            self._command = shlex.split(command)
        except ValueError as error:
            raise InputError(f"The agent's command cannot be read: {error}.") from None
        if not self._command:
            raise InputError("The agent's command is empty.")
        self.settings: dict[str, Json] = {"command": command}

    async def start(self, goal: Goal) -> None:
        self._goal = goal

    async def drive(self, door: DevToolsEndpoint) -> str:
        goal = self._goal
        told = {
            "version": 1,
            "goal": goal.model_dump(mode="json"),
            "instruction": goal.instruction,
            "start_urls": list(goal.start_urls),
            "cdp": door.endpoint,
            "page": door.page,
        }
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command, stdin=pipe, stdout=pipe, stderr=pipe, limit=MAX_ANSWER, start_new_session=True
            )
        except OSError as error:
            raise AgentError(f"{self._command[0]} cannot be started: {error.strerror}.") from None
        try:
            answer, complaints, _ = await asyncio.gather(
                _read(process.stdout), _read(process.stderr), _tell(process.stdin, json.dumps(told))
            )
            code = await process.wait()
        finally:
            await _end(process)
        if code != 0:
            raise AgentError(f"{self._command[0]} ended with {code}: {complaints.strip()[-2000:]}")
        return answer.strip()


async def _tell(stdin: asyncio.StreamWriter | None, text: str) -> None:
    assert stdin is not None
    # A program that ignores its goal may close its input early.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        stdin.write(text.encode() + b"\n")
        await stdin.drain()
    stdin.close()


async def _read(stream: asyncio.StreamReader | None) -> str:
    assert stream is not None
    data = bytearray()
    while chunk := await stream.read(65_536):
        data += chunk
        if len(data) > MAX_ANSWER:
            raise AgentError(f"The program printed more than {MAX_ANSWER} bytes.")
    return data.decode("utf-8", "replace")


async def _end(process: asyncio.subprocess.Process) -> None:
    """Its child processes die with it, even when the episode runs out of time."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), GRACE_SECONDS)


_NAMED = re.compile(r"([\w.+-]{1,100})=(.*)", re.DOTALL)


def external(text: str) -> AgentFactory:
    """The agent that `cmd:COMMAND` or `cmd:NAME=COMMAND` means; a command that cannot be parsed is refused now."""
    named = _NAMED.fullmatch(text.strip())
    name, command = (named[1], named[2]) if named else (f"{COMMAND}{text}", text)
    External(command)
    return AgentFactory(name, "A program that drives the browser.", lambda request: External(command, request.name))
