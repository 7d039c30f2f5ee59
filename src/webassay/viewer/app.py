"""The pages as one application behind its gate."""

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from webassay.core.errors import InputError, WebassayError
from webassay.viewer.access import Access, Gate
from webassay.viewer.page import PAGES, Page, PageVisit
from webassay.viewer.rendering import static_files

if TYPE_CHECKING:
    from webassay.workbench import Shelf

log = logging.getLogger("webassay.viewer")


def make_app(shelf: "Shelf", access: Access) -> ASGIApp:
    routes = [Route(page.path, _endpoint(page, shelf), methods=[page.method]) for page in PAGES]
    routes.append(Route("/static/{name}", _static, methods=["GET"]))
    routes.append(Route("/favicon.ico", lambda request: Response(status_code=204), methods=["GET"]))
    handlers = {HTTPException: partial(_missing, shelf), WebassayError: partial(_trouble, shelf)}
    return Gate(Starlette(routes=routes, exception_handlers=handlers), access)


def _endpoint(page: Page, shelf: "Shelf") -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        form: dict[str, str] = {}
        if page.method == "POST":
            async with request.form(max_files=0, max_fields=200) as sent:
                form = {name: value for name, value in sent.items() if isinstance(value, str)}
        return await run_in_threadpool(page.show, PageVisit(request, shelf, form))

    return answer


async def _static(request: Request) -> Response:
    found = static_files().get(request.path_params["name"])
    if found is None:
        raise HTTPException(404, "There is no such file.")
    content, kind = found
    return Response(content, media_type=kind)


async def _missing(shelf: "Shelf", request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    said = error.detail if error.status_code != 404 or error.detail != "Not Found" else "There is no such page."
    return _told(shelf, request, error.status_code, said, "")


async def _trouble(shelf: "Shelf", request: Request, error: Exception) -> Response:
    assert isinstance(error, WebassayError)
    return _told(shelf, request, 400 if isinstance(error, InputError) else 500, error.message, error.hint)


def _told(shelf: "Shelf", request: Request, status: int, said: str, hint: str) -> Response:
    titles = {404: "Not found", 405: "Not that way", 400: "That does not work"}
    title = titles.get(status, "Something went wrong")
    return PageVisit(request, shelf).page("trouble.html", title, status=status, said=said, hint=hint)
