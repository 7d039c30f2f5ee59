"""What people have posted and said, and how it was received."""

from collections import Counter
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Self

from webassay.arena.forum import facts, pages, queries
from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key, cell
from webassay.arena.kit.template import Parts, Retrieve, clear, fair, top
from webassay.arena.kit.walking import answer, click, links
from webassay.core.interaction import Observation, Walk
from webassay.core.task import PagePattern
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream


def _steps(rows: int) -> int:
    """To read a list of somebody's posts."""
    return pages_of(rows, pages.ON_A_PAGE) + 4


def _checkpoint(person: str, *tabs: str) -> Key:
    return facts.at(person, *(f"/u/{person}/{tab}" for tab in tabs))


class LovedComments(Retrieve):
    """Add up the points of somebody's comments in one forum, without those below zero."""

    name = "forum.loved-comments"
    chore = "calculation"
    instruction = (
        "How many points do the comments of {person} in /f/{forum} have together? Leave out comments with fewer than "
        'zero points. Answer with one object with the keys "comments", how many you added up, and "points".'
    )
    levels = ("medium", "hard")
    misread = {
        "all-forums": {"forum": ""},
        "negative-counted": {"least": -(10**6)},
        "first-page-only": {"limit": 25},
        "upvotes-counted": {"column": "ups"},
    }
    may_agree = ("negative-counted", "first-page-only")
    ways = {"by-overview": {"overview": True}}

    person: str
    forum: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        person = queries.talker(world, stream, 35, 260)
        return cls(person, stream.choice(sorted({one["forum"] for one in queries.comments_by(world, person)})))

    def end(self, world: World, *, least: int = 0, limit: int | None = None, column: str = "score") -> Parts:
        every = queries.comments_by(world, self.person)
        found = [one for one in every[:limit] if self.forum in ("", one["forum"]) and one["score"] >= least]
        yield fair(len(found) >= 6, any(one["score"] < 0 for one in every))
        yield Key.answer({"comments": len(found), "points": sum(one[column] for one in found)})
        yield facts.said([one for one in every if one["forum"] == self.forum])
        yield _checkpoint(self.person, "comments")
        yield Effort(len(every), pages_of(len(every), pages.ON_A_PAGE), _steps(len(every)))

    def solve(self, page: Observation, *, overview: bool = False) -> Walk:
        page = yield from pages.open_person(page, self.person, "" if overview else "comments")
        if overview:
            page = yield from click(page, "link", "Comments")
        found = [one.points for one in (yield from pages.said(page)) if one.forum == self.forum and one.points >= 0]
        return answer({"comments": len(found), "points": sum(found)})


class FavoriteForum(Retrieve):
    """Find the forum in which somebody has said the most."""

    name = "forum.favorite-forum"
    chore = "massive_memory"
    instruction = (
        "In which forum has {person} written the most comments, and how many there? The account {other} is somebody "
        'else. Answer with one object with the keys "forum" and "comments".'
    )
    reads = ("forum",)
    levels = ("medium", "hard")
    misread = {
        "first-page-only": {"limit": 25},
        "somebody-else": {"swapped": True},
        "most-points": {"weigh": True},
        "submissions-counted": {"posted": True},
    }
    may_agree = ("most-points", "submissions-counted", "somebody-else")
    ways = {"by-overview": {"overview": True}}

    person: str
    other: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        pairs = [pair for one in queries.lookalikes(world) for pair in (one, one[::-1])]
        busy = [pair for pair in pairs if 30 <= len(queries.comments_by(world, pair[0])) <= 260]
        return cls(*stream.choice(busy))

    def end(
        self, world: World, *, limit: int | None = None, swapped: bool = False, weigh: bool = False,
        posted: bool = False,
    ) -> Parts:  # fmt: skip
        name = self.other if swapped else self.person
        every = queries.posts_by(world, name) if posted else queries.comments_by(world, name)
        forums: Counter[str] = Counter()
        for one in every[:limit]:
            forums[one["forum"]] += max(0, one["score"]) if weigh else 1
        ranked = forums.most_common()
        yield fair(clear(ranked, itemgetter(1)), len(every) > pages.ON_A_PAGE)
        forum, count = top(ranked)
        yield Key.answer({"forum": forum, "comments": count})
        yield facts.said(every)
        yield _checkpoint(self.person, "comments")
        yield Effort(len(every), pages_of(len(every), pages.ON_A_PAGE), _steps(len(every)))

    def solve(self, page: Observation, *, overview: bool = False) -> Walk:
        page = yield from pages.open_person(page, self.person, "" if overview else "comments")
        if overview:
            page = yield from click(page, "link", "Comments")
        ((forum, count),) = Counter(one.forum for one in (yield from pages.said(page))).most_common(1)
        return answer({"forum": forum, "comments": count})


