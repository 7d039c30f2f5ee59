"""Asking a server of somebody else's over HTTP, with an end to every wait.

The standard client bounds each read, so a server that sends a byte now and then holds it for ever; here one limit holds
for the whole answer.
"""

import asyncio
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import h11

from webassay.core.errors import SiteError

LARGEST = 64 << 20
"""Bytes of an answer."""


@dataclass(frozen=True)
class HttpAnswer:
    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key == name), "")

    def all_headers(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]

    def json(self) -> Any:
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            raise SiteError(f"{self.url} did not answer with JSON, but with {self.text[:200]!r}.") from None


async def ask(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    seconds: float = 10.0,
) -> HttpAnswer:
    """One request; redirects are answers like any other. Whatever goes wrong on the way is a `SiteError`."""
    what = f"{method} {url}"
    try:
        async with asyncio.timeout(seconds):
            return await _asked(method, url, dict(headers or {}), body)
    except TimeoutError:
        raise SiteError(f"{what} was not answered within {seconds:g} seconds.") from None
    except (OSError, h11.ProtocolError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise SiteError(f"{what} failed: {why or type(error).__name__}.") from error


async def _asked(method: str, url: str, headers: dict[str, str], body: bytes) -> HttpAnswer:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("this is not an address")
    secure = ssl.create_default_context() if parts.scheme == "https" else None
    reader, writer = await asyncio.open_connection(
        parts.hostname, parts.port or (443 if secure else 80), ssl=secure, limit=1 << 20
    )
    try:
        connection = h11.Connection(h11.CLIENT)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        given = {"host": parts.netloc.rpartition("@")[2], "connection": "close", "accept": "*/*", **headers}
        if body or method in ("POST", "PUT"):
            given["content-length"] = str(len(body))
        request = h11.Request(method=method, target=target, headers=list(given.items()))
        for event in (request, h11.Data(data=body), h11.EndOfMessage()) if body else (request, h11.EndOfMessage()):
            writer.write(connection.send(event) or b"")
        await writer.drain()
        return await _read(url, connection, reader)
    finally:
        writer.close()


async def _read(url: str, connection: h11.Connection, reader: asyncio.StreamReader) -> HttpAnswer:
    status, body = 0, bytearray()
    headers: tuple[tuple[str, str], ...] = ()
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(1 << 16))
        elif isinstance(event, h11.Response):
            status = event.status_code
            headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in event.headers)
        elif isinstance(event, h11.Data):
            body += event.data
            if len(body) > LARGEST:
                raise ValueError(f"the answer is larger than {LARGEST >> 20} MB")
        elif isinstance(event, h11.EndOfMessage):
            return HttpAnswer(url, status, headers, bytes(body))
        elif isinstance(event, h11.ConnectionClosed):
            raise ValueError("the connection was closed without an answer")
