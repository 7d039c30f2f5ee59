"""The notes once more, under another name: for episodes that are played on two sites."""

import dataclasses
import itertools

import apsw

from tests.sites import notes_site

SITE = dataclasses.replace(notes_site.SITE, name="other_notes", start_time=notes_site.SITE.start_time + 60)


def _seed_slowly(db: apsw.Connection, number: int) -> None:
    """A second or so of pure Python."""
    assert sum(1 for _ in itertools.product(range(3000), range(3000)) if _) == 9_000_000
    notes_site.seed(db, number)


SLOW = dataclasses.replace(notes_site.SITE, name="slow_notes", seed=_seed_slowly)
