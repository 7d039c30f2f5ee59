"""The oracle: a template's reference solution, or another of its routes, which sees and acts as any agent does.

It gets the template's parameters and its own observations, never the key. So an oracle that passes proves that the task
can be solved from the pages alone, and that the pages show what the truth query found.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from webassay.agents.base import AgentFactory, AgentRequest, Solution
from webassay.core.errors import AgentError
from webassay.core.interaction import Decision, Goal, Observation, ObservationPart, Walk


@dataclass(frozen=True)
class OracleOptions:
    route: str = ""
    """Another way than the reference solution: a route of the template, or one of its shortcuts."""


def wanted_for(goal: Goal) -> Sequence[ObservationPart]:
    """What a reference solution looks at: whoever reads a picture must know where on it something stands."""
    return ("tree",) if goal.modality == "tree" else ("boxes", "screenshot")


class Oracle:
    def __init__(self, solve: Solution, name: str = "oracle") -> None:
        self.name = name
        self.wants: Sequence[ObservationPart] = ("tree",)
        self._solve = solve
        self._walk: Walk | None = None

    async def start(self, goal: Goal) -> None:
        self._walk = None
        self.wants = wanted_for(goal)

    async def decide(self, observation: Observation) -> Decision:
        try:
            if self._walk is None:
                self._walk = self._solve(observation)
                action = next(self._walk)
            elif observation.last_error:
                raise AgentError(f"The reference solution's action failed: {observation.last_error}")
            else:
                action = self._walk.send(observation)
        except StopIteration as done:
            return Decision.answer(json.dumps(done.value, ensure_ascii=False))
        return Decision(actions=(action,))


def _make(request: AgentRequest) -> Oracle:
    assert request.solution is not None  # `needs` says so
    return Oracle(request.solution, request.name)


ORACLE = AgentFactory(
    "oracle",
    "The reference solution of each template (arena tasks only).",
    _make,
    options=OracleOptions,
    needs=("solution",),
)
