"""The one seam between webassay and an agent.

An agent is any object with these attributes and methods; there is no class to inherit from. It sees goals and
observations and returns decisions. It runs in our process but may only import `core.interaction`, `core.errors`
and `llm.client`: what grades it is out of its reach.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from webassay.core.interaction import Decision, Goal, Observation, ObservationPart
from webassay.core.record import Json


@runtime_checkable
class Agent(Protocol):
    name: str
    wants: Sequence[ObservationPart]
    """The parts of the page that it looks at; nothing else is computed."""

    async def start(self, goal: Goal) -> None:
        """A new episode: forget the last one."""
        ...

    async def decide(self, observation: Observation) -> Decision | str:
        """What to do next; a text is read as actions, such as `click('12')`."""
        ...


class Described(Protocol):
    """What an agent may add, to be recorded with everything that it does."""

    settings: Mapping[str, Json]
    model: str
    prompts: Mapping[str, str]
    """Prompt file to content hash."""


class Closing(Protocol):
    """An agent that holds something open (a process, a connection)."""

    async def stop(self) -> None: ...


@dataclass(frozen=True, slots=True)
class DevToolsEndpoint:
    """Where a program from outside gets hold of the browser."""

    endpoint: str
    """Of the DevTools, such as `http://127.0.0.1:40123`."""
    page: str
    """WebSocket of the tab in front, such as `ws://127.0.0.1:40123/devtools/page/ID`."""


@runtime_checkable
class BrowserDriver(Protocol):
    """An agent that moves the browser itself instead of deciding step by step."""

    name: str
    wants: Sequence[ObservationPart]

    async def start(self, goal: Goal) -> None: ...

    async def drive(self, door: DevToolsEndpoint) -> str:
        """Until it is done; the answer."""
        ...
