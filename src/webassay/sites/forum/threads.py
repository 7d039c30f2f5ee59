"""The comments of a submission as a tree: cut where it is too long or too deep, with a way to the rest."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from webassay.sites.forum.listing import own_votes
from webassay.sites.forum.web import ForumVisit
from webassay.sites.kit import Row
from webassay.sites.receipts import ours_all

COMMENT_SORTS: dict[str, str] = ours_all({"top": "Top", "new": "New", "old": "Old", "controversial": "Controversial"})
ON_A_PAGE = 150
"""Comments; a page ends with the first one of the thread that goes beyond."""
IN_A_BRANCH = 100
DEEPEST = 6
"""Replies to replies on one page; deeper ones are on a page of their own."""

COMMENT = (
    "c.id, c.submission_id, c.parent_id, c.user_id, c.body, c.state, c.removal_reason, c.ups, c.downs, c.score,"
    " c.created_at, c.edited_at, u.id AS u_id, u.name AS author, u.role AS author_role"
)


@dataclass
class Branch:
    """A comment and the replies that are shown with it."""

    number: int
    replies: list["Branch"] = field(default_factory=list)
    left_out: int = 0
    """Replies that are not on this page."""
    row: Row = field(default_factory=dict)
    vote: int = 0
    is_blocked: bool = False


@dataclass(frozen=True)
class Thread:
    branches: list[Branch]
    sort: str
    page: int
    has_more: bool


@dataclass(frozen=True)
class _Bare:
    """What the tree needs to know of a comment."""

    number: int
    parent: int | None
    score: int
    ups: int
    downs: int
    state: str

    @property
    def controversy(self) -> int:
        return (self.ups + self.downs) * 1000 * min(self.ups, self.downs) // max(self.ups, self.downs, 1)


_KEYS: dict[str, Callable[[_Bare], Any]] = {
    "top": lambda one: (-one.score, one.number),
    "new": lambda one: -one.number,
    "old": lambda one: one.number,
    "controversial": lambda one: (-one.controversy, one.number),
}


def read_thread(visit: ForumVisit, submission_id: int, sort: str, page: int, root: int | None = None) -> Thread:
    """All of it, or what is below one comment."""
    bare = [
        _Bare(*row)
        for row in visit.world.db.execute(
            "SELECT id, parent_id, score, ups, downs, state FROM comments WHERE submission_id = ? ORDER BY id",
            (int(submission_id),),
        )
    ]
    children: dict[int | None, list[_Bare]] = {}
    sizes: dict[int, int] = {}
    # Replies have higher numbers than what they reply to: from the end, every size is known when it is needed.
    for one in reversed(bare):
        if one.state == "deleted" and one.number not in sizes:
            continue  # Nobody misses it.
        sizes[one.number] = sizes.get(one.number, 0) + 1
        children.setdefault(one.parent, []).append(one)
        if one.parent is not None:
            sizes[one.parent] = sizes.get(one.parent, 0) + sizes[one.number]
    for siblings in children.values():
        siblings.sort(key=_KEYS[sort])
    tops = [one for one in bare if one.number == root] if root else children.get(None, [])
    chosen, has_more = _page_of([one.number for one in tops], sizes, page)
    branches = [_branch(number, children, sizes) for number in chosen]
    _fill(visit, branches)
    return Thread(branches, sort, page, has_more)


def _page_of(tops: list[int], sizes: dict[int, int], page: int) -> tuple[list[int], bool]:
    """Whole threads, until a page is full."""
    at, shown = 1, 0
    found: list[int] = []
    for number in tops:
        if shown >= ON_A_PAGE:
            at, shown = at + 1, 0
        if at > page:
            return found, True
        if at == page:
            found.append(number)
        shown += min(sizes.get(number, 1), IN_A_BRANCH)
    return found, False


def _branch(root: int, children: dict[int | None, list[_Bare]], sizes: dict[int, int]) -> Branch:
    top = Branch(root)
    waiting = [(top, 0)]
    count = 1
    while waiting:
        branch, depth = waiting.pop(0)
        for one in children.get(branch.number, []):
            if depth >= DEEPEST or count >= IN_A_BRANCH:
                branch.left_out += sizes[one.number]
            else:
                count += 1
                branch.replies.append(Branch(one.number))
        waiting += [(reply, depth + 1) for reply in branch.replies]
    return top


def _fill(visit: ForumVisit, branches: list[Branch]) -> None:
    """With the rows of what is shown."""
    shown: dict[int, Branch] = {}
    waiting = list(branches)
    while waiting:
        branch = waiting.pop()
        shown[branch.number] = branch
        waiting += branch.replies
    rows = visit.world.rows(
        f"SELECT {COMMENT} FROM comments AS c JOIN users AS u ON u.id = c.user_id"
        " WHERE c.id IN (SELECT value FROM json_each(?))",
        json.dumps(sorted(shown)),
    )
    votes = own_votes(visit, "comment", list(shown))
    blocked = {
        number for (number,) in visit.world.db.execute("SELECT blocked_id FROM blocks WHERE user_id = ?", (visit.me,))
    }
    for row in rows:
        branch = shown[int(row["id"])]
        branch.row, branch.vote = row, votes.get(branch.number, 0)
        branch.is_blocked = int(row["user_id"]) in blocked
