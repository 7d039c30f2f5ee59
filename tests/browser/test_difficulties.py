"""One page for each thing that makes the web hard, and an agent's way through it."""

from pathlib import Path

import pytest

from tests.browser.conftest import Opener, Visit
from tests.browser.test_names import chromium_tree, compare, our_lines
from webassay.browser.devtools.chromium import find_chromium, has_window
from webassay.browser.devtools.page import TabPage
from webassay.browser.session import SessionSettings

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_obstructed_checkbox(visit: Opener) -> None:
    async with visit("obstructed_checkbox.html") as page:
        assert (await page.click("checkbox", "Send me news")).error == ""
        assert await page.log() == "styled"
        acted = await page.click("checkbox", "Veiled")
        assert "covered by" in acted.error and "veil" in acted.error
        assert (await page.click("LabelText", "Hidden box")).error == ""
        assert await page.log() == "styled gone"


async def test_shadow_roots(visit: Opener) -> None:
    async with visit("shadow.html") as page:
        assert (await page.node("heading", "Apples")).get("focused") is None
        await page.click("button", "Add one")
        await page.click("button", "Add one")
        assert await page.log() == "2"
        await page.fill("textbox", "Deep field", "pearl")
        assert "StaticText 'got pearl'" in str((await page.see()).tree)
        # A control under its own drawing, and what moves in a shadow root.
        box = await page.node("checkbox", "Fancy")
        acted = await page.do("click", box.id)
        assert (acted.error, "animation" in acted.waited_for) == ("", True)
        assert (await page.node("checkbox", "Fancy")).get("checked") == "true"
        assert "StaticText 'it is ticked'" in str((await page.see()).tree)


async def test_nested_frames(visit: Opener) -> None:
    async with visit("frames.html") as page:
        seen = await page.see("tree", "boxes")
        inner = [node for node in seen.nodes if node.name == "Inner field" and node.role == "textbox"]
        assert [node.id.rstrip("0123456789") for node in inner] == ["aa", "c"]
        for field in inner:
            assert (await page.do("fill", field.id, f"text {field.id}")).error == ""
        for button, field in zip(seen.find_all("button", "Inner button"), inner, strict=True):
            assert (await page.do("click", button.id)).error == ""
            assert f"pressed with text {field.id}" in str((await page.see()).tree)
        assert (await page.click("button", "Inline button")).error == ""
        assert (await page.node("button", "pressed inside")).id.startswith("b")


async def test_parts_of_a_drawing_can_be_read_and_clicked(visit: Opener) -> None:
    async with visit("drawing.html") as page:
        seen = await page.see("tree", "boxes")
        assert seen.find("graphics-symbol", "March: 5") and not seen.find("StaticText", "not painted")
        path = next(node for node in seen.nodes if node.role == "generic" and node.get("clickable") is not None)
        assert (await page.do("click", path.id)).error == ""
        assert await page.log() == "path clicked"


async def test_virtualised_list(visit: Opener) -> None:
    async with visit("virtual_list.html") as page:
        seen = await page.see("tree", "boxes")
        rows = [node.name for node in seen.find_all("button")]
        assert rows[0] == "Row 0" and len(rows) == 8
        box = (await page.node("list", "Rows")).box
        await page.do("scroll_at", box[0] + 20, box[1] + 20, 0, 4000)
        await page.click("button", "Row 103")
        assert await page.log() == "chose 103"
        stale = next(node for node in seen.nodes if node.name == "Row 0" and node.role == "button")
        assert "no element" in (await page.do("click", stale.id)).error


async def test_drag_and_drop(visit: Opener) -> None:
    async with visit("drag.html") as page:
        card, done = await page.node("button", "Card"), await page.node("region", "Done")
        assert (await page.do("drag_and_drop", card.id, done.id)).error == ""
        assert await page.log() == "card in done"
        knob = (await page.node("button", "Knob")).box
        x, y = knob[0] + 10, knob[1] + 10
        await page.do("mouse_drag_and_drop", x, y, x + 120, y)
        assert await page.log() == "knob at 120"
        await page.do("mouse_down", x + 120, y)
        await page.do("mouse_move", x + 60, y)
        await page.do("mouse_up", x + 60, y)
        assert await page.log() == "knob at 0"


