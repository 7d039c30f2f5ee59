"""A person in a browser window, recorded like any agent: what the task costs a human, and whether it can be done."""

from collections.abc import Sequence

from webassay.agents.base import AgentFactory, AgentRequest, AskPerson, DevToolsEndpoint
from webassay.core.errors import InputError
from webassay.core.interaction import Goal, ObservationPart
from webassay.core.text import capped


class Human:
    """Drives by hand; needs a browser with a window."""

    name = "human"
    wants: Sequence[ObservationPart] = ()
    guarded = True
    """Nobody else is let into the browser."""

    def __init__(self, ask: AskPerson) -> None:
        self._ask = ask

    async def start(self, goal: Goal) -> None:
        self._goal = goal

    async def drive(self, door: DevToolsEndpoint) -> str:
        goal = self._goal
        hints = "".join(f"\n({hint})" for hint in goal.hints)
        question = f"{goal.instruction}{hints}\n\n{goal.protocol.instructions}\n\nYour answer: "
        return capped(await self._ask(question))


def _make(request: AgentRequest) -> Human:
    if request.ask is None:
        raise InputError(f"{request.name} needs a person at a terminal.")
    return Human(request.ask)


HUMAN_AGENT = AgentFactory("human", "You, in a browser window (with --headed).", _make, needs=("person",))
