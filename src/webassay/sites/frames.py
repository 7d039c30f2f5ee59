"""Messages between the site-server process and its parent: JSON, with its length in front."""

import asyncio
import json
import socket
import struct
from collections.abc import Mapping
from typing import Any

_LENGTH = struct.Struct(">I")


def frame(message: Mapping[str, Any]) -> bytes:
    data = json.dumps(message, allow_nan=False).encode()
    return _LENGTH.pack(len(data)) + data


def _read_exactly(channel: socket.socket, count: int) -> bytes:
    """Returns fewer bytes if the other side is gone."""
    data = bytearray()
    while len(data) < count:
        part = channel.recv(count - len(data))
        if not part:
            break
        data += part
    return bytes(data)


def read_from(channel: socket.socket) -> dict[str, Any] | None:
    header = _read_exactly(channel, _LENGTH.size)
    if len(header) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(header)
    data = _read_exactly(channel, length)
    if len(data) < length:
        return None
    message: dict[str, Any] = json.loads(data)
    return message


async def read_frame(reader: asyncio.StreamReader) -> dict[str, Any]:
    """For the parent. Raises `asyncio.IncompleteReadError` if the server is gone."""
    (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
    message: dict[str, Any] = json.loads(await reader.readexactly(length))
    return message