class DownvoteShare(Retrieve):
    """Tell which share of the votes on somebody's submissions of a year is against them."""

    name = "forum.downvote-share"
    chore = "calculation"
    instruction = (
        "What share of all votes on {person}'s submissions of {year} are downvotes? Answer with one object with the "
        'keys "votes", how many votes there are, up and down, and "percent", the share of downvotes, rounded to a '
        "whole number."
    )
    levels = ("medium", "hard")
    misread = {
        "every-year": {"every_year": True},
        "of-the-upvotes": {"of_ups": True},
        "average-of-shares": {"averaged": True},
    }
    may_agree = ("average-of-shares",)
    ways = {"one-by-one": {"one_by_one": True}}

    person: str
    year: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(queries.poster(world, stream, 15, 100), stream.choice((2023, 2024, 2025)))

    def end(self, world: World, *, every_year: bool = False, of_ups: bool = False, averaged: bool = False) -> Parts:
        every = queries.posts_by(world, self.person)
        found = [one for one in every if every_year or one["created_at"].startswith(str(self.year))]
        ups, downs = sum(one["ups"] for one in found), sum(one["downs"] for one in found)
        whole = ups if of_ups else ups + downs
        shares = [100 * one["downs"] / max(1, one["ups"] + one["downs"]) for one in found]
        # Nobody should have to wonder how to round.
        yield fair(5 <= len(found) <= 14, downs > 0, abs(100 * downs / max(1, whole) % 1 - 0.5) > 0.02)
        percent = sum(shares) / max(1, len(shares)) if averaged else 100 * downs / max(1, whole)
        yield Key.answer({"votes": whole, "percent": round(percent)})
        yield Key.read_rows("submissions", [one["id"] for one in found], "ups")
        yield Key.read_rows("submissions", [one["id"] for one in found], "downs")
        yield _checkpoint(self.person, "votes")
        longest = _steps(len(every)) + 2 * len(found) + 2
        yield Effort(len(every), pages_of(len(every), pages.ON_A_PAGE), _steps(len(every)), longest)

    def solve(self, page: Observation, *, one_by_one: bool = False) -> Walk:
        if not one_by_one:
            page = yield from pages.open_person(page, self.person)
            page = yield from click(page, "link", "Votes Received")
            lines = [one for one in (yield from pages.received(page)) if one.when.year == self.year]
            pairs = [(one.ups, one.downs) for one in lines]
        else:
            page = yield from pages.open_person(page, self.person, "submissions")
            cards = yield from pages.read_list(page)
            pairs = []
            for card in cards:
                if card.when.year == self.year:
                    page = yield from pages.go(page, card.path)
                    pairs.append(pages.votes(page))
        ups, downs = sum(up for up, _ in pairs), sum(down for _, down in pairs)
        return answer({"votes": ups + downs, "percent": round(100 * downs / (ups + downs))})


