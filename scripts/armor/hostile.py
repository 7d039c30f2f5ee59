"""Hostile pages next to an honest episode in the same browser.

For each page: how long until the agent sees something and can go on elsewhere, how much memory the browser needed, and
whether the honest session beside it got every step done.
"""

import asyncio
import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from scripts.armor.report import Report

from webassay.browser.devtools.chromium import find_chromium
from webassay.browser.session import Browser, Session
from webassay.core.errors import BrowserError
from webassay.core.interaction import Action

_SOURCE = Path(__file__).with_name("hostile_pages.txt").read_text(encoding="utf-8")
PAGES = {name: body for name, _, body in (part.partition("\n") for part in _SOURCE.split("\n## ")[1:])}
MAX_SECONDS = 30.0
"""For the hostile page: opening it, and looking at it; the page that follows must work at once."""
_STEP_SECONDS = 20.0
_QUIET = b"<title>Quiet</title><h1>Quiet</h1><a href=?next>Next</a>"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    ending = threading.Event()

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.do_GET()

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        try:
            match parts.path:
                case "/hang":
                    self.ending.wait(300)
                case "/drip":
                    self._drip()
                case "/big":
                    self._big(int(parse_qs(parts.query)["mb"][0]))
                case "/loop":
                    self._send(b"", 302, Location="/loop")
                case "/file":
                    self._send(b"a,b\n", **{"Content-Disposition": "attachment; filename=a.csv"})
                case "/worker.js":
                    self._send(b"onfetch = () => { for (;;); }", **{"Content-Type": "text/javascript"})
                case path if path.startswith("/page/"):
                    inside = PAGES[unquote(path.removeprefix("/page/"))]
                    self._send(f"<!doctype html><title>Page</title><body>{inside}".encode())
                case _:
                    self._send(_QUIET)
        except OSError:
            self.close_connection = True

    def _send(self, data: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "text/html; charset=utf-8", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _drip(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", "1000000")
        self.end_headers()
        while not self.ending.wait(1):
            self.wfile.write(b".")

    def _big(self, megabytes: int) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(megabytes << 20))
        self.end_headers()
        piece = b"words and more " * 69906 + b"\n" * 166
        for _ in range(megabytes):
            self.wfile.write(piece[: 1 << 20])


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that goes away is what this is about."""


@contextmanager
def serving() -> Iterator[int]:
    _Handler.ending.clear()
    server = _Server(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        _Handler.ending.set()
        server.shutdown()
        server.server_close()


def memory_of(group: int) -> float:
    """Megabytes that the processes of a group hold together, shared ones counted in parts."""
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.getpgid(int(folder.name)) == group:
                lines = (folder / "smaps_rollup").read_text(encoding="ascii").splitlines()
                total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        except (OSError, StopIteration):
            continue
    return total / 1024


@dataclass
class Outcome:
    name: str
    seconds: float = 0.0
    megabytes: float = 0.0
    went_on: bool = False
    problem: str = ""
    notices: Sequence[str] = ()

    @property
    def held(self) -> bool:
        return self.went_on and self.seconds <= MAX_SECONDS and not self.problem

    def __str__(self) -> str:
        state = "holds" if self.held else "BREAKS"
        said = "; ".join(self.notices)[:90]
        return f"{self.name:34} {state:6} {self.seconds:6.1f} s {self.megabytes:6.0f} MB  {self.problem or said}"


async def _visit(session: Session, base: str, name: str, outcome: Outcome) -> None:
    started = time.monotonic()
    await session.act(Action.of("goto", f"{base}/page/{name.replace(' ', '%20')}"))
    seen = await session.observe(("tree", "screenshot"))
    outcome.seconds = time.monotonic() - started
    outcome.notices = seen.notices
    started = time.monotonic()
    for _ in range(2):  # a page that is ended meanwhile says so, and a URL can be opened then
        acted = await session.act(Action.of("goto", f"{base}/"))
        after = await session.observe(("tree",))
        outcome.went_on = after.title == "Quiet"
        if outcome.went_on:
            break
    left = time.monotonic() - started
    if not outcome.went_on:
        outcome.problem = f"cannot go on: {acted.error or after.url}"
    elif left > _STEP_SECONDS:
        outcome.problem = f"leaving it took {left:.0f} s"


async def _honest(session: Session, base: str, done: asyncio.Event) -> int:
    steps = 0
    while not done.is_set():
        acted = await session.act(Action.of("goto", f"{base}/?{steps}"))
        seen = await session.observe(("tree",))
        if acted.error or seen.title != "Quiet":
            raise AssertionError(f"the honest session failed: {acted.error or seen.url}")
        steps += 1
        await asyncio.sleep(0.2)
    return steps


async def _one(browser: Browser, base: str, name: str) -> Outcome:
    outcome, done = Outcome(name), asyncio.Event()
    hosts = {urlsplit(base).netloc}

    async def watch() -> None:
        while not done.is_set():
            outcome.megabytes = max(outcome.megabytes, await asyncio.to_thread(memory_of, browser.pid))
            await asyncio.sleep(0.5)

    try:
        async with browser.session(allowed_hosts=hosts) as beside, browser.session(allowed_hosts=hosts) as session:
            honest, watching = asyncio.ensure_future(_honest(beside, base, done)), asyncio.ensure_future(watch())
            try:
                async with asyncio.timeout(240):
                    await _visit(session, base, name, outcome)
            finally:
                done.set()
                await watching
                await honest
    except (BrowserError, AssertionError, TimeoutError) as error:
        outcome.problem = f"{type(error).__name__}: {error}"
    return outcome


async def _all(names: Sequence[str]) -> list[Outcome]:
    found = []
    with serving() as port:
        base = f"http://pages.localhost:{port}"
        async with Browser(find_chromium()) as browser:
            for name in names:
                found.append(await _one(browser, base, name))
                print(found[-1], flush=True)
    return found


def run(report: Report) -> None:
    names = list(PAGES)[: report.cases(len(PAGES))]
    found = asyncio.run(_all(names))
    broken = [str(one) for one in found if not one.held]
    report.must(
        f"of {len(found)} hostile pages, over their bound or in the way of the honest session", len(broken), 0, broken
    )
