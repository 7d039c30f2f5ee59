"""Verdicts out of free text.

Judges of the literature answer in prose, and prose quotes: a page's "Status: Processing", the words of the task, a
first thought that is taken back. So a verdict only counts where a verdict stands: at the beginning of a line, or as
the very last words of the reply; the last one of these wins; and where there is none there is no verdict.

`as-published` reads each judge as its authors' script does, mistakes included, to compare with published figures.
"""

import re
from collections.abc import Sequence
from typing import Literal

Parsing = Literal["robust", "as-published"]

# Marks that models put around a key or a value: bullets, bold, headings, quotes, numbering.
_DRESS = r"[\s\-*_#>`\"'“”‘’\[\](){}.•]*"
_LEAD = rf"^{_DRESS}(?:\d+[.)]{_DRESS})?"
_STATUS = re.compile(
    rf"(?:{_LEAD}|(?<=[.!?;,)\s])[\"'*_`]*)status{_DRESS}[:=]{_DRESS}"
    r"(success(?:ful)?|failure|failed|fail|un-?successful|not[ _-]success(?:ful)?)\b"
    rf"(?P<rest>[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_LINE_START = re.compile(rf"{_LEAD}\Z", re.MULTILINE)
_SCORE = re.compile(rf"(?:{_LEAD}|\b)score{_DRESS}[:=]?{_DRESS}([1-5])(?![\d.]*\d)", re.IGNORECASE | re.MULTILINE)
_REWARD = re.compile(rf"(?:{_LEAD}|\b)reward{_DRESS}[:=]{_DRESS}([1-5])(?![\d.]*\d)", re.IGNORECASE | re.MULTILINE)
_WEBVOYAGER = re.compile(r"\b(NOT[ _-]SUCCESS(?:FUL)?|UNSUCCESSFUL|FAILURE|SUCCESS)\b")


def status(text: str, parsing: Parsing = "robust") -> bool | None:
    """`Status: success` or `Status: failure`."""
    if parsing == "as-published":
        parts = text.lower().split("status:")
        return "success" in parts[1] if len(parts) > 1 else False
    found: bool | None = None
    for match in _STATUS.finditer(text):
        word = match[1].lower()
        rest = match["rest"].strip(" \t\r*_`\"'“”‘’.[](){}")
        if not _stands_alone(text, match, rest) or _offers_both(rest):
            continue
        found = word.startswith("success")
    return found


def _stands_alone(text: str, match: re.Match[str], rest: str) -> bool:
    """At the beginning of its line, or the last words of the whole reply."""
    line = text.rfind("\n", 0, match.start() + 1) + 1
    lead = text[line : match.start(1)].lower().split("status")[0]
    return bool(_LINE_START.fullmatch(lead)) or (not rest and not text[match.end() :].strip())


def _offers_both(rest: str) -> bool:
    """The instruction repeated ("success" or "failure") is no verdict."""
    return bool(re.match(r"^(or|/|\|)\W*(success|fail)", rest, re.IGNORECASE))


def webvoyager(text: str, parsing: Parsing = "robust") -> bool | None:
    if parsing == "as-published":
        if "NOT SUCCESS" in text:
            return False
        return True if "SUCCESS" in text else None
    found: bool | None = None
    for line in text.splitlines():
        words = _WEBVOYAGER.findall(line)
        bare = re.sub(rf"{_DRESS}", "", _WEBVOYAGER.sub("", line))
        # A line that is little more than the verdict, or one that announces it.
        if words and len(set(words)) == 1 and (len(bare) <= 2 or re.match(r"(?i)(final)?(verdict|evaluation)", bare)):
            found = words[-1] == "SUCCESS"
    if found is not None:
        return found
    tail = text.rstrip(" \t\r\n*_`\"'“”‘’.!")
    last = list(_WEBVOYAGER.finditer(tail))
    if last and last[-1].end() == len(tail):
        return last[-1][1] == "SUCCESS"
    return None


def frame_score(text: str, parsing: Parsing = "robust") -> int:
    """WebJudge's 1 to 5 for one picture; 0 where none can be read, so that the picture is left out."""
    if parsing == "as-published":
        parts = text.split("Score")
        digits = re.findall(r"[1-5]", parts[1]) if len(parts) > 1 else []
        return int(digits[0]) if digits else 0
    scores = _SCORE.findall(text)
    return int(scores[-1]) if scores else 0


def frame_reason(text: str) -> str:
    """What stands between the words Reasoning and Score, on one line."""
    found = re.search(rf"reasoning{_DRESS}:?{_DRESS}(.*?)(?={_LEAD}score|\Z)", text, re.I | re.S | re.M)
    body = found[1] if found else text
    return " ".join(body.strip(" \n*#").split())


def key_points(text: str) -> str:
    """The list after the heading `Key Points`, or the whole reply where there is no such heading."""
    parts = re.split(r"(?i)\**key points\**\s*:?\**", text, maxsplit=1)
    return "\n".join(line.lstrip() for line in parts[-1].strip().splitlines())


def numbered(text: str) -> tuple[str, ...]:
    """The points of a numbered or bulleted list, each on one line."""
    points: list[str] = []
    for line in text.splitlines():
        if not line.strip():
            continue
        item = re.match(r"^\s*(?:\d+[.):]|[-*•])\s+(.*)", line)
        if item:
            points.append(item[1].strip())
        elif points:
            points[-1] += " " + line.strip()
        else:
            points.append(line.strip())
    return tuple(point.strip("* ") for point in points if point.strip("* "))


def reward(text: str) -> int | None:
    found = _REWARD.findall(text)
    return int(found[-1]) if found else None


def tags(text: str, names: Sequence[str]) -> dict[str, str]:
    """`<name>value</name>`; the last one of each; a name that is missing is missing."""
    values = {}
    for name in names:
        found = re.findall(rf"<{name}>\s*(.*?)\s*</{name}>", text, re.IGNORECASE | re.DOTALL)
        if found:
            values[name] = found[-1]
    return values


_YES = {"yes", "successful", "success", "true"}
_NO = {"no", "unsuccessful", "failure", "fail", "failed", "false"}


def yes_or_no(text: str | None) -> bool | None:
    word = re.match(r"\W*([a-z]+)", (text or "").lower())
    if word is None or word[1] not in _YES | _NO:
        return None
    return word[1] in _YES


def optimality(text: str | None) -> int | None:
    """1 complete failure, 2 suboptimal, 3 somewhat optimal, 4 completely optimal; by number or by words."""
    said = (text or "").lower()
    digit = re.match(r"\W*([1-4])\b", said)
    if digit:
        return int(digit[1])
    for value, words in ((1, "failure"), (2, "suboptimal"), (3, "somewhat"), (4, "optimal")):
        if words in said:
            return value
    return None
