"""What has been said of a product before, and sentences that hardly anybody says twice."""

import re
from collections import Counter
from functools import cache

from webassay.sites.rng import Stream
from webassay.sites.shop.seeding.pools import Pool, draw, pool
from webassay.sites.shop.seeding.words import capital, names, vocabulary, words

MOST = 2
"""How many reviews of a product may hold the same sentence."""
TITLES = 3
"""How many may have the same title."""
PLACE = re.compile(r"<([a-z_]+)(2?)>")
ENDS = re.compile(r"[.!?]+\s+|\n")
MARKS = re.compile(r"[^a-z0-9 ]")


def sentences_of(text: str) -> tuple[str, ...]:
    """Without case and marks: what differs in these only is the same sentence."""
    found = (MARKS.sub("", one).strip() for one in ENDS.split(text.lower()))
    return tuple(one for one in found if one)


_known = cache(sentences_of)


class Told:
    """What the reviews of one product have said."""

    def __init__(self) -> None:
        self._said: Counter[str] = Counter()
        self._drawn: Counter[str] = Counter()
        self._titles: Counter[str] = Counter()
        self._texts: set[str] = set()

    def draw(self, stream: Stream, fitting: Pool, used: set[str]) -> str | None:
        """One sentence of a fresh topic, as `pools.draw`, that the product has not worn out."""
        for _ in range(3):
            before = used.copy()
            said = draw(stream, fitting, used)
            if said is None or self._take(said):
                return filled(stream, said) if said and "<" in said else said
            used.intersection_update(before)
        return None

    def choice(self, stream: Stream, listed: tuple[str, ...]) -> str | None:
        for _ in range(3):
            said = stream.choice(listed)
            if self._take(said):
                return filled(stream, said) if "<" in said else said
        return None

    def _take(self, said: str) -> bool:
        parts = _known(said)
        if any(self._drawn[one] >= MOST for one in parts):
            return False
        self._drawn.update(parts)
        return True

    def detail(self, stream: Stream, mood: str, tags: frozenset[str], used: set[str]) -> str | None:
        """A sentence with names, days and numbers of its own."""
        said = draw(stream, pool("details", mood, tags), used)
        return filled(stream, said) if said else None

    def accepts(self, text: str) -> bool:
        """Remembers a text, unless it is a text once more, or says something for the third time."""
        parts = set(sentences_of(text))
        if text in self._texts or any(self._said[one] >= MOST for one in parts):
            return False
        self._said.update(parts)
        self._texts.add(text)
        return True

    def title(self, title: str) -> bool:
        self._titles[title] += 1
        return self._titles[title] <= TITLES


def filled(stream: Stream, sentence: str) -> str:
    """With words for its places: the same word for the same place, another one for a place with a 2."""
    drawn: dict[str, str] = {}

    def word(found: re.Match[str]) -> str:
        place = found[0]
        while place not in drawn:
            one = stream.choice(_listed(found[1]))
            if one not in drawn.values():
                drawn[place] = one
        return drawn[place]

    return capital(PLACE.sub(word, sentence))


@cache
def _listed(place: str) -> tuple[str, ...]:
    people = vocabulary("people")
    if place == "name":
        return names(people["first"])
    if place == "surname":
        return names(people["last"])
    if place == "city":
        return cities()
    return words(vocabulary("details")["lists"][place])


@cache
def cities() -> tuple[str, ...]:
    return tuple(city.rsplit(" ", 3)[0] for city in vocabulary("people")["cities"])
