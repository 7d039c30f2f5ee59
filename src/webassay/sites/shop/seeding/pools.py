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
    return all(
        need[1:] not in tags if need.startswith("-") else any(one in tags for one in need.split("/"))
        for need in needs.split()
    )


@cache
def pool(file: str, path: str, tags: frozenset[str]) -> Pool:
    table = vocabulary(file)
    for key in path.split("."):
        table = table[key]
    found: list[tuple[str, str]] = []
    several = "many" in tags
    for key, text in table.items():
        topic, _, needs = key.partition(":")
        if fits(needs, tags):
            found += [(topic, sentence) for sentence in sentences(text) if not (several and SINGULAR.search(sentence))]
    return tuple(found)


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
