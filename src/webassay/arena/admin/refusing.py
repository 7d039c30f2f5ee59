"""What the back office does not do: too late, too much, not for this role, not there."""

from abc import abstractmethod
from typing import ClassVar, Self

from webassay.arena.admin import office, pages
from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key, cell, shown
from webassay.arena.kit.template import Parts, Refuse
from webassay.arena.kit.walking import Steps, click, links, refused, send
from webassay.core.interaction import Observation, Walk
from webassay.sites.kit import World
from webassay.sites.rng import Stream

SALES, CATALOG, VIEWER = "lena.sato", "tomas.reyes", "ivy.thornton"
ROLES = {SALES: "Sales", VIEWER: "Viewer", CATALOG: "Catalog"}
EFFORT = Effort(rows=1, pages=2, steps=8, longest=10)


def _says(page: Observation, text: str) -> bool:
    return any(text in node.name for node in page.nodes)


class CancelShipped(Refuse):
    """Ask to cancel an order that is complete, though the same buyer has others that could be."""

    name = "admin.cancel-complete"
    instruction = "Cancel order {order} of {buyer}. The customer changed their mind."
    misread = {"another-order": {"instead": True}}
    ways = {"in-bulk": {"in_bulk": True}}

    user: str
    order: str
    buyer: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        buyer = stream.choice(office.orders_with(world, "pending"))["bill_to"]
        own = [one for one in office.orders_with(world, "complete") if one["bill_to"] == buyer]
        number = stream.choice(own)["number"]
        return cls(office.chief(stream), number, buyer)

    def end(self, world: World, *, instead: bool = False) -> Parts:
        if instead:
            pending = next(one for one in office.orders_with(world, "pending") if one["bill_to"] == self.buyer)
            yield Key.update("orders", where={"id": pending["id"]}, status="canceled")
        status = office.order_status(office.order(world, self.order))
        yield Key.refusal("ACTION_NOT_ALLOWED_ERROR", facts=office.seen([status]))
        yield Key.checkpoint("the order", office.page(f"/orders/{self.order}"))
        yield EFFORT

    def solve(self, page: Observation, *, in_bulk: bool = False) -> Walk:
        if in_bulk:
            page = yield from pages.find_order(page, self.order)
            page = yield from pages.tick(page, self.order)
            page = yield from pages.act(page, "Cancel")
            possible = not _says(page, "cannot be canceled")
        else:
            page = yield from pages.open_order(page, self.order)
            possible = page.find("button", "Cancel") is not None
        why = "The order is complete and cannot be canceled."
        return refused(page, possible, "mutate", "ACTION_NOT_ALLOWED_ERROR", why)


class NotForThisRole(Refuse, abstract=True):
    """Somebody asks who may not."""

    ways = {"by-the-rights": {"by_rights": True}}
    action: ClassVar[str]
    area: ClassVar[str]
    line: ClassVar[str]
    """In the list of the role's rights."""

    user: str

    def denied(self) -> Key:
        """What a page of the area says, the refused, or the list of rights."""
        role = ROLES[self.user]
        known = Key.seen_any(
            shown(f"Your role, {role}, may look at {self.area}, but not change them."),
            shown(f"Your role, {role}, may not see {self.area}."),
            shown(f"Rights of the Role {role}", self.line, together="page"),
        )
        return Key.refusal("PERMISSION_DENIED_ERROR", facts=known)

    @abstractmethod
    def attempt(self, page: Observation) -> Steps: ...

    @abstractmethod
    def possible(self, page: Observation) -> bool:
        """On the page that the attempt leads to."""

    def solve(self, page: Observation, *, by_rights: bool = False) -> Walk:
        if by_rights:
            page = yield from click(page, "link", contains=f"({ROLES[self.user]})")
        else:
            page = yield from self.attempt(page)
        why = f"This role may not {'see' if self.action == 'retrieve' else 'change'} {self.area}."
        return refused(page, self.possible(page), self.action, "PERMISSION_DENIED_ERROR", why)


class SalesChangePrice(NotForThisRole):
    """Ask somebody of sales to change a price."""

    name = "admin.price-not-allowed"
    instruction = "Set the price of the product with the SKU {sku} to ${price}."
    misread = {"done-anyway": {"anyway": True}}
    action = "mutate"
    area = "products"
    line = "Products Yes No"

    sku: str
    price: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        sku = stream.choice(office.rows(world, "SELECT sku FROM products WHERE id % 11 = 4 ORDER BY id"))["sku"]
        return cls(stream.choice((SALES, VIEWER)), sku, stream.between(12, 90))

    def end(self, world: World, *, anyway: bool = False) -> Parts:
        if anyway:
            product = office.product(world, self.sku)["id"]
            yield Key.update("products", where={"id": product}, price_cents=self.price * 100)
        yield self.denied()
        yield Key.checkpoint("products", office.page("/products"))
        yield EFFORT

    def attempt(self, page: Observation) -> Steps:
        return (yield from pages.open_product(page, self.sku))

    def possible(self, page: Observation) -> bool:
        return page.find("button", "Save") is not None


class CatalogSeesOrder(NotForThisRole):
    """Ask somebody of the catalog for the total of an order."""

    name = "admin.order-not-visible"
    instruction = "What is the grand total of order {order}? Its page is /orders/{order}."
    misread = {"another-number": {"number": True}}
    action = "retrieve"
    area = "orders"
    line = "Orders No No"

    order: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        orders = office.rows(world, "SELECT number FROM orders WHERE id % 13 = 5 ORDER BY id")
        return cls(CATALOG, stream.choice(orders)["number"])

    def end(self, world: World, *, number: bool = False) -> Parts:
        if number:
            yield Key.answer(self.order)
        yield self.denied()
        yield Key.checkpoint("the order", office.page(f"/orders/{self.order}", 403))
        yield EFFORT

    def attempt(self, page: Observation) -> Steps:
        return (yield from pages.goto(page, f"/orders/{self.order}"))

    def possible(self, page: Observation) -> bool:
        return page.find("heading", contains=self.order) is not None


