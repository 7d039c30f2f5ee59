"""One tab: its frames, the isolated world in each of them, and what it is busy with."""

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from webassay.browser.cdp import Channel, Connection, Params, Refused, Unanswered

WORLD = "webassay"
CALL_TIMEOUT = 15.0
"""Seconds after which a script of the page that does not end is ended."""
_SIGHT, _TOUCH, _WATCH = (
    (files("webassay.browser") / f"{name}.js").read_text(encoding="utf-8") for name in ("sight", "touch", "watch")
)


@dataclass(frozen=True)
class Scripts:
    """What every document is given before its own scripts run."""

    watch: str
    sight: str

    @classmethod
    def make(cls, secret: str, clock_offset_ms: int | None) -> "Scripts":
        quoted = json.dumps(secret)
        return cls(
            watch=f"({_WATCH})({quoted}, {json.dumps(clock_offset_ms)})",
            sight=f"globalThis.webassay = ({_SIGHT})({quoted}); Object.assign(webassay, ({_TOUCH})(webassay))",
        )


@dataclass
class Frame:
    id: str
    parent: str
    channel: Channel
    url: str = ""
    world: int | None = None
    """The isolated world's context; None while the frame has no document."""
    loading: bool = False
    prefix: str | None = None
    """Of the ids of its elements; found once, kept while the document lives."""
    pdf: str = ""
    """The address of the PDF file that its last answer was, or empty."""

    @property
    def is_pdf(self) -> bool:
        return bool(self.pdf) and self.pdf == self.url.partition("#")[0]


@dataclass
class Request:
    key: str
    label: str
    started: float


@dataclass
class Page:
    connection: Connection
    channel: Channel
    target_id: str
    number: int
    opener: str = ""
    frames: dict[str, Frame] = field(default_factory=dict)
    main: str = ""
    crashed: bool = False
    stuck: bool = False
    """A script of the page could not be brought to an end."""
    closed: bool = False
    pending: dict[tuple[str, str], Request] = field(default_factory=dict)
    """Requests under way, by channel and request id."""
    ignored: set[tuple[str, str]] = field(default_factory=set)
    """Requests that were waited for once, in vain."""
    pollers: set[str] = field(default_factory=set)
    noisy: bool = False
    """The document changes by itself for ever."""
    started: dict[str, list[float]] = field(default_factory=dict)
    """When requests of the same kind started, since the last action."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set whenever something happens that settling may be waiting for."""
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    document: int = 0
    """Counts the documents of the main frame."""
    answer: Params | None = None
    """The response that the document of the main frame came with."""
    downloads: set[str] = field(default_factory=set)
    dialogs: int = 0
    """Answered in this document."""

    # --- frames and worlds -----------------------------------------------------------------------------

    def listen(self, channel: Channel) -> None:
        """Follows the frames that this channel (the page's own, or that of a frame in another process) shows."""
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
        """A frame of this page that lives in a process of its own."""
        main, frame_id = self.main, tree["frame"]["id"]
        known = self.frames.get(frame_id)
        parent = known.parent if known else tree["frame"].get("parentId", "")
        self.adopt(channel, tree)
        self.main = main
        self.frames[frame_id].parent = parent

    def _attached(self, channel: Channel, frame_id: str, parent: str) -> None:
        known = self.frames.get(frame_id)
        if known is None:
            self.frames[frame_id] = Frame(frame_id, parent, channel)
        else:
            known.channel = channel
            known.parent = parent or known.parent
        self.changed.set()

    def _navigated(self, channel: Channel, info: Params) -> None:
        self._attached(channel, info["id"], info.get("parentId", ""))
        frame = self.frames[info["id"]]
        # The frames of the document that was left are gone; not all of them are reported.
        for child in list(self.children(frame.id)):
            self._drop(child)
        frame.url = info.get("unreachableUrl") or info.get("url", "") + info.get("urlFragment", "")
        if not frame.parent:
            self.main = info["id"]
            self.document += 1
            self.dialogs = 0
            self.pollers.clear()
            self.noisy = False
        self.changed.set()

    def _drop(self, frame: Frame) -> None:
        self.frames.pop(frame.id, None)
        for child in list(self.children(frame.id)):
            self._drop(child)

    def _detached(self, params: Params) -> None:
        # A frame that moves to a process of its own is attached again on another channel.
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
    def main_frame(self) -> Frame:
        frame = self.frames.get(self.main)
        if frame is None:
            raise Refused("The page has no document.")
        return frame

    def children(self, frame_id: str) -> Iterator[Frame]:
        return (frame for frame in list(self.frames.values()) if frame.parent == frame_id and frame.id != frame_id)

    def in_viewer(self, frame: Frame | None) -> bool:
        """Whether the frame belongs to Chromium's own viewer of PDF files. What that asks for reaches no server, and
        some of it is never reported to have ended."""
        above = self.frames.get(frame.parent) if frame else None
        return above is not None and (above.is_pdf or self.in_viewer(above))

    # --- requests --------------------------------------------------------------------------------------

    def request_started(self, key: tuple[str, str], request: Request) -> None:
        self.pending[key] = request
        self.started.setdefault(request.key, []).append(request.started)
        self.changed.set()

    def request_ended(self, key: tuple[str, str]) -> None:
        self.pending.pop(key, None)
        self.ignored.discard(key)
        self.changed.set()

    # --- calling into the isolated world ---------------------------------------------------------------

    async def call(self, frame: Frame, function: str, *args: Any, wait: bool = False) -> Any:
        """Calls a function of sight.js; `Refused` where the document went away meanwhile."""
        arguments = ", ".join(json.dumps(arg) for arg in args)
        value = await self.evaluate(frame, f"webassay.{function}({arguments})", wait=wait)
        return json.loads(value) if isinstance(value, str) and value[:1] in "{[" else value

    async def evaluate(self, frame: Frame, expression: str, *, wait: bool = False) -> Any:
        result = await self._evaluate(frame, expression, {"returnByValue": True, "awaitPromise": wait})
        return result["result"].get("value")

    async def handle(self, frame: Frame, expression: str) -> str:
        """The remote object that the expression yields; empty for null."""
        result = await self._evaluate(frame, expression, {})
        return str(result["result"].get("objectId", ""))

    async def _evaluate(self, frame: Frame, expression: str, options: Params) -> Params:
        if frame.world is None:
            raise Refused("The frame has no document.")
        command = {"expression": expression, "contextId": frame.world, "silent": True, **options}
        try:
            result = await frame.channel.send("Runtime.evaluate", command, timeout=CALL_TIMEOUT)
        except Unanswered:
            # A script of the page that never ends; without it the page can at least be looked at.
            frame.channel.post("Runtime.terminateExecution")
            try:
                result = await frame.channel.send("Runtime.evaluate", command, timeout=CALL_TIMEOUT)
            except Unanswered:
                self.stuck = True
                raise
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise Refused(str(details.get("exception", {}).get("description", details.get("text"))))
        return result

    async def until(self, condition: Callable[[], bool], timeout: float) -> bool:
        """Whether the condition came true in time; looked at again whenever something happens."""
        try:
            async with asyncio.timeout(timeout):
                while not condition():
                    self.changed.clear()
                    await self.changed.wait()
        except TimeoutError:
            return False
        return True
