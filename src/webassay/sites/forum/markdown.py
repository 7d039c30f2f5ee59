"""A small Markdown: paragraphs, quotes, lists, code, bold, italic, struck, links. Everything else is text.

Nothing of what people write becomes a tag by itself: text is escaped first, and each rule looks at a text once.
"""

import re
from collections.abc import Callable

from markupsafe import Markup, escape

from webassay.sites.receipts import written

MOST_QUOTES = 5
"""Quotes inside quotes; deeper ones are text."""
_SPECIAL = re.compile(
    r"`([^`\n]+)`|\[([^\[\]\n]{1,300})\]\(([^()\s]{1,2000})\)|(https?://[^\s<>()\"]{3,2000})|(?<![\w/])/([fu])/([\w-]{2,30})"
)
_EMPHASIS = (
    (re.compile(r"\*\*([^*\n]+)\*\*"), r"<strong>\1</strong>"),
    (re.compile(r"\*([^*\n]+)\*"), r"<em>\1</em>"),
    (re.compile(r"~~([^~\n]+)~~"), r"<del>\1</del>"),
)
_BULLET = re.compile(r"[-*] +")
_NUMBER = re.compile(r"[0-9]{1,3}[.)] +")
_HEADING = re.compile(r"#{1,4} +")


def markdown(text: str) -> Markup:
    """What was written, as a page shows it."""
    written(text)
    return Markup("".join(_blocks(str(text).replace("\r", "").split("\n"), 0)))


def _blocks(lines: list[str], depth: int) -> list[str]:
    found: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("```"):
            end = next((place for place in range(at + 1, len(lines)) if lines[place].startswith("```")), len(lines))
            found.append(f"<pre><code>{escape(chr(10).join(lines[at + 1 : end]))}</code></pre>")
            at = end + 1
        elif line.startswith(">") and depth < MOST_QUOTES:
            end = _run(lines, at, lambda one: one.startswith(">"))
            inside = [one[1:].removeprefix(" ") for one in lines[at:end]]
            found += ["<blockquote>", *_blocks(inside, depth + 1), "</blockquote>"]
            at = end
        elif _BULLET.match(line) or _NUMBER.match(line):
            mark, tag = (_BULLET, "ul") if _BULLET.match(line) else (_NUMBER, "ol")
            end = _run(lines, at, lambda one, mark=mark: mark.match(one) is not None)  # type: ignore[misc]
            items = "".join(f"<li>{_inline(mark.sub('', one, count=1))}</li>" for one in lines[at:end])
            found.append(f"<{tag}>{items}</{tag}>")
            at = end
        elif not line.strip():
            at += 1
        elif _HEADING.match(line):
            found.append(f'<p class="heading"><strong>{_inline(_HEADING.sub("", line, count=1))}</strong></p>')
            at += 1
        else:
            end = _run(lines, at + 1, lambda one: bool(one.strip()) and not _begins(one, depth))
            found.append(f"<p>{'<br>'.join(_inline(one) for one in lines[at:end])}</p>")
            at = end
    return found


def _begins(line: str, depth: int) -> bool:
    """Whether the line begins another block."""
    return (
        line.startswith("```")
        or (line.startswith(">") and depth < MOST_QUOTES)
        or any(mark.match(line) for mark in (_BULLET, _NUMBER, _HEADING))
    )


def _run(lines: list[str], at: int, fits: Callable[[str], bool]) -> int:
    while at < len(lines) and fits(lines[at]):
        at += 1
    return at


def _inline(text: str) -> str:
    found, at = [], 0
    for special in _SPECIAL.finditer(text):
        found.append(_emphasized(text[at : special.start()]))
        at = special.end()
        code, label, target, address, kind, name = special.groups()
        if code:
            found.append(f"<code>{escape(code)}</code>")
        elif address:
            found.append(_link(address, str(escape(address))))
        elif kind:
            found.append(f'<a href="/{kind}/{escape(name)}">/{kind}/{escape(name)}</a>')
        elif safe_link(target):
            found.append(_link(target, _emphasized(label)))
        else:
            found.append(str(escape(special[0])))
    return "".join(found) + _emphasized(text[at:])


def _emphasized(text: str) -> str:
    text = str(escape(text))
    for mark, made in _EMPHASIS:
        text = mark.sub(made, text)
    return text


def _link(target: str, label: str) -> str:
    return f'<a href="{escape(target)}" rel="nofollow noopener">{label}</a>'


def safe_link(target: str) -> bool:
    """An address elsewhere, or a path on this site: nothing that a browser would run."""
    here = target.startswith("/") and not target.startswith(("//", "/\\"))
    there = re.fullmatch(r"https?://[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::[0-9]{1,5})?(?:[/?#]\S*)?", target, re.I) is not None
    return (here or there) and all(32 < ord(char) != 127 for char in target)
