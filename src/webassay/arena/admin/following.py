"""What stands on one page, and is needed on another: from the list to the order, from the report to the customer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from webassay.arena.admin import office, pages
from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key, fact, money, shown
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.arena.kit.walking import Reading, answer, click
from webassay.core.interaction import Observation, Walk
from webassay.sites.kit import Row
from webassay.sites.rng import Stream


@dataclass(frozen=True)
class TrackingOfLargest(Template):
    """Find the tracking numbers of the largest orders of some months."""

    name = "admin.tracking-of-largest"
    kind = "retrieve"
    chore = "long_term_memory"
    instruction = (
        "Take the {count} orders with the status Complete and the highest grand totals of those that were placed from "
        "{first} to {last}, both days included. What are the tracking numbers of their shipments? Answer with the "
        "tracking numbers, that of the order with the highest total first."
    )
    reads = ("*",)
    levels = ("medium", "hard")

    user: str
    first: str
    last: str
    count: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        months = office.months_from(f"{stream.between(2022, 2025)}-{stream.between(1, 9):02d}", stream.between(1, 3))
        span = office.month_span(months[0])[0], office.month_span(months[-1])[1]
        drawn = cls(office.chief(stream), *span, stream.choice((3, 4, 9)))
        totals = [one["total_cents"] for one in drawn._ranked(worlds)]
        return drawn if len(totals) > drawn.count and len(set(totals[: drawn.count + 1])) > drawn.count else None

    def _ranked(self, worlds: Worlds, every: bool = False) -> list[Row]:
        found = office.orders(worlds["admin"], self.first, self.last)
        kept = [one for one in found if every or one["status"] == "complete"]
        return sorted(kept, key=lambda one: -int(one["total_cents"]))

    def _shipments(self, worlds: Worlds, orders: list[Row]) -> list[Row]:
        found = [
            office.rows(worlds["admin"], "SELECT * FROM shipments WHERE order_id = ?", order["id"]) for order in orders
        ]
        return [one[0] for one in found if one]

    def _said(self, worlds: Worlds, orders: list[Row]) -> Key:
        return Key.answer(*(one["tracking"] for one in self._shipments(worlds, orders)), ordered=True)

    def key(self, worlds: Worlds) -> Key:
        orders = self._ranked(worlds)[: self.count]
        facts = [
            fact(
                shown(order["number"], shipment["tracking"]),
                shown(f"Order # {order['number']}", shipment["tracking"], together="page"),
                shown(shipment["number"], shipment["tracking"], together="page"),
            )
            for order, shipment in zip(orders, self._shipments(worlds, orders), strict=True)
        ]
        return (
            self._said(worlds, orders) & Key.seen_share(1.0, facts) & Key.checkpoint("orders", office.page("/orders"))
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        ranked = self._ranked(worlds)
        newest = sorted(ranked, key=lambda one: str(one["created_at"]), reverse=True)
        return {
            "lowest-first": self._said(worlds, ranked[: self.count][::-1]),
            "newest": self._said(worlds, newest[: self.count]),
        }

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=self.count, pages=self.count + 1, steps=10 + 2 * self.count, longest=10 + 4 * self.count)

    def _largest(self, page: Observation) -> Reading[tuple[Observation, list[str]]]:
        page = yield from click(page, "link", "Orders")
        days = {"Purchase Date from": office.typed(self.first), "Purchase Date to": office.typed(self.last)}
        page = yield from pages.narrow(page, days, {"Status": "Complete"})
        page = yield from click(page, "link", "Grand Total")
        page = yield from click(page, "link", "Grand Total")
        return page, [line["ID"] for line in pages.lines(page)[: self.count]]

    def solve(self, page: Observation) -> Walk:
        page, numbers = yield from self._largest(page)
        found = []
        for number in numbers:
            page = yield from pages.goto(page, f"/orders/{number}")
            found.append(_tracking(page))
        return answer(*found)

    def routes(self) -> Mapping[str, Route]:
        return {"by-the-shipments": self._by_shipments}

    def _by_shipments(self, page: Observation) -> Walk:
        page, numbers = yield from self._largest(page)
        found = []
        for number in numbers:
            page = yield from click(page, "link", "Shipments")
            page = yield from pages.search(page, number)
            line = next(one for one in pages.lines(page) if one["Order #"] == number)
            found.append(line["Tracking Number"])
        return answer(*found)


def _tracking(page: Observation) -> str:
    """From the line about the shipment."""
    texts = [node.name for node in page.nodes if node.role == "StaticText"]
    place = next(number for number, text in enumerate(texts) if text.startswith("Shipment 3"))
    return texts[place + 1].split(",")[1].strip()


@dataclass(frozen=True)
class HomeOfBest(Template):
    """Find where the customer lives who spent the most in a month."""

    name = "admin.home-of-best"
    kind = "retrieve"
    chore = "long_term_memory"
    instruction = (
        "Which customer had the highest order total in {when}, according to the report on customers, whatever the "
        "status of the orders? Answer with the phone number and the ZIP code that the list of customers shows for this "
        'customer, as one object with the keys "phone" and "zip".'
    )
    reads = ("phone", "zip")
    levels = ("medium",)

    user: str
    month: str
    when: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        month = f"{stream.between(2022, 2025)}-{stream.between(1, 12):02d}"
        drawn = cls(office.chief(stream), month, office.in_words(month))
        best = drawn._best(worlds)
        if len(best) < 2:
            return None
        return drawn if best[0]["cents"] > best[1]["cents"] and best[0]["phone"] != best[1]["phone"] else None

    def _best(self, worlds: Worlds) -> list[Row]:
        return office.rows(
            worlds["admin"],
            "SELECT c.first_name || ' ' || c.last_name AS name, c.email, a.phone, a.postcode, sum(o.total_cents)"
            " AS cents, count(*) AS n FROM orders AS o JOIN customers AS c ON c.id = o.customer_id JOIN addresses AS a"
            " ON a.customer_id = c.id AND a.is_default_billing WHERE substr(o.created_at, 1, 7) = ? GROUP BY c.id"
            " ORDER BY cents DESC, c.email",
            self.month,
        )

    @staticmethod
    def _said(row: Row) -> Key:
        return Key.answer({"phone": row["phone"], "zip": row["postcode"]})

    def key(self, worlds: Worlds) -> Key:
        best = self._best(worlds)[0]
        facts = [
            fact(shown(best["email"], office.amount(best["cents"]))),
            fact(shown(best["email"], best["phone"], best["postcode"])),
        ]
        return (
            self._said(best)
            & Key.seen_share(1.0, facts)
            & Key.checkpoint("the report", office.page("/reports/customers"))
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        best = self._best(worlds)
        most = max(best, key=lambda one: int(one["n"]))
        found = {"second": self._said(best[1])}
        if most["email"] != best[0]["email"]:
            found["most-orders"] = self._said(most)
        return found

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=2, pages=2, steps=12, longest=14)

    def _email(self, page: Observation) -> Reading[tuple[Observation, str]]:
        page = yield from pages.report(page, "Customers by Order Total", office.month_span(self.month), "Month")
        return page, pages.lines(page)[0]["Email"]

    def solve(self, page: Observation) -> Walk:
        page, email = yield from self._email(page)
        page = yield from click(page, "link", "All Customers")
        page = yield from pages.search(page, email)
        line = next(one for one in pages.lines(page) if one["Email"] == email)
        return answer({"phone": line["Phone"], "zip": line["ZIP"]})

    def routes(self) -> Mapping[str, Route]:
        return {"by-filter": self._by_filter}

    def _by_filter(self, page: Observation) -> Walk:
        page, email = yield from self._email(page)
        page = yield from click(page, "link", "All Customers")
        page = yield from pages.narrow(page, {"Email": email})
        line = next(one for one in pages.lines(page) if one["Email"] == email)
        return answer({"phone": line["Phone"], "zip": line["ZIP"]})


@dataclass(frozen=True)
class SavedByBuyers(Template):
    """Add up what special prices and coupons took off the orders of some days."""

    name = "admin.saved-by-buyers"
    kind = "retrieve"
    chore = "long_term_memory"
    instruction = (
        "How much did customers save on the orders with the status Complete that were placed from {first} to {last}, "
        'both days included? Answer with one object with the keys "prices" (how much less than its original prices '
        'everything ordered cost in all) and "coupons" (the sum of the orders\' discounts).'
    )
    levels = ("medium", "hard")

    user: str
    first: str
    last: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        month = f"{stream.between(2022, 2025)}-{stream.between(1, 12):02d}"
        start = stream.between(1, 14)
        drawn = cls(
            office.chief(stream), f"{month}-{start:02d}", f"{month}-{start + stream.choice((1, 2, 3, 6, 13)):02d}"
        )
        orders = drawn._orders(worlds)
        if not 3 <= len(orders) <= 12 or not any(one["discount_cents"] for one in orders):
            return None
        return drawn if any(one["quantity"] > 1 for one in drawn._reduced(worlds, orders)) else None

    def _orders(self, worlds: Worlds, every: bool = False) -> list[Row]:
        found = office.orders(worlds["admin"], self.first, self.last)
        return [one for one in found if every or one["status"] == "complete"]

    @staticmethod
    def _items(worlds: Worlds, orders: list[Row]) -> list[Row]:
        numbers = ", ".join(str(one["id"]) for one in orders)
        return office.rows(
            worlds["admin"],
            f"SELECT *, ifnull(list_price_cents, unit_price_cents) AS original FROM order_items"
            f" WHERE order_id IN ({numbers}) ORDER BY id",
        )

    def _reduced(self, worlds: Worlds, orders: list[Row]) -> list[Row]:
        return [one for one in self._items(worlds, orders) if one["original"] > one["unit_price_cents"]]

    def _said(self, worlds: Worlds, orders: list[Row], pieces: bool = True) -> Key:
        saved = sum(
            (one["original"] - one["unit_price_cents"]) * (one["quantity"] if pieces else 1)
            for one in self._reduced(worlds, orders)
        )
        return Key.answer({"prices": money(saved), "coupons": money(sum(one["discount_cents"] for one in orders))})

    def key(self, worlds: Worlds) -> Key:
        orders = self._orders(worlds)
        items = self._items(worlds, orders)
        lines = {
            one["id"]: [
                shown(item["sku"], office.amount(item["original"])) for item in items if item["order_id"] == one["id"]
            ]
            for one in orders
        }
        return (
            self._said(worlds, orders)
            & Key.seen_share(1.0, [fact(found) for found in lines.values()])
            & Key.checkpoint("orders", office.page("/orders"))
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        orders, every = self._orders(worlds), self._orders(worlds, every=True)
        wrong = {
            "pieces-ignored": self._said(worlds, orders, pieces=False),
            "newest-only": self._said(worlds, orders[:1]),
        }
        return wrong | ({"every-status": self._said(worlds, every)} if len(every) > len(orders) else {})

    def effort(self, worlds: Worlds) -> Effort:
        count = len(self._orders(worlds))
        return Effort(rows=2 * count, pages=count + 1, steps=8 + 2 * count, longest=9 + 4 * count)

    def _numbers(self, page: Observation) -> Reading[tuple[Observation, list[str]]]:
        page = yield from click(page, "link", "Orders")
        days = {"Purchase Date from": office.typed(self.first), "Purchase Date to": office.typed(self.last)}
        page = yield from pages.narrow(page, days, {"Status": "Complete"})
        return page, [line["ID"] for line in pages.lines(page)]

    def _told(self, page: Observation, by_search: bool) -> Walk:
        page, numbers = yield from self._numbers(page)
        prices = coupons = 0
        for number in numbers:
            page = yield from (pages.open_order(page, number) if by_search else pages.goto(page, f"/orders/{number}"))
            prices += sum(_saved(line) for line in pages.lines(page) if "Original Price" in line)
            coupons += _discount(page)
        return answer({"prices": pages.dollars(prices), "coupons": pages.dollars(coupons)})

    def solve(self, page: Observation) -> Walk:
        return (yield from self._told(page, by_search=False))

    def routes(self) -> Mapping[str, Route]:
        return {"by-keyword": lambda page: self._told(page, by_search=True)}


def _saved(line: pages.Line) -> int:
    off = pages.cents(line["Original Price"]) - pages.cents(line["Price"])
    return off * int(line["Qty"].split()[-1])


def _discount(page: Observation) -> int:
    """What a coupon took off the order; the line is there only if one did."""
    heads = [node.name for node in page.nodes if node.role == "rowheader" and node.name.startswith("Discount (")]
    return pages.cents(pages.detail(page, heads[0]).lstrip("-")) if heads else 0
