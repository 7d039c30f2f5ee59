"""How work tells whoever asked for it how far it is, and what they should know although it goes on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

OnNotice = Callable[[str], None]
"""Told in words what a person should know although the work goes on."""


def unheard(notice: str) -> None:
    """For callers that do not want to know."""


@dataclass(frozen=True)
class Progress:
    """How far a long piece of work is."""

    doing: str
    done: int = 0
    total: int | None = None
    """None: nobody knows yet."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Verdicts so far, by status."""
    trouble: str = ""
    """What went wrong last, in a few words."""


OnProgress = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """For callers that do not want to know."""
