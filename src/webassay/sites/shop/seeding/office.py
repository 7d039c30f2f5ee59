"""What only the back office knows: its staff, invoices, shipments, refunds, comments, price rules, pages, searches."""

import hashlib
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import apsw

from webassay.sites.rng import Stream
from webassay.sites.shop.seeding.catalog import CHOICES
from webassay.sites.shop.seeding.slips import finger_slip
from webassay.sites.shop.seeding.telling import filled
from webassay.sites.shop.seeding.words import TODAY, sentences, vocabulary, words

PASSWORD = "mill-Race-2026"
"""The password of everybody on the staff, so that people can log in by hand."""

STAFF = (
    ("greta.holm", "Greta", "Holm", "owner"),
    ("owen.baptiste", "Owen", "Baptiste", "manager"),
    ("lena.sato", "Lena", "Sato", "sales"),
    ("tomas.reyes", "Tomas", "Reyes", "catalog"),
    ("ivy.thornton", "Ivy", "Thornton", "viewer"),
)
"""User name, first and last name, role. They exist for every seed."""

CARRIERS = ("UPS", "FedEx", "USPS", "DHL")
REFUND_REASONS = words("Returned goods; Damaged in transit; Goodwill; Wrong item sent; Late delivery")
FIRST_INVOICE = 200000
FIRST_SHIPMENT = 300000
FIRST_REFUND = 400000
RULES = 24
SEARCHES = 160

_OCCASIONS = words(
    "Spring Sale; Summer Sale; Fall Clearance; Winter Warm-Up; Anniversary; Inventory Week; Garden Days; "
    "Back to School; Black Friday; New Year; Members' Week; Long Weekend"
)

PAGES = (
    ("Home", "home", "Good things for everyday life."),
    (
        "About Tallybrook", "about",
        "Tallybrook began in 2016 as a single stall beside a mill stream in Columbus, Ohio. Today we keep several"
        " thousand products in one warehouse and ship them across the country.\n\nWe choose what we sell by hand,"
        " publish every review that follows our rules, good or bad, and answer every message ourselves.",
    ),
    (
        "Privacy Policy", "privacy-policy",
        "We keep what we need to send you your goods, and nothing else.\n\nWe never sell addresses.",
    ),
    ("Cookies", "cookies", "One cookie remembers your cart and your log-in. There are no others."),
    ("Gift Cards", "gift-cards", "Gift cards are sold at our warehouse in Columbus, from $10 to $200."),
    ("Size Guide", "size-guide", "Measure a garment that fits you, flat on a table, and compare it with the table."),
    ("Careers", "careers", "We look for people who like things that last. Write to trade@tallybrook.example."),
    ("Page not found", "no-route", "The page you asked for does not exist."),
)  # fmt: skip


def admin_password_hash(admin_id: int, password: str) -> str:
    return hashlib.sha256(f"admin:{admin_id}:{password}".encode()).hexdigest()


def fill_office(db: apsw.Connection, stream: Stream, unpaid_since: str) -> None:
    for number, (username, first, last, role) in enumerate(STAFF, 1):
        db.execute(
            "INSERT INTO admins VALUES (?, ?, ?, ?, ?, ?, ?, NULL)",
            (number, username, first, last, f"{username}@tallybrook.example", role,
             admin_password_hash(number, PASSWORD)),
        )  # fmt: skip
    _fill_paperwork(db, stream.child("paperwork"), unpaid_since)
    _fill_refunds(db, stream.child("refunds"))
    _fill_comments(db, stream.child("comments"))
    _fill_attributes(db)
    _fill_rules(db, stream.child("rules"))
    for number, (title, key, content) in enumerate(PAGES, 1):
        day = TODAY - timedelta(days=stream.between(30, 900))
        db.execute("INSERT INTO cms_pages VALUES (?, ?, ?, ?, 1, ?)", (number, title, key, content, f"{day} 10:00:00"))
    _fill_searches(db, stream.child("searches"))


