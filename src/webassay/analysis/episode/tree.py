"""An accessibility tree as lines, with what the step acted on."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from webassay.core.trajectory import Step

_LINE = re.compile(r"(\t*)(?:\[([^\]\s]{1,40})\] )?(.*)")


@dataclass(frozen=True)
class TreeLine:
    depth: int
    id: str
    text: str
    acted: bool = False


def acted_ids(step: Step) -> frozenset[str]:
    named = (action.args.get(name) for action in step.actions for name in ("bid", "from_bid", "to_bid"))
    return frozenset(str(one) for one in named if one)


def tree_lines(tree: str, acted: Collection[str] = ()) -> Iterator[TreeLine]:
    for line in tree.split("\n"):
        found = _LINE.fullmatch(line)
        if found is not None:
            depth, id, text = found.groups()
            yield TreeLine(len(depth), id or "", text, acted=bool(id) and id in acted)
