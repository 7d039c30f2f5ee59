"""Our own sites: one server process, and for every episode fresh worlds under a label nobody can guess.

There is no pool of used worlds to clean. A world is a copy of a few megabytes, made in milliseconds and discarded with
its label when the episode ends, so nothing that arrives late (a slow request, a forgotten tab) can reach the next
episode's world.
"""

import asyncio
import logging
import re
import secrets
import socket
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from base64 import b64decode
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from webassay.core.errors import InputError, ProbeError, SiteError, WebassayError
from webassay.core.interaction import Cookie
from webassay.core.served import SERVED_TYPE
from webassay.core.task import EvidenceCheck, Task
from webassay.core.touched import TOUCHED_TYPE
from webassay.core.trajectory import (
    ProbeResult,
    RowChange,
    RowsResult,
    ServedResult,
    SessionResult,
    TouchedResult,
    WritableBlobs,
)
from webassay.environments.base import EnvironmentFactory, EnvironmentRequest
from webassay.sites.frames import frame, read_frame
from webassay.sites.obstacles import Obstacle, named

log = logging.getLogger(__name__)

START_SECONDS = 60.0
BUILD_SECONDS = 600.0
"""Opening may have to build the data first."""
STOP_SECONDS = 5.0

_ERRORS: dict[str, type[WebassayError]] = {"InputError": InputError, "SiteError": SiteError}
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


class _Server:
    """The server process, from this side of the socket."""

    def __init__(self, process: Process, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._process = process
        self._writer = writer
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._asked = 0
        self._said = ""
        self._stuck_over = ""
        self.death: SiteError | None = None
        self.ended = asyncio.create_task(self._listen(reader))

    @classmethod
    async def start(cls, sites: Mapping[str, str], cache: Path | None, port: int) -> Self:
        ours, theirs = socket.socketpair()
        with theirs:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "webassay.sites.server", str(theirs.fileno())),
                pass_fds=[theirs.fileno()],
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=STDOUT,
                start_new_session=True,  # Ctrl-C is for us; the server ends when we do.
            )
        server = cls(process, *await asyncio.open_connection(sock=ours))
        settings = {"sites": dict(sites), "cache": str(cache) if cache else "", "port": port, "sys_path": sys.path}
        ready = False
        try:
            await server._ask(settings, "start", START_SECONDS)
            ready = True
        finally:
            if not ready:
                await server.stop()
        return server

    async def call(self, do: str, patience: float, **arguments: Any) -> Any:
        """A server that takes longer than `patience` over a command is stuck, and is killed."""
        return await self._ask({"do": do, "with": arguments}, do, patience)

    async def _ask(self, message: dict[str, Any], doing: str, patience: float) -> Any:
        if self.death is not None:
            raise SiteError(self.death.message) from self.death
        number, self._asked = self._asked, self._asked + 1
        answer = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        self._writer.write(frame({"id": number, **message}))
        try:
            async with asyncio.timeout(patience):
                return await answer
        except TimeoutError:
            self._stuck_over = f"It was killed because {doing!r} took more than {patience:.0f} seconds."
            self._kill()
            await asyncio.shield(self.ended)
            raise SiteError(str(self.death)) from None
        finally:
            self._waiting.pop(number, None)

    async def stop(self) -> None:
        """Closing our end ends the process."""
        self._writer.close()
        await asyncio.shield(self.ended)

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        """Deliver answers until the process ends, then fail everything that is still waiting."""
        hearing = asyncio.create_task(self._hear())
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                self._deliver(await read_frame(reader))
        self._writer.close()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                code = await self._process.wait()
        except TimeoutError:
            self._kill()
            code = await self._process.wait()
        await hearing
        how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        self.death = SiteError(
            " ".join(filter(None, [f"The site server {how}.", self._stuck_over, self._said.strip()]))
        )
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(SiteError(self.death.message))

    def _deliver(self, reply: dict[str, Any]) -> None:
        answer = self._waiting.get(reply["id"])
        if answer is None or answer.done():  # Nobody is waiting for it any more.
            return
        if error := reply.get("error"):
            answer.set_exception(_ERRORS[error["kind"]](error["message"], hint=error["hint"]))
        else:
            answer.set_result(reply["result"])

    async def _hear(self) -> None:
        """Log what the process prints, and keep the end of it for the error message."""
        assert self._process.stdout is not None
        while said := (await self._process.stdout.read(1 << 16)).decode(errors="replace"):
            log.warning("site server: %s", said.rstrip())
            self._said = (self._said + said)[-2000:]


