"""What those answer who do not look: from nothing, or from the words of the goal (the paper's Tables 5 and 8)."""

import hashlib
import re
from collections.abc import Callable, Mapping

from webassay.core.record import Json

_YES_OR_NO = re.compile(
    r"(?i)^\W*(is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should)\b"
    r"|^\W*(please\s+)?(check|see|tell me|find out|verify|confirm) (if|whether)\b|\byes or no\b"
)


def numbers_of(text: str) -> list[Json]:
    return [float(n) if "." in n else int(n) for n in re.findall(r"\d+(?:\.\d+)?", text)]


def yes_or_no(text: str) -> list[Json]:
    """Yes to what can be answered so, No to everything else."""
    return ["Yes" if _YES_OR_NO.search(text) else "No"]


def at_random(text: str) -> list[Json]:
    """A word of the goal or a number below 100, drawn by the goal itself, so that it is the same every time."""
    drawn = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8])
    words = re.findall(r"\w+", text)
    choice, place = divmod(drawn, 2)
    return [words[choice % len(words)]] if words and place else [choice % 100]


GUESSES: Mapping[str, Callable[[str], list[Json]]] = {
    "na": lambda goal: ["N/A"],
    "yes": lambda goal: ["Yes"],
    "no": lambda goal: ["No"],
    "yes-no": yes_or_no,
    "zero": lambda goal: [0],
    "random": at_random,
    "echo": lambda goal: [goal],
    "numbers": numbers_of,
}
"""Name to what is answered to a goal."""


def as_text(results: list[Json]) -> str:
    """As a plain answer says it."""
    return " ".join(map(str, results))
