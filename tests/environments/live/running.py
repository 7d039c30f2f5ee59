"""Stand-ins that run: each on a port of its own, with a control endpoint beside it, in a thread of this process."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from tests.environments.live.standin import GITLAB, REDDIT, SHOPPING
from webassay.sites.kit import Site, World, snapshot


@dataclass
class StandIn:
    site: Site
    host: str = "127.0.0.1"
    mode: str = "well"
    """`dead`: answers with 503; `slow`: takes for ever; `elsewhere`: believes to be at another address."""
    control_mode: str = "well"
    """`refuses`, `never ready`, `half`: says that it is done, and has done nothing; `kills`: the site is dead then."""
    resets: int = 0
    requests: list[tuple[str, str, str]] = field(default_factory=list)
    """Method, path and session cookie of everything that was asked."""
    port: int = 0
    control_port: int = 0
    world: World = field(init=False)

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    @property
    def control(self) -> str:
        return f"http://127.0.0.1:{self.control_port}"

    def put_back(self) -> None:
        self.world = World(self.site, 0, snapshot(self.site, 0, None))
        self._app = self.site.make_app(self.world)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.mode == "slow":
            await asyncio.sleep(20)
        if self.mode == "dead":
            await PlainTextResponse("no workers", 503)(scope, receive, send)
            return
        if self.mode == "elsewhere":
            await RedirectResponse("http://metis.example:7770/", 302)(scope, receive, send)
            return
        request = Request(scope)
        self.requests.append((request.method, request.url.path, str(dict(request.cookies))))
        await self._app(scope, receive, send)

    def control_app(self) -> Starlette:
        async def init(request: Request) -> Response:
            self.resets += 1
            if self.control_mode == "refuses":
                return JSONResponse({"success": False, "message": "no disk", "details": {}}, 500)
            if self.control_mode == "kills":
                self.mode = "dead"
            if self.control_mode != "half":
                self.put_back()
            return JSONResponse({"success": True, "message": "", "details": {}})

        async def status(request: Request) -> Response:
            return JSONResponse({"success": self.control_mode != "never ready", "message": "warming up", "details": {}})

        async def full_reset(request: Request) -> Response:
            self.resets += 1
            self.put_back()
            return PlainTextResponse("Reset initiated")

        async def ready(request: Request) -> Response:
            return PlainTextResponse("Ready for duty!")

        return Starlette(
            routes=[
                Route("/init", init, methods=["POST"]),
                Route("/status", status),
                Route("/full/reset", full_reset),
                Route("/full/status", ready),
            ]
        )


@contextlib.contextmanager
def running(*stand_ins: StandIn) -> Iterator[None]:
    servers: list[tuple[uvicorn.Server, socket.socket]] = []

    def listening(app: Any) -> int:
        mine = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(app, log_level="error", lifespan="off", timeout_graceful_shutdown=1)
        servers.append((uvicorn.Server(config), mine))
        return int(mine.getsockname()[1])

    for one in stand_ins:
        one.port, one.control_port = listening(one), listening(one.control_app())

    async def serve() -> None:
        for one in stand_ins:
            one.put_back()
        await asyncio.gather(*(server.serve([mine]) for server, mine in servers))

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    try:
        yield
    finally:
        for server, _ in servers:
            server.should_exit = True
        thread.join(10)
        for _, mine in servers:
            mine.close()


def all_of_them() -> dict[str, StandIn]:
    """Those that a task may need together have different host names, as some call their cookies the same."""
    return {
        "shopping": StandIn(SHOPPING),
        "shopping_admin": StandIn(SHOPPING, "localhost"),
        "reddit": StandIn(REDDIT, "localhost"),
        "gitlab": StandIn(GITLAB),
    }


def variables(sites: dict[str, StandIn], prefix: str = "WA_", *, control: bool = True) -> dict[str, str]:
    found = {}
    for name, one in sites.items():
        found[f"{prefix}{name.upper()}"] = one.url + ("/admin" if name == "shopping_admin" else "")
        if control:
            found[f"{prefix}{name.upper()}_CONTROL"] = one.control
    return found
