"""Something with one order of a buyer who has several that look alike in the grid."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from webassay.arena.admin import office, pages
from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.arena.kit.walking import Steps, click, then
from webassay.core.interaction import Observation, Walk
from webassay.sites.kit import Row
from webassay.sites.rng import Stream

NEWEST, OLDEST = 0, -1
"""Places in the grid, whose first row is the newest order."""


class OneOfSeveral(Template, abstract=True):
    """Which one is said by its status and its age."""

    sites = ("admin",)
    kind = "mutate"
    levels = ("medium",)
    status: ClassVar[str]
    place: ClassVar[int]
    """NEWEST or OLDEST."""
    takes: ClassVar[tuple[int, int]]
    """Pages and steps."""

    user: str
    buyer: str

    @classmethod
    def some_buyer(cls, worlds: Worlds, stream: Stream) -> str:
        """Empty if chance hits one with too few orders, or too many."""
        orders = office.orders_with(worlds["admin"], cls.status)
        chosen = office.pick(stream, orders)
        if chosen is None:
            return ""
        own = [one for one in orders if one["bill_to"] == chosen["bill_to"]]
        return str(chosen["bill_to"]) if 2 <= len(own) <= 18 else ""

    def own(self, worlds: Worlds) -> list[Row]:
        """The newest first."""
        return [one for one in office.orders_with(worlds["admin"], self.status) if one["bill_to"] == self.buyer]

    def order(self, worlds: Worlds) -> Row:
        return self.own(worlds)[self.place]

    def other(self, worlds: Worlds) -> Row:
        """At the wrong end of the list."""
        return self.own(worlds)[OLDEST if self.place == NEWEST else NEWEST]

    def evidence(self, worlds: Worlds) -> Key:
        order = self.order(worlds)
        return office.seen([office.order_status(order)]) & Key.checkpoint(
            "the order", office.page(f"/orders/{order['number']}")
        )

    def effort(self, worlds: Worlds) -> Effort:
        pages_read, steps = self.takes
        return Effort(rows=len(self.own(worlds)), pages=pages_read, steps=steps)

    @abstractmethod
    def act(self, page: Observation) -> Walk:
        """What is to be done on the page of the order."""

    def solve(self, page: Observation) -> Walk:
        return (yield from self.act((yield from self.open(page))))

    def routes(self) -> Mapping[str, Route]:
        return {"by-keyword": then(self.open_by_search, self.act)}

    def hasty(self) -> Mapping[str, Route]:
        wrong_end = "oldest" if self.place == NEWEST else "newest"
        return {wrong_end: then(lambda page: self.open(page, wrong_end=True), self.act)}

    def open(self, page: Observation, wrong_end: bool = False) -> Steps:
        page = yield from click(page, "link", "Orders")
        page = yield from pages.narrow(page, {"Bill-to Name": self.buyer}, {"Status": self.status.capitalize()})
        return (yield from self._open_listed(page, wrong_end))

    def open_by_search(self, page: Observation) -> Steps:
        page = yield from click(page, "link", "Orders")
        page = yield from pages.search(page, self.buyer)
        page = yield from pages.lengthen(page)
        return (yield from self._open_listed(page))

    def _open_listed(self, page: Observation, wrong_end: bool = False) -> Steps:
        wanted = {"Bill-to Name": self.buyer, "Status": self.status.capitalize()}
        own = [line["ID"] for line in pages.lines(page) if wanted.items() <= line.items()]
        first = (self.place == NEWEST) != wrong_end
        return (yield from click(page, "link", own[0 if first else -1]))


class OldestPending(OneOfSeveral, abstract=True):
    chore = "others"
    status = "pending"
    place = OLDEST


class NewestComplete(OneOfSeveral, abstract=True):
    status = "complete"
    place = NEWEST
