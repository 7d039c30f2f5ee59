"""One's own orders: looking through them, and canceling."""

from dataclasses import dataclass
from typing import Self

from webassay.benchmarks.arena.key import Key, money
from webassay.benchmarks.arena.shop import pages, queries
from webassay.benchmarks.arena.template import Template, Worlds
from webassay.benchmarks.arena.walking import answer, click, done, go_back, refusal
from webassay.core.errors import AgentError
from webassay.core.interaction import Observation, Walk
from webassay.core.task import PagePattern
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def _total(orders: list[Row]) -> int:
    return sum(order["total_cents"] for order in orders)


@dataclass(frozen=True)
class MonthSpend(Template):
    """Add up one month's orders, without the canceled ones."""

    name = "shop.month-spend"
    sites = ("shop",)
    kind = "retrieve"
    chore = "calculation"
    instruction = (
        "How much did my orders of {month} come to in total, with shipping and tax? Leave canceled orders out."
    )

    user: str
    month: str
    year_month: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        user = queries.shopper(worlds["shop"], stream, orders=15)
        months = worlds["shop"].rows(
            "SELECT substr(o.created_at, 1, 7) AS month FROM orders AS o JOIN customers AS c ON c.id = o.customer_id"
            " WHERE c.email = ? GROUP BY 1 HAVING sum(o.status <> 'canceled') >= 2 ORDER BY 1",
            user,
        )
        found = queries.pick(stream, months)
        if found is None:
            return None
        year, month = found["month"].split("-")
        return cls(user, f"{_MONTHS[int(month) - 1]} {year}", found["month"])

    def key(self, worlds: Worlds) -> Key:
        orders = [
            order
            for order in queries.orders_of(worlds["shop"], self.user)
            if order["created_at"].startswith(self.year_month) and order["status"] != "canceled"
        ]
        listing = PagePattern(site="shop", path="/account/orders")
        return Key.answer(money(_total(orders))) & Key.checkpoint("order history", listing)

    def solve(self, page: Observation) -> Walk:
        orders = yield from pages.all_orders(page)
        kept = [order for order in orders if order.month == self.month and order.status != "canceled"]
        return answer(pages.dollars(sum(order.cents for order in kept)))


@dataclass(frozen=True)
class OrdersByStatus(Template):
    """Count and add up the orders with one status."""

    name = "shop.orders-by-status"
    sites = ("shop",)
    kind = "retrieve"
    chore = "massive_memory"
    instruction = (
        "How many of my orders have the status {status}, and what do they come to in total? Answer with "
        'one object with the keys "count" and "total".'
    )

    user: str
    status: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        user = queries.shopper(worlds["shop"], stream, orders=12)
        drawn = cls(user, stream.choice(("complete", "canceled", "processing")))
        return drawn if drawn._orders(worlds["shop"]) else None

    def key(self, worlds: Worlds) -> Key:
        orders = self._orders(worlds["shop"])
        return Key.answer({"count": len(orders), "total": money(_total(orders))})

    def _orders(self, world: World) -> list[Row]:
        return [order for order in queries.orders_of(world, self.user) if order["status"] == self.status]

    def solve(self, page: Observation) -> Walk:
        orders = [order for order in (yield from pages.all_orders(page)) if order.status == self.status]
        return answer({"count": len(orders), "total": pages.dollars(sum(order.cents for order in orders))})


@dataclass(frozen=True)
class DearestPurchase(Template):
    """Find the most expensive article bought in a year."""

    name = "shop.dearest-purchase"
    sites = ("shop",)
    kind = "retrieve"
    chore = "long_term_memory"
    instruction = (
        "Of everything that I ordered in {year}, canceled orders included, which article had the highest "
        "price for a single piece? Answer with its SKU."
    )

    user: str
    year: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        drawn = cls(queries.shopper(worlds["shop"], stream), stream.between(2023, 2025))
        orders = drawn._orders(worlds["shop"])
        return drawn if 3 <= len(orders) <= 8 and _dearest(worlds["shop"], orders) is not None else None

    def key(self, worlds: Worlds) -> Key:
        orders = self._orders(worlds["shop"])
        dearest = _dearest(worlds["shop"], orders)
        assert dearest is not None
        return Key.answer(dearest["sku"]) & Key.all_of(
            Key.checkpoint(f"order {order['number']}", queries.order_page(order["number"])) for order in orders
        )

    def _orders(self, world: World) -> list[Row]:
        orders = queries.orders_of(world, self.user)
        return [order for order in orders if order["created_at"].startswith(f"{self.year}-")]

    def solve(self, page: Observation) -> Walk:
        orders = yield from pages.all_orders(page)
        bought: list[pages.Item] = []
        for order in orders:
            if order.year == self.year:
                page = yield from pages.open_order(page, order.number)
                bought += pages.items(page)
        return answer(max(bought, key=lambda item: item.cents).sku)


def _dearest(world: World, orders: list[Row]) -> Row | None:
    return queries.dearest([item for order in orders for item in queries.order_items(world, order["number"])])


