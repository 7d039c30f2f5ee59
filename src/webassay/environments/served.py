"""An application of somebody else's, started by a command on a port of its own: one for each worker.

Nothing is taken on trust. Before an episode the application is reset, and its state must be what it was the first time;
when the agent has stopped, the state must have come to rest before the verifier is asked, since pages save late. An
application that dies, hangs, never listens, or does not come back from a reset as it was is a fault, and is replaced.
"""

import asyncio
import json
import shlex
import shutil
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Self

from webassay.core.application import Application, read_application, source_of
from webassay.core.errors import InputError, ProbeError, SiteError
from webassay.core.files import own_prefix
from webassay.core.interaction import Cookie
from webassay.core.record import Json
from webassay.core.task import ProgramCheck, Task
from webassay.core.trajectory import BlobRef, ProbeResult, ProgramResult, RowsResult, WritableBlobs
from webassay.environments.asking import HttpAnswer, ask
from webassay.environments.base import EnvironmentFactory, EnvironmentRequest, Visit
from webassay.environments.differences import TreeDifference, column_classes, differences, same, undone
from webassay.environments.kept import KeptProcess
from webassay.environments.verifying import Verifier

LOOK_SECONDS = 0.1
REST_SECONDS = 10.0
"""How long a state may keep changing before it is taken as it is."""
MOST_VARIANTS = 40
"""Changes of which each is left out in turn, to see whether the verifier needs it."""
NOTHING = None


class Running:
    """One process of the application."""

    def __init__(
        self, app: Application, base: str, kept: KeptProcess, folder: Path, left_behind: AsyncExitStack
    ) -> None:
        self.app, self.base, self.folder = app, base, folder
        self.seed: Json = NOTHING
        """The state after a reset; None: it is not known yet."""
        self.opened: Json = NOTHING
        """The state once a page is open, where pages bring it."""
        self._kept, self._left_behind = kept, left_behind

    @classmethod
    async def start(cls, app: Application, home: Path) -> Self:
        async with AsyncExitStack() as stack:
            folder = await asyncio.to_thread(_copy, app, home, stack) if app.hidden else home
            port = _free_port()
            command = [part.replace("{port}", str(port)) for part in shlex.split(app.start)]
            kept = await KeptProcess.start(command, folder)
            stack.push_async_callback(kept.stop)
            running = cls(app, f"http://127.0.0.1:{port}", kept, folder, stack)
            await running._listening()
            running._left_behind = stack.pop_all()
        return running

    async def stop(self) -> None:
        await self._left_behind.aclose()

    @property
    def runs(self) -> bool:
        return self._kept.ended is None

    def check(self) -> None:
        if not self.runs:
            raise SiteError(f"{self.app.name} ended with {self._kept.ended}.{self._kept.last_words}")

    async def _listening(self) -> None:
        deadline, why = time.monotonic() + self.app.start_seconds, "nothing listens"
        while time.monotonic() < deadline:
            self.check()
            try:
                left = max(LOOK_SECONDS, deadline - time.monotonic())
                answer = await ask("GET", f"{self.base}{self.app.ready}", seconds=min(left, self.app.answer_seconds))
            except SiteError as error:
                why = error.message.rstrip(".")
            else:
                if answer.status < 500:
                    return
                why = f"{self.app.ready} answers with {answer.status}"
            await asyncio.sleep(LOOK_SECONDS)
        self.check()
        raise SiteError(
            f"{self.app.name} was not up within {self.app.start_seconds:g} seconds: {why}.{self._kept.last_words}"
        )

    async def ask(self, method: str, path: str) -> HttpAnswer:
        self.check()
        try:
            return await ask(method, f"{self.base}{path}", seconds=self.app.answer_seconds)
        except SiteError:
            await asyncio.sleep(LOOK_SECONDS)  # One that has just died is noticed a moment later.
            self.check()
            raise

    async def state(self) -> Json:
        """None: it has none yet."""
        answer = await self.ask("GET", self.app.state)
        if answer.status == 404 and self.app.state_from_page:
            return NOTHING
        if not answer.ok:
            raise SiteError(f"{self.app.name} does not tell its state: {self.app.state} answers with {answer.status}.")
        found: Json = answer.json()
        return found

    async def state_at_rest(self) -> Json:
        """Once it has stayed the same for a while. One that never rests is taken as it is."""
        last, since, deadline = await self.state(), time.monotonic(), time.monotonic() + REST_SECONDS
        while (now := time.monotonic()) < deadline:
            if now - since >= self.app.quiet_seconds:
                break
            await asyncio.sleep(min(LOOK_SECONDS, self.app.quiet_seconds))
            found = await self.state()
            if not same(found, last, self.app.journal):
                since = time.monotonic()
            last = found
        return last

    async def reset(self) -> None:
        """Whoever has a page of it open must have closed it: a page may bring back what it still has."""
        app = self.app
        if app.reset:
            method, _, path = app.reset.partition(" ")
            answer = await self.ask(method, path)
            if answer.status >= 400:
                raise SiteError(f"{app.name} could not be reset: {app.reset} answers with {answer.status}.")
        elif app.reset_command:
            await self._reset_by_command()
        if not app.state:
            return
        state = await self.state()
        if self.seed is NOTHING:
            self.seed = state
        elif not same(self.seed, state, app.journal):
            rows = "; ".join(f"{one.row.operation} in {one.row.table}" for one in differences(self.seed, state)[:3])
            raise SiteError(f"{app.name} was reset, but is not as it was at first: {rows}.")

    async def _reset_by_command(self) -> None:
        port = self.base.rpartition(":")[2]
        command = [
            part.replace("{url}", self.base).replace("{port}", port) for part in shlex.split(self.app.reset_command)
        ]
        kept = await KeptProcess.start(command, self.folder)
        try:
            async with asyncio.timeout(self.app.start_seconds):
                code = await kept.wait()
        except TimeoutError:
            raise SiteError(
                f"{self.app.name} could not be reset: `{self.app.reset_command}` took longer than "
                f"{self.app.start_seconds:g} seconds.{kept.last_words}"
            ) from None
        finally:
            await kept.stop()
        if code != 0:
            raise SiteError(
                f"{self.app.name} could not be reset: `{self.app.reset_command}` ended with {code}.{kept.last_words}"
            )


