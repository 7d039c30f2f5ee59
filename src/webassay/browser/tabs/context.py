"""One browser context: its tabs as they come and go, what pages do on their own, and the network log."""

import asyncio
import contextlib
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from webassay.browser.devtools.capture import MAX_POST_DATA, Capture
from webassay.browser.devtools.cdp import Channel, CommandRefused, CommandTimeout, Connection, Params
from webassay.browser.devtools.console import Console
from webassay.browser.devtools.effects import Effects
from webassay.browser.devtools.hosts import AllowList
from webassay.browser.devtools.network import NetworkWatch
from webassay.browser.devtools.page import CALL_TIMEOUT, WORLD, Arrival, Scripts, TabPage
from webassay.browser.devtools.recording import Film, Trace
from webassay.browser.look.observe import PictureFormat
from webassay.browser.wait.settle import MAX_DOCUMENTS, SettleLimits, settle
from webassay.core.errors import ActionError, BrowserError

MAX_NOTICES = 20
MAX_TABS = 40
MAX_DIALOGS = 50
"""Per document; a page that opens more will not stop by itself."""
_SETUP_TIMEOUT = 20.0
"""Seconds that a new tab has until it answers; enough to end a script that keeps it from answering."""
_NAVIGATION_TIMEOUT = 15.0
"""Seconds that a server has to begin its answer."""
TARGETS = frozenset({"page", "iframe", "worker", "service_worker", "shared_worker"})
AUTO_ATTACH: Params = {
    "autoAttach": True,
    "waitForDebuggerOnStart": True,
    "flatten": True,
    "filter": [*({"type": name} for name in sorted(TARGETS)), {"exclude": True}],
}


@dataclass(frozen=True)
class SessionSettings:
    viewport: tuple[int, int] = (1280, 720)
    settle_cap_ms: int = 10_000
    """After this long the page is accepted as it is."""
    timer_bound_ms: int = 600
    """Timers longer than this are not waited for."""
    locale: str = "en-US"
    timezone: str = "UTC"
    picture_type: Literal["image/jpeg", "image/png"] = "image/jpeg"
    picture_quality: int = 80
    dialogs: Literal["accept", "dismiss"] = "accept"
    """The answer to confirm and prompt; a page can never keep the agent from leaving."""
    upload_dir: Path | None = None
    """The only folder that files can be uploaded from; None: no uploads."""
    keep_secrets: bool = False
    """Whether cookies and authorization are kept in the network log."""
    video_dir: Path | None = None
    """Where to write a video of the session."""
    trace_dir: Path | None = None
    """Where to write a trace of every DevTools command and event."""

    @property
    def patience(self) -> SettleLimits:
        return SettleLimits(cap=self.settle_cap_ms / 1000, timer_bound=self.timer_bound_ms / 1000)

    @property
    def picture(self) -> PictureFormat:
        return PictureFormat(self.picture_type, self.picture_quality)