class LongestMember(Retrieve):
    """Find out who of the authors of the best submissions has been there the longest."""

    name = "forum.longest-member"
    chore = "long_term_memory"
    instruction = (
        "Who wrote the first {count} submissions under {sort} in /f/{forum}? Of these people, tell me who has been a "
        'member of Porchlight the longest. Answer with one object with the keys "name" and "title", that of the first '
        "submission of this person in that list."
    )
    reads = ("name", "title")
    levels = ("hard",)
    misread = {"newest-member": {"pick": max}, "first-author": {"pick": lambda people, key: people[0]}}
    ways = {"by-address": {"address": True}}

    forum: str
    sort: str
    count: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        sort = stream.choice(("Hot", "New", "Most Commented"))
        return cls(queries.forum(world, stream, 40), sort, stream.between(8, 12))

    @property
    def _order(self) -> str:
        return self.sort.lower().replace(" ", "-")

    def end(self, world: World, *, pick: Callable[..., str] = min) -> Parts:
        posts = queries.posts(world, self.forum, self._order)[: self.count]
        people = list(dict.fromkeys(str(one["author"]) for one in posts))
        since = {one["name"]: one["created_at"] for one in queries.rows(world, "SELECT name, created_at FROM users")}
        first = pick(people, key=lambda name: since[name])
        days = sorted(since[name][:10] for name in people)
        yield fair(len(people) >= 6, days[0] != days[1])
        yield Key.answer({"name": first, "title": next(one["title"] for one in posts if one["author"] == first)})
        yield facts.listed(posts, "title")
        yield facts.introduced({one["user_id"]: None for one in posts})
        yield queries.forum_list(self.forum, self._order)
        yield Effort(len(posts) + len(people), 1 + len(people), 7 + len(people), 7 + 2 * len(people))

    def solve(self, page: Observation, *, address: bool = False) -> Walk:
        page = yield from pages.open_forum(page, self.forum, self._order, address=address)
        cards = pages.cards(page)[: self.count]
        since = {}
        for name in dict.fromkeys(card.author for card in cards):
            page = yield from pages.open_person(page, name)
            since[name] = pages.member_since(page)
        first = min(since, key=lambda name: since[name])
        return answer({"name": first, "title": next(card.title for card in cards if card.author == first)})


class SharedForums(Retrieve):
    """Find the forums in which two people have both posted."""

    name = "forum.shared-forums"
    chore = "long_term_memory"
    instruction = (
        "In which forums have both {person} and {other} made submissions? Comments do not count. Answer with the "
        "names, one element for each forum."
    )
    reads = ("*",)
    levels = ("medium", "hard")
    misread = {"comments-counted": {"said": True}, "first-page-only": {"limit": 25}, "one-of-them": {"either": True}}
    may_agree = ("comments-counted", "first-page-only")
    ways = {"by-votes": {"by_votes": True}}

    person: str
    other: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(queries.poster(world, stream, 15, 100), queries.poster(world, stream, 15, 100))

    def end(self, world: World, *, said: bool = False, limit: int | None = None, either: bool = False) -> Parts:
        lists = [queries.posts_by(world, name)[:limit] for name in (self.person, self.other)]
        mine, theirs = ({one["forum"] for one in found} for found in lists)
        if said:
            theirs |= {one["forum"] for one in queries.comments_by(world, self.other)}
        shared = mine | theirs if either else mine & theirs
        yield fair(self.person != self.other, 2 <= len(shared) <= 8, mine != theirs)
        if not shared:
            top([])
        yield Key.answer(*sorted(shared))
        # Of each forum that one of them posted in, one submission.
        every = [one for found in lists for one in {one["forum"]: one for one in found}.values()]
        yield Key.seen_share(0.9, [cell("submissions", one["id"], "title") for one in every])
        yield _checkpoint(self.person, "submissions")
        yield _checkpoint(self.other, "submissions")
        counts = [len(found) for found in lists]
        on_pages = sum(pages_of(count, pages.ON_A_PAGE) for count in counts)
        yield Effort(sum(counts), on_pages, sum(map(_steps, counts)))

    def solve(self, page: Observation, *, by_votes: bool = False) -> Walk:
        found = []
        for name in (self.person, self.other):
            page = yield from pages.open_person(page, name, "votes" if by_votes else "submissions")
            if by_votes:
                found.append({line.forum for line in (yield from pages.received(page))})
            else:
                found.append({card.forum for card in (yield from pages.read_list(page))})
        return answer(*sorted(found[0] & found[1]))


