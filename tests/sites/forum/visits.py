"""The forum's people and posts, and what a visit changed."""

import re
from html import unescape
from typing import Any

from tests.sites.visitors import content
from webassay.sites.forum.seeding.people import ADMIN, MODERATOR, POSTER, TALKER
from webassay.sites.kit import World

JUNIPER, INES = POSTER, TALKER
__all__ = ["ADMIN", "INES", "JUNIPER", "MODERATOR", "changes", "one", "path_of", "titles", "user_id"]


def one(world: World, condition: str = "1", place: int = 0) -> dict[str, Any]:
    """A visible submission, with the name of its forum."""
    found = world.row(
        f"SELECT s.*, f.name AS forum FROM submissions AS s JOIN forums AS f ON f.id = s.forum_id"
        f" WHERE s.state = 'visible' AND ({condition}) ORDER BY s.id LIMIT 1 OFFSET ?",
        place,
    )
    assert found is not None
    return found


def path_of(post: dict[str, Any]) -> str:
    return f"/f/{post['forum']}/{post['id']}/{post['slug']}"


def user_id(world: World, name: str) -> int:
    number: int = world.scalar("SELECT id FROM users WHERE name = ?", name)
    return number


def changes(world: World) -> list[tuple[str, str]]:
    """Table and operation of every change of content."""
    return [
        (one.table, "insert" if one.before is None else "delete" if one.after is None else "update")
        for one in content(world)
        if one.table not in ("moderation_log", "sessions")
    ]


def titles(page: str) -> list[str]:
    """Of the submissions in a list."""
    return [unescape(title) for title in re.findall(r'<a class="title"[^>]*>([^<]*)</a>', page)]