def _fill_paperwork(db: apsw.Connection, stream: Stream, unpaid_since: str) -> None:
    """An invoice once an order is processed, paid or not; a shipment once it is sent."""
    invoices: list[tuple[Any, ...]] = []
    shipments: list[tuple[Any, ...]] = []
    found: Any = db.execute(
        "SELECT id, status, created_at, payment_method FROM orders WHERE status IN ('processing', 'complete', 'closed')"
        " ORDER BY id"
    )
    for order, status, created, payment in found:
        own = stream.child(order)
        billed = _later(created, own.between(1, 30))
        recent = created >= unpaid_since
        paid = payment != "invoice" or status == "closed" or not (recent and own.chance(2, 3))
        invoices.append((order, "paid" if paid else "open", billed))
        if status != "processing":
            carrier = own.weighted(tuple(zip(CARRIERS, (5, 3, 3, 1), strict=True)))
            code = f"{carrier[:2].upper()}{own.between(10**9, 10**10 - 1)}"
            shipments.append((order, carrier, code, _later(billed, own.between(2, 60))))
    _add(db, "invoices (number, order_id, status, created_at)", FIRST_INVOICE, invoices)
    _add(db, "shipments (number, order_id, carrier, tracking, created_at)", FIRST_SHIPMENT, shipments)


def _add(db: apsw.Connection, into: str, first: int, rows: list[tuple[Any, ...]]) -> None:
    """In the order in which they were made, with numbers that follow from it."""
    rows.sort(key=lambda row: (row[-1], row[0]))
    marks = ", ".join("?" * (len(rows[0]) + 1)) if rows else ""
    db.executemany(
        f"INSERT INTO {into} VALUES ({marks})", [(str(first + place), *row) for place, row in enumerate(rows, 1)]
    )


def _later(moment: str, hours: int) -> str:
    """Never in the future."""
    made = datetime.fromisoformat(moment) + timedelta(hours=hours, minutes=hours % 7)
    last = datetime(TODAY.year, TODAY.month, TODAY.day, 7, 30)
    return min(made, last).strftime("%Y-%m-%d %H:%M:%S")


def _fill_refunds(db: apsw.Connection, stream: Stream) -> None:
    """What was sent back and refunded, in part or, of a closed order, all of it, and now and then some goodwill."""
    rows: list[tuple[Any, ...]] = []
    returned: Any = db.execute(
        "SELECT t.order_id, t.created_at, min(sum(r.quantity * i.unit_price_cents), o.total_cents) FROM returns AS t"
        " JOIN return_items AS r ON r.return_id = t.id JOIN order_items AS i ON i.id = r.order_item_id"
        " JOIN orders AS o ON o.id = t.order_id"
        " WHERE t.status = 'refunded' GROUP BY t.id ORDER BY t.id"
    ).fetchall()
    for order, created, cents in returned:
        rows.append((order, cents, REFUND_REASONS[0], _later(created, stream.between(24, 200))))
    closed: Any = db.execute(
        "SELECT id, total_cents, created_at FROM orders WHERE status = 'closed' ORDER BY id"
    ).fetchall()
    for order, cents, created in closed:
        rows.append((order, cents, stream.choice(REFUND_REASONS), _later(created, stream.between(90, 700))))
    seen = {row[0] for row in rows}
    complete: Any = db.execute(
        "SELECT id, total_cents, created_at FROM orders WHERE status = 'complete' ORDER BY id"
    ).fetchall()
    for order, cents, created in complete:
        if order not in seen and stream.chance(1, 60):
            amount = max(100, cents * stream.choice((5, 10, 15, 20)) // 100)
            rows.append((order, amount, stream.choice(REFUND_REASONS[1:]), _later(created, stream.between(90, 400))))
    _add(db, "refunds (number, order_id, amount_cents, reason, created_at)", FIRST_REFUND, rows)
    # Whoever has got everything back has an order that is closed, as in the office.
    db.execute(
        "UPDATE orders SET status = 'closed' WHERE id IN (SELECT o.id FROM orders AS o JOIN refunds AS r"
        " ON r.order_id = o.id GROUP BY o.id HAVING sum(r.amount_cents) >= o.total_cents)"
    )


def _fill_comments(db: apsw.Connection, stream: Stream) -> None:
    comments = sentences(vocabulary("details")["office"]["comments"])
    found: Any = db.execute("SELECT id, status, created_at FROM orders ORDER BY id").fetchall()
    for order, status, created in found:
        if stream.chance(1, 25):
            db.execute(
                "INSERT INTO order_comments (order_id, admin_id, status, comment, notified, created_at)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (order, stream.between(1, 3), status, filled(stream, stream.choice(comments)), int(stream.chance(1, 3)),
                 _later(created, stream.between(1, 20))),
            )  # fmt: skip


