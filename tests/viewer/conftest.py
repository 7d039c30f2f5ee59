"""One recorded run, one viewer and one Chromium for everything here."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright

from tests.support.worlds import CACHE
from webassay import PlayOptions, Selection, Workbench, run_sync
from webassay.browser.devtools.chromium import find_chromium
from webassay.viewer import serve

AGENTS = ("flawed[skill=0.9]", "flawed[skill=0.2,errors=stop]")
TEMPLATES = ("shop.returned-value", "shop.change-address", "admin.comment-oldest")


@dataclass
class Viewer:
    """One that is running, and its address with the token."""

    address: str

    @property
    def base(self) -> str:
        return "{0.scheme}://{0.netloc}".format(urlsplit(self.address))

    @property
    def port(self) -> int:
        return urlsplit(self.address).port or 0

    @property
    def token(self) -> str:
        return urlsplit(self.address).query.removeprefix("token=")

    @contextmanager
    def client(self) -> Iterator[httpx.Client]:
        """One that has shown the token, and says that it comes from a page of the viewer."""
        own = {"host": self.base.removeprefix("http://"), "origin": self.base}
        with httpx.Client(base_url=f"http://127.0.0.1:{self.port}", headers=own) as made:
            given = made.get(self.address.removeprefix(self.base)).headers["set-cookie"]
            made.headers["cookie"] = given.partition(";")[0]
            yield made


class Serving(threading.Thread):
    """In a thread, so that any number of event loops can visit it."""

    def __init__(self, bench: Workbench, runs: list[Path]) -> None:
        super().__init__(daemon=True)
        self._bench, self._runs = bench, runs
        self._loop = asyncio.new_event_loop()
        self._up = threading.Event()
        self.viewer = Viewer("")

    def run(self) -> None:
        self._task = self._loop.create_task(serve(self._bench.shelf(self._runs), ready=self._ready))
        try:
            self._loop.run_until_complete(self._task)
        except asyncio.CancelledError:
            pass
        finally:
            self._loop.close()

    def _ready(self, address: str) -> None:
        self.viewer.address = address
        self._up.set()

    def __enter__(self) -> Viewer:
        self.start()
        assert self._up.wait(30)
        return self.viewer

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._task.cancel)
        self.join(15)
        assert not self.is_alive()


@pytest.fixture(scope="session")
def bench() -> Workbench:
    return Workbench(cache=CACHE)


@pytest.fixture(scope="session")
def played(bench: Workbench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two agents on three tasks of two sites: one that errs seldom, and one that stops early."""
    run = tmp_path_factory.mktemp("viewer") / "played"
    run_sync(bench.run(run, AGENTS, Selection(templates=TEMPLATES, instances=1), PlayOptions(workers=2)))
    return run


@pytest.fixture(scope="session")
def serving(bench: Workbench) -> Callable[[list[Path]], Serving]:
    return lambda runs: Serving(bench, runs)


@pytest.fixture(scope="session")
def viewer(serving: Callable[[list[Path]], Serving], played: Path) -> Iterator[Viewer]:
    with serving([played]) as running:
        yield running


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        yield await playwright.chromium.launch(executable_path=find_chromium(None), args=["--no-sandbox"])


@dataclass
class Tab:
    """A page in a browser that has shown its token, and everything that it asked for and complained about."""

    page: Page
    base: str
    asked: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: self.said.append(f"dialog {dialog.message}"))

    async def go(self, path: str) -> Page:
        await self.page.goto(self.base + path)
        return self.page

    @property
    def strangers(self) -> list[str]:
        """Requests to any other host."""
        return [url for url in self.asked if not url.startswith((f"{self.base}/", "data:"))]

    @property
    def is_clean(self) -> bool:
        return not self.strangers and not self.said

    async def width(self) -> int:
        found: int = await self.page.evaluate("document.documentElement.scrollWidth")
        return found


Open = Callable[..., AbstractAsyncContextManager[Tab]]


@pytest.fixture(scope="session")
def tab(chromium: Browser) -> Open:
    """`async with tab(viewer) as one: await one.go("/")`; checks at the end that nobody complained and that no other
    host was asked."""

    @asynccontextmanager
    async def opened(
        viewer: Viewer, *, width: int = 1280, scheme: str = "light", clean: bool = True
    ) -> AsyncIterator[Tab]:
        context = await chromium.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)  # type: ignore[arg-type]
        try:
            made = Tab(await context.new_page(), viewer.base)
            await made.page.goto(viewer.address)
            yield made
            if clean:
                assert (made.strangers, made.said) == ([], [])
        finally:
            await context.close()

    return opened
