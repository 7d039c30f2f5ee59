"""What was said in a thread: who answered whom, and with which words."""

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from operator import attrgetter, itemgetter
from typing import Any, ClassVar, NamedTuple, Self

from webassay.arena.forum import facts, pages, queries
from webassay.arena.kit.effort import Difficulty, Effort
from webassay.arena.kit.key import Key
from webassay.arena.kit.template import Parts, Retrieve, clear, fair, top
from webassay.arena.kit.walking import answer, click
from webassay.core.interaction import Observation, Walk
from webassay.core.record import Json
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream


class WholeThread(Retrieve, abstract=True):
    """Reads a thread that is on one page."""

    levels: ClassVar[tuple[Difficulty, ...]] = ("medium", "hard")
    ways = {"oldest-first": {"sort": "Old"}, "newest-first": {"sort": "New"}}
    fewest: ClassVar[int] = 25
    most: ClassVar[int] = 140
    column: ClassVar[str] = "score"

    title: str
    forum: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        found = queries.some_thread(world, stream, cls.fewest, cls.most)
        return cls(found["title"], found["forum"])

    @abstractmethod
    def conclusion(self, post: Row, said: list[Row], *_: Any, **how: Any) -> Parts:
        """Fairness and the key."""

    @abstractmethod
    def findings(self, submitter: str, said: list[pages.ThreadComment]) -> Json:
        """The response, once all are read."""

    def end(self, world: World, **how: Any) -> Parts:
        post = queries.post(world, self.title)
        said = queries.thread(world, post)
        yield fair(queries.on_one_page(said), len(queries.visible(said)) == len(said))
        yield from self.conclusion(post, said, **how)
        yield facts.said(said, self.column)
        yield Key.checkpoint("the thread", queries.post_page(post))
        yield Effort(len(said), 1, 5, longest=6)

    def solve(self, page: Observation, *, sort: str = "") -> Walk:
        page = yield from pages.open_post(page, self.title)
        if sort:
            page = yield from click(page, "link", sort)
        return self.findings(pages.submitter(page), pages.comments(page))


class BusiestTalker(WholeThread):
    """Find out who said the most in a thread."""

    name = "forum.busiest-talker"
    chore = "massive_memory"
    instruction = (
        'In the thread "{title}" in /f/{forum}, who wrote the most comments, apart from whoever started it? Answer '
        'with one object with the keys "name" and "comments", how many this person wrote there.'
    )
    reads = ("name",)
    misread = {
        "starter-included": {"everybody": True},
        "first-level-only": {"depth": 0},
        "most-points": {"weigh": True},
    }
    may_agree = ("starter-included", "first-level-only", "most-points")
    most = 150

    def conclusion(
        self, post: Row, said: list[Row], *, everybody: bool = False, depth: int = 99, weigh: bool = False
    ) -> Parts:
        found: Counter[str] = Counter()
        for one in said:
            if one["depth"] <= depth and (everybody or one["author"] != post["author"]):
                found[one["author"]] += max(0, one["score"]) if weigh else 1
        ranked = found.most_common()
        wrong = ranked[0][0] if weigh else post["author"]
        yield fair(clear(ranked, itemgetter(1)), any(one["author"] == wrong for one in said))
        name, count = top(ranked)
        yield Key.answer({"name": name, "comments": count})

    def findings(self, submitter: str, said: list[pages.ThreadComment]) -> Json:
        ((name, count),) = Counter(one.author for one in said if one.author != submitter).most_common(1)
        return answer({"name": name, "comments": count})


class RepliesToStarter(WholeThread):
    """Count who replied to the comments of whoever started a thread."""

    name = "forum.replies-to-starter"
    chore = "massive_memory"
    instruction = (
        'Whoever started the thread "{title}" in /f/{forum} also commented in it. How many direct replies by others '
        "did these comments get? Replies to replies and what they wrote to themselves do not count. Answer with one "
        'object with the keys "replies" and "people", how many different people wrote them.'
    )
    misread = {
        "comments-of-starter": {"starters": True},
        "own-replies-counted": {"own": True},
        "replies-to-thread": {"first_level": True},
    }
    may_agree = ("own-replies-counted", "comments-of-starter")

    def conclusion(
        self, post: Row, said: list[Row], *, starters: bool = False, own: bool = False, first_level: bool = False
    ) -> Parts:
        starter = post["user_id"]
        found = [one for one in said if one["above_id"] == starter and (own or one["user_id"] != starter)]
        if starters:
            found = [one for one in said if one["user_id"] == starter]
        if first_level:
            found = [one for one in said if one["parent_id"] is None]
        people = {one["user_id"] for one in found}
        yield fair(len(found) >= 4, len(people) < len(found))
        yield Key.answer({"replies": len(found), "people": len(people)})

    def findings(self, submitter: str, said: list[pages.ThreadComment]) -> Json:
        replies = [
            one.author
            for one in said
            if one.above >= 0 and said[one.above].author == submitter and one.author != submitter
        ]
        return answer({"replies": len(replies), "people": len({*replies})})


