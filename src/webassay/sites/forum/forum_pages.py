"""The front page, forums and the directory of them."""

import re
from typing import Any

from starlette.responses import Response

from webassay.sites.forum.listing import ON_A_PAGE, RANGES, SORTS, list_posts, page_number
from webassay.sites.forum.web import ForumVisit
from webassay.sites.kit import Row
from webassay.sites.receipts import ours
from webassay.sites.web.dates import stamp
from webassay.sites.web.forms import FormFields
from webassay.sites.web.lists import one_of

FORUM_NAME = re.compile(r"[A-Za-z0-9_]{3,25}")
NOT_NAMES = frozenset(("new", "all", "home", "edit"))
DIRECTORY_SORTS = {
    "name": "f.name COLLATE NOCASE",
    "submissions": "submissions DESC, f.name COLLATE NOCASE",
    "subscribers": "subscribers DESC, f.name COLLATE NOCASE",
}


async def front(visit: ForumVisit, sort: str) -> Response:
    """The forums that the visitor has subscribed to; for everybody else, all of them."""
    follows = visit.me and visit.world.scalar("SELECT 1 FROM subscriptions WHERE user_id = ?", visit.me)
    if not follows:
        return await everything(visit, sort, "/home", "Everything")
    posts = list_posts(
        visit,
        "/home",
        sort,
        "s.forum_id IN (SELECT forum_id FROM subscriptions WHERE user_id = ?)",
        (visit.me,),
    )
    return visit.render("front.html", posts=posts, sorts=SORTS, ranges=RANGES, heading=ours("Your Forums"))


async def everything(visit: ForumVisit, sort: str, path: str = "/all", heading: str = "All Forums") -> Response:
    posts = list_posts(visit, path, sort, "1", ())
    return visit.render("front.html", posts=posts, sorts=SORTS, ranges=RANGES, heading=ours(heading))


async def forum(visit: ForumVisit, sort: str) -> Response:
    found = visit.forum()
    posts = list_posts(visit, f"/f/{found['name']}", sort, "s.forum_id = ?", (found["id"],), pins=True)
    return visit.render("forum.html", posts=posts, sorts=SORTS, ranges=RANGES, **about(visit, found))


def about(visit: ForumVisit, found: Row) -> dict[str, Any]:
    """What stands beside everything in a forum."""
    world, number = visit.world, int(found["id"])
    return {
        "forum": found,
        "subscribers": world.scalar("SELECT count(*) FROM subscriptions WHERE forum_id = ?", number),
        "submission_count": world.scalar(
            "SELECT count(*) FROM submissions WHERE forum_id = ? AND state = 'visible'", number
        ),
        "moderators": world.rows(
            "SELECT m.forum_id, m.user_id, u.id, u.name FROM moderators AS m JOIN users AS u ON u.id = m.user_id"
            " WHERE m.forum_id = ? ORDER BY m.since, u.id",
            number,
        ),
        "is_subscribed": bool(
            visit.me
            and world.scalar("SELECT 1 FROM subscriptions WHERE user_id = ? AND forum_id = ?", visit.me, number)
        ),
        "may_moderate": visit.moderates(number),
    }


async def directory(visit: ForumVisit) -> Response:
    query = visit.request.query_params
    sort = one_of("order", query.get("sort", "name"), list(DIRECTORY_SORTS))
    page = page_number(query)
    forums = visit.world.rows(
        "SELECT f.id, f.name, f.title, f.description,"
        " (SELECT count(*) FROM submissions AS s WHERE s.forum_id = f.id AND s.state = 'visible') AS submissions,"
        " (SELECT count(*) FROM subscriptions AS b WHERE b.forum_id = f.id) AS subscribers"
        f" FROM forums AS f ORDER BY {DIRECTORY_SORTS[sort]} LIMIT ? OFFSET ?",
        ON_A_PAGE + 1, (page - 1) * ON_A_PAGE,
    )  # fmt: skip
    more = f"/forums?sort={sort}&p={page + 1}" if len(forums) > ON_A_PAGE else ""
    mine = {
        number
        for (number,) in visit.world.db.execute("SELECT forum_id FROM subscriptions WHERE user_id = ?", (visit.me,))
    }
    return visit.render("directory.html", forums=forums[:ON_A_PAGE], more=more, sort=sort, mine=mine, page=page)


async def subscribe(visit: ForumVisit) -> Response:
    return await _follow(visit, "INSERT OR IGNORE INTO subscriptions VALUES (?, ?, ?)", "You subscribed to {}.")


async def unsubscribe(visit: ForumVisit) -> Response:
    sql = "DELETE FROM subscriptions WHERE user_id = ? AND forum_id = ? AND ? <> ''"
    return await _follow(visit, sql, "You unsubscribed from {}.")


async def _follow(visit: ForumVisit, sql: str, notice: str) -> Response:
    found = visit.forum()
    with visit.world.write() as db:
        db.execute(sql, (visit.me, int(found["id"]), stamp(visit.world.now())))
    return await visit.back(f"/f/{found['name']}", notice.format(found["name"]))


# --- making and changing one ------------------------------------------------------------------------------


async def create(visit: ForumVisit) -> Response:
    if visit.request.method == "GET":
        return visit.render("forum_form.html", errors={}, values={}, forum=None)
    form = await visit.form()
    name = form.text("name", "Name", most=25)
    if "name" not in form.errors:
        if not FORUM_NAME.fullmatch(name) or name.lower() in NOT_NAMES:
            form.errors["name"] = ours("A name has 3 to 25 letters, digits and underscores.")
        elif visit.world.scalar("SELECT 1 FROM forums WHERE name = ?", name):
            form.errors["name"] = ours("There is already a forum of this name.")
    entered = _about_form(form)
    if form.errors:
        return visit.render("forum_form.html", 422, errors=form.errors, values=form.values, forum=None)
    with visit.world.write() as db:
        now = stamp(visit.world.now())
        number = db.execute(
            "INSERT INTO forums (name, title, description, sidebar, creator_id, created_at) VALUES (?, ?, ?, ?, ?, ?)"
            " RETURNING id",
            (name, *entered, visit.me, now),
        ).fetchone()
        assert number is not None
        db.execute("INSERT INTO moderators VALUES (?, ?, ?)", (number[0], visit.me, now))
    return visit.go(f"/f/{name}", f"The forum {name} was created.")


async def edit(visit: ForumVisit) -> Response:
    found = visit.forum()
    visit.needs_moderator(found)
    if visit.request.method == "GET":
        return visit.render("forum_form.html", errors={}, values=found, forum=found)
    form = await visit.form()
    entered = _about_form(form)
    if form.errors:
        return visit.render("forum_form.html", 422, errors=form.errors, values=form.values, forum=found)
    with visit.world.write() as db:
        db.execute(
            "UPDATE forums SET title = ?, description = ?, sidebar = ? WHERE id = ?", (*entered, int(found["id"]))
        )
    return visit.go(f"/f/{found['name']}", "The forum was changed.")


def _about_form(form: FormFields) -> tuple[str, str, str]:
    return (
        form.text("title", "Title", most=100),
        form.text("description", "Description", most=300),
        form.text("sidebar", "Sidebar", most=10_000, needed=False, lines=True),
    )
