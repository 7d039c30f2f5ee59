"""Texts of all kinds: plain, lists, JSON, Markdown, Base64, place names, booleans, and empty values."""

import base64
import binascii
import html
import json
import math
import re
import unicodedata
from collections import Counter
from functools import lru_cache
from typing import Any

from webassay.compare.match import Slack, UnreadableValue, ValueKind, bounded, described, shown

_MARKS = dict.fromkeys(map(ord, "™®℠©"))
_DASHES = "-‐‑‒–—―−﹘﹣－"
_QUOTES = {ord(mark): "'" for mark in "‘’‚‛′´`"} | {ord(mark): '"' for mark in "“”„‟″«»"}
_LETTERS = str.maketrans({"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})
"""Latin letters without a Unicode decomposition. Letters of other scripts never become Latin ones: a Cyrillic letter
that looks like an `a` is a different letter."""
_EDGES = "'\"`.,;:!? "
_DASH = re.compile(f"[{_DASHES}]")
_DASH_BY_LETTER = re.compile(r"(?<=[A-Za-z])-|-(?=[A-Za-z])")
_SPACES = re.compile(r"\s+")


def fold(text: str) -> str:
    """Removes differences of spelling habit: case, accents, dashes, quotes, spaces, entities."""
    bounded(text)
    return _fold_short(text) if len(text) <= 300 else _fold(text)


def _fold(text: str) -> str:
    if "&" in text:
        text = html.unescape(text)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_MARKS)).translate(_QUOTES)
        text = _without_accents(text)
    text = _DASH_BY_LETTER.sub(" ", _DASH.sub("-", text)).replace("`", "'")
    if not text.isprintable():
        text = "".join(_printable(char) for char in text)
    return _SPACES.sub(" ", text).strip().casefold().translate(_LETTERS)


_fold_short = lru_cache(maxsize=8192)(_fold)


def _printable(char: str) -> str:
    category = unicodedata.category(char)
    if category == "Cs":
        raise UnreadableValue("it contains half a character (a lone surrogate)")
    if category[0] == "C":
        return " " if char in "\t\n\r\v\f\x85" else ""
    return char


def _without_accents(text: str) -> str:
    kept: list[str] = []
    for char in unicodedata.normalize("NFD", text):
        if unicodedata.category(char) == "Mn" and kept and kept[-1].isascii() and kept[-1].isalpha():
            continue
        kept.append(char)
    return unicodedata.normalize("NFC", "".join(kept))


def read_string(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return _number_as_text(value)
    if not isinstance(value, str):
        raise UnreadableValue(f"it is {described(value)}")
    folded = fold(value)
    return folded.strip(_EDGES) or folded


def _number_as_text(value: float) -> str:
    if isinstance(value, int) and value.bit_length() > 1000:
        raise UnreadableValue("the number is too large")
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)


def _equal(a: Any, b: Any, _: Slack) -> bool:
    return bool(a == b)


STRING = ValueKind("text", read_string, _equal, shown)


def read_string_list(value: object) -> tuple[str, ...]:
    parts = value if isinstance(value, list | tuple) else bounded(value).split(",")
    return tuple(sorted(filter(None, (read_string(part) for part in parts))))


STRING_LIST = ValueKind("list of texts", read_string_list, _equal, shown)

_YES = frozenset(("true", "yes", "y", "1", "t", "on"))
_NO = frozenset(("false", "no", "n", "0", "f", "off"))


def read_boolean(value: object) -> bool:
    if isinstance(value, bool):
        return value
    word = read_string(value)
    if word in _YES or word in _NO:
        return word in _YES
    raise UnreadableValue("it is neither yes nor no")


BOOLEAN = ValueKind("boolean", read_boolean, _equal)

_NOTHING = frozenset(("", "n/a", "na", "nan", "null", "none"))


def read_null(value: object) -> None:
    if value is None or value == [] or value == {}:
        return
    if isinstance(value, str) and fold(value) in _NOTHING:
        return
    raise UnreadableValue("it is not empty")


NULL = ValueKind("empty value", read_null, _equal)

# --- structured texts -------------------------------------------------------------------------------------

MAX_DEPTH = 64


def parse_json(text: str) -> Any:
    """JSON within limits: duplicate keys, NaN and deep nesting are `UnreadableValue`."""
    bounded(text)
    try:
        value = json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant, parse_float=_finite)
    except RecursionError:
        raise UnreadableValue("it is nested too deeply") from None
    except UnreadableValue:
        raise
    except ValueError as error:
        raise UnreadableValue(f"it is not JSON: {str(error)[:100]}") from None
    if depth(value) > MAX_DEPTH:
        raise UnreadableValue(f"it is nested deeper than {MAX_DEPTH} levels")
    return value


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise UnreadableValue("a key is given twice")
    return found


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise UnreadableValue("a number is out of range")
    return value


def _no_constant(name: str) -> None:
    raise UnreadableValue(f"{name} is not JSON")


