"""What stands on one page, and is needed on another: from the list to the order, from the report to the customer."""

from collections.abc import Callable
from operator import itemgetter
from typing import Any, Self

from webassay.arena.admin import office, pages
from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key, cell, fact, money, shown
from webassay.arena.kit.template import Parts, Retrieve, clear, fair, top
from webassay.arena.kit.walking import answer, links
from webassay.core.interaction import Observation, Walk
from webassay.core.record import Json
from webassay.core.task import Fact
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream


class TrackingOfLargest(Retrieve):
    """Find the tracking numbers of the largest orders of some months."""

    name = "admin.tracking-of-largest"
    chore = "long_term_memory"
    instruction = (
        "Find the {count} orders with the highest grand totals among the Complete orders placed from {first} through "
        "{last}. What are the tracking numbers of their shipments? Answer with a list, highest grand total first."
    )
    reads = ("*",)
    levels = ("medium", "hard")
    misread = {"lowest-first": {"lowest_first": True}, "newest": {"by": lambda order: 0}}
    ways = {"by-the-shipments": {"shipments": True}, "numbers-alone": {"alone": True}}

    user: str
    first: str
    last: str
    count: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        months = office.months_from(f"{stream.between(2022, 2025)}-{stream.between(1, 9):02d}", stream.between(1, 3))
        return cls(office.chief(stream), *office.span_of(months), stream.choice((3, 4, 9)))

    def end(
        self,
        world: World,
        *,
        lowest_first: bool = False,
        by: Callable[[Row], Any] = lambda order: -order["total_cents"],
    ) -> Parts:
        placed = office.orders(world, self.first, self.last)
        complete = sorted((one for one in placed if one["status"] == "complete"), key=by)
        yield fair(len({one["total_cents"] for one in complete[: self.count + 1]}) > self.count)
        largest = complete[: self.count][:: -1 if lowest_first else 1]
        sent = [office.rows(world, "SELECT * FROM shipments WHERE order_id = ?", one["id"])[:1] for one in largest]
        yield Key.answer(*(shipment["tracking"] for some in sent for shipment in some), ordered=True)
        yield office.seen(cell("shipments", shipment["id"], "tracking") for some in sent for shipment in some)
        yield Key.checkpoint("orders", office.page("/orders"))
        yield Effort(rows=self.count, pages=self.count + 1, steps=10 + 2 * self.count, longest=24 + 4 * self.count)

    def solve(self, page: Observation, *, shipments: bool = False, alone: bool = False) -> Walk:
        page = yield from pages.orders_of(page, self.first, self.last, "Complete")
        page = yield from links(page, "Grand Total", "Grand Total")
        if alone:
            page = yield from pages.only_columns(page, "ID")
        tracking: list[Json] = []
        for number in [line["ID"] for line in pages.lines(page)[: self.count]]:
            if shipments:
                page = yield from pages.searched(page, "Shipments", number)
                tracking.append(pages.line_with(page, "Order #", number)["Tracking Number"])
            else:
                page = yield from pages.goto(page, f"/orders/{number}")
                tracking.append(_tracking(page))
        return answer(*tracking)


def _tracking(page: Observation) -> str:
    """From the line about the shipment."""
    texts = [node.name for node in page.nodes if node.role == "StaticText"]
    place = next(number for number, text in enumerate(texts) if text.startswith("Shipment 3"))
    return texts[place + 1].split(",")[1].strip()


class HomeOfBest(Retrieve):
    """Find where the customer lives who spent the most in a month."""

    name = "admin.home-of-best"
    chore = "long_term_memory"
    instruction = (
        "Which customer has the highest order total in the customer report for {when}, with all statuses? Look this "
        'customer up on the Customers page. Answer with an object: "phone" and "zip".'
    )
    reads = ("phone", "zip")
    levels = ("medium",)
    misread = {"second": {"place": 1}, "most-orders": {"by": lambda customer: -customer["n"]}}
    may_agree = ("most-orders",)
    ways = {"by-filter": {"filtering": True}, "by-the-year": {"period": "Year"}}

    user: str
    month: str
    when: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        month = f"{stream.between(2022, 2025)}-{stream.between(1, 12):02d}"
        return cls(office.chief(stream), month, office.in_words(month))

    def end(
        self, world: World, *, place: int = 0, by: Callable[[Row], Any] = lambda customer: -customer["cents"]
    ) -> Parts:
        customers = office.rows(
            world,
            "SELECT c.id, a.id AS address_id, c.email, a.phone, a.postcode, sum(o.total_cents)"
            " AS cents, count(*) AS n FROM orders AS o JOIN customers AS c ON c.id = o.customer_id JOIN addresses AS a"
            " ON a.customer_id = c.id AND a.is_default_billing WHERE substr(o.created_at, 1, 7) = ? GROUP BY c.id"
            " ORDER BY cents DESC, c.email",
            self.month,
        )
        ranked = sorted(customers, key=by)
        yield fair(clear(ranked, itemgetter("cents")), clear(ranked, itemgetter("phone")))
        best = ranked[place]
        yield Key.answer({"phone": best["phone"], "zip": best["postcode"]})
        in_report = shown(best["email"], office.amount(best["cents"]))
        placed = [
            one for one in office.orders(world, *office.month_span(self.month)) if one["customer_id"] == best["id"]
        ]
        lives = [cell("addresses", best["address_id"], column) for column in ("phone", "postcode")]
        yield office.seen([fact(in_report, [*map(office.order_total, placed)]), *lives])
        yield Key.checkpoint("the report", office.page("/reports/customers"))
        yield Effort(rows=2, pages=2, steps=12, longest=14)

    def solve(self, page: Observation, *, filtering: bool = False, period: str = "Month") -> Walk:
        page = yield from pages.report(page, "Customers by Order Total", office.month_span(self.month), period)
        email = pages.lines(page)[0]["Email"]
        page = yield from links(page, "All Customers")
        page = yield from (pages.narrow(page, {"Email": email}) if filtering else pages.search(page, email))
        line = pages.line_with(page, "Email", email)
        return answer({"phone": line["Phone"], "zip": line["ZIP"]})


