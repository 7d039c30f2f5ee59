"""What an application's own verifier said, and what was changed besides.

The verdict is the verifier's, but it looks only for what the task asks. So a change outside the parts of the state that
the task names fails; without such names, changes that the verifier does not need are reported.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from webassay.core.errors import GradingError
from webassay.core.task import ProgramCheck
from webassay.core.trajectory import ProgramResult, RowChange, RowsResult
from webassay.core.verdict import Finding
from webassay.grading.rules.evidence import keepable
from webassay.grading.rules.state import describe_change


@dataclass(frozen=True)
class ProgramOutcome:
    verdict: Finding
    changes: tuple[Finding, ...]
    """What changed, where nobody knows whether it was asked for."""
    collateral: tuple[Finding, ...] | None
    """None: nobody knows."""


def check_program(check: ProgramCheck, results: Iterable[ProgramResult], rows: Iterable[RowsResult]) -> ProgramOutcome:
    said = next((result for result in results if result.program == check.program), None)
    if said is None:
        raise GradingError(f"What the verifier {check.program} said was not recorded.")
    if said.source != check.source:
        raise GradingError(f"The verifier {check.program} is not the one that was asked when this was played.")
    verdict = Finding(
        check="program",
        status="pass" if said.passed else "fail",
        message=f"{check.program}: {said.message or ('passed' if said.passed else 'failed')}",
        code="" if said.passed else "verifier_failed",
    )
    counted = [
        (result, position, change)
        for result in rows
        for position, change in enumerate(result.changes)
        if result.counts(change)
    ]
    if check.may_change is not None:
        about = check.may_change
        found = [(result, change) for result, _, change in counted if not _within(change.table, about)]
        return ProgramOutcome(verdict, (), tuple(_damage("Not asked for", *one) for one in found))
    if said.unneeded is not None:
        unneeded = said.unneeded
        found = [(result, change) for result, position, change in counted if position in unneeded]
        return ProgramOutcome(verdict, (), tuple(_damage("The verifier passes without it", *one) for one in found))
    changes = tuple(
        Finding(check="state.changes", status="pass", message=f"Changed: {describe_change(result, change)}.")
        for result, _, change in counted
    )
    return ProgramOutcome(verdict, changes, None)


def _within(table: str, about: tuple[str, ...]) -> bool:
    return any(table == one or table.startswith(f"{one}.") for one in about)


def _damage(why: str, result: RowsResult, change: RowChange) -> Finding:
    return Finding(
        check="state.collateral",
        status="fail",
        message=f"{why}: {describe_change(result, change)}.",
        actual=keepable(change.model_dump(mode="json")),
        code="collateral_damage",
    )
