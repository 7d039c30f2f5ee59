"""The site-server process: any number of worlds behind one port, controlled over a socket pair.

HTTP requests are routed by host name, `<site>.<label>.localhost:<port>`; a world cannot be found without its label.
Commands (open, probe, close) arrive over a socket that only the parent process holds, so nothing that a page can reach
can reset or read a world. When the parent goes away, for whatever reason, that socket closes and this process exits.

A world serves one request at a time. The body is read before and the answer sent after, so a request holds its world
only while the site computes. A command waits its turn like a request.
"""

import asyncio
import importlib
import logging
import os
import socket
import sys
import threading
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import uvicorn
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from webassay.core.errors import InputError, SiteError, WebassayError, boundary
from webassay.core.peers import comes_from, hung_up
from webassay.core.served import ServedCount
from webassay.core.touched import TouchedRecord
from webassay.sites.counting import is_counted
from webassay.sites.frames import frame, read_from
from webassay.sites.kit import Neighbor, Site, SiteRequest, World, json_value, snapshot
from webassay.sites.messages import came_from, opens_page, response, sized, without_cookies
from webassay.sites.obstacles import (
    OBSTACLES,
    DelayObstacle,
    EventObstacle,
    InjectObstacle,
    LogInWallObstacle,
    LostFieldObstacle,
    Obstacle,
    RedirectObstacle,
    SignedOutObstacle,
    Standing,
    StatusObstacle,
)
from webassay.sites.receipts import Receipts, collect, stop
from webassay.sites.recording import Recorder, Visitor, address_of
from webassay.sites.snapshots import ChangedRow, Snapshot
from webassay.sites.touched import Asked

log = logging.getLogger("webassay.sites.server")

LARGEST_BODY = 16 * 1024 * 1024
TURN_SECONDS = 30.0
"""How long a command waits for a request that holds its world."""
SNAPSHOTS_KEPT = 8
VISITORS = "webassay.visitors"
"""Where a connection keeps which browsers it comes from, by their process."""

# --- one world -------------------------------------------------------------------------------------------


