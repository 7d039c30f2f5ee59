"""What a rubric-based verifier found, for a person to read: the rubric with both rounds of points, what each page was
worth to each criterion, the evidence, the votes, and where it went wrong.

A verdict keeps every stage of it as JSON. Ours and that of the published code look different; both become the same view
here. Whatever is not there, or in no form that is known, is left out: a page about a verdict must open.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from webassay.core.rater import PUBLISHED_OUTPUT
from webassay.core.trajectory import Trajectory
from webassay.core.verdict import Verdict

MOST_CELLS = 20_000


@dataclass(frozen=True)
class EvidenceLine:
    """What one page shows of one criterion."""

    frame: int
    seen: str
    analysis: str = ""
    discrepancies: str = ""
    category: str = ""
    environment: bool = False
    """What the agent could do nothing about."""


@dataclass(frozen=True)
class CriterionView:
    number: int
    criterion: str
    description: str
    most: float
    first: float | None
    """Points for the actions alone."""
    points: float | None
    """Points with the evidence. These count."""
    reason: str = ""
    evidence_reason: str = ""
    condition: str = ""
    condition_met: bool | None = None
    notes: tuple[tuple[str, str], ...] = ()
    """What else was said of it, by label."""
    told: bool = True
    penalty: bool = False
    evidence: tuple[EvidenceLine, ...] = ()

    @property
    def applies(self) -> bool:
        return self.condition_met is not False

    @property
    def share(self) -> float | None:
        return None if self.points is None or not self.most else max(0.0, min(1.0, self.points / self.most))


@dataclass(frozen=True)
class FrameView:
    """One page as the verifier counted it."""

    number: int
    step: int | None
    """Index of the step that started on it; the number of steps for the last page. None: there is no such page."""
    relevance: tuple[int | None, ...] = ()
    """By criterion, from 0 to the view's `scale`."""
    chosen: frozenset[int] = frozenset()
    """Criteria for which it was looked at."""
    how: str = ""
    """How it was looked at, or why it was not."""
    said: str = ""
    """Why it was given its score, by judges that say so."""
    unseen: bool = False


@dataclass(frozen=True)
class VoteView:
    success: bool | None
    intent: str = ""
    reasoning: str = ""
    nitpicks: tuple[str, ...] = ()
    critical: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    rules: tuple[tuple[str, bool, str], ...] = ()


@dataclass(frozen=True)
class FailureView:
    steps: tuple[int, ...]
    """Indexes of steps."""
    code: str
    category: str
    what: str
    reasoning: str = ""
    evidence: str = ""
    impact: str = ""


@dataclass(frozen=True)
class VerifierView:
    criteria: tuple[CriterionView, ...] = ()
    frames: tuple[FrameView, ...] = ()
    votes: tuple[VoteView, ...] = ()
    failures: tuple[FailureView, ...] = ()
    point: tuple[tuple[str, str], ...] = ()
    """The critical point: where acting would bind the person. By label."""
    violation: str = ""
    overruled: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    """Stages that had to fall back."""
    aspects: tuple[tuple[str, str], ...] = ()
    notes: tuple[tuple[str, str], ...] = ()
    scale: int = 10

    @property
    def earned(self) -> float:
        return sum(one.points or 0.0 for one in self.criteria if one.applies and one.told)

    @property
    def most(self) -> float:
        return sum(one.most for one in self.criteria if one.applies and one.told)

    @property
    def first_earned(self) -> float:
        return sum(one.first or 0.0 for one in self.criteria if one.applies and one.told and not one.penalty)

    @property
    def unseen(self) -> tuple[FrameView, ...]:
        return tuple(frame for frame in self.frames if frame.unseen)


def verifier_view(verdict: Verdict, trajectory: Trajectory) -> VerifierView | None:
    """None: this verdict holds neither a rubric nor scores of pages."""
    published = verdict.replies.get(PUBLISHED_OUTPUT)
    if isinstance(published, dict):
        rubric = isinstance(published.get("rubric_items"), list)
        return _published(published, trajectory) if rubric else _of_pages(published, trajectory)
    if isinstance(verdict.replies.get("scores"), list) and "rubric" in verdict.replies:
        return _universal(verdict, trajectory)
    return _of_pages(verdict.replies, trajectory) if "key_points" in verdict.replies else None


