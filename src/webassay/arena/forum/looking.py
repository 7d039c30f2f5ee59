"""What is on the pictures that people post. Their titles do not say it: whoever cannot look at them cannot know."""

import json
from collections.abc import Callable
from operator import itemgetter
from typing import Any, Self

from webassay.arena.forum import pages, queries, seeing
from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key, picture
from webassay.arena.kit.looking import ticked
from webassay.arena.kit.template import Mutate, Parts, Retrieve, clear, fair, top
from webassay.arena.kit.walking import Reading, answer, click, done
from webassay.core.interaction import Observation, Walk
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream

_PICTURED = (
    "SELECT s.id AS submission, p.id AS picture, p.kind, p.heading, p.facts FROM submissions AS s"
    " JOIN pictures AS p ON s.url = '/pictures/' || p.id || '.svg' WHERE s.state = 'visible' ORDER BY s.id"
)


def _on_it(world: World) -> dict[int, tuple[Row, dict[str, Any]]]:
    """By the submission: its picture, and what is on it."""
    known = {one["submission"]: one for one in queries.rows(world, _PICTURED)}
    return {number: (one, json.loads(one["facts"])) for number, one in known.items()}


def _seen(world: World, posts: list[Row]) -> Key:
    shown = _on_it(world)
    return Key.read(*(picture(f"/pictures/{shown[one['id']][0]['picture']}.svg") for one in posts))


def _open_picture(page: Observation) -> Reading[Observation]:
    """From a submission to its picture, by itself."""
    address = next(node.name for node in page.nodes if node.name.startswith("/pictures/"))
    return (yield from pages.go(page, address))


def _titled(world: World, posts: list[Row]) -> list[Row]:
    """Those whose title nobody else has used."""
    unique = {
        one["title"] for one in queries.rows(world, "SELECT title FROM submissions GROUP BY title HAVING count(*) = 1")
    }
    return [one for one in posts if one["title"] in unique and len(one["title"]) < 120]


class SumOfReadings(Retrieve):
    """Add up what the displays on three pictures show."""

    name = "forum.sum-of-readings"
    chore = "calculation"
    instruction = (
        'Three pictures show a display with a number: "{one}", "{other}" and "{third}". What do these numbers come to, '
        "and what is the largest of them? Answer with one object with the keys "
        '"sum" and "largest".'
    )
    levels = ("medium",)
    modality = "tree+screenshot"
    tags = ("screenshot",)
    misread = {"last-missed": {"count": 2}, "points-added": {"points": True}}
    ways = {"in-the-thread": {"in_place": True}}

    one: str
    other: str
    third: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        meters = {number for number, (found, _) in _on_it(world).items() if found["kind"] == "meter"}
        posts = [one for one in queries.find_posts(world, "s.kind = 'image'") if one["id"] in meters]
        return cls(*(one["title"] for one in stream.sample(_titled(world, posts), 3)))

    def end(self, world: World, *, count: int = 3, points: bool = False) -> Parts:
        posts = [queries.post(world, title) for title in (self.one, self.other, self.third)]
        shown = _on_it(world)
        numbers = [one["score"] if points else shown[one["id"]][1]["reading"] for one in posts[:count]]
        yield Key.answer({"sum": sum(numbers), "largest": max(numbers)})
        yield _seen(world, posts)
        yield Key.all_of(Key.checkpoint(one["title"], queries.post_page(one)) for one in posts)
        yield Effort(rows=3, pages=3, steps=16)

    def solve(self, page: Observation, *, in_place: bool = False) -> Walk:
        numbers = []
        for title in (self.one, self.other, self.third):
            page = yield from pages.open_post(page, title)
            if in_place:
                numbers.append(seeing.reading(page, seeing.place_of(page)))
            else:
                shown = yield from _open_picture(page)
                numbers.append(seeing.reading(shown, (0, 0)))
                page = yield from pages.go(shown, "/")
        return answer({"sum": sum(numbers), "largest": max(numbers)})


class BoxesInCommon(Retrieve):
    """Find the boxes that are ticked on one card and not on the other."""

    name = "forum.boxes-in-common"
    chore = "long_term_memory"
    instruction = (
        'Each of two pictures shows a card with boxes: "{one}" and "{other}". Which boxes are ticked on the first one '
        "but not on the second? Answer with what stands beside them, one element for each box."
    )
    levels = ("medium",)
    modality = "tree+screenshot"
    tags = ("screenshot",)
    misread = {
        "ticked-on-both": {"both": True},
        "first-card-only": {"ignored": True},
        "the-other-way": {"swapped": True},
    }
    may_agree = ("first-card-only",)
    ways = {"other-card-first": {"backwards": True}}

    one: str
    other: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        cards: dict[str, set[int]] = {}
        for number, (found, _) in _on_it(world).items():
            if found["kind"] == "checklist":
                cards.setdefault(found["heading"], set()).add(number)
        same = cards[stream.choice(sorted(cards))]
        posts = [one for one in queries.find_posts(world, "s.kind = 'image'") if one["id"] in same]
        return cls(*(one["title"] for one in stream.sample(_titled(world, posts), 2)))

    def end(self, world: World, *, both: bool = False, ignored: bool = False, swapped: bool = False) -> Parts:
        posts = [queries.post(world, title) for title in (self.one, self.other)]
        first, second = ({*_on_it(world)[one["id"]][1]["ticked"]} for one in posts)
        if swapped:
            first, second = second, first
        found = first & second if both else first if ignored else first - second
        yield fair(first - second, first & second, first - second != second - first)
        yield Key.answer(*sorted(found or top([])))
        yield _seen(world, posts)
        yield Key.all_of(Key.checkpoint(one["title"], queries.post_page(one)) for one in posts)
        yield Effort(rows=2, pages=2, steps=11)

    def solve(self, page: Observation, *, backwards: bool = False) -> Walk:
        marks: dict[str, list[str]] = {}
        titles = (self.one, self.other)
        for title in reversed(titles) if backwards else titles:
            page = yield from pages.open_post(page, title)
            shown = yield from _open_picture(page)
            marks[title] = [node.name for node in ticked(shown)]
            page = yield from pages.go(shown, "/")
        return answer(*(name for name in marks[self.one] if name not in marks[self.other]))


