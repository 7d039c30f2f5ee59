"""Buying: through the checkout, or by ordering something again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.arena.kit.walking import Steps, click, done, fill, submit
from webassay.arena.shop import facts, pages, queries
from webassay.arena.shop.orders import LIST, list_page
from webassay.core.interaction import Action, Observation, Walk
from webassay.core.task import PagePattern
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream

METHODS = {"standard": "Standard Shipping", "express": "Express Shipping", "next_day": "Next-Day Shipping"}
PAYMENTS = {"invoice": "Invoice (pay within 30 days)", "transfer": "Bank Transfer", "cod": "Cash on Delivery"}
_PERSON = ("first_name", "last_name", "street", "street2", "city", "region", "postcode", "phone")


@dataclass(frozen=True)
class OrderToAddress(Template):
    """Order something to an address that is not the default one."""

    name = "shop.order-to-address"
    kind = "mutate"
    chore = "long_term_memory"
    instruction = (
        'Order {quantity} pieces of "{product}" for me. Send them to the address in {city} from my address book by '
        "{shipping}, bill them to the same address, and pay by {payment}. Do not enter a discount code."
    )
    levels = ("medium",)
    tags = ("form", "checkout")

    user: str
    product: str
    quantity: int
    city: str
    method: str
    shipping: str
    paying: str
    payment: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        world = worlds["shop"]
        user = queries.without_cart(world, stream, 1, 60)
        book = _book(world, user)
        cities = [address["city"] for address in book]
        others = [one for one in book if not one["is_default_shipping"] and cities.count(one["city"]) == 1]
        address = queries.pick(stream, others)
        found = queries.pick(stream, queries.find_products(world, "p.stock >= 20"))
        if address is None or found is None or found["has_options"]:
            return None
        if queries.tax_rate(world, address["region"]) is None:
            return None
        method, payment = stream.choice(("express", "next_day")), stream.choice(("transfer", "cod", "invoice"))
        if not {method, "standard"} <= set(queries.methods_used(world)):
            return None
        return cls(
            user, found["name"], stream.between(2, 5), address["city"], method, METHODS[method], payment,
            PAYMENTS[payment],
        )  # fmt: skip

    def key(self, worlds: Worlds) -> Key:
        world = worlds["shop"]
        address = next(one for one in _book(world, self.user) if one["city"] == self.city)
        # What is in the cart is in the same row as its price there, and on the product's own page.
        seen = facts.seen([facts.priced(queries.product(world, self.product))])
        checkout = Key.checkpoint("checkout", PagePattern(site="shop", path="/checkout/review"))
        return self._ordered(world, address, self.method) & seen & checkout

    def _ordered(self, world: World, address: Row, method: str) -> Key:
        product = queries.product(world, self.product)
        goods = product["price_cents"] * self.quantity
        rate = queries.tax_rate(world, address["region"]) or 0
        tax, shipping = (goods * rate + 5000) // 10000, queries.shipping_cents(world, method, goods)
        person = {column: address[column] for column in _PERSON}
        return Key.all_of(
            [
                Key.insert(
                    "orders", customer_id=queries.customer_id(world, self.user), status="pending",
                    shipping_method=method, payment_method=self.paying, coupon_code="", subtotal_cents=goods,
                    discount_cents=0, shipping_cents=shipping, tax_cents=tax, total_cents=goods + shipping + tax,
                ),
                Key.insert(
                    "order_items", product_id=product["id"], sku=product["sku"], name=self.product, options="",
                    unit_price_cents=product["price_cents"], quantity=self.quantity,
                ),
                Key.insert("order_addresses", kind="shipping", **person),
                Key.insert("order_addresses", kind="billing", **person),
            ]
        )  # fmt: skip

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        world = worlds["shop"]
        book = _book(world, self.user)
        default = next(one for one in book if one["is_default_shipping"])
        address = next(one for one in book if one["city"] == self.city)
        return {
            "default-address": self._ordered(world, default, self.method),
            "standard-shipping": self._ordered(world, address, "standard"),
        }

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=len(_book(worlds["shop"], self.user)) + 1, pages=6, steps=14, longest=16)

    def solve(self, page: Observation) -> Walk:
        page = yield from self._put_in_cart(page)
        page = yield from pages.open_cart(page)
        page = yield from click(page, "link", "Proceed to Checkout")
        return (yield from self._check_out(page, self.city, self.shipping))

    def routes(self) -> Mapping[str, Route]:
        return {"straight-to-checkout": self._straight}

    def _straight(self, page: Observation) -> Walk:
        page = yield from self._put_in_cart(page)
        page = yield Action.of("goto", f"{page.url.split('/p/')[0]}/checkout/shipping")
        return (yield from self._check_out(page, self.city, self.shipping))

    def hasty(self) -> Mapping[str, Route]:
        return {"default-address": self._to_default, "standard-shipping": self._by_standard}

    def _to_default(self, page: Observation) -> Walk:
        page = yield from self._put_in_cart(page)
        page = yield Action.of("goto", f"{page.url.split('/p/')[0]}/checkout/shipping")
        return (yield from self._check_out(page, "", self.shipping))

    def _by_standard(self, page: Observation) -> Walk:
        page = yield from self._put_in_cart(page)
        page = yield Action.of("goto", f"{page.url.split('/p/')[0]}/checkout/shipping")
        return (yield from self._check_out(page, self.city, METHODS["standard"]))

    def _put_in_cart(self, page: Observation) -> Steps:
        page = yield from pages.open_product(page, self.product)
        page = yield from fill(page, "spinbutton", "Quantity", str(self.quantity))
        return (yield from click(page, "button", "Add to Cart"))

    def _check_out(self, page: Observation, city: str, shipping: str) -> Walk:
        if city:
            page = yield from click(page, "radio", contains=f", {city}, ")
        page = yield from click(page, "radio", contains=shipping)
        page = yield from click(page, "button", "Continue to Payment")
        page = yield from click(page, "radio", contains=self.payment)
        page = yield from click(page, "button", "Continue to Review")
        return (yield from submit(page, "Place Order"))


def _book(world: World, user: str) -> list[Row]:
    customer = queries.customer_id(world, user)
    return queries.rows(world, "SELECT * FROM addresses WHERE customer_id = ? ORDER BY id", customer)


@dataclass(frozen=True)
class ReorderCanceled(Template):
    """Put what was in the latest canceled order into the cart again."""

    name = "shop.reorder-canceled"
    kind = "mutate"
    chore = "long_term_memory"
    instruction = (
        "Put everything that was in my latest canceled order into my cart again, in the same quantities. Do not check "
        "out."
    )
    levels = ("easy", "medium")
    tags = ("checkout",)

    user: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        world = worlds["shop"]
        drawn = cls(queries.without_cart(world, stream, 5, 400))
        orders = queries.orders_of(world, drawn.user)
        if drawn._canceled(world) is None or orders[0]["status"] == "canceled":
            return None
        both = (drawn._items(world), queries.order_items(world, orders[0]["number"]))
        return drawn if all(map(_can_be_bought, both, (world, world))) else None

    def _canceled(self, world: World) -> Row | None:
        orders = queries.orders_of(world, self.user)
        return next((order for order in orders if order["status"] == "canceled"), None)

    def _items(self, world: World) -> list[Row]:
        order = self._canceled(world)
        return queries.order_items(world, order["number"]) if order else []

    def key(self, worlds: Worlds) -> Key:
        world, items = worlds["shop"], self._items(worlds["shop"])
        number = (self._canceled(world) or {})["number"]
        return (
            self._in_cart(world, items)
            & Key.seen_share(1.0, [facts.order_status(queries.order(world, number))])
            & LIST
            & Key.checkpoint("the order", queries.order_page(number))
        )

    def _in_cart(self, world: World, items: list[Row]) -> Key:
        customer = queries.customer_id(world, self.user)
        return Key.all_of(
            Key.insert(
                "cart_items", customer_id=customer, product_id=item["product_id"], options=item["options"],
                quantity=item["quantity"],
            )
            for item in items
        )  # fmt: skip

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        world = worlds["shop"]
        latest = queries.orders_of(world, self.user)[0]["number"]
        found = {"latest-order": self._in_cart(world, queries.order_items(world, latest))}
        pieces = [dict(item, quantity=1) for item in self._items(world)]
        if any(item["quantity"] > 1 for item in self._items(world)):
            found["one-of-each"] = self._in_cart(world, pieces)
        return found

    def effort(self, worlds: Worlds) -> Effort:
        world, items = worlds["shop"], self._items(worlds["shop"])
        number = (self._canceled(world) or {})["number"]
        listed = list_page(world, self.user, number)
        numbers = [order["number"] for order in queries.orders_of(world, self.user)]
        return Effort(
            rows=numbers.index(number) + 1, pages=listed + 1, steps=listed + 5, longest=listed + 5 + 6 * len(items)
        )

    def solve(self, page: Observation) -> Walk:
        page = yield from self._open_canceled(page)
        return (yield from submit(page, "Reorder"))

    def routes(self) -> Mapping[str, Route]:
        return {"one-by-one": self._one_by_one}

    def _one_by_one(self, page: Observation) -> Walk:
        page = yield from self._open_canceled(page)
        order = page.url
        for item in pages.items(page):
            page = yield from click(page, "link", item.name)
            page = yield from fill(page, "spinbutton", "Quantity", str(item.quantity))
            yield from click(page, "button", "Add to Cart")
            page = yield Action.of("goto", order)
        return done("mutate")

    def hasty(self) -> Mapping[str, Route]:
        return {"latest-order": self._latest}

    def _latest(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Orders")
        page = yield from click(page, "link", contains="View Order")
        return (yield from submit(page, "Reorder"))

    def _open_canceled(self, page: Observation) -> Steps:
        page = yield from pages.open_orders(page)
        while True:
            canceled = [order.number for order in pages.listed_orders(page) if order.status == "canceled"]
            if canceled:
                return (yield from click(page, "link", f"View Order {canceled[0]}"))
            page = yield from click(page, "link", "Next")


def _can_be_bought(items: list[Row], world: World) -> bool:
    """All of it is in stock, and nothing asks for a size or a color."""
    return all(
        not item["options"] and queries.product(world, item["name"])["stock"] >= item["quantity"] for item in items
    )
