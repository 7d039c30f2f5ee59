"""What an observation holds: pinned texts, stable ids, boxes, pictures, and nothing that was not asked for."""

import io
import json
import re
from pathlib import Path

import pytest
from PIL import Image

from tests.browser.conftest import Opener
from webassay.browser.session import SessionSettings
from webassay.core.interaction import Observation

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

GOLDEN = Path(__file__).parent / "golden"


def same_as_golden(name: str, text: str) -> None:
    """To renew: delete the file and run the test; it fails once, having written the new one to be looked at."""
    path = GOLDEN / name
    if not path.exists():
        path.write_text(text + "\n", encoding="utf-8")
        pytest.fail(f"{path} was missing and has been written: look at it and commit it")
    assert text + "\n" == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("page_name", ["roles", "listing", "frames", "shadow"])
async def test_the_text_formats_are_pinned(visit: Opener, page_name: str) -> None:
    async with visit(f"{page_name}.html") as page:
        seen = await page.see("tree", "pruned")
    same_as_golden(f"{page_name}.tree.txt", str(seen.tree))
    same_as_golden(f"{page_name}.pruned.txt", str(seen.pruned))


def cards(seen: Observation) -> dict[str, str]:
    return {node.name: node.id for node in seen.nodes if node.role == "link" and node.name and node.url.find("#p") > 0}


async def test_an_element_keeps_its_id_while_it_lives(visit: Opener) -> None:
    async with visit("listing.html") as page:
        first = cards(await page.see())
        assert len(first) == 3
        await page.click("button", "Shuffle")
        assert cards(await page.see()) == first, "moving an element does not change its id"
        await page.click("button", "More")
        grown = cards(await page.see())
        assert {name: grown[name] for name in first} == first and len(set(grown.values())) == 4
        await page.click("button", "Drop first")
        left = cards(await page.see())
        assert "Drill" not in left and set(left.items()) < set(grown.items())
        gone = grown["Drill"]
        assert "no element" in (await page.do("click", gone)).error
        await page.click("button", "More")
        assert gone not in cards(await page.see()).values(), "ids are not used again"


async def test_a_page_rendered_again_gets_the_same_ids(visit: Opener) -> None:
    async with visit("listing.html") as page:
        first = await page.see("tree", "boxes")
        await page.do("goto", f"{page.base}/quiet.html")
        await page.do("go_back")
        assert (await page.see("tree", "boxes")).tree == first.tree
    async with visit("listing.html") as page:
        again = await page.see("tree")
        assert again.tree == first.tree
        assert [node.id for node in again.nodes] == [node.id for node in first.nodes]


async def test_only_what_was_asked_for_is_looked_at_and_nothing_is_changed(visit: Opener) -> None:
    async with visit("listing.html") as page:
        seen = await page.see("screenshot")
        assert seen.tree is None and seen.pruned is None and seen.text is None and seen.html is None
        assert seen.nodes == () and seen.screenshot is not None
        seen = await page.see("text")
        assert seen.screenshot is None and seen.tree is None
        assert "3 of 42" in str(seen.text)
        seen = await page.see("tree")
        assert all(node.box is None and node.visible is None for node in seen.nodes)
        seen = await page.see("html")
        assert str(seen.html).startswith("<!DOCTYPE html>") and "3 of 42" in str(seen.html)
        before = (await page.see("html")).html
        await page.see("tree", "pruned", "boxes", "marks", "text", "full_screenshot")
        assert (await page.see("html")).html == before


async def test_shadow_roots_are_in_the_html(visit: Opener) -> None:
    async with visit("shadow.html") as page:
        html = str((await page.see("html")).html)
        assert '<template shadowrootmode="open">' in html and "Deep field" in html


