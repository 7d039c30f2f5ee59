"""Log-in, and what a member sees only of themselves."""

import re

from starlette.responses import Response

from webassay.sites.forum.listing import POST, POSTS, PostList, own_votes
from webassay.sites.forum.seeding.people import password_hash
from webassay.sites.forum.web import ForumVisit
from webassay.sites.receipts import ours
from webassay.sites.web.dates import stamp
from webassay.sites.web.forms import safe_path

USER_NAME = re.compile(r"[A-Za-z0-9_-]{3,24}")
SHORTEST_PASSWORD = 8
LONGEST_BIO = 500


async def login(visit: ForumVisit) -> Response:
    after = safe_path(visit.request.query_params.get("next", ""), "/")
    if visit.user is not None:
        return visit.go(after)
    if visit.request.method == "GET":
        return visit.render("login.html", errors={}, values={})
    form = await visit.form()
    name, password = form.text("username", "Username", most=24), form.get("password")
    found = visit.world.row("SELECT id, password_hash FROM users WHERE name = ?", name)
    if found is None or found["password_hash"] != password_hash(found["id"], password):
        form.errors["username"] = ours("The username or the password is not correct.")
        return visit.render("login.html", 422, errors=form.errors, values=form.values)
    with visit.world.write():
        visit.switch_session(int(found["id"]))
    return visit.go(after)


async def register(visit: ForumVisit) -> Response:
    if visit.request.method == "GET":
        return visit.render("register.html", errors={}, values={})
    form = await visit.form()
    name, password = form.text("username", "Username", most=24), form.get("password")
    if "username" not in form.errors:
        if not USER_NAME.fullmatch(name):
            form.errors["username"] = ours("A username has 3 to 24 letters, digits, underscores and hyphens.")
        elif visit.world.scalar("SELECT 1 FROM users WHERE name = ?", name):
            form.errors["username"] = ours("There is already somebody of this name.")
    if not SHORTEST_PASSWORD <= len(password) <= 200:
        form.errors["password"] = ours(f"The password must have at least {SHORTEST_PASSWORD} characters.")
    elif password != form.get("confirm"):
        form.errors["confirm"] = ours("The two passwords are not the same.")
    if form.errors:
        return visit.render("register.html", 422, errors=form.errors, values=form.values)
    with visit.world.write() as db:
        number: int = visit.world.scalar("SELECT max(id) + 1 FROM users")
        db.execute(
            "INSERT INTO users VALUES (?, ?, 'member', '', ?, ?)",
            (int(number), name, password_hash(int(number), password), stamp(visit.world.now())),
        )
        visit.switch_session(int(number))
    return visit.go("/", f"Welcome to Porchlight, {name}!")


async def logout(visit: ForumVisit) -> Response:
    return visit.log_out("/")


async def settings(visit: ForumVisit) -> Response:
    person = visit.world.row("SELECT id, name, bio FROM users WHERE id = ?", visit.me) or {}
    if visit.request.method == "GET":
        return visit.render("settings.html", errors={}, values=person)
    form = await visit.form()
    bio = form.text("bio", "Bio", most=LONGEST_BIO, needed=False, lines=True)
    if form.errors:
        return visit.render("settings.html", 422, errors=form.errors, values=form.values)
    with visit.world.write() as db:
        db.execute("UPDATE users SET bio = ? WHERE id = ?", (bio, visit.me))
    return visit.go(f"/u/{person['name']}", "Your bio was saved.")


async def subscriptions(visit: ForumVisit) -> Response:
    found = visit.world.rows(
        "SELECT f.id, f.name, f.title, b.user_id, b.forum_id FROM subscriptions AS b"
        " JOIN forums AS f ON f.id = b.forum_id WHERE b.user_id = ? ORDER BY f.name COLLATE NOCASE",
        visit.me,
    )
    return visit.render("subscriptions.html", forums=found)


async def hidden(visit: ForumVisit) -> Response:
    found = visit.world.rows(
        f"SELECT {POST}, h.user_id AS h_user, h.submission_id FROM {POSTS}"
        " JOIN hidden_submissions AS h ON h.submission_id = s.id WHERE h.user_id = ? AND s.state = 'visible'"
        " ORDER BY s.created_at DESC, s.id DESC",
        visit.me,
    )
    votes = own_votes(visit, "submission", [int(post["id"]) for post in found])
    return visit.render("hidden.html", posts=PostList(found, 1, "", votes=votes))


async def blocked(visit: ForumVisit) -> Response:
    found = visit.world.rows(
        "SELECT u.id, u.name, b.user_id, b.blocked_id, b.since FROM blocks AS b JOIN users AS u ON u.id = b.blocked_id"
        " WHERE b.user_id = ? ORDER BY u.name COLLATE NOCASE",
        visit.me,
    )
    return visit.render("blocked.html", people=found)
