"""What the shop says about an article."""

import re
from dataclasses import dataclass
from functools import cache

from webassay.sites.rng import Stream
from webassay.sites.shop.commerce import weight
from webassay.sites.shop.seeding.pools import Pool, draw, pool
from webassay.sites.shop.seeding.words import capital, names, noun_slots, plain_case, with_article, words

HEADS = frozenset(
    names(
        "arm back band base basket blade bodice bottom box brim buckle button cable carafe case chain clamp clip "
        "closure collar compartment cover crank crust cuff display divider edge fill filter finish footbed footrest "
        "frame grip groove guard handle head headrest hem holder hook hopper indicator insole interior jack kickstand "
        "label lanyard lid liner lock loop microphone motor mount pocket port pouch pump remote roof seal seat sheath "
        "shelf shell sleeve sole spout stand strainer strap surface switch tabletop tail tank template timer tip toe "
        "top tray trivet vent visor waist waistband window zipper"
    )
)
"""Last words of features that are parts of a thing: it has one of them, or several."""
STUFF = frozenset(names("backing boning hardware lining mesh padding stitching storage foam support trim"))
"""Last words of features that a thing has some of."""
NO_PARTS = re.compile(r"(?:fits?|keeps?|holds|charges|extends|makes|no|safe|under|with|for|one|zero|low|removes)\b")
"""How a feature begins that is no part of a thing."""
GENERAL = frozenset(names("team use pack make gift stock"))
"""Topics that any article has."""
HEADERS = words(
    "Key features:; Features:; Highlights:; Product details; Why you'll like it:; Details:; "
    "Product highlights; Good to know:; FEATURES"
)
LEADS = words("Highlights; Key features; Features; Details; Good to know")
PLAIN_PARTS = frozenset(names("Included Finish Board Bag Pieces Box"))
"""What the features of a puzzle end in that are not the title of its picture."""
COUNTS = re.compile(
    r"(\d+) (Pack|Count|Pieces?|Pairs|Sheets|Packets?|Bulbs|Colors|Varieties|Person|Tier|Shelf|Cup|GB|TB|ft)"
)
SAID = {
    "Pack": "Pack of {n}.", "Count": "{n} per package.", "Piece": "Includes {n} pieces.",
    "Pieces": "Includes {n} pieces.", "Pairs": "{n} pairs per pack.", "Sheets": "Contains {n} sheets.",
    "Packet": "{n} packet.", "Packets": "{n} packets.", "Bulbs": "{n} bulbs.", "Colors": "Includes {n} colors.",
    "Varieties": "Includes {n} varieties.", "Person": "Sleeps {n}.", "Tier": "{n} tiers.", "Shelf": "{n} shelves.",
    "Cup": "Capacity: {n} cups.", "GB": "Capacity: {n} GB.", "TB": "Capacity: {n} TB.", "ft": "Length: {n} ft.",
}  # fmt: skip
"""Counts are no sizes."""


@dataclass(frozen=True)
class Article:
    brand: str
    kind: str
    features: tuple[str, ...]
    uses: tuple[str, ...]
    tags: frozenset[str]
    size: str
    color: str
    ounces: int


def describe(stream: Stream, article: Article) -> str:
    """A paragraph, sometimes with a list of features on lines of its own, or with bare facts at the end."""
    used: set[str] = set()
    use, use2 = stream.sample(article.uses, 2)
    slots = noun_slots(article.kind) | {
        "brand": article.brand,
        "use": use,
        "use2": use2,
        "Use": capital(use),
    }
    parts = [draw(stream, pool("descriptions", "opening", article.tags), used)]
    listed = _features(stream, article)
    before, after = stream.weighted((((0, 1), 4), ((0, 2), 5), ((1, 1), 4), ((1, 2), 3), ((0, 0), 2), ((1, 4), 2)))
    parts += [_said(stream, article.tags, used) for _ in range(before)]
    parts += [listed]
    parts += [_said(stream, article.tags, used) for _ in range(after if listed else max(1, after))]
    if stream.chance(2, 5):
        parts.append(draw(stream, pool("descriptions", "ending", article.tags), used))
    text = " ".join(part for part in parts if part).format_map(slots).replace(" \n", "\n").replace("\n ", "\n")
    facts = _facts(stream, article, used)
    return f"{text.strip()}\n{facts}" if facts else text.strip()


