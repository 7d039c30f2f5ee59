"""What stands on one page, and is needed on another: from the list to the order, from the report to the customer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from webassay.benchmarks.arena.admin import office, pages
from webassay.benchmarks.arena.effort import Effort
from webassay.benchmarks.arena.key import Key, fact, shown
from webassay.benchmarks.arena.shortcuts import Shortcuts
from webassay.benchmarks.arena.template import Route, Template, Worlds
from webassay.benchmarks.arena.walking import Reading, answer, click
from webassay.core.interaction import Observation, Walk
from webassay.sites.kit import Row
from webassay.sites.rng import Stream


@dataclass(frozen=True)
class TrackingOfLargest(Template):
    """Find the tracking numbers of the largest orders of some months."""

    name = "admin.tracking-of-largest"
    sites = ("admin",)
    kind = "retrieve"
    chore = "long_term_memory"
    instruction = (
        "Take the {count} orders with the status Complete and the highest grand totals of those that were placed from "
        "{first} to {last}, both days included. What are the tracking numbers of their shipments? Answer with the "
        "tracking numbers, that of the order with the highest total first."
    )
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
    sites = ("admin",)
    kind = "retrieve"
    chore = "long_term_memory"
    instruction = (
        "Which customer had the highest order total in {when}, according to the report on customers, whatever the "
        "status of the orders? Answer with the phone number and the ZIP code that the list of customers shows for this "
        'customer, as one object with the keys "phone" and "zip".'
    )
    levels = ("medium",)

    user: str
    month: str
    when: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        month = f"{stream.between(2022, 2025)}-{stream.between(1, 12):02d}"
        drawn = cls(office.chief(stream), month, office.in_words(month))
        best = drawn._best(worlds)
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
