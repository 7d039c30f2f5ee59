"""Reviews, opened one by one: their stars are a picture without words, their votes a bar that only its name explains.

The stars of a review that waits stand nowhere else: no report counts it yet, and the storefront does not show it.
"""

import operator
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from datetime import date, timedelta
from typing import ClassVar, Self

from webassay.arena.admin import office, pages
from webassay.arena.kit.effort import Difficulty, Effort
from webassay.arena.kit.key import Key, cell, picture, shown
from webassay.arena.kit.template import Fair, Mutate, Navigate, Parts, Retrieve, Template, clear, fair, top
from webassay.arena.kit.walking import Reading, Steps, answer, click, done, go_back, links
from webassay.arena.shop.queries import found_helpful, voted_on
from webassay.core.interaction import Observation, Walk
from webassay.core.record import Json
from webassay.core.task import Sight
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream

MOST = 28
"""So many reviews have to be opened at the most."""
_FIRST_PENDING = date(2026, 1, 15)
_DAYS = 45
_BUTTONS = {"approved": ("Approve", "Approve Review"), "rejected": ("Reject", "Reject Review")}
"""What leads to a status: the action of the grid, and the button on the page of a review."""

Compare = Callable[[int, int], bool]
Measurement = tuple[str, int]
"""The number of a review, and what its page says."""


def _code(world: World, stream: Stream) -> str:
    """What the SKUs of a department begin with."""
    found = office.rows(world, "SELECT DISTINCT substr(sku, 1, 4) AS code FROM products ORDER BY 1")
    return str(stream.choice(found)["code"])


class ReviewByReview(Template, abstract=True):
    """Opens every review that the filters of a grid leave."""

    levels: ClassVar[tuple[Difficulty, ...]] = ("hard",)

    menu: ClassVar[str]
    path: ClassVar[str]
    chosen: ClassVar[Mapping[str, str]] = {}
    fewest: ClassVar[int] = 4
    """So many have to be opened at least."""

    user: str

    @abstractmethod
    def reviews(self, world: World) -> list[Row]:
        """Those that have to be opened, the newest first."""

    @abstractmethod
    def typed(self) -> Mapping[str, str]: ...

    @abstractmethod
    def sight(self, review: Row) -> Sight:
        """What the page of a review shows."""

    @abstractmethod
    def measure(self, page: Observation) -> int:
        """The same, read."""

    def few_enough(self, listed: list[Row]) -> Fair:
        return fair(self.fewest <= len(listed) <= MOST)

    def read(self, reviews: Iterable[Row]) -> Key:
        return office.seen(map(self.sight, reviews)) & Key.checkpoint("the grid", office.page(self.path))

    def effort_of(self, count: int, more: int = 0) -> Effort:
        """What it takes to open so many."""
        steps = 6 + len(self.typed()) + len(self.chosen) + 2 * count + more
        return Effort(count, count + 1, steps, longest=max(steps, steps - count + pages.TO_CHOOSE_COLUMNS))

    def narrow(self, page: Observation) -> Steps:
        page = yield from pages.filtered(page, self.menu, self.typed(), self.chosen)
        return (yield from pages.lengthen(page))

    def open_each(self, grid: Observation, by_address: bool = False) -> Reading[list[Measurement]]:
        """Each by its number, or by its row and back to the grid."""
        found = []
        for number in _numbers(grid):
            page = yield from (pages.goto(grid, f"/reviews/{number}") if by_address else pages.open_row(grid, number))
            found.append((number, self.measure(page)))
            if not by_address:
                grid = yield from go_back()
        return found


def _numbers(grid: Observation) -> list[str]:
    return [line["ID"] for line in pages.lines(grid)]


