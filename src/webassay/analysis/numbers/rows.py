"""One planned unit of work and what became of it, flat: all that the statistics read."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Literal

import msgspec
from msgspec.structs import astuple

from webassay.core.groupings import GROUPINGS
from webassay.core.summary import TrajectorySummary, UnitResult, VerdictSummary

BUILT_IN_BASELINES = frozenset(
    {f"naive-{name}" for name in ("empty", "na", "yes", "no", "yes-no", "zero", "random", "echo", "numbers")}
    | {f"naive-{name}" for name in ("random-clicker", "link-follower", "form-filler", "fixed-path", "screenshot")}
    | {f"naive-status-{name}" for name in ("success", "action-not-allowed", "not-found", "permission-denied")}
    | {"naive-status-data-validation", "naive-status-unknown", "knowledge"}
)
"""Agents that do not try, in runs whose plan does not say which do: what these get is given away, not earned."""

BOTH = "+"
"""Between the groups of one task in one grouping."""
UNACHIEVABLE = "unachievable"
_KEPT = tuple(grouping.name for grouping in GROUPINGS if grouping.of_task is not None)
"""The groupings that every row names, also where its task is in none of their groups."""

RowStatus = Literal["pass", "fail", "abstain", "fault", "missing"]
_SCORES = {"pass": 1.0, "fail": 0.0}


class ResultRow(msgspec.Struct, frozen=True, gc=False):
    """A unit that was never played, or that broke, is a row like any other: nothing leaves the denominator."""

    agent: str
    task_id: str
    status: RowStatus
    benchmark: str = ""
    template: str = ""
    """Empty: the task is its own template."""
    kind: str = ""
    sites: tuple[str, ...] = ()
    modality: str = ""
    """What the task asks for."""
    seen: str = ""
    """The modality in which the agent played it: its own setting may differ from what the task asks for."""
    groups: dict[str, tuple[str, ...]] = {}
    """Grouping to the groups that the task is in."""
    trial: int = 0
    seed: int = 0
    model: str = ""
    baseline: bool = False
    ending: str = ""
    claimed: str = ""
    """The status that the agent reported, where its answer could be read."""
    steps: int = 0
    seconds: float = 0.0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    actions: dict[str, int] = {}
    tools: dict[str, int] = {}
    errors: int = 0
    """Steps in which an action failed."""
    retries: int = 0
    """Steps straight after a failed one."""
    retries_that_worked: int = 0
    traced: bool = True
    """False for a log without steps and times: nobody knows what the episode took."""
    findings: tuple[tuple[str, str], ...] = ()
    """Check and code of everything that was found wrong."""
    answered: bool = False
    """It ended with an answer that has a form to be held to."""
    unreadable: bool = False
    """The answer could not be read, even after recovery."""
    recovered: bool = False
    """The answer could be read after recovery only."""
    evidence: bool | None = None
    """Whether it had seen what its key asks for; None if the key does not ask."""
    evidence_by: str = ""
    """`receipts` or `texts`: what the sites vouch for, or whatever they showed."""
    checkpoint_reach: float | None = None
    process_score: float | None = None
    diagnosed: bool = False
    """A judge looked for errors; those it found are findings of the check `diagnosis`."""
    first_error_step: int | None = None
    """Counted from 1."""
    fingerprint: str = ""
    """The rater's id; two agents' verdicts may be compared only where it agrees."""
    key_hash: str = ""

    @property
    def score(self) -> float | None:
        return _SCORES.get(self.status)

    @property
    def task(self) -> tuple[str, str]:
        return (self.benchmark, self.task_id)

    @property
    def cluster(self) -> tuple[str, str]:
        return (self.benchmark, self.template or f"task {self.task_id}")

    @property
    def played(self) -> bool:
        return self.status != "missing"

    def as_dict(self) -> dict[str, Any]:
        """Plain values under the same keys for every row, as data frames want them: `pandas.DataFrame(r.as_dict() for
        r in rows)`. Actions and tools are counted together; the counts by name are in the row itself."""
        plain = {name: getattr(self, name) for name in self.__struct_fields__ if name != "groups"}
        plain |= {
            "score": self.score,
            "sites": ",".join(self.sites),
            "actions": sum(self.actions.values()),
            "tools": sum(self.tools.values()),
            "findings": ";".join(f"{check}:{code}" if code else check for check, code in self.findings),
        }
        groups = {name: BOTH.join(self.groups.get(name, ())) for name in (*_KEPT, *self.groups)}
        return plain | {name: group for name, group in groups.items() if name not in plain}


Block = Mapping[str, Sequence[Any]]
"""Field to the values of some rows, every field of `Row` in its order. Making and using rows in blocks is done by loops
in C, three times as fast as taking each row apart."""
_FIELDS = ResultRow.__struct_fields__
BLOCK = 200
"""Rows held at a time: more of them leave the processor's cache, fewer make the loops in C too short."""


def row_of(result: UnitResult) -> ResultRow:
    """Flattens one result of `Store.rows`."""
    return next(rows_of([result]))


def rows_of(results: Iterable[UnitResult]) -> Iterator[ResultRow]:
    return rows_in(blocks_of_results(results))


