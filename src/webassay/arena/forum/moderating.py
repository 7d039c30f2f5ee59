"""What moderators decide about what was reported."""

from typing import Self

from webassay.arena.forum import facts, pages, queries
from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key
from webassay.arena.kit.template import Mutate, Parts, fair, top
from webassay.arena.kit.walking import choose, click, done, links
from webassay.core.interaction import Action, Observation, Walk
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream


def _open_reports(world: World, forum: str) -> list[Row]:
    """With what was reported: its points, and whether it is a comment."""
    return queries.rows(
        world,
        "SELECT r.*, coalesce(s.score, c.score) AS score, r.comment_id IS NOT NULL AS is_comment FROM reports AS r"
        " JOIN forums AS f ON f.id = r.forum_id LEFT JOIN submissions AS s ON s.id = r.submission_id"
        " LEFT JOIN comments AS c ON c.id = r.comment_id WHERE f.name = ? AND r.status = 'open'"
        " ORDER BY r.created_at DESC, r.id DESC",
        forum,
    )


def _moderator(world: World, stream: Stream) -> tuple[str, str]:
    """Who looks after a forum with many open reports, and that forum."""
    found = queries.rows(
        world,
        "SELECT u.name, f.name AS forum FROM moderators AS m JOIN users AS u ON u.id = m.user_id"
        " JOIN forums AS f ON f.id = m.forum_id WHERE (SELECT count(*) FROM reports AS r WHERE r.forum_id = f.id"
        " AND r.status = 'open') >= 4 ORDER BY u.id",
    )
    chosen = stream.choice(found)
    return str(chosen["name"]), str(chosen["forum"])


_REASONS = ("Spam", "Off topic", "Harassment", "Breaks the forum's rules", "Misleading")


_WHAT = {"comments": (True,), "submissions": (False,), "posts of any kind": (True, False)}
"""What instructions call it, to whether it is a comment."""


class DismissGroundless(Mutate):
    """Dismiss the reports about what people like."""

    name = "forum.dismiss-groundless"
    chore = "massive_memory"
    instruction = (
        "Go through the open reports in /f/{forum}. Dismiss the reports about {what} that have at least {points} "
        "points."
    )
    levels = ("medium",)
    misread = {"points-ignored": {"points": -(10**6)}, "kind-ignored": {"what": "posts of any kind"}}
    may_agree = ("kind-ignored",)
    ways = {"one-at-a-time": {"again": True}}

    user: str
    forum: str
    what: str
    points: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(*_moderator(world, stream), stream.choice(tuple(_WHAT)), stream.between(2, 12))

    def end(self, world: World) -> Parts:
        every = _open_reports(world, self.forum)
        found = [one for one in every if one["is_comment"] in _WHAT[self.what] and one["score"] >= self.points]
        yield fair(1 <= len(found) <= 12)
        yield Key.all_of(Key.update("reports", where={"id": one["id"]}, status="dismissed") for one in found or top([]))
        yield Key.read_rows("reports", [one["id"] for one in every], "reason")
        yield facts.at("the reports", f"/f/{self.forum}/reports")
        on_pages = pages_of(len(every), pages.ON_A_PAGE)
        yield Effort(len(every), on_pages, 5 + on_pages + 2 * (len(found) + 1) * on_pages)

    def solve(self, page: Observation, *, again: bool = False) -> Walk:
        def wanted(report: pages.Complaint) -> bool:
            return report.is_comment in _WHAT[self.what] and report.points >= self.points

        page = yield from pages.open_reports(page, self.forum)
        yield from pages.reports(page)
        while (page := (yield from pages.go(page, f"/f/{self.forum}/reports"))) is not None:
            acted = yield from pages.act_on(page, wanted, "button", "Dismiss")
            if acted is None:
                break
            page = acted if again else page
        return done("mutate")


class RemoveDisliked(Mutate):
    """Remove the reported comments that people dislike."""

    name = "forum.remove-disliked"
    chore = "massive_memory"
    instruction = (
        "Go through the open reports in /f/{forum}. Remove every reported comment that has fewer than {points} points. "
        'Give "{reason}" as the reason. Leave submissions alone.'
    )
    levels = ("medium",)
    misread = {"points-ignored": {"points": 10**6}, "submissions-too": {"either": True}}
    may_agree = ("submissions-too",)
    ways = {"from-the-thread": {"thread": True}}

    user: str
    forum: str
    reason: str
    points: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(*_moderator(world, stream), stream.choice(_REASONS), stream.choice((0, *range(2, 10))))

    def end(self, world: World, *, either: bool = False) -> Parts:
        every = _open_reports(world, self.forum)
        found = [one for one in every if one["score"] < self.points and (either or one["is_comment"])]
        # Whatever else was reported of the same is decided with it.
        removed = {(one["is_comment"], one["comment_id"] or one["submission_id"]) for one in found}
        upheld = [one for one in every if (one["is_comment"], one["comment_id"] or one["submission_id"]) in removed]
        yield fair(1 <= len(removed) <= 6)
        yield Key.all_of([
            *(
                Key.update(
                    "comments" if is_comment else "submissions", where={"id": number}, state="removed",
                    removal_reason=self.reason,
                )
                for is_comment, number in sorted(removed) or top([])
            ),
            *(Key.update("reports", where={"id": one["id"]}, status="upheld") for one in upheld),
        ])  # fmt: skip
        yield Key.read_rows("reports", [one["id"] for one in every], "reason")
        yield facts.at("the reports", f"/f/{self.forum}/reports")
        on_pages = pages_of(len(every), pages.ON_A_PAGE)
        yield Effort(len(every), on_pages, 6 + 2 * on_pages + len(removed) * (on_pages + 4))

    def solve(self, page: Observation, *, thread: bool = False) -> Walk:
        def wanted(report: pages.Complaint) -> bool:
            return report.is_comment and report.points < self.points

        page = yield from pages.open_reports(page, self.forum)
        yield from pages.reports(page)
        while True:
            page = yield from pages.go(page, f"/f/{self.forum}/reports")
            acted = yield from pages.act_on(page, wanted, "link", "Remove Comment")
            if acted is None:
                return done("mutate")
            if thread:
                acted = yield from links(acted, "Cancel")
                # The first one is for the submission.
                own = next(node for node in acted.find_all("link") if node.name == "Remove" and "/c/" in node.url)
                acted = yield Action.of("click", own.id)
            page = yield from choose(acted, "Reason", self.reason)
            page = yield from click(page, "button", "Remove")