class ReviewSummary(ReviewByReview, Retrieve, abstract=True):
    """Tells something about all of them."""

    ways = {"by-address": {"by_address": True}, "numbers-alone": {"alone": True}}

    @abstractmethod
    def findings(self, measured: list[Measurement]) -> Json:
        """The response, once all are read."""

    def solve(self, page: Observation, *, by_address: bool = False, alone: bool = False) -> Walk:
        grid = yield from self.narrow(page)
        if alone:
            grid = yield from pages.only_columns(grid, "ID")
            by_address = True
        return self.findings((yield from self.open_each(grid, by_address)))


class ReviewDecision(ReviewByReview, Mutate, abstract=True):
    """Approves or rejects some of them."""

    becomes: ClassVar[str]
    ways = {"one-by-one": {"one_by_one": True}}

    @abstractmethod
    def fits(self, measured: int) -> bool: ...

    def parts(self, listed: list[Row], fitting: list[Row], limit: int | None) -> Parts:
        yield self.few_enough(listed)
        yield fair(2 <= len(fitting) < len(listed))
        yield Key.all_of(Key.update("reviews", where={"id": one["id"]}, status=self.becomes) for one in fitting[:limit])
        yield self.read(listed)
        yield self.effort_of(len(listed), 2 + len(fitting))

    def solve(self, page: Observation, *, looking: bool = True, one_by_one: bool = False) -> Walk:
        action, button = _BUTTONS[self.becomes]
        page = yield from self.narrow(page)
        numbers = _numbers(page)
        if one_by_one:
            for number in numbers:
                page = yield from pages.goto(page, f"/reviews/{number}")
                if self.fits(self.measure(page)):
                    page = yield from click(page, "button", button)
            return done("mutate")
        if looking:
            numbers = [number for number, measured in (yield from self.open_each(page)) if self.fits(measured)]
        page = yield from pages.tick(page, *numbers)
        yield from pages.act(page, action)
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

    def measure(self, page: Observation) -> int:
        return pages.stars(page)


class WrittenBetween(ReviewByReview, abstract=True):
    """Those of some days that have one status."""

    status: ClassVar[str]

    first: str
    last: str

    def typed(self) -> Mapping[str, str]:
        return office.days("Created", self.first, self.last)

    def reviews(self, world: World) -> list[Row]:
        every = office.reviews(world, f"v.status = '{self.status}'")
        return [one for one in every if self.first <= one["day"] <= self.last]


class PendingBetween(PendingStars, WrittenBetween, abstract=True):
    status = "pending"

    @staticmethod
    def some_days(stream: Stream) -> tuple[str, str]:
        one, other = sorted(stream.sample(range(_DAYS), 2))
        return str(_FIRST_PENDING + timedelta(days=one)), str(_FIRST_PENDING + timedelta(days=other))


class RejectFewStars(PendingBetween, ReviewDecision):
    """Reject the pending reviews of some days that give few stars."""

    name = "admin.reject-few-stars"
    chore = "long_term_memory"
    instruction = (
        "Go through the pending reviews created from {first} through {last}. Reject every review with at most "
        "{stars} of 5 stars, and leave the others pending. The page of each review shows its stars as a picture."
    )
    becomes = "rejected"
    misread = {
        "without-looking": {"looking": False},
        "the-others": {"compare": operator.gt},
        "newest-only": {"limit": 1},
        "fewer-than-that": {"compare": operator.lt},
    }
    may_agree = ("fewer-than-that",)

    stars: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(office.chief(stream), *cls.some_days(stream), stream.between(2, 4))

    def fits(self, measured: int) -> bool:
        return measured <= self.stars

    def end(
        self, world: World, *, looking: bool = True, compare: Compare = operator.le, limit: int | None = None
    ) -> Parts:
        listed = self.reviews(world)
        fitting = [one for one in listed if not looking or compare(one["rating"], self.stars)]
        top(fitting)  # Where none gives fewer, nobody overlooks that they count, too.
        yield from self.parts(listed, fitting, limit)


