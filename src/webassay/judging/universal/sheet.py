"""What every stage is told: the task sheet and the history of actions, with elements named as in the agent's tree
(`click link 'View Order 101356'`, not `click(bid='164')`)."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime

from webassay.core.interaction import Action
from webassay.core.trajectory import RowsResult, Step, Trajectory
from webassay.judging.case import Case, PromptBuilder, clip, notices_after, notices_of, on_one_line, read_text
from webassay.judging.record.pages import Book, elements_of, place
from webassay.judging.record.readings import dates_in

_HISTORY_BUDGET = 60_000
_THOUGHT_LENGTHS = (2000, 600, 200, 0)
_ID_IN_TEXT = re.compile(r"\bbid\s*=\s*['\"]?(\w+)|\[(\d+|[a-zA-Z]{1,4}\d+)\]")
_ID_ARGUMENTS = ("bid", "from_bid", "to_bid")


# --- the task -------------------------------------------------------------------------------------------


def describe_task(case: Case, today: str) -> PromptBuilder:
    goal = case.goal.at(case.trajectory.bases)
    builder = PromptBuilder().data("task", goal.instruction)
    if goal.hints:
        builder.data("what the agent was told beside the task", "\n".join(goal.hints))
    if start := case.start:
        builder.note("The task starts on this page; starting there is part of the task and costs nothing.")
        builder.data("start page", start)
    if goal.protocol.instructions:
        builder.note(
            "How the agent was told to answer. An answer in this form is complete: it needs no courtesy and no "
            "explanation beyond what the form asks for. A key that may be null may also be left out."
        )
        builder.data("the form of the answer, and what its codes mean", goal.protocol.instructions)
    if today:
        builder.data("what is known of the date (for words such as today)", today)
    return builder


def date_of(trajectory: Trajectory, book: Book | None) -> str:
    """Sites with a world of their own have a clock of their own; the date of the machine would mislead there."""
    if trajectory.now_ms is not None:
        return f"the site's own clock said {datetime.fromtimestamp(trajectory.now_ms / 1000, UTC).date().isoformat()}"
    if not trajectory.bases:
        return f"the run began on {trajectory.started_at[:10]}" if trajectory.started_at else ""
    if book is None:
        return ""
    stamps = [day for row in _stamped(trajectory) for day in dates_in(row)]
    if stamps:
        return f"the site's own clock said {max(stamps).isoformat()}"
    shown = {day for page in book.pages.values() if page.recorded for day in dates_in(page.text)}
    shown -= set(_told(trajectory))
    if not shown:
        return ""
    latest = f"the latest date on the opened pages is {max(shown).isoformat()}"
    perhaps = "which may be today, lie in the past, or lie ahead as the end of an offer does"
    return f"the site has a clock of its own; {latest}, {perhaps}"


def _told(trajectory: Trajectory) -> Iterator[date]:
    """Days that the task names or the agent wrote: they are on the pages because of that."""
    yield from dates_in(trajectory.goal.instruction)
    for step in trajectory.steps:
        yield from dates_in(step.action_text)
        for action in step.actions:
            for value in action.args.values():
                yield from dates_in(str(value))


def _stamped(trajectory: Trajectory) -> Iterator[str]:
    """Time stamps that the site wrote during the run."""
    for rows in trajectory.probed(RowsResult):
        for change in rows.changes:
            known = rows.columns.get(change.table, {})
            for column, (_, after) in rows.differing(change, "journal").items():
                if known.get(column) == "journal" and isinstance(after, str):
                    yield after


# --- what was done --------------------------------------------------------------------------------------


def describe_history(case: Case) -> str:
    """Every action with its page and the notices after it. If space is short, thoughts are cut; actions never are."""
    shown = {frame.step: f"screenshot {frame.number}" for frame in case.frames}
    for frame in case.frames:
        # Identical frames are shown once; an earlier step is told under the number of the one that is shown.
        shown.update(dict.fromkeys(frame.earlier_steps, f"the same as screenshot {frame.number}"))
    steps = case.trajectory.steps
    named = {step.index: _elements(case, step) for step in steps}
    bases = tuple(case.trajectory.bases.values())
    first = [f"Notice before the first action: {notice}" for step in steps[:1] for notice in notices_of(step.seen)]
    after = notices_after(case.trajectory)
    for length in _THOUGHT_LENGTHS:
        told = (_step(step, named[step.index], length, shown, bases) for step in steps)
        text = "\n".join((*first, *(_with_notices(*one) for one in zip(told, after, strict=False))))
        if len(text) <= _HISTORY_BUDGET:
            break
    return f"{text}\n{_end(case, shown)}" if steps else "(no action was taken)"


def _end(case: Case, shown: dict[int, str]) -> str:
    last = case.trajectory.last_seen
    if last is None:
        before = shown.get(len(case.trajectory.steps) - 1)
        known = f" The last page on record is {before}, before that action." if before else ""
        return f"No page was recorded after the last action.{known}"
    where = shown.get(len(case.trajectory.steps), "no screenshot")
    return f"The page at the end: {where}, {place(last.url, case.trajectory.bases.values())}"


def _elements(case: Case, step: Step) -> dict[str, str]:
    wanted = any(name in action.args for action in step.actions for name in _ID_ARGUMENTS) or bool(
        _ID_IN_TEXT.search(step.action_text)
    )
    return elements_of(read_text(case.blobs, step.seen.tree)) if wanted and step.seen.tree is not None else {}


def _step(step: Step, named: dict[str, str], thought: int, shown: dict[int, str], bases: Sequence[str]) -> str:
    acted = on_one_line(
        "; ".join(_action(action, named) for action in step.actions) or _written(step.action_text, named)
    )
    lines = [f"Action {step.index + 1}: {clip(acted or '(nothing)', 2000)}"]
    before = f"{shown[step.index]}, " if step.index in shown else ""
    if before or step.seen.url:
        lines.append(f"  On: {before}{on_one_line(place(step.seen.url, bases))}")
    if step.thought and thought:
        lines.append(f"  Agent's reasoning: {clip(on_one_line(step.thought), thought)}")
    if step.error:
        lines.append(f"  Error! {clip(on_one_line(step.error), 500)}")
    return "\n".join(lines)


def _with_notices(told: str, notices: Sequence[str]) -> str:
    return "\n".join((told, *(f"  Notice after this action: {on_one_line(notice)}" for notice in notices)))


def _action(action: Action, named: dict[str, str]) -> str:
    targets = [f"{named[str(action.args[name])]}" for name in _ID_ARGUMENTS if str(action.args.get(name)) in named]
    return f"{action.text} on {' and '.join(targets)}" if targets else action.text


def _written(text: str, named: dict[str, str]) -> str:
    targets = [named[found] for match in _ID_IN_TEXT.finditer(text) if (found := match[1] or match[2]) in named]
    return f"{text} on {' and '.join(dict.fromkeys(targets))}" if targets else text
