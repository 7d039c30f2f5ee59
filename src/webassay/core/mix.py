"""A few that mirror the many: of each kind as large a share as among all."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence


def features(kind: str, sites: Iterable[str], difficulty: Hashable) -> tuple[Hashable, ...]:
    """What a task, or a template, is told by; how its kind goes with the rest counts as well."""
    where = tuple(sorted(sites))
    return (kind, where, difficulty, (kind, where), (kind, difficulty))


def mirroring(features: Sequence[Sequence[Hashable]], count: int) -> list[int]:
    """The places of so many things, each told by its features. One after the other is chosen: whichever has most of
    what is still missing. So a larger number holds a smaller one, and the same is always chosen."""
    marked = [list(enumerate(each)) for each in features]
    share = Counter(mark for marks in marked for mark in marks)
    taken: Counter[Hashable] = Counter()
    left, chosen = list(range(len(marked))), list[int]()
    while left and len(chosen) < count:
        part = (len(chosen) + 1) / len(marked)
        best = min(left, key=lambda place: sum(taken[mark] - part * share[mark] for mark in marked[place]))
        left.remove(best)
        chosen.append(best)
        taken.update(marked[best])
    return chosen
