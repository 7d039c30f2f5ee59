"""What judging would cost, before anything is spent."""

from dataclasses import dataclass

from webassay.llm.client import Answering, Question, Reply

TOKENS_OF_PICTURE = 1100
CHARACTERS_PER_TOKEN = 4
TOKENS_OF_REPLY = 400
"""Assumed where nothing better is known."""


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """Calls to be made, between two bounds where only a reply can tell (conditions, pages that matter, differing
    passes). Repeated questions come on top. Tokens are estimates, of the most expensive course."""

    trajectories: int
    decided_by_rule: int
    already_judged: int
    rubrics: int
    """To be written; each is taken to have four criteria."""
    calls: int
    calls_at_most: int
    input_tokens: int
    output_tokens: int


def describe_estimate(plan: CostEstimate) -> str:
    calls = f"{plan.calls}" if plan.calls == plan.calls_at_most else f"{plan.calls} to {plan.calls_at_most}"
    rubrics = f", {plan.rubrics} rubric{'s' if plan.rubrics > 1 else ''} to write" if plan.rubrics else ""
    settled = f"{plan.already_judged} judged already, {plan.decided_by_rule} without a call"
    return (
        f"{plan.trajectories} trajectories: {settled}\n"
        f"{calls} calls{rubrics}; replies that have to be repaired come on top\n"
        f"at most about {plan.input_tokens:,} tokens in, {plan.output_tokens:,} tokens out"
    )


def tokens_in(question: Question) -> int:
    parts = [part for message in question.messages for part in message.parts]
    texts = [part for part in parts if isinstance(part, str)]
    return sum(map(len, texts)) // CHARACTERS_PER_TOKEN + (len(parts) - len(texts)) * TOKENS_OF_PICTURE


@dataclass
class RehearsalModel(Answering):
    """Stands in for a model: counts what it would be asked, and always gives the same reply."""

    reply: str
    name: str = "rehearsal"
    calls: int = 0
    input_tokens: int = 0

    async def answer(self, question: Question) -> Reply:
        self.calls += 1
        self.input_tokens += tokens_in(question)
        return Reply(self.reply)
