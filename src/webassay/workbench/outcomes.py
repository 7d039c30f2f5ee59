"""Published outcomes: tables that say which agent solved which task, and nothing more."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from webassay.analysis.numbers.rows import ResultRow, RowStatus
from webassay.compose.registries import GROUPINGS
from webassay.core.errors import InputError
from webassay.core.rater import read_label
from webassay.core.summary import UnitSummary
from webassay.core.task import Task
from webassay.play.plan import metadata
from webassay.study.label_files import read_table
from webassay.workbench.grade import number_in

TABLES = frozenset((".csv", ".tsv", ".jsonl", ".json"))
_TASK, _AGENT, _OUTCOME = ("task", "task_id", "task id", "id"), ("agent",), ("outcome", "score", "success", "status")
_TEMPLATE, _SITES = ("template", "intent_template_id"), ("sites", "site")


def apart(places: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Tables, and run directories."""
    tables = [place for place in places if place.suffix.lower() in TABLES and not place.is_dir()]
    return tables, [place for place in places if place not in tables]


def read(path: Path, known: Sequence[Task]) -> Iterator[ResultRow]:
    """Rows of a long table (task, agent, outcome), or of a wide one: a column for each agent. An empty cell is no
    outcome. Templates and sites come from columns of that name, or from the benchmark's tasks by their numbers."""
    tasks = {number_in(task.id): task for task in known}
    numbers, table = read_table(path)
    columns = {name.strip().lower(): name for name in table}
    task_column = _column(columns, _TASK)
    if task_column is None:
        raise InputError(f"{path} has no column for the task.", hint=f"Call it {' or '.join(_TASK[:2])}.")
    for place, number in enumerate(numbers):
        name = str(table[task_column][place]).strip()
        task = tasks.get(number_in(name))
        if known and task is None:
            raise InputError(f"{path}, line {number}: {name!r} is not a task of the benchmark.")
        line = {column: cells[place] for column, cells in table.items()}
        for agent, outcome in _outcomes(path, columns, table, place):
            status = _status(outcome, f"{path}, line {number}")
            if status is not None:
                yield _row(line, columns, task, name, agent, status)


def _outcomes(
    path: Path, columns: Mapping[str, str], table: Mapping[str, Sequence[Any]], place: int
) -> Iterator[tuple[str, Any]]:
    agent, outcome = _column(columns, _AGENT), _column(columns, _OUTCOME)
    if agent and not outcome:
        raise InputError(f"{path} has no column for the outcome.", hint=f"Call it {' or '.join(_OUTCOME)}.")
    if agent and outcome:
        yield str(table[agent][place]), table[outcome][place]
        return
    about = {_column(columns, names) for names in (_TASK, _TEMPLATE, _SITES)}
    agents = [name for name, cells in table.items() if name not in about and _is_agent(cells)]
    if not agents:
        raise InputError(
            f"{path} has no column of outcomes.", hint="Give the columns task,agent,outcome, or one column per agent."
        )
    yield from ((name, table[name][place]) for name in agents)


def _row(
    line: Mapping[str, Any], columns: Mapping[str, str], task: Task | None, name: str, agent: str, status: RowStatus
) -> ResultRow:
    template, sites = _column(columns, _TEMPLATE), _column(columns, _SITES)
    return ResultRow(
        agent=agent,
        task_id=task.id if task else name,
        status=status,
        benchmark=task.benchmark if task else "",
        template=task.template if task else str(line[template]).strip() if template else "",
        kind=task.kind if task else "",
        sites=task.sites if task else tuple(re.findall(r"[\w-]+", str(line[sites]))) if sites else (),
        **_told(task),
        traced=False,
    )


def _told(task: Task | None) -> dict[str, Any]:
    if task is None:
        return {}
    told = UnitSummary.told(metadata(task, GROUPINGS))
    return {"modality": told.modality, "groups": told.groups}


def _column(columns: Mapping[str, str], names: Sequence[str]) -> str | None:
    return next((columns[name] for name in names if name in columns), None)


def _is_agent(cells: Sequence[Any]) -> bool:
    """Every cell that is not empty is an outcome."""
    given = [cell for cell in cells if _given(cell)]
    return bool(given) and all(read_label(cell) in ("pass", "fail") for cell in given)


def _given(cell: Any) -> bool:
    return cell is not None and str(cell).strip() != ""


def _status(outcome: Any, place: str) -> RowStatus | None:
    if not _given(outcome):
        return None
    said = read_label(outcome)
    if said not in ("pass", "fail"):
        raise InputError(f"{place}: {str(outcome)[:60]!r} is not an outcome.", hint="Write 1 or 0, or leave it empty.")
    return "pass" if said == "pass" else "fail"
