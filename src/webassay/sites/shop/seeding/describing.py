"""What the shop says about an article."""

from dataclasses import dataclass

from webassay.sites.rng import Stream
from webassay.sites.shop.commerce import weight
from webassay.sites.shop.seeding.pools import draw, pool
from webassay.sites.shop.seeding.words import capital, noun_slots, plain_case


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
    """A paragraph, sometimes followed by one with bare facts."""
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
    body = pool("descriptions", "body", article.tags)
    before, after = stream.weighted((((0, 1), 4), ((0, 2), 5), ((1, 1), 3), ((1, 2), 2), ((0, 0), 2), ((0, 4), 1)))
    parts += [draw(stream, body, used) for _ in range(before)]
    parts += [listed]
    parts += [draw(stream, body, used) for _ in range(after)]
    if stream.chance(1, 2):
        parts.append(draw(stream, pool("descriptions", "ending", article.tags), used))
    text = " ".join(part for part in parts if part).format_map(slots)
    facts = _facts(stream, article, used)
    return f"{text}\n{facts}" if facts else text


def _features(stream: Stream, article: Article) -> str:
    """Some of the features, in one of several forms."""
    count = min(stream.weighted(((0, 5), (1, 2), (2, 4), (3, 6), (4, 3), (5, 1), (6, 1))), len(article.features))
    if not count:
        return ""
    # The picture on a puzzle has a title.
    as_written = "puzzle" in article.tags
    drawn = stream.sample(article.features, count)
    features = drawn if as_written else [plain_case(feature) for feature in drawn]
    several = ", ".join(features[:-1]) + (f" and {features[-1]}" if count == 2 else f", and {features[-1]}")
    form = stream.below(6)
    if count == 1:
        return f"Worth knowing: {features[0]}." if form < 3 else f"{capital(features[0])}."
    if form == 0 or any(" and " in feature for feature in features):
        return f"{capital('; '.join(features))}."
    if form == 1:
        return f"Among the features: {several}."
    lead = ("In short", "At a glance", "Details", "Worth knowing")[form - 2]
    return f"{lead}: {several}."


def _facts(stream: Stream, article: Article, used: set[str]) -> str:
    """Only what the columns of the product say, and how to care for it."""
    wanted = stream.chance(2, 5)
    care = draw(stream, pool("descriptions", "care", article.tags), used) if stream.chance(2, 3) else None
    facts = []
    if article.size.startswith("for "):
        facts.append(f"Fits: {article.size[4:]}.")
    elif article.size.startswith(("Set of", "Pack of")):
        facts.append(f"Comes as a {plain_case(article.size)}.")
    elif article.size:
        facts.append(f"Size: {plain_case(article.size)}.")
    if article.color and stream.chance(1, 2):
        facts.append(f"Color: {plain_case(article.color)}.")
    if stream.chance(1, 2):
        facts.append(f"Weight: {weight(article.ounces)}.")
    if care:
        facts.append(care)
    return " ".join(facts).format_map(noun_slots(article.kind)) if wanted else ""
