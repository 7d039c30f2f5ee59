"""Customers, their address books, wish lists, carts and newsletters."""

import hashlib
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

import apsw

from webassay.sites.rng import Stream
from webassay.sites.shop.seeding import naming
from webassay.sites.shop.seeding.catalog import Product
from webassay.sites.shop.seeding.words import OPENED_ONLINE, TODAY, day_between, moment_on, names, vocabulary

PASSWORD = "tally-Brook-2026"
"""The password of every seeded customer, so that people can log in by hand."""

REGULARS = (
    ("Nora", "Castellano", "nora.castellano@example.com"),
    ("Marcus", "Okafor", "marcus.okafor@example.com"),
    ("Priya", "Lindgren", "priya.lindgren@example.com"),
    ("Walt", "Pennington", "walt.pennington@example.com"),
)
"""Customers with long histories who exist for every seed. The first one has an empty cart."""

LARGE_BUSINESSES = 6
"""They have ordered several times a month since the first days."""
CUSTOMERS_A_BUSINESS = 36
"""For so many customers there is one more business, which orders now and then."""


@dataclass(frozen=True)
class Customer:
    id: int
    first_name: str
    last_name: str
    since: date
    addresses: tuple[naming.Address, ...]
    """The default first."""
    regular: int | None
    """Index in REGULARS."""
    business: Literal["", "small", "large"]


def password_hash(customer_id: int, password: str) -> str:
    return hashlib.sha256(f"{customer_id}:{password}".encode()).hexdigest()


def fill_customers(db: apsw.Connection, stream: Stream, products: list[Product], count: int) -> list[Customer]:
    places = _places(stream, count)
    people = naming.people(stream.child("people"), count)
    firms = naming.businesses(stream.child("businesses"), len(places) - len(REGULARS))
    taken = {email for *_, email in REGULARS}
    joined = sorted(
        (day_between(stream, OPENED_ONLINE, TODAY - timedelta(days=30)) for _ in range(count)), reverse=True
    )
    customers = []
    for number in range(1, count + 1):
        own = stream.child("customer", number)
        place = places.get(number)
        regular = place if place is not None and place < len(REGULARS) else None
        old = place is not None and place < len(REGULARS) + LARGE_BUSINESSES
        business: Literal["", "small", "large"] = (
            "" if place is None or regular is not None else "large" if old else "small"
        )
        first, last = firms.pop() if business else people.pop()
        email = _email(own.child("email"), (first, last), business != "", taken)
        if regular is not None:
            first, last, email = REGULARS[regular]
        # The first ones came one a day.
        first_day = OPENED_ONLINE + timedelta(days=min(number, 90))
        since = first_day if old else max(joined.pop(), first_day)
        addresses = _addresses(own.child("addresses"), (first, last), business != "", fewest=1 if place is None else 2)
        customer = Customer(number, first, last, since, addresses, regular, business)
        _add_customer(db, own, customer, email)
        _fill_lists(db, own.child("lists"), customer, products)
        customers.append(customer)
    _fill_newsletter(db, stream.child("newsletter"))
    return customers


