"""Customers, their address books, wish lists, carts and newsletters."""

import hashlib
from dataclasses import dataclass
from datetime import date, timedelta

import apsw

from webassay.sites.rng import Stream
from webassay.sites.shop.seeding.catalog import Product
from webassay.sites.shop.seeding.words import OPENED_ONLINE, TODAY, day_between, moment_on, names, vocabulary, words

PASSWORD = "tally-Brook-2026"
"""The password of every seeded customer, so that people can log in by hand."""

REGULARS = (
    ("Nora", "Castellano", "nora.castellano@example.com"),
    ("Marcus", "Okafor", "marcus.okafor@example.com"),
    ("Priya", "Lindgren", "priya.lindgren@example.com"),
    ("Walt", "Pennington", "walt.pennington@example.com"),
)
"""Customers with long histories who exist for every seed. The first one has an empty cart."""

BUYERS = 6
"""Customers who order for an office or a club, several times a month since the first days."""

Address = tuple[str, str, str, str, str, str, str, str]
"""First name, last name, street, second line, city, state, postcode, telephone."""


@dataclass(frozen=True)
class Customer:
    id: int
    first_name: str
    last_name: str
    since: date
    addresses: tuple[Address, ...]
    """The default first."""
    regular: int | None
    """Index in REGULARS."""
    buyer: bool


def password_hash(customer_id: int, password: str) -> str:
    return hashlib.sha256(f"{customer_id}:{password}".encode()).hexdigest()


def fill_customers(db: apsw.Connection, stream: Stream, products: list[Product], count: int) -> list[Customer]:
    people = _people(stream.child("people"), count)
    others = count - len(REGULARS) - BUYERS
    joined = sorted(
        (day_between(stream, OPENED_ONLINE, TODAY - timedelta(days=30)) for _ in range(others)), reverse=True
    )
    customers = []
    faithful = stream.child("order").sample(range(1, 25), len(REGULARS) + BUYERS)
    for number in range(1, count + 1):
        own = stream.child("customer", number)
        place = faithful.index(number) if number in faithful else None
        regular = place if place is not None and place < len(REGULARS) else None
        first, last, email = people.pop() if regular is None else people[regular]
        # The first ones came one a day.
        first_day = OPENED_ONLINE + timedelta(days=min(number, 90))
        since = first_day if place is not None else max(joined.pop(), first_day)
        customer = Customer(
            number,
            first,
            last,
            since,
            _addresses(own.child("addresses"), first, last, fewest=1 if place is None else 2),
            regular,
            buyer=place is not None and regular is None,
        )
        _add_customer(db, own, customer, email)
        _fill_lists(db, own.child("lists"), customer, products)
        customers.append(customer)
    _fill_newsletter(db, stream.child("newsletter"))
    return customers


def _people(stream: Stream, count: int) -> list[tuple[str, str, str]]:
    wordlist = vocabulary("people")
    people = list(REGULARS)
    taken = {email for *_, email in people}
    while len(people) < count:
        first, last = stream.choice(names(wordlist["first"])), stream.choice(names(wordlist["last"]))
        domain = stream.choice(("example.com", "example.net", "example.org"))
        local = stream.choice(
            (f"{first}.{last}", f"{first[0]}{last}", f"{first}{stream.between(60, 99)}", f"{last}.{first}")
        )
        email = f"{local}@{domain}".lower()
        if email not in taken:
            taken.add(email)
            people.append((first, last, email))
    return people


def _addresses(stream: Stream, first: str, last: str, fewest: int) -> tuple[Address, ...]:
    count = max(stream.weighted(((1, 5), (2, 4), (3, 2), (4, 1))), fewest)
    home = stream.choice(vocabulary("people")["cities"])
    found = []
    for place in range(count):
        city = home if place == 0 or stream.chance(1, 2) else stream.choice(vocabulary("people")["cities"])
        someone_else = place > 0 and stream.chance(1, 2)
        name = stream.choice(names(vocabulary("people")["first"])) if someone_else else first
        found.append(_address(stream, name, last, city))
    return tuple(found)


def _address(stream: Stream, first: str, last: str, place: str) -> Address:
    city, region, zip_start, area = place.rsplit(" ", 3)
    people = vocabulary("people")
    return (
        first,
        last,
        f"{stream.between(2, 9899)} {stream.choice(words(people['streets']))}",
        stream.choice(words(people["units"])) if stream.chance(1, 3) else "",
        city,
        region,
        f"{zip_start}{stream.between(1, 99):02d}",
        f"{area}-555-01{stream.below(100):02d}",
    )


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
