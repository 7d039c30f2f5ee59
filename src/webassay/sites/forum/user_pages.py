"""People: what they posted, what was voted on it, and writing to them."""

from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

from webassay.sites.forum.listing import ON_A_PAGE, POST, POSTS, PostList, own_votes, page_number
from webassay.sites.forum.web import ForumVisit
from webassay.sites.kit import Row
from webassay.sites.receipts import ours
from webassay.sites.web.dates import stamp

COMMENTS = (
    "comments AS c JOIN submissions AS s ON s.id = c.submission_id JOIN forums AS f ON f.id = s.forum_id"
    " JOIN users AS u ON u.id = c.user_id"
)
COMMENT = (
    "c.id, c.body, c.ups, c.downs, c.score, c.created_at, c.edited_at, c.submission_id, c.user_id, s.id AS s_id,"
    " s.title, s.slug, s.forum_id, f.id AS f_id, f.name AS forum, u.id AS u_id, u.name AS author"
)
_SHOWN = "c.state = 'visible' AND s.state = 'visible'"


async def overview(visit: ForumVisit) -> Response:
    """The latest of both."""
    person = visit.person()
    return visit.render(
        "user.html", tab="overview", posts=_posts(visit, person, 5, 1), comments=_comments(visit, person, 5, 1)[:5],
        more="", **_about(visit, person),
    )  # fmt: skip


async def submissions(visit: ForumVisit) -> Response:
    person = visit.person()
    page = page_number(visit.request.query_params)
    posts = _posts(visit, person, ON_A_PAGE, page)
    return visit.render(
        "user.html", tab="submissions", posts=posts, comments=[], more=posts.more, **_about(visit, person)
    )


async def comments(visit: ForumVisit) -> Response:
    person = visit.person()
    page = page_number(visit.request.query_params)
    found = _comments(visit, person, ON_A_PAGE, page)
    more = f"/u/{person['name']}/comments?p={page + 1}" if len(found) > ON_A_PAGE else ""
    return visit.render("user.html", tab="comments", posts=None, comments=found[:ON_A_PAGE], more=more,
                        **_about(visit, person))  # fmt: skip


async def votes(visit: ForumVisit) -> Response:
    """Every submission with the votes it received, up and down."""
    person = visit.person()
    page = page_number(visit.request.query_params)
    posts = _posts(visit, person, ON_A_PAGE, page)
    more = f"/u/{person['name']}/votes?p={page + 1}" if posts.more else ""
    return visit.render("user.html", tab="votes", posts=posts, comments=[], more=more, **_about(visit, person))


def _posts(visit: ForumVisit, person: Row, most: int, page: int) -> PostList:
    """The newest first."""
    found = visit.world.rows(
        f"SELECT {POST} FROM {POSTS} WHERE s.user_id = ? AND s.state = 'visible'"
        " ORDER BY s.created_at DESC, s.id DESC LIMIT ? OFFSET ?",
        person["id"], most + 1, (page - 1) * most,
    )  # fmt: skip
    more = f"/u/{person['name']}/submissions?p={page + 1}" if len(found) > most else ""
    found = found[:most]
    return PostList(found, page, more, votes=own_votes(visit, "submission", [int(post["id"]) for post in found]))


def _comments(visit: ForumVisit, person: Row, most: int, page: int) -> list[Row]:
    return visit.world.rows(
        f"SELECT {COMMENT} FROM {COMMENTS} WHERE c.user_id = ? AND {_SHOWN}"
        " ORDER BY c.created_at DESC, c.id DESC LIMIT ? OFFSET ?",
        person["id"], most + 1, (page - 1) * most,
    )  # fmt: skip


def _about(visit: ForumVisit, person: Row) -> dict[str, Any]:
    return {
        "person": person,
        "moderated": visit.world.rows(
            "SELECT m.forum_id, m.user_id, f.id, f.name FROM moderators AS m JOIN forums AS f ON f.id = m.forum_id"
            " WHERE m.user_id = ? ORDER BY f.name COLLATE NOCASE",
            person["id"],
        ),
        "is_blocked": bool(
            visit.world.scalar("SELECT 1 FROM blocks WHERE user_id = ? AND blocked_id = ?", visit.me, person["id"])
        ),
    }


async def block(visit: ForumVisit) -> Response:
    person = visit.person()
    if int(person["id"]) == visit.me:
        raise HTTPException(409, "You cannot block yourself.")
    with visit.world.write() as db:
        db.execute(
            "INSERT OR IGNORE INTO blocks VALUES (?, ?, ?)", (visit.me, int(person["id"]), stamp(visit.world.now()))
        )
    return await visit.back(f"/u/{person['name']}", f"You blocked {person['name']}.")


async def unblock(visit: ForumVisit) -> Response:
    person = visit.person()
    with visit.world.write() as db:
        db.execute("DELETE FROM blocks WHERE user_id = ? AND blocked_id = ?", (visit.me, int(person["id"])))
    return await visit.back(f"/u/{person['name']}", f"You no longer block {person['name']}.")


