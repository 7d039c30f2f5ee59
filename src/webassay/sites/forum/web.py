"""What every page of the forum shares: who visits, what they may, and how posts are addressed."""

from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

from webassay.sites.forum.markdown import markdown
from webassay.sites.kit import Row
from webassay.sites.receipts import ours
from webassay.sites.web.app import Visit, WebSite
from webassay.sites.web.dates import short_time
from webassay.sites.web.forms import safe_path, whole_number
from webassay.sites.web.sessions import Sessions

MOST_SUBSCRIBED = 12
"""How many forums the bar at the top names."""


class ForumVisit(Visit):
    @property
    def me(self) -> int:
        """The visitor's number; 0, which nobody has, for a guest."""
        return int(self.user["id"]) if self.user else 0

    @property
    def is_admin(self) -> bool:
        return self.user is not None and self.user["role"] == "admin"

    def moderates(self, forum_id: int) -> bool:
        return self.is_admin or bool(
            self.me
            and self.world.scalar("SELECT 1 FROM moderators WHERE forum_id = ? AND user_id = ?", int(forum_id), self.me)
        )

    def needs_moderator(self, forum: Row) -> None:
        if not self.moderates(forum["id"]):
            raise HTTPException(403, f"Only moderators of {forum['name']} can do this.")

    def is_banned(self, forum_id: int) -> bool:
        found = self.world.scalar("SELECT 1 FROM bans WHERE forum_id = ? AND user_id = ?", int(forum_id), self.me)
        return bool(found)

    def needs_no_ban(self, forum_id: int) -> None:
        if self.is_banned(forum_id):
            raise HTTPException(403, "You are banned from this forum.")

    @property
    def here(self) -> str:
        """For forms that lead back to the page they are on."""
        url = self.request.url
        return url.path + (f"?{url.query}" if url.query else "")

    async def back(self, otherwise: str, notice: str = "") -> Response:
        form = await self.form()
        return self.go(safe_path(form.get("next"), otherwise), notice)

    def context(self) -> dict[str, Any]:
        unread = self.user and self.world.scalar(
            "SELECT count(*) FROM messages AS m JOIN conversations AS k ON k.id = m.conversation_id"
            " WHERE m.read_at IS NULL AND m.sender_id <> ? AND (k.receiver_id = ? OR k.sender_id = ?)",
            self.me, self.me, self.me,
        )  # fmt: skip
        followed = self.user and self.world.rows(
            "SELECT f.id, f.name, b.user_id, b.forum_id FROM subscriptions AS b JOIN forums AS f ON f.id = b.forum_id"
            " WHERE b.user_id = ? ORDER BY f.name COLLATE NOCASE LIMIT ?",
            self.me, MOST_SUBSCRIBED,
        )  # fmt: skip
        return {"unread": unread or 0, "followed": followed or [], "query": self.request.query_params}

    # --- what an address names ---

    def number(self, name: str) -> int:
        found = whole_number(self.request.path_params[name])
        if found is None:
            raise HTTPException(404)
        return found

    def forum(self) -> Row:
        found = self.world.row("SELECT * FROM forums WHERE name = ?", self.request.path_params["forum"])
        if found is None:
            raise HTTPException(404, ours("There is no such forum."))
        return found

    def person(self) -> Row:
        found = self.world.row(
            "SELECT id, name, role, bio, created_at FROM users WHERE name = ?", self.request.path_params["user"]
        )
        if found is None:
            raise HTTPException(404, ours("There is nobody of this name here."))
        return found


def post_url(post: Row) -> str:
    """From a row with the number, the slug and the forum's name."""
    return ours("/f/{}/{}/{}").format(post["forum"], post["id"], post["slug"])


def comment_url(post: Row, comment_id: int) -> str:
    return ours("{}/comment/{}").format(post_url(post), comment_id)


def counted(number: int, noun: str) -> str:
    return ours("{} " + noun if number == 1 else "{} " + noun + "s").format(number)


WEB = WebSite(
    package="webassay.sites.forum",
    name="Porchlight",
    sessions=Sessions("porchlight_session", users="users", login="name"),
    visit=ForumVisit,
    style="forum.css",
    script="forum.js",
    filters={"markdown": markdown, "short_time": short_time},
    names={"post_url": post_url, "comment_url": comment_url, "counted": counted},
)
