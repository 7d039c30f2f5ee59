"""Where this machine keeps things, and how long work tells how far it is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import platformdirs

from webassay.browser.chromium import find_chromium


def default_cache() -> Path:
    """Built worlds, fetched task files, replies of models; safe to delete."""
    return Path(platformdirs.user_cache_dir("webassay", appauthor=False))


OnNotice = Callable[[str], None]
"""Told in words what a person should know although the work goes on."""


def unheard(notice: str) -> None:
    """For callers that do not want to know."""


@dataclass(frozen=True)
class Setup:
    cache: Path = field(default_factory=default_cache)
    chromium: str | None = None
    """The path of a Chromium; None: the one that is found."""
    tell: OnNotice = unheard

    def find_chromium(self) -> Path:
        return find_chromium(self.chromium)


@dataclass(frozen=True)
class Progress:
    """How far a long piece of work is."""

    doing: str
    done: int = 0
    total: int | None = None
    """None: nobody knows yet."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Verdicts so far, by status."""


OnProgress = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """For callers that do not want to know."""
