"""Words, numbers, amounts and dates as they stand in texts, and whether a value is among them however it is written."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import cached_property, lru_cache
from urllib.parse import unquote_plus

from webassay.compare import KINDS, UnreadableValue, fold
from webassay.core.interaction import Goal, tells_of_a_gap
from webassay.core.record import Json
from webassay.core.trajectory import BlobRef, Blobs, RecordedObservation, Step, Trajectory
from webassay.judging.record.pages import unquoted

ReadPicture = Callable[[bytes], str]

_MAX_TEXT = 2_000_000
_WINDOW_SLACK = 4
_WORD = re.compile(r"[^\W_]+(?:\.\d+)?")
_SPACE = r"[ \u00a0\u2009\u202f]"
_NUMERAL = rf"\d{{1,3}}(?:{_SPACE}\d{{3}}(?!\d))+(?:[.,]\d+)?|\d+(?:[.,'’]\d+)*"
_SCALE = rf"(?i:{_SPACE}?(?:k|m|mn|b|bn|thousand|million|billion|trillion)\b)?"
_NUMBER = re.compile(f"({_NUMERAL})({_SCALE})")
_PIECE = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3}){1,10}(?:\.\d+)?(?![\d])|\d+(?:\.\d+)?")
_LONGEST_NUMERAL = 60
_MOST_GROUPS = 4
_SIGN = "[$€£¥]"
_CURRENCY = (
    "(?:[$€£¥₹₩₽₺₪₫฿₱₴]|(?<![^\\W\\d_])(?:USD|EUR|GBP|JPY|CNY|CAD|AUD|NZD|SGD|HKD|MXN|BRL|INR|KRW|RUB|TRY|ILS|VND|THB|PHP"
    "|UAH|PLN|CZK|SEK|NOK|DKK|CHF|HUF|RON|BGN|ISK|ZAR|AED|SAR|IDR|MYR|TWD|kr|zł|Kč|Fr|Rs|dollars?|euros?|pounds?|francs"
    "|rupees|yen|yuan)(?![^\\W\\d_])\\.?)"
)


def _money(sign: str) -> re.Pattern[str]:
    """A number beside the sign, or one with two decimals. Repetitions are bounded, since a search in a long run of
    digits would otherwise take quadratic time, and no amount is that long."""
    spaced = rf"\d{{1,3}}(?:{_SPACE}\d{{3}}(?!\d)){{1,{_MOST_GROUPS}}}(?:[.,]\d{{1,9}})?"
    amount = rf"(?:{spaced}|\d{{1,15}}(?:[.,'’]\d{{1,9}}){{0,6}})"
    two_decimals = rf"(?<![\w.,'’]){amount}(?<=[.,]\d\d)\b(?![.,'’]\d)"
    return re.compile(rf"{sign}\s?{amount}{_SCALE}|(?<!\d){amount}{_SCALE}\s?{sign}|{two_decimals}")


MONEY = _money(_SIGN)
_MONEY_ON_PAGES = _money(_CURRENCY)
_LONG_NUMBER = re.compile(r"([\d,.]{60})[\d,.]+")
MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?)"
)
ORDINAL = "(?:st|nd|rd|th)?"
GAP = r"[ \u00a0\u202f-]"
DATES = re.compile(
    rf"\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}}"
    rf"|{MONTH}\.?{GAP}\d{{1,2}}{ORDINAL},?{GAP}\d{{4}}"
    rf"|\d{{1,2}}{ORDINAL}{GAP}(?:of )?{MONTH}\.?,?{GAP}\d{{4}}|\d{{4}}{GAP}{MONTH}\.?{GAP}\d{{1,2}}(?!\d)",
    re.IGNORECASE,
)
_MONTH_AND_YEAR = re.compile(rf"{MONTH}\.?,? ?\d{{4}}", re.IGNORECASE)
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|(?<=\bvalue=)[\w.+-]+")
_NODE = re.compile(r"\s*(?:\[\w+\] )?\w+ ['\"]")
_ELEMENT_ID = re.compile(r"^\s*\[\w+\]")
_WITHOUT_WORDS = re.compile(r"^\s*(?:\[\w+\] )?(?:Canvas|Video|Audio|EmbeddedObject|PluginObject)\b", re.MULTILINE)
"""What is told there stands in no tree."""
_PIECE_OF_TEXT = re.compile(r".{1,90000}(?:\s|\Z)|.{1,90000}", re.DOTALL)
_LAST_WORDS = frozenset(("send_msg_to_user", "report_infeasible"))


@dataclass
class PagesRead:
    """The words, numbers and dates of everything the agent could read."""

    texts: list[str] = field(default_factory=list)
    complete: bool = True
    """Every page was recorded, with its text."""

    @classmethod
    def of(cls, goal: Goal, trajectory: Trajectory, blobs: Blobs, read_picture: ReadPicture | None) -> "PagesRead":
        pages = cls([goal.instruction, *goal.hints, *goal.start_urls])
        seen = [step.seen for step in trajectory.steps]
        if trajectory.last_seen is not None:
            seen.append(trajectory.last_seen)
        known: set[str] = set()
        for page in seen:
            pages._add(page, blobs, read_picture, known)
        ended = trajectory.last_seen is not None or all(map(_ends, trajectory.steps[-1:]))
        pages.complete = pages.complete and bool(seen) and ended and all(map(_is_followed, trajectory.steps))
        return pages

    def _add(self, page: RecordedObservation, blobs: Blobs, read_picture: ReadPicture | None, known: set[str]) -> None:
        self.texts += [page.title, page.last_error, *page.notices, *map(unquote_plus, (page.url, *page.tabs))]
        self.complete = self.complete and not any(map(tells_of_a_gap, page.notices))
        if page.text is None and page.tree is None:
            self.complete = False
            if read_picture is not None and page.screenshot is not None and page.screenshot.hash not in known:
                known.add(page.screenshot.hash)
                self.texts.append(read_picture(blobs.read(page.screenshot)))
        for ref, is_tree in ((page.text, False), (page.tree, True)):
            if ref is not None and ref.hash not in known:
                known.add(ref.hash)
                text = _decoded(blobs, ref)
                is_whole = len(text) < _MAX_TEXT and not (is_tree and _WITHOUT_WORDS.search(text))
                self.complete = self.complete and is_whole
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


def _is_followed(step: Step) -> bool:
    """A page can come and go unrecorded between two actions of one step, and unread text may have been several
    actions."""
    return len(step.actions) == 1 if step.actions else not step.action_text


def _ends(step: Step) -> bool:
    """After any other last step there was one more page."""
    return all(action.name in _LAST_WORDS for action in step.actions)


def _decoded(blobs: Blobs, ref: BlobRef) -> str:
    return blobs.read(ref).decode("utf-8", "replace")[:_MAX_TEXT]


def _names(tree: str) -> str:
    """The names and values of an accessibility tree, without roles and element ids."""
    return "\n".join(_named(line) for line in tree.splitlines())


def _named(line: str) -> str:
    if not _NODE.match(line):
        return _ELEMENT_ID.sub("", line)
    return "\n".join(map(unquoted, _QUOTED.findall(line)))


def words_of(text: str) -> list[str]:
    # In pieces, because nothing longer is folded.
    return [word for piece in _PIECE_OF_TEXT.findall(text[:_MAX_TEXT]) for word in _WORD.findall(fold(piece))]


def numbers_in(text: str) -> Iterator[Decimal]:
    """Every number in every reading: `10234,10567` may be one number or a list of two."""
    for numeral, scale in _NUMBER.findall(text):
        if numeral.isdecimal() and not scale:
            yield Decimal(numeral).normalize()
        elif len(numeral) > _LONGEST_NUMERAL:
            yield from _pieces(numeral)
        else:
            yield from _readings(numeral, scale)


@lru_cache(maxsize=65_536)
def _readings(numeral: str, scale: str) -> tuple[Decimal, ...]:
    groups = re.split(_SPACE, numeral)
    spans = [" ".join(groups[at:end]) for at in range(len(groups)) for end in range(at + 1, at + 1 + _MOST_GROUPS)]
    whole = (_whole(written) for written in dict.fromkeys((numeral + scale, numeral, *spans)))
    return tuple(dict.fromkeys((*(number for number in whole if number is not None), *_pieces(numeral))))


@lru_cache(maxsize=65_536)
def _whole(written: str) -> Decimal | None:
    """As answers are compared: what a grader accepts must not count as unseen."""
    try:
        number: Decimal = KINDS["number"].read(written).value
    except UnreadableValue:
        return None
    return number.normalize()


def _pieces(numeral: str) -> Iterator[Decimal]:
    for found in _PIECE.findall(numeral):
        try:
            yield Decimal(found.replace(",", "")).normalize()
        except InvalidOperation:
            continue


def claimed_numbers(text: str) -> tuple[Decimal, ...]:
    """The readings of a text that is one number, with a currency or a short unit at most; else nothing."""
    found = _NUMBER.findall(text)
    letters = re.sub(r"[\d.,'’$€£¥%+\-\s]", "", _NUMBER.sub("", text))
    if len(found) != 1 or len(letters) > 5:
        return ()
    numeral, scale = found[0]
    whole = [number for written in (numeral + scale, numeral) if (number := _whole(written)) is not None]
    pieces = list(_pieces(numeral))
    return tuple(dict.fromkeys(whole or (pieces if len(pieces) == 1 else ())))


def without_long_runs(text: str) -> str:
    """Cuts runs of digits and commas longer than a line, which are no amounts and take forever to search."""
    return _LONG_NUMBER.sub(r"\1", text)


def amounts_in(text: str) -> Iterator[Decimal]:
    for found in _MONEY_ON_PAGES.findall(without_long_runs(text)):
        for numeral, scale in _NUMBER.findall(found):
            # After a space, the second group may belong to the next cell: `$12` and `500`, or `$12 500`.
            whole = None if re.search(_SPACE, numeral) else _whole(numeral + scale)
            yield from _readings(numeral, scale) if whole is None else (whole,)


def read_date(text: str) -> date:
    """Raises UnreadableValue."""
    if _MONTH_AND_YEAR.fullmatch(text.strip()):
        raise UnreadableValue("it has no day")  # and must not be taken for the 20th of January 26
    day: date = KINDS["date"].read(text)
    return day


def dates_in(text: str) -> Iterator[date]:
    for found in DATES.findall(text):
        try:
            yield read_date(found)
        except UnreadableValue:
            continue


# --- a value among them ---------------------------------------------------------------------------------

_NOT_A_VALUE = frozenset(("", "yes", "no", "true", "false", "none", "null", "n a"))


@lru_cache(maxsize=8192)
def line_read(line: str) -> PagesRead:
    """One line, read once however many values are looked for: menus and rows come back on page after page."""
    return PagesRead([line])


def appears_in(value: Json, pages: PagesRead) -> bool:
    """Whether the value was on a page, however it is written."""
    if isinstance(value, int | float):
        return _number_of(str(value)) in pages.numbers
    text = str(value)
    is_amount = MONEY.fullmatch(text.strip()) is not None and bool(pages.amounts)
    if " ".join(words_of(text)) in _NOT_A_VALUE or (not is_amount and pages.hold_text(text)):
        return True
    try:
        return read_date(text) in pages.dates
    except UnreadableValue:
        pass
    # An amount must have stood there as an amount: a "7" among the page's other numbers is not "$7.00".
    known = pages.amounts if MONEY.search(text) and pages.amounts else pages.numbers
    return any(number in known for number in claimed_numbers(text))


def _number_of(text: str) -> Decimal:
    try:
        return abs(Decimal(text)).normalize()
    except InvalidOperation:
        return Decimal("NaN")


def is_date(text: str) -> bool:
    try:
        read_date(text)
    except UnreadableValue:
        return False
    return True
