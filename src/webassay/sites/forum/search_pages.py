"""Search: submissions by their words, comments by what they contain, and suggestions while typing."""

import re
from typing import Any
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.responses import Response

from webassay.sites.forum.listing import ON_A_PAGE, POST, POSTS, RANGES, PostList, own_votes, page_number, since
from webassay.sites.forum.user_pages import COMMENT, COMMENTS
from webassay.sites.forum.web import ForumVisit
from webassay.sites.kit import Row, SqlValue
from webassay.sites.receipts import ours, ours_all
from webassay.sites.web.grids import sql_lower
from webassay.sites.web.lists import one_of

LONGEST_QUERY = 200
MOST_WORDS = 12
SUGGESTIONS = 8
ORDERS = {
    "relevance": "s.id IN (SELECT rowid FROM submission_search WHERE submission_search MATCH ?) DESC",
    "new": "s.created_at DESC",
    "top": "s.score DESC",
    "most-commented": "s.comment_count DESC",
}
"""Relevance: what has all the words in its title comes first. Ties: the newer one first."""
ORDER_NAMES: dict[str, str] = ours_all({
    "relevance": "Relevance", "new": "Newest", "top": "Top", "most-commented": "Most Commented",
})  # fmt: skip
KINDS: dict[str, str] = ours_all({"any": "Anything", "text": "Text", "link": "Links", "image": "Images"})
PLACES: dict[str, str] = ours_all({"submissions": "Submissions", "comments": "Comments"})
SETTINGS = ("q", "in", "forum", "user", "kind", "t", "sort", "p")


def search_words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text)[:MOST_WORDS]


def _match(words: list[str], column: str = "", last: str = "") -> str:
    quoted = [f'"{word}"' for word in words]
    if quoted:
        quoted[-1] += last
    return f"{column} : ({' AND '.join(quoted)})" if column else " AND ".join(quoted)


async def search(visit: ForumVisit) -> Response:
    query = visit.request.query_params
    for name in query:
        if name not in SETTINGS:
            raise HTTPException(400, f"“{name[:40]}” is not a setting of the search.")
    text = query.get("q", "").strip()
    if len(text) > LONGEST_QUERY:
        raise HTTPException(400, f"A search can have at most {LONGEST_QUERY} characters.")
    inside = one_of("place", query.get("in", "submissions"), list(PLACES))
    one_of("kind", query.get("kind") or "any", list(KINDS))
    one_of("time range", query.get("t") or "all", list(RANGES))
    one_of("order", query.get("sort") or "relevance", list(ORDERS))
    page, words = page_number(query), search_words(text)
    context: dict[str, Any] = {
        "sorts": ORDER_NAMES, "ranges": RANGES, "kinds": KINDS, "places": PLACES, "text": text, "inside": inside,
        "errors": _unknown(visit), "posts": None, "comments": None, "more": "", "page": page,
    }  # fmt: skip
    if words and not context["errors"]:
        found = _comments(visit, words, page) if inside == "comments" else _submissions(visit, words, page)
        more = {**query, "p": page + 1}
        context["more"] = f"/search?{urlencode(more)}" if len(found) > ON_A_PAGE else ""
        found = found[:ON_A_PAGE]
        if inside == "comments":
            context["comments"] = found
        else:
            votes = own_votes(visit, "submission", [int(post["id"]) for post in found])
            context["posts"] = PostList(found, page, str(context["more"]), votes=votes)
    return visit.render("search.html", 422 if context["errors"] else 200, **context)


def _unknown(visit: ForumVisit) -> dict[str, str]:
    query, errors = visit.request.query_params, {}
    if query.get("forum") and not visit.world.scalar("SELECT 1 FROM forums WHERE name = ?", query["forum"].strip()):
        errors["forum"] = ours("There is no forum of this name.")
    if query.get("user") and not visit.world.scalar("SELECT 1 FROM users WHERE name = ?", query["user"].strip()):
        errors["user"] = ours("There is nobody of this name here.")
    return errors


def _narrowed(visit: ForumVisit, posted: str) -> tuple[list[str], list[SqlValue]]:
    """By forum, person and time; `posted`: the alias of what is searched."""
    query = visit.request.query_params
    conditions: list[str] = []
    values: list[SqlValue] = []
    for condition, value in (
        ("f.name = ?", query.get("forum", "").strip()),
        ("u.name = ?", query.get("user", "").strip()),
        (f"{posted}.created_at >= ?", since(visit.world, query.get("t") or "all")),
    ):
        if value:
            conditions.append(condition)
            values.append(value)
    return conditions, values


def _submissions(visit: ForumVisit, words: list[str], page: int) -> list[Row]:
    query = visit.request.query_params
    conditions, values = _narrowed(visit, "s")
    kind, sort = query.get("kind") or "any", query.get("sort") or "relevance"
    if kind != "any":
        conditions.append("s.kind = ?")
        values.append(kind)
    first: list[SqlValue] = [_match(words, "title")] if sort == "relevance" else []
    return visit.world.rows(
        f"SELECT {POST} FROM {POSTS} WHERE s.state = 'visible'"
        " AND s.id IN (SELECT rowid FROM submission_search WHERE submission_search MATCH ?)"
        f"{''.join(f' AND {one}' for one in conditions)} ORDER BY {ORDERS[sort]}, s.id DESC LIMIT ? OFFSET ?",
        _match(words), *values, *first, ON_A_PAGE + 1, (page - 1) * ON_A_PAGE,
    )  # fmt: skip


def _comments(visit: ForumVisit, words: list[str], page: int) -> list[Row]:
    conditions, values = _narrowed(visit, "c")
    conditions += ["instr(lower(c.body), ?)"] * len(words)
    values += [sql_lower(word) for word in words]
    order = {"top": "c.score DESC"}.get(visit.request.query_params.get("sort", ""), "c.created_at DESC")
    return visit.world.rows(
        f"SELECT {COMMENT} FROM {COMMENTS} WHERE c.state = 'visible' AND s.state = 'visible'"
        f"{''.join(f' AND {one}' for one in conditions)} ORDER BY {order}, c.id DESC LIMIT ? OFFSET ?",
        *values, ON_A_PAGE + 1, (page - 1) * ON_A_PAGE,
    )  # fmt: skip


async def suggest(visit: ForumVisit) -> Response:
    """Forums and titles that begin with what has been typed so far."""
    text = visit.request.query_params.get("q", "").strip()
    words = search_words(text[:LONGEST_QUERY])
    if not words:
        return visit.json({"suggestions": []})
    forums = visit.world.rows(
        "SELECT id, name FROM forums WHERE instr(lower(name), ?) ORDER BY name COLLATE NOCASE LIMIT 3",
        sql_lower(words[-1]),
    )
    posts = visit.world.rows(
        f"SELECT {POST} FROM {POSTS} WHERE s.state = 'visible'"
        " AND s.id IN (SELECT rowid FROM submission_search WHERE submission_search MATCH ?)"
        " ORDER BY s.score DESC, s.id DESC LIMIT ?",
        _match(words, "title", "*"), SUGGESTIONS - len(forums),
    )  # fmt: skip
    return visit.json({
        "suggestions": [
            *({"name": "/f/" + forum["name"], "url": f"/f/{forum['name']}"} for forum in forums),
            *({"name": post["title"], "url": f"/f/{post['forum']}/{post['id']}/{post['slug']}"} for post in posts),
        ]
    })  # fmt: skip
