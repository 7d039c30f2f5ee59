"""The scripts of old checks, in a real page: they return what the published harness would see."""

import pytest

from webassay.core.legacy import script_of

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

ROLES = (
    "document.body.innerHTML = '<table><tr>"
    '<td data-label="Account"><span class="gl-avatar-labeled-sublabel">@ann</span></td>'
    '<td class="col-max-role"><span>Guest</span></td>'
    "</tr></table>'"
)


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ({"locator": "document.title"}, "Modal dialogs"),
        ({"locator": "document.querySelector('#none')"}, "None"),
        ({"locator": "document.querySelector('#none').outerText"}, ""),
        ({"locator": "document.none_of_that"}, "None"),
        ({"locator": "document.querySelector('['])"}, ""),
        ({"locator": "document.title === 'x'"}, "False"),
        ({"locator": "[...document.querySelectorAll('title')].map(one => one.tagName)"}, "['TITLE']"),
        ({"locator": "[...document.querySelectorAll('title')].length"}, "1"),
        ({"locator": "document.title", "prep_actions": ["document.title = 'new'"]}, "new"),
        ({"locator": "document.title", "prep_actions": ["document.none.none()"]}, "Modal dialogs"),
        ({"locator": "func:gitlab_get_project_memeber_role(__page__, 'ann')", "prep_actions": [ROLES]}, "Guest"),
        ({"locator": "func:gitlab_get_project_memeber_role(__page__, 'bob')", "prep_actions": [ROLES]}, ""),
    ],
)
async def test_what_a_locator_finds(visit, target, text):
    async with visit("modal.html") as page:
        assert await page.session.read_locator(f"{page.base}/modal.html", script_of(target)) == text


async def test_a_page_that_fails_its_reader_shows_nothing(visit):
    """It is as the agent left it: a fault of ours would be played again."""
    async with visit("modal.html") as page:
        await page.session.read_locator("", "document.querySelector = () => { throw new RangeError('no') }")
        assert await page.session.read_locator("", script_of({"locator": "document.querySelector('title')"})) == ""


async def test_the_whole_page(visit):
    async with visit("modal.html") as page:
        source = await page.session.read_locator(f"{page.base}/modal.html", script_of({"locator": " "}))
    assert source.lower().startswith("<!doctype html><html") and "Modal dialogs</title>" in source
