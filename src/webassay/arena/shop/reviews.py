"""Reading reviews, and writing one."""

import operator
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

from webassay.arena.kit.effort import Difficulty, Effort, pages_of
from webassay.arena.kit.key import Key
from webassay.arena.kit.template import Mutate, Parts, Retrieve, clear, fair, first_page, top
from webassay.arena.kit.walking import answer, click, links, submit
from webassay.arena.shop import facts, pages, queries
from webassay.core.interaction import Observation, Walk
from webassay.core.record import Json
from webassay.core.task import ChoreType
from webassay.sites.kit import Row, World
from webassay.sites.rng import NothingToDraw, Stream

SIZES = ((11, 25), (26, 59), (60, 199), (200, 400))
FIRST_PAGE = {"first": pages.REVIEWS_ON_A_PAGE}
ANY = 0
"""As a number of stars: whoever does not look at them."""


class ReadReviews(Retrieve, abstract=True):
    """Reads all the reviews of one product, found by search or by the link on its card."""

    chore: ClassVar[ChoreType] = "massive_memory"
    levels: ClassVar[tuple[Difficulty, ...]] = ("easy", "medium", "hard", "extreme")
    ways = {"from-card": {"from_card": True}}

    product: str

    @abstractmethod
    def conclusion(self, reviews: list[Row], *_: Any, **how: Any) -> Parts:
        """Fairness, the key, and evidence besides that all were read."""

    @abstractmethod
    def response(self, reviews: list[pages.ShownReview]) -> Json:
        """What the walk answers, once all are read."""

    def end(self, world: World, *, first: int = 0, **how: Any) -> Parts:
        reviews = queries.reviews(world, self.product)
        yield from self.conclusion([*first_page(reviews, first)], **how)
        yield facts.read_reviews(reviews)
        yield Key.checkpoint("product page", queries.product_page(queries.product(world, self.product)["slug"]))
        on_pages = pages_of(len(reviews), pages.REVIEWS_ON_A_PAGE)
        yield Effort(rows=len(reviews), pages=on_pages, steps=5 + on_pages)

    def solve(self, page: Observation, *, from_card: bool = False) -> Walk:
        read = pages.reviews_from_card if from_card else pages.reviews_of
        return self.response((yield from read(page, self.product)))


def some_product(world: World, stream: Stream) -> str:
    low, high = stream.choice(SIZES)
    return str(stream.choice(queries.find_products(world, "r.review_count BETWEEN ? AND ?", low, high))["name"])


class StarredReviews(ReadReviews, abstract=True):
    """Looks for those with so many stars."""

    least_and_most: ClassVar[tuple[int, int]]
    """How many are asked for."""

    stars: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(some_product(world, stream), stream.between(*cls.least_and_most))


def can_be_listed(nicknames: Sequence[str]) -> bool:
    """A few, and all of them different."""
    return 2 <= len(nicknames) <= 14 and len({name.casefold() for name in nicknames}) == len(nicknames)


class LowReviews(StarredReviews):
    """Count the bad reviews of a product."""

    name = "shop.low-reviews"
    instruction = 'How many reviews of "{product}" have at most {stars} of 5 stars? Answer with the number.'
    least_and_most = (2, 4)
    misread = {
        "first-page-only": FIRST_PAGE,
        "exactly-that-many": {"counts": operator.eq},
        "fewer-only": {"counts": operator.lt},
        "more-instead": {"counts": operator.ge},
    }

    def conclusion(self, reviews: list[Row], *, counts: Callable[[int, int], bool] = operator.le) -> Parts:
        low = [review for review in reviews if counts(review["rating"], self.stars)]
        yield Key.answer(len(low), unit="reviews")
        yield facts.seen([facts.review(review) for review in low])

    def response(self, reviews: list[pages.ShownReview]) -> Json:
        return answer(sum(review.stars <= self.stars for review in reviews))


