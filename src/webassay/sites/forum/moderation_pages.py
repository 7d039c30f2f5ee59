"""What moderators do: reports, removing and restoring, locking, pinning, banning, and the log of it."""

from collections.abc import Awaitable, Callable

from starlette.exceptions import HTTPException
from starlette.responses import Response

from webassay.sites.forum.comment_pages import place_of, this_comment
from webassay.sites.forum.forum_pages import about
from webassay.sites.forum.listing import ON_A_PAGE, page_number
from webassay.sites.forum.post_pages import this_post
from webassay.sites.forum.seeding.threads import REASONS
from webassay.sites.forum.web import ForumVisit, post_url
from webassay.sites.kit import Row
from webassay.sites.receipts import ours
from webassay.sites.web.dates import stamp
from webassay.sites.web.lists import one_of

STATUSES = ("open", "upheld", "dismissed")


def _log(visit: ForumVisit, forum_id: int, action: str, subject: str, path: str, reason: str = "") -> None:
    """Call inside a write."""
    visit.world.db.execute(
        "INSERT INTO moderation_log (forum_id, moderator_id, action, subject, path, reason, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (forum_id, visit.me, action, subject, path, reason, stamp(visit.world.now())),
    )


# --- the queue --------------------------------------------------------------------------------------------


async def queue(visit: ForumVisit) -> Response:
    forum = visit.forum()
    visit.needs_moderator(forum)
    query = visit.request.query_params
    status, page = one_of("status", query.get("status", "open"), STATUSES), page_number(query)
    reports = visit.world.rows(
        "SELECT r.*, u.id AS u_id, u.name AS reporter FROM reports AS r JOIN users AS u ON u.id = r.reporter_id"
        " WHERE r.forum_id = ? AND r.status = ? ORDER BY r.created_at DESC, r.id DESC LIMIT ? OFFSET ?",
        forum["id"], status, ON_A_PAGE + 1, (page - 1) * ON_A_PAGE,
    )  # fmt: skip
    more = f"/f/{forum['name']}/reports?status={status}&p={page + 1}" if len(reports) > ON_A_PAGE else ""
    shown = [{"report": report, **_reported(visit, report)} for report in reports[:ON_A_PAGE]]
    return visit.render("reports.html", reports=shown, chosen=status, statuses=STATUSES, more=more,
                        **about(visit, forum))  # fmt: skip


def _reported(visit: ForumVisit, report: Row) -> dict[str, Row | None]:
    if report["submission_id"] is not None:
        return {
            "comment": None,
            "post": visit.world.row(
                "SELECT s.id, s.title, s.slug, s.state, s.score, s.user_id, f.id AS f_id, f.name AS forum,"
                " u.id AS u_id, u.name AS author FROM submissions AS s JOIN forums AS f ON f.id = s.forum_id"
                " JOIN users AS u ON u.id = s.user_id WHERE s.id = ?",
                report["submission_id"],
            ),
        }
    return {
        "comment": visit.world.row(
            "SELECT c.id, c.body, c.state, c.score, c.user_id, u.id AS u_id, u.name AS author FROM comments AS c"
            " JOIN users AS u ON u.id = c.user_id WHERE c.id = ?",
            report["comment_id"],
        ),
        "post": visit.world.row(
            "SELECT s.id, s.title, s.slug, f.id AS f_id, f.name AS forum FROM submissions AS s"
            " JOIN forums AS f ON f.id = s.forum_id WHERE s.id = (SELECT submission_id FROM comments WHERE id = ?)",
            report["comment_id"],
        ),
    }


async def dismiss(visit: ForumVisit) -> Response:
    report = visit.world.row(
        "SELECT r.*, f.name FROM reports AS r JOIN forums AS f ON f.id = r.forum_id WHERE r.id = ?", visit.number("id")
    )
    if report is None:
        raise HTTPException(404, "There is no such report.")
    visit.needs_moderator({"id": report["forum_id"], "name": report["name"]})
    if report["status"] != "open":
        raise HTTPException(409, f"This report is {report['status']} already.")
    with visit.world.write() as db:
        db.execute("UPDATE reports SET status = 'dismissed' WHERE id = ?", (int(report["id"]),))
    return await visit.back(f"/f/{report['name']}/reports", "The report was dismissed.")


