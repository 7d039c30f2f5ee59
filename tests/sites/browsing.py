"""A site served to a real browser, and what accessibility checkers find on its pages."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import uvicorn
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, ConsoleMessage, Page, async_playwright
from starlette.types import Receive, Scope, Send

from tests.sites.visitors import fresh
from webassay.browser.devtools.chromium import find_chromium
from webassay.core.errors import BrowserError
from webassay.sites.kit import Site, World

DESKTOP = {"width": 1280, "height": 720}
PHONE = {"width": 390, "height": 844}


@dataclass
class Served:
    """One browser and one world for all tests of a file; every test starts with both of them fresh."""

    browser: Browser
    world: World
    base: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)

    @asynccontextmanager
    async def open(self, user: str = "", **options: Any) -> AsyncIterator[tuple[World, Page]]:
        """A page in a context of its own. Script errors, and whatever else the console complains about, fail the test;
        only that a page was refused, which a test may have asked for, does not."""
        self.world.reset()
        self.app = self.world.site.make_app(self.world)
        problems: list[str] = []

        def hear(message: ConsoleMessage) -> None:
            if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
                problems.append(message.text)

        context = await self.browser.new_context(base_url=self.base, **({"viewport": DESKTOP} | options))
        if user:
            cookies = self.world.site.log_in(self.world, user)
            await context.add_cookies([{"name": n, "value": v, "url": self.base} for n, v in cookies.items()])
        page = await context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", hear)
        try:
            yield self.world, page
        finally:
            await context.close()
        assert problems == []


@asynccontextmanager
async def serving(site: Site) -> AsyncIterator[Served]:
    try:
        chromium = find_chromium()
    except BrowserError as error:
        pytest.skip(str(error))
    world = fresh(site)
    listener = socket.create_server(("127.0.0.1", 0))
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        served = Served(browser, world, f"http://{site.name}.localhost:{listener.getsockname()[1]}")
        server = uvicorn.Server(uvicorn.Config(served, log_level="error", lifespan="off"))
        running = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield served
        finally:
            await browser.close()
            server.should_exit = True
            await running
            world.close()


async def serious(page: Page) -> list[str]:
    found = (await Axe().run(page, options={"resultTypes": ["violations"]})).response["violations"]
    return [
        f"{violation['id']}: {node['html'][:120]}"
        for violation in found
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


async def faults(page: Page, paths: list[str]) -> dict[str, list[str]]:
    found = {}
    for path in paths:
        await page.goto(path)
        found[path] = await serious(page)
    return {path: problems for path, problems in found.items() if problems}


async def too_wide(page: Page, paths: list[str]) -> dict[str, int]:
    """Pages that would have to be scrolled sideways."""
    found = {}
    for path in paths:
        await page.goto(path)
        found[path] = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return {path: excess for path, excess in found.items() if excess > 0}