class RatingDistribution(ReadReviews):
    """Count the reviews of a product by their stars."""

    name = "shop.rating-distribution"
    instruction = (
        'How many reviews of "{product}" have 5, 4, 3, 2, and 1 stars? Answer with a list of five numbers in this '
        "order."
    )
    misread = {"first-page-only": FIRST_PAGE, "from-one-star-up": {"order": (1, 2, 3, 4, 5)}}

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(some_product(world, stream))

    def conclusion(self, reviews: list[Row], *, order: Sequence[int] = (5, 4, 3, 2, 1)) -> Parts:
        counted = Counter(review["rating"] for review in reviews)
        yield Key.answer(*(counted[stars] for stars in order), ordered=True, unit="reviews")

    def response(self, reviews: list[pages.ShownReview]) -> Json:
        counted = Counter(review.stars for review in reviews)
        return answer(*(counted[stars] for stars in (5, 4, 3, 2, 1)))


class CriticalReviewers(StarredReviews):
    """List who gave a product a certain number of stars."""

    name = "shop.critical-reviewers"
    instruction = (
        'Who wrote the reviews of "{product}" that have exactly {stars} of 5 stars? Answer with a list of the '
        "nicknames, one for each review."
    )
    reads = ("*",)
    least_and_most = (1, 4)
    misread = {"first-page-only": FIRST_PAGE, "or-fewer": {"or_fewer": True}}

    def conclusion(self, reviews: list[Row], *, or_fewer: bool = False) -> Parts:
        if or_fewer and self.stars == 1:
            raise NothingToDraw
        least = 1 if or_fewer else self.stars
        fitting = [review for review in reviews if least <= review["rating"] <= self.stars]
        names = [review["nickname"] for review in fitting]
        yield fair(can_be_listed(names))
        yield Key.answer(*names)
        yield facts.seen([facts.review(review) for review in fitting])

    def response(self, reviews: list[pages.ShownReview]) -> Json:
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


Measure = Callable[[int, int], int]
"""What a line of an order is ranked by: from the price of one piece and the number of pieces."""


def _one_piece(cents: int, pieces: int) -> int:
    return cents


class ReviewDearest(Mutate):
    """Review the most expensive article of the latest order."""

    name = "shop.review-dearest"
    chore = "long_term_memory"
    instruction = (
        "Write a review of the product with the highest price for a single piece in my latest order. Rating: {stars} "
        'of 5. Nickname: "{nickname}". Summary: "{title}". Review: "{text}"'
    )
    levels = ("medium",)
    misread = {
        "first-article": {"by": lambda cents, pieces: 0},
        "highest-subtotal": {"by": operator.mul},
        "order-before": {"back": 1},
    }
    ways = {"from-account-by-search": {"search": True}}

    user: str
    stars: int
    title: str
    text: str
    nickname: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(
            user=queries.shopper(world, stream, 2, 400),
            stars=stream.between(1, 5),
            title=stream.choice(_TITLES),
            text=stream.choice(_TEXTS),
            nickname=stream.choice(_NICKNAMES),
        )

    def end(self, world: World, *, back: int = 0, by: Measure = _one_piece) -> Parts:
        number = queries.orders_of(world, self.user)[back]["number"]
        items = queries.order_items(world, number)
        ranked = sorted(items, key=lambda item: by(item["unit_price_cents"], item["quantity"]), reverse=True)
        yield fair(clear(ranked, queries.unit_price))
        bought = top(ranked)
        yield Key.insert(
            "reviews",
            title=self.title,
            text=self.text,
            nickname=self.nickname,
            product_id=bought["product_id"],
            customer_id=queries.customer_id(world, self.user),
            rating=self.stars,
            status="pending",
        )
        yield facts.seen([facts.bought(item) for item in items])
        yield Key.checkpoint("latest order", queries.order_page(number))
        yield Key.checkpoint("product page", queries.product_page(bought["slug"]))
        yield Effort(rows=len(items), pages=3, steps=13)

    def solve(self, page: Observation, *, by: Measure = _one_piece, search: bool = False) -> Walk:
        page = yield from links(page, "My Account" if search else "Orders")
        page = yield from click(page, "link", contains="View Order")
        bought = max(pages.items(page), key=lambda item: by(item.cents, item.quantity)).name
        page = yield from (pages.open_product if search else links)(page, bought)
        page = yield from pages.open_reviews(page)
        page = yield from click(page, "radio", "1 star" if self.stars == 1 else f"{self.stars} stars")
        typed = {"Nickname": self.nickname, "Summary": self.title, "Review": self.text}
        return (yield from submit(page, "Submit Review", typed))
