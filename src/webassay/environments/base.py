"""The seam between an episode and the place where it is played."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self

from webassay.core.options import NO_OPTIONS, NoOptions
from webassay.core.task import Task
from webassay.core.trajectory import ProbeResult


class CookieLike(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def value(self) -> str: ...

    @property
    def host(self) -> str: ...


@dataclass(frozen=True)
class Cookie:
    name: str
    value: str
    host: str
    """Without the port: browsers keep cookies by host name alone."""


class Stage(Protocol):
    """One episode's hold on its sites: fresh, its own, and gone when the episode ends."""

    @property
    def bases(self) -> Mapping[str, str]:
        """Site to base URL, without a slash at the end."""

    @property
    def cookies(self) -> Sequence[Cookie]:
        """The log-ins that the task asks for, to put into the browser before the agent starts."""

    @property
    def allowed_hosts(self) -> frozenset[str]:
        """`host:port` of every site; requests elsewhere are to be blocked."""

    @property
    def now_ms(self) -> int | None:
        """What the page's `Date` is to start from; None: the real time."""

    async def probe(self, cookies: Sequence[CookieLike]) -> tuple[ProbeResult, ...]:
        """What can be learned about the sites now, given the browser's cookies. Raises `ProbeError`."""


class Environment(Protocol):
    def stage(self, task: Task) -> AbstractAsyncContextManager[Stage]: ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *reason: object) -> None: ...


@dataclass(frozen=True)
class EnvironmentRequest:
    """What an environment may be made from."""

    tasks: Sequence[Task] = ()
    sites: Mapping[str, str] = field(default_factory=dict)
    """Embedded sites: name to `module:attribute`."""
    cache: Path | None = None
    allowed_hosts: Sequence[str] = ()
    """Hosts that the user allows, in addition to those of the tasks."""
    port: int = 0
    options: Any = NO_OPTIONS


@dataclass(frozen=True)
class EnvironmentFactory:
    name: str
    summary: str
    make: Callable[[EnvironmentRequest], Environment]
    options: type = NoOptions
