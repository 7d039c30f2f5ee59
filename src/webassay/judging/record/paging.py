"""What a page says of how much there is and whether it goes on: a pager, `Reviews 1-10 of 36`, `9,372 orders found`.

Whether everything was seen hangs on these lines, so they are told with the main content of a page, and kept where most
of its lines are left out.
"""

import re
from collections.abc import Iterable, Sequence

PAGER = "Pages to turn to: "
"""How the line of a pager begins."""

_LONGEST = 120
_NUMBERED = re.compile(r"(?:(?:page|seite|página|pagina) )?\d{1,6}", re.IGNORECASE)
"""Not any word: menus have `Orders 3` and `January 2024`."""
_BETWEEN = re.compile(r"(?:page|(?:of|/) ?\d[\d,.]*)?", re.IGNORECASE)
"""Around a field for the number: `Page [2] of 9`."""
_UNTOLD = re.compile(r"(?:pages?|pagination|pager)\b.*", re.IGNORECASE)
_TURNS = re.compile(
    r"\W*(?:go to )?(?:the )?(?:next|previous|prev|older|newer|first|last|back|forward)"
    r"(?: (?:page|results|posts|entries))?\W*|[‹›«»←→<>…. ]+",
    re.IGNORECASE,
)
_EXTENT = re.compile(
    r"\d\s*(?:-|–|—|to|through)\s*\d[\d,.]*\s*(?:of|out of|from|/)\s*(?:about |over )?\d"
    r"|\bpage\s+\d+\s*(?:of|/)\s*\d|\bshowing\b.*\d"
    r"|\b\d[\d,.]*\s+(?:[^\W\d]+\s+){0,2}(?:found\W*$"
    r"|(?:in all|in total|total|results?|matches|hits|entries|records|rows)\b)"
    r"|^(?:link|button) '\W*(?:next|older|load more|show more|more results|see more|view more)\b",
    re.IGNORECASE,
)


_RANGE = re.compile(
    r"(?<![\d.,$])(\d[\d,]*)\s*(?:-|–|—|to|through)\s*(\d[\d,]*)\s*(?:of|out of)\s*(\d[\d,]*)(?![.,]?\d)", re.IGNORECASE
)


def turns_pages(names: Sequence[str]) -> bool:
    """Whether the parts of a navigation are those of a pager: numbers, and ways to the next and the previous page."""
    numbers = sum(map(is_numbered, names))
    ways = sum(_TURNS.fullmatch(name) is not None for name in names)
    others = sum(_BETWEEN.fullmatch(name) is None for name in names) - numbers - ways
    return (numbers > 1 or ways > 0) and numbers + ways >= others


def pager_of(label: str, parts: Iterable[str]) -> str:
    """One line; the label says which list goes on, unless it only says that it is a pager."""
    told = f" ({label})" if label and not _UNTOLD.fullmatch(label) else ""
    return f"{PAGER}{', '.join(parts)}{told}"


def is_numbered(name: str) -> bool:
    """`7`, or `Page 7`."""
    return _NUMBERED.fullmatch(name) is not None


def tells_extent(line: str) -> bool:
    return line.startswith(PAGER) or (len(line) <= _LONGEST and _EXTENT.search(line) is not None)


def extent_in(line: str) -> tuple[int, int, int] | None:
    """`Orders 11 to 20 of 305` as (11, 20, 305)."""
    found = _RANGE.search(line[:_LONGEST])
    if found is None:
        return None
    first, last, total = (int(number.replace(",", "")) for number in found.groups())
    return (first, last, total) if 1 <= first <= last <= total else None
