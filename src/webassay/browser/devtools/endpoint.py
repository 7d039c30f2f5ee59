"""The DevTools of one session, for a program from outside.

It looks like the port that Chromium itself can open (`/json/version`, `/json/list`, a WebSocket for the browser and one
for each tab), so that Playwright, Puppeteer and others connect unchanged. Behind it is the pipe that we hold. Every
command is held to `rules.py`; answers and events of other contexts are never passed on. What passes is not decoded
further than needed.

On loopback everybody can knock. `admit` names the process that is let in, with those that it started.
"""

import asyncio
import contextlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from webassay.browser.devtools.cdp import NOTHING, CommandRefused, CommandTimeout, Connection, Envelope, Params
from webassay.browser.devtools.rules import Answered, Forbidden, HangUp, Post, Rules
from webassay.browser.devtools.websocket import BrokenSocket, HttpRequest, WebSocket, accepted, read_request, response
from webassay.core.errors import BrowserError
from webassay.core.peers import comes_from

LOCAL = frozenset(("127.0.0.1", "localhost", "[::1]"))


class _Command(msgspec.Struct):
    id: int
    method: str
    params: msgspec.Raw = NOTHING
    sessionId: str = ""


_commands = msgspec.json.Decoder(_Command)


class Relay:
    """One client's WebSocket, and its own sessions in the browser."""

    def __init__(self, connection: Connection, rules: Rules, root: str, base: str, socket: WebSocket) -> None:
        """`root`: the client's session with the browser; `base`: the one that messages without a session are for."""
        self._connection, self._rules, self._root, self._base, self._socket = connection, rules, root, base, socket
        self._sessions = {base: base == root}
        """Each with whether it is one of the browser itself."""
        connection.relay(base, self._happened)

    async def serve(self) -> None:
        try:
            while True:
                self._said(await self._socket.receive())
        except (BrokenSocket, HangUp, BrowserError):
            pass
        finally:
            await self.close()

    async def close(self) -> None:
        """Ending its sessions undoes what they had set: overrides, scripts, interception."""
        self._socket.close()
        for session in self._sessions:
            self._connection.relay(session, None)
        with contextlib.suppress(CommandRefused, CommandTimeout, BrowserError):
            await self._connection.root.send("Target.detachFromTarget", {"sessionId": self._root}, timeout=5)
        self._sessions.clear()

    # --- from the client ---------------------------------------------------------------------------------

    def _said(self, data: bytes) -> None:
        try:
            command = _commands.decode(data)
        except msgspec.DecodeError as error:
            raise BrokenSocket(str(error)) from None
        session = command.sessionId or self._base
        if session not in self._sessions:
            self._refuse(command, "Session with given id not found.", code=-32001)
            return
        try:
            params, post = self._checked(command, self._sessions[session])
        except Forbidden as refusal:
            self._refuse(command, str(refusal))
        except Answered as answer:
            self._answer(command, {"result": answer.result})
        except HangUp:
            self._answer(command, {"result": {}})
            raise
        else:
            forwarded = self._connection.forward(
                session, command.method, params, lambda reply: self._replied(command, reply, post)
            )
            if not forwarded:
                raise BrokenSocket("the browser is gone")

    def _checked(self, command: _Command, browser: bool) -> tuple[msgspec.Raw, Post | None]:
        try:
            params: Any = msgspec.json.decode(command.params)
        except msgspec.DecodeError as error:
            raise Forbidden(f"The parameters cannot be read: {error}") from None
        if not isinstance(params, dict):
            raise Forbidden("The parameters must be an object.")
        before = dict(params)
        post = self._rules.check(command.method, params, browser=browser)
        return (command.params if params == before else msgspec.Raw(msgspec.json.encode(params))), post

    def _refuse(self, command: _Command, message: str, code: int = -32000) -> None:
        self._answer(command, {"error": {"code": code, "message": message}})

    def _answer(self, command: _Command, reply: Params) -> None:
        told = {"sessionId": command.sessionId} if command.sessionId else {}
        self._socket.send(msgspec.json.encode({"id": command.id, **reply, **told}))

    # --- from the browser --------------------------------------------------------------------------------

    def _replied(self, command: _Command, reply: Envelope, post: Post | None) -> None:
        if reply.error is not NOTHING:
            self._answer(command, {"error": reply.error})
            return
        result: Any = reply.result
        if post is not None:
            result = post(msgspec.json.decode(result))
        self._answer(command, {"result": result})

    def _happened(self, event: Envelope) -> None:
        if event.method.startswith("Target.") and not self._concerns(event):
            return
        message: Params = {"method": event.method, "params": event.params}
        if event.session != self._base:
            message["sessionId"] = event.session
        self._socket.send(msgspec.json.encode(message))

    def _concerns(self, event: Envelope) -> bool:
        """Follows which sessions the client has, and keeps what belongs to others from it."""
        params: Params = msgspec.json.decode(event.params)
        if event.method == "Target.attachedToTarget":
            session, browser = params["sessionId"], params["targetInfo"]["type"] == "browser"
            if not browser and not self._rules.owns(params["targetInfo"]):
                self._connection.forward(session, "Runtime.runIfWaitingForDebugger", NOTHING, _ignore)
                detach = msgspec.Raw(msgspec.json.encode({"sessionId": session}))
                self._connection.forward(event.session, "Target.detachFromTarget", detach, _ignore)
                return False
            self._add(session, browser=browser)
            return True
        if event.method == "Target.detachedFromTarget":
            known = self._sessions.pop(params["sessionId"], None) is not None
            self._connection.relay(params["sessionId"], None)
            return known
        if "targetInfo" in params:
            return self._rules.owns(params["targetInfo"])
        # Something was destroyed or crashed; about what was never told, nothing is learned from that.
        return True

    def _add(self, session: str, *, browser: bool) -> None:
        self._sessions[session] = browser
        self._connection.relay(session, self._happened)


