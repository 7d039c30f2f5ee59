"""Reading the orders: who bought, where it went, what it came to."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from webassay.arena.admin import office, pages
from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key, fact, money, shown
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.arena.kit.walking import Steps, answer, choose, click, every_page
from webassay.core.interaction import Observation, Walk
from webassay.core.record import Json
from webassay.core.task import Fact
from webassay.sites.kit import Row
from webassay.sites.rng import Stream

GRID = Key.checkpoint("orders", office.page("/orders"))
OTHER_STATUSES = tuple(label for status, label in office.STATUSES.items() if status != "canceled")


class MonthsOfOrders(Template, abstract=True):
    """Reads all orders of some months, which only their dates can narrow."""

    sites = ("admin",)
    kind = "retrieve"
    levels = ("hard", "extreme")

    user: str
    first: str
    last: str

    @abstractmethod
    def findings(self, orders: list[pages.Line]) -> Json:
        """The response, once all are read."""

    @staticmethod
    def some_months(stream: Stream, long: int = 10) -> tuple[str, str]:
        """The first and the last day."""
        count = stream.choice((1, 2, 3, long))
        start = f"{stream.between(2022, 2024)}-{stream.between(1, 12):02d}"
        months = office.months_from(start, count)
        return office.month_span(months[0])[0], office.month_span(months[-1])[1]

    def _orders(self, worlds: Worlds) -> list[Row]:
        return office.orders(worlds["admin"], self.first, self.last)

    def _read(self, worlds: Worlds) -> Key:
        """Canceled orders do not count, so that nobody has to look at them."""
        kept = [order for order in self._orders(worlds) if order["status"] != "canceled"]
        return office.seen(office.row_of(order) for order in office.spread(kept)) & GRID

    def effort(self, worlds: Worlds) -> Effort:
        count = len(self._orders(worlds))
        on_pages = pages_of(count, pages.ROWS_ON_A_PAGE)
        by_status = 6 + 4 * len(OTHER_STATUSES) + on_pages
        return Effort(count, on_pages, 8 + on_pages, longest=max(by_status, 8 + pages_of(count, 50)))

    def _narrowed(self, page: Observation) -> Steps:
        page = yield from click(page, "link", "Orders")
        days = {"Purchase Date from": office.typed(self.first), "Purchase Date to": office.typed(self.last)}
        return (yield from pages.narrow(page, days))

    def solve(self, page: Observation) -> Walk:
        page = yield from self._narrowed(page)
        return self.findings((yield from pages.all_lines(page)))

    def routes(self) -> Mapping[str, Route]:
        return {"oldest-first": self._oldest_first, "status-by-status": self._by_status}

    def _by_status(self, page: Observation) -> Walk:
        """All but the canceled ones."""
        page = yield from self._narrowed(page)
        found: list[pages.Line] = []
        for status in OTHER_STATUSES:
            page = yield from pages.narrow(page, {}, {"Status": status})
            page = yield from pages.lengthen(page)
            listed = yield from every_page(page)
            found += [line for one in listed for line in pages.lines(one)]
            page = listed[-1]
        return self.findings(found)

    def _oldest_first(self, page: Observation) -> Walk:
        page = yield from self._narrowed(page)
        page = yield from click(page, "link", "Purchase Date")
        if page.find("link", "Next") is not None:
            page = yield from choose(page, "Rows per page", "50")
        listed = yield from every_page(page)
        return self.findings([line for one in listed for line in pages.lines(one)])


@dataclass(frozen=True)
class SentElsewhere(MonthsOfOrders):
    """Count the orders that went to somebody else than who paid, and what they came to."""

    name = "admin.sent-elsewhere"
    chore = "calculation"
    instruction = (
        "Look at the orders that were placed from {first} to {last}, both days included. How many of them were not "
        "canceled and have a ship-to name that differs from the bill-to name, and what do the grand totals of these "
        'orders come to? Answer with one object with the keys "count" and "total".'
    )

    user: str
    first: str
    last: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        drawn = cls(office.chief(stream), *cls.some_months(stream))
        return drawn if len(drawn._fitting(drawn._orders(worlds))) >= 3 else None

    @staticmethod
    def _fitting(orders: list[Row], canceled: bool = False) -> list[Row]:
        return [one for one in orders if one["bill_to"] != one["ship_to"] and (canceled or one["status"] != "canceled")]

    @staticmethod
    def _said(orders: list[Row]) -> Key:
        return Key.answer({"count": len(orders), "total": money(sum(one["total_cents"] for one in orders))})

    def key(self, worlds: Worlds) -> Key:
        orders = self._orders(worlds)
        fitting = self._fitting(orders)
        those = office.seen(office.row_of(one) for one in office.spread(fitting))
        return self._said(fitting) & self._read(worlds) & those

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        orders = self._orders(worlds)
        found = {
            "canceled-counted": self._said(self._fitting(orders, canceled=True)),
            "names-ignored": self._said([one for one in orders if one["status"] != "canceled"]),
        }
        if len(orders) > pages.FEW_ROWS:
            found["first-page-only"] = self._said(self._fitting(orders[: pages.FEW_ROWS]))
        return found

    def findings(self, orders: list[pages.Line]) -> Json:
        fitting = [one for one in orders if one["Bill-to Name"] != one["Ship-to Name"] and one["Status"] != "Canceled"]
        total = sum(pages.cents(one["Grand Total"]) for one in fitting)
        return answer({"count": len(fitting), "total": pages.dollars(total)})


@dataclass(frozen=True)
class BusiestBuyers(MonthsOfOrders):
    """Find who paid for the most orders in some months."""

    name = "admin.busiest-buyers"
    chore = "massive_memory"
    instruction = (
        "Which bill-to name stands on the most orders that were placed from {first} to {last}, both days included, not "
        'counting canceled orders? Answer with one object with the keys "name" and "orders", the number of these '
        "orders."
    )
    reads = ("name",)

    user: str
    first: str
    last: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        drawn = cls(office.chief(stream), *cls.some_months(stream))
        best = drawn._ranked(drawn._orders(worlds))
        return drawn if len(best) >= 2 and best[0][1] > best[1][1] else None

    @staticmethod
    def _ranked(orders: list[Row], canceled: bool = False) -> list[tuple[str, int]]:
        return Counter(one["bill_to"] for one in orders if canceled or one["status"] != "canceled").most_common(2)

    @staticmethod
    def _said(name: str, count: int) -> Key:
        return Key.answer({"name": name, "orders": count})

    def key(self, worlds: Worlds) -> Key:
        return self._said(*self._ranked(self._orders(worlds))[0]) & self._read(worlds)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        orders = self._orders(worlds)
        found = {}
        right = self._ranked(orders)[0]
        if self._ranked(orders, canceled=True)[0] != right:
            found["canceled-counted"] = self._said(*self._ranked(orders, canceled=True)[0])
        if first := self._ranked(orders[: pages.FEW_ROWS]):
            found["first-page-only"] = self._said(*first[0])
        ship = Counter(one["ship_to"] for one in orders if one["status"] != "canceled").most_common(1)[0]
        if ship != right:
            found["ship-to-name"] = self._said(*ship)
        return found

    def findings(self, orders: list[pages.Line]) -> Json:
        ((name, count),) = Counter(one["Bill-to Name"] for one in orders if one["Status"] != "Canceled").most_common(1)
        return answer({"name": name, "orders": count})


@dataclass(frozen=True)
class HighestOfEachMonth(Template):
    """Name who placed the highest order of each month."""

    name = "admin.highest-of-each-month"
    kind = "retrieve"
    chore = "massive_memory"
    instruction = (
        "Who placed the order with the highest grand total in each month from {since} to {until}, among the orders "
        "with the status Complete? Answer with the bill-to names, one for each month, in the order of the months."
    )
    reads = ("*",)
    levels = ("hard",)

    user: str
    month: str
    count: int
    since: str
    until: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        count = stream.choice((3, 4, 6))
        month = f"{stream.between(2022, 2025)}-{stream.between(1, 7):02d}"
        months = office.months_from(month, count)
        drawn = cls(office.chief(stream), month, count, office.in_words(months[0]), office.in_words(months[-1]))
        for complete in drawn._complete(worlds):
            totals = sorted((one["total_cents"] for one in complete), reverse=True)
            if len(totals) < 2 or totals[0] == totals[1]:
                return None
        return drawn

    def _complete(self, worlds: Worlds, status: str = "complete") -> list[list[Row]]:
        spans = [office.month_span(month) for month in office.months_from(self.month, self.count)]
        return [
            [one for one in office.orders(worlds["admin"], *span) if status in ("", one["status"])] for span in spans
        ]

    @staticmethod
    def _highest(months: list[list[Row]]) -> list[Row]:
        return [max(orders, key=lambda one: int(one["total_cents"])) for orders in months]

    def key(self, worlds: Worlds) -> Key:
        best = self._highest(self._complete(worlds))
        names = Key.answer(*(one["bill_to"] for one in best), ordered=True)
        return names & office.seen(office.row_of(one) for one in best) & GRID

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        months = self._complete(worlds)
        best = self._highest(months)
        every = self._highest(self._complete(worlds, ""))
        newest = [max(orders, key=lambda one: str(one["created_at"])) for orders in months]
        found = {"newest-of-each": Key.answer(*(one["bill_to"] for one in newest), ordered=True)}
        if [one["bill_to"] for one in best] != [one["ship_to"] for one in best]:
            found["ship-to-name"] = Key.answer(*(one["ship_to"] for one in best), ordered=True)
        if [one["id"] for one in every] != [one["id"] for one in best]:
            found["status-ignored"] = Key.answer(*(one["bill_to"] for one in every), ordered=True)
        return found

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=sum(map(len, self._complete(worlds))), pages=self.count, steps=2 + 8 * self.count)

    def solve(self, page: Observation) -> Walk:
        names: list[Json] = []
        for month in office.months_from(self.month, self.count):
            first, last = office.month_span(month)
            page = yield from click(page, "link", "Orders")
            days = {"Purchase Date from": office.typed(first), "Purchase Date to": office.typed(last)}
            page = yield from pages.narrow(page, days, {"Status": "Complete"})
            page = yield from click(page, "link", "Grand Total")
            page = yield from click(page, "link", "Grand Total")
            names.append(pages.lines(page)[0]["Bill-to Name"])
        return answer(*names)

    def routes(self) -> Mapping[str, Route]:
        return {"all-months-at-once": self._at_once}

    def _at_once(self, page: Observation) -> Walk:
        months = office.months_from(self.month, self.count)
        page = yield from click(page, "link", "Orders")
        days = {
            "Purchase Date from": office.month_span(months[0])[0],
            "Purchase Date to": office.month_span(months[-1])[1],
        }
        page = yield from pages.narrow(page, days, {"Status": "Complete"})
        best: dict[str, tuple[int, str]] = {}
        for line in (yield from pages.all_lines(page)):
            month, now = _month_of(line), (pages.cents(line["Grand Total"]), line["Bill-to Name"])
            best[month] = max(best.get(month, (0, "")), now)
        return answer(*(best[_short(month)][1] for month in months))


def _month_of(line: pages.Line) -> str:
    """When a listed order was placed: `Feb 2025`."""
    month, _, year = line["Purchase Date"].split()[:3]
    return f"{month} {year}"


def _short(month: str) -> str:
    """2025-02 as the grid writes it."""
    return f"{office.MONTHS[int(month[5:]) - 1][:3]} {month[:4]}"


@dataclass(frozen=True)
class CouponDiscount(Template):
    """Add up what a coupon has taken off complete orders."""

    name = "admin.coupon-discount"
    kind = "retrieve"
    chore = "calculation"
    instruction = (
        "How much did the coupon code {code} take off the orders with the status Complete that were placed in {year}, "
        "all together? Answer with one amount."
    )
    levels = ("medium",)

    user: str
    code: str
    year: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        found = office.rows(
            worlds["admin"],
            "SELECT coupon_code AS code, substr(created_at, 1, 4) AS year FROM orders WHERE status = 'complete'"
            " AND discount_cents > 0 GROUP BY 1, 2 HAVING count(*) BETWEEN 4 AND 60 ORDER BY 1, 2",
        )
        chosen = office.pick(stream, found)
        return cls(office.chief(stream), chosen["code"], int(chosen["year"])) if chosen else None

    def _orders(self, worlds: Worlds, status: str = "complete") -> list[Row]:
        found = office.orders(worlds["admin"], f"{self.year}-01-01", f"{self.year}-12-31")
        return [one for one in found if one["coupon_code"] == self.code and status in ("", one["status"])]

    @staticmethod
    def _sum(orders: list[Row], column: str = "discount_cents") -> Key:
        return Key.answer(money(sum(one[column] for one in orders)))

    def key(self, worlds: Worlds) -> Key:
        orders = self._orders(worlds)
        return (
            self._sum(orders)
            & Key.seen_share(1.0, [self._known(one, orders) for one in orders])
            & Key.checkpoint("orders or report", office.page("/orders"), office.page("/reports/coupons"))
        )

    def _known(self, order: Row, orders: list[Row]) -> Fact:
        """The report adds up by year, month or day; the grid shows orders one by one, and so do their own pages."""
        lines = []
        for length in (4, 7, 10):
            period = order["created_at"][:length]
            inside = sum(one["discount_cents"] for one in orders if one["created_at"].startswith(period))
            lines.append(shown(period, self.code, office.amount(inside)))
        number, amount = order["number"], office.amount(order["discount_cents"])
        own_page = shown(f"Order # {number}", f"Discount ({self.code}) -{amount}", together="page")
        return fact(*lines, shown(number, amount), own_page)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        orders, every = self._orders(worlds), self._orders(worlds, "")
        found = {"grand-totals": self._sum(orders, "total_cents")}
        if len(every) != len(orders):
            found["status-ignored"] = self._sum(every)
        return found

    def effort(self, worlds: Worlds) -> Effort:
        count = len(self._orders(worlds))
        return Effort(rows=count, pages=pages_of(count, pages.ROWS_ON_A_PAGE), steps=14)

    def solve(self, page: Observation) -> Walk:
        return (yield from self._reported(page, "Year"))

    def _reported(self, page: Observation, period: str) -> Walk:
        page = yield from pages.report(page, "Coupons", self._days(), period, "Complete")
        lines = [line for one in (yield from every_page(page)) for line in pages.lines(one)]
        found = [pages.cents(one["Sales Discount"]) for one in lines if one["Coupon Code"] == self.code]
        return answer(pages.dollars(sum(found)))

    def _days(self) -> tuple[str, str]:
        return f"01/01/{self.year}", f"12/31/{self.year}"

    def routes(self) -> Mapping[str, Route]:
        return {
            "by-the-grid": self._by_grid,
            "month-by-month": lambda page: self._reported(page, "Month"),
            "day-by-day": lambda page: self._reported(page, "Day"),
        }

    def _by_grid(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Orders")
        first, last = self._days()
        typed = {"Coupon Code": self.code, "Purchase Date from": first, "Purchase Date to": last}
        page = yield from pages.narrow(page, typed, {"Status": "Complete"})
        page = yield from pages.show_columns(page, "Discount", "Coupon Code")
        found = yield from pages.all_lines(page)
        # A filter finds longer codes with the same beginning, too.
        return answer(
            pages.dollars(sum(pages.cents(one["Discount"]) for one in found if one["Coupon Code"] == self.code))
        )


@dataclass(frozen=True)
class CompleteByMonth(Template):
    """Count the orders with one status, month by month."""

    name = "admin.orders-by-month"
    kind = "retrieve"
    chore = "massive_memory"
    instruction = (
        "How many orders with the status {status} were placed in each month from {since} to {until}? Answer with the "
        "numbers, one for each month, in the order of the months."
    )
    levels = ("easy",)

    user: str
    status: str
    month: str
    count: int
    since: str
    until: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        count = stream.between(4, 8)
        months = office.months_from(f"{stream.between(2022, 2024)}-{stream.between(1, 12):02d}", count)
        status = stream.choice(("Complete", "Canceled"))
        drawn = cls(
            office.chief(stream), status, months[0], count, office.in_words(months[0]), office.in_words(months[-1])
        )
        counts = drawn._counts(worlds)
        return drawn if min(counts) >= 1 and len(set(counts)) > 2 else None

    def _counts(self, worlds: Worlds, every: bool = False) -> list[int]:
        return [len(orders) for orders in self._fitting(worlds, every)]

    def _fitting(self, worlds: Worlds, every: bool = False) -> list[list[Row]]:
        """Month by month."""
        spans = [office.month_span(month) for month in office.months_from(self.month, self.count)]
        return [
            [one for one in office.orders(worlds["admin"], *span) if every or one["status"] == self.status.lower()]
            for span in spans
        ]

    @staticmethod
    def _known(orders: list[Row]) -> Fact:
        """The report counts by month or day, the grid says how many rows it has, and rows can be counted."""
        days = Counter(one["created_at"][:10] for one in orders)
        return fact(
            shown(orders[0]["created_at"][:7], str(len(orders))),
            shown(office.counted(len(orders), "orders")),
            [shown(day, str(count)) for day, count in days.items()],
            [shown(one["number"], office.STATUSES[one["status"]]) for one in office.spread(orders)],
        )

    def key(self, worlds: Worlds) -> Key:
        return (
            Key.answer(*self._counts(worlds), ordered=True)
            & Key.seen_share(1.0, map(self._known, self._fitting(worlds)))
            & Key.checkpoint("orders or report", office.page("/orders"), office.page("/reports/orders"))
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        return {
            "status-ignored": Key.answer(*self._counts(worlds, every=True), ordered=True),
            "latest-first": Key.answer(*reversed(self._counts(worlds)), ordered=True),
        }

    def effort(self, worlds: Worlds) -> Effort:
        on_pages = pages_of(sum(self._counts(worlds)), pages.ROWS_ON_A_PAGE)
        return Effort(rows=self.count, pages=1, steps=9, longest=max(2 + 6 * self.count, 8 + on_pages))

    def _days(self) -> tuple[str, str]:
        months = office.months_from(self.month, self.count)
        return office.typed(office.month_span(months[0])[0]), office.typed(office.month_span(months[-1])[1])

    def solve(self, page: Observation) -> Walk:
        return (yield from self._reported(page, "Month"))

    def _reported(self, page: Observation, period: str) -> Walk:
        page = yield from pages.report(page, "Orders", self._days(), period, self.status)
        counts = Counter[str]()
        for line in pages.lines(page):
            counts[line["Interval"][:7]] += int(line["Orders"])
        return answer(*(counts[month] for month in office.months_from(self.month, self.count)))

    def routes(self) -> Mapping[str, Route]:
        return {
            "by-the-grid": self._by_grid,
            "counting-rows": self._counting_rows,
            "day-by-day": lambda page: self._reported(page, "Day"),
        }

    def _counting_rows(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Orders")
        first, last = self._days()
        days = {"Purchase Date from": first, "Purchase Date to": last}
        page = yield from pages.narrow(page, days, {"Status": self.status})
        counts = Counter(_month_of(line) for line in (yield from pages.all_lines(page)))
        return answer(*(counts[_short(month)] for month in office.months_from(self.month, self.count)))

    def _by_grid(self, page: Observation) -> Walk:
        counts: list[Json] = []
        for month in office.months_from(self.month, self.count):
            first, last = office.month_span(month)
            page = yield from click(page, "link", "Orders")
            days = {"Purchase Date from": office.typed(first), "Purchase Date to": office.typed(last)}
            page = yield from pages.narrow(page, days, {"Status": self.status})
            counts.append(pages.total(page))
        return answer(*counts)
