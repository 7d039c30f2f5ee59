"""What other people thought of reviews. Their votes are a bar without a number; only the accessible name says it."""

from dataclasses import dataclass
from typing import Self

from webassay.arena.kit.key import Key
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Worlds
from webassay.arena.kit.walking import answer
from webassay.arena.shop import facts, pages, queries
from webassay.arena.shop.reviews import ReadReviews, draw_product, read_all
from webassay.core.record import Json
from webassay.sites.kit import Row
from webassay.sites.rng import Stream


def _helpful(review: Row) -> int:
    return int(review["helpful"] or 0)


def _votes(review: Row) -> int:
    return int(review["votes"] or 0)


def _share(review: Row) -> int:
    """In thousandths."""
    return _helpful(review) * 1000 // _votes(review) if _votes(review) else 0


@dataclass(frozen=True)
class HelpfulReview(ReadReviews):
    """Find the review with so many stars that most people found helpful."""

    name = "shop.helpful-review"
    instruction = (
        'Of the reviews that give "{product}" exactly {stars} of 5 stars, which one did the largest number of people '
        "find helpful? Answer with the nickname of its writer."
    )
    reads = ("*",)
    levels = ("medium", "hard", "extreme")
    tags = ("tree",)

    product: str
    stars: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        product, stars = draw_product(worlds["shop"], stream), stream.between(1, 5)
        if product is None:
            return None
        drawn = cls(product, stars)
        best = queries.best(drawn._fitting(queries.reviews(worlds["shop"], product)), _helpful)
        return None if best is None or best["nickname"] in product else drawn

    def _fitting(self, reviews: list[Row]) -> list[Row]:
        return [review for review in reviews if review["rating"] == self.stars]

    def key(self, worlds: Worlds) -> Key:
        fitting = self._fitting(queries.reviews(worlds["shop"], self.product))
        ranked = sorted(fitting, key=_helpful, reverse=True)
        compared = facts.seen([facts.votes(review) for review in ranked[:5] if review["votes"]])
        return Key.answer(ranked[0]["nickname"]) & compared & read_all(worlds["shop"], self.product)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        reviews = queries.reviews(worlds["shop"], self.product)
        fitting = self._fitting(reviews)
        wrong = {
            "stars-ignored": max(reviews, key=_helpful),
            "most-votes": max(fitting, key=_votes),
            "highest-share": max(fitting, key=_share),
        }
        if first := self._fitting(reviews[: pages.REVIEWS_ON_A_PAGE]):
            wrong["first-page-only"] = max(first, key=_helpful)
        return {name: Key.answer(review["nickname"]) for name, review in wrong.items()}

    def findings(self, reviews: list[pages.ShownReview]) -> Json:
        fitting = [review for review in reviews if review.stars == self.stars]
        return answer(max(fitting, key=lambda review: review.helpful).nickname)


@dataclass(frozen=True)
class HelpfulTotal(ReadReviews):
    """Add up how many people found the bad reviews of a product helpful."""

    name = "shop.helpful-total"
    chore = "calculation"
    instruction = (
        'Take the reviews that give "{product}" {stars} stars or fewer. How many people found them helpful, all of '
        "these reviews added up? Answer with one number."
    )
    tags = ("tree",)

    product: str
    stars: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        product = draw_product(worlds["shop"], stream)
        return None if product is None else cls(product, stream.between(2, 4))

    def _fitting(self, reviews: list[Row]) -> list[Row]:
        return [review for review in reviews if review["rating"] <= self.stars]

    def key(self, worlds: Worlds) -> Key:
        fitting = self._fitting(queries.reviews(worlds["shop"], self.product))
        voted = facts.seen([facts.votes(review) for review in facts.sample(fitting) if review["votes"]])
        total = Key.answer(sum(map(_helpful, fitting)), unit="people")
        return total & voted & read_all(worlds["shop"], self.product)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        reviews = queries.reviews(worlds["shop"], self.product)
        exactly = [review for review in reviews if review["rating"] == self.stars]
        return {
            "first-page-only": Key.answer(sum(map(_helpful, self._fitting(reviews[: pages.REVIEWS_ON_A_PAGE])))),
            "all-votes": Key.answer(sum(map(_votes, self._fitting(reviews)))),
            "stars-ignored": Key.answer(sum(map(_helpful, reviews))),
            "exactly-that-many": Key.answer(sum(map(_helpful, exactly))),
            "reviews-counted": Key.answer(len(self._fitting(reviews))),
        }

    def findings(self, reviews: list[pages.ShownReview]) -> Json:
        return answer(sum(review.helpful for review in reviews if review.stars <= self.stars))


@dataclass(frozen=True)
class UnhelpfulReviewers(ReadReviews):
    """List whose reviews with so many stars were helpful to the lesser part of those who voted."""

    name = "shop.unhelpful-reviewers"
    instruction = (
        'Whose reviews of "{product}" give exactly {stars} of 5 stars and were found helpful by fewer than half of '
        "those who voted on them? Leave out reviews that nobody has voted on. List the nicknames, one element for each "
        "review."
    )
    reads = ("*",)
    tags = ("tree",)

    product: str
    stars: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        product, stars = draw_product(worlds["shop"], stream), stream.between(1, 5)
        if product is None:
            return None
        drawn = cls(product, stars)
        names = [review["nickname"] for review in drawn._fitting(queries.reviews(worlds["shop"], product))]
        different = len({name.casefold() for name in names}) == len(names)
        return drawn if 2 <= len(names) <= 14 and different and not any(name in product for name in names) else None

    def _fitting(self, reviews: list[Row]) -> list[Row]:
        voted = [review for review in reviews if review["rating"] == self.stars and review["votes"]]
        return [review for review in voted if 2 * _helpful(review) < _votes(review)]

    def key(self, worlds: Worlds) -> Key:
        fitting = self._fitting(queries.reviews(worlds["shop"], self.product))
        theirs = facts.seen([facts.votes(review) for review in fitting])
        listed = Key.answer(*(review["nickname"] for review in fitting))
        return listed & theirs & read_all(worlds["shop"], self.product)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        reviews = queries.reviews(worlds["shop"], self.product)
        voted = [review for review in reviews if review["votes"]]
        exactly = [review for review in voted if review["rating"] == self.stars]
        wrong = {
            "first-page-only": self._fitting(reviews[: pages.REVIEWS_ON_A_PAGE]),
            "stars-ignored": [review for review in voted if 2 * _helpful(review) < _votes(review)],
            "helpful-instead": [review for review in exactly if 2 * _helpful(review) > _votes(review)],
        }
        half = [review for review in exactly if 2 * _helpful(review) <= _votes(review)]
        if len(half) > len(self._fitting(reviews)):
            wrong["half-is-enough"] = half
        return {name: Key.answer(*(review["nickname"] for review in found)) for name, found in wrong.items()}

    def findings(self, reviews: list[pages.ShownReview]) -> Json:
        fitting = [review for review in reviews if review.stars == self.stars and 2 * review.helpful < review.votes]
        return answer(*(review.nickname for review in fitting))