async def test_boxes_visibility_and_clickability(visit: Opener) -> None:
    async with visit("frames.html") as page:
        seen = await page.see("tree", "boxes")
        heading = seen.find("heading")
        assert heading is not None and heading.box is not None and heading.visible == 1.0 and not heading.clickable
        below = seen.find("button", "Inner button")
        assert below is not None and below.visible == 0.0 and below.clickable and not below.marked
        await page.do("scroll", 0, 2000)
        seen = await page.see("tree", "boxes")
        below = seen.find("button", "Inner button")
        assert below is not None and below.visible == 1.0 and below.marked and below.box is not None
        x, y = below.box[0] + below.box[2] / 2, below.box[1] + below.box[3] / 2
        await page.do("mouse_click", x, y)
        assert "pressed with" in str((await page.see()).tree), "boxes in frames are in coordinates of the page"
    async with visit("obstructed_checkbox.html") as page:
        seen = await page.see("tree", "boxes")
        veiled = seen.find("checkbox", "Veiled")
        assert veiled is not None and veiled.visible == 0.0
    async with visit("modal.html") as page:
        await page.click("button", "Open custom")
        behind = (await page.see("tree", "boxes")).find("button", "Behind")
        assert behind is not None and behind.visible == 0.0 and not behind.marked


@pytest.mark.parametrize("name", ["padded", "edged", "small", "zoomed", "held"])
async def test_what_is_in_a_frame_is_where_it_is_drawn(visit: Opener, name: str) -> None:
    """Whatever border, padding, transform and zoom the frames around it have."""
    async with visit("drawn_frames.html") as page:
        clicked = []
        for place in ("near", "far"):
            one = await page.node("button", f"{name} {place}")
            assert (await page.do("click", one.id)).error == ""
            clicked.append(f"{name} {place}")
            assert await page.log() == " ".join(clicked), "clicked by its id"
            seen = await page.node("button", f"{name} {place}")
            box = seen.box
            assert box is not None and seen.visible == 1.0
            # A pixel inside its corners.
            for x, y in ((box[0] + 1, box[1] + 1), (box[0] + box[2] - 1, box[1] + box[3] - 1)):
                await page.do("mouse_click", x, y)
                clicked.append(f"{name} {place}")
                assert await page.log() == " ".join(clicked), f"its box is {box}"


async def test_the_wheel_finds_the_frame_that_is_drawn_larger(visit: Opener) -> None:
    async with visit("drawn_frames.html") as page:
        tab = page.session._context.active
        await page.do("hover", (await page.node("button", "held far")).id)
        script = "(({ left, top }) => [left, top])(document.getElementById('large').getBoundingClientRect())"
        left, top = await tab.evaluate(tab.main_frame, script)
        # At its far end, where it would not be if it were drawn in its own size.
        await page.do("scroll_at", left + 211, top + 103, 0, 40)
        notices = (await page.see()).notices
        assert any("now 40 of" in notice for notice in notices), notices


async def test_listeners_make_plain_elements_clickable(visit: Opener) -> None:
    async with visit("roles.html") as page:
        nodes = (await page.see("tree", "boxes")).nodes
        plain = [node for node in nodes if node.role == "generic" and node.get("clickable") is not None]
        assert [node.name for node in plain] == ["focusable", "onclk", "ce x"] and all(node.clickable for node in plain)


async def test_focus(visit: Opener) -> None:
    async with visit("shadow.html") as page:
        assert (await page.see()).focused == ""
        field = await page.node("textbox", "Deep field")
        await page.do("focus", field.id)
        seen = await page.see()
        assert seen.focused == field.id
        assert [node.id for node in seen.nodes if node.get("focused") is not None] == [field.id]
        await page.do("goto", f"{page.base}/frames.html")
        inner = await page.node("textbox", "Inner field")
        await page.do("focus", inner.id)
        assert (await page.see()).focused == inner.id


def picture(data: bytes | None) -> Image.Image:
    assert data is not None
    return Image.open(io.BytesIO(data))


async def test_pictures(visit: Opener) -> None:
    async with visit("canvas.html") as page:
        shot = await page.see("screenshot")
        image = picture(shot.screenshot)
        assert (image.format, image.size, shot.screenshot_type) == ("JPEG", (1280, 720), "image/jpeg")
        red, green, blue = image.convert("RGB").getpixel((130, 130))  # type: ignore[misc]
        assert green > 140 and red < 40 and blue < 40
    async with visit(
        "virtual_list.html", settings=SessionSettings(viewport=(800, 400), picture_type="image/png")
    ) as page:
        image = picture((await page.see("screenshot")).screenshot)
        assert (image.format, image.size) == ("PNG", (800, 400))
        await page.do("goto", f"{page.base}/frames.html")
        image = picture((await page.see("full_screenshot")).screenshot)
        assert image.size[0] == 800 and image.size[1] > 1200
        plain = picture((await page.see("screenshot")).screenshot).convert("RGB")
        await page.do("goto", f"{page.base}/quiet.html")
        plain = picture((await page.see("screenshot")).screenshot).convert("RGB")
        seen = await page.see("marks")
        marked = picture(seen.screenshot).convert("RGB")
        box = next(node.box for node in seen.nodes if node.marked)
        assert box is not None and marked.size == plain.size
        edge = (int(box[0]) + 30, int(box[1]))
        assert marked.getpixel(edge) != plain.getpixel(edge)


