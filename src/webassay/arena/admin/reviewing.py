"""Reviews, opened one by one: their stars are a picture without words, their votes a bar that only its name explains.

The stars of a review that waits stand nowhere else: no report counts it yet, and the storefront does not show it.
"""

from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import ClassVar, Self

from webassay.arena.admin import office, pages
from webassay.arena.kit.effort import Difficulty, Effort
from webassay.arena.kit.key import Key, picture, shown
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.arena.kit.walking import Reading, Steps, answer, click, done, go_back
from webassay.core.interaction import Action, Observation, Walk
from webassay.core.record import Json
from webassay.core.task import PagePattern, Sight
from webassay.sites.kit import Row
from webassay.sites.rng import Stream

MOST = 28
"""So many reviews have to be opened at the most."""
_FIRST_PENDING = date(2026, 1, 15)
_DAYS = 45
_BUTTONS = {"approved": ("Approve", "Approve Review"), "rejected": ("Reject", "Reject Review")}
"""What leads to a status: the action of the grid, and the button on the page of a review."""

Opened = tuple[str, int]
"""The number of a review, and what its page says."""
Visited = Generator[Action, Observation, None]


def _reviews(worlds: Worlds, status: str) -> list[Row]:
    """The newest first, as grids list them."""
    return office.rows(
        worlds["admin"],
        "SELECT v.*, substr(v.created_at, 1, 10) AS day, p.sku FROM reviews AS v JOIN products AS p"
        " ON p.id = v.product_id WHERE v.status = ? ORDER BY v.created_at DESC, v.id DESC",
        status,
    )


def _code(worlds: Worlds, stream: Stream) -> str:
    """What the SKUs of a department begin with."""
    found = office.rows(worlds["admin"], "SELECT DISTINCT substr(sku, 1, 4) AS code FROM products ORDER BY 1")
    return str(stream.choice(found)["code"])


class ReviewByReview(Template, abstract=True):
    """Opens every review that the filters of a grid leave."""

    sites = ("admin",)
    levels: ClassVar[tuple[Difficulty, ...]] = ("hard",)

    menu: ClassVar[str]
    path: ClassVar[str]
    chosen: ClassVar[Mapping[str, str]] = {}
    fewest: ClassVar[int] = 4
    """So many have to be opened at least."""

    user: str

    @abstractmethod
    def listed(self, worlds: Worlds) -> list[Row]:
        """Those that have to be opened, the newest first."""

    @abstractmethod
    def typed(self) -> Mapping[str, str]: ...

    @abstractmethod
    def sight(self, review: Row) -> Sight:
        """What the page of a review shows."""

    @abstractmethod
    def said(self, page: Observation) -> int:
        """The same, read."""

    def few_enough(self, worlds: Worlds) -> bool:
        return self.fewest <= len(self.listed(worlds)) <= MOST

    def read(self, reviews: Iterable[Row]) -> Key:
        return office.seen(map(self.sight, reviews)) & Key.checkpoint("the grid", office.page(self.path))

    def effort(self, worlds: Worlds) -> Effort:
        count = len(self.listed(worlds))
        return Effort(rows=count, pages=count + 1, steps=6 + len(self.typed()) + len(self.chosen) + 2 * count)

    def _narrowed(self, page: Observation) -> Steps:
        page = yield from click(page, "link", self.menu)
        page = yield from pages.narrow(page, self.typed(), self.chosen)
        return (yield from pages.lengthen(page))

    def _opened(self, page: Observation) -> Reading[tuple[Observation, list[Opened]]]:
        """Each by its row, and back to the grid."""
        page = yield from self._narrowed(page)
        found = []
        for number in [line["ID"] for line in pages.lines(page)]:
            review = yield from pages.open_row(page, number)
            found.append((number, self.said(review)))
            page = yield from go_back()
        return page, found

    def _by_address(self, page: Observation, then: Callable[[Observation, int], Visited]) -> Reading[list[Opened]]:
        """Each by its number; `then` acts on its page."""
        page = yield from self._narrowed(page)
        found = []
        for number in [line["ID"] for line in pages.lines(page)]:
            page = yield from pages.goto(page, f"/reviews/{number}")
            found.append((number, self.said(page)))
            yield from then(page, found[-1][1])
        return found


