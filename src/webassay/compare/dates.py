"""Dates and months. Nothing is ever filled in from today's date."""

import re
from datetime import date
from typing import NamedTuple

from webassay.compare.match import Slack, UnreadableValue, ValueKind, bounded, described
from webassay.compare.text import fold

_MONTHS = [
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
]  # fmt: skip
_NUMBER_OF = {name: n for n, name in enumerate(_MONTHS, 1)} | {name[:3]: n for n, name in enumerate(_MONTHS, 1)}
_NUMBER_OF |= {"sept": 9}
_NAME = "|".join(sorted(_NUMBER_OF, key=len, reverse=True))
_WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,? )?"
_TIME = (
    r"(?:[ t,]+(?:at )?\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)? ?(?:[ap]\.?m\.?)?"
    r"(?: ?(?:z|utc|gmt|[+-]\d{2}:?\d{2}))?)?"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4}|'?\d{2})"
_FORMS = tuple(
    re.compile(_WEEKDAY + form + _TIME, re.ASCII)
    for form in (
        r"(?P<year>\d{4})(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)" + r"(?P<day>\d{1,2})",
        r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})",
        rf"(?P<name>{_NAME})\.?,?[ -]?{_DAY},?[ -]?{_YEAR}",
        rf"{_DAY}[ -]?(?:of )?(?P<name>{_NAME})\.?,?[ -]?{_YEAR}",
        rf"(?P<year>\d{{4}}),? (?P<name>{_NAME})\.?,? {_DAY}",
        rf"(?P<a>\d{{1,2}})(?P<sep>[-/.])(?P<b>\d{{1,2}})(?P=sep){_YEAR}",
    )
)


def _prepared(value: object) -> str:
    if not isinstance(value, str):
        raise UnreadableValue(f"it is {described(value)}")
    if len(bounded(value)) > 100:
        raise UnreadableValue("it is too long for a date")
    # fold() turns the dash in `15-Jan-2023` into a space, which the forms below allow for.
    return fold(value).strip("'\".,;:!? ")


def read_date(value: object) -> date:
    text = _prepared(value)
    for form in _FORMS:
        found = form.fullmatch(text)
        if found:
            return _date(found.groupdict())
    raise UnreadableValue("it is not a full date")


def _date(parts: dict[str, str | None]) -> date:
    year = int((parts["year"] or "").lstrip("'"))
    if year < 100:
        year += 1900 if year >= 69 else 2000
    if parts.get("name"):
        month, day = _NUMBER_OF[str(parts["name"])], int(parts["day"] or 0)
    elif parts.get("month"):
        month, day = int(parts["month"] or 0), int(parts["day"] or 0)
    else:
        # With dots, the day comes first (31.12.2023); with slashes the month does, unless it cannot be one.
        month, day = int(parts["a"] or 0), int(parts["b"] or 0)
        if parts["sep"] == "." or month > 12:
            month, day = day, month
    try:
        return date(year, month, day)
    except ValueError:
        raise UnreadableValue("there is no such day") from None


def _equal(a: date, b: date, slack: Slack) -> bool:
    """The tolerance is in days."""
    return abs((a - b).days) <= slack.absolute


DATE = ValueKind("date", read_date, _equal)


class Month(NamedTuple):
    month: int
    year: int | None = None

    def __str__(self) -> str:
        return _MONTHS[self.month - 1].capitalize() + (f" {self.year}" if self.year else "")


_MONTH_FORMS = tuple(
    re.compile(form, re.ASCII)
    for form in (
        rf"(?P<name>{_NAME})\.?,? ?(?:of )?(?P<year>\d{{4}})?",
        rf"(?P<year>\d{{4}})[ -]?(?P<name>{_NAME})",
        r"(?P<year>\d{4})[-/](?P<month>\d{1,2})",
        r"(?P<month>\d{1,2})[-/](?P<year>\d{4})",
        r"(?P<month>\d{1,2})",
    )
)


def read_month(value: object) -> Month:
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(int(value)) if value == value // 1 and 1 <= value <= 12 else "0"
    text = _prepared(value)
    for form in _MONTH_FORMS:
        found = form.fullmatch(text)
        if found:
            parts = found.groupdict()
            month = _NUMBER_OF[parts["name"]] if parts.get("name") else int(parts["month"])
            if not 1 <= month <= 12:
                raise UnreadableValue("there is no such month")
            return Month(month, int(parts["year"]) if parts.get("year") else None)
    day = read_date(value)
    return Month(day.month, day.year)


def _same_month(a: Month, b: Month, _: Slack) -> bool:
    return a.month == b.month and (a.year is None or b.year is None or a.year == b.year)


MONTH = ValueKind("month", read_month, _same_month)
