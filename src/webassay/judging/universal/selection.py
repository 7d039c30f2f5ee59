"""Which pages are looked at, and what those who decide are told about the others.

Nothing that decides may get lost. A fixed number of screenshots for each criterion (`top_k`, as in the paper) loses
pages: a task over eight orders needs eight. So by default every page that matters is taken, up to a generous number of
pictures; pages that belong together stay together; the others are told as text while there is room. A page that nobody
looked at is named, with the reason.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from webassay.judging.record.pages import Book, Digest
from webassay.judging.universal.profile import Pruning

Relevance = Mapping[int, tuple[int, ...]]
"""By number of the screenshot: its score for each criterion, 0 to 10."""

Groups = tuple[tuple[int, ...], ...]
"""For each criterion, the numbers of its screenshots, in order of time."""

_NEAR_THE_TOP = 2
_MATTERS = 5
_HARDLY = 3
"""At most "hardly any" use, as relevance is asked for."""


def group(relevance: Relevance, criteria: int, *, top_k: int, prune: Pruning, minimum: int = 0) -> Groups:
    """Picks the `top_k` screenshots that matter most for each criterion, in order of time."""
    return tuple(_top(relevance, index, top_k, prune, minimum) for index in range(criteria))


def _top(relevance: Relevance, index: int, top_k: int, prune: Pruning, minimum: int) -> tuple[int, ...]:
    scores = {number: row[index] for number, row in relevance.items()}
    # Among equals the later one is nearer to the final state.
    ranked = sorted(scores, key=lambda number: (-scores[number], -number))[:top_k]
    if minimum:
        ranked = [number for number in ranked if scores[number] >= minimum] or ranked[:1]
    if prune == "paper":
        decisive = [number for number in ranked if scores[number] > 7]
        if decisive:
            ranked = [n for n in ranked if scores[n] >= 5 or n > min(decisive)]
    elif prune == "released":
        high = [scores[number] for number in ranked if scores[number] >= 6]
        if high:
            least = min(high)
            ranked = [n for n in ranked if scores[n] >= 5 or least - scores[n] <= 2] or ranked
    return tuple(sorted(ranked))


# --- as many as matter ----------------------------------------------------------------------------------


def select(
    relevance: Relevance,
    criteria: int,
    most: int,
    held: frozenset[int],
    book: Book,
    read: frozenset[int] = frozenset(),
) -> Groups:
    """For each criterion: the screenshots near its best score and their kin, the pages that hold a value of the answer
    or the rubric, and the last page.

    Pages in `read` reach those who decide as text. So if they are only kin or only hold a value, they are also shown as
    pictures only where a score says they are of use. At most `most` screenshots in all: the lowest scores give way
    first, then pages read as text; among equals the later one stays.
    """
    wanted = [_wanted(relevance, index, held, book, read) for index in range(criteria)]
    last = max(relevance, default=0)
    best = {number: max(row, default=0) for number, row in relevance.items()}
    everything = sorted(set().union(*wanted), key=lambda n: (n != last, n not in held, n in book.pages, -best[n], -n))
    kept = set(everything[:most])
    groups = [tuple(sorted(numbers & kept)) for numbers in wanted]
    # A criterion whose pages all gave way is still looked at on the page that matters most for it.
    return tuple(
        numbers or (max(kept, key=lambda n: (relevance[n][index], n)),) if kept else ()
        for index, numbers in enumerate(groups)
    )


def _wanted(relevance: Relevance, index: int, held: frozenset[int], book: Book, read: frozenset[int]) -> set[int]:
    scores = {number: row[index] for number, row in relevance.items()}
    if not scores:
        return set()
    best = max(scores.values())
    near = {n for n, score in scores.items() if score >= max(best - _NEAR_THE_TOP, 1) or score >= _MATTERS + 2}
    near = near or {max(scores)}
    kin = {other for n in near for other in book.kin(n) if other in scores}
    holding = held & set(scores)
    if best > _HARDLY:  # else the scores tell no page from another
        hardly = {number for number, score in scores.items() if score <= _HARDLY}
        kin -= hardly & read
        holding -= {n for n in holding & hardly if n in read or max(relevance[n]) > _HARDLY}
    return near | kin | holding | {max(scores)}


def without_picture(relevance: Relevance, book: Book) -> frozenset[int]:
    """Pages with text that only their text brought in: no score says they are of use. The last page always counts."""
    scores = {number: max(row, default=0) for number, row in relevance.items()}
    if max(scores.values(), default=0) <= _HARDLY:  # the scores tell no page from another
        return frozenset()
    last = max(scores)
    hardly = (number for number, score in scores.items() if score <= _HARDLY and number != last)
    return frozenset(n for n in hardly if n in book.pages and book.pages[n].stands_for_its_picture)


# --- what was examined, and what was not ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Examined:
    """How each page was looked at. A stage that decides must know what it does not know."""

    pictures: tuple[int, ...] = ()
    """Looked at as a picture."""
    excerpts: tuple[int, ...] = ()
    """Looked at for the evidence like these, but by their text alone."""
    texts: tuple[int, ...] = ()
    """Read as text, whole."""
    parts: tuple[int, ...] = ()
    """Read as text, in part."""
    unseen: Mapping[int, str] = field(default_factory=dict)
    """By number: why nobody looked at it."""
    unseen_may_matter: bool = True
    """Whether one of those was found to be of use."""

    @classmethod
    def of(
        cls, numbers: Sequence[int], groups: Groups, told: Digest, relevance: Relevance, by_text: Collection[int] = ()
    ) -> "Examined":
        looked_at = {number for one in groups for number in one}
        read = set(told.whole) | set(told.part)
        unseen = {
            number: (
                "its text did not fit, and others mattered more"
                if number in told.missing
                else f"at most {max(relevance.get(number, (0,)), default=0)} of 10 for every criterion, and no text"
            )
            for number in numbers
            if number not in looked_at and number not in read
        }
        may_matter = any(max(relevance.get(number, (10,)), default=10) > _HARDLY for number in unseen)
        pictures = tuple(sorted(looked_at.difference(by_text)))
        excerpts = tuple(sorted(looked_at.intersection(by_text)))
        return cls(pictures, excerpts, told.whole, told.part, unseen, may_matter)

    def describe(self, total: int) -> str:
        lines = [f"The record has {total} screenshots; identical ones are told once, under the number of the last."]
        lines.append(f"Looked at as pictures: {_listed(self.pictures)}.")
        if self.excerpts:
            lines.append(f"Looked at for the evidence, by their text alone: {_listed(self.excerpts)}.")
        if self.texts or self.parts:
            lines.append(f"Read as text, whole: {_listed(self.texts)}.")
        if self.parts:
            lines.append(
                f"Read as text, only the lines that hold a value of task, answer or rubric: {_listed(self.parts)}."
            )
        if self.unseen:
            lines.append("Rated for relevance at most, and not examined:")
            lines += [f"- screenshot {number}: {why}" for number, why in sorted(self.unseen.items())]
            lines.append(
                "That something is missing from the evidence says nothing if it may stand on one of these."
                if self.unseen_may_matter
                else "Whoever rated these found them of no use for any criterion."
            )
        else:
            lines.append("Not examined: none. Every recorded page was examined, as picture or text, as listed above.")
        return "\n".join(lines)


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers)) or "none"
