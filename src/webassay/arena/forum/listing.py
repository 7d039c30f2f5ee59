"""Long lists of submissions, which no order and no filter answers."""

import itertools
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from operator import itemgetter
from typing import Any, ClassVar, Self

from webassay.arena.forum import facts, pages, queries
from webassay.arena.kit.effort import Difficulty, Effort, pages_of
from webassay.arena.kit.key import Key
from webassay.arena.kit.template import Parts, Retrieve, clear, fair, top
from webassay.arena.kit.walking import answer, click
from webassay.core.interaction import Observation, Walk
from webassay.core.record import Json
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream

FIRST = {"first-page-only": {"limit": pages.ON_A_PAGE}}


class TopOfForum(Retrieve, abstract=True):
    """Reads the first so many submissions of a forum in one order."""

    levels: ClassVar[tuple[Difficulty, ...]] = ("hard", "extreme")
    ways = {"by-address": {"address": True}}
    sort: ClassVar[str] = "hot"
    column: ClassVar[str] = "comment_count"
    """What has to be read of each,"""
    kind_needed: ClassVar[str] = ""
    """or of each of one kind."""
    counts: ClassVar[tuple[int, ...]] = (60, 75, 100, 150, 250)

    forum: str
    count: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        count = stream.choice(cls.counts)
        return cls(queries.forum(world, stream, count + 10), count)

    @abstractmethod
    def conclusion(self, posts: list[Row], *_: Any, **how: Any) -> Parts:
        """Fairness and the key."""

    @abstractmethod
    def findings(self, cards: list[pages.PostCard]) -> Json:
        """The response, once all are read."""

    def end(self, world: World, *, sort: str = "", limit: int = 0, **how: Any) -> Parts:
        posts = queries.posts(world, self.forum, sort or self.sort)[: limit or self.count]
        yield from self.conclusion(posts, **how)
        yield facts.listed([one for one in posts if self.kind_needed in ("", one["kind"])], self.column)
        yield queries.forum_list(self.forum, self.sort)
        on_pages = pages_of(len(posts), pages.ON_A_PAGE)
        yield Effort(len(posts), on_pages, on_pages + 6)

    def solve(self, page: Observation, *, address: bool = False) -> Walk:
        page = yield from pages.open_forum(page, self.forum, self.sort, address=address)
        return self.findings((yield from pages.read_list(page, self.count)))


_RANGES = {"0-4": (0, 5), "5-9": (5, 10), "10-19": (10, 20), "20 or more": (20, 10**6)}


class CommentRanges(TopOfForum):
    """Count how many of the hottest submissions fall into each range of comments."""

    name = "forum.comment-ranges"
    chore = "massive_memory"
    instruction = (
        "Look at the first {count} submissions under Hot in /f/{forum}. How many of them have 0 to 4 comments, how "
        'many 5 to 9, 10 to 19, and 20 or more? Answer with one object with the keys "0-4", "5-9", "10-19" and '
        '"20 or more".'
    )
    misread = {**FIRST, "points-counted": {"measure": "score"}, "sorted-by-votes": {"sort": "top"}}

    def conclusion(self, posts: list[Row], *, measure: str = "comment_count") -> Parts:
        found = _in_ranges([one[measure] for one in posts])
        yield fair(min(found.values()) >= 1)
        yield Key.answer(found)

    def findings(self, cards: list[pages.PostCard]) -> Json:
        return answer({**_in_ranges([card.comments for card in cards])})


def _in_ranges(numbers: list[int]) -> dict[str, int]:
    return {name: sum(low <= one < high for one in numbers) for name, (low, high) in _RANGES.items()}


class DifferentPosters(TopOfForum):
    """Count the people behind the newest submissions, and find the busiest of them."""

    name = "forum.different-posters"
    chore = "massive_memory"
    instruction = (
        "Who posted the {count} newest submissions in /f/{forum}? Some names differ in a single character and are "
        'different people. Answer with one object with the keys "people", how many different people they are, and '
        '"busiest", the name of the one with the most of these submissions.'
    )
    reads = ("busiest",)
    levels = ("hard",)
    sort = "new"
    counts = (60, 75, 100, 150)
    column = "title"
    misread = {**FIRST, "sorted-by-heat": {"sort": "hot"}, "submissions-counted": {"apart": True}}
    may_agree = ("sorted-by-heat",)

    def conclusion(self, posts: list[Row], *, apart: bool = False) -> Parts:
        ranked = Counter(one["author"] for one in posts).most_common()
        yield fair(clear(ranked, itemgetter(1)), len(ranked) < len(posts))
        yield Key.answer({"people": len(posts) if apart else len(ranked), "busiest": ranked[0][0]})

    def findings(self, cards: list[pages.PostCard]) -> Json:
        ranked = Counter(card.author for card in cards).most_common()
        return answer({"people": len(ranked), "busiest": ranked[0][0]})


