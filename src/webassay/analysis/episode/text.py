"""An episode for the terminal. Pages and agents wrote most of it, so everything is made printable on its way out."""

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from webassay.analysis.episode.view import (
    EpisodeView,
    KeyView,
    RowLine,
    UnitLine,
    actions_of,
    compact,
    cut,
    finding_mark,
    named_grader,
    timing_of,
    totals,
    why,
)
from webassay.core.text import printable
from webassay.core.trajectory import RecordedObservation, Step
from webassay.core.verdict import Finding, Verdict

MOST_LINES = 40
"""Requests and rows that are listed one by one."""

_MOST_REASONS = 5
_MARKS = {"pass": "ok  ", "fail": "FAIL", "abstain": "?   ", "fault": "!   ", "note": "note", None: "    "}
_ROW_MARKS = {
    "expected": "ok     ",
    "unexpected": "EXTRA  ",
    "missing": "MISSING",
    "changed": "changed",
    "undone": "undone ",
}


def to_text(view: EpisodeView, width: int = 100) -> str:
    return "\n".join(line.rstrip() for line in _Writer(width).write(view)) + "\n"


def units_table(lines: Sequence[UnitLine]) -> str:
    """Units to choose from, with their status."""
    rows = [("unit", "status", "steps", "seconds", "without thinking")]
    for line in lines:
        own = "" if line.own_seconds is None else f"{line.own_seconds:.1f}"
        took = (str(line.steps), f"{line.seconds:.1f}", own) if line.played else ("", "", "")
        rows.append((printable(line.unit), line.status, *took))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    return "\n".join(
        "  ".join(f"{cell:{'>' if place > 1 else '<'}{widths[place]}}" for place, cell in enumerate(row)).rstrip()
        for row in rows
    )


