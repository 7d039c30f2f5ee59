"""How hard an instance is, measured: what an honest solver has to read and do, and the step limit that follows.

| difficulty | when |
|---|---|
| extreme | at least 200 rows on at least 10 pages |
| hard | at least 60 rows, or 8 pages, or 30 steps |
| medium | at least 15 rows, or 4 pages, or 10 steps |
| easy | otherwise |

Every further site raises it by one, but not to extreme.
"""

from dataclasses import dataclass
from typing import Literal, get_args

from webassay.core.errors import TaskError

Difficulty = Literal["easy", "medium", "hard", "extreme"]
DIFFICULTIES: tuple[Difficulty, ...] = get_args(Difficulty)

STEP_LIMITS = (30, 60, 120, 240, 480)
"""Few, and shared by tasks of every kind, so that the limit does not tell what the answer is."""


@dataclass(frozen=True)
class Effort:
    """What one instance takes. `webassay check` holds the steps against what is really played."""

    rows: int
    """Entries (reviews, products, orders) that have to be read before the answer is certain."""
    pages: int
    """Pages on which these stand, with as many on each as the site offers."""
    steps: int
    """The most that the reference solution takes, the answer included."""
    longest: int = 0
    """The most that another route takes, where that is more."""

    @property
    def step_limit(self) -> int:
        """At least twice what the longest route takes."""
        most = max(self.steps, self.longest)
        for limit in STEP_LIMITS:
            if 2 * most <= limit:
                return limit
        raise TaskError(
            f"A reference route of {most} steps is too long.",
            hint=f"Draw smaller instances: at most {STEP_LIMITS[-1] // 2} steps.",
        )

    def difficulty(self, sites: int = 1) -> Difficulty:
        if self.rows >= 200 and self.pages >= 10:
            return "extreme"
        if self.rows >= 60 or self.pages >= 8 or self.steps >= 30:
            level = 2
        else:
            level = int(self.rows >= 15 or self.pages >= 4 or self.steps >= 10)
        return DIFFICULTIES[min(level + sites - 1, 2)]


def pages_of(rows: int, size: int) -> int:
    """How many pages a list of that many rows has."""
    return max(1, -(-rows // size))
