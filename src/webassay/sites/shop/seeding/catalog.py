"""Categories and products.

Products come in families: one brand, type and model in a few sizes or colors. So every shelf has near-duplicates that a
careless reader mixes up.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import Any

import apsw

from webassay.sites.rng import Stream
from webassay.sites.shop.seeding.describing import Article, describe
from webassay.sites.shop.seeding.words import (
    OPENED,
    TODAY,
    color_tag,
    day_between,
    moment_on,
    number_of,
    sentences,
    short_noun,
    size_tag,
    vocabulary,
    words,
)

PALETTES = {
    "home": "Ivory; Sage Green; Dusty Rose; Charcoal; Navy; Oatmeal; Terracotta; Slate Blue; White; Mustard; Gray",
    "kitchen": "Black; White; Red; Teal; Cream; Copper; Graphite; Sky Blue; Mint; Stainless Steel",
    "glaze": "White; Cream; Sky Blue; Mint; Teal; Black; Terracotta; Sage Green; Sand; Speckled Gray",
    "metal": "Matte Black; Silver; Brushed Nickel; Brass; White; Bronze",
    "tech": "Black; White; Midnight Blue; Graphite; Rose Gold; Lavender; Sage Green",
    "bright": "Blue; Red; Green; Yellow; Pink; Purple; Orange; Teal; Black",
    "wear": "Black; Navy; Heather Gray; Olive; Burgundy; White; Rust; Camel; Denim Blue; Dusty Rose",
    "wood": "Walnut; Natural Oak; Black; White; Rustic Brown; Espresso",
    "leather": "Black; Brown; Tan; Cognac; Dark Brown; Burgundy",
    "jewel": "Gold; Silver; Rose Gold",
    "lips": "Berry; Nude Rose; Classic Red; Mauve; Coral; Plum",
    "garden": "Forest Green; Terracotta; Slate; Tan; Navy; Sand; Black",
}
CHOICES = {"apparel": "XS; S; M; L; XL; XXL", "shoes": "6; 7; 8; 9; 10; 11; 12"}
MODELS = words(
    "Classic; Everyday; Harbor; Luna; Nova; Ridge; Aria; Sol; Atlas; Juno; Birch; Tempo; Mesa; Pilot; Haven; Fable; "
    "Cobalt; Willow; Onyx; Terra; Summit; Lark; Studio; Origin; Heritage; Metro; Drift; Canyon; Original; Essential; "
    "Signature; Linden; Marlow; Piper; Quincy; Alder; Sable; Wren; Beacon; Cove"
)
GADGETS = words("Pro; Max; Plus; Slim; Lite; Mini; II; 2.0; Echo; Duo; Orbit; Nova; Air; Go; X2; Core; Pulse; Vega")
"""Models of things with a plug or a battery."""
BLENDS = words(
    "Original; Classic; Signature; Heritage; Everyday; Essential; Reserve; Homestead; Farmhouse; Select; Simply; "
    "Old Mill; Daily; Little Creek; Meadow; Sunday"
)
"""Names of what is used up."""
PRICE_ENDINGS = ((99, 24), (95, 8), (49, 7), (0, 4), (50, 2), (90, 2), (79, 2), (89, 2), (98, 1), (97, 1), (29, 1))
DEAR = 10_000
"""From which price on, in cents, few sellers bother with odd ones."""
DEAR_ENDINGS = ((0, 10), (99, 10), (95, 3), (50, 1))

ORIGINS = (
    ("Portugal", 5), ("Vietnam", 5), ("China", 9), ("Mexico", 5), ("United States", 7), ("India", 5), ("Poland", 3),
    ("Taiwan", 3), ("Turkey", 3), ("Italy", 3), ("Canada", 3), ("Germany", 2), ("Japan", 2), ("Peru", 1),
    ("Estonia", 1),
)  # fmt: skip
ATTRIBUTE_SETS = ("Clothing", "Consumable", "Default", "Electrical", "Shoes")
WARRANTIES = (6, 12, 12, 18, 24, 24, 30, 36, 48, 60)


@dataclass(frozen=True)
class Product:
    """What the rest of the seeding needs to know about a product."""

    id: int
    sku: str
    name: str
    kind: str
    color: str
    size: str
    price: int
    list_price: int | None
    first_available: date
    category: int
    department: int
    options: tuple[tuple[str, tuple[str, ...]], ...]
    uses: tuple[str, ...]
    good: tuple[str, ...]
    bad: tuple[str, ...]
    tags: frozenset[str]


@dataclass(frozen=True)
class _Line:
    """Product types of one shelf that share features, sizes, colors, prices, and what can be said of them."""

    types: tuple[str, ...]
    features: tuple[str, ...]
    sizes: tuple[str, ...]
    colors: tuple[str, ...]
    price: tuple[int, int]
    grams: tuple[int, int]
    tags: frozenset[str]
    good: tuple[str, ...]
    bad: tuple[str, ...]


@dataclass(frozen=True)
class _Shelf:
    id: int
    department: int
    path: str
    code: str
    lines: tuple[_Line, ...]
    picture: str
    choose: str
    brands: tuple[str, ...]
    uses: tuple[str, ...]


@dataclass(frozen=True)
class _Draft:
    shelf: _Shelf
    line: _Line
    name: str
    brand: str
    kind: str
    color: str
    size: str
    price: int
    grams: int
    features: tuple[str, ...]
    since: date
    words: Stream
    """Where the description is drawn from: the same words for a whole family."""


def fill_catalog(db: apsw.Connection, stream: Stream, percent: int) -> list[Product]:
    products: list[Product] = []
    names: set[str] = set()
    taken: set[str] = set()
    for shelf in _fill_categories(db):
        shelf_stream = stream.child(shelf.path)
        drafts = shelf_stream.shuffled(list(_drafts(shelf, shelf_stream, names, percent)))
        for position, draft in enumerate(drafts, 1):
            products.append(_add_product(db, stream, draft, len(products) + 1, position, taken))
    return products


def slug_of(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain.replace("'", "")).strip("-")


def _fill_categories(db: apsw.Connection) -> Iterator[_Shelf]:
    """Inserts the whole tree and yields its shelves."""
    shelves = []
    number = 0

    def add(parent: int | None, name: str, path: str, level: int, position: int) -> int:
        nonlocal number
        number += 1
        db.execute("INSERT INTO categories VALUES (?, ?, ?, ?, ?, ?)", (number, parent, name, path, level, position))
        return number

    def tables(table: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        return [(name, value) for name, value in table.items() if isinstance(value, dict)]

    for i, (department, top) in enumerate(tables(vocabulary("catalog")), 1):
        top_id = add(None, department, slug_of(department), 1, i)
        for j, (category, middle) in enumerate(tables(top), 1):
            middle_path = f"{slug_of(department)}/{slug_of(category)}"
            middle_id = add(top_id, category, middle_path, 2, j)
            for k, (leaf, entry) in enumerate(tables(middle), 1):
                path = f"{middle_path}/{slug_of(leaf)}"
                number_of_shelf = add(middle_id, leaf, path, 3, k)
                shelves.append(_shelf(number_of_shelf, top_id, path, top, middle | entry))
    yield from shelves


def _shelf(number: int, top: int, path: str, department: dict[str, Any], entry: dict[str, Any]) -> _Shelf:
    return _Shelf(
        id=number,
        department=top,
        path=path,
        code=department["code"],
        lines=_lines(entry),
        picture=entry["picture"],
        choose=entry.get("choose", ""),
        brands=words(entry.get("brands", department["brands"])),
        uses=words(entry["uses"]),
    )


def _lines(entry: dict[str, Any]) -> tuple[_Line, ...]:
    """The parts between slashes."""
    types = entry["types"].split(" / ")

    def groups(key: str) -> list[str]:
        listed: list[str] = entry.get(key, "-").split(" / ")
        return listed if len(listed) > 1 else listed * len(types)

    def split(text: str) -> tuple[str, ...]:
        return () if text.strip() == "-" else words(text)

    def ranges(key: str) -> list[list[int]]:
        return entry[key] if isinstance(entry[key][0], list) else [entry[key]] * len(types)

    palettes = [PALETTES.get(name.strip(), "-") for name in groups("colors")]
    rows = zip(
        types, groups("features"), groups("sizes"), palettes, ranges("price"), ranges("grams"), groups("tags"),
        groups("good"), groups("bad"), strict=True,
    )  # fmt: skip
    return tuple(
        _Line(
            split(kinds), split(features), split(sizes), split(colors), (price[0], price[1]), (grams[0], grams[1]),
            frozenset(tags.split()), sentences(good), sentences(bad),
        )
        for kinds, features, sizes, colors, price, grams, tags, good, bad in rows
    )  # fmt: skip


def _drafts(shelf: _Shelf, stream: Stream, names: set[str], percent: int) -> Iterator[_Draft]:
    wanted = (stream.between(12, 30) + (stream.between(15, 65) if stream.chance(1, 4) else 0)) * percent // 100
    family = 0
    while wanted > 0:
        family += 1
        for draft in _family(shelf, stream.child("family", family)):
            if wanted > 0 and draft.name not in names:
                names.add(draft.name)
                wanted -= 1
                yield draft


def _family(shelf: _Shelf, stream: Stream) -> Iterator[_Draft]:
    """One model in one to four sizes or colors."""
    brand = shelf.brands[stream.long_tail(len(shelf.brands))] if stream.chance(1, 3) else stream.choice(shelf.brands)
    line = stream.weighted([(line, len(line.types)) for line in shelf.lines])
    kind = stream.choice(line.types)
    model = stream.choice(_models(line, brand)) if stream.chance(2, 5) else ""
    said = min(stream.between(3, 6), len(line.features))
    features = tuple(stream.choice(either.split(" ~ ")) for either in stream.sample(line.features, said))
    sizes, colors = line.sizes, line.colors
    low, high = line.price
    base = min(stream.between(low, (low + high) // 2 if sizes else high), stream.between(low, high))
    step = stream.between(14, 38)
    grams = stream.between(*line.grams)
    since = max(day_between(stream, OPENED, TODAY), day_between(stream, OPENED, TODAY)) - timedelta(days=9)
    prices: dict[str, int] = {}
    for _ in range(stream.weighted(((1, 5), (2, 5), (3, 3), (4, 1)))):
        place = stream.below(len(sizes)) if sizes else 0
        size = sizes[place] if sizes and stream.chance(9, 10) else ""
        color = stream.choice(colors) if colors and stream.chance(4, 5) else ""
        spread = 100 + place * step if size else 100
        if size not in prices:
            prices[size] = _priced(stream, base * spread // 100)
        yield _Draft(
            shelf=shelf,
            line=line,
            name=_name((brand, model, kind), features, size, "" if shelf.choose else color),
            brand=brand,
            kind=kind,
            color=color,
            size=size,
            price=prices[size],
            grams=_grams(line, size, grams, 100 + place * step // 2),
            features=features,
            since=since if stream.chance(2, 3) else day_between(stream, since, TODAY - timedelta(days=9)),
            words=stream.child("words"),
        )


COUNTED = re.compile(r"(?:Set|Pack) of (\d+)|(\d+)[ -](?:Pack|Count|Pieces?|Pairs?|Rolls?|Sheets?|Bars?|Bags?)")


def _grams(line: _Line, size: str, least: int, percent: int) -> int:
    """What is used up is as heavy as its name says, and its package; of several, each weighs the same; other things
    become heavier with their size."""
    number, _, unit = size.partition(" ")
    if "durable" not in line.tags and unit in ("oz", "lb"):
        return int(float(number) * 100) * (28 if unit == "oz" else 454) * 115 // 10000 + 20
    count = _count_of(size)
    if count:
        counts = list(filter(None, map(_count_of, line.sizes)))
        return least * count // min(counts)
    return least * percent // 100 if size else least


@cache
def _count_of(size: str) -> int:
    """How many there are in it; 0 if it does not say."""
    found = COUNTED.fullmatch(size)
    return int(found[1] or found[2]) if found else 0


RANGE = 5
"""How many names of models a brand uses."""


@cache
def _models(line: _Line, brand: str) -> tuple[str, ...]:
    if "durable" not in line.tags:
        listed = BLENDS
    else:
        listed = MODELS + GADGETS if "electric" in line.tags else MODELS
    start = sum(place * letter for place, letter in enumerate(brand.encode(), 1))
    return tuple(listed[(start + 7 * place) % len(listed)] for place in range(RANGE))


def _name(who: tuple[str, str, str], features: tuple[str, ...], size: str, color: str) -> str:
    """A name from brand, model and kind. Each brand has its own style and always keeps to it."""
    brand, model, kind = who
    head = " ".join(part for part in who if part)
    variant = [part for part in (size, color) if part]
    one, two, *_ = features
    style = sum(brand.encode()) % 6
    if style == 0:
        return ", ".join([head, one, *variant])
    if style == 1:
        return " - ".join([head, one, *([", ".join(variant)] if variant else [])])
    if style == 2:
        return f"{head} ({', '.join(variant)})" if variant else head
    if style == 3:
        return ", ".join([f"{model} {kind} by {brand}".strip(), one, *variant])
    if style == 4:
        return ", ".join([f"{head} {size}".strip(), *([color] if color else [])])
    return ", ".join([head, one, two, *variant])


def _priced(stream: Stream, cents: int) -> int:
    ending = stream.weighted(PRICE_ENDINGS if cents < DEAR else DEAR_ENDINGS)
    return max(cents // 100 * 100, 100) + ending


def _add_product(
    db: apsw.Connection, stream: Stream, draft: _Draft, number: int, position: int, taken: set[str]
) -> Product:
    """`taken`: SKUs and slugs that are in use."""
    own = stream.child("product", number)
    sku = _sku(own, draft.shelf.code)
    while sku in taken:
        sku = _sku(own, draft.shelf.code)
    slug = slug_of(draft.name)[:80].strip("-")
    if slug in taken:
        slug = f"{slug}-{sku.lower()}"
    taken |= {sku, slug}
    options = _options(own, draft)
    before = max(_priced(own, draft.price * own.between(112, 150) // 100), draft.price + 100)
    list_price = before if own.chance(1, 7) else None
    ounces = _ounces(draft.grams * own.between(95, 105) // 100)
    color = "" if options else draft.color
    number_tag = number_of(short_noun(draft.kind))
    tags = draft.line.tags | {number_tag, size_tag(draft.size), color_tag(color)}
    article = Article(
        draft.brand, draft.kind, draft.features, draft.shelf.uses, tags, draft.size, color, ounces
    )  # fmt: skip
    db.execute(
        f"INSERT INTO products VALUES ({', '.join('?' * 19)}, 1, ?, NULL, ?)",
        (
            number, sku, slug, draft.shelf.id, position, draft.name, draft.brand,
            color, draft.size, draft.price, list_price, ounces,
            0 if own.chance(1, 25) else own.between(3, 40) if own.chance(1, 3) else own.between(41, 400),
            draft.since.isoformat(), describe(draft.words, article), "\n".join(draft.features), draft.shelf.picture,
            own.weighted(ORIGINS), own.choice(WARRANTIES),
            _attribute_set(draft), _updated(own.child("updated"), draft.since),
        ),
    )  # fmt: skip
    for name, values in options:
        for place, value in enumerate(values, 1):
            db.execute("INSERT INTO product_options VALUES (?, ?, ?, ?)", (number, name, value, place))
    return Product(
        number, sku, draft.name, draft.kind, color, draft.size, draft.price, list_price, draft.since, draft.shelf.id,
        draft.shelf.department, options, draft.shelf.uses, _agreeing(draft.line.good, number_tag),
        _agreeing(draft.line.bad, number_tag), tags,
    )  # fmt: skip


def _attribute_set(draft: _Draft) -> str:
    if draft.shelf.choose:
        return "Shoes" if draft.shelf.choose == "shoes" else "Clothing"
    if "electric" in draft.line.tags:
        return "Electrical"
    return "Default" if "durable" in draft.line.tags else "Consumable"


def _updated(stream: Stream, since: date) -> str:
    """Many were saved together, when prices were gone through."""
    day = TODAY - timedelta(days=9 + 30 * stream.below(6))
    if stream.chance(1, 3) and since < day:
        return f"{day} 09:00:00"
    return moment_on(stream, day_between(stream, max(since, TODAY - timedelta(days=400)), TODAY - timedelta(days=1)))


def _sku(stream: Stream, code: str) -> str:
    return f"{code}-{stream.between(10000, 99999)}"


def _ounces(grams: int) -> int:
    """Whole ounces, half up; a parcel of nothing does not exist."""
    return max(1, (grams * 200 + 2835) // 5670)


def _options(stream: Stream, draft: _Draft) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not draft.shelf.choose:
        return ()
    sizes = words(CHOICES[draft.shelf.choose])
    first = stream.below(2)
    picked = stream.sample(draft.line.colors, stream.between(1, 4))
    return (("Size", sizes[first : first + stream.between(4, 6)]), ("Color", tuple(sorted(picked))))


@cache
def _agreeing(listed: tuple[str, ...], number: str) -> tuple[str, ...]:
    """Without the sentences that speak of one thing where there are many, or of many where there is one."""
    wrong = r"\b[Ii]t\b|\b[Ii]ts\b" if number == "many" else r"^They\b|\bthese\b|\bthem\b"
    kept = tuple(sentence for sentence in listed if not re.search(wrong, sentence))
    return kept if len(kept) >= 2 else listed
