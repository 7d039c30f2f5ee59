"""The protocols of the original WebArena and of WebChoreArena, with their defects, to reproduce old scores.

docs/papers.md lists what is known to be wrong, and each defect has a test. `webarena` is libwebarena 0.0.5;
`webchorearena` is the fork of WebChoreArena and AgentOccam, in which lists give partial credit. `fuzzy_match` and
`ua_match` need a model: a `ModelQuestion` in our own words, with the reply read as theirs is. Pages come from probes
(`core.legacy`). Without a reply or a recording there is no score.
"""

import html
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any
from urllib.parse import parse_qs, urlsplit

from webassay.core.errors import GradingError
from webassay.core.legacy import alternatives, probe_name
from webassay.core.record import content_hash
from webassay.core.task import LegacyCheck
from webassay.core.trajectory import LocatorResult, PageResult, Trajectory
from webassay.core.verdict import Finding, Status
from webassay.grading.published.tokens import words
from webassay.grading.rules.response import read_response

OR = " |OR| "
NOT_ACHIEVABLE = "N/A"


@dataclass(frozen=True)
class ModelQuestion:
    """What a model has to be asked."""

    kind: str
    """`fuzzy_match` or `ua_match`."""
    prompt: str

    @property
    def id(self) -> str:
        return f"{self.kind}:{content_hash(self.prompt).removeprefix('sha256:')[:16]}"


@dataclass(frozen=True)
class RuleResult:
    """One rule of a key, applied."""

    rule: str
    score: float | None
    """None: it cannot be decided from what is here."""
    wanted: Any = None
    found: Any = None
    why: str = ""
    questions: tuple[ModelQuestion, ...] = ()


@dataclass(frozen=True)
class EpisodeEvidence:
    """What the old harness would have had in front of it."""

    answer: str
    goal: str
    url: str | None = None
    """The page in front when the agent stopped; None: not recorded."""
    pages: Mapping[str, str] = field(default_factory=dict)
    """Probe to the text that it found, see `core.legacy`."""
    bases: Mapping[str, str] = field(default_factory=dict)
    replies: Mapping[str, str] = field(default_factory=dict)
    """Question to what the model said."""


@dataclass(frozen=True)
class ProtocolResult:
    """What the old protocol makes of one episode."""

    score: float | None
    """From 0 to 1; None: it cannot be decided from what is here."""
    findings: tuple[Finding, ...]
    questions: tuple[ModelQuestion, ...] = ()
    """That a model would have to answer first."""
    answered: tuple[str, ...] = ()
    """The questions that had a reply."""


def check_legacy(
    check: LegacyCheck, trajectory: Trajectory, replies: Mapping[str, str], *, any_credit: bool = False
) -> ProtocolResult:
    """`any_credit`: a part of the score is a success, as for AgentOccam's runner."""
    found = parts(check.eval, check.flavor, evidence_of(trajectory, replies))
    return ProtocolResult(
        score(found),
        tuple(_finding(part, any_credit) for part in found),
        tuple(question for part in found if part.score is None for question in part.questions),
        tuple(question.id for part in found if part.score is not None for question in part.questions),
    )


def evidence_of(trajectory: Trajectory, replies: Mapping[str, str]) -> EpisodeEvidence:
    in_front = next((page.url for page in trajectory.probed(PageResult)), None)
    if in_front is None and trajectory.last_seen is not None:
        in_front = trajectory.last_seen.url or None
    # To give up is to say N/A: so does the runner that hands answers to the harness.
    gave_up = trajectory.ending.kind == "gave_up" and trajectory.answer != ""
    return EpisodeEvidence(
        answer=NOT_ACHIEVABLE if gave_up else trajectory.answer,
        goal=trajectory.goal.instruction,
        url=in_front,
        pages={result.name: result.text for result in trajectory.probed(LocatorResult)},
        bases=trajectory.bases,
        replies=replies,
    )


