"""Browsing and searching the catalog."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key, money, shown
from webassay.arena.kit.readings import Navigate, Parts, clear, fair
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.arena.kit.walking import answer, choose, click, done, fill, go_back, refusal, then
from webassay.arena.shop import facts, pages, queries
from webassay.core.errors import AgentError
from webassay.core.interaction import Observation, Walk
from webassay.core.record import Json
from webassay.core.task import PagePattern
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream

SHORT_PAGE = 12
"""What a list shows unless it is asked for more."""


def _total(products: list[Row]) -> int:
    return sum(product["price_cents"] for product in products)


def _regular_total(products: list[Row]) -> int:
    """By the crossed-out prices, where there are some."""
    return sum(product["list_price_cents"] or product["price_cents"] for product in products)


@dataclass(frozen=True)
class PriceRangeTotal(Template):
    """Add up the prices of a category that lie in a range."""

    name = "shop.price-range-total"
    kind = "retrieve"
    chore = "calculation"
    instruction = (
        "Take all the products in {shelf} that cost between ${low} and ${high} today. What would one of each cost "
        "together? Where a product has a special price, that is what it costs. Products that are out of stock count "
        "too. Answer with the sum of the prices, without shipping and tax."
    )

    shelf: str
    path: str
    low: int
    high: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        fewest, most = stream.choice(((4, 12), (13, 40), (60, 110)))
        shelf, path = queries.place(worlds["shop"], stream, 2 * fewest, 12 * fewest + 20)
        prices = sorted(map(queries.price, queries.products(worlds["shop"], path)))
        wanted = stream.between(fewest, most)
        if wanted >= len(prices):
            return None
        first = stream.below(len(prices) - wanted)
        drawn = cls(shelf, path, prices[first] // 500 * 5, -(-prices[first + wanted - 1] // 500) * 5)
        inside = drawn._inside(worlds["shop"])
        # A price on the very edge would leave open whether it counts.
        edges = {drawn.low * 100, drawn.high * 100} & set(map(queries.price, inside))
        return None if edges or not fewest <= len(inside) <= most else drawn

    def _inside(self, world: World) -> list[Row]:
        found = queries.products(world, self.path)
        return [product for product in found if self._fits(product["price_cents"])]

    def _fits(self, cents: int) -> bool:
        return self.low * 100 <= cents <= self.high * 100

    def key(self, worlds: Worlds) -> Key:
        inside = self._inside(worlds["shop"])
        prices = facts.seen([facts.priced(product) for product in inside])
        return Key.answer(money(_total(inside))) & prices & Key.checkpoint("category", queries.place_page(self.path))

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        inside = self._inside(worlds["shop"])
        found = {
            "regular-prices": Key.answer(money(_regular_total(inside))),
            "range-ignored": Key.answer(money(_total(queries.products(worlds["shop"], self.path)))),
        }
        if len(inside) > SHORT_PAGE:
            found["first-page-only"] = Key.answer(money(_total(inside[:SHORT_PAGE])))
        if any(product["stock"] == 0 for product in inside):
            found["only-in-stock"] = Key.answer(money(_total([product for product in inside if product["stock"]])))
        return found

    def effort(self, worlds: Worlds) -> Effort:
        inside, everything = self._inside(worlds["shop"]), queries.products(worlds["shop"], self.path)
        return Effort(
            rows=len(inside),
            pages=pages_of(len(inside), pages.PRODUCTS_ON_A_PAGE),
            steps=8 + pages_of(len(everything), pages.PRODUCTS_ON_A_PAGE),
        )

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_long_place(page, self.shelf)
        page = yield from fill(page, "textbox", "From $", str(self.low))
        page = yield from fill(page, "textbox", "To $", str(self.high))
        page = yield from click(page, "button", "Apply Price")
        cards = yield from pages.all_cards(page)
        return answer(pages.dollars(sum(card.cents for card in cards)))

    def routes(self) -> Mapping[str, Route]:
        return {"without-filter": self._without_filter, "sorted-by-price": self._sorted}

    def _without_filter(self, page: Observation) -> Walk:
        page = yield from pages.open_long_place(page, self.shelf)
        cards = yield from pages.all_cards(page)
        return answer(pages.dollars(sum(card.cents for card in cards if self._fits(card.cents))))

    def _sorted(self, page: Observation) -> Walk:
        page = yield from pages.open_long_place(page, self.shelf)
        page = yield from choose(page, "Sort By", "Price")
        cards = pages.cards(page)
        while cards[-1].cents <= self.high * 100 and page.find("link", "Next") is not None:
            page = yield from click(page, "link", "Next")
            cards += pages.cards(page)
        return answer(pages.dollars(sum(card.cents for card in cards if self._fits(card.cents))))


def _weight(product: Row) -> int:
    return int(product["weight_oz"])


@dataclass(frozen=True)
class HeaviestProduct(Template):
    """Find the heaviest product of a category."""

    name = "shop.heaviest-product"
    kind = "retrieve"
    chore = "massive_memory"
    instruction = (
        "Which product in {shelf} weighs the most among those that cost less than ${below} today? Where a product has "
        "a special price, that is what it costs. The weights stand on the product pages. Answer with the SKU."
    )
    reads = ("*",)
    levels = ("hard",)

    shelf: str
    path: str
    below: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        shelf, path = queries.place(worlds["shop"], stream, 10, 60, levels=(3,))
        drawn = cls(shelf, path, stream.choice((15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200, 300)))
        found = drawn._products(worlds)
        clear = queries.best(found, _weight) is not None and not any(
            queries.price(product) == drawn.below * 100 for product in queries.products(worlds["shop"], path)
        )
        return drawn if 7 <= len(found) <= 26 and clear else None

    def _products(self, worlds: Worlds) -> list[Row]:
        found = queries.products(worlds["shop"], self.path)
        return [product for product in found if product["price_cents"] < self.below * 100]

    def key(self, worlds: Worlds) -> Key:
        products = self._products(worlds)
        weights = facts.seen([facts.weighed(product) for product in products])
        return (
            Key.answer(max(products, key=_weight)["sku"])
            & weights
            & Key.all_of(Key.checkpoint(product["sku"], queries.product_page(product["slug"])) for product in products)
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        products, shown = self._products(worlds), queries.products(worlds["shop"], self.path)
        found = {
            "price-ignored": Key.answer(max(shown, key=_weight)["sku"]),
            "dearest-product": Key.answer(max(products, key=queries.price)["sku"]),
            "pounds-overlooked": Key.answer(max(products, key=lambda product: _weight(product) % 16)["sku"]),
        }
        if len(shown) > SHORT_PAGE:
            first = [product for product in shown[:SHORT_PAGE] if product["price_cents"] < self.below * 100]
            found["first-page-only"] = Key.answer(max(first or shown[:1], key=_weight)["sku"])
        return found

    def effort(self, worlds: Worlds) -> Effort:
        count, shown = len(self._products(worlds)), len(queries.products(worlds["shop"], self.path))
        return Effort(rows=count, pages=count + 1, steps=2 * count + pages_of(shown, SHORT_PAGE) + 7)

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_long_place(page, self.shelf)
        return (yield from self._weigh(page))

    def routes(self) -> Mapping[str, Route]:
        return {"by-name": self._by_name}

    def _by_name(self, page: Observation) -> Walk:
        page = yield from pages.open_place(page, self.shelf)
        page = yield from choose(page, "Sort By", "Product Name")
        return (yield from self._weigh(page))

    def _weigh(self, listing: Observation) -> Walk:
        heaviest = (0, "")
        while True:
            for card in pages.cards(listing):
                if card.cents >= self.below * 100:
                    continue
                page = yield from click(listing, "link", card.name)
                heaviest = max(heaviest, (pages.ounces(page), pages.product_fact(page, "SKU")))
                listing = yield from go_back()
            if listing.find("link", "Next") is None:
                return answer(heaviest[1])
            listing = yield from click(listing, "link", "Next")


def _reviews(product: Row) -> int:
    return int(product["review_count"])


@dataclass(frozen=True)
class MostReviewedTotal(Template):
    """Add up the prices of a category's most reviewed products."""

    name = "shop.most-reviewed-total"
    kind = "retrieve"
    chore = "calculation"
    instruction = (
        "Take the {count} products in {shelf} that have the most reviews. What do they cost together today? "
        "Where a product has a special price, that is what it costs. Answer with the sum of their prices."
    )
    levels = ("medium", "hard", "extreme")

    shelf: str
    path: str
    count: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        fewest, most = stream.choice(((15, 59), (60, 199), (330, 800)))
        shelf, path = queries.place(worlds["shop"], stream, fewest, most)
        drawn = cls(shelf, path, stream.between(3, 8))
        ranked = drawn._ranked(worlds["shop"])
        clear = _reviews(ranked[drawn.count - 1]) > _reviews(ranked[drawn.count])
        return drawn if clear else None

    def _ranked(self, world: World) -> list[Row]:
        return sorted(queries.products(world, self.path), key=_reviews, reverse=True)

    def key(self, worlds: Worlds) -> Key:
        ranked = self._ranked(worlds["shop"])
        most = ranked[: self.count]
        # Sorted by rating, those without reviews come last: nobody has to look at them.
        others = facts.sample([product for product in ranked[self.count :] if product["review_count"]])
        cards = [*map(facts.priced_and_reviewed, most), *map(facts.reviewed, others)]
        category = Key.checkpoint("category", queries.place_page(self.path))
        return Key.answer(money(_total(most))) & facts.seen(cards) & category

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        ranked, shown = self._ranked(worlds["shop"]), queries.products(worlds["shop"], self.path)
        first = sorted(shown[:SHORT_PAGE], key=_reviews, reverse=True)
        rated = sorted(shown, key=lambda product: (-queries.tenths(product), product["id"]))
        return {
            "regular-prices": Key.answer(money(_regular_total(ranked[: self.count]))),
            "first-page-only": Key.answer(money(_total(first[: self.count]))),
            "best-rated": Key.answer(money(_total(rated[: self.count]))),
            "one-too-many": Key.answer(money(_total(ranked[: self.count + 1]))),
        }

    def effort(self, worlds: Worlds) -> Effort:
        count = len(queries.products(worlds["shop"], self.path))
        on_pages = pages_of(count, pages.PRODUCTS_ON_A_PAGE)
        return Effort(rows=count, pages=on_pages, steps=5 + on_pages, longest=5 + pages_of(count, SHORT_PAGE))

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_long_place(page, self.shelf)
        return (yield from self._add_up(page))

    def routes(self) -> Mapping[str, Route]:
        return {"twelve-at-a-time": then(lambda page: pages.open_place(page, self.shelf), self._add_up)}

    def _add_up(self, page: Observation) -> Walk:
        cards = yield from pages.all_cards(page)
        most = sorted(cards, key=lambda card: -card.reviews)[: self.count]
        return answer(pages.dollars(sum(card.cents for card in most)))


