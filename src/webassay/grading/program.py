"""What an application's own verifier said, and what was changed besides.

The verdict is the verifier's. Verifiers look for what a task asks and for nothing else, so what differs between the two
states of the application is held against the task as well: where the task says which parts of the state it is about, a
change elsewhere fails; where it does not, changes without which the verifier passes all the same are reported.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from webassay.core.errors import GradingError
from webassay.core.task import ProgramCheck
from webassay.core.trajectory import ProgramResult, RowsResult
from webassay.core.verdict import Finding
from webassay.grading.evidence import keepable
from webassay.grading.state import describe_change


@dataclass(frozen=True)
class ProgramOutcome:
    verdict: Finding
    collateral: tuple[Finding, ...]
    enforceable: bool
    """Whether it is known which changes were not asked for."""


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
    collateral = tuple(_collateral(check, said, rows))
    return ProgramOutcome(verdict, collateral, check.may_change is not None or said.unneeded is not None)


def _collateral(check: ProgramCheck, said: ProgramResult, rows: Iterable[RowsResult]) -> Iterable[Finding]:
    for result in rows:
        for position, change in enumerate(result.changes):
            if not result.counts(change):
                continue
            if check.may_change is not None:
                if any(change.table == table or change.table.startswith(f"{table}.") for table in check.may_change):
                    continue
                why = "Not asked for"
            elif said.unneeded is not None and result.site == said.site:
                if position not in said.unneeded:
                    continue
                why = "The verifier passes without it"
            else:
                why = "Changed"
            yield Finding(
                check="state.collateral",
                status="fail",
                message=f"{why}: {describe_change(result, change)}.",
                actual=keepable(change.model_dump(mode="json")),
                code="collateral_damage",
            )