def _only_look(_page: Observation, _said: int) -> Visited:
    yield from ()


class Told(ReviewByReview, abstract=True):
    """Tells something about all of them."""

    kind = "retrieve"

    @abstractmethod
    def findings(self, found: list[Opened]) -> Json:
        """The response, once all are read."""

    def solve(self, page: Observation) -> Walk:
        _, found = yield from self._opened(page)
        return self.findings(found)

    def routes(self) -> Mapping[str, Route]:
        return {"by-address": self._told_by_address}

    def _told_by_address(self, page: Observation) -> Walk:
        return self.findings((yield from self._by_address(page, _only_look)))


class Decided(ReviewByReview, abstract=True):
    """Approves or rejects some of them."""

    kind = "mutate"
    becomes: ClassVar[str]

    @abstractmethod
    def fits(self, said: int) -> bool: ...

    @abstractmethod
    def value(self, review: Row) -> int:
        """What `said` reads."""

    def fitting(self, worlds: Worlds) -> list[Row]:
        return [one for one in self.listed(worlds) if self.fits(self.value(one))]

    def some_fit(self, worlds: Worlds) -> bool:
        return 2 <= len(self.fitting(worlds)) < len(self.listed(worlds))

    def change(self, reviews: Iterable[Row]) -> Key:
        return Key.all_of(Key.update("reviews", where={"id": one["id"]}, status=self.becomes) for one in reviews)

    def key(self, worlds: Worlds) -> Key:
        return self.change(self.fitting(worlds)) & self.read(self.listed(worlds))

    def effort(self, worlds: Worlds) -> Effort:
        known = super().effort(worlds)
        return Effort(known.rows, known.pages, known.steps + 2 + len(self.fitting(worlds)))

    def solve(self, page: Observation) -> Walk:
        page, found = yield from self._opened(page)
        page = yield from pages.tick(page, *(number for number, said in found if self.fits(said)))
        yield from pages.act(page, _BUTTONS[self.becomes][0])
        return done("mutate")

    def routes(self) -> Mapping[str, Route]:
        return {"one-by-one": self._one_by_one}

    def _one_by_one(self, page: Observation) -> Walk:
        def decide(page: Observation, said: int) -> Visited:
            if self.fits(said):
                yield from click(page, "button", _BUTTONS[self.becomes][1])

        yield from self._by_address(page, decide)
        return done("mutate")

    def hasty(self) -> Mapping[str, Route]:
        return {"without-looking": self._all}

    def _all(self, page: Observation) -> Walk:
        page = yield from self._narrowed(page)
        page = yield from pages.tick(page, *(line["ID"] for line in pages.lines(page)))
        yield from pages.act(page, _BUTTONS[self.becomes][0])
        return done("mutate")


# --- stars ------------------------------------------------------------------------------------------------


class PendingStars(ReviewByReview, abstract=True):
    """Reads the stars of reviews that wait for approval."""

    modality = "tree+screenshot"
    tags = ("screenshot",)
    menu = "Pending Reviews"
    path = "/reviews/pending"

    def sight(self, review: Row) -> Sight:
        return picture(f"/reviews/{review['id']}/stars.svg")

    def said(self, page: Observation) -> int:
        return pages.stars(page)


class PendingBetween(PendingStars, abstract=True):
    """What is pending of some days."""

    user: str
    first: str
    last: str

    @staticmethod
    def some_days(stream: Stream) -> tuple[str, str]:
        one, other = sorted(stream.sample(range(_DAYS), 2))
        return str(_FIRST_PENDING + timedelta(days=one)), str(_FIRST_PENDING + timedelta(days=other))

    def typed(self) -> Mapping[str, str]:
        return {"Created from": office.typed(self.first), "Created to": office.typed(self.last)}

    def listed(self, worlds: Worlds) -> list[Row]:
        return [one for one in _reviews(worlds, "pending") if self.first <= one["day"] <= self.last]


