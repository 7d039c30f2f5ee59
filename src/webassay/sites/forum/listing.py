"""Lists of submissions: sorted, limited to a time, 25 at a time to any depth."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from starlette.exceptions import HTTPException

from webassay.sites.forum.ranking import CONTROVERSY
from webassay.sites.forum.web import ForumVisit
from webassay.sites.kit import Row, SqlValue, World
from webassay.sites.receipts import ours_all
from webassay.sites.web.forms import whole_number
from webassay.sites.web.lists import one_of

ON_A_PAGE = 25
SORTS: dict[str, str] = ours_all({
    "hot": "Hot", "new": "New", "active": "Active", "top": "Top", "most-commented": "Most Commented",
    "controversial": "Controversial",
})  # fmt: skip
ORDERS = {
    "hot": "s.hot DESC",
    "new": "s.created_at DESC",
    "active": "s.active_at DESC",
    "top": "s.score DESC",
    "most-commented": "s.comment_count DESC",
    "controversial": f"{CONTROVERSY} DESC",
}
"""Ties: the newer submission first."""
RANGES: dict[str, str] = ours_all({
    "day": "Past 24 Hours", "week": "Past Week", "month": "Past Month", "year": "Past Year", "all": "All Time",
})  # fmt: skip
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
TIMED = ("top", "most-commented", "controversial")

POST = (
    "s.id, s.kind, s.title, s.slug, s.url, s.state, s.locked, s.pinned, s.ups, s.downs, s.score, s.comment_count,"
    " s.created_at, s.edited_at, s.forum_id, s.user_id, f.id AS f_id, f.name AS forum, u.id AS u_id, u.name AS author"
)
POSTS = "submissions AS s JOIN forums AS f ON f.id = s.forum_id JOIN users AS u ON u.id = s.user_id"


@dataclass(frozen=True)
class PostList:
    posts: list[Row]
    page: int
    more: str
    """The address of the next page; empty if this is the last."""
    sort: str = ""
    time: str = "all"
    path: str = ""
    """Without the sort order at its end."""
    votes: Mapping[int, int] = field(default_factory=dict)
    """What the visitor voted, by submission."""

    @property
    def first(self) -> int:
        return (self.page - 1) * ON_A_PAGE + 1

    @property
    def is_timed(self) -> bool:
        return self.sort in TIMED


def page_number(query: Mapping[str, str]) -> int:
    asked = query.get("p", "1")
    found = whole_number(asked, 10**6)
    if not found:
        raise HTTPException(400, f"“{asked[:40]}” is not a page number.")
    return found


def since(world: World, time: str) -> str:
    """The moment from which on a time range counts; empty: from the start."""
    if time == "all":
        return ""
    moment = datetime.fromtimestamp(world.now() / 1000, UTC) - timedelta(days=_DAYS[time])
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def list_posts(
    visit: ForumVisit, path: str, sort: str, condition: str, params: tuple[SqlValue, ...], *, pins: bool = False
) -> PostList:
    """`pins`: those that moderators have pinned come first."""
    query = visit.request.query_params
    for name in query:
        if name not in ("p", "t") or (name == "t" and sort not in TIMED):
            raise HTTPException(400, f"“{name[:40]}” is not a setting of this list.")
    time = one_of("time range", query.get("t", "all"), list(RANGES))
    page = page_number(query)
    conditions, values = ["s.state = 'visible'", condition], list(params)
    if start := since(visit.world, time):
        conditions.append("s.created_at >= ?")
        values.append(start)
    if visit.me:
        conditions.append(
            "s.user_id NOT IN (SELECT blocked_id FROM blocks WHERE user_id = ?)"
            " AND s.id NOT IN (SELECT submission_id FROM hidden_submissions WHERE user_id = ?)"
        )
        values += [visit.me, visit.me]
    order = ("s.pinned DESC, " if pins and sort == "hot" else "") + ORDERS[sort]
    posts = visit.world.rows(
        f"SELECT {POST} FROM {POSTS} WHERE {' AND '.join(conditions)} ORDER BY {order}, s.id DESC LIMIT ? OFFSET ?",
        *values, ON_A_PAGE + 1, (page - 1) * ON_A_PAGE,
    )  # fmt: skip
    settings = {"t": time} if time != "all" else {}
    here = f"{path.rstrip('/')}/{sort}"
    more = f"{here}?{urlencode({**settings, 'p': page + 1})}" if len(posts) > ON_A_PAGE else ""
    posts = posts[:ON_A_PAGE]
    return PostList(
        posts, page, more, sort, time, path, own_votes(visit, "submission", [int(post["id"]) for post in posts])
    )


def own_votes(visit: ForumVisit, kind: str, numbers: list[int]) -> dict[int, int]:
    if not visit.me or not numbers:
        return {}
    marks = ", ".join(map(str, numbers))
    found = visit.world.db.execute(
        f"SELECT {kind}_id, value FROM {kind}_votes WHERE user_id = ? AND {kind}_id IN ({marks})", (visit.me,)
    )
    return {int(number): int(value) for number, value in found}
