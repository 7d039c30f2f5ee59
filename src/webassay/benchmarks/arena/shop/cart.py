"""The cart and the wish list."""

from dataclasses import dataclass
from typing import Self

from webassay.benchmarks.arena.key import Key
from webassay.benchmarks.arena.shop import pages, queries
from webassay.benchmarks.arena.template import Template, Worlds
from webassay.benchmarks.arena.walking import click, done, every_page, fill, refusal
from webassay.core.errors import AgentError
from webassay.core.interaction import Observation, Walk
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream


@dataclass(frozen=True)
class CartCheapestWellRated(Template):
    """Put some pieces of a category's cheapest well-rated product into the cart."""

    name = "shop.cart-cheapest-well-rated"
    sites = ("shop",)
    kind = "mutate"
    chore = "calculation"
    instruction = (
        "Put {quantity} pieces of the cheapest product in {shelf} with an average rating of at least "
        "{rating} stars into my cart."
    )

    user: str
    shelf: str
    path: str
    rating: str
    tenths: int
    quantity: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        world = worlds["shop"]
        user = queries.shopper(world, stream, orders=4)
        (shelf, path), tenths = queries.shelf(world, stream, 14, 40), stream.choice((40, 42, 44, 45))
        good = _well_rated(world, path, tenths)
        if len(good) < 2 or good[0]["price_cents"] == good[1]["price_cents"] or not _can_be_bought(world, path, good):
            return None
        if world.scalar("SELECT count(*) FROM cart_items WHERE customer_id = ?", queries.customer_id(world, user)):
            return None
        return cls(user, shelf, path, f"{tenths // 10}.{tenths % 10}", tenths, stream.between(2, 4))

    def key(self, worlds: Worlds) -> Key:
        return Key.insert(
            "cart_items",
            customer_id=queries.customer_id(worlds["shop"], self.user),
            product_id=_well_rated(worlds["shop"], self.path, self.tenths)[0]["id"],
            options="",
            quantity=self.quantity,
        )

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_long_shelf(page, self.shelf)
        listing = yield from every_page(page)
        good = [card for one in listing for card in pages.cards(one) if card.tenths >= self.tenths]
        page = yield from pages.open_product(listing[-1], min(good, key=lambda card: card.cents).name)
        page = yield from fill(page, "spinbutton", "Quantity", str(self.quantity))
        yield from click(page, "button", "Add to Cart")
        return done("mutate")


def _well_rated(world: World, path: str, tenths: int) -> list[Row]:
    """Products whose card shows at least that rating, the cheapest first."""
    good = [product for product in queries.shelf_products(world, path) if _tenths(product) >= tenths]
    return sorted(good, key=lambda product: int(product["price_cents"]))


def _tenths(product: Row) -> int:
    """The average rating as the cards show it, times ten."""
    total, count = product["rating_sum"], product["review_count"]
    return (20 * total + count) // (2 * count) if count else 0


def _can_be_bought(world: World, path: str, products: list[Row]) -> bool:
    """All in stock, on a shelf where nothing asks for a size or a color."""
    choosing = world.scalar(
        "SELECT count(*) FROM product_options AS o JOIN products AS p ON p.id = o.product_id"
        " JOIN categories AS c ON c.id = p.category_id WHERE c.path = ?",
        path,
    )
    return not choosing and all(product["stock"] >= 10 for product in products)


@dataclass(frozen=True)
class CartSoldOut(Template):
    """Ask for a product that is out of stock."""

    name = "shop.cart-sold-out"
    sites = ("shop",)
    kind = "unachievable"
    chore = "others"
    instruction = 'Put one "{product}" into my cart.'

    user: str
    product: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        user = queries.shopper(worlds["shop"], stream, orders=4)
        found = queries.pick(stream, queries.named_products(worlds["shop"], "p.stock = 0"))
        return None if found is None else cls(user, found["name"])

    def key(self, worlds: Worlds) -> Key:
        page = queries.page_of_product(worlds["shop"], self.product)
        return Key.refusal("ACTION_NOT_ALLOWED_ERROR", visits=[page])

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_product(page, self.product)
        if page.find("StaticText", "Out of stock") is None:
            raise AgentError(f"{self.product!r} is in stock after all.")
        return refusal("mutate", "ACTION_NOT_ALLOWED_ERROR", "The product is out of stock.")


@dataclass(frozen=True)
class WishForOrder(Template):
    """Add every article of an order to the wish list."""

    name = "shop.wish-for-order"
    sites = ("shop",)
    kind = "mutate"
    chore = "long_term_memory"
    instruction = "Add every article of my order {order} to my wish list."

    user: str
    order: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        user = queries.shopper(worlds["shop"], stream)
        orders = worlds["shop"].rows(
            "SELECT o.number FROM orders AS o JOIN customers AS c ON c.id = o.customer_id"
            " JOIN order_items AS i ON i.order_id = o.id WHERE c.email = ?"
            " AND NOT EXISTS (SELECT 1 FROM wishlist_items AS w JOIN order_items AS j ON j.product_id = w.product_id"
            " WHERE w.customer_id = c.id AND j.order_id = o.id)"
            " GROUP BY o.id HAVING count(*) BETWEEN 2 AND 5 AND count(DISTINCT i.product_id) = count(*) ORDER BY o.id",
            user,
        )
        found = queries.pick(stream, orders)
        return None if found is None else cls(user, found["number"])

    def key(self, worlds: Worlds) -> Key:
        customer = queries.customer_id(worlds["shop"], self.user)
        items = queries.order_items(worlds["shop"], self.order)
        return Key.all_of(
            Key.insert("wishlist_items", customer_id=customer, product_id=item["product_id"]) for item in items
        )

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_order(page, self.order)
        for item in pages.items(page):
            page = yield from click(page, "link", item.name)
            page = yield from click(page, "button", "Add to Wish List")
            page = yield from pages.open_order(page, self.order)
        return done("mutate")
