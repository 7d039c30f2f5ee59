"""Agents of known ability: the reference solution, with one mistake in so many of its episodes.

Whether an episode has a mistake, and which, is drawn anew for every agent, task and trial, so that two of these agents
err independently of each other. Every mistake that can be drawn fails its task: a skill of 0.6 is a success rate of
0.6.
"""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from webassay.agents.base import AgentFactory, AgentRequest
from webassay.agents.flawed import slips
from webassay.agents.flawed.slips import Course, Move, Moves, Scene, Slip
from webassay.agents.oracle import wanted_for
from webassay.core.errors import AgentError, InputError
from webassay.core.interaction import Action, Decision, Goal, Observation, ObservationPart
from webassay.core.record import Json

Err = Literal["any", "answer", "claim", "stop"]

ERRORS: Mapping[str, Mapping[str, Slip]] = {
    "retrieve": {"answer": slips.misreported, "claim": slips.withheld, "stop": slips.cut_short},
    "mutate": {"claim": slips.claimed, "stop": slips.cut_short},
    "navigate": {"claim": slips.wandered_off, "stop": slips.cut_short},
    "unachievable": {"claim": slips.feigned, "stop": slips.feigned},
}
"""What can go wrong in a task of each kind. Each of these fails whatever the task is."""


@dataclass(frozen=True)
class FlawedOptions:
    skill: float = 0.6
    """Share of the episodes without a mistake."""
    errors: Err = "any"
    """A wrong answer, a false claim of success, or an early stop; any: drawn for each. Where a task has no such
    mistake, another one is made; where its course gives no occasion for it, the answer is not given."""

    def __post_init__(self) -> None:
        if not 0 <= self.skill <= 1:
            raise InputError(f"A skill of {self.skill} is out of range.", hint="Give a share between 0 and 1.")


def _rng(*parts: object) -> random.Random:
    return random.Random(sha256(repr(parts).encode()).digest())


def errs(name: str, seed: int, skill: float) -> bool:
    """Whether this agent makes a mistake in this episode. The seed is another for every task and trial."""
    return _rng("errs", name, seed).random() >= skill


class Performer:
    """Plays a course, and says at every step what it does."""

    wants: Sequence[ObservationPart] = ("tree",)

    def __init__(self, name: str, course: Course) -> None:
        self.name = name
        self._course = course
        self._moves: Moves | None = None

    async def start(self, goal: Goal) -> None:
        self._moves = None
        self.wants = wanted_for(goal)

    async def decide(self, observation: Observation) -> Decision | str:
        try:
            if self._moves is None:
                self._moves = self._course(observation)
                move = next(self._moves)
            else:
                move = self._moves.send(observation)
        except StopIteration as done:
            return spoken(done.value)
        return thoughtful(move, observation)


def spoken(response: Json) -> Decision:
    return Decision.answer(json.dumps(response, ensure_ascii=False), thought="I know enough, and answer.")


def thoughtful(move: Move, page: Observation) -> Decision | str:
    """The move, with what an agent would think of it."""
    return move if not isinstance(move, Action) else Decision(actions=(move,), thought=_thought(move, page))


def _thought(action: Action, page: Observation) -> str:
    node = next((node for node in page.nodes if node.id and node.id == action.args.get("bid")), None)
    named = f"the {node.role} '{node.name}'" if node is not None else "it"
    said = {
        "click": f"I click {named}.",
        "fill": f"I write '{action.args.get('value')}' into {named}.",
        "select_option": f"I choose {action.args.get('options')} in {named}.",
        "goto": "I open another address.",
        "go_back": "I go back.",
        "scroll": "I look further down.",
    }
    return said.get(action.name, f"I use {action.name}.")


class Flawed(Performer):
    def __init__(self, request: AgentRequest) -> None:
        assert request.solution is not None  # `needs` says so
        super().__init__(request.name, request.solution)
        self._request = request
        self.settings: dict[str, Json] = {"skill": request.options.skill, "errors": request.options.errors}

    async def start(self, goal: Goal) -> None:
        await super().start(goal)
        request, options = self._request, self._request.options
        assert request.solution is not None
        self._course = request.solution
        if not errs(self.name, request.seed, options.skill):
            return
        rng = _rng("which", self.name, request.seed)
        known = ERRORS.get(request.kind, ERRORS["retrieve"])
        slip = known.get(options.errors) or known[rng.choice(sorted(known))]
        scene = Scene(rng, kind=request.kind)
        self._course = slips.or_stopped(scene, slip(request.solution, scene))

    async def decide(self, observation: Observation) -> Decision | str:
        if observation.last_error:
            raise AgentError(f"The reference solution's action failed: {observation.last_error}")
        return await super().decide(observation)


FLAWED = AgentFactory(
    "flawed",
    "The reference solution with a mistake in a known share of its episodes (arena tasks only).",
    Flawed,
    options=FlawedOptions,
    needs=("solution",),
)
