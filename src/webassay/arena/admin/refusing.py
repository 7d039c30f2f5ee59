"""What the back office does not do: too late, too much, not for this role, not there."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from webassay.arena.admin import office, pages
from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key, fact, shown
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.arena.kit.walking import Reading, choose, click, fill, refusal, then
from webassay.core.errors import AgentError
from webassay.core.interaction import Observation, Walk
from webassay.core.record import Json
from webassay.core.task import Fact
from webassay.sites.rng import Stream

SALES, CATALOG, VIEWER = "lena.sato", "tomas.reyes", "ivy.thornton"


class RefusedRequest(Template, abstract=True):
    sites = ("admin",)
    kind = "unachievable"
    chore = "others"
    levels = ("easy",)

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=1, pages=2, steps=8, longest=10)

    @staticmethod
    def because(known: Fact, *status: str) -> Key:
        return Key.refusal(*status, facts=Key.seen_share(1.0, [known]))


def _still_possible(page: Observation, role: str, name: str) -> None:
    if page.find(role, name) is not None:
        raise AgentError(f"It can be done after all: {page.url} has {name!r}.")


@dataclass(frozen=True)
class CancelShipped(RefusedRequest):
    """Ask to cancel an order that is complete, though the same buyer has others that could be."""

    name = "admin.cancel-complete"
    instruction = "Cancel order {order} of {buyer}. The customer changed their mind."

    user: str
    order: str
    buyer: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        pending = office.pick(stream, office.orders_with(worlds["admin"], "pending"))
        if pending is None:
            return None
        own = [one for one in office.orders_with(worlds["admin"], "complete") if one["bill_to"] == pending["bill_to"]]
        chosen = office.pick(stream, own)
        return cls(office.chief(stream), chosen["number"], chosen["bill_to"]) if chosen else None

    def key(self, worlds: Worlds) -> Key:
        known = office.order_status(office.order(worlds["admin"], self.order))
        return self.because(known, "ACTION_NOT_ALLOWED_ERROR") & Key.checkpoint(
            "the order", office.page(f"/orders/{self.order}")
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        pending = [one for one in office.orders_with(worlds["admin"], "pending") if one["bill_to"] == self.buyer]
        return {"another-order": Key.update("orders", where={"id": pending[0]["id"]}, status="canceled")}

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_order(page, self.order)
        _still_possible(page, "button", "Cancel")
        return _too_late()

    def routes(self) -> Mapping[str, Route]:
        return {"in-bulk": self._in_bulk}

    def _in_bulk(self, page: Observation) -> Walk:
        page = yield from pages.find_order(page, self.order)
        page = yield from pages.tick(page, self.order)
        page = yield from pages.act(page, "Cancel")
        if not any("cannot be canceled" in node.name for node in page.nodes):
            raise AgentError(f"Order {self.order} was canceled after all.")
        return _too_late()


def _too_late() -> Json:
    return refusal("mutate", "ACTION_NOT_ALLOWED_ERROR", "The order is complete and cannot be canceled.")


class NotForThisRole(RefusedRequest, abstract=True):
    """Somebody asks who may not."""

    action: ClassVar[str]
    why: ClassVar[str]

    user: str

    @property
    def role(self) -> str:
        return {SALES: "Sales", VIEWER: "Viewer", CATALOG: "Catalog"}[self.user]

    def routes(self) -> Mapping[str, Route]:
        return {"by-the-rights": self._by_rights}

    def _by_rights(self, page: Observation) -> Walk:
        yield from click(page, "link", contains=f"({self.role})")
        return self.refused()

    def refused(self) -> Json:
        return refusal(self.action, "PERMISSION_DENIED_ERROR", self.why)

    def _rights(self, area: str, what: str, line: str) -> Fact:
        """What a page of the area says, the refusal, or the list of rights."""
        return fact(
            shown(f"Your role, {self.role}, may look at {what}, but not change them."),
            shown(f"Your role, {self.role}, may not see {what}."),
            shown(f"Rights of the Role {self.role}", line, together="page"),
        )


@dataclass(frozen=True)
class SalesChangePrice(NotForThisRole):
    """Ask somebody of sales to change a price."""

    name = "admin.price-not-allowed"
    instruction = "Set the price of the product with the SKU {sku} to ${price}."
    action = "mutate"
    why = "This role may not change products."

    user: str
    sku: str
    price: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        found = office.some_row(worlds["admin"], stream, "SELECT sku FROM products WHERE id % 11 = 4 ORDER BY id")
        user = stream.choice((SALES, VIEWER))
        return cls(user, found["sku"], stream.between(12, 90)) if found else None

    def key(self, worlds: Worlds) -> Key:
        known = self._rights("products", "products", "Products Yes No")
        return self.because(known, "PERMISSION_DENIED_ERROR") & Key.checkpoint("products", office.page("/products"))

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        product = office.product(worlds["admin"], self.sku)
        return {"done-anyway": Key.update("products", where={"id": product["id"]}, price_cents=self.price * 100)}

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_product(page, self.sku)
        _still_possible(page, "button", "Save")
        return self.refused()


@dataclass(frozen=True)
class CatalogSeesOrder(NotForThisRole):
    """Ask somebody of the catalog for the total of an order."""

    name = "admin.order-not-visible"
    instruction = "What is the grand total of order {order}? Its page is /orders/{order}."
    action = "retrieve"
    why = "This role may not see orders."

    user: str
    order: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        found = office.some_row(worlds["admin"], stream, "SELECT number FROM orders WHERE id % 13 = 5 ORDER BY id")
        return cls(CATALOG, found["number"]) if found else None

    def key(self, worlds: Worlds) -> Key:
        known = self._rights("orders", "orders", "Orders No No")
        return self.because(known, "PERMISSION_DENIED_ERROR") & Key.checkpoint(
            "the order", office.page(f"/orders/{self.order}", 403)
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        return {"another-number": Key.answer(self.order)}

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.goto(page, f"/orders/{self.order}")
        if page.find("heading", contains=self.order) is not None:
            raise AgentError(f"Order {self.order} can be seen after all.")
        return self.refused()


@dataclass(frozen=True)
class RefundTooMuch(RefusedRequest):
    """Ask to refund more than the order came to."""

    name = "admin.refund-too-much"
    instruction = "Refund ${amount} on order {order}, because of damage in transit. It has to be this amount."

    user: str
    order: str
    amount: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        found = office.some_row(
            worlds["admin"],
            stream,
            "SELECT number, total_cents FROM orders WHERE status = 'complete' AND id % 5 = 1 AND id NOT IN"
            " (SELECT order_id FROM refunds) ORDER BY id",
        )
        if found is None:
            return None
        return cls(office.chief(stream), found["number"], found["total_cents"] // 100 + stream.between(5, 60))

    def key(self, worlds: Worlds) -> Key:
        order = office.order(worlds["admin"], self.order)
        total = office.amount(order["total_cents"])
        known = fact(
            shown(self.order, total),
            shown(f"Order # {self.order}", total, together="page"),
        )
        return self.because(known, "DATA_VALIDATION_ERROR", "ACTION_NOT_ALLOWED_ERROR") & (
            Key.checkpoint("the order", office.page(f"/orders/{self.order}"))
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        order = office.order(worlds["admin"], self.order)
        return {
            "as-much-as-possible": Key.insert(
                "refunds", order_id=order["id"], amount_cents=order["total_cents"], reason="Damaged in transit"
            )
            & Key.update("orders", where={"id": order["id"]}, status="closed")
        }

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=1, pages=3, steps=9)

    def _try(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Refund")
        page = yield from fill(page, "textbox", "Refund Amount", f"{self.amount}.00")
        page = yield from choose(page, "Reason", "Damaged in transit")
        page = yield from click(page, "button", "Refund")
        if page.find("button", "Refund") is None:
            raise AgentError("The refund was made after all.")
        return refusal("mutate", "DATA_VALIDATION_ERROR", "More cannot be refunded than the order came to.")

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_order(page, self.order)
        return (yield from self._try(page))

    def routes(self) -> Mapping[str, Route]:
        return {"by-address": then(lambda page: pages.goto(page, f"/orders/{self.order}"), self._try)}


@dataclass(frozen=True)
class MissingInvoice(RefusedRequest):
    """Ask for the invoice of an order that has none."""

    name = "admin.missing-invoice"
    instruction = "What is the number of the invoice for order {order}?"

    user: str
    order: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        pending = office.pick(stream, office.orders_with(worlds["admin"], stream.choice(("pending", "canceled"))))
        return cls(office.chief(stream), pending["number"]) if pending else None

    def key(self, worlds: Worlds) -> Key:
        known = fact(
            shown(f"Keyword: {self.order}", "We couldn't find any invoices.", together="page"),
            shown(f"Order #: {self.order}", "We couldn't find any invoices.", together="page"),
            shown(f"Order # {self.order}", "Documents", "None yet.", together="page"),
        )
        return self.because(known, "NOT_FOUND_ERROR") & Key.checkpoint(
            "invoices or the order", office.page("/invoices"), office.page(f"/orders/{self.order}")
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        return {"number-of-the-order": Key.answer(self.order)}

    def solve(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Invoices")
        page = yield from pages.search(page, self.order)
        return self._none(bool(pages.lines(page)))

    def routes(self) -> Mapping[str, Route]:
        return {"on-the-order": self._on_the_order}

    def _on_the_order(self, page: Observation) -> Reading[Json]:
        page = yield from pages.open_order(page, self.order)
        return self._none(page.find("link", contains="Invoice 2") is not None)

    def _none(self, there: bool) -> Json:
        if there:
            raise AgentError(f"Order {self.order} has an invoice after all.")
        return refusal("retrieve", "NOT_FOUND_ERROR", "The order has no invoice.")


@dataclass(frozen=True)
class TakenSku(RefusedRequest):
    """Ask for an SKU that another product has."""

    name = "admin.taken-sku"
    instruction = (
        "Change the SKU of the product with the SKU {sku} to {wanted}. Nothing else may change, and it has to be "
        "exactly this SKU."
    )

    user: str
    sku: str
    wanted: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        found = office.rows(worlds["admin"], "SELECT sku FROM products WHERE id % 9 = 1 ORDER BY id")
        one, other = stream.sample(found, 2)
        return cls(office.chief(stream), one["sku"], other["sku"])

    def key(self, worlds: Worlds) -> Key:
        other = office.product(worlds["admin"], self.wanted)
        known = fact(shown("Another product has this SKU."), shown(other["name"], self.wanted))
        return self.because(known, "DATA_VALIDATION_ERROR", "ACTION_NOT_ALLOWED_ERROR") & (
            Key.checkpoint("products", office.page("/products"))
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        product = office.product(worlds["admin"], self.sku)
        return {"nearly-the-same": Key.update("products", where={"id": product["id"]}, sku=f"{self.wanted}-1")}

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_product(page, self.sku)
        page = yield from fill(page, "textbox", "SKU", self.wanted)
        page = yield from click(page, "button", "Save")
        if not any("Another product has this SKU" in node.name for node in page.nodes):
            raise AgentError("The SKU was changed after all.")
        return self._refused()

    def routes(self) -> Mapping[str, Route]:
        return {"looking-first": self._looking_first}

    def _looking_first(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Products")
        page = yield from pages.search(page, self.wanted)
        if not pages.lines(page):
            raise AgentError(f"No product has the SKU {self.wanted}.")
        return self._refused()

    def _refused(self) -> Json:
        return refusal("mutate", "DATA_VALIDATION_ERROR", "Another product has this SKU.")
