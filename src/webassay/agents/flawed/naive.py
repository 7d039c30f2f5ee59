"""Agents that do not try. Whatever they score, the benchmark gives away.

Constants give the same answer to everything; heuristics copy from the goal; walkers touch the site without reading it.
Each answers in the protocol's form, so that it fails for what it says and not for how it says it.
"""

import json
from collections.abc import Callable, Mapping, Sequence

from webassay.agents.base import AgentFactory, AgentRequest
from webassay.core.interaction import (
    STATUSES,
    Action,
    Decision,
    Goal,
    Node,
    Observation,
    ObservationPart,
    ResponseProtocol,
)
from webassay.core.naive import GUESSES, as_text
from webassay.core.record import Json


def response(
    protocol: ResponseProtocol, results: list[Json] | None, status: str = "SUCCESS", action: str = "retrieve"
) -> str:
    """In the form that the goal asks for; without a form, as plain text."""
    fields = protocol.answer_schema.get("properties")
    if not fields:
        return "N/A" if status != "SUCCESS" else as_text(results or [])
    act, _, data, details = fields
    named = next((name for name in fields[act]["enum"] if name.lower() == action), action)
    answer: dict[str, Json] = {act: named, "status": status, data: results}
    if status != "SUCCESS":
        answer[details] = "It cannot be done."
    return json.dumps(answer)


class Constant:
    """Answers at once, from the goal's text or from nothing."""

    wants: Sequence[ObservationPart] = ()

    def __init__(self, name: str, answer: Callable[[Goal], str]) -> None:
        self.name = name
        self._answer = answer
        self._text = ""

    async def start(self, goal: Goal) -> None:
        self._text = self._answer(goal)

    async def decide(self, observation: Observation) -> Decision:
        return Decision.answer(self._text)


def _status(code: str) -> Callable[[Goal], str]:
    # The likeliest action for each code: a retrieval does not succeed without results.
    action = "mutate" if code == "SUCCESS" else "retrieve"
    return lambda goal: response(goal.protocol, None, code, action)


def _guess(guess: Callable[[str], list[Json]]) -> Callable[[Goal], str]:
    return lambda goal: response(goal.protocol, guess(goal.instruction))


CONSTANTS: dict[str, Callable[[Goal], str]] = {
    "naive-empty": lambda goal: "",
    **{f"naive-{name}": _guess(guess) for name, guess in GUESSES.items()},
    **{f"naive-status-{code.removesuffix('_ERROR').lower().replace('_', '-')}": _status(code) for code in STATUSES},
}


class _Walker:
    """Touches the site for some steps, then claims success."""

    wants: Sequence[ObservationPart] = ("tree",)
    action = "navigate"

    def __init__(self, name: str, seed: int = 0, steps: int = 6) -> None:
        self.name = name
        self.settings: dict[str, Json] = {"seed": seed, "steps": steps}
        self._seed = seed
        self._limit = steps
        self._taken = 0
        self._goal: Goal | None = None

    async def start(self, goal: Goal) -> None:
        self._goal = goal
        self._taken = 0

    async def decide(self, observation: Observation) -> Decision:
        action = self.next(observation) if self._taken < self._limit else None
        self._taken += 1
        if action is None:
            return Decision.answer(self.answer(observation))
        return Decision(actions=(action,))

    def next(self, observation: Observation) -> Action | None:
        raise AssertionError("each walker says where it goes")

    def answer(self, observation: Observation) -> str:
        return response(self._goal.protocol, None, action=self.action) if self._goal else ""

    def _pick(self, count: int) -> int:
        """Arbitrary but repeatable, and different at every step."""
        mixed = (self._seed * 0x9E3779B97F4A7C15 + self._taken * 0xBF58476D1CE4E5B9 + 0x94D049BB133111EB) % 2**64
        return (mixed ^ (mixed >> 31)) % count


CLICKABLE = {"link", "button", "checkbox", "radio", "menuitem", "tab", "option", "combobox"}


