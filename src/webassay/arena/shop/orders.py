"""One's own orders: looking through them."""

from collections.abc import Callable
from operator import itemgetter
from typing import Self

from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key, money
from webassay.arena.kit.template import Navigate, Parts, Retrieve, clear, fair, top
from webassay.arena.kit.walking import answer, click, done, go_back
from webassay.arena.shop import facts, pages, queries
from webassay.arena.shop.history import ANY, FIRST_PAGE, ReadHistory
from webassay.core.interaction import Observation, Walk
from webassay.core.record import Json
from webassay.core.task import Expectation
from webassay.sites.kit import Row, World
from webassay.sites.rng import NothingToDraw, Stream

YEARS = range(2015, 2030)
"""All in which there may be orders."""


class MonthSpend(Retrieve):
    """Add up one month's orders, without the canceled ones."""

    name = "shop.month-spend"
    chore = "calculation"
    instruction = (
        "What is the sum of the order totals of my orders of {month}? Do not count canceled orders. Answer with the "
        "amount."
    )
    levels = ("easy", "medium")
    misread = {
        "canceled-counted": {"canceled": True},
        "without-shipping-and-tax": {"amount": "subtotal_cents"},
        "one-missed": {"missed": 1},
        "newest-month": {"newest": True},
        **{f"same-month-of-{year}": {"year": year} for year in YEARS},
    }
    may_agree = ("newest-month",)
    ways = {"order-by-order": {"opening": True}}

    user: str
    month: str
    year_month: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        user = queries.shopper(world, stream, *stream.choice(((12, 60), (200, 400))))
        some_of_each = "sum(o.status <> 'canceled') >= 2 AND sum(o.status = 'canceled') >= 1"
        return cls(user, *queries.month_of_orders(world, stream, user, some_of_each))

    def end(
        self,
        world: World,
        *,
        amount: str = "total_cents",
        canceled: bool = False,
        missed: int = 0,
        newest: bool = False,
        year: int = 0,
    ) -> Parts:
        own_year, own_month = self.year_month.split("-")
        if year and abs(year - int(own_year)) != 1:
            raise NothingToDraw
        month = f"{year or own_year}-{own_month}"
        if newest:
            month = queries.orders_of(world, self.user)[0]["created_at"][:7]
        orders = queries.orders_during(world, self.user, month)
        counted = [one for one in orders if canceled or one["status"] != "canceled"]
        if year and not counted:
            raise NothingToDraw
        yield Key.answer(money(sum(one[amount] for one in counted[: len(counted) - missed])))
        yield Key.seen_share(1.0, [facts.order_total(one) for one in orders])
        yield facts.LIST
        first, last = (queries.list_page(world, self.user, one["number"]) for one in (orders[0], orders[-1]))
        yield Effort(rows=len(orders), pages=last - first + 1, steps=last + 4, longest=last + 2 * len(orders) + 5)

    def solve(self, page: Observation, *, opening: bool = False) -> Walk:
        def fits(order: pages.Order) -> bool:
            return order.year_month == self.year_month

        def past(order: pages.Order) -> bool:
            return order.year_month < self.year_month

        if opening:
            orders = [order for order, _ in (yield from pages.read_orders(page, fits, past))]
        else:
            orders = yield from pages.all_orders_until(page, past)
        kept = [order for order in orders if fits(order) and order.status != "canceled"]
        return answer(pages.dollars(sum(order.cents for order in kept)))


