"""The forum in a real browser: what scripts add, and what accessibility checkers find."""

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.sites.browsing import DESKTOP, PHONE, faults, serving, too_wide
from tests.sites.forum.visits import INES, JUNIPER, MODERATOR, changes, one, path_of, titles
from webassay.sites.forum import SITE
from webassay.sites.kit import World

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def forum():
    async with serving(SITE) as served:
        yield served


def paths(world: World) -> list[str]:
    thread = one(world, "s.comment_count BETWEEN 20 AND 40 AND s.kind = 'text'")
    picture = one(world, "s.kind = 'image' AND s.comment_count > 2")
    mine = one(world, "s.user_id = (SELECT id FROM users WHERE name = 'dell_pruitt')")
    removable = one(world, "s.forum_id = (SELECT id FROM forums WHERE name = 'books') AND s.user_id > 5")
    comment = world.scalar("SELECT id FROM comments WHERE submission_id = ? AND state = 'visible'", thread["id"])
    message = world.scalar(
        "SELECT id FROM conversations WHERE receiver_id = (SELECT id FROM users WHERE name = 'dell_pruitt')"
    )
    return [
        "/", path_of(thread), path_of(picture), "/forums?sort=submissions", "/f/books/top?t=month",
        "/submit?forum=books", f"/u/{INES}", "/search?q=knife&sort=top", "/f/books/reports", "/account/messages",
        f"{path_of(thread)}/comment/{comment}", f"/u/{INES}/comments", f"/u/{INES}/votes",
        "/search?q=winter&in=comments",
        "/f/books/bans", "/f/books/log", "/f/books/edit", "/forums/new", f"/account/messages/{message}", "/account",
        "/account/subscriptions", "/account/hidden", "/account/blocked", f"/u/{INES}/message",
        f"/s/{mine['id']}/edit", f"/s/{mine['id']}/delete", f"/s/{removable['id']}/remove",
        f"/s/{removable['id']}/report", f"/c/{comment}/reply", "/help", "/search?q=x&user=nobody_at_all", "/nowhere",
    ]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(
    "chosen", [slice(0, 10), pytest.param(slice(10, None), marks=pytest.mark.slow)], ids=["one-of-each-kind", "others"]
)
async def test_no_page_has_a_serious_accessibility_fault(forum, chosen):
    async with forum.open(MODERATOR) as (world, page):
        assert not await faults(page, paths(world)[chosen])
    async with forum.open() as (_, page):
        assert not await faults(page, ["/account/login", "/account/register"])


@pytest.mark.long
async def test_pages_fit_the_screen(forum):
    for size in (DESKTOP, PHONE):
        async with forum.open(MODERATOR, viewport=size) as (world, page):
            assert not await too_wide(page, paths(world)[:10])


async def test_who_scrolls_gets_more_and_who_follows_the_link_gets_the_next_page(forum):
    async with forum.open() as (_, page):
        await page.goto("/all/new")
        first = titles(await page.content())
        await page.get_by_role("link", name="More", exact=True).scroll_into_view_if_needed()
        await page.mouse.wheel(0, 4000)
        await expect(page.locator(".post")).to_have_count(50)
        both = titles(await page.content())
        await page.goto("/all/new")
        await page.get_by_role("link", name="More", exact=True).click()
        await page.wait_for_url("**/all/new?p=2")
        assert first + titles(await page.content()) == both


async def test_votes_are_cast_in_place_and_taken_back(forum):
    async with forum.open(JUNIPER) as (world, page):
        post = one(world, "s.user_id > 5 AND s.id NOT IN (SELECT submission_id FROM submission_votes)")
        await page.goto(path_of(post))
        vote = page.locator(".submission .vote")
        await vote.get_by_role("button", name="Upvote").click()
        await expect(vote.locator(".score")).to_have_text(f"{post['score'] + 1} points")
        assert changes(world) == [("submission_votes", "insert")]
        await vote.get_by_role("button", name="Take back upvote").click()
        await expect(vote.get_by_role("button", name="Upvote")).to_be_visible()
        assert changes(world) == []


