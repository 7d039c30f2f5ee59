"""A web server for the test pages, and short ways to use it and the browser."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from tests.browser.server import serving
from webassay.browser.session import ActionResult, Browser, Session, SessionSettings
from webassay.core.interaction import Action, Node, Observation
from webassay.core.trajectory import Exchange


@pytest.fixture(scope="session")
def port() -> Iterator[int]:
    with serving() as port:
        yield port


@pytest.fixture(scope="session")
def base(port: int) -> str:
    return f"http://pages.localhost:{port}"


class Visit:
    """A session with the few things that tests do all the time."""

    def __init__(self, session: Session, base: str) -> None:
        self.session = session
        self.base = base

    async def see(self, *parts: Any) -> Observation:
        return await self.session.observe(parts or ("tree",))

    async def do(self, name: str, *args: Any) -> ActionResult:
        return await self.session.act(Action.of(name, *args))

    async def node(self, role: str, name: str | None = None) -> Node:
        seen = await self.see("tree", "boxes")
        node = seen.find(role, name)
        assert node is not None, f"no {role} {name!r} in\n{seen.tree}"
        return node

    async def click(self, role: str, name: str | None = None) -> ActionResult:
        return await self.do("click", (await self.node(role, name)).id)

    async def fill(self, role: str, name: str, value: str) -> ActionResult:
        return await self.do("fill", (await self.node(role, name)).id, value)

    async def log(self) -> str:
        """The text of the page's `output`, which is where the test pages say what happened."""
        nodes = (await self.see()).nodes
        at = next(n for n, node in enumerate(nodes) if node.role == "status")
        inside = []
        for node in nodes[at + 1 :]:
            if node.depth <= nodes[at].depth:
                break
            inside.append(node.name)
        return " ".join(inside)

    async def exchanges(self) -> list[Exchange]:
        return [Exchange.from_json(line) for line in (await self.session.seal()).splitlines()]


class Opener:
    def __init__(self, browser: Browser, port: int) -> None:
        self._browser = browser
        self._port = port

    def __call__(
        self, *paths: str, settings: SessionSettings | None = None, **more: Any
    ) -> AbstractAsyncContextManager[Visit]:
        return _visit(self._browser, self._port, paths, settings, more)


def _visit(browser: Browser, port: int, paths: tuple[str, ...], settings: SessionSettings | None, more: Any) -> Any:
    from contextlib import asynccontextmanager

    @asynccontextmanager
    async def opened() -> AsyncIterator[Visit]:
        hosts = more.pop("allowed_hosts", {f"pages.localhost:{port}", f"other.localhost:{port}"})
        base = f"http://pages.localhost:{port}"
        async with browser.session(allowed_hosts=hosts, settings=settings, **more) as session:
            await session.open([f"{base}/{path}" for path in paths])
            yield Visit(session, base)

    return opened()


@pytest.fixture
def visit(browser: Browser, port: int) -> Opener:
    return Opener(browser, port)
