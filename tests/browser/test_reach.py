"""Where a click on an id goes, and which ids there are: what component libraries draw in their own ways."""

import json

import pytest

from tests.browser.conftest import Opener, Visit
from webassay.core.interaction import Action

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def put(page: Visit, html: str) -> None:
    tab = page.session._context.active
    await tab.evaluate(tab.main_frame, f"document.body.innerHTML = {json.dumps(html)}")


async def test_what_surfaces_under_the_mouse_is_there_and_a_menu_beside_its_button_is_not(visit: Opener) -> None:
    html = """<style>.later, .entry { visibility: hidden }
    .field:hover .later, .menu:hover .entry { visibility: visible } .entry { position: absolute; top: 50px }
    .field, .menu { position: relative; width: 200px; height: 30px; margin: 90px 0 }</style>
    <div class="field">Name <input id="n" value="Ada"><button class="later" aria-label="Clear"
    onclick="document.getElementById('n').value = ''">x</button></div>
    <div class="menu">File <button class="entry">Open</button></div>"""
    async with visit("quiet.html") as page:
        await put(page, html)
        seen = await page.see()
        assert [node.name for node in seen.nodes if node.role == "button"] == ["Clear"]
        clear = next(node.id for node in seen.nodes if node.name == "Clear")
        assert (await page.session.act(Action.of("click", clear))).error == ""
        assert next(node.value for node in (await page.see()).nodes if node.role == "textbox") == ""


async def test_a_hidden_field_that_lies_at_the_edge_of_its_label_is_seen_where_the_label_is(visit: Opener) -> None:
    html = """<style>div { position: relative; margin: 90px } div * { position: absolute; margin: 0 }
    p { left: -50px; top: -20px; width: 60px; height: 60px } label { left: 0; top: -10px; width: 24px; height: 24px }
    input { left: -5px; top: 0; width: 8px; height: 4px; clip-path: inset(50%) }</style>
    <div><p>Stars</p><label for="s">*</label><input id="s" type="radio"></div>"""
    async with visit("quiet.html") as page:
        await put(page, html)
        seen = await page.session.observe(("tree", "boxes", "marks"))
        (radio,) = (node for node in seen.nodes if node.role == "radio")
        assert radio.marked and radio.box is not None and radio.box[2:] == (24.0, 24.0)


@pytest.mark.parametrize("gap", ["left: 186px; width: 6px", "left: 186px; width: 3px"])
async def test_a_row_is_clicked_where_it_holds_no_control_however_narrow(visit: Opener, gap: str) -> None:
    html = f"""<style>.row {{ position: relative; width: 200px; height: 24px; cursor: pointer }}
    .row * {{ position: absolute; top: 0; height: 24px; padding: 0; margin: 0; border: 0 }}</style>
    <div class="row" onclick="document.title = event.target.id || 'row'"><button id="one" style="left: 0; width: 186px">
    One</button><button id="two" style="left: 192px; width: 8px">2</button><i id="gap" style="{gap}">7</i></div>"""
    async with visit("quiet.html") as page:
        await put(page, html)
        row = next(node.id for node in (await page.see()).nodes if node.role == "generic")
        assert (await page.session.act(Action.of("click", row))).error == ""
        assert (await page.see()).title in ("gap", "row")


async def test_an_empty_place_for_a_mark_is_no_control(visit: Opener) -> None:
    row = "<div style='cursor:pointer' class=row>{}<i style='cursor:pointer' onclick='1'>{}</i></div>"
    async with visit("quiet.html") as page:
        await put(page, row.format("Plain", "") + row.format("Chosen", "✓"))
        seen = await page.see()
        assert [node.name for node in seen.nodes if ("clickable", "") in node.properties] == ["Plain", "Chosen", "✓"]
