"""Long lists that no filter answers: papers, reviews, discounts, read to the end."""

import operator
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from operator import itemgetter
from typing import ClassVar, Self

from webassay.arena.admin import office, pages
from webassay.arena.kit.effort import Difficulty, Effort, pages_of
from webassay.arena.kit.key import Key, cell, fact, money
from webassay.arena.kit.template import Parts, Retrieve, clear, fair, top
from webassay.arena.kit.walking import answer, choose, every_page, links
from webassay.core.interaction import Observation, Walk
from webassay.core.record import Json
from webassay.core.task import Fact, Sight
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream


def day_of(shown_time: str) -> date:
    """`Feb 3, 2026 2:05 PM`, as grids write it."""
    month, day, year = shown_time.split()[:3]
    number = next(place for place, name in enumerate(office.MONTHS, 1) if name.startswith(month))
    return date(int(year), number, int(day.rstrip(",")))


class WholeList(Retrieve, abstract=True):
    """Reads everything that the filters of a grid leave."""

    levels: ClassVar[tuple[Difficulty, ...]] = ("hard", "extreme")
    ways = {"sorted-otherwise": {"sort": True}, "fewer-columns": {"fewer": True}}

    menu: ClassVar[str]
    path: ClassVar[str]
    column: ClassVar[str]
    """By which it can be sorted as well."""
    more_columns: ClassVar[tuple[str, ...]] = ()
    needed_columns: ClassVar[tuple[str, ...]]
    """All that the findings are made of."""
    steps: ClassVar[int] = 9
    """Beside one for every page."""

    user: str

    @abstractmethod
    def typed(self) -> Mapping[str, str]:
        """Filters that are typed."""

    def chosen(self) -> Mapping[str, str]:
        """Filters that are lists."""
        return {}

    @abstractmethod
    def findings(self, lines: list[pages.Line]) -> Json:
        """The response, once all are read."""

    def read(self, rows: list[Row], table: str, column: str = "", more: Iterable[Sight | Fact] = ()) -> Parts:
        """What one has seen who has read these rows, and what it takes. Without a column, the rows are enough: which
        of them belong together, a filter shows as well."""
        yield office.seen([*(cell(table, row["id"], column) for row in office.spread(rows)), *more])
        yield from self.grid(len(rows))

    def grid(self, count: int) -> Parts:
        """The checkpoint, and what it takes to read that many rows."""
        yield Key.checkpoint("the grid", office.page(self.path))
        on_pages = pages_of(count, pages.ROWS_ON_A_PAGE)
        longest = max(self.steps + 1 + pages_of(count, 50), self.steps + pages.TO_CHOOSE_COLUMNS + on_pages)
        yield Effort(count, on_pages, self.steps + on_pages, longest=longest)

    def solve(self, page: Observation, *, sort: bool = False, fewer: bool = False) -> Walk:
        page = yield from pages.filtered(page, self.menu, self.typed(), self.chosen())
        if fewer:
            page = yield from pages.only_columns(page, *self.needed_columns)
        elif self.more_columns:
            page = yield from pages.show_columns(page, *self.more_columns)
        if not sort:
            return self.findings((yield from pages.all_lines(page)))
        page = yield from links(page, self.column)
        if page.find("link", "Next") is not None:
            page = yield from choose(page, "Rows per page", "50")
        listed = yield from every_page(page)
        return self.findings([line for one in listed for line in pages.lines(one)])


class DatedList(WholeList, abstract=True):
    """Reads everything between two days; `column` has these."""

    first: str
    last: str

    def typed(self) -> Mapping[str, str]:
        return office.days(self.column, self.first, self.last)