class HostedWorld:
    """A world with its application, its obstacles, the record of what it serves, and the lock that requests and
    commands take in turn."""

    def __init__(self, world: World, turn: asyncio.Lock | None = None) -> None:
        """`turn`: that of the world whose database this one shares."""
        self.world = world
        self.app: ASGIApp = world.site.make_app(world)
        self.recorder = Recorder()
        self.browser: int | None = None
        """The process whose requests are expected."""
        self.step: int | None = None
        """The one that is carried out, or was last; None: the agent has not begun."""
        self.closed = False
        self.obstruct(())
        self.turns = turn or asyncio.Lock()

    def obstruct(self, obstacles: tuple[Obstacle, ...]) -> None:
        self._before = [Standing(self._placed(obstacle)) for obstacle in obstacles]

    def _placed(self, obstacle: Obstacle) -> Obstacle:
        if isinstance(obstacle, LogInWallObstacle) and not obstacle.log_in:
            return obstacle.model_copy(update={"log_in": self.world.site.log_in_path})
        return obstacle

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[World]:
        """Exclusive access to the world, for a command."""
        name = self.world.site.name
        try:
            async with asyncio.timeout(TURN_SECONDS):
                await self.turns.acquire()
        except TimeoutError:
            raise SiteError(f"A request to the {name} site has been running for {TURN_SECONDS:.0f} seconds.") from None
        try:
            yield self.world
        finally:
            self.turns.release()

    async def probe(self, cookies: Mapping[str, str], counted: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
        """`counted`: what the task asks of values that the site computed, as `ServedCount`."""
        asked = [ServedCount(one["table"], [tuple(row) for row in one["rows"]], one["value"]) for one in counted]
        async with self.turn() as world:
            changes = await asyncio.to_thread(world.diff)
            computed = self.recorder.computed
            counts = [one for one in asked if await asyncio.to_thread(is_counted, world, one, computed)]
            with boundary(SiteError, f"Asking the {world.site.name} site who is logged in"):
                user = world.site.whoami(world, cookies)
            record, count, omitted = await asyncio.to_thread(self.recorder.pack(counts))
            written = await asyncio.to_thread(world.touched_rows)
        touched = {change.table for change in changes}
        return {
            "changes": [_as_json(change) for change in changes],
            "columns": {table: dict(classes) for table, classes in world.site.columns.items() if table in touched},
            "user": user,
            "served": {"record": b64encode(record).decode(), "count": count, "omitted": omitted},
            "touched": _packed(written),
        }

    def close(self) -> None:
        """Immediately, even if a request is running: nobody will use this world again."""
        self.closed = True
        if self.turns.locked():
            self.world.db.interrupt()
        else:
            self.world.close()

    async def answer(self, scope: Scope, body: bytes, port: int = 0) -> list[Message]:
        """The site's complete answer; empty if the world is gone, or if the visitor hung up at once. A browser waits
        for its answer; whoever does not, so that nobody can tell who it was, has asked for nothing."""
        visitor = await self._visitor(scope, port)
        if visitor is None:
            return []
        reply, receipts = await self._obstructed(scope), None
        if not reply:
            body = self._with_losses(scope, body)
            scope = sized(scope, body)
            receipts = Receipts(self.world)
            async with self.turns:
                token = collect(receipts)
                self.world.answering(self._asked(scope))
                try:
                    reply = [] if self.closed else await self._computed(scope, body)
                finally:
                    stop(token)
            reply = self._afterwards(scope, reply)
        if reply:
            self.recorder.note(scope, reply, visitor, receipts)
        return reply

    def _asked(self, scope: Scope) -> Asked:
        return Asked(self.world.site.name, scope["method"], address_of(scope), self.recorder.age, self.step)

    async def _visitor(self, scope: Scope, port: int) -> Visitor | None:
        """Looked up once for each connection: what is at its other end does not change. None: it is gone."""
        known: dict[int, Visitor] = scope.get("state", {}).get(VISITORS, {})
        if self.browser is None or not scope.get("client"):
            return ""
        if self.browser not in known:
            peer = tuple(scope["client"])
            found = await asyncio.to_thread(comes_from, peer, port, self.browser)
            if found is None and await asyncio.to_thread(hung_up, peer, port):
                return None
            known[self.browser] = "" if found is None else "browser" if found else "other"
        return known[self.browser]

    async def _obstructed(self, scope: Scope) -> list[Message]:
        """Applies the obstacles in order; the first one that answers wins."""
        method, path = scope["method"], scope["path"]
        for one in self._before:
            if isinstance(one.obstacle, InjectObstacle) and one.obstacle.dismiss == path and method == "POST":
                one.remove()
                return response(303, "", ("location", came_from(scope)))
        # All of them have been met, also those behind the first one that answers.
        for obstacle in [one.obstacle for one in self._before if self._is_met(one, scope)]:
            match obstacle:
                case StatusObstacle():
                    return response(obstacle.status, obstacle.body, content_type="text/html; charset=utf-8")
                case RedirectObstacle():
                    return response(302, "", ("location", obstacle.target()))
                case LogInWallObstacle() if path == obstacle.log_in:
                    scope["headers"] = without_cookies(scope)
                case LogInWallObstacle():
                    query = scope.get("query_string", b"").decode("latin-1")
                    return response(302, "", ("location", obstacle.target(path, query)))
                case SignedOutObstacle():
                    scope["headers"] = without_cookies(scope)
                case DelayObstacle():
                    await asyncio.sleep(obstacle.seconds)
        return []

    def _is_met(self, one: Standing, scope: Scope) -> bool:
        """Those that look further than at the address are not met here, and count for themselves."""
        obstacle, path = one.obstacle, scope["path"]
        if isinstance(obstacle, InjectObstacle | LostFieldObstacle | EventObstacle):
            return False
        if isinstance(obstacle, LogInWallObstacle):
            if path == obstacle.log_in:
                return one.stands(scope["method"], path)
            if not self.world.site.has_accounts or not opens_page(scope):
                return False
        return one.stands(scope["method"], path) and one.takes_place()

    def _with_losses(self, scope: Scope, body: bytes) -> bytes:
        for one in self._before:
            if isinstance(one.obstacle, LostFieldObstacle) and one.stands(scope["method"], scope["path"]):
                rest = one.obstacle.without_field(body)
                body = rest if rest != body and one.takes_place() else body
        return body

    def _let_happen(self, scope: Scope, body: bytes) -> None:
        for one in self._before:
            if isinstance(one.obstacle, EventObstacle) and one.stands(scope["method"], scope["path"]):
                event = self.world.site.events.get(one.obstacle.event)
                if event is not None and event(self.world, _site_request(scope, body)):
                    one.takes_place()

    def _afterwards(self, scope: Scope, reply: list[Message]) -> list[Message]:
        for one in self._before if reply else ():
            if not one.stands(scope["method"], scope["path"]):
                continue
            if isinstance(one.obstacle, InjectObstacle):
                reply = self._injected(one, one.obstacle, reply)
            elif isinstance(one.obstacle, LogInWallObstacle) and (scope["method"], reply[0]["status"]) == ("POST", 303):
                one.remove()  # They have logged in.
        return reply

    def _injected(self, one: Standing, obstacle: InjectObstacle, reply: list[Message]) -> list[Message]:
        """The answer with the obstacle in it, if it is a whole page."""
        start, *parts = reply
        body = b"".join(part.get("body", b"") for part in parts)
        kinds = [value for name, value in start.get("headers", ()) if name == b"content-type"]
        end = body.rfind(b"</body>")
        if end < 0 or not any(value.startswith(b"text/html") for value in kinds) or not one.takes_place():
            return reply
        whole = body[:end] + obstacle.html.encode() + body[end:]
        headers = [(name, value) for name, value in start["headers"] if name != b"content-length"]
        sized = {**start, "headers": [*headers, (b"content-length", str(len(whole)).encode())]}
        return [sized, {"type": "http.response.body", "body": whole}]

    async def _computed(self, scope: Scope, body: bytes) -> list[Message]:
        incoming: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        sent: list[Message] = []
        whole = asyncio.Event()

        async def receive() -> Message:
            if not incoming:
                await whole.wait()  # The visitor does not hang up before the answer is complete.
            return incoming.pop() if incoming else {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                whole.set()

        try:
            with boundary(SiteError, f"{scope['method']} {scope['path']} on the {self.world.site.name} site"):
                self._let_happen(scope, body)
                await self.app(scope, receive, send)
        except WebassayError as error:
            log.error("%s", error, exc_info=error.__cause__)
        return sent if whole.is_set() else response(500, "Internal Server Error")


def _site_request(scope: Scope, body: bytes) -> SiteRequest:
    cookies = b"; ".join(value for name, value in scope["headers"] if name == b"cookie")
    fields = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
    return SiteRequest(scope["path"], fields, cookie_parser(cookies.decode("latin-1")))


def _as_json(change: ChangedRow) -> dict[str, Any]:
    def values(row: Mapping[str, Any] | None) -> dict[str, Any] | None:
        return None if row is None else {name: json_value(value) for name, value in row.items()}

    return {
        "table": change.table,
        "key": values(change.key),
        "before": values(change.before),
        "after": values(change.after),
    }


def _packed(written: TouchedRecord | None) -> dict[str, Any]:
    """Empty for a world whose database another one keeps."""
    if written is None:
        return {}
    rows = sum(len(request.rows) + request.more for request in written.requests)
    return {"record": b64encode(written.pack()).decode(), "rows": rows}


# --- all worlds ------------------------------------------------------------------------------------------


class Server:
    """Worlds by label, the ASGI application that routes requests to them, and the parent's commands."""

    def __init__(self, sites: Mapping[str, Site], cache: Path | None, port: int) -> None:
        self._sites = sites
        self._cache = cache
        self._port = port
        self._open: dict[str, dict[str, HostedWorld]] = {}
        self._by_host: dict[str, HostedWorld] = {}
        self._closed_before_open: set[str] = set()
        self._snapshots: dict[tuple[str, int, str], asyncio.Task[Snapshot]] = {}
        self._requests = 0
        self.commands: dict[str, Callable[..., Coroutine[Any, Any, Any]]] = {
            "open": self.open,
            "probe": self.probe,
            "obstruct": self.obstruct,
            "expect": self.expect,
            "hand_over": self.hand_over,
            "at_step": self.at_step,
            "close": self.close,
            "stats": self.stats,
        }

    # --- pages ---

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._requests += 1
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        hosted = self._by_host.get(hosts[0].decode("latin-1").lower()) if len(hosts) == 1 else None
        if hosted is None:
            reply = []
        else:
            body = await _body(receive)
            if body is None:
                return
            too_large = len(body) > LARGEST_BODY
            reply = response(413, "Content Too Large") if too_large else await hosted.answer(scope, body, self._port)
        for message in reply or response(404, "Not Found"):
            await send(message)

    # --- commands ---

    async def open(
        self, label: str, sites: list[str], seed: int, logins: dict[str, str], scale: str = ""
    ) -> dict[str, Any]:
        """Fresh worlds under one label, with these users logged in."""
        if label in self._open:
            raise SiteError(f"The label {label} is taken.")
        worlds: dict[str, HostedWorld] = {}
        keepers: dict[str, HostedWorld] = {}
        for name in sites:
            if name not in self._sites:
                raise InputError(f"There is no site {name!r}.", hint=f"Sites: {', '.join(sorted(self._sites))}.")
            owner = self._sites[name].owner.name
            keeper = keepers.get(owner)
            pristine = await self._snapshot(self._sites[name].owner, seed, scale)
            beside = keeper.world if keeper else None
            world = await asyncio.to_thread(World, self._sites[name], seed, pristine, beside)
            with boundary(SiteError, f"Starting the {name} site"):
                worlds[name] = HostedWorld(world, keeper.turns if keeper else None)
            keepers.setdefault(owner, worlds[name])
        cookies = {}
        for name, user in logins.items():
            if name not in worlds:
                raise InputError(f"There is a log-in for {name!r}, which is not one of the task's sites.")
            with boundary(SiteError, f"Logging {user} in on the {name} site"):
                cookies[name] = self._sites[name].log_in(worlds[name].world, user)
        if label in self._closed_before_open:
            self._closed_before_open.discard(label)
            raise SiteError("The worlds were closed before they had opened.")
        hosts = {name: f"{name.replace('_', '-')}.{label}.localhost:{self._port}" for name in worlds}
        _introduce(worlds, hosts, logins)
        self._open[label] = worlds
        self._by_host.update({hosts[name].lower(): hosted for name, hosted in worlds.items()})
        return {
            "hosts": hosts,
            "cookies": cookies,
            "now_ms": max((hosted.world.now() for hosted in worlds.values()), default=None),
        }

    async def _snapshot(self, site: Site, seed: int, scale: str) -> Snapshot:
        """Built once, however many ask for it at the same time; a failed build is tried again."""
        key = (site.name, seed, scale)
        building = self._snapshots.pop(key, None)
        if building is None or (building.done() and building.exception() is not None):
            building = asyncio.create_task(asyncio.to_thread(snapshot, site, seed, self._cache, scale))
        self._snapshots[key] = building  # Now the most recently used.
        for old in list(self._snapshots)[:-SNAPSHOTS_KEPT]:
            if self._snapshots[old].done():
                del self._snapshots[old]
        return await asyncio.shield(building)

    def _worlds(self, label: str) -> dict[str, HostedWorld]:
        if label not in self._open:
            raise SiteError("There is no world with that label.")
        return self._open[label]

    async def probe(
        self, label: str, cookies: dict[str, dict[str, str]], counted: Sequence[dict[str, Any]] = ()
    ) -> dict[str, Any]:
        """What changed on each site, which user these cookies belong to, and what the site served."""
        worlds = self._worlds(label).items()
        return {name: await hosted.probe(cookies.get(name, {}), counted) for name, hosted in worlds}

    async def obstruct(self, label: str, site: str, obstacles: list[dict[str, Any]]) -> None:
        with boundary(InputError, "These obstacles cannot be used"):
            self._worlds(label)[site].obstruct(OBSTACLES.validate_python(obstacles))

    async def expect(self, label: str, browser: int) -> None:
        """From now on it is known whose requests are the episode's."""
        for hosted in self._worlds(label).values():
            hosted.browser = browser

    async def hand_over(self, label: str) -> None:
        """The start pages are open, and the agent begins."""
        for hosted in self._worlds(label).values():
            hosted.recorder.hand_over()

    async def at_step(self, label: str, index: int) -> None:
        for hosted in self._worlds(label).values():
            hosted.step = index

    async def close(self, label: str) -> None:
        worlds = self._open.pop(label, None)
        if worlds is None:
            self._closed_before_open.add(label)
            return
        gone = {id(hosted) for hosted in worlds.values()}
        self._by_host = {host: hosted for host, hosted in self._by_host.items() if id(hosted) not in gone}
        for hosted in worlds.values():
            hosted.close()

    async def stats(self) -> dict[str, Any]:
        return {"pid": os.getpid(), "worlds": len(self._by_host), "requests": self._requests}


def _introduce(worlds: Mapping[str, HostedWorld], hosts: Mapping[str, str], logins: Mapping[str, str]) -> None:
    """Tells every world where the others are, and how this session's user logs in there."""
    everyone = []
    for name, hosted in worlds.items():
        site = hosted.world.site
        account = site.credentials(logins[name]) if name in logins else {}
        everyone.append(Neighbor(name, site.title or name, site.summary, f"http://{hosts[name]}", account))
    for name, hosted in worlds.items():
        hosted.world.neighbors = tuple(other for other in everyone if other.name != name)


async def _body(receive: Receive) -> bytes | None:
    """The request's body, read until it is complete or too large; None if the visitor is gone."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if len(body) > LARGEST_BODY or not message.get("more_body", False):
            return bytes(body)


# --- the process -----------------------------------------------------------------------------------------


class _Connection(HttpToolsProtocol):
    """Its requests share what is known about whoever is at the other end."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.app_state = {**self.app_state, VISITORS: {}}
        super().connection_made(transport)


def load_sites(paths: Mapping[str, str]) -> dict[str, Site]:
    """Imports each site from its `module:attribute`."""
    sites = {}
    for name, path in paths.items():
        module, _, attribute = path.partition(":")
        with boundary(InputError, f"The site {name} cannot be imported from {path!r}"):
            site = getattr(importlib.import_module(module), attribute)
        if not isinstance(site, Site) or site.name != name:
            raise InputError(f"{path!r} is not the site {name}.")
        sites[name] = site
    return sites


def _listen(port: int) -> socket.socket:
    # asyncio turns off Nagle's algorithm only if the protocol is named; otherwise every page takes 40 ms longer.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        raise InputError(
            f"Port {port} is not available: {error.strerror}.", hint="Choose another port, or 0 for any free one."
        ) from error
    listener.listen(256)
    return listener


def _problem(error: WebassayError) -> dict[str, str]:
    return {"kind": type(error).__name__, "message": error.message, "hint": error.hint}


async def _serve(server: Server, listener: socket.socket, channel: socket.socket) -> None:
    loop = asyncio.get_running_loop()

    async def obey(command: dict[str, Any]) -> None:
        reply: dict[str, Any] = {"id": command["id"]}
        try:
            with boundary(SiteError, f"The site server's command {command['do']}"):
                reply["result"] = await server.commands[command["do"]](**command["with"])
        except WebassayError as error:
            reply["error"] = _problem(error)
        channel.sendall(frame(reply))

    def listen() -> None:
        # In a thread, so that it notices the parent's end even while a site blocks the event loop.
        try:
            while (command := read_from(channel)) is not None:
                asyncio.run_coroutine_threadsafe(obey(command), loop)
        finally:
            # Whatever happened: a parent killed in the middle of a message resets the connection.
            os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    config = uvicorn.Config(
        server,
        http=_Connection,
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
        date_header=False,  # Pages must not learn any time but the world's.
    )
    await uvicorn.Server(config).serve(sockets=[listener])


def main(arguments: Iterable[str]) -> int:
    """The argument is the number of an inherited socket; everything else arrives over it."""
    (descriptor,) = arguments
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    channel = socket.socket(fileno=int(descriptor))
    settings = read_from(channel)
    if settings is None:
        return 0
    sys.path.extend(entry for entry in settings["sys_path"] if entry not in sys.path)
    try:
        sites = load_sites(settings["sites"])
        listener = _listen(settings["port"])
    except WebassayError as error:
        channel.sendall(frame({"id": settings["id"], "error": _problem(error)}))
        return 1
    port = listener.getsockname()[1]
    server = Server(sites, Path(settings["cache"]) if settings["cache"] else None, port)
    channel.sendall(frame({"id": settings["id"], "result": {"port": port}}))
    asyncio.run(_serve(server, listener, channel))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
