"""Reviews: a few products have very many, most have a handful, some have none."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import date, timedelta

import apsw

from webassay.sites.rng import Stream
from webassay.sites.shop.seeding.catalog import Product
from webassay.sites.shop.seeding.orders import Bought
from webassay.sites.shop.seeding.slips import as_typed
from webassay.sites.shop.seeding.telling import Told
from webassay.sites.shop.seeding.voicing import review_of
from webassay.sites.shop.seeding.words import TODAY, day_between, moment_on, names, vocabulary, words

# How likely one to five stars are, for products from poor to excellent.
MOODS = ((9, 8, 9, 8, 6), (4, 4, 7, 12, 13), (2, 2, 4, 11, 21), (1, 1, 2, 7, 29), (2, 1, 1, 4, 32))

Row = tuple[int, int | None, str, int, str, str, str, int | None, int | None, str]


def fill_reviews(db: apsw.Connection, stream: Stream, products: list[Product], bought: list[Bought]) -> None:
    buyers: dict[int, list[Bought]] = defaultdict(list)
    for item in bought:
        buyers[item.product.id].append(item)
    rows: list[Row] = []
    for product in products:
        rows += _of_product(stream.child(product.id), product, buyers[product.id])
    rows.sort(key=lambda row: (row[-1], row[0]))
    db.executemany(
        "INSERT INTO reviews (product_id, customer_id, nickname, rating, title, text, status, helpful, votes,"
        " created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )


def _of_product(stream: Stream, product: Product, buyers: list[Bought]) -> list[Row]:
    first_day = product.first_available + timedelta(days=3)
    mood = stream.weighted(tuple(zip(MOODS, (2, 4, 7, 6, 3), strict=True)))
    stars = tuple(zip(range(1, 6), mood, strict=True))
    # A new product cannot have had many buyers yet.
    count = min(_count(stream), (TODAY - first_day).days // 2)
    writers: list[Bought | None] = [None] * count
    seen: set[int] = set()
    for item in buyers:
        if item.customer.id not in seen and item.day <= TODAY - timedelta(days=12) and stream.chance(1, 5):
            seen.add(item.customer.id)
            writers.append(item)
    rows: dict[str, Row] = {}
    told = Told()
    for writer in writers:
        moment = _moment(stream, first_day if writer is None else writer.day + timedelta(days=4), writer)
        rating = stream.weighted(stars)
        title, text = _fresh(stream, product, rating, told)
        if moment in rows or not text:
            continue
        nickname = _nickname(stream) if writer is None else _own_nickname(stream, writer)
        customer = None if writer is None else writer.customer.id
        status = _status(stream, moment)
        rows[moment] = (product.id, customer, nickname, rating, title, text, status, *_votes(stream), moment)
    return list(rows.values())


def _fresh(stream: Stream, product: Product, rating: int, told: Told) -> tuple[str, str]:
    """What others have not said twice. Rarely nothing comes to mind."""
    for _ in range(4):
        title, text = review_of(stream, product, rating, told)
        text = as_typed(stream, text)
        if told.accepts(text):
            return title, text
    return "", ""


def _status(stream: Stream, moment: str) -> str:
    """Most are published; new ones may still wait, and a few never were."""
    if moment > "2026-01-15" and stream.chance(1, 40):
        return "pending"
    return "rejected" if stream.chance(1, 90) else "approved"


def _votes(stream: Stream) -> tuple[int, int] | tuple[None, None]:
    """How many found it helpful, and how many voted."""
    votes = stream.long_tail(60)
    return (stream.between(votes // 4, votes), votes) if votes else (None, None)


def _count(stream: Stream) -> int:
    crowd = stream.below(1000)
    if crowd < 130:
        return 0
    if crowd < 730:
        return 1 + stream.long_tail(13)
    if crowd < 970:
        return 3 + stream.long_tail(40)
    if crowd < 991:
        return 40 + stream.below(140)
    return 220 + stream.below(130)


def _moment(stream: Stream, first: date, writer: Bought | None) -> str:
    last = TODAY - timedelta(days=1) if writer is None else min(first + timedelta(days=60), TODAY - timedelta(days=1))
    return moment_on(stream, day_between(stream, min(first, last), last))


def _nickname(stream: Stream) -> str:
    people = vocabulary("people")
    first = stream.choice(names(people["first"]))
    last = stream.choice(names(people["last"]))
    style = stream.below(20)
    if style < 5:
        return first
    if style < 9:
        return f"{first} {last[0]}."
    if style < 12:
        return f"{first} {last}"
    if style < 14:
        return f"{_one(stream, people['handles'])} {_one(stream, people['roles'])}"
    if style < 16:
        return f"{first.lower()}{stream.choice(('', '_', '.'))}{last.lower()[: stream.between(1, 6)]}"
    if style < 18:
        return f"{first}{stream.between(2, 99)}"
    if style < 19:
        return f"{_one(stream, people['handles']).replace(' ', '')}{first}"
    return f"{first[0]}. {last}"


def _own_nickname(stream: Stream, writer: Bought) -> str:
    first, last = writer.customer.first_name, writer.customer.last_name
    return stream.choice((first, f"{first} {last[0]}.", f"{first} {last}"))


def _one(stream: Stream, listed: str) -> str:
    choices: Sequence[str] = words(listed)
    return stream.choice(choices)
