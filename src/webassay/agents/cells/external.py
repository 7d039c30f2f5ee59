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
import shutil
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence
from pathlib import Path

from webassay.agents.base import AgentFactory, DevToolsEndpoint
from webassay.agents.cells.cell import ProgramCell
from webassay.core.errors import AgentError, InputError
from webassay.core.interaction import Goal, ObservationPart
from webassay.core.record import Json

COMMAND = "cmd:"
"""Before the command line of a program that drives the browser itself."""
MAX_ANSWER = 1_000_000
"""Bytes; a longer answer means the program has gone wrong."""
KEPT_COMPLAINTS = 20_000
"""Bytes of the end of its standard error. Many programs log there, so how much it is says nothing."""
GRACE_SECONDS = 3.0
LOOK_SECONDS = 0.02
"""How often to look whether the program has ended."""
PIPE_SECONDS = 0.5
"""For what it said last, if somebody else still holds the pipe."""


class External:
    wants: Sequence[ObservationPart] = ()

    def __init__(self, command: str, name: str = "external", cell: ProgramCell | None = None) -> None:
        """Without a `cell` the program is trusted with everything that the user may do."""
        self.name = name
        self._cell = cell
        self.guarded = cell is not None
        try:
            self._command = shlex.split(command)
        except ValueError as error:
            raise InputError(f"The agent's command cannot be read: {error}.") from None
        if not self._command:
            raise InputError("The agent's command is empty.")
        self.settings: dict[str, Json] = {"command": command}

    @property
    def program(self) -> str:
        return self._command[0]

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
        process = await self._started()
        try:
            door.admit(process.pid)
            answer, complaints = await _heard(process, json.dumps(told))
        finally:
            await _end(process)
        if process.returncode != 0:
            raise AgentError(f"{self._command[0]} ended with {process.returncode}: {complaints.strip()[-2000:]}")
        return answer.strip()

    async def _started(self) -> Process:
        command, cell = self._command, self._cell
        if cell is not None and shutil.which(command[0]) is None:
            raise AgentError(f"{command[0]} cannot be started: No such file or directory.")
        try:
            return await asyncio.create_subprocess_exec(
                *(command if cell is None else cell.command(command)),
                env=None if cell is None else cell.environment(),
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                limit=MAX_ANSWER,
                start_new_session=True,
            )
        except OSError as error:
            raise AgentError(f"{command[0]} cannot be started: {error.strerror}.") from None


async def _heard(process: Process, told: str) -> tuple[str, str]:
    """What the program says until it exits. A child of it that holds on to the pipes is not waited for."""
    answer, complaints = _Said(process.stdout, _refuse_more), _Said(process.stderr, _keep_the_end)
    telling = asyncio.ensure_future(_tell(process.stdin, told))
    tasks = [answer.hearing, complaints.hearing]
    try:
        # `process.wait()` would wait for the pipes as well.
        while process.returncode is None:
            done, _ = await asyncio.wait(tasks, timeout=LOOK_SECONDS, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
            if len(done) == len(tasks):
                await asyncio.sleep(LOOK_SECONDS)
        await asyncio.wait(tasks, timeout=PIPE_SECONDS)
    finally:
        for task in (telling, *tasks):
            task.cancel()
        await asyncio.gather(telling, *tasks, return_exceptions=True)
    return answer.text, complaints.text


class _Said:
    """What comes out of one pipe. `limit` sees it after every piece, to cut it or to refuse more."""

    def __init__(self, stream: asyncio.StreamReader | None, limit: Callable[[bytearray], None]) -> None:
        assert stream is not None
        self._data, self._limit = bytearray(), limit
        self.hearing = asyncio.ensure_future(self._hear(stream))

    async def _hear(self, stream: asyncio.StreamReader) -> None:
        while chunk := await stream.read(65_536):
            self._data += chunk
            self._limit(self._data)

    @property
    def text(self) -> str:
        return self._data.decode("utf-8", "replace")


def _refuse_more(answer: bytearray) -> None:
    if len(answer) > MAX_ANSWER:
        raise AgentError(f"The program printed more than {MAX_ANSWER} bytes to standard output.")


def _keep_the_end(complaints: bytearray) -> None:
    del complaints[:-KEPT_COMPLAINTS]


async def _tell(stdin: asyncio.StreamWriter | None, text: str) -> None:
    assert stdin is not None
    # A program that ignores its goal may close its input early.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        stdin.write(text.encode() + b"\n")
        await stdin.drain()
    stdin.close()


async def _end(process: Process) -> None:
    """Its child processes die with it, even when the episode runs out of time."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGTERM)
            for _ in range(round(GRACE_SECONDS / LOOK_SECONDS)):
                if process.returncode is None:
                    await asyncio.sleep(LOOK_SECONDS)
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), GRACE_SECONDS)
    process._transport.close()  # type: ignore[attr-defined]


SCRIPTS = (".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".sh", ".rb")

_NAMED = re.compile(r"([\w.+-]{1,100})=(.*)", re.DOTALL)


def read_command(text: str) -> tuple[str, str]:
    """The name of the agent, and the command line."""
    named = _NAMED.fullmatch(text.strip())
    return (named[1], named[2]) if named else (f"{COMMAND}{text}", text)


def external(text: str, cell: ProgramCell | None = None) -> AgentFactory:
    """The agent that `cmd:COMMAND` or `cmd:NAME=COMMAND` means; a command that cannot be parsed is refused now."""
    name, command = read_command(text)
    program = External(command).program
    if shutil.which(program) is None:
        raise InputError(
            f"{program} cannot be started: there is no such program.", hint="Give a name on PATH, or a path."
        )
    script = next((word for word in shlex.split(command)[1:] if not word.startswith("-")), "")
    if Path(script).suffix in SCRIPTS and not Path(script).is_file():
        raise InputError(f"{command} cannot be started: there is no file {script}.", hint="Give its path from here.")
    return AgentFactory(
        name, "A program that drives the browser.", lambda request: External(command, request.name, cell)
    )
