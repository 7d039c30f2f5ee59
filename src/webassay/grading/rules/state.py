"""The rows that changed, against the rows that should have. Any other change is collateral damage.

- The site classes its columns. *Content* is compared. *Journal* (ids, time stamps) may have any value, but inserting or
  deleting the row counts. *Telemetry* is ignored; a row in which nothing else was updated is unchanged.
- A value is compared as written, unless the key has `lenient`, a pattern, a tolerance, or a type such as a date.
- An expected insert or update accounts for every content column: one that the task does not name must be empty (insert)
  or untouched (update). A named column may keep its value, but the content of the row must have changed, or a named
  journal column where an update names no content.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from webassay.compare import Match, Sites, matching, shown
from webassay.core.errors import GradingError
from webassay.core.record import Json
from webassay.core.task import Expectation, ExpectedChange, StateCheck
from webassay.core.trajectory import RowChange, RowsResult
from webassay.core.verdict import Finding, Status
from webassay.grading.rules.evidence import keepable
from webassay.grading.rules.expect import fits

_MAX_WAYS = 2_000


@dataclass(frozen=True)
class _Row:
    """A change that counts."""

    of: RowsResult
    change: RowChange

    @property
    def site(self) -> str:
        return self.of.site

    @property
    def content(self) -> dict[str, tuple[Json, Json]]:
        """Content columns that differ: before and after."""
        return self.of.differing(self.change)

    @property
    def damages(self) -> bool:
        return self.of.counts(self.change)

    def column(self, name: str) -> Json:
        row = self.change.after if self.change.after is not None else self.change.before or {}
        if name not in row and name not in self.change.key:
            raise GradingError(
                f"{self.site}.{self.change.table} has no column {name!r}: the key does not match the site."
            )
        return row.get(name, self.change.key.get(name))

    def describe(self) -> str:
        return describe_change(self.of, self.change)


def describe_change(of: RowsResult, change: RowChange) -> str:
    key = ", ".join(f"{column}={value!r}" for column, value in change.key.items())
    where = f"{of.site}: {change.operation} in {change.table}" + (f" ({key})" if key else "")
    content = of.differing(change)
    if change.operation == "update":
        what = ", ".join(f"{column}: {shown(a, 60)} → {shown(b, 60)}" for column, (a, b) in content.items())
    else:
        values = {column: b if a is None else a for column, (a, b) in content.items()}
        what = ", ".join(f"{column}={shown(value, 60)}" for column, value in values.items())
    return f"{where}: {what}"[:600] if what else where


def _same(a: Json, b: Json) -> bool:
    """Equal as the database sees it: 1 and 1.0 are, 1 and "1" are not."""
    return a == b and isinstance(a, str) == isinstance(b, str)


def counted_rows(results: Iterator[RowsResult]) -> list[_Row]:
    """Also updates of journal columns alone, which damage nothing but can be what a key asks for."""
    return [
        _Row(result, change)
        for result in results
        for change in result.changes
        if result.counts(change) or (change.operation == "update" and result.differing(change, "journal"))
    ]


@dataclass(frozen=True)
class StateOutcome:
    findings: list[Finding]
    side_effects: int
    pairs: dict[int, int]
    """Which row fulfils which expected change, both by position; a change with a count stands there that often."""


def check_state(check: StateCheck, rows: list[_Row], sites: Sites, damage: Status | None) -> StateOutcome:
    """`damage` is the status of findings about unrequested changes; None: do not look for any."""
    wanted = [change for change in check.changes for _ in range(change.count)]
    pairs = _best_assignment(wanted, rows, sites)
    findings = [_required(wanted, position, rows, pairs, sites) for position in range(len(wanted))]
    left = [row for number, row in enumerate(rows) if number not in pairs.values() and row.damages]
    if damage is not None:
        findings += [
            Finding(
                check="state.collateral",
                status=damage,
                message=f"Not asked for: {row.describe()}.",
                actual=keepable(row.change.model_dump(mode="json")),
                code="collateral_damage",
            )
            for row in left
        ]
        if not left:
            findings.append(Finding(check="state.collateral", status="pass", message="Nothing else was changed."))
    return StateOutcome(findings, len(left), pairs)


def _required(
    wanted: list[ExpectedChange], position: int, rows: list[_Row], pairs: dict[int, int], sites: Sites
) -> Finding:
    change = wanted[position]
    asked = f"{change.site}: {change.operation} in {change.table}" + (f" where {change.where}" if change.where else "")
    if position in pairs:
        return Finding(check="state.required", status="pass", message=f"Done: {rows[pairs[position]].describe()}.")
    nearest = _nearest(change, [row for number, row in enumerate(rows) if number not in pairs.values()], sites)
    return Finding(
        check="state.required",
        status="fail",
        message=f"Missing: {asked}. {nearest}",
        expected=keepable(change.model_dump(mode="json", exclude_defaults=True)),
        code="missing_change",
    )


def _nearest(change: ExpectedChange, rows: list[_Row], sites: Sites) -> str:
    for row in rows:
        if (row.site, row.change.table, row.change.operation) == (change.site, change.table, change.operation):
            return f"The nearest row does not fit: {_row_fits(change, row, sites, None).reason}."
    return "No such row was touched."


# --- which row is which -----------------------------------------------------------------------------------


def _best_assignment(wanted: list[ExpectedChange], rows: list[_Row], sites: Sites) -> dict[int, int]:
    """Pairs as many expected changes with rows as possible, both by position. A link (`same_as`) can be checked only
    once its target has a row, so every way of placing the targets is tried."""
    options = [[n for n, row in enumerate(rows) if _row_fits(change, row, sites, None)] for change in wanted]
    anchors = _anchors(wanted)
    if not anchors:
        return matching(options)
    if any(not options[anchor] for anchor in anchors):
        return _matched_without_links(options, wanted)
    best: dict[int, int] = {}
    for placed in _placements(anchors, options):
        known = {wanted[anchor].label: rows[number] for anchor, number in placed.items()}
        free = [[n for n in rest if n not in placed.values()] for rest in options]
        candidates = [[placed[position]] if position in placed else free[position] for position in range(len(wanted))]
        pairs = matching(
            [
                [n for n in candidates[position] if _row_fits(change, rows[n], sites, known)]
                for position, change in enumerate(wanted)
            ]
        )
        if len(pairs) > len(best):
            best = pairs
        if len(best) == len(wanted):
            break
    return best


def _anchors(wanted: list[ExpectedChange]) -> list[int]:
    """Positions of the changes that links point to."""
    targets = {
        value.same_as.rpartition(".")[0] for change in wanted for value in change.values.values() if value.same_as
    }
    return [position for position, change in enumerate(wanted) if change.label and change.label in targets]


def _placements(anchors: list[int], options: Sequence[Sequence[int]]) -> Iterator[dict[int, int]]:
    """Every way of giving each anchor a row of its own."""
    if prod(len(options[anchor]) for anchor in anchors) > _MAX_WAYS:
        raise GradingError(f"There are more than {_MAX_WAYS} ways to match the changed rows.")
    for choice in product(*(options[anchor] for anchor in anchors)):
        if len(set(choice)) == len(choice):
            yield dict(zip(anchors, choice, strict=True))


def _matched_without_links(edges: list[list[int]], wanted: list[ExpectedChange]) -> dict[int, int]:
    """The target of a link is missing, so the change with the link is missing too; the rest can still be matched."""
    linked = {n for n, change in enumerate(wanted) if any(value.same_as for value in change.values.values())}
    return matching([[] if position in linked else options for position, options in enumerate(edges)])


def _row_fits(change: ExpectedChange, row: _Row, sites: Sites, known: Mapping[str, _Row] | None) -> Match:
    """`known` maps labels to rows; None: links are not checked yet."""
    if (row.site, row.change.table, row.change.operation) != (change.site, change.table, change.operation):
        return Match(False, "another table or operation")
    before = {**row.change.key, **(row.change.before or {})}
    for column, value in change.where.items():
        if column not in before:
            raise GradingError(f"{row.site}.{change.table} has no column {column!r}: the key does not match the site.")
        if not _same(before[column], value):
            return Match(False, f"{column} was {shown(before[column])}, not {shown(value)}")
    if change.operation == "delete":
        return Match(True, "the row is gone")
    surplus = [column for column, (_, after) in row.content.items() if column not in change.values]
    if surplus:
        return Match(False, f"{surplus[0]} was also written: {shown(row.column(surplus[0]))}")
    for column, wanted in change.values.items():
        match = _column_fits(wanted, row.column(column), sites, known)
        if not match:
            return Match(False, f"{column}: {match.reason}")
    if change.operation == "update" and not _did_something(change, row):
        return Match(False, "it was so before, and only other columns changed")
    return Match(True, "every column fits")


def _did_something(change: ExpectedChange, row: _Row) -> bool:
    """Whoever saves a form in which all is already as asked changes a time stamp, and has not done the task."""
    classes = row.of.columns.get(change.table, {})
    if any(classes.get(column, "content") == "content" for column in change.values):
        return bool(row.content)
    return not row.of.differing(row.change, "journal").keys().isdisjoint(change.values)


def _column_fits(wanted: Expectation, value: Any, sites: Sites, known: Mapping[str, _Row] | None) -> Match:
    if not wanted.same_as:
        return _written(wanted, value, sites)
    if known is None:
        return Match(True, "a link")
    label, _, column = wanted.same_as.rpartition(".")
    target = known[label].column(column)
    return Match(_same(target, value), f"{shown(value)}, while {wanted.same_as} is {shown(target)}")


_ONE_WAY_TO_WRITE = ("string", "number", "boolean", "null")


def _written(wanted: Expectation, value: Any, sites: Sites) -> Match:
    if wanted.any_of:
        matches = [_written(one, value, sites) for one in wanted.any_of]
        reasons = "; ".join(match.reason for match in matches)[:400]
        return next(filter(None, matches), Match(False, f"none of the {len(matches)} accepted values: {reasons}"))
    exact = wanted.type in _ONE_WAY_TO_WRITE and not (wanted.lenient or wanted.tolerance or wanted.pattern)
    if not exact or wanted.anything:
        return fits(wanted, value, sites)
    masked = sites.mask(value) if isinstance(value, str) else value
    if _same(wanted.value, value) or _same(wanted.value, masked):
        return Match(True, f"it is {shown(value)}")
    return Match(False, f"{shown(value)} is not exactly {shown(wanted.value)}")
