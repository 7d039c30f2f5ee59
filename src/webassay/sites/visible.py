"""The text of a page that a person can see, as a tree of rows and sections.

Seen are texts, and what stands for one: names of pictures and controls, values of inputs, options. Not seen is what
the page itself hides: scripts, styles, templates, `hidden`, `aria-hidden`, an inline style. What style sheets and
scripts do afterwards is not known here.

A reader of our own, because a page must cost a few milliseconds: it makes one pass over the tags with a regular
expression, and jumps over what is hidden. It forgives unclosed elements as browsers do, and no more than that.
"""

import csv
import json
import re
from functools import cache
from html import unescape
from typing import Any

from webassay.core.served import ServedNode

# Possessive repetition, so that a page cannot make it slow.
_TAG = re.compile(r"""<(/?)([a-zA-Z][^\s/>]*+)((?:[^>"']++|"[^"]*+"|'[^']*+')*+)>|<[!?][^>]*+>""")
_ATTRIBUTE = re.compile(r"""([^\s=/>"']++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>]++)))?""")
_TELLING = re.compile(r"(?<![\w-])(?:hidden|aria-hidden|aria-label|alt|title|style|placeholder|role)(?![\w-])", re.I)
_UNREAD = re.compile(
    r"<!--.*?-->|<(script|style|noscript|iframe|noembed|noframes|template|datalist|canvas|video|audio|object)\b.*?</\1\s*>",
    re.S | re.I,
)
_OPTION = re.compile(r"<option\b((?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+)>([^<]*+)", re.I)
_INVISIBLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_MARKUP = re.compile(r"<[a-zA-Z/!]")

_INLINE = frozenset((
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd",
    "label", "mark", "nobr", "output", "q", "rb", "rp", "rt", "ruby", "s", "samp", "slot", "small", "span", "strike",
    "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
))  # fmt: skip
_VOID = frozenset((
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
))  # fmt: skip
_ENDS_PARAGRAPH = frozenset((
    "address", "article", "aside", "blockquote", "details", "div", "dl", "fieldset", "figure", "footer", "form", "h1",
    "h2", "h3", "h4", "h5", "h6", "header", "hr", "main", "nav", "ol", "p", "pre", "section", "table", "ul",
))  # fmt: skip
_ROWS = frozenset(("tr", "li", "article"))
_ROW_ROLES = frozenset(("row", "listitem", "article", "treeitem"))
_SECTIONS = frozenset(("section", "fieldset", "nav", "aside", "table", "ul", "ol"))
_SECTION_ROLES = frozenset(("region", "group", "table", "list", "grid", "navigation", "complementary"))
_LANDMARKS = frozenset(("header", "footer"))
"""Sections if they belong to the page; inside something else they are a part of it."""
_CLOSED_BY = {
    "li": frozenset(("li", "p")),
    "tr": frozenset(("tr", "td", "th", "p")),
    "td": frozenset(("td", "th", "p")),
    "th": frozenset(("td", "th", "p")),
    "dt": frozenset(("dt", "dd", "p")),
    "dd": frozenset(("dt", "dd", "p")),
    "tbody": frozenset(("tr", "td", "th", "thead", "tbody", "p")),
    "tfoot": frozenset(("tr", "td", "th", "thead", "tbody", "p")),
}
"""Elements without an end tag that end where one of these names begins."""
_PARAGRAPH = frozenset(("p",))
_NO_VALUE = frozenset(("hidden", "password", "checkbox", "radio", "file", "image", "color", "range"))


DEEPEST = 100
"""Nodes inside nodes; no page that people read is deeper, and whoever walks the tree must come back."""


