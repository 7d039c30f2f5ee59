"""Agents on tasks as a table of cells: what each passed of what was decided, and where they differ most."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from webassay.analysis.numbers.rows import ResultRow


@dataclass
class HeatCell:
    passed: int = 0
    scored: int = 0
    played: int = 0
    planned: int = 0
    baseline: bool = False
    """An agent that does not try."""

    @property
    def rate(self) -> float | None:
        return self.passed / self.scored if self.scored else None

    @property
    def shade(self) -> str:
        """A class of the style sheet: eleven shades from none to all, and one for what nobody decided."""
        if self.rate is not None:
            return f"heat{round(10 * self.rate)}"
        return "undecided" if self.played else "unplayed"

    def add(self, row: ResultRow) -> None:
        self.planned += 1
        self.baseline = self.baseline or row.baseline
        self.played += row.played
        self.scored += row.score is not None
        self.passed += row.status == "pass"


@dataclass(frozen=True)
class HeatRow:
    benchmark: str
    name: str
    cells: tuple[HeatCell, ...]
    """One for each agent; an agent without this task has an empty one."""

    @property
    def rates(self) -> list[float]:
        """The rates of those that try; where nobody does, all of them."""
        trying = [cell for cell in self.cells if not cell.baseline] or self.cells
        return [cell.rate for cell in trying if cell.rate is not None]

    @property
    def spread(self) -> float:
        """How far the best agent is from the worst."""
        return max(self.rates) - min(self.rates) if len(self.rates) > 1 else 0.0

    @property
    def mean(self) -> float:
        return sum(self.rates) / len(self.rates) if self.rates else 2.0


@dataclass(frozen=True)
class HeatMap:
    agents: tuple[str, ...]
    rows: tuple[HeatRow, ...]

    def sorted(self, by: str) -> "HeatMap":
        keys: dict[str, Callable[[HeatRow], tuple[float | str, ...]]] = {
            "differ": lambda row: (-row.spread, row.name),
            "hard": lambda row: (row.mean, row.name),
            "name": lambda row: (row.name,),
        }
        return HeatMap(self.agents, tuple(sorted(self.rows, key=keys.get(by, keys["name"]))))


def heat_map(results: Iterable[tuple[str, ResultRow]], of: Callable[[ResultRow], str], first: Sequence[str]) -> HeatMap:
    """`results`: agents, as they are called, with a result of theirs. `first`: agents in the order of the columns."""
    cells: dict[tuple[str, str], dict[str, HeatCell]] = {}
    agents: dict[str, None] = dict.fromkeys(first)
    for agent, row in results:
        agents[agent] = None
        cells.setdefault((row.benchmark, of(row)), {}).setdefault(agent, HeatCell()).add(row)
    empty = HeatCell()
    rows = (
        HeatRow(benchmark, name, tuple(own.get(agent, empty) for agent in agents))
        for (benchmark, name), own in cells.items()
    )
    return HeatMap(tuple(agents), tuple(rows))