def _finding(part: RuleResult, any_credit: bool) -> Finding:
    status: Status = "abstain"
    message, code = part.why, "needs_model" if part.questions else "not_recorded"
    if part.score is not None:
        status = "pass" if part.score == 1.0 or (any_credit and part.score > 0) else "fail"
        message, code = f"{part.rule}: {part.score:g} of 1.", "" if status == "pass" else part.rule
    return Finding(
        check=f"legacy.{part.rule}",
        status=status,
        message=message,
        expected=part.wanted,
        actual=part.found[:2000] if isinstance(part.found, str) else part.found,
        code=code,
    )


def parts(evaluation: Mapping[str, Any], flavor: str, evidence: EpisodeEvidence) -> list[RuleResult]:
    """Every rule of a key on one episode. A key that the harness would stop at is a `GradingError`."""
    key = _with_bases(evaluation, evidence.bases)
    found: list[RuleResult] = []
    for kind in key.get("eval_types") or ():
        if kind == "string_match":
            found += string_parts(key, flavor, evidence)
        elif kind == "url_match":
            found.append(url_part(key, flavor, evidence))
        elif kind == "program_html":
            found += page_parts(key, flavor, evidence)
        else:
            raise GradingError(f"The old protocol has no check called {kind!r}.")
    if not found:
        raise GradingError("The key asks for nothing, so nothing could fail.")
    return found


def score(found: Sequence[RuleResult]) -> float | None:
    """The product. A 0 decides whatever is missing."""
    known = [part.score for part in found if part.score is not None]
    if len(known) < len(found) and 0.0 not in known:
        return None
    return prod(known)


def _with_bases(value: Any, bases: Mapping[str, str]) -> Any:
    """The harness fills in where the sites are before it reads a key."""
    if isinstance(value, str):
        for site, base in bases.items():
            value = value.replace(f"__{site.upper()}__", base.rstrip("/"))
        return value
    if isinstance(value, Mapping):
        return {name: _with_bases(one, bases) for name, one in value.items()}
    return [_with_bases(one, bases) for one in value] if isinstance(value, list | tuple) else value


# --- answers --------------------------------------------------------------------------------------------


def clean(text: str) -> str:
    """Without one pair of quotes, in lower case. A single quote is a pair."""
    text = text.strip()
    if any(text.startswith(quote) and text.endswith(quote) for quote in ("'", '"')):
        text = text[1:-1]
    return text.lower()


def exact_match(wanted: str, said: str) -> float:
    return float(clean(said) == clean(wanted))


def must_include(wanted: str, said: str, *, alone: bool, flavor: str) -> float:
    """A part of the text is enough; only a key of one character that stands alone must be a word."""
    wanted, said = clean(wanted), clean(said)
    if flavor == "webchorearena" and " |or| " in wanted:
        # The fork looks for a single character in the key itself, so such an alternative always holds.
        choices = [choice.strip() for choice in wanted.split(" |or| ")]
        return float(any((alone and _is_word(choice)) or choice in said for choice in choices))
    if alone and _is_word(wanted):
        return float(wanted in words(said))
    return float(wanted in said)


def _is_word(text: str) -> bool:
    return len(text) == 1 and len(words(text)) == 1


def string_parts(key: Mapping[str, Any], flavor: str, evidence: EpisodeEvidence) -> Iterator[RuleResult]:
    said = clean(evidence.answer)  # and once more in every rule: two pairs of quotes are one too many, and accepted
    earlier: list[RuleResult] = []
    for rule, wanted in (key.get("reference_answers") or {}).items():
        if rule == "exact_match":
            earlier.append(RuleResult(rule, exact_match(_text(wanted, rule), said), wanted, said))
        elif rule == "must_include":
            earlier += _included(_texts(wanted, rule), said, flavor)
        elif rule == "fuzzy_match" and wanted == NOT_ACHIEVABLE:
            replaced = _not_achievable(key, said, evidence, score(earlier))
            # If N/A was not said, the model's word replaces whatever the other rules found.
            earlier = [*earlier, replaced] if replaced.rule == "fuzzy_match" else [replaced]
        elif rule == "fuzzy_match":
            earlier += _fuzzy(wanted, said, flavor, evidence)
    yield from earlier


