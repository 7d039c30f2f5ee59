"""Verdicts out of free text: what several judges share.

Prose quotes: a page's "Status: Processing", the words of the task, a first thought later withdrawn. So a verdict counts
only at the start of a line or at the very end; the last one wins; without one, there is no verdict. `as-published`
reads each judge as its authors' script does, mistakes included, to compare with published figures.
"""

import re
from typing import Literal

Parsing = Literal["robust", "as-published"]

_DRESS = r"[\s\-*_#>`\"'“”‘’\[\](){}.•]"
DRESS = f"{_DRESS}*"
"""Marks that models put around a key or a value: bullets, bold, headings, quotes."""
LEAD = rf"^{DRESS}(?:\d+[.)]{DRESS})?"
"""The start of a line, up to its first word."""

_STATUS = re.compile(
    rf"(?:{LEAD}|(?<=[.!?;,)\s])[\"'*_`]*)status{DRESS}[:=]{DRESS}"
    r"(success(?:ful)?|failure|failed|fail|un-?successful|not[ _-]success(?:ful)?)\b"
    rf"(?P<rest>[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_LONG_RUN = re.compile(rf"({_DRESS}{{60}}){_DRESS}+")
_LINE_START = re.compile(rf"{LEAD}\Z", re.MULTILINE)


def tidy(text: str) -> str:
    """Cuts endless runs of marks and blank lines, over which patterns that skip marks would take quadratic time."""
    return _LONG_RUN.sub(r"\1", text)


def status(text: str, parsing: Parsing = "robust") -> bool | None:
    """`Status: success` or `Status: failure`."""
    if parsing == "as-published":
        parts = text.lower().split("status:")
        return "success" in parts[1] if len(parts) > 1 else False
    text = tidy(text)
    found: bool | None = None
    for match in _STATUS.finditer(text):
        word = match[1].lower()
        rest = match["rest"].strip(" \t\r*_`\"'“”‘’.[](){}")
        if not _stands_alone(text, match, rest) or _offers_both(rest):
            continue
        found = word.startswith("success")
    return found


def _stands_alone(text: str, match: re.Match[str], rest: str) -> bool:
    """At the start of its line, or the last words of the whole reply."""
    line = text.rfind("\n", 0, match.start() + 1) + 1
    lead = text[line : match.start(1)].lower().split("status")[0]
    return bool(_LINE_START.fullmatch(lead)) or (not rest and not text[match.end() :].strip())


def _offers_both(rest: str) -> bool:
    """A repeated instruction ("success" or "failure") is no verdict."""
    return bool(re.match(r"^(or|/|\|)\W*(success|fail)", rest, re.IGNORECASE))