def _places(stream: Stream, count: int) -> dict[int, int]:
    """Numbers of the customers who are somebody in particular: the regulars, then the businesses, large ones first."""
    drawn = stream.child("order")
    old = drawn.sample(range(1, 25), len(REGULARS) + LARGE_BUSINESSES)
    return {
        number: place
        for place, number in enumerate([*old, *drawn.sample(range(25, count + 1), count // CUSTOMERS_A_BUSINESS)])
    }


def _email(stream: Stream, name: naming.Name, business: bool, taken: set[str]) -> str:
    while (email := naming.email_of(stream, name, business)) in taken:
        pass
    taken.add(email)
    return email


def _addresses(stream: Stream, name: naming.Name, business: bool, fewest: int) -> tuple[naming.Address, ...]:
    """The first is the customer's own; others may be those of family, friends or, in a business, staff."""
    count = max(stream.weighted(((1, 5), (2, 4), (3, 2), (4, 1))), fewest)
    home = stream.choice(vocabulary("people")["cities"])
    found = []
    for place in range(count):
        city = home if place == 0 or stream.chance(1, 2) else stream.choice(vocabulary("people")["cities"])
        whose = name
        if place > 0 and stream.chance(1, 2):
            first, last = naming.a_name(stream)
            whose = (first, last if business or stream.chance(1, 2) else name[1])
        found.append(naming.some_address(stream, whose, city))
    return tuple(found)


def _add_customer(db: apsw.Connection, stream: Stream, customer: Customer, email: str) -> None:
    db.execute(
        "INSERT INTO customers VALUES (?, ?, ?, ?, ?, ?, NULL)",
        (
            customer.id, email, customer.first_name, customer.last_name, password_hash(customer.id, PASSWORD),
            moment_on(stream, customer.since),
        ),
    )  # fmt: skip
    billing = 0 if len(customer.addresses) == 1 or stream.chance(1, 2) else 1
    # An address book is in the order in which its owner wrote it, not with the defaults on top.
    for place, address in stream.child("book").shuffled(list(enumerate(customer.addresses))):
        db.execute(
            "INSERT INTO addresses (customer_id, first_name, last_name, street, street2, city, region, postcode, phone,"
            " is_default_billing, is_default_shipping) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (customer.id, *address, int(place == billing), int(place == 0)),
        )


def _fill_lists(db: apsw.Connection, stream: Stream, customer: Customer, products: list[Product]) -> None:
    """Wish list and cart: every regular has a wish list, and all but the first have something in the cart."""
    regular = customer.regular is not None
    if regular or stream.chance(2, 5):
        count = stream.between(5, 12) if regular else stream.between(1, 15)
        days = sorted(day_between(stream, customer.since, TODAY - timedelta(days=1)) for _ in range(count))
        for day, product in zip(days, stream.sample(products, count), strict=True):
            db.execute(
                "INSERT INTO wishlist_items (customer_id, product_id, added_at) VALUES (?, ?, ?)",
                (customer.id, product.id, moment_on(stream, day)),
            )
    if customer.regular != 0 and (regular or stream.chance(1, 4)):
        count = stream.between(2, 4)
        for product in stream.sample(products, count):
            day = day_between(stream, TODAY - timedelta(days=20), TODAY - timedelta(days=1))
            db.execute(
                "INSERT INTO cart_items (customer_id, visitor, product_id, options, quantity, added_at)"
                " SELECT ?, '', ?, ?, ?, ? FROM products WHERE id = ? AND stock >= 3",
                (customer.id, product.id, chosen_options(stream, product), stream.weighted(((1, 5), (2, 2), (3, 1))),
                 moment_on(stream, day), product.id),
            )  # fmt: skip


def chosen_options(stream: Stream, product: Product) -> str:
    return ", ".join(f"{name}: {stream.choice(values)}" for name, values in product.options)


def _fill_newsletter(db: apsw.Connection, stream: Stream) -> None:
    people = vocabulary("people")
    subscribers = {REGULARS[1][2]: TODAY - timedelta(days=200)}
    for (email,) in db.execute("SELECT email FROM customers ORDER BY id").fetchall():
        if email not in {regular[2] for regular in REGULARS} and stream.chance(1, 3):
            subscribers[str(email)] = day_between(stream, OPENED_ONLINE, TODAY - timedelta(days=1))
    for _ in range(40):
        email = f"{stream.choice(names(people['first']))}{stream.between(1, 99)}@example.org".lower()
        subscribers[email] = day_between(stream, OPENED_ONLINE, TODAY - timedelta(days=1))
    for email, day in subscribers.items():
        db.execute("INSERT INTO newsletter_subscribers VALUES (?, ?)", (email, moment_on(stream, day)))