def _said(stream: Stream, tags: frozenset[str], used: set[str]) -> str | None:
    """Mostly something that only this kind of article can have."""
    own = _own(tags)
    return draw(stream, own if own and stream.chance(4, 5) else pool("descriptions", "body", tags), used)


@cache
def _own(tags: frozenset[str]) -> Pool:
    return tuple(pair for pair in pool("descriptions", "body", tags) if pair[0] not in GENERAL)


def _features(stream: Stream, article: Article) -> str:
    """Some of the features, in one of many forms."""
    count = min(stream.weighted(((0, 6), (1, 2), (2, 4), (3, 6), (4, 4), (5, 2), (6, 1))), len(article.features))
    if not count:
        return ""
    drawn = stream.sample(article.features, count)
    # The picture on a puzzle has a title.
    titled = "puzzle" in article.tags
    features = [
        feature if titled and feature.split()[-1] not in PLAIN_PARTS else plain_case(feature) for feature in drawn
    ]
    form = stream.below(24)
    owned = [_owned(feature) for feature in features]
    parts = [part for part in owned if part]
    if form < 8 and len(parts) >= min(2, count):
        lead = (
            "{It} {has} ",
            "Features ",
            "Features include ",
            "With ",
            "Comes with ",
            "You get ",
            "Has ",
            "Made with ",
        )
        return lead[form] + _several(parts) + "."
    if form < 8:
        form += 12
    capitals = [capital(feature) for feature in features]
    if count == 1:
        return f"{capitals[0]}."
    if form < 12:
        header = f"{stream.choice(HEADERS)}\n" if stream.chance(3, 5) else ""
        listed = drawn if stream.chance(1, 4) else capitals
        return f"\n{header}" + "\n".join(f"- {feature}" for feature in listed) + "\n"
    if form < 15:
        return f"{capitals[0]}{''.join(f', {feature}' for feature in features[1:])}."
    if form < 18:
        return " ".join(f"{feature}." for feature in capitals)
    if form < 20 or any(" and " in feature for feature in features):
        return f"{'; '.join(capitals[:1] + features[1:])}."
    if form == 20:
        return " • ".join(capitals) + "\n"
    return f"{stream.choice(LEADS)}: {_several(features)}."


def _owned(feature: str) -> str | None:
    """'a leakproof lid', when the feature is a part that can be had."""
    last = feature.split()[-1].lower()
    if NO_PARTS.match(feature):
        return None
    if last in STUFF or (last.endswith("s") and last[:-1] in HEADS):
        return feature
    return with_article(feature) if last in HEADS else None


def _several(listed: list[str]) -> str:
    if len(listed) < 3:
        return " and ".join(listed)
    return ", ".join(listed[:-1]) + f", and {listed[-1]}"


def _size(article: Article) -> str:
    size, _, pack = article.size.partition(", ")
    if pack:
        return f"Size: {capital(plain_case(size))}. {pack}."
    if size.startswith("for "):
        return f"Fits: {size[4:]}."
    if size.startswith(("Set of", "Pack of")):
        return f"Comes as a {plain_case(size)}." if size.startswith("Set") else f"{size}."
    if size == "Single":
        return "Sold individually."
    if size == "Gift Set":
        return "Comes as a gift set."
    if counted := COUNTS.fullmatch(size):
        number, unit = counted.groups()
        if number == "1" and unit in ("Pack", "Count"):
            return "Sold individually."
        return SAID[unit].format(n=number)
    return f"Size: {capital(plain_case(size))}."


def _facts(stream: Stream, article: Article, used: set[str]) -> str:
    """Only what the columns of the product say, and how to care for it."""
    wanted = stream.chance(2, 5)
    care = draw(stream, pool("descriptions", "care", article.tags), used) if stream.chance(2, 3) else None
    facts = [_size(article)] if article.size else []
    if article.color and stream.chance(1, 2):
        facts.append(f"Color: {plain_case(article.color)}.")
    if stream.chance(1, 2):
        facts.append(f"Weight: {weight(article.ounces)}.")
    if care:
        facts.append(care)
    return " ".join(facts).format_map(noun_slots(article.kind)) if wanted else ""
