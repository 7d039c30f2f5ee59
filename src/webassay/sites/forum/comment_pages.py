"""Comments: replying, changing, deleting, voting, reporting."""

from starlette.exceptions import HTTPException
from starlette.responses import Response

from webassay.sites.forum.post_pages import LONGEST_BODY, cast, find_post, report_form, this_post
from webassay.sites.forum.web import ForumVisit, comment_url, post_url
from webassay.sites.kit import Row
from webassay.sites.web.dates import stamp


def this_comment(visit: ForumVisit) -> Row:
    """With its submission's forum, slug and number."""
    found = visit.world.row(
        "SELECT c.*, s.id AS s_id, s.slug, s.forum_id, s.locked, f.id AS f_id, f.name AS forum, u.id AS u_id,"
        " u.name AS author FROM comments AS c JOIN submissions AS s ON s.id = c.submission_id"
        " JOIN forums AS f ON f.id = s.forum_id JOIN users AS u ON u.id = c.user_id WHERE c.id = ?",
        visit.number("id"),
    )
    if found is None or found["state"] == "deleted":
        raise HTTPException(404, "There is no such comment.")
    return found


def place_of(comment: Row) -> str:
    post = {"forum": comment["forum"], "id": comment["s_id"], "slug": comment["slug"]}
    return str(comment_url(post, comment["id"]))


async def comment(visit: ForumVisit) -> Response:
    """On a submission."""
    return await _answer(visit, this_post(visit), None)


async def reply(visit: ForumVisit) -> Response:
    """To a comment: a page with the form, for those without scripts."""
    parent = this_comment(visit)
    if parent["state"] == "removed":
        raise HTTPException(409, "This comment was removed, and nobody can reply to it.")
    post = find_post(visit, int(parent["submission_id"]))
    if visit.request.method == "GET":
        return visit.render("reply.html", comment=parent, post=post, errors={}, values={}, place=place_of(parent))
    return await _answer(visit, post, parent)


async def _answer(visit: ForumVisit, post: Row, parent: Row | None) -> Response:
    if post["state"] != "visible":
        raise HTTPException(409, "This submission was removed, and nobody can comment on it.")
    if post["locked"]:
        raise HTTPException(409, "This submission is locked, and nobody can comment on it.")
    visit.needs_no_ban(post["forum_id"])
    form = await visit.form()
    body = form.text("text", "Comment", most=LONGEST_BODY, lines=True)
    if form.errors:
        return visit.render(
            "reply.html", 422, comment=parent, post=post, errors=form.errors, values=form.values,
            place=place_of(parent) if parent else post_url(post),
        )  # fmt: skip
    with visit.world.write() as db:
        now = stamp(visit.world.now())
        number = db.execute(
            "INSERT INTO comments (submission_id, parent_id, user_id, body, state, removal_reason, ups, downs, score,"
            " created_at) VALUES (?, ?, ?, ?, 'visible', '', 0, 0, 0, ?) RETURNING id",
            (int(post["id"]), int(parent["id"]) if parent else None, visit.me, body, now),
        ).fetchone()
        assert number is not None
        db.execute(
            "UPDATE submissions SET comment_count = comment_count + 1, active_at = ? WHERE id = ?",
            (now, int(post["id"])),
        )
    return visit.go(
        f"{post_url(post)}/comment/{number[0]}" if parent else str(post_url(post)), "Your comment was posted."
    )


def _own_comment(visit: ForumVisit) -> Row:
    found = this_comment(visit)
    if int(found["user_id"]) != visit.me:
        raise HTTPException(403, "This comment is somebody else's.")
    return found


async def edit(visit: ForumVisit) -> Response:
    found = _own_comment(visit)
    visit.needs_no_ban(found["forum_id"])
    if visit.request.method == "GET":
        return visit.render("comment_edit.html", comment=found, errors={}, values={"text": found["body"]},
                            place=place_of(found))  # fmt: skip
    form = await visit.form()
    body = form.text("text", "Comment", most=LONGEST_BODY, lines=True)
    if form.errors:
        return visit.render("comment_edit.html", 422, comment=found, errors=form.errors, values=form.values,
                            place=place_of(found))  # fmt: skip
    if body != found["body"]:
        with visit.world.write() as db:
            db.execute(
                "UPDATE comments SET body = ?, edited_at = ? WHERE id = ?",
                (body, stamp(visit.world.now()), int(found["id"])),
            )
    return visit.go(place_of(found), "Your comment was changed.")


async def delete(visit: ForumVisit) -> Response:
    """Asks first."""
    found = _own_comment(visit)
    if visit.request.method == "GET":
        return visit.render("comment_delete.html", comment=found, place=place_of(found))
    with visit.world.write() as db:
        db.execute("UPDATE comments SET state = 'deleted', body = '' WHERE id = ?", (int(found["id"]),))
        if found["state"] == "visible":
            db.execute(
                "UPDATE submissions SET comment_count = comment_count - 1 WHERE id = ?", (int(found["submission_id"]),)
            )
    return visit.go(str(post_url({**found, "id": found["s_id"]})), "Your comment was deleted.")


async def vote(visit: ForumVisit) -> Response:
    found = this_comment(visit)
    score, value = await cast(visit, "comment", found, found["forum_id"])
    if visit.wants_json:
        return visit.json({"score": score, "value": value})
    return await visit.back(place_of(found))


async def report(visit: ForumVisit) -> Response:
    found = this_comment(visit)
    return await report_form(visit, found, place_of(found), "comment")
