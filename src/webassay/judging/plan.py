"""What judging would cost, before anything is spent."""

from dataclasses import dataclass

from webassay.llm.client import Answering, Question, Reply

TOKENS_OF_PICTURE = 1100
CHARACTERS_PER_TOKEN = 4
TOKENS_OF_REPLY = 400
"""Of a reply about which nothing better is known."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The number of calls is exact, except for what only a reply can tell: how many criteria a rubric has, whether one
    has a condition, how many key points there are. The number of tokens is an estimate."""

    trajectories: int
    decided_by_rule: int
    already_judged: int
    rubrics: int
    calls: int
    calls_at_most: int
    input_tokens: int
    output_tokens: int


def describe_plan(plan: Plan) -> str:
    extra = f" (at most {plan.calls_at_most} with conditions)" if plan.calls_at_most > plan.calls else ""
    rubrics = f", {plan.rubrics} rubrics to write" if plan.rubrics else ""
    settled = f"{plan.already_judged} judged already, {plan.decided_by_rule} without a call"
    return (
        f"{plan.trajectories} trajectories: {settled}\n"
        f"{plan.calls} calls{extra}{rubrics}\n"
        f"about {plan.input_tokens:,} tokens in, {plan.output_tokens:,} tokens out"
    )


@dataclass
class RehearsalModel(Answering):
    """Stands in for a model: counts what it would be asked, and always gives the same reply."""

    reply: str
    name: str = "rehearsal"
    calls: int = 0
    input_tokens: int = 0

    async def answer(self, question: Question) -> Reply:
        parts = [part for message in question.messages for part in message.parts]
        texts = [part for part in parts if isinstance(part, str)]
        self.calls += 1
        self.input_tokens += sum(map(len, texts)) // CHARACTERS_PER_TOKEN
        self.input_tokens += (len(parts) - len(texts)) * TOKENS_OF_PICTURE
        return Reply(self.reply)