def _included(wanted: Sequence[str], said: str, flavor: str) -> Iterator[RuleResult]:
    alone = len(wanted) == 1
    scores = [must_include(one, said, alone=alone, flavor=flavor) for one in wanted]
    if flavor == "webchorearena":
        if not scores:
            raise GradingError("The key has an empty list, and the harness divides by its length.")
        yield RuleResult("must_include", sum(scores) / len(scores), list(wanted), said)
        return
    for one, value in zip(wanted, scores, strict=True):
        yield RuleResult("must_include", value, one, said)


def _not_achievable(key: Mapping[str, Any], said: str, evidence: EpisodeEvidence, so_far: float | None) -> RuleResult:
    if exact_match(NOT_ACHIEVABLE, said) and so_far == 1.0:
        return RuleResult("fuzzy_match", 1.0, NOT_ACHIEVABLE, said)
    question = same_reason(evidence.goal, str(key.get("string_note") or ""), said)
    return _asked(question, evidence, "ua_match", key.get("string_note"), said)


def _fuzzy(wanted: Any, said: str, flavor: str, evidence: EpisodeEvidence) -> Iterator[RuleResult]:
    if flavor == "webchorearena":
        whole = "; ".join(_texts(wanted, "fuzzy_match")) if isinstance(wanted, list) else _text(wanted, "fuzzy_match")
        references = [whole]
    else:
        references = list(_texts(wanted, "fuzzy_match"))
    for reference in references:
        question = same_meaning(evidence.goal, reference, said, extra_allowed=flavor == "webchorearena")
        yield _asked(question, evidence, "fuzzy_match", reference, said)


def _asked(question: ModelQuestion, evidence: EpisodeEvidence, rule: str, wanted: Any, said: str) -> RuleResult:
    reply = evidence.replies.get(question.id)
    if reply is None:
        return RuleResult(rule, None, wanted, said, "A model has to compare the two.", (question,))
    return RuleResult(rule, read_reply(question.kind, reply), wanted, said, questions=(question,))


def read_reply(kind: str, reply: str) -> float:
    """As the harness reads it. A reply without a verdict stops the harness, which counts as a failure."""
    said = reply.lower()
    no, yes = (("partially correct", "incorrect"), "correct") if kind == "fuzzy_match" else (("different",), "same")
    return 0.0 if any(word in said for word in no) else float(yes in said)


def same_meaning(goal: str, reference: str, said: str, *, extra_allowed: bool) -> ModelQuestion:
    asked = (
        "Does the answer contain every key point of the reference? More than that may stand in it."
        if extra_allowed
        else "Do the answer and the reference mean the same, whatever the wording?"
    )
    return ModelQuestion(
        "fuzzy_match",
        f"An answer to a question is to be marked.\nQuestion: {goal}\nReference: {reference}\nAnswer: {said}\n"
        f"N/A stands for: this cannot be done.\n{asked}\n"
        "End with one of these: correct, incorrect, partially correct.",
    )


def same_reason(goal: str, reason: str, said: str) -> ModelQuestion:
    return ModelQuestion(
        "ua_match",
        f"This task cannot be done: {goal}\nThe reason: {reason}\nSomebody who tried reported: {said}\n"
        "Is that the same reason, even if only by implication? Reply with one word: same or different.",
    )


def _text(value: Any, rule: str) -> str:
    if not isinstance(value, str):
        raise GradingError(f"{rule} needs a text, and the key has {value!r:.80}.")
    return value


def _texts(value: Any, rule: str) -> Sequence[str]:
    if not isinstance(value, list):
        raise GradingError(f"{rule} needs a list, and the key has {value!r:.80}.")
    return [_text(one, rule) for one in value]


def as_free_text(answer: str) -> str:
    """What an agent of the old benchmark would have said: the values of a structured response, N/A for an error,
    else all."""
    read = [read_response(answer, name) for name in ("verified-released", "arena")]
    response = next((one.value for one in read if not one.findings), None)
    if response is None:
        return answer
    if response.get("status") != "SUCCESS":
        return NOT_ACHIEVABLE
    return _plain(response.get("retrieved_data", response.get("results")))


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_plain, value))
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_plain(one)}" for name, one in value.items())
    return "" if value is None else {True: "Yes", False: "No"}[value] if isinstance(value, bool) else str(value)


