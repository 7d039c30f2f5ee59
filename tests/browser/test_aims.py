"""What is recorded of an action for people who look at it later: where its element stood, and what the console said."""

import json

import pytest

from tests.browser.conftest import Opener, Visit

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

BODY = """<style>body { margin: 0 } * { box-sizing: border-box }
iframe { border: 0; display: block; width: 300px; height: 100px }
#near { width: 120px; height: 40px; margin: 10px 20px } #far { width: 100px; height: 30px; margin-top: 3000px }</style>
<button id="near">Near</button>
<iframe srcdoc="<style>* { margin: 0 } button { width: 50px; height: 20px; margin: 5px }</style><button>Inner</button>">
</iframe><button id="far" onclick="console.warn('far', {a: 1}, 7)">Far</button>"""


async def put(page: Visit) -> None:
    tab = page.session._context.active
    await tab.evaluate(tab.main_frame, f"document.body.innerHTML = {json.dumps(BODY)}")
    await page.do("noop", 50)


async def test_an_element_is_recorded_where_the_agent_saw_it_even_if_it_is_scrolled_to(visit: Opener) -> None:
    async with visit("quiet.html") as page:
        await put(page)
        near = await page.node("button", "Near")
        assert near.box == (20.0, 10.0, 120.0, 40.0)
        assert (await page.do("click", near.id)).aims == {"bid": near.box}
        inner = await page.node("button", "Inner")
        assert (await page.do("hover", inner.id)).aims == {"bid": inner.box}
        far = await page.node("button", "Far")
        assert far.box is not None and far.box[1] > 3000
        page.session.take_console()
        acted = await page.do("click", far.id)
        assert (acted.error, acted.aims) == ("", {"bid": far.box})
        assert page.session.take_console() == ("warning: far Object 7",)
        assert page.session.take_console() == ()


async def test_both_ends_of_a_drag_and_what_is_not_there(visit: Opener) -> None:
    async with visit("quiet.html") as page:
        await put(page)
        near, inner = await page.node("button", "Near"), await page.node("button", "Inner")
        acted = await page.do("drag_and_drop", near.id, inner.id)
        assert acted.aims == {"from_bid": near.box, "to_bid": inner.box}
        gone = await page.do("click", "9999")
        assert gone.error and gone.aims == {}


async def test_the_picture_of_a_whole_page_has_its_own_corner(visit: Opener) -> None:
    async with visit("quiet.html") as page:
        await put(page)
        far = await page.node("button", "Far")
        await page.do("scroll", 0, 2900)
        await page.see("tree", "full_screenshot")
        (box,) = (await page.do("hover", far.id)).aims.values()
        assert box == far.box


async def test_a_console_that_never_stops_is_cut(visit: Opener) -> None:
    async with visit("quiet.html") as page:
        tab = page.session._context.active
        await tab.evaluate(tab.main_frame, "1")
        await page.session._context.active.channel.send(
            "Runtime.evaluate", {"expression": "for (let n = 0; n < 80; n++) console.log('x'.repeat(5000), n)"}
        )
        lines = page.session.take_console()
        assert len(lines) == 51 and lines[-1] == "30 more lines were left out." and max(map(len, lines)) <= 400
