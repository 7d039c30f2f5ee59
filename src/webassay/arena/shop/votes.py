"""What other people thought of reviews. Their votes are a bar without a number; only the accessible name says it."""

import operator
from collections.abc import Callable

from webassay.arena.kit.key import Key
from webassay.arena.kit.template import Parts, clear, fair, top
from webassay.arena.kit.walking import answer
from webassay.arena.shop import facts, pages
from webassay.arena.shop.queries import found_helpful, voted_on
from webassay.arena.shop.reviews import ANY, FIRST_PAGE, StarredReviews, can_be_listed
from webassay.core.record import Json
from webassay.sites.kit import Row


def _share(review: Row) -> int:
    """In thousandths."""
    return found_helpful(review) * 1000 // voted_on(review) if voted_on(review) else 0


class HelpfulReview(StarredReviews):
    """Find the review with so many stars that most people found helpful."""

    name = "shop.helpful-review"
    instruction = (
        'Look at the reviews of "{product}" that have exactly {stars} of 5 stars. Which one did the most people find '
        "helpful? Answer with its nickname."
    )
    reads = ("*",)
    levels = ("medium", "hard", "extreme")
    tags = ("tree",)
    least_and_most = (1, 5)
    misread = {
        "stars-ignored": {"stars": ANY},
        "most-votes": {"by": voted_on},
        "highest-share": {"by": _share},
        "first-page-only": FIRST_PAGE,
    }

    def conclusion(self, reviews: list[Row], *, by: Callable[[Row], int] = found_helpful) -> Parts:
        fitting = [review for review in reviews if self.stars in (ANY, review["rating"])]
        ranked = sorted(fitting, key=by, reverse=True)
        best = top(ranked)["nickname"]
        yield fair(clear(ranked, by), best not in self.product)
        yield Key.answer(best)
        yield facts.seen([facts.votes(review) for review in ranked[:5] if review["votes"]])

    def response(self, reviews: list[pages.ShownReview]) -> Json:
        fitting = [review for review in reviews if review.stars == self.stars]
        return answer(max(fitting, key=lambda review: review.helpful).nickname)


class HelpfulTotal(StarredReviews):
    """Add up how many people found the bad reviews of a product helpful."""

    name = "shop.helpful-total"
    chore = "calculation"
    instruction = (
        'Look at the reviews of "{product}" that have at most {stars} of 5 stars. Add up how many people found each '
        "of them helpful. Answer with the sum."
    )
    tags = ("tree",)
    least_and_most = (2, 4)
    misread = {
        "first-page-only": FIRST_PAGE,
        "all-votes": {"count": voted_on},
        "stars-ignored": {"stars": 5},
        "exactly-that-many": {"counts": operator.eq},
        "reviews-counted": {"count": lambda review: 1},
    }

    def conclusion(
        self,
        reviews: list[Row],
        *,
        counts: Callable[[int, int], bool] = operator.le,
        count: Callable[[Row], int] = found_helpful,
    ) -> Parts:
        fitting = [review for review in reviews if counts(review["rating"], self.stars)]
        yield Key.answer(sum(map(count, fitting)), unit="people")
        yield facts.seen([facts.votes(review) for review in facts.sample(fitting) if review["votes"]])

    def response(self, reviews: list[pages.ShownReview]) -> Json:
        return answer(sum(review.helpful for review in reviews if review.stars <= self.stars))


class UnhelpfulReviewers(StarredReviews):
    """List whose reviews with so many stars were helpful to the lesser part of those who voted."""

    name = "shop.unhelpful-reviewers"
    instruction = (
        'Look at the reviews of "{product}" that have exactly {stars} of 5 stars. Which of them did fewer than half '
        "of the voters find helpful? Leave out reviews without votes. Answer with a list of the nicknames, one for "
        "each review."
    )
    reads = ("*",)
    tags = ("tree",)
    least_and_most = (1, 5)
    misread = {
        "first-page-only": FIRST_PAGE,
        "stars-ignored": {"stars": ANY},
        "helpful-instead": {"than_half": operator.gt},
        "half-is-enough": {"than_half": operator.le},
    }
    may_agree = ("half-is-enough",)

    def conclusion(self, reviews: list[Row], *, than_half: Callable[[int, int], bool] = operator.lt) -> Parts:
        voted = [review for review in reviews if self.stars in (ANY, review["rating"]) and review["votes"]]
        fitting = [review for review in voted if than_half(2 * found_helpful(review), voted_on(review))]
        names = [review["nickname"] for review in fitting]
        yield fair(can_be_listed(names), not any(name in self.product for name in names))
        yield Key.answer(*names)
        yield facts.seen([facts.votes(review) for review in fitting])

    def response(self, reviews: list[pages.ShownReview]) -> Json:
        fitting = [review for review in reviews if review.stars == self.stars and 2 * review.helpful < review.votes]
        return answer(*(review.nickname for review in fitting))
