"""Doing something with many rows at once."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

from webassay.arena.admin import office, pages
from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key
from webassay.arena.kit.template import Mutate, Parts, fair
from webassay.arena.kit.walking import Steps, done, links
from webassay.core.interaction import Observation, Walk
from webassay.sites.kit import Row, World
from webassay.sites.rng import NothingToDraw, Stream


class BulkChore(Mutate, abstract=True):
    """Finds rows in a grid, ticks them, and acts."""

    chore = "others"
    levels = ("medium",)
    misread = {"first-one-only": {"limit": 1}, "all-of-them": {"others_too": True}}
    ways = {"by-keyword": {"search": True}}

    menu: ClassVar[str]
    first_column: ClassVar[str] = "ID"
    """What a row is ticked by."""
    path: ClassVar[str]
    table: ClassVar[str]
    action: ClassVar[str]
    becomes: ClassVar[Mapping[str, Any]]
    """What acting on a row changes."""
    steps: ClassVar[int] = 10
    """Beside one for every row."""

    user: str

    chosen: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def typed(self) -> tuple[str, Mapping[str, str]]:
        """The words of a search, and what the filters take instead."""

    def look(self, page: Observation, search: bool) -> Steps:
        words, typed = self.typed()
        return pages.search(page, words) if search else pages.narrow(page, typed, self.chosen)

    @abstractmethod
    def wanted(self, line: pages.Line) -> bool:
        """Whether a row that is left is one of them."""

    def parts(
        self,
        fitting: list[Row],
        others: list[Row],
        *,
        limit: int | None = None,
        others_too: bool = False,
    ) -> Parts:
        """`others`: those that a hasty reader takes as well, for whom a condition was ignored."""
        chosen = [*fitting, *others] if others_too else fitting[:limit]
        if not chosen or (others_too and not others):
            raise NothingToDraw
        yield Key.all_of(Key.update(self.table, where={"id": one["id"]}, **self.becomes) for one in chosen)
        yield office.seen(office.listed(self.table, fitting))
        yield Key.checkpoint("the grid", office.page(self.path))
        count = len(fitting) + len(others)
        yield Effort(count, pages_of(count, pages.ROWS_ON_A_PAGE), self.steps + len(fitting))

    def rounds(self) -> Sequence[Self]:
        """What is looked for one after the other, where it takes more than one."""
        return (self,)

    def solve(self, page: Observation, *, limit: int | None = None, search: bool = False) -> Walk:
        for one in self.rounds():
            page = yield from links(page, self.menu)
            page = yield from pages.lengthen((yield from one.look(page, search)))
            names = [line[self.first_column] for line in pages.lines(page) if one.wanted(line)]
            page = yield from pages.tick(page, *names[:limit])
            page = yield from pages.act(page, self.action)
        return done("mutate")


_WITH_PENDING = (
    "SELECT b.first_name || ' ' || b.last_name AS name FROM orders AS o JOIN order_addresses AS b"
    " ON b.order_id = o.id AND b.kind = 'billing' GROUP BY 1"
    " HAVING sum(o.status = 'pending') BETWEEN 2 AND 12 AND sum(o.status <> 'pending') >= 2"
    " AND count(*) <= 90 ORDER BY name"
)
"""Names on several orders that are pending, and on others."""


class OrdersOf(BulkChore, abstract=True):
    """Acts on the pending orders of one buyer."""

    menu = "Orders"
    path = "/orders"
    table = "orders"
    chosen: ClassVar[Mapping[str, str]] = {"Status": "Pending"}

    buyer: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        buyer = stream.choice(office.rows(world, _WITH_PENDING))["name"]
        return cls(user=office.chief(stream), buyer=buyer)

    def end(self, world: World, **how: Any) -> Parts:
        own = [one for one in office.orders(world, "2000-01-01", "2100-01-01") if one["bill_to"] == self.buyer]
        pending = [one for one in own if one["status"] == "pending"]
        # Orders that are processed can be held, too.
        processed = [one for one in own if one["status"] == "processing" and self.action == "Hold"]
        yield from self.parts(pending, processed, **how)

    def typed(self) -> tuple[str, Mapping[str, str]]:
        return self.buyer, {"Bill-to Name": self.buyer}

    def wanted(self, line: pages.Line) -> bool:
        return line["Bill-to Name"] == self.buyer and line["Status"] == "Pending"


class CancelAllOf(OrdersOf):
    """Cancel all pending orders of one buyer."""

    name = "admin.cancel-pending-of"
    instruction = (
        "Cancel all pending orders with the bill-to name {buyer}. The customer called and no longer wants them."
    )
    action = "Cancel"
    becomes = {"status": "canceled"}


class HoldAllOf(OrdersOf):
    """Put all pending orders of one buyer on hold."""

    name = "admin.hold-pending-of"
    instruction = (
        "We need to check the payments of {buyer}. Put every pending order with the bill-to name {buyer} on hold. "
        "Leave orders that are already processing alone."
    )
    action = "Hold"
    becomes = {"status": "on hold"}


class InvoicesPaid(BulkChore):
    """Mark the open invoices of two buyers as paid."""

    name = "admin.invoices-paid"
    instruction = (
        "{first_buyer} and {second_buyer} have paid us. Mark every open invoice with the bill-to name {first_buyer} "
        "or {second_buyer} as paid."
    )
    menu = "Invoices"
    first_column = "Invoice"
    path = "/invoices"
    action = "Mark as Paid"
    table = "invoices"
    chosen: ClassVar[Mapping[str, str]] = {"Status": "Open"}
    becomes = {"status": "paid"}
    steps = 20
    misread = {
        "first-one-only": {"second_buyer": "", "limit": 1},
        "first-buyer-only": {"second_buyer": ""},
    }

    first_buyer: str
    second_buyer: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        # Few names are on several open invoices; in some worlds hardly any.
        names = office.rows(
            world,
            "SELECT b.first_name || ' ' || b.last_name AS name FROM invoices AS i JOIN order_addresses AS b"
            " ON b.order_id = i.order_id AND b.kind = 'billing' GROUP BY 1 HAVING sum(i.status = 'open') >= 1"
            " AND count(*) BETWEEN 3 AND 90 ORDER BY 1",
        )
        first, second = stream.choice(names), stream.choice(names)
        return cls(office.chief(stream), first["name"], second["name"])

    def rounds(self) -> Sequence[Self]:
        return [replace(self, first_buyer=one) for one in (self.first_buyer, self.second_buyer) if one]

    def end(self, world: World, **how: Any) -> Parts:
        yield fair(self.first_buyer != self.second_buyer)
        unpaid = [one for one in office.invoices(world, "2000-01-01", "2100-01-01") if one["status"] == "open"]
        buyers = [one.first_buyer for one in self.rounds()]
        due = [one for buyer in buyers for one in unpaid if one["bill_to"] == buyer]
        yield from self.parts(due, [], **how)

    def typed(self) -> tuple[str, Mapping[str, str]]:
        return self.first_buyer, {"Bill-to Name": self.first_buyer}

    def wanted(self, line: pages.Line) -> bool:
        return line["Bill-to Name"] == self.first_buyer and line["Status"] == "Open"


class DisableSoldOut(BulkChore):
    """Disable the products of a brand that are sold out, or nearly so."""

    name = "admin.disable-scarce"
    instruction = (
        "We can no longer get anything from {brand}. Disable every product that has {brand} in its name and a "
        "quantity of {most} or less."
    )
    menu = "Products"
    path = "/products"
    table = "products"
    action = "Disable"
    becomes = {"enabled": 0}

    brand: str
    most: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        brand = stream.choice(office.brands(world, most=95))["brand"]
        return cls(office.chief(stream), brand, stream.choice((5, 10, 20)))

    def end(self, world: World, **how: Any) -> Parts:
        named = office.rows(world, "SELECT * FROM products WHERE name LIKE ? ORDER BY id", f"%{self.brand}%")
        scarce = [one for one in named if one["stock"] <= self.most]
        others = [one for one in named if one["stock"] > self.most]
        yield fair(all(one["brand"] == self.brand for one in named), 2 <= len(scarce) <= 12)
        yield from self.parts(scarce, others, **how)

    def typed(self) -> tuple[str, Mapping[str, str]]:
        return self.brand, {"Name": self.brand, "Quantity to": str(self.most)}

    def wanted(self, line: pages.Line) -> bool:
        return int(line["Quantity"]) <= self.most


class ApproveByWord(BulkChore):
    """Approve the pending reviews that contain a word."""

    name = "admin.approve-reviews-with"
    instruction = (
        'Approve every pending review whose text contains the word "{word}", in upper or lower case. The title does '
        "not count. Leave all other reviews as they are."
    )
    menu = "Pending Reviews"
    path = "/reviews/pending"
    table = "reviews"
    action = "Approve"
    becomes = {"status": "approved"}
    steps = 9

    word: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(office.chief(stream), stream.choice(_WORDS))

    def end(self, world: World, **how: Any) -> Parts:
        pending = office.reviews(world, "v.status = 'pending'")
        fitting = [one for one in pending if self.word in _words(one["text"])]
        without = [one for one in pending if self.word not in one["text"].lower()]
        # The word must not stand inside another one.
        yield fair(2 <= len(fitting) <= 14, len(fitting) + len(without) == len(pending))
        yield from self.parts(fitting, without[:20], **how)

    def typed(self) -> tuple[str, Mapping[str, str]]:
        return self.word, {"Review": self.word}

    def wanted(self, line: pages.Line) -> bool:
        return self.word in _words(line["Review"])


_WORDS = ("good", "price", "quality", "small", "easy", "color", "size", "broke", "love", "gift", "box", "week", "every",
          "perfect", "cheap", "months", "house", "kitchen", "better", "friend", "smell", "heavy", "nice")  # fmt: skip


def _words(text: str) -> set[str]:
    return {word.strip(".,!?:;()\"'") for word in text.lower().split()}


class RejectOfProductLine(BulkChore):
    """Reject what guests wrote on some days about the products of one department."""

    name = "admin.reject-guest-reviews"
    instruction = (
        "Guests posted fake reviews of {department} from {first} through {last}. These products have SKUs that begin "
        "with {code}. Reject every review of them that a guest created on those days, both approved and pending "
        "ones. Leave reviews by customers as they are."
    )
    menu = "All Reviews"
    path = "/reviews"
    table = "reviews"
    action = "Reject"
    becomes = {"status": "rejected"}
    chosen: ClassVar[Mapping[str, str]] = {"Type": "Guest"}
    steps = 12
    misread = {
        **BulkChore.misread,
        "every-department": {"every_department": True},
        "pending-only": {"pending_only": True},
    }

    department: str
    code: str
    first: str
    last: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        departments = office.rows(
            world,
            "SELECT d.name, substr(p.sku, 1, 4) AS code FROM products AS p JOIN categories AS k"
            " ON k.id = p.category_id JOIN categories AS m ON m.id = k.parent_id JOIN categories AS d"
            " ON d.id = m.parent_id GROUP BY 1, 2 ORDER BY 1, 2",
        )
        found = stream.choice(departments)
        # In a small shop it takes longer until customers have written beside guests.
        span = office.days_in_a_row(stream, stream.choice((2, 3, 4, 5, 10, 20)))
        return cls(office.chief(stream), found["name"], found["code"], *span)

    def end(self, world: World, *, every_department: bool = False, pending_only: bool = False, **how: Any) -> Parts:
        # Those that can be rejected; the others were before.
        days = "v.status <> 'rejected' AND substr(v.created_at, 1, 10) BETWEEN ? AND ?"
        written = office.reviews(world, days, self.first, self.last)
        listed = [one for one in written if every_department or one["sku"].startswith(self.code)]
        guests = [one for one in listed if one["customer_id"] is None]
        customers = [one for one in listed if one["customer_id"] is not None]
        yield fair(2 <= len(guests) <= 16, customers)
        if pending_only:
            guests = [one for one in guests if one["status"] == "pending"]
        yield from self.parts(guests, customers, **how)

    def typed(self) -> tuple[str, Mapping[str, str]]:
        return self.code, {"SKU": self.code, **office.days("Created", self.first, self.last)}

    def look(self, page: Observation, search: bool) -> Steps:
        page = yield from super().look(page, search)
        return (yield from pages.narrow(page, office.days("Created", self.first, self.last))) if search else page

    def wanted(self, line: pages.Line) -> bool:
        fits = line["SKU"].startswith(self.code) and line["Type"] == "Guest"
        return fits and line["Status"] != "Not Approved"
