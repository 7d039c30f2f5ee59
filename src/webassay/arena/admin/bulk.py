"""Doing something with many rows at once."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from webassay.arena.admin import office, pages
from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key, shown
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.arena.kit.walking import Steps, click, done
from webassay.core.interaction import Observation, Walk
from webassay.core.task import Sight
from webassay.sites.kit import Row
from webassay.sites.rng import Stream


class BulkChore(Template, abstract=True):
    """Finds rows in a grid, ticks them, and acts."""

    sites = ("admin",)
    kind = "mutate"
    chore = "others"
    levels = ("medium",)

    menu: ClassVar[str]
    first_column: ClassVar[str]
    """What a row is ticked by."""
    path: ClassVar[str]
    action: ClassVar[str]

    user: str

    @abstractmethod
    def fitting(self, worlds: Worlds) -> list[Row]:
        """The rows that are to be acted on."""

    @abstractmethod
    def others(self, worlds: Worlds) -> list[Row]:
        """Rows that a hasty reader takes as well: those for which a condition was ignored."""

    @abstractmethod
    def change(self, row: Row) -> Key:
        """What acting on a row does."""

    @abstractmethod
    def sight(self, row: Row) -> Sight: ...

    @abstractmethod
    def filters(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """What is typed and what is chosen to find them."""

    @abstractmethod
    def wanted(self, line: pages.Line) -> bool:
        """Whether a row that the filters leave is one of them."""

    @abstractmethod
    def words(self) -> str:
        """What one looks for without filters."""

    def key(self, worlds: Worlds) -> Key:
        fitting = self.fitting(worlds)
        changes = Key.all_of(self.change(row) for row in fitting)
        return changes & office.seen(map(self.sight, fitting)) & Key.checkpoint("the grid", office.page(self.path))

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        fitting = self.fitting(worlds)
        found = {"first-one-only": self.change(fitting[0])}
        if others := self.others(worlds):
            found["all-of-them"] = Key.all_of(self.change(row) for row in (*fitting, *others))
        return found

    def rounds(self) -> Sequence[Self]:
        """What is looked for one after the other, where it takes more than one."""
        return (self,)

    def effort(self, worlds: Worlds) -> Effort:
        fitting = self.fitting(worlds)
        count = len(fitting) + len(self.others(worlds))
        steps = sum(8 + sum(map(len, one.filters())) for one in self.rounds())
        return Effort(count, pages_of(count, pages.ROWS_ON_A_PAGE), steps + len(fitting))

    def solve(self, page: Observation) -> Walk:
        for one in self.rounds():
            page = yield from one._finish((yield from one._open(page)))
        return done("mutate")

    def routes(self) -> Mapping[str, Route]:
        return {"by-keyword": self._by_keyword}

    def _by_keyword(self, page: Observation) -> Walk:
        for one in self.rounds():
            page = yield from click(page, "link", self.menu)
            page = yield from one._finish((yield from pages.search(page, one.words())))
        return done("mutate")

    def hasty(self) -> Mapping[str, Route]:
        return {"first-one-only": self._first_only}

    def _first_only(self, page: Observation) -> Walk:
        yield from self._finish((yield from self._open(page)), most=1)
        return done("mutate")

    def _open(self, page: Observation) -> Steps:
        page = yield from click(page, "link", self.menu)
        return (yield from pages.narrow(page, *self.filters()))

    def _finish(self, page: Observation, most: int = 10**6) -> Steps:
        page = yield from pages.lengthen(page)
        names = [line[self.first_column] for line in pages.lines(page) if self.wanted(line)]
        page = yield from pages.tick(page, *names[:most])
        return (yield from pages.act(page, self.action))


_WITH_PENDING = (
    "SELECT b.first_name || ' ' || b.last_name AS name FROM orders AS o JOIN order_addresses AS b"
    " ON b.order_id = o.id AND b.kind = 'billing' GROUP BY 1"
    " HAVING sum(o.status = 'pending') BETWEEN 2 AND 12 AND sum(o.status <> 'pending') >= 2"
    " AND count(*) <= 90 ORDER BY name"
)
"""Names on several orders that are pending, and on others."""


@dataclass(frozen=True)
class OrdersOf(BulkChore, abstract=True):
    """Acts on the pending orders of one buyer."""

    menu = "Orders"
    first_column = "ID"
    path = "/orders"
    now: ClassVar[str]

    user: str
    buyer: str

    def _of_buyer(self, worlds: Worlds) -> list[Row]:
        """Whose name contains it, as a filter finds them."""
        every = office.orders(worlds["admin"], "2000-01-01", "2100-01-01")
        return [one for one in every if one["bill_to"] == self.buyer]

    def fitting(self, worlds: Worlds) -> list[Row]:
        return [one for one in self._of_buyer(worlds) if one["status"] == "pending"]

    def others(self, worlds: Worlds) -> list[Row]:
        """Orders that are processed can be held, too."""
        return [one for one in self._of_buyer(worlds) if one["status"] == "processing" and self.now == "on hold"]

    def change(self, row: Row) -> Key:
        return Key.update("orders", where={"id": row["id"]}, status=self.now)

    def sight(self, row: Row) -> Sight:
        return office.row_of(row)

    def filters(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        return {"Bill-to Name": self.buyer}, {"Status": "Pending"}

    def wanted(self, line: pages.Line) -> bool:
        return line["Bill-to Name"] == self.buyer and line["Status"] == "Pending"

    def words(self) -> str:
        return self.buyer

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        found = office.some_row(worlds["admin"], stream, _WITH_PENDING)
        return cls(user=office.chief(stream), buyer=found["name"]) if found else None


@dataclass(frozen=True)
class CancelAllOf(OrdersOf):
    """Cancel all pending orders of one buyer."""

    name = "admin.cancel-pending-of"
    instruction = (
        "{buyer} called and does not want anything any more. Cancel all pending orders whose bill-to name is {buyer}."
    )
    action = "Cancel"
    now = "canceled"

    user: str
    buyer: str


@dataclass(frozen=True)
class HoldAllOf(OrdersOf):
    """Put all pending orders of one buyer on hold."""

    name = "admin.hold-pending-of"
    instruction = (
        "The payments of {buyer} have to be checked. Put every order on hold that is pending and has the bill-to name "
        "{buyer}; leave those alone that are being processed."
    )
    action = "Hold"
    now = "on hold"

    user: str
    buyer: str


@dataclass(frozen=True)
class InvoicesPaid(BulkChore):
    """Mark the open invoices of two buyers as paid."""

    name = "admin.invoices-paid"
    instruction = (
        "{first_buyer} and {second_buyer} have paid. Mark all open invoices whose bill-to name is {first_buyer} or "
        "{second_buyer} as paid."
    )
    menu = "Invoices"
    first_column = "Invoice"
    path = "/invoices"
    action = "Mark as Paid"

    user: str
    first_buyer: str
    second_buyer: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        # Few names are on several open invoices; in some worlds hardly any.
        names = office.rows(
            worlds["admin"],
            "SELECT b.first_name || ' ' || b.last_name AS name FROM invoices AS i JOIN order_addresses AS b"
            " ON b.order_id = i.order_id AND b.kind = 'billing' GROUP BY 1 HAVING sum(i.status = 'open') >= 1"
            " AND count(*) BETWEEN 3 AND 90 ORDER BY 1",
        )
        first, second = office.pick(stream, names), office.pick(stream, names)
        if first is None or second is None or first == second:
            return None
        return cls(office.chief(stream), first["name"], second["name"])

    def rounds(self) -> Sequence[Self]:
        return (self, replace(self, first_buyer=self.second_buyer, second_buyer=self.first_buyer))

    def _of_buyer(self, worlds: Worlds) -> list[Row]:
        return office.rows(
            worlds["admin"],
            "SELECT i.*, o.total_cents, o.number AS order_number, b.first_name || ' ' || b.last_name AS bill_to"
            " FROM invoices AS i JOIN orders AS o ON o.id = i.order_id"
            " JOIN order_addresses AS b ON b.order_id = o.id AND b.kind = 'billing'"
            " WHERE b.first_name || ' ' || b.last_name = ? AND i.status = 'open'"
            " ORDER BY i.created_at DESC, i.id DESC",
            self.first_buyer,
        )

    def fitting(self, worlds: Worlds) -> list[Row]:
        return [row for one in self.rounds() for row in one._of_buyer(worlds)]

    def others(self, worlds: Worlds) -> list[Row]:
        return []

    def change(self, row: Row) -> Key:
        return Key.update("invoices", where={"id": row["id"]}, status="paid")

    def sight(self, row: Row) -> Sight:
        return shown(row["number"], row["bill_to"], "Open")

    def filters(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        return {"Bill-to Name": self.first_buyer}, {"Status": "Open"}

    def wanted(self, line: pages.Line) -> bool:
        return line["Bill-to Name"] == self.first_buyer and line["Status"] == "Open"

    def words(self) -> str:
        return self.first_buyer

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        first = Key.all_of(self.change(row) for row in self._of_buyer(worlds))
        return {**super().shortcuts(worlds), "first-buyer-only": first}

    def hasty(self) -> Mapping[str, Route]:
        return {**super().hasty(), "first-buyer-only": self._first_buyer}

    def _first_buyer(self, page: Observation) -> Walk:
        yield from self._finish((yield from self._open(page)))
        return done("mutate")


class ProductsOf(BulkChore, abstract=True):
    """Acts on some products of a brand."""

    menu = "Products"
    first_column = "ID"
    path = "/products"

    user: str
    brand: str

    def _of_brand(self, worlds: Worlds) -> list[Row]:
        return office.rows(
            worlds["admin"], "SELECT * FROM products WHERE brand = ? AND name LIKE ? ORDER BY id",
            self.brand, f"%{self.brand}%",
        )  # fmt: skip

    def sight(self, row: Row) -> Sight:
        return shown(row["name"], row["sku"], str(row["stock"]))

    def words(self) -> str:
        return self.brand


@dataclass(frozen=True)
class DisableSoldOut(ProductsOf):
    """Disable the products of a brand that are sold out, or nearly so."""

    name = "admin.disable-scarce"
    instruction = (
        "The brand {brand} does not deliver any more. Disable every product whose name contains {brand} and of which "
        "{most} pieces or fewer are left."
    )
    action = "Disable"

    user: str
    brand: str
    most: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        found = office.pick(stream, office.brands(worlds["admin"], most=95))
        if found is None:
            return None
        drawn = cls(office.chief(stream), found["brand"], stream.choice((5, 10, 20)))
        named = office.rows(
            worlds["admin"], "SELECT count(*) AS n FROM products WHERE name LIKE ?", f"%{drawn.brand}%"
        )[0]["n"]
        if named != len(drawn._of_brand(worlds)):
            return None
        return drawn if 2 <= len(drawn.fitting(worlds)) <= 12 else None

    def fitting(self, worlds: Worlds) -> list[Row]:
        return [one for one in self._of_brand(worlds) if one["stock"] <= self.most]

    def others(self, worlds: Worlds) -> list[Row]:
        return [one for one in self._of_brand(worlds) if one["stock"] > self.most]

    def change(self, row: Row) -> Key:
        return Key.update("products", where={"id": row["id"]}, enabled=0)

    def filters(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        return {"Name": self.brand, "Quantity to": str(self.most)}, {}

    def wanted(self, line: pages.Line) -> bool:
        return int(line["Quantity"]) <= self.most


class BulkReviewChore(BulkChore, abstract=True):
    """Acts on reviews."""

    first_column = "ID"

    user: str

    def _reviews(self, worlds: Worlds, condition: str, *params: str) -> list[Row]:
        """In the order of the grid."""
        return office.rows(
            worlds["admin"],
            "SELECT v.*, p.name AS product, p.sku FROM reviews AS v JOIN products AS p ON p.id = v.product_id"
            f" WHERE {condition} ORDER BY v.created_at DESC, v.id DESC",
            *params,
        )

    def sight(self, row: Row) -> Sight:
        return shown(str(row["id"]), row["nickname"], row["sku"])


@dataclass(frozen=True)
class ApproveByWord(BulkReviewChore):
    """Approve the pending reviews that contain a word."""

    name = "admin.approve-reviews-with"
    instruction = (
        'Approve every pending review whose text (not only its title) contains the word "{word}", in whatever case, '
        "and no other."
    )
    menu = "Pending Reviews"
    path = "/reviews/pending"
    action = "Approve"

    user: str
    word: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        drawn = cls(office.chief(stream), stream.choice(_WORDS))
        fitting = drawn.fitting(worlds)
        inside = [one for one in drawn._pending(worlds) if drawn.word in one["text"].lower() and one not in fitting]
        return drawn if 2 <= len(fitting) <= 14 and not inside else None

    def _pending(self, worlds: Worlds) -> list[Row]:
        return self._reviews(worlds, "v.status = 'pending'")

    def fitting(self, worlds: Worlds) -> list[Row]:
        return [one for one in self._pending(worlds) if self.word in _words(one["text"])]

    def others(self, worlds: Worlds) -> list[Row]:
        return [one for one in self._pending(worlds) if self.word not in one["text"].lower()][:20]

    def change(self, row: Row) -> Key:
        return Key.update("reviews", where={"id": row["id"]}, status="approved")

    def filters(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        return {"Review": self.word}, {}

    def wanted(self, line: pages.Line) -> bool:
        return self.word in _words(line["Review"])

    def words(self) -> str:
        return self.word


_WORDS = ("good", "price", "quality", "small", "easy", "color", "size", "broke", "love", "gift", "box", "week", "every",
          "perfect", "cheap", "months", "house", "kitchen", "better", "friend", "smell", "heavy", "nice")  # fmt: skip


def _words(text: str) -> set[str]:
    return {word.strip(".,!?:;()\"'") for word in text.lower().split()}


@dataclass(frozen=True)
class RejectOfProductLine(BulkReviewChore):
    """Reject what guests wrote on some days about the products of one department."""

    name = "admin.reject-guest-reviews"
    instruction = (
        "From {first} to {last}, both days included, somebody wrote reviews of {department} as a guest that are not "
        "to be trusted. The SKUs of these products begin with {code}. Reject every review of such a product that was "
        "created on these days by a guest, whether it is approved or pending, and leave those of customers alone."
    )
    menu = "All Reviews"
    path = "/reviews"
    action = "Reject"

    user: str
    department: str
    code: str
    first: str
    last: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        departments = office.rows(
            worlds["admin"],
            "SELECT d.name, substr(p.sku, 1, 4) AS code FROM products AS p JOIN categories AS k"
            " ON k.id = p.category_id JOIN categories AS m ON m.id = k.parent_id JOIN categories AS d"
            " ON d.id = m.parent_id GROUP BY 1, 2 ORDER BY 1, 2",
        )
        found = stream.choice(departments)
        # In a small shop it takes longer until customers have written beside guests.
        span = office.days_in_a_row(stream, stream.choice((2, 3, 4, 5, 10, 20)))
        drawn = cls(office.chief(stream), found["name"], found["code"], *span)
        return drawn if 2 <= len(drawn.fitting(worlds)) <= 16 and drawn.others(worlds) else None

    def _of_days(self, worlds: Worlds) -> list[Row]:
        """Those that can be rejected; the others were before."""
        days = "v.status <> 'rejected' AND substr(v.created_at, 1, 10) BETWEEN ? AND ?"
        return self._reviews(worlds, days, self.first, self.last)

    def _of_line(self, worlds: Worlds) -> list[Row]:
        return [one for one in self._of_days(worlds) if one["sku"].startswith(self.code)]

    def fitting(self, worlds: Worlds) -> list[Row]:
        return [one for one in self._of_line(worlds) if one["customer_id"] is None]

    def others(self, worlds: Worlds) -> list[Row]:
        return [one for one in self._of_line(worlds) if one["customer_id"] is not None]

    def change(self, row: Row) -> Key:
        return Key.update("reviews", where={"id": row["id"]}, status="rejected")

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        guests = [one for one in self._of_days(worlds) if one["customer_id"] is None]
        found = {"every-department": Key.all_of(map(self.change, guests))}
        if pending := [one for one in self.fitting(worlds) if one["status"] == "pending"]:
            found["pending-only"] = Key.all_of(map(self.change, pending))
        return {**super().shortcuts(worlds), **found}

    def _days(self) -> dict[str, str]:
        return {"Created from": office.typed(self.first), "Created to": office.typed(self.last)}

    def filters(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        return {"SKU": self.code, **self._days()}, {"Type": "Guest"}

    def wanted(self, line: pages.Line) -> bool:
        fits = line["SKU"].startswith(self.code) and line["Type"] == "Guest"
        return fits and line["Status"] != "Not Approved"

    def words(self) -> str:
        return self.code

    def _by_keyword(self, page: Observation) -> Walk:
        page = yield from click(page, "link", self.menu)
        page = yield from pages.search(page, self.words())
        yield from self._finish((yield from pages.narrow(page, self._days())))
        return done("mutate")
