"""Sending things back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key, money, shown
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.arena.kit.walking import answer, choose, click, every_page, fill, groups, refusal, submit
from webassay.arena.shop import facts, pages, queries
from webassay.arena.shop.orders import LIST, list_page
from webassay.core.errors import AgentError
from webassay.core.interaction import Action, Observation, Walk
from webassay.core.task import Expectation, PagePattern
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream

REASONS = ("Arrived damaged", "Defective or does not work", "Wrong item was sent", "Does not fit", "Not as described")
_COMMENTS = (
    "The seam on one side has come open.", "It is too wide for the shelf it was meant for.", "Please send a label.",
    "The color differs from the picture.", "It stopped working on the second day.", "I was sent the wrong size.",
    "There is a crack along the bottom.", "One of the parts is missing.",
)  # fmt: skip
FIRST_DAY = "2025-12-31"
"""The first day of orders that can still be returned: sixty days ago."""


def _can_be_returned(world: World, user: str) -> list[Row]:
    """Complete orders of the last sixty days of which nothing was returned, the newest first."""
    returned = {row["order_id"] for row in queries.rows(world, "SELECT order_id FROM returns")}
    return [
        order
        for order in queries.orders_of(world, user)
        if order["status"] == "complete" and order["created_at"] >= FIRST_DAY and order["id"] not in returned
    ]


def _returned(order: Row, reason: str, comment: str, pieces: Mapping[int, int]) -> Key:
    """`pieces`: how many of each row of the order."""
    whole = Key.insert(
        "returns", order_id=order["id"], customer_id=order["customer_id"], reason=reason, comment=comment,
        status="requested",
    )  # fmt: skip
    return Key.all_of(
        [whole, *(Key.insert("return_items", order_item_id=item, quantity=count) for item, count in pieces.items())]
    )


def _ask(page: Observation, pieces: Mapping[str, int], reason: str, comment: str) -> Walk:
    """From the order's page."""
    page = yield from click(page, "link", "Return Items")
    for name, count in pieces.items():
        page = yield from fill(page, "spinbutton", f"Pieces of {name} to return", str(count))
    page = yield from choose(page, "Reason", reason)
    page = yield from fill(page, "textbox", "Comment (optional)", comment)
    return (yield from submit(page, "Request Return"))


