"""What all comparators share: their result, and the limits on their input."""

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

MAX_TEXT = 100_000
"""Longer texts are not read as values: no honest answer needs more, and parsing time stays bounded."""


class Match(NamedTuple):
    """The result of one comparison; `reason` says what differs, or how the two agree."""

    ok: bool
    reason: str

    def __bool__(self) -> bool:
        return self.ok


class Slack(NamedTuple):
    """How far apart two quantities may be; the larger tolerance applies."""

    absolute: float = 0.0
    relative: float = 0.0


EXACT = Slack()


class UnreadableValue(ValueError):
    """A value cannot be read as the requested type; the message says why."""


class ValueKind(NamedTuple):
    """A type of value: how to read one, and when two are the same."""

    name: str
    read: Callable[[Any], Any]
    same: Callable[[Any, Any, Slack], bool]
    show: Callable[[Any], str] = str


def compared(kind: ValueKind, expected: object, actual: object, slack: Slack = EXACT) -> Match:
    """Reads both sides and compares them. An unreadable key raises, because that is never the agent's fault."""
    wanted = kind.read(expected)
    try:
        given = kind.read(actual)
    except UnreadableValue as problem:
        return Match(False, f"{shown(actual)} is not a valid {kind.name}: {problem}")
    if kind.same(wanted, given, slack):
        return Match(True, f"{shown(actual)} is {kind.show(wanted)}")
    return Match(False, f"{shown(actual)} reads as {kind.show(given)}, not {kind.show(wanted)}")


def shown(value: object, limit: int = 120) -> str:
    """The value as it appears in messages: short, printable, storable."""
    text = repr(value) if not isinstance(value, dict | list | tuple) else f"{value!r:.{limit * 2}}"
    text = text.encode("utf-8", "replace").decode()
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def bounded(value: object) -> str:
    if not isinstance(value, str):
        raise UnreadableValue(f"it is {described(value)}")
    if len(value) > MAX_TEXT:
        raise UnreadableValue(f"it is longer than {MAX_TEXT} characters")
    return value


def described(value: object) -> str:
    """The name of the value's JSON type."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "an object" if isinstance(value, dict) else "a list"


_DUST = 1e-12
"""Rounding error of binary fractions, so that 0.1 + 0.2 is 0.3; never applied to whole numbers."""


def near(a: Decimal, b: Decimal, slack: Slack) -> bool:
    if a == b:
        return True
    largest = max(abs(a), abs(b))
    allowed = max(slack.absolute, slack.relative * float(largest))
    whole = a == a.to_integral_value() and b == b.to_integral_value()
    gap = float(abs(a - b))
    return gap <= allowed + (0.0 if whole else _DUST * max(1.0, float(largest))) and math.isfinite(gap)