def _as_sorted(product: Row) -> tuple[int, int]:
    """The order of the list when it is sorted by price."""
    return product["price_cents"], product["id"]


class OpenCheapest(Navigate):
    """Open the cheapest product of a category that enough people reviewed."""

    name = "shop.open-cheapest"
    chore = "others"
    instruction = (
        "Open the page of the product in {shelf} that costs the least today among those with at least "
        "{reviews} reviews. Where a product has a special price, that is what it costs."
    )
    levels = ("easy", "medium")
    misread = {
        "reviews-ignored": {"reviews": 0},
        "first-that-fits": {"by": lambda product: 0},
        "most-reviewed": {"reviews": 0, "by": lambda product: -product["review_count"]},
    }
    ways = {"reading-everything": {"reading": True}}

    shelf: str
    path: str
    reviews: int

    @classmethod
    def drawn(cls, world: World, stream: Stream) -> Self:
        place = queries.place(world, stream, 14, 150, levels=(2, 3))
        return cls(*place, stream.choice((5, 8, 10, 12, 15, 20, 30)))

    def end(self, world: World, *, by: Callable[[Row], Any] = _as_sorted) -> Parts:
        listed = queries.products(world, self.path)
        fitting = sorted((one for one in listed if one["review_count"] >= self.reviews), key=by)
        yield fair(clear(fitting, queries.price))
        best = fitting[0]
        yield Key.page(queries.product_page(best["slug"]))
        cheaper = [one for one in listed if queries.price(one) < queries.price(best) and one["review_count"]]
        yield facts.seen([facts.priced_and_reviewed(best), *map(facts.reviewed, cheaper)])
        yield Key.checkpoint("category", queries.place_page(self.path))
        passed = sum(queries.price(one) <= queries.price(best) for one in listed)
        size = pages.PRODUCTS_ON_A_PAGE
        yield Effort(passed, pages_of(passed, size) + 1, steps=7 + pages_of(len(listed), size))

    def solve(self, page: Observation, *, reading: bool = False) -> Walk:
        page = yield from pages.open_long_place(page, self.shelf)
        if reading:
            cards = [card for card in (yield from pages.all_cards(page)) if card.reviews >= self.reviews]
            yield from pages.open_product(page, min(cards, key=lambda card: card.cents).name)
            return done("navigate")
        page = yield from choose(page, "Sort By", "Price")
        while (card := next((card for card in pages.cards(page) if card.reviews >= self.reviews), None)) is None:
            page = yield from click(page, "link", "Next")
        yield from click(page, "link", card.name)
        return done("navigate")


