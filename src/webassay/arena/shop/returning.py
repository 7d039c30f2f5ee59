"""Sending things back."""

from collections.abc import Sequence
from typing import Self

from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key, cell, money, shown
from webassay.arena.kit.template import Mutate, Parts, Refuse, Retrieve, fair, first_page
from webassay.arena.kit.walking import answer, every_page, fill, links, refused, submit
from webassay.arena.shop import facts, pages, queries
from webassay.core.interaction import Action, Observation, Walk
from webassay.core.task import PagePattern
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


def _returned(order: Row, items: Sequence[Row], reason: str, comment: str, pieces: int = 0) -> Key:
    """All pieces of the items, or that many of each."""
    whole = Key.insert(
        "returns", order_id=order["id"], customer_id=order["customer_id"], reason=reason, comment=comment,
        status="requested",
    )  # fmt: skip
    parts = (Key.insert("return_items", order_item_id=one["id"], quantity=pieces or one["quantity"]) for one in items)
    return Key.all_of((whole, *parts))


class ReturnArticle(Mutate):
    """Send back all pieces of one article, and nothing else of its order."""

    name = "shop.return-article"
    chore = "long_term_memory"
    instruction = (
        'Request a return of "{product}". Return all the pieces that I bought, and nothing else. Reason: {reason}. '
        'Comment: "{comment}"'
    )
    levels = ("medium",)
    tags = ("form",)
    misread = {"one-piece": {"pieces": 1}, "whole-order": {"whole": True}}
    ways = {"complete-orders-only": {"complete_only": True}}

    user: str
    product: str
    reason: str
    comment: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        user = queries.shopper(world, stream, 3, 400)
        order = stream.choice(_can_be_returned(world, user))
        several = [item for item in queries.order_items(world, order["number"]) if item["quantity"] >= 2]
        return cls(user, stream.choice(several)["name"], stream.choice(REASONS), stream.choice(_COMMENTS))

    def end(self, world: World, *, pieces: int = 0, whole: bool = False) -> Parts:
        orders = queries.orders_with(world, self.user, self.product)
        order = orders[0]
        items = queries.order_items(world, order["number"])
        bought = [item for item in items if item["name"] == self.product]
        yield fair(len(orders) == 1, len(items) >= 2, len(bought) == 1)
        yield _returned(order, items if whole else bought, self.reason, self.comment, pieces)
        yield facts.seen([facts.bought(item) for item in bought])
        yield facts.LIST
        yield Key.checkpoint("the order", queries.order_page(order["number"]))
        place = queries.orders_of(world, self.user).index(order) + 1
        steps = 2 * place + queries.list_page(world, self.user, order["number"]) + 8
        yield Effort(rows=place, pages=place + 1, steps=steps + len(items), longest=steps + 4)

    def solve(self, page: Observation, *, pieces: int = 0, whole: bool = False, complete_only: bool = False) -> Walk:
        """Other orders than complete ones cannot be returned."""
        page = yield from pages.open_order_with(
            page, self.product, lambda order: not complete_only or order.status == "complete"
        )
        items = pages.items(page)
        page = yield from links(page, "Return Items")
        for item in items:
            if whole or item.name == self.product:
                field = f"Quantity of {item.name} to return"
                page = yield from fill(page, "spinbutton", field, str(pieces or item.quantity))
        typed = {"Comment (optional)": self.comment}
        return (yield from submit(page, "Request Return", typed, {"Reason": self.reason}))


