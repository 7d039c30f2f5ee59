"""Whether a value fits what the key expects. Patterns and alternatives live here, because only keys have them."""

import re
from collections.abc import Sequence
from typing import Any

from webassay.compare import Match, Sites, Slack, UnreadableValue, assign, compare, described, fold, parse_json, shown
from webassay.compare.text import read_base64, read_string
from webassay.core.errors import GradingError
from webassay.core.task import Expectation
from webassay.grading.rules.patterns import matches

_MAX_PATTERN_TEXT = 5_000
"""Longer texts never meet a pattern, so that no answer can make one run for long."""


def fits(wanted: Expectation, value: Any, sites: Sites) -> Match:
    if wanted.anything:
        return Match(True, "any value is accepted")
    if wanted.any_of:
        return _one_of(wanted.any_of, value, sites)
    if wanted.pattern:
        return _pattern(wanted, value, sites)
    if wanted.items is not None:
        return _list(wanted.items, value, wanted.ordered, sites)
    if wanted.fields is not None:
        return _object(wanted.fields, value, sites)
    if wanted.same_as:
        raise GradingError(f"same_as {wanted.same_as!r} can be used only for rows.")
    if isinstance(value, str) and wanted.type != "url":
        value = sites.mask(value)
    slack = Slack(wanted.tolerance.absolute, wanted.tolerance.relative) if wanted.tolerance else Slack()
    try:
        return compare(
            wanted.type, wanted.value, value, slack=slack, currency=wanted.currency, unit=wanted.unit, sites=sites
        )
    except UnreadableValue as problem:
        raise GradingError(f"The key {shown(wanted.value)} cannot be read as {wanted.type}: {problem}.") from None


def _one_of(choices: Sequence[Expectation], value: Any, sites: Sites) -> Match:
    misses = []
    for choice in choices:
        match = fits(choice, value, sites)
        if match:
            return match
        misses.append(match.reason)
    return Match(False, f"none of the {len(choices)} accepted values: {'; '.join(misses)[:400]}")


def _pattern(wanted: Expectation, value: Any, sites: Sites) -> Match:
    """The whole text must match, either as given or as it is compared."""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return Match(False, f"it is {described(value)}, not text")
    text = str(value) if not isinstance(value, int) or value.bit_length() < 1000 else ""
    if len(text) > _MAX_PATTERN_TEXT:
        return Match(False, f"it is longer than {_MAX_PATTERN_TEXT} characters")
    try:
        forms = _forms(wanted.type, text, sites)
    except UnreadableValue as problem:
        return Match(False, f"{shown(value)} cannot be read: {problem}")
    flags = re.DOTALL if wanted.type == "base64" else re.IGNORECASE | re.DOTALL
    if any(matches(wanted.pattern, form, flags) for form in forms):
        return Match(True, f"{shown(value)} matches {wanted.pattern!r}")
    return Match(False, f"{shown(value)} does not match {wanted.pattern!r}")


def _forms(type: str, text: str, sites: Sites) -> tuple[str, ...]:
    if type == "base64":
        return (read_base64(text),)
    if type == "url":
        return (sites.locate(text).page,)
    masked = sites.mask(text)
    return (fold(masked), read_string(masked), masked.strip())


def _list(wanted: Sequence[Expectation], value: Any, ordered: bool, sites: Sites) -> Match:
    if not isinstance(value, list | tuple):
        return Match(False, f"{shown(value)} is {described(value)}, not a list")
    if len(value) != len(wanted):
        return Match(False, f"{len(value)} elements, not {len(wanted)}{_odd_ones(wanted, value, sites)}")
    if ordered:
        for position, (one, given) in enumerate(zip(wanted, value, strict=True), 1):
            match = fits(one, given, sites)
            if not match:
                return Match(False, f"element {position}: {match.reason}")
        return Match(True, f"all {len(wanted)} elements, in order")
    if all(fits(one, given, sites) for one, given in zip(wanted, value, strict=True)):
        return Match(True, f"all {len(wanted)} elements")  # the key's own order is the likeliest, and cheap to try
    pairs = assign(wanted, value, lambda one, given: fits(one, given, sites).ok)
    if len(pairs) == len(wanted):
        return Match(True, f"all {len(wanted)} elements, in another order")
    return Match(
        False,
        f"{len(wanted) - len(pairs)} of {len(wanted)} elements have no match" + _gap(wanted, value, pairs, sites),
    )


_SMALL = 30


def _odd_ones(wanted: Sequence[Expectation], value: Sequence[Any], sites: Sites) -> str:
    """Names missing and surplus elements, for people; skipped for long lists, where it would take time."""
    if len(wanted) > _SMALL or len(value) > _SMALL:
        return ""
    pairs = assign(wanted, value, lambda one, given: fits(one, given, sites).ok)
    surplus = [shown(given, 60) for position, given in enumerate(value) if position not in pairs.values()]
    missing = [_said(one) for position, one in enumerate(wanted) if position not in pairs]
    return (f"; surplus: {', '.join(surplus)[:200]}" if surplus else "") + (
        f"; missing: {', '.join(missing)[:200]}" if missing else ""
    )


def _gap(wanted: Sequence[Expectation], value: Sequence[Any], pairs: dict[int, int], sites: Sites) -> str:
    missing = next(one for position, one in enumerate(wanted) if position not in pairs)
    left = next(given for position, given in enumerate(value) if position not in pairs.values())
    return f"; missing {_said(missing)}, left over {shown(left, 80)} ({fits(missing, left, sites).reason[:300]})"


def _said(wanted: Expectation) -> str:
    return shown(plain(wanted), 80)


def _object(wanted: dict[str, Expectation], value: Any, sites: Sites) -> Match:
    if isinstance(value, str):
        try:
            value = parse_json(value)
        except UnreadableValue:
            return Match(False, f"{shown(value)} is text, not an object")
    if not isinstance(value, dict):
        return Match(False, f"{shown(value)} is {described(value)}, not an object")
    missing = sorted(wanted.keys() - value.keys())
    surplus = sorted(str(key) for key in value.keys() - wanted.keys())
    if missing or surplus:
        return Match(False, f"keys missing: {missing or 'none'}, surplus: {shown(surplus, 100) if surplus else 'none'}")
    for key, one in wanted.items():
        match = fits(one, value[key], sites)
        if not match:
            return Match(False, f"{key}: {match.reason}")
    return Match(True, f"all {len(wanted)} fields")


def plain(wanted: Expectation) -> Any:
    """The expectation as a plain value, for findings."""
    if wanted.anything:
        return "(anything)"
    if wanted.any_of:
        return {"any_of": [plain(one) for one in wanted.any_of]}
    if wanted.pattern:
        return {"pattern": wanted.pattern}
    if wanted.items is not None:
        return [plain(one) for one in wanted.items]
    if wanted.fields is not None:
        return {key: plain(one) for key, one in wanted.fields.items()}
    if wanted.same_as:
        return {"same_as": wanted.same_as}
    return wanted.value