# --- the page in front ----------------------------------------------------------------------------------


def url_part(key: Mapping[str, Any], flavor: str, evidence: EpisodeEvidence) -> RuleResult:
    if key.get("url_note", "GOLD in PRED") != "GOLD in PRED":
        raise GradingError(f"The old protocol has no rule called {key['url_note']!r} for URLs.")
    wanted = [_text(key.get("reference_url"), "url_match")]
    if flavor == "webchorearena":
        wanted += [_text(one.get("reference_url"), "url_match") for one in key.get("or") or ()]
    if evidence.url is None:
        return RuleResult("url_match", None, wanted[0], why="Nobody recorded which page was in front.")
    missing = re.search(r"__([A-Z_]+?)__", " ".join(wanted))
    if missing is not None:
        return RuleResult(
            "url_match", None, wanted[0], evidence.url, f"Nobody recorded where {missing[1].lower()} was."
        )
    best = max(_url_score(one, evidence.url, flavor) for one in wanted)
    return RuleResult("url_match", best, wanted[0] if len(wanted) == 1 else wanted, evidence.url)


def _url_score(wanted: str, url: str, flavor: str) -> float:
    """A part of host and path is enough. Alternatives lend each other their query parameters."""
    path, query = _parsed(_clean_url(url, flavor))
    paths = []
    queries: dict[str, set[str]] = defaultdict(set)
    for one in wanted.split(OR):
        wanted_path, wanted_query = _parsed(_clean_url(one, flavor))
        paths.append(wanted_path)
        for name, values in wanted_query.items():
            queries[name] |= set(values)
    right_page = any(one in path for one in paths)
    right_query = all(values & set(query.get(name, ())) for name, values in queries.items())
    return float(right_page and right_query)


def _clean_url(url: str, flavor: str) -> str:
    url = url.rstrip("/")
    return url.lower() if flavor == "webchorearena" else url


def _parsed(url: str) -> tuple[str, Mapping[str, list[str]]]:
    try:
        parsed = urlsplit(url)
    except ValueError as error:
        raise GradingError(f"{url:.200} is not a URL: {error}.") from None
    # The harness takes parameters of a path (`;a=b`) off the last segment.
    folder, slash, last = parsed.path.rpartition("/")
    return f"{parsed.netloc}{folder}{slash}{last.partition(';')[0]}", parse_qs(parsed.query)


# --- pages that show what was changed -------------------------------------------------------------------


def page_parts(key: Mapping[str, Any], flavor: str, evidence: EpisodeEvidence) -> Iterator[RuleResult]:
    for number, target in enumerate(key.get("program_html") or ()):
        choices = alternatives(target) if flavor == "webchorearena" else [target]
        looked = [_looked(one, probe_name(number, position), flavor, evidence) for position, one in enumerate(choices)]
        scores = [part.score for part in looked]
        best = max((value for value in scores if value is not None), default=None)
        unknown = next((part for part in looked if part.score is None), None)
        if unknown is not None and best != 1.0:
            yield unknown
        else:
            yield looked[scores.index(best)]


def _looked(target: Mapping[str, Any], name: str, flavor: str, evidence: EpisodeEvidence) -> RuleResult:
    required = target.get("required_contents") or {}
    rule = "exact_match" if "exact_match" in required else "must_include"
    if rule not in required:
        raise GradingError(f"The old protocol has no check called {', '.join(required) or 'nothing'} for pages.")
    if name not in evidence.pages:
        return RuleResult(
            f"program_html.{rule}", None, required[rule], why=f"Nobody recorded {name} ({target.get('url')})."
        )
    seen = html.unescape(evidence.pages[name])
    if rule == "exact_match":
        value = exact_match(_text(required[rule], rule), seen)
    else:
        scores = [_on_page(one, seen, flavor) for one in _texts(required[rule], rule)]
        value = prod(scores) if flavor == "webarena" else sum(scores) / len(scores) if scores else 0.0
    return RuleResult(f"program_html.{rule}", value, required[rule], seen)


def _on_page(wanted: str, seen: str, flavor: str) -> float:
    return float(any(must_include(one, seen, alone=False, flavor=flavor) for one in wanted.split(OR)))
