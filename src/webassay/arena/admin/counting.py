"""Long lists to count in: who paid, what was reviewed, where the products stand."""

from collections import Counter
from collections.abc import Mapping
from operator import itemgetter
from typing import Self

from webassay.arena.admin import office, pages
from webassay.arena.admin.longlists import DatedList, WholeList
from webassay.arena.kit.key import Key, money
from webassay.arena.kit.template import Parts, clear, fair, top
from webassay.arena.kit.walking import answer
from webassay.core.record import Json
from webassay.sites.kit import World
from webassay.sites.rng import Stream


class TopPayer(DatedList):
    """Find whose invoices come to the most."""

    name = "admin.top-payer"
    chore = "massive_memory"
    instruction = (
        "Which bill-to name has the highest sum of grand totals on invoices dated from {first} through {last}? "
        'Answer with an object: "name" and "total" (the sum).'
    )
    reads = ("name",)
    menu = "Invoices"
    path = "/invoices"
    column = "Invoice Date"
    needed_columns = ("Bill-to Name", "Grand Total")
    misread = {"largest-invoice": {"by": "number"}, "first-page-only": {"limit": pages.FEW_ROWS}}

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(office.chief(stream), *office.some_days(stream, 1, 2, 12))

    def end(self, world: World, *, by: str = "bill_to", limit: int | None = None) -> Parts:
        rows = office.invoices(world, self.first, self.last)
        sums, names = Counter[str](), dict[str, str]()
        for one in rows[:limit]:
            sums[one[by]] += one["total_cents"]
            names[one[by]] = one["bill_to"]
        ranked = sums.most_common(2)
        yield fair(clear(ranked, itemgetter(1)))
        best, total = top(ranked)
        yield Key.answer({"name": names[best], "total": money(total)})
        yield from self.read(rows, "invoices", more=map(office.invoice_total, office.spread(rows)))

    def findings(self, lines: list[pages.Line]) -> Json:
        sums: Counter[str] = Counter()
        for one in lines:
            sums[one["Bill-to Name"]] += pages.cents(one["Grand Total"])
        ((name, total),) = sums.most_common(1)
        return answer({"name": name, "total": pages.dollars(total)})


class ReviewedByCustomers(DatedList):
    """Count the products that customers, not guests, have reviewed in some months."""

    name = "admin.reviewed-by-customers"
    chore = "massive_memory"
    instruction = (
        "How many different products did customers review from {first} through {last}? Count reviews with any "
        "status, but no reviews by guests. Answer with the number of products."
    )
    menu = "All Reviews"
    path = "/reviews"
    column = "Created"
    needed_columns = ("SKU",)
    steps = 10
    misread = {
        "reviews-counted": {"each": "id"},
        "guests-counted": {"guests": True},
        "first-page-only": {"limit": pages.FEW_ROWS},
    }

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(office.chief(stream), *office.some_days(stream, 2, 3, 24))

    def chosen(self) -> Mapping[str, str]:
        return {"Type": "Customer"}

    def end(self, world: World, *, each: str = "sku", guests: bool = False, limit: int | None = None) -> Parts:
        every = office.reviews_between(world, self.first, self.last)
        rows = [one for one in every if guests or one["customer_id"] is not None]
        count = len({one[each] for one in rows[:limit]})
        yield fair(len(rows) >= 60, count < len(rows))
        yield Key.answer(count, unit="products")
        yield from self.read(rows, "reviews")

    def findings(self, lines: list[pages.Line]) -> Json:
        return answer(len({one["SKU"] for one in lines}))


class CrowdedCategory(WholeList):
    """Find the category with the most products of a price range."""

    name = "admin.crowded-category"
    chore = "massive_memory"
    instruction = (
        "Look at the products with a price of at least ${low} and at most ${high}. Which category has the most of "
        'them? Answer with an object: "category" (as the Products page shows it) and "products" (how many).'
    )
    reads = ("category",)
    menu = "Products"
    path = "/products"
    column = "Price"
    needed_columns = ("Category",)
    misread = {"first-page-only": {"limit": pages.FEW_ROWS}, "price-ignored": {"low": 0, "high": 10**6}}

    low: int
    high: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        low = stream.between(10, 60)
        return cls(office.chief(stream), low, low + stream.choice((3, 5, 25, 40)))

    def typed(self) -> Mapping[str, str]:
        return {"Price from": str(self.low), "Price to": f"{self.high}.00"}

    def end(self, world: World, *, limit: int | None = None) -> Parts:
        rows = office.rows(
            world,
            "SELECT p.id, p.sku, p.name, p.price_cents, k.name AS category FROM products AS p JOIN categories AS k"
            " ON k.id = p.category_id WHERE p.price_cents BETWEEN ? AND ? ORDER BY p.id",
            self.low * 100, self.high * 100,
        )  # fmt: skip
        ranked = Counter(one["category"] for one in rows[:limit]).most_common(2)
        yield fair(clear(ranked, itemgetter(1)), len(rows) >= 60)
        category, count = top(ranked)
        yield Key.answer({"category": category, "products": count})
        yield from self.read(rows, "products")

    def findings(self, lines: list[pages.Line]) -> Json:
        ((name, count),) = Counter(one["Category"] for one in lines).most_common(1)
        return answer({"category": name, "products": count})
