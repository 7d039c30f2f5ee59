"""Sites that are not ours: nothing to reset or inspect, only the hosts that the user allows."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import urlsplit

from webassay.core.interaction import Cookie
from webassay.core.task import Task
from webassay.core.trajectory import ProbeResult, WritableBlobs
from webassay.environments.base import EnvironmentFactory, EnvironmentRequest


@dataclass(frozen=True)
class OpenStage:
    allowed_hosts: frozenset[str]
    bases: Mapping[str, str] = field(default_factory=dict)
    cookies: Sequence[Cookie] = ()
    now_ms: int | None = None

    async def hand_over(self) -> None:
        return None

    async def probe(self, cookies: Sequence[Cookie], blobs: WritableBlobs) -> tuple[ProbeResult, ...]:
        return ()


class OpenWeb:
    def __init__(self, allowed_hosts: Collection[str] = ()) -> None:
        """`allowed_hosts`: in addition to the hosts of a task's start pages; may contain `*.example.org` and `*`."""
        self._allowed = frozenset(allowed_hosts)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *reason: object) -> None:
        return None

    @asynccontextmanager
    async def stage(self, task: Task) -> AsyncIterator[OpenStage]:
        own = {urlsplit(url).netloc for url in task.goal.start_urls}
        yield OpenStage(allowed_hosts=self._allowed | own)


def _make(request: EnvironmentRequest) -> OpenWeb:
    return OpenWeb(request.allowed_hosts)


OPEN_WEB = EnvironmentFactory("open-web", "Sites on the web, as they are: nothing is reset, nothing is probed.", _make)
