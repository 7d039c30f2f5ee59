"""The viewer on a port of this machine, until it is stopped."""

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import uvicorn

from webassay.core.errors import InputError
from webassay.viewer.access import TOKEN, Access, made_up_name
from webassay.viewer.app import make_app

if TYPE_CHECKING:
    from webassay.workbench import Shelf

LOOPBACK = "127.0.0.1"


async def serve(
    shelf: "Shelf", *, host: str = "", port: int = 0, ready: Callable[[str], None], path: str = "/"
) -> None:
    """`host`: where it listens; by default this machine alone, under a name that nobody can guess. `port` 0: a free
    one. `ready` hears the address with its token."""
    name = host or made_up_name()
    access = Access(frozenset({f"[{name}]" if ":" in name else name.lower(), *_own_names(host)}))
    place = listen(host or LOOPBACK, port)
    bound = place.getsockname()[1]
    config = uvicorn.Config(
        make_app(shelf, access), log_config=None, access_log=False, server_header=False, lifespan="off",
        ws="none", timeout_graceful_shutdown=2, h11_max_incomplete_event_size=64_000,
    )  # fmt: skip
    server = _Server(config)
    shown = socket.gethostname().lower() if _is_everywhere(host) else name
    ready(f"http://{f'[{shown}]' if ':' in shown else shown}:{bound}{path}?{TOKEN}={access.token}")
    serving = asyncio.create_task(server.serve(sockets=[place]))
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        server.should_exit = True
        await serving
        raise
    finally:
        place.close()
        await asyncio.to_thread(shelf.close)


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Left to whoever runs the loop: Ctrl-C cancels it."""
        yield


def listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    place = socket.socket(family, socket.SOCK_STREAM)
    try:
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        place.bind((host, port))
    except OSError as error:
        place.close()
        hint = "Choose another --port, or leave it out for a free one." if port else "Leave out --host."
        raise InputError(f"Nothing can listen on {host}:{port}: {error.strerror or error}.", hint=hint) from None
    return place


def is_loopback(host: str) -> bool:
    try:
        return not host or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _is_everywhere(host: str) -> bool:
    return host in ("0.0.0.0", "::")


def _own_names(host: str) -> set[str]:
    """How a browser on another machine may call this one."""
    if not _is_everywhere(host):
        return set()
    own = {socket.gethostname().lower(), socket.getfqdn().lower()}
    with contextlib.suppress(OSError):
        own |= {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None)}
    return own