def depth(value: object) -> int:
    """Levels of nesting, without recursion."""
    level, layer = 0, [value]
    while layer:
        layer = [
            item
            for one in layer
            if isinstance(one, dict | list | tuple)
            for item in (one.values() if isinstance(one, dict) else one)
        ]
        level += 1
        if level > 10 * MAX_DEPTH:
            break
    return level


def read_json(value: object) -> Any:
    parsed = parse_json(value) if isinstance(value, str) else value
    if depth(parsed) > MAX_DEPTH:
        raise UnreadableValue(f"it is nested deeper than {MAX_DEPTH} levels")
    return _folded(parsed)


def _folded(value: Any) -> Any:
    if isinstance(value, dict):
        return {fold(str(key)): _folded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_folded(item) for item in value]
    if isinstance(value, bool):
        return ("boolean", value)  # True == 1 in Python, but not in JSON
    return fold(value) if isinstance(value, str) else value


JSON = ValueKind("JSON value", read_json, _equal, shown)

_HEADING = re.compile(r"(?m)^(#{1,6})[ \t]*(?=[^#\s])")
_BULLET = re.compile(r"(?m)^([ \t]*)[*+-][ \t]+")
_LINK = re.compile(r"\[([^\[\]]{0,1000})\]\(([^()]{0,2000})\)")


def read_markdown(value: object) -> str:
    """Removes only differences that no renderer shows; case and characters stay."""
    text = bounded(value).replace("\r\n", "\n").replace("\r", "\n")
    text = "\n".join(line.rstrip() for line in text.split("\n"))
    text = re.sub(r"\n{3,}", "\n\n", text)
    text = _HEADING.sub(r"\1 ", text)
    text = _BULLET.sub(lambda found: "  " * ((len(found[1].expandtabs(4)) + 1) // 2) + "- ", text)
    text = _LINK.sub(lambda found: f"[{' '.join(found[1].split())}]({found[2].strip()})", text)
    return text.strip()


MARKDOWN = ValueKind("Markdown text", read_markdown, _equal, shown)


def read_base64(value: object) -> str:
    """The decoded text; case-sensitive."""
    try:
        data = base64.b64decode(bounded(value).strip(), validate=True)
        return data.decode("utf-8").replace("\r\n", "\n").strip()
    except (binascii.Error, ValueError):
        raise UnreadableValue("it is not Base64-encoded text") from None


BASE64 = ValueKind("Base64 text", read_base64, _equal, shown)

# --- place names ------------------------------------------------------------------------------------------

_FILLERS = frozenset(["a", "an", "and", "at", "by", "de", "for", "in", "la", "le", "of", "on", "the", "to"])
_SAME_WORD = {
    "st": "street",
    "ave": "avenue",
    "av": "avenue",
    "rd": "road",
    "blvd": "boulevard",
    "dr": "drive",
    "ln": "lane",
    "hwy": "highway",
    "pkwy": "parkway",
    "sq": "square",
    "ctr": "center",
    "centre": "center",
    "intl": "international",
    "univ": "university",
    "mt": "mount",
    "ft": "fort",
    "n": "north",
    "s": "south",
    "e": "east",
    "w": "west",
}
_WORDS = re.compile(r"[^\W_]+")
_NAME_LIMIT = 300


def read_location_name(value: object) -> tuple[str, ...]:
    text = fold(bounded(value)).replace("&", " and ").replace("'", "")
    if len(text) > _NAME_LIMIT:
        raise UnreadableValue("it is too long for a name")
    words = tuple(sorted(_SAME_WORD.get(word, word) for word in _WORDS.findall(text)))
    telling = tuple(word for word in words if word not in _FILLERS)
    if not words:
        raise UnreadableValue("it contains no word")
    return telling or words


def _same_place(a: tuple[str, ...], b: tuple[str, ...], _: Slack) -> bool:
    """The same words in any order, written together or apart; a single long word may have a typo."""
    if _written_together(a) == _written_together(b):
        return True
    missing, surplus = Counter(a) - Counter(b), Counter(b) - Counter(a)
    if missing.total() != 1 or surplus.total() != 1:
        return False
    return _is_typo(*missing, *surplus)


def _written_together(words: tuple[str, ...]) -> tuple[str, ...]:
    """Words with digits stay apart: gate 1, terminal 23 is not gate 12, terminal 3."""
    numbered = tuple(word for word in words if _has_digit(word))
    return ("".join(word for word in words if not _has_digit(word)), *numbered)


def _is_typo(a: str, b: str) -> bool:
    if min(len(a), len(b)) < 5 or a[0] != b[0] or _has_digit(a + b):
        return False
    return _one_edit_apart(a, b)


def _has_digit(text: str) -> bool:
    return any(char.isdigit() for char in text)


def _one_edit_apart(a: str, b: str) -> bool:
    """A letter was added, left out, changed, or swapped with its neighbor."""
    short, long = sorted((a, b), key=len)
    same = next((at for at, letter in enumerate(short) if letter != long[at]), len(short))
    left, right = short[same:], long[same:]
    if len(short) < len(long):
        return left == right[1:]
    return left[1:] == right[1:] or left == right[1::-1] + right[2:]


LOCATION_NAME = ValueKind("place name", read_location_name, _same_place, " ".join)
