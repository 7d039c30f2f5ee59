"""Everything that belongs to one step, joined: what it did, what it caused, and what was said of it."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from webassay.analysis.episode.drawing import ActionMark, marks_of
from webassay.analysis.episode.evidence import EvidenceView
from webassay.analysis.episode.verifier import FailureView
from webassay.analysis.episode.view import EpisodeView, RequestView, RowLine, actions_of
from webassay.core.trajectory import RecordedObservation, Step
from webassay.core.verdict import Finding, Verdict

PHASES = (("observe", "looking"), ("decide", "deciding"), ("act", "acting"), ("settle", "settling"))
"""What the time of a step goes into: as it is recorded, and in words."""


@dataclass(frozen=True)
class Phase:
    name: str
    words: str
    seconds: float
    start: float
    """Share of the longest step that lies before it."""
    share: float


@dataclass(frozen=True)
class StepView:
    step: Step
    actions: tuple[tuple[str, str], ...]
    """Each as the agent wrote it, and the element that it names."""
    marks: tuple[ActionMark, ...] = ()
    after: RecordedObservation | None = None
    requests: tuple[RequestView, ...] = ()
    rows: tuple[RowLine, ...] = ()
    """Rows that this step touched."""
    facts: tuple[str, ...] = ()
    """Facts of the key that were first served in this step."""
    cited: tuple[tuple[Verdict, Finding], ...] = ()
    failures: tuple[FailureView, ...] = ()
    phases: tuple[Phase, ...] = ()

    @property
    def number(self) -> int:
        return self.step.index + 1

    @property
    def writes(self) -> int:
        return sum(request.writes for request in self.requests)

    @property
    def damage(self) -> bool:
        """Whether it changed what nobody asked for."""
        return any(row.mark == "unexpected" for row in self.rows)

    @property
    def flags(self) -> list[tuple[str, str]]:
        """What a person who skims looks for: a short name, and what it means."""
        found = []
        if self.step.error:
            found.append(("error", "its action failed"))
        if self.failures or any(one.status != "pass" for _, one in self.cited):
            found.append(("cited", "a finding names it"))
        if self.rows:
            found.append(("damage", "changed what nobody asked for") if self.damage else ("rows", "changed rows"))
        if self.facts:
            found.append(("fact", "was shown a fact of the key"))
        return found


def step_views(view: EpisodeView, most: int) -> list[StepView]:
    steps = view.trajectory.steps[:most]
    requests = _by_step(view.traffic.requests if view.traffic else ())
    facts = _facts_by_step(view.evidence)
    failures: dict[int, list[FailureView]] = defaultdict(list)
    for _, verifier in view.verifiers:
        for failure in verifier.failures:
            for index in failure.steps:
                failures[index].append(failure)
    longest = max((_seconds(step) for step in steps), default=0.0)
    pages = [*(step.seen for step in view.trajectory.steps), view.trajectory.last_seen]
    return [
        StepView(
            step=step,
            actions=tuple(
                (action, view.targets.get((step.index, place), "")) for place, action in enumerate(actions_of(step))
            ),
            marks=marks_of(step),
            after=pages[place + 1],
            requests=tuple(requests.get(step.index, ())),
            rows=view.touched.get(step.index, ()),
            facts=tuple(facts.get(step.index, ())),
            cited=tuple(one for one in view.cited(step) if one[1].check != "diagnosis" or not failures),
            failures=tuple(failures.get(step.index, ())),
            phases=tuple(_phases(step, longest)),
        )
        for place, step in enumerate(steps)
    ]


def _by_step(requests: Iterable[RequestView]) -> Mapping[int, Sequence[RequestView]]:
    found: dict[int, list[RequestView]] = defaultdict(list)
    for request in requests:
        if request.step is not None:
            found[request.step].append(request)
    return found


def _facts_by_step(evidence: Sequence[EvidenceView]) -> Mapping[int, Sequence[str]]:
    """Each fact where it was shown first."""
    found: dict[int, list[str]] = defaultdict(list)
    for one in evidence:
        for line in one.facts:
            known = [place.step for place in line.places if place.step is not None]
            if line.shown and known:
                found[min(known)].append(line.fact)
    return found


def _seconds(step: Step) -> float:
    return math.fsum(getattr(step.timing, name) for name, _ in PHASES)


def _phases(step: Step, longest: float) -> Iterator[Phase]:
    start = 0.0
    for name, words in PHASES:
        seconds = getattr(step.timing, name)
        if seconds >= 0.0005 and longest > 0:
            yield Phase(name, words, seconds, start / longest, seconds / longest)
        start += seconds
