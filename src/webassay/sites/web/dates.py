"""Times as the sites store and show them."""

from datetime import UTC, datetime


def stamp(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds // 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def long_date(text: str) -> str:
    """'2026-02-03 ...' as 'February 3, 2026'."""
    moment = datetime.fromisoformat(text[:10])
    return f"{moment.strftime('%B')} {moment.day}, {moment.year}"
