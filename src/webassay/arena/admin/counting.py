"""Long lists to count in: who paid, what was reviewed, where the products stand."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from webassay.arena.admin import office, pages
from webassay.arena.admin.longlists import BetweenDays, LongList
from webassay.arena.kit.key import Key, fact, money, shown
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Worlds
from webassay.arena.kit.walking import answer
from webassay.core.record import Json
from webassay.core.task import Fact, Sight
from webassay.sites.kit import Row
from webassay.sites.rng import Stream


@dataclass(frozen=True)
class TopPayer(BetweenDays):
    """Find whose invoices come to the most."""

    name = "admin.top-payer"
    chore = "massive_memory"
    instruction = (
        "Add up the grand totals of the invoices with an invoice date from {first} to {last}, both days included, for "
        "each bill-to name. Which name comes to the most, and to how much? Answer with one object with the keys "
        '"name" and "total".'
    )
    reads = ("name",)
    menu = "Invoices"
    path = "/invoices"
    column = "Invoice Date"

    user: str
    first: str
    last: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        drawn = cls(office.chief(stream), *office.some_days(stream, 1, 2, 12))
        best = drawn._ranked(drawn.rows(worlds))
        return drawn if len(best) >= 2 and best[0][1] > best[1][1] else None

    def rows(self, worlds: Worlds) -> list[Row]:
        return office.rows(
            worlds["admin"],
            "SELECT i.number, o.number AS order_number, o.total_cents, b.first_name || ' ' || b.last_name AS bill_to"
            " FROM invoices AS i JOIN orders AS o ON o.id = i.order_id JOIN order_addresses AS b"
            " ON b.order_id = o.id AND b.kind = 'billing' WHERE substr(i.created_at, 1, 10)"
            " BETWEEN ? AND ? ORDER BY i.created_at DESC, i.id DESC",
            self.first, self.last,
        )  # fmt: skip

    def sight(self, row: Row) -> Sight:
        return shown(row["bill_to"], office.amount(row["total_cents"]))

    @staticmethod
    def _ranked(rows: list[Row]) -> list[tuple[str, int]]:
        sums: Counter[str] = Counter()
        for one in rows:
            sums[one["bill_to"]] += one["total_cents"]
        return sums.most_common(2)

    @staticmethod
    def _said(name: str, cents: int) -> Key:
        return Key.answer({"name": name, "total": money(cents)})

    def key(self, worlds: Worlds) -> Key:
        return self._said(*self._ranked(self.rows(worlds))[0]) & self.read(worlds)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        rows = self.rows(worlds)
        largest = max(rows, key=lambda one: int(one["total_cents"]))
        return {
            "largest-invoice": self._said(largest["bill_to"], largest["total_cents"]),
            "first-page-only": self._said(*self._ranked(rows[: pages.FEW_ROWS])[0]),
        }

    def findings(self, lines: list[pages.Line]) -> Json:
        sums: Counter[str] = Counter()
        for one in lines:
            sums[one["Bill-to Name"]] += pages.cents(one["Grand Total"])
        ((name, total),) = sums.most_common(1)
        return answer({"name": name, "total": pages.dollars(total)})


@dataclass(frozen=True)
class ReviewedByCustomers(BetweenDays):
    """Count the products that customers, not guests, have reviewed in some months."""

    name = "admin.reviewed-by-customers"
    chore = "massive_memory"
    instruction = (
        "How many different products got at least one review by a customer, not by a guest, that was created from "
        "{first} to {last}, both days included, whatever became of it? Answer with one number."
    )
    menu = "All Reviews"
    path = "/reviews"
    column = "Created"

    user: str
    first: str
    last: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        drawn = cls(office.chief(stream), *office.some_days(stream, 2, 3, 24))
        rows = drawn.rows(worlds)
        return drawn if len(rows) >= 60 and len({one["sku"] for one in rows}) < len(rows) else None

    def every(self, worlds: Worlds) -> list[Row]:
        return office.rows(
            worlds["admin"],
            "SELECT v.id, v.nickname, v.title, v.customer_id, p.sku, p.name FROM reviews AS v"
            " JOIN products AS p ON p.id = v.product_id"
            " WHERE substr(v.created_at, 1, 10) BETWEEN ? AND ? ORDER BY v.created_at DESC, v.id DESC",
            self.first, self.last,
        )  # fmt: skip

    def chosen(self) -> Mapping[str, str]:
        return {"Type": "Customer"}

    def rows(self, worlds: Worlds) -> list[Row]:
        return [one for one in self.every(worlds) if one["customer_id"] is not None]

    def sight(self, row: Row) -> Fact:
        known = (str(row["id"]), row["nickname"], row["title"])
        return fact(*(shown(name, product) for name in known for product in (row["sku"], row["name"])))

    @staticmethod
    def _said(rows: list[Row]) -> Key:
        return Key.answer(len({one["sku"] for one in rows}), unit="products")

    def key(self, worlds: Worlds) -> Key:
        return self._said(self.rows(worlds)) & self.read(worlds)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        rows = self.rows(worlds)
        return {
            "reviews-counted": Key.answer(len(rows), unit="products"),
            "guests-counted": self._said(self.every(worlds)),
            "first-page-only": self._said(rows[: pages.FEW_ROWS]),
        }

    def findings(self, lines: list[pages.Line]) -> Json:
        return answer(len({one["SKU"] for one in lines}))


@dataclass(frozen=True)
class CrowdedCategory(LongList):
    """Find the category with the most products of a price range."""

    name = "admin.crowded-category"
    chore = "massive_memory"
    instruction = (
        "Of the products that cost from ${low} to ${high}, both included: which category, as the list of products "
        'names it, has the most of them? Answer with one object with the keys "category" and "products", their number.'
    )
    reads = ("category",)
    menu = "Products"
    path = "/products"
    column = "Price"

    user: str
    low: int
    high: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        low = stream.between(10, 60)
        drawn = cls(office.chief(stream), low, low + stream.choice((3, 5, 25, 40)))
        best = drawn._ranked(drawn.rows(worlds))
        return drawn if len(best) == 2 and best[0][1] > best[1][1] and len(drawn.rows(worlds)) >= 60 else None

    def typed(self) -> Mapping[str, str]:
        return {"Price from": str(self.low), "Price to": f"{self.high}.00"}

    def rows(self, worlds: Worlds) -> list[Row]:
        return office.rows(
            worlds["admin"],
            "SELECT p.id, p.sku, p.name, p.price_cents, k.name AS category FROM products AS p JOIN categories AS k"
            " ON k.id = p.category_id WHERE p.price_cents BETWEEN ? AND ? ORDER BY p.id",
            self.low * 100, self.high * 100,
        )  # fmt: skip

    def sight(self, row: Row) -> Fact:
        return office.row_by((row["sku"], row["name"]), row["category"])

    @staticmethod
    def _ranked(rows: list[Row]) -> list[tuple[str, int]]:
        return Counter(one["category"] for one in rows).most_common(2)

    @staticmethod
    def _said(name: str, count: int) -> Key:
        return Key.answer({"category": name, "products": count})

    def key(self, worlds: Worlds) -> Key:
        return self._said(*self._ranked(self.rows(worlds))[0]) & self.read(worlds)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        rows = self.rows(worlds)
        every = office.rows(
            worlds["admin"],
            "SELECT k.name AS category FROM products AS p JOIN categories AS k ON k.id = p.category_id ORDER BY p.id",
        )
        return {
            "first-page-only": self._said(*self._ranked(rows[: pages.FEW_ROWS])[0]),
            "price-ignored": self._said(*self._ranked(every)[0]),
        }

    def findings(self, lines: list[pages.Line]) -> Json:
        ((name, count),) = Counter(one["Category"] for one in lines).most_common(1)
        return answer({"category": name, "products": count})