# --- messages ---------------------------------------------------------------------------------------------

LONGEST_MESSAGE = 5000
_MINE = "(k.sender_id = ? OR k.receiver_id = ?)"


async def write(visit: ForumVisit) -> Response:
    person = visit.person()
    if int(person["id"]) == visit.me:
        raise HTTPException(409, "You cannot write to yourself.")
    if visit.request.method == "GET":
        return visit.render("message_new.html", person=person, errors={}, values={})
    form = await visit.form()
    subject = form.text("subject", "Subject", most=100)
    body = form.text("text", "Message", most=LONGEST_MESSAGE, lines=True)
    if _is_refused(visit, int(person["id"])):
        form.errors["text"] = ours("This person does not take messages from you.")
    if form.errors:
        return visit.render("message_new.html", 422, person=person, errors=form.errors, values=form.values)
    with visit.world.write() as db:
        number = db.execute(
            "INSERT INTO conversations (sender_id, receiver_id, subject) VALUES (?, ?, ?) RETURNING id",
            (visit.me, int(person["id"]), subject),
        ).fetchone()
        assert number is not None
        _add_message(visit, int(str(number[0])), body)
    return visit.go(f"/account/messages/{number[0]}", "Your message was sent.")


def _is_refused(visit: ForumVisit, other: int) -> bool:
    return bool(visit.world.scalar("SELECT 1 FROM blocks WHERE user_id = ? AND blocked_id = ?", other, visit.me))


def _add_message(visit: ForumVisit, conversation: int, body: str) -> None:
    """Call inside a write."""
    visit.world.db.execute(
        "INSERT INTO messages (conversation_id, sender_id, body, created_at, read_at) VALUES (?, ?, ?, ?, NULL)",
        (conversation, visit.me, body, stamp(visit.world.now())),
    )


async def inbox(visit: ForumVisit) -> Response:
    page = page_number(visit.request.query_params)
    # The other one's name: the inner query knows which of the two it is.
    found = visit.world.rows(
        "SELECT k.id, k.subject, k.sender_id, k.receiver_id, u.id AS u_id, u.name AS partner,"
        " (SELECT max(created_at) FROM messages AS m WHERE m.conversation_id = k.id) AS latest,"
        " (SELECT count(*) FROM messages AS m WHERE m.conversation_id = k.id) AS messages,"
        " (SELECT count(*) FROM messages AS m WHERE m.conversation_id = k.id AND m.read_at IS NULL"
        " AND m.sender_id <> ?) AS unread FROM conversations AS k"
        " JOIN users AS u ON u.id = CASE k.sender_id WHEN ? THEN k.receiver_id ELSE k.sender_id END"
        f" WHERE {_MINE} ORDER BY latest DESC, k.id DESC LIMIT ? OFFSET ?",
        visit.me, visit.me, visit.me, visit.me, ON_A_PAGE + 1, (page - 1) * ON_A_PAGE,
    )  # fmt: skip
    more = f"/account/messages?p={page + 1}" if len(found) > ON_A_PAGE else ""
    return visit.render("messages.html", conversations=found[:ON_A_PAGE], more=more, page=page)


async def conversation(visit: ForumVisit) -> Response:
    found = visit.world.row(
        f"SELECT k.* FROM conversations AS k WHERE k.id = ? AND {_MINE}", visit.number("id"), visit.me, visit.me
    )
    if found is None:
        raise HTTPException(404, "There is no such conversation in your messages.")
    errors: dict[str, str] = {}
    values: dict[str, str] = {}
    if visit.request.method == "POST":
        form = await visit.form()
        body = form.text("text", "Message", most=LONGEST_MESSAGE, lines=True)
        other = found["receiver_id"] if int(found["sender_id"]) == visit.me else found["sender_id"]
        if _is_refused(visit, int(other)):
            form.errors["text"] = ours("This person does not take messages from you.")
        if not form.errors:
            with visit.world.write():
                _add_message(visit, int(found["id"]), body)
            return visit.go(f"/account/messages/{found['id']}", "Your message was sent.")
        errors, values = form.errors, form.values
    messages = visit.world.rows(
        "SELECT m.id, m.body, m.created_at, m.read_at, m.sender_id, u.id AS u_id, u.name AS author FROM messages AS m"
        " JOIN users AS u ON u.id = m.sender_id WHERE m.conversation_id = ? ORDER BY m.created_at, m.id",
        found["id"],
    )
    if any(message["read_at"] is None and int(message["sender_id"]) != visit.me for message in messages):
        with visit.world.write() as db:
            db.execute(
                "UPDATE messages SET read_at = ? WHERE conversation_id = ? AND sender_id <> ? AND read_at IS NULL",
                (stamp(visit.world.now()), int(found["id"]), visit.me),
            )
    return visit.render("conversation.html", 422 if errors else 200, conversation=found, messages=messages,
                        errors=errors, values=values)  # fmt: skip