def _usable(observation: Observation, roles: set[str]) -> list[Node]:
    return [node for node in observation.nodes if node.id and node.role in roles]


class RandomClicker(_Walker):
    """Clicks whatever can be clicked, at random but repeatably."""

    action = "mutate"

    def next(self, observation: Observation) -> Action | None:
        targets = _usable(observation, CLICKABLE)
        return Action.of("click", targets[self._pick(len(targets))].id) if targets else None


class LinkFollower(_Walker):
    """Follows the links of each page in order, never the same one twice."""

    def __init__(self, name: str, seed: int = 0, steps: int = 6) -> None:
        super().__init__(name, seed, steps)
        self._followed: set[str] = set()

    async def start(self, goal: Goal) -> None:
        await super().start(goal)
        self._followed.clear()

    def next(self, observation: Observation) -> Action | None:
        for node in _usable(observation, {"link"}):
            if node.name not in self._followed:
                self._followed.add(node.name)
                return Action.of("click", node.id)
        return None


class FormFiller(_Walker):
    """Fills in every field it finds, then presses a button."""

    action = "mutate"

    def next(self, observation: Observation) -> Action | None:
        fields = [node for node in _usable(observation, {"textbox", "searchbox", "spinbutton"}) if not node.value]
        if fields:
            target = fields[0]
            return Action.of("fill", target.id, "1" if target.role == "spinbutton" else "test")
        buttons = _usable(observation, {"button"})
        return Action.of("click", buttons[self._pick(len(buttons))].id) if buttons else None


class FixedPath(_Walker):
    """Opens the same addresses on any site."""

    PATHS = ("/", "/search?q=best", "/account", "/account/orders", "/cart", "/contact")

    def next(self, observation: Observation) -> Action | None:
        if self._goal is None or not self._goal.start_urls:
            return None
        scheme, _, rest = self._goal.start_urls[0].partition("://")
        return Action.of("goto", f"{scheme}://{rest.split('/')[0]}{self.PATHS[self._taken % len(self.PATHS)]}")


class ScreenshotOnly(_Walker):
    """Looks at the first page and claims to have seen it all."""

    wants: Sequence[ObservationPart] = ("screenshot",)
    action = "retrieve"

    def next(self, observation: Observation) -> Action | None:
        return None

    def answer(self, observation: Observation) -> str:
        return response(self._goal.protocol, [observation.title]) if self._goal else ""


WALKERS: dict[str, type[_Walker]] = {
    "naive-random-clicker": RandomClicker,
    "naive-link-follower": LinkFollower,
    "naive-form-filler": FormFiller,
    "naive-fixed-path": FixedPath,
    "naive-screenshot": ScreenshotOnly,
}

_SUMMARIES: Mapping[str, str] = {
    "naive-empty": "Answers with nothing at all.",
    "naive-na": "Answers N/A to everything.",
    "naive-yes": "Answers Yes to everything.",
    "naive-no": "Answers No to everything.",
    "naive-yes-no": "Answers Yes to questions that can be answered so, No to everything else.",
    "naive-zero": "Answers 0 to everything.",
    "naive-random": "Answers with a word of the task's text or a number, at random but repeatably.",
    "naive-echo": "Answers with the task's own text.",
    "naive-numbers": "Answers with the numbers in the task's text.",
    **{name: f"Claims {name.removeprefix('naive-status-')} at once." for name in CONSTANTS if "-status-" in name},
    **{name: str(walker.__doc__) for name, walker in WALKERS.items()},
}


def _naive(name: str) -> AgentFactory:
    def make(request: AgentRequest) -> Constant | _Walker:
        return Constant(name, CONSTANTS[name]) if name in CONSTANTS else WALKERS[name](name, request.seed)

    return AgentFactory(name, _SUMMARIES[name], make, family="naive", baseline=True)


NAIVE_AGENTS = tuple(map(_naive, (*CONSTANTS, *WALKERS)))
