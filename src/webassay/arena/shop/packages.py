"""What is ticked on the cards in the packages. They are pictures: whoever cannot look at them cannot know."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.arena.kit.walking import Reading, answer, choose, click, done
from webassay.arena.shop import facts, pages, queries
from webassay.arena.shop.catalog import SHORT_PAGE
from webassay.arena.shop.orders import list_page
from webassay.core.interaction import Action, Observation, Walk
from webassay.core.record import Json
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream

Looked = tuple[pages.Item, pages.PackageCard]


class CardChore(Template, abstract=True):
    """Looks at the card of every article of an order."""

    sites = ("shop",)
    kind = "retrieve"
    levels = ("medium",)
    modality = "tree+screenshot"
    tags = ("screenshot",)

    user: str
    order: str

    @abstractmethod
    def findings(self, found: list[Looked]) -> Json:
        """The response, once all are read."""

    def read(self, world: World) -> Key:
        """That the order and all its cards were seen."""
        items = queries.order_items(world, self.order)
        return (
            facts.seen([sight for item in items for sight in (facts.bought(item), facts.card(item))])
            & Key.checkpoint("order", queries.order_page(self.order))
            & Key.all_of(Key.checkpoint(item["sku"], queries.product_page(item["slug"])) for item in items)
        )

    def effort(self, worlds: Worlds) -> Effort:
        items = queries.order_items(worlds["shop"], self.order)
        found = list_page(worlds["shop"], self.user, self.order)
        return Effort(
            rows=2 * len(items),
            pages=len(items) + 1,
            steps=found + 3 * len(items) + 5,
            longest=found + 5 * len(items) + 5,
        )

    def solve(self, page: Observation) -> Walk:
        order = yield from pages.open_order(page, self.order)
        found = []
        for item in pages.items(order):
            page = yield from click(order, "link", item.name)
            found.append((item, (yield from pages.read_package_card(page))))
            order = yield Action.of("goto", order.url)
        return self.findings(found)

    def routes(self) -> Mapping[str, Route]:
        return {"by-search": self._by_search}

    def _by_search(self, page: Observation) -> Walk:
        page = yield from pages.open_order(page, self.order)
        order, found = page.url, list[Looked]()
        for item in pages.items(page):
            opened = yield from pages.open_product(page, item.name)
            found.append((item, (yield from pages.read_package_card(opened))))
            page = yield Action.of("goto", order)
        return self.findings(found)


def _draw_order(world: World, stream: Stream, user: str) -> str | None:
    """With three articles or more, all different."""
    found = queries.rows(
        world,
        "SELECT o.number FROM orders AS o JOIN customers AS c ON c.id = o.customer_id"
        " JOIN order_items AS i ON i.order_id = o.id WHERE c.email = ?"
        " GROUP BY o.id HAVING count(*) >= 3 AND count(DISTINCT i.product_id) = count(*) ORDER BY o.id",
        user,
    )
    chosen = queries.pick(stream, found)
    return None if chosen is None else str(chosen["number"])


@dataclass(frozen=True)
class CardOrigin(CardChore):
    """Find out which articles of an order come from a country."""

    name = "shop.card-origin"
    chore = "long_term_memory"
    instruction = (
        "Which articles of my order {order} were made in {country}? It is ticked on the card of each product, which "
        "its page shows as a picture. Answer with the SKUs, one element for each article."
    )
    reads = ("*",)

    user: str
    order: str
    country: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        user = queries.shopper(worlds["shop"], stream)
        order = _draw_order(worlds["shop"], stream, user)
        if order is None:
            return None
        countries = [item["origin"] for item in queries.order_items(worlds["shop"], order)]
        drawn = cls(user, order, stream.choice(countries))
        return None if len(set(countries)) == 1 else drawn

    def _from(self, items: list[Row]) -> list[Row]:
        return [item for item in items if item["origin"] == self.country]

    def key(self, worlds: Worlds) -> Key:
        found = self._from(queries.order_items(worlds["shop"], self.order))
        return Key.answer(*(item["sku"] for item in found)) & self.read(worlds["shop"])

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        items = queries.order_items(worlds["shop"], self.order)
        wrong = {
            "first-article-only": items[:1],
            "all-articles": items,
            "the-others": [item for item in items if item["origin"] != self.country],
        }
        return {name: Key.answer(*(item["sku"] for item in found)) for name, found in wrong.items()}

    def findings(self, found: list[Looked]) -> Json:
        return answer(*(item.sku for item, card in found if card.origin == self.country))


@dataclass(frozen=True)
class CardWarranty(CardChore):
    """Add up the warranties of an order, card by card."""

    name = "shop.card-warranty"
    chore = "calculation"
    instruction = (
        "How many months of warranty do all the pieces of my order {order} have together, every piece counted? "
        "It is ticked on the card of each product, which its page shows as a picture. Answer with one number."
    )

    user: str
    order: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        user = queries.shopper(worlds["shop"], stream)
        order = _draw_order(worlds["shop"], stream, user)
        return None if order is None else cls(user, order)

    def key(self, worlds: Worlds) -> Key:
        items = queries.order_items(worlds["shop"], self.order)
        return Key.answer(_months(items), unit="months") & self.read(worlds["shop"])

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        items = queries.order_items(worlds["shop"], self.order)
        return {
            "quantities-ignored": Key.answer(sum(item["warranty_months"] for item in items)),
            "last-article-missed": Key.answer(_months(items[:-1])),
            "longest-only": Key.answer(max(item["warranty_months"] for item in items)),
        }

    def findings(self, found: list[Looked]) -> Json:
        return answer(sum(item.quantity * card.months for item, card in found))


def _months(items: list[Row]) -> int:
    return sum(item["warranty_months"] * item["quantity"] for item in items)


def _warranty(product: Row) -> int:
    return int(product["warranty_months"])


def _longest_there_is(world: World) -> int:
    (found,) = queries.rows(world, "SELECT max(warranty_months) AS months FROM products")
    return int(found["months"])


@dataclass(frozen=True)
class OpenLongestWarranty(Template):
    """Open the product of a shelf whose card promises the longest warranty."""

    name = "shop.open-longest-warranty"
    kind = "navigate"
    chore = "massive_memory"
    instruction = (
        "Open the page of the product in {shelf} with the longest warranty among those that cost less than ${below} "
        "today. Where a product has a special price, that is what it costs. The warranty is ticked on the card of each "
        "product, which its page shows as a picture."
    )
    levels = ("hard",)
    modality = "tree+screenshot"
    tags = ("screenshot",)

    shelf: str
    path: str
    below: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        shelf, path = queries.place(worlds["shop"], stream, 10, 120, levels=(2, 3))
        prices = [queries.price(product) for product in queries.products(worlds["shop"], path)]
        limits = [
            dollars
            for dollars in range(5, 305, 5)
            if 7 <= sum(price < dollars * 100 for price in prices) <= min(22, len(prices) - 1)
            and dollars * 100 not in prices
        ]
        drawn = cls(shelf, path, stream.choice(limits))
        longest = queries.best(drawn._products(worlds["shop"]), _warranty)
        # The cards show every box there is, so that nobody has to look any further who finds the last one ticked.
        last = _longest_there_is(worlds["shop"])
        return drawn if longest is not None and _warranty(longest) < last else None

    def _products(self, world: World) -> list[Row]:
        return [product for product in queries.products(world, self.path) if product["price_cents"] < self.below * 100]

    def key(self, worlds: Worlds) -> Key:
        products = self._products(worlds["shop"])
        cards = facts.seen([facts.card(product) for product in products])
        category = Key.checkpoint("category", queries.place_page(self.path))
        return Key.page(queries.product_page(max(products, key=_warranty)["slug"])) & cards & category

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        products, shown = self._products(worlds["shop"]), queries.products(worlds["shop"], self.path)
        wrong = {
            "price-ignored": max(shown, key=_warranty),
            "dearest-product": max(products, key=queries.price),
            "first-product": products[0],
        }
        return {name: Key.page(queries.product_page(product["slug"])) for name, product in wrong.items()}

    def effort(self, worlds: Worlds) -> Effort:
        count, shown = len(self._products(worlds["shop"])), len(queries.products(worlds["shop"], self.path))
        steps = 3 * count + 2 * pages_of(shown, SHORT_PAGE) + 8
        return Effort(rows=count, pages=count + 1, steps=steps)

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_long_place(page, self.shelf)
        longest = yield from self._look(page)
        yield Action.of("goto", longest)
        return done("navigate")

    def routes(self) -> Mapping[str, Route]:
        return {"by-name": self._by_name}

    def _by_name(self, page: Observation) -> Walk:
        page = yield from pages.open_place(page, self.shelf)
        page = yield from choose(page, "Sort By", "Product Name")
        longest = yield from self._look(page)
        yield Action.of("goto", longest)
        return done("navigate")

    def _look(self, listing: Observation) -> Reading[str]:
        """The address of the product with the longest warranty."""
        best = (0, "")
        while True:
            for card in pages.cards(listing):
                if card.cents < self.below * 100:
                    page = yield from click(listing, "link", card.name)
                    ticked = yield from pages.read_package_card(page)
                    best = max(best, (ticked.months, page.url), key=lambda one: one[0])
                    listing = yield Action.of("goto", listing.url)
            if listing.find("link", "Next") is None:
                return best[1]
            listing = yield from click(listing, "link", "Next")
