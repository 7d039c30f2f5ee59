"""How posts are ranked. All of it is whole numbers, so that every machine sorts alike."""

from datetime import UTC, datetime

HOURS_PER_DOUBLING = 6
"""How much longer a post stays hot for each doubling of its score."""


def hot(score: int, created_at: str) -> int:
    """Its time of creation in seconds, six hours later for each binary digit of its score, or earlier if negative."""
    created = int(datetime.fromisoformat(created_at).replace(tzinfo=UTC).timestamp())
    digits = abs(score).bit_length()
    return created + (digits if score > 0 else -digits) * HOURS_PER_DOUBLING * 3600


CONTROVERSY = "(ups + downs) * 1000 * min(ups, downs) / max(ups, downs, 1)"
"""Many votes, and as many up as down: SQL, of a post."""
