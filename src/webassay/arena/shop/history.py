"""The whole history of one's orders, and orders that are not one's own."""

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable
from itertools import groupby
from typing import Any, ClassVar, Self

from webassay.arena.kit.effort import Difficulty, Effort, pages_of
from webassay.arena.kit.key import Key, money
from webassay.arena.kit.template import Parts, Refuse, Retrieve, clear, fair, first_page, top
from webassay.arena.kit.walking import answer, every_page, links, refused
from webassay.arena.shop import facts, pages, queries
from webassay.core.interaction import Action, Observation, Walk
from webassay.core.record import Json
from webassay.core.task import Expectation
from webassay.sites.kit import Row, World
from webassay.sites.rng import NothingToDraw, Stream

FIRST_PAGE = {"first": pages.FEW_ORDERS}
ANY = ""
"""As a status: whoever does not look at it."""


class ReadHistory(Retrieve, abstract=True):
    """Reads the whole list of orders."""

    levels: ClassVar[tuple[Difficulty, ...]] = ("medium", "extreme")
    ways = {"ten-at-a-time": {"ten": True}}

    user: str

    @abstractmethod
    def conclusion(self, orders: list[Row], *_: Any, **how: Any) -> Parts:
        """Fairness, the key, and that these orders and the list were read."""

    @abstractmethod
    def response(self, orders: list[pages.Order]) -> Json:
        """What the walk answers, once all are read."""

    def end(self, world: World, *, first: int = 0, **how: Any) -> Parts:
        orders = queries.orders_of(world, self.user)
        yield from self.conclusion([*first_page(orders, first)], **how)
        yield facts.LIST
        count = len(orders)
        on_pages = pages_of(count, pages.ORDERS_ON_A_PAGE)
        yield Effort(rows=count, pages=on_pages, steps=4 + on_pages, longest=4 + pages_of(count, pages.FEW_ORDERS))

    def solve(self, page: Observation, *, ten: bool = False) -> Walk:
        page = yield from (links(page, "Orders") if ten else pages.open_orders(page))
        listed = yield from every_page(page)
        return self.response([order for one in listed for order in pages.listed_orders(one)])


def _reader(world: World, stream: Stream) -> str:
    """The e-mail address of somebody with a few pages of orders, or with very many."""
    return queries.shopper(world, stream, *stream.choice(((15, 45), (200, 400))))


Year = tuple[int, list[Row]]
"""With its orders."""


def _sum(year: Year) -> int:
    return sum(map(queries.total, year[1]))


class DearestYear(ReadHistory):
    """Find the year with the highest sum of orders, without the canceled ones."""

    name = "shop.dearest-year"
    chore = "calculation"
    instruction = (
        "In which year did I spend the most, and how much? Add up the order totals of each year without canceled "
        'orders. Answer with an object: "year" and "total".'
    )
    misread = {
        "canceled-counted": {"canceled": True},
        "latest-year": {"by": lambda year: year[0]},
        "most-orders": {"by": lambda year: len(year[1])},
        "first-page-only": FIRST_PAGE,
    }
    may_agree = ("most-orders",)

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(_reader(world, stream))

    def conclusion(self, orders: list[Row], *, canceled: bool = False, by: Callable[[Year], int] = _sum) -> Parts:
        counted = [order for order in orders if canceled or order["status"] != "canceled"]
        years = [(year, [*those]) for year, those in groupby(counted, lambda order: int(order["created_at"][:4]))]
        ranked = sorted(years, key=by, reverse=True)
        yield fair(clear(ranked, by))
        dearest = top(ranked)
        yield Key.answer({"year": Expectation.of(dearest[0]), "total": money(_sum(dearest))})
        yield facts.read_orders(orders, dearest[1])

    def response(self, orders: list[pages.Order]) -> Json:
        sums: dict[int, int] = defaultdict(int)
        for order in orders:
            sums[order.year] += order.cents if order.status != "canceled" else 0
        year = max(sums, key=lambda one: sums[one])
        return answer({"year": year, "total": pages.dollars(sums[year])})


class LargestOrders(ReadHistory):
    """List the largest orders with one status, the largest first."""

    name = "shop.largest-orders"
    chore = "massive_memory"
    instruction = (
        "Which {count} of my orders with the status {status} have the highest order totals? Answer with a list of "
        "the order numbers, highest total first."
    )
    reads = ("*",)
    misread = {
        "status-ignored": {"status": ANY},
        "lowest-first": {"lowest_first": True},
        "latest-ones": {"by": lambda order: 0},
        "first-page-only": FIRST_PAGE,
    }

    status: str
    count: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(_reader(world, stream), stream.choice(("complete", "canceled")), stream.between(3, 5))

    def conclusion(
        self, orders: list[Row], *, by: Callable[[Row], int] = queries.total, lowest_first: bool = False
    ) -> Parts:
        fitting = [order for order in orders if self.status in (ANY, order["status"])]
        ranked = sorted(fitting, key=by, reverse=True)
        # As many different totals as are asked for, and one more, which comes after them.
        yield fair(len(set(map(queries.total, ranked[: self.count + 1]))) == self.count + 1)
        if not ranked:
            raise NothingToDraw
        largest = ranked[: self.count]
        yield Key.answer(*(order["number"] for order in (largest[::-1] if lowest_first else largest)), ordered=True)
        yield facts.read_orders(orders, largest)

    def response(self, orders: list[pages.Order]) -> Json:
        fitting = sorted((order for order in orders if order.status == self.status), key=lambda order: -order.cents)
        return answer(*(order.number for order in fitting[: self.count]))


class ForeignOrder(Refuse):
    """Ask for the total of somebody else's order."""

    name = "shop.foreign-order"
    instruction = "What was the order total of order {order}? Its page is /account/orders/{order}."
    misread = {"own-order": {"own": True}}
    ways = {"after-a-look-at-the-list": {"list_first": True}}

    user: str
    order: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        user = queries.shopper(world, stream, 2, 60)
        sql = (
            "SELECT o.number FROM orders AS o JOIN customers AS c ON c.id = o.customer_id WHERE c.email <> ?"
            " AND o.id % 7 = 3 ORDER BY o.id"
        )
        return cls(user, stream.choice(queries.rows(world, sql, user))["number"])

    def end(self, world: World, *, own: bool = False) -> Parts:
        if own:
            yield Key.answer(money(queries.total(queries.orders_of(world, self.user)[0])))
        refused = Key.seen("This order belongs to another customer", together="page")
        yield Key.refusal("PERMISSION_DENIED_ERROR", facts=refused)
        yield Key.checkpoint("the order", queries.order_page(self.order, 403))
        yield Effort(rows=1, pages=1, steps=4)

    def solve(self, page: Observation, *, list_first: bool = False) -> Walk:
        if list_first:
            page = yield from links(page, "Orders")
        start = page.url.partition("/account")[0].rstrip("/")
        page = yield Action.of("goto", f"{start}/account/orders/{self.order}")
        seen = page.find("heading", contains=self.order)
        return refused(page, seen, "retrieve", "PERMISSION_DENIED_ERROR", "The order belongs to another customer.")