class Context:
    def __init__(
        self,
        connection: Connection,
        context_id: str,
        allow: AllowList,
        settings: SessionSettings,
        folder: Path,
        now_ms: int | None,
    ) -> None:
        offset = None if now_ms is None else now_ms - round(time.time() * 1000)
        self.settings = settings
        self.pages: list[TabPage] = []
        self.capture = Capture(folder / "network.jsonl", keep_secrets=settings.keep_secrets)
        self.id = context_id
        self.connection = connection
        self._allow = allow
        self.downloads_folder = folder / "downloads"
        self._scripts = Scripts.make(secrets.token_hex(16), offset)
        self._front: list[TabPage] = []
        """Tabs in the order they were last in front; the last one is in front now."""
        self._gone: TabPage | None = None
        """The tab that was closed last."""
        self.effects: Effects | None = None
        """What somebody else does in these pages; None: nobody but us does anything."""
        self.settled: Arrival | None = None
        """What was in front when the last wait ended."""
        self.console = Console()
        self._notices: list[str] = []
        self._left_out = 0
        self._downloads: dict[str, tuple[str, TabPage]] = {}
        self._tab_count = 0
        name = time.strftime("%Y%m%d-%H%M%S-") + context_id[:8].lower()
        self._film = Film(settings.video_dir, name) if settings.video_dir else None
        self._trace = Trace(settings.trace_dir, name) if settings.trace_dir else None

    # --- life ------------------------------------------------------------------------------------------

    async def start(self) -> None:
        self.downloads_folder.mkdir()
        await self.connection.root.send(
            "Browser.setDownloadBehavior",
            {
                # Chromium chooses the file names, not the page.
                "behavior": "allowAndName",
                "browserContextId": self.id,
                "downloadPath": str(self.downloads_folder),
                "eventsEnabled": True,
            },
        )
        page = await self.new_tab()
        if not await page.evaluate(page.main_frame, "'computedName' in Element.prototype"):
            raise BrowserError(
                f"{self.connection.version} cannot compute the names of elements.",
                hint="Use a current Chromium, Chrome or Edge.",
            )

    async def close(self) -> None:
        await self.capture.seal()
        for record in (self._film, self._trace):
            if record is not None:
                record.close()
        for page in self.pages:
            page.closed = True
        if not self.connection.closed:
            # A context that cannot be disposed of is already gone.
            with contextlib.suppress(CommandRefused, CommandTimeout, BrowserError):
                await self.connection.root.send("Target.disposeBrowserContext", {"browserContextId": self.id})

    @property
    def has_tab(self) -> bool:
        return bool(self._front)

    @property
    def active(self) -> TabPage:
        """The tab in front. A page can close the last one at any time; then it is that one until `front` replaces it,
        so that an action that is under way ends as it does with any page that goes away."""
        if self.connection.closed:
            raise BrowserError(self.connection.closed)
        page = self._front[-1] if self._front else self._gone
        if page is None:
            raise BrowserError("The session has no tab.")
        return page

    async def front(self) -> TabPage:
        """The tab in front; where the last one was closed, an empty one that takes its place."""
        if not self._front:
            await self._opened()
        if not self._front and not self.connection.closed:
            try:
                await self._open_tab()
            except (CommandRefused, CommandTimeout) as error:
                raise BrowserError(f"The last tab was closed, and no other could be opened: {error}.") from error
            self.notice("The last tab was closed; an empty one is now in front.")
        return self.active

    async def _opened(self) -> None:
        """Waits for tabs that are just opening: they come to the front. Setting them up ends in any case."""
        for tab in list(self.pages):
            await tab.ready.wait()

    def tell(self, action: str) -> None:
        """Captions the video and the trace with what is being done."""
        if self._film is not None:
            self._film.follow(self.active)
            self._film.caption(action)
        if self._trace is not None:
            self._trace.write("action", action, {})

    def notice(self, text: str) -> None:
        if len(self._notices) < MAX_NOTICES:
            self._notices.append(text[:500])
        else:
            self._left_out += 1

    def take_notices(self) -> tuple[str, ...]:
        for host in dict.fromkeys(urlsplit(url).netloc for url in self.capture.blocked):
            self.notice(f"A request to {host} was blocked: that host is not part of this task.")
        self.capture.blocked.clear()
        for page in self.pages:
            if page.ended_scripts:
                self.notice(f"A script of the page did not end within {CALL_TIMEOUT:g} s and was ended.")
                page.ended_scripts = 0
        taken = tuple(dict.fromkeys(self._notices))
        if self._left_out:
            taken = (*taken, f"{self._left_out} more notices were left out.")
        self._notices.clear()
        self._left_out = 0
        return taken

    async def settle(self, cap: float | None = None) -> tuple[str, ...]:
        """Waits for the tab in front and for tabs that are just opening; returns what it waited for. `cap`: seconds,
        if there is less time than the settings allow."""
        waited: list[str] = []
        patience = self.settings.patience
        deadline = time.monotonic() + (patience.cap if cap is None else min(cap, patience.cap))
        while True:
            await self._opened()
            page = await self.front()
            waited += await settle(page, replace(patience, cap=max(0.1, deadline - time.monotonic())))
            if page.stuck and not page.crashed:
                self.end(page, "A script did not end, so the page was ended.")
            if page.runaway and not page.crashed:
                self.end(page, f"The tab went on to more than {MAX_DOCUMENTS} documents by itself and was ended.")
            if self._film is not None:
                self._film.follow(page)
            self.settled = page.arrival
            done = self._front and self.active is page and all(tab.ready.is_set() for tab in self.pages)
            if done or time.monotonic() > deadline:
                return tuple(dict.fromkeys(waited))

    # --- targets ---------------------------------------------------------------------------------------

    def attached(self, channel: Channel, info: Params, page: TabPage | None = None) -> None:
        """Sets up a new target, which is paused until then. `page` is the tab it belongs to."""
        kind = info["type"]
        if kind == "page":
            tab = TabPage(self.connection, channel, info["targetId"], self._tab_count, info.get("openerId", ""))
            self._tab_count += 1
            self.pages.append(tab)
            self.connection.spawn(self._set_up_page(tab))
        elif kind == "iframe" and page is not None:
            self.connection.spawn(self._set_up_frame(channel, page))
        else:
            NetworkWatch(channel, page, self.capture, self._allow)
            self._expect_children(channel, page)
            channel.post("Network.enable", {"maxPostDataSize": MAX_POST_DATA})
            channel.post("Target.setAutoAttach", AUTO_ATTACH)
            channel.post("Runtime.evaluate", {"expression": self._scripts.watch, "silent": True})
            channel.post("Runtime.runIfWaitingForDebugger")

    def detached(self, session_id: str) -> None:
        for page in list(self.pages):
            if page.channel.session_id == session_id:
                self._remove(page)

    def crashed(self, target_id: str, why: str) -> None:
        for page in self.pages:
            if page.target_id == target_id and not page.crashed:
                self._lost(page, f"{why} Open a URL to continue.")

    def end(self, page: TabPage, why: str) -> None:
        page.channel.post("Page.crash")
        self._lost(page, f"{why} Open a URL to continue.")

    def _lost(self, page: TabPage, notice: str) -> None:
        page.crashed = True
        page.pending.clear()
        page.channel.lose("The page is gone.")
        page.changed.set()
        self.notice(notice)

    def _remove(self, page: TabPage) -> None:
        page.closed = True
        page.changed.set()
        page.ready.set()
        if page in self.pages:
            self.pages.remove(page)
        if page in self._front:
            self._front.remove(page)
            self._gone = page

    def _set_up(self, channel: Channel, page: TabPage) -> None:
        """The setup that pages share with frames in their own process. The target is still paused."""
        if self._trace is not None:
            channel.trace = self._trace.write
        page.listen(channel)
        NetworkWatch(channel, page, self.capture, self._allow)
        self._expect_children(channel, page)
        channel.on("Runtime.exceptionThrown", self._script_error)
        channel.on("Runtime.consoleAPICalled", self.console.wrote)
        commands: list[tuple[str, Params]] = [
            ("Page.enable", {}),
            ("Page.addScriptToEvaluateOnNewDocument", {"source": self._scripts.watch, "runImmediately": True}),
            (
                "Page.addScriptToEvaluateOnNewDocument",
                {"source": self._scripts.sight, "worldName": WORLD, "runImmediately": True},
            ),
            ("Runtime.enable", {}),
            # Makes Chromium cache the names it computes, instead of recomputing them for every query.
            ("Accessibility.enable", {}),
            ("Network.enable", {"maxPostDataSize": MAX_POST_DATA}),
            ("Target.setAutoAttach", AUTO_ATTACH),
            ("Emulation.setFocusEmulationEnabled", {"enabled": True}),
            ("Emulation.setTimezoneOverride", {"timezoneId": self.settings.timezone}),
        ]
        if self.settings.locale != "en-US":
            commands.append(("Emulation.setLocaleOverride", {"locale": self.settings.locale}))
        for method, params in commands:
            channel.post(method, params)
        if self.effects is not None:
            self.effects.watch(channel)

    async def _set_up_page(self, page: TabPage) -> None:
        channel = page.channel
        width, height = self.settings.viewport
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        try:
            channel.on("Page.javascriptDialogOpening", lambda p: self._dialog(page, p))
            channel.on("Page.fileChooserOpened", self.file_dialog)
            self._set_up(channel, page)
            channel.post("Page.setInterceptFileChooserDialog", {"enabled": True})
            channel.post("Emulation.setDeviceMetricsOverride", metrics)
            tree = channel.post("Page.getFrameTree")
            channel.post("Runtime.runIfWaitingForDebugger")
            if page.opener:
                self.connection.spawn(self._rouse(page.opener))
            async with asyncio.timeout(_SETUP_TIMEOUT):
                page.adopt(channel, (await tree)["frameTree"])
            # It may have closed itself in the meantime.
            if not page.closed:
                self._front.append(page)
        except TimeoutError:
            self.notice("A new tab did not respond and was closed.")
            await self.close_page(page)
            return
        finally:
            page.ready.set()
        if page.opener:
            await self._popped_up(page)

    async def _rouse(self, opener: str) -> None:
        """A tab may share the process of the page that opened it, and then cannot answer while a script of that page is
        running. One that does not end is ended, as whenever a page is asked something."""
        for page in self.pages:
            if page.target_id == opener:
                await page.evaluate(page.main_frame, "null")
                return

    async def _popped_up(self, page: TabPage) -> None:
        for other in self.pages:
            other.changed.set()
        if len(self.pages) > MAX_TABS:
            self.notice(f"The page opened a tab, which was closed: there are already {MAX_TABS}.")
            await self.close_page(page)
        elif page in self.pages:
            self.notice(f"The page opened a new tab; tab {self.pages.index(page)} is now in front.")

    async def _set_up_frame(self, channel: Channel, page: TabPage) -> None:
        self._set_up(channel, page)
        tree = channel.post("Page.getFrameTree")
        channel.post("Runtime.runIfWaitingForDebugger")
        page.graft(channel, (await tree)["frameTree"])

    def _expect_children(self, channel: Channel, page: TabPage | None) -> None:
        """Frames in their own process, and workers; workers start workers in turn."""
        channel.on("Target.attachedToTarget", lambda p: self._child(page, p))
        channel.on("Target.detachedFromTarget", lambda p: self.connection.drop(p["sessionId"], "It was closed."))

    def _child(self, page: TabPage | None, params: Params) -> None:
        self.attached(self.connection.channel(params["sessionId"]), params["targetInfo"], page)

    # --- what pages do on their own --------------------------------------------------------------------

    def _dialog(self, page: TabPage, params: Params) -> None:
        kind = params["type"]
        accept = kind in ("alert", "beforeunload") or self.settings.dialogs == "accept"
        answer: Params = {"accept": accept}
        if kind == "prompt" and accept:
            answer["promptText"] = params.get("defaultPrompt", "")
        page.channel.post("Page.handleJavaScriptDialog", answer)
        page.dialogs += 1
        if page.dialogs == MAX_DIALOGS:
            self.end(page, f"The page showed {MAX_DIALOGS} dialogs and was ended.")
        if kind == "beforeunload":
            self.notice("The page asked for confirmation before leaving it; leaving was confirmed.")
        else:
            done = "accepted" if accept else "dismissed"
            self.notice(f"The page showed a dialog ({kind}): {params['message']!r:.300}; it was {done}.")

    def file_dialog(self, params: Params) -> None:
        self.notice("A file dialog opened and was closed; use upload_file on the file field instead.")

    def _script_error(self, params: Params) -> None:
        details = params["exceptionDetails"]
        text = str(details.get("exception", {}).get("description") or details.get("text") or "unknown")
        self.notice(f"A script on the page failed: {text.splitlines()[0]:.200}")

    def download_began(self, params: Params) -> None:
        for page in self.pages:
            if params["frameId"] in page.frames:
                self._downloads[params["guid"]] = (params.get("suggestedFilename", ""), page)
                page.downloads.add(params["guid"])
                page.downloads_begun += 1
                self.capture.download(params.get("url", ""), page.number)
                page.changed.set()
                return

    def download_went_on(self, params: Params) -> None:
        guid, state = params["guid"], params["state"]
        if guid not in self._downloads or state == "inProgress":
            return
        name, page = self._downloads.pop(guid)
        if state == "completed":
            self.notice(f"Downloaded {name!r:.120} ({int(params.get('receivedBytes', 0))} bytes).")
        else:
            self.notice(f"The download of {name!r:.120} failed.")
        page.downloads.discard(guid)
        page.changed.set()

    def downloads(self) -> list[Path]:
        return sorted(self.downloads_folder.iterdir())

    # --- tabs ------------------------------------------------------------------------------------------

    async def new_tab(self) -> TabPage:
        if len(self.pages) >= MAX_TABS:
            raise ActionError(f"There are already {MAX_TABS} tabs.", hint="Close one first.")
        return await self._open_tab()

    async def _open_tab(self) -> TabPage:
        made = await self.connection.root.send(
            "Target.createTarget", {"url": "about:blank", "browserContextId": self.id}
        )
        page = next((page for page in self.pages if page.target_id == made["targetId"]), None)
        if page is None:
            raise CommandRefused("the new tab did not open")
        await page.ready.wait()
        if page not in self._front:
            raise CommandTimeout("the new tab did not open in time")
        return page

    async def close_page(self, page: TabPage) -> None:
        self._remove(page)
        # Refused: it has already closed itself.
        with contextlib.suppress(CommandRefused):
            await self.connection.root.send("Target.closeTarget", {"targetId": page.target_id})

    async def close_tab(self) -> None:
        await self.close_page(self.active)
        await self.bring_to_front(await self.front())

    async def focus_tab(self, index: float) -> None:
        if index != int(index) or not 0 <= index < len(self.pages):
            raise ActionError(f"There is no tab {index:g}; there are tabs 0 to {len(self.pages) - 1}.")
        await self.bring_to_front(self.pages[int(index)])

    async def bring_to_front(self, page: TabPage) -> None:
        if page in self._front:
            self._front.remove(page)
        self._front.append(page)
        if not page.crashed:
            await page.channel.send("Page.bringToFront")

    async def navigate(self, page: TabPage, url: str) -> TabPage:
        """Opens a URL in the tab, if it is allowed; a crashed tab is replaced by a fresh one."""
        url = url.strip()
        refused = self._allow.why_not(url)
        if refused:
            self.capture.single(url, page.number, blocked=refused)
            raise ActionError(f"{url:.200} cannot be opened: {refused}.")
        if page.crashed:
            page = await self._replace(page)
        try:
            answer = await page.channel.send("Page.navigate", {"url": url}, timeout=_NAVIGATION_TIMEOUT)
        except CommandTimeout:
            page.channel.post("Page.stopLoading")
            # What keeps the answer back may be the site's own service worker; the next attempt goes past it.
            page.channel.post("Network.setBypassServiceWorker", {"bypass": True})
            raise ActionError(
                f"{url:.200} could not be opened: there was no answer within {_NAVIGATION_TIMEOUT:g} s."
            ) from None
        # A navigation that turns out to be a download is reported as aborted.
        if answer.get("errorText", "net::ERR_ABORTED") != "net::ERR_ABORTED":
            raise ActionError(f"{url:.200} could not be opened: {answer['errorText']}.")
        return page

    async def _replace(self, page: TabPage) -> TabPage:
        place = self.pages.index(page)
        fresh = await self.new_tab()
        await self.close_page(page)
        self.pages.remove(fresh)
        self.pages.insert(min(place, len(self.pages)), fresh)
        return fresh

    def watch_deeds(self) -> None:
        """From now on somebody else acts in this session."""
        self.effects = Effects()
        for page in self.pages:
            for channel in {id(frame.channel): frame.channel for frame in page.frames.values()}.values():
                self.effects.watch(channel)

    # --- files -----------------------------------------------------------------------------------------

    def files_for_upload(self, names: Sequence[str]) -> list[str]:
        folder = self.settings.upload_dir
        if folder is None:
            raise ActionError("This task does not allow uploads.")
        root = folder.resolve()
        found: list[str] = []
        for name in names:
            path = (root / name).resolve()
            if not path.is_relative_to(root) or not path.is_file():
                available = ", ".join(sorted(p.name for p in root.iterdir() if p.is_file())[:20]) or "none"
                raise ActionError(f"There is no file {name!r:.120} to upload.", hint=f"Files: {available}.")
            found.append(str(path))
        return found
