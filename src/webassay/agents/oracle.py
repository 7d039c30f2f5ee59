"""The oracle: a template's reference solution, acting through the same observations and actions as any agent.

It gets the template's parameters and what it sees, never the key. So an oracle that passes proves that the task can be
solved from the pages alone, and that the pages agree with the truth query.
"""

import json
from collections.abc import Callable, Mapping, Sequence

from webassay.agents.base import AgentFactory, AgentRequest
from webassay.core.errors import AgentError, InputError
from webassay.core.interaction import Decision, Goal, Observation, ObservationPart, Walk
from webassay.core.record import Json

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


def _make(request: AgentRequest) -> Oracle:
    solution = request.solution
    if solution is None:
        raise InputError(f"{request.name} needs a task with a reference solution.")
    return Oracle(lambda goal, parameters, page: solution(page), {})


ORACLE_AGENT = AgentFactory(
    "oracle", "The reference solution of each template (arena tasks only).", _make, needs=("solution",)
)