class EditedComments(WholeThread):
    """Count the comments of a thread that were edited, and find the best of them."""

    name = "forum.edited-comments"
    chore = "massive_memory"
    instruction = (
        'How many comments in the thread "{title}" in /f/{forum} were edited after they were posted, and who wrote the '
        'one of them with the most points? Answer with one object with the keys "edited" and "name".'
    )
    reads = ("name",)
    misread = {
        "note-taken-for-it": {"noted": True},
        "best-of-all": {"whole": True},
        "fewest-points": {"best": False},
    }
    may_agree = ("note-taken-for-it", "best-of-all")
    fewest = 25
    column = "created_at"

    def conclusion(
        self, post: Row, said: list[Row], *, noted: bool = False, whole: bool = False, best: bool = True
    ) -> Parts:
        found = [one for one in said if ("EDIT" in one["body"] if noted else one["edited_at"])]
        ranked: Sequence[Row] = sorted(said if whole else found, key=itemgetter("score"), reverse=best)
        yield fair(len(found) >= 2, clear(ranked, itemgetter("score")))
        yield Key.answer({"edited": len(found), "name": top(ranked)["author"]})

    def findings(self, submitter: str, said: list[pages.ThreadComment]) -> Json:
        found = [one for one in said if one.edited]
        return answer({"edited": len(found), "name": max(found, key=attrgetter("points")).author})


