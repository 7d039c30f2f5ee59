"""One Chromium, many sessions. Each episode runs in its own session, with its own cookies, tabs and network log."""

import asyncio
import json
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from webassay.browser.devtools.cdp import CommandRefused, CommandTimeout, Connection, Params
from webassay.browser.devtools.chromium import has_window, launch_flags
from webassay.browser.devtools.effects import Effect
from webassay.browser.devtools.endpoint import Endpoint, Front
from webassay.browser.devtools.hosts import AllowList
from webassay.browser.devtools.memory_guard import MemoryGuard
from webassay.browser.devtools.page import TabPage
from webassay.browser.devtools.rules import Rules
from webassay.browser.input.act import InputController
from webassay.browser.look.observe import Box, all_text, mark, picture, read_facts, read_tree, render
from webassay.browser.look.prune import prune
from webassay.browser.tabs.context import AUTO_ATTACH, TARGETS, Context, SessionSettings
from webassay.browser.wait.settle import new_epoch, settle
from webassay.core.errors import ActionError, BrowserError, ProbeError
from webassay.core.files import own_prefix
from webassay.core.interaction import PDF_NOTICE, Action, Cookie, Observation, ObservationPart, Tab, cut_notice
from webassay.core.text import MAX_TEXT, capped

__all__ = ["ActionResult", "Browser", "FinalPage", "Session", "SessionSettings"]

MAX_TITLE = 2_000
MAX_ERROR = 4_000
PAGE_SECONDS = 25.0
"""What a page may cost from one action to the next: longer than that, and it is ended."""
_LOOKS = 3
"""A page that goes from one document to the next is looked at no more often than this."""
_LOOK_SECONDS = 8.0
"""That much is left for looking at it, whatever the action took."""
_WITHOUT_PAGE = frozenset({"goto", "new_tab", "tab_close", "tab_focus"})
"""Actions that still work when the page in front has crashed."""


@dataclass(frozen=True)
class ActionResult:
    error: str
    """Why the action failed, written for the agent; empty if it succeeded."""
    waited_for: tuple[str, ...]
    act_seconds: float
    settle_seconds: float
    aims: Mapping[str, Box] = field(default_factory=dict)
    """By the name of the argument: where the element stood that the action names, in the last picture."""


@dataclass(frozen=True)
class FinalPage:
    url: str
    title: str
    tabs: tuple[str, ...]
    document: str
    """Address of the last document that was loaded into the tab."""


