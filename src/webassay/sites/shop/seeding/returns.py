"""What was sent back, and what became of it."""

from dataclasses import dataclass
from datetime import date, timedelta

import apsw

from webassay.sites.rng import Stream
from webassay.sites.shop.seeding.telling import filled
from webassay.sites.shop.seeding.words import TODAY, moment_on, sentences, vocabulary

REASONS = (
    "Arrived damaged",
    "Defective or does not work",
    "Wrong item was sent",
    "Does not fit",
    "Not as described",
    "No longer needed",
    "Found a better price",
)
"""The last ones are said less often."""
FIRST_RETURN = 4000


@dataclass(frozen=True)
class Delivered:
    """A complete order, with the row number and the pieces of each of its articles."""

    order: int
    customer: int
    day: date
    items: tuple[tuple[int, int], ...]


def fill_returns(db: apsw.Connection, stream: Stream, delivered: list[Delivered]) -> None:
    found = []
    for order in delivered:
        own = stream.child(order.order)
        day = order.day + timedelta(days=own.between(6, 45))
        if own.chance(1, 9) and day < TODAY:
            found.append((moment_on(own, day), day, order, own))
    for number, (moment, day, order, own) in enumerate(sorted(found, key=lambda one: (one[0], one[2].order)), 1):
        reason = own.weighted(tuple(zip(REASONS, (4, 3, 2, 5, 3, 3, 1), strict=True)))
        said = sentences(vocabulary("voices")["returns"][reason])
        db.execute(
            "INSERT INTO returns VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (number, f"R{FIRST_RETURN + number}", order.order, order.customer, reason,
             filled(own, own.choice(said)) if own.chance(2, 5) else "", _status(own, (TODAY - day).days), moment),
        )  # fmt: skip
        count = own.weighted(((1, 6), (2, 2), (len(order.items), 1)))
        for item, pieces in own.sample(order.items, min(count, len(order.items))):
            db.execute("INSERT INTO return_items VALUES (?, ?, ?)", (number, item, own.between(1, pieces)))


def _status(stream: Stream, age: int) -> str:
    if age <= 21:
        return stream.weighted((("requested", 3), ("approved", 2)))
    return stream.weighted((("refunded", 12), ("refused", 2), ("withdrawn", 1)))
