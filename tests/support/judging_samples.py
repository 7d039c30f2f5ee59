"""Trajectories with pictures, and a model that answers by stage: for tests of the judges."""

import json
import re
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from webassay.compose.registries import JUDGES
from webassay.core.interaction import Goal, ResponseProtocol, Usage
from webassay.core.trajectory import AgentInfo, Ending, MemoryBlobs, RecordedObservation, Step, Trajectory
from webassay.core.verdict import Verdict
from webassay.judging.judges.base import PreparedJudge
from webassay.judging.ledger import Models
from webassay.judging.universal.resources import VerifierResources
from webassay.judging.universal.verify import verify
from webassay.llm.client import Answering, Message, Model, Question, Reply

GOLDEN = Path(__file__).parents[1] / "golden" / "verifier"
OUTSIDE = Path(__file__).parents[3] / "shared" / "data"
FREE = ResponseProtocol(name="free", instructions="")
BUILT_IN = [name for name in JUDGES.names() if JUDGES.get(name).options.__module__.startswith("webassay.")]
"""Without judges of packages that happen to be installed."""
LITERATURE = [name for name in BUILT_IN if name != "universal"]


def prepared(
    name: str, model: Model | None, options: Any = None, resources: VerifierResources | None = None
) -> PreparedJudge:
    judge = JUDGES.get(name)
    models = None if model is None else Models.one(model)
    return judge.prepare(models, options or judge.options(), resources or VerifierResources())


def png(number: int, side: int = 2) -> bytes:
    """A real picture of one colour; another number is another picture."""
    colour = bytes((number >> 16 & 255, number >> 8 & 255, number & 255))
    rows = b"".join(b"\x00" + colour * side for _ in range(side))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def goal(instruction: str = "Find the kettle.", **changes: Any) -> Goal:
    return Goal(instruction=instruction, **{"start_urls": (), "protocol": FREE, **changes})


def trajectory(
    blobs: MemoryBlobs,
    steps: int,
    *,
    instruction: str = "Find the kettle.",
    pictures: Sequence[int] | None = None,
    trees: Mapping[int, str] | None = None,
    **changes: Any,
) -> Trajectory:
    """So many actions, and one page more than actions. `pictures` repeats numbers where pages look the same."""
    numbers = list(pictures if pictures is not None else range(steps + 1))

    def seen(index: int) -> RecordedObservation:
        tree = (trees or {}).get(index)
        return RecordedObservation(
            url=f"http://site.example/{index}",
            screenshot=blobs.write(png(numbers[index]), "image/png") if index < len(numbers) else None,
            tree=blobs.write(tree.encode(), "text/plain") if tree is not None else None,
        )

    given: dict[str, Any] = {
        "id": "t-1",
        "task_id": "task-1",
        "goal": goal(instruction),
        "agent": AgentInfo(name="someone"),
        "steps": tuple(Step(index=i, seen=seen(i), action_text=f"click(bid='{i}')") for i in range(steps)),
        "last_seen": seen(steps),
        "answer": "Here it is.",
        "ending": Ending(kind="answered"),
        "source": "elsewhere",
    }
    return Trajectory(**{**given, **changes})


Answer = Callable[[str, Sequence[Message]], Any]


@dataclass
class ByStage(Answering):
    """Answers each stage from a table; what is not a text is sent as JSON. Keeps every question."""

    said: Answer
    name: str = "by-stage"
    asked: list[tuple[str, tuple[Message, ...]]] = field(default_factory=list)

    async def answer(self, question: Question) -> Reply:
        self.asked.append((question.purpose, tuple(question.messages)))
        value = self.said(question.purpose, question.messages)
        text = value if isinstance(value, str) else json.dumps(value)
        return Reply(text, Usage(calls=1, input_tokens=10, output_tokens=5, cost_usd=0.001))

    def stages(self) -> list[str]:
        return [purpose.split("#")[0] for purpose, _ in self.asked]


def frames_in(messages: Sequence[Message]) -> list[int]:
    """The numbers of the screenshots that a question shows."""
    return [int(number) for number in re.findall(r"^Screenshot (\d+) of \d+", messages[-1].text, re.MULTILINE)]


def asked_about(messages: Sequence[Message]) -> dict[int, list[int]]:
    """By screenshot: the criteria that a question about evidence asks for."""
    found = re.findall(r"^Screenshot (\d+): say what it shows for criterion_idx ([\d, ]+)\.$", messages[-1].text, re.M)
    return {int(number): [int(index) for index in criteria.split(",")] for number, criteria in found}


def criteria_in(messages: Sequence[Message], label: str) -> list[int]:
    """The criteria in a part of a question."""
    block = messages[-1].text.split(f" {label}]]")[1].split("[[END")[0]
    return [int(number) for number in re.findall(r"^criterion_idx (\d+):", block, re.MULTILINE)]


NOTHING_SEEN = {
    "screenshot_evidence": "nothing of note",
    "criterion_analysis": "nothing follows",
    "discrepancies": "none",
    "category": "consistent",
    "environment_issues_confirmed": False,
    "condition_verification": None,
}


def replies_of(case: Mapping[str, Any]) -> Answer:
    """A golden case's replies, put together for whatever pictures and criteria are asked about."""
    replies = case["replies"]

    def answer(purpose: str, messages: Sequence[Message]) -> Any:
        stage = purpose.split("#")[0]
        if stage == "rubric":
            return {"critical_point": replies["critical_point"], **replies["rubric"]}
        if stage == "relevance":
            scores = replies["relevance"]
            return {"screenshots": [{"screenshot": n, "scores": scores[n - 1]} for n in frames_in(messages)]}
        if stage == "evidence":
            return {"screenshots": [seen_on(n, asked) for n, asked in asked_about(messages).items()]}
        if stage == "closer_look":
            wanted = criteria_in(messages, "criteria")
            return {"items": [item for item in replies["rescore"]["items"] if item["criterion_idx"] in wanted]}
        return replies[stage]

    def seen_on(number: int, asked: Sequence[int]) -> Any:
        known = replies["evidence"].get(str(number), {})
        analyses = [{"criterion_idx": index, **NOTHING_SEEN, **known.get(str(index), {})} for index in asked]
        return {"screenshot": number, "analyses": analyses}

    return answer


def golden(name: str) -> dict[str, Any]:
    return json.loads((GOLDEN / f"{name}.json").read_text())


def golden_names() -> list[str]:
    return sorted(path.stem for path in GOLDEN.glob("*.json"))


def golden_trajectory(case: Mapping[str, Any], blobs: MemoryBlobs) -> Trajectory:
    made = trajectory(blobs, len(case["actions"]), instruction=case["task"], answer=case["answer"])
    steps = tuple(
        step.model_copy(
            update={
                "action_text": given["action"],
                "thought": given["thought"],
                "error": given.get("error", ""),
            }
        )
        for step, given in zip(made.steps, case["actions"], strict=True)
    )
    return made.model_copy(update={"steps": steps})


async def verified(case: Mapping[str, Any], model: Model, *rest: Any) -> Verdict:
    """What the universal verifier says of a golden case, with whatever profile and resources it is given."""
    blobs = MemoryBlobs()
    run = golden_trajectory(case, blobs)
    return await verify(run.goal, run, blobs, Models.one(model), *rest)
