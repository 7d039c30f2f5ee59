"""Browsing and searching the catalogue."""

import re
from dataclasses import dataclass
from typing import Self

from webassay.benchmarks.arena.key import Key, money
from webassay.benchmarks.arena.shop import pages, queries
from webassay.benchmarks.arena.template import Template, Worlds
from webassay.benchmarks.arena.walking import answer, choose, click, done, fill, go_back, refusal
from webassay.core.errors import AgentError
from webassay.core.interaction import Observation, Walk
from webassay.core.task import PagePattern
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream


@dataclass(frozen=True)
class PriceRangeTotal(Template):
    """Add up the prices of a category that lie in a range."""

    name = "shop.price-range-total"
    sites = ("shop",)
    kind = "retrieve"
    chore = "calculation"
    instruction = (
        "What would it cost to buy one of each product in {shelf} that is priced between ${low} and "
        "${high}? Answer with the sum of the prices, without shipping and tax."
    )

    shelf: str
    path: str
    low: int
    high: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        shelf, path = queries.shelf(worlds["shop"], stream, 14, 40)
        prices = sorted(product["price_cents"] for product in queries.shelf_products(worlds["shop"], path))
        first = stream.below(len(prices) - 8)
        low, high = prices[first] // 500 * 5, -(-prices[first + stream.between(4, 7)] // 500) * 5
        inside = [price for price in prices if low * 100 <= price <= high * 100]
        # A price on the very edge would leave open whether it counts.
        if not 4 <= len(inside) <= 16 or low * 100 in inside or high * 100 in inside:
            return None
        return cls(shelf, path, low, high)

    def key(self, worlds: Worlds) -> Key:
        prices = (product["price_cents"] for product in queries.shelf_products(worlds["shop"], self.path))
        return Key.answer(money(sum(price for price in prices if self.low * 100 <= price <= self.high * 100)))

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_shelf(page, self.shelf)
        page = yield from fill(page, "textbox", "From $", str(self.low))
        page = yield from fill(page, "textbox", "To $", str(self.high))
        page = yield from click(page, "button", "Apply Price")
        cards = yield from pages.all_cards(page)
        return answer(pages.dollars(sum(card.cents for card in cards)))


@dataclass(frozen=True)
class HeaviestProduct(Template):
    """Find the heaviest product of a category."""

    name = "shop.heaviest-product"
    sites = ("shop",)
    kind = "retrieve"
    chore = "massive_memory"
    instruction = "Which product in {shelf} weighs the most? Answer with its SKU."
    difficulty = "hard"

    shelf: str
    path: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        shelf, path = queries.shelf(worlds["shop"], stream, 8, 16)
        heaviest, second = _by(queries.shelf_products(worlds["shop"], path), "weight_grams")[:2]
        # The pages round; what is nearly as heavy could look the same.
        return None if heaviest["weight_grams"] - second["weight_grams"] < 20 else cls(shelf, path)

    def key(self, worlds: Worlds) -> Key:
        return Key.answer(_by(queries.shelf_products(worlds["shop"], self.path), "weight_grams")[0]["sku"])

    def solve(self, page: Observation) -> Walk:
        heaviest = (0, "")
        listing = yield from pages.open_long_shelf(page, self.shelf)
        for card in pages.cards(listing):
            page = yield from click(listing, "link", card.name)
            heaviest = max(heaviest, (pages.grams(page), pages.product_fact(page, "SKU")))
            listing = yield from go_back()
        return answer(heaviest[1])


