"""Keys as people type them, into fields of applications that render, mask, wait, or move the focus on every key."""

import pytest

from tests.browser.conftest import Opener, Visit
from webassay.browser.devtools.cdp import CommandTimeout

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

RENDERING = [
    *("Renders", "Caret first", "Next turn", "Two frames", "Later", "After a promise", "Fetches", "Debounced"),
    *("Away for a while", "Loses focus", "Blurs", "Focus elsewhere"),
]


async def type_into(page: Visit, name: str, text: str) -> tuple[str, str]:
    """The error, and what the field holds afterwards."""
    await page.click("textbox", name)
    error = (await page.do("keyboard_type", text)).error
    return error, (await page.node("textbox", name)).value


@pytest.mark.parametrize(
    ("name", "typed", "held"),
    [
        *((name, "Rob Roy's 2nd", "Rob Roy's 2nd") for name in RENDERING),
        ("Phone", "5551234567", "(555) 123-4567"),
        ("Phone", "555-123-4567", "(555) 123-4567"),
        ("Capitals", "oak", "OAK"),
        ("Own drawing", "drawn", "drawn"),
        ("Tags", "elm,fir,oa", "oa"),
        ("Renders", "a long text, " * 20, "a long text, " * 20),
    ],
)
async def test_text_arrives_whatever_the_page_does_after_each_key(
    visit: Opener, name: str, typed: str, held: str
) -> None:
    async with visit("typing.html") as page:
        assert await type_into(page, name, typed) == ("", held)


async def test_fields_that_listen_for_keys_learn_what_is_filled_in(visit: Opener) -> None:
    async with visit("key_widgets.html") as page:
        assert (await page.fill("textbox", "Filter", "po")).error == ""
        assert str((await page.see("text")).text).splitlines()[2:4] == ["Poland", "Portugal"]
        assert (await page.fill("textbox", "Search", "é")).error == ""
        assert "0 found" in str((await page.see("text")).text)
        assert (await page.fill("textbox", "Search", "CHAD")).error == ""
        assert "1 found" in str((await page.see("text")).text)
        assert (await page.fill("textbox", "Message", "Hello\n")).error == ""
        assert await page.log() == "", "lines that are filled in are not sent off"


async def test_no_field_holds_more_or_less_than_was_filled_in(visit: Opener) -> None:
    held = {"Phone": "(555) 123-4567", "Capitals": "5551234567", "Own drawing": "5551234567", "Short": "555"}
    async with visit("typing.html") as page:
        for name in (*RENDERING, *held):
            assert (await page.fill("textbox", name, "5551234567")).error == ""
            assert (await page.node("textbox", name)).value == held.get(name, "5551234567"), name


async def test_what_arrives_and_what_does_not(visit: Opener) -> None:
    async with visit("typing.html") as page:
        # A code moves from box to box,
        await page.click("textbox", "Digit 1")
        assert (await page.do("keyboard_type", "4711")).error == ""
        assert [(await page.node("textbox", f"Digit {n}")).value for n in (1, 2, 3, 4)] == list("4711")
        # an editor renders what was typed,
        await page.click("textbox", "Editor")
        assert (await page.do("keyboard_type", "Some words")).error == ""
        assert "Some words" in str((await page.see("text")).text)
        # and what did not arrive is an error.
        error, held = await type_into(page, "Short", "abcdef")
        assert (held, "the field holds 'abc'" in error) == ("abc", True)
        error, held = await type_into(page, "Refuses", "abc")
        assert (held, "the field holds ''" in error) == ("", True)
        await page.click("textbox", "Vanishes")
        error = (await page.do("keyboard_type", "abc")).error
        assert "lost the focus after 'ab' was typed" in error


async def test_keys_that_nothing_takes_are_an_error(visit: Opener) -> None:
    async with visit("quiet.html") as page:
        assert "no text field has the focus" in (await page.do("keyboard_type", "abc")).error


async def test_typing_goes_on_in_a_frame(visit: Opener) -> None:
    async with visit("frames.html") as page:
        fields = [node for node in (await page.see()).find_all("textbox") if not node.id.isdigit()]
        assert fields, "a page with a field in a frame"
        await page.do("click", fields[-1].id)
        assert (await page.do("keyboard_type", "framed")).error == ""
        held = {node.id: node.value for node in (await page.see()).find_all("textbox")}
        assert held[fields[-1].id].endswith("framed")


async def test_shift_makes_capitals_and_signs(visit: Opener) -> None:
    async with visit("editable.html") as page:
        notes = await page.node("textbox", "Notes")
        await page.do("clear", notes.id)
        await page.do("focus", notes.id)
        for key in ("Shift+a", "a", "Shift+1", "Shift+;", "Shift+KeyB", "Shift+?", "Shift+ArrowLeft", "c"):
            assert (await page.do("keyboard_press", key)).error == ""
        assert (await page.node("textbox", "Notes")).value == "Aa!:Bc", "the last sign was selected, and replaced"


async def test_what_the_agent_holds_stays_down_until_it_lets_go(visit: Opener) -> None:
    async with visit("canvas.html") as page:
        await page.do("keyboard_down", "Shift")
        for key in ("a", "B", "Shift+c"):
            await page.do("keyboard_press", key)
        await page.do("click", (await page.node("Canvas", "Board")).id, "left", ["Shift"])
        await page.do("keyboard_press", "1")
        # A text arrives as it is written.
        assert (await page.do("keyboard_type", "d2E")).error == ""
        await page.do("keyboard_up", "Shift")
        await page.do("keyboard_press", "f")
        assert await page.log() == "Shift A B C click ! d 2 E f"


async def test_a_page_that_stops_answering_leaves_no_key_down(visit: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    async with visit("typing.html") as page:
        hand = page.session._hand

        async def unanswered(*_: object, **__: object) -> None:
            raise CommandTimeout("Input.dispatchKeyEvent was not answered.")

        with monkeypatch.context() as broken:
            broken.setattr(hand, "_key_up", unanswered)
            await page.do("keyboard_press", "Control+Enter")
        assert hand._held == []