def _ignore(reply: Envelope) -> None:
    return None


@dataclass(frozen=True)
class Front:
    """What the endpoint needs of the session."""

    connection: Connection
    rules: Rules
    active: Callable[[], str]
    """The target of the tab in front."""


class Endpoint:
    def __init__(self, front: Front, *, guarded: bool) -> None:
        """`guarded`: nobody is let in before `admit` has said who."""
        self._front = front
        self._guarded = guarded
        self._admitted: int | None = None
        self._browser_id = secrets.token_hex(16)
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()
        self._port = 0

    async def open(self) -> tuple[str, str]:
        """The address of the browser's DevTools, and of the WebSocket of the tab in front."""
        self._server = await asyncio.start_server(self._came, "127.0.0.1", 0, limit=1 << 20)
        self._port = self._server.sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{self._port}", self._page(self._front.active())

    def admit(self, process: int) -> None:
        self._admitted, self._guarded = process, True

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        clients = list(self._clients)
        for task in clients:
            task.cancel()
        await asyncio.gather(*clients, return_exceptions=True)

    def _page(self, target: str) -> str:
        return f"ws://127.0.0.1:{self._port}/devtools/page/{target}"

    def _came(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._client(reader, writer))
        self._clients.add(task)
        task.add_done_callback(self._clients.discard)

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if await self._may_enter(writer.get_extra_info("peername")):
                request = await read_request(reader)
                if request.upgrades:
                    await self._upgrade(request, reader, writer)
                else:
                    writer.write(response(*await self._json(request)))
                    await writer.drain()
        except (BrokenSocket, ConnectionError, CommandRefused, CommandTimeout, BrowserError):
            pass  # It is gone, or never spoke the protocol; there is nobody to tell.
        finally:
            writer.close()

    async def _may_enter(self, peer: Any) -> bool:
        if not self._guarded:
            return True
        if self._admitted is None:
            return False
        return bool(await asyncio.to_thread(comes_from, (peer[0], peer[1]), self._port, self._admitted))

    # --- HTTP --------------------------------------------------------------------------------------------

    async def _json(self, request: HttpRequest) -> tuple[int, Any]:
        # As Chromium does: a page that has our address under another name must not get an answer.
        if request.headers.get("host", "").rpartition(":")[0] not in LOCAL:
            return 403, "Host header is not a local address."
        place = urlsplit(request.target)
        path = place.path.rstrip("/")
        if path in ("/json", "/json/list"):
            return 200, [self._described(info) for info in self._pages()]
        if path == "/json/version":
            version = await self._front.connection.root.send("Browser.getVersion")
            return 200, {
                "Browser": version["product"],
                "Protocol-Version": version["protocolVersion"],
                "User-Agent": version["userAgent"],
                "V8-Version": version["jsVersion"],
                "WebKit-Version": version["revision"],
                "webSocketDebuggerUrl": f"ws://127.0.0.1:{self._port}/devtools/browser/{self._browser_id}",
            }
        do, _, target = path.removeprefix("/json/").partition("/")
        if do == "new" and request.method == "PUT":
            return await self._command("Target.createTarget", {"url": unquote(place.query) or "about:blank"})
        if do in ("activate", "close") and target:
            method = "Target.activateTarget" if do == "activate" else "Target.closeTarget"
            return await self._command(method, {"targetId": target})
        return 404, f"There is no {path} here."

    async def _command(self, method: str, params: Params) -> tuple[int, Any]:
        try:
            self._front.rules.check(method, params, browser=True)
            made = await self._front.connection.root.send(method, params)
        except (Forbidden, CommandRefused, CommandTimeout) as error:
            return 500, str(error)
        info = self._front.rules.targets.get(str(made.get("targetId", "")))
        return 200, self._described(info) if info is not None else "Target activated or closing"

    def _pages(self) -> list[Params]:
        return [info for info in self._front.rules.own_targets() if info["type"] in ("page", "iframe")]

    def _described(self, info: Params) -> Params:
        return {
            "description": "",
            "id": info["targetId"],
            "title": info.get("title", ""),
            "type": info["type"],
            "url": info.get("url", ""),
            "webSocketDebuggerUrl": self._page(info["targetId"]),
        }

    # --- WebSocket ---------------------------------------------------------------------------------------

    async def _upgrade(self, request: HttpRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if "origin" in request.headers:
            writer.write(response(403, "Pages may not connect."))
            return
        kind, _, name = request.target.removeprefix("/devtools/").partition("/")
        connection, rules = self._front.connection, self._front.rules
        page = kind == "page" and rules.owns(rules.targets.get(name, {}))
        if not page and (kind, name) != ("browser", self._browser_id):
            writer.write(response(404, "There is no such target."))
            return
        root = str((await connection.root.send("Target.attachToBrowserTarget"))["sessionId"])
        base = await self._attached(root, name) if page else root
        writer.write(accepted(request))
        await Relay(connection, rules, root, base, WebSocket(reader, writer)).serve()

    async def _attached(self, root: str, target: str) -> str:
        """Through the client's session and not through ours, which would take the tab for a new one."""
        answer: asyncio.Future[Envelope] = asyncio.get_running_loop().create_future()
        params = msgspec.Raw(msgspec.json.encode({"targetId": target, "flatten": True}))
        self._front.connection.forward(root, "Target.attachToTarget", params, answer.set_result)
        reply = await answer
        if reply.error is not NOTHING:
            raise CommandRefused("The tab is gone.")
        return str(msgspec.json.decode(reply.result)["sessionId"])
