"""Many runs on one page. Agents stand on one board only when their scores mean the same thing: the same tasks with
the same keys, judged by the same grader. Everything else gets a board of its own."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from webassay.analysis.numbers.columns import part_of
from webassay.analysis.numbers.rows import ResultRow
from webassay.analysis.output.document import Document, Section
from webassay.analysis.results import behavior
from webassay.analysis.results.report import NO_NAMES, Names, success_of_part
from webassay.analysis.results.report_text import PROCESS_HEADINGS, SUCCESS_HEADINGS, process_cells, success_cells
from webassay.core.record import Record, content_hash
from webassay.core.report import Process, Success


class Entry(Record):
    agent: str
    run: str
    model: str
    baseline: bool
    success: Success
    behind: float | None
    """Points behind the best of the board; not a test, see the paired differences of a report for that."""
    process: Process | None = None


class Board(Record):
    benchmarks: tuple[str, ...]
    grader: str
    """Ids of the raters; empty: nothing is graded yet."""
    label: str = ""
    """What they are called."""
    data: str
    """Hash of the tasks and their keys."""
    tasks: int
    entries: tuple[Entry, ...]


class Leaderboard(Record):
    title: str
    boards: tuple[Board, ...]


@dataclass
class _Gathering:
    """A board while it is filled."""

    grader: str
    tasks: frozenset[tuple[str, str]]
    keys: dict[tuple[str, str], str] = field(default_factory=dict)
    contestants: list[tuple[str, Sequence[ResultRow]]] = field(default_factory=list)

    def takes(self, rows: Sequence[ResultRow]) -> bool:
        """A task that one agent has no verdict for has no key there; that is no disagreement."""
        return (
            self.grader == _grader(rows)
            and self.tasks == {row.task for row in rows}
            and all(self.keys.get(row.task, row.key_hash) == row.key_hash for row in rows if row.key_hash)
        )

    def add(self, run: str, rows: Sequence[ResultRow]) -> None:
        self.keys |= {row.task: row.key_hash for row in rows if row.key_hash}
        self.contestants.append((run, rows))


def leaderboard(
    runs: Mapping[str, Sequence[ResultRow]], *, title: str = "Leaderboard", names: Names = NO_NAMES
) -> Leaderboard:
    """Run name to its rows."""
    gathered: list[_Gathering] = []
    for run, rows in runs.items():
        agents: dict[str, list[ResultRow]] = defaultdict(list)
        for row in rows:
            agents[row.agent].append(row)
        for own in agents.values():
            board = next((board for board in gathered if board.takes(own)), None)
            if board is None:
                board = _Gathering(_grader(own), frozenset(row.task for row in own))
                gathered.append(board)
            board.add(run, own)
    boards = sorted((_board(one, names) for one in gathered), key=lambda board: (board.benchmarks, -len(board.entries)))
    return Leaderboard(title=title, boards=tuple(boards))


def _grader(rows: Sequence[ResultRow]) -> str:
    return ", ".join(sorted({row.fingerprint for row in rows if row.fingerprint}))


def _board(gathering: _Gathering, names: Names) -> Board:
    ranked = sorted(
        ((run, rows, *_scores(rows)) for run, rows in gathering.contestants),
        key=lambda one: (one[2].macro.value is None, -(one[2].macro.value or 0.0), one[1][0].agent),
    )
    best = ranked[0][2].macro.value
    entries = [
        Entry(
            agent=rows[0].agent,
            run=run,
            model=next((row.model for row in rows if row.model), ""),
            baseline=any(row.baseline for row in rows),
            success=success,
            behind=None if best is None or success.macro.value is None else best - success.macro.value,
            process=process,
        )
        for run, rows, success, process in ranked
    ]
    tasks = sorted(gathering.tasks)
    keyed = [[*task, gathering.keys.get(task, "")] for task in tasks]
    return Board(
        benchmarks=tuple(dict.fromkeys(benchmark for benchmark, _ in tasks if benchmark)),
        grader=gathering.grader,
        label=", ".join(dict.fromkeys(names.raters.get(id, id) for id in gathering.grader.split(", ") if id)),
        data=content_hash(keyed).removeprefix("sha256:")[:12],
        tasks=len(tasks),
        entries=tuple(entries),
    )


def _scores(rows: Sequence[ResultRow]) -> tuple[Success, Process | None]:
    part = part_of(rows)
    return success_of_part(part), behavior.process(part)


# --- as tables ------------------------------------------------------------------------------------------

_NARROW = (0, 1, 3, 4, 6, 8)


def leaderboard_document(made: Leaderboard) -> Document:
    return Document(made.title, [_section(board) for board in made.boards], made.model_dump_json(indent=1))


def _section(board: Board) -> Section:
    judged = any(entry.process for entry in board.entries)
    rows = [
        (str(place), _name(entry), entry.model or "–", entry.run, *success_cells(entry.success))
        + (process_cells(entry.process) if judged else ())
        for place, entry in enumerate(board.entries, 1)
    ]
    grader = f"{board.label} ({board.grader})" if board.label not in ("", board.grader) else board.grader
    note = f"Grader: {grader or 'none yet'}. Tasks and keys: {board.data} ({board.tasks} tasks)."
    headings = ["#", "agent", "model", "run", *SUCCESS_HEADINGS[1:], *(PROCESS_HEADINGS if judged else ())]
    return Section(", ".join(board.benchmarks) or "no benchmark named", headings, rows, note, _NARROW)


def _name(entry: Entry) -> str:
    return f"{entry.agent} (baseline)" if entry.baseline else entry.agent
