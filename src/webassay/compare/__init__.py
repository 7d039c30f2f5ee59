"""Typed comparators: pure functions that say whether an answer equals the value in the key, and why.

The first argument is always the key's, the second the agent's. The agent's value is a literal: it is never compiled as
a pattern, read as a list of alternatives, or evaluated. Tolerances are arguments (`Slack`); none is built in.
docs/checks.md lists what each type accepts.
"""

from webassay.compare.assign import assign, matching
from webassay.compare.dates import DATE, MONTH
from webassay.compare.match import EXACT, Match, Slack, UnreadableValue, ValueKind, compared, described, shown
from webassay.compare.places import COORDINATES, FULL_ADDRESS
from webassay.compare.quantities import CURRENCY, DISTANCE, DURATION, NUMBER, in_currency, number_in
from webassay.compare.text import (
    BASE64,
    BOOLEAN,
    JSON,
    LOCATION_NAME,
    MARKDOWN,
    NULL,
    STRING,
    STRING_LIST,
    depth,
    fold,
    parse_json,
)
from webassay.compare.urls import Location, Sites, same_page, with_decoded_path

KINDS: dict[str, ValueKind] = {
    "string": STRING,
    "number": NUMBER,
    "currency": CURRENCY,
    "date": DATE,
    "month": MONTH,
    "duration": DURATION,
    "distance": DISTANCE,
    "coordinates": COORDINATES,
    "boolean": BOOLEAN,
    "full_address": FULL_ADDRESS,
    "location_name": LOCATION_NAME,
    "string_list": STRING_LIST,
    "json": JSON,
    "markdown": MARKDOWN,
    "base64": BASE64,
    "null": NULL,
}
"""Every scalar type except `url`, which depends on the sites: see `Sites(...).kind`."""


def compare(
    type: str,
    expected: object,
    actual: object,
    *,
    slack: Slack = EXACT,
    currency: str = "",
    unit: str = "",
    sites: Sites | None = None,
) -> Match:
    """Compares two values as a type in `KINDS`, or as `url`. A key that cannot be read raises `UnreadableValue`."""
    if type == "number" and unit:
        return compared(number_in(unit), expected, actual, slack)
    if type == "url":
        return compared((sites or Sites()).kind, expected, actual, slack)
    if type == "currency" and currency:
        wanted = in_currency(CURRENCY.read(expected), currency)
        money = CURRENCY._replace(read=lambda value: wanted if value is wanted else CURRENCY.read(value))
        return compared(money, wanted, actual, slack)
    return compared(KINDS[type], expected, actual, slack)


__all__ = [
    "EXACT",
    "KINDS",
    "Location",
    "Match",
    "Sites",
    "Slack",
    "UnreadableValue",
    "ValueKind",
    "assign",
    "compare",
    "compared",
    "depth",
    "described",
    "fold",
    "matching",
    "parse_json",
    "same_page",
    "shown",
    "with_decoded_path",
]