class MostProminent(WholeThread):
    """Find the comment that counts most with its direct replies."""

    name = "forum.most-prominent"
    chore = "calculation"
    instruction = (
        'In the thread "{title}" in /f/{forum}, say how prominent a comment is by its own points plus half of the '
        "points of each direct reply to it. Which comment is the most prominent? Answer with one object with the keys "
        '"name", who wrote it, and "prominence".'
    )
    reads = ("name",)
    misread = {"own-points-only": {"half": 0}, "replies-in-full": {"half": 2}, "first-level-only": {"depth": 0}}
    may_agree = ("first-level-only",)

    def conclusion(self, post: Row, said: list[Row], *, half: int = 1, depth: int = 99) -> Parts:
        below: Counter[int] = Counter()
        for one in said:
            below[one["parent_id"] or 0] += one["score"]
        ranked = sorted(
            ((2 * one["score"] + half * below[one["id"]], one["author"]) for one in said if one["depth"] <= depth),
            reverse=True,
        )
        yield fair(clear(ranked, itemgetter(0)))
        twice, name = top(ranked)
        yield Key.answer({"name": name, "prominence": twice / 2 if twice % 2 else twice // 2})

    def findings(self, submitter: str, said: list[pages.ThreadComment]) -> Json:
        twice = [2 * one.points for one in said]
        for one in said:
            if one.above >= 0:
                twice[one.above] += one.points
        most = max(twice)
        return answer({"name": said[twice.index(most)].author, "prominence": most / 2})


class LeftUnanswered(WholeThread):
    """Add up the points of the comments that nobody replied to."""

    name = "forum.left-unanswered"
    chore = "calculation"
    instruction = (
        'How many of the comments on the first level of the thread "{title}" in /f/{forum}, those that reply to the '
        "submission itself, got no reply, and how many points do these have together? Answer with one object with the "
        'keys "comments" and "points".'
    )
    misread = {"every-level": {"depth": 99}, "the-answered": {"answered": True}, "all-of-the-first": {"either": True}}
    fewest = 30

    def conclusion(
        self, post: Row, said: list[Row], *, depth: int = 0, answered: bool = False, either: bool = False
    ) -> Parts:
        parents = {one["parent_id"] for one in said}
        found = [one for one in said if one["depth"] <= depth and (either or (one["id"] in parents) == answered)]
        yield fair(len(found) >= 4)
        yield Key.answer({"comments": len(found), "points": sum(one["score"] for one in found)})

    def findings(self, submitter: str, said: list[pages.ThreadComment]) -> Json:
        answered = {one.above for one in said}
        found = [one.points for place, one in enumerate(said) if one.depth == 0 and place not in answered]
        return answer({"comments": len(found), "points": sum(found)})


# --- quotes -----------------------------------------------------------------------------------------------

_NUMBER = re.compile(r"\d+")


class Misquote(NamedTuple):
    author: str
    wrong: str
    right: str


def _sentences(text: str) -> dict[str, str]:
    """Without its numbers, to the sentence."""
    return {_bare(part): part for part in _parts(text) if _NUMBER.search(part)}


def _parts(text: str) -> list[str]:
    return re.split(r"(?<=[.!?])\s+|\n+", text)


def _bare(sentence: str) -> str:
    return re.sub(r"[^a-z ]", "", sentence.lower()).strip()


def misquote(author: str, quoted: str, original: str) -> Misquote | None:
    """If these are the words of the original, but not its numbers."""
    said = _sentences(original).get(_bare(quoted))
    if said is None:
        return None
    pairs = [(one, other) for one, other in zip(_NUMBER.findall(quoted), _NUMBER.findall(said), strict=False)]
    wrong = [(one, other) for one, other in pairs if one != other]
    return Misquote(author, *wrong[0]) if len(wrong) == 1 else None


class WronglyQuoted(WholeThread):
    """Find the comment that quotes what it replies to with another number."""

    name = "forum.wrongly-quoted"
    chore = "long_term_memory"
    instruction = (
        'Somebody in the thread "{title}" in /f/{forum} quotes what they reply to, but with another number than it '
        'says there. Answer with one object with the keys "name", who quotes wrongly, and "number", what the original '
        "says."
    )
    reads = ("name",)
    levels = ("easy", "medium")
    misread = {
        "number-of-the-quote": {"as_quoted": True},
        "first-quote": {"first": True},
        "who-was-quoted": {"victim": True},
    }
    may_agree = ("first-quote",)
    fewest = 12
    column = "body"

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        quoting = (
            "s.id IN (SELECT c.submission_id FROM comments AS c JOIN comments AS p ON p.id = c.parent_id WHERE c.body"
            " GLOB '> *[0-9]*' AND instr(p.body, substr(c.body, 3, instr(c.body, char(10)) - 3)) = 0)"
        )
        found = queries.some_thread(world, stream, cls.fewest, cls.most, quoting)
        return cls(found["title"], found["forum"])

    def conclusion(
        self, post: Row, said: list[Row], *, as_quoted: bool = False, first: bool = False, victim: bool = False
    ) -> Parts:
        quotes = [*_quotes(post, said)]
        known = {one["id"]: one["body"] for one in said}
        # A quote that is neither right nor wrong by its number would be one more to wonder about.
        plain = (
            _bare(one["body"][2:].partition("\n\n")[0])
            in map(_bare, _parts(str(known.get(one["parent_id"], post["body"]))))
            for one, _ in quotes
        )
        wrong = [(one, found) for one, found in quotes if found is not None]
        one, found = top(wrong)
        yield fair(len(wrong) == 1, len(quotes) >= 2, one["parent_id"], all(plain))
        yield fair(all(one["score"] >= -5 for one in said))
        name = quotes[0][0]["author"] if first else one["above"] or post["author"] if victim else found.author
        assert found is not None
        yield Key.answer({"name": name, "number": int(found.wrong if as_quoted else found.right)})

    def findings(self, submitter: str, said: list[pages.ThreadComment]) -> Json:
        for one in said:
            if one.quoted and one.above >= 0:
                found = misquote(one.author, one.quoted, said[one.above].text)
                if found is not None:
                    return answer({"name": found.author, "number": int(found.right)})
        return answer()


def _quotes(post: Row, said: list[Row]) -> Iterator[tuple[Row, Misquote | None]]:
    """Every comment that quotes, and what is wrong about it."""
    known = {one["id"]: one for one in said}
    for one in said:
        if one["body"].startswith("> "):
            quoted, _, _ = one["body"][2:].partition("\n\n")
            above = known.get(one["parent_id"], post)
            found = misquote(one["author"], quoted, above["body"])
            yield one, found
