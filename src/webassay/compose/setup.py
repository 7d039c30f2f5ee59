"""Where this machine keeps things, and who hears how work goes on."""

from dataclasses import dataclass, field
from pathlib import Path

import platformdirs

from webassay.browser.devtools.chromium import find_chromium
from webassay.core.progress import OnNotice, OnProgress, silent, unheard


def default_cache() -> Path:
    """Built worlds, fetched task files, replies of models; safe to delete."""
    return Path(platformdirs.user_cache_dir("webassay", appauthor=False))


@dataclass(frozen=True)
class Setup:
    cache: Path = field(default_factory=default_cache)
    chromium: str | None = None
    """The path of a Chromium; None: the one that is found."""
    on_progress: OnProgress = silent
    tell: OnNotice = unheard
    """Hears, in words, what is damaged in a run directory."""

    def find_chromium(self) -> Path:
        return find_chromium(self.chromium)
