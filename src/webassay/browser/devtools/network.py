"""Follows the requests of one target, for two readers: the network log, and the tab that is waiting to settle."""

import time
from urllib.parse import urlsplit

from webassay.browser.devtools.capture import Capture
from webassay.browser.devtools.cdp import Channel, Params
from webassay.browser.devtools.hosts import AllowList
from webassay.browser.devtools.page import PageFrame, PendingRequest, TabPage

UNAWAITED = frozenset(
    {"EventSource", "WebSocket", "Media", "Ping", "Preflight", "CSPViolationReport", "Prefetch", "Other"}
)
"""Resource types whose requests settling does not wait for. `Other` is what the browser fetches for itself, such as
icons; what is said on web sockets has rules of its own."""


class NetworkWatch:
    def __init__(self, channel: Channel, page: TabPage | None, capture: Capture, allow: AllowList) -> None:
        """`page` is the tab that the target belongs to; None for workers that belong to no tab."""
        self._channel = channel
        self._page = page
        self._tab = page.number if page is not None else 0
        self._capture = capture
        self._allow = allow
        channel.on("Network.requestWillBeSent", self._sent)
        channel.on("Network.requestWillBeSentExtraInfo", lambda params: capture.extra_request(channel, params))
        channel.on("Network.responseReceived", self._received)
        channel.on("Network.responseReceivedExtraInfo", lambda params: capture.extra_response(channel, params))
        channel.on("Network.loadingFinished", self._finished)
        channel.on("Network.loadingFailed", self._failed)
        channel.on("Network.webSocketCreated", self._web_socket)
        if page is not None:
            self._follow_sockets(page)

    def _follow_sockets(self, page: TabPage) -> None:
        def sent(params: Params) -> None:
            page.sockets.sent(self._key(params), params["response"]["opcode"], params["response"]["payloadData"])

        def received(params: Params) -> None:
            if page.sockets.received(self._key(params)):
                page.changed.set()

        def closed(params: Params) -> None:
            page.sockets.closed(self._key(params))
            page.changed.set()

        self._channel.on("Network.webSocketFrameSent", sent)
        self._channel.on("Network.webSocketFrameReceived", received)
        self._channel.on("Network.webSocketClosed", closed)

    def _sent(self, params: Params) -> None:
        request = params["request"]
        parts = urlsplit(request["url"])
        if parts.scheme not in ("http", "https"):
            return
        if self._page is not None and self._page.in_viewer(self._frame(params)):
            return
        self._capture.request(self._channel, params, self._tab)
        kind = params.get("type", "Other")
        if self._page is not None and kind not in UNAWAITED:
            key = f"{request['method']} {parts.netloc}{parts.path}"
            label = f"{kind.lower()} {parts.path[:80]}"
            self._page.request_started(self._key(params), PendingRequest(key, label, time.monotonic()))

    def _received(self, params: Params) -> None:
        self._capture.response(self._channel, params)
        media_type = params["response"].get("mimeType")
        if media_type == "text/event-stream":
            self._ended(params)
        frame = self._frame(params)
        if frame is not None and params["type"] == "Document":
            frame.pdf = params["response"]["url"] if media_type == "application/pdf" else ""

    def _finished(self, params: Params) -> None:
        self._capture.finished(self._channel, params)
        self._ended(params)

    def _failed(self, params: Params) -> None:
        url = self._capture.url_of(self._channel, params["requestId"])
        self._capture.failed(self._channel, params, blocked=bool(url) and not self._allow.permits(url))
        self._ended(params)

    def _web_socket(self, params: Params) -> None:
        blocked = "" if self._allow.permits(params["url"]) else "its host is not part of this task"
        self._capture.single(params["url"], self._tab, resource_type="websocket", blocked=blocked)
        if self._page is not None and not blocked:
            self._page.sockets.opened(self._key(params), params["url"])

    def _ended(self, params: Params) -> None:
        if self._page is not None:
            self._page.request_ended(self._key(params))

    def _frame(self, params: Params) -> PageFrame | None:
        return self._page.frames.get(params.get("frameId", "")) if self._page is not None else None

    def _key(self, params: Params) -> tuple[str, str]:
        return self._channel.session_id, params["requestId"]
