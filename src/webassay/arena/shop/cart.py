"""The cart and the wish list."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.arena.kit.walking import Steps, choose, click, done, fill, go_back, need, refusal, submit
from webassay.arena.shop import facts, pages, queries
from webassay.arena.shop.orders import list_page
from webassay.core.errors import AgentError
from webassay.core.interaction import Action, Observation, Walk
from webassay.core.record import Json
from webassay.core.task import PagePattern
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream


@dataclass(frozen=True)
class CartCheapestWellRated(Template):
    """Put some pieces of a category's cheapest well-rated product into the cart."""

    name = "shop.cart-cheapest-well-rated"
    kind = "mutate"
    chore = "calculation"
    instruction = (
        "Put {quantity} pieces of one product into my cart: the one in {shelf} that costs the least today among those "
        "with an average rating of at least {rating} stars. Where a product has a special price, that is what it costs."
    )
    levels = ("medium",)

    user: str
    shelf: str
    path: str
    rating: str
    quantity: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        world = worlds["shop"]
        user = queries.shopper(world, stream, 4)
        shelf, path = queries.place(world, stream, 14, 150, levels=(2, 3))
        tenths = stream.choice((40, 42, 43, 44, 45, 46))
        drawn = cls(user, shelf, path, f"{tenths // 10}.{tenths % 10}", stream.between(2, 4))
        good = drawn._well_rated(world)
        rounded_up = any(one["rating_sum"] * 10 < tenths * one["review_count"] for one in good)
        if len(good) < 2 or good[0]["price_cents"] == good[1]["price_cents"] or rounded_up:
            return None
        hasty = drawn._cheapest(world)
        # What a hasty agent buys must be for sale as well, or the shop itself would put it right.
        buyable = hasty["price_cents"] < good[0]["price_cents"] and _can_be_bought(hasty) and _can_be_bought(good[0])
        occupied = world.scalar("SELECT 1 FROM cart_items WHERE customer_id = ?", queries.customer_id(world, user))
        return drawn if buyable and not occupied else None

    @property
    def _tenths(self) -> int:
        return int(self.rating.replace(".", ""))

    def _well_rated(self, world: World) -> list[Row]:
        """The cheapest first."""
        found = queries.products(world, self.path)
        return sorted((one for one in found if queries.tenths(one) >= self._tenths), key=queries.price)

    def _cheapest(self, world: World) -> Row:
        return min(queries.products(world, self.path), key=lambda one: (one["price_cents"], one["id"]))

    def key(self, worlds: Worlds) -> Key:
        good = self._well_rated(worlds["shop"])
        cheapest, found = good[0], queries.products(worlds["shop"], self.path)
        cheaper = [product for product in found if product["price_cents"] < cheapest["price_cents"]]
        # Sorted by price, what is cheaper comes first; sorted by rating, what is rated well.
        either = Key.seen_any([facts.rated(one) for one in cheaper], [facts.rated(one) for one in good])
        category = Key.checkpoint("category", queries.place_page(self.path))
        return self._bought(worlds["shop"], cheapest) & facts.seen([facts.rated(cheapest)]) & either & category

    def _bought(self, world: World, product: Row) -> Key:
        return Key.insert(
            "cart_items",
            customer_id=queries.customer_id(world, self.user),
            product_id=product["id"],
            options="",
            quantity=self.quantity,
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        world, found = worlds["shop"], queries.products(worlds["shop"], self.path)
        wrong = {
            "rating-ignored": self._cheapest(world),
            "first-that-fits": next(one for one in found if queries.tenths(one) >= self._tenths),
            "best-rated": max(found, key=queries.tenths),
        }
        return {name: self._bought(world, product) for name, product in wrong.items()}

    def effort(self, worlds: Worlds) -> Effort:
        found, limit = queries.products(worlds["shop"], self.path), self._well_rated(worlds["shop"])[0]
        passed = sum(queries.price(product) <= queries.price(limit) for product in found)
        return Effort(
            rows=passed,
            pages=pages_of(passed, pages.PRODUCTS_ON_A_PAGE) + 1,
            steps=11 + pages_of(len(found), pages.PRODUCTS_ON_A_PAGE),
        )

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_long_place(page, self.shelf)
        cards = yield from pages.all_cards(page)
        good = [card for card in cards if card.tenths >= self._tenths]
        page = yield from pages.open_product(page, min(good, key=lambda card: card.cents).name)
        return (yield from self._buy(page))

    def routes(self) -> Mapping[str, Route]:
        return {"sorted-then-cart": self._sorted_then_cart}

    def _sorted_then_cart(self, page: Observation) -> Walk:
        """One piece from the card; the others in the cart."""
        page = yield from self._sorted(page)
        while (card := next((card for card in pages.cards(page) if card.tenths >= self._tenths), None)) is None:
            page = yield from click(page, "link", "Next")
        page = yield Action.of("click", pages.in_card(page, card.name, "button", "Add to Cart").id)
        page = yield Action.of("goto", f"{page.url.split('/c/')[0]}/cart")
        page = yield from fill(page, "spinbutton", f"Quantity of {card.name}", str(self.quantity))
        return (yield from submit(page, "Update Shopping Cart"))

    def hasty(self) -> Mapping[str, Route]:
        return {"rating-ignored": self._rating_ignored}

    def _rating_ignored(self, page: Observation) -> Walk:
        page = yield from self._sorted(page)
        page = yield from click(page, "link", pages.cards(page)[0].name)
        return (yield from self._buy(page))

    def _sorted(self, page: Observation) -> Steps:
        page = yield from pages.open_long_place(page, self.shelf)
        return (yield from choose(page, "Sort By", "Price"))

    def _buy(self, page: Observation) -> Walk:
        page = yield from fill(page, "spinbutton", "Quantity", str(self.quantity))
        return (yield from submit(page, "Add to Cart"))


def _can_be_bought(product: Row) -> bool:
    """In stock, and nothing asks for a size or a color."""
    return not product["has_options"] and bool(product["stock"] >= 10)


@dataclass(frozen=True)
class CartSoldOut(Template):
    """Ask for a product that is out of stock, though something like it is not."""

    name = "shop.cart-sold-out"
    kind = "unachievable"
    chore = "others"
    instruction = 'Put one "{product}" into my cart.'
    levels = ("easy",)

    user: str
    product: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        user = queries.shopper(worlds["shop"], stream, 4, 400)
        found = queries.pick(stream, queries.find_products(worlds["shop"], "p.stock = 0"))
        if found is None:
            return None
        drawn = cls(user, found["name"])
        return drawn if drawn._alike(worlds["shop"]) else None

    def _alike(self, world: World) -> list[Row]:
        """What is of the same brand, on the same shelf, and for sale."""
        wanted = queries.product(world, self.product)
        found = queries.products(world, wanted["shelf"])
        return [one for one in found if one["brand"] == wanted["brand"] and _can_be_bought(one)]

    def key(self, worlds: Worlds) -> Key:
        page = queries.product_page(queries.product(worlds["shop"], self.product)["slug"])
        searched = PagePattern(site="shop", path="/search")
        sold_out = Key.seen(self.product, "Out of stock")
        return Key.refusal("ACTION_NOT_ALLOWED_ERROR", facts=sold_out) & Key.checkpoint("found", searched, page)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        bought = Key.insert(
            "cart_items",
            customer_id=queries.customer_id(worlds["shop"], self.user),
            product_id=self._alike(worlds["shop"])[0]["id"],
            options="",
            quantity=1,
        )
        return {"something-alike": bought}

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=1, pages=1, steps=6)

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_product(page, self.product)
        if page.find("StaticText", "Out of stock") is None:
            raise AgentError(f"{self.product!r} is in stock after all.")
        return _sold_out()

    def routes(self) -> Mapping[str, Route]:
        return {"from-card": self._from_card}

    def _from_card(self, page: Observation) -> Walk:
        page = yield from pages.search(page, self.product)
        if not pages.says(page, self.product, "Out of stock"):
            raise AgentError(f"{self.product!r} is in stock after all.")
        return _sold_out()


