"""Numbers, money, durations and distances. Parsed by small grammars; nothing is ever evaluated."""

import re
import unicodedata
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from webassay.compare.match import Slack, UnreadableValue, ValueKind, bounded, described, near

_LONGEST = 120
"""No honest quantity needs more characters."""
_MAX_EXPONENT = 350

# --- numerals ---------------------------------------------------------------------------------------------

_GROUPED = re.compile(r"[1-9]\d{0,2}(?:([ ,.'’])\d{3})(?:\1\d{3})*|[1-9]\d{0,1}(?:,\d{2})+,\d{3}")
_PLAIN = re.compile(r"\d+(?:\.\d*)?(?:e[+-]?\d{1,3})?|\.\d+(?:e[+-]?\d{1,3})?")
_FRACTION = re.compile(r"(?:(\d{1,9})[ -])?(\d{1,6}) ?[/⁄] ?(\d{1,6})")


def numeral(text: str) -> Decimal:
    """An unsigned number in the forms people use: 1,000 · 1 000 · 1.234,5 · 1e3 · ½ · 2 3/4."""
    text = text.strip()
    if _PLAIN.fullmatch(text):
        return _decimal(text)
    fraction = _FRACTION.fullmatch(text)
    if fraction:
        units, top, bottom = (int(part or 0) for part in fraction.groups())
        if bottom == 0:
            raise UnreadableValue("it divides by zero")
        return Decimal(units) + Decimal(top) / Decimal(bottom)
    point = max(text.rfind("."), text.rfind(","))
    if _GROUPED.fullmatch(text):
        return _decimal(re.sub(r"[ ,.'’]", "", text))
    whole, mark, decimals = text[:point], text[point : point + 1], text[point + 1 :]
    if point >= 0 and decimals.isdigit() and mark not in whole:
        if _GROUPED.fullmatch(whole):
            return _decimal(re.sub(r"[ ,.'’]", "", whole) + "." + decimals)
        if mark == "," and whole.isdigit():
            return _decimal(f"{whole}.{decimals}")
    raise UnreadableValue("it is not a number")


