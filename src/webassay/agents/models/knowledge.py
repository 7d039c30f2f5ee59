"""Answers from the goal alone: what it gets right, the model already knew or the task gives away."""

from collections.abc import Sequence

from webassay.agents.models.conversation import books, goal_values
from webassay.agents.models.prompts import hashes, render
from webassay.agents.models.thinking import thinking_factory
from webassay.core.interaction import Decision, Goal, Observation, ObservationPart
from webassay.core.record import Json
from webassay.llm.client import Message, Model


class Knowledge:
    name = "knowledge"
    wants: Sequence[ObservationPart] = ()

    def __init__(self, model: Model) -> None:
        self._model = model
        self.model = model.name
        self.settings: dict[str, Json] = {}
        self.prompts = hashes("knowledge_user.md")

    async def start(self, goal: Goal) -> None:
        self._messages = [Message.user(render("knowledge_user.md", **goal_values(goal)))]

    async def decide(self, observation: Observation) -> Decision:
        reply = await self._model.ask(self._messages, purpose="knowledge")
        usage, notes = books(self._messages, [reply])
        return Decision.answer(reply.text.strip(), raw=reply.text, usage=usage, info=notes)


KNOWLEDGE_AGENT = thinking_factory(
    "knowledge",
    "Answers from the task alone, without a browser: what a model already knew.",
    lambda model, options: Knowledge(model),
    baseline=True,
)