class PendingStarsTotal(PendingStars, ReviewSummary):
    """Add up the stars of the pending reviews of a department."""

    name = "admin.pending-stars"
    chore = "calculation"
    instruction = (
        "Look at the pending reviews of products with a SKU that begins with {code}. How many stars do they have in "
        "total? The page of each review shows its stars as a picture. Answer with the number."
    )
    fewest = 3
    misread = {
        "reviews-counted": {"counting": True},
        "newest-only": {"part": slice(1)},
        "last-one-missed": {"part": slice(-1)},
        "all-departments": {"code": ""},
    }

    code: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(office.chief(stream), _code(world, stream))

    def typed(self) -> Mapping[str, str]:
        return {"SKU": self.code}

    def reviews(self, world: World) -> list[Row]:
        return [one for one in office.reviews(world, "v.status = 'pending'") if one["sku"].startswith(self.code)]

    def end(self, world: World, *, counting: bool = False, part: slice = slice(None)) -> Parts:
        listed = self.reviews(world)
        yield self.few_enough(listed)
        yield Key.answer(sum(1 if counting else one["rating"] for one in listed[part]), unit="stars")
        yield self.read(listed)
        yield self.effort_of(len(listed))

    def findings(self, measured: list[Measurement]) -> Json:
        return answer(sum(stars for _, stars in measured))


class OpenOldestComplaint(PendingBetween, Navigate):
    """Open the oldest pending review of some days that gives few stars."""

    name = "admin.open-oldest-complaint"
    chore = "massive_memory"
    instruction = (
        "Among the pending reviews created from {first} through {last}, find the oldest one with at most {stars} of "
        "5 stars, and open its page. The page of each review shows its stars as a picture. Do not go by what the "
        "text says."
    )
    levels = ("medium", "hard")
    misread = {"without-looking": {"anything": True}, "newest": {"newest": True}}
    may_agree = ("newest",)
    ways = {"oldest-on-top": {"sort": True}}

    stars: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(office.chief(stream), *cls.some_days(stream), stream.between(1, 4))

    def end(self, world: World, *, anything: bool = False, newest: bool = False) -> Parts:
        listed = self.reviews(world)
        fitting = [one for one in listed if anything or one["rating"] <= self.stars]
        yield self.few_enough(listed)
        yield fair(fitting)
        chosen = fitting[0 if newest else -1]
        # From the oldest to the one that is looked for.
        older = listed[listed.index(chosen) :][::-1]
        yield fair(len(older) >= 3)
        yield Key.page(office.page(f"/reviews/{chosen['id']}"))
        yield self.read(older)
        yield self.effort_of(len(older), 1)

    def solve(self, page: Observation, *, sort: bool = False) -> Walk:
        page = yield from self.narrow(page)
        if sort:
            page = yield from links(page, "Created")
        for number in _numbers(page)[:: 1 if sort else -1]:
            review = yield from (pages.goto(page, f"/reviews/{number}") if sort else pages.open_row(page, number))
            if self.measure(review) <= self.stars:
                break
            if not sort:
                page = yield from go_back()
        return done("navigate")


# --- votes ------------------------------------------------------------------------------------------------


class RejectedVotes(WrittenBetween, abstract=True):
    """Reads the votes on reviews of some months that were not approved."""

    tags = ("tree",)
    menu = "All Reviews"
    path = "/reviews"
    chosen: ClassVar[Mapping[str, str]] = {"Status": "Not Approved"}
    fewest = 8
    status = "rejected"

    def sight(self, review: Row) -> Sight:
        if review["votes"]:
            return cell("reviews", review["id"], "helpful")
        return shown(f"Review {review['id']}", "Nobody has voted on this review", together="page")

    def measure(self, page: Observation) -> int:
        return pages.votes(page)[0]


class RejectedOfDepartment(RejectedVotes, abstract=True):
    code: str

    def typed(self) -> Mapping[str, str]:
        return {**super().typed(), "SKU": self.code}

    def reviews(self, world: World) -> list[Row]:
        return [one for one in super().reviews(world) if one["sku"].startswith(self.code)]