def _sold_out() -> Json:
    return refusal("mutate", "ACTION_NOT_ALLOWED_ERROR", "The product is out of stock.")


@dataclass(frozen=True)
class WishForOrder(Template):
    """Add every article of an order to the wish list."""

    name = "shop.wish-for-order"
    kind = "mutate"
    chore = "long_term_memory"
    instruction = "Add every article of my order {order} to my wish list."
    levels = ("medium",)

    user: str
    order: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        user = queries.shopper(worlds["shop"], stream)
        orders = queries.rows(
            worlds["shop"],
            "SELECT o.number FROM orders AS o JOIN customers AS c ON c.id = o.customer_id"
            " JOIN order_items AS i ON i.order_id = o.id WHERE c.email = ?"
            " AND NOT EXISTS (SELECT 1 FROM wishlist_items AS w JOIN order_items AS j ON j.product_id = w.product_id"
            " WHERE w.customer_id = c.id AND j.order_id = o.id)"
            " GROUP BY o.id HAVING count(*) >= 2 AND count(DISTINCT i.product_id) = count(*) ORDER BY o.id",
            user,
        )
        found = queries.pick(stream, orders)
        return None if found is None else cls(user, found["number"])

    def key(self, worlds: Worlds) -> Key:
        items = queries.order_items(worlds["shop"], self.order)
        order = Key.checkpoint("order", queries.order_page(self.order))
        return self._wished(worlds["shop"], items) & facts.seen([facts.bought(item) for item in items]) & order

    def _wished(self, world: World, items: list[Row]) -> Key:
        customer = queries.customer_id(world, self.user)
        return Key.all_of(
            Key.insert("wishlist_items", customer_id=customer, product_id=item["product_id"]) for item in items
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        world = worlds["shop"]
        items, orders = queries.order_items(world, self.order), queries.orders_of(world, self.user)
        numbers = [order["number"] for order in orders]
        neighbor = numbers[(numbers.index(self.order) + 1) % len(numbers)]
        return {
            "first-article-only": self._wished(world, items[:1]),
            "neighboring-order": self._wished(world, queries.order_items(world, neighbor)),
        }

    def effort(self, worlds: Worlds) -> Effort:
        items = queries.order_items(worlds["shop"], self.order)
        listed = list_page(worlds["shop"], self.user, self.order)
        return Effort(rows=len(items), pages=len(items) + 1, steps=listed + 4 * len(items) + 4)

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_order(page, self.order)
        for item in pages.items(page):
            page = yield from click(page, "link", item.name)
            yield from click(page, "button", "Add to Wish List")
            yield from go_back()
            page = yield from go_back()
            need(page, "heading", contains=self.order)
        return done("mutate")

    def routes(self) -> Mapping[str, Route]:
        return {"by-search": self._by_search}

    def _by_search(self, page: Observation) -> Walk:
        page = yield from pages.open_order(page, self.order)
        for item in pages.items(page):
            page = yield from pages.open_product(page, item.name)
            page = yield from click(page, "button", "Add to Wish List")
        return done("mutate")

    def hasty(self) -> Mapping[str, Route]:
        return {"first-article-only": self._first}

    def _first(self, page: Observation) -> Walk:
        page = yield from pages.open_order(page, self.order)
        page = yield from click(page, "link", pages.items(page)[0].name)
        return (yield from submit(page, "Add to Wish List"))
