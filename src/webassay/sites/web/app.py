"""A site as an application over one world, and one request to it.

```python
WEB = WebSite("my_package.board", name="Corkboard", sessions=Sessions("corkboard"))

async def notices(visit: Visit) -> Response:
    return visit.render("notices.html", notices=visit.world.rows("SELECT * FROM notices ORDER BY id DESC"))

def make_app(world: World) -> ASGIApp:
    return WEB.app(world, [route("/", notices)])
```
"""

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import SplitResult, urlencode, urlsplit

import jinja2
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from webassay.sites.kit import Row, World
from webassay.sites.receipts import carrying, collected, finished, ours, ours_all, written
from webassay.sites.web.assets import Static, environment
from webassay.sites.web.dates import long_date
from webassay.sites.web.forms import FormFields
from webassay.sites.web.lists import WrongSetting, same_list
from webassay.sites.web.sessions import Sessions

LONGEST_BODY = 65536
MOST_FIELDS = 200
"""A page of a grid has up to 100 rows to tick."""

Handler = Callable[[Any], Awaitable[Response]]
"""Gets the site's own kind of `Visit`."""

_LONG_AGO = "Thu, 01 Jan 1970 00:00:00 GMT"
_STRANGER = "This form was sent from another site."
_REASONS = {
    400: "This address does not work",
    403: "Not allowed",
    404: "Page not found",
    405: "Not possible here",
    409: "That did not work",
    413: "Too much",
    422: "Please check your entries",
}
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"x-frame-options", b"SAMEORIGIN"),
    (
        b"content-security-policy",
        b"default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'self';"
        b" form-action 'self'",
    ),
)


class Visit:
    """What a page needs to know about its request. A site may extend it."""

    log_in_path = "/account/login"

    def __init__(self, request: Request) -> None:
        self.request = request
        self.web: WebSite = request.app.state.web
        self.world: World = request.app.state.world
        self.token = ""
        self.session: Row = {}
        self.user: Row | None = None
        self._new_cookie = False
        cookie = request.cookies.get(self.web.sessions.cookie, "")
        if found := self.web.sessions.find(self.world, cookie):
            self.token = cookie
            self.session = found
            self.user = self.web.sessions.user(self.world, found)

    # --- who ---

    @property
    def user_id(self) -> int:
        """For pages behind the log-in."""
        if self.user is None:
            raise HTTPException(401)
        return int(self.user["id"])

    def ensure_session(self) -> str:
        if not self.token:
            with self.world.write():
                self.token = self.web.sessions.start(self.world, None)
            self._new_cookie = True
        return self.token

    def switch_session(self, user_id: int | None) -> None:
        """A new token for every log-in, so that an old one is worthless. Call inside a write."""
        self.web.sessions.end(self.world, self.token)
        self.token = self.web.sessions.start(self.world, user_id)
        self._new_cookie = True

    def log_out(self, url: str) -> Response:
        with self.world.write():
            self.web.sessions.end(self.world, self.token)
        response = self.go(url)
        # Not `delete_cookie`, which would tell the page the real time.
        response.set_cookie(self.web.sessions.cookie, max_age=0, expires=_LONG_AGO, httponly=True, samesite="lax")
        return response

    # --- what was sent ---

    async def form(self) -> FormFields:
        return FormFields(await self.request.form(max_files=0, max_fields=MOST_FIELDS))

    @property
    def wants_json(self) -> bool:
        return "application/json" in self.request.headers.get("accept", "")

    # --- how it is answered ---

    def context(self) -> dict[str, Any]:
        """What every template of the site gets."""
        return {}

    def render(self, template: str, status: int = 200, **context: Any) -> Response:
        notice = self.session.pop("notice", "")
        if notice:
            with self.world.write():
                self.web.sessions.leave(self.world, self.token, "")
        values = {"visit": self, "user": self.user, "notice": notice, **self.context(), **context}
        body = finished(self.web.environment.get_template(template).render(values))
        return self.sign(HTMLResponse(body, status, {"cache-control": "private, no-cache"}))

    def go(self, url: str, notice: str = "") -> Response:
        """Redirects to the page that shows what a form has done."""
        if notice:
            token = self.ensure_session()
            with self.world.write():
                self.web.sessions.leave(self.world, token, notice)
        return self.sign(RedirectResponse(url, 303))

    def json(self, data: Mapping[str, Any], status: int = 200) -> Response:
        if (receipts := collected()) is not None:
            receipts.vouched = json.dumps(written(data))
        return self.sign(JSONResponse(data, status))

    def sign(self, response: Response) -> Response:
        if self._new_cookie:
            response.set_cookie(self.web.sessions.cookie, self.token, httponly=True, samesite="lax", path="/")
        return response

    def log_in_first(self) -> Response:
        request = self.request
        if request.method == "GET":
            back = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        else:
            came_from = _split(request.headers.get("referer", ""))
            back = (came_from.path if came_from else "") or "/"
        return self.go(f"{self.log_in_path}?{urlencode({'next': back})}", "Please log in to continue.")


