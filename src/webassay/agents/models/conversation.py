"""Asking a model until its answer can be read, and what is recorded about it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from webassay.core.errors import ActionError
from webassay.core.interaction import Goal, Observation, Usage
from webassay.core.record import Json, content_hash
from webassay.llm.client import Image, Message, Model, Reply, add_usage

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ModelAnswer(Generic[T]):
    value: T | None
    """None: no reply could be read."""
    replies: tuple[Reply, ...]
    problem: str = ""
    """What was wrong with the last reply that could not be read."""

    @property
    def raw(self) -> str:
        return self.replies[-1].text

    @property
    def unreadable(self) -> int:
        """How many of the replies could not be read."""
        return len(self.replies) - (self.value is not None)


async def ask_until_read(
    model: Model, messages: Sequence[Message], read: Callable[[str], T], *, retries: int, purpose: str
) -> ModelAnswer[T]:
    """`read` refuses with an ActionError, whose text goes back to the model as the next user message."""
    talk = list(messages)
    replies: list[Reply] = []
    problem = ""
    for _ in range(retries + 1):
        reply = await model.ask(talk, purpose=purpose)
        replies.append(reply)
        try:
            return ModelAnswer(read(reply.text), tuple(replies), problem)
        except ActionError as error:
            problem = str(error)
            if reply.finish_reason == "length":
                problem += " (Your answer was cut off at the token limit: be shorter.)"
        talk += [Message.assistant(reply.text), Message.user(f"{problem} Nothing was done yet; answer again.")]
    return ModelAnswer(None, tuple(replies), problem)


def books(messages: Sequence[Message], replies: Sequence[Reply], unreadable: int = 0) -> tuple[Usage, dict[str, Json]]:
    """What a step records about its model calls: total usage, and details."""
    notes: dict[str, Json] = {
        "prompt_hash": prompt_hash(messages),
        "calls": len(replies),
        "unreadable": unreadable,
        "seconds": [round(reply.usage.seconds, 4) for reply in replies],
        "tokens": [[reply.usage.input_tokens, reply.usage.output_tokens] for reply in replies],
        "costs": [reply.usage.cost_usd for reply in replies],
        "finish": [reply.finish_reason for reply in replies],
    }
    if any(reply.cached for reply in replies):
        notes["cached"] = sum(reply.cached for reply in replies)
    if len(replies) > 1:
        notes["replies"] = [reply.text for reply in replies]
    thinking: list[Json] = [str(reply.raw["thinking"]) for reply in replies if reply.raw.get("thinking")]
    if thinking:
        notes["thinking"] = thinking
    return add_usage([reply.usage for reply in replies]), notes


def prompt_hash(messages: Sequence[Message]) -> str:
    """A hash of the texts only; pictures are kept with the step anyway."""
    return content_hash([[message.role, message.text] for message in messages])


# --- what every prompt needs ------------------------------------------------------------------------------

CHARACTERS_A_TOKEN = 3.0
"""Trees are full of numbers and brackets, which cost more tokens than prose; this errs on the safe side for both."""


def estimate_tokens(text: str) -> int:
    return int(len(text) / CHARACTERS_A_TOKEN) + 1


def cut_tree(tree: str, tokens: int) -> str:
    """The tree, cut from the end by three tenths of its lines at a time until it fits, with a line that says so."""
    if estimate_tokens(tree) <= tokens:
        return tree
    lines = tree.split("\n")
    keep = len(lines)
    length = len(tree)
    while keep and length / CHARACTERS_A_TOKEN > tokens:
        cut = min(keep, max(1, int(keep * 0.3)))
        length -= sum(len(line) + 1 for line in lines[keep - cut : keep])
        keep -= cut
    return "\n".join([*lines[:keep], f"... Deleted {len(lines) - keep} lines to make the page fit."])


def picture_of(observation: Observation) -> tuple[Image, ...]:
    if observation.screenshot is None:
        return ()
    return (Image(observation.screenshot, observation.screenshot_type),)


def goal_values(goal: Goal) -> Mapping[str, object]:
    """The parts of a goal that every agent shows."""
    return {
        "instruction": goal.instruction,
        "hints": goal.hints,
        "response": goal.protocol.instructions,
    }
