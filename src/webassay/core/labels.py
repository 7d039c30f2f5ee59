"""What the words of labels mean, and a label as a verdict: a person is a grader like any other."""

from collections.abc import Mapping
from typing import Any, Literal

from webassay.core.rater import HUMAN
from webassay.core.record import Json
from webassay.core.text import well_formed
from webassay.core.verdict import Aspect, Finding, Fingerprint, Status, Verdict

LabelMeaning = Literal["pass", "fail", "unsure", "third", "missing"]
Stage = Literal["blind", "informed"]
"""Before and after a person saw what a judge said."""
PUBLISHED = "published:"
"""The grader of a verdict that came with a data set is this and the judge's name."""

_WORDS: dict[LabelMeaning, tuple[str, ...]] = {
    "pass": ("pass", "passed", "success", "successful", "succeeded", "correct", "true", "yes"),
    "fail": (
        *("fail", "failed", "failure", "unsuccessful", "not success", "not successful"),
        *("incorrect", "wrong", "false", "no"),
    ),
    "unsure": ("unsure", "abstain", "abstained", "unknown", "uncertain", "undecided", "not sure"),
    "missing": ("", "none", "null", "nan", "n/a", "na", "missing", "fault"),
}
WORDS: Mapping[str, LabelMeaning] = {word: said for said, words in _WORDS.items() for word in words}
"""Numbers: 1 is pass, 0 is fail, anything else is a third label."""
_STATUS: Mapping[LabelMeaning, Status] = {"pass": "pass", "fail": "fail"}


def read_label(value: Any, more: Mapping[str, LabelMeaning] | None = None) -> LabelMeaning:
    """`more`: words that mean something in this file, in lower case."""
    if isinstance(value, bool):
        return "pass" if value else "fail"
    if not more and isinstance(value, str) and value in WORDS:
        return WORDS[value]
    word = " ".join(str("" if value is None else value).split()).lower()
    found = (more or {}).get(word) or WORDS.get(word)
    if found is not None:
        return found
    try:
        number = float(word)
    except ValueError:
        return "third"
    return "pass" if number == 1 else "fail" if number == 0 else "third"


_DECIDED: Mapping[LabelMeaning, bool] = {"pass": True, "fail": False}


def decided(said: LabelMeaning) -> bool | None:
    return _DECIDED.get(said)


def persons_verdict(
    annotator: str,
    said: LabelMeaning,
    *,
    score: float | None = None,
    process: bool | None = None,
    comment: str = "",
    stage: Stage = "blind",
    more: Mapping[str, Aspect] | None = None,
) -> Verdict:
    """Belongs to no trajectory yet. Unsure and third labels are abstentions; the finding has the word."""
    fingerprint = Fingerprint(
        grader=f"{HUMAN}{annotator}", version="1", settings={"stage": stage} if stage == "informed" else {}
    )
    return _verdict(fingerprint, said, score, process, comment or f"{annotator} says so.", more)


def published_verdict(
    judge: str,
    said: LabelMeaning,
    *,
    model: str = "",
    score: float | None = None,
    process: bool | None = None,
    comment: str = "",
    settings: dict[str, Json] | None = None,
) -> Verdict:
    """What a judge said that we did not ask ourselves."""
    fingerprint = Fingerprint(grader=f"{PUBLISHED}{judge}", version="1", model=model, settings=settings or {})
    return _verdict(fingerprint, said, score, process, comment or "Published with the trajectory.", None)


def _verdict(
    fingerprint: Fingerprint,
    said: LabelMeaning,
    score: float | None,
    process: bool | None,
    message: str,
    more: Mapping[str, Aspect] | None,
) -> Verdict:
    aspects = {"outcome": Aspect(value=decided(said)), **(more or {})}
    if score is not None:
        aspects["process_score"] = Aspect(value=score)
    if process is not None:
        aspects["process_success"] = Aspect(value=process)
    status = _STATUS.get(said, "abstain")
    return Verdict(
        trajectory_id="",
        task_id="",
        status=status,
        aspects=aspects,
        findings=(Finding(check="label", status=status, message=well_formed(message), code=said),),
        fingerprint=fingerprint,
    )
