"""The part of a page's text for a stage that has no room for all of it.

First lines that tell the extent of a list, then those with a value of the answer or the task, then those with words of
the task (rare ones first), then what only this page has: menus and forms on every page go first.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from webassay.judging.case import clip
from webassay.judging.record.paging import tells_extent

_WORD = re.compile(r"[^\W\d_]{4,}")
_VALUE = 2.0
_EXTENT = 3.0
_FEW = 4
"""Lines of a page that say how much there is weigh this much as long as they are few: they are short, and without them
nobody can tell whether the rows are all. Beside every row they say something else."""
_OWN = 0.1
_SEVERAL = 6
"""Lines that there is room for, however long they are."""
_SHORTEST = 80

Weigher = Callable[[Sequence[str]], list[float]]
"""The lines of a page to what each of them weighs."""


def words_in(text: str) -> set[str]:
    """Without the s of a plural, so that `discounts` finds `Discount`."""
    return {word.lower().removesuffix("s") for word in _WORD.findall(text)}


def weigher(task: str, holds_value: Callable[[str], bool], pages: Iterable[Sequence[str]] = ()) -> Weigher:
    asked = words_in(task)
    on_pages = Counter(line for lines in pages for line in set(lines))

    def weigh(lines: Sequence[str]) -> list[float]:
        shared = [words_in(line) & asked for line in lines]
        often = Counter(word for words in shared for word in words)
        extents = [tells_extent(line) for line in lines]
        extent = _EXTENT * min(1.0, _FEW / max(sum(extents), 1))
        return [
            _VALUE * holds_value(line)
            + extent * tells
            + sum(1 / often[word] for word in sorted(words))
            + _OWN * (on_pages[line] <= 1)
            for line, words, tells in zip(lines, shared, extents, strict=True)
        ]

    return weigh


def excerpt(lines: Sequence[str], limit: int, weigh: Weigher | None = None) -> str:
    """Whole lines, since half a row is worse than none; only very long lines lose their middle. Two thirds of the
    room go to lines of weight, the rest to the beginning and the end of the page."""
    text = "\n".join(lines)
    if len(text) <= limit:
        return text
    weights = weigh(lines) if weigh is not None else []
    longest = max(limit // _SEVERAL, _SHORTEST)
    # To say that a few characters were left out takes as many, and one of them may be what matters.
    lines = [line if len(line) <= longest + _SHORTEST else clip(line, longest) for line in lines]
    kept: set[int] = set()
    room = limit
    for at in sorted((at for at, weight in enumerate(weights) if weight > 0), key=lambda at: -weights[at]):
        if len(lines[at]) + 1 <= room - limit // 3:
            kept.add(at)
            room -= len(lines[at]) + 1
    for at in _from_both_ends(len(lines)):
        if at in kept:
            continue
        room -= len(lines[at]) + 1
        if room < 0:
            break
        kept.add(at)
    if not kept:
        return clip(text, limit)
    gap = len(lines) - len(kept)
    return "\n".join((*_with_gaps(lines, kept), *([_note(gap)] if gap else [])))


def _from_both_ends(count: int) -> Iterator[int]:
    """Three from the beginning for each one from the end."""
    first, last = 0, count - 1
    for number in range(count):
        if number % 4 < 3:
            yield first
            first += 1
        else:
            yield last
            last -= 1


def _with_gaps(lines: Sequence[str], kept: set[int]) -> Iterator[str]:
    for at, line in enumerate(lines):
        if at in kept:
            yield line
        elif at - 1 in kept or at == 0:
            yield "[…]"


def _note(gap: int) -> str:
    return f"[{gap} lines of this page were left out, where […] stands]"