class Browser:
    """A Chromium; after a crash, the next session starts a new one."""

    def __init__(self, executable: Path, *, headed: bool = False) -> None:
        if headed and not has_window(executable):
            raise BrowserError(
                f"{executable} is a headless shell and cannot show a window.",
                hint="Install the full Chromium, or point WEBASSAY_CHROMIUM at one.",
            )
        self._executable = executable
        self._headed = headed
        self._connection: Connection | None = None
        self._starting = asyncio.Lock()
        self._contexts: dict[str, Context] = {}
        self._targets: dict[str, Params] = {}
        self._dead_end = socket.socket(socket.AF_INET, socket.SOCK_STREAM)

    async def __aenter__(self) -> Self:
        # Bound but never listening: connections are refused, and no other program can take the port.
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

    def another(self) -> "Browser":
        """A second Chromium of the same kind, for an agent that drives the browser itself: what it wears out is its
        own."""
        return Browser(self._executable, headed=self._headed)

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
                connection = await Connection.launch(self._executable, launch_flags(headed=self._headed))
                self._targets.clear()
                root = connection.root
                root.on("Target.targetCreated", self._target_changed)
                root.on("Target.targetInfoChanged", self._target_changed)
                root.on("Target.targetDestroyed", self._target_gone)
                root.on("Target.attachedToTarget", lambda p: self._attached(connection, p))
                root.on("Target.detachedFromTarget", lambda p: self._detached(connection, p))
                guard = MemoryGuard(connection.pid)
                root.on("Target.targetCrashed", lambda p: self._crashed(p, guard))
                root.on("Browser.downloadWillBegin", self._download_began)
                root.on("Browser.downloadProgress", self._download_went_on)
                try:
                    await root.send("Target.setDiscoverTargets", {"discover": True, "filter": [{}]})
                    await root.send("Target.setAutoAttach", AUTO_ATTACH)
                except (CommandRefused, CommandTimeout) as error:
                    await connection.close()
                    raise BrowserError(f"{connection.version} cannot be driven: {error}.") from error
                except BaseException:  # canceled: nobody else knows of this process
                    await connection.close()
                    raise
                connection.spawn(guard.watch())
                self._connection = connection
            return self._connection

    @asynccontextmanager
    async def session(
        self,
        *,
        allowed_hosts: Collection[str],
        cookies: Sequence[Cookie] = (),
        now_ms: int | None = None,
        settings: SessionSettings | None = None,
    ) -> AsyncIterator["Session"]:
        connection = await self._running()
        allow = AllowList(allowed_hosts)
        dead_end = f"http://127.0.0.1:{self._dead_end.getsockname()[1]}"
        with tempfile.TemporaryDirectory(prefix=own_prefix("session"), ignore_cleanup_errors=True) as folder:
            try:
                made = await connection.root.send(
                    "Target.createBrowserContext", {"disposeOnDetach": True, **allow.proxy(dead_end)}
                )
            except (CommandRefused, CommandTimeout) as error:
                raise BrowserError(f"No session could be opened: {error}.") from error
            context_id = made["browserContextId"]
            context = Context(connection, context_id, allow, settings or SessionSettings(), Path(folder), now_ms)
            self._contexts[context_id] = context
            session = Session(context, self._targets)
            try:
                await session.start(cookies)
                yield session
            finally:
                await session.shut()
                self._contexts.pop(context_id, None)
                await context.close()

    # --- browser events, passed on to the context they belong to ---------------------------------------

    def _attached(self, connection: Connection, params: Params) -> None:
        info = params["targetInfo"]
        channel = connection.channel(params["sessionId"])
        context = self._contexts.get(info.get("browserContextId", ""))
        if context is None or info["type"] not in TARGETS:
            # It belongs to no session, or outlived its session.
            channel.post("Runtime.runIfWaitingForDebugger")
            return
        context.attached(channel, info)

    def _detached(self, connection: Connection, params: Params) -> None:
        connection.drop(params["sessionId"], "The page was closed.")
        for context in self._contexts.values():
            context.detached(params["sessionId"])

    def _target_changed(self, params: Params) -> None:
        self._targets[params["targetInfo"]["targetId"]] = params["targetInfo"]

    def _target_gone(self, params: Params) -> None:
        self._targets.pop(params["targetId"], None)

    def _crashed(self, params: Params, guard: MemoryGuard) -> None:
        why = "The page took too much memory and was ended." if guard.was_busy else "The page crashed."
        for context in self._contexts.values():
            context.crashed(params["targetId"], why)

    def _download_began(self, params: Params) -> None:
        for context in self._contexts.values():
            context.download_began(params)

    def _download_went_on(self, params: Params) -> None:
        for context in self._contexts.values():
            context.download_went_on(params)