@dataclass
class ServedStage:
    running: Running
    home: Path
    check: ProgramCheck | None
    python: str
    cookies: Sequence[Cookie] = ()
    healthy: bool = False
    """It was looked at in the end, and can be used again."""
    before: Json = NOTHING
    _app: Application = field(init=False)

    def __post_init__(self) -> None:
        self._app = self.running.app
        self.bases = {self._app.name: self.running.base}
        self.allowed_hosts = frozenset({self.running.base.removeprefix("http://")})
        self.now_ms = self._app.now_ms

    async def seed(self, visit: Visit) -> None:
        """The first page ever brings the data, so it must be opened by nobody who plays."""
        if not self._app.state_from_page or self.running.seed is not NOTHING:
            return
        async with visit(f"{self.running.base}/", self.allowed_hosts, self.now_ms):
            deadline = time.monotonic() + self._app.start_seconds
            while await self.running.state() is NOTHING:
                if time.monotonic() > deadline:
                    raise SiteError(f"{self._app.name} has no state, although its page was opened.")
                await asyncio.sleep(LOOK_SECONDS)
            self.running.opened = await self.running.state_at_rest()
        await self.running.reset()

    async def hand_over(self) -> None:
        if not self._app.state:
            return
        known = self.running.seed if self.running.opened is NOTHING else self.running.opened
        self.before = await self.running.state()
        if not same(self.before, known, self._app.journal):  # The page is still saving.
            self.before = await self.running.state_at_rest()

    async def probe(self, cookies: Sequence[Cookie], blobs: WritableBlobs) -> tuple[ProbeResult, ...]:
        try:
            after = await self.running.state_at_rest() if self._app.state else NOTHING
        except SiteError as error:
            raise ProbeError(f"{self._app.name} could not be looked at: {error}") from error
        found = differences(self.before, after) if self._app.state else []
        results: list[ProbeResult] = []
        if self._app.state:
            changes, columns = tuple(one.row for one in found), column_classes(found, self._app.journal)
            results.append(RowsResult(site=self._app.name, changes=changes, columns=columns))
        if self.check is not None:
            results.append(await self._verified(self.check, found, after, blobs))
        self.running.check()
        self.healthy = True
        return tuple(results)

    async def _verified(
        self, check: ProgramCheck, found: Sequence[TreeDifference], after: Json, blobs: WritableBlobs
    ) -> ProgramResult:
        verifier = Verifier(check.program, self.home, self._app.verify_seconds, self.python)
        states: list[Json] = []
        if check.may_change is None and 0 < len(found) <= MOST_VARIANTS and isinstance(after, dict):
            states = [after, *(undone(after, one) for one in found)]
        said = await verifier.ask(self.running.base, self._app.state, states)
        self.running.check()  # A verifier that was refused by a dead application has judged nothing.
        unneeded = None if said.without is None else tuple(n for n, passes in enumerate(said.without) if passes)
        return ProgramResult(
            site=self._app.name,
            program=check.program,
            source=source_of(self.home, check.program),
            passed=said.passed,
            message=said.message,
            seconds=said.seconds,
            unneeded=unneeded,
            before=_kept(self.before, blobs),
            after=_kept(after, blobs),
        )


