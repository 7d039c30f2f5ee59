"""Values that are nearly right: something else of the same form, anywhere in an answer."""

import random
import re
from collections.abc import Callable, Iterator
from typing import Any

from webassay.core.record import Json

Place = tuple[str | int, ...]
"""Keys and positions, from the outside in."""

_AMOUNT = re.compile(r"(\D*?)(\d[\d,]*(?:\.\d+)?)(.*)", re.DOTALL)


def near_miss(value: Json, rng: random.Random, others: tuple[str, ...] = ()) -> Json:
    """Something else of the same form. `others`: texts that may stand in for a text."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.choice((1, 2, 3))
    if isinstance(value, float):
        return round(value + rng.choice((0.3, 1.1, 2.4)), 2)
    if isinstance(value, dict):
        key = rng.choice(sorted(value))
        return {**value, key: near_miss(value[key], rng, others)}
    if isinstance(value, list):
        place = rng.randrange(len(value)) if value else 0
        return [*value[:place], near_miss(value[place], rng, others), *value[place + 1 :]] if value else ["1"]
    return _other_text(str(value), rng, others)


def _other_text(text: str, rng: random.Random, others: tuple[str, ...]) -> str:
    amount = _AMOUNT.fullmatch(text)
    letters = re.sub(r"[\W\d_]", "", text)
    if amount is not None and len(letters) < 4:
        return f"{amount[1]}{_other_amount(amount[2], rng)}{amount[3]}"
    fitting = [other for other in others if _alike(other, text)]
    if fitting:
        return rng.choice(fitting)
    if amount is not None:
        return f"{amount[1]}{_other_amount(amount[2], rng)}{amount[3]}"
    words = text.split()
    return " ".join(words[1:]) if len(words) > 1 else f"{text[::-1]}{rng.choice('aeo')}".capitalize()


def _other_amount(digits: str, rng: random.Random) -> str:
    """Another digit in a place that matters."""
    places = [place for place, sign in enumerate(digits) if sign.isdigit()]
    place = rng.choice(places[: max(1, len(places) - 1)])
    other = rng.choice([sign for sign in "123456789" if sign != digits[place]])
    return f"{digits[:place]}{other}{digits[place + 1 :]}"


def _alike(other: str, text: str) -> bool:
    """Whether both have the same form and neither contains the other."""
    one, two = other.casefold().strip(), text.casefold().strip()
    forms = [re.sub(r"[a-z]+", "a", re.sub(r"\d", "0", name)) for name in (one, two)]
    same = forms[0] == forms[1] and one[:1].isalpha() == two[:1].isalpha()
    return same and one not in two and two not in one and other[:1].isupper() == text[:1].isupper()


def values(answer: Json, place: Place = ()) -> Iterator[tuple[Place, Json]]:
    """Every single value, with where it stands."""
    inner: Iterator[tuple[str | int, Json]]
    if isinstance(answer, dict):
        inner = iter(answer.items())
    elif isinstance(answer, list):
        inner = iter(enumerate(answer))
    else:
        yield place, answer
        return
    for step, value in inner:
        yield from values(value, (*place, step))


def changed_at(answer: Any, place: Place, change: Callable[[Json], Json]) -> Any:
    """The same answer but for the value there."""
    if not place:
        return change(answer)
    copy = answer.copy()
    copy[place[0]] = changed_at(answer[place[0]], place[1:], change)
    return copy


def is_number(value: Json) -> bool:
    if isinstance(value, str):
        return re.fullmatch(r"\D?[\d.,]+", value) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)
