"""One's own orders: looking through them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key, money
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.arena.kit.walking import answer, click, done, every_page, go_back
from webassay.arena.shop import facts, pages, queries
from webassay.core.errors import AgentError
from webassay.core.interaction import Observation, Walk
from webassay.core.record import Json
from webassay.core.task import Expectation
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream

SHORT_PAGE = 10
"""What the list of orders shows unless it is asked for more."""
LIST = Key.checkpoint("order history", queries.ORDER_LIST)


def _total(orders: list[Row]) -> int:
    return sum(order["total_cents"] for order in orders)


def list_page(world: World, user: str, number: str) -> int:
    """On which page of the list an order stands."""
    numbers = [order["number"] for order in queries.orders_of(world, user)]
    return numbers.index(number) // pages.ORDERS_ON_A_PAGE + 1


@dataclass(frozen=True)
class MonthSpend(Template):
    """Add up one month's orders, without the canceled ones."""

    name = "shop.month-spend"
    kind = "retrieve"
    chore = "calculation"
    instruction = (
        "How much did my orders of {month} come to in total, with shipping and tax? Leave canceled orders out."
    )
    levels = ("easy", "medium")

    user: str
    month: str
    year_month: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        user = queries.shopper(worlds["shop"], stream, *stream.choice(((12, 60), (200, 400))))
        months = queries.rows(
            worlds["shop"],
            "SELECT substr(o.created_at, 1, 7) AS month FROM orders AS o JOIN customers AS c ON c.id = o.customer_id"
            " WHERE c.email = ? GROUP BY 1 HAVING sum(o.status <> 'canceled') >= 2 AND sum(o.status = 'canceled') >= 1"
            " ORDER BY 1",
            user,
        )
        found = queries.pick(stream, months)
        if found is None:
            return None
        year, month = found["month"].split("-")
        return cls(user, f"{pages.MONTHS[int(month) - 1]} {year}", found["month"])

    def _orders(self, world: World, month: str = "") -> list[Row]:
        orders = queries.orders_of(world, self.user)
        return [order for order in orders if order["created_at"].startswith(month or self.year_month)]

    def key(self, worlds: Worlds) -> Key:
        orders = self._orders(worlds["shop"])
        totals = Key.seen_share(1.0, [facts.order_total(order) for order in orders])
        return Key.answer(money(_total(_kept(orders)))) & totals & LIST

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        world = worlds["shop"]
        orders, newest = self._orders(world), queries.orders_of(world, self.user)[0]["created_at"][:7]
        found = {
            "canceled-counted": Key.answer(money(_total(orders))),
            "without-shipping-and-tax": Key.answer(money(sum(order["subtotal_cents"] for order in _kept(orders)))),
            "one-missed": Key.answer(money(_total(_kept(orders)[:-1]))),
        }
        if newest != self.year_month:
            found["newest-month"] = Key.answer(money(_total(_kept(self._orders(world, newest)))))
        year, month = self.year_month.split("-")
        for other in (int(year) - 1, int(year) + 1):
            if elsewhere := _kept(self._orders(world, f"{other}-{month}")):
                found[f"same-month-of-{other}"] = Key.answer(money(_total(elsewhere)))
        return found

    def effort(self, worlds: Worlds) -> Effort:
        orders = self._orders(worlds["shop"])
        first, last = (list_page(worlds["shop"], self.user, orders[place]["number"]) for place in (0, -1))
        return Effort(rows=len(orders), pages=last - first + 1, steps=last + 4, longest=last + 2 * len(orders) + 5)

    def solve(self, page: Observation) -> Walk:
        orders = yield from pages.all_orders_until(page, self._past)
        kept = [order for order in orders if self._fits(order) and order.status != "canceled"]
        return answer(pages.dollars(sum(order.cents for order in kept)))

    def routes(self) -> Mapping[str, Route]:
        return {"order-by-order": self._order_by_order}

    def _order_by_order(self, page: Observation) -> Walk:
        read = yield from pages.read_orders(page, self._fits, self._past)
        kept = [order for order, _ in read if order.status != "canceled"]
        return answer(pages.dollars(sum(order.cents for order in kept)))

    def _fits(self, order: pages.Order) -> bool:
        return f"{order.year}-{order.month:02d}" == self.year_month

    def _past(self, order: pages.Order) -> bool:
        return f"{order.year}-{order.month:02d}" < self.year_month


def _kept(orders: list[Row]) -> list[Row]:
    return [order for order in orders if order["status"] != "canceled"]


