"""Long lists that no filter answers: papers, reviews, discounts, read to the end."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import ClassVar, Self

from webassay.arena.admin import office, pages
from webassay.arena.kit.effort import Difficulty, Effort, pages_of
from webassay.arena.kit.key import Key, money
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.arena.kit.walking import Steps, answer, choose, click, every_page
from webassay.core.interaction import Observation, Walk
from webassay.core.record import Json
from webassay.core.task import Fact, Sight
from webassay.sites.kit import Row
from webassay.sites.rng import Stream


def day_of(shown_time: str) -> date:
    """`Feb 3, 2026 2:05 PM`, as grids write it."""
    month, day, year = shown_time.split()[:3]
    number = next(place for place, name in enumerate(office.MONTHS, 1) if name.startswith(month))
    return date(int(year), number, int(day.rstrip(",")))


class LongList(Template, abstract=True):
    """Reads everything that the filters of a grid leave."""

    sites = ("admin",)
    kind = "retrieve"
    levels: ClassVar[tuple[Difficulty, ...]] = ("hard", "extreme")

    menu: ClassVar[str]
    path: ClassVar[str]
    column: ClassVar[str]
    """By which it can be sorted as well."""
    more_columns: ClassVar[tuple[str, ...]] = ()

    user: str

    @abstractmethod
    def typed(self) -> Mapping[str, str]:
        """Filters that are typed."""

    def chosen(self) -> Mapping[str, str]:
        """Filters that are lists."""
        return {}

    @abstractmethod
    def rows(self, worlds: Worlds) -> list[Row]:
        """What has to be read, the newest first."""

    @abstractmethod
    def sight(self, row: Row) -> Sight | Fact: ...

    @abstractmethod
    def findings(self, lines: list[pages.Line]) -> Json:
        """The response, once all are read."""

    def read(self, worlds: Worlds) -> Key:
        found = office.seen(self.sight(row) for row in office.spread(self.rows(worlds)))
        return found & Key.checkpoint("the grid", office.page(self.path))

    def effort(self, worlds: Worlds) -> Effort:
        count = len(self.rows(worlds))
        on_pages = pages_of(count, pages.ROWS_ON_A_PAGE)
        more = 9 + len(self.chosen()) + 2 * len(self.more_columns)
        return Effort(count, on_pages, more + on_pages, longest=more + 1 + pages_of(count, 50))

    def _narrowed(self, page: Observation) -> Steps:
        page = yield from click(page, "link", self.menu)
        page = yield from pages.narrow(page, self.typed(), self.chosen())
        return (yield from pages.show_columns(page, *self.more_columns)) if self.more_columns else page

    def solve(self, page: Observation) -> Walk:
        page = yield from self._narrowed(page)
        return self.findings((yield from pages.all_lines(page)))

    def routes(self) -> Mapping[str, Route]:
        return {"sorted-otherwise": self._sorted}

    def _sorted(self, page: Observation) -> Walk:
        page = yield from self._narrowed(page)
        page = yield from click(page, "link", self.column)
        if page.find("link", "Next") is not None:
            page = yield from choose(page, "Rows per page", "50")
        listed = yield from every_page(page)
        return self.findings([line for one in listed for line in pages.lines(one)])


class BetweenDays(LongList, abstract=True):
    """Reads everything between two days; `column` has these."""

    user: str
    first: str
    last: str

    def typed(self) -> Mapping[str, str]:
        return {f"{self.column} from": office.typed(self.first), f"{self.column} to": office.typed(self.last)}


@dataclass(frozen=True)
class NextDayInvoices(BetweenDays):
    """Count the invoices that were not made on the day of the order, and what they come to."""

    name = "admin.next-day-invoices"
    chore = "calculation"
    instruction = (
        "Look at the invoices with an invoice date from {first} to {last}, both days included. How many of them were "
        "made on a later day than that of the order, and what do the grand totals of these come to? Answer with one "
        'object with the keys "count" and "total".'
    )
    menu = "Invoices"
    path = "/invoices"
    column = "Invoice Date"

    user: str
    first: str
    last: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        drawn = cls(office.chief(stream), *office.some_days(stream, 1, 2, 12))
        return drawn if len(drawn._late(drawn.rows(worlds))) >= 5 else None

    def rows(self, worlds: Worlds) -> list[Row]:
        return office.rows(
            worlds["admin"],
            "SELECT i.number, i.created_at, o.number AS order_number, o.created_at AS ordered, o.total_cents"
            " FROM invoices AS i JOIN orders AS o ON o.id = i.order_id WHERE substr(i.created_at, 1, 10)"
            " BETWEEN ? AND ? ORDER BY i.created_at DESC, i.id DESC",
            self.first, self.last,
        )  # fmt: skip

    def sight(self, row: Row) -> Fact:
        return office.row_by((row["number"], row["order_number"]), office.amount(row["total_cents"]))

    @staticmethod
    def _late(rows: list[Row]) -> list[Row]:
        return [one for one in rows if one["created_at"][:10] > one["ordered"][:10]]

    @staticmethod
    def _said(rows: list[Row]) -> Key:
        return Key.answer({"count": len(rows), "total": money(sum(one["total_cents"] for one in rows))})

    def key(self, worlds: Worlds) -> Key:
        return self._said(self._late(self.rows(worlds))) & self.read(worlds)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        rows = self.rows(worlds)
        return {
            "all-of-them": self._said(rows),
            "first-page-only": self._said(self._late(rows[: pages.FEW_ROWS])),
            "same-day": self._said([one for one in rows if one not in self._late(rows)]),
        }

    def findings(self, lines: list[pages.Line]) -> Json:
        late = [one for one in lines if day_of(one["Invoice Date"]) > day_of(one["Order Date"])]
        total = sum(pages.cents(one["Grand Total"]) for one in late)
        return answer({"count": len(late), "total": pages.dollars(total)})


class Shipped(BetweenDays, abstract=True):
    menu = "Shipments"
    path = "/shipments"
    column = "Ship Date"

    user: str
    first: str
    last: str
    carrier: str

    @staticmethod
    def some_shipments(stream: Stream) -> tuple[str, str, str, str]:
        """All fields: who looks, the days, and the carrier."""
        carrier, months = stream.choice((("UPS", 24), ("UPS", 3), ("FedEx", 36), ("USPS", 36), ("USPS", 4)))
        return office.chief(stream), *office.some_days(stream, months), carrier

    def rows(self, worlds: Worlds) -> list[Row]:
        """Those of all carriers, since a filter finds them at once."""
        return [one for one in self.every(worlds) if one["carrier"] == self.carrier]

    def every(self, worlds: Worlds) -> list[Row]:
        return office.rows(
            worlds["admin"],
            "SELECT h.*, o.number AS order_number, o.created_at AS ordered, (SELECT sum(quantity) FROM order_items"
            " WHERE order_id = o.id) AS pieces FROM shipments AS h JOIN orders AS o ON o.id = h.order_id"
            " WHERE substr(h.created_at, 1, 10) BETWEEN ? AND ? ORDER BY h.created_at DESC, h.id DESC",
            self.first, self.last,
        )  # fmt: skip

    def sight(self, row: Row) -> Fact:
        return office.row_by((row["number"], row["order_number"], row["tracking"]), str(row["pieces"]))

    def _narrowed(self, page: Observation) -> Steps:
        page = yield from click(page, "link", self.menu)
        return (yield from pages.narrow(page, self.typed(), {"Carrier": self.carrier}))


@dataclass(frozen=True)
class PiecesOfCarrier(Shipped):
    """Add up the pieces that one carrier took, and the largest shipment."""

    name = "admin.pieces-of-carrier"
    chore = "calculation"
    instruction = (
        "How many pieces did we ship with {carrier} from {first} to {last}, both days included, all together? Answer "
        "with one number."
    )

    user: str
    first: str
    last: str
    carrier: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        drawn = cls(*cls.some_shipments(stream))
        return drawn if len(drawn.rows(worlds)) >= 60 else None

    @staticmethod
    def _said(rows: list[Row]) -> Key:
        return Key.answer(sum(one["pieces"] for one in rows), unit="pieces")

    def key(self, worlds: Worlds) -> Key:
        return self._said(self.rows(worlds)) & self.read(worlds)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        rows = self.rows(worlds)
        return {
            "carrier-ignored": self._said(self.every(worlds)),
            "first-page-only": self._said(rows[: pages.FEW_ROWS]),
            "shipments-counted": Key.answer(len(rows), unit="pieces"),
        }

    def findings(self, lines: list[pages.Line]) -> Json:
        return answer(sum(int(one["Total Quantity"]) for one in lines))


@dataclass(frozen=True)
class SlowShipments(Shipped):
    """List the shipments of a carrier that left three days after the order."""

    name = "admin.slow-shipments"
    chore = "massive_memory"
    instruction = (
        "How many shipments with {carrier} have a ship date from {first} to {last}, both days included, that is three "
        "or more days after the day of the order, and which of these has the most pieces? Answer with one object with "
        'the keys "count" and "shipment", its number.'
    )
    reads = ("shipment",)

    user: str
    first: str
    last: str
    carrier: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        drawn = cls(*cls.some_shipments(stream))
        slow = drawn._slow(drawn.rows(worlds))
        pieces = sorted((one["pieces"] for one in slow), reverse=True)
        return drawn if len(drawn.rows(worlds)) >= 60 and len(pieces) >= 3 and pieces[0] > pieces[1] else None

    @staticmethod
    def _slow(rows: list[Row]) -> list[Row]:
        def days(row: Row) -> int:
            return (date.fromisoformat(row["created_at"][:10]) - date.fromisoformat(row["ordered"][:10])).days

        return [one for one in rows if days(one) >= 3]

    @staticmethod
    def _said(rows: list[Row]) -> Key:
        most = max(rows, key=lambda one: int(one["pieces"]))
        return Key.answer({"count": len(rows), "shipment": most["number"]})

    def key(self, worlds: Worlds) -> Key:
        return self._said(self._slow(self.rows(worlds))) & self.read(worlds)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        rows = self.rows(worlds)
        found = {"days-ignored": self._said(rows), "carrier-ignored": self._said(self._slow(self.every(worlds)))}
        if first := self._slow(rows[: pages.FEW_ROWS]):
            found["first-page-only"] = self._said(first)
        return found

    def findings(self, lines: list[pages.Line]) -> Json:
        slow = [one for one in lines if (day_of(one["Ship Date"]) - day_of(one["Order Date"])).days >= 3]
        most = max(slow, key=lambda one: int(one["Total Quantity"]))
        return answer({"count": len(slow), "shipment": most["Shipment"]})


@dataclass(frozen=True)
class BusiestReviewer(BetweenDays):
    """Find the nickname that stands under the most reviews of some weeks."""

    name = "admin.busiest-reviewer"
    chore = "massive_memory"
    instruction = (
        "Which nickname stands under the most reviews that were created from {first} to {last}, both days included, "
        'whatever became of them? Answer with one object with the keys "nickname" and "reviews", their number.'
    )
    reads = ("nickname",)
    menu = "All Reviews"
    path = "/reviews"
    column = "Created"

    user: str
    first: str
    last: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        first, last = office.some_days(stream, 1, 2, since=2023)
        if stream.chance(1, 2):
            last = f"{first[:8]}{stream.between(5, 9):02d}"
        drawn = cls(office.chief(stream), first, last)
        best = drawn._ranked(drawn.rows(worlds))
        return drawn if len(best) == 2 and best[0][1] > best[1][1] and len(drawn.rows(worlds)) >= 60 else None

    def rows(self, worlds: Worlds) -> list[Row]:
        return office.rows(
            worlds["admin"],
            "SELECT v.id, v.nickname, v.title, p.sku FROM reviews AS v JOIN products AS p ON p.id = v.product_id"
            " WHERE substr(v.created_at, 1, 10) BETWEEN ? AND ? ORDER BY v.created_at DESC, v.id DESC",
            self.first, self.last,
        )  # fmt: skip

    def sight(self, row: Row) -> Fact:
        return office.row_by((str(row["id"]), row["sku"], row["title"]), row["nickname"])

    @staticmethod
    def _ranked(rows: list[Row]) -> list[tuple[str, int]]:
        return Counter(one["nickname"] for one in rows).most_common(2)

    @staticmethod
    def _said(name: str, count: int) -> Key:
        return Key.answer({"nickname": name, "reviews": count})

    def key(self, worlds: Worlds) -> Key:
        return self._said(*self._ranked(self.rows(worlds))[0]) & self.read(worlds)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        rows = self.rows(worlds)
        return {
            "first-page-only": self._said(*self._ranked(rows[: pages.FEW_ROWS])[0]),
            "second": self._said(*self._ranked(rows)[1]),
        }

    def findings(self, lines: list[pages.Line]) -> Json:
        ((name, count),) = Counter(one["Nickname"] for one in lines).most_common(1)
        return answer({"nickname": name, "reviews": count})


@dataclass(frozen=True)
class SteepDiscounts(BetweenDays):
    """Count the orders on which a discount took off a large share."""

    name = "admin.steep-discounts"
    chore = "calculation"
    instruction = (
        "On how many orders that were placed from {first} to {last}, both days included, did the discount take off "
        "more than {percent} percent of the subtotal, whatever became of the order? Answer with one object with the "
        'keys "count" and "discounts", what these discounts come to.'
    )
    menu = "Orders"
    path = "/orders"
    column = "Purchase Date"
    more_columns = ("Subtotal", "Discount")

    user: str
    first: str
    last: str
    percent: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        days = office.some_days(stream, 3, 6, 48)
        drawn = cls(office.chief(stream), *days, stream.choice((9, 11, 14, 18)))
        rows = drawn.rows(worlds)
        close = any(one["discount_cents"] * 100 == drawn.percent * one["subtotal_cents"] for one in rows)
        return drawn if len(rows) >= 60 and len(drawn._steep(rows)) >= 4 and not close else None

    def typed(self) -> Mapping[str, str]:
        return {**super().typed(), "Discount from": "0.01"}

    def effort(self, worlds: Worlds) -> Effort:
        known = super().effort(worlds)
        return Effort(known.rows, known.pages, known.steps + 1, longest=known.longest + 1)

    def rows(self, worlds: Worlds) -> list[Row]:
        found = office.orders(worlds["admin"], self.first, self.last)
        return [one for one in found if one["discount_cents"]]

    def sight(self, row: Row) -> Fact:
        amounts = (office.amount(row["subtotal_cents"]), office.amount(row["discount_cents"]))
        return office.row_by((row["number"], row["bill_to"]), *amounts)

    def _steep(self, rows: list[Row]) -> list[Row]:
        return [one for one in rows if one["discount_cents"] * 100 > self.percent * one["subtotal_cents"]]

    @staticmethod
    def _said(rows: list[Row]) -> Key:
        return Key.answer({"count": len(rows), "discounts": money(sum(one["discount_cents"] for one in rows))})

    def key(self, worlds: Worlds) -> Key:
        return self._said(self._steep(self.rows(worlds))) & self.read(worlds)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        rows = self.rows(worlds)
        return {
            "all-discounts": self._said(rows),
            "first-page-only": self._said(self._steep(rows[: pages.FEW_ROWS])),
        }

    def findings(self, lines: list[pages.Line]) -> Json:
        pairs = [(pages.cents(one["Discount"]), pages.cents(one["Subtotal"])) for one in lines]
        steep = [off for off, subtotal in pairs if off * 100 > self.percent * subtotal]
        return answer({"count": len(steep), "discounts": pages.dollars(sum(steep))})
