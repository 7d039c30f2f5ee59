"""Requests as they stand in front of a site, and answers that the server gives by itself."""

from contextlib import suppress
from urllib.parse import quote, urlsplit

from starlette.types import Message, Scope


def opens_page(scope: Scope) -> bool:
    """Browsers say what they want it for; whoever does not say so gets what a page gets."""
    return all(value == b"document" for name, value in scope["headers"] if name == b"sec-fetch-dest")


def without_cookies(scope: Scope) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, value in scope["headers"] if name != b"cookie"]


def sized(scope: Scope, body: bytes) -> Scope:
    """What an obstacle has taken out of the body is no longer part of its length."""
    length = str(len(body)).encode()
    headers = [(name, length if name == b"content-length" else value) for name, value in scope["headers"]]
    return {**scope, "headers": headers}


def came_from(scope: Scope) -> str:
    """The path of the page that a form was sent from."""
    referer = next((value for name, value in scope["headers"] if name == b"referer"), b"").decode("latin-1")
    with suppress(ValueError):
        parts = urlsplit(referer)
        # A second slash would make it the address of another host.
        path = "/" + quote(parts.path.lstrip("/"), safe="/%")
        return f"{path}?{quote(parts.query, safe=_QUERY)}" if parts.query else path
    return "/"


_QUERY = "=&%+-._~:,"


def response(
    status: int, body: str, *headers: tuple[str, str], content_type: str = "text/plain; charset=utf-8"
) -> list[Message]:
    data = body.encode()
    every = (
        ("content-type", content_type),
        ("content-length", str(len(data))),
        ("cache-control", "no-store"),
        *headers,
    )
    return [
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(name.encode("ascii"), value.encode("latin-1")) for name, value in every],
        },
        {"type": "http.response.body", "body": data},
    ]
