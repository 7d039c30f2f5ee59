"""The network log as lightweight events, from any of three formats.

A log can be hundreds of megabytes, most of it bodies and headers that no check needs. So files are mapped, not read:
the decoder skips what is not named, an event is a view of its own slice of the file, and headers and bodies are decoded
only for the few events that a check looks into.
"""

import base64
import binascii
import io
import lzma
import mmap
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Any, BinaryIO, ClassVar, Protocol
from urllib.parse import unquote

import msgspec

from webassay.core.errors import GradingError
from webassay.core.trajectory import Blobs, NetworkLog

STATIC = (".css", ".js", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".woff", ".woff2", ".ttf", ".ico", ".webp")
"""Static files; no check looks at them."""


class Details(msgspec.Struct):
    """The parts of an event that are decoded on demand. Header names are in lower case."""

    request_headers: dict[str, str]
    post_type: str
    post_text: str
    response_headers: dict[str, str]
    cookies: dict[str, str]
    body_type: str
    body: str


class Event(Protocol):
    """One request and its answer; everything but `details` is cheap to read."""

    @property
    def method(self) -> str: ...

    @property
    def url(self) -> str: ...

    @property
    def status(self) -> int | None: ...

    @property
    def resource_type(self) -> str: ...

    @property
    def mime_type(self) -> str: ...

    @property
    def blocked(self) -> bool: ...

    @property
    def worked_out(self) -> bool:
        """A service worker of the site answered, and not the site."""

    @property
    def navigated(self) -> bool | None:
        """Whether the recorder calls it a navigation; None if it does not say."""

    @property
    def redirect(self) -> str:
        """Target of a redirect; empty if there is none."""

    @property
    def details(self) -> Details: ...


def is_static(event: Event) -> bool:
    url = event.url
    if "?" in url or "#" in url:
        url = url.partition("?")[0].partition("#")[0]
    return url.endswith(STATIC)


def is_navigation(event: Event) -> bool:
    """Whether it opened a page in the window, judging by its headers if the recorder does not say."""
    if event.method != "GET":
        return False
    if event.navigated is not None:
        return event.navigated
    headers = event.details.request_headers
    accept = headers.get("accept", "").lower()
    if "sec-fetch-user" in headers:
        return (
            headers.get("sec-fetch-dest") == "document"
            and headers.get("sec-fetch-mode") == "navigate"
            and headers["sec-fetch-user"] == "?1"
            and "text/html" in accept
        )
    return accept.startswith("text/html")


def events(log: NetworkLog, blobs: Blobs) -> Iterable[Event]:
    """Every event of the log, in order. A log that fits in memory comes as a list."""
    if log.format == "har":
        with blobs.open(log.blob) as stream:
            return _har(_mapped(stream))
    return _lines(log, blobs)


def _lines(log: NetworkLog, blobs: Blobs) -> Iterator[Event]:
    with blobs.open(log.blob) as stream:
        yield from _trace(stream) if log.format == "playwright-trace" else _exchanges(stream)


def _decoded(decoder: Any, data: Any, what: str) -> Any:
    try:
        return decoder.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise GradingError(f"{what} cannot be read: {error}.") from error


# --- HAR and Playwright traces, whose entries look the same -----------------------------------------------


class _Named(msgspec.Struct, gc=False):
    name: str
    value: str | None = ""


class _PostData(msgspec.Struct):
    mimeType: str | None = ""
    text: str | None = ""
    params: list[_Named] | None = None


class _Content(msgspec.Struct):
    mimeType: str | None = ""
    text: str | None = ""
    encoding: str | None = ""


_NULL = msgspec.Raw(b"null")


class _Request(msgspec.Struct, gc=False):
    method: str
    url: str
    headers: msgspec.Raw = _NULL
    postData: msgspec.Raw = _NULL


class _Response(msgspec.Struct, gc=False):
    status: int | None = None
    headers: msgspec.Raw = _NULL
    cookies: msgspec.Raw = _NULL
    content: msgspec.Raw = _NULL
    redirectURL: str | None = ""


