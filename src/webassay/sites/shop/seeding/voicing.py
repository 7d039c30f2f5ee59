"""What buyers say: a title and a text that go with the article and with the stars."""

import re
from functools import cache

from webassay.sites.rng import Stream
from webassay.sites.shop.seeding.catalogue import Product
from webassay.sites.shop.seeding.pools import Pool, draw, pool
from webassay.sites.shop.seeding.words import capital, names, noun_slots, plain_case, sentences, small, vocabulary

HARSH = re.compile(
    r"\b(br[eo]ke|broken?|stopped|snapped|tore|torn|cracked|crack|burned|died|dead|destroyed|mold\w*|moths|gave|fell|"
    r"ripped|leak\w*|failed|exploded|refuses?|rust\w*|missing|terrible|terribly|upset|stale|mush|ignores?d?|came|"
    r"split|shrank|mildew|raw|separated|headache|useless|flat|chewed|worthless|burst|never|waste|unraveled|warped|"
    r"fungus|stone|nothing|not worth|no flavor|weak|junk|slipped out|green|tunneled|will not touch|hates|"
    r"cheap|flim\w+|fiction|awful)\b",
    re.IGNORECASE,
)
"""Words of complaints that nobody makes who is happy on the whole."""
CORE = frozenset(
    names("fit taste sweet skin pet kids clean steady sleep smell compare think build sound setup craft room cook oral")
)
"""Topics on which a review that has praise and blame must not say both."""


def review_of(stream: Stream, product: Product, rating: int) -> tuple[str, str]:
    tags = product.tags
    used: set[str] = set()
    title = draw(stream, pool("voices", f"titles.{rating}", tags), used) or "Review"
    if rating in (1, 5) and stream.chance(1, 12):
        parts = [stream.choice(pool("voices", f"short.{rating}", tags))[1]]
    else:
        parts = _parts(stream, product, rating, tags, used)
    slots = _slots(stream, product)
    return title.format_map(slots), " ".join(parts).format_map(slots)


def _parts(stream: Stream, product: Product, rating: int, tags: frozenset[str], used: set[str]) -> list[str]:
    moods = _moods(stream, rating, "complaint" in used)
    parts: list[str | None] = []
    if stream.chance(1, 7):
        parts.append(draw(stream, pool("voices", f"stories.{rating}", tags), used))
    elif stream.chance(1, 2):
        parts.append(draw(stream, pool("voices", f"openings.{rating}", tags), used))
    own: set[str] = set()
    if rating in (2, 3):
        used |= CORE | {"others", "daily"}
    said = [_remark(stream, product, mood, used, own) for mood in moods]
    if not any(said):
        said = [_own(stream, product, moods[0], own)]
    if stream.chance(1, 4):
        said.insert(stream.below(len(said)), draw(stream, pool("voices", "remarks.neutral", tags), used))
    parts += said
    if stream.chance(1, 4):
        parts.append(draw(stream, pool("voices", f"closings.{rating}", tags), used))
    return list(dict.fromkeys(part for part in parts if part))


def _moods(stream: Stream, rating: int, complains: bool) -> list[str]:
    """Whether each remark is friendly; a happy buyer has quibbles, an unhappy one has complaints."""
    length = stream.weighted(((1, 7), (2, 8), (3, 5), (4, 3), (5, 1), (7, 1)))
    if rating == 5:
        return ["good"] * length
    if rating == 4:
        return ["good"] * (length - 1) + ["quibble" if complains or stream.chance(2, 5) else "good"]
    if rating == 3:
        first = stream.below(2)
        return [("good", "bad")[(place + first) % 2] for place in range(length)]
    if rating == 2 and length > 1 and stream.chance(1, 2):
        return ["good", "but"] + ["bad"] * (length - 2)
    return ["bad"] * length


def _remark(stream: Stream, product: Product, mood: str, used: set[str], own: set[str]) -> str | None:
    if mood == "but":
        said = draw(stream, pool("voices", "remarks.bad", product.tags), used)
        return (
            stream.choice(("But ", "Still, ", "The trouble is that ", "Unfortunately, ")) + small(said)
            if said
            else None
        )
    source = stream.below(20)
    if source < 8 and (said := _own(stream, product, mood, own)):
        if mood == "quibble":
            used |= CORE
        if "lead" in used or not stream.chance(1, 8):
            return said
        used.add("lead")
        return stream.choice(sentences(vocabulary("voices")["leads"][mood])) + " " + small(said)
    if source < 11 and mood != "quibble" and "fit" not in used:
        return _aspect(stream, pool("voices", f"aspects.{mood}", product.tags), mood, used)
    general = pool("voices", f"remarks.{mood}", product.tags)
    said = draw(stream, general, used)
    # Whoever has announced a quibble must not keep it to himself.
    return stream.choice(general)[1] if said is None and mood == "quibble" else said


def _own(stream: Stream, product: Product, mood: str, own: set[str]) -> str | None:
    """One of the things that buyers say about this kind of article only, never both praise and blame of it."""
    side = "good" if mood == "good" else "bad"
    if own & {"good", "bad"} - {side}:
        return None
    listed = product.good if side == "good" else _mild(product.bad) if mood == "quibble" else product.bad
    if not listed:
        return None
    said = stream.choice(listed)
    if said in own:
        return None
    own |= {side, said}
    return said


@cache
def _mild(listed: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sentence for sentence in listed if not HARSH.search(sentence))


def _aspect(stream: Stream, things: Pool, mood: str, used: set[str]) -> str | None:
    """A remark about a part or a quality, with a word that fits it."""
    if not things:
        return None
    thing, word = stream.choice(things)
    if thing in used:
        return None
    used.add(thing)
    form = stream.choice(sentences(vocabulary("voices")["forms"][mood]))
    return form.replace("<thing>", thing).replace("<Thing>", capital(thing)).replace("<word>", word)


def _slots(stream: Stream, product: Product) -> dict[str, str]:
    """Drawn once for a review, so that it is the same sister and the same year from first to last."""
    slots = vocabulary("voices")["slots"]
    who = stream.choice(sentences(slots["who"]))
    age = stream.weighted((("weeks", 3), ("months", 4), ("years", 2)))
    span = stream.choice(sentences(slots[f"span_{age}"]))
    return noun_slots(product.kind) | {
        "who": who,
        "Who": capital(who),
        "use": stream.choice(product.uses),
        "time": stream.choice(sentences(slots[f"time_{age}"])),
        "span": span,
        "Span": capital(span),
        "color": plain_case(product.color),
        "Color": capital(plain_case(product.color)),
        "size": plain_case(product.size),
        "Size": capital(plain_case(product.size)),
    }