def _fill_attributes(db: apsw.Connection) -> None:
    """Whatever some product offers; sizes from small to large."""
    sizes = [size for listed in CHOICES.values() for size in listed.split("; ")]
    offered: Any = db.execute("SELECT name, value FROM product_options GROUP BY name, value ORDER BY name, value")
    found = sorted(offered, key=lambda one: (one[0], sizes.index(one[1]) if one[1] in sizes else 0))
    places: Counter[str] = Counter()
    for name, value in found:
        places[name] += 1
        db.execute("INSERT INTO attribute_values VALUES (?, ?, ?)", (name, value, places[name]))


def _fill_rules(db: apsw.Connection, stream: Stream) -> None:
    departments: Any = db.execute("SELECT id, name FROM categories WHERE level = 1 ORDER BY id").fetchall()
    taken: set[str] = set()
    while len(taken) < RULES:
        first = TODAY - timedelta(days=stream.between(20, 1500))
        last = first + timedelta(days=stream.between(5, 40))
        department, name = stream.choice(departments) if stream.chance(3, 4) else (None, "All Goods")
        title = f"{stream.choice(_OCCASIONS)} {first.year}: {name}"
        if title in taken:
            continue
        taken.add(title)
        row = (title, department, stream.choice((5, 8, 10, 12, 15, 20, 25, 30)), first.isoformat(), last.isoformat())
        db.execute(
            "INSERT INTO price_rules (name, department_id, percent, starts_on, ends_on, status)"
            " VALUES (?, ?, ?, ?, ?, 'inactive')",
            row,
        )


def _fill_searches(db: apsw.Connection, stream: Stream) -> None:
    """What people have looked for: kinds of things, brands, and a few that we do not have or that are misspelled."""
    kinds = sorted({kind for (kind,) in _names(db)})
    terms = dict.fromkeys(stream.choice(kinds) for _ in range(4 * SEARCHES))
    for place, right in enumerate(list(terms)[:SEARCHES]):
        term = finger_slip(stream, right) if stream.chance(1, 8) else right
        results: Any = db.execute(
            "SELECT count(*) FROM product_search WHERE product_search MATCH ?",
            (" ".join(f'"{word}"' for word in term.split()),),
        ).fetchone()
        uses = 1 + stream.long_tail(400) + stream.below(3) * (SEARCHES - place)
        db.execute("INSERT OR IGNORE INTO search_terms VALUES (?, ?, ?)", (term, uses, results[0]))


def _names(db: apsw.Connection) -> list[tuple[str]]:
    found: Any = db.execute(
        "SELECT DISTINCT lower(brand) FROM products WHERE brand GLOB '[A-Za-z]*' AND brand NOT GLOB '*[^A-Za-z ]*'"
        " UNION SELECT lower(name) FROM categories WHERE level = 3 AND name NOT GLOB '*[^A-Za-z ]*'"
        " UNION SELECT lower(color) FROM products WHERE color <> ''"
    ).fetchall()
    return list(found)