class _Writer:
    def __init__(self, width: int) -> None:
        self.width = max(40, width)

    def write(self, view: EpisodeView) -> Iterator[str]:
        yield from self._head(view)
        yield from self._section("Trace", self._trace(view))
        yield from self._section("Steps", self._steps(view))
        yield from self._section("Answer", self._answer(view))
        yield from self._section("Rows", self._rows(view.key))
        yield from self._section("Verdicts", self._verdicts(view))
        yield from self._section("Requests", self._requests(view))
        yield from self._section("Attempts", self._attempts(view))
        yield from self._section("Notes", self._notes(view))

    def _section(self, title: str, lines: Iterable[str]) -> Iterator[str]:
        found = list(lines)
        if found:
            yield from ("", title, *found)

    def _field(self, label: str, text: str, *, limit: int = 2000, indent: str = "") -> Iterator[str]:
        """A label and text that is wrapped below itself; an empty text is no line."""
        start = f"{indent}{label:9} " if label else indent
        for number, line in enumerate(self._wrapped(text, self.width - len(start), limit)):
            yield (start if number == 0 else " " * len(start)) + line

    def _wrapped(self, text: str, width: int, limit: int) -> list[str]:
        lines = printable(cut(text, limit), lines=True).expandtabs(4).split("\n")
        return [part for line in lines for part in (wrap(line, max(20, width)) or [""])] if text else []

    # --- the parts --------------------------------------------------------------------------------------------

    def _head(self, view: EpisodeView) -> Iterator[str]:
        trajectory = view.trajectory
        yield f"{printable(view.unit)}: {view.status}"
        yield from self._field("goal", view.goal.instruction)
        for reason in why(view)[:_MOST_REASONS]:
            yield from self._field("why", reason, limit=400)
        agent = trajectory.agent
        settings = ", ".join(f"{key}={compact(value, 80)}" for key, value in agent.settings.items())
        yield from self._field("agent", agent.name + (f" ({settings})" if settings else ""), limit=600)
        yield from self._field("model", agent.model)
        ending = trajectory.ending
        said = ending.kind.replace("_", " ") + (f": {ending.message}" if ending.message else "")
        yield from self._field("ending", said)
        if ending.fault is not None and ending.fault.boundary:
            yield from self._field("error", ending.fault.boundary)
        yield from self._field("took", ", ".join(totals(trajectory)))
        yield from self._field("played", trajectory.started_at)

    def _trace(self, view: EpisodeView) -> Iterator[str]:
        fault = view.trajectory.ending.fault
        for line in (fault.trace if fault is not None else "").splitlines():
            yield f"  {printable(line.expandtabs(4))}"

    def _steps(self, view: EpisodeView) -> Iterator[str]:
        for step in view.trajectory.steps:
            yield from self._step(view, step)
        last = view.trajectory.last_seen
        if last is not None:
            yield f"  end  {self._page(view, last)}"
        if not view.trajectory.steps:
            yield "  (none)"

    def _page(self, view: EpisodeView, page: RecordedObservation) -> str:
        title = printable(page.title).strip()
        return cut(printable(view.place(page.url)) or "(no address)", 200) + (f"  {cut(title, 80)}" if title else "")

    def _step(self, view: EpisodeView, step: Step) -> Iterator[str]:
        indent = " " * 7
        yield f"{step.index + 1:>5}  {self._page(view, step.seen)}"
        for position, action in enumerate(actions_of(step)):
            target = view.targets.get((step.index, position), "")
            yield from self._field("", action + (f"  ← {target}" if target else ""), limit=300, indent=indent)
        yield from self._field("thought", " ".join(step.thought.split()), limit=240, indent=indent)
        yield from self._field("error", step.error, limit=400, indent=indent)
        for notice in step.seen.notices[:10]:
            yield from self._field("notice", notice, limit=200, indent=indent)
        yield from self._field("time", timing_of(step), indent=indent)
        for verdict, finding in view.cited(step):
            if finding.status != "pass":
                said = f"{finding.message} ({verdict.fingerprint.grader})"
                yield from self._field("finding", said, limit=400, indent=indent)

    def _answer(self, view: EpisodeView) -> Iterator[str]:
        yield from self._field("said", view.trajectory.answer or "(nothing)", indent="  ")
        if view.key.missing:
            yield from self._field("key", view.key.missing, indent="  ")
        for line in view.key.lines:
            yield from self._field(
                line.what, f"expected {line.expected}", limit=700, indent=f"  {_MARKS[line.status]} "
            )
            if line.found:
                yield from self._field("", f"found    {line.found}", limit=700, indent=" " * 17)

    def _rows(self, key: KeyView) -> Iterator[str]:
        for line in key.rows[:MOST_LINES]:
            yield from self._field("", f"{_row(line)}", limit=900, indent=f"  {_ROW_MARKS[line.mark]} ")
        if len(key.rows) > MOST_LINES:
            yield f"  and {len(key.rows) - MOST_LINES} more rows"
        if key.uncounted:
            yield f"  not listed: {key.uncounted} of sessions and counters"

    def _verdicts(self, view: EpisodeView) -> Iterator[str]:
        if not view.verdicts:
            yield "  (none)"
        for verdict in view.verdicts:
            yield from self._verdict(verdict)
        if view.older_verdicts:
            yield f"  {view.older_verdicts} older verdicts are kept in the run"

    def _verdict(self, verdict: Verdict) -> Iterator[str]:
        yield f"  {printable(named_grader(verdict))}: {verdict.status}"
        if verdict.fault is not None:
            yield from self._field("", f"{verdict.fault.boundary}: {verdict.fault.message}", indent="       ")
        for finding in verdict.findings:
            yield from self._finding(finding)

    def _finding(self, finding: Finding) -> Iterator[str]:
        steps = ", ".join(str(step + 1) for step in finding.steps[:20])
        said = f"{finding.check}: {finding.message}" + (f" (step {steps})" if steps else "")
        yield from self._field("", said, limit=600, indent=f"    {_MARKS[finding_mark(finding)]} ")

    def _requests(self, view: EpisodeView) -> Iterator[str]:
        traffic = view.traffic
        if traffic is None:
            return
        writes = [request for request in traffic.requests if request.writes]
        blocked = sum(request.blocked for request in traffic.requests)
        yield f"  {traffic.total} recorded, {len(writes)} wrote, {blocked} blocked"
        for request in writes[:MOST_LINES]:
            yield f"  {printable(request.method)} {cut(printable(request.place), 160)} {request.status or '–'}"
        if len(writes) > MOST_LINES:
            yield f"  and {len(writes) - MOST_LINES} more writes"

    def _attempts(self, view: EpisodeView) -> Iterator[str]:
        if len(view.attempts) < 2:
            return
        for attempt in view.attempts:
            shown = "  <- shown here" if attempt.trajectory_id == view.trajectory.id else ""
            took = f"{attempt.steps} steps, {attempt.seconds:.1f} s"
            yield f"  {printable(attempt.trajectory_id)}: {attempt.ending.replace('_', ' ')}, {took}{shown}"

    def _notes(self, view: EpisodeView) -> Iterator[str]:
        for note in view.all_notes:
            yield from self._field("", note, limit=400, indent="  ")


def _row(line: RowLine) -> str:
    where = f"{line.site}: {line.operation} {line.table}" + (f" ({line.row})" if line.row else "")
    if line.operation == "update" and line.mark != "missing":
        what = ", ".join(f"{column}: {before} → {after}" for column, before, after in line.values)
    else:
        what = ", ".join(f"{column}={after or before}" for column, before, after in line.values)
    return f"{where}: {what}" if what else where
