"""Submissions: reading, writing, changing, deleting, voting, hiding, reporting."""

from starlette.exceptions import HTTPException
from starlette.responses import Response

from webassay.sites.forum.forum_pages import about
from webassay.sites.forum.listing import POST, POSTS, own_votes, page_number
from webassay.sites.forum.markdown import markdown, safe_link
from webassay.sites.forum.pictures import drawn
from webassay.sites.forum.pictures import thumbnail as drawn_small
from webassay.sites.forum.ranking import hot
from webassay.sites.forum.seeding.threads import REASONS
from webassay.sites.forum.seeding.voicing import slug_of
from webassay.sites.forum.threads import COMMENT_SORTS, read_thread
from webassay.sites.forum.web import ForumVisit, post_url
from webassay.sites.kit import Row
from webassay.sites.receipts import ours, written
from webassay.sites.web.dates import stamp
from webassay.sites.web.forms import FormFields, whole_number
from webassay.sites.web.lists import one_of

LONGEST_TITLE = 300
LONGEST_BODY = 10_000
KINDS = ("text", "link", "image")


def find_post(visit: ForumVisit, number: int) -> Row:
    """Also one that was removed; not one that was deleted."""
    found = visit.world.row(
        f"SELECT {POST}, s.body, s.removal_reason, u.role AS author_role FROM {POSTS} WHERE s.id = ?", number
    )
    if found is None:
        raise HTTPException(404, "There is no such submission.")
    if found["state"] == "deleted":
        raise HTTPException(404, "Its author has deleted this submission.")
    return found


def this_post(visit: ForumVisit) -> Row:
    return find_post(visit, visit.number("id"))


async def submission(visit: ForumVisit) -> Response:
    post = this_post(visit)
    # The name in the address is the forum's, so that nobody is led to think it stands elsewhere.
    if post["forum"] != visit.request.path_params["forum"]:
        return visit.go(str(post_url(post)))
    query = visit.request.query_params
    sort = one_of("order", query.get("sort", "top"), list(COMMENT_SORTS))
    root = None
    if "comment" in visit.request.path_params:
        root = visit.number("comment")
        if not visit.world.scalar("SELECT 1 FROM comments WHERE id = ? AND submission_id = ?", root, post["id"]):
            raise HTTPException(404, "There is no such comment.")
    forum = visit.world.row("SELECT * FROM forums WHERE id = ?", post["forum_id"])
    assert forum is not None
    thread = read_thread(visit, post["id"], sort, page_number(query), root)
    return visit.render(
        "submission.html", post=post, thread=thread, sorts=COMMENT_SORTS, root=root, errors={}, values={},
        vote=own_votes(visit, "submission", [int(post["id"])]).get(int(post["id"]), 0),
        is_banned=bool(visit.me) and visit.is_banned(post["forum_id"]), **about(visit, forum),
        is_hidden=bool(visit.world.scalar(
            "SELECT 1 FROM hidden_submissions WHERE user_id = ? AND submission_id = ?", visit.me, post["id"]
        )),
    )  # fmt: skip


async def short_address(visit: ForumVisit) -> Response:
    return visit.go(str(post_url(this_post(visit))))


async def picture(visit: ForumVisit) -> Response:
    found = visit.world.row("SELECT * FROM pictures WHERE id = ?", visit.number("id"))
    if found is None:
        raise HTTPException(404)
    written([found["heading"], found["facts"]])
    return Response(drawn(found), media_type="image/svg+xml", headers={"cache-control": "private, max-age=600"})


async def thumbnail(visit: ForumVisit) -> Response:
    """For lists. It tells nothing, so it is no picture that anybody has seen."""
    found = visit.world.row("SELECT * FROM pictures WHERE id = ?", visit.number("id"))
    if found is None:
        raise HTTPException(404)
    return Response(drawn_small(found), media_type="image/svg+xml", headers={"cache-control": "private, max-age=600"})


async def preview(visit: ForumVisit) -> Response:
    """What a text would look like, for the page's script; nothing is kept."""
    form = await visit.form()
    text = form.text("text", "Text", most=LONGEST_BODY, needed=False, lines=True)
    form.refuse()
    return visit.render("_preview.html", text=markdown(text))


# --- writing ----------------------------------------------------------------------------------------------


