"""Explains a verdict in words: rubric and scores, pages and evidence, outcome, failures, facts, and cost."""

from collections.abc import Iterator
from textwrap import fill

from pydantic import TypeAdapter

from webassay.core.trajectory import Trajectory
from webassay.core.verdict import Verdict
from webassay.judging.case import clip
from webassay.judging.universal.diagnosis import FailureDiagnosis
from webassay.judging.universal.evidence import Evidence
from webassay.judging.universal.outcome import VotedOutcome
from webassay.judging.universal.rubric import Rubric, Validity
from webassay.judging.universal.scoring import CriterionScore, action_only_score, process_score
from webassay.judging.universal.verify import TaskReview

_WIDTH = 110
_SCORES = TypeAdapter(tuple[CriterionScore, ...])
_WORDS = {True: "success", False: "failure", None: "undecided"}


def explain(verdict: Verdict, trajectory: Trajectory | None = None) -> str:
    """With the trajectory, also what was asked and what was answered."""
    return "\n".join(_lines(verdict, trajectory))


def explain_review(review: TaskReview) -> str:
    """A rubric for a person to review; lines that need attention start with `!`."""
    return "\n".join(_review(review))


def _review(review: TaskReview) -> Iterator[str]:
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


def _lines(verdict: Verdict, trajectory: Trajectory | None) -> Iterator[str]:
    stamp = verdict.fingerprint
    yield f"{verdict.task_id or verdict.trajectory_id}: {verdict.status} ({stamp.grader}, {stamp.model or 'no model'})"
    if trajectory is not None:
        yield _wrapped(f"Task: {trajectory.goal.instruction}", "")
        yield _wrapped(f"Answer: {clip(trajectory.answer, 1500) or '(none)'}", "")
    judged = "scores" in verdict.replies and "outcome" in verdict.replies
    if judged:
        yield from _judgement(verdict)
    elif verdict.replies.get("calls"):
        yield from _free(verdict)
    shown = {"criterion", "side_effect", "outcome", "critical_point", "diagnosis"} if judged else set()
    rest = [finding for finding in verdict.findings if finding.check not in shown]
    if rest:
        yield ""
        yield "What the record says"
        words = {"pass": "fact", "fail": "certain", "abstain": "suspected"} if judged else {}
        for finding in rest:
            yield _wrapped(f"{words.get(finding.status, finding.status):11}{finding.message}", "  ")
    yield from _spent(verdict)


def _judgement(verdict: Verdict) -> Iterator[str]:
    scores = _SCORES.validate_python(verdict.replies["scores"])
    outcome = VotedOutcome.model_validate(verdict.replies["outcome"])
    rubric = Rubric.model_validate(verdict.replies["rubric"])
    yield (
        f"Process {_share(process_score(scores))} ({_share(action_only_score(scores))} by actions alone), "
        f"outcome {_WORDS[outcome.success]} ({verdict.aspects['votes'].value} votes for success)"
    )
    yield from _of_the_task(verdict, rubric)
    yield ""
    yield "Criteria"
    groups = verdict.replies.get("groups")
    for index, score in enumerate(scores):
        shots = groups[index] if isinstance(groups, list) and index < len(groups) else []
        yield from _criterion(score, ", ".join(map(str, shots)) if isinstance(shots, list) else "")
    yield from _pages(verdict)
    yield from _outcome(outcome)
    yield from _flags(verdict)
    yield from _failures(verdict)


def _share(score: float | None) -> str:
    return "undecided" if score is None else f"{100 * score:.1f} %"


def _of_the_task(verdict: Verdict, rubric: Rubric) -> Iterator[str]:
    validity = verdict.replies.get("validity")
    if validity:
        found = Validity.model_validate(validity)
        yield _wrapped(f"Task validity: {found.word}. {found.reasoning}", "")
    point = rubric.critical_point
    if point is not None:
        yield _wrapped(f"Critical point: {point.type}. {point.action} {point.expected_behaviour}", "")
    if rubric.review:
        yield _wrapped(f"Check of the rubric: {rubric.review}", "")


_EXAMINED = {
    "pictures": "As pictures",
    "excerpts": "For the evidence, by their text alone",
    "texts": "As text, whole",
    "parts": "As text, in part",
}


