"""One planned unit of work and what became of it, flat: all that the statistics read."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

from webassay.core.record import Json, content_hash
from webassay.core.trajectory import Step, Trajectory
from webassay.core.verdict import Fingerprint, Verdict

_DECIDES_NOTHING = ("checkpoint", "report")
"""Findings that stand beside a verdict: way-marks, and rules that are reported only."""

BASELINES = ("naive-", "knowledge")
"""How the names of agents begin that do not try: what they get is given away, not earned."""

RowStatus = Literal["pass", "fail", "abstain", "fault", "missing"]


@dataclass(frozen=True, slots=True)
class Row:
    """Planned is the word: a unit that was never played, or that broke, is a row like any other."""

    agent: str
    task_id: str
    status: RowStatus
    benchmark: str = ""
    template: str = ""
    """Empty: the task is its own template."""
    kind: str = ""
    sites: tuple[str, ...] = ()
    chore: str = ""
    difficulty: str = ""
    modality: str = ""
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
    actions: Mapping[str, int] = field(default_factory=dict)
    tools: Mapping[str, int] = field(default_factory=dict)
    errors: int = 0
    """Steps in which an action failed."""
    retries: int = 0
    """Steps straight after a failed one."""
    retries_that_worked: int = 0
    findings: tuple[tuple[str, str], ...] = ()
    """Check and code of everything that was found wrong."""
    answered: bool = False
    """It ended with an answer that has a form to be held to."""
    unreadable: bool = False
    """The answer could not be read, even after recovery."""
    recovered: bool = False
    """The answer could be read after recovery only."""
    checkpoint_reach: float | None = None
    fingerprint: str = ""
    """Of the grader; two agents' verdicts may be compared only where it agrees."""
    key_hash: str = ""

    @property
    def score(self) -> float | None:
        return {"pass": 1.0, "fail": 0.0}.get(self.status)

    @property
    def task(self) -> tuple[str, str]:
        return (self.benchmark, self.task_id)

    @property
    def cluster(self) -> tuple[str, str]:
        return (self.benchmark, self.template or f"task {self.task_id}")

    @property
    def played(self) -> bool:
        return self.status != "missing"


def row_of(facts: Mapping[str, Json], trajectory: Trajectory | None, verdict: Verdict | None) -> Row:
    """`facts` are of the plan (agent, task_id, benchmark, template, kind, sites, chore, difficulty, modality, trial,
    seed, baseline), so that they are there even when the run is not."""
    sites = facts.get("sites")
    row = Row(
        agent=_text(facts, "agent") or (trajectory.agent.name if trajectory else ""),
        task_id=_text(facts, "task_id") or (trajectory.task_id if trajectory else ""),
        status=_status(trajectory, verdict),
        benchmark=_text(facts, "benchmark") or (trajectory.benchmark if trajectory else ""),
        template=_text(facts, "template") or (trajectory.template if trajectory else ""),
        kind=_text(facts, "kind"),
        sites=tuple(str(site) for site in sites) if isinstance(sites, list | tuple) else (),
        chore=_text(facts, "chore"),
        difficulty=_text(facts, "difficulty"),
        modality=_text(facts, "modality") or (trajectory.goal.modality if trajectory else ""),
        trial=_number(facts, "trial", trajectory.trial if trajectory else 0),
        seed=_number(facts, "seed", trajectory.seed if trajectory else 0),
        baseline=facts.get("baseline") is True or _text(facts, "agent").startswith(BASELINES),
    )
    if trajectory is not None:
        row = _played(row, trajectory)
    return row if verdict is None else _judged(row, verdict)


def _status(trajectory: Trajectory | None, verdict: Verdict | None) -> RowStatus:
    if verdict is not None:
        return verdict.status
    if trajectory is None:
        return "missing"
    # Played and not graded: nobody has decided yet.
    return "fault" if trajectory.ending.kind == "fault" else "abstain"


def _played(row: Row, trajectory: Trajectory) -> Row:
    steps = trajectory.steps
    usages = [step.usage for step in steps if step.usage is not None]
    failed = [bool(step.error) for step in steps]
    worked = [not again for before, again in pairwise(failed) if before]
    response = trajectory.response
    return replace(
        row,
        model=trajectory.agent.model,
        ending=trajectory.ending.kind,
        claimed=response.status if response is not None and isinstance(response.status, str) else "",
        steps=len(steps),
        seconds=trajectory.seconds,
        input_tokens=sum(usage.input_tokens for usage in usages) if usages else None,
        output_tokens=sum(usage.output_tokens for usage in usages) if usages else None,
        cost_usd=_sum_or_none([usage.cost_usd for usage in usages if usage.calls or usage.cost_usd is not None]),
        actions=Counter(action.name for step in steps for action in step.actions),
        tools=_tools(steps),
        errors=sum(failed),
        retries=len(worked),
        retries_that_worked=sum(worked),
        answered=trajectory.ending.kind in ("answered", "gave_up", "imported"),
    )


def _judged(row: Row, verdict: Verdict) -> Row:
    reach = verdict.aspects.get("checkpoint_reach")
    reached = reach.value if reach is not None else None
    form = verdict.aspects.get("response_format")
    return replace(
        row,
        findings=tuple(
            (f.check, f.code)
            for f in verdict.findings
            if f.status in ("fail", "fault") and f.check not in _DECIDES_NOTHING
        ),
        answered=row.answered and form is not None,
        unreadable=form is not None and form.value == "invalid",
        recovered=form is not None and form.value == "recovered",
        checkpoint_reach=float(reached) if isinstance(reached, int | float) else None,
        fingerprint=_short(verdict.fingerprint),
        key_hash=verdict.fingerprint.key,
    )


def _short(fingerprint: Fingerprint) -> str:
    # The key differs from task to task; it is compared task by task.
    digest = content_hash(fingerprint.model_dump(mode="json", exclude={"key"})).removeprefix("sha256:")
    return f"{fingerprint.grader} {fingerprint.version} {digest[:12]}"


def _sum_or_none(costs: list[float | None]) -> float | None:
    """One unknown part makes the sum unknown."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if costs and len(known) == len(costs) else None


def _tools(steps: tuple[Step, ...]) -> dict[str, int]:
    """Agents with tools note in each step how often they have used each one so far."""
    so_far: dict[str, int] = {}
    for step in steps:
        noted = step.info.get("tool_uses")
        for name, count in noted.items() if isinstance(noted, dict) else ():
            if isinstance(count, int):
                so_far[name] = max(count, so_far.get(name, 0))
    return {name: count for name, count in so_far.items() if count}


def _text(facts: Mapping[str, Json], name: str) -> str:
    value = facts.get(name)
    return "" if value is None else str(value)


def _number(facts: Mapping[str, Json], name: str, default: int) -> int:
    value = facts.get(name)
    return value if isinstance(value, int) else default
