"""What our DevTools endpoint costs a program per step, compared with Chromium's own port; both are recorded."""

import asyncio
import http.server
import json
import statistics
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from unittest.mock import patch

from scripts.armor.report import Report

from webassay.browser.devtools.chromium import find_chromium, launch_flags
from webassay.browser.session import Browser

ROUNDS, STEPS = 4, 20
MOST = 0.10
CLIENT = """
import sys, time, json
from playwright.sync_api import sync_playwright
address, base, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
with sync_playwright() as playwright:
    browser = playwright.chromium.connect_over_cdp(address)
    page = browser.contexts[0].pages[0] if browser.contexts[0].pages else browser.contexts[0].new_page()
    page.goto(base + "/0")
    took = []
    for number in range(steps + 3):
        began = time.perf_counter()
        page.get_by_role("link", name="Next").click()
        page.wait_for_url(f"**/{number + 1}")
        page.get_by_role("textbox").fill(f"text {number}")
        page.inner_text("h1")
        page.screenshot(type="jpeg")
        took.append(time.perf_counter() - began)
    print(json.dumps(took[3:]))
"""


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        number = int("".join(filter(str.isdigit, self.path)) or 0)
        rows = "".join(f"<tr><td>{row}</td><td>Product {row}</td><td>${row}.50</td></tr>" for row in range(100))
        text = f"<h1>Page {number}</h1><a href='/{number + 1}'>Next</a><label>Note <input></label><table>{rows}</table>"
        body = f"<!doctype html><title>{number}</title>{text}".encode()
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def serving() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@asynccontextmanager
async def through_us(base: str) -> AsyncIterator[str]:
    async with (
        Browser(find_chromium()) as browser,
        browser.session(allowed_hosts=[base.removeprefix("http://")]) as session,
    ):
        yield (await session.door())[0]


@asynccontextmanager
async def over_the_port(base: str) -> AsyncIterator[str]:
    """As it was: a port that Chromium opens itself, beside the session that we record."""
    with patch("webassay.browser.session.launch_flags", lambda headed: [*launch_flags(), "--remote-debugging-port=0"]):
        browser = Browser(find_chromium())
        async with browser, browser.session(allowed_hosts=[base.removeprefix("http://")]):
            assert browser._connection is not None
            place = browser._connection.profile / "DevToolsActivePort"
            yield f"http://127.0.0.1:{place.read_text().split()[0]}"


async def steps(address: str, base: str) -> list[float]:
    words = [sys.executable, "-c", CLIENT, address, base, str(STEPS)]
    process = await asyncio.create_subprocess_exec(*words, stdout=subprocess.PIPE)
    said, _ = await process.communicate()
    return [float(one) for one in json.loads(said)]


async def measured(base: str) -> tuple[list[float], list[float]]:
    direct: list[float] = []
    ours: list[float] = []
    for _ in range(ROUNDS):
        async with over_the_port(base) as address:
            direct += await steps(address, base)
        async with through_us(base) as address:
            ours += await steps(address, base)
    return direct, ours


def run(report: Report) -> None:
    with serving() as base:
        direct, ours = asyncio.run(measured(base))
    before, now = statistics.median(direct), statistics.median(ours)
    report.say(f"a step (click, load, fill, read, picture) of Playwright, {len(ours)} each, in turns:")
    report.say(
        f"over Chromium's port {before * 1000:.1f} ms, over our endpoint {now * 1000:.1f} ms: {now / before - 1:+.1%}"
    )
    report.say(f"at most {MOST:.0%} more: {'holds' if now / before - 1 <= MOST else 'TOO SLOW'}")
