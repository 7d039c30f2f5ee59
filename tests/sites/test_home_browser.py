"""The start page in a real browser: accessible, within the screen, and usable by keyboard and by pointer."""

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.sites.browsing import DESKTOP, PHONE, faults, serious, serving, too_wide
from webassay.sites.home import SITE
from webassay.sites.kit import Neighbor

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

SHOP = Neighbor(
    "shop",
    "Tallybrook",
    "Tallybrook, a shop for nearly everything.",
    "http://shop.0123456789abcdef.localhost:12345",
    {"Email": "a.long.name.of.somebody@example.com", "Password": "secret"},
)
FORUM = Neighbor("forum", "Forum", "Talk.", "http://forum.0123456789abcdef.localhost:12345")
PATHS = ["/", "/accounts", "/calculator", "/calculator?expression=1/3", "/calculator?expression=1/0", "/scratchpad",
         "/scratchpad/1/edit", "/nowhere"]  # fmt: skip


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home():
    async with serving(SITE) as served:
        served.world.neighbors = (SHOP, FORUM)
        yield served


@pytest.mark.long
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
async def test_every_page_is_accessible_and_fits_the_screen(home, size):
    async with home.open(viewport=size) as (world, page):
        with world.write() as db:
            db.execute("INSERT INTO notes VALUES (1, ?, '2026-03-01 09:00:00')", ("long" * 100,))
        assert not await faults(page, PATHS)
        assert not await too_wide(page, PATHS)
        await page.goto("/scratchpad")
        await page.get_by_label("New note").fill(" ")
        await page.get_by_role("button", name="Save note").click()
        await expect(page.get_by_text("Note is required.")).to_be_visible()
        assert await serious(page) == []


async def test_calculating_by_keyboard(home):
    async with home.open() as (_, page):
        await page.goto("/")
        await page.get_by_role("navigation", name="Main").get_by_role("link", name="Calculator").focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_label("Expression")).to_be_focused()
        await page.keyboard.type("(12.50 + 3) * 4")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("status", name="Result")).to_have_text("62")
        await page.keyboard.type(" / 0")
        await page.keyboard.press("Enter")
        await expect(page.get_by_label("Expression")).to_have_accessible_description(
            "A number cannot be divided by zero."
        )


async def test_calculating_with_the_keys_on_the_page(home):
    async with home.open() as (_, page):
        await page.goto("/calculator")
        for name in ("1", "2", "point", "5", "9", "backspace", "plus", "open parenthesis", "3", "times", "4",
                     "close parenthesis"):  # fmt: skip
            await page.get_by_role("button", name=name, exact=True).click()
        await expect(page.get_by_label("Expression")).to_have_value("12.5+(3*4)")
        await page.get_by_role("button", name="equals").click()
        await expect(page.get_by_role("status", name="Result")).to_have_text("24.5")
        await page.get_by_role("link", name="Clear").click()
        await expect(page.get_by_label("Expression")).to_have_value("")


@pytest.mark.parametrize("scripts", [True, False])
async def test_keeping_notes(home, scripts):
    async with home.open(java_script_enabled=scripts) as (world, page):
        await page.goto("/scratchpad")
        await page.get_by_label("New note").fill("two lines\nof text")
        await page.get_by_role("button", name="Save note").click()
        await expect(page.get_by_role("status")).to_have_text("Your note was saved.")
        note = page.get_by_role("list", name="Notes").get_by_role("listitem")
        await expect(note).to_contain_text("two lines")
        await note.get_by_role("link", name="Edit note 1").click()
        await expect(page.get_by_label("Note")).to_have_value("two lines\nof text")
        await page.get_by_label("Note").fill("one line")
        await page.get_by_role("button", name="Save note").click()
        await expect(note).to_contain_text("one line")
        await note.get_by_role("button", name="Delete note 1").click()
        await expect(page.get_by_text("You have no notes yet.")).to_be_visible()
        assert world.scalar("SELECT count(*) FROM notes") == 0


async def test_the_calculator_works_without_scripts(home):
    async with home.open(java_script_enabled=False) as (_, page):
        await page.goto("/calculator")
        await page.get_by_label("Expression").fill("2 * 21")
        await page.get_by_role("button", name="Calculate").click()
        await expect(page.get_by_role("status", name="Result")).to_have_text("42")
