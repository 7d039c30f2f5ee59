"""Reading grids and reports: customers, credit memos, stock, bestsellers, reviews, searches."""

import json
from collections.abc import Callable
from operator import itemgetter
from typing import Any, ClassVar, Self

from webassay.arena.admin import office, pages
from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key, cell, money, shown
from webassay.arena.kit.template import Parts, Retrieve, clear, fair, first_page
from webassay.arena.kit.walking import answer, links
from webassay.core.interaction import Observation, Walk
from webassay.core.record import Json
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream

STATES = {
    "California": "CA", "Texas": "TX", "Florida": "FL", "New York": "NY", "Illinois": "IL", "Ohio": "OH",
    "Pennsylvania": "PA", "Washington": "WA", "Colorado": "CO", "Arizona": "AZ", "Georgia": "GA", "Minnesota": "MN",
    "Oregon": "OR", "North Carolina": "NC", "Michigan": "MI", "Massachusetts": "MA", "Virginia": "VA",
    "Tennessee": "TN", "Missouri": "MO", "Wisconsin": "WI",
}  # fmt: skip


class CustomersOfStates(Retrieve):
    """Merge the customers of three states, and name some of them by their place."""

    name = "admin.customers-of-states"
    chore = "long_term_memory"
    instruction = (
        "Look at all customers from {one}, {two}, and {three}, by the state on the Customers page. Sort them by the "
        "column Name from A to Z. Who is first, who is number {place}, and who is last? Answer with a list of the "
        "three names in this order."
    )
    reads = ("*",)
    levels = ("medium", "hard")
    misread = {
        "by-last-name": {"by": lambda name: name.split()[::-1]},
        "first-state-only": {"states": 1},
        "two-states-only": {"states": 2},
    }
    may_agree = ("first-state-only", "two-states-only")
    ways = {"reading-everything": {"everything": True}, "fewer-columns": {"fewer": True}}

    user: str
    one: str
    two: str
    three: str
    place: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        one, two, three = stream.sample(list(STATES), 3)
        return cls(office.chief(stream), one, two, three, stream.between(4, 15))

    def end(self, world: World, *, states: int = 3, by: Callable[[str], Any] = str) -> Parts:
        customers = {state: _customers(world, state) for state in (self.one, self.two, self.three)[:states]}
        names = sorted((row["name"] for some in customers.values() for row in some), key=by)
        yield fair(len(names) > self.place, min(map(len, customers.values())) >= 2)
        # Two of the same name cannot be told apart, and capitals would sort differently.
        yield fair(len(set(names)) == len(names), all(name[0].isupper() for name in names))
        yield Key.answer(names[0], names[min(self.place, len(names)) - 1], names[-1], ordered=True)
        yield office.seen(
            office.listed("customers", [row for some in customers.values() for row in (some[0], some[-1])])
        )
        yield Key.checkpoint("customers", office.page("/customers"))
        yield Effort(rows=len(names), pages=3, steps=18, longest=18 + 3 * pages.TO_CHOOSE_COLUMNS)

    def solve(self, page: Observation, *, everything: bool = False, fewer: bool = False) -> Walk:
        states = self.one, self.two, self.three
        lines: list[pages.Line] = []
        for state in ("",) if everything else states:
            page = yield from links(page, "All Customers")
            if state:
                page = yield from pages.narrow(page, {}, {"State": state})
            if fewer:
                page = yield from pages.only_columns(page, "Name", "State")
            lines += yield from pages.all_lines(page)
        names = sorted(line["Name"] for line in lines if line["State"] in states)
        return answer(names[0], names[self.place - 1], names[-1])


def _customers(world: World, state: str) -> list[Row]:
    return office.rows(
        world,
        "SELECT c.id, c.first_name || ' ' || c.last_name AS name FROM customers AS c JOIN addresses AS a"
        " ON a.customer_id = c.id AND a.is_default_billing WHERE a.region = ? ORDER BY name",
        STATES[state],
    )