async def test_tabs_titles_and_errors_are_told(visit: Opener) -> None:
    async with visit("quiet.html", "modal.html") as page:
        seen = await page.see()
        assert [tab.title for tab in seen.tabs] == ["Quiet", "Modal dialogs"] and seen.active_tab == 0
        await page.do("click", "99")
        assert "no element [99]" in (await page.see()).last_error
        await page.do("noop", 0)
        assert (await page.see()).last_error == ""
        await page.do("new_tab")
        seen = await page.see()
        assert seen.url == "about:blank" and seen.active_tab == 2


async def test_several_actions_and_mistakes_that_can_be_read(visit: Opener) -> None:
    async with visit("roles.html") as page:
        seen = await page.see()
        select = next(node for node in seen.nodes if node.role == "combobox" and node.value == "b")
        assert (await page.do("select_option", select.id, "a")).error == ""
        assert next(n for n in (await page.see()).nodes if n.id == select.id).value == "a"
        multiple = next(node for node in seen.nodes if node.role == "listbox" and node.get("multiselectable") == "true")
        assert (await page.do("select_option", multiple.id, ["a", "b"])).error == ""
        for name, args, words in (
            ("select_option", (select.id, "z"), 'no option "z"; it has "a", "b"'),
            ("select_option", (select.id, ["a", "b"]), "Only one of its options"),
            *(("click", ("zz9",), "no element [zz9]"), ("click", ("hello",), "is not an element id")),
            *(("press", ("1", "Hyper"), "no key 'Hyper'"), ("fill", (select.id, "x"), "use select_option")),
            ("focus", ("1",), "cannot be focused"),
            ("keyboard_press", ("Control+",), "not a key or key combination"),
            ("click", ("22", "left", ["Enter"]), "not a modifier"),
        ):
            assert words in (await page.do(name, *args)).error, name


async def test_film_and_trace(visit: Opener, tmp_path: Path) -> None:
    settings = SessionSettings(video_dir=tmp_path / "films", trace_dir=tmp_path / "traces")
    async with visit("animation.html", settings=settings) as page:
        await page.click("button", "Slide")
        await page.do("goto", f"{page.base}/quiet.html?q=</script>")
    (film,) = (tmp_path / "films").iterdir()
    text = film.read_text(encoding="utf-8")
    assert text.count("<script>frame(") >= 2 and "click(bid=" in text
    assert text.count("</script>") == 1 + text.count("<script>frame(") + text.count("<script>caption(")
    (trace,) = (tmp_path / "traces").iterdir()
    lines = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    assert {line["kind"] for line in lines} == {"action", "command", "event"}
    assert any(line["method"] == "Network.requestWillBeSent" for line in lines)
    assert [line["time"] for line in lines] == sorted(line["time"] for line in lines)


def words(text: str) -> str:
    return " ".join(text.split())


SAID_BY_NAME = frozenset({"StaticText", "image", "link", "button", "heading", "checkbox", "option", "tab", "cell"})


@pytest.mark.parametrize("page_name", ["listing", "rerender", "shadow", "editable", "dates", "modal", "drag"])
async def test_every_form_of_a_page_says_what_a_person_sees(visit: Opener, page_name: str) -> None:
    async with visit(f"{page_name}.html") as page:
        seen = await page.see("tree", "pruned", "text", "boxes")
    shown = [node for node in seen.nodes if node.role in SAID_BY_NAME and node.name and node.visible != 0.0]
    assert shown
    for node in shown:
        for form in (str(seen.pruned), words(str(seen.text))):
            # A name may be put together from texts that stand apart.
            assert all(part in form for part in words(node.name).split()), f"{node.role} {node.name!r} in\n{form}"
        if node.role in ("StaticText", "image"):
            assert words(node.name) in words(str(seen.text)), seen.text