class _Entry(msgspec.Struct, gc=False):
    """An entry whose bulky parts stay views of the file until they are needed."""

    request: _Request
    response: msgspec.Raw
    kind: str | None = msgspec.field(default="", name="_resourceType")

    blocked = False
    worked_out = False
    navigated = None

    # Read for every entry of a log: attrgetter saves a Python call each time.
    method: ClassVar[property] = property(attrgetter("request.method"))
    url: ClassVar[property] = property(attrgetter("request.url"))

    def _part(self, decoder: Any, data: msgspec.Raw) -> Any:
        try:
            return decoder.decode(data)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
            raise GradingError(f"The log's entry {self.url[:100]!r} cannot be read: {error}.") from error

    @property
    def answer(self) -> _Response:
        found: _Response = self._part(_RESPONSE, self.response)
        return found

    @property
    def status(self) -> int | None:
        return self.answer.status

    @property
    def redirect(self) -> str:
        return self.answer.redirectURL or ""

    @property
    def resource_type(self) -> str:
        return self.kind or ""

    @property
    def mime_type(self) -> str:
        found = _MIME_TYPE.search(memoryview(self.answer.content))
        return found[1].decode("utf-8", "replace") if found else ""

    @property
    def details(self) -> Details:
        answer = self.answer
        posted = self._part(_POST_DATA, self.request.postData) or _PostData()
        content = self._part(_CONTENT, answer.content) or _Content()
        headers = _by_name(self._part(_HEADERS, self.request.headers))
        text = posted.text or ""
        if not text and posted.params:
            text = _as_multipart(posted.params)
            posted.mimeType = f"multipart/form-data; boundary={_BOUNDARY}"
        body = content.text or ""
        cookies = self._part(_HEADERS, answer.cookies) or ()
        return Details(
            request_headers=headers,
            post_type=posted.mimeType or headers.get("content-type", ""),
            post_text=text,
            response_headers=_by_name(self._part(_HEADERS, answer.headers)),
            cookies={cookie.name: unquote(cookie.value or "") for cookie in cookies},
            body_type=content.mimeType or "",
            body=_from_base64(body) if content.encoding == "base64" else body,
        )


_MIME_TYPE = re.compile(rb'"mimeType"\s{0,20}:\s{0,20}"([^"\\]{0,200})"')


class _HarLog(msgspec.Struct):
    entries: list[_Entry]


class _Har(msgspec.Struct):
    log: _HarLog


class _LargeEntry(msgspec.Struct, gc=False):
    """Where an entry lies in the file: all that is held until its turn comes."""

    request: msgspec.Raw
    response: msgspec.Raw
    kind: str | None = msgspec.field(default="", name="_resourceType")


class _LargeHarLog(msgspec.Struct):
    entries: list[_LargeEntry]


class _LargeHar(msgspec.Struct):
    log: _LargeHarLog


class _TraceLine(msgspec.Struct):
    type: str = ""
    snapshot: msgspec.Raw = msgspec.Raw(b"")


_HAR, _LARGE_HAR = msgspec.json.Decoder(_Har), msgspec.json.Decoder(_LargeHar)
_ENTRY, _LINE = msgspec.json.Decoder(_Entry), msgspec.json.Decoder(_TraceLine)
_REQUEST, _RESPONSE = msgspec.json.Decoder(_Request), msgspec.json.Decoder(_Response)
_HEADERS = msgspec.json.Decoder(list[_Named] | None)
_POST_DATA, _CONTENT = msgspec.json.Decoder(_PostData | None), msgspec.json.Decoder(_Content | None)

_LARGE = 16_000_000
"""From this size on, entries are decoded one by one: slower, but none is held."""


def _har(data: memoryview) -> Iterable[Event]:
    if bytes(data[:3]) == b"\xef\xbb\xbf":
        data = data[3:]
    if len(data) >= _LARGE:
        return _one_by_one(data)
    entries: list[Event] = _decoded(_HAR, data, "The HAR").log.entries
    return entries


def _one_by_one(data: memoryview) -> Iterator[Event]:
    for number, entry in enumerate(_decoded(_LARGE_HAR, data, "The HAR").log.entries):
        yield _Entry(_decoded(_REQUEST, entry.request, f"Entry {number} of the HAR"), entry.response, entry.kind)


def _mapped(stream: BinaryIO) -> memoryview:
    """Maps a large file; a small one, or a stream without a file, is read."""
    try:
        if os.fstat(stream.fileno()).st_size >= _LARGE:
            return memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
    except (io.UnsupportedOperation, AttributeError, ValueError, OSError):
        pass
    return memoryview(stream.read())


