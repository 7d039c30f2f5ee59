"""One Chromium, many sessions. A session is what one episode plays in: own cookies, own tabs, own network log."""

import asyncio
import base64
import json
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from webassay.browser.act import InputController
from webassay.browser.cdp import Connection, Params, Refused, Unanswered
from webassay.browser.chromium import has_window, launch_flags
from webassay.browser.context import AUTO_ATTACH, TARGETS, Context, SessionSettings
from webassay.browser.hosts import AllowList
from webassay.browser.observe import all_text, mark, picture, read_facts, read_tree, render
from webassay.browser.page import Page
from webassay.browser.prune import prune
from webassay.browser.settle import new_epoch, settle
from webassay.core.errors import ActionError, BrowserError, ProbeError
from webassay.core.interaction import Action, Observation, ObservationPart, Tab

__all__ = ["Acted", "Browser", "Cookie", "FinalPage", "Session", "SessionSettings"]

_LOOKS = 4
_WITHOUT_PAGE = frozenset({"goto", "new_tab", "tab_close", "tab_focus"})
"""What can be done while the page in front has crashed."""


class CookieLike(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def value(self) -> str: ...

    @property
    def host(self) -> str: ...


@dataclass(frozen=True)
class Cookie:
    name: str
    value: str
    host: str
    path: str = "/"


@dataclass(frozen=True)
class Acted:
    error: str
    """Why the action failed, for the agent; empty: it did not."""
    waited_for: tuple[str, ...]
    act_seconds: float
    settle_seconds: float


@dataclass(frozen=True)
class FinalPage:
    url: str
    title: str
    tabs: tuple[str, ...]


DOOR_FLAGS = [
    "--remote-debugging-port=0",
    # Beside the session's own list of hosts: whatever a program opens on its own finds nothing but this machine.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE *.localhost , EXCLUDE 127.0.0.1",
]


class Browser:
    """A Chromium; when it has crashed, the next session starts another."""

    def __init__(self, executable: Path, *, headed: bool = False, door: bool = False) -> None:
        """`door`: other programs can reach this Chromium, over a port of its DevTools, and drive its session."""
        if headed and not has_window(executable):
            raise BrowserError(
                f"{executable} is a headless shell and has no window to show.",
                hint="Install a whole Chromium, or point WEBASSAY_CHROMIUM at one.",
            )
        self._executable = executable
        self._headed = headed
        self._door = door
        self._connection: Connection | None = None
        self._starting = asyncio.Lock()
        self._contexts: dict[str, Context] = {}
        self._dead_end = socket.socket(socket.AF_INET, socket.SOCK_STREAM)

    async def __aenter__(self) -> Self:
        # Bound and never listening: connections are refused, and nobody else can take the port.
        self._dead_end.bind(("127.0.0.1", 0))
        try:
            await self._running()
        except BaseException:
            self._dead_end.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._dead_end.close()
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    def with_door(self) -> "Browser":
        """Another Chromium of the same kind, for an agent that drives by itself."""
        return Browser(self._executable, headed=self._headed, door=True)

    @property
    def pid(self) -> int:
        return self._connection.pid if self._connection is not None else 0

    @property
    def version(self) -> str:
        return self._connection.version if self._connection is not None else ""

    async def _running(self) -> Connection:
        async with self._starting:
            if self._connection is not None and self._connection.closed:
                await self._connection.close()
                self._connection = None
            if self._connection is None:
                flags = launch_flags(headed=self._headed) + (DOOR_FLAGS if self._door else [])
                connection = await Connection.launch(self._executable, flags)
                root = connection.root
                root.on("Target.attachedToTarget", lambda p: self._attached(connection, p))
                root.on("Target.detachedFromTarget", lambda p: self._detached(connection, p))
                root.on("Target.targetCrashed", self._crashed)
                root.on("Browser.downloadWillBegin", self._download_began)
                root.on("Browser.downloadProgress", self._download_went_on)
                try:
                    await root.send("Target.setDiscoverTargets", {"discover": True})
                    await root.send("Target.setAutoAttach", AUTO_ATTACH)
                except (Refused, Unanswered) as error:
                    await connection.close()
                    raise BrowserError(f"{connection.version} cannot be driven: {error}.") from error
                self._connection = connection
            return self._connection

    @asynccontextmanager
    async def session(
        self,
        *,
        allowed_hosts: Collection[str],
        cookies: Sequence[CookieLike] = (),
        now_ms: int | None = None,
        settings: SessionSettings | None = None,
    ) -> AsyncIterator["Session"]:
        connection = await self._running()
        allow = AllowList(allowed_hosts)
        dead_end = f"http://127.0.0.1:{self._dead_end.getsockname()[1]}"
        with tempfile.TemporaryDirectory(prefix="webassay-session-", ignore_cleanup_errors=True) as folder:
            try:
                made = await connection.root.send(
                    "Target.createBrowserContext", {"disposeOnDetach": True, **allow.proxy(dead_end)}
                )
            except (Refused, Unanswered) as error:
                raise BrowserError(f"No session could be opened: {error}.") from error
            context_id = made["browserContextId"]
            context = Context(connection, context_id, allow, settings or SessionSettings(), Path(folder), now_ms)
            self._contexts[context_id] = context
            try:
                session = Session(context)
                await session.start(cookies)
                yield session
            finally:
                self._contexts.pop(context_id, None)
                await context.close()

    # --- events of the browser, handed to the context that they belong to ------------------------------

    def _attached(self, connection: Connection, params: Params) -> None:
        info = params["targetInfo"]
        channel = connection.channel(params["sessionId"])
        context = self._contexts.get(info.get("browserContextId", ""))
        if context is None or info["type"] not in TARGETS:
            # Nobody's: it belongs to no session, or outlived it.
            channel.post("Runtime.runIfWaitingForDebugger")
            if self._door and info["type"] == "page":
                # Opened from outside beside the session: it would be neither recorded nor held to the allowed hosts.
                connection.root.post("Target.closeTarget", {"targetId": info["targetId"]})
            return
        context.attached(channel, info)

    def _detached(self, connection: Connection, params: Params) -> None:
        connection.drop(params["sessionId"], "The page was closed.")
        for context in self._contexts.values():
            context.detached(params["sessionId"])

    def _crashed(self, params: Params) -> None:
        for context in self._contexts.values():
            context.crashed(params["targetId"])

    def _download_began(self, params: Params) -> None:
        for context in self._contexts.values():
            context.download_began(params)

    def _download_went_on(self, params: Params) -> None:
        for context in self._contexts.values():
            context.download_went_on(params)


class Session:
    """What an episode sees of the browser. Made by `Browser.session`."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._hand = InputController(context)
        self._step = 0
        self._last_error = ""

    async def door(self) -> tuple[str, str]:
        """Where a program from outside finds this session: the DevTools, and the tab in front."""
        profile = self._context.connection.profile
        port = await asyncio.to_thread(lambda: (profile / "DevToolsActivePort").read_text("ascii").split()[0])
        page = self._context.active.target_id
        return f"http://127.0.0.1:{port}", f"ws://127.0.0.1:{port}/devtools/page/{page}"

    async def start(self, cookies: Sequence[CookieLike]) -> None:
        made = [
            {"name": cookie.name, "value": cookie.value, "url": f"http://{cookie.host}{getattr(cookie, 'path', '/')}"}
            for cookie in cookies
        ]
        try:
            await self._context.start()
            if made:
                await self._context.connection.root.send(
                    "Storage.setCookies", {"cookies": made, "browserContextId": self._context.id}
                )
        except (Refused, Unanswered) as error:
            raise BrowserError(f"A session could not be set up: {error}.") from error

    async def open(self, urls: Sequence[str]) -> None:
        """The start pages, one tab each; the first one ends up in front."""
        context = self._context
        try:
            for number, url in enumerate(urls):
                page = context.active if number == 0 else await context.new_tab()
                await context.navigate(page, url)
                await context.settle()
            if len(urls) > 1:
                await context.bring_to_front(context.pages[0])
        except (ActionError, Refused, Unanswered) as error:
            raise BrowserError(f"A start page could not be opened: {error}") from error

    async def act(self, action: Action) -> Acted:
        """Does it, and waits until the page has reacted."""
        context = self._context
        started = time.monotonic()
        error = ""
        try:
            if context.active.crashed and action.name not in _WITHOUT_PAGE:
                raise ActionError("The page crashed.", hint="Open an address with goto.")
            context.tell(action.text)
            new_epoch(context.active)
            await self._hand.perform(action)
        except ActionError as mistake:
            error = str(mistake)
        acted = time.monotonic()
        waited = await context.settle()
        self._last_error = error
        self._step += 1
        return Acted(error, waited, acted - started, time.monotonic() - acted)

    # --- looking ---------------------------------------------------------------------------------------

    async def observe(self, parts: Collection[ObservationPart]) -> Observation:
        context = self._context
        wanted = frozenset(parts)
        for _ in range(_LOOKS):
            if context.active.crashed:
                break
            try:
                return await self._look(context.active, wanted)
            except Refused:
                # The page went on to another document in the middle; look at that one.
                await context.settle()
            except Unanswered:
                # It is stuck for good; settling stops it.
                await context.settle()
        return self._observation(context.active, tabs=tuple(Tab(tab.url, "") for tab in context.pages), tree="")

    async def _look(self, page: Page, wanted: frozenset[ObservationPart]) -> Observation:
        form = self._context.settings.picture
        shot: asyncio.Task[bytes] | None = None
        if wanted & {"screenshot", "full_screenshot", "marks"}:
            full = "full_screenshot" in wanted and "marks" not in wanted
            shot = asyncio.create_task(picture(page, form, full=full))
        try:
            if not wanted & {"tree", "pruned", "boxes", "marks"}:
                tree = await read_facts(page)
            else:
                tree = await read_tree(page, self._context.settings.viewport, boxes=bool(wanted & {"boxes", "marks"}))
            text = await all_text(page) if "text" in wanted else None
            html = await page.evaluate(page.main_frame, "webassay.html()") if "html" in wanted else None
            taken = await shot if shot is not None else None
            if taken is not None and "marks" in wanted:
                taken = await mark(page, taken, form, tree.nodes)
        finally:
            if shot is not None:
                shot.cancel()
        if tree.truncated:
            self._context.notice("The page is very long: the end of its tree was left out.")
        if page.main_frame.is_pdf:
            self._context.notice("The page is a PDF file: only a screenshot shows what is in it.")
        return self._observation(
            page,
            title=tree.title,
            tabs=await self._tabs(page, tree.title),
            tree=render(tree.nodes) if wanted & {"tree", "boxes", "marks"} else None,
            nodes=tree.nodes,
            pruned=prune(tree.nodes) if "pruned" in wanted else None,
            screenshot=taken,
            screenshot_type=form.media_type,
            text=text,
            html=html,
            focused=tree.focused,
            scroll=tree.scroll,
        )

    def _observation(self, page: Page, **seen: object) -> Observation:
        pages = self._context.pages
        common: dict[str, object] = {
            "url": page.url,
            "title": "",
            "active_tab": pages.index(page) if page in pages else 0,
            "step": self._step,
            "last_error": self._last_error,
            "notices": self._context.take_notices(),
            "viewport": self._context.settings.viewport,
        }
        return Observation(**(common | seen))  # type: ignore[arg-type]  # the two callers name their fields

    async def _tabs(self, front: Page, title: str) -> tuple[Tab, ...]:
        pages = self._context.pages
        return tuple([Tab(page.url, title if page is front else await self._title(page)) for page in pages])

    async def _title(self, page: Page) -> str:
        try:
            return str(await page.evaluate(page.main_frame, "document.title.toWellFormed()"))
        except (Refused, Unanswered):
            return ""

    async def final_page(self) -> FinalPage:
        page = self._context.active
        return FinalPage(page.url, await self._title(page), tuple(tab.url for tab in self._context.pages))

    # --- the record ------------------------------------------------------------------------------------

    async def seal(self) -> bytes:
        """Ends the network log and returns it: one `Exchange` a line. What happens later is not in it."""
        path = await self._context.capture.seal()
        return await asyncio.to_thread(path.read_bytes)

    def downloads(self) -> list[Path]:
        """The files that the pages gave; they are gone when the session is."""
        return self._context.downloads()

    async def cookies(self) -> list[Cookie]:
        root = self._context.connection.root
        try:
            answer = await root.send("Storage.getCookies", {"browserContextId": self._context.id})
        except (Refused, Unanswered) as error:
            raise BrowserError(f"The cookies could not be read: {error}.") from error
        return [Cookie(c["name"], c["value"], c["domain"].lstrip("."), c["path"]) for c in answer["cookies"]]

    # --- probes ----------------------------------------------------------------------------------------

    async def read_locator(self, url: str, script: str) -> str:
        """What a benchmark's script finds in a fresh tab; the script runs in the page, nowhere else.

        Nothing there (null, or a property of null) is the empty text: that is an answer. A page that cannot be
        opened, or a script that fails otherwise, is a `ProbeError`.
        """
        async with self._fresh_tab(url) as page:
            result = await page.channel.send(
                "Runtime.evaluate", {"expression": script, "returnByValue": True, "awaitPromise": True}
            )
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            if details.get("exception", {}).get("className") == "TypeError":
                return ""
            raise ProbeError(f"The locator failed at {url:.200}: {details.get('text')}")
        value = result["result"].get("value")
        if value is None:
            return ""
        return value if isinstance(value, str) else json.dumps(value)

    async def read_resource(self, url: str) -> tuple[int, str]:
        """Status and body of what an address answers to the session's cookies."""
        async with self._fresh_tab(url) as page:
            document = page.answer
            if document is None:
                raise ProbeError(f"{url:.200} gave no answer.")
            answer = await page.channel.send("Network.getResponseBody", {"requestId": document["requestId"]})
        body = answer["body"]
        if answer.get("base64Encoded"):
            body = base64.b64decode(body).decode("utf-8", "replace")
        return int(document["response"]["status"]), str(body)

    @asynccontextmanager
    async def _fresh_tab(self, url: str) -> AsyncIterator[Page]:
        context = self._context
        before = context.active
        try:
            page = await context.new_tab()
            try:
                await context.navigate(page, url)
                await settle(page, context.settings.patience)
                yield page
            finally:
                await context.close_page(page)
                await context.bring_to_front(before)
        except (ActionError, Refused, Unanswered) as error:
            raise ProbeError(f"{url:.200} could not be looked at: {error}") from error
