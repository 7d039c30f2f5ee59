"""The oracle: a template's reference solution, or another of its routes, which sees and acts as any agent does.

It gets the template's parameters and its own observations, never the key. So an oracle that passes proves that the task
can be solved from the pages alone, and that the pages show what the truth query found.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from webassay.agents.base import AgentFactory, AgentRequest, Solution
from webassay.core.errors import AgentError
from webassay.core.interaction import Action, Decision, Goal, Observation, ObservationPart, Walk


@dataclass(frozen=True)
class OracleOptions:
    route: str = ""
    """Another way than the reference solution: a route of the template, or one of its shortcuts."""


class Oracle:
    wants: Sequence[ObservationPart] = ("tree",)

    def __init__(self, solve: Solution, name: str = "oracle") -> None:
        self.name = name
        self._solve = solve
        self._walk: Walk | None = None
        self._account: Mapping[str, str] = {}

    async def start(self, goal: Goal) -> None:
        self._walk = None
        self._account = _account(goal.hints)

    async def decide(self, observation: Observation) -> Decision:
        if (detour := self._past_obstacle(observation)) is not None:
            return Decision(actions=(detour,))
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

    def _past_obstacle(self, page: Observation) -> Action | None:
        """What anybody would do first: close what covers the page, ask again, log in again."""
        for name in _CLOSING:
            if (button := page.find("button", name)) is not None:
                return Action.of("click", button.id)
        if page.find("heading", _UNAVAILABLE) is not None:
            return Action.of("goto", page.url)
        if self._account and page.find("heading", "Registered Customers") is not None:
            for name, value in self._account.items():
                field = page.find("textbox", name)
                if field is not None and not field.value:
                    return Action.of("fill", field.id, value)
            if (button := page.find("button", "Log In")) is not None:
                return Action.of("click", button.id)
        return None


_CLOSING = ("No Thanks", "Accept Cookies")
_UNAVAILABLE = "This page is not available at the moment."


def _account(hints: Sequence[str]) -> Mapping[str, str]:
    """What the goal says about logging in again."""
    for hint in hints:
        if hint.startswith("If you are logged out"):
            return dict(re.findall(r"(\w+): (\S+?)(?:,|$)", hint))
    return {}


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