# --- reading JSON that may be anything ----------------------------------------------------------------------


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(one for one in _list(value) if isinstance(one, str) and one.strip())


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _wholes(value: Any) -> set[int]:
    return {one for one in map(_whole, _list(value)) if one is not None}


def _truth(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _labeled(given: Mapping[str, Any], names: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((label, _text(given.get(name))) for name, label in names.items() if _text(given.get(name)).strip())


# --- our own verifier ---------------------------------------------------------------------------------------


def _universal(verdict: Verdict, trajectory: Trajectory) -> VerifierView:
    said, settings = verdict.replies, verdict.fingerprint.settings
    scores = [_map(one) for one in _list(said.get("scores"))]
    evidence: dict[int, list[EvidenceLine]] = {}
    for one in map(_map, _list(said.get("evidence"))):
        if one.get("usable") is not False:
            line = _evidence(one, _whole(one.get("screenshot")) or 0)
            evidence.setdefault(_whole(one.get("criterion")) or 0, []).append(line)
    outcome = _map(said.get("outcome"))
    point = _map(_map(said.get("rubric")).get("critical_point"))
    return VerifierView(
        criteria=tuple(_criterion(number, one, evidence.get(number, [])) for number, one in enumerate(scores)),
        frames=_frames(said, frame_steps(trajectory, text=settings.get("page_text") is True), len(scores)),
        votes=tuple(_vote(_map(one)) for one in _list(outcome.get("votes"))),
        failures=tuple(_failure(_map(one)) for one in _list(_map(said.get("diagnosis")).get("points"))),
        point=_point(point) if point.get("present") else (),
        violation=_text(outcome.get("cp_reasoning")) if outcome.get("cp_violation") else "",
        overruled=_texts(outcome.get("overruled")),
        degraded=_texts(said.get("degraded")),
        aspects=_aspects(verdict),
        notes=_labeled(
            {"task": _map(said.get("validity")).get("reasoning")}, {"task": "Whether the task is a fair one"}
        ),
    )


def _criterion(number: int, score: Mapping[str, Any], evidence: Sequence[EvidenceLine]) -> CriterionView:
    asked = _map(score.get("criterion"))
    cause = _text(score.get("cause"))
    notes = _labeled(
        score,
        {
            "cannot_tell": "What the actions alone do not show",
            "reality_notes": "How the world differs from what the rubric assumed",
            "applicable_evidence": "The evidence that counts",
            "condition_reasoning": "Why its condition holds, or does not",
            "looked_closer": "On a closer look",
        },
    )
    if cause not in ("", "none"):
        notes = (*notes, ("Who caused what is missing", "the agent" if cause == "controllable" else "not the agent"))
    return CriterionView(
        number=number,
        criterion=_text(asked.get("criterion")),
        description=_text(asked.get("description")),
        most=_number(asked.get("max_points")) or 0.0,
        first=_number(score.get("action_only")),
        points=_number(score.get("points")),
        reason=_text(score.get("justification")),
        evidence_reason=_text(score.get("post_justification")),
        condition=_text(asked.get("condition")),
        condition_met=_truth(score.get("condition_met")),
        notes=notes,
        told=score.get("told") is not False,
        penalty=score.get("penalty") is True,
        evidence=tuple(sorted(evidence, key=lambda line: line.frame)),
    )


def _evidence(one: Mapping[str, Any], frame: int) -> EvidenceLine:
    return EvidenceLine(
        frame=frame,
        seen=_text(one.get("seen", one.get("screenshot_evidence"))),
        analysis=_text(one.get("analysis", one.get("criterion_analysis"))),
        discrepancies=_text(one.get("discrepancies")),
        category=_text(one.get("category")),
        environment=one.get("environment_issue", one.get("environment_issues_confirmed")) is True,
    )


def frame_steps(trajectory: Trajectory, *, text: bool) -> dict[int, int]:
    """The verifier's numbers of pages to indexes of steps. It counts pages that it can see, or read where `text`."""
    pages = [step.seen for step in trajectory.steps]
    if trajectory.last_seen is not None:
        pages.append(trajectory.last_seen)
    seen = [n for n, page in enumerate(pages) if page.screenshot or (text and (page.text or page.tree))]
    return dict(enumerate(seen, 1))


def _frames(said: Mapping[str, Any], steps: Mapping[int, int], criteria: int) -> tuple[FrameView, ...]:
    relevance = {int(name): _list(row) for name, row in _map(said.get("relevance")).items() if name.isdecimal()}
    groups = [_wholes(one) for one in _list(said.get("groups"))]
    examined = _map(said.get("examined"))
    unseen = {int(name): _text(why) for name, why in _map(examined.get("unseen")).items() if name.isdecimal()}
    ways = {
        "looked at": "pictures",
        "its text was asked about": "excerpts",
        "read as text": "texts",
        "read in part": "parts",
    }
    read = {word: _wholes(examined.get(name)) for word, name in ways.items()}
    numbers = sorted({*relevance, *unseen, *(number for group in groups for number in group)} or set(steps))
    made = []
    for number in numbers[: MOST_CELLS // max(1, criteria)]:
        how = [word for word, seen in read.items() if number in seen]
        scores = tuple(_whole(one) for one in relevance.get(number, ()))
        chosen = frozenset(place for place, group in enumerate(groups) if number in group)
        told = unseen.get(number, "")
        made.append(
            FrameView(number, steps.get(number), scores, chosen, told or ", ".join(how), unseen=number in unseen)
        )
    return tuple(made)


def _vote(one: Mapping[str, Any]) -> VoteView:
    rules = [_map(rule) for rule in _list(one.get("rule_checks"))]
    return VoteView(
        success=_truth(one.get("success", one.get("output_success"))),
        intent=_text(one.get("primary_intent")),
        reasoning=_text(one.get("reasoning")),
        nitpicks=_texts(one.get("nitpicks")),
        critical=_texts(one.get("critical_issues")),
        missing=_texts(one.get("missing_evidence")),
        rules=tuple(
            (_text(rule.get("rule")), rule.get("applies") is True, _text(rule.get("effect"))) for rule in rules
        ),
    )


def _failure(one: Mapping[str, Any]) -> FailureView:
    named = (_text(one.get("taxonomy")), _text(one.get("code")), _text(one.get("slug")))
    return FailureView(
        steps=tuple(step - 1 for step in map(_whole, _list(one.get("steps"))) if step is not None and step > 0),
        code=":".join(filter(None, named)),
        category=_text(one.get("category")),
        what=_text(one.get("what_happened")),
        reasoning=_text(one.get("agent_reasoning")),
        evidence=_text(one.get("evidence")),
        impact=_text(one.get("impact")),
    )


def _point(point: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    told = _labeled(
        point, {"action": "The action", "expected_behaviour": "What is expected", "reasoning": "Why it is one"}
    )
    lacking = "; ".join((*_texts(point.get("missing_information")), *_texts(point.get("underspecified"))))
    allowed = "yes" if point.get("permission") is True else "no"
    return (*told, ("The person allowed it", allowed), *((("Left open by the task", lacking),) if lacking else ()))


def _aspects(verdict: Verdict) -> tuple[tuple[str, str], ...]:
    def shown(value: object) -> str:
        if value is None:
            return "cannot be told"
        if isinstance(value, bool):
            return "yes" if value else "no"
        return f"{value:.3g}" if isinstance(value, float) else str(value)

    return tuple((name.replace("_", " "), shown(aspect.value)) for name, aspect in verdict.aspects.items())


# --- the published verifier -----------------------------------------------------------------------------------


def _published(said: Mapping[str, Any], trajectory: Trajectory) -> VerifierView:
    stages = _map(said.get("rubric_intermediate_mm_rubric_steps"))
    items = [_map(one) for one in _list(said.get("rubric_items"))]
    by_criterion = _map(stages.get("step4_evidence_by_criterion"))
    votes = [_map(one) for one in _list(_map(stages.get("majority_vote_step8")).get("all_results"))]
    outcome = _map(said.get("rubric_outcome_verification"))
    failures = _map(said.get("failure_analysis", said.get("first_point_of_failure")))
    steps = frame_steps(trajectory, text=False)
    return VerifierView(
        criteria=tuple(
            _published_criterion(number, one, _list(by_criterion.get(str(number)))) for number, one in enumerate(items)
        ),
        frames=tuple(_published_frames(stages, steps, len(items))),
        votes=tuple(map(_vote, votes or ([outcome] if outcome else []))),
        failures=tuple(_failure(_map(one)) for one in _list(failures.get("failure_points"))),
        notes=_labeled(stages, {"step7_reasoning": "Whether it did what nobody asked for"}),
    )


def _published_criterion(number: int, item: Mapping[str, Any], evidence: Sequence[Any]) -> CriterionView:
    lines = [(_map(one), _whole(_map(one).get("screenshot_idx"))) for one in evidence]
    return CriterionView(
        number=number,
        criterion=_text(item.get("criterion")),
        description=_text(item.get("description")),
        most=_number(item.get("max_points")) or 0.0,
        first=_number(item.get("earned_points")),
        points=_number(item.get("post_image_earned_points", item.get("earned_points"))),
        reason=_text(item.get("justification")),
        evidence_reason=_text(item.get("post_image_justification")),
        condition=_text(item.get("condition")),
        condition_met=_truth(item.get("is_condition_met")),
        notes=_labeled(
            item,
            {
                "reality_notes": "How the world differs from what the rubric assumed",
                "applicable_evidence": "The evidence that counts",
            },
        ),
        penalty=item.get("is_penalty") is True,
        evidence=tuple(_evidence(one, place + 1) for one, place in lines if place is not None),
    )


def _published_frames(stages: Mapping[str, Any], steps: Mapping[int, int], criteria: int) -> Iterator[FrameView]:
    """Its screenshots count from 0."""
    grouped = {name: _wholes(one) for name, one in _map(stages.get("step3_grouped_screenshots")).items()}
    rows = [_map(row) for row in _map(stages.get("step2_relevance_scores")).values()]
    found = {place: row for row in rows if (place := _whole(row.get("screenshot_idx"))) is not None}
    for place, row in sorted(found.items())[: MOST_CELLS // max(1, criteria)]:
        scores = tuple(_whole(row.get(str(number))) for number in range(criteria))
        chosen = frozenset(number for number in range(criteria) if place in grouped.get(str(number), ()))
        unseen = not chosen
        how = "it was worth too little to every criterion" if unseen else "looked at"
        yield FrameView(place + 1, steps.get(place + 1), scores, chosen, how, unseen=unseen)


# --- judges that give each page a score -----------------------------------------------------------------------


def _of_pages(said: Mapping[str, Any], trajectory: Trajectory) -> VerifierView | None:
    """Key points of the task, a score from 1 to 5 for each page, and the reasons for the verdict."""
    steps = frame_steps(trajectory, text=False)
    records = [_map(one) for one in _list(said.get("image_judge_record"))]
    scores = [_whole(one.get("Score")) for one in records] or [_whole(one) for one in _list(said.get("scores"))]
    reasons = [_text(one.get("Response")) for one in records] or [""] * len(scores)
    chosen = _list(said.get("selected"))
    frames = tuple(
        FrameView(
            number, steps.get(number), (score,), frozenset({0} if number in chosen else ()), said=reason, unseen=False
        )
        for number, (score, reason) in enumerate(zip(scores, reasons, strict=True), 1)
    )
    told = {"points": said.get("key_points"), "why": _map(said.get("evaluation_details")).get("response")}
    notes = _labeled(told, {"points": "Key points of the task", "why": "Why it decided so"})
    return VerifierView(frames=frames, notes=notes, scale=5) if frames or notes else None
