"""Vocabulary files, and the bit of grammar that generated sentences need."""

import tomllib
from datetime import date, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any

from webassay.sites.rng import Stream

OPENED = date(2016, 1, 4)
OPENED_ONLINE = date(2021, 3, 1)
"""Before this day there are no customers, orders or coupons."""
TODAY = date(2026, 3, 1)
"""The day on which the world starts."""


@cache
def vocabulary(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def words(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(";"))


@cache
def names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


@cache
def sentences(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split("|"))


MASS = frozenset(
    names(
        "popcorn mango shortbread biscotti coffee tea water kombucha lemonade beer spaghetti pasta rice quinoa "
        "couscous farro oil sauce pesto mustard vinegar paprika cinnamon seasoning powder salt extract flour granola "
        "muesli cereal oatmeal mix honey syrup butter spread jam marmalade food kibble hay bedding litter conditioner "
        "charcoal yarn toothpaste mouthwash sunscreen shampoo soap lotion cream mascara eyeliner toner moisturizer "
        "gel wash wax bath soak paper seed concentrate scrub balm"
    )
)
"""Kinds of stuff: one has some of it, not one of it."""
MANY = frozenset({"mice"})
"""Plurals without an s."""
ONE = frozenset({"octopus", "bird bath"})
"""What looks like a plural or like stuff, and is neither."""
PROPER = frozenset(
    names(
        "French Turkish Dutch Chelsea Adirondack-Style Earl Grey Bluetooth Edison Dijon Oxford Henley Epsom Hori "
        "Santoku Pilates Timothy Nyjer Kivu Mavo Nimbex"
    )
)
"""Words that keep their capital in mid-sentence."""
VAGUE = frozenset(
    names(
        "Maker Set Kit Combo Holder Mix Tool Box Pad Bar Ring Stick Cover Stand Mount Bag Rack Oil Butter Food Cards "
        "Case Station Strip Mat Bowl Cup Light Lights Film Protector Wash Packs Bath Bags Water Game Hub Stone Card "
        "Organizer Jar Bank Block Pens Panels Covers Heads Picks Refills Wheel Machine Dispensers Dispenser Wrap "
        "Poles Gloves Sheet Plants Tray Bed Chips Seed Pieces Cakes Sticks Brush"
    )
)
"""Last words that say little without the one before."""
LOUD = frozenset("AEFHILMNORSX")
"""Letters whose names begin with a vowel."""


@cache
def short_noun(kind: str) -> str:
    """'Burr Coffee Grinder' is a grinder, 'Reflective Vest for Dogs' a vest."""
    head = kind.split(" with ")[0].split(" for ")[0].split()
    return plain_case(" ".join(head[-2:] if head[-1] in VAGUE else head[-1:]))


@cache
def number_of(noun: str) -> str:
    """Whether there is one of it, are many, or is it stuff that cannot be counted."""
    last = noun.split()[-1]
    if last in MASS and noun not in ONE:
        return "mass"
    plural = last in MANY or (noun.endswith("s") and last not in ONE and not noun.endswith("ss"))
    return "many" if plural else "one"


@cache
def this(noun: str) -> str:
    return "these" if number_of(noun) == "many" else "this"


@cache
def with_article(phrase: str) -> str:
    first = phrase.split()[0]
    letters = first.split("-")[0]
    if first[0].isdigit():
        vowel = first.startswith("8") or letters in ("11", "18")
    elif letters.isupper():
        vowel = letters[0] in LOUD
    else:
        word = letters.lower()
        vowel = word.startswith(("hour", "heirloom", "herb")) or (
            word[0] in "aeiou" and not word.startswith(("uni", "use", "usu", "uti", "eu", "one"))
        )
    return f"{'an' if vowel else 'a'} {phrase}"


@cache
def noun_slots(kind: str) -> dict[str, str]:
    """What sentences about a kind of thing need to agree with it in number."""
    noun, full = short_noun(kind), plain_case(kind)
    number = number_of(noun)
    many = number == "many"
    slots = {
        "noun": noun,
        "type": full,
        "a_noun": with_article(noun) if number == "one" else noun,
        "a_type": with_article(full) if number == "one" else full,
        "this": this(noun),
        "it": "they" if many else "it",
        "them": "them" if many else "it",
        "its": "their" if many else "its",
        "is": "are" if many else "is",
        "was": "were" if many else "was",
        "has": "have" if many else "has",
        "does": "do" if many else "does",
        "s": "" if many else "s",
        "es": "" if many else "es",
    }
    return slots | {
        name.capitalize(): capital(slots[name]) for name in ("noun", "type", "a_noun", "a_type", "this", "it", "its")
    }


PACKED = ("Set of", "Pack of")
FINISHES = frozenset(
    words(
        "Stainless Steel; Copper; Silver; Brushed Nickel; Brass; Bronze; Gold; Rose Gold; Walnut; Natural Oak; "
        "Rustic Brown; Espresso; Matte Black"
    )
)
"""What is listed among the colors, but is rather a surface."""


@cache
def size_tag(size: str) -> str:
    if not size or size.startswith("for "):
        return "unsized"
    return "packed" if size.startswith(PACKED) or size.split()[-1] in ("Count", "Pack", "Piece", "Pairs") else "sized"


def color_tag(color: str) -> str:
    return "uncolored" if not color else "finish" if color in FINISHES else "hue"


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def small(sentence: str) -> str:
    """A sentence as it goes on after a colon or a comma."""
    first = sentence.split()[0]
    stays = first == "I" or any(letter.isupper() or letter == "'" for letter in first[1:2])
    return sentence if stays else sentence[:1].lower() + sentence[1:]


@cache
def plain_case(phrase: str) -> str:
    """'Cool-Touch Handle' as it is written in mid-sentence; abbreviations, single letters and names stay."""
    return " ".join(word if word in PROPER else _plain_word(word) for word in phrase.split())


def _plain_word(word: str) -> str:
    parts = word.split("-")
    keep = any(any(letter.isupper() for letter in part[1:]) or part[1:].isdigit() for part in parts)
    if keep:
        return word
    return "-".join(part if len(part) == 1 else part.lower() for part in parts)


def day_between(stream: Stream, first: date, last: date) -> date:
    return first + timedelta(days=stream.below((last - first).days + 1))


def moment_on(stream: Stream, day: date) -> str:
    """A random time of day, mostly when people are awake."""
    hour = stream.weighted(((8, 2), (11, 3), (14, 3), (17, 3), (20, 4), (0, 1)))
    start = datetime(day.year, day.month, day.day) + timedelta(seconds=hour * 3600 + stream.below(3 * 3600))
    return start.isoformat(" ")
