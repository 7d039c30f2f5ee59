"""Voting, and leaving forums: small changes, many of them, after a long look."""

from operator import itemgetter
from typing import Self

from webassay.arena.forum import facts, pages, queries
from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key
from webassay.arena.kit.template import Mutate, Parts, fair, top
from webassay.arena.kit.walking import click, done
from webassay.core.interaction import Action, Observation, Walk
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream


def _upvotes(world: World, user: str, posts: list[Row]) -> Key:
    number = queries.user_id(world, user)
    return Key.all_of(Key.insert("submission_votes", user_id=number, submission_id=one["id"], value=1) for one in posts)


class UpvoteMuchDiscussed(Mutate):
    """Upvote what is discussed more than the average."""

    name = "forum.upvote-much-discussed"
    chore = "calculation"
    instruction = (
        "Look at the first {count} submissions under Top in /f/{forum}, over all time. Upvote those that have more "
        "comments than these {count} have on average."
    )
    levels = ("medium",)
    misread = {"points-instead": {"measure": "points"}, "all-of-them": {"measure": ""}}
    ways = {"one-by-one": {"apart": True}}

    user: str
    forum: str
    count: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        forum = queries.forum(world, stream, 40)
        return cls(queries.member(world, stream, forum), forum, stream.choice((15, 20, 25)))

    def end(self, world: World, *, measure: str = "comments") -> Parts:
        posts = queries.posts(world, self.forum, "top")[: self.count]
        column = {"comments": "comment_count", "points": "score"}.get(measure, "comment_count")
        total = sum(one[column] for one in posts)
        above = [one for one in posts if not measure or one[column] * self.count > total]
        yield fair(3 <= len(above) <= 9, all(one["author"] != self.user for one in posts))
        yield fair(all(one["comment_count"] * self.count != total for one in posts))
        yield _upvotes(world, self.user, above or top([]))
        yield facts.listed(posts, "comment_count")
        yield queries.forum_list(self.forum, "top")
        yield Effort(len(posts), 1, 6 + len(above), longest=6 + 2 * len(above))

    def solve(self, page: Observation, *, measure: str = "comments", apart: bool = False) -> Walk:
        page = yield from pages.open_forum(page, self.forum, "top")
        cards = pages.cards(page)[: self.count]
        total = sum(card.points if measure == "points" else card.comments for card in cards)
        above = [
            card.path
            for card in cards
            if not measure or (card.points if measure == "points" else card.comments) * self.count > total
        ]
        if not apart:
            yield from pages.vote_here(page, lambda card: card.path in above, set())
            return done("mutate")
        for path in above:
            page = yield from pages.go(page, path)
            yield from click(page, "button", "Upvote")
        return done("mutate")


class UpvoteAllOf(Mutate):
    """Upvote everything that somebody has posted in one forum."""

    name = "forum.upvote-all-of"
    chore = "massive_memory"
    instruction = "Upvote every submission that {person} has made in /f/{forum}."
    levels = ("medium",)
    misread = {"all-forums": {"forum": ""}, "first-page-only": {"limit": 25}}
    may_agree = ("first-page-only",)
    ways = {"one-by-one": {"apart": True}}

    user: str
    person: str
    forum: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        person = queries.poster(world, stream, 12, 60)
        forum = stream.choice(sorted({one["forum"] for one in queries.posts_by(world, person)}))
        return cls(queries.member(world, stream, forum), person, forum)

    def end(self, world: World, *, limit: int | None = None) -> Parts:
        every = queries.posts_by(world, self.person)
        found = [one for one in every[:limit] if self.forum in ("", one["forum"])]
        yield fair(3 <= len(found) <= 14, self.user != self.person)
        yield _upvotes(world, self.user, found or top([]))
        yield facts.listed(found, "title")
        yield facts.at("their submissions", f"/u/{self.person}/submissions")
        on_pages = pages_of(len(every), pages.ON_A_PAGE)
        yield Effort(len(every), on_pages, 3 + on_pages + len(found), longest=3 + on_pages + 2 * len(found))

    def solve(self, page: Observation, *, apart: bool = False) -> Walk:
        page = yield from pages.open_person(page, self.person, "submissions")
        if not apart:
            voted: set[str] = set()
            while True:
                page = yield from pages.vote_here(page, lambda card: self.forum in ("", card.forum), voted)
                if page.find("link", "More") is None:
                    return done("mutate")
                page = yield from click(page, "link", "More")
        for card in (yield from pages.read_list(page)):
            if card.forum == self.forum:
                page = yield from pages.go(page, card.path)
                yield from click(page, "button", "Upvote")
        return done("mutate")