@dataclass(frozen=True)
class OrdersByStatus(Template):
    """Count and add up the larger orders with one status."""

    name = "shop.orders-by-status"
    kind = "retrieve"
    chore = "massive_memory"
    instruction = (
        "How many of my orders have the status {status} and an order total of more than ${above}, and what do these "
        'come to together? Answer with one object with the keys "count" and "total".'
    )
    levels = ("easy", "medium", "extreme")

    user: str
    status: str
    above: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        user = queries.shopper(worlds["shop"], stream, *stream.choice(((11, 20), (21, 70), (200, 400))))
        # Only new orders are pending or being processed: nobody would read on for those.
        status = stream.choice(("complete", "canceled"))
        drawn = cls(user, status, stream.choice((30, 40, 50, 60, 75, 80, 90, 100, 120, 150, 180, 200, 250)))
        edge = any(order["total_cents"] == drawn.above * 100 for order in queries.orders_of(worlds["shop"], user))
        return None if edge or len(drawn._orders(queries.orders_of(worlds["shop"], user))) < 2 else drawn

    def _orders(self, orders: list[Row]) -> list[Row]:
        return [order for order in orders if order["status"] == self.status and _above(order, self.above)]

    def key(self, worlds: Worlds) -> Key:
        orders = queries.orders_of(worlds["shop"], self.user)
        fitting = self._orders(orders)
        return _counted(fitting) & facts.read_orders(orders, fitting) & LIST

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        orders = queries.orders_of(worlds["shop"], self.user)
        fitting = self._orders(orders)
        return {
            "first-page-only": _counted(self._orders(orders[:SHORT_PAGE])),
            "amount-ignored": _counted([order for order in orders if order["status"] == self.status]),
            "status-ignored": _counted([order for order in orders if _above(order, self.above)]),
            "total-of-all": Key.answer({"count": len(fitting), "total": money(_total(orders))}),
        }

    def effort(self, worlds: Worlds) -> Effort:
        count = len(queries.orders_of(worlds["shop"], self.user))
        on_pages = pages_of(count, pages.ORDERS_ON_A_PAGE)
        return Effort(rows=count, pages=on_pages, steps=4 + on_pages, longest=4 + pages_of(count, SHORT_PAGE))

    def solve(self, page: Observation) -> Walk:
        return self._findings((yield from pages.all_orders(page)))

    def routes(self) -> Mapping[str, Route]:
        return {"ten-at-a-time": self._ten}

    def _ten(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Orders")
        listed = yield from every_page(page)
        return self._findings([order for one in listed for order in pages.listed_orders(one)])

    def _findings(self, orders: list[pages.Order]) -> Json:
        kept = [order for order in orders if order.status == self.status and order.cents > self.above * 100]
        return answer({"count": len(kept), "total": pages.dollars(sum(order.cents for order in kept))})


def _above(order: Row, dollars: int) -> bool:
    return bool(order["total_cents"] > dollars * 100)


def _counted(orders: list[Row]) -> Key:
    count = Expectation.of(len(orders), unit="orders")
    return Key.answer({"count": count, "total": money(_total(orders))})


@dataclass(frozen=True)
class DearestPurchase(Template):
    """Find the most expensive article bought in a year."""

    name = "shop.dearest-purchase"
    kind = "retrieve"
    chore = "long_term_memory"
    instruction = (
        "Of everything that I ordered in {year}, whatever became of the order, which article had the highest price "
        "for a single piece? Go by the price on the order. Answer with its SKU."
    )
    reads = ("*",)
    levels = ("medium", "hard")

    user: str
    year: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        drawn = cls(queries.shopper(worlds["shop"], stream, 6, 400), stream.between(2021, 2025))
        orders = drawn._orders(worlds["shop"])
        dearest = queries.best(drawn._items(worlds["shop"]), queries.unit_price)
        if dearest is None or not 3 <= len(orders) <= 40:
            return None
        # With a coupon an order can come to less than this article, and who goes by the totals would never open it.
        (total,) = (order["total_cents"] for order in orders if order["id"] == dearest["order_id"])
        return drawn if total >= dearest["unit_price_cents"] else None

    def _orders(self, world: World) -> list[Row]:
        orders = queries.orders_of(world, self.user)
        return [order for order in orders if order["created_at"].startswith(f"{self.year}-")]

    def _items(self, world: World) -> list[Row]:
        return [item for order in self._orders(world) for item in queries.order_items(world, order["number"])]

    def key(self, worlds: Worlds) -> Key:
        world = worlds["shop"]
        orders, dearest = self._orders(world), max(self._items(world), key=queries.unit_price)
        # The order with this article came to at least its price, so that nobody has to open one that came to less.
        opened = [order["number"] for order in orders if order["total_cents"] >= dearest["unit_price_cents"]]
        lines = [max(queries.order_items(world, number), key=queries.unit_price) for number in opened]
        return (
            Key.answer(dearest["sku"])
            & facts.seen([facts.bought(line) for line in lines])
            & Key.seen_share(1.0, [facts.order_total(order) for order in orders])
            & LIST
            & Key.all_of(
                Key.checkpoint(f"order {order['number']}", queries.order_page(order["number"])) for order in orders
            )
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        world = worlds["shop"]
        orders, items = self._orders(world), self._items(world)
        largest = queries.order_items(world, max(orders, key=lambda order: int(order["total_cents"]))["number"])
        numbers = [order["number"] for order in queries.orders_of(world, self.user)]
        ever = [item for number in numbers for item in queries.order_items(world, number)]
        return {
            "highest-subtotal": Key.answer(max(items, key=queries.subtotal)["sku"]),
            "largest-order": Key.answer(max(largest, key=queries.unit_price)["sku"]),
            "any-year": Key.answer(max(ever, key=queries.unit_price)["sku"]),
        }

    def effort(self, worlds: Worlds) -> Effort:
        orders = self._orders(worlds["shop"])
        last = list_page(worlds["shop"], self.user, orders[-1]["number"])
        return Effort(rows=len(self._items(worlds["shop"])), pages=len(orders) + 1, steps=last + 2 * len(orders) + 5)

    def solve(self, page: Observation) -> Walk:
        read = yield from pages.read_orders(page, self._fits, self._past)
        return answer(max((item for _, items in read for item in items), key=lambda item: item.cents).sku)

    def routes(self) -> Mapping[str, Route]:
        return {"skipping-small-orders": self._skipping}

    def _skipping(self, page: Observation) -> Walk:
        """Leaves out orders that came to less than the best price so far."""
        best = pages.Item("", "", 0, 0)
        page = yield from pages.open_orders(page)
        while True:
            for order in pages.listed_orders(page):
                if self._fits(order) and order.cents > best.cents:
                    opened = yield from click(page, "link", f"View Order {order.number}")
                    best = max((best, *pages.items(opened)), key=lambda item: item.cents)
                    page = yield from go_back()
                elif self._past(order):
                    return answer(best.sku)
            if page.find("link", "Next") is None:
                return answer(best.sku)
            page = yield from click(page, "link", "Next")

    def _fits(self, order: pages.Order) -> bool:
        return order.year == self.year

    def _past(self, order: pages.Order) -> bool:
        return order.year < self.year


@dataclass(frozen=True)
class OrderWeight(Template):
    """Add up the weights of an order, product page by product page."""

    name = "shop.order-weight"
    kind = "retrieve"
    chore = "long_term_memory"
    instruction = (
        "What do all the articles of my order {order} weigh together, every piece counted, by the weights on the "
        "product pages? Answer with the number of ounces; a pound has 16 ounces."
    )
    levels = ("medium",)

    user: str
    order: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        user = queries.shopper(worlds["shop"], stream)
        orders = queries.rows(
            worlds["shop"],
            "SELECT o.number FROM orders AS o JOIN customers AS c ON c.id = o.customer_id"
            " JOIN order_items AS i ON i.order_id = o.id WHERE c.email = ?"
            " GROUP BY o.id HAVING count(*) >= 3 ORDER BY o.id",
            user,
        )
        found = queries.pick(stream, orders)
        return None if found is None else cls(user, found["number"])

    def key(self, worlds: Worlds) -> Key:
        items = queries.order_items(worlds["shop"], self.order)
        order = Key.checkpoint("order", queries.order_page(self.order))
        return (
            Key.answer(_weighed(items), unit="ounces")
            & facts.seen([sight for item in items for sight in (facts.bought(item), facts.weighed(item))])
            & order
            & Key.all_of(Key.checkpoint(item["sku"], queries.product_page(item["slug"])) for item in items)
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        items = queries.order_items(worlds["shop"], self.order)
        return {
            "quantities-ignored": Key.answer(sum(item["weight_oz"] for item in items)),
            "pounds-overlooked": Key.answer(sum(item["weight_oz"] % 16 * item["quantity"] for item in items)),
            "ounces-overlooked": Key.answer(sum(item["weight_oz"] // 16 * 16 * item["quantity"] for item in items)),
            "first-article-only": Key.answer(_weighed(items[:1])),
            "last-article-missed": Key.answer(_weighed(items[:-1])),
        }

    def effort(self, worlds: Worlds) -> Effort:
        items = queries.order_items(worlds["shop"], self.order)
        found = list_page(worlds["shop"], self.user, self.order)
        return Effort(rows=2 * len(items), pages=len(items) + 1, steps=found + 3 * len(items) + 4)

    def solve(self, page: Observation) -> Walk:
        order = yield from pages.open_order(page, self.order)
        total = 0
        for item in pages.items(order):
            page = yield from click(order, "link", item.name)
            total += item.quantity * pages.ounces(page)
            order = yield from go_back()
        return answer(total)

    def routes(self) -> Mapping[str, Route]:
        return {"by-search": self._by_search}

    def _by_search(self, page: Observation) -> Walk:
        page = yield from pages.open_order(page, self.order)
        total = 0
        for item in pages.items(page):
            page = yield from pages.open_product(page, item.name)
            total += item.quantity * pages.ounces(page)
        return answer(total)


def _weighed(items: list[Row]) -> int:
    return sum(item["weight_oz"] * item["quantity"] for item in items)


@dataclass(frozen=True)
class OpenOrderWith(Template):
    """Open the order that contains an article."""

    name = "shop.open-order-with"
    kind = "navigate"
    chore = "long_term_memory"
    instruction = 'Open the page of the order with which I bought "{product}".'
    levels = ("medium", "hard")

    user: str
    product: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        user = queries.shopper(worlds["shop"], stream, 6, 45)
        bought = queries.rows(
            worlds["shop"],
            "SELECT DISTINCT i.name FROM order_items AS i JOIN orders AS o ON o.id = i.order_id"
            " JOIN customers AS c ON c.id = o.customer_id WHERE c.email = ? ORDER BY 1",
            user,
        )
        found = queries.pick(stream, bought)
        if found is None or len(queries.orders_with(worlds["shop"], user, found["name"])) != 1:
            return None
        return cls(user, found["name"])

    def _number(self, world: World) -> str:
        (order,) = queries.orders_with(world, self.user, self.product)
        return str(order["number"])

    def key(self, worlds: Worlds) -> Key:
        number = self._number(worlds["shop"])
        line = next(item for item in queries.order_items(worlds["shop"], number) if item["name"] == self.product)
        return Key.page(queries.order_page(number)) & facts.seen([facts.bought(line)]) & LIST

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        orders = queries.orders_of(worlds["shop"], self.user)
        wrong = {
            "newest-order": orders[0],
            "oldest-order": orders[-1],
            "largest-order": max(orders, key=lambda order: int(order["total_cents"])),
        }
        return {name: Key.page(queries.order_page(order["number"])) for name, order in wrong.items()}

    def effort(self, worlds: Worlds) -> Effort:
        numbers = [order["number"] for order in queries.orders_of(worlds["shop"], self.user)]
        place = numbers.index(self._number(worlds["shop"])) + 1
        listed = pages_of(len(numbers), pages.ORDERS_ON_A_PAGE)
        return Effort(
            rows=place,
            pages=place + 1,
            steps=2 * place + listed + 4,
            longest=2 * (len(numbers) - place + 1) + 2 * listed + 4,
        )

    def solve(self, page: Observation) -> Walk:
        yield from pages.open_order_with(page, self.product)
        return done("navigate")

    def routes(self) -> Mapping[str, Route]:
        return {"oldest-first": self._oldest_first}

    def _oldest_first(self, page: Observation) -> Walk:
        page = yield from pages.open_orders(page)
        page = (yield from every_page(page))[-1]
        while True:
            for order in reversed(pages.listed_orders(page)):
                opened = yield from click(page, "link", f"View Order {order.number}")
                if any(item.name == self.product for item in pages.items(opened)):
                    return done("navigate")
                page = yield from go_back()
            if page.find("link", "Previous") is None:
                raise AgentError(f"No order contains {self.product!r}.")
            page = yield from click(page, "link", "Previous")

    def hasty(self) -> Mapping[str, Route]:
        return {"newest-order": self._newest}

    def _newest(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Orders")
        yield from click(page, "link", contains="View Order")
        return done("navigate")