async def test_ratings_are_in_every_form(visit: Opener) -> None:
    async with visit("quiet.html") as page:
        await page.do("goto", f"{page.base}/listing.html")
        tab = page.session._context.active
        stars = '<span role="img" aria-label="Rating: 1 out of 5 stars">★☆☆☆☆</span>'
        await tab.evaluate(
            tab.main_frame, f"document.querySelector('.card').insertAdjacentHTML('beforeend', `{stars}`)"
        )
        seen = await page.see("tree", "pruned", "text")
        for form in (seen.tree, seen.pruned, seen.text):
            assert "Rating: 1 out of 5 stars" in str(form)


async def test_panes_say_how_far_they_are_scrolled_and_what_is_out_of_sight(visit: Opener) -> None:
    async with visit("rerender.html") as page:
        seen = await page.see("tree", "boxes")
        pane = next(node for node in seen.nodes if node.get("scroll") and node.role == "generic")
        assert str(pane.get("scroll")).startswith("down 0 of ") and pane.id
        end = seen.find("button", "At the end")
        assert end is not None and end.get("offscreen") == "" and end.visible == 0.0
        await page.do("scroll_at", pane.box[0] + 20, pane.box[1] + 20, 0, 2000)
        seen = await page.see("tree", "boxes")
        moved = next(node for node in seen.nodes if node.id == pane.id)
        assert moved.get("scroll") != pane.get("scroll") and f"[{pane.id}] generic '', scroll=" in str(seen.tree)
        end = seen.find("button", "At the end")
        assert end is not None and end.get("offscreen") is None


async def test_what_is_out_of_sight_says_so_even_in_wrappers_that_say_nothing(visit: Opener) -> None:
    async with visit("far_down.html") as page:
        seen = await page.see("tree", "pruned")
        far = [(node.role, node.name) for node in seen.nodes if node.get("offscreen") is not None]
        assert far == [("paragraph", ""), ("button", "Retry"), ("StaticText", "Plain words"), ("list", "")]
        assert "text 'Plain words' [offscreen]" in str(seen.pruned)
        await page.do("scroll", 0, 1000, next(node.id for node in seen.nodes if node.get("scroll")))
        seen = await page.see()
        far = [(node.role, node.name) for node in seen.nodes if node.get("offscreen") is not None]
        assert far == [("paragraph", ""), ("paragraph", ""), ("button", "Retry")], "what lies above now"


async def test_what_nobody_can_see_says_so_or_is_left_out(visit: Opener) -> None:
    async with visit("unseen.html") as page:
        seen = await page.see("tree", "pruned")
        hidden = [(node.role, node.name) for node in seen.nodes if node.get("hidden") is not None]
        known = [("region", "Small print"), ("StaticText", "Loose words"), ("paragraph", ""), ("button", "Ghost")]
        assert hidden == known
        assert "region 'Small print' [hidden]" in str(seen.pruned)
        names = [node.name for node in seen.nodes]
        assert "Shown row" in names and "Old row" not in names
        assert seen.find("option") is None
        assert [node.role for node in seen.nodes if node.get("droppable") is not None] == ["generic"]
        folded = seen.find("button", "Accept all")
        assert folded is not None and "folded away" in (await page.do("click", folded.id)).error
        assert (await page.click("button", "Not cut off")).error == ""


async def test_what_stands_in_an_editor_is_said_once_and_in_order(visit: Opener) -> None:
    async with visit("editors.html") as page:
        seen = await page.see("tree", "pruned")
    tree, short = str(seen.tree).splitlines(), str(seen.pruned).splitlines()
    assert [line.strip() for line in tree[2:7]] == [
        "[2] textbox 'Program' value='if ready:\\n    start(1)'",
        "[3] textbox 'Letter' value='Dear Ann,\\n\\nsee our page.'",
        "[5] paragraph ''",
        "[6] link 'our page'",
        "[7] generic '', clickable, editable",
    ]
    assert [line.strip().partition(" '")[2] for line in tree[8:11]] == ["Back by'", "noon'", "at the latest'"]
    assert [line.strip() for line in short if "value" in line] == [
        "textbox [2] 'Program' [value: if ready:\\n    start(1)]",
        "textbox [3] 'Letter' [value: Dear Ann,\\n\\nsee our page.]",
        "textbox [10] 'Address' [value: 12 Mill Lane\\n  Leith]",
    ]
    assert not any("start" in line for line in short[3:])