class OrdersByStatus(ReadHistory):
    """Count and add up the larger orders with one status."""

    name = "shop.orders-by-status"
    chore = "massive_memory"
    instruction = (
        "How many of my orders have the status {status} and an order total of more than ${above}, and what is the "
        'sum of these order totals? Answer with an object: "count" and "total".'
    )
    levels = ("easy", "medium", "extreme")
    misread = {
        "first-page-only": FIRST_PAGE,
        "amount-ignored": {"above": -1},
        "status-ignored": {"status": ""},
        "total-of-all": {"adding_all": True},
    }

    status: str
    above: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        user = queries.shopper(world, stream, *stream.choice(((11, 20), (21, 70), (200, 400))))
        # Only new orders are pending or being processed: nobody would read on for those.
        status = stream.choice(("complete", "canceled"))
        return cls(user, status, stream.choice((30, 40, 50, 60, 75, 80, 90, 100, 120, 150, 180, 200, 250)))

    def conclusion(self, orders: list[Row], *, adding_all: bool = False) -> Parts:
        larger = [one for one in orders if one["total_cents"] > self.above * 100]
        fitting = [one for one in larger if self.status in (ANY, one["status"])]
        yield fair(len(fitting) >= 2, all(one["total_cents"] != self.above * 100 for one in orders))
        total = sum(map(queries.total, orders if adding_all else fitting))
        yield Key.answer({"count": Expectation.of(len(fitting), unit="orders"), "total": money(total)})
        yield facts.read_orders(orders, fitting)

    def response(self, orders: list[pages.Order]) -> Json:
        kept = [order.cents for order in orders if order.status == self.status and order.cents > self.above * 100]
        return answer({"count": len(kept), "total": pages.dollars(sum(kept))})


class DearestPurchase(Retrieve):
    """Find the most expensive article bought in a year."""

    name = "shop.dearest-purchase"
    chore = "long_term_memory"
    instruction = (
        "What was the most expensive product I ordered in {year}, by the price of a single piece on the order? "
        "Include orders with any status. Answer with the SKU."
    )
    reads = ("*",)
    levels = ("medium", "hard")
    misread = {
        "highest-subtotal": {"by": queries.subtotal},
        "largest-order": {"largest": True},
        "any-year": {"any_year": True},
    }
    ways = {"skipping-small-orders": {"skipping": True}}

    user: str
    year: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(queries.shopper(world, stream, 6, 400), stream.between(2021, 2025))

    def end(
        self,
        world: World,
        *,
        by: Callable[[Row], int] = queries.unit_price,
        largest: bool = False,
        any_year: bool = False,
    ) -> Parts:
        orders = queries.orders_during(world, self.user, "" if any_year else f"{self.year}-")
        yield fair(3 <= len(orders) <= 40)
        opened = [max(orders, key=queries.total)] if largest else orders
        items = [item for one in opened for item in queries.order_items(world, one["number"])]
        ranked = sorted(items, key=by, reverse=True)
        dearest = top(ranked)
        # With a coupon an order can come to less than this article, and who goes by the totals would never open it.
        total = next(queries.total(one) for one in orders if one["id"] == dearest["order_id"])
        yield fair(clear(ranked, by), total >= queries.unit_price(dearest))
        yield Key.answer(dearest["sku"])
        # For the same reason nobody has to open an order that came to less.
        needed = [one["number"] for one in orders if queries.total(one) >= queries.unit_price(dearest)]
        lines = [max(queries.order_items(world, number), key=queries.unit_price) for number in needed]
        yield facts.seen([facts.bought(line) for line in lines])
        yield Key.seen_share(1.0, [facts.order_total(one) for one in orders])
        yield facts.LIST
        numbers = [one["number"] for one in orders]
        yield Key.all_of(Key.checkpoint(f"order {number}", queries.order_page(number)) for number in numbers)
        last = queries.list_page(world, self.user, numbers[-1])
        yield Effort(rows=len(items), pages=len(orders) + 1, steps=last + 2 * len(orders) + 5)

    def solve(self, page: Observation, *, skipping: bool = False) -> Walk:
        """With `skipping`, leaves out orders that came to less than the best price so far."""
        best = pages.Item("", "", 0, 0)
        page = yield from pages.open_orders(page)
        while True:
            for order in pages.listed_orders(page):
                if order.year < self.year:
                    return answer(best.sku)
                if order.year == self.year and (order.cents > best.cents or not skipping):
                    opened = yield from click(page, "link", f"View Order {order.number}")
                    best = max((best, *pages.items(opened)), key=lambda item: item.cents)
                    page = yield from go_back()
            if page.find("link", "Next") is None:
                return answer(best.sku)
            page = yield from click(page, "link", "Next")


def _all_pieces(item: Row) -> int:
    return int(item["weight_oz"] * item["quantity"])