async def log(visit: ForumVisit) -> Response:
    """Everybody can see what was done, but not who was at it."""
    forum = visit.forum()
    page = page_number(visit.request.query_params)
    entries = visit.world.rows(
        "SELECT l.*, u.id AS u_id, u.name AS moderator FROM moderation_log AS l"
        " JOIN users AS u ON u.id = l.moderator_id WHERE l.forum_id = ?"
        " ORDER BY l.created_at DESC, l.id DESC LIMIT ? OFFSET ?",
        forum["id"], ON_A_PAGE + 1, (page - 1) * ON_A_PAGE,
    )  # fmt: skip
    more = f"/f/{forum['name']}/log?p={page + 1}" if len(entries) > ON_A_PAGE else ""
    return visit.render("log.html", entries=entries[:ON_A_PAGE], more=more, **about(visit, forum))


# --- submissions and comments -----------------------------------------------------------------------------


def _forum_of(visit: ForumVisit, what: Row) -> Row:
    forum = {"id": what["forum_id"], "name": what["forum"]}
    visit.needs_moderator(forum)
    return forum


async def remove_post(visit: ForumVisit) -> Response:
    post = this_post(visit)
    return await _remove(visit, post, "submission", str(post["title"]), str(post_url(post)))


async def remove_comment(visit: ForumVisit) -> Response:
    comment = this_comment(visit)
    return await _remove(visit, comment, "comment", f"Comment by {comment['author']}", place_of(comment))


async def _remove(visit: ForumVisit, what: Row, kind: str, subject: str, place: str) -> Response:
    """Asks for the reason. Whoever reported it was right."""
    forum = _forum_of(visit, what)
    if what["state"] != "visible":
        raise HTTPException(409, "This was removed already.")
    if visit.request.method == "GET":
        return visit.render("remove.html", what=what, kind=kind, place=place, subject=subject, reasons=REASONS,
                            errors={}, values={})  # fmt: skip
    form = await visit.form()
    reason = form.choice("reason", "Reason", REASONS)
    if form.errors:
        return visit.render("remove.html", 422, what=what, kind=kind, place=place, subject=subject, reasons=REASONS,
                            errors=form.errors, values=form.values)  # fmt: skip
    number = int(what["id"])
    with visit.world.write() as db:
        db.execute(f"UPDATE {kind}s SET state = 'removed', removal_reason = ? WHERE id = ?", (reason, number))
        db.execute(f"UPDATE reports SET status = 'upheld' WHERE {kind}_id = ? AND status = 'open'", (number,))
        _count(visit, what, kind, -1)
        _log(visit, int(forum["id"]), f"removed a {kind}", subject, place, reason)
    return visit.go(place, f"The {kind} was removed.")


def _count(visit: ForumVisit, what: Row, kind: str, change: int) -> None:
    if kind == "comment":
        visit.world.db.execute(
            "UPDATE submissions SET comment_count = comment_count + ? WHERE id = ?",
            (change, int(what["submission_id"])),
        )


async def restore_post(visit: ForumVisit) -> Response:
    post = this_post(visit)
    return await _restore(visit, post, "submission", str(post["title"]), str(post_url(post)))


async def restore_comment(visit: ForumVisit) -> Response:
    comment = this_comment(visit)
    return await _restore(visit, comment, "comment", f"Comment by {comment['author']}", place_of(comment))


async def _restore(visit: ForumVisit, what: Row, kind: str, subject: str, place: str) -> Response:
    forum = _forum_of(visit, what)
    if what["state"] != "removed":
        raise HTTPException(409, "This was not removed.")
    with visit.world.write() as db:
        db.execute(f"UPDATE {kind}s SET state = 'visible', removal_reason = '' WHERE id = ?", (int(what["id"]),))
        _count(visit, what, kind, 1)
        _log(visit, int(forum["id"]), f"restored a {kind}", subject, place)
    return await visit.back(place, f"The {kind} was restored.")


