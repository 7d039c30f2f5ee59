"""Reading grids and reports: customers, credit memos, stock, bestsellers, reviews, searches."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from webassay.arena.admin import office, pages
from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key, fact, money, shown
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.arena.kit.walking import Reading, answer, click
from webassay.core.interaction import Observation, Walk
from webassay.core.record import Json
from webassay.sites.kit import Row
from webassay.sites.rng import Stream

STATES = {
    "CA": "California", "TX": "Texas", "FL": "Florida", "NY": "New York", "IL": "Illinois", "OH": "Ohio",
    "PA": "Pennsylvania", "WA": "Washington", "CO": "Colorado", "AZ": "Arizona", "GA": "Georgia", "MN": "Minnesota",
    "OR": "Oregon", "NC": "North Carolina", "MI": "Michigan", "MA": "Massachusetts", "VA": "Virginia",
    "TN": "Tennessee", "MO": "Missouri", "WI": "Wisconsin",
}  # fmt: skip


@dataclass(frozen=True)
class CustomersOfStates(Template):
    """Merge the customers of three states, and name some of them by their place."""

    name = "admin.customers-of-states"
    kind = "retrieve"
    chore = "long_term_memory"
    instruction = (
        "Take all customers whose state in the list of customers is {one}, {two} or {three}, and put them in the "
        "alphabetical order of their full names, first name first. Who is number 1, who is number {place}, and who is "
        "the last? Answer with the three names, in this order."
    )
    reads = ("*",)
    levels = ("medium", "hard")

    user: str
    one: str
    two: str
    three: str
    place: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        one, two, three = stream.sample(list(STATES.values()), 3)
        drawn = cls(office.chief(stream), one, two, three, stream.between(4, 15))
        names = drawn._names(worlds)
        if len(names) <= drawn.place or min(len(drawn._of(worlds, state)) for state in drawn._states()) < 2:
            return None
        # Two of the same name cannot be told apart, and capitals would sort differently.
        return drawn if len(set(names)) == len(names) and all(name[0].isupper() for name in names) else None

    def _states(self) -> tuple[str, str, str]:
        return self.one, self.two, self.three

    @staticmethod
    def _of(worlds: Worlds, state: str) -> list[Row]:
        code = next(code for code, name in STATES.items() if name == state)
        return office.rows(
            worlds["admin"],
            "SELECT c.first_name || ' ' || c.last_name AS name, c.email FROM customers AS c JOIN addresses AS a"
            " ON a.customer_id = c.id AND a.is_default_billing WHERE a.region = ? ORDER BY name",
            code,
        )

    def _names(self, worlds: Worlds, states: tuple[str, ...] = ()) -> list[str]:
        return sorted(row["name"] for state in states or self._states() for row in self._of(worlds, state))

    def _said(self, names: list[str]) -> Key:
        return Key.answer(names[0], names[min(self.place, len(names)) - 1], names[-1], ordered=True)

    def key(self, worlds: Worlds) -> Key:
        facts = [
            fact(shown(row["name"], row["email"], state))
            for state in self._states()
            for row in (self._of(worlds, state)[0], self._of(worlds, state)[-1])
        ]
        return (
            self._said(self._names(worlds))
            & Key.seen_share(1.0, dict.fromkeys(facts))
            & Key.checkpoint("customers", office.page("/customers"))
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        last_first = sorted(self._names(worlds), key=lambda name: name.split()[::-1])
        found = {"by-last-name": self._said(last_first)}
        for name, states in (("first-state-only", (self.one,)), ("two-states-only", (self.one, self.two))):
            wrong = self._said(self._names(worlds, states))
            if wrong.results != self._said(self._names(worlds)).results:
                found[name] = wrong
        return found

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=len(self._names(worlds)), pages=3, steps=18)

    def solve(self, page: Observation) -> Walk:
        names: list[str] = []
        for state in self._states():
            page = yield from click(page, "link", "All Customers")
            page = yield from pages.narrow(page, {}, {"State": state})
            names += [line["Name"] for line in (yield from pages.all_lines(page))]
        return self._answer(names)

    def _answer(self, names: list[str]) -> Json:
        names.sort()
        return answer(names[0], names[self.place - 1], names[-1])

    def routes(self) -> Mapping[str, Route]:
        return {"reading-everything": self._everything}

    def _everything(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "All Customers")
        found = yield from pages.all_lines(page)
        return self._answer([line["Name"] for line in found if line["State"] in self._states()])


@dataclass(frozen=True)
class RefundsFor(Template):
    """Add up the credit memos of some months that have one reason."""

    name = "admin.refunds-for"
    kind = "retrieve"
    chore = "calculation"
    instruction = (
        'How much was refunded with credit memos that give the reason "{reason}" and were created from {first} to '
        "{last}, both days included? Answer with one amount."
    )
    levels = ("medium", "hard")

    user: str
    reason: str
    first: str
    last: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        span = office.some_days(stream, *range(2, 10))
        drawn = cls(office.chief(stream), stream.choice(("Returned goods", "Damaged in transit", "Goodwill")), *span)
        return drawn if len(drawn._memos(worlds)) >= 3 else None

    def _memos(self, worlds: Worlds, every: bool = False) -> list[Row]:
        found = office.rows(
            worlds["admin"],
            "SELECT * FROM refunds WHERE substr(created_at, 1, 10) BETWEEN ? AND ? ORDER BY created_at DESC, id DESC",
            self.first, self.last,
        )  # fmt: skip
        return [one for one in found if every or one["reason"] == self.reason]

    @staticmethod
    def _sum(memos: list[Row]) -> Key:
        return Key.answer(money(sum(one["amount_cents"] for one in memos)))

    def key(self, worlds: Worlds) -> Key:
        memos = self._memos(worlds)
        facts = office.seen(shown(one["number"], self.reason, office.amount(one["amount_cents"])) for one in memos)
        return self._sum(memos) & facts & Key.checkpoint("credit memos", office.page("/refunds"))

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        memos, every = self._memos(worlds), self._memos(worlds, every=True)
        found = {}
        if len(every) > len(memos):
            found["reason-ignored"] = self._sum(every)
        if len(memos) > pages.FEW_ROWS:
            found["first-page-only"] = self._sum(memos[: pages.FEW_ROWS])
        found["without-the-last"] = self._sum(memos[:-1])
        return found

    def effort(self, worlds: Worlds) -> Effort:
        count = len(self._memos(worlds))
        return Effort(count, pages_of(count, pages.ROWS_ON_A_PAGE), 10, longest=12)

    def solve(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Credit Memos")
        typed = {"Reason": self.reason, "Created from": self.first, "Created to": self.last}
        page = yield from pages.narrow(page, typed)
        return self._answer((yield from pages.all_lines(page)))

    def _answer(self, found: list[pages.Line]) -> Json:
        return answer(pages.dollars(sum(pages.cents(one["Refunded"]) for one in found if one["Reason"] == self.reason)))

    def routes(self) -> Mapping[str, Route]:
        return {"by-days-only": self._by_days}

    def _by_days(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Credit Memos")
        typed = {"Created from": office.typed(self.first), "Created to": office.typed(self.last)}
        page = yield from pages.narrow(page, typed)
        return self._answer((yield from pages.all_lines(page)))


@dataclass(frozen=True)
class StockOfBrand(Template):
    """Add up the stock of a brand, and what it is worth."""

    name = "admin.stock-of-brand"
    kind = "retrieve"
    chore = "calculation"
    instruction = (
        "How many pieces of products that cost at least ${least} are in stock whose name contains {brand}, all "
        "together, and what would they cost at today's prices? Answer with one object with the keys "
        '"pieces" and "worth".'
    )
    levels = ("medium",)

    user: str
    brand: str
    least: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        found = office.pick(stream, office.brands(worlds["admin"], most=120))
        if found is None:
            return None
        drawn = cls(office.chief(stream), found["brand"], stream.choice((15, 20, 30, 40)))
        products = drawn._products(worlds)
        close = any(one["price_cents"] == drawn.least * 100 for one in products)
        return drawn if len(drawn._in_stock(products)) >= 5 and not close else None

    def _products(self, worlds: Worlds) -> list[Row]:
        return office.rows(
            worlds["admin"], "SELECT * FROM products WHERE instr(lower(name), lower(?)) ORDER BY id", self.brand
        )

    def _fitting(self, products: list[Row]) -> list[Row]:
        return [one for one in products if one["price_cents"] >= self.least * 100]

    def _in_stock(self, products: list[Row]) -> list[Row]:
        """Those that add something: a filter can leave out the others."""
        return [one for one in self._fitting(products) if one["stock"]]

    @staticmethod
    def _said(products: list[Row]) -> Key:
        worth = sum(one["stock"] * one["price_cents"] for one in products)
        return Key.answer({"pieces": sum(one["stock"] for one in products), "worth": money(worth)})

    def key(self, worlds: Worlds) -> Key:
        fitting = self._in_stock(self._products(worlds))
        facts = office.seen(shown(one["sku"], office.amount(one["price_cents"]), str(one["stock"])) for one in fitting)
        return self._said(fitting) & facts & Key.checkpoint("products", office.page("/products"))

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        products = self._products(worlds)
        found = {"price-ignored": self._said(products)}
        fitting = self._fitting(products)
        if len(fitting) > pages.FEW_ROWS:
            found["first-page-only"] = self._said(fitting[: pages.FEW_ROWS])
        return found

    def effort(self, worlds: Worlds) -> Effort:
        count = len(self._fitting(self._products(worlds)))
        return Effort(count, pages_of(count, pages.ROWS_ON_A_PAGE), 10, longest=12)

    def solve(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Products")
        page = yield from pages.narrow(page, {"Name": self.brand, "Price from": str(self.least)})
        return self._answer((yield from pages.all_lines(page)))

    def _answer(self, found: list[pages.Line]) -> Json:
        fitting = [
            (int(one["Quantity"]), pages.cents(one["Price"]))
            for one in found
            if pages.cents(one["Price"]) >= self.least * 100 and self.brand.lower() in one["Name"].lower()
        ]
        worth = pages.dollars(sum(pieces * cents for pieces, cents in fitting))
        return answer({"pieces": sum(pieces for pieces, _ in fitting), "worth": worth})

    def routes(self) -> Mapping[str, Route]:
        return {"by-keyword": self._by_keyword, "in-stock-only": self._in_stock_only}

    def _by_keyword(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Products")
        page = yield from pages.search(page, self.brand)
        return self._answer((yield from pages.all_lines(page)))

    def _in_stock_only(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Products")
        typed = {"Name": self.brand, "Price from": str(self.least), "Quantity from": "1"}
        page = yield from pages.narrow(page, typed)
        return self._answer((yield from pages.all_lines(page)))


@dataclass(frozen=True)
class BestOfMonths(Template):
    """Name the best-selling product of each month."""

    name = "admin.best-of-months"
    kind = "retrieve"
    chore = "massive_memory"
    instruction = (
        "Which product sold best in each month from {since} to {until}, according to the bestsellers report? Answer "
        "with the quantities that were ordered of these products, one for each month, in the order of the months."
    )
    reads = ("*",)
    levels = ("medium",)

    user: str
    month: str
    count: int
    since: str
    until: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        months = office.months_from(f"{stream.between(2022, 2025)}-{stream.between(1, 7):02d}", stream.between(4, 7))
        drawn = cls(
            office.chief(stream), months[0], len(months), office.in_words(months[0]), office.in_words(months[-1])
        )
        best = drawn._best(worlds)
        if min(map(len, best)) < 2:
            return None
        return drawn if len({one[0]["pieces"] for one in best}) >= 3 else None

    def _best(self, worlds: Worlds) -> list[list[Row]]:
        """The two best of each month."""
        months = office.months_from(self.month, self.count)
        return [office.bestsellers(worlds["admin"], month)[:2] for month in months]

    def key(self, worlds: Worlds) -> Key:
        best = [one[0] for one in self._best(worlds)]
        facts = office.seen(office.bestseller(one) for one in best)
        return (
            Key.answer(*(one["pieces"] for one in best), ordered=True)
            & facts
            & Key.checkpoint("the report", office.page("/reports/bestsellers"))
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        best = self._best(worlds)
        return {
            "latest-first": Key.answer(*(one[0]["pieces"] for one in reversed(best)), ordered=True),
            "second-best": Key.answer(*(one[1]["pieces"] for one in best), ordered=True),
        }

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=5 * self.count, pages=1, steps=9, longest=1 + 7 * self.count)

    def solve(self, page: Observation) -> Walk:
        months = office.months_from(self.month, self.count)
        first, last = office.month_span(months[0])[0], office.month_span(months[-1])[1]
        page = yield from pages.report(page, "Bestsellers", (office.typed(first), office.typed(last)), "Month")
        best: dict[str, int] = {}
        for line in pages.lines(page):
            best.setdefault(line["Interval"], int(line["Order Quantity"]))
        return answer(*(best[month] for month in months))

    def routes(self) -> Mapping[str, Route]:
        return {"month-by-month": self._month_by_month}

    def _month_by_month(self, page: Observation) -> Walk:
        found: list[Json] = []
        for month in office.months_from(self.month, self.count):
            page = yield from pages.report(page, "Bestsellers", office.month_span(month), "Month")
            found.append(int(pages.lines(page)[0]["Order Quantity"]))
        return answer(*found)


@dataclass(frozen=True)
class BestReviewed(Template):
    """Find the product with the lowest average of all its reviews in a month."""

    name = "admin.worst-average"
    kind = "retrieve"
    chore = "massive_memory"
    instruction = (
        "Of the products that got at least {least} reviews from {first} to {last}, both days included, whatever became "
        "of the reviews: which one has the lowest average rating in this time? Answer with its SKU."
    )
    reads = ("*",)
    levels = ("medium", "hard")

    user: str
    first: str
    last: str
    least: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        months = office.months_from(f"{stream.between(2022, 2025)}-{stream.between(1, 10):02d}", stream.between(1, 3))
        span = office.month_span(months[0])[0], office.month_span(months[-1])[1]
        drawn = cls(office.chief(stream), *span, stream.between(4, 8))
        found = drawn._averages(worlds)
        return drawn if len(found) >= 5 and found[0]["shown"] != found[1]["shown"] else None

    def _averages(self, worlds: Worlds, least: int = 0) -> list[Row]:
        """The lowest first."""
        found = office.rows(
            worlds["admin"],
            "SELECT p.name, p.sku, count(*) AS n, printf('%.2f', avg(v.rating)) AS shown, avg(v.rating) AS average"
            " FROM reviews AS v JOIN products AS p ON p.id = v.product_id WHERE substr(v.created_at, 1, 10)"
            " BETWEEN ? AND ? GROUP BY p.id ORDER BY average, p.id",
            self.first, self.last,
        )  # fmt: skip
        return [one for one in found if one["n"] >= (least or self.least)]

    def key(self, worlds: Worlds) -> Key:
        found = self._averages(worlds)
        facts = office.seen(shown(one["sku"], str(one["n"]), one["shown"]) for one in office.spread(found))
        return (
            Key.answer(found[0]["sku"])
            & facts
            & Key.checkpoint("the report", office.page("/reports/reviews-by-product"))
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        found = self._averages(worlds)
        return {
            "highest": Key.answer(found[-1]["sku"]),
            "few-reviews-count": Key.answer(self._averages(worlds, 1)[0]["sku"]),
            "most-reviews": Key.answer(max(found, key=lambda one: int(one["n"]))["sku"]),
        }

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=len(self._averages(worlds)), pages=1, steps=7, longest=8)

    def _answer(self, page: Observation) -> Json:
        fitting = [one for one in pages.lines(page) if int(one["Reviews"]) >= self.least]
        return answer(min(fitting, key=lambda one: float(one["Average"]))["SKU"])

    def solve(self, page: Observation) -> Walk:
        days = office.typed(self.first), office.typed(self.last)
        return self._answer((yield from pages.report(page, "Reviews by Products", days)))

    def routes(self) -> Mapping[str, Route]:
        return {"by-address": self._by_address}

    def _by_address(self, page: Observation) -> Walk:
        page = yield from pages.goto(page, f"/reports/reviews-by-product?report=1&from={self.first}&to={self.last}")
        return self._answer(page)


@dataclass(frozen=True)
class SearchesInVain(Template):
    """List the searches that were made often and found little."""

    name = "admin.searches-in-vain"
    kind = "retrieve"
    chore = "massive_memory"
    instruction = (
        "Which search terms were used at least {uses} times and found fewer than {results} products, according to the "
        "report on search terms? Answer with these terms."
    )
    reads = ("*",)
    levels = ("hard",)
    _USES: ClassVar = (20, 30, 40, 50, 60, 70, 80, 90, 100, 120, 150, 200, 250)
    _RESULTS: ClassVar = (2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30)

    user: str
    uses: int
    results: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        user = office.chief(stream)
        chosen = office.pick(stream, cls._fair(worlds))
        return cls(user, chosen["uses"], chosen["results"]) if chosen else None

    @classmethod
    def _fair(cls, worlds: Worlds) -> list[Row]:
        """In a small shop every search finds little, so that other numbers tell them apart than in a large one, and
        few may have been used often enough."""
        for least, uses in ((60, cls._USES), (15, range(50, 500, 10))):
            found = office.rows(
                worlds["admin"],
                "SELECT u.value AS uses, r.value AS results FROM search_terms AS s, json_each(?) AS u, json_each(?)"
                " AS r WHERE s.uses >= u.value GROUP BY u.key, r.key HAVING count(*) >= ?"
                " AND sum(s.results < r.value) BETWEEN 3 AND 15 ORDER BY u.key, r.key",
                json.dumps(list(uses)), json.dumps(cls._RESULTS), least,
            )  # fmt: skip
            if len(found) >= 5:
                return found
        return found

    def _terms(self, worlds: Worlds) -> list[Row]:
        return office.rows(worlds["admin"], "SELECT * FROM search_terms ORDER BY uses DESC, term")

    def _fitting(self, worlds: Worlds) -> list[Row]:
        return self._of(self._terms(worlds))

    def _of(self, terms: list[Row]) -> list[Row]:
        return [one for one in self._often(terms) if one["results"] < self.results]

    def _often(self, terms: list[Row]) -> list[Row]:
        return [one for one in terms if one["uses"] >= self.uses]

    @staticmethod
    def _said(terms: list[Row]) -> Key:
        return Key.answer(*(one["term"] for one in terms))

    def key(self, worlds: Worlds) -> Key:
        fitting = self._fitting(worlds)
        facts = office.seen(shown(one["term"], str(one["results"]), str(one["uses"])) for one in fitting)
        return self._said(fitting) & facts & Key.checkpoint("the report", office.page("/reports/search-terms"))

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        terms = self._terms(worlds)
        return {
            "results-ignored": self._said(self._often(terms)),
            "uses-ignored": self._said([one for one in terms if one["results"] < self.results]),
        }

    def effort(self, worlds: Worlds) -> Effort:
        """The report has those on top that were used the most."""
        return Effort(rows=len(self._often(self._terms(worlds))), pages=1, steps=4)

    def _answer(self, page: Observation) -> Json:
        fitting = [
            one for one in pages.lines(page) if int(one["Uses"]) >= self.uses and int(one["Results"]) < self.results
        ]
        return answer(*(one["Search Query"] for one in fitting))

    def solve(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "All Reports")
        return self._answer((yield from click(page, "link", "Search Terms")))

    def routes(self) -> Mapping[str, Route]:
        return {"by-address": self._by_address}

    def _by_address(self, page: Observation) -> Reading[Json]:
        return self._answer((yield from pages.goto(page, "/reports/search-terms")))
