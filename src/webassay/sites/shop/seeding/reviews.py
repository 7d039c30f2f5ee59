"""Reviews: a few products have very many, most have a handful, some have none."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import date, timedelta

import apsw

from webassay.sites.rng import Stream
from webassay.sites.shop.seeding.catalogue import Product
from webassay.sites.shop.seeding.orders import Bought
from webassay.sites.shop.seeding.words import (
    TODAY,
    capital,
    day_between,
    moment_on,
    names,
    sentences,
    short_noun,
    this,
    vocabulary,
    words,
)

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
    texts: set[str] = set()
    for writer in writers:
        moment = _moment(stream, first_day if writer is None else writer.day + timedelta(days=4), writer)
        rating = stream.weighted(stars)
        text = _as_typed(stream, _text(stream, product, rating))
        if moment in rows or text in texts:
            continue
        texts.add(text)
        title = _filled(stream, product, stream.choice(sentences(vocabulary("voices")["titles"][str(rating)])))
        nickname = _nickname(stream) if writer is None else _own_nickname(stream, writer)
        customer = None if writer is None else writer.customer.id
        status = _status(stream, moment)
        rows[moment] = (product.id, customer, nickname, rating, title, text, status, *_votes(stream), moment)
    return list(rows.values())


def _status(stream: Stream, moment: str) -> str:
    """Most are published; new ones may still wait, and a few never were."""
    if moment > "2026-01-15" and stream.chance(1, 40):
        return "pending"
    return "rejected" if stream.chance(1, 90) else "approved"


def _votes(stream: Stream) -> tuple[int, int] | tuple[None, None]:
    """How many found it helpful, and how many voted."""
    votes = stream.long_tail(60)
    return (stream.between(votes // 4, votes), votes) if votes else (None, None)


def _as_typed(stream: Stream, text: str) -> str:
    """One in five does not look twice before sending."""
    if not stream.chance(1, 5):
        return text
    slips = [pair.split("=") for pair in words(vocabulary("voices")["typing"]["slips"])]
    fitting = [(right, wrong) for right, wrong in slips if f" {right} " in text]
    for right, wrong in stream.sample(fitting, min(len(fitting), stream.between(1, 2))):
        text = text.replace(f" {right} ", f" {wrong} ", 1)
    habit = stream.below(6)
    if habit == 0:
        return text.lower()
    if habit == 1:
        return text.rstrip(".") + stream.choice(("!!", "...", "", " :)", "!"))
    if habit == 2 and len(text) < 90:
        return text.upper()
    return text


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


def _text(stream: Stream, product: Product, rating: int) -> str:
    voices = vocabulary("voices")
    aspects = voices["aspects"]
    if rating in (1, 5) and stream.chance(1, 12):
        return stream.choice(sentences(aspects["short_good" if rating == 5 else "short_bad"]))
    parts: list[str] = []
    if stream.chance(3, 5):
        parts.append(stream.choice(sentences(voices["openings"][str(rating)])))
    length = stream.weighted(((1, 6), (2, 8), (3, 5), (4, 2), (6, 1)))
    # How many of every five remarks are friendly.
    friendly = {5: 5, 4: 4, 3: 2, 2: 1, 1: 0}[rating]
    for _ in range(length):
        parts.append(_remark(stream, product, stream.chance(friendly, 5)))
    if stream.chance(1, 4):
        parts.append(stream.choice(sentences(voices["closings"][str(rating)])))
    return " ".join(_filled(stream, product, part) for part in dict.fromkeys(parts))


def _remark(stream: Stream, product: Product, friendly: bool) -> str:
    voices = vocabulary("voices")
    source = stream.below(20)
    mood = "good" if friendly else "bad"
    if source < 8:
        return stream.choice(product.good if friendly else product.bad)
    if source < 12:
        return stream.choice(sentences(voices["middles"][mood]))
    if source < 14:
        return stream.choice(sentences(voices["middles"]["neutral"]))
    if source < 15 and product.color:
        return stream.choice(sentences(voices["aspects"]["say_color"]))
    if source < 16 and product.size:
        return stream.choice(sentences(voices["aspects"]["say_size"]))
    adjective = stream.choice(sentences(voices["aspects"][mood]))
    return stream.choice(sentences(voices["aspects"][f"say_{mood}"])).replace("{adjective}", adjective)


def _filled(stream: Stream, product: Product, text: str) -> str:
    if "{" not in text:
        return text
    voices = vocabulary("voices")
    noun = short_noun(product.kind)
    thing, thing2 = stream.sample(sentences(voices["aspects"]["thing"]), 2)
    who = stream.choice(sentences(voices["slots"]["who"]))
    return text.format_map(
        {
            "noun": noun, "this": this(noun), "use": stream.choice(product.uses), "who": who, "who_cap": capital(who),
            "time": stream.choice(sentences(voices["slots"]["time"])), "thing": thing, "thing2": thing2,
            "span": stream.choice(sentences(voices["slots"]["span"])), "thing_cap": capital(thing),
            "color": product.color.lower(), "color_cap": product.color.capitalize(), "size": product.size,
        }
    )  # fmt: skip


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