class NextDayInvoices(DatedList):
    """Count the invoices that were not made on the day of the order, and what they come to."""

    name = "admin.next-day-invoices"
    chore = "calculation"
    instruction = (
        "Look at the invoices dated from {first} through {last}. How many of them have a later date than their "
        'order, and what is the sum of the grand totals of those? Answer with an object: "count" and "total".'
    )
    menu = "Invoices"
    path = "/invoices"
    column = "Invoice Date"
    needed_columns = ("Invoice Date", "Order Date", "Grand Total")
    misread = {
        "all-of-them": {"fits": lambda made, ordered: True},
        "first-page-only": {"limit": pages.FEW_ROWS},
        "same-day": {"fits": operator.le},
    }

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(office.chief(stream), *office.some_days(stream, 1, 2, 12))

    def end(self, world: World, *, fits: Callable[[str, str], bool] = operator.gt, limit: int | None = None) -> Parts:
        rows = office.invoices(world, self.first, self.last)
        late = [one for one in rows[:limit] if fits(one["created_at"][:10], one["ordered"][:10])]
        yield fair(len(late) >= 5)
        yield Key.answer({"count": len(late), "total": money(sum(one["total_cents"] for one in late))})
        yield from self.read(rows, "invoices", more=map(office.invoice_total, office.spread(late)))

    def findings(self, lines: list[pages.Line]) -> Json:
        late = [one for one in lines if day_of(one["Invoice Date"]) > day_of(one["Order Date"])]
        total = sum(pages.cents(one["Grand Total"]) for one in late)
        return answer({"count": len(late), "total": pages.dollars(total)})


class ShipmentList(DatedList, abstract=True):
    """Reads the shipments that one carrier took between two days."""

    menu = "Shipments"
    path = "/shipments"
    column = "Ship Date"
    needed_columns = ("Shipment", "Ship Date", "Order Date", "Total Quantity")

    carrier: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        carrier, months = stream.choice((("UPS", 24), ("UPS", 3), ("FedEx", 36), ("USPS", 36), ("USPS", 4)))
        return cls(office.chief(stream), *office.some_days(stream, months), carrier)

    def chosen(self) -> Mapping[str, str]:
        return {"Carrier": self.carrier}

    def shipments(self, world: World) -> list[Row]:
        """By all carriers where none is given."""
        sql = (
            "SELECT h.*, o.number AS order_number, o.created_at AS ordered, (SELECT sum(quantity) FROM order_items"
            " WHERE order_id = o.id) AS pieces FROM shipments AS h JOIN orders AS o ON o.id = h.order_id"
        )
        every = office.during(world, sql, "h", self.first, self.last)
        return [one for one in every if self.carrier in ("", one["carrier"])]

    def read_shipments(self, world: World, rows: list[Row], weighed: list[Row]) -> Parts:
        """And how many pieces are in some of them."""
        return self.read(rows, "shipments", more=[_pieces(world, one) for one in office.spread(weighed)])


def _pieces(world: World, shipment: Row) -> Fact:
    """In the grid, or article by article on the order's page."""
    items = office.rows(world, "SELECT id FROM order_items WHERE order_id = ? ORDER BY id", shipment["order_id"])
    each = [cell("order_items", item["id"], "quantity") for item in items]
    return fact(cell("shipments", shipment["id"], "=pieces"), each)


class PiecesOfCarrier(ShipmentList):
    """Add up the pieces that one carrier took, and the largest shipment."""

    name = "admin.pieces-of-carrier"
    chore = "calculation"
    instruction = (
        "How many items did we ship with {carrier} from {first} through {last}? Add up the Total Quantity of the "
        "shipments with a ship date on these days. Answer with the number."
    )
    misread = {
        "carrier-ignored": {"carrier": ""},
        "first-page-only": {"limit": pages.FEW_ROWS},
        "shipments-counted": {"pieces": False},
    }

    def end(self, world: World, *, limit: int | None = None, pieces: bool = True) -> Parts:
        rows = self.shipments(world)
        yield fair(len(rows) >= 60)
        yield Key.answer(sum(one["pieces"] if pieces else 1 for one in rows[:limit]), unit="pieces")
        yield from self.read_shipments(world, rows, rows)

    def findings(self, lines: list[pages.Line]) -> Json:
        return answer(sum(int(one["Total Quantity"]) for one in lines))


class SlowShipments(ShipmentList):
    """List the shipments of a carrier that left three days after the order."""

    name = "admin.slow-shipments"
    chore = "massive_memory"
    instruction = (
        "Look at the shipments with {carrier} that have a ship date from {first} through {last}. How many of them "
        "have a ship date three or more calendar days after the order date? Which of those has the highest total "
        'quantity? Answer with an object: "count" and "shipment" (the shipment number).'
    )
    reads = ("shipment",)
    misread = {
        "days-ignored": {"days": 0},
        "carrier-ignored": {"carrier": ""},
        "first-page-only": {"limit": pages.FEW_ROWS},
    }

    def end(self, world: World, *, days: int = 3, limit: int | None = None) -> Parts:
        rows = self.shipments(world)
        slow = [one for one in rows[:limit] if _days_between(one["ordered"], one["created_at"]) >= days]
        largest_first = sorted(slow, key=itemgetter("pieces"), reverse=True)
        yield fair(len(rows) >= 60, len(slow) >= 3, clear(largest_first, itemgetter("pieces")))
        yield Key.answer({"count": len(slow), "shipment": top(largest_first)["number"]})
        yield from self.read_shipments(world, rows, slow)

    def findings(self, lines: list[pages.Line]) -> Json:
        slow = [one for one in lines if (day_of(one["Ship Date"]) - day_of(one["Order Date"])).days >= 3]
        most = max(slow, key=lambda one: int(one["Total Quantity"]))
        return answer({"count": len(slow), "shipment": most["Shipment"]})


