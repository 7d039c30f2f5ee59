"""Words, numbers, amounts and dates as they stand in texts, and whether a value is among them however it is written."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import cached_property
from urllib.parse import unquote_plus

from webassay.compare import KINDS, Unreadable, fold
from webassay.core.interaction import Goal
from webassay.core.record import Json
from webassay.core.trajectory import BlobRef, Blobs, RecordedObservation, Trajectory

ReadPicture = Callable[[bytes], str]

_MAX_TEXT = 2_000_000
_WINDOW_SLACK = 4
_WORD = re.compile(r"[^\W_]+(?:\.\d+)?")
_NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d])|\d+(?:\.\d+)?")
MONEY = re.compile(r"[$€£¥]\s?\d[\d,]*(?:\.\d+)?|\d[\d,]*(?:\.\d+)?\s?[$€£¥]|\b\d[\d,]*\.\d{2}\b")
_LONG_NUMBER = re.compile(r"([\d,.]{60})[\d,.]+")
"""No amount is that long, and looking for amounts in a run of digits takes quadratic time."""
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
DATES = re.compile(
    rf"\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}}"
    rf"|{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}\.?,? \d{{4}}",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")


@dataclass
class Pages:
    """The words, numbers and dates of everything the agent could read."""

    texts: list[str] = field(default_factory=list)
    complete: bool = True
    """Every page was recorded, with its text."""

    @classmethod
    def of(cls, goal: Goal, trajectory: Trajectory, blobs: Blobs, read_picture: ReadPicture | None) -> "Pages":
        pages = cls([goal.instruction, *goal.hints, *goal.start_urls])
        seen = [step.seen for step in trajectory.steps]
        if trajectory.last_seen is not None:
            seen.append(trajectory.last_seen)
        known: set[str] = set()
        for page in seen:
            pages._add(page, blobs, read_picture, known)
        # Between two actions of one step, a page can come and go unrecorded.
        pages.complete = pages.complete and bool(seen) and all(len(step.actions) <= 1 for step in trajectory.steps)
        return pages

    def _add(self, page: RecordedObservation, blobs: Blobs, read_picture: ReadPicture | None, known: set[str]) -> None:
        self.texts += [unquote_plus(page.url), page.title, page.last_error, *page.notices]
        if page.text is None and page.tree is None:
            self.complete = False
            if read_picture is not None and page.screenshot is not None and page.screenshot.hash not in known:
                known.add(page.screenshot.hash)
                self.texts.append(read_picture(blobs.read(page.screenshot)))
        for ref, is_tree in ((page.text, False), (page.tree, True)):
            if ref is not None and ref.hash not in known:
                known.add(ref.hash)
                text = _decoded(blobs, ref)
                self.texts.append(_names(text) if is_tree else text)

    @cached_property
    def words(self) -> str:
        """All words in order, each between two spaces. A mark that is no word separates the pages."""
        return " \n ".join(f" {' '.join(words_of(text))} " for text in self.texts)

    @cached_property
    def sequences(self) -> list[list[str]]:
        return [words_of(text) for text in self.texts]

    @cached_property
    def numbers(self) -> frozenset[Decimal]:
        return frozenset(number for text in self.texts for number in numbers_in(text))

    @cached_property
    def amounts(self) -> frozenset[Decimal]:
        """Numbers written as money: with a currency sign, or with two decimals."""
        return frozenset(number for text in self.texts for number in amounts_in(text))

    @cached_property
    def dates(self) -> frozenset[date]:
        return frozenset(day for text in self.texts for day in dates_in(text))

    def hold_text(self, value: str) -> bool:
        wanted = words_of(value)
        if not wanted:
            return True
        return f" {' '.join(wanted)} " in self.words or self._hold_nearby(wanted)

    def _hold_nearby(self, wanted: Sequence[str]) -> bool:
        """The same words close together, in any order: `Lopez, Emma` for `Emma Lopez`."""
        if len(wanted) < 2 or not all(f" {word} " in self.words for word in wanted):
            return False
        need = Counter(wanted)
        width = len(wanted) + _WINDOW_SLACK
        return any(
            need <= Counter(sequence[at : at + width])
            for sequence in self.sequences
            for at, word in enumerate(sequence)
            if word in need
        )


def _decoded(blobs: Blobs, ref: BlobRef) -> str:
    return blobs.read(ref)[:_MAX_TEXT].decode("utf-8", "replace")


def _names(tree: str) -> str:
    """The quoted names and values of an accessibility tree, without roles and element ids."""
    found = [one or other for one, other in _QUOTED.findall(tree)]
    return "\n".join(re.sub(r"\\(.)", r"\1", name) for name in found) if found else tree


def words_of(text: str) -> list[str]:
    try:
        return _WORD.findall(fold(text[:_MAX_TEXT]))
    except Unreadable:
        return _WORD.findall(text.casefold())


def numbers_in(text: str) -> Iterator[Decimal]:
    for found in _NUMBER.findall(text):
        try:
            yield Decimal(found.replace(",", "")).normalize()
        except InvalidOperation:
            continue


def without_long_runs(text: str) -> str:
    """Without the rest of digits and commas that go on for more than a line: nobody writes such an amount, and a search
    in them takes for ever."""
    return _LONG_NUMBER.sub(r"\1", text)


def amounts_in(text: str) -> Iterator[Decimal]:
    for found in MONEY.findall(without_long_runs(text)):
        yield from numbers_in(found)


def read_date(text: str) -> date:
    """Raises Unreadable."""
    day: date = KINDS["date"].read(text)
    return day


def dates_in(text: str) -> Iterator[date]:
    for found in DATES.findall(text):
        try:
            yield read_date(found)
        except Unreadable:
            continue


# --- a value among them ---------------------------------------------------------------------------------

_NOT_A_VALUE = frozenset(("", "yes", "no", "true", "false", "none", "null", "n a"))


def stood(value: Json, pages: Pages) -> bool:
    """Whether the value was on a page, however it is written."""
    if isinstance(value, int | float):
        return _number_of(str(value)) in pages.numbers
    text = str(value)
    is_amount = MONEY.fullmatch(text.strip()) is not None and bool(pages.amounts)
    if " ".join(words_of(text)) in _NOT_A_VALUE or (not is_amount and pages.hold_text(text)):
        return True
    try:
        return read_date(text) in pages.dates
    except Unreadable:
        pass
    found = list(numbers_in(text))
    letters = re.sub(r"[\d.,$€£¥%+\-\s]", "", text)
    if len(found) != 1 or len(letters) > 5:
        return False
    # An amount must have stood there as an amount: a "7" among the page's other numbers is not "$7.00".
    return found[0] in (pages.amounts if MONEY.search(text) and pages.amounts else pages.numbers)


def _number_of(text: str) -> Decimal:
    try:
        return abs(Decimal(text)).normalize()
    except InvalidOperation:
        return Decimal("NaN")


def is_date(text: str) -> bool:
    try:
        read_date(text)
    except Unreadable:
        return False
    return True
