"""Buying: through the checkout, or by ordering something again."""

from typing import Self

from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key
from webassay.arena.kit.template import Mutate, Parts, fair, top
from webassay.arena.kit.walking import click, done, links, send, submit
from webassay.arena.shop import facts, pages, queries
from webassay.arena.shop.cart import in_cart
from webassay.core.interaction import Action, Observation, Walk
from webassay.core.task import PagePattern
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream

METHODS = {"standard": "Standard Shipping", "express": "Express Shipping", "next_day": "Next-Day Shipping"}
PAYMENTS = {"invoice": "Invoice (pay within 30 days)", "transfer": "Bank Transfer", "cod": "Cash on Delivery"}
_PERSON = ("first_name", "last_name", "street", "street2", "city", "region", "postcode", "phone")


class OrderToAddress(Mutate):
    """Order something to an address that is not the default one."""

    name = "shop.order-to-address"
    chore = "long_term_memory"
    instruction = (
        'Order {quantity} of "{product}" for me. Ship it by {shipping} to the address in {city} from my address '
        "book, use the same address for billing, and pay by {payment}. Do not use a discount code."
    )
    levels = ("medium",)
    tags = ("form", "checkout")
    misread = {
        "default-address": {"default": True},
        "standard-shipping": {"method": "standard", "shipping": METHODS["standard"]},
    }
    ways = {"straight-to-checkout": {"straight": True}}

    user: str
    product: str
    quantity: int
    city: str
    method: str
    shipping: str
    paying: str
    payment: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        user = queries.without_cart(world, stream, 1, 60)
        book = queries.address_book(world, user)
        cities = [one["city"] for one in book]
        others = [one for one in book if not one["is_default_shipping"] and cities.count(one["city"]) == 1]
        address = stream.choice(others)
        product = stream.choice(queries.find_products(world, "p.stock >= 20"))
        method, payment = stream.choice(("express", "next_day")), stream.choice(("transfer", "cod", "invoice"))
        return cls(
            user, product["name"], stream.between(2, 5), address["city"], method, METHODS[method], payment,
            PAYMENTS[payment],
        )  # fmt: skip

    def end(self, world: World, *, default: bool = False) -> Parts:
        book, product = queries.address_book(world, self.user), queries.product(world, self.product)
        address = next(one for one in book if (one["is_default_shipping"] if default else one["city"] == self.city))
        rate = queries.tax_rate(world, address["region"])
        yield fair(not product["has_options"], rate is not None)
        yield fair({self.method, "standard"} <= set(queries.methods_used(world)))
        goods = queries.price(product) * self.quantity
        tax, shipping = (goods * (rate or 0) + 5000) // 10000, queries.shipping_cents(world, self.method, goods)
        person = {column: address[column] for column in _PERSON}
        yield (
            Key.insert(
                "orders", customer_id=queries.customer_id(world, self.user), status="pending",
                shipping_method=self.method, payment_method=self.paying, coupon_code="", subtotal_cents=goods,
                discount_cents=0, shipping_cents=shipping, tax_cents=tax, total_cents=goods + shipping + tax,
            )
            & Key.insert(
                "order_items", product_id=product["id"], sku=product["sku"], name=self.product, options="",
                unit_price_cents=queries.price(product), quantity=self.quantity,
            )
            & Key.insert("order_addresses", kind="shipping", **person)
            & Key.insert("order_addresses", kind="billing", **person)
        )  # fmt: skip
        # What is in the cart is in the same row as its price there, and on the product's own page.
        yield facts.seen([facts.priced(product)])
        yield Key.checkpoint("checkout", PagePattern(site="shop", path="/checkout/review"))
        yield Effort(rows=len(book) + 1, pages=6, steps=14, longest=16)

    def solve(self, page: Observation, *, default: bool = False, straight: bool = False) -> Walk:
        page = yield from pages.open_product(page, self.product)
        page = yield from pages.put_in_cart(page, self.quantity)
        if straight:
            page = yield Action.of("goto", f"{page.url.split('/p/')[0]}/checkout/shipping")
        else:
            page = yield from pages.open_cart(page)
            page = yield from links(page, "Proceed to Checkout")
        if not default:
            page = yield from click(page, "radio", contains=f", {self.city}, ")
        page = yield from click(page, "radio", contains=self.shipping)
        page = yield from send(page, "Continue to Payment")
        page = yield from click(page, "radio", contains=self.payment)
        page = yield from send(page, "Continue to Review")
        return (yield from submit(page, "Place Order"))


class ReorderCanceled(Mutate):
    """Put what was in the latest canceled order into the cart again."""

    name = "shop.reorder-canceled"
    chore = "long_term_memory"
    instruction = (
        "Add everything from my latest canceled order to my cart again, in the same quantities. Do not check out."
    )
    levels = ("easy", "medium")
    tags = ("checkout",)
    misread = {"latest-order": {"status": ""}, "one-of-each": {"most": 1}}
    may_agree = ("one-of-each",)
    ways = {"one-by-one": {"one_by_one": True}}

    user: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(queries.without_cart(world, stream, 5, 400))

    def end(self, world: World, *, status: str = "canceled", most: int = 0) -> Parts:
        orders = queries.orders_of(world, self.user)
        order = top([one for one in orders if status in ("", one["status"])])
        latest, number = orders[0], order["number"]
        items = queries.order_items(world, number)
        bought = (*items, *queries.order_items(world, latest["number"]))
        yield fair(latest["status"] != "canceled", all(_can_be_bought(item, world) for item in bought))
        yield Key.all_of(
            in_cart(world, self.user, item["product_id"], most or item["quantity"], item["options"]) for item in items
        )
        yield Key.seen_share(1.0, [facts.order_status(order)])
        yield facts.LIST
        yield Key.checkpoint("the order", queries.order_page(number))
        listed = queries.list_page(world, self.user, number)
        steps = listed + 5
        yield Effort(orders.index(order) + 1, pages=listed + 1, steps=steps, longest=steps + 6 * len(items))

    def solve(self, page: Observation, *, status: str = "canceled", one_by_one: bool = False) -> Walk:
        page = yield from pages.open_newest_order(page, lambda order: status in ("", order.status))
        if not one_by_one:
            return (yield from submit(page, "Reorder"))
        order = page.url
        for item in pages.items(page):
            page = yield from links(page, item.name)
            yield from pages.put_in_cart(page, item.quantity)
            page = yield Action.of("goto", order)
        return done("mutate")


def _can_be_bought(item: Row, world: World) -> bool:
    """It is in stock, and nothing asks for a size or a color."""
    return not item["options"] and bool(queries.product(world, item["name"])["stock"] >= item["quantity"])
