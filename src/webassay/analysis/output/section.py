"""One table of a result, with what is said about it."""

from collections.abc import Sequence
from typing import NamedTuple

Cells = Sequence[Sequence[str]]


class Section(NamedTuple):
    title: str
    headings: Sequence[str]
    rows: Cells
    note: str = ""
    narrow: tuple[int, ...] | None = None
    """The columns that fit a terminal; None: all of them."""
    picture: str = ""
    """HTML of ours, for a page."""
    lines: bool = False
    """Cells may have several lines: names in them are on one."""
