"""What people say: sentences with their slots filled in, none of which is said more than twice on the whole site."""

import re
from collections.abc import Callable
from functools import cache

from webassay.sites.forum.seeding.words import (
    Topic,
    agreeing,
    capital,
    is_plural,
    plural_of,
    pool,
    slot_words,
    with_article,
)
from webassay.sites.rng import Stream

_SLOT = re.compile(r"{(\w+)}")
_NUMBER = re.compile(r"(?<![\w$.,])[0-9]+(?![\w.,]*[0-9])")
_PLAIN = re.compile(r"[^a-z0-9$% ]")
_TRIES = 12
_SLIPS = (
    (" because ", " becuase "), (" the ", " teh "), (" would ", " woud "), (" about ", " abuot "),
    (" their ", " thier "), (" definitely ", " definately "), (" should ", " shoud "), (" every ", " evry "),
    (" after ", " afer "), (" before ", " befor "), (" people ", " poeple "), (" thought ", " thougt "),
)  # fmt: skip


class Said:
    """How often each sentence stands on the site."""

    def __init__(self) -> None:
        self._count: dict[str, int] = {}

    def count(self, sentence: str) -> int:
        return self._count.get(_plain(sentence), 0)

    def note(self, sentence: str) -> None:
        key = _plain(sentence)
        self._count[key] = self._count.get(key, 0) + 1


def _plain(sentence: str) -> str:
    """Without what a writer's habits change."""
    return _PLAIN.sub("", sentence.lower()).strip()


class Speaker:
    """Whoever writes about one subject: the thing, the act and the issue stay the same, so that a thread hangs
    together."""

    def __init__(self, topic: Topic, stream: Stream, said: Said) -> None:
        self._topic, self._said = topic, said
        self._kept = {
            "thing": stream.choice(topic.things),
            "act": stream.choice(topic.acts),
            "issue": stream.choice(topic.issues),
            "brand": stream.choice(topic.brands),
        }

    def say(self, stream: Stream, kind: str) -> str:
        """A fresh sentence; empty if none comes to mind."""
        sentences = pool(kind, self._topic.tags)
        for _ in range(_TRIES):
            sentence = self._fill(stream, stream.choice(sentences))
            if not self._said.count(sentence):
                self._said.note(sentence)
                return sentence
        return ""

    def say_all(self, stream: Stream, *kinds: str) -> list[str]:
        return [sentence for kind in kinds if (sentence := self.say(stream, kind))]

    def _fill(self, stream: Stream, template: str) -> str:
        slots: dict[str, str] = {}
        for plain in ("part", "issue"):
            if f"{{{plain}}}" in template:
                slots[plain] = self._draw(stream, plain, slots)
                if is_plural(slots[plain]):
                    template = agreeing(template, plain)

        def fill(found: re.Match[str]) -> str:
            name = found[1]
            low = name.lower()
            if low not in slots:
                slots[low] = self._draw(stream, low, slots)
            return capital(slots[low]) if name != low else slots[low]

        return capital(_SLOT.sub(fill, template))

    def _draw(self, stream: Stream, slot: str, slots: dict[str, str]) -> str:
        topic = self._topic
        own = _OWN.get(slot)
        if own is not None:
            drawn = self._kept[slot] if stream.chance(3, 5) else stream.choice(own(topic))
        elif slot == "part":
            drawn = stream.choice(topic.parts)
        elif slot in _OTHER:
            kept = slots.get(_OTHER[slot], self._kept[_OTHER[slot]])
            drawn = stream.choice([one for one in _OWN[_OTHER[slot]](topic) if one != kept])
        elif slot in ("a_thing", "a_thing2", "things"):
            plain = self._draw(stream, "thing2" if slot == "a_thing2" else "thing", slots)
            if slot != "things" and slot == "a_thing":
                slots.setdefault("thing", plain)
            drawn = plural_of(plain) if slot == "things" else plain if is_plural(plain) else with_article(plain)
        elif slot == "act_on":
            drawn = self._draw(stream, "act", slots)
        elif slot == "here":
            drawn = topic.name
        elif slot == "n3":
            drawn = str(int(slots.get("n", "40")) + stream.between(2, 60))
        else:
            drawn = _SHARED[slot](stream)
        return drawn


_OWN: dict[str, Callable[[Topic], tuple[str, ...]]] = {
    "thing": lambda topic: topic.things,
    "act": lambda topic: topic.acts,
    "issue": lambda topic: topic.issues,
    "brand": lambda topic: topic.brands,
}
_OTHER = {"thing2": "thing", "act2": "act", "brand2": "brand"}


def _span(stream: Stream) -> str:
    if stream.chance(1, 3):
        return stream.choice(slot_words("spans"))
    return f"{stream.choice(slot_words('numbers'))} {stream.choice(slot_words('units'))}"


def _ago(stream: Stream) -> str:
    if stream.chance(1, 2):
        return stream.choice(slot_words("agos"))
    return f"{stream.choice(slot_words('numbers'))} {stream.choice(slot_words('units'))} ago"


def _money(stream: Stream) -> str:
    low, high, step = stream.choice(((3, 40, 1), (8, 60, 5), (8, 39, 10), (8, 48, 50)))
    return f"${stream.between(low, high) * step:,}"


def _chosen(name: str) -> Callable[[Stream], str]:
    return lambda stream: stream.choice(slot_words(name))


_SHARED: dict[str, Callable[[Stream], str]] = {
    "span": _span,
    "ago": _ago,
    "money": _money,
    "n": lambda stream: str(stream.between(3, 96)),
    "n2": lambda stream: str(stream.between(2, 11)),
    "who": _chosen("who"),
    "good": _chosen("good"),
    "bad": _chosen("bad"),
    "where": _chosen("where"),
    "month": _chosen("months"),
    "day": _chosen("days"),
}


# --- habits -----------------------------------------------------------------------------------------------


def as_typed(stream: Stream, text: str) -> str:
    """One in four has a slip or a habit."""
    kind = stream.below(28)
    if kind >= 7 or len(text) < 12:
        return text
    if kind == 0:
        return text.lower()
    if kind == 1:
        return text[:1].lower() + text[1:] if not text.startswith(("I ", "I'")) else text
    if kind in (2, 3):
        return text.removesuffix(".")
    if kind == 4:
        return text.replace("'", "")
    if kind == 5:
        for right, wrong in stream.shuffled(_SLIPS):
            if right in text:
                return text.replace(right, wrong, 1)
        return text
    return text[:-1] + stream.choice(("...", "!", "!!", " lol", " :)")) if text.endswith(".") else text


def misremembered(stream: Stream, sentence: str) -> str:
    """With another number, as it is quoted by somebody who did not look it up; the same if there is no number in it."""
    found = list(_NUMBER.finditer(sentence))
    if not found:
        return sentence
    place = stream.choice(found)
    number = int(place[0])
    other = number + stream.between(1, max(2, number // 2))
    return f"{sentence[: place.start()]}{other}{sentence[place.end() :]}"


@cache
def slug_of(title: str) -> str:
    """For addresses, as far as it says something."""
    words = re.findall(r"[a-z0-9]+", title.lower().replace("'", ""))
    slug = ""
    for word in words:
        if len(slug) + len(word) > 60:
            break
        slug = f"{slug}-{word}" if slug else word
    return slug or "-"
