"""One planned unit of work and what became of it, flat: all that the statistics read."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Literal, cast

import msgspec

from webassay.core.summary import TrajectorySummary, UnitResult, VerdictSummary

BUILT_IN_BASELINES = frozenset(
    {f"naive-{name}" for name in ("empty", "na", "yes", "no", "yes-no", "zero", "random", "echo", "numbers")}
    | {f"naive-{name}" for name in ("random-clicker", "link-follower", "form-filler", "fixed-path", "screenshot")}
    | {f"naive-status-{name}" for name in ("success", "action-not-allowed", "not-found", "permission-denied")}
    | {"naive-status-data-validation", "naive-status-unknown", "knowledge"}
)
"""Agents that do not try, in runs whose plan does not say which do: what these get is given away, not earned."""

BOTH = "+"
"""Between the two types of one task."""

RowStatus = Literal["pass", "fail", "abstain", "fault", "missing"]
_SCORES = {"pass": 1.0, "fail": 0.0}


class Row(msgspec.Struct, frozen=True, gc=False):
    """A unit that was never played, or that broke, is a row like any other: nothing leaves the denominator."""

    agent: str
    task_id: str
    status: RowStatus
    benchmark: str = ""
    template: str = ""
    """Empty: the task is its own template."""
    kind: str = ""
    sites: tuple[str, ...] = ()
    chore: str = ""
    """Its type; two types are joined by a plus sign."""
    difficulty: str = ""
    modality: str = ""
    observation: str = ""
    """What the task needs to be seen as: text, image or any."""
    obstacles: str = ""
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
        plain = {name: getattr(self, name) for name in self.__struct_fields__}
        return plain | {
            "score": self.score,
            "sites": ",".join(self.sites),
            "actions": sum(self.actions.values()),
            "tools": sum(self.tools.values()),
            "findings": ";".join(f"{check}:{code}" if code else check for check, code in self.findings),
        }


def row_of(result: UnitResult) -> Row:
    """Of one result of `Store.rows`. What the plan says comes first: it is there even when the run is not."""
    told, played, verdict = result.unit, result.trajectory or _NOT_PLAYED, result.verdict or _NOT_JUDGED
    aspects = verdict.aspects
    form, first = aspects.get("response_format"), _number(aspects.get("first_failure_step"))
    # By position, in the order of the fields: by name takes as long as all the rest of this function.
    return Row(
        result.agent,
        result.task_id,
        _status(result),
        told.benchmark or played.benchmark,
        told.template or played.template,
        told.kind,
        told.sites,
        BOTH.join(told.chores) or told.chore,
        told.difficulty,
        told.modality or played.modality,
        told.observation,
        told.obstacles,
        result.trial,
        told.seed,
        played.model,
        result.agent in BUILT_IN_BASELINES if told.baseline is None else told.baseline,
        played.ending,
        played.claimed,
        played.steps,
        played.seconds,
        played.input_tokens,
        played.output_tokens,
        played.cost_usd,
        played.actions,
        played.tools,
        played.errors,
        played.retries,
        played.retries_that_worked,
        result.trajectory is None or played.steps > 0 or played.seconds > 0,
        verdict.failures,
        played.ending in _ANSWERED and (result.verdict is None or "response_format" in aspects),
        form == "invalid",
        form == "recovered",
        _yes_or_no(aspects.get("evidence")),
        _number(aspects.get("checkpoint_reach")),
        _number(aspects.get("process_score")),
        "first_failure_step" in aspects,
        None if first is None else int(first),
        verdict.grader,
        verdict.key,
    )


def _yes_or_no(value: float | bool | str | None) -> bool | None:
    return value if isinstance(value, bool) else None


def _number(value: float | bool | str | None) -> float | None:
    return None if value is None or isinstance(value, str) else float(value)


_ANSWERED = ("answered", "gave_up", "imported")
_NOT_PLAYED = TrajectorySummary(agent="", task_id="", ending="")
_NOT_JUDGED = VerdictSummary(status="", grader="")


def _status(result: UnitResult) -> RowStatus:
    if result.verdict is not None:
        return cast(RowStatus, result.verdict.status)
    if result.trajectory is None:
        return "missing"
    # Played and not graded: nobody has decided yet.
    return "fault" if result.trajectory.ending == "fault" else "abstain"


def together(runs: Mapping[str, Iterable[Row]]) -> Iterable[Row]:
    """Run name to rows, as one. An agent that occurs in several runs is told apart by the run's name; the rows of a
    single run are never held in memory."""
    if len(runs) == 1:
        return next(iter(runs.values()))
    held = {run: list(rows) for run, rows in runs.items()}
    seen = Counter(agent for rows in held.values() for agent in {row.agent for row in rows})
    return [
        msgspec.structs.replace(row, agent=f"{row.agent} ({run})") if seen[row.agent] > 1 else row
        for run, rows in held.items()
        for row in rows
    ]
