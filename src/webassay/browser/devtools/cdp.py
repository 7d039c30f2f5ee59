"""The Chrome DevTools Protocol over a pipe: one process, one connection, a channel for every target.

A pipe, not a port: no page, and no other program on the machine, can reach the debugger.
"""

import asyncio
import contextlib
import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import msgspec

from webassay.core.errors import BrowserError
from webassay.core.files import own_prefix
from webassay.core.text import well_formed

Params = dict[str, Any]
Handler = Callable[[Params], None]

COMMAND_TIMEOUT = 30.0
START_TIMEOUT = 60.0
STOP_TIMEOUT = 5.0
_READ_SIZE = 1 << 18
_STARTER = """
import ctypes, fcntl, os, signal, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Chromium reads commands from descriptor 3 and answers on 4; this program puts the pipes there and becomes Chromium.
A shell cannot do it (some accept one-digit descriptors only), and running code between fork and exec is not safe.
On Linux it also asks to be killed when this process ends: a busy Chromium notices a closed pipe only minutes later."""


class CommandRefused(Exception):
    """Chromium understood the command but rejected it: the page, frame or node is gone or unsuitable."""


class CommandTimeout(Exception):
    """No answer arrived in time; the page may be stuck in a script."""


_SURROGATE = re.compile(r"\\u[dD]")


def decoded(data: bytes | str) -> Any:
    """JSON from the browser, with every string well-formed.

    This is where page text enters. A page can put half a surrogate pair anywhere, and such a string could never be
    stored. In JSON it can only be written as an escape, so messages without one need no second look.
    """
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    value = json.loads(text)
    return _well_formed(value) if _SURROGATE.search(text) else value


def _well_formed(value: Any) -> Any:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, list):
        return [_well_formed(item) for item in value]
    if isinstance(value, dict):
        return {well_formed(key): _well_formed(item) for key, item in value.items()}
    return value


class Channel:
    """Commands to, and events from, one target (the browser itself, a page, a frame, a worker)."""

    def __init__(self, connection: "Connection", session_id: str) -> None:
        self.session_id = session_id
        self._connection = connection
        self._handlers: dict[str, Handler] = {}
        self._waiting: dict[int, asyncio.Future[Params]] = {}
        self.gone = ""
        self.trace: Callable[[str, str, Params], None] | None = None
        """Called with every command and event, if set."""

    def on(self, method: str, handler: Handler) -> None:
        self._handlers[method] = handler

    async def send(self, method: str, params: Params | None = None, *, timeout: float = COMMAND_TIMEOUT) -> Params:
        future = self.post(method, params)
        try:
            async with asyncio.timeout(timeout):
                return await future
        except TimeoutError:
            raise CommandTimeout(f"{method} was not answered within {timeout:g} s") from None

    def post(self, method: str, params: Params | None = None) -> asyncio.Future[Params]:
        """Sends without waiting; Chromium carries out the commands of one channel in order."""
        future: asyncio.Future[Params] = asyncio.get_running_loop().create_future()
        # Nobody may be waiting for the result; that must not be logged as an unhandled error.
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        if self.gone:
            future.set_exception(CommandRefused(self.gone))
            return future
        number = self._connection.write(self, method, params or {})
        if self.trace is not None:
            self.trace("command", method, params or {})
        self._waiting[number] = future
        future.add_done_callback(lambda _: self._waiting.pop(number, None))
        return future

    def answered(self, number: int, message: Params) -> None:
        future = self._waiting.get(number)
        if future is None or future.done():
            return
        error = message.get("error")
        if error is None:
            future.set_result(message.get("result", {}))
        else:
            future.set_exception(CommandRefused(str(error.get("message", error))))

    def happened(self, method: str, params: Params) -> None:
        if self.trace is not None:
            self.trace("event", method, params)
        handler = self._handlers.get(method)
        if handler is not None:
            handler(params)

    def lose(self, why: str, error: type[Exception] = CommandRefused) -> None:
        """The target is gone: fails every command that is still waiting for an answer."""
        self.gone = why
        for future in list(self._waiting.values()):
            if not future.done():
                future.set_exception(error(why))


