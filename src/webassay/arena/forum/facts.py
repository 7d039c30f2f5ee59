"""What an honest solver has had in front of them, for the facts of keys: cells of the site's tables."""

from collections.abc import Iterable, Sequence

from webassay.arena.kit.key import Key
from webassay.core.task import PagePattern
from webassay.sites.kit import Row

SAMPLE = 60
"""How many rows of a very long list stand for all of it."""


def spread(found: Sequence[Row]) -> Sequence[Row]:
    """Evenly: who has read the list has read these."""
    return found if len(found) <= SAMPLE else [found[place * len(found) // SAMPLE] for place in range(SAMPLE)]


def listed(found: Sequence[Row], column: str) -> Key:
    """Read in the list of submissions, or on their own pages."""
    return Key.read_rows("submissions", [one["id"] for one in spread(found)], column)


def said(found: Sequence[Row], column: str = "score") -> Key:
    """Read in the thread, or among what a person has said."""
    return Key.read_rows("comments", [one["id"] for one in spread(found)], column)


def introduced(numbers: Iterable[int]) -> Key:
    """On each person's own page."""
    return Key.read_rows("users", numbers, "created_at")


def counted(found: Sequence[Row]) -> Key:
    """Forums in the directory, or opened one by one."""
    return Key.read_rows("forums", [one["id"] for one in found])


def at(name: str, *paths: str) -> Key:
    """A checkpoint."""
    return Key.checkpoint(name, *(PagePattern(site="forum", path=path) for path in paths))
