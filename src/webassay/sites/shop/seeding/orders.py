"""Five years of orders. People buy what interests them, and some things again and again."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import date, timedelta

import apsw

from webassay.sites.rng import Stream
from webassay.sites.shop.commerce import PAYMENT_METHODS, SHIPPING_METHODS, totals
from webassay.sites.shop.coupons import OrderLine
from webassay.sites.shop.seeding import naming
from webassay.sites.shop.seeding.catalog import Product
from webassay.sites.shop.seeding.coupons import Coupons
from webassay.sites.shop.seeding.customers import Customer, chosen_options
from webassay.sites.shop.seeding.returns import Delivered
from webassay.sites.shop.seeding.words import TODAY, day_between, moment_on

REGULAR_ORDERS = ((46, 58), (32, 42), (22, 30), (24, 34))
"""The fewest and most orders that each of REGULARS has placed."""
LARGE_ORDERS = (205, 310)
"""And each of the large businesses."""
SMALL_PACE = (14, 45)
"""Days between the orders of a small one."""
PACES = ((25, 2), (40, 4), (60, 5), (100, 5), (180, 3), (365, 1))
"""Days between the orders of everybody else, and how common each pace is."""
FIRST_NUMBER = 100000
MONTHS = (66, 60, 70, 72, 82, 70, 64, 70, 70, 80, 112, 120)
"""How much is ordered in each month, most for the holidays,"""
WEEKDAYS = (10, 9, 9, 8, 7, 7, 10)
"""and on each day of the week."""
SEASONS = (
    ("garden", frozenset((3, 4, 5, 6))),
    ("outdoor", frozenset((5, 6, 7, 8))),
    ("toy", frozenset((11, 12))),
)
"""What is asked for in some months, and half as often in others."""


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
    elif customer.business:
        large = customer.business == "large"
        count = (
            stream.between(*LARGE_ORDERS) if large else (yesterday - customer.since).days // stream.between(*SMALL_PACE)
        )
    else:
        count = max(1, (yesterday - customer.since).days // stream.weighted(PACES))
    days = [_seasonal_day(stream, customer.since, yesterday) for _ in range(count)]
    if customer.regular is not None:
        days[0] = yesterday - timedelta(days=stream.below(2))
    if customer.regular is not None or customer.business or stream.chance(1, 3):
        days += [yesterday - timedelta(days=stream.below(9)) for _ in range(stream.between(1, 3))]
    return days


def _seasonal_day(stream: Stream, first: date, last: date) -> date:
    for _ in range(5):
        day = day_between(stream, first, last)
        if stream.below(max(MONTHS) * max(WEEKDAYS)) < MONTHS[day.month - 1] * WEEKDAYS[day.weekday()]:
            break
    return day


def _out_of_season(product: Product, day: date) -> bool:
    return any(tag in product.tags and day.month not in months for tag, months in SEASONS)


def _basket(
    stream: Stream, day: date, favorites: list[Product], products: list[Product], earlier: list[Product]
) -> list[tuple[Product, int, int]]:
    """Different products that were available by then, with price and quantity."""
    wanted = stream.weighted(((1, 8), (2, 8), (3, 5), (4, 3), (5, 2), (6, 1), (8, 1)))
    basket: dict[int, tuple[Product, int, int]] = {}
    while len(basket) < wanted:
        pool = earlier if earlier and stream.chance(1, 8) else favorites if stream.chance(3, 4) else products
        product = stream.choice(pool)
        if _out_of_season(product, day) and stream.chance(1, 2):
            continue
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
    """Most of what is recent waits; some of what is older was sent back as a whole, or still has not gone out."""
    age = (TODAY - order.day).days
    if age <= 2 and order.customer.regular is not None:
        return "pending"
    if age <= 10:
        return stream.weighted((("pending", 38), ("processing", 9), ("on hold", 2), ("canceled", 1)))
    if age <= 16:
        return stream.weighted((("processing", 12), ("complete", 8), ("pending", 2), ("on hold", 1), ("canceled", 1)))
    if age <= 75 and stream.chance(1, 12):
        return stream.weighted((("on hold", 2), ("processing", 1)))
    return stream.weighted((("complete", 420), ("canceled", 44), ("closed", 17)))


def _recipient(stream: Stream, order: _Order) -> naming.Address:
    """Now and then it goes to another address of the book; a present goes to somebody who is not in it."""
    addresses = order.customer.addresses
    festive = order.day.month == 12 or (order.day.month, order.day.day // 10) in ((2, 0), (5, 0), (11, 2))
    if not order.customer.business and stream.chance(1, 5 if festive else 16):
        return naming.some_address(stream.child("gift"), naming.a_name(stream))
    return addresses[0] if stream.chance(3, 4) else stream.choice(addresses)


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
    shipping = _recipient(stream, order)
    paid_elsewhere = shipping in order.customer.addresses and stream.chance(1, 10)
    billing = shipping if paid_elsewhere else order.customer.addresses[0]
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
