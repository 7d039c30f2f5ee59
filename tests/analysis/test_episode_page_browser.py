"""The page of an episode in a real Chromium: nothing of theirs runs, nothing is loaded, and it can be used."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Page, async_playwright

from tests.support.episodes import HOSTILE, make_run
from tests.support.hostile_episodes import hostile_task, hostile_trajectory, hostile_verdicts
from tests.support.wanderer import STEPS
from tests.support.worlds import CACHE
from webassay import PlayOptions, Selection, Workbench, run_sync
from webassay.browser.devtools.chromium import find_chromium

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

WIDE, PHONE = 1280, 390
OURS = 5_000_000


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        yield await playwright.chromium.launch(executable_path=find_chromium(None), args=["--no-sandbox"])


class Opened:
    def __init__(self, tab: Page) -> None:
        self.tab = tab
        self.asked: list[str] = []
        self.said: list[str] = []
        tab.on("request", lambda request: self.asked.append(request.url))
        tab.on("console", lambda message: self.said.append(message.text))
        tab.on("pageerror", lambda error: self.said.append(str(error)))
        tab.on("dialog", lambda dialog: self.said.append(f"dialog {dialog.message}"))

    async def pwned(self) -> object:
        return await self.tab.evaluate("window.pwned")

    @property
    def loaded(self) -> list[str]:
        return [url for url in self.asked if not url.startswith("data:")]


@asynccontextmanager
async def opened(browser: Browser, path: Path, *, width: int = WIDE, scheme: str = "light") -> AsyncIterator[Opened]:
    context = await browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    try:
        made = Opened(await context.new_page())
        await made.tab.goto(path.as_uri())
        yield made
    finally:
        await context.close()


# --- hostile episodes -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> tuple[Workbench, Path]:
    place = tmp_path_factory.mktemp("hostile")
    task = hostile_task()
    run = make_run(
        place / "made",
        task=task,
        trajectory=hostile_trajectory,
        verdicts=lambda trajectory: list(hostile_verdicts(trajectory)),
    )
    return Workbench(cache=CACHE), run


@pytest.fixture(scope="module")
def hostile_page(hostile, tmp_path_factory) -> str:
    bench, run = hostile
    text = bench.episode_page(run, "model-agent")
    # Every field that can hold text does: this many copies survive, or the test has lost its meaning.
    assert text.count("window.pwned=1") > 45
    return text


class TestNothingOfTheirsRuns:
    async def look(self, browser: Browser, path: Path) -> None:
        async with opened(browser, path) as made:
            await made.tab.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
            await made.tab.mouse.wheel(0, 4000)
            await made.tab.keyboard.press("j")
            assert await made.pwned() is None
            assert (made.loaded, made.said) == ([path.as_uri()], [])
            assert await made.tab.locator("script").count() == 1
            assert await made.tab.locator("iframe, base, object, embed, form, svg:not(.marks, .time)").count() == 0
            links = await made.tab.locator("a").evaluate_all("links => links.map(one => one.getAttribute('href'))")
            assert links and all(re.fullmatch(r"#[a-z0-9-]+", link) for link in links)

    async def test_with_everything_in_place(self, browser, hostile_page, tmp_path):
        path = tmp_path / "episode.html"
        path.write_text(hostile_page, encoding="utf-8")
        await self.look(browser, path)

    async def test_escaping_alone_is_enough(self, browser, hostile_page, tmp_path):
        bare, count = re.subn(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", hostile_page)
        assert count == 1
        path = tmp_path / "bare.html"
        path.write_text(bare, encoding="utf-8")
        await self.look(browser, path)

    async def test_the_policy_alone_is_enough(self, browser, hostile_page, tmp_path):
        path = tmp_path / "unescaped.html"
        scripts = HOSTILE.partition("<iframe")[0]  # no policy keeps a page from sending itself elsewhere; escaping does
        path.write_text(hostile_page.replace("</main>", f"{scripts}</main>"), encoding="utf-8")
        async with opened(browser, path) as made:
            assert await made.pwned() is None
            assert any("Content Security Policy" in said for said in made.said), "the injection was really there"

    async def test_the_report_links_to_it_whatever_it_is_called(self, browser, hostile, tmp_path):
        bench, run = hostile
        html = tmp_path / "a report & more.html"
        assert bench.write_report(bench.report([run]), [run], html, episodes="all") == 1
        async with opened(browser, html) as made:
            assert (await made.pwned(), made.loaded, made.said) == (None, [html.as_uri()], [])
            await made.tab.locator("a", has_text="open").click()
            await made.tab.wait_for_selector(".step")
            assert "fail" in await made.tab.title() and await made.pwned() is None

    async def test_the_terminal_stays_in_control(self, hostile):
        from webassay.workbench import episode_in_words, units_in_words

        bench, run = hostile
        said = episode_in_words(bench.episode(run, "model-agent")) + units_in_words(bench.units(run))
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]", said)
        assert said.count("\\x1b[31m") > 15 and "[bold]x[/bold]" in said


# --- a long episode on real pages ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def long_page(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("long")
    bench = Workbench(cache=CACHE)
    agent = f"{Path(__file__).parents[1] / 'support' / 'wanderer.py'}:Wanderer"
    # Its limit is beyond what the wanderer takes.
    selection = Selection(templates=("shop.card-warranty",), instances=1)
    run_sync(bench.run(place / "run", [agent], selection, PlayOptions(workers=1)))
    path = place / "episode.html"
    path.write_text(bench.episode_page(place / "run", "shop.card-warranty"), encoding="utf-8")
    return path


@pytest.mark.long
class TestFiftySteps:
    @pytest.mark.slow
    async def test_it_is_small_enough_to_attach(self, long_page):
        text = long_page.read_text()
        assert text.count('<article class="step"') == STEPS + 1
        assert text.count("data:image/jpeg") > 40 and "left out" not in text
        assert len(text.encode()) < OURS

    @pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (PHONE, "dark")])
    async def test_it_fits_and_loads_nothing(self, browser, long_page, width, scheme):
        async with opened(browser, long_page, width=width, scheme=scheme) as made:
            assert await made.tab.evaluate("document.documentElement.scrollWidth") <= width
            broken = "images => images.filter(one => !one.complete || !one.naturalWidth).length"
            assert await made.tab.locator("img").evaluate_all(broken) == 0
            assert (made.loaded, made.said) == ([long_page.as_uri()], [])

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    async def test_nothing_serious_for_accessibility_checkers(self, browser, long_page, scheme):
        async with opened(browser, long_page, scheme=scheme) as made:
            # The page lets no other script in; axe comes through the debugger.
            found = await Axe().run(made.tab)
            serious = [one for one in found.response["violations"] if one["impact"] in ("serious", "critical")]
            assert [(one["id"], one["nodes"][0]["html"][:200]) for one in serious] == []

    async def test_keys_move_from_step_to_step(self, browser, long_page):
        async with opened(browser, long_page) as made:
            focused = "document.activeElement.id"
            for key, expected in (("j", 2), ("j", 3), ("ArrowRight", 4), ("k", 3), ("ArrowLeft", 2)):
                await made.tab.keyboard.press(key)
                assert await made.tab.evaluate(focused) == f"step-{expected}"
                current = await made.tab.locator(".film a[aria-current] b").inner_text()
                assert current == str(expected)
            for _ in range(60):
                await made.tab.keyboard.press("j")
            assert await made.tab.evaluate(focused) == "end"

    async def test_paper_has_every_step(self, browser, long_page):
        async with opened(browser, long_page, width=740) as made:
            await made.tab.emulate_media(media="print")
            assert await made.tab.locator(".step:visible").count() == STEPS + 1
            assert not await made.tab.locator(".film").is_visible()
            assert await made.tab.evaluate("document.documentElement.scrollWidth") <= 740
