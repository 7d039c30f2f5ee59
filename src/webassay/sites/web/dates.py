"""Times as the sites store and show them."""

import re
from contextlib import suppress
from datetime import UTC, date, datetime


def stamp(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds // 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def long_date(text: str) -> str:
    """'2026-02-03 ...' as 'February 3, 2026'."""
    moment = datetime.fromisoformat(text[:10])
    return f"{moment.strftime('%B')} {moment.day}, {moment.year}"


def short_date(text: str) -> str:
    """'2026-02-03 ...' as 'Feb 3, 2026'."""
    moment = datetime.fromisoformat(text[:10])
    return f"{moment.strftime('%b')} {moment.day}, {moment.year}"


def short_time(text: str) -> str:
    """'2026-02-03 14:05:00' as 'Feb 3, 2026 2:05 PM'."""
    moment = datetime.fromisoformat(text)
    return f"{short_date(text)} {moment.hour % 12 or 12}:{moment.minute:02d} {'PM' if moment.hour >= 12 else 'AM'}"


def read_date(text: str) -> str | None:
    """'2026-02-03' and '2/3/2026' as the first; None if it is neither."""
    with suppress(ValueError):
        if found := re.fullmatch(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", text):
            return date(*map(int, found.groups())).isoformat()
        if found := re.fullmatch(r"([0-9]{1,2})/([0-9]{1,2})/([0-9]{4})", text):
            month, day, year = map(int, found.groups())
            return date(year, month, day).isoformat()
    return None
