"""The one seam between webassay and an agent, and how agents are made.

An agent is any object with these attributes and methods; there is no class to inherit from. It sees goals and
observations and returns decisions. It needs `core.interaction`, and may use `core.errors`, `core.options`,
`core.record`, `core.text` and `llm.client`. Built-in and installed agents run in our process and are trusted; agent
files run in one of their own (`child.py`), where what grades them cannot be reached.

An `AgentFactory` makes a fresh agent for each episode and says what it needs for that.
"""

import asyncio
import difflib
import inspect
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar, get_args, runtime_checkable

from webassay.core.errors import ActionError, AgentError, InputError, boundary
from webassay.core.interaction import (
    ACTIONS,
    Action,
    Decision,
    Goal,
    Observation,
    ObservationPart,
    Walk,
    parse_actions,
)
from webassay.core.options import NoOptions
from webassay.llm.client import PROVIDERS_CHOICE, Model, Settings

T = TypeVar("T")

STOP_SECONDS = 30.0
"""An agent that takes longer to stop is left alone."""


@runtime_checkable
class Agent(Protocol):
    """May also have `settings`, `model` and `prompts` (file name to hash), which are recorded with its trajectories,
    and `async stop()`, called after the episode."""

    name: str
    wants: Sequence[ObservationPart]
    """The parts of the page it looks at; nothing else is computed."""

    async def start(self, goal: Goal) -> None:
        """A new episode: forget the last one."""
        ...

    async def decide(self, observation: Observation) -> Decision | str:
        """What to do next; text is parsed as actions, such as `click('12')`."""
        ...


@dataclass(frozen=True, slots=True)
class DevToolsEndpoint:
    """How an outside program reaches the browser."""

    endpoint: str
    """The browser's DevTools, such as `http://127.0.0.1:40123`."""
    page: str
    """WebSocket of the tab in front, such as `ws://127.0.0.1:40123/devtools/page/ID`."""
    admit: Callable[[int], None] = field(default=lambda pid: None, compare=False)
    """From now on only this process and those that it started are let in."""


@runtime_checkable
class BrowserDriver(Protocol):
    """An agent that moves the browser itself instead of deciding step by step. If it has `guarded = True`, nobody is
    let in before it has called `door.admit`."""

    name: str
    wants: Sequence[ObservationPart]

    async def start(self, goal: Goal) -> None: ...

    async def drive(self, door: DevToolsEndpoint) -> str:
        """Returns the answer when it is done."""
        ...


# --- calling agents ---------------------------------------------------------------------------------------
#
# Whatever an agent's code does (raise, exit, cancel itself, return garbage) is an `AgentError` of its own episode.


async def without_exit(ask: Callable[[], Awaitable[T]], name: str) -> T:
    """Where `wait_for` runs it in a task of its own, a SystemExit would end the process, whoever catches it later."""
    try:
        answer: Any = ask()  # Somebody else's code, whatever it promises.
        if not inspect.isawaitable(answer):
            called = getattr(getattr(ask, "func", ask), "__name__", "a method")
            raise AgentError(f"{called} of {name} is not a coroutine.", hint=f"Write `async def {called}`.")
        made: T = await answer
        return made
    except SystemExit as error:
        raise AgentError(f"{name} tried to end the process.") from error


@contextmanager
def own_cancellation(name: str) -> Iterator[None]:
    """An agent that raises CancelledError has crashed. Only a cancellation from outside may pass as one."""
    try:
        yield
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise AgentError(f"{name} raised CancelledError.") from None


async def prepare(agent: Agent | BrowserDriver) -> None:
    """What has to be there before the agent's own time runs, such as its process."""
    begin = getattr(agent, "prepare", None)
    if begin is not None:
        with boundary(AgentError, f"{agent.name} could not be prepared"), own_cancellation(agent.name):
            await begin()


async def stop(agent: Agent | BrowserDriver) -> None:
    end = getattr(agent, "stop", None)
    if end is not None:
        with boundary(AgentError, f"{agent.name} could not stop"), own_cancellation(agent.name):
            await asyncio.wait_for(without_exit(end, agent.name), STOP_SECONDS)


def checked_decision(decision: object, name: str) -> Decision | str:
    if isinstance(decision, str) or (
        isinstance(decision, Decision)
        and all(isinstance(action, Action) and action.name in ACTIONS for action in decision.actions)
    ):
        return decision
    raise AgentError(
        f"{name} decided on a {type(decision).__name__}.",
        hint="Return a Decision with Actions, or text such as click('12').",
    )


def last_word(driving: "asyncio.Future[str]", name: str) -> Action:
    """What a driver returns is its answer, unless it is the one call that says that there is none."""
    with boundary(AgentError, f"{name} could not drive"):
        if driving.cancelled():
            raise AgentError(f"{name} raised CancelledError.")
        text = str(driving.result())
    if not text.strip().startswith("report_infeasible("):
        return Action.of("send_msg_to_user", text)
    try:
        actions = parse_actions(text)
    except ActionError as error:
        raise AgentError(f"{name} printed a refusal that cannot be read: {error}") from error
    if len(actions) != 1:
        raise AgentError(f"{name} printed a refusal and more.", hint="Print report_infeasible(…) and nothing else.")
    return actions[0]


# --- making agents ----------------------------------------------------------------------------------------

AskPerson = Callable[[str], Awaitable[str]]
"""Shows a text and waits for a line of answer; the command line passes its terminal in."""

