"""Scrolling by wheel and by id, and what the agent is told of it."""

import pytest

from tests.browser.conftest import Opener, Visit

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def tops(page: Visit, *ids: str) -> list[int]:
    tab = page.session._context.active
    return [int(await tab.evaluate(tab.main_frame, f"document.getElementById({name!r}).scrollTop")) for name in ids]


async def scroll(page: Visit, *args: object) -> tuple[str, str]:
    """The error, and the notices."""
    error = (await page.do("scroll", *args)).error
    return error, " ".join((await page.see()).notices)


async def test_regions_are_scrolled_by_the_ids_of_what_is_in_them(visit: Opener) -> None:
    async with visit("scrolling.html") as page:
        button = await page.node("button", "Inner 2")
        error, said = await scroll(page, 0, 70, button.id)
        assert error == ""
        assert await tops(page, "inner", "outer") == [70, 0]
        assert "now 70 of 300 pixels down." in said
        assert (await page.see()).scroll == (0, 0)
        # A dialog stands for the region that fills it.
        terms = await page.node("dialog", "Terms")
        error, said = await scroll(page, 0, 90, terms.id)
        assert (error, await tops(page, "terms", "outer")) == ("", [90, 0])
        assert "now 90 of 250 pixels down." in said
        # To the side, in a shadow root, and nowhere.
        wide = (await page.see()).find("generic", "Wide")
        assert "500 of 900 to the right" in (await scroll(page, 500, 0, wide.id))[1]
        shaded = await page.node("button", "Shaded 1")
        assert "now 120 of" in (await scroll(page, 0, 120, shaded.id))[1]
        assert "There is no element [999]" in (await scroll(page, 0, 10, "999"))[0]


async def test_the_wheel_says_what_moved_under_the_mouse(visit: Opener) -> None:
    async with visit("scrolling.html") as page:
        await page.do("hover", (await page.node("button", "Inner 1")).id)
        error, said = await scroll(page, 0, 100)
        assert (error, await tops(page, "inner", "outer")) == ("", [100, 0])
        assert "now 100 of 300 pixels down." in said
        await page.do("mouse_move", 800, 300)
        assert await scroll(page, 0, 400) == ("", "Scrolled the page: now 400 of 2280 pixels down.")
        assert await scroll(page, 0, -900) == ("", "Scrolled the page: now 0 of 2280 pixels down.")
        assert await scroll(page, 0, -900) == ("", "Nothing scrolled; the page stays 0 of 2280 pixels down.")


async def test_the_wheel_inside_a_frame(visit: Opener) -> None:
    async with visit("scrolling.html") as page:
        top = await page.node("button", "Top")
        assert "now 60 of" in (await scroll(page, 0, 60, top.id))[1]
        await page.do("hover", (await page.node("button", "Agree")).id)
        box = (await page.node("Iframe", "Framed")).box
        await page.do("mouse_move", box[0] + 150, box[1] + 60)
        assert "now 100 of" in (await scroll(page, 0, 40))[1]


async def test_a_body_that_scrolls_is_the_page(visit: Opener) -> None:
    async with visit("body_scrolls.html") as page:
        first = await page.node("button", "First")
        assert first.visible == 1.0
        root = (await page.see()).nodes[0]
        most = int(str(root.get("scroll")).removeprefix("down 0 of "))
        assert most > 2000
        assert await scroll(page, 0, 70) == ("", f"Scrolled the page: now 70 of {most} pixels down.")
        assert await scroll(page, 0, 30, first.id) == ("", f"Scrolled the page: now 100 of {most} pixels down.")
        seen = await page.see()
        assert (seen.scroll, seen.nodes[0].get("scroll")) == ((0, 100), f"down 100 of {most}")
        assert (await page.click("button", "Last")).error == ""


async def test_a_body_whose_overflow_is_the_windows_is_no_region(visit: Opener) -> None:
    async with visit("scrolling.html") as page:
        tab = page.session._context.active
        tall = "document.body.insertAdjacentHTML('beforeend', '<div style=\"height: 2000px\"></div>')"
        await tab.evaluate(tab.main_frame, f"document.body.style = 'height: 100px; overflow: auto'; {tall}")
        agree = await page.node("button", "Agree")
        _, said = await scroll(page, 0, 50, agree.id)
        assert said.startswith("Scrolled the page: now 50 of"), said


async def test_frames_are_scrolled_by_their_ids(visit: Opener) -> None:
    async with visit("scrolling.html") as page:
        framed = await page.node("Iframe", "Framed")
        error, said = await scroll(page, 0, 60, framed.id)
        assert (error, said[: said.index(" of")]) == ("", f"Scrolled [{framed.id}]: now 60")
        seen = await page.see()
        assert seen.scroll == (0, 0)
        inner = list(seen.find_all("RootWebArea"))[-1]
        assert str(inner.get("scroll")).startswith("down 60 of")
        # A frame stands for the region that fills it.
        tab = page.session._context.active
        pane = (
            "<body style='margin:0'><div style='height:120px;overflow:auto'><div style='height:500px'>long</div></div>"
        )
        await tab.evaluate(tab.main_frame, f"document.querySelector('iframe').srcdoc = {pane!r}")
        await page.do("noop", 100)
        error, said = await scroll(page, 0, 60, (await page.node("Iframe", "Framed")).id)
        assert (error, "now 60 of 380 pixels down" in said) == ("", True), said
        # One that may not scroll stays where it is: a script could move it, and then nobody could move it back.
        tab = page.session._context.active
        shell = (
            "<style>html,body{height:100%;margin:0;overflow:hidden}</style>"
            "<div style='position:absolute;top:300px'>far</div>"
            "<div style='height:100%;overflow:auto'><div style='height:500px'>long</div></div>"
        )
        await tab.evaluate(tab.main_frame, f"document.querySelector('iframe').srcdoc = {shell!r}")
        await page.do("noop", 100)
        framed = await page.node("Iframe", "Framed")
        error, said = await scroll(page, 0, 60, framed.id)
        assert (error, "now 60 of" in said) == ("", True), said
        inside = "(({ scrollTop }, pane) => [scrollTop, pane.scrollTop])"
        document = "document.querySelector('iframe').contentDocument"
        moved = f"{inside}({document}.documentElement, {document}.querySelectorAll('div')[1])"
        assert await tab.evaluate(tab.main_frame, moved) == [0, 60]
