"""What becomes of an order: its invoice, its address, a refund, another tracking number."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from webassay.arena.admin import office, pages
from webassay.arena.admin.buyers import NewestComplete, OldestPending
from webassay.arena.admin.forms import CARRIERS
from webassay.arena.kit.key import Key, fact, shown
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Route, Worlds
from webassay.arena.kit.walking import choose, click, fill, submit, then
from webassay.core.interaction import Observation, Walk
from webassay.sites.kit import Row
from webassay.sites.rng import Stream

REASONS = ("Damaged in transit", "Goodwill", "Late delivery")
STREETS = ("Sycamore Lane", "Old Mill Road", "Harbor View", "Chestnut Street", "Quarry Hill", "Elm Court")


@dataclass(frozen=True)
class InvoiceOldest(OldestPending):
    """Invoice the oldest pending order of a buyer."""

    name = "admin.invoice-oldest"
    instruction = "Create the invoice for the oldest pending order with the bill-to name {buyer}."
    takes = (2, 10)

    user: str
    buyer: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        buyer = cls.some_buyer(worlds, stream)
        return cls(office.chief(stream), buyer) if buyer else None

    @staticmethod
    def _invoiced(order: Row) -> Key:
        return Key.insert("invoices", order_id=order["id"], status="open") & Key.update(
            "orders", where={"id": order["id"]}, status="processing"
        )

    def key(self, worlds: Worlds) -> Key:
        return self._invoiced(self.order(worlds)) & self.evidence(worlds)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        return {"newest": self._invoiced(self.other(worlds))}

    def act(self, page: Observation) -> Walk:
        return (yield from submit(page, "Invoice"))


@dataclass(frozen=True)
class StreetOfOldest(OldestPending):
    """Correct the street that the oldest pending order of a buyer is sent to."""

    name = "admin.correct-street"
    instruction = (
        "{buyer} gave the wrong street. In the shipping address of the oldest pending order with that bill-to name, "
        "change the street address to {street}. Leave the rest of the address, and the billing address, as they are."
    )
    takes = (3, 11)

    user: str
    buyer: str
    street: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        buyer = cls.some_buyer(worlds, stream)
        street = f"{stream.between(101, 989)} {stream.choice(STREETS)}"
        return cls(office.chief(stream), buyer, street) if buyer else None

    def _moved(self, order: Row, kind: str = "shipping") -> Key:
        return Key.update("order_addresses", where={"order_id": order["id"], "kind": kind}, street=self.street)

    def key(self, worlds: Worlds) -> Key:
        return self._moved(self.order(worlds)) & self.evidence(worlds)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        own = self.own(worlds)
        return {"newest": self._moved(own[0]), "billing-address": self._moved(own[-1], "billing")}

    def act(self, page: Observation, kind: str = "shipping") -> Walk:
        page = yield from click(page, "link", f"Edit {kind} address")
        page = yield from fill(page, "textbox", "Street Address", self.street)
        return (yield from submit(page, "Save Address"))

    def hasty(self) -> Mapping[str, Route]:
        return {**super().hasty(), "billing-address": then(self.open, lambda page: self.act(page, "billing"))}


@dataclass(frozen=True)
class RefundShare(NewestComplete):
    """Refund a share of what a buyer's newest complete order came to."""

    name = "admin.refund-share"
    chore = "calculation"
    instruction = (
        "For the newest order with the status Complete and the bill-to name {buyer}, refund {percent} percent of the "
        'grand total, rounded to whole cents, with the reason "{reason}".'
    )
    takes = (3, 12)

    user: str
    buyer: str
    percent: int
    reason: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        buyer = cls.some_buyer(worlds, stream)
        if not buyer:
            return None
        drawn = cls(office.chief(stream), buyer, stream.choice((5, 10, 15, 20, 25)), stream.choice(REASONS))
        order = drawn.order(worlds)
        # A half cent could be rounded either way.
        halves = order["total_cents"] * drawn.percent % 100 == 50
        known = office.rows(worlds["admin"], "SELECT 1 FROM refunds WHERE order_id = ?", order["id"])
        return None if halves or known else drawn

    def _share(self, cents: int) -> int:
        return round(cents * self.percent / 100)

    def _refunded(self, order: Row, cents: int) -> Key:
        return Key.insert("refunds", order_id=order["id"], amount_cents=cents, reason=self.reason)

    def key(self, worlds: Worlds) -> Key:
        order = self.order(worlds)
        total = office.amount(order["total_cents"])
        known = fact(
            shown(order["number"], total), shown(f"Order # {order['number']}", f"Grand Total {total}", together="page")
        )
        return (
            self._refunded(order, self._share(order["total_cents"]))
            & Key.seen_share(1.0, [known])
            & Key.checkpoint("the order", office.page(f"/orders/{order['number']}"))
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        own = self.own(worlds)
        return {
            "of-the-subtotal": self._refunded(own[0], self._share(own[0]["subtotal_cents"])),
            "oldest": self._refunded(own[-1], self._share(own[-1]["total_cents"])),
        }

    def act(self, page: Observation, line: str = "Grand Total") -> Walk:
        cents = self._share(pages.cents(pages.detail(page, line)))
        page = yield from click(page, "link", "Refund")
        page = yield from fill(page, "textbox", "Refund Amount", f"{cents // 100}.{cents % 100:02d}")
        page = yield from choose(page, "Reason", self.reason)
        return (yield from submit(page, "Refund"))

    def hasty(self) -> Mapping[str, Route]:
        return {**super().hasty(), "of-the-subtotal": then(self.open, lambda page: self.act(page, "Subtotal"))}


@dataclass(frozen=True)
class SentAgain(NewestComplete):
    """Correct the tracking information of a buyer's newest complete order."""

    name = "admin.sent-again"
    chore = "long_term_memory"
    instruction = (
        "The parcel of the newest order with the status Complete and the bill-to name {buyer} was lost and has been "
        "sent again. In its shipment, change the carrier to {carrier} and the tracking number to {tracking}."
    )
    takes = (3, 12)

    user: str
    buyer: str
    carrier: str
    tracking: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        buyer = cls.some_buyer(worlds, stream)
        code = f"{stream.choice(('RX', 'QT', 'ZN'))}{stream.between(10**8, 10**9 - 1)}"
        drawn = cls(office.chief(stream), buyer, stream.choice(CARRIERS), code)
        return drawn if buyer and drawn._shipment(worlds, drawn.order(worlds))["carrier"] != drawn.carrier else None

    @staticmethod
    def _shipment(worlds: Worlds, order: Row) -> Row:
        (found,) = office.rows(worlds["admin"], "SELECT * FROM shipments WHERE order_id = ?", order["id"])
        return found

    def key(self, worlds: Worlds) -> Key:
        order = self.order(worlds)
        shipment = self._shipment(worlds, order)
        known = fact(shown(shipment["number"], order["number"]), shown(f"Order # {order['number']}", together="page"))
        return (
            self._corrected(shipment, self.carrier)
            & Key.seen_share(1.0, [office.order_status(order), known])
            & Key.checkpoint("the shipment", office.page(f"/shipments/{shipment['id']}"))
        )

    def _corrected(self, shipment: Row, carrier: str) -> Key:
        changed = {} if carrier == shipment["carrier"] else {"carrier": carrier}
        return Key.update("shipments", where={"id": shipment["id"]}, tracking=self.tracking, **changed)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        own = self.own(worlds)
        newest, oldest = self._shipment(worlds, own[0]), self._shipment(worlds, own[-1])
        return {
            "number-only": self._corrected(newest, newest["carrier"]),
            "oldest": self._corrected(oldest, self.carrier),
        }

    def act(self, page: Observation, number_only: bool = False) -> Walk:
        page = yield from click(page, "link", contains="Shipment 3")
        if not number_only:
            page = yield from choose(page, "Carrier", self.carrier)
        page = yield from fill(page, "textbox", "Tracking Number", self.tracking)
        return (yield from submit(page, "Save Tracking Information"))

    def hasty(self) -> Mapping[str, Route]:
        return {**super().hasty(), "number-only": then(self.open, lambda page: self.act(page, number_only=True))}