def rows_in(blocks: Iterable[Block]) -> Iterator[ResultRow]:
    for block in blocks:
        yield from map(ResultRow, *block.values())


def blocks_of_rows(rows: Iterable[ResultRow]) -> Iterator[Block]:
    coming = iter(rows)
    while some := list(islice(coming, BLOCK)):
        yield dict(zip(_FIELDS, zip(*map(astuple, some), strict=True), strict=True))


def blocks_of_results(results: Iterable[UnitResult]) -> Iterator[Block]:
    coming = iter(results)
    while some := list(islice(coming, BLOCK)):
        yield _block(some)


def _block(results: Sequence[UnitResult]) -> Block:
    """What the plan says comes first: it is there even when the run is not."""
    told = [one.unit for one in results]
    played = [one.trajectory or _NOT_PLAYED for one in results]
    verdicts = [one.verdict or _NOT_JUDGED for one in results]
    aspects = [one.aspects for one in verdicts]
    forms = [one.get("response_format") for one in aspects]
    agents = [one.agent for one in results]
    return {
        "agent": agents,
        "task_id": [one.task_id for one in results],
        "status": [one.verdict.status if one.verdict is not None else _unjudged(one.trajectory) for one in results],
        "benchmark": [unit.benchmark or one.benchmark for unit, one in zip(told, played, strict=True)],
        "template": [unit.template or one.template for unit, one in zip(told, played, strict=True)],
        "kind": [unit.kind for unit in told],
        "sites": [unit.sites for unit in told],
        "modality": [unit.modality or one.modality for unit, one in zip(told, played, strict=True)],
        "seen": [one.modality or unit.modality for unit, one in zip(told, played, strict=True)],
        "groups": [unit.groups for unit in told],
        "trial": [one.trial for one in results],
        "seed": [unit.seed for unit in told],
        "model": [one.model for one in played],
        "baseline": [
            agent in BUILT_IN_BASELINES if unit.baseline is None else unit.baseline
            for agent, unit in zip(agents, told, strict=True)
        ],
        "ending": [one.ending for one in played],
        "claimed": [one.claimed for one in played],
        "steps": [one.steps for one in played],
        "seconds": [one.seconds for one in played],
        "input_tokens": [one.input_tokens for one in played],
        "output_tokens": [one.output_tokens for one in played],
        "cost_usd": [one.cost_usd for one in played],
        "actions": [one.actions for one in played],
        "tools": [one.tools for one in played],
        "errors": [one.errors for one in played],
        "retries": [one.retries for one in played],
        "retries_that_worked": [one.retries_that_worked for one in played],
        "traced": [one.steps > 0 or one.seconds > 0 or one is _NOT_PLAYED for one in played],
        "findings": [one.failures for one in verdicts],
        "answered": [
            one.ending in _ANSWERED and (verdict is _NOT_JUDGED or "response_format" in verdict.aspects)
            for one, verdict in zip(played, verdicts, strict=True)
        ],
        "unreadable": [form == "invalid" for form in forms],
        "recovered": [form == "recovered" for form in forms],
        "evidence": [_yes_or_no(one["evidence"]) if "evidence" in one else None for one in aspects],
        "evidence_by": [str(one.get("evidence_by", "")) for one in aspects],
        "checkpoint_reach": _numbers(aspects, "checkpoint_reach"),
        "process_score": _numbers(aspects, "process_score"),
        "diagnosed": ["first_failure_step" in one for one in aspects],
        "first_error_step": [None if step is None else int(step) for step in _numbers(aspects, "first_failure_step")],
        "fingerprint": [one.grader for one in verdicts],
        "key_hash": [one.key for one in verdicts],
    }


Aspects = Mapping[str, float | bool | str | None]


def _yes_or_no(value: float | bool | str | None) -> bool | None:
    return value if isinstance(value, bool) else None


def _numbers(aspects: Sequence[Aspects], name: str) -> Sequence[float | None]:
    return [_number(one[name]) if name in one else None for one in aspects]


def _number(value: float | bool | str | None) -> float | None:
    return None if value is None or isinstance(value, str) else float(value)


_ANSWERED = ("answered", "gave_up", "imported")
_NOT_PLAYED = TrajectorySummary(agent="", task_id="", ending="")
_NOT_JUDGED = VerdictSummary(status="", grader="")


def _unjudged(trajectory: TrajectorySummary | None) -> RowStatus:
    if trajectory is None:
        return "missing"
    # Played and not graded: nobody has decided yet.
    return "fault" if trajectory.ending == "fault" else "abstain"


def together(runs: Mapping[str, Iterable[ResultRow]]) -> Iterable[ResultRow]:
    """Run name to rows, as one. An agent that occurs in several runs is told apart by the run's name."""
    held = {run: list(rows) for run, rows in runs.items()}
    seen = Counter(agent for rows in held.values() for agent in {row.agent for row in rows})
    return [
        msgspec.structs.replace(row, agent=f"{row.agent} ({run})") if seen[row.agent] > 1 else row
        for run, rows in held.items()
        for row in rows
    ]
