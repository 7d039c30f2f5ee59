"""A person in a browser window, recorded like any agent: what the task costs a human, and whether it can be done."""

from collections.abc import Awaitable, Callable, Sequence

from webassay.agents.base import DevToolsEndpoint
from webassay.core.interaction import Goal, ObservationPart
from webassay.core.record import Json

AskPerson = Callable[[str], Awaitable[str]]
"""Shows a text and waits for a line of answer; the command line passes its terminal in."""


class Human:
    """Drives by hand (see `agents.base.BrowserDriver`); needs a browser with a window."""

    name = "human"
    wants: Sequence[ObservationPart] = ()

    def __init__(self, ask: AskPerson) -> None:
        self._ask = ask
        self.settings: dict[str, Json] = {}
        self.model = ""
        self.prompts: dict[str, str] = {}

    async def start(self, goal: Goal) -> None:
        self._goal = goal

    async def drive(self, door: DevToolsEndpoint) -> str:
        goal = self._goal
        hints = "".join(f"\n({hint})" for hint in goal.hints)
        return await self._ask(f"{goal.instruction}{hints}\n\n{goal.protocol.instructions}\n\nYour answer: ")