def _pages(verdict: Verdict) -> Iterator[str]:
    """What was examined, what was not, how much each page was said to matter, and what was seen on it."""
    examined = verdict.replies.get("examined")
    yield ""
    yield "Pages"
    if isinstance(examined, dict):
        for key, label in _EXAMINED.items():
            numbers = examined.get(key)
            if isinstance(numbers, list) and numbers:
                yield _wrapped(f"{label}: {', '.join(map(str, numbers))}", "  ")
        unseen = examined.get("unseen")
        for number, why in unseen.items() if isinstance(unseen, dict) else ():
            yield _wrapped(f"Not examined: screenshot {number} ({why})", "  ")
    relevance = verdict.replies.get("relevance")
    if isinstance(relevance, dict) and relevance:
        yield "  Relevance by screenshot, one number for each criterion"
        rows = [f"{number}: {' '.join(map(str, row)) if isinstance(row, list) else row}" for number, row in
                sorted(relevance.items(), key=lambda item: int(item[0]))]  # fmt: skip
        yield _wrapped("; ".join(rows), "    ")
    evidence = [Evidence.model_validate(item) for item in _listed(verdict.replies.get("evidence"))]
    for screenshot in sorted({item.screenshot for item in evidence}):
        yield f"  Screenshot {screenshot}"
        for item in evidence:
            if item.screenshot == screenshot:
                yield _wrapped(f"criterion {item.criterion}: {item.seen} {item.analysis}", "    ")
                if item.discrepancies:
                    yield _wrapped(f"{item.category or 'difference'}: {item.discrepancies}", "      ")


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _outcome(outcome: VotedOutcome) -> Iterator[str]:
    yield ""
    yield "Outcome"
    spoken = outcome.spoken
    yield _wrapped(f"Primary intent: {spoken.primary_intent}", "  ")
    for check in spoken.rule_checks:
        if check.applies:
            yield _wrapped(f"Rule {check.rule} applies: {check.effect}", "  ")
    others = [check.rule for check in spoken.rule_checks if not check.applies]
    if others:
        yield _wrapped(f"Rules that do not apply: {', '.join(others)}", "  ")
    for label, issues in (
        ("Missing evidence", spoken.missing_evidence),
        ("Nitpick", spoken.nitpicks),
        ("Critical issue", spoken.critical_issues),
    ):
        for issue in issues:
            yield _wrapped(f"{label}: {issue}", "  ")
    if spoken.useful is not None:
        yield f"  Useful to the person: {'yes' if spoken.useful else 'no'}"
    for fact in outcome.overruled:
        yield _wrapped(f"A fact stands against the votes: {fact}", "  ")
    yield _wrapped(f"Reasoning: {spoken.reasoning}", "  ")


def _flags(verdict: Verdict) -> Iterator[str]:
    for name, label in (("hallucination", "Hallucination"), ("cp_violation", "Critical point crossed")):
        aspect = verdict.aspects.get(name)
        if aspect is not None and aspect.value:
            yield _wrapped(f"{label}: yes. {aspect.note}", "  ")
    for note in _listed(verdict.replies.get("degraded")):
        yield _wrapped(f"Fell back: {note}", "  ")


def _spent(verdict: Verdict) -> Iterator[str]:
    calls = verdict.replies.get("calls")
    if not isinstance(calls, dict) or not calls:
        return
    count = sum(len(_listed(call.get("replies"))) for call in calls.values() if isinstance(call, dict))
    usage = verdict.replies.get("usage")
    tokens = ""
    if isinstance(usage, dict):
        tokens = f", {usage.get('input_tokens', 0):,} tokens in, {usage.get('output_tokens', 0):,} out"
    price = "cost unknown" if verdict.cost_usd is None else f"{verdict.cost_usd:.4f} USD"
    yield ""
    yield f"{count} calls{tokens}, {price}"


def _criterion(score: CriterionScore, shots: str) -> Iterator[str]:
    most = f"{score.criterion.max_points:g}"
    mark = "PENALTY: " if score.penalty else ""
    state = "" if score.applies else " (does not apply)"
    points = f"{score.points:g}" if score.told else "cannot be told"
    yield f"- {mark}{score.criterion.criterion} [{score.action_only:g}/{most}] -> [{points}/{most}]{state}"
    parts = (
        ("Description", score.criterion.description),
        ("Condition", score.criterion.condition),
        ("Condition met", "" if score.condition_met is None else "yes" if score.condition_met else "no"),
        ("Why", score.condition_reasoning),
        ("Justification (actions alone)", score.justification),
        ("What actions cannot show", score.cannot_tell),
        ("Reality notes", score.reality_notes),
        ("Screenshots", shots),
        ("Applicable evidence", score.applicable_evidence),
        ("Justification (with evidence)", score.post_justification),
        ("Looked at once more", score.looked_closer),
        ("Cause of what is missing", "" if score.cause == "none" else score.cause),
    )
    for label, text in parts:
        if text:
            yield _wrapped(f"{label}: {text}", "    ")


def _failures(verdict: Verdict) -> Iterator[str]:
    kept = verdict.replies.get("diagnosis")
    if not kept:
        return
    found = FailureDiagnosis.model_validate(kept)
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