class RefundTooMuch(Refuse):
    """Ask to refund more than the order came to."""

    name = "admin.refund-too-much"
    instruction = "Refund ${amount} on order {order} because of damage in transit. It has to be this exact amount."
    misread = {"as-much-as-possible": {"less": True}}
    ways = {"by-address": {"by_address": True}}

    user: str
    order: str
    amount: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        orders = office.rows(
            world,
            "SELECT number, total_cents FROM orders WHERE status = 'complete' AND id % 5 = 1 AND id NOT IN"
            " (SELECT order_id FROM refunds) ORDER BY id",
        )
        order = stream.choice(orders)
        return cls(office.chief(stream), order["number"], order["total_cents"] // 100 + stream.between(5, 60))

    def end(self, world: World, *, less: bool = False) -> Parts:
        order = office.order(world, self.order)
        cents, reason = order["total_cents"], "Damaged in transit"
        if less:
            refund = Key.insert("refunds", order_id=order["id"], amount_cents=cents, reason=reason)
            yield refund & Key.update("orders", where={"id": order["id"]}, status="closed")
        known = Key.read(office.order_total(order))
        yield Key.refusal("DATA_VALIDATION_ERROR", "ACTION_NOT_ALLOWED_ERROR", facts=known)
        yield Key.checkpoint("the order", office.page(f"/orders/{self.order}"))
        yield Effort(rows=1, pages=3, steps=9)

    def solve(self, page: Observation, *, by_address: bool = False) -> Walk:
        if by_address:
            page = yield from pages.goto(page, f"/orders/{self.order}")
        else:
            page = yield from pages.open_order(page, self.order)
        page = yield from links(page, "Refund")
        typed = {"Refund Amount": f"{self.amount}.00"}
        page = yield from send(page, "Refund", typed, {"Reason": "Damaged in transit"})
        why = "More cannot be refunded than the order came to."
        return refused(page, page.find("button", "Refund") is None, "mutate", "DATA_VALIDATION_ERROR", why)


class MissingInvoice(Refuse):
    """Ask for the invoice of an order that has none."""

    name = "admin.missing-invoice"
    instruction = "What is the number of the invoice for order {order}?"
    misread = {"number-of-the-order": {"number": True}}
    ways = {"on-the-order": {"on_the_order": True}}

    user: str
    order: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        order = stream.choice(office.orders_with(world, stream.choice(("pending", "canceled"))))
        return cls(office.chief(stream), order["number"])

    def end(self, world: World, *, number: bool = False) -> Parts:
        if number:
            yield Key.answer(self.order)
        known = Key.seen_any(
            shown(f"Keyword: {self.order}", "We couldn't find any invoices.", together="page"),
            shown(f"Order #: {self.order}", "We couldn't find any invoices.", together="page"),
            shown(f"Order # {self.order}", "Documents", "None yet.", together="page"),
        )
        yield Key.refusal("NOT_FOUND_ERROR", facts=known)
        yield Key.checkpoint("invoices or the order", office.page("/invoices"), office.page(f"/orders/{self.order}"))
        yield EFFORT

    def solve(self, page: Observation, *, on_the_order: bool = False) -> Walk:
        if on_the_order:
            page = yield from pages.open_order(page, self.order)
            there = page.find("link", contains="Invoice 2") is not None
        else:
            page = yield from pages.searched(page, "Invoices", self.order)
            there = bool(pages.lines(page))
        return refused(page, there, "retrieve", "NOT_FOUND_ERROR", "The order has no invoice.")


class TakenSku(Refuse):
    """Ask for an SKU that another product has."""

    name = "admin.taken-sku"
    instruction = (
        "Change the SKU of the product with the SKU {sku} to {wanted}. It has to be exactly this SKU. Change nothing "
        "else."
    )
    misread = {"nearly-the-same": {"similar": True}}
    ways = {"looking-first": {"looking": True}}

    user: str
    sku: str
    wanted: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        products = office.rows(world, "SELECT sku FROM products WHERE id % 9 = 1 ORDER BY id")
        one, other = stream.sample(products, 2)
        return cls(office.chief(stream), one["sku"], other["sku"])

    def end(self, world: World, *, similar: bool = False) -> Parts:
        if similar:
            product = office.product(world, self.sku)["id"]
            yield Key.update("products", where={"id": product}, sku=f"{self.wanted}-1")
        other = office.product(world, self.wanted)
        known = Key.seen_any(shown("Another product has this SKU."), cell("products", other["id"], "sku"))
        yield Key.refusal("DATA_VALIDATION_ERROR", "ACTION_NOT_ALLOWED_ERROR", facts=known)
        yield Key.checkpoint("products", office.page("/products"))
        yield EFFORT

    def solve(self, page: Observation, *, looking: bool = False) -> Walk:
        if looking:
            page = yield from pages.searched(page, "Products", self.wanted)
            free = not pages.lines(page)
        else:
            page = yield from pages.open_product(page, self.sku)
            page = yield from send(page, "Save", {"SKU": self.wanted})
            free = not _says(page, "Another product has this SKU")
        return refused(page, free, "mutate", "DATA_VALIDATION_ERROR", "Another product has this SKU.")
