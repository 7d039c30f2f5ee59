"""Browsing and searching the catalog."""

from collections.abc import Callable
from operator import itemgetter
from typing import Any, Self

from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key, money, shown
from webassay.arena.kit.template import Navigate, Parts, Refuse, Retrieve, clear, fair, first_page
from webassay.arena.kit.walking import answer, choose, click, done, go_back, links, refused, send
from webassay.arena.shop import facts, pages, queries
from webassay.core.interaction import Observation, Walk
from webassay.core.task import PagePattern
from webassay.sites.kit import Row, World
from webassay.sites.rng import NothingToDraw, Stream


def _regular_price(product: Row) -> int:
    """The crossed-out price, where there is one."""
    return int(product["list_price_cents"] or product["price_cents"])


class PriceRangeTotal(Retrieve):
    """Add up the prices of a category that lie in a range."""

    name = "shop.price-range-total"
    chore = "calculation"
    instruction = (
        "Look at all products in {shelf} that cost at least ${low} and at most ${high} today, including those that "
        "are out of stock. What would it cost to buy one of each, without shipping and tax? If a product is on sale, "
        "its sale price counts. Answer with the sum."
    )
    misread = {
        "regular-prices": {"price": _regular_price},
        "range-ignored": {"low": 0, "high": 10**6},
        "first-page-only": {"first": pages.FEW_PRODUCTS},
        "only-in-stock": {"in_stock": True},
    }
    may_agree = ("only-in-stock",)
    ways = {"without-filter": {"narrow_by": ""}, "sorted-by-price": {"narrow_by": "sorting"}}

    shelf: str
    path: str
    low: int
    high: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        fewest, most = stream.choice(((4, 12), (13, 40), (60, 110)))
        shelf, path = queries.place(world, stream, 2 * fewest, 12 * fewest + 20)
        prices = sorted(map(queries.price, queries.products(world, path)))
        wanted = stream.between(fewest, most)
        first = stream.below(len(prices) - wanted)
        one = cls(shelf, path, prices[first] // 500 * 5, -(-prices[first + wanted - 1] // 500) * 5)
        if not fewest <= sum(map(one._fits, prices)) <= most:
            raise NothingToDraw
        return one

    def _fits(self, cents: int) -> bool:
        return self.low * 100 <= cents <= self.high * 100

    def end(
        self, world: World, *, price: Callable[[Row], int] = queries.price, first: int = 0, in_stock: bool = False
    ) -> Parts:
        everything = queries.products(world, self.path)
        inside = first_page([one for one in everything if self._fits(queries.price(one))], first)
        # A price on the very edge would leave open whether it counts.
        yield fair(not {self.low * 100, self.high * 100} & set(map(queries.price, inside)))
        yield Key.answer(money(sum(price(one) for one in inside if one["stock"] or not in_stock)))
        yield facts.seen([facts.priced(one) for one in inside])
        yield Key.checkpoint("category", queries.place_page(self.path))
        on_pages, all_pages = (pages_of(len(some), pages.PRODUCTS_ON_A_PAGE) for some in (inside, everything))
        yield Effort(rows=len(inside), pages=on_pages, steps=8 + all_pages)

    def solve(self, page: Observation, *, narrow_by: str = "filter") -> Walk:
        page = yield from pages.open_long_place(page, self.shelf)
        if narrow_by == "filter":
            page = yield from send(page, "Apply Price", {"From $": str(self.low), "To $": str(self.high)})
        if narrow_by == "sorting":
            page = yield from choose(page, "Sort By", "Price")
            cards = pages.cards(page)
            while cards[-1].cents <= self.high * 100 and page.find("link", "Next") is not None:
                page = yield from click(page, "link", "Next")
                cards += pages.cards(page)
        else:
            cards = yield from pages.all_cards(page)
        return answer(pages.dollars(sum(card.cents for card in cards if self._fits(card.cents))))


_weight = itemgetter("weight_oz")


class HeaviestProduct(Retrieve):
    """Find the heaviest product of a category."""

    name = "shop.heaviest-product"
    chore = "massive_memory"
    instruction = (
        "Which product in {shelf} is the heaviest among those that cost less than ${below} today? If a product is on "
        "sale, its sale price counts. The product pages show the weights. Answer with the SKU."
    )
    reads = ("*",)
    levels = ("hard",)
    misread = {
        "price-ignored": {"below": 10**6},
        "dearest-product": {"most": queries.price},
        "pounds-overlooked": {"most": lambda product: _weight(product) % 16},
        "first-page-only": {"first": pages.FEW_PRODUCTS},
    }
    ways = {"by-name": {"sort": "Product Name"}}

    shelf: str
    path: str
    below: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        place = queries.place(world, stream, 10, 60, levels=(3,))
        return cls(*place, stream.choice((15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200, 300)))

    def end(self, world: World, *, most: Callable[[Row], int] = _weight, first: int = 0) -> Parts:
        listed = first_page(queries.products(world, self.path), first)
        fitting = [one for one in listed if queries.price(one) < self.below * 100]
        on_the_edge = self.below * 100 in map(queries.price, listed)
        yield fair(7 <= len(fitting) <= 26, queries.best(fitting, _weight), not on_the_edge)
        yield Key.answer(max(fitting or listed[:1], key=most)["sku"])
        yield facts.seen([facts.weighed(one) for one in fitting])
        yield Key.all_of(Key.checkpoint(one["sku"], queries.product_page(one["slug"])) for one in fitting)
        count = len(fitting)
        yield Effort(rows=count, pages=count + 1, steps=2 * count + pages_of(len(listed), pages.FEW_PRODUCTS) + 7)

    def solve(self, page: Observation, *, sort: str = "") -> Walk:
        page = yield from (pages.open_place if sort else pages.open_long_place)(page, self.shelf)
        if sort:
            page = yield from choose(page, "Sort By", sort)
        heaviest = (0, "")
        while True:
            for card in pages.cards(page):
                if card.cents < self.below * 100:
                    opened = yield from click(page, "link", card.name)
                    heaviest = max(heaviest, (pages.ounces(opened), pages.product_fact(opened, "SKU")))
                    page = yield from go_back()
            if page.find("link", "Next") is None:
                return answer(heaviest[1])
            page = yield from click(page, "link", "Next")


def _most_reviewed_first(product: Row) -> int:
    return -int(product["review_count"])


def _best_rated_first(product: Row) -> tuple[int, int]:
    return -queries.tenths(product), product["id"]


class MostReviewedTotal(Retrieve):
    """Add up the prices of a category's most reviewed products."""

    name = "shop.most-reviewed-total"
    chore = "calculation"
    instruction = (
        "Find the {count} products in {shelf} with the most reviews. What is the sum of their prices today? If a "
        "product is on sale, its sale price counts. Answer with the sum."
    )
    levels = ("medium", "hard", "extreme")
    misread = {
        "regular-prices": {"price": _regular_price},
        "first-page-only": {"first": pages.FEW_PRODUCTS},
        "best-rated": {"by": _best_rated_first},
        "one-too-many": {"more": 1},
    }
    ways = {"twelve-at-a-time": {"short": True}}

    shelf: str
    path: str
    count: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        fewest, most = stream.choice(((15, 59), (60, 199), (330, 800)))
        return cls(*queries.place(world, stream, fewest, most), stream.between(3, 8))

    def end(
        self,
        world: World,
        *,
        by: Callable[[Row], Any] = _most_reviewed_first,
        price: Callable[[Row], int] = queries.price,
        first: int = 0,
        more: int = 0,
    ) -> Parts:
        ranked = sorted(first_page(queries.products(world, self.path), first), key=by)
        most, others = ranked[: self.count + more], ranked[self.count + more :]
        yield fair(by(most[-1]) < by(others[0]))
        yield Key.answer(money(sum(map(price, most))))
        # Sorted by rating, those without reviews come last: nobody has to look at them.
        reviewed = facts.sample([one for one in others if one["review_count"]])
        yield facts.seen([*map(facts.priced_and_reviewed, most), *map(facts.reviewed, reviewed)])
        yield Key.checkpoint("category", queries.place_page(self.path))
        count, long = len(ranked), pages_of(len(ranked), pages.PRODUCTS_ON_A_PAGE)
        yield Effort(rows=count, pages=long, steps=5 + long, longest=5 + pages_of(count, pages.FEW_PRODUCTS))

    def solve(self, page: Observation, *, short: bool = False) -> Walk:
        page = yield from (pages.open_place if short else pages.open_long_place)(page, self.shelf)
        cards = yield from pages.all_cards(page)
        most = sorted(cards, key=lambda card: -card.reviews)[: self.count]
        return answer(pages.dollars(sum(card.cents for card in most)))


class OpenCheapest(Navigate):
    """Open the cheapest product of a category that enough people reviewed."""

    name = "shop.open-cheapest"
    chore = "others"
    instruction = (
        "Open the page of the cheapest product in {shelf} with at least {reviews} reviews. If a product is on sale, "
        "its sale price counts."
    )
    levels = ("easy", "medium")
    misread = {
        "reviews-ignored": {"reviews": 0},
        "first-that-fits": {"by": lambda product: 0},
        "most-reviewed": {"reviews": 0, "by": _most_reviewed_first},
    }
    ways = {"reading-everything": {"reading": True}}

    shelf: str
    path: str
    reviews: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        place = queries.place(world, stream, 14, 150, levels=(2, 3))
        return cls(*place, stream.choice((5, 8, 10, 12, 15, 20, 30)))

    def end(self, world: World, *, by: Callable[[Row], Any] = queries.as_sorted) -> Parts:
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


class PriceOfNothing(Refuse):
    """Ask for the price of a product that does not exist, though another brand makes the same."""

    name = "shop.price-of-nothing"
    instruction = 'How much does the "{product}" cost?'
    misread = {"another-brand": {"instead": "model"}, "another-product-of-the-brand": {"instead": "brand"}}
    ways = {"by-brand": {"by": "brand"}, "advanced-search": {"by": "form"}}

    product: str
    brand: str
    model: str
    """The product that it is modeled on."""

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        real = stream.choice(queries.find_products(world, "instr(p.name, p.brand)"))
        brands = "SELECT brand FROM products GROUP BY brand HAVING count(*) BETWEEN 2 AND 72 ORDER BY brand"
        brand = stream.choice(queries.rows(world, brands))["brand"]
        return cls(real["name"].replace(real["brand"], brand), brand, real["name"])

    def end(self, world: World, *, instead: str = "") -> Parts:
        real, own = queries.product(world, self.model), queries.find_products(world, "p.brand = ?", self.brand)
        # If the brand sold anything in that department, an honest answer would be less clear.
        department = real["shelf"].partition("/")[0] + "/"
        yield fair(not any(one["shelf"].startswith(department) for one in own))
        # What stands on the start page shows nobody that there is nothing else.
        in_front = queries.on_front_page(world)
        yield fair(self.model not in in_front, not {one["name"] for one in own} <= in_front)
        if instead:
            yield Key.answer(money(queries.price(real if instead == "model" else own[0])))
        words = dict.fromkeys(word for word in self.product.replace(",", " ").split() if len(word) > 2)
        looked = Key.seen_any(
            *(shown("did not match any products", word, together="page") for word in words),
            facts.priced(real),
            [facts.priced(one) for one in own],
            [facts.priced(one) for one in queries.products(world, real["shelf"])],
        )
        yield Key.refusal("NOT_FOUND_ERROR", facts=looked)
        yield Key.checkpoint("search", *(PagePattern(site="shop", path=f"/search{more}") for more in ("", "/advanced")))
        yield Effort(rows=1, pages=1, steps=5 + pages_of(len(own), pages.FEW_PRODUCTS))

    def solve(self, page: Observation, *, by: str = "") -> Walk:
        if by == "form":
            page = yield from links(page, "Advanced Search")
            page = yield from send(page, "Find Products", {"Product Name (optional)": self.product})
        else:
            page = yield from pages.search(page, self.brand if by else self.product)
        sold = any(card.name == self.product for card in (yield from pages.all_cards(page)))
        return refused(page, sold, "retrieve", "NOT_FOUND_ERROR", "No product of that name is sold here.")