@dataclass(frozen=True)
class RejectFewStars(PendingBetween, Decided):
    """Reject the pending reviews of some days that give few stars."""

    name = "admin.reject-few-stars"
    chore = "long_term_memory"
    instruction = (
        "Go through the pending reviews that were created from {first} to {last}, both days included. Reject those "
        "that give at most {stars} of 5 stars, and leave the others as they are. The stars are a picture on the page "
        "of each review."
    )
    becomes = "rejected"

    user: str
    first: str
    last: str
    stars: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        drawn = cls(office.chief(stream), *cls.some_days(stream), stream.between(2, 4))
        return drawn if drawn.few_enough(worlds) and drawn.some_fit(worlds) else None

    def fits(self, said: int) -> bool:
        return said <= self.stars

    def value(self, review: Row) -> int:
        return int(review["rating"])

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        listed, fitting = self.listed(worlds), self.fitting(worlds)
        found = {
            "without-looking": self.change(listed),
            "the-others": self.change(one for one in listed if one not in fitting),
            "newest-only": self.change(fitting[:1]),
        }
        fewer = [one for one in fitting if one["rating"] < self.stars]
        if 0 < len(fewer) < len(fitting):
            found["fewer-than-that"] = self.change(fewer)
        return found


@dataclass(frozen=True)
class PendingStarsTotal(PendingStars, Told):
    """Add up the stars of the pending reviews of a department."""

    name = "admin.pending-stars"
    chore = "calculation"
    instruction = (
        "How many stars do the pending reviews of products whose SKU begins with {code} give, all of these reviews "
        "added up? The stars are a picture on the page of each review. Answer with one number."
    )
    fewest = 3

    user: str
    code: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        drawn = cls(office.chief(stream), _code(worlds, stream))
        return drawn if drawn.few_enough(worlds) else None

    def typed(self) -> Mapping[str, str]:
        return {"SKU": self.code}

    def listed(self, worlds: Worlds) -> list[Row]:
        return [one for one in _reviews(worlds, "pending") if one["sku"].startswith(self.code)]

    @staticmethod
    def _said(reviews: list[Row]) -> Key:
        return Key.answer(sum(one["rating"] for one in reviews), unit="stars")

    def key(self, worlds: Worlds) -> Key:
        listed = self.listed(worlds)
        return self._said(listed) & self.read(listed)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        listed = self.listed(worlds)
        return {
            "reviews-counted": Key.answer(len(listed), unit="stars"),
            "newest-only": self._said(listed[:1]),
            "last-one-missed": self._said(listed[:-1]),
            "all-departments": self._said(_reviews(worlds, "pending")),
        }

    def findings(self, found: list[Opened]) -> Json:
        return answer(sum(stars for _, stars in found))


