"""The network log: every request of every tab, popup, frame and worker of a session, with complete request bodies.

Lines are written as requests end, in the order they started. `seal` waits for bodies that are still being fetched and
writes the rest; nothing that happens later is in the log.
"""

import asyncio
import base64
import io
import time
from pathlib import Path
from typing import Any

from webassay.browser.devtools.cdp import Channel, CommandRefused, CommandTimeout, Params
from webassay.core.trajectory import Exchange

MAX_POST_DATA = 64 * 1024 * 1024
_BODY_TIMEOUT = 10.0
SECRET_HEADERS = frozenset({"cookie", "set-cookie", "authorization", "proxy-authorization"})


class _Open:
    """An exchange that is not complete yet."""

    def __init__(self, fields: dict[str, Any], started: float) -> None:
        self.fields = fields
        self.started = started
        self.done = False
        self.downloaded = False
        self.body: asyncio.Task[None] | None = None

    @property
    def complete(self) -> bool:
        return self.done and (self.body is None or self.body.done())

    def line(self) -> bytes:
        return Exchange(**self.fields).model_dump_json(exclude_defaults=True).encode() + b"\n"


class Capture:
    def __init__(self, path: Path, *, keep_secrets: bool = False) -> None:
        self._path = path
        self._file: io.BufferedWriter | None = path.open("wb")
        self._keep_secrets = keep_secrets
        self._origin = time.time()
        self._order: list[_Open] = []
        self._open: dict[tuple[str, str], _Open] = {}
        self._number = 0
        self.count = 0
        self.blocked: list[str] = []
        """URLs that were blocked since the reader last emptied this list."""
        self._turned_away: list[str] = []
        """URLs of pages that were given up for another, or because what came is a download."""

    @property
    def seconds(self) -> float:
        """Now, on the clock by which requests are noted."""
        return round(max(0.0, time.time() - self._origin), 4)

    # --- events ----------------------------------------------------------------------------------------

    def request(self, channel: Channel, params: Params, tab: int) -> None:
        if self._file is None:
            return
        key = (channel.session_id, params["requestId"])
        previous = self._open.get(key)
        redirected_from = ""
        if previous is not None and "redirectResponse" in params:
            self._respond(previous, params["redirectResponse"])
            self._finish(previous, params["timestamp"])
            redirected_from = previous.fields["id"]
        request = params["request"]
        self._number += 1
        entry = _Open(
            {
                "id": str(self._number),
                "time": round(max(0.0, params.get("wallTime", time.time()) - self._origin), 4),
                "method": request["method"],
                "url": request["url"] + request.get("urlFragment", ""),
                "resource_type": params.get("type", "Other").lower(),
                "navigation": params.get("type") == "Document" and params["requestId"] == params.get("loaderId"),
                "tab": tab,
                "request_headers": self._headers(request.get("headers", {})),
                "redirected_from": redirected_from,
            },
            params["timestamp"],
        )
        if request.get("hasPostData"):
            self._post_data(entry, channel, params["requestId"], request)
        self._open[key] = entry
        self._order.append(entry)

    def response(self, channel: Channel, params: Params) -> None:
        entry = self._open.get((channel.session_id, params["requestId"]))
        if entry is not None:
            self._respond(entry, params["response"])

    def extra_request(self, channel: Channel, params: Params) -> None:
        entry = self._open.get((channel.session_id, params["requestId"]))
        if entry is not None and self._keep_secrets:
            entry.fields["request_headers"] |= self._headers(params.get("headers", {}))

    def extra_response(self, channel: Channel, params: Params) -> None:
        entry = self._open.get((channel.session_id, params["requestId"]))
        if entry is not None and self._keep_secrets:
            entry.fields.setdefault("response_headers", {}).update(self._headers(params.get("headers", {})))

    def finished(self, channel: Channel, params: Params) -> None:
        entry = self._open.pop((channel.session_id, params["requestId"]), None)
        if entry is not None:
            self._finish(entry, params["timestamp"])
            self._flush()

    def failed(self, channel: Channel, params: Params, *, blocked: bool) -> None:
        entry = self._open.pop((channel.session_id, params["requestId"]), None)
        if entry is None:
            return
        entry.fields["error"] = params.get("errorText", "failed") + (" (canceled)" if params.get("canceled") else "")
        if blocked:
            entry.fields["blocked"] = True
            entry.fields["error"] = "blocked: this host is not part of the task"
            self.blocked.append(entry.fields["url"])
        elif params.get("canceled") and entry.fields["navigation"] and not entry.downloaded:
            self._turned_away = [*self._turned_away[-99:], entry.fields["url"]]
        self._finish(entry, params["timestamp"])
        self._flush()

    def url_of(self, channel: Channel, request_id: str) -> str:
        entry = self._open.get((channel.session_id, request_id))
        return str(entry.fields["url"]) if entry is not None else ""

    def download(self, url: str, tab: int) -> None:
        """A link that says that it leads to a download is fetched past the page, and Chromium reports no exchange. One
        that turns out to lead to one was reported as a page."""
        asked = [entry for entry in self._open.values() if entry.fields["url"] == url and entry.fields["navigation"]]
        if asked:
            asked[-1].downloaded = True
        elif url in self._turned_away:
            self._turned_away.remove(url)
        elif url.startswith("http"):
            # Chromium begins no download unless the answer is a success.
            self.single(url, tab, resource_type="download", status=200)

    def single(
        self, url: str, tab: int, *, resource_type: str = "document", blocked: str = "", status: int | None = None
    ) -> None:
        """Logs a request that Chromium does not report as an exchange: one we refused to make, a web socket, or a
        download."""
        if self._file is None:
            return
        self._number += 1
        entry = _Open(
            {
                "id": str(self._number),
                "time": round(max(0.0, time.time() - self._origin), 4),
                "method": "GET",
                "url": url,
                "resource_type": resource_type,
                "navigation": resource_type == "document",
                "tab": tab,
                "status": status,
                "blocked": bool(blocked),
                "error": f"blocked: {blocked}" if blocked else "",
            },
            0.0,
        )
        entry.done = True
        self._order.append(entry)

    # --- putting together ------------------------------------------------------------------------------

    def _headers(self, headers: dict[str, str]) -> dict[str, str]:
        return {
            name.lower(): value
            for name, value in headers.items()
            if self._keep_secrets or name.lower() not in SECRET_HEADERS
        }

    def _respond(self, entry: _Open, response: Params) -> None:
        entry.fields["status"] = response["status"]
        if response.get("fromServiceWorker"):
            entry.fields["from_worker"] = True
        entry.fields["response_headers"] = entry.fields.get("response_headers", {}) | self._headers(
            response.get("headers", {})
        )
        entry.fields["mime_type"] = response.get("mimeType", "")

    def _finish(self, entry: _Open, timestamp: float) -> None:
        entry.done = True
        entry.fields["duration"] = round(max(0.0, timestamp - entry.started), 4)

    def _post_data(self, entry: _Open, channel: Channel, request_id: str, request: Params) -> None:
        parts = [part.get("bytes") for part in request.get("postDataEntries", [])]
        if parts and all(part is not None for part in parts):
            self._keep_body(entry, b"".join(base64.b64decode(part) for part in parts))
        elif request.get("postData") is not None and not parts:
            self._keep_body(entry, request["postData"].encode())
        else:
            # The event does not include blobs and files.
            asked = channel.post("Network.getRequestPostData", {"requestId": request_id})
            entry.body = asyncio.ensure_future(self._fetch_body(entry, asked))

    async def _fetch_body(self, entry: _Open, asked: asyncio.Future[Params]) -> None:
        try:
            async with asyncio.timeout(_BODY_TIMEOUT):
                answer = await asked
        except (CommandRefused, CommandTimeout, TimeoutError) as error:
            entry.fields["error"] = entry.fields.get("error") or f"the body could not be read: {error}"
            return
        data = answer["postData"]
        self._keep_body(entry, base64.b64decode(data) if answer.get("base64Encoded") else data.encode())

    @staticmethod
    def _keep_body(entry: _Open, body: bytes) -> None:
        try:
            entry.fields["post_data"] = body.decode("utf-8")
        except UnicodeDecodeError:
            entry.fields["post_data"] = base64.b64encode(body).decode("ascii")
            entry.fields["post_data_base64"] = True

    # --- writing ---------------------------------------------------------------------------------------

    def _flush(self) -> None:
        ready = 0
        while ready < len(self._order) and self._order[ready].complete:
            ready += 1
        self._write(ready)

    def _write(self, count: int) -> None:
        if self._file is None or count == 0:
            return
        self._file.writelines(entry.line() for entry in self._order[:count])
        self._file.flush()
        self.count += count
        del self._order[:count]

    async def seal(self) -> Path:
        """Ends the log: waits for bodies in transit, and marks requests that got no answer."""
        if self._file is None:
            return self._path
        bodies = [entry.body for entry in self._order if entry.body is not None]
        await asyncio.gather(*bodies)
        for entry in self._order:
            if not entry.done and entry.fields.get("status") is None:
                entry.fields["error"] = entry.fields.get("error") or "no answer before the end of the episode"
        self._write(len(self._order))
        self._file.close()
        self._file = None
        self._open.clear()
        return self._path
