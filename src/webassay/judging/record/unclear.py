"""Numbers and dates on pages in forms that cannot be read for sure: `5 Jan` without a year, `1.234`, `1.5 lakh`.

A value that may be one of these may have stood there, so that it was seen nowhere is no more than a suspicion.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property

from webassay.compare import KINDS, UnreadableValue
from webassay.core.record import Json
from webassay.judging.record.readings import DATES, GAP, MONTH, ORDINAL, PagesRead, claimed_numbers, read_date, words_of

DatePart = tuple[int | None, int | None, int | None]
"""Year, month and day; None where any would do."""

_LARGE = 1000
"""A plain number from here on seldom stands on a page by chance."""
_MOST_ZEROS = 12
_SHORT_CODE = 4
_LONG_CODE = 8
"""Characters from which on a run without spaces is no accident; of digits alone it takes more."""


@dataclass(frozen=True)
class Unclear:
    pages: PagesRead

    def may_hold(self, value: Json) -> bool:
        text = str(value)
        if self._holds_run_together(text):
            return True
        try:
            return self._may_hold_date(read_date(text))
        except UnreadableValue:
            numbers = claimed_numbers(text)
        share = tuple(number / 100 for number in numbers) if "%" in text else ()
        return any(self._may_hold_number(number) for number in (*numbers, *share))

    def _holds_run_together(self, text: str) -> bool:
        """An account number in groups of four, a name without its space, a version with a v before it."""
        wanted = "".join(words_of(text)).replace(".", "")
        is_code = len(wanted) >= (_LONG_CODE if wanted.isdecimal() else _SHORT_CODE)
        return is_code and any(wanted in words for words in self.run_together)

    @cached_property
    def run_together(self) -> tuple[str, ...]:
        return tuple("".join(words).replace(".", "") for words in self.pages.sequences)

    def _may_hold_date(self, day: date) -> bool:
        wanted = (day.year, day.month, day.day)
        return any(
            all(part is None or part == own for part, own in zip(known, wanted, strict=True)) for known in self.dates
        )

    def _may_hold_number(self, number: Decimal) -> bool:
        # An amount of a column whose heading has the currency.
        as_plain_number = number >= _LARGE and number in self.pages.numbers
        return as_plain_number or number in self.numbers or not self.digits.isdisjoint(_digits_of(number))

    @cached_property
    def numbers(self) -> frozenset[Decimal]:
        found = {written for text in self.pages.texts for written in _ODD_NUMBER.findall(text)}
        return frozenset(number for written in found if (number := _read_number(written)) is not None)

    @cached_property
    def digits(self) -> frozenset[str]:
        return frozenset(digits for text in self.pages.texts for digits in _digits_in(text))

    @cached_property
    def dates(self) -> frozenset[DatePart]:
        return frozenset(part for text in self.pages.texts for part in _dates_in(text))


# --- numbers --------------------------------------------------------------------------------------------

_WORD = (
    "(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    "|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million"
    "|billion|trillion)"
)
_ODD_NUMBER = re.compile(
    rf"\b{_WORD}(?:[ -](?:and |point )?{_WORD}\b)*"
    r"|(?<![\d/])(?:\d{1,9} )?\d{1,6} ?[/⁄] ?\d{1,6}(?![\d/])|\d{0,9} ?[¼-¾⅐-⅞]"
    r"|(?<!\d)\d{1,15}(?:[.,]\d{1,9})? ?%|(?<!\d)\d{1,15}(?:\.\d{1,9})?e[+-]?\d{1,3}\b",
    re.IGNORECASE,
)
"""Numbers in words, fractions, shares, powers of ten."""
_MARKED = re.compile(r"(?<!\d)\d{1,4}(?:[.,]\d{3,4})+(?!\d)|(?<!\d)\d+(?:['’·٫٬_]\d+)+(?:[.,]\d+)?")
"""A mark before three or four digits may group them or begin the decimals; other marks may mean anything."""
_OTHER_SCALE = re.compile(
    r"(?<!\d)(\d{1,15}(?:[.,]\d{1,9})?)"
    r" ?(?:lakhs?|lacs?|crores?|mio|mln|mrd|mlrd|tsd|tys|dozen|hundred|[万萬億亿천만억])(?![a-z])",
    re.I,
)


def _read_number(written: str) -> Decimal | None:
    try:
        number: Decimal = KINDS["number"].read(written.strip()).value
    except UnreadableValue:
        return None
    return number.normalize()


def _digits_in(text: str) -> Iterator[str]:
    for written in _MARKED.findall(text):
        yield re.sub(r"\D", "", written).lstrip("0")
    for written in _OTHER_SCALE.findall(text):
        digits = re.sub(r"\D", "", written).lstrip("0")
        yield from (digits + "0" * zeros for zeros in range(_MOST_ZEROS))


def _digits_of(number: Decimal) -> set[str]:
    # Not `number % 1`: that raises from 29 digits on.
    forms = {f"{number:f}"} if number == number.to_integral_value() else {f"{number:f}", f"{number:.2f}"}
    return {form.replace(".", "").lstrip("0") for form in forms}


# --- dates ----------------------------------------------------------------------------------------------

_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_EITHER_ORDER = re.compile(r"(?<!\d)(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}|\d{2})(?!\d)")
_RUN_TOGETHER = re.compile(r"(?<!\d)((?:19|20)\d\d)(\d\d)(\d\d)(?!\d)")
_IDEOGRAPHIC = re.compile(r"(?:(\d{4}) ?[年년] ?)?(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日일]")
_RANGE = re.compile(
    rf"\d{{1,2}}{ORDINAL} ?(?:[-–—]|to|and|&) ?\d{{1,2}}{ORDINAL}{GAP}(?:of )?({MONTH})\b"
    rf"|\b({MONTH})\.?{GAP}\d{{1,2}}{ORDINAL} ?(?:[-–—]|to|and|&) ?\d{{1,2}}(?!\d)",
    re.I,
)
_DAY_FIRST = re.compile(rf"(?<!\d)(\d{{1,2}}){ORDINAL}\.?{GAP}(?:of )?({MONTH})\b", re.I)
_MONTH_FIRST = re.compile(rf"\b({MONTH})\.?{GAP}(\d{{1,2}}){ORDINAL}(?!\d)", re.I)
_IN_FIGURES = re.compile(r"(?<![\d/])(\d{1,2})/(\d{1,2})(?![\d/])|(?<![\d.])(\d{1,2})\.(\d{1,2})\.(?!\d)")
_OTHER_LANGUAGE = re.compile(r"(?<!\d)(\d{1,2})[.º]? (?:de )?[^\W\d_]{3,12}\.?,? (?:de )?(\d{4})(?!\d)")
_RELATIVE = re.compile(
    r"\b\d+ (?:min(?:ute)?|hour|day|week)s? ago\b|^an? (?:hour|day|week) ago\b|^(?:today|yesterday|tomorrow)\b",
    re.I | re.M,
)
_CALENDAR = re.compile(rf"^({MONTH}) (\d{{4}})$", re.I | re.M)
_CELL = re.compile(r"^\d{1,2}$", re.M)


def _dates_in(text: str) -> Iterator[DatePart]:
    for first, second, year in _EITHER_ORDER.findall(text):
        yield from ((_year(year), int(month), int(day)) for month, day in ((first, second), (second, first)))
    for found in (*_RUN_TOGETHER.findall(text), *_IDEOGRAPHIC.findall(text)):
        year, month, day = found
        yield int(year) if year else None, int(month), int(day)
    for before, after in _RANGE.findall(text):
        yield None, _month(before or after), None
    yield from _without_year(DATES.sub(" ", text))
    if _RELATIVE.search(text):
        yield None, None, None
    cells = [int(cell) for cell in _CELL.findall(text)]
    for name, year in _CALENDAR.findall(text) if cells else ():
        yield from ((int(year), _month(name), cell) for cell in cells)


def _without_year(rest: str) -> Iterator[DatePart]:
    """In what is left of a text without its full dates."""
    for day, name in _DAY_FIRST.findall(rest):
        yield None, _month(name), int(day)
    for name, day in _MONTH_FIRST.findall(rest):
        yield None, _month(name), int(day)
    for figures in _IN_FIGURES.findall(rest):
        one, other = (int(figure) for figure in figures if figure)
        yield from ((None, one, other), (None, other, one))
    for day, year in _OTHER_LANGUAGE.findall(rest):
        yield int(year), None, int(day)


def _year(written: str) -> int:
    year = int(written)
    return year if year >= 100 else year + (1900 if year >= 69 else 2000)


def _month(name: str) -> int:
    return _NAMES.index(name[:3].casefold()) + 1