async def test_the_rows_of_a_grid_are_read_in_the_order_in_which_they_are_seen(visit: Opener) -> None:
    async with visit("grid_order.html") as page:
        unsorted = {node.name: node.id for node in (await page.see()).find_all("gridcell")}
        assert list(unsorted) == ["Lamp", "30", "Chair", "10", "Shelf", "20"]
        await page.click("button", "Sort")
        seen = await page.see("tree", "pruned", "text")
        await page.click("button", "Swap columns")
        swapped = [node.name for node in (await page.see()).find_all("gridcell")]
    assert swapped == ["10", "Chair", "20", "Shelf", "30", "Lamp"]
    found = {node.name: node.id for node in seen.find_all("gridcell")}
    assert list(found) == ["Chair", "10", "Shelf", "20", "Lamp", "30"] and found == unsorted
    rows = [line.strip() for line in str(seen.pruned).splitlines() if "|" in line]
    assert rows == ["| Chair | 10 |", "| Shelf | 20 |", "| Lamp | 30 |"]
    assert str(seen.text).split()[3:] == ["Chair", "10", "Shelf", "20", "Lamp", "30", "Second", "First"]


async def test_what_tells_things_apart(visit: Opener) -> None:
    async with visit("rerender.html") as page:
        seen = await page.see("tree", "boxes")
        assert [n.name for n in seen.nodes if n.get("stands out") is not None] == ["Ann Minutes"]
        await page.do("click", next(n.id for n in seen.nodes if n.name == "Cleo Invoice"))
        seen = await page.see("tree", "boxes")
        assert [n.name for n in seen.nodes if n.get("stands out") is not None] == ["Cleo Invoice"]
        turn = next(node for node in seen.nodes if node.name == "Turn")
        assert turn.get("title") == "Turn the list round"
        ghost = seen.find("button", "Ghost")
        assert ghost is not None and ghost.visible == 0.0 and not ghost.marked, "inside something transparent"
        text = next(node for node in seen.nodes if node.role == "StaticText" and node.name == "Minutes")
        assert text.box is not None and text.visible == 1.0 and not text.id


async def test_style_rules_that_are_imported_nested_or_grouped(visit: Opener) -> None:
    async with visit("styled.html") as page:
        seen = await page.see("tree", "text", "boxes")
    said = [node.name for node in seen.nodes if node.role == "StaticText"]
    words = ("New:", "sold out", "(used)", "either", "!", "late")
    assert [name for name in said if name in words] == list(words)
    assert all(word in str(seen.text) for word in words)
    assert [node.name for node in seen.nodes if node.get("clickable") is not None] == ["Card", "Row ! late", "Tile"]
    clear = seen.find("button", "Clear")
    assert clear is not None and clear.marked and clear.get("hidden") is None


async def test_what_appears_under_the_mouse_has_a_mark(visit: Opener) -> None:
    async with visit("appearing.html") as page:
        seen = await page.see("marks", "boxes")
        assert [node.name for node in seen.nodes if node.marked] == ["Clear", "Archive"]
        assert all(node.visible == 0.0 for node in seen.nodes if node.name in ("Gone", "Twice hidden"))


async def test_whatever_listens_further_up_can_be_clicked_by_its_id(visit: Opener) -> None:
    async with visit("rerender.html") as page:
        seen = await page.see("marks", "pruned")
        for name in ("Ann Minutes", "Dan Party", "Add"):
            node = next(node for node in seen.nodes if node.name == name)
            assert node.marked and f"generic [{node.id}] {name!r}" in str(seen.pruned)
        star = [node for node in seen.nodes if node.name == "☆" and node.id][1]
        await page.do("click", star.id)
        assert await page.log() == "star Lunch"


async def test_each_of_two_suggestions_can_be_chosen(visit: Opener) -> None:
    async with visit("suggestions.html") as page:
        for name in ("Ghent", "Genoa"):
            await page.click("generic", name)
            assert await page.log() == f"to {name}"
        await page.click("generic", "Ghent Belgium")
        assert await page.log() == "opened", "two words of one control"