@dataclass(frozen=True)
class ReturnArticle(Template):
    """Send back all pieces of one article, and nothing else of its order."""

    name = "shop.return-article"
    kind = "mutate"
    chore = "long_term_memory"
    instruction = (
        'Ask for a return of all the pieces of "{product}" that I bought, and of nothing else. Reason: {reason}. '
        'Comment: "{comment}"'
    )
    levels = ("medium",)
    tags = ("form",)

    user: str
    product: str
    reason: str
    comment: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        world = worlds["shop"]
        user = queries.shopper(world, stream, 3, 400)
        order = queries.pick(stream, _can_be_returned(world, user))
        items = queries.order_items(world, order["number"]) if order else []
        several = [item for item in items if item["quantity"] >= 2]
        chosen = queries.pick(stream, several)
        if chosen is None or len(items) < 2 or len(queries.orders_with(world, user, chosen["name"])) != 1:
            return None
        if sum(item["name"] == chosen["name"] for item in items) > 1:
            return None
        return cls(user, chosen["name"], stream.choice(REASONS), stream.choice(_COMMENTS))

    def _order(self, world: World) -> Row:
        (order,) = queries.orders_with(world, self.user, self.product)
        return order

    def _items(self, world: World) -> list[Row]:
        return queries.order_items(world, self._order(world)["number"])

    def key(self, worlds: Worlds) -> Key:
        world = worlds["shop"]
        order = self._order(world)
        item = next(item for item in self._items(world) if item["name"] == self.product)
        asked = _returned(order, self.reason, self.comment, {item["id"]: item["quantity"]})
        return (
            asked
            & facts.seen([facts.bought(item)])
            & LIST
            & Key.checkpoint("the order", queries.order_page(order["number"]))
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        world = worlds["shop"]
        order, items = self._order(world), self._items(world)
        item = next(item for item in items if item["name"] == self.product)
        return {
            "one-piece": _returned(order, self.reason, self.comment, {item["id"]: 1}),
            "whole-order": _returned(
                order, self.reason, self.comment, {item["id"]: item["quantity"] for item in items}
            ),
        }

    def effort(self, worlds: Worlds) -> Effort:
        numbers = [order["number"] for order in queries.orders_of(worlds["shop"], self.user)]
        number = self._order(worlds["shop"])["number"]
        place, listed = numbers.index(number) + 1, list_page(worlds["shop"], self.user, number)
        return Effort(
            rows=place, pages=place + 1, steps=2 * place + listed + 8 + len(self._items(worlds["shop"])),
            longest=2 * place + listed + 12,
        )  # fmt: skip

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_order_with(page, self.product)
        return (yield from self._return(page))

    def _return(self, page: Observation) -> Walk:
        bought = next(item for item in pages.items(page) if item.name == self.product)
        return (yield from _ask(page, {self.product: bought.quantity}, self.reason, self.comment))

    def routes(self) -> Mapping[str, Route]:
        return {"complete-orders-only": self._complete_only}

    def _complete_only(self, page: Observation) -> Walk:
        """Other orders cannot be returned."""
        page = yield from pages.open_order_with(page, self.product, lambda order: order.status == "complete")
        return (yield from self._return(page))

    def hasty(self) -> Mapping[str, Route]:
        return {"one-piece": self._one_piece, "whole-order": self._whole_order}

    def _one_piece(self, page: Observation) -> Walk:
        page = yield from pages.open_order_with(page, self.product)
        return (yield from _ask(page, {self.product: 1}, self.reason, self.comment))

    def _whole_order(self, page: Observation) -> Walk:
        page = yield from pages.open_order_with(page, self.product)
        everything = {item.name: item.quantity for item in pages.items(page)}
        return (yield from _ask(page, everything, self.reason, self.comment))


@dataclass(frozen=True)
class ReturnTooLate(Template):
    """Ask for a return of an order that is too old, though a newer one could be returned."""

    name = "shop.return-too-late"
    kind = "unachievable"
    chore = "others"
    instruction = 'Ask for a return of everything in my order {order}. Reason: {reason}. Comment: "{comment}"'
    levels = ("easy",)
    tags = ("form",)

    user: str
    order: str
    reason: str
    comment: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        world = worlds["shop"]
        user = queries.shopper(world, stream, 3, 60)
        late = [
            order
            for order in queries.orders_of(world, user)
            if order["status"] == "complete" and order["created_at"] < FIRST_DAY[:8] + "30"
        ]
        chosen = queries.pick(stream, late)
        if chosen is None or not _can_be_returned(world, user):
            return None
        return cls(user, chosen["number"], stream.choice(REASONS), stream.choice(_COMMENTS))

    def key(self, worlds: Worlds) -> Key:
        order = queries.order(worlds["shop"], self.order)
        refused = Key.seen_any(
            shown(f"Order # {self.order}", "This order could be returned until", together="page"),
            shown("This order could be returned until", "That did not work", together="page"),
            [shown("within 60 days of the order", together="page"), facts.order_status(order).any_of[0][0]],
        )
        return Key.refusal("ACTION_NOT_ALLOWED_ERROR", facts=refused) & LIST

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        world = worlds["shop"]
        other = _can_be_returned(world, self.user)[0]
        pieces = {item["id"]: item["quantity"] for item in queries.order_items(world, other["number"])}
        return {"another-order": _returned(other, self.reason, self.comment, pieces)}

    def effort(self, worlds: Worlds) -> Effort:
        listed = list_page(worlds["shop"], self.user, self.order)
        return Effort(rows=1, pages=listed, steps=listed + 4, longest=listed + 6)

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_order(page, self.order)
        if page.find("link", "Return Items") is not None:
            raise AgentError(f"Order {self.order} can be returned after all.")
        return refusal("mutate", "ACTION_NOT_ALLOWED_ERROR", "The order is too old to be returned.")

    def routes(self) -> Mapping[str, Route]:
        return {"by-the-rules": self._by_the_rules}

    def _by_the_rules(self, page: Observation) -> Walk:
        """The date in the list, and what the shop says about returns."""
        page = yield from pages.find_order(page, self.order)
        page = yield from click(page, "link", "Shipping & Returns")
        return refusal("mutate", "ACTION_NOT_ALLOWED_ERROR", "Orders can be returned within sixty days.")


RETURNS = PagePattern(site="shop", path="/account/returns")


@dataclass(frozen=True)
class ReturnedValue(Template):
    """Add up what was returned for one reason and refunded."""

    name = "shop.returned-value"
    kind = "retrieve"
    chore = "calculation"
    instruction = (
        "What was the value of all the goods that I returned for the reason “{reason}” and that were refunded? "
        "Answer with the sum."
    )
    levels = ("easy", "medium")

    user: str
    reason: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        world = worlds["shop"]
        found = queries.rows(
            world,
            "SELECT c.email FROM customers AS c JOIN returns AS t ON t.customer_id = c.id"
            " GROUP BY c.id HAVING count(*) >= 6 ORDER BY c.id",
        )
        chosen = queries.pick(stream, found)
        if chosen is None:
            return None
        reasons = sorted({row["reason"] for row in _returns(world, chosen["email"])})
        drawn = cls(chosen["email"], stream.choice(reasons))
        return drawn if drawn._fitting(_returns(world, drawn.user)) else None

    def _fitting(self, returns: list[Row]) -> list[Row]:
        return [row for row in returns if row["reason"] == self.reason and row["status"] == "refunded"]

    def key(self, worlds: Worlds) -> Key:
        returns = _returns(worlds["shop"], self.user)
        fitting = self._fitting(returns)
        read = {row["number"]: row for row in (*returns[::10], returns[-1], *fitting)}.values()
        seen = [shown(row["number"], row["reason"], facts.amount(row["value_cents"]), row["status"]) for row in read]
        return Key.answer(_value(fitting)) & facts.seen(seen) & Key.checkpoint("returns", RETURNS)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        returns = _returns(worlds["shop"], self.user)
        found = {
            "status-ignored": Key.answer(_value([row for row in returns if row["reason"] == self.reason])),
            "reason-ignored": Key.answer(_value([row for row in returns if row["status"] == "refunded"])),
        }
        if len(returns) > 10:
            found["first-page-only"] = Key.answer(_value(self._fitting(returns[:10])))
        return found

    def effort(self, worlds: Worlds) -> Effort:
        count = len(_returns(worlds["shop"], self.user))
        on_pages = -(-count // 10)
        return Effort(rows=count, pages=on_pages, steps=on_pages + 4)

    def solve(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "My Account")
        page = yield from click(page, "link", "My Returns")
        return (yield from self._add_up(page))

    def routes(self) -> Mapping[str, Route]:
        return {"by-address": self._by_address}

    def _by_address(self, page: Observation) -> Walk:
        page = yield Action.of("goto", page.url.rstrip("/") + "/account/returns")
        return (yield from self._add_up(page))

    def _add_up(self, page: Observation) -> Walk:
        total = 0
        for one in (yield from every_page(page)):
            for inside in groups(one, "row"):
                cells = [node.name for node in inside if node.role == "cell"]
                if len(cells) >= 6 and cells[3] == self.reason and cells[5].casefold() == "refunded":
                    total += pages.cents(cells[4])
        return answer(pages.dollars(total))


def _returns(world: World, user: str) -> list[Row]:
    """As the list shows them."""
    return queries.rows(
        world,
        "SELECT t.*, (SELECT sum(r.quantity * i.unit_price_cents) FROM return_items AS r"
        " JOIN order_items AS i ON i.id = r.order_item_id WHERE r.return_id = t.id) AS value_cents"
        " FROM returns AS t JOIN customers AS c ON c.id = t.customer_id WHERE c.email = ?"
        " ORDER BY t.created_at DESC, t.id DESC",
        user,
    )


def _value(returns: list[Row]) -> Expectation:
    return money(sum(row["value_cents"] for row in returns))
