"""Draws and truth queries that several templates share. All SQL over the pristine world."""

import itertools
from collections.abc import Sequence

from webassay.arena.kit.key import Key
from webassay.arena.shop.queries import rows
from webassay.core.task import PagePattern
from webassay.sites.kit import Row, SqlValue, World
from webassay.sites.rng import Stream

__all__ = ["rows"]

TODAY = "2026-03-01 09:00:00"
"""When every world of the forum starts."""
ORDERS = {
    "hot": "s.pinned DESC, s.hot DESC",
    "new": "s.created_at DESC",
    "top": "s.score DESC",
    "most-commented": "s.comment_count DESC",
}
"""As a forum lists its submissions; the newer one first of those that are equal."""
DEEPEST, LONGEST_BRANCH, LONGEST_PAGE = 6, 100, 150
"""A thread is on one page as long as it is not deeper or longer."""
REGULARS = 5
"""People with a lower number or this one have voted on things, hide some and block somebody."""
_POSTS = (
    "SELECT s.*, f.name AS forum, u.name AS author FROM submissions AS s JOIN forums AS f ON f.id = s.forum_id"
    " JOIN users AS u ON u.id = s.user_id WHERE s.state = 'visible'"
)
_COMMENTS = (
    "SELECT c.*, f.name AS forum, u.name AS author, s.title FROM comments AS c JOIN submissions AS s"
    " ON s.id = c.submission_id JOIN forums AS f ON f.id = s.forum_id JOIN users AS u ON u.id = c.user_id"
    " WHERE c.state = 'visible' AND s.state = 'visible'"
)


# --- forums and what is posted there ----------------------------------------------------------------------


def forum(world: World, stream: Stream, fewest: int, most: int = 10**6) -> str:
    """The name of a forum with that many submissions."""
    return str(stream.choice(forums(world, fewest, most))["name"])


def forums(world: World, fewest: int = 0, most: int = 10**6) -> list[Row]:
    found = rows(
        world,
        "SELECT f.*, (SELECT count(*) FROM submissions AS s WHERE s.forum_id = f.id AND s.state = 'visible') AS"
        " submissions, (SELECT count(*) FROM subscriptions AS b WHERE b.forum_id = f.id) AS subscribers"
        " FROM forums AS f ORDER BY f.id",
    )
    return [one for one in found if fewest <= one["submissions"] <= most]


def posts(world: World, forum: str, sort: str = "new", since: str = "") -> list[Row]:
    """The submissions of a forum, in the order of its list."""
    return rows(
        world, f"{_POSTS} AND f.name = ? AND s.created_at >= ? ORDER BY {ORDERS[sort]}, s.id DESC", forum, since
    )


def find_posts(world: World, condition: str, *params: SqlValue) -> list[Row]:
    """`s` is the submission, `f` its forum, `u` its author."""
    return rows(world, f"{_POSTS} AND {condition} ORDER BY s.created_at DESC, s.id DESC", *params)


def post(world: World, title: str) -> Row:
    (found,) = find_posts(world, "s.title = ?", title)
    return found


def some_post(world: World, stream: Stream, condition: str, *params: SqlValue) -> Row:
    """One that no other has the title of."""
    alone = "s.title IN (SELECT title FROM submissions GROUP BY title HAVING count(*) = 1) AND length(s.title) < 150"
    return stream.choice(find_posts(world, f"{condition} AND {alone}", *params))


def post_page(found: Row) -> PagePattern:
    return PagePattern(site="forum", path=f"/f/{found['forum']}/{found['id']}/{found['slug']}")


def forum_list(name: str, sort: str = "hot") -> Key:
    """A checkpoint."""
    pages = [PagePattern(site="forum", path=f"/f/{name}/{sort}")]
    if sort == "hot":
        pages.append(PagePattern(site="forum", path=f"/f/{name}"))
    return Key.checkpoint(f"/f/{name}", *pages)


# --- threads ----------------------------------------------------------------------------------------------


