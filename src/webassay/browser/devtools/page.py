"""One tab: its frames, our isolated world in each of them, and the work it still has pending."""

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from webassay.browser.devtools.cdp import Channel, CommandRefused, CommandTimeout, Connection, Params, decoded
from webassay.browser.devtools.sockets import Sockets

WORLD = "webassay"
CALL_TIMEOUT = 10.0
"""Seconds after which a page script that does not finish is ended."""
_LAST_TIMEOUT = 5.0
"""Seconds that the page has to answer after that."""
_WATCH, _PENDING, *_LATER = (
    (files("webassay.browser") / "scripts" / f"{name}.js").read_text(encoding="utf-8")
    for name in ("watch", "pending", "identity", "styles", "roles", "names", "reach", "walk", "text", "touch")
)


@dataclass(frozen=True)
class Scripts:
    """The scripts that run in every document before its own."""

    watch: str
    sight: str

    @classmethod
    def make(cls, secret: str, clock_offset_ms: int | None) -> "Scripts":
        quoted = json.dumps(secret)
        return cls(
            watch=f"({_WATCH})({quoted}, {json.dumps(clock_offset_ms)})",
            sight=f"globalThis.webassay = ({_PENDING})({quoted});\n"
            + "".join(f"Object.assign(webassay, ({script})(webassay));\n" for script in _LATER),
        )


@dataclass
class PageFrame:
    id: str
    parent: str
    channel: Channel
    url: str = ""
    world: int | None = None
    """Execution context of our isolated world; None while the frame has no document."""
    loading: bool = False
    prefix: str | None = None
    """Prefix of its elements' ids; assigned once per document."""
    pdf: str = ""
    """URL of the PDF it last loaded; empty for anything else."""

    @property
    def is_pdf(self) -> bool:
        return bool(self.pdf) and self.pdf == self.url.partition("#")[0]


Arrival = tuple[str, int, bool]
"""Which document is in which tab, and whether it is still coming in or about to be replaced."""


@dataclass
class PendingRequest:
    key: str
    label: str
    started: float