async def submit(visit: ForumVisit) -> Response:
    """`forum`, `kind`, `title` and `url` in the address fill in the form."""
    forums = visit.world.rows("SELECT id, name FROM forums ORDER BY name COLLATE NOCASE")
    if visit.request.method == "GET":
        given = {name: visit.request.query_params.get(name, "") for name in ("forum", "kind", "title", "url")}
        return visit.render("submit.html", errors={}, values={"kind": "text", **{k: v for k, v in given.items() if v}},
                            forums=forums)  # fmt: skip
    form = await visit.form()
    name = form.text("forum", "Forum", most=25)
    forum = visit.world.row("SELECT * FROM forums WHERE name = ?", name)
    if forum is None and "forum" not in form.errors:
        form.errors["forum"] = ours("Choose a forum.")
    kind = form.choice("kind", "kind of submission", KINDS)
    title, url, body = _entered(visit, form, kind)
    if forum is not None and visit.is_banned(forum["id"]):
        form.errors["forum"] = ours("You are banned from this forum.")
    if form.errors or forum is None:
        return visit.render("submit.html", 422, errors=form.errors, values=form.values, forums=forums)
    slug = slug_of(title)
    with visit.world.write() as db:
        now = stamp(visit.world.now())
        number = db.execute(
            "INSERT INTO submissions (forum_id, user_id, kind, title, slug, url, body, state, removal_reason, locked,"
            " pinned, ups, downs, score, hot, comment_count, active_at, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, 'visible', '', 0, 0, 0, 0, 0, ?, 0, ?, ?) RETURNING id",
            (int(forum["id"]), visit.me, kind, title, slug, url, body, hot(0, now), now, now),
        ).fetchone()
        assert number is not None
    return visit.go(f"/f/{forum['name']}/{number[0]}/{slug}", "Your submission was posted.")


def _entered(visit: ForumVisit, form: FormFields, kind: str) -> tuple[str, str, str]:
    title = form.text("title", "Title", most=LONGEST_TITLE)
    body = form.text("body", "Text", most=LONGEST_BODY, needed=False, lines=True)
    url = form.text("url", "Address", most=2000, needed=kind != "text")
    if kind == "text":
        return title, "", body
    if "url" not in form.errors:
        if kind == "image" and picture_number(visit, url) is None:
            form.errors["url"] = ours("Enter the address of a picture on Porchlight, such as /pictures/12.svg.")
        elif kind == "link" and not safe_link(url):
            form.errors["url"] = ours("Enter an address such as https://example.org/page.")
    if kind == "image" and (number := picture_number(visit, url)):
        url = f"/pictures/{number}.svg"
    return title, url, body


def picture_number(visit: ForumVisit, url: str) -> int | None:
    """The picture that an address names, with or without the host in front."""
    base = f"{visit.request.url.scheme}://{visit.request.headers.get('host', '')}"
    path = url.removeprefix(base)
    number = whole_number(path.removeprefix("/pictures/").removesuffix(".svg"))
    if number is None or path != f"/pictures/{number}.svg":
        return None
    return number if visit.world.scalar("SELECT 1 FROM pictures WHERE id = ?", number) else None


def own_post(visit: ForumVisit) -> Row:
    post = this_post(visit)
    if int(post["user_id"]) != visit.me:
        raise HTTPException(403, "This submission is somebody else's.")
    return post


async def edit(visit: ForumVisit) -> Response:
    post = own_post(visit)
    visit.needs_no_ban(post["forum_id"])
    if visit.request.method == "GET":
        return visit.render("submission_edit.html", errors={}, values=post, post=post)
    form = await visit.form()
    title = form.text("title", "Title", most=LONGEST_TITLE)
    body = form.text("body", "Text", most=LONGEST_BODY, needed=False, lines=True)
    if form.errors:
        return visit.render("submission_edit.html", 422, errors=form.errors, values=form.values, post=post)
    if (title, body) != (post["title"], post["body"]):
        with visit.world.write() as db:
            db.execute(
                "UPDATE submissions SET title = ?, body = ?, edited_at = ? WHERE id = ?",
                (title, body, stamp(visit.world.now()), int(post["id"])),
            )
    return visit.go(str(post_url(post)), "Your submission was changed.")