@dataclass(frozen=True)
class OrderWeight(Template):
    """Add up the shipping weights of an order, product page by product page."""

    name = "shop.order-weight"
    sites = ("shop",)
    kind = "retrieve"
    chore = "long_term_memory"
    instruction = (
        "My order {order} is to be shipped on in one parcel. What do all of its articles weigh together, "
        "every piece counted, by the shipping weights on the product pages? Answer with the number of grams."
    )
    difficulty = "hard"

    user: str
    order: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        user = queries.shopper(worlds["shop"], stream)
        orders = worlds["shop"].rows(
            "SELECT o.number FROM orders AS o JOIN customers AS c ON c.id = o.customer_id"
            " JOIN order_items AS i ON i.order_id = o.id WHERE c.email = ?"
            " GROUP BY o.id HAVING count(*) BETWEEN 3 AND 6 ORDER BY o.id",
            user,
        )
        found = queries.pick(stream, orders)
        return None if found is None else cls(user, found["number"])

    def key(self, worlds: Worlds) -> Key:
        items = queries.order_items(worlds["shop"], self.order)
        return Key.answer(sum(item["weight_grams"] * item["quantity"] for item in items)) & Key.all_of(
            Key.checkpoint(item["sku"], queries.product_page(item["slug"])) for item in items
        )

    def solve(self, page: Observation) -> Walk:
        order = yield from pages.open_order(page, self.order)
        total = 0
        for item in pages.items(order):
            page = yield from click(order, "link", item.name)
            total += item.quantity * pages.grams(page)
            order = yield from go_back()
        return answer(total)


@dataclass(frozen=True)
class OpenOrderWith(Template):
    """Open the order that contains an article."""

    name = "shop.open-order-with"
    sites = ("shop",)
    kind = "navigate"
    chore = "long_term_memory"
    instruction = 'Open the page of the order with which I bought "{product}".'

    user: str
    product: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        user = queries.shopper(worlds["shop"], stream)
        bought = worlds["shop"].rows(
            "SELECT i.name FROM order_items AS i JOIN orders AS o ON o.id = i.order_id"
            " JOIN customers AS c ON c.id = o.customer_id WHERE c.email = ?"
            " GROUP BY i.product_id HAVING count(DISTINCT o.id) = 1 ORDER BY i.product_id",
            user,
        )
        found = queries.pick(stream, bought)
        # Two products can share a name.
        if found is None or len(queries.orders_with(worlds["shop"], user, found["name"])) != 1:
            return None
        return cls(user, found["name"])

    def key(self, worlds: Worlds) -> Key:
        (order,) = queries.orders_with(worlds["shop"], self.user, self.product)
        return Key.page(queries.order_page(order["number"]))

    def solve(self, page: Observation) -> Walk:
        yield from pages.open_order_with(page, self.product)
        return done("navigate")


@dataclass(frozen=True)
class CancelOrderWith(Template):
    """Cancel the order that contains an article."""

    name = "shop.cancel-order-with"
    sites = ("shop",)
    kind = "mutate"
    chore = "others"
    instruction = 'Cancel the order with which I bought "{product}".'

    user: str
    product: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        chosen = queries.pick(stream, _orders_with_status(worlds["shop"], "pending"))
        if chosen is None:
            return None
        item = stream.choice(queries.order_items(worlds["shop"], chosen["number"]))
        only = len(queries.orders_with(worlds["shop"], chosen["email"], item["name"])) == 1
        return cls(chosen["email"], item["name"]) if only else None

    def key(self, worlds: Worlds) -> Key:
        (order,) = queries.orders_with(worlds["shop"], self.user, self.product)
        return Key.update("orders", where={"id": order["id"]}, status="canceled")

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_order_with(page, self.product)
        yield from click(page, "button", "Cancel Order")
        return done("mutate")


@dataclass(frozen=True)
class CancelTooLate(Template):
    """Ask to cancel an order that cannot be canceled any more."""

    name = "shop.cancel-too-late"
    sites = ("shop",)
    kind = "unachievable"
    chore = "others"
    instruction = "Cancel my order {order}."

    user: str
    order: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        status = stream.choice(("complete", "canceled"))
        chosen = queries.pick(stream, _orders_with_status(worlds["shop"], status))
        return None if chosen is None else cls(chosen["email"], chosen["number"])

    def key(self, worlds: Worlds) -> Key:
        return Key.refusal("ACTION_NOT_ALLOWED_ERROR", visits=[queries.order_page(self.order)])

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_order(page, self.order)
        if page.find("button", "Cancel Order") is not None:
            raise AgentError(f"Order {self.order} can be canceled after all.")
        return refusal("mutate", "ACTION_NOT_ALLOWED_ERROR", "The order cannot be canceled any more.")


def _orders_with_status(world: World, status: str) -> list[Row]:
    """Everybody's, with the e-mail address of the customer."""
    return world.rows(
        "SELECT c.email, o.number FROM orders AS o JOIN customers AS c ON c.id = o.customer_id"
        " WHERE o.status = ? ORDER BY o.id",
        status,
    )