@dataclass(frozen=True)
class MostReviewedTotal(Template):
    """Add up the prices of a category's most reviewed products."""

    name = "shop.most-reviewed-total"
    sites = ("shop",)
    kind = "retrieve"
    chore = "calculation"
    instruction = (
        "Take the {count} products in {shelf} that have the most reviews. What do they cost together? "
        "Answer with the sum of their prices."
    )

    shelf: str
    path: str
    count: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        (shelf, path), count = queries.shelf(worlds["shop"], stream, 14, 40), stream.between(3, 5)
        ranked = _by(queries.shelf_products(worlds["shop"], path), "review_count")
        clear = ranked[count - 1]["review_count"] > ranked[count]["review_count"]
        return cls(shelf, path, count) if clear else None

    def key(self, worlds: Worlds) -> Key:
        ranked = _by(queries.shelf_products(worlds["shop"], self.path), "review_count")
        return Key.answer(money(sum(product["price_cents"] for product in ranked[: self.count])))

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_long_shelf(page, self.shelf)
        cards = yield from pages.all_cards(page)
        most = sorted(cards, key=lambda card: -card.reviews)[: self.count]
        return answer(pages.dollars(sum(card.cents for card in most)))


def _by(products: list[Row], column: str) -> list[Row]:
    """Highest first."""
    return sorted(products, key=lambda product: -int(product[column]))


@dataclass(frozen=True)
class OpenCheapest(Template):
    """Open the cheapest product of a category that enough people reviewed."""

    name = "shop.open-cheapest"
    sites = ("shop",)
    kind = "navigate"
    chore = "others"
    instruction = "Open the page of the cheapest product in {shelf} that has at least {reviews} reviews."
    difficulty = "easy"

    shelf: str
    path: str
    reviews: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        shelf, path = queries.shelf(worlds["shop"], stream, 14, 60)
        drawn = cls(shelf, path, stream.choice((5, 8, 10, 12, 15)))
        prices = [product["price_cents"] for product in drawn._cheapest_first(worlds["shop"])]
        return None if len(prices) < 2 or prices[0] == prices[1] else drawn

    def key(self, worlds: Worlds) -> Key:
        return Key.page(queries.product_page(self._cheapest_first(worlds["shop"])[0]["slug"]))

    def _cheapest_first(self, world: World) -> list[Row]:
        products = queries.shelf_products(world, self.path)
        reviewed = [product for product in products if product["review_count"] >= self.reviews]
        return sorted(reviewed, key=lambda product: int(product["price_cents"]))

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_long_shelf(page, self.shelf)
        page = yield from choose(page, "Sort By", "Price")
        while (card := next((card for card in pages.cards(page) if card.reviews >= self.reviews), None)) is None:
            page = yield from click(page, "link", "Next")
        yield from click(page, "link", card.name)
        return done("navigate")


_INVENTED = (
    "Moonquartz Cloud Slippers", "Thunderpine Espresso Anvil", "Glasswing Kite Umbrella", "Velvet Comet Night Light",
    "Saltspire Marble Ukulele", "Pocketwhale Travel Sink", "Emberfold Paper Stove", "Driftglass Reading Canoe",
    "Sunmoth Solar Mittens", "Ironlace Garden Harp", "Quillfrost Ice Typewriter", "Hollowbell Singing Kettlebell",
)  # fmt: skip


@dataclass(frozen=True)
class PriceOfNothing(Template):
    """Ask for the price of a product that does not exist."""

    name = "shop.price-of-nothing"
    sites = ("shop",)
    kind = "unachievable"
    chore = "others"
    instruction = 'What does the "{product}" cost?'
    difficulty = "easy"

    product: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        product = stream.choice(_INVENTED)
        known = worlds["shop"].scalar("SELECT count(*) FROM products WHERE name LIKE ?", f"%{product.split()[0]}%")
        return None if known else cls(product)

    def key(self, worlds: Worlds) -> Key:
        # A search for any word of the name will do; without one, nobody has looked.
        words = "|".join(re.escape(word) for word in self.product.split())
        searched = PagePattern(site="shop", path="/search", query={"q": rf"(?is).*({words}).*"})
        return Key.refusal("NOT_FOUND_ERROR", visits=[searched])

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.search(page, self.product)
        if any(card.name == self.product for card in pages.cards(page)):
            raise AgentError(f"{self.product!r} is sold after all.")
        return refusal("retrieve", "NOT_FOUND_ERROR", "No product of that name is sold here.")
