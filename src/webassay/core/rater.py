"""Who decides: a set of rules, a judge with its model and settings, or a person.

Two verdicts come from one rater if their fingerprints agree in everything but the key. A rater has an id that never
changes, and a label for people: as short as the other raters around it allow.

A person is a grader like any other: what the words of labels mean, and a label as a verdict, is below.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import msgspec

from webassay.core.record import Json, canonical_json, content_hash
from webassay.core.text import well_formed
from webassay.core.verdict import Aspect, Finding, Fingerprint, Status, Verdict

RULES = "rules"
"""The grader that decides by rule, by which every run is graded."""
HUMAN = "human:"
"""The grader of a person's labels is this and the person's name."""
_LONGEST = 60
"""Characters of settings that a label may hold; beyond that a hash says it better."""


def rater_id(fingerprint: Fingerprint) -> str:
    """Name, version and a short hash of everything but the key, which differs from task to task."""
    return _id(fingerprint.model_dump_json(exclude={"key"}))


@lru_cache(maxsize=256)
def _id(text: str) -> str:
    stamp = msgspec.json.decode(text)
    digest = content_hash(stamp).removeprefix("sha256:")
    return f"{stamp['grader']} {stamp['version']} {digest[:12]}"


class Rater(NamedTuple):
    name: str
    label: str
    ids: tuple[str, ...]
    names: frozenset[str]
    """Everything it may be called; some of it may also fit others."""
    keyed: bool = False
    """Decides by the task's key. Of such a grader the newest verdict counts, whatever its version and settings are."""

    @property
    def counting(self) -> tuple[str, ...]:
        """The ids that verdicts are chosen by; none: by the name alone."""
        return () if self.keyed else self.ids


def raters(found: Mapping[str, Fingerprint]) -> tuple[Rater, ...]:
    """The raters behind these fingerprints, by id, with labels that tell them apart."""
    keyed: dict[str, list[str]] = defaultdict(list)
    alike: dict[str, list[str]] = defaultdict(list)
    for id, stamp in found.items():
        if stamp.key:
            keyed[stamp.grader].append(id)
        else:
            alike[_short(stamp)].append(id)
    made = [Rater(name, name, tuple(ids), frozenset([name]), keyed=True) for name, ids in keyed.items()]
    for ids in alike.values():
        models = defaultdict(list)
        for id in ids:
            models[found[id].model].append(id)
        for model, own in models.items():
            shown = _without_address(model) if len(models) == 1 else model
            marks = _distinguished([found[id] for id in own], own)
            made += [_rater(found[id], id, shown, mark) for id, mark in zip(own, marks, strict=True)]
    return tuple(sorted(made, key=lambda one: one.label))


def labels(found: Mapping[str, Fingerprint]) -> dict[str, str]:
    """Id to label."""
    return {id: rater.label for rater in raters(found) for id in rater.ids}


def _rater(stamp: Fingerprint, id: str, model: str, mark: str) -> Rater:
    name = stamp.grader
    label = f"{name}{mark} {model}" if mark.startswith("[") else f"{name} {model}{mark}"
    label = " ".join(label.split())
    full = f"{name} {stamp.model}".rstrip()
    names = {name, _short(stamp), full, label, f"{name}{mark}", f"{_short(stamp)} {_tag(id)}", _tag(id), id}
    return Rater(name, label, (id,), frozenset(names))


def _short(stamp: Fingerprint) -> str:
    return f"{stamp.grader} {_without_address(stamp.model)}".rstrip()


def _without_address(model: str) -> str:
    """`openai:NAME@http://…` is NAME, wherever it is served; several models for several stages stay as they are."""
    return model if "," in model else model.partition("@http")[0]


def _tag(id: str) -> str:
    return f"#{id.rpartition(' ')[2][:6]}"


def _distinguished(stamps: Sequence[Fingerprint], ids: Sequence[str]) -> list[str]:
    """What tells raters of one name and model apart: a setting, a few of them, the version, or the hash of it all."""
    if len(stamps) == 1:
        return [""]
    settings = list(dict.fromkeys(key for stamp in stamps for key in stamp.settings))
    differing = [key for key in settings if len({canonical_json(stamp.settings.get(key)) for stamp in stamps}) > 1]
    ways = [*([key] for key in differing), differing]
    for keys in ways:
        marks = [_settings(stamp.settings, keys) for stamp in stamps]
        if _all_differ(marks) and max(map(len, marks)) <= _LONGEST:
            return marks
    versions = [f" v{stamp.version}" for stamp in stamps]
    return versions if _all_differ(versions) else [f" {_tag(id)}" for id in ids]


def _settings(settings: Mapping[str, Json], keys: Sequence[str]) -> str:
    told = [f"{key}={_value(settings[key])}" for key in keys if key in settings]
    return f"[{','.join(told)}]" if told else "[]"


def _value(value: Json) -> str:
    return value if isinstance(value, str) else "none" if value is None else canonical_json(value)


def _all_differ(values: Iterable[str]) -> bool:
    return max(Counter(values).values(), default=0) <= 1


# --- labels of people ------------------------------------------------------------------------------------

LabelMeaning = Literal["pass", "fail", "unsure", "third", "missing"]
Stage = Literal["blind", "informed"]
"""Before and after a person saw what a judge said."""
PUBLISHED = "published:"
"""The grader of a verdict that came with a data set is this and the judge's name."""
PUBLISHED_OUTPUT = "published_output"
"""Where such a verdict keeps what the judge wrote, in `Verdict.replies`, for people who want to know why."""

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


def with_output(verdict: Verdict, output: Json) -> Verdict:
    """The same, with all that the judge wrote, as it came."""
    return verdict.model_copy(update={"replies": {PUBLISHED_OUTPUT: output}}) if output else verdict


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
