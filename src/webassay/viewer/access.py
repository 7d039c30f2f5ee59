"""Who gets in: whoever has the token, from a browser that asked for this very place.

Agents' cells reach loopback, and the pages show keys. So nothing is answered without the token, not even a style
sheet. It is made when the viewer starts, printed in its address, and kept nowhere else; a browser that brings it gets
it as a cookie. The name in the address is made up as well: a cookie is sent to every port of its host, and another
program's port on this machine must not get this one.
"""

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN = "token"
LONGEST_FORM = 1_000_000
"""Bytes of a request's body."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS: Mapping[str, str] = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    # Not `no-referrer`: with that, a browser does not say which page its own forms come from either.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}


def made_up_name() -> str:
    """Browsers find every name under `localhost` on this machine."""
    return f"view-{secrets.token_hex(5)}.localhost"


@dataclass(frozen=True)
class Access:
    """What a visitor has to know."""

    names: frozenset[str]
    """Hosts that a browser may have asked for."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    cookie: str = field(default_factory=lambda: f"webassay-{secrets.token_hex(4)}")

    def fits(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), self.token.encode())

    def is_named(self, host: str) -> bool:
        """Whatever the port is: it may have been forwarded."""
        name, colon, port = host.rpartition(":")
        if not colon or not port.isdigit():
            name = host
        return name.lower() in self.names


class Gate:
    """Stands before every page. Without the token: 401. With it, but for another host or from another page: 403."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._checked(scope, receive, _with_headers(send))
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _checked(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, query = (
            Headers(scope=scope),
            parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True),
        )
        reads = scope["method"] in ("GET", "HEAD")
        in_address = next((value for name, value in query if name == TOKEN), "") if reads else ""
        by_cookie = self._access.fits(_cookie(headers, self._access.cookie))
        answer: ASGIApp | None = None
        if not (self._access.fits(in_address) or by_cookie):
            answer = _page(401, "This is not open to everybody", "Use the address that `webassay view` printed.")
        elif reason := self._refused(headers, reads):
            answer = _page(403, "Refused", reason)
        elif int(headers.get("content-length") or 0) > LONGEST_FORM or "transfer-encoding" in headers:
            answer = _page(413, "Too long", "Nothing here takes that much.")
        elif in_address:
            rest = urlencode([(name, value) for name, value in query if name != TOKEN])
            answer = self._let_in(scope["path"], rest)
        await (answer or self._app)(scope, receive, send)

    def _refused(self, headers: Headers, reads: bool) -> str:
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self._access.is_named(host):
            return "The request is for another host."
        if origin is not None and origin.lower() != f"http://{host.lower()}":
            return "The request comes from another page."
        if not reads and origin is None:
            return "The request does not say which page it comes from."
        return ""

    def _let_in(self, path: str, query: str) -> Response:
        # Two slashes would be the name of another host.
        place = "/" + path.lstrip("/\\")
        response = RedirectResponse(f"{place}?{query}" if query else place, 303)
        response.set_cookie(self._access.cookie, self._access.token, httponly=True, samesite="lax", path="/")
        return response


def _cookie(headers: Headers, name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return "" if found is None else found.value


def _page(status: int, title: str, said: str) -> Response:
    return HTMLResponse(f'<!doctype html><html lang="en"><title>{title}</title><h1>{title}</h1><p>{said}</p>', status)


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return sending
