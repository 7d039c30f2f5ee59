"""The keys of the original WebArena, read as data, to find out what they let through (`grading.legacy` has the rules).

Only answers are tried: what a page or a language model would have to say is unknown (None).
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from webassay.core.errors import GradingError
from webassay.core.naive import GUESSES, as_text
from webassay.core.record import Json
from webassay.core.task import LegacyCheck, Task
from webassay.grading.published.legacy import EpisodeEvidence, parts, score

OR = re.compile(r" \|or\| ", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Target:
    """One look at a page."""

    url: str
    locator: str
    """Empty: the whole page."""
    exact: str | None
    includes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LegacyKey:
    flavor: str
    types: tuple[str, ...]
    exact: str | None
    includes: tuple[str, ...] | None
    fuzzy: str | tuple[str, ...] | None
    url: str
    targets: tuple[Target, ...]
    answers: Mapping[str, Any]
    """The rules for answers, as they were published."""

    @property
    def says_not_possible(self) -> bool:
        return isinstance(self.fuzzy, str) and compact(self.fuzzy) in ("na", "n/a")

    @property
    def text(self) -> str:
        """Everything that the key names, as one text."""
        fuzzy = (self.fuzzy,) if isinstance(self.fuzzy, str) else self.fuzzy or ()
        parts = [self.url, self.exact or "", *(self.includes or ()), *fuzzy]
        for target in self.targets:
            parts += [target.url, target.exact or "", *target.includes]
        return " ".join(parts)


def compact(text: str) -> str:
    """The detectors' normal form (appendix B): lower case, NFC, single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).lower().split())


def key_of(task: Task) -> LegacyKey | None:
    check = next((check for check in task.checks if isinstance(check, LegacyCheck)), None)
    return None if check is None else read_key(check.eval, check.flavor)


def read_key(evaluation: Mapping[str, Any], flavor: str) -> LegacyKey:
    answers = evaluation.get("reference_answers") or {}
    includes, fuzzy = answers.get("must_include"), answers.get("fuzzy_match")
    exact = answers.get("exact_match")
    return LegacyKey(
        flavor=flavor,
        types=tuple(evaluation.get("eval_types") or ()),
        exact=None if exact is None else str(exact),
        includes=None if includes is None else tuple(map(str, includes)),
        fuzzy=fuzzy if fuzzy is None or isinstance(fuzzy, str) else tuple(map(str, fuzzy)),
        url=evaluation.get("reference_url") or "",
        targets=tuple(_target(raw) for raw in evaluation.get("program_html") or ()),
        answers=answers,
    )


def _target(raw: Mapping[str, Any]) -> Target:
    required = raw.get("required_contents") or {}
    exact = required.get("exact_match")
    return Target(
        url=raw.get("url") or "",
        locator=(raw.get("locator") or "").strip(),
        exact=None if exact is None else str(exact),
        includes=tuple(map(str, required.get("must_include") or ())),
    )


def passes(key: LegacyKey, answer: str, goal: str = "") -> bool | None:
    """Whether an answer alone is enough. None: something else decides, too."""
    if key.types != ("string_match",):
        return None
    evaluation = {"eval_types": ["string_match"], "reference_answers": key.answers}
    try:
        value = score(parts(evaluation, key.flavor, EpisodeEvidence(answer, goal)))
    except GradingError:
        return False  # the harness stops at this key, whatever was said
    return None if value is None else value == 1.0


# --- answers of those who did not look ------------------------------------------------------------------


def _guessed(guess: Callable[[str], list[Json]], goal: str) -> str:
    return as_text(guess(goal))


_SHOWN = {"na": "N/A", "yes-no": "yes or no", "numbers": "numbers of the goal"}

NAIVE_ANSWERS: dict[str, Callable[[str], str]] = {
    **{_SHOWN.get(name, name): partial(_guessed, guess) for name, guess in GUESSES.items()},
    "empty": lambda goal: "",
    "1 2 3": lambda goal: "1 2 3",
}
"""Name to what is answered to a goal (Tables 5 and 8). The last one is here because the paper's 11 for "numbers of the
intent" is what this constant gets; the numbers of the intent themselves get 4."""


def naive_passes(key: LegacyKey, goal: str) -> list[str]:
    return [name for name, answer in NAIVE_ANSWERS.items() if passes(key, answer(goal)) is True]
