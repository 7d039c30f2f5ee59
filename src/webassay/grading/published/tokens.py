"""Words as the old harness splits them: the Penn Treebank rules, sentence by sentence, on text in lower case.

It matters in one place: a key of a single character must be a word of the answer. So `2` is in "2, 3" and in "$2", and
not in "2.5", "1:2" or "2. then".
"""

import re

_CLOSERS = r"\])}>\"'» "
_FULL_STOP_AT_END = re.compile(rf"([^.])(\.)([{_CLOSERS}]*)\s*$")
_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"([«“‘„]|[`]+)", r" \1 "),
        (r"^\"", r"`` "),
        (r"([ (\[{<])(\"|'{2})", r"\1 `` "),
        (r"'(?!re|ve|ll|[mtsdn])(\w)\b", r"' \1"),
        (r"([:,])([^\d])", r" \1 \2"),
        (r"([:,])$", r" \1 "),
        (r"\.{2,}", r" \g<0> "),
        (r"[;@#$%&]", r" \g<0> "),
    )
)
_AFTER_FULL_STOP: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"[?!*]", r" \g<0> "),
        (r"([^'])' ", r"\1 ' "),
        (r"[\]\[(){}<>]", r" \g<0> "),
        (r"--", r" -- "),
    )
)
_AT_LAST: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"([»”’])", r" \1 "),
        (r"''", r" '' "),
        (r"\"", r" '' "),
        (r"([^' ])('s|'m|'d|') ", r"\1 \2 "),
        (r"([^' ])('ll|'re|'ve|n't) ", r"\1 \2 "),
    )
)
_NUMBERED = re.compile(r"(?:^|\s)[(\"`{\[:;&#*@)}\]\-,]*(?:[^\W\d_]|[\d.,-]*\d)\.$")
"""A number or a single letter with a full stop: the start of an entry in a list, unless a sentence ends there."""


def words(text: str) -> list[str]:
    return [word for sentence in _sentences(text) for word in _split(sentence)]


def _sentences(text: str) -> list[str]:
    """A full stop before a space ends a sentence, except after a number or a letter that a word follows."""
    found, start = [], 0
    for stop in re.finditer(rf"[.?!][{_CLOSERS.strip()}]*(?=\s+(\S))", text):
        before = text[start : stop.start() + 1]
        if stop[0] == "." and _NUMBERED.search(before) and (stop[1].isalpha() or stop[1] in ";:,.!?"):
            continue
        found.append(text[start : stop.end()])
        start = stop.end()
    return [*found, text[start:]]


def _split(sentence: str) -> list[str]:
    sentence = sentence.strip()
    for pattern, replacement in _RULES:
        sentence = pattern.sub(replacement, sentence)
    sentence = _FULL_STOP_AT_END.sub(r"\1 \2 \3 ", sentence)
    for pattern, replacement in _AFTER_FULL_STOP:
        sentence = pattern.sub(replacement, sentence)
    sentence = f" {sentence} "
    for pattern, replacement in _AT_LAST:
        sentence = pattern.sub(replacement, sentence)
    return sentence.split()