def _days_between(earlier: str, later: str) -> int:
    return (date.fromisoformat(later[:10]) - date.fromisoformat(earlier[:10])).days


class BusiestReviewer(DatedList):
    """Find the nickname that stands under the most reviews of some weeks."""

    name = "admin.busiest-reviewer"
    chore = "massive_memory"
    instruction = (
        "Which nickname wrote the most reviews from {first} through {last}? Count reviews with any status. Answer "
        'with an object: "nickname" and "reviews" (how many).'
    )
    reads = ("nickname",)
    menu = "All Reviews"
    path = "/reviews"
    column = "Created"
    needed_columns = ("Nickname",)
    misread = {"first-page-only": {"limit": pages.FEW_ROWS}, "second": {"place": 1}}

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        first, last = office.some_days(stream, 1, 2, since=2023)
        if stream.chance(1, 2):
            last = f"{first[:8]}{stream.between(5, 9):02d}"
        return cls(office.chief(stream), first, last)

    def end(self, world: World, *, limit: int | None = None, place: int = 0) -> Parts:
        rows = office.reviews_between(world, self.first, self.last)
        ranked = Counter(one["nickname"] for one in rows[:limit]).most_common(2)
        yield fair(len(rows) >= 60, clear(ranked, itemgetter(1)))
        nickname, count = ranked[place]
        yield Key.answer({"nickname": nickname, "reviews": count})
        yield from self.read(rows, "reviews")

    def findings(self, lines: list[pages.Line]) -> Json:
        ((name, count),) = Counter(one["Nickname"] for one in lines).most_common(1)
        return answer({"nickname": name, "reviews": count})


class SteepDiscounts(DatedList):
    """Count the orders on which a discount took off a large share."""

    name = "admin.steep-discounts"
    chore = "calculation"
    instruction = (
        "Look at all orders placed from {first} through {last}, with any status. How many of them have a discount of "
        "more than {percent} percent of the subtotal, and what is the sum of those discounts? Answer with an object: "
        '"count" and "discounts".'
    )
    menu = "Orders"
    path = "/orders"
    column = "Purchase Date"
    needed_columns = ("Subtotal", "Discount")
    more_columns = ("Subtotal", "Discount")
    steps = 14
    misread = {"all-discounts": {"percent": 0}, "first-page-only": {"limit": pages.FEW_ROWS}}

    percent: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        days = office.some_days(stream, 3, 6, 48)
        return cls(office.chief(stream), *days, stream.choice((9, 11, 14, 18)))

    def typed(self) -> Mapping[str, str]:
        return {**super().typed(), "Discount from": "0.01"}

    def end(self, world: World, *, limit: int | None = None) -> Parts:
        rows = [one for one in office.orders(world, self.first, self.last) if one["discount_cents"]]
        over = [one["discount_cents"] * 100 - self.percent * one["subtotal_cents"] for one in rows]
        steep = [row["discount_cents"] for row, more in zip(rows[:limit], over, strict=False) if more > 0]
        yield fair(len(rows) >= 60, len(steep) >= 4, 0 not in over)
        yield Key.answer({"count": len(steep), "discounts": money(sum(steep))})
        subtotals = (cell("orders", row["id"], "subtotal_cents") for row in office.spread(rows))
        yield from self.read(rows, "orders", "discount_cents", more=subtotals)

    def findings(self, lines: list[pages.Line]) -> Json:
        pairs = [(pages.cents(one["Discount"]), pages.cents(one["Subtotal"])) for one in lines]
        steep = [off for off, subtotal in pairs if off * 100 > self.percent * subtotal]
        return answer({"count": len(steep), "discounts": pages.dollars(sum(steep))})