@dataclass(frozen=True)
class OpenOldestComplaint(PendingBetween):
    """Open the oldest pending review of some days that gives few stars."""

    name = "admin.open-oldest-complaint"
    kind = "navigate"
    chore = "massive_memory"
    instruction = (
        "Open the page of the oldest review that is pending, was created from {first} to {last}, both days included, "
        "and gives at most {stars} of 5 stars. The stars are a picture on the page of each review; do not go by what "
        "its text sounds like, but look at each of them, the oldest first."
    )
    levels = ("medium", "hard")

    user: str
    first: str
    last: str
    stars: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        drawn = cls(office.chief(stream), *cls.some_days(stream), stream.between(1, 4))
        if not drawn.few_enough(worlds) or not drawn._fitting(drawn.listed(worlds)):
            return None
        return drawn if len(drawn._older(worlds)) >= 3 else None

    def _fitting(self, reviews: list[Row]) -> list[Row]:
        return [one for one in reviews if one["rating"] <= self.stars]

    def _older(self, worlds: Worlds) -> list[Row]:
        """From the oldest to the one that is looked for."""
        oldest_first = self.listed(worlds)[::-1]
        return oldest_first[: oldest_first.index(self._fitting(oldest_first)[0]) + 1]

    @staticmethod
    def _page(review: Row) -> PagePattern:
        return office.page(f"/reviews/{review['id']}")

    def key(self, worlds: Worlds) -> Key:
        older = self._older(worlds)
        return Key.page(self._page(older[-1])) & self.read(older)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        listed = self.listed(worlds)
        fitting = self._fitting(listed)
        found = {"without-looking": Key.page(self._page(listed[-1]))}
        if len(fitting) > 1:
            found["newest"] = Key.page(self._page(fitting[0]))
        return found

    def effort(self, worlds: Worlds) -> Effort:
        count = len(self._older(worlds))
        more = 6 + len(self.typed()) + 1
        return Effort(rows=count, pages=count + 1, steps=more + 2 * count)

    def solve(self, page: Observation) -> Walk:
        page = yield from self._narrowed(page)
        for number in [line["ID"] for line in pages.lines(page)][::-1]:
            review = yield from pages.open_row(page, number)
            if self.said(review) <= self.stars:
                break
            page = yield from go_back()
        return done("navigate")

    def routes(self) -> Mapping[str, Route]:
        return {"oldest-on-top": self._oldest_on_top}

    def _oldest_on_top(self, page: Observation) -> Walk:
        page = yield from self._narrowed(page)
        page = yield from click(page, "link", "Created")
        for number in [line["ID"] for line in pages.lines(page)]:
            page = yield from pages.goto(page, f"/reviews/{number}")
            if self.said(page) <= self.stars:
                break
        return done("navigate")


# --- votes ------------------------------------------------------------------------------------------------


class RejectedVotes(ReviewByReview, abstract=True):
    """Reads the votes on reviews of some months that were not approved."""

    tags = ("tree",)
    menu = "All Reviews"
    path = "/reviews"
    chosen: ClassVar[Mapping[str, str]] = {"Status": "Not Approved"}
    fewest = 8

    user: str
    first: str
    last: str

    def typed(self) -> Mapping[str, str]:
        return {"Created from": office.typed(self.first), "Created to": office.typed(self.last)}

    def listed(self, worlds: Worlds) -> list[Row]:
        return [one for one in _reviews(worlds, "rejected") if self.first <= one["day"] <= self.last]

    def sight(self, review: Row) -> Sight:
        found = f"{review['helpful']} of {review['votes']} found this review helpful"
        text = found if review["votes"] else "Nobody has voted on this review"
        return shown(f"Review {review['id']}", text, together="page")

    def said(self, page: Observation) -> int:
        return pages.votes(page)[0]

    def value(self, review: Row) -> int:
        """What `said` reads."""
        return int(review["helpful"] or 0)


class RejectedOfDepartment(RejectedVotes, abstract=True):
    user: str
    first: str
    last: str
    code: str

    def typed(self) -> Mapping[str, str]:
        return {**super().typed(), "SKU": self.code}

    def listed(self, worlds: Worlds) -> list[Row]:
        return [one for one in super().listed(worlds) if one["sku"].startswith(self.code)]


