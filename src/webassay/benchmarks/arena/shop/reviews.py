"""Reading reviews, and writing one."""

from collections import Counter
from dataclasses import dataclass
from typing import Self

from webassay.benchmarks.arena.key import Key
from webassay.benchmarks.arena.shop import pages, queries
from webassay.benchmarks.arena.template import Template, Worlds
from webassay.benchmarks.arena.walking import answer, click, done, fill
from webassay.core.interaction import Observation, Walk
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream


def _draw_product(world: World, stream: Stream, low: int, high: int) -> str | None:
    """The name of a product with that many reviews."""
    found = queries.pick(stream, queries.named_products(world, "r.review_count BETWEEN ? AND ?", low, high))
    return None if found is None else str(found["name"])


def _reviews(world: World, product: str) -> list[Row]:
    return world.rows(
        "SELECT v.* FROM reviews AS v JOIN products AS p ON p.id = v.product_id"
        " WHERE p.name = ? AND v.status = 'approved' ORDER BY v.id",
        product,
    )


@dataclass(frozen=True)
class LowReviews(Template):
    """Count the bad reviews of a product."""

    name = "shop.low-reviews"
    sites = ("shop",)
    kind = "retrieve"
    chore = "massive_memory"
    instruction = 'How many reviews of "{product}" give it {stars} stars or fewer? Answer with one number.'

    product: str
    stars: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        product = _draw_product(worlds["shop"], stream, 18, 60)
        return None if product is None else cls(product, stream.between(2, 3))

    def key(self, worlds: Worlds) -> Key:
        few = sum(review["rating"] <= self.stars for review in _reviews(worlds["shop"], self.product))
        page = queries.page_of_product(worlds["shop"], self.product)
        return Key.answer(few) & Key.checkpoint("product page", page)

    def solve(self, page: Observation) -> Walk:
        reviews = yield from pages.reviews_of(page, self.product)
        return answer(sum(review.stars <= self.stars for review in reviews))


@dataclass(frozen=True)
class RatingDistribution(Template):
    """Count the reviews of a product by their stars."""

    name = "shop.rating-distribution"
    sites = ("shop",)
    kind = "retrieve"
    chore = "massive_memory"
    instruction = (
        'How are the ratings of "{product}" distributed? Answer with five numbers: how many reviews give '
        "5, 4, 3, 2 and 1 stars, in that order."
    )
    difficulty = "hard"

    product: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        product = _draw_product(worlds["shop"], stream, 25, 90)
        return None if product is None else cls(product)

    def key(self, worlds: Worlds) -> Key:
        counted = Counter(review["rating"] for review in _reviews(worlds["shop"], self.product))
        return Key.answer(*(counted[stars] for stars in (5, 4, 3, 2, 1)), ordered=True)

    def solve(self, page: Observation) -> Walk:
        reviews = yield from pages.reviews_of(page, self.product)
        counted = Counter(review.stars for review in reviews)
        return answer(*(counted[stars] for stars in (5, 4, 3, 2, 1)))


@dataclass(frozen=True)
class CriticalReviewers(Template):
    """List who gave a product a certain number of stars."""

    name = "shop.critical-reviewers"
    sites = ("shop",)
    kind = "retrieve"
    chore = "massive_memory"
    instruction = 'Who gave "{product}" exactly {stars} stars? List the nicknames of these reviewers.'

    product: str
    stars: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        product, stars = _draw_product(worlds["shop"], stream, 14, 50), stream.between(1, 3)
        if product is None:
            return None
        drawn = cls(product, stars)
        names = drawn._nicknames(worlds["shop"])
        usable = 2 <= len(names) <= 8 and len({name.casefold() for name in names}) == len(names)
        return drawn if usable else None

    def key(self, worlds: Worlds) -> Key:
        return Key.answer(*self._nicknames(worlds["shop"]))

    def _nicknames(self, world: World) -> list[str]:
        return [review["nickname"] for review in _reviews(world, self.product) if review["rating"] == self.stars]

    def solve(self, page: Observation) -> Walk:
        reviews = yield from pages.reviews_of(page, self.product)
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
    sites = ("shop",)
    kind = "mutate"
    chore = "long_term_memory"
    instruction = (
        "Write a review of the most expensive article (price of a single piece) in my latest order: "
        '{stars} stars, nickname "{nickname}", title "{title}", text "{text}"'
    )

    user: str
    stars: int
    title: str
    text: str
    nickname: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        user = queries.shopper(worlds["shop"], stream, orders=4)
        if _dearest_of_latest_order(worlds["shop"], user) is None:
            return None
        return cls(
            user=user,
            stars=stream.between(1, 5),
            title=stream.choice(_TITLES),
            text=stream.choice(_TEXTS),
            nickname=stream.choice(_NICKNAMES),
        )

    def key(self, worlds: Worlds) -> Key:
        bought = _dearest_of_latest_order(worlds["shop"], self.user)
        assert bought is not None
        return Key.insert(
            "reviews",
            title=self.title,
            text=self.text,
            nickname=self.nickname,
            product_id=bought["product_id"],
            customer_id=queries.customer_id(worlds["shop"], self.user),
            rating=self.stars,
            status="pending",
        )

    def solve(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Orders")
        page = yield from click(page, "link", contains="View Order")
        page = yield from click(page, "link", max(pages.items(page), key=lambda item: item.cents).name)
        page = yield from pages.open_reviews(page)
        page = yield from click(page, "radio", "1 star" if self.stars == 1 else f"{self.stars} stars")
        page = yield from fill(page, "textbox", "Nickname", self.nickname)
        page = yield from fill(page, "textbox", "Summary", self.title)
        page = yield from fill(page, "textbox", "Review", self.text)
        yield from click(page, "button", "Submit Review")
        return done("mutate")


def _dearest_of_latest_order(world: World, user: str) -> Row | None:
    latest = max(queries.orders_of(world, user), key=lambda order: (order["created_at"], order["id"]))
    return queries.dearest(queries.order_items(world, latest["number"]))
