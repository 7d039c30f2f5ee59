"""What callers may write for places and names: one or several, as text or as paths."""

import os
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

AnyPath = str | PathLike[str]
Paths = AnyPath | Sequence[AnyPath]
Names = str | Sequence[str]


def several(given: Paths) -> list[AnyPath]:
    """A single one needs no list around it; taken for a list, its letters would be the paths."""
    return [given] if isinstance(given, str | PathLike) else list(given)


def paths(given: Paths) -> list[Path]:
    """Each place once, however it is written."""
    unique: dict[str, Path] = {}
    for one in several(given):
        unique.setdefault(os.path.realpath(one), Path(one))
    return list(unique.values())


def names(given: Names) -> list[str]:
    return [given] if isinstance(given, str) else list(given)