async def delete(visit: ForumVisit) -> Response:
    """Asks first."""
    post = own_post(visit)
    if visit.request.method == "GET":
        return visit.render("submission_delete.html", post=post)
    with visit.world.write() as db:
        db.execute("UPDATE submissions SET state = 'deleted' WHERE id = ?", (int(post["id"]),))
    return visit.go(f"/f/{post['forum']}", "Your submission was deleted.")


# --- reacting ---------------------------------------------------------------------------------------------


async def vote(visit: ForumVisit) -> Response:
    post = this_post(visit)
    score, value = await cast(visit, "submission", post, post["forum_id"])
    if visit.wants_json:
        return visit.json({"score": score, "value": value})
    return await visit.back(str(post_url(post)))


async def cast(visit: ForumVisit, kind: str, post: Row, forum_id: int) -> tuple[int, int]:
    """The vote in the form, 1, -1 or 0 to take it back; and the score that follows."""
    if post["state"] != "visible":
        raise HTTPException(409, "Nobody can vote on this anymore.")
    if int(post["user_id"]) == visit.me:
        raise HTTPException(409, "You cannot vote on your own posts.")
    visit.needs_no_ban(forum_id)
    sent = (await visit.form()).get("value")
    if sent not in ("1", "-1", "0"):
        raise HTTPException(422, "A vote is 1, -1 or 0.")
    value, number = int(sent), int(post["id"])
    before = own_votes(visit, kind, [number]).get(number, 0)
    up, down = (value == 1) - (before == 1), (value == -1) - (before == -1)
    with visit.world.write() as db:
        if value:
            db.execute(f"INSERT OR REPLACE INTO {kind}_votes VALUES (?, ?, ?)", (visit.me, number, value))
        else:
            db.execute(f"DELETE FROM {kind}_votes WHERE user_id = ? AND {kind}_id = ?", (visit.me, number))
        db.execute(
            f"UPDATE {kind}s SET ups = ups + ?, downs = downs + ?, score = score + ? WHERE id = ?",
            (up, down, up - down, number),
        )
        score = int(post["score"]) + up - down
        if kind == "submission":
            db.execute("UPDATE submissions SET hot = ? WHERE id = ?", (hot(score, str(post["created_at"])), number))
    return score, value


async def hide(visit: ForumVisit) -> Response:
    return await _set_hidden(
        visit, "INSERT OR IGNORE INTO hidden_submissions VALUES (?, ?)", "The submission is hidden."
    )


async def unhide(visit: ForumVisit) -> Response:
    sql = "DELETE FROM hidden_submissions WHERE user_id = ? AND submission_id = ?"
    return await _set_hidden(visit, sql, "The submission is shown again.")


async def _set_hidden(visit: ForumVisit, sql: str, notice: str) -> Response:
    post = this_post(visit)
    with visit.world.write() as db:
        db.execute(sql, (visit.me, int(post["id"])))
    return await visit.back("/", notice)


async def report(visit: ForumVisit) -> Response:
    post = this_post(visit)
    return await report_form(visit, post, str(post_url(post)), "submission")


async def report_form(visit: ForumVisit, what: Row, url: str, kind: str) -> Response:
    if visit.request.method == "GET":
        return visit.render("report.html", errors={}, values={}, what=what, kind=kind, url=url, reasons=REASONS)
    form = await visit.form()
    reason = form.choice("reason", "Reason", REASONS)
    note = form.text("note", "Note", most=500, needed=False, lines=True)
    known = visit.world.scalar(
        f"SELECT 1 FROM reports WHERE {kind}_id = ? AND reporter_id = ? AND status = 'open'", int(what["id"]), visit.me
    )
    if known:
        form.errors["reason"] = ours("You have reported this already. A moderator will look at it.")
    if form.errors:
        return visit.render(
            "report.html", 422, errors=form.errors, values=form.values, what=what, kind=kind, url=url, reasons=REASONS
        )
    with visit.world.write() as db:
        db.execute(
            f"INSERT INTO reports (forum_id, {kind}_id, reporter_id, reason, note, status, created_at)"
            " VALUES (?, ?, ?, ?, ?, 'open', ?)",
            (int(what["forum_id"]), int(what["id"]), visit.me, reason, note, stamp(visit.world.now())),
        )
    return visit.go(url, "Thank you. The moderators will look at it.")