@dataclass(frozen=True)
class ApproveHelpful(RejectedOfDepartment, Decided):
    """Approve the reviews of a department that were turned down though many found them helpful."""

    name = "admin.approve-helpful"
    chore = "long_term_memory"
    instruction = (
        "We were too strict. Look at the reviews of products whose SKU begins with {code} that were created from "
        "{first} to {last}, both days included, and have the status Not Approved. Approve every one that at least "
        "{least} people found helpful, and leave the others as they are. The page of each review has its votes."
    )
    becomes = "approved"

    user: str
    first: str
    last: str
    code: str
    least: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        days = office.some_days(stream, 6, 12, 24, 48)
        drawn = cls(office.chief(stream), *days, _code(worlds, stream), stream.between(2, 12))
        return drawn if drawn.few_enough(worlds) and drawn.some_fit(worlds) else None

    def fits(self, said: int) -> bool:
        return said >= self.least

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        listed, fitting = self.listed(worlds), self.fitting(worlds)
        found = {"without-looking": self.change(listed), "newest-only": self.change(fitting[:1])}
        voted = [one for one in listed if (one["votes"] or 0) >= self.least]
        if len(voted) > len(fitting):
            found["all-votes"] = self.change(voted)
        if any(self.value(one) == self.least for one in fitting):
            found["more-than-that"] = self.change(one for one in fitting if self.value(one) > self.least)
        return found


@dataclass(frozen=True)
class VotesOnRejected(RejectedVotes, Told):
    """Add up how many people found the reviews helpful that were turned down in some months."""

    name = "admin.helpful-rejected-total"
    chore = "calculation"
    instruction = (
        "Take the reviews that were created from {first} to {last}, both days included, and have the status Not "
        "Approved. How many people found them helpful, all of these reviews added up? The page of each review has its "
        "votes. Answer with one number."
    )

    user: str
    first: str
    last: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        drawn = cls(office.chief(stream), *office.some_days(stream, 1, 2, 3, 6))
        return drawn if drawn.few_enough(worlds) else None

    def _said(self, reviews: list[Row]) -> Key:
        return Key.answer(sum(map(self.value, reviews)), unit="people")

    def key(self, worlds: Worlds) -> Key:
        listed = self.listed(worlds)
        return self._said(listed) & self.read(listed)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        listed = self.listed(worlds)
        return {
            "all-votes": Key.answer(sum(one["votes"] or 0 for one in listed), unit="people"),
            "reviews-counted": Key.answer(len(listed), unit="people"),
            "newest-only": self._said(listed[:1]),
        }

    def findings(self, found: list[Opened]) -> Json:
        return answer(sum(helpful for _, helpful in found))


@dataclass(frozen=True)
class MostHelpfulRejected(RejectedOfDepartment, Told):
    """Find the review of a department that most people found helpful, though it was turned down."""

    name = "admin.most-helpful-rejected"
    chore = "massive_memory"
    instruction = (
        "Of the reviews of products whose SKU begins with {code} that were created from {first} to {last}, both days "
        "included, and have the status Not Approved: which one did the largest number of people find helpful, and how "
        "many did? The page of each review has its votes. Answer with one object with "
        'the keys "review", its ID, and "people".'
    )
    reads = ("review", "people")

    user: str
    first: str
    last: str
    code: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        drawn = cls(office.chief(stream), *office.some_days(stream, 6, 12, 24, 48), _code(worlds, stream))
        ranked = sorted(map(drawn.value, drawn.listed(worlds)), reverse=True)
        return drawn if drawn.few_enough(worlds) and ranked[0] > ranked[1] else None

    def _said(self, review: Row) -> Key:
        return Key.answer({"review": review["id"], "people": self.value(review)})

    def key(self, worlds: Worlds) -> Key:
        listed = self.listed(worlds)
        return self._said(max(listed, key=self.value)) & self.read(listed)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        listed = self.listed(worlds)
        best, second, *_ = sorted(listed, key=self.value, reverse=True)
        wrong = {
            "second": second,
            "most-votes": max(listed, key=lambda one: int(one["votes"] or 0)),
            "highest-share": max(listed, key=lambda one: self.value(one) / (one["votes"] or 1)),
            "newest": listed[0],
        }
        return {name: self._said(one) for name, one in wrong.items() if one != best}

    def findings(self, found: list[Opened]) -> Json:
        number, helpful = max(found, key=lambda one: one[1])
        return answer({"review": int(number), "people": helpful})
