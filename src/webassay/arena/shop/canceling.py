"""Canceling orders."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.arena.kit.walking import Steps, click, done, go_back, refusal
from webassay.arena.shop import facts, pages, queries
from webassay.arena.shop.orders import LIST, list_page
from webassay.core.errors import AgentError
from webassay.core.interaction import Observation, Walk
from webassay.core.record import Json
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream


def _canceled(order: Row) -> Key:
    return Key.update("orders", where={"id": order["id"]}, status="canceled")


def _cancel(page: Observation) -> Steps:
    """From the order's page."""
    page = yield from click(page, "link", "Cancel Order")
    return (yield from click(page, "button", "Yes, Cancel This Order"))


def _is_pending(order: pages.Order) -> bool:
    return order.status == "pending"


def _cancel_newest(page: Observation) -> Walk:
    page = yield from click(page, "link", "Orders")
    newest = next(filter(_is_pending, pages.listed_orders(page)))
    page = yield from click(page, "link", f"View Order {newest.number}")
    yield from _cancel(page)
    return done("mutate")


@dataclass(frozen=True)
class CancelOrderWith(Template):
    """Cancel the order that contains an article, out of several that could be canceled."""

    name = "shop.cancel-order-with"
    kind = "mutate"
    chore = "others"
    instruction = 'Cancel the order with which I bought "{product}".'
    levels = ("medium",)

    user: str
    product: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        found = queries.rows(
            worlds["shop"],
            "SELECT c.email, i.name FROM orders AS o JOIN customers AS c ON c.id = o.customer_id"
            " JOIN order_items AS i ON i.order_id = o.id WHERE o.status = 'pending' ORDER BY i.id",
        )
        chosen = queries.pick(stream, found)
        if chosen is None or len(queries.orders_with(worlds["shop"], chosen["email"], chosen["name"])) != 1:
            return None
        drawn = cls(chosen["email"], chosen["name"])
        return drawn if len(_pending(worlds["shop"], drawn.user)) >= 2 else None

    def _order(self, world: World) -> Row:
        (order,) = queries.orders_with(world, self.user, self.product)
        return order

    def key(self, worlds: Worlds) -> Key:
        order = self._order(worlds["shop"])
        items = queries.order_items(worlds["shop"], order["number"])
        line = facts.seen([facts.bought(item) for item in items if item["name"] == self.product])
        return _canceled(order) & line & LIST & Key.checkpoint("the order", queries.order_page(order["number"]))

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        return {"newest-pending": _canceled(_pending(worlds["shop"], self.user)[0])}

    def effort(self, worlds: Worlds) -> Effort:
        waiting = _pending(worlds["shop"], self.user)
        listed = list_page(worlds["shop"], self.user, waiting[-1]["number"])
        return Effort(rows=len(waiting), pages=len(waiting) + listed, steps=2 * len(waiting) + 2 * listed + 8)

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_order_with(page, self.product, _is_pending)
        yield from _cancel(page)
        return done("mutate")

    def routes(self) -> Mapping[str, Route]:
        return {"looking-at-all-first": self._all_first}

    def _all_first(self, page: Observation) -> Walk:
        page = yield from pages.open_orders(page)
        number = ""
        while waiting := [order for order in pages.listed_orders(page) if _is_pending(order)]:
            for order in waiting:
                opened = yield from click(page, "link", f"View Order {order.number}")
                if any(item.name == self.product for item in pages.items(opened)):
                    number = order.number
                page = yield from go_back()
            if page.find("link", "Next") is None:
                break
            page = yield from click(page, "link", "Next")
        page = yield from pages.open_order(page, number)
        yield from _cancel(page)
        return done("mutate")

    def hasty(self) -> Mapping[str, Route]:
        return {"newest-pending": _cancel_newest}


def _pending(world: World, user: str) -> list[Row]:
    return [order for order in queries.orders_of(world, user) if order["status"] == "pending"]


@dataclass(frozen=True)
class CancelTooLate(Template):
    """Ask to cancel an order that cannot be canceled any more, though another one could be."""

    name = "shop.cancel-too-late"
    kind = "unachievable"
    chore = "others"
    instruction = "Cancel my order {order}."
    levels = ("easy",)

    user: str
    order: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        user = queries.shopper(worlds["shop"], stream, 3, 60)
        late = [
            order for order in queries.orders_of(worlds["shop"], user) if order["status"] in ("complete", "processing")
        ]
        chosen = queries.pick(stream, late)
        return None if chosen is None or not _pending(worlds["shop"], user) else cls(user, chosen["number"])

    def key(self, worlds: Worlds) -> Key:
        status = Key.seen_share(1.0, [facts.order_status(queries.order(worlds["shop"], self.order))])
        return Key.refusal("ACTION_NOT_ALLOWED_ERROR", facts=status) & LIST

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        return {"another-order": _canceled(_pending(worlds["shop"], self.user)[0])}

    def effort(self, worlds: Worlds) -> Effort:
        listed = list_page(worlds["shop"], self.user, self.order)
        return Effort(rows=1, pages=listed, steps=listed + 4)

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_order(page, self.order)
        if page.find("link", "Cancel Order") is not None:
            raise AgentError(f"Order {self.order} can be canceled after all.")
        return _too_late()

    def routes(self) -> Mapping[str, Route]:
        return {"from-the-list": self._from_the_list}

    def _from_the_list(self, page: Observation) -> Walk:
        page = yield from pages.find_order(page, self.order)
        status = next(order.status for order in pages.listed_orders(page) if order.number == self.order)
        if status == "pending":
            raise AgentError(f"Order {self.order} can be canceled after all.")
        return _too_late()

    def hasty(self) -> Mapping[str, Route]:
        return {"another-order": _cancel_newest}


def _too_late() -> Json:
    return refusal("mutate", "ACTION_NOT_ALLOWED_ERROR", "The order cannot be canceled any more.")
