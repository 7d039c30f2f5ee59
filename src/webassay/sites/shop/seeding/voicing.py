"""What buyers say: a title and a text that go with the article and with the stars."""

import re
from functools import cache

from webassay.sites.rng import Stream
from webassay.sites.shop.seeding.catalog import Product
from webassay.sites.shop.seeding.pools import Pool, pool
from webassay.sites.shop.seeding.slips import contracted
from webassay.sites.shop.seeding.telling import ENDS, Told, cities, filled
from webassay.sites.shop.seeding.words import (
    TODAY,
    capital,
    names,
    noun_slots,
    plain_case,
    sentences,
    small,
    vocabulary,
)

HARSH = re.compile(
    r"\b(br[eo]ke|broken?|stopped|snapped|tore|torn|cracked|crack|burned|died|dead|destroyed|mold\w*|moths|gave|fell|"
    r"ripped|leak\w*|failed|exploded|refuses?|rust\w*|missing|terrible|terribly|upset|stale|mush|ignores?d?|came|"
    r"split|shrank|mildew|raw|separated|headache|useless|flat|chewed|worthless|burst|never|waste|unraveled|warped|"
    r"fungus|stone|nothing|not worth|no flavor|weak|junk|slipped out|green|tunneled|will not touch|hates|"
    r"cheap|flim\w+|fiction|awful)\b",
    re.IGNORECASE,
)
"""Words of complaints that nobody makes who is happy on the whole."""
MILD = re.compile(
    r"\b(a (little|bit|touch)|(small|heavi|loud|dimm|slow|light|soft|stiff|low|thinn)er than|hard to|could be|at first|"
    r"fiddly|slippery|not as|cord is|tiny|narrow|snug|stiff|lint|runs? small|sizing|too (short|small|large)|"
    r"fingerprints|dusty|had to size|sleeves|instructions|bulky|heavy|size up|awkward|smaller|wish)\b",
    re.IGNORECASE,
)
"""Words of complaints that a happy buyer makes."""
MINE = re.compile(r"\b(I|I'\w+|[Mm]y|me|we|[Oo]ur|us|We)\b")
CORE = frozenset(
    names("fit taste sweet skin pet kids clean steady sleep smell compare think build sound setup craft room cook oral")
)
"""Topics on which a review that has praise and blame must not say both."""
FAINT = frozenset(names("delivery packaging service hue date setup portion clean"))
"""What also those praise who are not happy."""
GENERAL = frozenset(
    names("delivery packaging service value others photo think use cost choice picky info wish look compare")
)
"""Topics that any article has."""
HINTS = (
    (re.compile(r"\b(years?|months?|weeks?|summer|winter|seasons?|semester)\b", re.IGNORECASE), "owned"),
    (re.compile(r"\b(deliver\w*|arriv\w*|shipp\w*|packed|in the mail)\b", re.IGNORECASE), "delivery"),
    (re.compile(r"\b(small|smaller|big|bigger|larger)\b", re.IGNORECASE), "size"),
)
"""How to tell what topic a sentence has that is about one kind of article only."""
COUNTED = re.compile(r"^(\d+) (piece|packet|sheet|color|bulb|tier|shelf|cup|person)s?$")
UNSCENTED = re.compile(r"Unscented|Fragrance Free")
SCENTS = frozenset(names("smell scent"))
LONGEST_TITLE = 42
LONG = 6
"""Remarks in the reviews of those who like to write."""


