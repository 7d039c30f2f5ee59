"""Reading: lists, threads, people, search, pictures."""

import json
import re
from html import unescape

import pytest

from tests.sites.forum.visits import INES, JUNIPER, one, path_of, titles, user_id
from tests.sites.visitors import content
from webassay.sites.forum.listing import ORDERS

POSTS = "submissions AS s WHERE s.state = 'visible'"


def expected(world, order: str, condition: str = "1", skipped: int = 0, most: int = 25) -> list[str]:
    found = world.rows(
        f"SELECT s.title FROM {POSTS} AND ({condition}) ORDER BY {order}, s.id DESC LIMIT ? OFFSET ?", most, skipped
    )
    return [row["title"] for row in found]


# --- lists ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sort", ORDERS)
async def test_everything_is_sorted_as_the_rows_say(world, guest, sort):
    for page in (1, 2, 7):
        shown = titles((await guest.get(f"/all/{sort}?p={page}")).text)
        assert shown == expected(world, ORDERS[sort], skipped=25 * (page - 1))


async def test_a_list_leads_to_its_very_end_and_holds_everything_once(world, guest):
    where = "s.forum_id = (SELECT id FROM forums WHERE name = 'hiking')"
    path, shown = "/f/hiking/new", []
    while path:
        page = (await guest.get(path)).text
        shown += titles(page)
        more = re.search(r'rel="next" href="([^"]+)"', page)
        path = unescape(more[1]) if more else ""
    assert shown == expected(world, "s.created_at DESC", where, most=10_000)
    assert "There is nothing more here." in (await guest.get("/f/hiking/new?p=900")).text


async def test_time_ranges_count_from_now(world, guest):
    week = "s.created_at >= '2026-02-22 09:00:00'"
    assert titles((await guest.get("/all/top?t=week")).text) == expected(world, "s.score DESC", week)
    month = "s.created_at >= '2026-01-30 09:00:00' AND s.forum_id = (SELECT id FROM forums WHERE name = 'news')"
    shown = titles((await guest.get("/f/news/most-commented?t=month")).text)
    assert shown == expected(world, "s.comment_count DESC", month)


async def test_pinned_submissions_come_first_when_hot_only(world, guest):
    pinned = one(world, "s.pinned")
    assert titles((await guest.get(f"/f/{pinned['forum']}")).text)[0] == pinned["title"]
    where = f"s.forum_id = {pinned['forum_id']}"
    assert titles((await guest.get(f"/f/{pinned['forum']}/new")).text) == expected(world, "s.created_at DESC", where)


@pytest.mark.parametrize(
    "path",
    ["/all/new?t=week", "/all/top?t=eon", "/all?p=0", "/all?p=x", "/all?x=1", "/forums?sort=size", "/search?a=b"],
)
async def test_unknown_settings_are_refused(guest, path):
    assert (await guest.get(path)).status_code == 400


@pytest.mark.parametrize("path", ["/f/nowhere", "/all/best", "/f/books/best", "/u/nobody_at_all", "/s/99999999",
                                  "/f/books/7777777777777777777777/x", "/pictures/0.svg"])  # fmt: skip
async def test_what_does_not_exist_is_not_found(guest, path):
    assert (await guest.get(path)).status_code == 404


async def test_members_see_their_own_forums_first(world, juniper, guest):
    mine = f"s.forum_id IN (SELECT forum_id FROM subscriptions WHERE user_id = {user_id(world, JUNIPER)})"
    seen = (
        "s.id NOT IN (SELECT submission_id FROM hidden_submissions WHERE user_id = 1)"
        " AND s.user_id NOT IN (SELECT blocked_id FROM blocks WHERE user_id = 1)"
    )
    assert titles((await juniper.get("/home/new")).text) == expected(world, "s.created_at DESC", f"{mine} AND {seen}")
    assert titles((await guest.get("/home/new")).text) == expected(world, "s.created_at DESC")


@pytest.mark.parametrize(
    ("sort", "order"),
    [("name", "f.name COLLATE NOCASE"), ("submissions", "n DESC, f.name COLLATE NOCASE"),
     ("subscribers", "m DESC, f.name COLLATE NOCASE")],
)  # fmt: skip
async def test_the_directory(world, guest, sort, order):
    rows = world.rows(
        "SELECT f.name, (SELECT count(*) FROM submissions AS s WHERE s.forum_id = f.id AND s.state = 'visible') AS n,"
        f" (SELECT count(*) FROM subscriptions AS b WHERE b.forum_id = f.id) AS m FROM forums AS f ORDER BY {order}"
    )
    shown = []
    for page in (1, 2, 3):
        text = (await guest.get(f"/forums?sort={sort}&p={page}")).text
        shown += re.findall(r'post-title"><a href="/f/(\w+)"', text)
        counts = re.findall(r"(\d+) submissions? · (\d+) subscribers?", text)
        assert counts == [(str(row["n"]), str(row["m"])) for row in rows[25 * (page - 1) : 25 * page]]
    assert shown == [row["name"] for row in rows]