NOTHING = msgspec.Raw(b"{}")


class Envelope(msgspec.Struct, rename={"session": "sessionId"}):
    """A message of Chromium of which only the outside is read, to be passed on as it is."""

    id: int | None = None
    method: str = ""
    session: str = ""
    params: msgspec.Raw = NOTHING
    result: msgspec.Raw = NOTHING
    error: msgspec.Raw = NOTHING
    """`NOTHING` if there is none."""


_envelopes = msgspec.json.Decoder(Envelope)


LEAST_FILES, ENOUGH_FILES = 128, 4096


def _have_files_enough() -> None:
    """Chromium dies without a word where it may open too few files; sites and stores need some too."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = ENOUGH_FILES if hard == resource.RLIM_INFINITY else min(hard, ENOUGH_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    if most < LEAST_FILES:
        raise BrowserError(
            f"At most {most} files may be open at a time here, and Chromium needs more.",
            hint=f"Allow {ENOUGH_FILES}: `ulimit -n {ENOUGH_FILES}`, as an administrator if it is refused.",
        )


class Connection:
    """A running Chromium."""

    def __init__(self, process: asyncio.subprocess.Process, profile: Path) -> None:
        self._process = process
        self.profile = profile
        self._number = 0
        self._channels: dict[str, Channel] = {}
        self._by_number: dict[int, Channel] = {}
        self._reader: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._relayed: dict[str, Callable[[Envelope], None]] = {}
        """Sessions of others, whose events they get."""
        self._forwarded: dict[int, Callable[[Envelope], None]] = {}
        """Commands of others, whose answers they get."""
        self._outgoing: asyncio.WriteTransport | None = None
        self._incoming: asyncio.ReadTransport | None = None
        self.closed = ""
        self.root = self.channel("")

    @classmethod
    async def launch(cls, executable: Path, flags: Sequence[str]) -> "Connection":
        _have_files_enough()
        profile = Path(tempfile.mkdtemp(prefix=own_prefix("profile")))
        to_browser, our_end = os.pipe()
        our_other_end, from_browser = os.pipe()
        starting = asyncio.ensure_future(
            asyncio.create_subprocess_exec(
                sys.executable,
                "-ISc",
                _STARTER,
                str(to_browser),
                str(from_browser),
                str(executable),
                *flags,
                f"--user-data-dir={profile}",
                "--remote-debugging-pipe",
                pass_fds=(to_browser, from_browser),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        )
        try:
            connection = cls(await asyncio.shield(starting), profile)
        except (OSError, asyncio.CancelledError) as error:
            os.close(our_end)
            os.close(our_other_end)
            if isinstance(error, asyncio.CancelledError):
                with contextlib.suppress(OSError):
                    # A process was started all the same, and has to end.
                    await cls(await starting, profile).close()
            shutil.rmtree(profile, ignore_errors=True)
            if isinstance(error, OSError):
                raise BrowserError(f"Chromium at {executable} could not be started: {error}.") from error
            raise
        finally:
            os.close(to_browser)
            os.close(from_browser)
        try:
            await connection._connect(our_end, our_other_end)
            connection.version = (await connection.root.send("Browser.getVersion", timeout=START_TIMEOUT))["product"]
        except (CommandRefused, CommandTimeout, BrowserError) as error:
            await connection.close()
            raise BrowserError(
                f"Chromium at {executable} started but did not answer: {error}.",
                hint="Run it once by hand to see what it complains about.",
            ) from error
        except BaseException:
            await connection.close()
            raise
        return connection

    version: str = ""

    async def _connect(self, write_end: int, read_end: int) -> None:
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(write_end, "wb", 0))
        self._outgoing = transport
        stream = asyncio.StreamReader(limit=1 << 20)
        protocol = asyncio.StreamReaderProtocol(stream)
        self._incoming, _ = await loop.connect_read_pipe(lambda: protocol, os.fdopen(read_end, "rb", 0))
        self._reader = asyncio.create_task(self._read(stream))
        self._reader.add_done_callback(self._finished)

    def channel(self, session_id: str) -> Channel:
        channel = self._channels[session_id] = Channel(self, session_id)
        return channel

    def drop(self, session_id: str, why: str) -> None:
        channel = self._channels.pop(session_id, None)
        if channel is not None:
            channel.lose(why)
            self._by_number = {number: other for number, other in self._by_number.items() if other is not channel}

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Runs work that an event started; it is canceled when the connection closes."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        # Targets come and go while they are being set up; any other error is a bug and must be visible.
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, CommandRefused | CommandTimeout | BrowserError):
            asyncio.get_running_loop().call_exception_handler({"message": "browser event", "exception": error})

    def write(self, channel: Channel, method: str, params: Params) -> int:
        if self.closed or self._outgoing is None:
            raise BrowserError(self.closed or "Chromium is not running.")
        self._number += 1
        message: Params = {"id": self._number, "method": method, "params": params}
        if channel.session_id:
            message["sessionId"] = channel.session_id
        self._by_number[self._number] = channel
        self._outgoing.write(json.dumps(message).encode("utf-8", "replace") + b"\0")
        return self._number

    # --- commands of others ------------------------------------------------------------------------------

    def relay(self, session: str, handler: Callable[[Envelope], None] | None) -> None:
        """Who gets the events of a session that is not ours; None: nobody any more."""
        if handler is None:
            self._relayed.pop(session, None)
        else:
            self._relayed[session] = handler

    def forward(self, session: str, method: str, params: msgspec.Raw, answered: Callable[[Envelope], None]) -> bool:
        """Sends a command of somebody else as it is; False if there is no browser to send it to."""
        if self.closed or self._outgoing is None:
            return False
        self._number += 1
        self._forwarded[self._number] = answered
        message = {"id": self._number, "method": method, "params": params, "sessionId": session}
        self._outgoing.write(msgspec.json.encode(message) + b"\0")
        return True

    def _is_of_others(self, data: bytes) -> bool:
        """Passes a message on that is not for us."""
        if not self._relayed and not self._forwarded:
            return False
        try:
            message = _envelopes.decode(data)
        except msgspec.DecodeError:
            return False
        handler = self._relayed.get(message.session) if message.id is None else self._forwarded.pop(message.id, None)
        if handler is None:
            return False
        handler(message)
        return True

    async def _read(self, stream: asyncio.StreamReader) -> None:
        parts: list[bytes] = []
        try:
            while data := await stream.read(_READ_SIZE):
                *whole, rest = data.split(b"\0")
                for piece in whole:
                    parts.append(piece)
                    message = b"".join(parts)
                    if not self._is_of_others(message):
                        self._dispatch(decoded(message))
                    parts.clear()
                if rest:
                    parts.append(rest)
        finally:
            # Also if a bug ended the reading: otherwise every caller would wait forever.
            self._lost("Chromium crashed or was terminated.")

    def _dispatch(self, message: Params) -> None:
        number = message.get("id")
        if number is not None:
            channel = self._by_number.pop(number, None)
            if channel is not None:
                channel.answered(number, message)
            return
        channel = self._channels.get(message.get("sessionId", ""))
        if channel is not None:
            channel.happened(message["method"], message.get("params", {}))

    def _lost(self, why: str) -> None:
        if self.closed:
            return
        self.closed = why
        for channel in list(self._channels.values()):
            channel.lose(why, BrowserError)

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        if not self.closed and self._outgoing is not None:
            self.root.post("Browser.close")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(STOP_TIMEOUT):
                    await self._process.wait()
        # Kill the whole process group: a crashed browser can leave renderers behind.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()
        self._lost("Chromium was closed.")
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
        # Whoever is canceled while the pipes are being opened may have one of them only.
        for transport in (self._outgoing, self._incoming):
            if transport is not None:
                transport.close()
        await asyncio.to_thread(shutil.rmtree, self.profile, ignore_errors=True)

    @property
    def pid(self) -> int:
        return self._process.pid