class Nodes:
    """The nodes of all pages of a record; the same content is kept once."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[bool, tuple[str | int, ...]], int] = {}
        self.size = 0
        """Characters of all lines."""

    def put(self, row: bool, parts: list[str | int]) -> int:
        key = (row, tuple(parts))
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._numbers)
            self.size += sum(len(part) if isinstance(part, str) else 4 for part in parts)
        return number

    def all(self) -> tuple[ServedNode, ...]:
        return tuple(ServedNode(row, parts) for row, parts in self._numbers)


class _Open:
    """An element that has begun, and has not ended."""

    __slots__ = ("hides", "parts", "row", "tag")

    def __init__(self, tag: str, parts: list[str | int] | None = None, row: bool = False, hides: bool = False) -> None:
        self.tag, self.parts, self.row, self.hides = tag, parts, row, hides


class _HtmlReader:
    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._parts: list[str | int] = []
        self._open: list[_Open] = [_Open("", self._parts)]
        self._run: list[str] = []
        """Text since the last line ended."""
        self._names: list[str] = []
        """Names of what stands in the line; they follow it, so that they do not tear it apart."""
        self._hidden = 0

    def read(self, page: str) -> int:
        page = _UNREAD.sub("", page)
        at = 0
        while tag := _TAG.search(page, at):
            if tag.start() > at and not self._hidden:
                self._run.append(page[at : tag.start()])
            at = tag.end()
            ends, name, attributes = tag.groups()
            if not name:
                continue
            name = name.lower()
            if ends:
                if name not in _INLINE or self._hidden:
                    self._end(name)
            elif name == "svg" or name == "select" or name == "textarea" or name == "title":
                at = self._whole(page, name, attributes, at)
            else:
                at = self._begin(page, name, attributes, at)
        if not self._hidden:
            self._run.append(page[at:])
        while len(self._open) > 1:
            self._close()
        self._line()
        return self._nodes.put(False, self._parts)

    # --- elements ---

    def _begin(self, page: str, name: str, attributes: str, at: int) -> int:
        if name == "br":
            self._line()
            return at
        given = _attributes(attributes) if name in ("input", "dialog") or _TELLING.search(attributes) else _NONE
        closed = _CLOSED_BY.get(name) or (_PARAGRAPH if name in _ENDS_PARAGRAPH else ())
        while self._open[-1].tag in closed:
            self._close()
        if self._hidden:
            given = _NONE
        elif (given or name == "dialog") and _hides(name, given):
            return self._skip(page, name, at)
        if name not in _VOID and (name not in _INLINE or self._hidden):
            self._open_block(name, given.get("role", ""))
        if given:
            self._name(name, given)
        return at

    def _open_block(self, name: str, role: str) -> None:
        self._line()
        of_the_page = self._parts is self._open[0].parts
        if len(self._open) > DEEPEST:
            self._open.append(_Open(name))
        elif name in _ROWS or role in _ROW_ROLES or (name == "div" and self._open[-1].tag == "dl"):
            self._descend(name, row=True)
        elif name in _SECTIONS or role in _SECTION_ROLES or (name in _LANDMARKS and of_the_page):
            self._descend(name, row=False)
        else:
            self._open.append(_Open(name))

    def _descend(self, name: str, row: bool) -> None:
        self._parts = []
        self._open.append(_Open(name, self._parts, row))

    def _skip(self, page: str, name: str, at: int) -> int:
        """Past a hidden element; if its end cannot be found, all that stands in it is passed over one by one."""
        if name in _VOID:
            return at
        end = _end_of(page, name, at)
        if end is not None:
            return end
        self._line()
        self._open.append(_Open(name, hides=True))
        self._hidden += 1
        return at

    def _end(self, name: str) -> None:
        self._line()
        if any(one.tag == name for one in self._open[1:]):
            while self._open[-1].tag != name:
                self._close()
            self._close()

    def _close(self) -> None:
        self._line()
        closed = self._open.pop()
        self._hidden -= closed.hides
        if closed.parts is None:
            return
        self._parts = next(one.parts for one in reversed(self._open) if one.parts is not None)
        if closed.parts:
            self._parts.append(self._nodes.put(closed.row, closed.parts))

    def _whole(self, page: str, name: str, attributes: str, at: int) -> int:
        """An element that is read at once: its content is not text between tags."""
        end = _ending(name).search(page, at)
        given = _attributes(attributes)
        if not self._hidden and not _hides(name, given):
            inner = page[at : end.start() if end else len(page)]
            self._name(name, given)
            if name == "select":
                self._options(inner)
            elif name == "svg":
                if "<text" in inner or "<title" in inner:
                    self._names += filter(None, (_line(text) for text in re.findall(r">([^<]+)<", inner)))
            else:
                self._names += filter(None, [_line(inner)])
        return end.end() if end else len(page)

    def _options(self, inner: str) -> None:
        """What is chosen stands in the page like a value; the rest is a list of its own."""
        options = [(_line(text), attributes) for attributes, text in _OPTION.findall(inner)]
        if not options:
            return
        chosen = [text for text, attributes in options if "selected" in _attributes(attributes)]
        self._names += filter(None, chosen or [options[0][0]])
        rest: list[str | int] = [text for text, _ in options if text]
        self._line()
        self._parts.append(self._nodes.put(False, rest))

    # --- text ---

    def _line(self) -> None:
        if self._run:
            line = _line("".join(self._run))
            if line:
                self._parts.append(line)
            self._run.clear()
        if self._names:
            self._parts += self._names
            self._names.clear()

    def _name(self, name: str, given: dict[str, str]) -> None:
        for attribute in ("aria-label", "alt", "title", "placeholder"):
            if text := _line(given.get(attribute, "")):
                self._names.append(text)
        said = name == "input" and given.get("type", "text").lower() not in _NO_VALUE
        if said and (value := _line(given.get("value", ""))):
            self._names.append(value)


_NONE: dict[str, str] = {}


def _attributes(text: str) -> dict[str, str]:
    return {name.lower(): one or two or three for name, one, two, three in _ATTRIBUTE.findall(text)}


def _hides(name: str, given: dict[str, str]) -> bool:
    return (
        "hidden" in given
        or given.get("aria-hidden", "").lower() == "true"
        or (name == "dialog" and "open" not in given)
        or ("style" in given and _INVISIBLE.search(given["style"]) is not None)
    )


def _line(text: str) -> str:
    return " ".join((unescape(text) if "&" in text else text).split())


@cache
def _borders(name: str) -> re.Pattern[str]:
    return re.compile(rf"<(/?){re.escape(name)}(?=[\s/>])", re.I)


@cache
def _ending(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{re.escape(name)}\b[^>]*+>", re.I)


_END_OPTIONAL = frozenset((*_CLOSED_BY, "p", "option"))


def _end_of(page: str, name: str, at: int) -> int | None:
    """Behind the end tag of an element whose content begins here; None if it may have none."""
    if name in _END_OPTIONAL:
        return None
    depth = 1
    for border in _borders(name).finditer(page, at):
        depth += -1 if border[1] else 1
        if depth == 0:
            close = page.find(">", border.end())
            return len(page) if close < 0 else close + 1
    return None


# --- other formats ----------------------------------------------------------------------------------------


def read_page(body: str, media_type: str, nodes: Nodes) -> int | None:
    """The number of the page's node; None if this is nothing to read."""
    if "html" in media_type:
        return _HtmlReader(nodes).read(body)
    if "json" in media_type:
        try:
            return _read_json(json.loads(body, parse_float=str, parse_int=str), nodes)
        except (ValueError, RecursionError):
            return None
    if media_type.startswith("text/csv"):
        lines = [[part for entry in line if (part := _plain_line(entry))] for line in csv.reader(body.splitlines(True))]
        return nodes.put(False, [nodes.put(True, list(line)) for line in lines if line])
    if media_type.startswith("text/plain"):
        return nodes.put(False, [line for line in map(_plain_line, body.splitlines()) if line])
    return None


def _plain_line(text: str) -> str:
    return " ".join(_well_formed(text).split())


def _well_formed(text: str) -> str:
    """JSON can spell half a character, which nobody can store."""
    return text.encode("utf-8", "replace").decode()


def _read_json(value: Any, nodes: Nodes, depth: int = 0) -> int:
    """An object is a row: what a script makes of it stands together."""
    if depth > DEEPEST:
        return nodes.put(False, [])
    inside: list[Any] = (
        list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else [value]
    )
    parts: list[str | int] = []
    for one in inside:
        if isinstance(one, dict | list):
            parts.append(_read_json(one, nodes, depth + 1))
        elif isinstance(one, str) and _MARKUP.search(one):
            parts.append(_HtmlReader(nodes).read(_well_formed(one)))
        elif isinstance(one, str) and (line := _plain_line(one)):
            parts.append(line)
    return nodes.put(isinstance(value, dict), parts)