class RefundsFor(Retrieve):
    """Add up the credit memos of some months that have one reason."""

    name = "admin.refunds-for"
    chore = "calculation"
    instruction = (
        "How much did we refund in total with credit memos created from {first} through {last} for the reason "
        '"{reason}"? Answer with the amount.'
    )
    levels = ("medium", "hard")
    misread = {
        "reason-ignored": {"reason": ""},
        "first-page-only": {"size": pages.FEW_ROWS},
        "without-the-last": {"missed": 1},
    }
    may_agree = ("reason-ignored",)
    ways = {"by-days-only": {"by_reason": False}, "fewer-columns": {"fewer": True}}

    user: str
    reason: str
    first: str
    last: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        span = office.some_days(stream, *range(2, 10))
        return cls(office.chief(stream), stream.choice(("Returned goods", "Damaged in transit", "Goodwill")), *span)

    def end(self, world: World, *, size: int = 0, missed: int = 0) -> Parts:
        created = office.during(world, "SELECT * FROM refunds", "refunds", self.first, self.last)
        memos = [one for one in created if self.reason in ("", one["reason"])]
        yield fair(len(memos) >= 3)
        read = first_page(memos, size)[: len(memos) - missed]
        yield Key.answer(money(sum(one["amount_cents"] for one in read)))
        yield office.seen(cell("refunds", one["id"], "amount_cents") for one in memos)
        yield Key.checkpoint("credit memos", office.page("/refunds"))
        yield Effort(len(memos), pages_of(len(memos), pages.ROWS_ON_A_PAGE), 10, longest=10 + pages.TO_CHOOSE_COLUMNS)

    def solve(self, page: Observation, *, by_reason: bool = True, fewer: bool = False) -> Walk:
        page = yield from links(page, "Credit Memos")
        reason = {"Reason": self.reason} if by_reason else {}
        page = yield from pages.narrow(page, reason | office.days("Created", self.first, self.last))
        if fewer:
            page = yield from pages.only_columns(page, "Reason", "Refunded")
        lines = yield from pages.all_lines(page)
        return answer(pages.dollars(sum(pages.cents(one["Refunded"]) for one in lines if one["Reason"] == self.reason)))


class StockOfBrand(Retrieve):
    """Add up the stock of a brand, and what it is worth."""

    name = "admin.stock-of-brand"
    chore = "calculation"
    instruction = (
        "Look at the products that have {brand} in their name and a price of at least ${least} (column Price). How "
        "many pieces of them are in stock in total, and what are those pieces worth at these prices? Answer with an "
        'object: "pieces" and "worth".'
    )
    levels = ("medium",)
    misread = {"price-ignored": {"least": 0}, "first-page-only": {"size": pages.FEW_ROWS}}
    ways = {"by-keyword": {"keyword": True}, "in-stock-only": {"in_stock": True}}

    user: str
    brand: str
    least: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        brand = stream.choice(office.brands(world, most=120))["brand"]
        return cls(office.chief(stream), brand, stream.choice((15, 20, 30, 40)))

    def end(self, world: World, *, size: int = 0) -> Parts:
        sql = "SELECT * FROM products WHERE instr(lower(name), lower(?)) ORDER BY id"
        products = office.rows(world, sql, self.brand)
        fitting = [one for one in products if one["price_cents"] >= self.least * 100]
        # The others add nothing, and a filter can leave them out.
        in_stock = [one for one in first_page(fitting, size) if one["stock"]]
        yield fair(len(in_stock) >= 5, all(one["price_cents"] != self.least * 100 for one in products))
        worth = sum(one["stock"] * one["price_cents"] for one in in_stock)
        yield Key.answer({"pieces": sum(one["stock"] for one in in_stock), "worth": money(worth)})
        yield office.seen(cell("products", one["id"], name) for one in in_stock for name in ("price_cents", "stock"))
        yield Key.checkpoint("products", office.page("/products"))
        yield Effort(len(fitting), pages_of(len(fitting), pages.ROWS_ON_A_PAGE), 10, longest=12)

    def solve(self, page: Observation, *, keyword: bool = False, in_stock: bool = False) -> Walk:
        page = yield from links(page, "Products")
        if keyword:
            page = yield from pages.search(page, self.brand)
        else:
            typed = {"Name": self.brand, "Price from": str(self.least)}
            page = yield from pages.narrow(page, typed | ({"Quantity from": "1"} if in_stock else {}))
        fitting = [
            (int(one["Quantity"]), pages.cents(one["Price"]))
            for one in (yield from pages.all_lines(page))
            if pages.cents(one["Price"]) >= self.least * 100 and self.brand.lower() in one["Name"].lower()
        ]
        worth = pages.dollars(sum(pieces * cents for pieces, cents in fitting))
        return answer({"pieces": sum(pieces for pieces, _ in fitting), "worth": worth})