class UnsubscribeFromSmall(Mutate):
    """Leave the forums that too little is posted in."""

    name = "forum.unsubscribe-from-small"
    chore = "massive_memory"
    instruction = "Unsubscribe me from every forum that has fewer than {fewest} submissions."
    levels = ("hard",)
    misread = {"few-subscribers": {"measure": "subscribers"}}
    ways = {"by-subscriptions": {"by_subscriptions": True}}

    user: str
    fewest: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        user = queries.person(
            world, stream, "(SELECT count(*) FROM subscriptions AS b WHERE b.user_id = u.id) BETWEEN 7 AND 20"
        )
        return cls(user, stream.choice((40, 60, 80, 100, 150, 200, 250)))

    def end(self, world: World, *, measure: str = "submissions") -> Parts:
        number = queries.user_id(world, self.user)
        mine = queries.rows(world, "SELECT forum_id FROM subscriptions WHERE user_id = ?", number)
        every = [one for one in queries.forums(world) if {"forum_id": one["id"]} in mine]
        small = [one for one in every if one[measure] < self.fewest]
        yield fair(2 <= len(small) < len(every), any(one["subscribers"] < self.fewest for one in every))
        yield Key.all_of(
            Key.delete("subscriptions", where={"user_id": number, "forum_id": one["id"]}) for one in small or top([])
        )
        yield facts.counted(every)
        yield facts.at("the directory", "/forums")
        count = len(queries.forums(world))
        yield Effort(count, pages_of(count, pages.ON_A_PAGE), 12 + 2 * len(small))

    def solve(self, page: Observation, *, measure: str = "submissions", by_subscriptions: bool = False) -> Walk:
        page = yield from click(page, "link", "Forums")
        first = page.url
        every = yield from pages.places(page)
        counts = {one.name: one.subscribers if measure == "subscribers" else one.submissions for one in every}
        small = sorted(name for name, count in counts.items() if count < self.fewest)
        if by_subscriptions:
            page = yield from pages.go(page, "/account/subscriptions")
            while (button := _leave(page, small)) is not None:
                page = yield from click(page, "button", button)
            return done("mutate")
        page = yield from pages.go(page, first[first.index("/forums") :])
        while True:
            if (button := _leave(page, small)) is not None:
                page = yield from click(page, "button", button)
            elif page.find("link", "More") is not None:
                page = yield from click(page, "link", "More")
            else:
                return done("mutate")


def _leave(page: Observation, names: list[str]) -> str | None:
    buttons = {node.name for node in page.find_all("button")}
    return next((f"Unsubscribe from {name}" for name in names if f"Unsubscribe from {name}" in buttons), None)


class DeleteUnloved(Mutate):
    """Delete one's own comments that nobody liked, in one forum."""

    name = "forum.delete-unloved"
    chore = "massive_memory"
    instruction = "Delete those of my comments in /f/{forum} that have fewer than {points} points."
    levels = ("medium", "hard")
    misread = {"all-forums": {"everywhere": True}, "that-many-as-well": {"slack": 1}}
    ways = {"by-overview": {"overview": True}}

    user: str
    forum: str
    points: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        user = queries.talker(world, stream, 20, 110)
        forum = stream.choice(sorted({one["forum"] for one in queries.comments_by(world, user)}))
        return cls(user, forum, stream.choice((0, 2, 3, 5)))

    def end(self, world: World, *, slack: int = 0, everywhere: bool = False) -> Parts:
        every = queries.comments_by(world, self.user)
        considered = [one for one in every if everywhere or one["forum"] == self.forum]
        unloved = [one for one in considered if one["score"] < self.points + slack]
        banned = queries.rows(world, "SELECT 1 AS one FROM bans WHERE user_id = ?", queries.user_id(world, self.user))
        edge = sum(one["score"] == self.points for one in considered)
        yield fair(2 <= len(unloved) <= 8, 1 <= edge <= 5, not banned)
        yield Key.all_of(
            Key.update("comments", where={"id": one["id"]}, state="deleted", body="") for one in unloved or top([])
        )
        here = sorted((one for one in every if one["forum"] == self.forum), key=itemgetter("id"))
        yield facts.said(here)
        yield facts.at("my comments", f"/u/{self.user}/comments")
        on_pages = pages_of(len(every), pages.ON_A_PAGE)
        yield Effort(len(every), on_pages, 5 + on_pages + 3 * len(unloved))

    def solve(self, page: Observation, *, overview: bool = False, slack: int = 0) -> Walk:
        page = yield from pages.open_person(page, self.user, "" if overview else "comments")
        if overview:
            page = yield from click(page, "link", "Comments")
        found = yield from pages.said(page)
        for one in found:
            if one.points < self.points + slack and one.forum == self.forum:
                page = yield from pages.go(page, one.path)
                # The submission may be one's own as well.
                own = next(node for node in page.find_all("link") if node.name == "Delete" and "/c/" in node.url)
                page = yield Action.of("click", own.id)
                page = yield from click(page, "button", "Delete Comment")
        return done("mutate")