def thread(world: World, found: Row) -> list[Row]:
    """Everything that was ever said there, the oldest first, with `depth` and the author of what it replies to."""
    return rows(
        world,
        "WITH RECURSIVE tree AS (SELECT id, 0 AS depth, id AS root FROM comments WHERE submission_id = ? AND parent_id"
        " IS NULL UNION ALL SELECT c.id, t.depth + 1, t.root FROM comments AS c JOIN tree AS t ON c.parent_id = t.id)"
        " SELECT c.*, t.depth, t.root, u.name AS author, p.user_id AS above_id, p.state AS above_state, v.name AS"
        " above FROM tree AS t JOIN comments AS c ON c.id = t.id JOIN users AS u ON u.id = c.user_id"
        " LEFT JOIN comments AS p ON p.id = c.parent_id LEFT JOIN users AS v ON v.id = p.user_id ORDER BY c.id",
        found["id"],
    )


def visible(said: Sequence[Row]) -> list[Row]:
    return [one for one in said if one["state"] == "visible"]


def on_one_page(said: Sequence[Row]) -> bool:
    """Nothing is left out, or on a page of its own."""
    roots = [one["root"] for one in said]
    return (
        len(said) <= LONGEST_PAGE
        and max((one["depth"] for one in said), default=0) <= DEEPEST
        and max(map(roots.count, {*roots}), default=0) <= LONGEST_BRANCH
    )


def some_thread(world: World, stream: Stream, fewest: int, most: int, condition: str = "1") -> Row:
    """A submission with that many comments."""
    return some_post(world, stream, f"s.comment_count BETWEEN ? AND ? AND {condition}", fewest, most)


# --- people -----------------------------------------------------------------------------------------------


def person(world: World, stream: Stream, which: str, *params: SqlValue) -> str:
    """The name of a member. `which` stands after WHERE; `u` is the member."""
    found = rows(world, f"SELECT u.name FROM users AS u WHERE {which} ORDER BY u.id", *params)
    return str(stream.choice(found)["name"])


def user_id(world: World, name: str) -> int:
    return int(rows(world, "SELECT id FROM users WHERE name = ?", name)[0]["id"])


def posts_by(world: World, name: str) -> list[Row]:
    """The newest first, as their page lists them."""
    return find_posts(world, "u.name = ?", name)


def comments_by(world: World, name: str) -> list[Row]:
    return rows(world, f"{_COMMENTS} AND u.name = ? ORDER BY c.created_at DESC, c.id DESC", name)


def poster(world: World, stream: Stream, fewest: int, most: int) -> str:
    """Somebody with that many submissions."""
    return person(
        world, stream,
        "(SELECT count(*) FROM submissions AS s WHERE s.user_id = u.id AND s.state = 'visible') BETWEEN ? AND ?",
        fewest, most,
    )  # fmt: skip


def talker(world: World, stream: Stream, fewest: int, most: int) -> str:
    """Somebody with that many comments."""
    return person(
        world, stream,
        "(SELECT count(*) FROM comments AS c WHERE c.user_id = u.id AND c.state = 'visible') BETWEEN ? AND ?",
        fewest, most,
    )  # fmt: skip


def member(world: World, stream: Stream, forum: str) -> str:
    """Somebody who reads a forum, is not banned there, and has neither voted nor hidden anything."""
    return person(
        world, stream,
        f"u.id > {REGULARS} AND EXISTS (SELECT 1 FROM subscriptions AS b JOIN forums AS f ON f.id = b.forum_id"
        " WHERE b.user_id = u.id AND f.name = ?) AND u.id NOT IN (SELECT user_id FROM bans)",
        forum,
    )  # fmt: skip


def lookalikes(world: World) -> list[tuple[str, str]]:
    """People whose names have the same length and differ in one character."""
    names = [str(one["name"]) for one in rows(world, "SELECT name FROM users ORDER BY id")]
    by_gap: dict[tuple[int, str], list[str]] = {}
    for name in names:
        for place in range(len(name)):
            by_gap.setdefault((place, (name[:place] + "*" + name[place + 1 :]).lower()), []).append(name)
    return [(one, other) for same in by_gap.values() for one, other in itertools.pairwise(same)]