class OldestOfTop(TopOfForum):
    """Find the oldest of the submissions with the most points."""

    name = "forum.oldest-of-top"
    chore = "massive_memory"
    instruction = (
        "Which is the oldest of the first {count} submissions under Top in /f/{forum}, over all time? Answer with one "
        'object with the keys "title" and "year", the year in which it was submitted.'
    )
    reads = ("title", "year")
    levels = ("medium", "hard", "extreme")
    sort = "top"
    column = "created_at"
    counts = (30, 40, 60, 100, 150, 250)
    misread = {**FIRST, "newest": {"pick": max}, "most-points": {"pick": lambda posts, key: posts[0]}}

    def conclusion(self, posts: list[Row], *, pick: Callable[..., Row] = min) -> Parts:
        oldest = pick(posts, key=itemgetter("created_at"))
        yield fair([one["title"] for one in posts].count(oldest["title"]) == 1)
        yield Key.answer({"title": oldest["title"], "year": int(oldest["created_at"][:4])})

    def findings(self, cards: list[pages.PostCard]) -> Json:
        oldest = min(cards, key=lambda card: card.when)
        return answer({"title": oldest.title, "year": oldest.when.year})


class LongestSilence(TopOfForum):
    """Find the submission that ended the longest silence in a forum."""

    name = "forum.longest-silence"
    chore = "calculation"
    instruction = (
        "Look at the {count} newest submissions in /f/{forum}. Between which two of them, one after the other, did the "
        "longest time pass? Answer with the title of the later one of these two."
    )
    reads = ("*",)
    levels = ("medium", "hard")
    sort = "new"
    column = "created_at"
    counts = (30, 40, 50, 75, 100)
    misread = {**FIRST, "earlier-one": {"later": 1}, "shortest-time": {"pick": min}}

    def conclusion(self, posts: list[Row], *, later: int = 0, pick: Callable[..., Any] = max) -> Parts:
        times = [datetime.fromisoformat(one["created_at"]) for one in posts]
        gaps = sorted((before - after for before, after in itertools.pairwise(times)), reverse=True)
        # Lists say hours and minutes: nobody can tell less apart.
        yield fair((gaps[0] - gaps[1]).total_seconds() > 300)
        _, place = pick((times[place] - times[place + 1], place) for place in range(len(times) - 1))
        yield Key.answer(posts[place + later]["title"])

    def findings(self, cards: list[pages.PostCard]) -> Json:
        gaps = [(one.when - other.when, one.title) for one, other in itertools.pairwise(cards)]
        return answer(max(gaps, key=itemgetter(0))[1])


class MoreTalkThanLove(TopOfForum):
    """Tell which share of submissions has more comments than points."""

    name = "forum.more-talk-than-love"
    chore = "calculation"
    instruction = (
        "How many of the first {count} submissions under Hot in /f/{forum} have more comments than points, and how "
        "many comments do these have together? Equally many do not count. Answer with one object with the keys "
        '"submissions" and "comments".'
    )
    misread = {**FIRST, "equal-counts-too": {"slack": 1}, "the-others": {"others": True}}
    may_agree = ("equal-counts-too",)

    def conclusion(self, posts: list[Row], *, slack: int = 0, others: bool = False) -> Parts:
        found = [one["comment_count"] for one in posts if (one["comment_count"] + slack > one["score"]) != others]
        yield fair(len(found) >= 3)
        yield Key.answer({"submissions": len(found), "comments": sum(found)})

    def findings(self, cards: list[pages.PostCard]) -> Json:
        found = [card.comments for card in cards if card.comments > card.points]
        return answer({"submissions": len(found), "comments": sum(found)})


class MostLinkedSite(TopOfForum):
    """Find the site that most links lead to."""

    name = "forum.most-linked-site"
    chore = "massive_memory"
    instruction = (
        "Which site do most of the first {count} submissions under Top in /f/{forum}, over all time, link to? Answer "
        'with one object with the keys "site", as it stands beside the titles, and "links", how many lead there.'
    )
    reads = ("site",)
    levels = ("medium", "hard", "extreme")
    sort = "top"
    column = "url"
    kind_needed = "link"
    counts = (40, 50, 75, 100, 150, 250)
    misread = {**FIRST, "second": {"place": 1}, "sorted-by-heat": {"sort": "hot"}}

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        linked = [
            one["name"]
            for one in queries.rows(
                world,
                "SELECT f.name FROM forums AS f JOIN submissions AS s ON s.forum_id = f.id AND s.state = 'visible'"
                " GROUP BY f.id HAVING sum(s.kind = 'link') >= 30 ORDER BY f.id",
            )
        ]
        one = super().draw(world, stream)
        return cls(stream.choice([name for name in linked if len(queries.posts(world, name)) > one.count]), one.count)

    def conclusion(self, posts: list[Row], *, place: int = 0) -> Parts:
        ranked = Counter(one["url"].split("/")[2] for one in posts if one["kind"] == "link").most_common()
        yield fair(clear(ranked, itemgetter(1)))
        site, links = ranked[place]
        yield Key.answer({"site": site, "links": links})

    def findings(self, cards: list[pages.PostCard]) -> Json:
        ((site, links),) = Counter(card.host for card in cards if card.host).most_common(1)
        return answer({"site": site, "links": links})