# --- threads ----------------------------------------------------------------------------------------------


def comments_of(page: str) -> list[int]:
    return [int(number) for number in re.findall(r'id="comment-(\d+)"', page)]


async def test_a_thread_shows_every_comment_under_what_it_answers(world, guest):
    post = one(world, "s.comment_count BETWEEN 30 AND 60")
    page = (await guest.get(path_of(post))).text
    known = world.rows(
        "SELECT id FROM comments AS c WHERE submission_id = ? AND (state <> 'deleted'"
        " OR EXISTS (SELECT 1 FROM comments AS r WHERE r.parent_id = c.id AND r.state <> 'deleted'))",
        post["id"],
    )
    more = sum(map(int, re.findall(r"Continue this thread \((\d+) more\)", page)))
    assert len(comments_of(page)) + more == len(known)
    assert f"{post['comment_count']} comments" in page
    assert f"{post['ups']} upvote" in page


@pytest.mark.parametrize(("sort", "order"), [("top", "score DESC, id"), ("new", "id DESC"), ("old", "id")])
async def test_comments_are_sorted(world, guest, sort, order):
    post = one(world, "s.comment_count BETWEEN 20 AND 40")
    tops = world.rows(
        "SELECT id FROM comments WHERE submission_id = ? AND parent_id IS NULL AND state = 'visible'"
        f" ORDER BY {order}", post["id"],
    )  # fmt: skip
    shown = comments_of((await guest.get(f"{path_of(post)}?sort={sort}")).text)
    wanted = [row["id"] for row in tops]
    assert [number for number in shown if number in wanted] == wanted


async def test_a_long_thread_has_pages_and_loses_nothing(world, guest):
    post = one(world, "s.comment_count > 250")
    shown, page, left = set(), 1, 0
    while True:
        text = (await guest.get(f"{path_of(post)}?p={page}")).text
        numbers = comments_of(text)
        assert not shown & set(numbers)
        shown |= set(numbers)
        left += sum(map(int, re.findall(r"Continue this thread \((\d+) more\)", text)))
        if "More Comments" not in text:
            break
        page += 1
    total = world.scalar(
        "SELECT count(*) FROM comments AS c WHERE submission_id = ? AND (state <> 'deleted' OR EXISTS"
        " (SELECT 1 FROM comments AS r WHERE r.parent_id = c.id AND r.state <> 'deleted'))",
        post["id"],
    )
    assert page > 1 and len(shown) + left == total


async def test_a_permalink_shows_one_branch(world, guest):
    row = world.row(
        "SELECT c.id, c.submission_id, p.id AS top FROM comments AS c JOIN comments AS p ON p.id = c.parent_id"
        " WHERE p.parent_id IS NULL AND c.state = 'visible' AND p.state = 'visible' LIMIT 1"
    )
    post = one(world, f"s.id = {row['submission_id']}")
    shown = comments_of((await guest.get(f"{path_of(post)}/comment/{row['id']}")).text)
    assert shown[0] == row["id"] and row["top"] not in shown
    other = one(world, f"s.id <> {post['id']}")
    assert (await guest.get(f"{path_of(other)}/comment/{row['id']}")).status_code == 404


async def test_a_submission_stands_in_its_own_forum(world, guest):
    post = one(world)
    answer = await guest.get(f"/f/news2/{post['id']}/x")
    assert (answer.status_code, answer.headers["location"]) == (303, path_of(post))


async def test_removed_and_deleted_posts_are_not_shown(world, guest):
    removed = world.row(
        "SELECT s.id, s.body, s.slug, s.title FROM submissions AS s WHERE state = 'removed' AND body <> ''"
    )
    page = (await guest.get(f"/s/{removed['id']}", follow_redirects=True)).text
    assert "was removed by a moderator" in page and removed["body"][:40] not in unescape(page)
    deleted = world.scalar("SELECT id FROM submissions WHERE state = 'deleted'")
    assert (await guest.get(f"/s/{deleted}")).status_code == 404


# --- people -----------------------------------------------------------------------------------------------


