"""How well a judge finds mistakes that are known: over all, by kind, and how near the step is that it names."""

import statistics
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from webassay.analysis.numbers.agreement import Item, JudgeAccuracy, against
from webassay.analysis.output.document import Document, Section
from webassay.core.record import Record, canonical_json
from webassay.core.report import Interval
from webassay.core.verdict import Verdict
from webassay.faultbench.records import FaultLabel

Part = Literal["all", "dev", "test"]
PARTS: tuple[Part, ...] = ("all", "dev", "test")


class JudgeFindings(NamedTuple):
    """What a judge says of one trajectory."""

    passed: bool | None
    codes: frozenset[str] = frozenset()
    step: int | None = None
    """Index of the first step that it blames."""


class Detection(Record):
    """How often one kind of mistake was detected."""

    code: str
    trajectories: int
    found: int
    """Judged as failed; where the outcome is right or nobody can say, the code was named."""
    named: int
    """The right code was named."""


class DetectionScore(Record):
    judge: str
    part: Part
    accuracy: JudgeAccuracy
    """Success is the positive: a false positive is a mistake that was passed."""
    codes: tuple[Detection, ...]
    steps_named: int
    """Trajectories with a mistake in which a step was blamed."""
    exact_step: int
    step_distance: float | None
    """Median distance from the step of the mistake; None: no step was named."""


def said_in(verdict: Verdict, in_our_taxonomy: Callable[[str], str]) -> JudgeFindings:
    """`in_our_taxonomy`: from the `taxonomy:code:name` of a finding to a code as in labels; empty: there is none."""
    points = [finding for finding in verdict.findings if finding.check == "diagnosis" and finding.status == "fail"]
    codes = frozenset(code for finding in points if (code := in_our_taxonomy(finding.code)))
    steps = [step for finding in points or verdict.findings for step in finding.steps if finding.status == "fail"]
    return JudgeFindings({"pass": True, "fail": False}.get(verdict.status), codes, min(steps, default=None))


def score(
    judge: str, labels: Iterable[FaultLabel], said: Mapping[str, JudgeFindings], part: Part, seed: int = 0
) -> DetectionScore:
    own = [label for label in labels if part in ("all", label.half)]
    truth: dict[Item, bool] = {label.trajectory_id: label.outcome for label in own if label.outcome is not None}
    given: dict[Item, bool | None] = {
        label.trajectory_id: _of(said, label).passed for label in own if label.outcome is not None
    }
    clusters: dict[Item, Hashable] = {label.trajectory_id: label.template for label in own}
    wrong = [label for label in own if label.code]
    distances = [
        abs(step - label.step)
        for label in wrong
        if label.step is not None and (step := _of(said, label).step) is not None
    ]
    return DetectionScore(
        judge=judge,
        part=part,
        accuracy=against(given, truth, clusters=clusters, seed=seed),
        codes=tuple(_detection(code, wrong, said) for code in sorted({label.code for label in wrong})),
        steps_named=len(distances),
        exact_step=distances.count(0),
        step_distance=statistics.median(distances) if distances else None,
    )


def _of(said: Mapping[str, JudgeFindings], label: FaultLabel) -> JudgeFindings:
    return said.get(label.trajectory_id, JudgeFindings(None))


def _detection(code: str, wrong: Sequence[FaultLabel], said: Mapping[str, JudgeFindings]) -> Detection:
    own = [label for label in wrong if label.code == code]
    named = [label for label in own if code in _of(said, label).codes]
    # A failure that was passed is not found, whatever the diagnosis says.
    found = [label for label in named if label.outcome is not False]
    found += [label for label in own if label.outcome is False and _of(said, label).passed is False]
    return Detection(code=code, trajectories=len(own), found=len(found), named=len(named))


# --- as tables ----------------------------------------------------------------------------------------------------


def listed(scores: Sequence[DetectionScore], names: Mapping[str, str], title: str) -> Document:
    """`names`: what the codes are called."""
    overall = [
        (one.judge, one.part, str(one.accuracy.items), str(one.accuracy.missing), in_interval(one.accuracy.kappa),
         _percent(one.accuracy.false_positive_rate), _percent(one.accuracy.false_negative_rate),
         f"{one.exact_step}/{one.steps_named}", "–" if one.step_distance is None else f"{one.step_distance:g}")
        for one in scores
    ]  # fmt: skip
    headings = ("judge", "part", "judged", "no verdict", "kappa", "FPR", "FNR", "step exact", "steps off")
    whole = [one for one in scores if one.part == "all"]
    codes = sorted({found.code for one in whole for found in one.codes})
    by_code = []
    for code in codes:
        own = [next((found for found in one.codes if found.code == code), None) for one in whole]
        cells = [f"{found.found}/{found.trajectories}" if found else "–" for found in own]
        by_code.append((code, names.get(code, ""), *cells))
    note = "A false positive is a mistake that was passed, a false negative an honest success that was failed."
    return Document(
        title,
        [
            Section("Judges", headings, overall, note=note),
            Section(
                "Found, by kind of mistake",
                ("code", "mistake", *(one.judge for one in whole)),
                by_code,
                note="Failed; for 5 and 7, where what was asked for may well be done, the code was named.",
            ),
        ],
        canonical_json([one.model_dump(mode="json") for one in scores]),
    )


def in_interval(value: Interval) -> str:
    if value.value is None:
        return "–"
    bounds = "" if value.low is None or value.high is None else f" [{value.low:.2f}, {value.high:.2f}]"
    return f"{value.value:.2f}{bounds}"


def _percent(value: Interval) -> str:
    return "–" if value.value is None else f"{100 * value.value:.0f} %"
