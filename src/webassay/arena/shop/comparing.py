"""Comparing products: those of a whole department, or those in open tabs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.arena.kit.walking import Reading, answer, submit
from webassay.arena.shop import facts, pages, queries
from webassay.arena.shop.catalog import SHORT_PAGE
from webassay.core.interaction import Action, Observation, Walk
from webassay.core.record import Json
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream


@dataclass(frozen=True)
class ReviewsBetween(Template):
    """Count the products of a category with so many reviews."""

    name = "shop.reviews-between"
    kind = "retrieve"
    chore = "massive_memory"
    instruction = "How many products in {shelf} have at least {low} and at most {high} reviews? Answer with one number."
    levels = ("medium", "hard", "extreme")

    shelf: str
    path: str
    low: int
    high: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        fewest, most = stream.choice(((15, 59), (60, 199), (361, 800)))
        shelf, path = queries.place(worlds["shop"], stream, fewest, most)
        low = stream.choice((4, 5, 6, 8, 10, 12))
        drawn = cls(shelf, path, low, low + stream.choice((4, 6, 8, 10, 15)))
        counts = [product["review_count"] for product in queries.products(worlds["shop"], path)]
        return drawn if low in counts and drawn.high in counts and drawn._count(counts) >= 3 else None

    def _count(self, counts: list[int]) -> int:
        return sum(self.low <= count <= self.high for count in counts)

    def key(self, worlds: Worlds) -> Key:
        found = queries.products(worlds["shop"], self.path)
        fitting = [product for product in found if self.low <= product["review_count"] <= self.high]
        others = [product for product in found if product not in fitting and product["review_count"]]
        # Sorted by rating, those without reviews come last: nobody has to look at them.
        cards = facts.seen([facts.reviewed(product) for product in (*fitting, *facts.sample(others))])
        category = Key.checkpoint("category", queries.place_page(self.path))
        return Key.answer(len(fitting), unit="products") & cards & category

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        counts = [product["review_count"] for product in queries.products(worlds["shop"], self.path)]
        return {
            "first-page-only": Key.answer(self._count(counts[:SHORT_PAGE])),
            "more-than": Key.answer(sum(self.low < count <= self.high for count in counts)),
            "fewer-than": Key.answer(sum(self.low <= count < self.high for count in counts)),
            "at-least-only": Key.answer(sum(self.low <= count for count in counts)),
            "at-most-only": Key.answer(sum(count <= self.high for count in counts)),
        }

    def effort(self, worlds: Worlds) -> Effort:
        count = len(queries.products(worlds["shop"], self.path))
        on_pages = pages_of(count, pages.PRODUCTS_ON_A_PAGE)
        return Effort(rows=count, pages=on_pages, steps=5 + on_pages, longest=5 + pages_of(count, SHORT_PAGE))

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_long_place(page, self.shelf)
        return self._counted((yield from pages.all_cards(page)))

    def routes(self) -> Mapping[str, Route]:
        return {"twelve-at-a-time": self._twelve}

    def _twelve(self, page: Observation) -> Walk:
        page = yield from pages.open_place(page, self.shelf)
        return self._counted((yield from pages.all_cards(page)))

    def _counted(self, cards: list[pages.Card]) -> Json:
        return answer(self._count([card.reviews for card in cards]))


@dataclass(frozen=True)
class CheapestByWeight(Template):
    """Put the product with the lowest price for its weight into the cart, out of those in open tabs."""

    name = "shop.cheapest-by-weight"
    kind = "mutate"
    chore = "others"
    instruction = (
        "My open tabs show {count} products from {shelf}. Put one piece of the product that costs the least for each "
        "ounce of its weight into my cart, going by today's prices. Where a product has a special price, that is what "
        "it costs."
    )
    levels = ("medium",)
    tags = ("tabs",)

    user: str
    shelf: str
    count: int
    slugs: tuple[str, ...]

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        world = worlds["shop"]
        user = queries.without_cart(world, stream, 1, 400)
        shelf, path = queries.place(world, stream, 8, 100, levels=(3,))
        found = [one for one in queries.products(world, path) if not one["has_options"] and one["stock"] >= 5]
        # All of them are open from the start, so that few would leave little to do but guess.
        count = stream.between(5, 7)
        if len(found) < count:
            return None
        drawn = cls(user, shelf, count, tuple(one["slug"] for one in stream.sample(found, count)))
        products = drawn._products(world)
        first, second, *_ = sorted(products, key=_by_weight)
        # Whoever presses the first button there is must not be right by chance.
        if first["id"] == products[0]["id"] or _by_weight(first) * 11 > _by_weight(second) * 10:
            return None
        return drawn

    @property
    def start_pages(self) -> tuple[str, ...]:
        return tuple(f"/p/{slug}" for slug in self.slugs)

    def _products(self, world: World) -> list[Row]:
        return [queries.find_products(world, "p.slug = ?", slug)[0] for slug in self.slugs]

    def key(self, worlds: Worlds) -> Key:
        world = worlds["shop"]
        products = self._products(world)
        best = min(products, key=_by_weight)
        seen = facts.seen([sight for one in products for sight in (facts.priced(one), facts.weighed(one))])
        return self._bought(world, best) & seen & Key.checkpoint("product page", queries.product_page(best["slug"]))

    def _bought(self, world: World, product: Row) -> Key:
        customer = queries.customer_id(world, self.user)
        return Key.insert("cart_items", customer_id=customer, product_id=product["id"], options="", quantity=1)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        products = self._products(worlds["shop"])
        wrong = {"lowest-price": min(products, key=queries.price), "first-tab": products[0]}
        return {name: self._bought(worlds["shop"], product) for name, product in wrong.items()}

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=2 * self.count, pages=self.count, steps=2 * self.count + 2)

    def solve(self, page: Observation) -> Walk:
        seen = yield from self._look(page)
        best = min(seen, key=lambda tab: seen[tab][0] / seen[tab][1])
        return (yield from self._buy(best))

    def routes(self) -> Mapping[str, Route]:
        return {"last-tab-first": self._last_first}

    def _last_first(self, page: Observation) -> Walk:
        best, choice = 0.0, 0
        for tab in reversed(range(self.count)):
            page = yield Action.of("tab_focus", tab)
            cost = _price(page) / pages.ounces(page)
            if not best or cost < best:
                best, choice = cost, tab
        return (yield from self._buy(choice))

    def hasty(self) -> Mapping[str, Route]:
        return {"lowest-price": self._cheapest, "first-tab": self._first}

    def _first(self, page: Observation) -> Walk:
        return (yield from self._buy(0))

    def _cheapest(self, page: Observation) -> Walk:
        seen = yield from self._look(page)
        return (yield from self._buy(min(seen, key=lambda tab: seen[tab][0])))

    def _look(self, page: Observation) -> Reading[dict[int, tuple[int, int]]]:
        """Tab to price and weight."""
        seen = {0: (_price(page), pages.ounces(page))}
        for tab in range(1, self.count):
            page = yield Action.of("tab_focus", tab)
            seen[tab] = (_price(page), pages.ounces(page))
        return seen

    def _buy(self, tab: int) -> Walk:
        page = yield Action.of("tab_focus", tab)
        return (yield from submit(page, "Add to Cart"))


def _by_weight(product: Row) -> float:
    return float(product["price_cents"] / product["weight_oz"])


def _price(page: Observation) -> int:
    """What the product costs today: on sale, it stands before the old price."""
    start = next(number for number, node in enumerate(page.nodes) if node.role == "heading" and node.depth)
    prices = (node.name for node in page.nodes[start:] if node.role == "StaticText")
    return next(pages.cents(text) for text in prices if text.startswith("$") and text[1:2].isdigit())