def _clashes(*groups: tuple[str, str]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for one, others in groups:
        for other in names(others):
            found.setdefault(one, set()).add(other)
            found.setdefault(other, set()).add(one)
    return {topic: frozenset(others) for topic, others in found.items()}


CLASHES = _clashes(
    ("owned", "delivery packaging box first fate broke"),
    ("fate", "daily again gift place weekend size think"),
    (
        "gift",
        "owned daily others use home compare fit body eat search first old place weekend again skin hair makeup pets "
        "love search doubt regimen sleep yard garden kid kids oral last craft bought steady2 cook carry cost pet build "
        "setup weather clean picky choice size",
    ),
    ("again", "doubt first search surprise size"),
    ("broke", "daily look"),
    ("first", "think"),
    ("manual", "setup"),
    ("leak", "packaging delivery"),
    ("complaint", "perfect"),
)
"""Topics of which a review has one at most: nobody speaks of the delivery after two years."""


def review_of(stream: Stream, product: Product, rating: int, told: Told | None = None) -> tuple[str, str]:
    """`told`: what the other reviews of the product say."""
    # A stream of its own, so that a new sentence does not change who buys what.
    stream = stream.child("words", stream.below(1 << 60))
    told = told or Told()
    tags = product.tags
    used = set(SCENTS) if UNSCENTED.search(product.name) else set()
    title = _say(stream, pool("voices", f"titles.{rating}", tags), used, Told()) or "Review"
    shortest = pool("voices", f"short.{rating}", tags) if rating in (1, 5) and stream.chance(1, 12) else ()
    short = told.draw(stream, shortest, set()) if shortest else None
    parts = [short] if short else _parts(stream, product, rating, used, told)
    slots = _slots(stream, product)
    title, text = title.format_map(slots), " ".join(parts).format_map(slots)
    # Many a title is what the text begins with.
    first = ENDS.split(text, maxsplit=1)[0].rstrip(".!?")
    if not told.title(title) and "complaint" not in used and len(first) <= LONGEST_TITLE:
        title = first
    return (contracted(title), contracted(text)) if stream.chance(4, 5) else (title, text)


def _say(stream: Stream, fitting: Pool, used: set[str], told: Told) -> str | None:
    """A sentence on a fresh topic, after which other topics are out of the question."""
    before = used.copy()
    said = told.draw(stream, fitting, used)
    _exclude(used, before)
    return said


def _detail(stream: Stream, mood: str, product: Product, used: set[str], told: Told) -> str | None:
    before = used.copy()
    said = told.detail(stream, mood, product.tags, used)
    _exclude(used, before)
    return said


def _exclude(used: set[str], before: set[str]) -> None:
    for topic in used - before:
        used |= CLASHES.get(topic, frozenset())


def _parts(stream: Stream, product: Product, rating: int, used: set[str], told: Told) -> list[str]:
    tags = product.tags
    parts: list[str | None] = []
    length = LONG if stream.chance(1, 40) else stream.weighted(((1, 9), (2, 9), (3, 5), (4, 1)))
    stories = pool("voices", f"stories.{rating}", tags)
    if len(stories) > 3 and stream.chance(1, 8):
        parts.append(_say(stream, stories, used, told))
    elif length == LONG or stream.chance(1, 2):
        parts.append(_say(stream, pool("voices", f"openings.{rating}", tags), used, told))
    moods = _moods(stream, rating, length, "complaint" in used)
    own: set[str] = set()
    said = [_remark(stream, product, mood, used, own, told) for mood in moods]
    if not any(said):
        said = [
            _own(stream, product, moods[0], used, own, told)
            or _detail(stream, "good" if rating > 3 else "bad", product, used, told)
            or stream.choice(product.good if rating > 3 else product.bad)
        ]
    for _ in range(2 if length == LONG else stream.chance(1, 6)):
        neutral = _general("neutral", "neutral", tags, stream.chance(2, 3))
        aside = (
            _detail(stream, "neutral", product, used, told)
            if stream.chance(1, 2)
            else _say(stream, neutral, used, told)
        )
        said.insert(stream.below(len(said)), aside)
    parts += said
    if length == LONG or stream.chance(1, 4):
        last = "quibbled" if "quibble" in moods else str(rating)
        parts.append(_say(stream, pool("voices", f"closings.{last}", tags), used, told))
    return list(dict.fromkeys(part for part in parts if part))


def _moods(stream: Stream, rating: int, length: int, complains: bool) -> list[str]:
    """Whether each remark is friendly; a happy buyer has quibbles, an unhappy one has complaints."""
    if rating == 5:
        return ["good"] * length
    if rating == 4:
        return ["good"] * (length - 1) + ["quibble" if complains or (length > 1 and stream.chance(1, 2)) else "good"]
    if rating == 3:
        first = stream.below(2) if length > 1 else 1
        return [("faint", "flaw")[(place + first) % 2 if place < 4 else 1] for place in range(length)]
    if rating == 2 and length > 1 and stream.chance(1, 2):
        return ["faint", "but"] + ["bad"] * (length - 2)
    return ["bad" if rating == 2 else "worst"] * length


def _remark(stream: Stream, product: Product, mood: str, used: set[str], own: set[str], told: Told) -> str | None:
    if mood == "but":
        said = _say(stream, pool("voices", "remarks.bad", product.tags), used, told)
        return stream.choice(("But ", "Still, ", "Unfortunately, ", "However, ")) + small(said) if said else None
    source = stream.below(30)
    side = "good" if mood in ("good", "faint") else "quibble" if mood == "quibble" else "bad"
    if source >= 20:
        detail = _detail(stream, mood if mood in ("faint", "quibble") else side, product, used, told)
        if detail:
            return detail
    elif source < 8 and (said := _own(stream, product, mood, used, own, told)):
        if mood in ("quibble", "faint"):
            used |= CORE
        if "lead" in used or (len(own) < 3 and mood != "quibble") or not stream.chance(1, 4):
            return said
        used.add("lead")
        return stream.choice(sentences(vocabulary("voices")["leads"][side])) + " " + small(said)
    elif source < 10 and mood in ("good", "bad", "worst") and "fit" not in used:
        aspect = _aspect(stream, pool("voices", f"aspects.{side}", product.tags), side, used)
        return aspect if aspect is None else told.choice(stream, (aspect,))
    special = source % 20 < 16 and mood != "quibble"
    general = _general("worst" if mood == "worst" and source % 2 else mood, side, product.tags, special)
    said = _say(stream, general, used, told)
    if said is None and mood != "quibble":
        return _detail(stream, "faint" if mood == "faint" else side, product, used, told)
    # Whoever has announced a quibble must not keep it to himself.
    return said or _detail(stream, mood, product, used, told) or filled(stream, stream.choice(general)[1])


@cache
def _general(mood: str, side: str, tags: frozenset[str], special: bool) -> Pool:
    """Remarks that fit the article; the special ones fit few others."""
    found = pool("voices", f"remarks.{'worst' if mood == 'worst' else side}", tags)
    if mood == "faint":
        found = tuple(pair for pair in found if pair[0] in FAINT)
    own = tuple(pair for pair in found if pair[0] not in GENERAL) if special else ()
    return own or found


def _own(stream: Stream, product: Product, mood: str, used: set[str], own: set[str], told: Told) -> str | None:
    """One of the things that buyers say about this kind of article only, never both praise and blame of it."""
    side = "good" if mood in ("good", "faint") else "bad"
    if own & {"good", "bad"} - {side} or (mood in ("quibble", "faint") and used & CORE):
        return None
    listed = product.good if side == "good" else _mild(product.bad) if mood in ("quibble", "flaw") else product.bad
    if not listed:
        return None
    said = told.choice(stream, listed)
    # Whoever gave it away does not use it.
    if said is None or said in own or ("gift" in used and MINE.search(said)):
        return None
    topics = _topics_of(said)
    if used & topics:
        return None
    used.update(topics, *(CLASHES[topic] for topic in topics))
    own |= {side, said}
    used.add("gift")
    return said


@cache
def _topics_of(sentence: str) -> frozenset[str]:
    return frozenset(topic for hint, topic in HINTS if hint.search(sentence))


@cache
def _mild(listed: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sentence for sentence in listed if MILD.search(sentence) and not HARSH.search(sentence))


def _aspect(stream: Stream, things: Pool, side: str, used: set[str]) -> str | None:
    """A remark about a part or a quality, with a word that fits it."""
    if not things:
        return None
    thing, word = stream.choice(things)
    if thing in used:
        return None
    used.add(thing)
    form = stream.choice(sentences(vocabulary("voices")["forms"][side]))
    return form.replace("<thing>", thing).replace("<Thing>", capital(thing)).replace("<word>", word)


def _slots(stream: Stream, product: Product) -> dict[str, str]:
    """Drawn once for a review, so that it is the same sister and the same year from first to last."""
    slots = vocabulary("voices")["slots"]
    who = stream.choice(sentences(slots["who"]))
    on_sale = (TODAY - product.first_available).days
    age = stream.weighted((("weeks", 5), ("months", 3 if on_sale > 500 else 0), ("years", 1 if on_sale > 1500 else 0)))
    spans = sentences(slots[f"span_{age}"])
    place = stream.below(len(spans))
    size = COUNTED.sub(r"\1-\2", plain_case(product.size)).replace(" pairs", "-pair pack")
    return noun_slots(product.kind) | {
        "who": who,
        "Who": capital(who),
        "use": stream.choice(product.uses),
        "home": stream.choice(cities()),
        "time": sentences(slots[f"time_{age}"])[place],
        "span": spans[place],
        "Span": capital(spans[place]),
        "color": plain_case(product.color),
        "Color": capital(plain_case(product.color)),
        "size": size,
        "Size": capital(size),
    }