class BestOfMonths(Retrieve):
    """Name the best-selling product of each month."""

    name = "admin.best-of-months"
    chore = "massive_memory"
    instruction = (
        "How many pieces of the best-selling product were ordered in each month from {since} through {until}, "
        "according to the bestsellers report? Answer with a list of numbers, one for each month, earliest month "
        "first."
    )
    reads = ("*",)
    levels = ("medium",)
    misread = {"latest-first": {"latest_first": True}, "second-best": {"place": 1}}
    ways = {"month-by-month": {"each_month": True}, "year-by-year": {"each_month": True, "period": "Year"}}

    user: str
    month: str
    count: int
    since: str
    until: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        months = office.months_from(f"{stream.between(2022, 2025)}-{stream.between(1, 7):02d}", stream.between(4, 7))
        words = office.in_words(months[0]), office.in_words(months[-1])
        return cls(office.chief(stream), months[0], len(months), *words)

    def end(self, world: World, *, latest_first: bool = False, place: int = 0) -> Parts:
        sold = [office.bestsellers(world, month) for month in office.months_from(self.month, self.count)]
        yield fair(min(map(len, sold)) >= 2)
        best = [products[place] for products in sold]
        pieces = [one["pieces"] for one in best]
        yield fair(len(set(pieces)) >= 3)
        yield Key.answer(*(reversed(pieces) if latest_first else pieces), ordered=True)
        yield office.seen(map(office.bestseller, best))
        yield Key.checkpoint("the report", office.page("/reports/bestsellers"))
        yield Effort(rows=5 * self.count, pages=1, steps=9, longest=1 + 7 * self.count)

    def solve(self, page: Observation, *, each_month: bool = False, period: str = "Month") -> Walk:
        """With the period of a year, a month alone is what there is of its year."""
        months = office.months_from(self.month, self.count)
        best: dict[str, int] = {}
        for some in [[month] for month in months] if each_month else [months]:
            first, last = office.span_of(some)
            days = office.typed(first), office.typed(last)
            page = yield from pages.report(page, "Bestsellers", days, period)
            for line in pages.lines(page):
                month = line["Interval"] if period == "Month" else some[0]
                best.setdefault(month, int(line["Order Quantity"]))
        return answer(*(best[month] for month in months))