class AuthorElsewhere(Retrieve):
    """Find out what the author of the most discussed submission has posted elsewhere."""

    name = "forum.author-elsewhere"
    chore = "long_term_memory"
    instruction = (
        "Find the submission with the most comments in /f/{forum} in the past year. How many submissions has its "
        "author made in other forums, and how many points does the best of these have? Answer with one object with "
        'the keys "author", "submissions" and "points".'
    )
    reads = ("author",)
    levels = ("medium",)
    misread = {
        "all-time": {"since": ""},
        "most-points-instead": {"sort": "top"},
        "same-forum-counted": {"elsewhere": False},
    }
    may_agree = ("all-time", "most-points-instead")
    ways = {"by-votes": {"by_votes": True}, "by-address": {"address": True}}

    forum: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(queries.forum(world, stream, 15))

    def end(
        self, world: World, *, since: str = "2025-03-01 09:00:00", sort: str = "most-commented",
        elsewhere: bool = True,
    ) -> Parts:  # fmt: skip
        ranked = queries.posts(world, self.forum, sort, since)
        first = top(ranked)
        every = queries.posts_by(world, first["author"])
        others = [one for one in every if not elsewhere or one["forum"] != self.forum]
        yield fair(clear(ranked, itemgetter("comment_count")), 3 <= len(others) <= 100)
        points = max((one["score"] for one in others), default=0)
        yield Key.answer({"author": first["author"], "submissions": len(others), "points": points})
        yield Key.read(cell("submissions", first["id"], "comment_count")) & facts.listed(others, "score")
        yield facts.at("the list", f"/f/{self.forum}/most-commented")
        yield Effort(len(every) + 1, 1 + pages_of(len(every), pages.ON_A_PAGE), 5 + _steps(len(every)))

    def solve(self, page: Observation, *, address: bool = False, by_votes: bool = False) -> Walk:
        page = yield from pages.open_forum(page, self.forum, "most-commented", time="Past Year", address=address)
        author = pages.cards(page)[0].author
        page = yield from links(page, author)
        if by_votes:
            page = yield from click(page, "link", "Votes Received")
            found = [(one.forum, one.ups - one.downs) for one in (yield from pages.received(page))]
        else:
            page = yield from click(page, "link", "Submissions")
            found = [(card.forum, card.points) for card in (yield from pages.read_list(page))]
        points = [score for forum, score in found if forum != self.forum]
        return answer({"author": author, "submissions": len(points), "points": max(points)})


class BestOfMine(Retrieve):
    """Find the most loved of one's own latest submissions outside one forum."""

    name = "forum.best-of-mine"
    chore = "massive_memory"
    instruction = (
        "Look at my {count} latest submissions. Which of those with fewer than {comments} comments has the most "
        "points? Answer with its title."
    )
    reads = ("*",)
    levels = ("medium", "hard")
    misread = {
        "comments-ignored": {"comments": 10**6},
        "all-submissions": {"count": 10**6},
        "first-page-only": {"count": 25},
        "most-comments": {"measure": "comment_count"},
    }
    may_agree = ("all-submissions", "first-page-only", "most-comments")
    ways = {"by-overview": {"overview": True}}

    user: str
    count: int
    comments: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        user = stream.choice(("juniper_hale", queries.poster(world, stream, 35, 100)))
        most = len(queries.posts_by(world, user))
        count = stream.choice([count for count in (30, 40, 50, 75, 100, 120) if count <= most])
        return cls(user, count, stream.between(2, 6))

    def end(self, world: World, *, measure: str = "score") -> Parts:
        found = queries.posts_by(world, self.user)[: self.count]
        quiet = [one for one in found if one["comment_count"] < self.comments]
        ranked: Sequence[Row] = sorted(quiet, key=itemgetter(measure), reverse=True)
        yield fair(len(quiet) >= 3, clear(ranked, itemgetter(measure)))
        yield Key.answer(top(ranked)["title"])
        yield facts.listed(found, "comment_count")
        yield Key.checkpoint("mine", PagePattern(site="forum", path=f"/u/{self.user}/submissions"))
        yield Effort(len(found), pages_of(len(found), pages.ON_A_PAGE), _steps(len(found)) + 1)

    def solve(self, page: Observation, *, overview: bool = False) -> Walk:
        if overview:
            page = yield from links(page, self.user, "Submissions")
        else:
            page = yield from pages.open_person(page, self.user, "submissions")
        cards = yield from pages.read_list(page, self.count)
        return answer(max((card for card in cards if card.comments < self.comments), key=lambda one: one.points).title)
