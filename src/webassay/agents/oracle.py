"""The oracle: a template's reference solution, acting through the same observations and actions as any agent.

It gets the template's parameters and what it sees, never the key. So an oracle that passes proves that the task
can be solved from the pages alone, and that what stands on the pages is what the truth query found.
"""

import json
from collections.abc import Callable, Generator, Mapping, Sequence

from webassay.core.errors import AgentError
from webassay.core.interaction import Action, Decision, Goal, Observation, ObservationPart
from webassay.core.record import Json

Walk = Generator[Action, Observation, Json]
"""Yields actions, is sent observations, returns the response."""

Solution = Callable[[Goal, Mapping[str, Json], Observation], Walk]


class Oracle:
    name = "oracle"
    wants: Sequence[ObservationPart] = ("tree",)

    def __init__(self, solution: Solution, parameters: Mapping[str, Json]) -> None:
        self._solution = solution
        self._parameters = parameters
        self._goal: Goal | None = None
        self._walk: Walk | None = None

    async def start(self, goal: Goal) -> None:
        self._goal = goal
        self._walk = None

    async def decide(self, observation: Observation) -> Decision:
        if self._goal is None:
            raise AgentError("The oracle was asked before it was given a goal.")
        try:
            if self._walk is None:
                self._walk = self._solution(self._goal, self._parameters, observation)
                action = next(self._walk)
            elif observation.last_error:
                raise AgentError(f"The reference solution's action failed: {observation.last_error}")
            else:
                action = self._walk.send(observation)
        except StopIteration as done:
            return Decision.answer(json.dumps(done.value, ensure_ascii=False))
        return Decision(actions=(action,))