async def test_a_list_that_moves_its_items_while_they_are_dragged(visit: Opener) -> None:
    async with visit("sortable.html") as page:
        stops = {node.name: node.id for node in (await page.see()).find_all("listitem")}
        assert (await page.do("drag_and_drop", stops["Harbour"], stops["Museum"])).error == ""
        assert await page.log() == "Market Museum Harbour Station"
        assert (await page.do("drag_and_drop", stops["Station"], stops["Market"])).error == ""
        assert await page.log() == "Station Market Museum Harbour"


async def test_file_upload(visit: Opener, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "report.txt").write_text("quarterly")
    (tmp_path / "secret.txt").write_text("secret")
    async with visit("upload.html", settings=SessionSettings(upload_dir=tmp_path / "in")) as page:
        seen = await page.see("tree", "boxes")
        field = next(node for node in seen.nodes if node.role == "button" and node.value == "No file chosen")
        assert "no file '../secret.txt'" in (await page.do("upload_file", field.id, "../secret.txt")).error
        assert (await page.do("upload_file", field.id, "report.txt")).error == ""
        assert await page.log() == "report.txt: quarterly"
        pick = await page.node("button", "Pick a file")
        assert (await page.do("mouse_upload_file", pick.box[0] + 5, pick.box[1] + 5, ["report.txt"])).error == ""
        await page.do("goto", f"{page.base}/upload.html")
        pick = await page.node("button", "Pick a file")
        assert (await page.do("upload_file", pick.id, "report.txt")).error == "", (
            "a button that opens the dialog will do"
        )
        assert await page.log() == "report.txt: quarterly"
        heading = await page.node("heading", "File upload")
        assert "No file dialog opened" in (await page.do("upload_file", heading.id, "report.txt")).error
        assert "no element" in (await page.do("upload_file", "999", "report.txt")).error
    async with visit("upload.html") as page:
        seen = await page.see("tree")
        field = next(node for node in seen.nodes if node.value == "No file chosen")
        assert "does not allow uploads" in (await page.do("upload_file", field.id, "report.txt")).error


async def test_contenteditable_lines_of_text_and_the_clipboard(visit: Opener) -> None:
    async with visit("editable.html") as page:
        await page.fill("textbox", "Message", "A new message")
        assert await page.log() == "1 A new message"
        await page.fill("textbox", "Notes", "line one\nline two")
        assert (await page.node("textbox", "Notes")).value == "line one\nline two"
        notes = await page.node("textbox", "Notes")
        await page.do("clear", notes.id)
        assert (await page.node("textbox", "Notes")).value == ""
        assert "read-only" in (await page.fill("textbox", "Fixed", "x")).error
        assert "not a text field" in (await page.fill("heading", "Contenteditable", "x")).error
        # A page is asked before its field is filled, as it is when a person types, and may refuse.
        await page.fill("textbox", "Refuses", "x")
        assert (await page.node("textbox", "Refuses")).value == ""
        assert await page.log() == "asked, trusted: true"
        await page.do("goto", f"{page.base}/editable.html")
        notes, copy = await page.node("textbox", "Notes"), await page.node("textbox", "Copy")
        assert (await page.do("fill", notes.id, "one\n  two ")).error == ""
        await page.do("press", notes.id, "Control+End")
        await page.do("keyboard_type", "\n3+4")
        seen = await page.see()
        assert "textbox 'Notes' value='one\\n  two \\n3+4'" in str(seen.tree)
        assert "StaticText 'def half(n):\\n    return n / 2'" in str(seen.tree)
        await page.do("fill", copy.id, "Zoë")
        await page.do("press", copy.id, "Control+a")
        await page.do("keyboard_press", "Control+c")
        await page.do("focus", notes.id)
        for key in ("Control+Home", "Shift+End", "Control+v"):
            await page.do("keyboard_press", key)
        assert (await page.node("textbox", "Notes")).value == "Zoë\n  two \n3+4"
        # A field that refuses the focus leaves the focused one alone.
        tab = page.session._context.active
        copy = await page.node("textbox", "Copy")
        await page.fill("textbox", "Notes", "mine")
        await tab.evaluate(tab.main_frame, "document.querySelector('[aria-label=Copy]').style.interactivity = 'inert'")
        assert "nothing was written" in (await page.do("fill", copy.id, "theirs")).error
        assert (await page.node("textbox", "Notes")).value == "mine"


