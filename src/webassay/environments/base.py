"""What an episode needs from the place it is played in."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self, runtime_checkable

from webassay.core.errors import ProbeError, boundary
from webassay.core.interaction import Cookie
from webassay.core.legacy import CALL, LAST, page_of
from webassay.core.options import NO_OPTIONS, NoOptions
from webassay.core.task import LocatorProbe, Task
from webassay.core.text import capped
from webassay.core.trajectory import LocatorResult, ProbeResult, WritableBlobs


class Stage(Protocol):
    """The sites of one episode: fresh, private, and gone when the episode ends."""

    @property
    def bases(self) -> Mapping[str, str]:
        """Site to base URL, without a trailing slash."""

    @property
    def cookies(self) -> Sequence[Cookie]:
        """The task's log-ins, to set in the browser before the agent starts."""

    @property
    def allowed_hosts(self) -> frozenset[str]:
        """`host:port` of every site; requests to other hosts must be blocked."""

    @property
    def now_ms(self) -> int | None:
        """Where the page's `Date` starts; None: the real time."""

    async def hand_over(self) -> None:
        """The start pages are open; what is asked of the sites from now on is the agent's doing."""

    async def probe(self, cookies: Sequence[Cookie], blobs: WritableBlobs) -> tuple[ProbeResult, ...]:
        """What can be learned about the sites now, given the browser's cookies. Raises `ProbeError`."""


@runtime_checkable
class Watchful(Protocol):
    """A stage that can tell who asks its sites for something."""

    async def expect(self, browser: int) -> None:
        """The process of the episode's browser: whoever else comes is a stranger."""


@runtime_checkable
class Following(Protocol):
    """A stage that notes at which step its sites were written to."""

    async def at_step(self, index: int) -> None:
        """What is asked of the sites from now on is asked by this step."""


Visit = Callable[[str, frozenset[str], int | None], AbstractAsyncContextManager[None]]
"""Opens a page in a session that nobody plays in, and keeps it open: its address, the hosts it may reach, its clock."""


@runtime_checkable
class Seeded(Protocol):
    """A stage whose site gets its data from the first page that is opened on it."""

    async def seed(self, visit: Visit) -> None:
        """Before the agent's own session opens anything."""


@runtime_checkable
class Helpful(Protocol):
    """A stage that can carry out the helper functions that published tasks name: see `core.legacy`."""

    async def help(self, call: str) -> str:
        """What a call such as `shopping_get_latest_order_url()` returns now. Raises `ProbeError`."""


@runtime_checkable
class Reachable(Protocol):
    """An environment that can be asked, before anything is planned, whether its sites are there."""

    async def look(self) -> None:
        """Raises `InputError` where one is not."""


class Environment(Protocol):
    def stage(self, task: Task) -> AbstractAsyncContextManager[Stage]: ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *reason: object) -> None: ...


async def located(
    probe: LocatorProbe, in_front: str, stage: Stage, read: Callable[[str, str], Awaitable[str]]
) -> LocatorResult | None:
    """What a probe finds; `read` runs a script on a page, or without an address on the one in front. None: only the
    site's own API knows, and nobody here can ask it. What is not recorded stays unscored."""
    url = page_of(probe, in_front)
    if url is None:
        if not isinstance(stage, Helpful):
            return None
        if probe.script.startswith(CALL):
            return LocatorResult(name=probe.name, url=probe.url, text=capped(await stage.help(probe.script)))
        url = await stage.help(probe.url)
    for site, base in stage.bases.items():
        url = url.replace(f"__{site.upper()}__", base)
    with boundary(ProbeError, f"Probe {probe.name} could not look at {url}"):
        # What was typed and not sent is only in the page itself.
        text = await read("" if probe.url == LAST else url, probe.script)
    return LocatorResult(name=probe.name, url=url, text=capped(text))


@dataclass(frozen=True)
class EnvironmentRequest:
    """What an environment may be made from."""

    tasks: Sequence[Task] = ()
    sites: Mapping[str, str] = field(default_factory=dict)
    """Those sites of the tasks that are embedded: name to `module:attribute`."""
    cache: Path | None = None
    allowed_hosts: Sequence[str] = ()
    """Hosts that the user allows, in addition to those of the tasks."""
    port: int = 0
    place: str = ""
    """The folder that the benchmark was named with: `infinity:FOLDER`."""
    tell: Callable[[str], None] = lambda said: None
    """For what the user should know before anything is played."""
    options: Any = NO_OPTIONS


@dataclass(frozen=True)
class EnvironmentFactory:
    name: str
    summary: str
    make: Callable[[EnvironmentRequest], Environment]
    options: type = NoOptions