class SavedByBuyers(Retrieve):
    """Add up what special prices and coupons took off the orders of some days."""

    name = "admin.saved-by-buyers"
    chore = "long_term_memory"
    instruction = (
        "How much did customers save on the Complete orders placed from {first} through {last}? Answer with an "
        'object: "prices" (original price minus price, over all items and quantities, before discounts) and '
        '"coupons" (the sum of the discounts on these orders).'
    )
    levels = ("medium", "hard")
    misread = {"pieces-ignored": {"pieces": False}, "newest-only": {"newest": True}, "every-status": {"every": True}}
    ways = {"by-keyword": {"keyword": True}, "numbers-alone": {"alone": True}}

    user: str
    first: str
    last: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        month = f"{stream.between(2022, 2025)}-{stream.between(1, 12):02d}"
        start, user = stream.between(1, 14), office.chief(stream)
        return cls(user, f"{month}-{start:02d}", f"{month}-{start + stream.choice((1, 2, 3, 6, 13)):02d}")

    def end(self, world: World, *, pieces: bool = True, newest: bool = False, every: bool = False) -> Parts:
        placed = office.orders(world, self.first, self.last)
        orders = [one for one in placed if one["status"] == "complete"]
        yield fair(3 <= len(orders) <= 12, any(one["discount_cents"] for one in orders))
        if every:
            # Where all are complete, nobody can overlook it.
            top([one for one in placed if one["status"] != "complete"])
            orders = placed
        orders = orders[:1] if newest else orders
        items = _items(world, orders)
        reduced = [one for one in items if one["original"] > one["unit_price_cents"]]
        yield fair(any(one["quantity"] > 1 for one in reduced))
        prices = sum(
            (one["original"] - one["unit_price_cents"]) * (one["quantity"] if pieces else 1) for one in reduced
        )
        yield Key.answer({"prices": money(prices), "coupons": money(sum(one["discount_cents"] for one in orders))})
        yield Key.seen_share(1.0, [_priced(order, items) for order in orders])
        yield Key.checkpoint("orders", office.page("/orders"))
        count = len(orders)
        yield Effort(rows=2 * count, pages=count + 1, steps=8 + 2 * count, longest=22 + 4 * count)

    def solve(self, page: Observation, *, keyword: bool = False, alone: bool = False) -> Walk:
        page = yield from pages.orders_of(page, self.first, self.last, "Complete")
        if alone:
            page = yield from pages.only_columns(page, "ID")
        prices = coupons = 0
        for number in [line["ID"] for line in pages.lines(page)]:
            page = yield from (pages.open_order(page, number) if keyword else pages.goto(page, f"/orders/{number}"))
            prices += sum(_saved(line) for line in pages.lines(page) if "Original Price" in line)
            coupons += _discount(page)
        return answer({"prices": pages.dollars(prices), "coupons": pages.dollars(coupons)})


def _items(world: World, orders: list[Row]) -> list[Row]:
    numbers = ", ".join(str(one["id"]) for one in orders)
    return office.rows(
        world,
        f"SELECT *, ifnull(list_price_cents, unit_price_cents) AS original FROM order_items"
        f" WHERE order_id IN ({numbers}) ORDER BY id",
    )


def _priced(order: Row, items: list[Row]) -> Fact:
    """All lines of the order, with their original prices."""
    own = [one for one in items if one["order_id"] == order["id"]]
    originals = [
        cell("order_items", one["id"], "unit_price_cents" if one["list_price_cents"] is None else "list_price_cents")
        for one in own
    ]
    return fact(originals + [cell("orders", order["id"], "discount_cents")] * (order["discount_cents"] > 0))


def _saved(line: pages.Line) -> int:
    off = pages.cents(line["Original Price"]) - pages.cents(line["Price"])
    return off * int(line["Qty"].split()[-1])


def _discount(page: Observation) -> int:
    """What a coupon took off the order; the line is there only if one did."""
    heads = [node.name for node in page.nodes if node.role == "rowheader" and node.name.startswith("Discount (")]
    return pages.cents(pages.detail(page, heads[0]).lstrip("-")) if heads else 0