class BusiestMonth(Retrieve):
    """Find the month of a year in which a forum had the most submissions."""

    name = "forum.busiest-month"
    chore = "massive_memory"
    instruction = (
        "In which month of {year} were most submissions posted in /f/{forum}? Answer with one object with the keys "
        '"month", its number, and "submissions", how many there were.'
    )
    levels = ("hard", "extreme")
    misread = {"wrong-year": {"earlier": 1}, "comments-counted": {"weigh": True}, "second": {"place": 1}}
    may_agree = ("comments-counted",)
    ways = {"by-address": {"address": True}}

    forum: str
    year: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(queries.forum(world, stream, 90, 520), stream.choice((2023, 2024, 2025)))

    def end(self, world: World, *, earlier: int = 0, weigh: bool = False, place: int = 0) -> Parts:
        since = queries.posts(world, self.forum, since=f"{self.year - earlier}")
        months: Counter[int] = Counter()
        for one in since:
            if one["created_at"].startswith(f"{self.year - earlier}"):
                months[int(one["created_at"][5:7])] += one["comment_count"] if weigh else 1
        ranked = months.most_common()
        yield fair(len(ranked) >= 6, clear(ranked, itemgetter(1)), len(since) >= 40)
        month, count = top(ranked[place:])
        yield Key.answer({"month": month, "submissions": count})
        yield facts.listed([one for one in since if one["created_at"] < f"{self.year + 1}"], "created_at")
        yield queries.forum_list(self.forum, "new")
        on_pages = pages_of(len(since), pages.ON_A_PAGE)
        yield Effort(len(since), on_pages, on_pages + 7)

    def solve(self, page: Observation, *, address: bool = False) -> Walk:
        page = yield from pages.open_forum(page, self.forum, "new", address=address)
        found = pages.cards(page)
        while found[-1].when.year >= self.year and page.find("link", "More") is not None:
            page = yield from click(page, "link", "More")
            found += pages.cards(page)
        ((month, count),) = Counter(card.when.month for card in found if card.when.year == self.year).most_common(1)
        return answer({"month": month, "submissions": count})


class InBothForums(Retrieve):
    """Find the people who are among the first in two forums."""

    name = "forum.in-both-forums"
    chore = "massive_memory"
    instruction = (
        "Who posted one of the first {count} submissions under Top in /f/{forum} and also one of the first {count} "
        "under Top in /f/{other}, both over all time? Answer with the usernames, one element for each."
    )
    reads = ("*",)
    levels = ("hard",)
    misread = {
        "hot-instead": {"sort": "hot"},
        "first-page-only": {"limit": 25},
        "second-half-forgotten": {"others": 25},
    }
    may_agree = ("second-half-forgotten",)
    ways = {"by-address": {"address": True}}

    forum: str
    other: str
    count: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        large = [one["name"] for one in queries.forums(world, 70)]
        one, other = stream.sample(large, 2)
        return cls(one, other, stream.choice((50, 60)))

    def end(self, world: World, *, sort: str = "top", limit: int = 0, others: int = 0) -> Parts:
        here = queries.posts(world, self.forum, sort)[: limit or self.count]
        there = queries.posts(world, self.other, sort)[: limit or others or self.count]
        both = {one["author"] for one in here} & {one["author"] for one in there}
        yield fair(1 <= len(both) <= 6)
        if not both:
            top([])
        yield Key.answer(*sorted(both))
        yield facts.listed([*here, *there], "title")
        yield queries.forum_list(self.forum, "top") & queries.forum_list(self.other, "top")
        yield Effort(2 * self.count, 6, 18)

    def solve(self, page: Observation, *, address: bool = False) -> Walk:
        found = []
        for name in (self.forum, self.other):
            page = yield from pages.open_forum(page, name, "top", address=address)
            found.append({card.author for card in (yield from pages.read_list(page, self.count))})
        return answer(*sorted(found[0] & found[1]))
