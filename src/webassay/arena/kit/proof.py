"""What `webassay check` proves about templates, as a table."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from webassay.core.record import Json

COLUMNS = ("oracle", "routes", "naive", "step 0", "facts", "shortcuts", "mistakes")


@dataclass
class Share:
    held: int = 0
    tried: int = 0

    def __str__(self) -> str:
        return "–" if not self.tried else str(self.held) if self.held == self.tried else f"{self.held}/{self.tried}"


@dataclass
class Proof:
    """What is proved about one template: by column, how often what should pass passed, and what should fail failed."""

    template: str
    columns: dict[str, Share] = field(default_factory=lambda: {name: Share() for name in COLUMNS})
    most_steps: int = 0
    seconds: float = 0.0
    """How long everything took that was played."""
    instances: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    """In how many instances a misreading was left out, because it does not apply or leads to the right end."""
    problems: list[str] = field(default_factory=list)
    pictures: dict[str, bytes] = field(default_factory=dict, repr=False)
    """The last page that was seen where the reference or a route did not pass, by file name."""

    def add(self, column: str, held: bool, problem: str) -> None:
        share = self.columns[column]
        share.tried += 1
        share.held += held
        if not held:
            self.problems.append(problem)

    def cells(self) -> list[str]:
        counts = (str(self.columns[name]) for name in COLUMNS)
        return [self.template, *counts, str(self.most_steps), f"{self.seconds:.0f}"]

    def notes(self) -> Iterator[str]:
        for name, count in sorted(self.left_out.items()):
            yield f"{self.template}: the misreading {name!r} was left out in {count} of {self.instances}."

    def as_json(self) -> dict[str, Json]:
        columns: dict[str, Json] = {
            name: {"held": share.held, "tried": share.tried} for name, share in self.columns.items()
        }
        return {
            "template": self.template,
            "columns": columns,
            "most_steps": self.most_steps,
            "seconds": round(self.seconds, 1),
            "left_out": dict(self.left_out),
            "problems": list(self.problems),
            "pictures": list(self.pictures),
        }


def merged(parts: Sequence[Sequence[Proof]]) -> list[Proof]:
    """The proofs of several worlds as one."""
    together: dict[str, Proof] = {}
    for proof in (proof for part in parts for proof in part):
        whole = together.setdefault(proof.template, Proof(proof.template))
        for name, share in proof.columns.items():
            whole.columns[name].held += share.held
            whole.columns[name].tried += share.tried
        whole.most_steps = max(whole.most_steps, proof.most_steps)
        whole.seconds += proof.seconds
        whole.instances += proof.instances
        whole.left_out += proof.left_out
        whole.problems += proof.problems
        whole.pictures |= proof.pictures
    return [together[name] for name in sorted(together)]


def as_table(proofs: Sequence[Proof]) -> str:
    """In columns, as wide as it has to be: names are never cut."""
    rows = [["template", *COLUMNS, "most steps", "seconds"], *(proof.cells() for proof in proofs)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) if place == 0 else cell.rjust(width) for place, (cell, width) in enumerate(line))
        for line in (zip(row, widths, strict=True) for row in rows)
    )
