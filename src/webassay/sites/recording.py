"""What one world serves, noted beside the site and without its knowledge.

Noting an answer keeps its body and takes microseconds; pages are read when the record is packed, after the agent has
stopped. Only where very much is waiting to be read, it is read at once, so that memory stays bounded.
"""

import re
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from typing import Any, Literal

import msgspec
from starlette.types import Message, Scope

from webassay.core.served import ECHO, ServedAnswer, ServedCells, ServedCount, ServedKind, ServedRecord, kept_path
from webassay.sites.receipts import Computed, Receipts
from webassay.sites.visible import Nodes, read_page

MOST_ANSWERS = 300_000
"""More than somebody gets in an hour who waits for none of them."""
LONGEST_ECHO = 2_000
"""Longer than anything that a goal says, so nothing beyond it could ever be evidence."""
MOST_TEXT = 32 * 1024 * 1024
"""Characters of different lines. The pages of all products of the shop have a quarter of that."""
MOST_WAITING = 16 * 1024 * 1024
"""Bytes of bodies."""

Visitor = Literal["", "browser", "other"]
_Waiting = dict[str, tuple[bytes, str]]
"""Digest to text and media type."""
_LONG_ECHO = re.compile(f"{ECHO[0]}[^{ECHO[1]}]{{{LONGEST_ECHO + 1},}}{ECHO[1]}")
_DOCUMENTS = (b"document", b"iframe", b"frame", b"object", b"embed")


class Recorder:
    def __init__(self) -> None:
        self._served: list[ServedAnswer] = []
        self._omitted = 0
        self._unlisted = 0
        self._nodes = Nodes()
        self._texts: list[str] = []
        """For each answer, the digest of what is read of it."""
        self._pages: dict[str, int | None] = {}
        """The digest of a text to its page."""
        self._cells: dict[tuple[bool, str, str], dict[tuple[Any, ...], int]] = {}
        """The rows of which the site showed a column, on the start pages and later, and in which answer first."""
        self._computed: set[Computed] = set()
        self._vouches = False
        self._waiting: _Waiting = {}
        self._waiting_bytes = 0
        self._opened = time.monotonic()
        self._start = True
        self._salt = secrets.token_bytes(16)
        self._reading = threading.Lock()

    def hand_over(self) -> None:
        """The start pages are open; from here on it is the agent's doing."""
        self._start = False

    @property
    def age(self) -> float:
        """Seconds since the world opened."""
        return time.monotonic() - self._opened

    def note(self, scope: Scope, reply: Iterable[Message], by: Visitor = "", receipts: Receipts | None = None) -> None:
        """`receipts` are those of the site's application; without any, somebody else answered for it."""
        if len(self._served) >= MOST_ANSWERS:
            self._unlisted += 1
            return
        asked = dict(scope["headers"])
        status, media_type, body = _answer(reply)
        kind = _kind(asked, media_type)
        digest = blake2b(body, digest_size=16).hexdigest() if body else ""
        self._served.append(
            ServedAnswer(
                method=scope["method"],
                path=kept_path(address_of(scope)),
                status=status,
                kind=kind,
                digest=digest,
                at=round(self.age, 3),
                session=self._session(asked.get(b"cookie", b"")),
                start=self._start,
                by=by,
            )
        )
        # Nobody sees what a redirect says.
        if 300 <= status < 400:
            self._texts.append("")
            return
        if receipts is not None and receipts.vouched is not None:
            self._vouches = True
            body = _LONG_ECHO.sub("", receipts.vouched).encode("utf-8", "replace")
        if receipts is not None and status < 500:  # Of an answer that broke, nobody saw what was written so far.
            answer = len(self._served) - 1
            for (table, column), rows in receipts.cells().items():
                known = self._cells.setdefault((self._start, table, column), {})
                known |= {key: answer for key in rows if key not in known} if known else dict.fromkeys(rows, answer)
            if not self._start:
                self._computed |= receipts.computed()
        readable = kind in ("document", "fragment") or media_type.startswith("text/csv")
        digest = blake2b(body, digest_size=16).hexdigest() if body and readable else ""
        if self._nodes.size >= MOST_TEXT and digest and digest not in self._pages and digest not in self._waiting:
            self._omitted += 1
            digest = ""
        self._texts.append(digest)
        if digest and digest not in self._pages and digest not in self._waiting:
            self._waiting[digest] = (body, media_type)
            self._waiting_bytes += len(body)
            if self._waiting_bytes > MOST_WAITING:
                self._read(self._take())

    @property
    def computed(self) -> frozenset[Computed]:
        """What queries computed, and the site showed."""
        return frozenset(self._computed)

    def pack(self, counts: Iterable[ServedCount] = ()) -> Callable[[], tuple[bytes, int, int]]:
        """Takes what was noted so far. What it returns makes the record of it, and tells how many answers are in it and
        how many of them without their text; it takes its time, and may run in a thread of its own."""
        served, waiting = list(zip(self._served, self._texts, strict=True)), self._take()
        omitted, unlisted = self._omitted, self._unlisted
        cells = tuple(
            ServedCells(table, column, list(keys), start, list(keys.values()))
            for (start, table, column), keys in self._cells.items()
        )

        def make() -> tuple[bytes, int, int]:
            self._read(waiting)
            pages = tuple(msgspec.structs.replace(one, page=self._pages.get(text)) for one, text in served)
            record = ServedRecord(
                served=pages, nodes=self._nodes.all(), omitted=omitted, unlisted=unlisted, cells=cells,
                counts=tuple(counts), evidence="receipts" if self._vouches else "texts",
            )  # fmt: skip
            return record.pack(), len(served), omitted

        return make

    def _take(self) -> _Waiting:
        waiting, self._waiting, self._waiting_bytes = self._waiting, {}, 0
        return waiting

    def _read(self, waiting: _Waiting) -> None:
        with self._reading:
            for digest, (body, media_type) in waiting.items():
                self._pages[digest] = read_page(body.decode("utf-8", "replace"), media_type, self._nodes)

    def _session(self, cookies: bytes) -> str:
        return blake2b(cookies, digest_size=4, key=self._salt).hexdigest() if cookies else ""


def address_of(scope: Scope) -> str:
    """The path, with its query."""
    query = scope.get("query_string", b"").decode("latin-1")
    return f"{scope['path']}?{query}" if query else str(scope["path"])


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
