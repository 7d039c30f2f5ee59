"""Something with one order of a buyer who has several that look alike in the grid."""

from abc import abstractmethod
from typing import ClassVar

from webassay.arena.admin import office, pages
from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key
from webassay.arena.kit.template import Mutate, Parts, fair
from webassay.arena.kit.walking import Steps, done, links
from webassay.core.interaction import Observation, Walk
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream


class OneOfSeveral(Mutate, abstract=True):
    """Which one is said by its status and its age."""

    levels = ("medium",)
    ways = {"by-keyword": {"by_keyword": True}}
    status: ClassVar[str]
    newest: ClassVar[bool]
    """Or the oldest."""
    takes: ClassVar[tuple[int, int]]
    """Pages and steps."""

    user: str
    buyer: str

    @classmethod
    def some_buyer(cls, world: World, stream: Stream) -> str:
        return str(stream.choice(office.orders_with(world, cls.status))["bill_to"])

    @abstractmethod
    def change(self, world: World, order: Row, slip: bool) -> Parts:
        """What makes the order fair, and the key; or what a slip on its page leads to."""

    @abstractmethod
    def act(self, page: Observation, slip: bool) -> Steps:
        """On the page of the order."""

    def evidence(self, world: World, order: Row) -> Key:
        status = office.seen([office.order_status(order)])
        return status & Key.checkpoint("the order", office.page(f"/orders/{order['number']}"))

    def end(self, world: World, *, wrong_end: bool = False, slip: bool = False) -> Parts:
        own = [one for one in office.orders_with(world, self.status) if one["bill_to"] == self.buyer]
        yield fair(2 <= len(own) <= 18)
        order = own[0 if self.newest != wrong_end else -1]
        yield from self.change(world, order, slip)
        yield self.evidence(world, order)
        yield Effort(len(own), *self.takes)

    def solve(
        self, page: Observation, *, wrong_end: bool = False, slip: bool = False, by_keyword: bool = False
    ) -> Walk:
        wanted = {"Bill-to Name": self.buyer, "Status": self.status.capitalize()}
        page = yield from links(page, "Orders")
        if by_keyword:
            page = yield from pages.search(page, self.buyer)
            page = yield from pages.lengthen(page)
        else:
            page = yield from pages.narrow(page, {"Bill-to Name": self.buyer}, {"Status": wanted["Status"]})
        own = [line["ID"] for line in pages.lines(page) if wanted.items() <= line.items()]
        page = yield from links(page, own[0 if self.newest != wrong_end else -1])
        yield from self.act(page, slip)
        return done("mutate")


class OldestPending(OneOfSeveral, abstract=True):
    chore = "others"
    status = "pending"
    newest = False
    misread = {"newest": {"wrong_end": True}}


class NewestComplete(OneOfSeveral, abstract=True):
    status = "complete"
    newest = True
    misread = {"oldest": {"wrong_end": True}}
