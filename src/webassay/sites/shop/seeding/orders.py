"""Five years of orders. People buy what interests them, and some things again and again."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import date, timedelta

import apsw

from webassay.sites.rng import Stream
from webassay.sites.shop.commerce import PAYMENT_METHODS, SHIPPING_METHODS, totals
from webassay.sites.shop.coupons import OrderLine
from webassay.sites.shop.seeding.catalog import Product
from webassay.sites.shop.seeding.coupons import Coupons
from webassay.sites.shop.seeding.customers import Customer, chosen_options
from webassay.sites.shop.seeding.returns import Delivered
from webassay.sites.shop.seeding.words import TODAY, day_between, moment_on

REGULAR_ORDERS = ((46, 58), (32, 42), (22, 30), (24, 34))
"""The fewest and most orders that each of REGULARS has placed."""
BUYER_ORDERS = (205, 310)
PACES = ((25, 2), (40, 4), (60, 5), (100, 5), (180, 3), (365, 1))
"""Days between the orders of everybody else, and how common each pace is."""
FIRST_NUMBER = 100000


@dataclass(frozen=True)
class Bought:
    customer: Customer
    product: Product
    day: date


@dataclass(frozen=True)
class _Order:
    customer: Customer
    moment: str
    day: date


def fill_orders(
    db: apsw.Connection, stream: Stream, products: list[Product], customers: list[Customer], coupons: Coupons
) -> tuple[list[Bought], list[Delivered]]:
    """Also returns who received what, so that they can review it or send it back."""
    shelves: dict[int, list[Product]] = defaultdict(list)
    for product in products:
        shelves[product.category].append(product)
    favorites: dict[int, list[Product]] = {}
    for customer in customers:
        interests = stream.child("interests", customer.id).sample(sorted(shelves), 9)
        favorites[customer.id] = [product for shelf in interests for product in shelves[shelf]]
    bought: list[Bought] = []
    delivered: list[Delivered] = []
    earlier: dict[int, list[Product]] = defaultdict(list)
    orders = sorted(_plan(stream.child("plan"), customers), key=lambda order: order.moment)
    for number, order in enumerate(orders, 1):
        own = stream.child("order", number)
        basket = _basket(own, order.day, favorites[order.customer.id], products, earlier[order.customer.id])
        earlier[order.customer.id] += [product for product, _, _ in basket]
        status = _status(own, order)
        rows = _add_order(db, own, number, order, basket, status, coupons)
        if status == "complete":
            delivered.append(Delivered(number, order.customer.id, order.day, rows))
            bought += [Bought(order.customer, product, order.day) for product, _, _ in basket]
    return bought, delivered


def _plan(stream: Stream, customers: list[Customer]) -> list[_Order]:
    plan = []
    seen: set[str] = set()
    for customer in customers:
        for day in _days(stream.child("customer", customer.id), customer):
            moment = moment_on(stream, day)
            while moment in seen:
                moment = moment_on(stream, day)
            seen.add(moment)
            plan.append(_Order(customer, moment, day))
    return plan


def _days(stream: Stream, customer: Customer) -> list[date]:
    """Spread over the time since the customer joined; some have ordered several things in the last few days."""
    yesterday = TODAY - timedelta(days=1)
    if customer.regular is not None:
        count = stream.between(*REGULAR_ORDERS[customer.regular])
    elif customer.buyer:
        count = stream.between(*BUYER_ORDERS)
    else:
        count = max(1, (yesterday - customer.since).days // stream.weighted(PACES))
    days = [day_between(stream, customer.since, yesterday) for _ in range(count)]
    if customer.regular is not None:
        days[0] = yesterday - timedelta(days=stream.below(2))
    if customer.regular is not None or customer.buyer or stream.chance(1, 3):
        days += [yesterday - timedelta(days=stream.below(9)) for _ in range(stream.between(1, 3))]
    return days


def _basket(
    stream: Stream, day: date, favorites: list[Product], products: list[Product], earlier: list[Product]
) -> list[tuple[Product, int, int]]:
    """Different products that were available by then, with price and quantity."""
    wanted = stream.weighted(((1, 8), (2, 8), (3, 5), (4, 3), (5, 2), (6, 1), (8, 1)))
    basket: dict[int, tuple[Product, int, int]] = {}
    while len(basket) < wanted:
        pool = earlier if earlier and stream.chance(1, 8) else favorites if stream.chance(3, 4) else products
        product = stream.choice(pool)
        if product.first_available <= day and product.id not in basket:
            quantity = stream.weighted(((1, 12), (2, 4), (3, 2), (4, 1), (6, 1)))
            basket[product.id] = (product, _price_then(stream, product, day), quantity)
    return list(basket.values())


def _price_then(stream: Stream, product: Product, day: date) -> int:
    """Old prices often differ a little."""
    if (TODAY - day).days < 120 or stream.chance(1, 2):
        return product.price
    return max(product.price * stream.between(88, 108) // 100 // 100 * 100, 100) + product.price % 100


def _list_price_then(stream: Stream, product: Product, price: int) -> int | None:
    """What is on sale today was then, at today's price; other things were now and then."""
    if price == product.price and product.list_price is not None:
        return product.list_price
    if not stream.chance(1, 9):
        return None
    return price + max(1, price * stream.between(8, 35) // 10000) * 100


def _status(stream: Stream, order: _Order) -> str:
    age = (TODAY - order.day).days
    if age <= 2 and order.customer.regular is not None:
        return "pending"
    if age <= 10:
        return "pending" if stream.chance(4, 5) else "processing"
    if age <= 16:
        return stream.weighted((("processing", 6), ("complete", 3), ("pending", 1)))
    return "canceled" if stream.chance(1, 9) else "complete"


def _add_order(
    db: apsw.Connection,
    stream: Stream,
    number: int,
    order: _Order,
    basket: list[tuple[Product, int, int]],
    status: str,
    coupons: Coupons,
) -> tuple[tuple[int, int], ...]:
    """Returns the row number and the pieces of each of its articles."""
    addresses = order.customer.addresses
    shipping = addresses[0] if stream.chance(3, 4) else stream.choice(addresses)
    billing = addresses[0] if stream.chance(9, 10) else shipping
    method = stream.weighted([(known, weight) for known, weight in zip(SHIPPING_METHODS, (7, 2, 1), strict=True)])
    payment = stream.weighted(list(zip(PAYMENT_METHODS, (5, 2, 2), strict=True)))
    options = [chosen_options(stream, product) for product, _, _ in basket]
    lines = [OrderLine(price, quantity, product.department) for product, price, quantity in basket]
    working = coupons.working(order.day, lines) if stream.chance(1, 4) else []
    coupon = stream.choice(working) if working else None
    sums = totals(
        [(price, quantity) for _, price, quantity in basket],
        method.code,
        shipping[5],
        coupon.discount(lines) if coupon else 0,
        free_shipping=coupon is not None and coupon.free_shipping,
    )
    db.execute(
        "INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (number, str(FIRST_NUMBER + number), order.customer.id, status, order.moment, method.code, payment,
         coupon.code if coupon else "", sums.subtotal, sums.discount, sums.shipping, sums.tax, sums.total),
    )  # fmt: skip
    rows = []
    for (product, price, quantity), chosen in zip(basket, options, strict=True):
        before = _list_price_then(stream.child("list price", product.id), product, price)
        db.execute(
            "INSERT INTO order_items (order_id, product_id, sku, name, options, unit_price_cents, quantity,"
            " list_price_cents) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (number, product.id, product.sku, product.name, chosen, price, quantity, before),
        )
        rows.append((db.last_insert_rowid(), quantity))
    for kind, address in (("shipping", shipping), ("billing", billing)):
        db.execute("INSERT INTO order_addresses VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (number, kind, *address))
    return tuple(rows)