Solution = Callable[[Observation], Walk]
"""The reference solution of one task, starting from its first page."""

Need = Literal["model", "person", "solution"]


@dataclass(frozen=True)
class AgentRequest:
    """What an agent may be made from."""

    name: str
    """The whole spec, as reports show it: `generic[memory=table]`."""
    options: Any = field(default_factory=NoOptions)
    """An instance of the factory's `options`."""
    seed: int = 0
    model: Model | None = None
    settings: Settings = PROVIDERS_CHOICE
    """Passed to the model with every question."""
    ask: AskPerson | None = None
    solution: Solution | None = None
    """For agents that are made of it, such as the oracle."""
    kind: str = ""
    """The task's: retrieve, navigate, mutate, unachievable. Only agents that get the solution know it."""


@dataclass(frozen=True)
class AgentFactory:
    name: str
    summary: str
    make: Callable[[AgentRequest], Agent | BrowserDriver]
    """A fresh agent for one episode."""
    options: type = NoOptions
    """A frozen dataclass with defaults: the settings of `name[key=value]`."""
    needs: tuple[Need, ...] = ()
    family: str = ""
    """A name that stands for several agents at once, such as `naive`."""
    baseline: bool = False
    """It does not try: what it scores is given away by the benchmark, not earned."""


_MISSING: dict[Need, tuple[str, str]] = {
    "model": ("a model", "Give one: --model openai:NAME, or --model openai:NAME@URL."),
    "person": ("a person at a terminal", "Run it in a terminal, with --headed."),
    "solution": ("tasks with a reference solution", "The arena's tasks have one."),
}


def check_needs(factory: AgentFactory, name: str, available: Collection[Need]) -> None:
    """Refuses an agent that cannot be made, before anything is planned."""
    for need in factory.needs:
        if need not in available:
            missing, hint = _MISSING[need]
            raise InputError(f"{name} needs {missing}.", hint=hint)


def make_agent(factory: AgentFactory, request: AgentRequest) -> Agent | BrowserDriver:
    """The agent, checked: what its own code raises is an `AgentError`, and what is not an agent is refused."""
    given: dict[Need, object] = {"model": request.model, "person": request.ask, "solution": request.solution}
    check_needs(factory, request.name, [need for need, value in given.items() if value is not None])
    with boundary(AgentError, f"{request.name} could not be made"):
        agent = factory.make(request)
    if not isinstance(agent, Agent | BrowserDriver):
        raise InputError(f"{request.name} is not an agent.", hint=_FORM)
    with boundary(AgentError, f"{request.name} cannot be described"):
        wrong = wrong_wants(agent.wants)
    if wrong:
        raise AgentError(f"{request.name} cannot be played: {wrong}")
    return agent


PARTS = get_args(ObservationPart)


def wrong_wants(wants: object) -> str:
    """What is wrong with the parts of the page that an agent wants; empty: nothing."""
    if isinstance(wants, str) or not isinstance(wants, Collection):
        example = wants if wants in PARTS else "tree"
        return f"`wants` is {wants!r}, not a tuple: write wants = ({example!r},)"
    unknown = next((part for part in wants if part not in PARTS), None)
    if unknown is None:
        return ""
    close = difflib.get_close_matches(str(unknown), PARTS, n=1, cutoff=0.4)
    meant = f" Did you mean {close[0]!r}?" if close else ""
    return f"`wants` names {unknown!r}, which is no part of a page.{meant} There are {', '.join(PARTS)}."


MAX_NAME = 100
_FORM = "It needs `name`, `wants`, `start(goal)` and either `decide(observation)` or `drive(door)`."


def as_factory(thing: Any, name: str) -> AgentFactory:
    """A plain agent class, or a function without arguments that returns an agent, as a factory. Its name is the
    agent's own; `name` is what the user typed."""
    if isinstance(thing, AgentFactory):
        return thing
    if not callable(thing):
        raise InputError(
            f"{name} is an object, not a class or a function.",
            hint="Every episode needs a fresh agent: name its class, or a function that returns one.",
        )
    if isinstance(thing, type) and not (
        hasattr(thing, "start") and (hasattr(thing, "decide") or hasattr(thing, "drive"))
    ):
        raise InputError(f"{name} is not an agent.", hint=_FORM)
    wants = getattr(thing, "wants", ())
    if isinstance(wants, Collection) and (wrong := wrong_wants(wants)):  # Else each agent decides for itself.
        raise InputError(f"{name} cannot be played: {wrong}")
    try:
        inspect.signature(thing).bind()
    except TypeError as error:
        raise InputError(f"{name} cannot be made without arguments: {error}.") from None
    except ValueError:
        pass  # written in C: it cannot be inspected, so it is tried
    summary = (inspect.getdoc(thing) or "").partition("\n")[0]
    return AgentFactory(_own_name(thing) or name, summary or "Your own agent.", lambda request: thing())


def _own_name(thing: Callable[[], Any]) -> str:
    """The name of the class, or of an agent made only to read it; empty if it has none."""
    name = getattr(thing, "name", None)
    if not isinstance(name, str):
        try:
            with boundary(AgentError, "It could not be made"):
                name = getattr(thing(), "name", None)
        except AgentError:
            return ""  # Every episode will say why.
    return " ".join(name.split())[:MAX_NAME] if isinstance(name, str) else ""