class WorstAverage(Retrieve):
    """Find the product with the lowest average of all its reviews in a month."""

    name = "admin.worst-average"
    chore = "massive_memory"
    instruction = (
        "Look at the products that got at least {least} reviews from {first} through {last}, counting reviews with "
        "any status. Which product has the lowest average rating for these days? Answer with its SKU."
    )
    reads = ("*",)
    levels = ("medium", "hard")
    misread = {
        "highest": {"place": -1},
        "few-reviews-count": {"least": 1},
        "most-reviews": {"by": lambda product: -product["n"]},
    }
    ways = {"by-address": {"typing": True}}

    user: str
    first: str
    last: str
    least: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        months = office.months_from(f"{stream.between(2022, 2025)}-{stream.between(1, 10):02d}", stream.between(1, 3))
        return cls(office.chief(stream), *office.span_of(months), stream.between(4, 8))

    def end(self, world: World, *, place: int = 0, by: Callable[[Row], Any] = itemgetter("average")) -> Parts:
        reviewed = office.rows(
            world,
            "SELECT p.name, p.sku, count(*) AS n, printf('%.2f', avg(v.rating)) AS shown, avg(v.rating) AS average"
            " FROM reviews AS v JOIN products AS p ON p.id = v.product_id WHERE substr(v.created_at, 1, 10)"
            " BETWEEN ? AND ? GROUP BY p.id ORDER BY average, p.id",
            self.first, self.last,
        )  # fmt: skip
        ranked = sorted((one for one in reviewed if one["n"] >= self.least), key=by)
        yield fair(len(ranked) >= 5, clear(ranked, itemgetter("shown")))
        yield Key.answer(ranked[place]["sku"])
        yield office.seen(shown(one["sku"], str(one["n"]), one["shown"]) for one in office.spread(ranked))
        yield Key.checkpoint("the report", office.page("/reports/reviews-by-product"))
        yield Effort(rows=len(ranked), pages=1, steps=7, longest=8)

    def solve(self, page: Observation, *, typing: bool = False) -> Walk:
        if typing:
            page = yield from pages.goto(page, f"/reports/reviews-by-product?report=1&from={self.first}&to={self.last}")
        else:
            days = office.typed(self.first), office.typed(self.last)
            page = yield from pages.report(page, "Reviews by Products", days)
        fitting = [one for one in pages.lines(page) if int(one["Reviews"]) >= self.least]
        return answer(min(fitting, key=lambda one: float(one["Average"]))["SKU"])


class SearchesInVain(Retrieve):
    """List the searches that were made often and found little."""

    name = "admin.searches-in-vain"
    chore = "massive_memory"
    instruction = (
        "Which search terms were used at least {uses} times and had fewer than {results} results, according to the "
        "search terms report? Answer with a list of the terms."
    )
    reads = ("*",)
    levels = ("hard",)
    misread = {"results-ignored": {"results": 10**9}, "uses-ignored": {"uses": 0}}
    ways = {"by-address": {"typing": True}}
    _USES: ClassVar = (20, 30, 40, 50, 60, 70, 80, 90, 100, 120, 150, 200, 250)
    _RESULTS: ClassVar = (2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30)

    user: str
    uses: int
    results: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        user = office.chief(stream)
        limits = stream.choice(cls._limits(world))
        return cls(user, limits["uses"], limits["results"])

    @classmethod
    def _limits(cls, world: World) -> list[Row]:
        """In a small shop every search finds little, so that other numbers tell them apart than in a large one, and
        few may have been used often enough."""
        for least, uses in ((60, cls._USES), (15, range(50, 500, 10))):
            limits = office.rows(
                world,
                "SELECT u.value AS uses, r.value AS results FROM search_terms AS s, json_each(?) AS u, json_each(?)"
                " AS r WHERE s.uses >= u.value GROUP BY u.key, r.key HAVING count(*) >= ?"
                " AND sum(s.results < r.value) BETWEEN 3 AND 15 ORDER BY u.key, r.key",
                json.dumps(list(uses)), json.dumps(cls._RESULTS), least,
            )  # fmt: skip
            if len(limits) >= 5:
                return limits
        return limits

    def end(self, world: World) -> Parts:
        terms = office.rows(world, "SELECT * FROM search_terms ORDER BY uses DESC, term")
        often = [one for one in terms if one["uses"] >= self.uses]
        fitting = [one for one in often if one["results"] < self.results]
        yield Key.answer(*(one["term"] for one in fitting))
        yield office.seen(cell("search_terms", one["term"], name) for one in fitting for name in ("results", "uses"))
        yield Key.checkpoint("the report", office.page("/reports/search-terms"))
        # The report has those on top that were used the most.
        yield Effort(rows=len(often), pages=1, steps=4)

    def solve(self, page: Observation, *, typing: bool = False) -> Walk:
        if typing:
            page = yield from pages.goto(page, "/reports/search-terms")
        else:
            page = yield from links(page, "All Reports", "Search Terms")
        terms: list[Json] = [
            line["Search Query"]
            for line in pages.lines(page)
            if int(line["Uses"]) >= self.uses and int(line["Results"]) < self.results
        ]
        return answer(*terms)