async def test_date_pickers(visit: Opener) -> None:
    async with visit("dates.html") as page:
        for role, name, value in (
            ("Date", "Arrival", "2023-02-14"),
            ("InputTime", "At", "14:30"),
            ("ColorWell", "Colour", "#ff8800"),
            ("slider", "Loudness", "7"),
        ):
            assert (await page.fill(role, name, value)).error == ""
            assert (await page.log()).endswith(value)
        assert "is not a valid value" in (await page.fill("Date", "Arrival", "tomorrow")).error
        await page.click("textbox", "Departure")
        await page.click("button", "21 February 2023")
        assert await page.log() == "departure 2023-02-21"


async def test_infinite_scroll(visit: Opener) -> None:
    async with visit("infinite.html") as page:
        count = len(list((await page.see()).find_all("listitem")))
        assert count >= 10
        while count < 60:
            await page.do("scroll", 0, 2000)
            grown = len(list((await page.see()).find_all("listitem")))
            assert grown > count
            count = grown


async def test_modal_dialogs(visit: Opener) -> None:
    async with visit("modal.html") as page:
        behind = await page.node("button", "Behind")
        await page.click("button", "Open native")
        assert (await page.see()).find("button", "Behind") is None, "what is behind a modal dialog is inert"
        assert "covered" in (await page.do("click", behind.id)).error
        equal, count, different = compare(await our_lines(page), await chromium_tree(page))
        assert equal == count, different
        await page.click("button", "Yes")
        assert await page.log() == "yes"
        await page.click("button", "Open custom")
        assert "covered by" in (await page.do("click", behind.id)).error
        await page.click("button", "Close")
        assert await page.log() == "closed"
        assert (await page.do("click", behind.id)).error == ""
        assert await page.log() == "behind"


STYLES = [
    "",
    "dialog::backdrop { display: none }",
    "dialog { position: fixed; left: -5000px }",
    "dialog, dialog::backdrop { pointer-events: none }",
]


@pytest.mark.parametrize("style", STYLES)
async def test_of_several_modal_dialogs_the_one_opened_last_is_on_top(visit: Opener, style: str) -> None:
    async with visit("modals.html") as page:
        tab = page.session._context.active
        await tab.evaluate(tab.main_frame, f"document.querySelector('style').textContent = {style!r}")

        async def on_top() -> str:
            """The dialog in the tree, which is the one in Chromium's."""
            equal, count, different = compare(await our_lines(page), await chromium_tree(page))
            assert equal == count, different
            return " ".join(node.name for node in (await page.see()).find_all("dialog"))

        async def run(script: str) -> str:
            await tab.evaluate(tab.main_frame, script)
            return await on_top()

        assert await run("document.getElementById('editor').showModal()") == "Editor"
        assert await run("document.getElementById('sure').showModal()") == "Sure", "although it stands before the other"
        shaded = "document.getElementById('host').shadowRoot.querySelector('dialog')"
        assert await run(f"{shaded}.showModal()") == "Shaded"
        assert await run(f"{shaded}.close()") == "Sure"
        assert await run("document.getElementById('sure').close()") == "Editor"
        assert await run("document.getElementById('main').inert = true") == "Editor", "nothing around it makes it inert"
        assert await run("document.getElementById('editor').close()") == ""


async def test_a_modal_dialog_inside_another(visit: Opener) -> None:
    async with visit("modals.html") as page:
        tab = page.session._context.active
        await tab.evaluate(tab.main_frame, "document.getElementById('editor').append(document.getElementById('sure'))")
        for first, second, shown in (("editor", "sure", ["Sure"]), ("sure", "editor", ["Editor", "Sure"])):
            for name in (first, second):
                await tab.evaluate(tab.main_frame, f"document.getElementById({name!r}).showModal()")
            assert [node.name for node in (await page.see()).find_all("dialog")] == shown
            equal, count, different = compare(await our_lines(page), await chromium_tree(page))
            assert equal == count, different
            for name in (first, second):
                await tab.evaluate(tab.main_frame, f"document.getElementById({name!r}).close()")


