"""Reading the orders: who bought, where it went, what it came to."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from operator import itemgetter
from typing import Self

from webassay.arena.admin import office, pages
from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key, cell, counted, fact, money, shown
from webassay.arena.kit.template import Parts, Retrieve, clear, fair, first_page, top
from webassay.arena.kit.walking import answer, every_page, links
from webassay.core.interaction import Observation, Walk
from webassay.core.record import Json
from webassay.core.task import Fact, Sight
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream

GRID = Key.checkpoint("orders", office.page("/orders"))
OTHER_STATUSES = tuple(label for status, label in office.STATUSES.items() if status != "canceled")


def _that_count(orders: Sequence[Row], canceled: bool = False) -> list[Row]:
    """Canceled orders do not, unless somebody overlooks them."""
    return [one for one in orders if canceled or one["status"] != "canceled"]


class MonthsOfOrders(Retrieve, abstract=True):
    """Reads all orders of some months, which only their dates can narrow."""

    levels = ("hard", "extreme")
    ways = {
        "oldest-first": {"oldest": True},
        "status-by-status": {"statuses": OTHER_STATUSES},
        "fewer-columns": {"fewer": True},
    }

    user: str
    first: str
    last: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        user, count = office.chief(stream), stream.choice((1, 2, 3, 10))
        months = office.months_from(f"{stream.between(2022, 2024)}-{stream.between(1, 12):02d}", count)
        return cls(user, *office.span_of(months))

    @abstractmethod
    def conclusion(self, orders: list[pages.Line]) -> Json:
        """The response, once all are read; without canceled ones."""

    def reading(self, orders: list[Row], *more: Sight) -> Parts:
        """Canceled orders do not count, so that nobody has to look at them."""
        yield office.seen([*office.listed("orders", office.spread(_that_count(orders))), *more]) & GRID
        on_pages = pages_of(len(orders), pages.ROWS_ON_A_PAGE)
        by_status = 6 + 4 * len(OTHER_STATUSES) + on_pages
        longest = max(by_status, 8 + pages_of(len(orders), 50), 8 + pages.TO_CHOOSE_COLUMNS + on_pages)
        yield Effort(len(orders), on_pages, 8 + on_pages, longest=longest)

    def solve(
        self, page: Observation, *, oldest: bool = False, statuses: tuple[str, ...] = ("",), fewer: bool = False
    ) -> Walk:
        page = yield from pages.orders_of(page, self.first, self.last)
        if fewer:
            page = yield from pages.only_columns(page, "Bill-to Name", "Ship-to Name", "Grand Total", "Status")
        if oldest:
            page = yield from links(page, "Purchase Date")
        lines: list[pages.Line] = []
        for status in statuses:
            if status:
                page = yield from pages.narrow(page, {}, {"Status": status})
            page = yield from pages.lengthen(page, 50 if oldest else pages.ROWS_ON_A_PAGE)
            listed = yield from every_page(page)
            lines += [line for one in listed for line in pages.lines(one)]
            page = listed[-1]
        return self.conclusion([line for line in lines if line["Status"] != "Canceled"])


class SentElsewhere(MonthsOfOrders):
    """Count the orders that went to somebody else than who paid, and what they came to."""

    name = "admin.sent-elsewhere"
    chore = "calculation"
    instruction = (
        "Look at the orders placed from {first} through {last}, without the canceled ones. How many have a ship-to "
        "name that differs from the bill-to name, and what is the sum of their grand totals? Answer with an object: "
        '"count" and "total".'
    )
    misread = {
        "canceled-counted": {"canceled": True},
        "names-ignored": {"names": False},
        "first-page-only": {"size": pages.FEW_ROWS},
    }

    def end(self, world: World, *, canceled: bool = False, names: bool = True, size: int = 0) -> Parts:
        orders = office.orders(world, self.first, self.last)
        counting = _that_count(first_page(orders, size), canceled)
        elsewhere = [one for one in counting if not names or one["bill_to"] != one["ship_to"]]
        yield fair(len(elsewhere) >= 3)
        yield Key.answer({"count": len(elsewhere), "total": money(sum(one["total_cents"] for one in elsewhere))})
        yield from self.reading(orders, *map(office.order_total, office.spread(elsewhere)))

    def conclusion(self, orders: list[pages.Line]) -> Json:
        elsewhere = [one for one in orders if one["Bill-to Name"] != one["Ship-to Name"]]
        total = sum(pages.cents(one["Grand Total"]) for one in elsewhere)
        return answer({"count": len(elsewhere), "total": pages.dollars(total)})


class BusiestBuyers(MonthsOfOrders):
    """Find who paid for the most orders in some months."""

    name = "admin.busiest-buyers"
    chore = "massive_memory"
    instruction = (
        "Which bill-to name has the most orders placed from {first} through {last}? Do not count canceled orders. "
        'Answer with an object: "name" and "orders" (how many).'
    )
    reads = ("name",)
    misread = {
        "canceled-counted": {"canceled": True},
        "first-page-only": {"size": pages.FEW_ROWS},
        "ship-to-name": {"column": "ship_to"},
    }
    may_agree = ("canceled-counted", "ship-to-name")

    def end(self, world: World, *, canceled: bool = False, size: int | None = None, column: str = "bill_to") -> Parts:
        orders = office.orders(world, self.first, self.last)
        ranked = Counter(one[column] for one in _that_count(orders[:size], canceled)).most_common(2)
        yield fair(clear(ranked, itemgetter(1)))
        buyer, count = top(ranked)
        yield Key.answer({"name": buyer, "orders": count})
        yield from self.reading(orders)

    def conclusion(self, orders: list[pages.Line]) -> Json:
        ((buyer, count),) = Counter(one["Bill-to Name"] for one in orders).most_common(1)
        return answer({"name": buyer, "orders": count})


def _month_of(line: pages.Line) -> str:
    """When a listed order was placed: `Feb 3, 2025` is 2025-02."""
    name, _, year = line["Purchase Date"].split()[:3]
    month = next(number for number, month in enumerate(office.MONTHS, 1) if month.startswith(name))
    return f"{year}-{month:02d}"


class HighestOfEachMonth(Retrieve):
    """Name who placed the highest order of each month."""

    name = "admin.highest-of-each-month"
    chore = "massive_memory"
    instruction = (
        "For each month from {since} through {until}, find the Complete order with the highest grand total. Answer "
        "with a list of the bill-to names of these orders, one for each month, earliest month first."
    )
    reads = ("*",)
    levels = ("hard",)
    misread = {
        "newest-of-each": {"by": "created_at"},
        "ship-to-name": {"column": "ship_to"},
        "status-ignored": {"status": ""},
    }
    may_agree = ("ship-to-name", "status-ignored")
    ways = {"all-months-at-once": {"at_once": True}, "names-alone": {"names_alone": True}}

    user: str
    month: str
    count: int
    since: str
    until: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        count = stream.choice((3, 4, 6))
        month = f"{stream.between(2022, 2025)}-{stream.between(1, 7):02d}"
        months = office.months_from(month, count)
        return cls(office.chief(stream), month, count, office.in_words(months[0]), office.in_words(months[-1]))

    def end(self, world: World, *, status: str = "complete", by: str = "total_cents", column: str = "bill_to") -> Parts:
        spans = [office.month_span(month) for month in office.months_from(self.month, self.count)]
        placed = [office.orders(world, *span) for span in spans]
        months = [[one for one in orders if status in ("", one["status"])] for orders in placed]
        ranked = [sorted(orders, key=itemgetter(by), reverse=True) for orders in months]
        yield fair(all(clear(orders, itemgetter(by)) for orders in ranked))
        highest = [top(orders) for orders in ranked]
        yield Key.answer(*(one[column] for one in highest), ordered=True)
        yield office.seen(office.listed("orders", highest)) & GRID
        steps = 2 + 8 * self.count
        yield Effort(sum(map(len, months)), self.count, steps, longest=steps + self.count * pages.TO_CHOOSE_COLUMNS)

    def solve(self, page: Observation, *, at_once: bool = False, names_alone: bool = False) -> Walk:
        months = office.months_from(self.month, self.count)
        buyers: list[Json] = []
        if at_once:
            page = yield from pages.orders_of(page, *office.span_of(months), "Complete")
            lines = yield from pages.all_lines(page)
            for month in months:
                inside = [line for line in lines if _month_of(line) == month]
                buyers.append(max(inside, key=lambda line: pages.cents(line["Grand Total"]))["Bill-to Name"])
            return answer(*buyers)
        for month in months:
            page = yield from pages.orders_of(page, *office.month_span(month), "Complete")
            page = yield from links(page, "Grand Total", "Grand Total")
            if names_alone:
                page = yield from pages.only_columns(page, "Bill-to Name")
            buyers.append(pages.lines(page)[0]["Bill-to Name"])
        return answer(*buyers)


class CouponDiscount(Retrieve):
    """Add up what a coupon has taken off complete orders."""

    name = "admin.coupon-discount"
    chore = "calculation"
    instruction = (
        "How much did the coupon code {code} take off the Complete orders placed in {year}, in total? Answer with "
        "the amount."
    )
    levels = ("medium",)
    misread = {"grand-totals": {"column": "total_cents"}, "status-ignored": {"status": ""}}
    may_agree = ("status-ignored",)
    ways = {"by-the-grid": {"period": ""}, "month-by-month": {"period": "Month"}, "day-by-day": {"period": "Day"}}

    user: str
    code: str
    year: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        sql = (
            "SELECT coupon_code AS code, substr(created_at, 1, 4) AS year FROM orders WHERE status = 'complete'"
            " AND discount_cents > 0 GROUP BY 1, 2 HAVING count(*) BETWEEN 4 AND 60 ORDER BY 1, 2"
        )
        chosen = stream.choice(office.rows(world, sql))
        return cls(office.chief(stream), chosen["code"], int(chosen["year"]))

    def end(self, world: World, *, status: str = "complete", column: str = "discount_cents") -> Parts:
        placed = office.orders(world, f"{self.year}-01-01", f"{self.year}-12-31")
        orders = [one for one in placed if one["coupon_code"] == self.code and status in ("", one["status"])]
        yield Key.answer(money(sum(one[column] for one in orders)))
        yield Key.seen_share(1.0, [self._known(one, orders) for one in orders])
        yield Key.checkpoint("orders or report", office.page("/orders"), office.page("/reports/coupons"))
        yield Effort(len(orders), pages_of(len(orders), pages.ROWS_ON_A_PAGE), steps=14)

    def _known(self, order: Row, orders: list[Row]) -> Fact:
        """The report adds up by year, month or day; all else shows orders one by one."""
        lines = []
        for length in (4, 7, 10):
            period = order["created_at"][:length]
            inside = sum(one["discount_cents"] for one in orders if one["created_at"].startswith(period))
            lines.append(shown(period, self.code, office.amount(inside)))
        return fact(cell("orders", order["id"], "discount_cents"), *lines)

    def solve(self, page: Observation, *, period: str = "Year") -> Walk:
        first, last = f"01/01/{self.year}", f"12/31/{self.year}"
        if period:
            page = yield from pages.report(page, "Coupons", (first, last), period, "Complete")
            lines = [line for one in (yield from every_page(page)) for line in pages.lines(one)]
        else:
            page = yield from links(page, "Orders")
            typed = {"Coupon Code": self.code, "Purchase Date from": first, "Purchase Date to": last}
            page = yield from pages.narrow(page, typed, {"Status": "Complete"})
            page = yield from pages.show_columns(page, "Discount", "Coupon Code")
            lines = yield from pages.all_lines(page)
        column = "Sales Discount" if period else "Discount"
        # A filter finds longer codes with the same beginning, too.
        taken_off = sum(pages.cents(line[column]) for line in lines if line["Coupon Code"] == self.code)
        return answer(pages.dollars(taken_off))


class OrdersByMonth(Retrieve):
    """Count the orders with one status, month by month."""

    name = "admin.orders-by-month"
    chore = "massive_memory"
    instruction = (
        "How many orders with the status {status} were placed in each month from {since} through {until}? Answer "
        "with a list of numbers, one for each month, earliest month first."
    )
    levels = ("easy",)
    misread = {"status-ignored": {"status": ""}, "latest-first": {"latest_first": True}}
    ways = {
        "by-the-grid": {"each_month": True},
        "counting-rows": {"period": ""},
        "day-by-day": {"period": "Day"},
    }

    user: str
    status: str
    month: str
    count: int
    since: str
    until: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        count = stream.between(4, 8)
        months = office.months_from(f"{stream.between(2022, 2024)}-{stream.between(1, 12):02d}", count)
        status = stream.choice(("Complete", "Canceled"))
        words = office.in_words(months[0]), office.in_words(months[-1])
        return cls(office.chief(stream), status, months[0], count, *words)

    def end(self, world: World, *, latest_first: bool = False) -> Parts:
        spans = [office.month_span(month) for month in office.months_from(self.month, self.count)]
        placed = [office.orders(world, *span) for span in spans]
        months = [[one for one in orders if self.status.lower() in ("", one["status"])] for orders in placed]
        counts = [len(orders) for orders in months]
        yield fair(min(counts) >= 1, len(set(counts)) > 2)
        yield Key.answer(*(reversed(counts) if latest_first else counts), ordered=True)
        yield Key.seen_share(1.0, map(self._known, months))
        yield Key.checkpoint("orders or report", office.page("/orders"), office.page("/reports/orders"))
        on_pages = pages_of(sum(counts), pages.ROWS_ON_A_PAGE)
        yield Effort(rows=self.count, pages=1, steps=9, longest=max(2 + 6 * self.count, 8 + on_pages))

    @staticmethod
    def _known(orders: list[Row]) -> Fact:
        """The site counts them, in a report or above a grid; days and rows can be counted."""
        days = Counter(one["created_at"][:10] for one in orders)
        some = office.spread(orders)
        return fact(
            counted("orders", [one["id"] for one in some], len(orders)),
            [shown(day, str(count)) for day, count in days.items()],
            office.listed("orders", some),
        )

    def solve(self, page: Observation, *, period: str = "Month", each_month: bool = False) -> Walk:
        months = office.months_from(self.month, self.count)
        first, last = office.span_of(months)
        counts = Counter[str]()
        if each_month:
            for month in months:
                page = yield from pages.orders_of(page, *office.month_span(month), self.status)
                counts[month] = pages.total(page)
        elif period:
            days = office.typed(first), office.typed(last)
            page = yield from pages.report(page, "Orders", days, period, self.status)
            for line in pages.lines(page):
                counts[line["Interval"][:7]] += int(line["Orders"])
        else:
            page = yield from pages.orders_of(page, first, last, self.status)
            counts.update(_month_of(line) for line in (yield from pages.all_lines(page)))
        return answer(*(counts[month] for month in months))