@dataclass(frozen=True)
class ArenaStage:
    """Fresh worlds of some sites, held under one label."""

    label: str
    bases: Mapping[str, str]
    cookies: Sequence[Cookie]
    allowed_hosts: frozenset[str]
    now_ms: int | None
    _server: _Server
    _patience: float
    _counted: Sequence[dict[str, Any]] = ()
    """What the task asks of values that the sites computed."""

    async def expect(self, browser: int) -> None:
        with suppress(SiteError):  # A dead server is a fault of whatever asks it next.
            await self._server.call("expect", self._patience, label=self.label, browser=browser)

    async def hand_over(self) -> None:
        with suppress(SiteError):  # A dead server is a fault of whatever asks it next.
            await self._server.call("hand_over", self._patience, label=self.label)

    async def at_step(self, index: int) -> None:
        with suppress(SiteError):  # A dead server is a fault of whatever asks it next.
            await self._server.call("at_step", self._patience, label=self.label, index=index)

    async def probe(self, cookies: Sequence[Cookie], blobs: WritableBlobs) -> tuple[ProbeResult, ...]:
        """For every site: the rows that changed, and those that were ever written to, the user these cookies belong to,
        and what was served."""
        sent = {
            site: {cookie.name: cookie.value for cookie in cookies if cookie.host.lstrip(".") == _host(base)}
            for site, base in self.bases.items()
        }
        try:
            seen = await self._server.call(
                "probe", self._patience, label=self.label, cookies=sent, counted=self._counted
            )
        except SiteError as error:
            raise ProbeError(f"The sites could not be probed: {error}") from error
        results: list[ProbeResult] = []
        for site, found in seen.items():
            changes = tuple(RowChange.model_validate(change) for change in found["changes"])
            results.append(RowsResult(site=site, changes=changes, columns=found["columns"]))
            results.append(SessionResult(site=site, user=found["user"]))
            served = found["served"]
            blob = blobs.write(b64decode(served["record"]), SERVED_TYPE)
            results.append(ServedResult(site=site, blob=blob, count=served["count"], omitted=served["omitted"]))
            if touched := found["touched"]:
                blob = blobs.write(b64decode(touched["record"]), TOUCHED_TYPE)
                results.append(TouchedResult(site=site, blob=blob, rows=touched["rows"]))
        return tuple(results)

    async def obstruct(self, site: str, obstacles: Sequence[Obstacle]) -> None:
        """From now on these stand in front of the site, replacing any earlier ones."""
        data = [obstacle.model_dump(mode="json") for obstacle in obstacles]
        await self._server.call("obstruct", self._patience, label=self.label, site=site, obstacles=data)


def counted_in(task: Task) -> list[dict[str, Any]]:
    """The values that the sites may have computed of which the task has to know."""
    counts = (count for check in task.checks if isinstance(check, EvidenceCheck) for count in check.counts())
    return [one.model_dump(mode="json") for one in dict.fromkeys(counts)]


def _host(base: str) -> str:
    return urlsplit(base).hostname or ""