async def test_nothing_is_written_through_what_lies_on_top(visit: Opener, tmp_path: Path) -> None:
    (tmp_path / "report.txt").write_text("quarterly")
    async with visit("modals.html", settings=SessionSettings(upload_dir=tmp_path)) as page:
        tab = page.session._context.active
        seen = await page.see()
        keys = ("textbox Search", "Date Day", "textbox Inside", "combobox Size", "button Photo")
        search, day, inside, size, photo = (seen.find(*key.split()) for key in keys)
        assert search and day and inside and size and photo
        attempts = (
            *(("fill", search.id, "lamp"), ("clear", search.id), ("fill", search.id, "lamp", True)),
            *(("fill", day.id, "2024-05-06"), ("select_option", size.id, "Large"), ("click", search.id)),
            *(("fill", inside.id, "lamp"), ("press", search.id, "End"), ("focus", search.id)),
            ("upload_file", photo.id, "report.txt"),
        )

        async def held(*ids: str) -> list[str]:
            script = f"{list(ids)}.map((id) => document.getElementById(id).value)"
            return list(await tab.evaluate(tab.main_frame, script))

        await tab.evaluate(tab.main_frame, "document.getElementById('search').value = 'old'")
        await page.click("button", "Edit")
        await page.fill("textbox", "Title", "mine")
        for attempt in attempts:
            error = (await page.do(*attempt)).error
            assert "It is covered by the dialog" in error and "close that first" in error, (attempt, error)
        assert (await page.node("textbox", "Title")).value == "mine"
        assert await held("search", "day", "size", "photo") == ["old", "", "Small", ""]
        await tab.evaluate(tab.main_frame, "document.getElementById('editor').close()")
        await tab.evaluate(tab.main_frame, "document.getElementById('main').inert = true")
        for attempt in attempts:
            error = (await page.do(*attempt)).error
            assert "It is inert" in error and "finish or close that first" in error, (attempt, error)
        assert await held("search", "day", "size", "photo") == ["old", "", "Small", ""]
        await tab.evaluate(tab.main_frame, "document.getElementById('main').inert = false")
        for attempt in attempts:
            assert (await page.do(*attempt)).error == "", attempt
        written = ["lamp", "2024-05-06", "Large", "C:\\fakepath\\report.txt"]
        assert await held("search", "day", "size", "photo") == written


async def test_a_click_on_a_row_is_not_one_on_the_button_in_its_middle(visit: Opener) -> None:
    async with visit("rows.html") as page:
        seen = await page.see("tree", "boxes")
        row = next(node for node in seen.nodes if node.name == "Mail")
        assert (await page.do("click", row.id)).error == ""
        await page.click("button", "Star")
        assert await page.log() == "mail star"


async def test_an_id_of_the_page_before(visit: Opener) -> None:
    async with visit("listing.html", "quiet.html") as page:
        link = await page.node("link", "Home")
        await page.do("tab_focus", 1)
        error = (await page.do("click", f"9{link.id}")).error
        assert f"Another page is in front since you last looked, with ids of its own: {page.base}/quiet.html." in error
        await page.see()
        assert "Another page" not in (await page.do("click", f"9{link.id}")).error


async def test_hover_menu(visit: Opener) -> None:
    async with visit("hover.html") as page:
        assert (await page.see()).find("link", "Drills") is None
        await page.do("hover", (await page.node("link", "Tools")).id)
        await page.click("link", "Drills")
        assert await page.log() == "at #drills"


async def test_autocomplete(visit: Opener) -> None:
    async with visit("autocomplete.html") as page:
        await page.fill("combobox", "Town", "Ber")
        assert [node.name for node in (await page.see()).find_all("option")] == ["Bergen", "Berlin", "Bern"]
        await page.click("option", "Berlin")
        assert await page.log() == "chose Berlin"
        town = await page.node("combobox", "Town")
        await page.do("clear", town.id)
        await page.do("focus", town.id)
        await page.do("keyboard_type", "bre")
        assert [node.name for node in (await page.see()).find_all("option")] == ["Bremen"]
        await page.do("fill", town.id, "Ko", True)
        assert ((await page.node("combobox", "Town")).value, await page.log()) == ("Ko", "key o")


