"""True bipartite matching, so that the order in which pairs are tried never decides a verdict."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")


def assign(wanted: Sequence[A], given: Sequence[B], fits: Callable[[A, B], bool]) -> dict[int, int]:
    """Pairs as many of `wanted` as possible with a fitting one of `given`; each is used once, both are positions."""
    edges = [[j for j, there in enumerate(given) if fits(here, there)] for here in wanted]
    return matching(edges)


def matching(edges: Sequence[Sequence[int]]) -> dict[int, int]:
    """Maximum matching of a bipartite graph: augmenting paths, breadth first, without recursion."""
    taken: dict[int, int] = {}
    for start in range(len(edges)):
        came_from: dict[int, int] = {}
        queue = deque([start])
        end: int | None = None
        while queue and end is None:
            here = queue.popleft()
            for there in edges[here]:
                if there in came_from:
                    continue
                came_from[there] = here
                if there not in taken:
                    end = there
                    break
                queue.append(taken[there])
        if end is not None:
            _augment(end, came_from, taken, start)
    return {here: there for there, here in taken.items()}


def _augment(end: int, came_from: dict[int, int], taken: dict[int, int], start: int) -> None:
    held = {here: there for there, here in taken.items()}
    there = end
    while True:
        here = came_from[there]
        released = held.get(here)
        taken[there] = here
        if here == start or released is None:
            return
        there = released
