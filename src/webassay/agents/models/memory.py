"""What an agent keeps from page to page. Any agent can use any of these.

- `Notes`: what the model writes down, verbatim, for the whole episode. The BrowserGym-style agent's.
- `Table`: rows that can be filtered and added up, so that counting six hundred posts is data and not prose.
- `Window`: the latest notes verbatim, everything before as a summary the model writes.
- `PlanNotes`: notes attached to a tree of plans. The AgentOccam-style agent's.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, Literal, Protocol

from webassay.agents.models.plans import PlanTree
from webassay.agents.models.prompts import render
from webassay.agents.models.tools import Tool, ToolResult, show_number
from webassay.core.errors import ActionError
from webassay.core.interaction import Action
from webassay.llm.client import Message, Model, Reply


class Memory(Protocol):
    kind: str
    in_history: bool
    """Agents that show their history show each note with its step, instead of `show()`."""

    def start(self, instruction: str) -> None:
        """A new episode: forget the last one."""
        ...

    def at(self, url: str, step: int) -> None:
        """Where the agent is now."""
        ...

    def remember(self, text: str) -> None: ...

    def show(self) -> str:
        """The part of every prompt; empty if there is nothing to show."""
        ...

    def guide(self) -> str:
        """How the model is told to use it."""
        ...

    def tools(self) -> tuple[Tool, ...]: ...

    async def tidy(self, model: Model) -> tuple[Reply, ...]:
        """After each step; may ask the model."""
        ...


class _Plain:
    """The parts that most memories share."""

    kind = ""
    in_history = False

    def __init__(self) -> None:
        self._url = ""
        self._step = 0

    def start(self, instruction: str) -> None:
        self._url, self._step = "", 0

    def at(self, url: str, step: int) -> None:
        self._url, self._step = url, step

    def guide(self) -> str:
        return render(f"memory_{self.kind}.md")

    def tools(self) -> tuple[Tool, ...]:
        return ()

    async def tidy(self, model: Model) -> tuple[Reply, ...]:
        return ()


class NotesMemory(_Plain):
    kind = "notes"
    in_history = True

    def __init__(self) -> None:
        super().__init__()
        self.notes: list[tuple[int, str]] = []

    def start(self, instruction: str) -> None:
        super().start(instruction)
        self.notes = []

    def remember(self, text: str) -> None:
        if text.strip():
            self.notes.append((self._step, text.strip()))

    def show(self) -> str:
        return "\n".join(f"step {step}: {text}" for step, text in self.notes)


class WindowMemory(_Plain):
    """Bounded, whatever the length of the episode."""

    kind = "window"

    def __init__(self, *, keep: int = 10, slack: int = 5) -> None:
        super().__init__()
        self._keep, self._slack = keep, slack
        self.summary = ""
        self.recent: list[tuple[int, str]] = []

    def start(self, instruction: str) -> None:
        super().start(instruction)
        self.summary, self.recent = "", []

    def remember(self, text: str) -> None:
        if text.strip():
            self.recent.append((self._step, text.strip()))

    def show(self) -> str:
        lines = [f"step {step}: {text}" for step, text in self.recent]
        return "\n".join([f"Summary of everything before: {self.summary}", *lines] if self.summary else lines)

    async def tidy(self, model: Model) -> tuple[Reply, ...]:
        # Some slack, so that the model is not asked at every step.
        if len(self.recent) <= self._keep + self._slack:
            return ()
        old = self.recent[: -self._keep]
        question = render("memory_summary.md", summary=self.summary, notes=old)
        reply = await model.ask([Message.user(question)], purpose="summary")
        if reply.text.strip():
            self.summary, self.recent = reply.text.strip(), self.recent[-self._keep :]
        return (reply,)


# --- tables -----------------------------------------------------------------------------------------------

Cell = str | int | float | bool | None
Row = dict[str, Cell]

MAX_ROWS = 10_000
MAX_CELL = 2000
MAX_COLUMNS = 40
MAX_SHOWN = 200


class TableMemory(_Plain):
    kind = "table"

    def __init__(self) -> None:
        super().__init__()
        self.tables: dict[str, list[Row]] = {}
        self._columns: dict[str, dict[str, None]] = {}
        self._notes = NotesMemory()

    def start(self, instruction: str) -> None:
        super().start(instruction)
        self.tables, self._columns = {}, {}
        self._notes.start(instruction)

    def at(self, url: str, step: int) -> None:
        super().at(url, step)
        self._notes.at(url, step)

    def remember(self, text: str) -> None:
        self._notes.remember(text)

    def show(self) -> str:
        lines = [self._notes.show()] if self._notes.notes else []
        for name, rows in self.tables.items():
            lines.append(f"Table {name}: {len(rows)} rows, columns {', '.join(self._columns[name])}. Last rows:")
            lines.extend(_line(row) for row in rows[-3:])
        return "\n".join(lines)

    def tools(self) -> tuple[Tool, ...]:
        where = "where={'column': value} or {'column': ['>=', value]} (also = != < <= > contains)"
        return (
            Tool("table_add(table: str, rows: list[dict])", "Append rows; they are kept for good.", self.add),
            Tool("table_show(table: str, where={}, sort='', limit=50)", f"Print rows; {where}.", self.print),
            Tool(
                "table_compute(table: str, what: str, column='', where={}, by='')",
                "count, sum, mean, min, max or distinct of a column, for each value of `by` if given.",
                self.compute,
            ),
            Tool("table_remove(table: str, where: dict)", "Take out the rows that fit.", self.remove),
        )

    def add(self, table: str, rows: Any) -> str:
        new = [_row(row) for row in ([rows] if isinstance(rows, dict) else _list(rows))]
        kept = self.tables.setdefault(str(table), [])
        if len(kept) + len(new) > MAX_ROWS:
            raise ActionError(f"A table holds at most {MAX_ROWS} rows.")
        kept.extend(new)
        self._columns.setdefault(str(table), {}).update((column, None) for row in new for column in row)
        return f"Table {table}: {len(new)} rows added, {len(kept)} in all."

    def print(self, table: str, where: Any = None, sort: str = "", limit: int = 50) -> str:
        rows = self._chosen(table, where)
        if sort:
            descending = sort.startswith("-")
            column = sort.removeprefix("-")
            rows = sorted(rows, key=lambda row: _order(row.get(column)), reverse=descending)
        shown = rows[: max(1, min(int(limit), MAX_SHOWN))]
        return "\n".join([f"{len(rows)} rows, {len(shown)} shown:", *map(_line, shown)])

    def compute(self, table: str, what: str, column: str = "", where: Any = None, by: str = "") -> str:
        rows = self._chosen(table, where)
        if not by:
            return f"{what} = {_computed(what, column, rows)} over {len(rows)} rows"
        groups: dict[Cell, list[Row]] = {}
        for row in rows:
            groups.setdefault(row.get(by), []).append(row)
        lines = [f"{key}: {_computed(what, column, group)}" for key, group in list(groups.items())[:MAX_SHOWN]]
        return "\n".join([f"{what} for each {by} ({len(groups)} of them):", *lines])

    def remove(self, table: str, where: Any) -> str:
        if not where:
            raise ActionError("table_remove needs a condition.")
        gone = {id(row) for row in self._chosen(table, where)}
        self.tables[table] = [row for row in self.tables[table] if id(row) not in gone]
        return f"Table {table}: {len(gone)} rows removed, {len(self.tables[table])} left."

    def _chosen(self, table: str, where: Any) -> list[Row]:
        if table not in self.tables:
            raise ActionError(f"There is no table {table!r}.", hint=f"Tables: {', '.join(self.tables) or 'none yet'}.")
        if where is not None and not isinstance(where, dict):
            raise ActionError("where must be a dictionary such as {'price': ['<', 10]}.")
        tests = [_test(str(column), wanted, self._columns[table]) for column, wanted in (where or {}).items()]
        return [row for row in self.tables[table] if all(test(row) for test in tests)]


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise ActionError("rows must be a list of dictionaries such as [{'name': 'a', 'price': 3}].")
    return list(value)


def _row(value: Any) -> Row:
    if not isinstance(value, dict) or len(value) > MAX_COLUMNS:
        raise ActionError(f"A row must be a dictionary of at most {MAX_COLUMNS} columns, not {value!r:.100}.")
    for cell in value.values():
        if not (cell is None or isinstance(cell, str | int | float | bool)) or len(str(cell)) > MAX_CELL:
            raise ActionError(f"A cell must be a short text or a number, not {cell!r:.100}.")
    return {str(key): cell for key, cell in value.items()}


def _line(row: Row) -> str:
    return " | ".join(f"{column}: {cell}" for column, cell in row.items())


def number_in(cell: Cell) -> Fraction | None:
    """3, '3', '1,234.50' and '$5' are numbers; '3 stars' is not."""
    if isinstance(cell, bool) or cell is None:
        return None
    text = str(cell).strip().replace(",", "")
    sign = "-" if text.startswith("-") else ""
    try:
        value = Decimal(sign + text.removeprefix("-").lstrip("$€£"))
    except InvalidOperation:
        return None
    return Fraction(value) if value.is_finite() and abs(value.adjusted()) < 100 else None


def _order(cell: Cell) -> tuple[int, Fraction, str]:
    """Numbers by size before texts by alphabet."""
    number = number_in(cell)
    return (1, Fraction(0), str(cell).casefold()) if number is None else (0, number, "")


_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def _test(column: str, wanted: Any, known: Collection[str]) -> Callable[[Row], bool]:
    if known and column not in known:
        raise ActionError(f"There is no column {column!r}.", hint=f"Columns: {', '.join(known)}.")
    sign, value = wanted if isinstance(wanted, list | tuple) and len(wanted) == 2 else ("=", wanted)
    if sign == "contains":
        return lambda row: str(value).casefold() in str(row.get(column, "")).casefold()
    if sign not in _COMPARISONS:
        raise ActionError(f"{sign!r} is not a comparison operator.", hint="Use = != < <= > >= or contains.")
    compare, target = _COMPARISONS[sign], _order(value)
    if sign in ("=", "!="):
        return lambda row: column in row and compare(_order(row[column]), target)
    return lambda row: column in row and compare(_of_one_kind(row[column], value, f"{column} {sign}"), target)


def _of_one_kind(cell: Cell, wanted: Any, asked: str) -> tuple[int, Fraction, str]:
    """More and less: of numbers by size, of texts by alphabet. Whether 'n/a' is more than 3, nobody can say."""
    found, target = _order(cell), _order(wanted)
    if cell is None or wanted is None or found[0] != target[0]:
        odd = cell if target[0] == 0 or cell is None else wanted
        raise ActionError(
            f"{asked} {wanted!r:.100}: {odd!r:.100} is not a number.",
            hint="Store bare numbers, or take such rows out with table_remove.",
        )
    return found


def _computed(what: str, column: str, rows: Sequence[Row]) -> str:
    if what == "count":
        return str(sum(column in row for row in rows) if column else len(rows))
    cells = [row[column] for row in rows if column in row]
    if what == "distinct":
        return str(len({_order(cell) for cell in cells}))
    numbers = [number_in(cell) for cell in cells]
    wrong = next((cell for cell, number in zip(cells, numbers, strict=True) if number is None), None)
    if any(number is None for number in numbers) or not numbers:
        raise ActionError(f"{what}: column {column!r} holds no number in {wrong!r}.", hint="Store bare numbers.")
    known = [number for number in numbers if number is not None]
    total = sum(known, Fraction(0))
    results = {"sum": total, "mean": total / len(known), "min": min(known), "max": max(known)}
    if what not in results:
        raise ActionError(f"{what!r} cannot be computed.", hint="Use count, sum, mean, min, max or distinct.")
    return show_number(results[what])


# --- plans ------------------------------------------------------------------------------------------------


@dataclass
class PlanMemory(_Plain):
    kind = "plans"
    tree: PlanTree = field(default_factory=PlanTree)

    def __post_init__(self) -> None:
        super().__init__()

    def start(self, instruction: str) -> None:
        super().start(instruction)
        self.tree = PlanTree(instruction)

    def at(self, url: str, step: int) -> None:
        super().at(url, step)
        self.tree.at(url, step)

    def remember(self, text: str) -> None:
        if text.strip():
            self.tree.note(text.strip())

    def show(self) -> str:
        return self.tree.show()

    def tools(self) -> tuple[Tool, ...]:
        return (
            Tool("plan_branch(parent: int, intent: str)", "Start a plan below another one.", self._branch),
            Tool(
                "plan_prune(plan: int, reason: str)",
                "Give up and go back to an earlier plan and its page.",
                self._prune,
            ),
        )

    def _branch(self, parent: int, intent: str) -> str:
        return f"Plan [{self.tree.branch(int(parent), str(intent)).id}] is active."

    def _prune(self, plan: int, reason: str) -> ToolResult:
        node = self.tree.prune(int(plan), str(reason))
        back = (Action.of("goto", node.url),) if node.url and node.url != self._url else ()
        return ToolResult(f"Back at plan [{node.id}].", back)


MemoryName = Literal["notes", "table", "window", "plans"]

MEMORIES: Mapping[MemoryName, Callable[[], Memory]] = {
    "notes": NotesMemory,
    "table": TableMemory,
    "window": WindowMemory,
    "plans": PlanMemory,
}