class OrderWeight(Retrieve):
    """Add up the weights of an order, product page by product page."""

    name = "shop.order-weight"
    chore = "long_term_memory"
    instruction = (
        "How much do all items of my order {order} weigh together? Use the weights on the product pages, and count "
        "the quantities. Answer with the number of ounces (a pound has 16 ounces)."
    )
    levels = ("medium",)
    misread = {
        "quantities-ignored": {"weight": itemgetter("weight_oz")},
        "pounds-overlooked": {"weight": lambda item: item["weight_oz"] % 16 * item["quantity"]},
        "ounces-overlooked": {"weight": lambda item: item["weight_oz"] // 16 * 16 * item["quantity"]},
        "first-article-only": {"those": slice(1)},
        "last-article-missed": {"those": slice(-1)},
    }
    ways = {"by-search": {"searching": True}}

    user: str
    order: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        user = queries.shopper(world, stream)
        return cls(user, queries.some_order(world, stream, user, "count(*) >= 3"))

    def end(self, world: World, *, weight: Callable[[Row], int] = _all_pieces, those: slice = slice(None)) -> Parts:
        items = queries.order_items(world, self.order)
        yield Key.answer(sum(map(weight, items[those])), unit="ounces")
        weights = [facts.weighed({**item, "id": item["product_id"]}) for item in items]
        yield facts.seen([*map(facts.bought, items), *weights])
        yield Key.checkpoint("order", queries.order_page(self.order))
        yield Key.all_of(Key.checkpoint(item["sku"], queries.product_page(item["slug"])) for item in items)
        listed, count = queries.list_page(world, self.user, self.order), len(items)
        yield Effort(rows=2 * count, pages=count + 1, steps=listed + 3 * count + 4)

    def solve(self, page: Observation, *, searching: bool = False) -> Walk:
        page = yield from pages.open_order(page, self.order)
        total = 0
        for item in pages.items(page):
            page = yield from (pages.open_product(page, item.name) if searching else click(page, "link", item.name))
            total += item.quantity * pages.ounces(page)
            if not searching:
                page = yield from go_back()
        return answer(total)


class OpenOrderWith(Navigate):
    """Open the order that contains an article."""

    name = "shop.open-order-with"
    chore = "long_term_memory"
    instruction = 'Open the page of the order with which I bought "{product}".'
    levels = ("medium", "hard")
    misread = {
        "newest-order": {"newest": True},
        "oldest-order": {"other": itemgetter(-1)},
        "largest-order": {"other": lambda orders: max(orders, key=queries.total)},
    }
    ways = {"oldest-first": {"oldest_first": True}}

    user: str
    product: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        user = queries.shopper(world, stream, 6, 45)
        bought = queries.rows(
            world,
            "SELECT DISTINCT i.name FROM order_items AS i JOIN orders AS o ON o.id = i.order_id"
            " JOIN customers AS c ON c.id = o.customer_id WHERE c.email = ? ORDER BY 1",
            user,
        )
        return cls(user, stream.choice(bought)["name"])

    def end(self, world: World, *, newest: bool = False, other: Callable[[list[Row]], Row] | None = None) -> Parts:
        orders = queries.orders_of(world, self.user)
        containing = queries.orders_with(world, self.user, self.product)
        yield fair(len(containing) == 1)
        order = orders[0] if newest else other(orders) if other else containing[0]
        yield Key.page(queries.order_page(order["number"]))
        items = queries.order_items(world, order["number"])
        yield facts.seen([next(facts.bought(item) for item in items if item["name"] == self.product)])
        yield facts.LIST
        count, place = len(orders), orders.index(order) + 1
        listed = pages_of(count, pages.ORDERS_ON_A_PAGE)
        backward = 2 * (count - place + 1) + 2 * listed + 4
        yield Effort(rows=place, pages=place + 1, steps=2 * place + listed + 4, longest=backward)

    def solve(self, page: Observation, *, newest: bool = False, oldest_first: bool = False) -> Walk:
        if newest:
            page = yield from click(page, "link", "Orders")
            yield from click(page, "link", contains="View Order")
        else:
            yield from pages.open_order_with(page, self.product, oldest_first=oldest_first)
        return done("navigate")
