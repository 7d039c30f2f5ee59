"""Just enough of HTTP and WebSocket (RFC 6455) to be the DevTools of one session."""

import asyncio
import base64
import hashlib
import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

MAX_HEAD = 64 * 1024
MAX_MESSAGE = 256 * 1024 * 1024
MAX_UNREAD = 512 * 1024 * 1024
"""Bytes that a client may leave unread before it is hung up on."""
HEAD_SECONDS = 10.0
_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_CONTINUATION, _TEXT, _BINARY, _CLOSE, _PING, _PONG = 0, 1, 2, 8, 9, 10


class BrokenSocket(Exception):
    """The client does not speak the protocol, or is gone."""


@dataclass(frozen=True)
class HttpRequest:
    method: str
    target: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def upgrades(self) -> bool:
        return "websocket" in self.headers.get("upgrade", "").lower() and "sec-websocket-key" in self.headers


async def read_request(reader: asyncio.StreamReader) -> HttpRequest:
    try:
        async with asyncio.timeout(HEAD_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, TimeoutError) as error:
        raise BrokenSocket(str(error)) from None
    first, *lines = head.decode("latin-1").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3:
        raise BrokenSocket("no request")
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
    }
    return HttpRequest(parts[0], parts[1], headers)


def response(status: int, content: Any) -> bytes:
    body = (content if isinstance(content, str) else json.dumps(content, indent=1)).encode()
    kind = "text/plain" if isinstance(content, str) else "application/json"
    head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: {kind}; charset=UTF-8\r\n"
    return f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body


def accepted(request: HttpRequest) -> bytes:
    key = base64.b64encode(hashlib.sha1(request.headers["sec-websocket-key"].encode("latin-1") + _MAGIC).digest())
    head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    return head + b"Sec-WebSocket-Accept: " + key + b"\r\n\r\n"


class WebSocket:
    """The server's side of a connection that has been upgraded."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    def send(self, message: bytes) -> None:
        self._frame(_TEXT, message)

    def close(self) -> None:
        if not self._writer.is_closing():
            self._frame(_CLOSE, struct.pack(">H", 1000))
            self._writer.close()

    def _frame(self, kind: int, data: bytes) -> None:
        if self._writer.is_closing():
            return
        if self._writer.transport.get_write_buffer_size() > MAX_UNREAD:
            self._writer.transport.abort()
            return
        size = len(data)
        if size < 126:
            head = struct.pack(">BB", 0x80 | kind, size)
        elif size < 1 << 16:
            head = struct.pack(">BBH", 0x80 | kind, 126, size)
        else:
            head = struct.pack(">BBQ", 0x80 | kind, 127, size)
        self._writer.write(head + data)

    async def receive(self) -> bytes:
        """The next whole message. Raises `Broken` when there will be none."""
        parts: list[bytes] = []
        while True:
            last, kind, data = await self._read()
            if kind == _CLOSE:
                raise BrokenSocket("the client said goodbye")
            if kind == _PING:
                self._frame(_PONG, data)
            elif kind in (_TEXT, _BINARY, _CONTINUATION):
                parts.append(data)
                if sum(map(len, parts)) > MAX_MESSAGE:
                    raise BrokenSocket("a message is too long")
                if last:
                    return parts[0] if len(parts) == 1 else b"".join(parts)
            elif kind != _PONG:
                raise BrokenSocket(f"there are no frames of kind {kind}")

    async def _read(self) -> tuple[bool, int, bytes]:
        try:
            first, second = await self._reader.readexactly(2)
            size = second & 0x7F
            if size == 126:
                (size,) = struct.unpack(">H", await self._reader.readexactly(2))
            elif size == 127:
                (size,) = struct.unpack(">Q", await self._reader.readexactly(8))
            if size > MAX_MESSAGE:
                raise BrokenSocket("a message is too long")
            mask = await self._reader.readexactly(4) if second & 0x80 else b""
            data = await self._reader.readexactly(size)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise BrokenSocket(str(error)) from None
        return bool(first & 0x80), first & 0x0F, _unmasked(data, mask) if mask else data


def _unmasked(data: bytes, mask: bytes) -> bytes:
    size = len(data)
    pattern = (mask * (size // 4 + 1))[:size]
    return (int.from_bytes(data, "little") ^ int.from_bytes(pattern, "little")).to_bytes(size, "little")