_BOUNDARY = "webassay-posted-parameters"


def _as_multipart(parameters: list[_Named]) -> str:
    """Some recorders keep a form's fields but not its text; this rebuilds the text."""
    head = f"--{_BOUNDARY}\r\nContent-Disposition: form-data; name="
    parts = (f'{head}"{parameter.name}"\r\n\r\n{parameter.value or ""}' for parameter in parameters)
    return "\r\n".join((*parts, f"--{_BOUNDARY}--"))


def _by_name(headers: list[_Named] | None) -> dict[str, str]:
    return {header.name.lower(): header.value or "" for header in headers or ()}


def _from_base64(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""


def _trace(stream: BinaryIO) -> Iterator[Event]:
    for number, line in enumerate(_trace_lines(stream), 1):
        if line.strip():
            found = _decoded(_LINE, line, f"Line {number} of the trace")
            if found.type == "resource-snapshot":
                yield _decoded(_ENTRY, found.snapshot, f"Line {number} of the trace")


def _trace_lines(stream: BinaryIO) -> Iterator[bytes]:
    """From `trace.network` itself, or from the archive it comes in."""
    start = stream.read(4)
    stream.seek(0)
    if start != b"PK\x03\x04":
        yield from _bounded(stream)
        return
    try:
        with zipfile.ZipFile(stream) as archive:
            member = archive.getinfo("trace.network")
            packed = max(1, member.compress_size)
            if member.file_size > _MOST_UNPACKED or member.file_size > max(_ANY_RATIO, _MOST_RATIO * packed):
                raise GradingError(f"The trace archive would unpack to {member.file_size / 1e6:,.0f} MB.")
            with archive.open(member) as unpacked:
                yield from _bounded(unpacked)  # type: ignore[arg-type]
    except _BROKEN_ARCHIVES as error:
        raise GradingError(f"The trace archive cannot be read: {str(error) or type(error).__name__}.") from error


_MOST_UNPACKED = 256_000_000
_ANY_RATIO = 16_000_000
"""Up to here, nobody asks how well it was packed."""
_MOST_RATIO = 100
"""Logs shrink to a tenth, archives that are meant to burst to a thousandth."""
_BROKEN_ARCHIVES = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, KeyError, EOFError, OSError, ValueError),
    *(NotImplementedError, RuntimeError),  # ways of packing that Python does not know; passwords
)
_LONGEST_LINE = 64_000_000


def _bounded(stream: BinaryIO) -> Iterator[bytes]:
    while line := stream.readline(_LONGEST_LINE + 1):
        if len(line) > _LONGEST_LINE:
            raise GradingError(f"The log has a line of more than {_LONGEST_LINE // 1_000_000} MB.")
        yield line


# --- our own capture --------------------------------------------------------------------------------------


class _Exchange(msgspec.Struct):
    method: str
    url: str
    status: int | None = None
    resource_type: str = ""
    navigated: bool = msgspec.field(default=False, name="navigation")
    mime_type: str = ""
    blocked: bool = False
    worked_out: bool = msgspec.field(default=False, name="from_worker")
    request_headers: dict[str, str] = {}
    response_headers: dict[str, str] = {}
    post_data: str | None = None
    post_data_base64: bool = False
    time: float | None = None
    duration: float | None = None

    @property
    def redirect(self) -> str:
        return self.response_headers.get("location", "")

    @property
    def details(self) -> Details:
        text = self.post_data or ""
        lines = self.response_headers.get("set-cookie", "").split("\n")
        cookies = (line.partition(";")[0].partition("=") for line in lines)
        return Details(
            request_headers=self.request_headers,
            post_type=self.request_headers.get("content-type", ""),
            post_text=_from_base64(text) if self.post_data_base64 else text,
            response_headers=self.response_headers,
            cookies={name.strip(): unquote(value) for name, _, value in cookies if name.strip()},
            body_type=self.mime_type,
            body="",
        )


_EXCHANGE = msgspec.json.Decoder(_Exchange)


def _exchanges(stream: BinaryIO) -> Iterator[Event]:
    for number, line in enumerate(_bounded(stream), 1):
        if line.strip():
            yield _decoded(_EXCHANGE, line, f"Line {number} of the network log")
