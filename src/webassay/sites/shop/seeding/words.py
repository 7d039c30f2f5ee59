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


@cache
def short_noun(kind: str) -> str:
    """'Burr Coffee Grinder' is a grinder, 'Reflective Vest for Dogs' a vest."""
    head = kind.split(" with ")[0].split(" for ")[0]
    return head.split()[-1].lower()


@cache
def this(noun: str) -> str:
    plural = noun.endswith("s") and not noun.endswith(("ss", "couscous"))
    return "these" if plural else "this"


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def plain_case(phrase: str) -> str:
    """'Cool-Touch Handle' as it is written in mid-sentence; abbreviations stay."""
    return " ".join(
        word.lower() if all(part[1:].islower() or len(part) == 1 for part in word.split("-")) else word
        for word in phrase.split()
    )


def day_between(stream: Stream, first: date, last: date) -> date:
    return first + timedelta(days=stream.below((last - first).days + 1))


def moment_on(stream: Stream, day: date) -> str:
    """A random time of day, mostly when people are awake."""
    hour = stream.weighted(((8, 2), (11, 3), (14, 3), (17, 3), (20, 4), (0, 1)))
    start = datetime(day.year, day.month, day.day) + timedelta(seconds=hour * 3600 + stream.below(3 * 3600))
    return start.strftime("%Y-%m-%d %H:%M:%S")