class ServedEnvironment:
    def __init__(self, app: Application, home: Path, *, python: str = "") -> None:
        """`python`: the interpreter for verifiers; empty: ours."""
        # Its programs start in it, so its name must not depend on where we stand.
        self._app, self._home, self._python = app, home.resolve(), python
        self._free: list[Running] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *reason: object) -> None:
        free, self._free = self._free, []
        await asyncio.gather(*(running.stop() for running in free))

    async def _one(self) -> Running:
        while self._free:
            running = self._free.pop()
            if running.runs:
                return running
            await running.stop()  # It died when nobody played it, so nobody has to fault.
        return await Running.start(self._app, self._home)

    @asynccontextmanager
    async def stage(self, task: Task) -> AsyncIterator[ServedStage]:
        check = next((check for check in task.checks if isinstance(check, ProgramCheck)), None)
        running = await self._one()
        stage = ServedStage(running, self._home, check, self._python)
        try:
            if not self._app.state_from_page or running.seed is not NOTHING:
                await running.reset()
            yield stage
        finally:
            if stage.healthy:
                self._free.append(running)
            else:
                await running.stop()


def _kept(state: Json, blobs: WritableBlobs) -> BlobRef | None:
    return None if state is NOTHING else blobs.write(json.dumps(state).encode(), "application/json")


def _copy(app: Application, home: Path, stack: AsyncExitStack) -> Path:
    """The folder without what nobody may see, since many applications serve every file that they have."""
    scratch = stack.enter_context(
        tempfile.TemporaryDirectory(prefix=own_prefix("application"), ignore_cleanup_errors=True)
    )

    def hidden(folder: str, names: list[str]) -> set[str]:
        inside = Path(folder).relative_to(home)
        return {
            name
            for name in names
            if any(fnmatch((inside / name).as_posix(), pattern) or fnmatch(name, pattern) for pattern in app.hidden)
        }

    target = Path(scratch) / home.resolve().name
    shutil.copytree(home, target, ignore=hidden, symlinks=True)
    return target


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass(frozen=True)
class ServedOptions:
    python: str = ""
    """The interpreter for verifiers; empty: the one that webassay runs in."""


def served_folder(request: EnvironmentRequest, name: str) -> Path:
    folder = Path(request.place)
    if not request.place or not folder.exists():
        raise InputError(
            f"There is no application at {request.place!r}." if request.place else "No application was named.",
            hint=f"Write --benchmark {name}:FOLDER.",
        )
    return folder


def _make(request: EnvironmentRequest) -> ServedEnvironment:
    folder = served_folder(request, "served")
    home = folder if folder.is_dir() else folder.parent
    return ServedEnvironment(read_application(folder).application, home, python=request.options.python)


SERVED = EnvironmentFactory(
    "served", "An application that a command starts, one for each worker (docs/served.md).", _make, ServedOptions
)