class ApproveHelpful(RejectedOfDepartment, ReviewDecision):
    """Approve the reviews of a department that were turned down though many found them helpful."""

    name = "admin.approve-helpful"
    chore = "long_term_memory"
    instruction = (
        "We were too strict. Go through the reviews with the status Not Approved that were created from {first} "
        "through {last} for products with a SKU that begins with {code}. Approve every review that at least {least} "
        "people found helpful. Leave the others as they are. The page of each review shows its votes."
    )
    becomes = "approved"
    misread = {
        "without-looking": {"looking": False},
        "newest-only": {"limit": 1},
        "all-votes": {"count": voted_on},
        "more-than-that": {"compare": operator.gt},
    }
    may_agree = ("all-votes", "more-than-that")

    least: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        days = office.some_days(stream, 6, 12, 24, 48)
        return cls(office.chief(stream), *days, _code(world, stream), stream.between(2, 12))

    def fits(self, measured: int) -> bool:
        return measured >= self.least

    def end(
        self,
        world: World,
        *,
        looking: bool = True,
        count: Callable[[Row], int] = found_helpful,
        compare: Compare = operator.ge,
        limit: int | None = None,
    ) -> Parts:
        listed = self.reviews(world)
        fitting = [one for one in listed if not looking or compare(count(one), self.least)]
        yield from self.parts(listed, fitting, limit)


class VotesOnRejected(RejectedVotes, ReviewSummary):
    """Add up how many people found the reviews helpful that were turned down in some months."""

    name = "admin.helpful-rejected-total"
    chore = "calculation"
    instruction = (
        "Look at the reviews with the status Not Approved that were created from {first} through {last}. Add up how "
        "many people found each of them helpful. The page of each review shows its votes. Answer with the sum."
    )
    misread = {
        "all-votes": {"count": voted_on},
        "reviews-counted": {"count": lambda review: 1},
        "newest-only": {"limit": 1},
    }

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(office.chief(stream), *office.some_days(stream, 1, 2, 3, 6))

    def end(self, world: World, *, count: Callable[[Row], int] = found_helpful, limit: int | None = None) -> Parts:
        listed = self.reviews(world)
        yield self.few_enough(listed)
        yield Key.answer(sum(map(count, listed[:limit])), unit="people")
        yield self.read(listed)
        yield self.effort_of(len(listed))

    def findings(self, measured: list[Measurement]) -> Json:
        return answer(sum(helpful for _, helpful in measured))


class MostHelpfulRejected(RejectedOfDepartment, ReviewSummary):
    """Find the review of a department that most people found helpful, though it was turned down."""

    name = "admin.most-helpful-rejected"
    chore = "massive_memory"
    instruction = (
        "Look at the reviews with the status Not Approved that were created from {first} through {last} for products "
        "with a SKU that begins with {code}. Which one did the most people find helpful? The page of each review "
        'shows its votes. Answer with an object: "review" (its ID) and "people" (how many found it helpful).'
    )
    reads = ("review", "people")
    misread = {
        "second": {"place": 1},
        "most-votes": {"by": voted_on},
        "highest-share": {"by": lambda review: found_helpful(review) / (review["votes"] or 1)},
        "newest": {"by": lambda review: 0},
    }
    may_agree = ("most-votes", "highest-share", "newest")

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(office.chief(stream), *office.some_days(stream, 6, 12, 24, 48), _code(world, stream))

    def end(self, world: World, *, by: Callable[[Row], float] = found_helpful, place: int = 0) -> Parts:
        listed = self.reviews(world)
        ranked = sorted(listed, key=by, reverse=True)
        yield self.few_enough(listed)
        yield fair(clear(ranked, found_helpful))
        best = ranked[place]
        yield Key.answer({"review": best["id"], "people": found_helpful(best)})
        yield self.read(listed)
        yield self.effort_of(len(listed))

    def findings(self, measured: list[Measurement]) -> Json:
        number, helpful = max(measured, key=lambda one: one[1])
        return answer({"review": int(number), "people": helpful})
