"""A site of three pages, and an environment that serves it: the smallest place in which an agent can be played."""

import contextlib
import html
import http.server
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support import samples
from webassay.agents.base import Agent, BrowserDriver
from webassay.browser.session import Browser
from webassay.core.task import Task
from webassay.core.trajectory import MemoryBlobs, Trajectory
from webassay.llm.client import Message
from webassay.llm.replay import Act
from webassay.play.episode import EpisodeContext, play

ORDERS = {1: [("189", "$25.50"), ("191", "$4.50")], 2: [("204", "$12.00")]}


def page_at(path: str) -> str:
    parts = urlsplit(path)
    query = {key: values[0] for key, values in parse_qs(parts.query).items()}
    if parts.path == "/orders":
        number = int(query.get("page", "1"))
        rows = "".join(f"<tr><td>{order}</td><td>{total}</td></tr>" for order, total in ORDERS[number])
        following = "<a href='/orders?page=2'>Next</a>" if number == 1 else ""
        # The reload button puts another one in place of its neighbour, whose id is stale afterwards.
        script = "const b = document.createElement('button'); b.textContent = 'Send again'; send.replaceWith(b)"
        button = f'<button id="send">Send</button><button onclick="{html.escape(script)}">Reload</button>'
        return f"<title>Orders</title><h1>Orders, page {number}</h1><table>{rows}</table>{following}{button}"
    if parts.path == "/search":
        return f"<title>Search</title><h1>Nothing found for {html.escape(query.get('q', ''))}</h1>"
    form = "<form action='/search'><label>Search <input name='q'></label></form>"
    return f"<title>Home</title><h1>Home</h1><a href='/orders'>My orders</a>{form}"


class Pages(http.server.BaseHTTPRequestHandler):
    """Answers with the pages of this site; other tests say what theirs answers with."""

    def page(self) -> bytes:
        return page_at(self.path).encode()

    def do_GET(self) -> None:
        self.answer(self.page())

    def answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@contextlib.contextmanager
def serving(pages: type[Pages] = Pages) -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), pages)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass
class Toy:
    """An `Environment` with one stage that never changes."""

    base: str

    @contextlib.asynccontextmanager
    async def stage(self, task: Task) -> AsyncIterator[Any]:
        async def hand_over() -> None:
            return None

        async def probe(cookies: Sequence[Any], blobs: Any) -> tuple[Any, ...]:
            return ()

        yield SimpleNamespace(
            bases={"toy": self.base},
            cookies=(),
            allowed_hosts=frozenset({urlsplit(self.base).netloc}),
            now_ms=None,
            hand_over=hand_over,
            probe=probe,
        )

    async def __aenter__(self) -> "Toy":
        return self

    async def __aexit__(self, *reason: object) -> None:
        return None


TASK = samples.task(
    id="toy.total.0",
    sites=("toy",),
    goal=samples.goal(instruction="What is the total of all my orders?", start_urls=("__TOY__/",), sites=("toy",)),
    max_steps=12,
)


@dataclass
class Place:
    """A running browser and the site, shared by the tests of a module."""

    browser: Browser
    base: str

    async def play(self, agent: Agent | BrowserDriver, task: Task | None = None) -> Trajectory:
        scene = EpisodeContext(browser=self.browser, environment=Toy(self.base), blobs=MemoryBlobs())
        return await play(task or TASK, agent, scene, id="toy")


@dataclass
class Lines:
    """A script whose lines look at the question before they answer; an `Act` is played as it is."""

    lines: list[Callable[[str], str] | str | Act]
    asked: list[str] = field(default_factory=list)

    def __call__(self, messages: Sequence[Message]) -> Act | str:
        self.asked.append("\n".join(message.text for message in messages))
        if len(self.asked) > len(self.lines):
            return Act(status=400, text="The script is over.")
        line = self.lines[len(self.asked) - 1]
        return line(self.asked[-1]) if callable(line) else line