class Session:
    """An episode's view of the browser. Created by `Browser.session`."""

    def __init__(self, context: Context, targets: Mapping[str, Params]) -> None:
        """`targets`: infos of everything in the browser."""
        self._context = context
        self._targets = targets
        self._endpoint: Endpoint | None = None
        self._hand = InputController(context)
        self._step = 0
        self._last_error = ""
        self._spent = 0.0
        """Seconds that the last action and its settling took."""
        self._origin = (0.0, 0.0)
        """How far the last picture reaches beyond the viewport, to the left and up: pictures of whole pages do."""
        self._seen: tuple[str, int] | None = None
        """The tab and its document that were last looked at: the ids that an agent has are from there."""

    async def door(self, *, guarded: bool = False) -> tuple[str, str, Callable[[int], None]]:
        """Where another program can drive this session: the DevTools URL, the web socket of the tab in front, and how
        to say which process that program is. `guarded`: nobody is let in before."""
        context = self._context
        context.watch_deeds()
        rules = Rules(context.id, str(context.downloads_folder), context.files_for_upload, self._targets)
        front = Front(context.connection, rules, lambda: context.active.target_id)
        self._endpoint = Endpoint(front, guarded=guarded)
        return (*await self._endpoint.open(), self._endpoint.admit)

    def effects(self) -> list[Effect]:
        """What that program has done since this was last asked."""
        return self._context.effects.take() if self._context.effects is not None else []

    async def shut(self) -> None:
        """Nobody else drives the session any more, and nothing that they had set is left."""
        if self._endpoint is not None:
            endpoint, self._endpoint = self._endpoint, None
            await endpoint.close()

    async def start(self, cookies: Sequence[Cookie]) -> None:
        made = [
            {"name": cookie.name, "value": cookie.value, "url": f"http://{cookie.host}{cookie.path}"}
            for cookie in cookies
        ]
        try:
            await self._context.start()
            if made:
                await self._context.connection.root.send(
                    "Storage.setCookies", {"cookies": made, "browserContextId": self._context.id}
                )
        except (CommandRefused, CommandTimeout) as error:
            raise BrowserError(f"A session could not be set up: {error}.") from error

    async def open(self, urls: Sequence[str]) -> None:
        """Opens the start pages, one tab each, with the first one in front."""
        context = self._context
        try:
            for number, url in enumerate(urls):
                page = context.active if number == 0 else await context.new_tab()
                await context.navigate(page, url)
                await context.settle()
            if len(urls) > 1:
                await context.bring_to_front(context.pages[0])
        except (ActionError, CommandRefused, CommandTimeout) as error:
            raise BrowserError(f"A start page could not be opened: {error}") from error

    async def act(self, action: Action) -> ActionResult:
        """Performs the action and waits until the page has reacted."""
        context = self._context
        started = time.monotonic()
        page = await context.front()
        error, moved_on = "", self._moved_on(page)
        aims: dict[str, Box] = {}
        try:
            if page.crashed and action.name not in _WITHOUT_PAGE:
                raise ActionError("The page crashed.", hint="Open a URL with goto.")
            context.tell(action.text)
            aims = await self._hand.aims(action, self._origin)
            new_epoch(page)
            await self._hand.perform(action)
        except ActionError as mistake:
            error = capped(f"{mistake}{moved_on}", MAX_ERROR)
        acted = time.monotonic()
        waited = await context.settle()
        self._spent = time.monotonic() - started
        self._last_error = error
        self._step += 1
        return ActionResult(error, waited, acted - started, time.monotonic() - acted, aims)

    def _moved_on(self, page: TabPage) -> str:
        """For an action that failed because an earlier one of the same reply led to another page, or because the page
        went away by itself."""
        if self._seen is None or self._seen == (page.target_id, page.document):
            return ""
        return f" Another page is in front since you last looked, with ids of its own: {page.url:.300}."

    # --- looking ---------------------------------------------------------------------------------------

    async def observe(self, parts: Collection[ObservationPart]) -> Observation:
        context = self._context
        wanted = frozenset(parts)
        deadline = time.monotonic() + max(_LOOK_SECONDS, PAGE_SECONDS - self._spent)
        looks = 0
        while not (page := await context.front()).crashed:
            try:
                async with asyncio.timeout_at(asyncio.get_running_loop().time() + deadline - time.monotonic()):
                    # It may leave for another page after the wait for the last action, and that page be half there.
                    if page.arrival != context.settled and looks < _LOOKS:
                        await context.settle()
                        page = await context.front()
                    seen = await self._look(page, wanted)
                looks += 1
                if page.arrival == context.settled or looks >= _LOOKS:
                    return seen
                for notice in seen.notices:
                    context.notice(notice)
            except (CommandRefused, CommandTimeout):
                # The page moved on to another document meanwhile: look at that one. If it is stuck, settling ends it.
                await context.settle(max(0.0, deadline - time.monotonic()))
            except TimeoutError:
                pass
            if time.monotonic() >= deadline and not page.crashed:
                context.end(page, f"The page could not be looked at within {PAGE_SECONDS:g} s and was ended.")
        tabs = tuple(Tab(tab.url, "") for tab in context.pages)
        return replace(self._blank(page, tabs), tree="")

    async def _look(self, page: TabPage, wanted: frozenset[ObservationPart]) -> Observation:
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
            self._context.notice(cut_notice("tree"))
        if page.main_frame.is_pdf:
            self._context.notice(PDF_NOTICE)
        self._seen = (page.target_id, page.document)
        whole = "full_screenshot" in wanted and "marks" not in wanted
        self._origin = tree.scroll if whole else (0.0, 0.0)
        title = _short_title(tree.title)
        tabs = await self._tabs(page, title)
        texts = {
            "tree": render(tree.nodes, links="links" in wanted) if wanted & {"tree", "boxes", "marks"} else None,
            "pruned": prune(tree.nodes, links="links" in wanted) if "pruned" in wanted else None,
            "text": text,
            "html": html,
        }
        kept = {part: self._kept(part, found) for part, found in texts.items()}
        return replace(
            self._blank(page, tabs),
            title=title,
            tree=kept["tree"],
            nodes=tree.nodes,
            pruned=kept["pruned"],
            screenshot=taken,
            screenshot_type=form.media_type,
            text=kept["text"],
            html=kept["html"],
            focused=tree.focused,
            scroll=tree.scroll,
        )

    def _blank(self, page: TabPage, tabs: tuple[Tab, ...]) -> Observation:
        """What is known without looking into the page."""
        pages = self._context.pages
        return Observation(
            url=page.url,
            title="",
            tabs=tabs,
            active_tab=pages.index(page) if page in pages else 0,
            step=self._step,
            last_error=self._last_error,
            notices=self._context.take_notices(),
            viewport=self._context.settings.viewport,
        )

    def _kept(self, part: str, found: str | None) -> str | None:
        if found is None or len(found) <= MAX_TEXT:
            return found
        self._context.notice(cut_notice(part))
        return capped(found)

    async def _tabs(self, front: TabPage, title: str) -> tuple[Tab, ...]:
        pages = self._context.pages
        return tuple([Tab(page.url, title if page is front else await self._title(page)) for page in pages])

    async def _title(self, page: TabPage) -> str:
        try:
            return _short_title(str(await page.evaluate(page.main_frame, "document.title")))
        except (CommandRefused, CommandTimeout):
            return ""

    @property
    def browser_pid(self) -> int:
        """The process of the Chromium whose requests are this session's."""
        return self._context.connection.pid

    @property
    def document(self) -> str:
        return self._context.active.document_url

    @property
    def has_tab(self) -> bool:
        return self._context.has_tab

    async def have_tab(self) -> None:
        """Where all were closed, an empty one is what is left in front."""
        await self._context.front()

    async def final_page(self) -> FinalPage:
        page = await self._context.front()
        tabs = tuple(tab.url for tab in self._context.pages)
        return FinalPage(page.url, await self._title(page), tabs, page.document_url)

    # --- the record ------------------------------------------------------------------------------------

    async def seal(self) -> bytes:
        """Ends the network log and returns it, one `Exchange` per line. Nothing that happens later is in it."""
        path = await self._context.capture.seal()
        return await asyncio.to_thread(path.read_bytes)

    @property
    def seconds(self) -> float:
        """Since the session was opened, as the network log counts."""
        return self._context.capture.seconds

    def take_console(self) -> tuple[str, ...]:
        """What scripts wrote to the console since this was last asked."""
        return self._context.console.take()

    def downloads(self) -> list[Path]:
        """The downloaded files; they are deleted with the session."""
        return self._context.downloads()

    async def cookies(self) -> list[Cookie]:
        root = self._context.connection.root
        try:
            answer = await root.send("Storage.getCookies", {"browserContextId": self._context.id})
        except (CommandRefused, CommandTimeout) as error:
            raise BrowserError(f"The cookies could not be read: {error}.") from error
        return [Cookie(c["name"], c["value"], c["domain"].lstrip("."), c["path"]) for c in answer["cookies"]]

    # --- probes ----------------------------------------------------------------------------------------

    async def read_locator(self, url: str, script: str) -> str:
        """Runs a benchmark's script inside the page, and returns the text it finds. The page is opened in a fresh tab;
        without a `url` it is the one in front, as it stands.

        Finding nothing is an answer: the empty text. So is a script that fails, as in the original: the page is as the
        agent left it, and must not make a fault of ours out of its failure. A page that cannot be opened is a
        `ProbeError`.
        """
        async with self._fresh_tab(url) if url else self._in_front() as page:
            result = await page.channel.send(
                "Runtime.evaluate", {"expression": script, "returnByValue": True, "awaitPromise": True}
            )
        value = None if "exceptionDetails" in result else result["result"].get("value")
        if value is None:
            return ""
        return value if isinstance(value, str) else json.dumps(value)

    @asynccontextmanager
    async def _in_front(self) -> AsyncIterator[TabPage]:
        try:
            yield await self._context.front()
        except (CommandRefused, CommandTimeout) as error:
            raise BrowserError(f"The page in front could not be read: {error}") from error

    @asynccontextmanager
    async def _fresh_tab(self, url: str) -> AsyncIterator[TabPage]:
        context = self._context
        before = await context.front()
        try:
            page = await context.new_tab()
            try:
                await context.navigate(page, url)
                await settle(page, context.settings.patience)
                yield page
            finally:
                await context.close_page(page)
                # Else it has closed itself meanwhile.
                if not before.closed:
                    await context.bring_to_front(before)
        except (ActionError, CommandRefused, CommandTimeout) as error:
            raise ProbeError(f"{url:.200} could not be read: {error}") from error


def _short_title(title: str) -> str:
    return title if len(title) <= MAX_TITLE else f"{title[:MAX_TITLE]}…"