def _decimal(text: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise UnreadableValue("it is not a number") from None
    if not value.is_finite() or abs(value.adjusted()) > _MAX_EXPONENT:
        raise UnreadableValue("the number is out of range")
    return value


def _prepared(value: str) -> str:
    """Normalizes compatible forms (full-width digits, ½), minus signs and spaces; refuses raised digits."""
    text = bounded(value).strip()
    if len(text) > _LONGEST:
        raise UnreadableValue("it is too long for a quantity")
    if text.isascii():
        return " ".join(text.casefold().split())
    if any(unicodedata.decomposition(char).startswith(("<super>", "<sub>")) for char in text):
        raise UnreadableValue("superscript and subscript digits are not accepted")
    spaced = re.sub(r"(?<=\d)(?=[¼-¾⅐-⅞])", " ", text)
    folded = unicodedata.normalize("NFKC", spaced)
    folded = re.sub("[−‐‑‒–—]", "-", folded)
    if any(char.isdigit() and not char.isascii() for char in folded):
        raise UnreadableValue("digits of other scripts are not accepted")
    return " ".join(folded.casefold().split())


_SCALES = {
    "k": 3, "thousand": 3, "m": 6, "mm": 6, "mn": 6, "million": 6,
    "b": 9, "bn": 9, "billion": 9, "t": 12, "trillion": 12,
}  # fmt: skip
_SCALED = re.compile(rf"(.*?[\d.])\s?({'|'.join(sorted(_SCALES, key=len, reverse=True))})")


def _scaled(text: str) -> Decimal:
    found = _SCALED.fullmatch(text)
    if found:
        return numeral(found[1]).scaleb(_SCALES[found[2]])
    return numeral(text)


def _signed(text: str) -> tuple[bool, str]:
    """Whether a sign, or the brackets of accounting, make it negative; and the rest."""
    if text.startswith("(") and text.endswith(")"):
        inner = text[1:-1].strip()
        if inner[:1] in "+-":
            raise UnreadableValue("it has two signs")
        return True, inner
    if text[:1] in ("+", "-"):
        return text[0] == "-", text[1:].strip()
    return False, text


# --- numbers ----------------------------------------------------------------------------------------------


class Number(NamedTuple):
    value: Decimal
    percent: bool = False

    def __str__(self) -> str:
        return f"{self.value * 100 if self.percent else self.value:f}"[:60] + ("%" if self.percent else "")


def read_number(value: object) -> Number:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise UnreadableValue(f"it is {described(value)}")
    if not isinstance(value, str):
        return Number(_exact(value))
    negative, text = _signed(_prepared(value))
    percent = re.fullmatch(r"(.*?)\s?(?:%|percent|per cent)", text)
    if percent:
        text = percent[1]
    size = _in_words(text) if text[:1].isalpha() else _scaled(text)
    return Number((-size if negative else size) / (100 if percent else 1), bool(percent))


def _exact(value: float) -> Decimal:
    if isinstance(value, int) and value.bit_length() > 1000:
        raise UnreadableValue("the number is out of range")
    return _decimal(repr(value))


def _same_number(a: Number, b: Number, slack: Slack) -> bool:
    if near(a.value, b.value, slack):
        return True
    # A key of 50 % may be answered with 50. A key of 4 is not 4 %.
    return a.percent and not b.percent and near(_as_said(a), _as_said(b), slack)


def _as_said(number: Number) -> Decimal:
    return number.value * 100 if number.percent else number.value


NUMBER = ValueKind("number", read_number, _same_number)

_PERCENT = ("%", "percent", "per cent")
_SAME_UNITS = (
    _PERCENT,
    ("pound", "lb", "lbs"), ("ounce", "oz"), ("gram", "g"), ("kilogram", "kg"), ("milligram", "mg"), ("ton", "t"),
    ("liter", "litre", "l"), ("milliliter", "millilitre", "ml"), ("gallon", "gal"),
    ("meter", "metre", "m"), ("centimeter", "centimetre", "cm"), ("millimeter", "millimetre", "mm"),
    ("kilometer", "kilometre", "km"), ("mile", "mi"), ("foot", "feet", "ft"), ("inch", "in"), ("yard", "yd"),
    ("second", "sec", "s"), ("minute", "min"), ("hour", "hr", "h"), ("day", "d"), ("week", "wk"), ("year", "yr"),
    ("item", "piece", "pc", "pcs"), ("person", "people"), ("star", "★"),
)  # fmt: skip
"""Different ways to write one unit; plurals come by rule."""


def number_in(unit: str) -> ValueKind:
    """A number that may be followed by this unit, as a word in singular or plural or as its sign; by no other."""
    names = _names_of(unit)
    if not names.isdisjoint(_PERCENT):
        return NUMBER._replace(name="percentage", read=_read_percentage)
    ends = sorted(names, key=len, reverse=True)
    after = re.compile(rf"(.*[\w.)½-¾⅐-⅞])(?:\s|-|(?<=[\d.)½-¾⅐-⅞]))(?:{'|'.join(map(re.escape, ends))})\.?")

    def read(value: object) -> Number:
        if isinstance(value, str) and len(value) <= _LONGEST:
            found = after.fullmatch(" ".join(value.casefold().split()))
            value = found[1] if found else value
        return read_number(value)

    return NUMBER._replace(name=f"number of {unit}", read=read)


def _read_percentage(value: object) -> Number:
    """What is asked for in percent, with or without the sign."""
    number = read_number(value)
    return number if number.percent else Number(number.value / 100, True)


def _names_of(unit: str) -> frozenset[str]:
    """The unit in the singular, in the plural, and in other words or signs for it."""
    said = " ".join(unit.casefold().split())
    forms = _both_numbers(said)
    same = next((group for group in _SAME_UNITS if not forms.isdisjoint(group)), ())
    return forms.union(*map(_both_numbers, same)) if same else forms


def _both_numbers(word: str) -> frozenset[str]:
    """A word with its singular and plural, by the usual rules; both where it cannot be told which it is."""
    forms = {word}
    if word.endswith("ies"):
        forms.add(f"{word[:-3]}y")
    if word.endswith("es"):
        forms.add(word[:-2])
    if word.endswith("s"):
        forms.add(word[:-1])
    elif word.isalpha() or " " in word:
        forms |= {f"{word}s", f"{word}es"} | ({f"{word[:-1]}ies"} if word.endswith("y") else set())
    return frozenset(form for form in forms if form)


_UNITS = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SMALL = {word: n for n, word in enumerate(_UNITS)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_LARGE = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}


def _in_words(text: str) -> Decimal:
    whole, _, decimals = text.partition(" point ")
    total = group = 0
    last_scale = 10**15
    previous = ""
    for word in re.split(r"[ -]", whole):
        if word in _SMALL:
            size = _SMALL[word]
            if previous in _SMALL and not (_SMALL[previous] >= 20 and 1 <= size <= 9):
                raise UnreadableValue("it is not a number in words")
            group += size
        elif word == "hundred" and 1 <= group <= 9:
            group *= 100
        elif word in _LARGE and group and _LARGE[word] < last_scale:
            total, group, last_scale = total + group * _LARGE[word], 0, _LARGE[word]
        elif word != "and" or not previous:
            raise UnreadableValue("it is not a number in words")
        previous = word
    if previous in ("", "and"):
        raise UnreadableValue("it is not a number in words")
    digits = [_SMALL.get(word, 99) for word in decimals.split()]
    if any(digit > 9 for digit in digits):
        raise UnreadableValue("it is not a number in words")
    return _decimal(f"{total + group}." + "".join(map(str, digits)))


# --- money ------------------------------------------------------------------------------------------------

_SIGNS: dict[str, tuple[str, ...]] = {
    "$": ("USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN"),
    "us$": ("USD",), "c$": ("CAD",), "ca$": ("CAD",), "a$": ("AUD",), "au$": ("AUD",), "nz$": ("NZD",),
    "s$": ("SGD",), "hk$": ("HKD",), "mx$": ("MXN",), "r$": ("BRL",),
    "€": ("EUR",), "£": ("GBP",), "¥": ("JPY", "CNY"), "₹": ("INR",), "₩": ("KRW",), "₽": ("RUB",), "₺": ("TRY",),
    "₪": ("ILS",), "₫": ("VND",), "฿": ("THB",), "₱": ("PHP",), "₴": ("UAH",), "zł": ("PLN",), "kč": ("CZK",),
    "kr": ("SEK", "NOK", "DKK"), "fr": ("CHF",),
    "dollar": ("USD", "CAD", "AUD", "NZD", "SGD", "HKD"), "dollars": ("USD", "CAD", "AUD", "NZD", "SGD", "HKD"),
    "euro": ("EUR",), "euros": ("EUR",), "pound": ("GBP",), "pounds": ("GBP",), "yen": ("JPY",), "yuan": ("CNY",),
    "rupees": ("INR",), "francs": ("CHF",), "rmb": ("CNY",),
}  # fmt: skip
_CODES = [
    "USD", "EUR", "GBP", "JPY", "CNY", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN", "BRL", "INR", "KRW", "RUB", "TRY",
    "ILS", "VND", "THB", "PHP", "UAH", "PLN", "CZK", "SEK", "NOK", "DKK", "CHF", "HUF", "RON", "BGN", "ISK", "ZAR",
    "AED", "SAR", "EGP", "IDR", "MYR", "TWD", "CLP", "COP", "ARS", "PEN",
]  # fmt: skip
_SIGNS |= {code.casefold(): (code,) for code in _CODES}
_SIGN = "|".join(re.escape(sign) for sign in sorted(_SIGNS, key=len, reverse=True))
_MONEY = re.compile(rf"(?P<before>{_SIGN})?\s?(?P<sign>[+-])?\s?(?P<amount>[\d.a-z].*?)\s?(?P<after>{_SIGN})?")


class Money(NamedTuple):
    amount: Decimal
    currencies: frozenset[str] = frozenset()
    """What the sign may stand for; empty if there is none."""

    def __str__(self) -> str:
        return f"{self.amount:f}"[:60] + (f" {'/'.join(sorted(self.currencies))}" if self.currencies else "")


def read_currency(value: object) -> Money:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise UnreadableValue(f"it is {described(value)}")
    if not isinstance(value, str):
        return Money(_exact(value))
    negative, text = _signed(_prepared(value))
    found = _MONEY.fullmatch(text)
    if not found:
        raise UnreadableValue("it is not an amount of money")
    if found["sign"] and (negative or text[:1] in "+-"):
        raise UnreadableValue("it has two signs")
    if found["before"] and found["after"]:
        both = set(_SIGNS[found["before"]]) & set(_SIGNS[found["after"]])
        if not both:
            raise UnreadableValue("it names two currencies")
        signs = frozenset(both)
    else:
        signs = frozenset(_SIGNS.get(found["before"] or found["after"] or "", ()))
    amount = _in_words(found["amount"]) if found["amount"][0].isalpha() else _scaled(found["amount"])
    return Money(-amount if negative or found["sign"] == "-" else amount, signs)


def _same_money(a: Money, b: Money, slack: Slack) -> bool:
    agree = not a.currencies or not b.currencies or bool(a.currencies & b.currencies)
    return agree and near(a.amount, b.amount, slack)


CURRENCY = ValueKind("amount of money", read_currency, _same_money)


def in_currency(money: Money, code: str) -> Money:
    """The key's amount in the currency that the task names."""
    return Money(money.amount, frozenset((code.upper(),)))


# --- durations --------------------------------------------------------------------------------------------

_SECONDS = {
    "ms": "0.001", "msec": "0.001", "millisecond": "0.001",
    "s": "1", "sec": "1", "second": "1", "m": "60", "min": "60", "minute": "60",
    "h": "3600", "hr": "3600", "hour": "3600", "d": "86400", "day": "86400",
    "w": "604800", "wk": "604800", "week": "604800",
}  # fmt: skip
_CLOCK = re.compile(r"(\d{1,4}):([0-5]\d)(?::([0-5]\d))?(?:\s?(h|hr|hrs|hours?|m|mins?|minutes?))?")
_ISO = re.compile(r"p(?:(\d{1,6})w)?(?:(\d{1,6})d)?(?:t(?:([\d.,]{1,12})h)?(?:([\d.,]{1,12})m)?(?:([\d.,]{1,12})s)?)?")
_PART = re.compile(r"([\d.,⁄/ ]*\d\.?) ?([a-z]+)\.?(?:\s?(?:,|and|&)?\s?)")


def read_duration(value: object) -> Decimal:
    """In seconds. A number without a unit is refused."""
    text = _prepared(_quantity(value))
    clock = _CLOCK.fullmatch(text)
    if clock:
        high, middle, low, unit = clock.groups()
        if low is not None:
            return Decimal(int(high) * 3600 + int(middle) * 60 + int(low))
        return Decimal((int(high) * 60 + int(middle)) * (60 if unit and unit[0] == "h" else 1))
    iso = _ISO.fullmatch(text)
    if iso and any(iso.groups()):
        sizes = (604_800, 86_400, 3600, 60, 1)
        return sum((numeral(part) * size for part, size in zip(iso.groups(), sizes, strict=True) if part), Decimal(0))
    trailing = re.fullmatch(r"(\d{1,4} ?h) ?([0-5]\d)", text)
    return _summed(f"{trailing[1]} {trailing[2]} min" if trailing else text, _SECONDS)


def _quantity(value: object) -> str:
    if not isinstance(value, str):
        raise UnreadableValue(f"it is {described(value)}, and a quantity needs a unit")
    return value


def _summed(text: str, units: dict[str, str]) -> Decimal:
    """Sums `1 h 30 min` or `5 ft 10 in`: largest unit first, each unit once."""
    position, total, last = 0, Decimal(0), Decimal("Infinity")
    text = re.sub(r"^(?:an?|one) ", "1 ", text)
    text = re.sub(r"\bhalf an hour\b", "30 min", text)
    while position < len(text):
        part = _PART.match(text, position)
        if not part:
            raise UnreadableValue("it is not a number with a unit")
        name = part[2]
        size = units.get(name) or units.get(name.removesuffix("s"))
        if size is None:
            raise UnreadableValue(f"the unit {name!r} is unknown")
        if Decimal(size) >= last:
            raise UnreadableValue("its units are not ordered from large to small")
        last = Decimal(size)
        total += numeral(part[1]) * last
        position = part.end()
    if last.is_infinite():
        raise UnreadableValue("it is empty")
    return total


DURATION = ValueKind("duration", read_duration, near, lambda seconds: f"{seconds:f} s"[:60])

# --- distances --------------------------------------------------------------------------------------------

_METERS = {
    "mm": "0.001", "millimetre": "0.001", "millimeter": "0.001",
    "cm": "0.01", "centimetre": "0.01", "centimeter": "0.01", "m": "1", "metre": "1", "meter": "1",
    "k": "1000", "km": "1000", "kilometre": "1000", "kilometer": "1000",
    "mi": "1609.344", "mile": "1609.344", "yd": "0.9144", "yard": "0.9144", "nmi": "1852",
    "ft": "0.3048", "foot": "0.3048", "feet": "0.3048", "in": "0.0254", "inch": "0.0254", "inches": "0.0254",
}  # fmt: skip


def read_distance(value: object) -> Decimal:
    """In meters. A number without a unit is refused."""
    return _summed(_prepared(_quantity(value)), _METERS)


DISTANCE = ValueKind("distance", read_distance, near, lambda meters: f"{meters:f} m"[:60])
