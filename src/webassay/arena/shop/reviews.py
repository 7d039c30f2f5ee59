"""Reading reviews, and writing one."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from webassay.arena.kit.effort import Difficulty, Effort, pages_of
from webassay.arena.kit.key import Key
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.arena.kit.walking import Steps, answer, click, fill, submit
from webassay.arena.shop import facts, pages, queries
from webassay.core.interaction import Observation, Walk
from webassay.core.record import Json
from webassay.core.task import ChoreType
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream

SIZES = ((11, 25), (26, 59), (60, 199), (200, 400))


class ReadReviews(Template, abstract=True):
    """Reads all the reviews of one product, found by search or by the link on its card."""

    sites = ("shop",)
    kind = "retrieve"
    chore: ClassVar[ChoreType] = "massive_memory"
    levels: ClassVar[tuple[Difficulty, ...]] = ("easy", "medium", "hard", "extreme")

    product: str

    @abstractmethod
    def findings(self, reviews: list[pages.ShownReview]) -> Json:
        """The response, once all are read."""

    def effort(self, worlds: Worlds) -> Effort:
        count = len(queries.reviews(worlds["shop"], self.product))
        on_pages = pages_of(count, pages.REVIEWS_ON_A_PAGE)
        return Effort(rows=count, pages=on_pages, steps=5 + on_pages)

    def solve(self, page: Observation) -> Walk:
        return self.findings((yield from pages.reviews_of(page, self.product)))

    def routes(self) -> Mapping[str, Route]:
        return {"from-card": self._from_card}

    def _from_card(self, page: Observation) -> Walk:
        return self.findings((yield from pages.reviews_from_card(page, self.product)))


def draw_product(world: World, stream: Stream) -> str | None:
    low, high = stream.choice(SIZES)
    found = queries.pick(stream, queries.find_products(world, "r.review_count BETWEEN ? AND ?", low, high))
    return None if found is None else str(found["name"])


def read_all(world: World, product: str) -> Key:
    """That all the reviews were read."""
    page = Key.checkpoint("product page", queries.product_page(queries.product(world, product)["slug"]))
    return facts.read_reviews(queries.reviews(world, product)) & page


@dataclass(frozen=True)
class LowReviews(ReadReviews):
    """Count the bad reviews of a product."""

    name = "shop.low-reviews"
    instruction = 'How many reviews give "{product}" {stars} stars or fewer? Answer with one number.'

    product: str
    stars: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        product = draw_product(worlds["shop"], stream)
        return None if product is None else cls(product, stream.between(2, 4))

    def key(self, worlds: Worlds) -> Key:
        reviews = queries.reviews(worlds["shop"], self.product)
        few = sum(review["rating"] <= self.stars for review in reviews)
        low = facts.seen([facts.review(review) for review in reviews if review["rating"] <= self.stars])
        return Key.answer(few, unit="reviews") & low & read_all(worlds["shop"], self.product)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        ratings = [review["rating"] for review in queries.reviews(worlds["shop"], self.product)]
        first = ratings[: pages.REVIEWS_ON_A_PAGE]
        return {
            "first-page-only": Key.answer(sum(rating <= self.stars for rating in first)),
            "exactly-that-many": Key.answer(sum(rating == self.stars for rating in ratings)),
            "fewer-only": Key.answer(sum(rating < self.stars for rating in ratings)),
            "more-instead": Key.answer(sum(rating >= self.stars for rating in ratings)),
        }

    def findings(self, reviews: list[pages.ShownReview]) -> Json:
        return answer(sum(review.stars <= self.stars for review in reviews))


@dataclass(frozen=True)
class RatingDistribution(ReadReviews):
    """Count the reviews of a product by their stars."""

    name = "shop.rating-distribution"
    instruction = (
        'How are the ratings of "{product}" distributed? Answer with five numbers: how many reviews give '
        "5, 4, 3, 2 and 1 stars, in that order."
    )

    product: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        product = draw_product(worlds["shop"], stream)
        return None if product is None else cls(product)

    def key(self, worlds: Worlds) -> Key:
        ratings = [review["rating"] for review in queries.reviews(worlds["shop"], self.product)]
        answer = Key.answer(*_distribution(ratings), ordered=True, unit="reviews")
        return answer & read_all(worlds["shop"], self.product)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        ratings = [review["rating"] for review in queries.reviews(worlds["shop"], self.product)]
        return {
            "first-page-only": Key.answer(*_distribution(ratings[: pages.REVIEWS_ON_A_PAGE]), ordered=True),
            "from-one-star-up": Key.answer(*reversed(_distribution(ratings)), ordered=True),
        }

    def findings(self, reviews: list[pages.ShownReview]) -> Json:
        return answer(*_distribution([review.stars for review in reviews]))


def _distribution(ratings: list[int]) -> list[int]:
    counted = Counter(ratings)
    return [counted[stars] for stars in (5, 4, 3, 2, 1)]


@dataclass(frozen=True)
class CriticalReviewers(ReadReviews):
    """List who gave a product a certain number of stars."""

    name = "shop.critical-reviewers"
    instruction = (
        'Which reviewers rated "{product}" with exactly {stars} of 5 stars, no more and no less? '
        "List their nicknames, one element for each review."
    )
    reads = ("*",)

    product: str
    stars: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        product, stars = draw_product(worlds["shop"], stream), stream.between(1, 4)
        if product is None:
            return None
        drawn = cls(product, stars)
        names = drawn._nicknames(queries.reviews(worlds["shop"], product))
        usable = 2 <= len(names) <= 14 and len({name.casefold() for name in names}) == len(names)
        return drawn if usable else None

    def _nicknames(self, reviews: list[Row]) -> list[str]:
        return [review["nickname"] for review in reviews if review["rating"] == self.stars]

    def key(self, worlds: Worlds) -> Key:
        reviews = queries.reviews(worlds["shop"], self.product)
        theirs = facts.seen([facts.review(review) for review in reviews if review["rating"] == self.stars])
        return Key.answer(*self._nicknames(reviews)) & theirs & read_all(worlds["shop"], self.product)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        reviews = queries.reviews(worlds["shop"], self.product)
        found = {"first-page-only": Key.answer(*self._nicknames(reviews[: pages.REVIEWS_ON_A_PAGE]))}
        if self.stars > 1:
            or_fewer = [review["nickname"] for review in reviews if review["rating"] <= self.stars]
            found["or-fewer"] = Key.answer(*or_fewer)
        return found

    def findings(self, reviews: list[pages.ShownReview]) -> Json:
        return answer(*(review.nickname for review in reviews if review.stars == self.stars))


_TITLES = (
    "Better than the last one", "Does what it says", "Would buy again", "Not quite what I hoped for",
    "Solid and simple", "My neighbor wants one too", "Good, with one small flaw", "Fine for the price",
)  # fmt: skip
_TEXTS = (
    "I have used it nearly every day for two weeks and have nothing to complain about so far.",
    "It arrived a day early and was well packed. The color is a little darker than in the picture.",
    "Sturdier than I expected. I only wish that the instructions were easier to read.",
    "It is fine, but the one that I had before was easier to clean, so I am of two minds about it.",
    "Bought it for my daughter, who has taken it everywhere since. That says enough, I think.",
)
_NICKNAMES = ("Quiet Otter", "Marlow", "Tess from Ohio", "B. Underhill", "paperkite", "Rosalind K")


@dataclass(frozen=True)
class ReviewDearest(Template):
    """Review the most expensive article of the latest order."""

    name = "shop.review-dearest"
    kind = "mutate"
    chore = "long_term_memory"
    instruction = (
        "Write a review of the article with the highest price for a single piece in my latest order. "
        'Rating: {stars} of 5. Nickname: "{nickname}". Summary: "{title}". Review: "{text}"'
    )
    levels = ("medium",)

    user: str
    stars: int
    title: str
    text: str
    nickname: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        drawn = cls(
            user=queries.shopper(worlds["shop"], stream, 2, 400),
            stars=stream.between(1, 5),
            title=stream.choice(_TITLES),
            text=stream.choice(_TEXTS),
            nickname=stream.choice(_NICKNAMES),
        )
        return None if queries.best(drawn._items(worlds["shop"]), queries.unit_price) is None else drawn

    def _items(self, world: World, back: int = 0) -> list[Row]:
        """What was in the latest order, or in one before it."""
        return queries.order_items(world, queries.orders_of(world, self.user)[back]["number"])

    def key(self, worlds: Worlds) -> Key:
        latest = queries.orders_of(worlds["shop"], self.user)[0]["number"]
        items = self._items(worlds["shop"])
        bought = max(items, key=queries.unit_price)
        return (
            self._review_of(worlds["shop"], bought)
            & facts.seen([facts.bought(item) for item in items])
            & Key.checkpoint("latest order", queries.order_page(latest))
            & Key.checkpoint("product page", queries.product_page(bought["slug"]))
        )

    def _review_of(self, world: World, item: Row) -> Key:
        return Key.insert(
            "reviews",
            title=self.title,
            text=self.text,
            nickname=self.nickname,
            product_id=item["product_id"],
            customer_id=queries.customer_id(world, self.user),
            rating=self.stars,
            status="pending",
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        latest, before = self._items(worlds["shop"]), self._items(worlds["shop"], 1)
        wrong = {
            "first-article": latest[0],
            "highest-subtotal": max(latest, key=queries.subtotal),
            "order-before": max(before, key=queries.unit_price),
        }
        return {name: self._review_of(worlds["shop"], item) for name, item in wrong.items()}

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=len(self._items(worlds["shop"])), pages=3, steps=13)

    def solve(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Orders")
        page = yield from click(page, "link", contains="View Order")
        page = yield from click(page, "link", max(pages.items(page), key=lambda item: item.cents).name)
        return (yield from self._write(page))

    def routes(self) -> Mapping[str, Route]:
        return {"from-account-by-search": self._by_search}

    def _by_search(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "My Account")
        page = yield from click(page, "link", contains="View Order")
        page = yield from pages.open_product(page, max(pages.items(page), key=lambda item: item.cents).name)
        return (yield from self._write(page))

    def hasty(self) -> Mapping[str, Route]:
        return {"first-article": self._first, "highest-subtotal": self._highest_subtotal}

    def _first(self, page: Observation) -> Walk:
        page = yield from self._latest(page)
        page = yield from click(page, "link", pages.items(page)[0].name)
        return (yield from self._write(page))

    def _highest_subtotal(self, page: Observation) -> Walk:
        page = yield from self._latest(page)
        most = max(pages.items(page), key=lambda item: item.cents * item.quantity)
        page = yield from click(page, "link", most.name)
        return (yield from self._write(page))

    def _latest(self, page: Observation) -> Steps:
        page = yield from click(page, "link", "Orders")
        return (yield from click(page, "link", contains="View Order"))

    def _write(self, page: Observation) -> Walk:
        page = yield from pages.open_reviews(page)
        page = yield from click(page, "radio", "1 star" if self.stars == 1 else f"{self.stars} stars")
        page = yield from fill(page, "textbox", "Nickname", self.nickname)
        page = yield from fill(page, "textbox", "Summary", self.title)
        page = yield from fill(page, "textbox", "Review", self.text)
        return (yield from submit(page, "Submit Review"))
