"""Explains a verdict in words: the rubric, the scores and the evidence for each, then the outcome and the failures."""

from collections.abc import Iterator
from textwrap import fill

from pydantic import TypeAdapter

from webassay.core.verdict import Verdict
from webassay.judging.diagnosis import Diagnosis
from webassay.judging.outcome import Outcome
from webassay.judging.scoring import Score, action_only_score, process_score
from webassay.judging.verify import Review

_WIDTH = 110
_SCORES = TypeAdapter(tuple[Score, ...])
_WORDS = {True: "success", False: "failure", None: "undecided"}


def explain(verdict: Verdict) -> str:
    return "\n".join(_lines(verdict))


def explain_review(review: Review) -> str:
    """A rubric for a person to review; lines that need attention start with `!`."""
    return "\n".join(_review(review))


def _review(review: Review) -> Iterator[str]:
    rubric = review.rubric
    yield f"{len(rubric.items)} criteria, {rubric.total:g} points"
    for index, item in enumerate(rubric.items):
        yield f"- {index}. {item.criterion} [{item.max_points:g}]"
        yield _wrapped(item.description, "    ")
        if item.condition:
            yield _wrapped(f"Condition: {item.condition}", "    ")
        for found in review.lints:
            if index in found.items:
                yield _wrapped(f"! {found.code}: {found.message}", "    ")
    for found in review.lints:
        if not found.items:
            yield f"! {found.code}: {found.message}"
    point = rubric.critical_point
    if point is not None:
        yield _wrapped(f"Critical point: {point.type}. {point.expected_behaviour}", "")
    if review.validity is not None:
        yield _wrapped(f"The task is {review.validity.word}. {review.validity.reasoning}", "")


def _lines(verdict: Verdict) -> Iterator[str]:
    stamp = verdict.fingerprint
    yield f"{verdict.task_id or verdict.trajectory_id}: {verdict.status} ({stamp.grader}, {stamp.model or 'no model'})"
    if "scores" in verdict.replies and "outcome" in verdict.replies:
        yield from _rubric(verdict)
    elif verdict.replies.get("calls"):
        yield from _free(verdict)
    shown = {"criterion", "side_effect", "outcome", "diagnosis"} if "scores" in verdict.replies else set()
    rest = [finding for finding in verdict.findings if finding.check not in shown]
    if rest:
        yield ""
        yield "Findings"
        for finding in rest:
            yield _wrapped(f"{finding.status:8}{finding.message}", "  ")


def _rubric(verdict: Verdict) -> Iterator[str]:
    scores = _SCORES.validate_python(verdict.replies["scores"])
    outcome = Outcome.model_validate(verdict.replies["outcome"])
    groups = verdict.replies.get("groups")
    yield (
        f"Process {100 * process_score(scores):.1f} % ({100 * action_only_score(scores):.1f} % by actions alone), "
        f"outcome {_WORDS[outcome.success]} ({verdict.aspects['votes'].value} votes for success)"
    )
    yield ""
    yield "Criteria"
    for index, score in enumerate(scores):
        shots = groups[index] if isinstance(groups, list) and index < len(groups) else []
        yield from _criterion(score, ", ".join(map(str, shots)) if isinstance(shots, list) else "")
    yield ""
    yield "Outcome"
    spoken = outcome.spoken
    yield _wrapped(f"Primary intent: {spoken.primary_intent}", "  ")
    for label, issues in (("Nitpick", spoken.nitpicks), ("Critical issue", spoken.critical_issues)):
        for issue in issues:
            yield _wrapped(f"{label}: {issue}", "  ")
    for fact in outcome.overruled:
        yield _wrapped(f"A fact stands against the votes: {fact}", "  ")
    yield _wrapped(f"Reasoning: {spoken.reasoning}", "  ")
    yield from _failures(verdict)


def _criterion(score: Score, shots: str) -> Iterator[str]:
    most = f"{score.criterion.max_points:g}"
    mark = "PENALTY: " if score.penalty else ""
    state = "" if score.applies else " (does not apply)"
    yield f"- {mark}{score.criterion.criterion} [{score.action_only:g}/{most}] -> [{score.points:g}/{most}]{state}"
    parts = (
        ("Description", score.criterion.description),
        ("Condition", score.criterion.condition),
        ("Condition met", "" if score.condition_met is None else "yes" if score.condition_met else "no"),
        ("Justification (actions alone)", score.justification),
        ("Reality notes", score.reality_notes),
        ("Screenshots", shots),
        ("Applicable evidence", score.applicable_evidence),
        ("Justification (with evidence)", score.post_justification),
    )
    for label, text in parts:
        if text:
            yield _wrapped(f"{label}: {text}", "    ")


def _failures(verdict: Verdict) -> Iterator[str]:
    kept = verdict.replies.get("diagnosis")
    if not kept:
        return
    found = Diagnosis.model_validate(kept)
    yield ""
    yield "Failures" if found.points else "Failures: none"
    for point in found.points:
        where = f"actions {', '.join(map(str, point.steps))}" if point.steps else "no step named"
        yield _wrapped(f"{point.code} {point.slug.replace('_', ' ')} ({where}): {point.what_happened}", "  ")


def _free(verdict: Verdict) -> Iterator[str]:
    """The last reply of each stage, for judges that answer in prose."""
    calls = verdict.replies["calls"]
    assert isinstance(calls, dict)
    for stage, call in calls.items():
        if isinstance(call, dict) and isinstance(call.get("replies"), list) and "frame" not in stage:
            said = call["replies"]
            yield ""
            yield stage
            yield _wrapped(str(said[-1]) if isinstance(said, list) and said else "", "  ")


def _wrapped(text: str, indent: str) -> str:
    return fill(" ".join(text.split()), _WIDTH, initial_indent=indent, subsequent_indent=indent + "  ")
