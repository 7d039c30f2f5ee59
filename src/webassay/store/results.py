"""Rows of the ledger's summaries, read into results.

A report spends a third of its time here, so a block of rows is read at once, in loops in C: half the time of one after
the other. Where something in a block cannot be read, the rows are read one by one, which tells which.
"""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from webassay.core.summary import (
    TrajectorySummary,
    UnitResult,
    VerdictSummary,
    read_trajectory_summary,
    read_unit_summary,
    read_verdict_summary,
)

BLOCK = 400
"""Rows held at a time: more of them leave the processor's cache, fewer make the loops in C too short."""
UNREADABLE = (msgspec.MsgspecError, TypeError, ValueError, RecursionError)

SummaryRow = tuple[int, str, str, int, bytes, bytes | None, bytes | None]
"""The unit's ordinal, agent, task and trial; the summaries of the unit, the trajectory and the verdict."""

_STATUSES = frozenset(("pass", "fail", "abstain", "fault"))
_read_trajectories = msgspec.json.Decoder(list[TrajectorySummary]).decode
_read_verdicts = msgspec.json.Decoder(list[VerdictSummary]).decode


def read_block(rows: Sequence[SummaryRow]) -> list[UnitResult]:
    """Of one row or more; one of `UNREADABLE` if there is one that cannot be read."""
    _, agents, tasks, trials, told, played, found = zip(*rows, strict=True)
    if {*map(type, agents), *map(type, tasks)} != {str} or {*map(type, trials)} != {int}:
        raise TypeError("the agent, the task or the trial is none")
    # The agents play a task one after the other, so the same text comes many times.
    units = {text: read_unit_summary(text) for text in set(told)}
    trajectories = _read_all(played, read_trajectory_summary, _read_trajectories)
    verdicts = _read_all(found, read_verdict_summary, _read_verdicts)
    if unknown := {verdict.status for verdict in verdicts if verdict is not None} - _STATUSES:
        raise TypeError(f"a verdict is {min(unknown)!r:.100}")
    return list(map(UnitResult, agents, tasks, trials, map(units.__getitem__, told), trajectories, verdicts))


def _read_all(
    texts: Sequence[bytes | None], read: Callable[[bytes], Any], read_list: Callable[[bytes], list[Any]]
) -> Sequence[Any]:
    if None in texts or len(texts) == 1:
        return [None if text is None else read(text) for text in texts]
    summaries = read_list(b"[" + b",".join(texts) + b"]")  # type: ignore[arg-type]
    if len(summaries) != len(texts):
        raise ValueError("there are several summaries in the place of one")
    return summaries