@dataclass
class TabPage:
    connection: Connection
    channel: Channel
    target_id: str
    number: int
    opener: str = ""
    frames: dict[str, PageFrame] = field(default_factory=dict)
    main: str = ""
    crashed: bool = False
    stuck: bool = False
    """A page script could not be ended."""
    runaway: bool = False
    """It goes from one document to the next without an end."""
    ended_scripts: int = 0
    """Since the agent was last told."""
    closed: bool = False
    pending: dict[tuple[str, str], PendingRequest] = field(default_factory=dict)
    """Requests in flight, by channel and request id."""
    ignored: set[tuple[str, str]] = field(default_factory=set)
    """Requests that settling gave up on."""
    pollers: set[str] = field(default_factory=set)
    noisy: bool = False
    """The document never stops changing."""
    started: dict[str, list[float]] = field(default_factory=dict)
    """Start times of requests since the last action, by `Request.key`."""
    sockets: Sockets = field(default_factory=Sockets)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set whenever anything happens that settling may be waiting for."""
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    document: int = 0
    """Number of documents the main frame has had."""
    document_url: str = ""
    """Where the last one came from, whatever its scripts made of the address since."""
    downloads: set[str] = field(default_factory=set)
    """Those that have begun and not ended."""
    downloads_asked: int = 0
    """By clicks on links since the last action."""
    downloads_begun: int = 0
    asked_at: float = 0.0
    dialogs: int = 0
    """Dialogs answered in this document."""

    # --- frames and worlds -----------------------------------------------------------------------------

    def listen(self, channel: Channel) -> None:
        """Tracks the frames reported by this channel: the page's own, or that of a frame in another process."""
        channel.on("Page.frameAttached", lambda p: self._attached(channel, p["frameId"], p["parentFrameId"]))
        channel.on("Page.frameNavigated", lambda p: self._navigated(channel, p["frame"]))
        channel.on("Page.frameDetached", self._detached)
        channel.on("Page.frameStartedLoading", lambda p: self._loading(p["frameId"], True))
        channel.on("Page.frameStoppedLoading", lambda p: self._loading(p["frameId"], False))
        channel.on("Page.navigatedWithinDocument", self._within)
        channel.on("Runtime.executionContextCreated", lambda p: self._context(channel, p["context"]))
        channel.on("Runtime.executionContextDestroyed", lambda p: self._forget(channel, p["executionContextId"]))
        channel.on("Runtime.executionContextsCleared", lambda _: self._forget(channel, None))

    def adopt(self, channel: Channel, tree: Params) -> None:
        frame = tree["frame"]
        self._attached(channel, frame["id"], frame.get("parentId", ""))
        self.frames[frame["id"]].url = frame.get("url", "")
        if not frame.get("parentId"):
            self.main = frame["id"]
        for child in tree.get("childFrames", []):
            self.adopt(channel, child)

    def graft(self, channel: Channel, tree: Params) -> None:
        """Adds a frame of this page that runs in its own process."""
        main, frame_id = self.main, tree["frame"]["id"]
        known = self.frames.get(frame_id)
        parent = known.parent if known else tree["frame"].get("parentId", "")
        self.adopt(channel, tree)
        self.main = main
        self.frames[frame_id].parent = parent

    def _attached(self, channel: Channel, frame_id: str, parent: str) -> None:
        known = self.frames.get(frame_id)
        if known is None:
            self.frames[frame_id] = PageFrame(frame_id, parent, channel)
        else:
            known.channel = channel
            known.parent = parent or known.parent
        self.changed.set()

    def _navigated(self, channel: Channel, info: Params) -> None:
        self._attached(channel, info["id"], info.get("parentId", ""))
        frame = self.frames[info["id"]]
        # The old document's frames are gone, and Chromium does not report all of them.
        for child in list(self.children(frame.id)):
            self._drop(child)
        frame.url = info.get("unreachableUrl") or info.get("url", "") + info.get("urlFragment", "")
        if not frame.parent:
            self.main = info["id"]
            self.document += 1
            self.document_url = info.get("url", "")
            self.dialogs = 0
            self.pollers.clear()
            self.sockets.new_document()
            self.noisy = False
        self.changed.set()

    def _drop(self, frame: PageFrame) -> None:
        self.frames.pop(frame.id, None)
        for child in list(self.children(frame.id)):
            self._drop(child)

    def _detached(self, params: Params) -> None:
        # "swap": the frame moves to its own process and is attached again on another channel.
        frame = self.frames.get(params["frameId"])
        if frame is not None and params.get("reason") != "swap":
            self._drop(frame)
        self.changed.set()

    def _loading(self, frame_id: str, loading: bool) -> None:
        frame = self.frames.get(frame_id)
        if frame is not None:
            frame.loading = loading
        self.changed.set()

    def _within(self, params: Params) -> None:
        frame = self.frames.get(params["frameId"])
        if frame is not None:
            frame.url = params["url"]
        self.changed.set()

    def _context(self, channel: Channel, context: Params) -> None:
        if context.get("name") != WORLD:
            return
        frame_id = context["auxData"]["frameId"]
        self._attached(channel, frame_id, "")
        frame = self.frames[frame_id]
        frame.world = context["id"]
        frame.prefix = None
        self.changed.set()

    def _forget(self, channel: Channel, context_id: int | None) -> None:
        for frame in self.frames.values():
            if frame.channel is channel and context_id in (None, frame.world):
                frame.world = None
                frame.prefix = None
        self.changed.set()

    @property
    def url(self) -> str:
        frame = self.frames.get(self.main)
        return frame.url if frame else ""

    @property
    def main_frame(self) -> PageFrame:
        frame = self.frames.get(self.main)
        if frame is None:
            raise CommandRefused("The page has no document.")
        return frame

    @property
    def arrival(self) -> Arrival:
        frame = self.frames.get(self.main)
        return self.target_id, self.document, frame is None or frame.loading

    def children(self, frame_id: str) -> Iterator[PageFrame]:
        return (frame for frame in list(self.frames.values()) if frame.parent == frame_id and frame.id != frame_id)

    def in_viewer(self, frame: PageFrame | None) -> bool:
        """Whether the frame belongs to Chromium's PDF viewer, whose requests reach no server and may never be reported
        as finished."""
        above = self.frames.get(frame.parent) if frame else None
        return above is not None and (above.is_pdf or self.in_viewer(above))

    # --- requests --------------------------------------------------------------------------------------

    def request_started(self, key: tuple[str, str], request: PendingRequest) -> None:
        self.pending[key] = request
        self.started.setdefault(request.key, []).append(request.started)
        self.changed.set()

    def request_ended(self, key: tuple[str, str]) -> None:
        self.pending.pop(key, None)
        self.ignored.discard(key)
        self.changed.set()

    # --- calling into the isolated world ---------------------------------------------------------------

    async def call(self, frame: PageFrame, function: str, *args: Any, wait: bool = False) -> Any:
        """Calls a function of our isolated world. Raises `Refused` if the document went away meanwhile."""
        arguments = ", ".join(json.dumps(arg) for arg in args)
        value = await self.evaluate(frame, f"webassay.{function}({arguments})", wait=wait)
        return decoded(value) if isinstance(value, str) and value[:1] in "{[" else value

    async def evaluate(self, frame: PageFrame, expression: str, *, wait: bool = False) -> Any:
        result = await self._evaluate(frame, expression, {"returnByValue": True, "awaitPromise": wait})
        return result["result"].get("value")

    async def handle(self, frame: PageFrame, expression: str) -> str:
        """Id of the remote object that the expression evaluates to; empty for null."""
        result = await self._evaluate(frame, expression, {})
        return str(result["result"].get("objectId", ""))

    async def _evaluate(self, frame: PageFrame, expression: str, options: Params) -> Params:
        if frame.world is None:
            raise CommandRefused("The frame has no document.")
        command = {"expression": expression, "contextId": frame.world, "silent": True, **options}
        try:
            result = await frame.channel.send("Runtime.evaluate", command, timeout=CALL_TIMEOUT)
        except CommandTimeout:
            # A page script that never ends; without it the page can at least be observed.
            frame.channel.post("Runtime.terminateExecution")
            self.ended_scripts += 1
            try:
                result = await frame.channel.send("Runtime.evaluate", command, timeout=_LAST_TIMEOUT)
            except CommandTimeout:
                self.stuck = True
                raise
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise CommandRefused(str(details.get("exception", {}).get("description", details.get("text"))))
        return result

    async def until(self, condition: Callable[[], bool], timeout: float) -> bool:
        """Whether the condition came true in time; it is checked again whenever something happens."""
        try:
            async with asyncio.timeout(timeout):
                while not condition():
                    self.changed.clear()
                    await self.changed.wait()
        except TimeoutError:
            return False
        return True
