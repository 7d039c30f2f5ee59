"""Visiting a site without a browser, as a person would: cookies are kept, redirects followed, forms filled in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlencode, urljoin, urlsplit

from webassay.core.errors import SiteError
from webassay.core.interaction import Cookie
from webassay.environments.asking import HttpAnswer, ask

MOST_REDIRECTS = 10


@dataclass
class LogInForm:
    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)
    """Hidden ones, with their values."""
    user_field: str = ""
    password_field: str = ""


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[LogInForm] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.found.append(LogInForm(given.get("action", ""), given.get("method", "get").lower()))
            self._inside = True
        elif tag == "input" and self._inside and given.get("name"):
            form, name, kind = self.found[-1], given["name"], given.get("type", "text").lower()
            if kind == "hidden":
                form.fields[name] = given.get("value", "")
            elif kind == "password":
                form.password_field = form.password_field or name
            elif kind in ("text", "email") and not form.password_field:
                form.user_field = name

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "form"


def log_in_form(page: HttpAnswer) -> LogInForm | None:
    parser = _Forms()
    parser.feed(page.text)
    return next((form for form in parser.found if form.password_field and form.user_field), None)


class Visitor:
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._cookies: dict[tuple[str, str, str], str] = {}
        """By host, path and name."""

    def cookies(self) -> tuple[Cookie, ...]:
        return tuple(Cookie(name, value, host, path) for (host, path, name), value in self._cookies.items())

    async def go(self, url: str, headers: Mapping[str, str] | None = None) -> HttpAnswer:
        return await self._follow("GET", url, b"", dict(headers or {}))

    async def send(self, url: str, fields: Mapping[str, str]) -> HttpAnswer:
        headers = {"content-type": "application/x-www-form-urlencoded"}
        return await self._follow("POST", url, urlencode(dict(fields)).encode(), headers)

    async def _follow(self, method: str, url: str, body: bytes, headers: dict[str, str]) -> HttpAnswer:
        for _ in range(MOST_REDIRECTS):
            sent = {**headers, **({"cookie": cookies} if (cookies := self._for(url)) else {})}
            answer = await ask(method, url, headers=sent, body=body, seconds=self._seconds)
            self._keep(answer)
            if answer.status not in (301, 302, 303, 307, 308) or not answer.header("location"):
                return answer
            url = urljoin(url, answer.header("location"))
            if answer.status not in (307, 308):
                method, body = "GET", b""
                headers.pop("content-type", None)
        raise SiteError(f"{url} leads from one page to the next without an end.")

    def _for(self, url: str) -> str:
        parts = urlsplit(url)
        fitting = [
            f"{name}={value}"
            for (host, path, name), value in self._cookies.items()
            if host == parts.hostname and _covers(path, parts.path or "/")
        ]
        return "; ".join(fitting)

    def _keep(self, answer: HttpAnswer) -> None:
        host = urlsplit(answer.url).hostname or ""
        for line in answer.all_headers("set-cookie"):
            jar: SimpleCookie = SimpleCookie()
            try:
                jar.load(line)
            except CookieError:
                continue  # Browsers leave out what they cannot read, too.
            for name, morsel in jar.items():
                key = (host, morsel["path"] or "/", name)
                if morsel["max-age"] == "0" or "1970" in morsel["expires"]:
                    self._cookies.pop(key, None)
                else:
                    self._cookies[key] = morsel.value


def _covers(path: str, asked: str) -> bool:
    return asked == path or asked.startswith(path if path.endswith("/") else f"{path}/")
