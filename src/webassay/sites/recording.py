"""What one world serves, noted beside the site and without its knowledge.

Noting an answer keeps its body and takes microseconds; pages are read when the record is packed, after the agent has
stopped. Only where very much is waiting to be read, it is read at once, so that memory stays bounded.
"""

import json
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from typing import Any, Literal
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Message, Scope

from webassay.core.served import ServedAnswer, ServedKind, ServedRecord
from webassay.sites.visible import Nodes, read_page

MOST_ANSWERS = 50_000
MOST_TEXT = 32 * 1024 * 1024
"""Characters of different lines. The pages of all products of the shop have a quarter of that."""
MOST_WAITING = 16 * 1024 * 1024
"""Bytes of bodies."""
MOST_SAID = 20_000
"""Characters of one request that are kept."""

Visitor = Literal["", "browser", "other"]
_Waiting = dict[str, tuple[bytes, str, tuple[str, ...]]]
"""Digest to body, media type, and what the visitor typed."""
_DOCUMENTS = (b"document", b"iframe", b"frame", b"object", b"embed")


class Recorder:
    def __init__(self) -> None:
        self._served: list[ServedAnswer] = []
        self._omitted = 0
        self._nodes = Nodes()
        self._pages: dict[str, int | None] = {}
        """Digest of a body to its page."""
        self._waiting: _Waiting = {}
        self._waiting_bytes = 0
        self._opened = time.monotonic()
        self._start = True
        self._salt = secrets.token_bytes(16)
        self._reading = threading.Lock()

    def hand_over(self) -> None:
        """The start pages are open; from here on it is the agent's doing."""
        self._start = False

    def note(self, scope: Scope, sent: bytes, reply: Iterable[Message], by: Visitor = "") -> None:
        if len(self._served) >= MOST_ANSWERS or self._nodes.size >= MOST_TEXT:
            self._omitted += 1
            return
        asked = dict(scope["headers"])
        status, media_type, body = _answer(reply)
        kind = _kind(asked, media_type)
        digest = blake2b(body, digest_size=16).hexdigest() if body else ""
        said = tuple(_said(sent, asked.get(b"content-type", b"").decode("latin-1")))
        query = scope.get("query_string", b"").decode("latin-1")
        self._served.append(
            ServedAnswer(
                method=scope["method"],
                path=scope["path"] + (f"?{query}" if query else ""),
                status=status,
                kind=kind,
                digest=digest,
                at=round(time.monotonic() - self._opened, 3),
                session=self._session(asked.get(b"cookie", b"")),
                start=self._start,
                said=said,
                by=by,
            )
        )
        # Nobody sees what a redirect says.
        readable = kind in ("document", "fragment") and not 300 <= status < 400
        if readable and digest and digest not in self._pages and digest not in self._waiting:
            typed = (*said, *(value for _, value in parse_qsl(query)))
            self._waiting[digest] = (body, media_type, typed)
            self._waiting_bytes += len(body)
            if self._waiting_bytes > MOST_WAITING:
                self._read(self._take())

    def pack(self) -> Callable[[], tuple[bytes, int, int]]:
        """Takes what was noted so far. What it returns makes the record of it, and tells how many answers are in it and
        how many are not; it takes its time, and may run in a thread of its own."""
        served, omitted, waiting = tuple(self._served), self._omitted, self._take()

        def make() -> tuple[bytes, int, int]:
            self._read(waiting)
            pages = tuple(msgspec.structs.replace(one, page=self._pages.get(one.digest)) for one in served)
            record = ServedRecord(served=pages, nodes=self._nodes.all(), omitted=omitted)
            return record.pack(), len(served), omitted

        return make

    def _take(self) -> _Waiting:
        waiting, self._waiting, self._waiting_bytes = self._waiting, {}, 0
        return waiting

    def _read(self, waiting: _Waiting) -> None:
        with self._reading:
            for digest, (body, media_type, typed) in waiting.items():
                text = body.decode("utf-8", "replace")
                self._pages[digest] = read_page(text, media_type, self._nodes, {value.strip() for value in typed})

    def _session(self, cookies: bytes) -> str:
        return blake2b(cookies, digest_size=4, key=self._salt).hexdigest() if cookies else ""


def _answer(reply: Iterable[Message]) -> tuple[int, str, bytes]:
    status, media_type, body = 0, "", []
    for message in reply:
        if message["type"] == "http.response.start":
            status = message["status"]
            headers = {name.lower(): value for name, value in message.get("headers", ())}
            media_type = headers.get(b"content-type", b"").decode("latin-1").lower()
        elif message["type"] == "http.response.body":
            body.append(message.get("body", b""))
    return status, media_type, body[0] if len(body) == 1 else b"".join(body)


def _kind(asked: Mapping[bytes, bytes], media_type: str) -> ServedKind:
    """What the visitor made of it: by what a browser says, or else by what they would accept."""
    dest = asked.get(b"sec-fetch-dest", b"")
    if dest == b"image" or media_type.startswith("image/"):
        return "picture"
    if dest in _DOCUMENTS:
        return "document"
    if not any(form in media_type for form in ("html", "json", "text/plain")):
        return "other"
    if dest:
        return "fragment" if dest == b"empty" else "other"
    return "document" if "html" in media_type and b"text/html" in asked.get(b"accept", b"text/html") else "fragment"


def _said(sent: bytes, media_type: str) -> list[str]:
    """The values in the body of a request."""
    if not sent:
        return []
    text = sent[:MOST_SAID].decode("utf-8", "replace")
    if "json" in media_type:
        try:
            return list(_strings(json.loads(text)))
        except (ValueError, RecursionError):
            return [text]
    if "x-www-form-urlencoded" in media_type:
        return [value for _, value in parse_qsl(text)]
    return [text]


def _strings(value: Any) -> Iterable[str]:
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _strings(one)
    elif value is not None:
        yield str(value).encode("utf-8", "replace").decode()  # JSON can spell half a character, which nobody can store.
