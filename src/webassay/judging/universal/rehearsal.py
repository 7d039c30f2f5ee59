"""Plays a verification through without a model, to say beforehand what it will cost.

The stand-in plays the cheapest and the most expensive course a verification can take; the truth lies between them.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from webassay.judging.plan import TOKENS_OF_REPLY, tokens_in
from webassay.judging.universal.outcome import RULES
from webassay.judging.universal.rubric import RecordCache
from webassay.llm.client import Answering, Question, Reply

_FENCED = re.compile(r"\[\[DATA ([0-9a-f]{12}) ([^\n]*)\]\]\n(.*?)\n\[\[END \1\]\]", re.DOTALL)
_SHOWN = re.compile(r"^Screenshot (\d+) of (\d+)", re.MULTILINE)
_ASKED = re.compile(r"^Screenshot (\d+): say what it shows for criterion_idx ([\d, ]+)\.$", re.MULTILINE)
_CRITERION = re.compile(r"^criterion_idx (\d+): .* \(([\d.]+) points\)$", re.MULTILINE)
_REPLIES = {"relevance": 30, "evidence": 150, "rubric": 900, "rescore": 700}
"""Tokens: of a relevance reply for each screenshot, of an evidence reply for each screenshot and criterion."""
_WORDS_OF_EVIDENCE = "x" * 250
"""What readers by hand wrote about one screenshot and one criterion, 199 times: 244 characters on average."""

CRITERIA = 4
"""Assumed for a rubric that does not exist yet."""


T = TypeVar("T")


@dataclass
class DryCache(Generic[T]):
    """What is kept, and stand-ins for the rest, each written once. Nothing is stored."""

    real: RecordCache[T]
    made: dict[str, T] = field(default_factory=dict)
    _making: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def get(self, key: str, write: Callable[[], Awaitable[T]]) -> T:
        async with self._making:
            known = self.real.peek(key) or self.made.get(key)
            if known is None:
                known = self.made[key] = await write()
            return known

    def peek(self, key: str) -> T | None:
        return self.real.peek(key)


@dataclass
class Understudy(Answering):
    """Answers every stage of the Universal Verifier in the right form."""

    name: str
    dear: bool
    criteria: int = CRITERIA
    relevance: Callable[[int, int], int] | None = None
    """By screenshot and criterion; None: what the part asks for."""
    keep: bool = False
    """Whether the questions are kept, for those who want to see what they hold."""
    asked: list[Question] = field(default_factory=list)
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    async def answer(self, question: Question) -> Reply:
        self.calls += 1
        self.input_tokens += tokens_in(question)
        stage = question.purpose.split("#")[0]
        said = self._said(stage, question.messages[-1].text)
        self.output_tokens += _length(stage, said)
        if self.keep:
            self.asked.append(question)
        return Reply(json.dumps(said))

    def _said(self, stage: str, text: str) -> Any:
        own = _FENCED.sub("", text)
        points = {int(index): float(most) for index, most in _CRITERION.findall(text)}
        if stage == "relevance":
            shown = [(int(number), int(total)) for number, total in _SHOWN.findall(own)]
            return {"screenshots": [{"screenshot": n, "scores": self._scores(n, of, len(points))} for n, of in shown]}
        if stage == "evidence":
            return {
                "screenshots": [_seen(int(n), [int(i) for i in asked.split(",")]) for n, asked in _ASKED.findall(own)]
            }
        if stage in ("action_only", "rescore", "closer_look"):
            return {"items": [self._scored(stage, index, most) for index, most in points.items()]}
        if stage == "conditions":
            held = {"condition": "", "reasoning": "", "is_condition_met": True}
            return {"disambiguation": [{"criterion_idx": index, **held} for index in points]}
        if stage == "reality":
            return {"reality_checks": [{"criterion_idx": index, "reality_notes": ""} for index in points]}
        return self._simple(stage)

    def _scores(self, number: int, total: int, criteria: int) -> list[int]:
        if self.relevance is not None:
            return [self.relevance(number, index) for index in range(criteria)]
        if self.dear:  # everything matters, and each criterion has pages of its own at the top
            return [10 if number % criteria == index else 9 for index in range(criteria)]
        return [10 if number == total else 0] * criteria

    def _scored(self, stage: str, index: int, most: float) -> dict[str, Any]:
        """The dear part is promised everything and keeps nothing, so that somebody has to look again."""
        if stage == "action_only":
            told = {"justification": "j", "is_condition_met": True, "earned_points": most if self.dear else 0}
            return {"criterion_idx": index, **told}
        points = 0 if self.dear else most
        return {"criterion_idx": index, "post_image_justification": "j", "post_image_earned_points": points}

    def _simple(self, stage: str) -> Any:
        condition = "only if it is there" if self.dear else ""
        items = [
            {
                "criterion": f"part {i}",
                "description": "d" * 500,
                "max_points": 4,
                "condition": condition if i < 2 else "",
            }
            for i in range(self.criteria)
        ]
        rules = [{"rule": rule, "applies": False} for rule in RULES]
        replies: dict[str, Any] = {
            "rubric": {"critical_point": {"present": self.dear, "action": "a"}, "items": items},
            "dependency": {"needs_reformulation": False},
            "side_effects": {"requires_penalty": False},
            "outcome": {
                "primary_intent": "p",
                "rule_checks": rules,
                "critical_issues": ["c"] if self.dear else [],
                "useful": not self.dear,
                "reasoning": "r",
                "output_success": not self.dear,
            },
            "cp_violation": {"cp_violation": False},
            "diagnosis": {"has_failure": False},
            "validity": {"is_ambiguous": self.dear, "is_invalid": False},
        }
        return replies[stage]


def _seen(number: int, criteria: Sequence[int]) -> dict[str, Any]:
    told = {"screenshot_evidence": _WORDS_OF_EVIDENCE, "criterion_analysis": "a"}
    return {"screenshot": number, "analyses": [{"criterion_idx": index, **told} for index in criteria]}


def _length(stage: str, said: Any) -> int:
    if stage == "relevance":
        return _REPLIES[stage] * len(said["screenshots"])
    if stage == "evidence":
        return _REPLIES[stage] * sum(len(page["analyses"]) for page in said["screenshots"])
    return _REPLIES.get(stage, TOKENS_OF_REPLY)
