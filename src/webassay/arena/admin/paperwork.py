"""What becomes of an order: its invoice, its address, a refund, another tracking number."""

from typing import Self

from webassay.arena.admin import office, pages
from webassay.arena.admin.buyers import NewestComplete, OldestPending
from webassay.arena.admin.forms import CARRIERS
from webassay.arena.kit.key import Key, cell
from webassay.arena.kit.template import Parts, fair
from webassay.arena.kit.walking import Steps, click, links, send
from webassay.core.interaction import Observation
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream

REASONS = ("Damaged in transit", "Goodwill", "Late delivery")
STREETS = ("Sycamore Lane", "Old Mill Road", "Harbor View", "Chestnut Street", "Quarry Hill", "Elm Court")


class InvoiceOldest(OldestPending):
    """Invoice the oldest pending order of a buyer."""

    name = "admin.invoice-oldest"
    instruction = "Create the invoice for the oldest pending order with the bill-to name {buyer}."
    takes = (2, 10)

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        buyer = cls.some_buyer(world, stream)
        return cls(office.chief(stream), buyer)

    def change(self, world: World, order: Row, slip: bool) -> Parts:
        invoice = Key.insert("invoices", order_id=order["id"], status="open")
        yield invoice & Key.update("orders", where={"id": order["id"]}, status="processing")

    def act(self, page: Observation, slip: bool) -> Steps:
        return (yield from send(page, "Invoice"))


class StreetOfOldest(OldestPending):
    """Correct the street that the oldest pending order of a buyer is sent to."""

    name = "admin.correct-street"
    instruction = (
        "{buyer} gave us the wrong street. Find the oldest pending order with that bill-to name and change the "
        "street in its shipping address to {street}. Change nothing else in the shipping address, and leave the "
        "billing address as it is."
    )
    misread = {**OldestPending.misread, "billing-address": {"slip": True}}
    takes = (3, 11)

    street: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        buyer = cls.some_buyer(world, stream)
        street = f"{stream.between(101, 989)} {stream.choice(STREETS)}"
        return cls(office.chief(stream), buyer, street)

    def change(self, world: World, order: Row, slip: bool) -> Parts:
        kind = "billing" if slip else "shipping"
        yield Key.update("order_addresses", where={"order_id": order["id"], "kind": kind}, street=self.street)

    def act(self, page: Observation, slip: bool) -> Steps:
        page = yield from links(page, f"Edit {'billing' if slip else 'shipping'} address")
        return (yield from send(page, "Save Address", {"Street Address": self.street}))


class RefundShare(NewestComplete):
    """Refund a share of what a buyer's newest complete order came to."""

    name = "admin.refund-share"
    chore = "calculation"
    instruction = (
        "Find the newest Complete order with the bill-to name {buyer}. Refund {percent} percent of its grand total, "
        'rounded to the nearest cent. The reason is "{reason}".'
    )
    misread = {**NewestComplete.misread, "of-the-subtotal": {"slip": True}}
    takes = (3, 12)

    percent: int
    reason: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        buyer = cls.some_buyer(world, stream)
        return cls(office.chief(stream), buyer, stream.choice((5, 10, 15, 20, 25)), stream.choice(REASONS))

    def _share(self, cents: int) -> int:
        return round(cents * self.percent / 100)

    def change(self, world: World, order: Row, slip: bool) -> Parts:
        # A half cent could be rounded either way.
        yield fair(order["total_cents"] * self.percent % 100 != 50)
        yield fair(not office.rows(world, "SELECT 1 FROM refunds WHERE order_id = ?", order["id"]))
        share = self._share(order["subtotal_cents" if slip else "total_cents"])
        yield Key.insert("refunds", order_id=order["id"], amount_cents=share, reason=self.reason)

    def evidence(self, world: World, order: Row) -> Key:
        known = Key.read(office.order_total(order))
        return known & Key.checkpoint("the order", office.page(f"/orders/{order['number']}"))

    def act(self, page: Observation, slip: bool) -> Steps:
        share = self._share(pages.cents(pages.detail(page, "Subtotal" if slip else "Grand Total")))
        page = yield from links(page, "Refund")
        return (yield from send(page, "Refund", {"Refund Amount": office.plain(share)}, {"Reason": self.reason}))


class SentAgain(NewestComplete):
    """Correct the tracking information of a buyer's newest complete order."""

    name = "admin.sent-again"
    chore = "long_term_memory"
    instruction = (
        "The parcel for the newest Complete order with the bill-to name {buyer} got lost, so we sent it again. "
        "Change the carrier of its shipment to {carrier} and the tracking number to {tracking}."
    )
    misread = {**NewestComplete.misread, "number-only": {"slip": True}}
    takes = (3, 12)

    carrier: str
    tracking: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        buyer = cls.some_buyer(world, stream)
        code = f"{stream.choice(('RX', 'QT', 'ZN'))}{stream.between(10**8, 10**9 - 1)}"
        return cls(office.chief(stream), buyer, stream.choice(CARRIERS), code)

    @staticmethod
    def _shipment(world: World, order: Row) -> Row:
        (shipment,) = office.rows(world, "SELECT * FROM shipments WHERE order_id = ?", order["id"])
        return shipment

    def change(self, world: World, order: Row, slip: bool) -> Parts:
        shipment = self._shipment(world, order)
        yield fair(shipment["carrier"] != self.carrier)
        # The wrong order may have been sent with this carrier.
        changed = {} if slip or shipment["carrier"] == self.carrier else {"carrier": self.carrier}
        yield Key.update("shipments", where={"id": shipment["id"]}, tracking=self.tracking, **changed)

    def evidence(self, world: World, order: Row) -> Key:
        shipment = self._shipment(world, order)
        checkpoint = Key.checkpoint("the shipment", office.page(f"/shipments/{shipment['id']}"))
        return office.seen([*office.listed("orders", [order]), cell("shipments", shipment["id"])]) & checkpoint

    def act(self, page: Observation, slip: bool) -> Steps:
        page = yield from click(page, "link", contains="Shipment 3")
        typed = {"Tracking Number": self.tracking}
        return (yield from send(page, "Save Tracking Information", typed, {} if slip else {"Carrier": self.carrier}))
