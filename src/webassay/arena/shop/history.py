"""The whole history of one's orders, and orders that are not one's own."""

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key, money
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.arena.kit.walking import Reading, answer, click, every_page, refusal
from webassay.arena.shop import facts, pages, queries
from webassay.arena.shop.orders import LIST, SHORT_PAGE
from webassay.core.errors import AgentError
from webassay.core.interaction import Action, Observation, Walk
from webassay.core.record import Json
from webassay.core.task import Expectation, PagePattern
from webassay.sites.kit import Row
from webassay.sites.rng import Stream


class HistoryChore(Template, abstract=True):
    """Reads the whole list of orders."""

    sites = ("shop",)
    kind = "retrieve"
    levels = ("medium", "extreme")

    user: str

    @abstractmethod
    def findings(self, orders: list[pages.Order]) -> Json:
        """The response, once all are read."""

    def effort(self, worlds: Worlds) -> Effort:
        count = len(queries.orders_of(worlds["shop"], self.user))
        on_pages = pages_of(count, pages.ORDERS_ON_A_PAGE)
        return Effort(rows=count, pages=on_pages, steps=4 + on_pages, longest=4 + pages_of(count, SHORT_PAGE))

    def solve(self, page: Observation) -> Walk:
        return self.findings((yield from pages.all_orders(page)))

    def routes(self) -> Mapping[str, Route]:
        return {"ten-at-a-time": self._ten}

    def _ten(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Orders")
        listed = yield from every_page(page)
        return self.findings([order for one in listed for order in pages.listed_orders(one)])


def _by_year(orders: list[Row]) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = defaultdict(list)
    for order in orders:
        found[int(order["created_at"][:4])].append(order)
    return found


def _sum(orders: list[Row]) -> int:
    return sum(order["total_cents"] for order in orders)


def _in_year(year: int, orders: list[Row]) -> Key:
    return Key.answer({"year": Expectation.of(year), "total": money(_sum(orders))})


@dataclass(frozen=True)
class DearestYear(HistoryChore):
    """Find the year with the highest sum of orders, without the canceled ones."""

    name = "shop.dearest-year"
    chore = "calculation"
    instruction = (
        "In which year did my orders come to the most, with shipping and tax but without canceled orders, and to how "
        'much? Answer with one object with the keys "year" and "total".'
    )

    user: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        user = queries.shopper(worlds["shop"], stream, *stream.choice(((15, 45), (200, 400))))
        years = _by_year(_kept(queries.orders_of(worlds["shop"], user)))
        sums = sorted(map(_sum, years.values()), reverse=True)
        return cls(user) if len(sums) >= 2 and sums[0] > sums[1] else None

    def key(self, worlds: Worlds) -> Key:
        orders = queries.orders_of(worlds["shop"], self.user)
        year, fitting = max(_by_year(_kept(orders)).items(), key=lambda one: _sum(one[1]))
        return _in_year(year, fitting) & facts.read_orders(orders, fitting) & LIST

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        orders = queries.orders_of(worlds["shop"], self.user)
        years, every = _by_year(_kept(orders)), _by_year(orders)
        most = max(years, key=lambda year: len(years[year]))
        dearest = max(every, key=lambda year: _sum(every[year]))
        newest = max(years)
        found = {
            "canceled-counted": _in_year(dearest, every[dearest]),
            "latest-year": _in_year(newest, years[newest]),
        }
        right = max(years, key=lambda year: _sum(years[year]))
        if most != right:
            found["most-orders"] = _in_year(most, years[most])
        if first := _by_year(_kept(orders[:SHORT_PAGE])):
            best = max(first, key=lambda year: _sum(first[year]))
            found["first-page-only"] = _in_year(best, first[best])
        return found

    def findings(self, orders: list[pages.Order]) -> Json:
        sums: dict[int, int] = defaultdict(int)
        for order in orders:
            sums[order.year] += order.cents if order.status != "canceled" else 0
        year = max(sums, key=lambda one: sums[one])
        return answer({"year": year, "total": pages.dollars(sums[year])})


def _kept(orders: list[Row]) -> list[Row]:
    return [order for order in orders if order["status"] != "canceled"]


@dataclass(frozen=True)
class LargestOrders(HistoryChore):
    """List the largest orders with one status, the largest first."""

    name = "shop.largest-orders"
    chore = "massive_memory"
    instruction = (
        "Which {count} of my orders with the status {status} have the highest order totals? Answer with the numbers of "
        "these orders, the one with the highest total first."
    )
    reads = ("*",)

    user: str
    status: str
    count: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        user = queries.shopper(worlds["shop"], stream, *stream.choice(((15, 45), (200, 400))))
        drawn = cls(user, stream.choice(("complete", "canceled")), stream.between(3, 5))
        totals = [order["total_cents"] for order in drawn._ranked(queries.orders_of(worlds["shop"], user))]
        clear = len(totals) > drawn.count and len(set(totals[: drawn.count + 1])) == drawn.count + 1
        return drawn if clear else None

    def _ranked(self, orders: list[Row]) -> list[Row]:
        fitting = [order for order in orders if order["status"] == self.status]
        return sorted(fitting, key=lambda order: -int(order["total_cents"]))

    def _listed(self, orders: list[Row]) -> Key:
        return Key.answer(*(order["number"] for order in orders[: self.count]), ordered=True)

    def key(self, worlds: Worlds) -> Key:
        orders = queries.orders_of(worlds["shop"], self.user)
        ranked = self._ranked(orders)
        return self._listed(ranked) & facts.read_orders(orders, ranked[: self.count]) & LIST

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        orders = queries.orders_of(worlds["shop"], self.user)
        found = {
            "status-ignored": self._listed(sorted(orders, key=lambda order: -int(order["total_cents"]))),
            "lowest-first": self._listed(list(reversed(self._ranked(orders)[: self.count]))),
            "latest-ones": self._listed([order for order in orders if order["status"] == self.status]),
        }
        if first := self._ranked(orders[:SHORT_PAGE]):
            found["first-page-only"] = self._listed(first)
        return found

    def findings(self, orders: list[pages.Order]) -> Json:
        fitting = sorted((order for order in orders if order.status == self.status), key=lambda order: -order.cents)
        return answer(*(order.number for order in fitting[: self.count]))


@dataclass(frozen=True)
class ForeignOrder(Template):
    """Ask for the total of somebody else's order."""

    name = "shop.foreign-order"
    kind = "unachievable"
    chore = "others"
    instruction = "What was the order total of order {order}? Its page in this shop is /account/orders/{order}."
    levels = ("easy",)

    user: str
    order: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        world = worlds["shop"]
        user = queries.shopper(world, stream, 2, 60)
        found = queries.rows(
            world,
            "SELECT o.number FROM orders AS o JOIN customers AS c ON c.id = o.customer_id WHERE c.email <> ?"
            " AND o.id % 7 = 3 ORDER BY o.id",
            user,
        )
        chosen = queries.pick(stream, found)
        return None if chosen is None else cls(user, chosen["number"])

    def key(self, worlds: Worlds) -> Key:
        refused = Key.seen("This order belongs to another customer", together="page")
        return Key.refusal("PERMISSION_DENIED_ERROR", facts=refused) & Key.checkpoint("the order", self._page())

    def _page(self) -> PagePattern:
        return queries.order_page(self.order, 403)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        own = queries.orders_of(worlds["shop"], self.user)[0]
        return {"own-order": Key.answer(money(own["total_cents"]))}

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=1, pages=1, steps=4)

    def solve(self, page: Observation) -> Walk:
        page = yield from self._open(page)
        return self._refused(page)

    def _open(self, page: Observation) -> Reading[Observation]:
        start = page.url.partition("/account")[0].rstrip("/")
        return (yield Action.of("goto", f"{start}/account/orders/{self.order}"))

    def routes(self) -> Mapping[str, Route]:
        return {"after-a-look-at-the-list": self._after_list}

    def _after_list(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Orders")
        return self._refused((yield from self._open(page)))

    def _refused(self, page: Observation) -> Json:
        if page.find("heading", contains=self.order) is not None:
            raise AgentError(f"Order {self.order} can be seen after all.")
        return refusal("retrieve", "PERMISSION_DENIED_ERROR", "The order belongs to another customer.")