@dataclass(frozen=True)
class WebSite:
    """What turns handlers and templates into an application. Shared by all worlds of the site."""

    package: str
    """Has the folders `templates`, with a `base.html` that extends `web/base.html`, and `static`."""
    name: str
    """As visitors know it."""
    sessions: Sessions
    visit: type[Visit] = Visit
    style: str = "site.css"
    script: str = ""
    names: Mapping[str, Any] = field(default_factory=dict)
    """For templates: values and functions."""
    filters: Mapping[str, Callable[..., Any]] = field(default_factory=dict)

    def app(self, world: World, routes: Iterable[Route]) -> ASGIApp:
        static = Route("/static/{digest}/{name}", _static_file, methods=["GET"])
        app = Starlette(routes=[*routes, static], exception_handlers={HTTPException: _error_page})
        app.state.web, app.state.world = self, world
        return _WithHeaders(app)

    @cached_property
    def static(self) -> Static:
        return Static(self.package, self.style)

    @cached_property
    def environment(self) -> jinja2.Environment:
        static_url = self.static.url
        assets = {"static_url": static_url, "style": self.style, "script": self.script}
        names = {name: carrying(one) if callable(one) else ours_all(one) for name, one in self.names.items()}
        env = environment(self.package, {**assets, **names, "site_name": ours(self.name)})
        env.filters.update({name: carrying(one) for name, one in {"long_date": long_date, **self.filters}.items()})
        return env


def route(path: str, handler: Handler, *methods: str, members_only: bool = False) -> Route:
    """GET unless other methods are named. `members_only` sends everybody else to the log-in."""

    async def answer(request: Request) -> Response:
        if request.method == "POST":
            _refuse_strangers(request)
        visit = request.app.state.web.visit(request)
        if members_only and visit.user is None:
            response: Response = visit.log_in_first()
            return response
        return await handler(visit)

    return Route(path, answer, methods=list(methods or ("GET",)))


def page(path: str, template: str) -> Route:
    """A page that is only a template."""

    async def show(visit: Visit) -> Response:
        return visit.render(template)

    return route(path, show)


def _refuse_strangers(request: Request) -> None:
    """Only this site's own forms may change anything. Browsers always say where a POST comes from."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise HTTPException(403, _STRANGER)
    origin = request.headers.get("origin")
    if origin is not None:
        sender = _split(origin)
        if sender is None or sender.netloc != request.headers.get("host"):
            raise HTTPException(403, _STRANGER)
    length = request.headers.get("content-length", "")
    if not re.fullmatch(r"[0-9]{1,9}", length) or int(length) > LONGEST_BODY:
        raise HTTPException(413, "That is more than this form can take.")


def _split(url: str) -> SplitResult | None:
    """None if it is not a URL: visitors can send any header they like."""
    try:
        return urlsplit(url)
    except ValueError:
        return None


async def _static_file(request: Request) -> Response:
    found = request.app.state.web.static.get(request.path_params["digest"], request.path_params["name"])
    if found is None:
        raise HTTPException(404)
    data, media_type = found
    return Response(data, media_type=media_type, headers={"cache-control": "public, max-age=31536000, immutable"})


async def _error_page(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    visit: Visit = request.app.state.web.visit(request)
    reason = ours(_REASONS.get(error.status_code, "Something went wrong"))
    # Without a message of ours, `detail` is the bare name of the status.
    custom = error.detail if " " in error.detail and error.detail != "Not Found" else ""
    if visit.wants_json:
        return visit.json({"error": custom or reason}, error.status_code)
    shown = {"reason": reason, "detail": custom, "code": error.status_code}
    return visit.render("web/error.html", error.status_code, **shown, **_other_settings(request.query_params, error))


def _other_settings(query: Mapping[str, str], error: HTTPException) -> dict[str, object]:
    """Where the same page is with a setting that is possible, and without any."""
    if not isinstance(error, WrongSetting):
        return {"choices": [], "without": ""}
    choices = [(value, same_list(query, **{error.name: value})) for value in error.known]
    return {"choices": choices, "without": same_list(query, **{error.name: None})}


class _WithHeaders:
    """Adds the headers that every response has."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (receipts := collected()) is not None:
            receipts.vouched = ""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_HEADERS]
            await send(message)

        await self._app(scope, receive, with_headers)
