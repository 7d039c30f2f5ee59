"""An environment: the package's pages, served on a port of their own for every episode."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self

from webassay.core.task import Task
from webassay.environments.base import EnvironmentFactory, EnvironmentRequest
from webassay.environments.open_web import OpenStage

PAGES = Path(__file__).parent / "pages"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *words: object) -> None:
        pass


class StaticPages:
    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *reason: object) -> None:
        return None

    @asynccontextmanager
    async def stage(self, task: Task) -> AsyncIterator[OpenStage]:
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(PAGES)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        host = f"127.0.0.1:{server.server_port}"
        try:
            yield OpenStage(allowed_hosts=frozenset({host}), bases=dict.fromkeys(task.sites, f"http://{host}"))
        finally:
            await asyncio.to_thread(server.shutdown)
            server.server_close()


def _make(request: EnvironmentRequest) -> StaticPages:
    return StaticPages()


STATIC_PAGES = EnvironmentFactory("static-pages", "The example package's own pages.", _make)