async def test_canvas_by_coordinates(visit: Opener) -> None:
    async with visit("canvas.html") as page:
        await page.do("mouse_click", 130, 130)
        await page.do("mouse_click", 10, 10)
        await page.do("mouse_dblclick", 130, 130)
        await page.do("mouse_click", 130, 130, "right")
        await page.do("scroll_at", 130, 130, 0, 50)
        await page.do("keyboard_press", "Control+a")
        await page.do("keyboard_type", "A+")
        log = await page.log()
        assert log == "click! click click! click! double! right! wheel50 Ctrl+Control Ctrl+a Shift A Shift +"
        assert "outside the viewport" in (await page.do("mouse_click", 5000, 5)).error


async def test_a_table_on_a_canvas_is_read_as_it_is_told_to_those_who_do_not_see_it(visit: Opener) -> None:
    async with visit("canvas_table.html") as page:
        seen = await page.see("tree", "pruned", "boxes")
        assert [node.name for node in seen.find_all("row")] == ["Article Pieces", "Hinge 40"]
        assert "| Hinge | 40 |" in str(seen.pruned) and "Bolt" not in str(seen.tree)
        button = seen.find("button", "Sort")
        assert button is not None and not button.marked and button.visible == 0
        assert "by coordinates" in (await page.do("click", button.id)).error


async def test_popups(visit: Opener) -> None:
    async with visit("popup.html") as page:
        await page.click("link", "Open in a new tab")
        seen = await page.see()
        assert seen.title == "Inner" and seen.active_tab == 1 and len(seen.tabs) == 2
        assert any("new tab" in notice for notice in seen.notices)
        await page.do("tab_close")
        assert (await page.see()).title == "Popup"
        await page.click("button", "Open a window")
        assert (await page.see()).title == "Inner"
        await page.do("tab_focus", 0)
        assert (await page.see()).title == "Popup"
        await page.click("button", "Open and close")
        seen = await page.see()
        assert seen.title == "Popup" and await page.log() == "closed again"
        assert "no tab 7" in (await page.do("tab_focus", 7)).error


async def only_a_popup(page: Visit) -> TabPage:
    """A page may close a tab that a page has opened."""
    await page.click("button", "Open a window")
    await page.do("tab_focus", 0)
    await page.do("tab_close")
    seen = await page.see()
    assert seen.title == "Inner" and len(seen.tabs) == 1
    return page.session._context.active


async def closes_itself(tab: TabPage) -> None:
    tab.channel.post("Runtime.evaluate", {"expression": "close()"})
    assert await tab.until(lambda: tab.closed, 10)


EMPTY = "The last tab was closed; an empty one is now in front."


async def test_a_last_tab_that_closes_itself_leaves_an_empty_one(visit: Opener) -> None:
    async with visit("popup.html") as page:
        await closes_itself(await only_a_popup(page))
        seen = await page.see()
        assert (seen.url, seen.notices, len(seen.tabs)) == ("about:blank", (EMPTY,), 1)
        assert (await page.do("goto", f"{page.base}/popup.html")).error == ""
        await closes_itself(await only_a_popup(page))
        acted = await page.do("click", "1")
        assert "no element [1]" in acted.error and "Another page is in front" in acted.error
        assert (await page.see()).notices == (EMPTY,)


async def test_a_last_tab_that_is_closed_leaves_an_empty_one(visit: Opener) -> None:
    async with visit("quiet.html") as page:
        assert (await page.do("tab_close")).error == ""
        seen = await page.see()
        assert (seen.url, seen.notices, len(seen.tabs)) == ("about:blank", (EMPTY,), 1)


async def test_a_last_tab_may_close_itself_in_the_middle_of_an_action(visit: Opener) -> None:
    async with visit("popup.html") as page:
        tab = await only_a_popup(page)
        await tab.channel.send("Runtime.evaluate", {"expression": "addEventListener('keydown', () => close())"})
        await page.do("keyboard_press", "Control+a")
        assert await tab.until(lambda: tab.closed, 10)
        assert page.session._hand._held == [], "no key is left pressed"
        seen = await page.see()
        assert (seen.url, seen.notices) == ("about:blank", (EMPTY,))


async def test_the_end_of_an_episode_whose_last_tab_closed_itself(visit: Opener) -> None:
    async with visit("popup.html") as page:
        tab = await only_a_popup(page)
        await page.see()
        await closes_itself(tab)
        assert page.session.document == f"{page.base}/frame_inner.html", "of what was last seen"
        assert await page.session.read_locator("", "document.title") == ""
        assert (await page.session.final_page()).url == "about:blank"
        assert await page.session.read_locator(f"{page.base}/quiet.html", "document.title") == "Quiet"


