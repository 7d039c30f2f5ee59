"""Which process is at the other end of a connection on this machine.

On loopback an address proves nothing: every program of the user has the same one. The kernel knows who holds the
socket. Only Linux tells; elsewhere, and where the connection is gone before anybody could look, the answer is None.
"""

import os
from collections.abc import Iterator
from pathlib import Path

Address = tuple[str, int]


def comes_from(peer: Address, port: int, process: int) -> bool | None:
    """Whether the connection from `peer` to our `port` is held by this process, or by one that descends from it. None:
    nobody knows."""
    socket = _socket(peer, port)
    if socket is None:
        return None
    name, readable = f"socket:[{socket}]", False
    for pid in family(process):
        held = _held(pid)
        if held is None:
            continue
        readable = True
        if name in held:
            return True
    # It may have been closed while we looked.
    return False if readable and _socket(peer, port) == socket else None


def hung_up(peer: Address, port: int) -> bool:
    """Whether nobody holds the other end any more. False where that cannot be told."""
    return _table() is not None and _socket(peer, port) is None


def family(process: int) -> Iterator[int]:
    """The process, and all that descend from it."""
    queue = [process]
    for pid in queue:
        yield pid
        for place in _listed(f"/proc/{pid}/task"):
            try:
                children = Path(f"/proc/{pid}/task/{place}/children").read_text("ascii")
            except OSError:
                continue
            queue += map(int, children.split())


def _socket(peer: Address, port: int) -> int | None:
    """The inode of the socket at the other end."""
    theirs, ours = f"{_hex(peer[0])}:{peer[1]:04X}", f":{port:04X}"
    for line in (_table() or "").splitlines():
        if theirs in line:
            fields = line.split()
            if fields[1] == theirs and fields[2].endswith(ours) and fields[9] != "0":
                return int(fields[9])
    return None


def _table() -> str | None:
    try:
        return Path("/proc/net/tcp").read_text("ascii")
    except OSError:
        return None


def _hex(address: str) -> str:
    return "".join(f"{int(part):02X}" for part in reversed(address.split(".")))


def _held(pid: int) -> set[str] | None:
    """What its descriptors point at; None if they may not be read."""
    try:
        names = os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208
    except OSError:
        return None
    held = set()
    for name in names:
        try:
            held.add(os.readlink(f"/proc/{pid}/fd/{name}"))  # noqa: PTH115
        except OSError:
            continue  # closed meanwhile
    return held


def _listed(place: str) -> list[str]:
    try:
        return os.listdir(place)  # noqa: PTH208
    except OSError:
        return []
