"""The small part of a trajectory or verdict that reports read.

A report over a hundred thousand episodes must not parse a hundred thousand trajectories. So the store computes these
summaries once, when a record is added, and keeps them next to it. They are derived: nothing is in them that is not in
the record, and they can be made again from it at any time.

They are msgspec structs rather than pydantic records, because reading them is most of what a report does.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import fsum
from typing import Annotated, Any, NamedTuple, Self, get_args

import msgspec

from webassay.core.interaction import Modality
from webassay.core.rater import rater_id
from webassay.core.trajectory import Step, Trajectory
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Verdict, decides

Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 53)]
"""What a column of numbers can hold; nothing that was counted is larger."""


class TrajectorySummary(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    agent: str
    task_id: str
    ending: str
    template: str = ""
    benchmark: str = ""
    modality: str = ""
    """What the agent saw, where its settings say so; else what the task asks for."""
    trial: int = 0
    seed: int = 0
    model: str = ""
    claimed: str = ""
    """The status the agent reported, if its answer is readable as it came."""
    steps: Count = 0
    seconds: float = 0.0
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cost_usd: float | None = None
    """None as soon as the cost of one call is unknown."""
    actions: dict[str, int] = {}
    tools: dict[str, int] = {}
    errors: Count = 0
    """Steps in which an action failed."""
    retries: Count = 0
    """Steps straight after a failed one."""
    retries_that_worked: Count = 0
    thinking: float | None = None
    """Seconds that the agent took to decide; None where nobody measured, as with programs that drive by themselves."""

    @classmethod
    def of(cls, trajectory: Trajectory) -> Self:
        steps = trajectory.steps
        timed = any(step.timing.observe for step in steps)
        usages = [step.usage for step in steps if step.usage is not None]
        failed = [bool(step.error) for step in steps]
        worked = [not again for before, again in pairwise(failed) if before]
        response = trajectory.response
        return cls(
            agent=trajectory.agent.name,
            task_id=trajectory.task_id,
            ending=trajectory.ending.kind,
            template=trajectory.template,
            benchmark=trajectory.benchmark,
            modality=_seen(trajectory),
            trial=trajectory.trial,
            seed=trajectory.seed,
            model=trajectory.agent.model,
            claimed=response.status if response is not None and isinstance(response.status, str) else "",
            steps=len(steps),
            seconds=trajectory.seconds,
            input_tokens=sum(usage.input_tokens for usage in usages) if usages else None,
            output_tokens=sum(usage.output_tokens for usage in usages) if usages else None,
            cost_usd=_total([usage.cost_usd for usage in usages if usage.calls or usage.cost_usd is not None]),
            actions=dict(Counter(action.name for step in steps for action in step.actions)),
            tools=_tools(steps),
            errors=sum(failed),
            retries=len(worked),
            retries_that_worked=sum(worked),
            thinking=round(fsum(step.timing.decide for step in steps), 3) if timed else None,
        )

    def to_json(self) -> str:
        return _encode(self)


def _seen(trajectory: Trajectory) -> str:
    """Settings are the agent's own words: only a modality counts as one."""
    told = trajectory.agent.settings.get("modality")
    return told if isinstance(told, str) and told in get_args(Modality) else trajectory.goal.modality


class VerdictSummary(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    status: str
    grader: str
    """The rater's id (`core.rater`); two agents compare only where this agrees."""
    key: str = ""
    """The task's content hash; empty for judges."""
    failures: tuple[tuple[str, str], ...] = ()
    """Check and code of every finding that counted against the agent."""
    aspects: dict[str, float | bool | str | None] = {}
    cost_usd: float | None = None

    @classmethod
    def of(cls, verdict: Verdict) -> Self:
        return cls(
            status=verdict.status,
            grader=rater_id(verdict.fingerprint),
            key=verdict.fingerprint.key,
            failures=tuple(
                (finding.check, finding.code)
                for finding in verdict.findings
                if finding.status in ("fail", "fault") and decides(finding)
            ),
            aspects={name: aspect.value for name, aspect in verdict.aspects.items()},
            cost_usd=verdict.cost_usd,
        )

    def to_json(self) -> str:
        return _encode(self)


class UnitSummary(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What a unit's metadata says that reports group by."""

    benchmark: str = ""
    template: str = ""
    kind: str = ""
    sites: tuple[str, ...] = ()
    modality: str = ""
    groups: dict[str, tuple[str, ...]] = {}
    """Grouping to the groups that the task is in."""
    baseline: bool | None = None
    """None in plans that do not say."""
    seed: int = 0

    @classmethod
    def of(cls, unit: UnitOfWork) -> Self:
        return cls.told({**unit.metadata, "seed": unit.seed})

    @classmethod
    def told(cls, metadata: Mapping[str, Any]) -> Self:
        """Metadata may hold anything; what is not of the right kind is made so, or left out."""
        baseline, seed = (metadata.get(name) for name in ("baseline", "seed"))

        def text(name: str) -> str:
            return str(metadata.get(name) or "")

        def texts(found: Any) -> tuple[str, ...]:
            return tuple(map(str, found)) if isinstance(found, list | tuple) else ()

        groups = metadata.get("groups")

        return cls(
            benchmark=text("benchmark"),
            template=text("template"),
            kind=text("kind"),
            sites=texts(metadata.get("sites")),
            modality=text("modality"),
            groups={name: texts(own) for name, own in groups.items()} if isinstance(groups, dict) else {},
            baseline=baseline if isinstance(baseline, bool) else None,
            seed=seed if isinstance(seed, int) else 0,
        )

    def to_json(self) -> str:
        return _encode(self)


class UnitResult(msgspec.Struct, frozen=True, gc=False):
    """One planned unit and what became of it: all that a report needs to know."""

    agent: str
    task_id: str
    trial: int
    unit: UnitSummary
    trajectory: TrajectorySummary | None
    """The attempt that counts; None if the unit was never played."""
    verdict: VerdictSummary | None
    """The newest of the rater asked for; None if there is none."""


class Attempt(NamedTuple):
    """One time that a unit was played; a unit that faulted has several."""

    trajectory_id: str
    unit_id: str
    ending: str
    steps: int
    seconds: float
    time: str


_read_metadata = msgspec.json.Decoder(dict[str, Any]).decode
_read_well_formed = msgspec.json.Decoder(UnitSummary).decode


def read_unit_summary(text: bytes) -> UnitSummary:
    try:
        return _read_well_formed(text)  # a tenth of the time
    except msgspec.ValidationError:
        return UnitSummary.told(_read_metadata(text))


read_trajectory_summary = msgspec.json.Decoder(TrajectorySummary).decode
read_verdict_summary = msgspec.json.Decoder(VerdictSummary).decode


def _encode(summary: msgspec.Struct) -> str:
    return msgspec.json.encode(summary).decode()


def _total(costs: Sequence[float | None]) -> float | None:
    """One unknown part makes the sum unknown."""
    known = [cost for cost in costs if cost is not None]
    return fsum(known) if costs and len(known) == len(costs) else None


def _tools(steps: Sequence[Step]) -> dict[str, int]:
    """Agents with tools note in each step how often they have used each one so far."""
    so_far: dict[str, int] = {}
    for step in steps:
        noted = step.info.get("tool_uses")
        for name, count in noted.items() if isinstance(noted, dict) else ():
            if isinstance(count, int):
                so_far[name] = max(count, so_far.get(name, 0))
    return {name: count for name, count in so_far.items() if count}