async def test_a_person_shows_what_they_posted(world, guest):
    page = (await guest.get(f"/u/{JUNIPER}/submissions?p=3")).text
    number = user_id(world, JUNIPER)
    assert titles(page) == expected(world, "s.created_at DESC", f"s.user_id = {number}", skipped=50)
    page = (await guest.get(f"/u/{INES}/comments?p=2")).text
    rows = world.rows(
        "SELECT c.score, c.ups, c.downs FROM comments AS c JOIN submissions AS s ON s.id = c.submission_id"
        " WHERE c.user_id = ? AND c.state = 'visible' AND s.state = 'visible'"
        " ORDER BY c.created_at DESC, c.id DESC LIMIT 25 OFFSET 25",
        user_id(world, INES),
    )
    shown = re.findall(r"(-?\d+) points? \((\d+) up, (\d+) down\)", page)
    assert shown == [(str(row["score"]), str(row["ups"]), str(row["downs"])) for row in rows]


async def test_votes_received(world, guest):
    page = (await guest.get(f"/u/{JUNIPER}/votes")).text
    rows = world.rows(
        f"SELECT s.ups, s.downs, s.score FROM {POSTS} AND s.user_id = 1 ORDER BY s.created_at DESC, s.id DESC LIMIT 25"
    )
    cells = [int(cell) for cell in re.findall(r'class="amount">(-?\d+)<', page)]
    assert cells == [value for row in rows for value in (row["ups"], row["downs"], row["score"])]


# --- search -----------------------------------------------------------------------------------------------


async def test_search_finds_all_words_titles_first(world, guest):
    found = titles((await guest.get("/search?q=ticks+boots")).text)
    in_title = ["ticks" in title.lower() and "boot" in title.lower() for title in found]
    assert found and in_title == sorted(in_title, reverse=True)
    page = (await guest.get("/search?q=risotto&sort=top&kind=text&forum=cooking&t=year")).text
    rows = world.rows(
        f"SELECT s.title, s.body FROM {POSTS} AND s.kind = 'text' AND s.created_at >= '2025-03-01 09:00:00'"
        " AND s.forum_id = (SELECT id FROM forums WHERE name = 'cooking')"
        " AND (s.title || ' ' || s.body LIKE '%risotto%') ORDER BY s.score DESC, s.id DESC LIMIT 25"
    )
    assert titles(page) == [row["title"] for row in rows] != []


async def test_search_in_comments_by_person(world, guest):
    rows = world.rows(
        "SELECT c.id FROM comments AS c WHERE c.user_id = ? AND c.state = 'visible' AND instr(lower(c.body), 'winter')"
        " ORDER BY c.score DESC, c.id DESC LIMIT 25", user_id(world, INES),
    )  # fmt: skip
    page = (await guest.get(f"/search?q=winter&in=comments&user={INES}&sort=top")).text
    assert [int(number) for number in re.findall(r"/comment/(\d+)", page)] == [row["id"] for row in rows] != []


async def test_a_filter_that_names_nobody_says_so(guest):
    answer = await guest.get("/search?q=tea&user=nobody_at_all&forum=nowhere")
    assert answer.status_code == 422
    assert "There is nobody of this name here." in answer.text and "There is no forum of this name." in answer.text


async def test_suggestions(guest):
    told = (await guest.get("/search/suggest?q=sourd")).json()["suggestions"]
    assert told[0] == {"name": "/f/Sourdough", "url": "/f/Sourdough"}
    assert (await guest.get("/search/suggest?q=%22%29+OR")).status_code == 200


# --- pictures ---------------------------------------------------------------------------------------------


async def test_a_picture_tells_what_no_text_tells(world, guest):
    for kind in ("checklist", "stars", "meter"):
        pictures = world.rows("SELECT * FROM pictures WHERE kind = ? LIMIT 40", kind)
        drawings = {}
        for row in pictures:
            svg = (await guest.get(f"/pictures/{row['id']}.svg")).text
            words = tuple(re.findall(r"<text[^>]*>([^<]*)</text>", svg))
            facts = json.loads(row["facts"])
            told = facts["ticked"] if kind == "checklist" else facts["stars"] if kind == "stars" else facts["reading"]
            drawings.setdefault((words, str(told)), set()).add(svg)
            assert kind == "checklist" or str(told) not in words
            small = (await guest.get(f"/pictures/{row['id']}/small.svg")).text
            assert small == (await guest.get(f"/pictures/{pictures[0]['id']}/small.svg")).text
        assert all(len(same) == 1 for same in drawings.values())
        assert len({svg for same in drawings.values() for svg in same}) == len(drawings)


async def test_reading_changes_nothing(world, juniper):
    for path in ("/", "/forums", "/f/books", f"/u/{INES}", "/search?q=tea", "/account/messages", "/help", "/submit"):
        assert (await juniper.get(path)).status_code == 200
    number = world.scalar("SELECT id FROM conversations WHERE receiver_id = 1")
    assert (await juniper.get(f"/account/messages/{number}")).status_code == 200
    assert [change for change in content(world) if change.table not in ("messages",)] == []