async def test_a_guest_who_votes_is_asked_to_log_in(forum):
    async with forum.open() as (world, page):
        await page.goto("/all/new")
        await page.get_by_role("button", name="Upvote").first.click()
        await page.wait_for_url("**/account/login?next=%2Fall%2Fnew")
        assert changes(world) == []


async def test_a_reply_in_place_with_a_preview(forum):
    async with forum.open(JUNIPER) as (world, page):
        post = one(world, "s.comment_count = 1 AND s.locked = 0 AND s.kind = 'text'")
        await page.goto(path_of(post))
        await page.get_by_role("link", name="Reply").click()
        await page.get_by_label("Reply", exact=True).fill("> said\n\n**Really?** <b>no</b>")
        await page.locator(".reply-box").get_by_role("button", name="Preview").click()
        shown = page.get_by_role("region", name="Preview").filter(visible=True)
        await expect(shown.locator("strong")).to_have_text("Really?")
        await expect(shown.locator("b")).to_have_count(0)
        await page.locator(".reply-box").get_by_role("button", name="Post Comment").click()
        await page.wait_for_url("**/comment/**")
        assert changes(world) == [("comments", "insert")]


async def test_who_leaves_with_something_unsaved_is_asked(forum):
    async with forum.open(JUNIPER) as (world, page):
        await page.goto("/submit")
        await page.get_by_label("Title").fill("Half a thought")
        await page.get_by_role("link", name="All", exact=True).click()
        dialog = page.get_by_role("dialog", name="Leave without saving?")
        await dialog.get_by_role("button", name="Keep Writing").click()
        await expect(page.get_by_label("Title")).to_have_value("Half a thought")
        await page.get_by_role("link", name="All", exact=True).click()
        await dialog.get_by_role("button", name="Discard and Leave").click()
        await page.wait_for_url("**/all")
        assert changes(world) == []


async def test_a_link_is_submitted(forum):
    async with forum.open(JUNIPER) as (world, page):
        await page.goto("/submit?forum=books")
        await expect(page.get_by_label("Address")).to_be_hidden()
        await page.get_by_role("radio", name="Link").check()
        await page.get_by_label("Address").fill("https://example.org/page")
        await page.get_by_label("Title").fill("Something to read")
        await page.get_by_role("button", name="Create Submission").click()
        await expect(page.get_by_role("heading", level=1)).to_contain_text("Something to read")
        assert changes(world) == [("submissions", "insert")]


async def test_suggestions_come_late_and_lead_there(forum):
    async with forum.open() as (_, page):
        await page.goto("/")
        search = page.get_by_role("combobox", name="Search Porchlight")
        await search.press_sequentially("sourd")
        await expect(page.get_by_role("option").filter(visible=True).first).to_have_text("/f/Sourdough")
        await search.press("ArrowDown")
        await search.press("Enter")
        await page.wait_for_url("**/f/Sourdough")


async def test_comments_fold_away(forum):
    async with forum.open() as (world, page):
        post = one(world, "s.comment_count BETWEEN 3 AND 9 AND s.kind = 'text'")
        await page.goto(path_of(post))
        comment = page.locator(".comment").first
        await comment.get_by_role("button", name="Collapse").first.click()
        await expect(comment.locator(".fold-away").first).to_be_hidden()
        await comment.get_by_role("button", name="Expand").click()
        await expect(comment.locator(".fold-away").first).to_be_visible()


async def test_everything_works_without_scripts(forum):
    async with forum.open(JUNIPER, java_script_enabled=False) as (world, page):
        post = one(world, "s.comment_count = 1 AND s.user_id > 5 AND s.locked = 0 AND s.kind = 'text'")
        await page.goto(path_of(post))
        await page.locator(".submission").get_by_role("button", name="Upvote").click()
        await expect(page.locator(".submission").get_by_role("button", name="Take back upvote")).to_be_visible()
        await page.get_by_role("link", name="Reply").click()
        await page.get_by_label("Comment").fill("Without any scripts.")
        await page.get_by_role("button", name="Post Comment").click()
        await expect(page.get_by_text("Without any scripts.")).to_be_visible()
        await page.goto("/all/new")
        await page.get_by_role("link", name="More", exact=True).click()
        await page.wait_for_url("**/all/new?p=2")
        assert sorted(changes(world)) == [("comments", "insert"), ("submission_votes", "insert")]
