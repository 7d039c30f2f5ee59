"""Canceling orders."""

from typing import Self

from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key
from webassay.arena.kit.template import Mutate, Parts, Refuse, fair
from webassay.arena.kit.walking import links, refused, submit
from webassay.arena.shop import facts, pages, queries
from webassay.core.interaction import Action, Observation, Walk
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream


def _canceled(order: Row) -> Key:
    return Key.update("orders", where={"id": order["id"]}, status="canceled")


def _pending(world: World, user: str) -> list[Row]:
    return [order for order in queries.orders_of(world, user) if order["status"] == "pending"]


def _cancel(page: Observation) -> Walk:
    """From the order's page."""
    page = yield from links(page, "Cancel Order")
    return (yield from submit(page, "Yes, Cancel This Order"))


def _is_pending(order: pages.Order) -> bool:
    return order.status == "pending"


def _is_long_ago(order: pages.Order) -> bool:
    """Before last month: nothing is pending for that long."""
    return (order.year, order.month) < (2026, 2)


class CancelOrderWith(Mutate):
    """Cancel the order that contains an article, out of several that could be canceled."""

    name = "shop.cancel-order-with"
    chore = "others"
    instruction = 'Cancel the order with which I bought "{product}".'
    levels = ("medium",)
    misread = {"newest-pending": {"newest": True}}
    ways = {"looking-at-all-first": {"all_first": True}}

    user: str
    product: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        pending = queries.rows(
            world,
            "SELECT c.email, i.name FROM orders AS o JOIN customers AS c ON c.id = o.customer_id"
            " JOIN order_items AS i ON i.order_id = o.id WHERE o.status = 'pending' ORDER BY i.id",
        )
        article = stream.choice(pending)
        return cls(article["email"], article["name"])

    def end(self, world: World, *, newest: bool = False) -> Parts:
        orders, pending = queries.orders_with(world, self.user, self.product), _pending(world, self.user)
        yield fair(len(orders) == 1, len(pending) >= 2)
        order = (pending if newest else orders)[0]
        yield _canceled(order)
        items = queries.order_items(world, order["number"])
        yield facts.seen([facts.bought(item) for item in items if item["name"] == self.product])
        yield facts.LIST
        yield Key.checkpoint("the order", queries.order_page(order["number"]))
        count, listed = len(pending), queries.list_page(world, self.user, pending[-1]["number"])
        yield Effort(rows=count, pages=count + listed, steps=2 * count + 2 * listed + 8)

    def solve(self, page: Observation, *, newest: bool = False, all_first: bool = False) -> Walk:
        if newest:
            page = yield from pages.open_newest_order(page, _is_pending)
        elif all_first:
            pending = yield from pages.read_orders(page, _is_pending, past=_is_long_ago)
            number = next(order.number for order, items in pending if any(one.name == self.product for one in items))
            page = yield Action.of("goto", f"{page.url.rstrip('/')}/account/orders/{number}")
        else:
            page = yield from pages.open_order_with(page, self.product, _is_pending)
        return (yield from _cancel(page))


class CancelTooLate(Refuse):
    """Ask to cancel an order that cannot be canceled any more, though another one could be."""

    name = "shop.cancel-too-late"
    instruction = "Cancel my order {order}."
    misread = {"another-order": {"instead": True}}
    ways = {"from-the-list": {"from_list": True}}

    user: str
    order: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        user = queries.shopper(world, stream, 3, 60)
        late = [order for order in queries.orders_of(world, user) if order["status"] in ("complete", "processing")]
        return cls(user, stream.choice(late)["number"])

    def end(self, world: World, *, instead: bool = False) -> Parts:
        pending = _pending(world, self.user)
        yield fair(pending)
        if instead:
            yield _canceled(pending[0])
        status = facts.order_status(queries.order(world, self.order))
        yield Key.refusal("ACTION_NOT_ALLOWED_ERROR", facts=Key.seen_share(1.0, [status]))
        yield facts.LIST
        listed = queries.list_page(world, self.user, self.order)
        yield Effort(rows=1, pages=listed, steps=listed + 4)

    def solve(self, page: Observation, *, instead: bool = False, from_list: bool = False) -> Walk:
        if instead:
            page = yield from pages.open_newest_order(page, _is_pending)
            return (yield from _cancel(page))
        page = yield from pages.find_order(page, self.order)
        pending = any(order.number == self.order and _is_pending(order) for order in pages.listed_orders(page))
        if not from_list:
            page = yield from links(page, f"View Order {self.order}")
            pending = page.find("link", "Cancel Order") is not None
        why = "The order cannot be canceled any more."
        return refused(page, pending, "mutate", "ACTION_NOT_ALLOWED_ERROR", why)