class CardsWithStars(Retrieve):
    """Count the pictures of a forum that show a card with many stars."""

    name = "forum.cards-with-stars"
    chore = "massive_memory"
    instruction = (
        "Some of the {count} newest pictures in /f/{forum} show a card with five stars, of which some are gold and the "
        "others gray. How many of these cards are there, and how many gold stars do they have together? Answer with "
        'one object with the keys "cards" and "gold".'
    )
    levels = ("hard",)
    modality = "tree+screenshot"
    tags = ("screenshot",)
    misread = {"gray-counted": {"all_five": True}, "last-missed": {"skipped": 1}}
    ways = {"by-address": {"address": True}}

    forum: str
    count: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        count = stream.between(10, 16)
        pictured = [
            one["name"]
            for one in queries.forums(world, 40)
            if sum(post["kind"] == "image" for post in queries.posts(world, one["name"])) > count
        ]
        return cls(stream.choice(pictured), count)

    def end(self, world: World, *, all_five: bool = False, skipped: int = 0) -> Parts:
        every = queries.posts(world, self.forum)
        posts = [one for one in every if one["kind"] == "image"][: self.count]
        shown = _on_it(world)
        stars = [shown[one["id"]][1]["stars"] for one in posts if shown[one["id"]][0]["kind"] == "stars"]
        counted = stars[: len(stars) - skipped]
        yield fair(2 <= len(stars) <= 6, any(number < 5 for number in stars))
        yield Key.answer({"cards": len(counted), "gold": 5 * len(counted) if all_five else sum(counted)})
        yield _seen(world, posts)
        yield queries.forum_list(self.forum, "new")
        lists = pages_of(every.index(posts[-1]) + 1, pages.ON_A_PAGE)
        yield Effort(len(posts), len(posts) + lists, 7 + lists + len(posts))

    def solve(self, page: Observation, *, address: bool = False) -> Walk:
        page = yield from pages.open_forum(page, self.forum, "new", address=address)
        found = [card for card in pages.cards(page) if card.is_picture]
        while len(found) < self.count:
            page = yield from click(page, "link", "More")
            found += [card for card in pages.cards(page) if card.is_picture]
        stars = []
        for card in found[: self.count]:
            page = yield from pages.go(page, card.path)
            stars.append(seeing.stars(page))
        return answer({"cards": sum(map(bool, stars)), "gold": sum(stars)})


class UpvoteHighest(Mutate):
    """Upvote the picture that shows the highest number among somebody's or a forum's."""

    name = "forum.upvote-highest-reading"
    chore = "long_term_memory"
    instruction = (
        "Three pictures show a display with a number. Upvote the one with the highest number and downvote the one with "
        'the lowest: "{one}", "{other}", "{third}".'
    )
    levels = ("medium",)
    modality = "tree+screenshot"
    tags = ("screenshot",)
    misread = {"by-points": {"by_points": True}, "upside-down": {"turned": True}}
    may_agree = ("by-points",)
    ways = {"in-the-thread": {"in_place": True}}

    user: str
    one: str
    other: str
    third: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        three = SumOfReadings.draw(world, stream)
        return cls(queries.member(world, stream, "pics"), three.one, three.other, three.third)

    def end(self, world: World, *, by_points: bool = False, turned: bool = False) -> Parts:
        posts = [queries.post(world, title) for title in (self.one, self.other, self.third)]
        shown = _on_it(world)
        measure: Callable[[Row], int] = (
            itemgetter("score") if by_points else lambda post: int(shown[post["id"]][1]["reading"])
        )
        ranked = sorted(posts, key=measure, reverse=not turned)
        number = queries.user_id(world, self.user)
        yield fair(clear(ranked, measure), all(one["author"] != self.user for one in posts))
        yield Key.insert("submission_votes", user_id=number, submission_id=ranked[0]["id"], value=1) & Key.insert(
            "submission_votes", user_id=number, submission_id=ranked[2]["id"], value=-1
        )
        yield _seen(world, posts)
        yield Key.all_of(Key.checkpoint(one["title"], queries.post_page(one)) for one in posts)
        yield Effort(rows=3, pages=3, steps=20)

    def solve(self, page: Observation, *, turned: bool = False, in_place: bool = False) -> Walk:
        numbers = {}
        for title in (self.one, self.other, self.third):
            page = yield from pages.open_post(page, title)
            url = page.url
            if in_place:
                numbers[url] = seeing.reading(page, seeing.place_of(page))
            else:
                page = yield from _open_picture(page)
                numbers[url] = seeing.reading(page, (0, 0))
                page = yield from pages.go(page, "/")
        ranked = sorted(numbers, key=lambda url: numbers[url], reverse=not turned)
        for url, name in ((ranked[0], "Upvote"), (ranked[2], "Downvote")):
            page = yield from pages.go(page, url[url.index("/f/") :])
            page = yield from click(page, "button", name)
        return done("mutate")
