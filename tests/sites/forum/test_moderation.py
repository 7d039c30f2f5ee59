"""Moderating: who may, what it changes, and what others see of it."""

import pytest

from tests.sites.forum.visits import ADMIN, INES, JUNIPER, MODERATOR, changes, one, path_of, user_id
from tests.sites.visitors import content, visitor

BOOKS = "s.forum_id = (SELECT id FROM forums WHERE name = 'books') AND s.user_id > 5"


async def test_the_queue_shows_what_is_open_newest_first(world, moderator):
    page = (await moderator.get("/f/books/reports")).text
    rows = world.rows(
        "SELECT r.reason, u.name FROM reports AS r JOIN users AS u ON u.id = r.reporter_id WHERE r.status = 'open'"
        " AND r.forum_id = (SELECT id FROM forums WHERE name = 'books') ORDER BY r.created_at DESC, r.id DESC LIMIT 25"
    )
    places = [page.index(f'Reported by <a class="author" href="/u/{row["name"]}"') for row in rows]
    assert len(places) >= 10 and places == sorted(places)


async def test_reporting_and_removing(world, ines, moderator, guest):
    post = one(world, BOOKS)
    form = {"reason": "Spam", "note": "Again"}
    assert (await ines.post(f"/s/{post['id']}/report", data=form)).status_code == 303
    assert "reported this already" in (await ines.post(f"/s/{post['id']}/report", data=form)).text
    assert changes(world) == [("reports", "insert")]
    assert post["title"] in (await moderator.get("/f/books/reports")).text.replace("&#39;", "'")
    answer = await moderator.post(f"/s/{post['id']}/remove", data={"reason": "Spam"})
    assert answer.status_code == 303
    after = world.row("SELECT state, removal_reason FROM submissions WHERE id = ?", post["id"])
    assert after == {"state": "removed", "removal_reason": "Spam"}
    assert world.scalar("SELECT status FROM reports ORDER BY id DESC") == "upheld"
    assert "removed a submission" in (await guest.get("/f/books/log")).text
    assert (await moderator.post(f"/s/{post['id']}/remove", data={"reason": "Spam"})).status_code == 409
    await moderator.post(f"/s/{post['id']}/restore", data={"x": "1"})
    assert world.scalar("SELECT state FROM submissions WHERE id = ?", post["id"]) == "visible"
    assert changes(world) == [("reports", "insert")]


async def test_removing_and_restoring_a_comment_counts(world, moderator, guest):
    row = world.row(
        f"SELECT c.id, c.body, c.submission_id FROM comments AS c JOIN submissions AS s ON s.id = c.submission_id"
        f" WHERE {BOOKS} AND c.state = 'visible' AND s.state = 'visible' AND c.id IN (SELECT parent_id FROM comments"
        " WHERE state = 'visible') LIMIT 1"
    )
    post = one(world, f"s.id = {row['submission_id']}")
    await moderator.post(f"/c/{row['id']}/remove", data={"reason": "Off topic"})
    page = (await guest.get(f"{path_of(post)}/comment/{row['id']}")).text
    assert "removed by a moderator (Off topic)" in page and "Removed: Off topic" not in page
    count = world.scalar("SELECT comment_count FROM submissions WHERE id = ?", post["id"])
    assert count == post["comment_count"] - 1
    assert (await guest.get(f"/c/{row['id']}/reply")).status_code == 303
    await moderator.post(f"/c/{row['id']}/restore", data={"x": "1"})
    assert content(world) == []


async def test_dismissing(world, moderator):
    row = world.row(
        "SELECT id FROM reports WHERE status = 'open' AND forum_id = (SELECT id FROM forums WHERE name = 'books')"
    )
    assert (await moderator.post(f"/reports/{row['id']}/dismiss", data={"x": "1"})).status_code == 303
    assert changes(world) == [("reports", "update")]
    assert (await moderator.post(f"/reports/{row['id']}/dismiss", data={"x": "1"})).status_code == 409


async def test_locking_and_pinning(world, moderator, juniper):
    post = one(world, f"{BOOKS} AND s.locked = 0 AND s.pinned = 0")
    await moderator.post(f"/s/{post['id']}/lock", data={"x": "1"})
    assert (await juniper.post(f"/s/{post['id']}/comment", data={"text": "Hi"})).status_code == 409
    assert "is locked" in (await juniper.get(path_of(post))).text
    await moderator.post(f"/s/{post['id']}/pin", data={"x": "1"})
    assert changes(world) == [("submissions", "update")]
    assert post["title"] in (await juniper.get("/f/books")).text.replace("&#39;", "'")
    await moderator.post(f"/s/{post['id']}/unlock", data={"x": "1"})
    await moderator.post(f"/s/{post['id']}/unpin", data={"x": "1"})
    assert content(world) == []


async def test_banning(world, moderator, juniper):
    assert (await moderator.post("/f/books/bans", data={"name": JUNIPER, "reason": "Spam"})).status_code == 303
    assert changes(world) == [("bans", "insert")]
    post = one(world, f"{BOOKS} AND s.locked = 0")
    for path, form in (
        (f"/s/{post['id']}/comment", {"text": "Hi"}),
        (f"/s/{post['id']}/vote", {"value": "1"}),
        ("/submit", {"forum": "books", "kind": "text", "title": "Hi", "body": "", "url": ""}),
    ):
        assert (await juniper.post(path, data=form)).status_code in (403, 422), path
    assert changes(world) == [("bans", "insert")]
    await moderator.post("/f/books/unban", data={"name": JUNIPER})
    assert changes(world) == []
    for name, error in (
        (MODERATOR, "cannot be banned"),
        (ADMIN, "cannot be banned"),
        ("nobody_here", "nobody of this"),
    ):
        assert error in (await moderator.post("/f/books/bans", data={"name": name, "reason": "Spam"})).text


@pytest.mark.parametrize(
    "path", ["/s/{post}/remove", "/s/{post}/restore", "/s/{post}/lock", "/s/{post}/pin", "/f/news/bans",
             "/f/news/unban", "/f/news/edit", "/c/{comment}/remove", "/reports/{report}/dismiss"],
)  # fmt: skip
async def test_only_moderators_of_the_forum_may(world, moderator, path):
    """`dell_pruitt` moderates others."""
    post = one(world, "s.forum_id = (SELECT id FROM forums WHERE name = 'news')")
    named = {
        "post": post["id"],
        "comment": world.scalar("SELECT id FROM comments WHERE submission_id = ? AND state = 'visible'", post["id"])
        or world.scalar("SELECT c.id FROM comments AS c JOIN submissions AS s ON s.id = c.submission_id"
                        " WHERE c.state = 'visible' AND s.forum_id = ?", post["forum_id"]),
        "report": world.scalar("SELECT id FROM reports WHERE forum_id = ?", post["forum_id"]),
    }  # fmt: skip
    form = {"reason": "Spam", "name": INES, "title": "x", "description": "x"}
    assert (await moderator.post(path.format(**named), data=form)).status_code == 403
    assert content(world) == []


async def test_an_administrator_may_do_it_everywhere(world):
    post = one(world, "s.forum_id = (SELECT id FROM forums WHERE name = 'news')")
    async with visitor(world, ADMIN) as admin:
        assert (await admin.post(f"/s/{post['id']}/lock", data={"x": "1"})).status_code == 303
        assert (await admin.get("/f/news/reports")).status_code == 200
    assert changes(world) == [("submissions", "update")]
    assert user_id(world, ADMIN) == 5
