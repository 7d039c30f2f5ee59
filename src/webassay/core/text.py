"""Text from outside (pages, models, imported files), made safe to store where it enters.

A lone surrogate cannot be written as UTF-8, so one bad character in a page could make a whole trajectory unstorable.
Halves of a pair that arrive separately are joined; what is left over becomes U+FFFD, the replacement character.
"""

import io
import shlex
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from webassay.core.record import Json

MAX_TEXT = 4_000_000
"""Characters of one text that are kept; an answer or a page beyond that is an attack or an accident."""
MAX_DEPTH = 100


def well_formed(text: str) -> str:
    """The same text, if it can be written as UTF-8 at all."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def capped(text: str, limit: int = MAX_TEXT) -> str:
    """Well-formed, and at most `limit` characters: what was cut off is said in the text itself."""
    if len(text) <= limit:
        return well_formed(text)
    return f"{well_formed(text[:limit])}\n[cut: {len(text):,} characters, {limit:,} kept]"


def lines_of(text: str) -> Iterator[str]:
    """The lines of JSON lines, as a file gives them. Not `splitlines`: a text inside JSON may hold a line separator of
    Unicode, which ends no line."""
    return io.StringIO(text, newline=None)


def well_formed_json(value: Any, *, limit: int = MAX_TEXT) -> Json:
    """Plain JSON with well-formed texts. What JSON cannot hold becomes text, so that nothing is lost silently."""
    return _plain(value, limit, MAX_DEPTH)


_JOINERS = "\u200c\u200d"
"""Invisible too, but emoji and several scripts cannot be written without them."""


def printable(text: str, *, lines: bool = False) -> str:
    """The text with everything that steers a terminal or hides from the eye written as an escape such as `\\x1b`:
    control characters, ANSI sequences, changes of direction, invisible marks. `lines` keeps line breaks and tabs."""
    if lines:
        return "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))
    if text.isprintable():
        return text
    return "".join(char if char in _JOINERS or _shows(char) else _escaped(char) for char in text)


def _shows(char: str) -> bool:
    # Every blank is a blank; characters for private use are drawn as boxes.
    return char.isprintable() or unicodedata.category(char) in ("Zs", "Co")


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _plain(value: Any, limit: int, depth: int) -> Json:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 1 << 63 else hex(value)[:100]  # str() refuses very long ones
    if isinstance(value, float):
        return value if value - value == 0.0 else repr(value)
    if isinstance(value, str):
        return capped(value, limit)
    if depth == 0:
        return "[cut: nested too deeply]"
    if isinstance(value, Mapping):
        return {capped(str(key), 1000): _plain(item, limit, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item, limit, depth - 1) for item in value]
    return capped(repr(value), 10_000)


def quoted(name: str) -> str:
    """A name as it can be pasted into a shell, also where it holds commas, brackets or blanks."""
    return shlex.quote(printable(name))


LONGEST_LINE = 300


def first_line(text: str) -> str:
    """The first line with anything on it, cut where it is very long."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"