class ReturnTooLate(Refuse):
    """Ask for a return of an order that is too old, though a newer one could be returned."""

    name = "shop.return-too-late"
    instruction = 'Request a return of everything in my order {order}. Reason: {reason}. Comment: "{comment}"'
    tags = ("form",)
    misread = {"another-order": {"instead": True}}
    ways = {"by-the-rules": {"by_the_rules": True}}

    user: str
    order: str
    reason: str
    comment: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        user = queries.shopper(world, stream, 3, 60)
        complete = [order for order in queries.orders_of(world, user) if order["status"] == "complete"]
        late = [order for order in complete if order["created_at"] < FIRST_DAY[:8] + "30"]
        return cls(user, stream.choice(late)["number"], stream.choice(REASONS), stream.choice(_COMMENTS))

    def end(self, world: World, *, instead: bool = False) -> Parts:
        others = _can_be_returned(world, self.user)
        yield fair(others)
        if instead:
            yield _returned(others[0], queries.order_items(world, others[0]["number"]), self.reason, self.comment)
        order = queries.order(world, self.order)
        refused = Key.seen_any(
            shown(f"Order # {self.order}", "This order could be returned until", together="page"),
            shown("This order could be returned until", "That did not work", together="page"),
            [shown("within 60 days of the order", together="page"), facts.order_status(order)],
        )
        yield Key.refusal("ACTION_NOT_ALLOWED_ERROR", facts=refused)
        yield facts.LIST
        listed = queries.list_page(world, self.user, self.order)
        yield Effort(rows=1, pages=listed, steps=listed + 4, longest=listed + 6)

    def solve(self, page: Observation, *, by_the_rules: bool = False) -> Walk:
        page = yield from pages.find_order(page, self.order)
        if by_the_rules:
            # The date in the list, and what the shop says about returns.
            page = yield from links(page, "Shipping & Returns")
        else:
            page = yield from links(page, f"View Order {self.order}")
        can_be = page.find("link", "Return Items")
        return refused(page, can_be, "mutate", "ACTION_NOT_ALLOWED_ERROR", "Orders can be returned within sixty days.")


RETURNS_ON_A_PAGE = 10


class ReturnedValue(Retrieve):
    """Add up what was returned for one reason and refunded."""

    name = "shop.returned-value"
    chore = "calculation"
    instruction = (
        'Look at my returns with the reason "{reason}" and the status Refunded. Add up their values of goods, as My '
        "Returns shows them. Answer with the sum."
    )
    levels = ("easy", "medium")
    misread = {
        "status-ignored": {"status": ""},
        "reason-ignored": {"reason": ""},
        "first-page-only": {"size": RETURNS_ON_A_PAGE},
    }
    ways = {"by-address": {"by_address": True}}

    user: str
    reason: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        several = "JOIN returns AS t ON t.customer_id = c.id GROUP BY c.id HAVING count(*) >= 6"
        user = queries.customer(world, stream, several)
        return cls(user, stream.choice(sorted({row["reason"] for row in _returns(world, user)})))

    def end(self, world: World, *, status: str = "refunded", size: int = 0) -> Parts:
        returns = _returns(world, self.user)
        of_the_reason = [row for row in first_page(returns, size) if self.reason in ("", row["reason"])]
        fitting = [row for row in of_the_reason if status in ("", row["status"])]
        yield fair(fitting)
        yield Key.answer(money(sum(row["value_cents"] for row in fitting)))
        read = {row["number"]: row for row in (*returns[::RETURNS_ON_A_PAGE], returns[-1], *fitting)}.values()
        yield facts.seen(
            [[cell("returns", row["id"], name) for name in ("reason", "=value_cents", "status")] for row in read]
        )
        yield Key.checkpoint("returns", PagePattern(site="shop", path="/account/returns"))
        on_pages = pages_of(len(returns), RETURNS_ON_A_PAGE)
        yield Effort(rows=len(returns), pages=on_pages, steps=on_pages + 4)

    def solve(self, page: Observation, *, by_address: bool = False) -> Walk:
        if by_address:
            page = yield Action.of("goto", page.url.rstrip("/") + "/account/returns")
        else:
            page = yield from links(page, "My Account", "My Returns")
        total = 0
        for one in (yield from every_page(page)):
            for cells, _ in pages.table(one):
                if cells[3] == self.reason and cells[5].casefold() == "refunded":
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