async def test_handlers_that_are_kept_on_elements_make_them_clickable(visit: Opener) -> None:
    async with visit("handlers.html") as page:
        seen = await page.see("marks", "pruned")
        assert [node.name for node in seen.nodes if node.role == "paragraph" and node.marked] == ["Open"]
        for row in [node for node in seen.nodes if "Row" in node.role or node.role == "row"]:
            assert row.marked and f"[{row.id}]" in str(seen.pruned)
            assert (await page.do("click", row.id)).error == ""
        await page.do("click", next(node.id for node in seen.nodes if node.name == "Open"))
        assert await page.log() == "row0 row1 open"


def lines_of(seen: Observation) -> list[str]:
    """The short form, with the ids replaced by #, and without indentation."""
    return [re.sub(r"\[[0-9]+\]", "[#]", line.strip()) for line in str(seen.pruned).splitlines()]


STATES = """
option [#] 'Any' [selected: false]
option [#] 'Letter' [selected: false]
option [#] 'Packet' [selected: true]
option [#] 'Crate' [disabled: true] [selected: false]
option [#] 'North' [selected: true]
option [#] 'South' [disabled: true] [selected: false]
combobox [#] 'Size: S; M; L [disabled: true]; XL [title: by order only]' [value: M]
option [#] 'Anywhere' [selected: false]
group 'Near: Chad; Mali' [value: Mali]
group 'Far: Fiji; Peru' [disabled: true]
link [#] 'Drill' [title: Sold out]
| 1 | 2 [selected: true] | 3 [disabled: true] | gridcell [#] '4' [current: date] [title: Ascension Day] |
| 1001 | yesterday [title: 3 May 2024] | [title: Paid in full] | 2 [valuemin: 0] [valuemax: 3] |
text 'Stock: 12 [title: counted on Monday]'
generic '' [title: Verified buyer]
progressbar '' [valuemin: 0] [valuemax: 1]
list 'Results' [busy: true]
text '' [checked: true]
LayoutTableCell 'Tongs' [title: Left side]
text 'Nails'
checkbox [#] 'Acme' [checked: false] [offscreen]
""".strip().splitlines()
"""Options in a combo box or a group of it are chosen by their label, and have no line of their own."""


async def test_the_short_form_keeps_ids_and_states(visit: Opener) -> None:
    async with visit("states.html") as page:
        seen = await page.see("tree", "pruned")
        missing = [line for line in STATES if line not in lines_of(seen)]
        assert not missing, f"{missing} in\n{seen.pruned}"
        letter = next(node for node in seen.nodes if node.name == "Letter")
        assert (await page.do("click", letter.id)).error == ""
        assert "option [#] 'Letter' [selected: true]" in lines_of(await page.see("pruned"))
        # Sorted, invalid and read-only are told in both forms.
        for line, short in (
            ("columnheader 'Price', sort='descending', clickable", "columnheader [{}] 'Price' [sort: descending]"),
            ("columnheader 'Weight'\n", ""),
            ("textbox 'E-mail' value='ann@', invalid='true'\n", "textbox [{}] 'E-mail' [value: ann@] [invalid: true]"),
            ("textbox 'Voucher' value='A7', readonly\n", "textbox [{}] 'Voucher' [value: A7] [readonly]"),
            ("textbox 'Serial', readonly", "textbox [{}] 'Serial' [readonly]"),
        ):
            found = re.search(rf"\[(\d+)\] {re.escape(line)}", str(seen.tree) + "\n")
            assert found, line
            assert short.format(found[1]) in str(seen.pruned)
        # Headings that are links.
        lines = lines_of(await page.see("pruned", "links"))
        assert f"link [#] 'Saw' [title: Part of the sale] [current: true] [url: {page.base}/saw.html]" in lines
        assert f"link [#] 'Drill' [title: Sold out] [url: {page.base}/drill.html]" in lines
        at = lines.index("heading 'Vise' [title: Of the heading]")
        assert lines[at + 1] == f"link [#] 'Vise' [title: Of the link] [url: {page.base}/vise.html]"
        at = lines.index("heading [#] 'Rasp'")
        assert lines[at + 1] == f"link [#] 'Rasp' [url: {page.base}/rasp.html]", "both can be clicked"
