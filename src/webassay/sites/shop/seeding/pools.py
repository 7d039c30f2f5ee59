"""Pools of sentences, each of which says for what kind of article it is fit.

In the vocabulary files a key is a topic, and after a colon what an article must be: `"care: fabric -leather"` fits what
has the first tag and not the second, `"taste: food/petfood"` what has either. A text touches each topic once, so that
it neither repeats nor contradicts itself.
"""

import re
from functools import cache

from webassay.sites.rng import Stream
from webassay.sites.shop.seeding.words import sentences, vocabulary

Pool = tuple[tuple[str, str], ...]
"""Topics and sentences."""
SINGULAR = re.compile(r"(?<![{\w])(it|its|one|it's)\b", re.IGNORECASE)
"""Words that a sentence about several things has only by way of a slot."""


def fits(needs: str, tags: frozenset[str]) -> bool:
    return all(wanted != tags.isdisjoint(any_of) for wanted, any_of in _needs(needs))


@cache
def _needs(text: str) -> tuple[tuple[bool, tuple[str, ...]], ...]:
    """Some tags, one of which an article must have, or (False) must not have."""
    return tuple((not need.startswith("-"), tuple(need.lstrip("-").split("/"))) for need in text.split())


@cache
def pool(file: str, path: str, tags: frozenset[str]) -> Pool:
    table = vocabulary(file)
    for key in path.split("."):
        table = table[key]
    several = "many" in tags
    found: list[tuple[str, str]] = []
    for key, text in table.items():
        topic, _, needs = key.partition(":")
        if fits(needs, tags):
            found += [(topic, sentence) for sentence in sentences(text) if not (several and _singular(sentence))]
    return tuple(found)


@cache
def _singular(sentence: str) -> bool:
    return bool(SINGULAR.search(sentence))


def draw(stream: Stream, fitting: Pool, used: set[str]) -> str | None:
    """One sentence of a fresh topic, or none when chance keeps on hitting the old ones."""
    for _ in range(5):
        if not fitting:
            return None
        topic, sentence = stream.choice(fitting)
        if topic not in used:
            used.add(topic)
            return sentence
    return None