async def test_dialogs(visit: Opener) -> None:
    async with visit("dialogs.html") as page:
        await page.click("button", "Alert")
        assert any("(alert): 'Careful'" in notice for notice in (await page.see()).notices)
        assert await page.log() == "alerted"
        await page.click("button", "Confirm")
        assert await page.log() == "confirm true"
        await page.click("button", "Prompt")
        assert await page.log() == "prompt nobody"
        await page.click("button", "Arm")
        await page.click("link", "Leave")
        seen = await page.see()
        assert seen.title == "Modal dialogs" and any("confirmation before leaving" in notice for notice in seen.notices)
    async with visit("dialogs.html", settings=SessionSettings(dialogs="dismiss")) as page:
        await page.click("button", "Confirm")
        assert await page.log() == "confirm false"


async def test_downloads(visit: Opener) -> None:
    async with visit("download.html") as page:
        await page.click("link", "Download report")
        seen = await page.see()
        assert seen.title == "Download" and "Downloaded 'report.csv' (8 bytes)." in seen.notices
        await page.click("link", "Download evil")
        await page.click("button", "Make a file")
        files = page.session.downloads()
        assert sorted(file.read_text() for file in files) == ["a,b\n1,2\n", "a,b\n1,2\n", "made here"]
        assert len({file.parent for file in files}) == 1
        await page.click("link", "Save directly")
        asked = [one.url.partition("name=")[2] for one in await page.exchanges() if "/api/file" in one.url]
        assert asked == ["report.csv", "..%2F..%2Fevil.sh", "direct.csv"]


async def test_files_that_are_opened_by_themselves(visit: Opener) -> None:
    async with visit("quiet.html") as page:
        # A PDF file is not waited for.
        acted = await page.do("goto", f"{page.base}/api/pdf")
        assert "gave up" not in str(acted.waited_for)
        # A headless shell has no viewer for it, and downloads it.
        told = "PDF file" if has_window(find_chromium()) else "Downloaded"
        assert any(told in notice for notice in (await page.see()).notices)
        await page.do("goto", f"{page.base}/quiet.html")
        assert not (await page.see()).notices
        # A drawing has no body, and is seen all the same.
        await page.do("goto", f"{page.base}/api/drawing")
        seen = await page.see("tree", "boxes", "text", "screenshot")
        assert seen.find("StaticText", "Made in Peru") is not None
        assert seen.screenshot
        assert not seen.notices
        # An address that was a PDF file once hides nothing.
        await page.do("goto", f"{page.base}/api/turncoat")
        await page.do("goto", f"{page.base}/api/cookie")
        await page.do("goto", f"{page.base}/api/turncoat")
        assert "StaticText 'inside'" in str((await page.see()).tree)
        log = await page.exchanges()
        assert [one.url for one in log if "echo" in one.url] == [f"{page.base}/api/echo?say=inside"]
        assert [one.mime_type for one in log if one.url.endswith("/pdf")] == ["application/pdf"]


async def test_history_api(visit: Opener) -> None:
    async with visit("history.html") as page:
        await page.click("link", "One")
        await page.click("link", "Two")
        seen = await page.see()
        assert seen.url.endswith("/two") and seen.title == "History API: Two"
        await page.do("go_back")
        seen = await page.see()
        assert seen.url.endswith("/one") and seen.title == "History API: One"
        await page.do("go_forward")
        assert (await page.see()).title == "History API: Two"
        assert "no later page" in (await page.do("go_forward")).error


@pytest.mark.parametrize(
    ("button", "expected"),
    [
        ("Slow", "slow echo"),
        ("Chain", "chain abc"),
        ("Fail", "failed with 500"),
        ("Broken connection", "broken"),
        ("Old style", "old xhr"),
        ("Send a megabyte", "sent 1048576"),
        ("Worker", "got worker"),
        ("Worker of a worker", "got nested"),
        ("Redirect", "moved to /api/echo"),
        ("Outside", "refused"),
    ],
)
async def test_slow_and_failing_fetches(visit: Opener, button: str, expected: str) -> None:
    async with visit("fetches.html") as page:
        acted = await page.click("button", button)
        assert await page.log() == expected, acted.waited_for
