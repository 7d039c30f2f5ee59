"""Waiting exactly as long as something is pending. What is asserted is what the page shows afterwards, never a time."""

import json

import pytest

from tests.browser.conftest import Opener
from webassay.browser.session import SessionSettings

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


@pytest.mark.parametrize("round_", range(3))
async def test_debounced_autocomplete_is_seen(visit: Opener, round_: int) -> None:
    async with visit("autocomplete.html") as page:
        for word, hits in (("be", 3), ("ber", 3), ("bern", 1), ("z", 1), ("x", 0)):
            await page.fill("combobox", "Town", word)
            assert len(list((await page.see()).find_all("option"))) == hits


async def test_chained_fetches_are_seen(visit: Opener) -> None:
    async with visit("fetches.html") as page:
        for _ in range(3):
            acted = await page.click("button", "Chain")
            assert await page.log() == "chain abc"
            assert any("/api/echo" in reason or reason == "fetch" for reason in acted.waited_for)


async def test_late_list_is_there_after_loading(visit: Opener) -> None:
    async with visit("hydrate.html") as page:
        for _ in range(3):
            assert len(list((await page.see()).find_all("listitem"))) == 10
            await page.click("link", "Load again")


async def test_animation_is_waited_for_and_an_endless_one_is_not(visit: Opener) -> None:
    async with visit("animation.html") as page:
        acted = await page.click("button", "Slide")
        assert "animation" in acted.waited_for
        assert await page.log() == "arrived"
        await page.click("button", "Inside")
        assert await page.log() == "inside"


async def test_endless_poller_is_found_out_once(visit: Opener) -> None:
    async with visit("poller.html") as page:
        acted = await page.click("button", "Start")
        assert await page.log() == "done"
        assert not any("gave up" in reason for reason in acted.waited_for)
        quiet = await page.do("noop", 0)
        assert not any("timer" in reason for reason in quiet.waited_for)


@pytest.mark.parametrize(
    ("button", "shown"),
    [
        ("In pieces", "all pieces"),
        ("By an interval", "tick 6"),
        ("As a task", "task done"),
        ("When idle", "was idle"),
        ("In a worker", "worked out 42"),
        ("Draw", "drawn"),
    ],
)
async def test_whatever_is_done_later_is_seen(visit: Opener, button: str, shown: str) -> None:
    async with visit("later.html") as page:
        for _ in range(2):
            await page.click("button", button)
            assert await page.log() == shown


@pytest.mark.parametrize(("button", "kind"), [("Tick for ever", "timer"), ("Draw for ever", "frames")])
async def test_what_is_endless_is_found_out_once(visit: Opener, button: str, kind: str) -> None:
    async with visit("later.html") as page:
        assert any(kind in reason for reason in (await page.click("button", button)).waited_for)
        assert not any(kind in reason for reason in (await page.do("noop", 0)).waited_for)


async def test_the_answer_on_a_web_socket_is_seen(visit: Opener) -> None:
    async with visit("sockets.html") as page:
        assert await page.log() == "welcome", "what a server says first, and then on being asked"
        for _ in range(2):
            assert "web socket" in (await page.click("button", "Ask")).waited_for
            assert await page.log() == "really?"
            await page.click("button", "Connect again")
            assert await page.log() == "welcome"
        # One that does not answer is found out.
        assert "web socket" in (await page.click("button", "Tell")).waited_for
        await page.click("button", "Tell")
        assert "web socket" not in (await page.click("button", "Tell")).waited_for


async def test_quiet_page_is_not_waited_for(visit: Opener) -> None:
    async with visit("quiet.html") as page:
        for _ in range(3):
            assert (await page.click("button", "Nothing happens")).waited_for == ()
        acted = await page.click("button", "Count")
        assert set(acted.waited_for) <= {"changes"}
        assert await page.log() == "1"


async def test_the_cap_ends_every_wait(visit: Opener) -> None:
    async with visit("fetches.html", settings=SessionSettings(settle_cap_ms=300)) as page:
        acted = await page.click("button", "Slow")
        assert acted.waited_for[-1].startswith("gave up after 0.3 s")
        assert await page.log() == "..."
        assert not any("gave up" in reason for reason in (await page.do("noop", 0)).waited_for)


async def test_long_timers_are_not_waited_for(visit: Opener) -> None:
    async with visit("quiet.html", settings=SessionSettings(timer_bound_ms=50)) as page:
        await page.do("goto", f"{page.base}/autocomplete.html")
        acted = await page.fill("combobox", "Town", "be")
        assert not any("timer" in reason for reason in acted.waited_for)


@pytest.mark.parametrize("begun", ["loading", "document"])
async def test_a_page_that_leaves_after_the_wait_is_not_seen_half_way(visit: Opener, begun: str) -> None:
    async with visit("leaves_late.html", settings=SessionSettings(timer_bound_ms=50)) as page:
        tab = page.session._context.active
        before = tab.document
        await page.click("button", "Leave later")
        assert tab.document == before
        left = (lambda: True) if begun == "loading" else (lambda: tab.document > before and bool(tab.main_frame.world))
        assert await tab.until(lambda: tab.main_frame.loading and left(), 5)
        seen = await page.see("tree")
        assert seen.title == "Both" and "Second half" in (seen.tree or "")


async def test_clock_of_the_page(visit: Opener) -> None:
    start = 1_600_000_000_000
    async with visit("quiet.html", now_ms=start) as page:
        script = """JSON.stringify([
            Date.now(), new Date().getTime(), +new Date(2020, 0, 1),
            typeof Date(), new Date() instanceof Date, new Date(5).constructor === Date, performance.now() < 1e6,
        ])"""
        now, made, fixed, *kinds = json.loads(await page.session.read_locator(f"{page.base}/quiet.html", script))
        assert 0 <= now - start < 60_000 and 0 <= made - start < 60_000
        assert fixed == 1_577_836_800_000
        assert kinds == ["string", True, True, True]


async def test_clock_of_workers(visit: Opener) -> None:
    start = 1_600_000_000_000
    script = """new Promise((done) => {
        const made = (source) => `new Worker(URL.createObjectURL(new Blob([${JSON.stringify(source)}])))`;
        const outer = `${made('postMessage(Date.now())')}.onmessage = (event) => postMessage([Date.now(), event.data])`;
        (0, eval)(made(outer)).onmessage = (event) => done(event.data);
    })"""
    async with visit("quiet.html", now_ms=start) as page:
        for now in json.loads(await page.session.read_locator(f"{page.base}/quiet.html", script)):
            assert 0 <= now - start < 60_000
