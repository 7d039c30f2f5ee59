"""What every result turns itself into to be shown: sections, each one table with what is said about it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

Cells = Sequence[Sequence[str]]


class Section(NamedTuple):
    title: str
    headings: Sequence[str]
    rows: Cells
    note: str = ""
    narrow: tuple[int, ...] | None = None
    """The columns that fit a terminal; None: all of them; empty: it is too long for one."""
    picture: str = ""
    """HTML of ours, for a page."""
    lines: bool = False
    """Cells may have several lines: names in them are on one."""


@dataclass(frozen=True)
class Document:
    """A result as sections."""

    title: str
    sections: Sequence[Section]
    json: str
    """The same as data."""
    spreadsheet: Section | None = None
    """The same as rows, where the last of the sections is not that."""