class Arena:
    def __init__(
        self, sites: Mapping[str, str], *, cache: Path | None = None, port: int = 0, patience: float = 60.0
    ) -> None:
        """`sites`: name to the `module:attribute` of its `Site`. `cache`: where built data is kept between runs.
        `patience`: seconds after which a server that does not answer is considered stuck and killed."""
        self._sites = sites
        self._patience = patience
        self._cache = cache
        self._port = port
        self._server: _Server | None = None
        self._starting = asyncio.Lock()

    async def __aenter__(self) -> Self:
        await self._alive()
        return self

    async def __aexit__(self, *reason: object) -> None:
        if self._server is not None:
            server, self._server = self._server, None
            await server.stop()

    async def _alive(self) -> _Server:
        """The server, restarted if it died. Episodes that were using the dead one fault; later ones do not."""
        async with self._starting:
            if self._server is not None and self._server.death is not None:
                log.warning("Restarting the site server. %s", self._server.death)
                self._server = None
            if self._server is None:
                self._server = await _Server.start(self._sites, self._cache, self._port)
            return self._server

    def stage(self, task: Task) -> AbstractAsyncContextManager[ArenaStage]:
        obstacles = named(task.obstacles, task.world_seed)
        return self.hold(
            task.sites, task.world_seed, logins=task.logins, scale=task.world_scale, obstacles=obstacles,
            counted=counted_in(task),
        )  # fmt: skip

    @asynccontextmanager
    async def hold(
        self,
        sites: Sequence[str],
        seed: int = 0,
        *,
        logins: Mapping[str, str] | None = None,
        label: str = "",
        scale: str = "",
        obstacles: Sequence[Obstacle] = (),
        counted: Sequence[dict[str, Any]] = (),
    ) -> AsyncIterator[ArenaStage]:
        """Fresh worlds of these sites. A `label` of your own makes URLs readable, but guessable: use it to look at the
        sites, never to evaluate."""
        if label and not _LABEL.fullmatch(label):
            raise InputError(f"{label!r} cannot be part of a host name.", hint="Use a-z, 0-9 and inner hyphens.")
        label = label or secrets.token_hex(8)
        wanted = {"label": label, "sites": list(sites), "seed": seed, "scale": scale, "logins": dict(logins or {})}
        server = await self._alive()
        try:
            opened = await self._open(server, wanted)
        except SiteError:
            if server.death is None:
                raise
            # It died before this episode began, so the episode need not fault.
            server = await self._alive()
            opened = await self._open(server, wanted)
        try:
            hosts: dict[str, str] = opened["hosts"]
            bases = {site: f"http://{host}" for site, host in hosts.items()}
            stage = ArenaStage(
                label=label,
                bases=bases,
                cookies=tuple(
                    Cookie(name, value, _host(bases[site]))
                    for site, given in opened["cookies"].items()
                    for name, value in given.items()
                ),
                allowed_hosts=frozenset(hosts.values()),
                now_ms=opened["now_ms"],
                _server=server,
                _patience=self._patience,
                _counted=counted,
            )
            for site in sites if obstacles else ():
                await stage.obstruct(site, obstacles)
            yield stage
        finally:
            await self._close(server, label)

    async def _open(self, server: _Server, wanted: dict[str, Any]) -> dict[str, Any]:
        try:
            opened: dict[str, Any] = await server.call("open", BUILD_SECONDS, **wanted)
        except asyncio.CancelledError:
            await self._close(server, wanted["label"])  # The server may still be opening it.
            raise
        return opened

    async def _close(self, server: _Server, label: str) -> None:
        with suppress(SiteError):  # A dead server has closed everything.
            await server.call("close", self._patience, label=label)

    async def stats(self) -> dict[str, int]:
        """The server's process id, open worlds, and requests so far."""
        found: dict[str, int] = await (await self._alive()).call("stats", self._patience)
        return found

    async def wait(self) -> None:
        """Returns only by raising, when the server dies: for callers that just keep it running."""
        server = await self._alive()
        await asyncio.shield(server.ended)
        raise SiteError(str(server.death))


def _make(request: EnvironmentRequest) -> Arena:
    foreign = sorted({name for task in request.tasks for name in task.sites} - set(request.sites))
    if foreign:
        raise InputError(
            f"The sites {', '.join(foreign)} are not embedded, so these tasks cannot be played here.",
            hint="Logs of them can be graded: `webassay grade LOGS --benchmark webarena-verified`.",
        )
    return Arena(request.sites, cache=request.cache, port=request.port)


ARENA = EnvironmentFactory("arena", "The embedded sites, a fresh world for every episode.", _make)