def _switch(column: str, value: int, done: str) -> Callable[[ForumVisit], Awaitable[Response]]:
    async def switch(visit: ForumVisit) -> Response:
        post = this_post(visit)
        forum = _forum_of(visit, post)
        if int(post[column]) != value:
            with visit.world.write() as db:
                db.execute(f"UPDATE submissions SET {column} = ? WHERE id = ?", (value, int(post["id"])))
                _log(visit, int(forum["id"]), f"{done} a submission", str(post["title"]), str(post_url(post)))
        return await visit.back(str(post_url(post)), f"The submission was {done}.")

    return switch


lock, unlock = _switch("locked", 1, "locked"), _switch("locked", 0, "unlocked")
pin, unpin = _switch("pinned", 1, "pinned"), _switch("pinned", 0, "unpinned")


# --- bans -------------------------------------------------------------------------------------------------


async def bans(visit: ForumVisit) -> Response:
    """Who is banned, and a form to ban somebody."""
    forum = visit.forum()
    visit.needs_moderator(forum)
    errors: dict[str, str] = {}
    values: dict[str, str] = {"name": visit.request.query_params.get("name", "")}
    if visit.request.method == "POST":
        form = await visit.form()
        name, reason = form.text("name", "Username", most=24), form.choice("reason", "Reason", REASONS)
        person = visit.world.row("SELECT id, name, role FROM users WHERE name = ?", name)
        if person is None:
            form.errors.setdefault("name", ours("There is nobody of this name here."))
        elif person["role"] == "admin" or _moderates_too(visit, int(person["id"]), int(forum["id"])):
            form.errors["name"] = ours("Moderators and administrators cannot be banned.")
        if not form.errors and person is not None:
            with visit.world.write() as db:
                db.execute(
                    "INSERT OR REPLACE INTO bans VALUES (?, ?, ?, ?, ?)",
                    (int(forum["id"]), int(person["id"]), reason, visit.me, stamp(visit.world.now())),
                )
                _log(visit, int(forum["id"]), "banned a user", str(person["name"]), f"/u/{person['name']}", reason)
            return visit.go(f"/f/{forum['name']}/bans", f"{person['name']} was banned.")
        errors, values = form.errors, form.values
    banned = visit.world.rows(
        "SELECT b.*, u.id AS u_id, u.name FROM bans AS b JOIN users AS u ON u.id = b.user_id WHERE b.forum_id = ?"
        " ORDER BY b.created_at DESC, u.id",
        forum["id"],
    )
    return visit.render("bans.html", 422 if errors else 200, banned=banned, errors=errors, values=values,
                        reasons=REASONS, **about(visit, forum))  # fmt: skip


def _moderates_too(visit: ForumVisit, user_id: int, forum_id: int) -> bool:
    found = visit.world.scalar("SELECT 1 FROM moderators WHERE forum_id = ? AND user_id = ?", forum_id, user_id)
    return bool(found)


async def unban(visit: ForumVisit) -> Response:
    forum = visit.forum()
    visit.needs_moderator(forum)
    form = await visit.form()
    name = form.text("name", "Username", most=24)
    form.refuse()
    person = visit.world.row("SELECT id, name FROM users WHERE name = ?", name)
    if person is None or not visit.world.scalar(
        "SELECT 1 FROM bans WHERE forum_id = ? AND user_id = ?", forum["id"], person["id"]
    ):
        raise HTTPException(409, "This person is not banned here.")
    with visit.world.write() as db:
        db.execute("DELETE FROM bans WHERE forum_id = ? AND user_id = ?", (int(forum["id"]), int(person["id"])))
        _log(visit, int(forum["id"]), "unbanned a user", str(person["name"]), f"/u/{person['name']}")
    return visit.go(f"/f/{forum['name']}/bans", f"{person['name']} is no longer banned.")
