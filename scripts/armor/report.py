"""What a section reports: figures, what they must be, and the cases that break them."""

from collections import Counter
from dataclasses import dataclass, field

MOST_SHOWN = 5


@dataclass
class Report:
    scale: float = 1.0
    """Share of the number of cases; 1 is what the docs state."""
    seed: int = 0
    failed: list[str] = field(default_factory=list)

    def cases(self, count: int) -> int:
        return max(1, round(count * self.scale))

    def __call__(self, line: str) -> None:
        """For sections that only tell."""
        self.say(f"  {line}")

    def say(self, text: str) -> None:
        print(text, flush=True)

    def must(self, what: str, found: object, expected: object, examples: list[str] | None = None) -> None:
        held = found == expected
        self.say(f"  {'holds ' if held else 'BREAKS'} {what}: {found}" + ("" if held else f", and must be {expected}"))
        if not held:
            self.failed.append(what)
            for example in (examples or [])[:MOST_SHOWN]:
                self.say(f"         {example}")

    def counts(self, counted: Counter[str]) -> None:
        for name, count in sorted(counted.items()):
            self.say(f"         {count:7,} {name}")
