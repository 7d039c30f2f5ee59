"""The vocabulary: topics of forums, and sentences with slots."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def vocabulary(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(";"))


@cache
def slot_words(name: str) -> tuple[str, ...]:
    return listed(vocabulary("voices")["slots"][name])


@dataclass(frozen=True)
class Topic:
    """What a forum is about."""

    name: str
    title: str
    about: str
    size: int
    tags: frozenset[str]
    things: tuple[str, ...]
    parts: tuple[str, ...]
    acts: tuple[str, ...]
    issues: tuple[str, ...]
    brands: tuple[str, ...]


@cache
def topics() -> tuple[Topic, ...]:
    return tuple(
        Topic(
            name, entry["title"], entry["about"], entry["size"], frozenset(entry["tags"].split()),
            *(listed(entry[kind]) for kind in ("things", "parts", "acts", "issues", "brands")),
        )
        for name, entry in vocabulary("forums").items()
    )  # fmt: skip


@cache
def pool(path: str, tags: frozenset[str]) -> tuple[str, ...]:
    """The sentences that fit a forum with these tags."""
    table = vocabulary("voices")
    for key in path.split("."):
        table = table[key]
    return tuple(
        sentence
        for needs, sentences in table.items()
        if needs == "any" or not tags.isdisjoint(needs.split("/"))
        for sentence in sentences
    )


# --- grammar ----------------------------------------------------------------------------------------------

_ONE = frozenset(("bass", "bias", "focus", "glass", "lens", "mattress", "paralysis", "news", "radius", "census"))
_VOWEL_SOUNDS = re.compile(r"[aeio]|u(?!ni|se|su)|(?:hour|honest|heir)", re.I)
_LETTERS = re.compile(r"[AEFHILMNORSX][A-Z0-9-]")
_AGREES = {
    "is": "are", "was": "were", "has": "have", "isn't": "aren't", "wasn't": "weren't", "hasn't": "haven't",
    "doesn't": "don't", "didn't": "didn't", "looks": "look", "seems": "seem", "holds": "hold", "makes": "make",
    "does": "do", "Is": "Are", "Was": "Were", "Does": "Do", "Has": "Have", "giveth": "give", "taketh": "take",
}  # fmt: skip
_VERB = "|".join(map(re.escape, _AGREES))


@cache
def is_plural(phrase: str) -> bool:
    head = re.split(r" (?:in|with|that|at|for|on|of|from|over|through|to|after|without|who|by|per|which) ", phrase)[0]
    last = head.split()[-1]
    return " and " in head or (last.endswith("s") and not last.endswith(("ss", "us", "is")) and last not in _ONE)


@cache
def with_article(noun: str) -> str:
    vowel = _LETTERS.match(noun) or (_VOWEL_SOUNDS.match(noun) and not _LETTERS.match(noun))
    return f"{'an' if vowel and not re.match(r'[B-DGJKP-QT-WYZ][A-Z0-9-]|one', noun) else 'a'} {noun}"


@cache
def plural_of(noun: str) -> str:
    if is_plural(noun):
        return noun
    if " of " in noun:
        first, _, rest = noun.partition(" of ")
        return f"{plural_of(first)} of {rest}"
    if noun.endswith(("man", "men")):
        return noun.removesuffix("man") + "men"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    if noun.endswith("fe"):
        return noun[:-2] + "ves"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh", "z")) else "s")


@cache
def agreeing(sentence: str, slot: str) -> str:
    """The sentence for something of which there are several."""
    sentence = re.sub(rf"({{{slot}}}) ({_VERB})\b", lambda found: f"{found[1]} {_AGREES[found[2]]}", sentence)
    return re.sub(rf"\b({_VERB}) ((?:the )?{{{slot}}})", lambda found: f"{_AGREES[found[1]]} {found[2]}", sentence)


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]
