"""Days and months as people write them."""

import re
from datetime import date

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")


def days_in_words(text: str) -> str:
    """2026-03-01 is March 1, 2026."""
    return _DAY.sub(_spoken, text)


def _spoken(found: re.Match[str]) -> str:
    day = date.fromisoformat(found[0])
    return f"{MONTHS[day.month - 1]} {day.day}, {day.year}"
