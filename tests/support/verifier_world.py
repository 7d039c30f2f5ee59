"""Trajectories to be verified and a model that knows how, for tests and benches over a real socket.

As a program (`python -m tests.support.verifier_world FOLDER URL COUNT`) it is a batch that can be killed.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.judging_samples import NOTHING_SEEN, asked_about, frames_in, goal, png, prepared
from webassay.core.trajectory import (
    AgentInfo,
    Blobs,
    Ending,
    MemoryBlobs,
    RecordedObservation,
    Step,
    Trajectory,
    WritableBlobs,
)
from webassay.core.verdict import Verdict
from webassay.judging.judges.batch import verify_many
from webassay.judging.prompts import Prompts
from webassay.judging.universal.outcome import RULES
from webassay.judging.universal.profile import PROFILES
from webassay.judging.universal.resources import VerifierResources
from webassay.judging.universal.verify import stages
from webassay.llm.client import Message, cached, close, retrying
from webassay.llm.providers import connect
from webassay.llm.replay import Act
from webassay.store import Store


def many(
    trajectories: int, frames: int, *, side: int = 2, blobs: WritableBlobs | None = None, write: bool = True
) -> Iterator[tuple[Trajectory, Blobs]]:
    """One after the other; the pictures of one are made only when it is its turn."""
    for number in range(trajectories):
        own = blobs or MemoryBlobs()
        pages = [
            RecordedObservation(
                url=f"http://site.example/{number}/{i}",
                screenshot=own.write(png(number * 1000 + i, side), "image/png") if write else None,
            )
            for i in range(frames)
        ]
        steps = tuple(Step(index=i, seen=page, action_text=f"click(bid='{i}')") for i, page in enumerate(pages[:-1]))
        yield (
            Trajectory(
                id=f"run-{number}",
                task_id=f"task-{number}",
                goal=goal(f"Find the kettle number {number}."),
                agent=AgentInfo(name="someone"),
                steps=steps,
                last_seen=pages[-1],
                answer=f"Kettle {number} costs 12.",
                ending=Ending(kind="answered"),
                source="elsewhere",
            ),
            own,
        )


def judged_by(verdict: Verdict) -> tuple[bool, Any]:
    return verdict.status == "pass", verdict.aspects["process_score"].value


@dataclass
class Faults:
    """Every so manyth question goes wrong, each time in another way."""

    every: int
    delay: float = 0.0
    stall: float = 0.0
    """One question, the hundredth, waits this long for its answer."""
    asked: int = 0

    def next(self) -> Act | None:
        self.asked += 1
        if self.asked == 100 and self.stall:
            return Act(text="{}", delay=self.stall)
        if not self.every or self.asked % self.every:
            return None
        kinds = (
            Act(status=429, retry_after=0.01, text="slow down"),
            Act(broken="cut", text="{}"),
            Act(text="This is not JSON."),
            Act(status=503, text="busy"),
            Act(broken="invalid"),
            Act(text='{"items": "of the wrong form"}', delay=0.2),
        )
        return kinds[(self.asked // self.every) % len(kinds)]


def author(faults: Faults) -> Callable[[Sequence[Message]], Act]:
    """Right replies to every stage; tasks whose number ends in 0 are successes, the others failures."""
    stage_of = {Prompts()[stage].text: stage for profile in PROFILES.values() for stage in stages(profile)}

    def write(messages: Sequence[Message]) -> Act:
        fault = faults.next()
        if fault is not None:
            return fault
        question = next(message for message in messages if message.role == "user")
        stage = stage_of[messages[0].text]
        good = "number 0." in question.text or "0.\n[[END" in question.text.split("task]]")[1][:60]
        return Act(text=json.dumps(reply(stage, question, good)), delay=faults.delay)

    return write


def reply(stage: str, question: Message, good: bool) -> Any:
    simple: dict[str, Any] = {
        "rubric": {
            "items": [
                {"criterion": "Find it", "description": "as asked", "max_points": 4, "condition": ""},
                {"criterion": "Report it", "description": "as shown", "max_points": 4, "condition": ""},
            ]
        },
        "dependency": {"needs_reformulation": False, "items": []},
        "action_only": {
            "items": [{"criterion_idx": i, "justification": "j", "earned_points": 4} for i in range(2)],
        },
        "reality": {"reality_checks": [{"criterion_idx": i, "reality_notes": ""} for i in range(2)]},
        "rescore": {
            "items": [
                {"criterion_idx": i, "post_image_justification": "j", "post_image_earned_points": 4 if good or i else 0}
                for i in range(2)
            ]
        },
        "side_effects": {"requires_penalty": False, "penalty_criteria": []},
        "outcome_checked": {
            "primary_intent": "a kettle",
            "rule_checks": [{"rule": rule, "applies": False, "effect": ""} for rule in RULES],
            "nitpicks": [],
            "critical_issues": [] if good else ["another kettle"],
            "useful": good,
            "reasoning": "r",
            "output_success": good,
        },
        "diagnosis": {"has_failure": False, "failure_points": []},
        "validity": {"is_ambiguous": False, "is_invalid": False},
    }
    if stage == "relevance":
        rows = [{"screenshot": n, "scores": [n % 11, (n * 7) % 11]} for n in frames_in([question])]
        return {"screenshots": rows}
    if stage == "evidence":
        asked = asked_about([question]).items()
        seen = {n: [{"criterion_idx": index, **NOTHING_SEEN} for index in criteria] for n, criteria in asked}
        return {"screenshots": [{"screenshot": n, "analyses": analyses} for n, analyses in seen.items()]}
    if stage == "rubric_and_point":
        return {"critical_point": {"present": False}, **simple["rubric"]}
    if stage == "closer_look":
        lost = [item for item in simple["rescore"]["items"] if not item["post_image_earned_points"]]
        return {"items": lost}
    return simple[stage]


async def main(folder: Path, url: str, count: int) -> None:
    store = Store.open(folder / "run", writable=True) if (folder / "run").exists() else Store.create(folder / "run")
    with store:
        model = cached(retrying(connect(f"openai:judge@{url}", env={})), folder / "cache")
        judge = prepared("universal", model, resources=VerifierResources(limit=asyncio.Semaphore(4)))

        def sink(verdict: Verdict) -> None:
            store.add_verdict(verdict)
            print(verdict.trajectory_id, flush=True)

        await verify_many(
            many(count, 6, blobs=store.blobs),
            judge,
            sink=sink,
            stored=lambda id, stamp: store.has_verdict(id, stamp.content_hash()),
            at_once=3,
        )
        await close(model)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