def _cheapest_shown(products: list[Row]) -> Row:
    """The first when the list is sorted by price."""
    return min(products, key=lambda product: (product["price_cents"], product["id"]))


@dataclass(frozen=True)
class PriceOfNothing(Template):
    """Ask for the price of a product that does not exist, though another brand makes the same."""

    name = "shop.price-of-nothing"
    kind = "unachievable"
    chore = "others"
    instruction = 'What does the "{product}" cost?'
    levels = ("easy",)

    product: str
    brand: str
    model: str
    """The product that it is modeled on."""

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        real = queries.pick(stream, queries.find_products(worlds["shop"], "instr(p.name, p.brand)"))
        brands = queries.rows(
            worlds["shop"],
            "SELECT brand FROM products GROUP BY brand HAVING count(*) BETWEEN 2 AND 72 ORDER BY brand",
        )
        brand = queries.pick(stream, brands)
        if real is None or brand is None:
            return None
        drawn = cls(str(real["name"]).replace(real["brand"], brand["brand"]), brand["brand"], real["name"])
        if drawn._is_like_another(worlds["shop"], real):
            return None
        # What stands on the start page shows nobody that there is nothing else.
        there = queries.on_front_page(worlds["shop"])
        others = {product["name"] for product in drawn._of_brand(worlds["shop"])}
        return None if real["name"] in there or others <= there else drawn

    def _is_like_another(self, world: World, real: Row) -> bool:
        """Whether the brand sells anything in that department: then an honest answer would be less clear."""
        department = str(real["shelf"]).split("/", 1)[0]
        return any(product["shelf"].startswith(f"{department}/") for product in self._of_brand(world))

    def _of_brand(self, world: World) -> list[Row]:
        return queries.find_products(world, "p.brand = ?", self.brand)

    def key(self, worlds: Worlds) -> Key:
        real = queries.product(worlds["shop"], self.model)
        looked = Key.seen_any(
            *(
                shown("did not match any products", word, together="page")
                for word in dict.fromkeys(self.product.replace(",", " ").split())
                if len(word) > 2
            ),
            facts.priced(real),
            [facts.priced(product) for product in self._of_brand(worlds["shop"])],
            [facts.priced(product) for product in queries.products(worlds["shop"], real["shelf"])],
        )
        searched = [PagePattern(site="shop", path=path) for path in ("/search", "/search/advanced")]
        return Key.refusal("NOT_FOUND_ERROR", facts=looked) & Key.checkpoint("search", *searched)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        real, others = queries.product(worlds["shop"], self.model), self._of_brand(worlds["shop"])
        return {
            "another-brand": Key.answer(money(real["price_cents"])),
            "another-product-of-the-brand": Key.answer(money(others[0]["price_cents"])),
        }

    def effort(self, worlds: Worlds) -> Effort:
        count = len(self._of_brand(worlds["shop"]))
        return Effort(rows=1, pages=1, steps=5 + pages_of(count, SHORT_PAGE))

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.search(page, self.product)
        return self._refused(pages.cards(page))

    def routes(self) -> Mapping[str, Route]:
        return {"by-brand": self._by_brand, "advanced-search": self._advanced}

    def _by_brand(self, page: Observation) -> Walk:
        page = yield from pages.search(page, self.brand)
        return self._refused((yield from pages.all_cards(page)))

    def _advanced(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Advanced Search")
        page = yield from fill(page, "textbox", "Product Name (optional)", self.product)
        page = yield from click(page, "button", "Find Products")
        return self._refused(pages.cards(page))

    def _refused(self, cards: list[pages.Card]) -> Json:
        if any(card.name == self.product for card in cards):
            raise AgentError(f"{self.product!r} is sold after all.")
        return refusal("retrieve", "NOT_FOUND_ERROR", "No product of that name is sold here.")
