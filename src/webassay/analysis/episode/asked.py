"""What a task asks for, in words, for people who may read its key."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from webassay.analysis.episode.view import compact
from webassay.core.interaction import Goal
from webassay.core.record import Json
from webassay.core.task import (
    ActivityCheck,
    Check,
    EvidenceCheck,
    ExpectedChange,
    PageCheck,
    PagePattern,
    ResponseCheck,
    StateCheck,
    Task,
)
from webassay.grading.rules.expect import plain
from webassay.grading.rules.seen import described

MOST_FACTS = 40
_DEEDS = {"insert": "A new row in", "update": "A change in", "delete": "A row less in"}


@dataclass(frozen=True)
class AskedLine:
    what: str
    text: str


@dataclass(frozen=True)
class TaskView:
    """A task with its key, and what its template is proved against."""

    task_id: str
    goal: Goal | None = None
    kind: str = ""
    difficulty: str = ""
    sites: tuple[str, ...] = ()
    asked: tuple[AskedLine, ...] = ()
    summary: str = ""
    """The template's, in one line."""
    misread: tuple[str, ...] = ()
    """Mistakes that a hasty agent makes here; each was scripted, and must fail."""
    ways: tuple[str, ...] = ()
    """Other natural routes; each must pass."""
    missing: str = ""
    """Why there is no key; empty if there is one."""
    task_hash: str = ""
    """Today's; an episode was played with the one that its trajectory names."""


def asked_lines(task: Task) -> tuple[AskedLine, ...]:
    return tuple(line for check in task.checks for line in _lines(check))


def _lines(check: Check) -> Iterator[AskedLine]:
    if isinstance(check, ResponseCheck):
        yield AskedLine("answer", f"{check.action or 'any action'}, status {' or '.join(check.status)}")
        if check.results is not None:
            yield AskedLine("results", _text(plain(check.results)))
    elif isinstance(check, StateCheck):
        yield from (AskedLine("rows", _change(change)) for change in check.changes)
        more = "No other content may change, on any site." if check.changes else "No content may change, on any site."
        yield AskedLine("rows", more)
    elif isinstance(check, PageCheck):
        yield AskedLine("last page", ", or ".join(map(_page, check.any_of)))
    elif isinstance(check, EvidenceCheck):
        needed = f"{check.needed} of {len(check.facts)} facts must have been in front of it:"
        yield AskedLine("evidence", needed if len(check.facts) > 1 else "It must have had this in front of it:")
        yield from (AskedLine("", described(fact)) for fact in check.facts[:MOST_FACTS])
    elif isinstance(check, ActivityCheck):
        yield AskedLine("work", "Pages of the sites must really have been loaded.")
    else:
        asked = check.model_dump(mode="json", exclude_defaults=True, exclude={"kind"})
        yield AskedLine(check.kind, compact(asked, 600))


def _change(change: ExpectedChange) -> str:
    values = _pairs({name: plain(one) for name, one in change.values.items()})
    where = _pairs(change.where)
    said = f"{_DEEDS[change.operation]} {change.table} of {change.site}"
    said += f" where {where}" if where else ""
    said += f": {values}" if values else ""
    return said + (f" ({change.count} times)" if change.count > 1 else "")


def _pairs(values: Mapping[str, Json]) -> str:
    return ", ".join(f"{name} = {_text(value, 200)}" for name, value in values.items())


def _page(pattern: PagePattern) -> str:
    query = "&".join(f"{name}={value}" for name, value in pattern.query.items())
    return f"{pattern.site}:{pattern.path}" + (f"?{query}" if query else "")


def _text(value: Json, limit: int = 2000) -> str:
    return compact(value, limit)
