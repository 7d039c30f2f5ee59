"""What is ticked on the cards in the packages. They are pictures: whoever cannot look at them cannot know."""

import operator
from abc import abstractmethod
from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any, Self

from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key
from webassay.arena.kit.template import Navigate, Parts, Retrieve, clear, fair, top
from webassay.arena.kit.walking import answer, choose, click, done
from webassay.arena.shop import facts, pages, queries
from webassay.core.interaction import Action, Observation, Walk
from webassay.core.record import Json
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream

CardOfItem = tuple[pages.Item, pages.PackageCard]


class ReadCards(Retrieve, abstract=True):
    """Looks at the card of every article of an order."""

    levels = ("medium",)
    modality = "tree+screenshot"
    tags = ("screenshot",)
    ways = {"by-search": {"search": True}}

    user: str
    order: str

    @abstractmethod
    def conclusion(self, items: list[Row], *_: Any, **how: Any) -> Parts:
        """Fairness and the key."""

    @abstractmethod
    def response(self, cards: list[CardOfItem]) -> Json:
        """What the walk answers, once all are read."""

    def end(self, world: World, *, articles: slice = slice(None), **how: Any) -> Parts:
        items = queries.order_items(world, self.order)
        yield from self.conclusion(items[articles], **how)
        yield facts.seen([sight for item in items for sight in (facts.bought(item), facts.card(item))])
        yield Key.checkpoint("order", queries.order_page(self.order))
        yield Key.all_of(Key.checkpoint(item["sku"], queries.product_page(item["slug"])) for item in items)
        count, before = len(items), queries.list_page(world, self.user, self.order) + 5
        yield Effort(rows=2 * count, pages=count + 1, steps=before + 3 * count, longest=before + 5 * count)

    def solve(self, page: Observation, *, search: bool = False) -> Walk:
        order = yield from pages.open_order(page, self.order)
        cards = []
        for item in pages.items(order):
            page = yield from (pages.open_product(order, item.name) if search else click(order, "link", item.name))
            cards.append((item, (yield from pages.read_package_card(page))))
            order = yield Action.of("goto", order.url)
        return self.response(cards)


def _user_and_order(world: World, stream: Stream) -> tuple[str, str]:
    """With three articles or more, all different."""
    user = queries.shopper(world, stream)
    return user, queries.some_order(world, stream, user, "count(*) >= 3 AND count(DISTINCT i.product_id) = count(*)")


def _wherever(origin: str, country: str) -> bool:
    return True


class CardOrigin(ReadCards):
    """Find out which articles of an order come from a country."""

    name = "shop.card-origin"
    chore = "long_term_memory"
    instruction = (
        "Which products in my order {order} were made in {country}? The product pages show a picture of a card on "
        "which the country is ticked. Answer with a list of SKUs, one for each product."
    )
    reads = ("*",)
    misread = {
        "first-article-only": {"articles": slice(1), "fits": _wherever},
        "all-articles": {"fits": _wherever},
        "the-others": {"fits": operator.ne},
    }

    country: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        user, order = _user_and_order(world, stream)
        return cls(user, order, stream.choice([item["origin"] for item in queries.order_items(world, order)]))

    def conclusion(self, items: list[Row], *, fits: Callable[[str, str], bool] = operator.eq) -> Parts:
        yield fair(len({item["origin"] for item in items}) > 1)
        yield Key.answer(*(item["sku"] for item in items if fits(item["origin"], self.country)))

    def response(self, cards: list[CardOfItem]) -> Json:
        return answer(*(item.sku for item, card in cards if card.origin == self.country))


class CardWarranty(ReadCards):
    """Add up the warranties of an order, card by card."""

    name = "shop.card-warranty"
    chore = "calculation"
    instruction = (
        "How many months of warranty do the items of my order {order} have in total? Count the quantities. The "
        "product pages show a picture of a card on which the warranty is ticked. Answer with the number."
    )
    misread = {
        "quantities-ignored": {"pieces": lambda item: 1},
        "last-article-missed": {"articles": slice(-1)},
        "longest-only": {"together": max, "pieces": lambda item: 1},
    }

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(*_user_and_order(world, stream))

    def conclusion(
        self,
        items: list[Row],
        *,
        pieces: Callable[[Row], int] = itemgetter("quantity"),
        together: Callable[[Iterable[int]], int] = sum,
    ) -> Parts:
        yield Key.answer(together(item["warranty_months"] * pieces(item) for item in items), unit="months")

    def response(self, cards: list[CardOfItem]) -> Json:
        return answer(sum(item.quantity * card.months for item, card in cards))


_warranty = itemgetter("warranty_months")


def _longest_there_is(world: World) -> int:
    return int(queries.rows(world, "SELECT max(warranty_months) AS months FROM products")[0]["months"])


class OpenLongestWarranty(Navigate):
    """Open the product of a shelf whose card promises the longest warranty."""

    name = "shop.open-longest-warranty"
    chore = "massive_memory"
    instruction = (
        "Open the page of the product in {shelf} with the longest warranty among those that cost less than ${below} "
        "today. If a product is on sale, its sale price counts. The product pages show a picture of a card on which "
        "the warranty is ticked."
    )
    levels = ("hard",)
    modality = "tree+screenshot"
    tags = ("screenshot",)
    misread = {
        "price-ignored": {"any_price": True},
        "dearest-product": {"most": queries.price},
        "first-product": {"most": lambda product: 0},
    }
    ways = {"by-name": {"sort": "Product Name"}}

    shelf: str
    path: str
    below: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        shelf, path = queries.place(world, stream, 10, 120, levels=(2, 3))
        prices = [queries.price(product) for product in queries.products(world, path)]
        limits = [
            dollars
            for dollars in range(5, 305, 5)
            if 7 <= sum(price < dollars * 100 for price in prices) <= min(22, len(prices) - 1)
            and dollars * 100 not in prices
        ]
        return cls(shelf, path, stream.choice(limits))

    def end(self, world: World, *, any_price: bool = False, most: Callable[[Row], int] = _warranty) -> Parts:
        listed = queries.products(world, self.path)
        cheap = [product for product in listed if any_price or queries.price(product) < self.below * 100]
        ranked = sorted(cheap, key=most, reverse=True)
        best = top(ranked)
        # The cards show every box there is, so that nobody has to look any further who finds the last one ticked.
        yield fair(clear(ranked, most), _warranty(best) < _longest_there_is(world))
        yield Key.page(queries.product_page(best["slug"]))
        yield facts.seen([facts.card(product) for product in cheap])
        yield Key.checkpoint("category", queries.place_page(self.path))
        count, lists = len(cheap), pages_of(len(listed), pages.FEW_PRODUCTS)
        yield Effort(rows=count, pages=count + 1, steps=3 * count + 2 * lists + 8)

    def solve(self, page: Observation, *, sort: str = "") -> Walk:
        page = yield from (pages.open_place if sort else pages.open_long_place)(page, self.shelf)
        if sort:
            page = yield from choose(page, "Sort By", sort)
        longest = (0, "")
        while True:
            for card in pages.cards(page):
                if card.cents < self.below * 100:
                    opened = yield from click(page, "link", card.name)
                    ticked = yield from pages.read_package_card(opened)
                    longest = max(longest, (ticked.months, opened.url), key=lambda one: one[0])
                    page = yield Action.of("goto", page.url)
            if page.find("link", "Next") is None:
                break
            page = yield from click(page, "link", "Next")
        yield Action.of("goto", longest[1])
        return done("navigate")
