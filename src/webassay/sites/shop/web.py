"""One request: who sent it, what it contains, and how it is answered."""

import hashlib
import json
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode, urlsplit

import jinja2
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from webassay.sites.kit import Row, World
from webassay.sites.shop import commerce
from webassay.sites.shop.pictures import picture

SHOP_NAME = "Tallybrook"
COOKIE = "tallybrook_session"
LONGEST_BODY = 65536

Handler = Callable[["Visit"], Awaitable[Response]]


@dataclass(frozen=True)
class Category:
    id: int
    parent_id: int | None
    name: str
    path: str
    level: int
    children: list["Category"] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"/c/{self.path}"

    def shelves(self) -> list["Category"]:
        """The categories at the bottom of this one, which hold its products."""
        return [shelf for child in self.children for shelf in child.shelves()] if self.children else [self]


class Visit:
    """What a page needs to know about its request."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.world: World = request.app.state.world
        self.token = ""
        self.customer: Row | None = None
        self.checkout: dict[str, Any] = {}
        self._notice = ""
        self._new_cookie = False
        cookie = request.cookies.get(COOKIE, "")
        found = self.world.row("SELECT * FROM sessions WHERE token = ?", cookie) if cookie else None
        if found:
            self.token = cookie
            self.checkout = json.loads(found["checkout"])
            self._notice = found["notice"]
            self.customer = self.world.row("SELECT * FROM customers WHERE id = ?", found["customer_id"])

    # --- who ---

    @property
    def customer_id(self) -> int:
        """For pages behind the log-in."""
        if self.customer is None:
            raise HTTPException(401)
        return int(self.customer["id"])

    def ensure_session(self) -> str:
        if not self.token:
            with self.world.write():
                self.token = new_session(self.world, None)
            self._new_cookie = True
        return self.token

    def switch_session(self, customer_id: int | None) -> None:
        """A new token for every log-in, so that an old one is worthless. Call inside a write."""
        self.world.db.execute("DELETE FROM sessions WHERE token = ?", (self.token,))
        old, self.token = self.token, new_session(self.world, customer_id)
        self.world.db.execute("UPDATE OR IGNORE recently_viewed SET token = ? WHERE token = ?", (self.token, old))
        self._new_cookie = True

    # --- what was sent ---

    async def form(self) -> "Fields":
        return Fields(await self.request.form(max_files=0, max_fields=200))

    @property
    def wants_json(self) -> bool:
        return "application/json" in self.request.headers.get("accept", "")

    # --- how it is answered ---

    def render(self, template: str, status: int = 200, **context: Any) -> Response:
        notice, self._notice = self._notice, ""
        if notice:
            with self.world.write():
                self.world.db.execute("UPDATE sessions SET notice = '' WHERE token = ?", (self.token,))
        body = (
            environment()
            .get_template(template)
            .render(
                visit=self,
                customer=self.customer,
                departments=category_tree(self.world)[0],
                menu=_menu(_category_rows(self.world)),
                cart_count=self.cart_count(),
                notice=notice,
                **context,
            )
        )
        return self.sign(HTMLResponse(body, status, {"cache-control": "private, no-cache"}))

    def go(self, url: str, notice: str = "") -> Response:
        """Redirects to the page that shows what a form has done."""
        if notice:
            token = self.ensure_session()
            with self.world.write():
                self.world.db.execute("UPDATE sessions SET notice = ? WHERE token = ?", (notice, token))
        return self.sign(RedirectResponse(url, 303))

    def json(self, data: Mapping[str, Any], status: int = 200) -> Response:
        return self.sign(JSONResponse(data, status))

    def sign(self, response: Response) -> Response:
        if self._new_cookie:
            response.set_cookie(COOKIE, self.token, httponly=True, samesite="lax", path="/")
        return response

    def log_in_first(self) -> Response:
        request = self.request
        back = request.url.path if request.method == "GET" else urlsplit(request.headers.get("referer", "/")).path
        if request.method == "GET" and request.url.query:
            back += f"?{request.url.query}"
        return self.go(f"/account/login?{urlencode({'next': back})}", "Please log in to continue.")

    def cart_count(self) -> int:
        count: int = self.world.scalar(
            "SELECT ifnull(sum(quantity), 0) FROM cart_items WHERE customer_id IS ? AND visitor = ?", *self.cart_owner
        )
        return count

    @property
    def cart_owner(self) -> tuple[int | None, str]:
        """Customer and visitor, as in the cart's rows. A visitor without a session owns nothing."""
        return (self.customer["id"], "") if self.customer else (None, self.token or "-")


def endpoint(handler: Handler, *, customers_only: bool = False) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        if request.method == "POST":
            refuse_strangers(request)
        visit = Visit(request)
        if customers_only and visit.customer is None:
            return visit.log_in_first()
        return await handler(visit)

    return answer


def refuse_strangers(request: Request) -> None:
    """Only this shop's own forms may change anything. Browsers always say where a POST comes from."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise HTTPException(403, "This form was sent from another site.")
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise HTTPException(403, "This form was sent from another site.")
    length = request.headers.get("content-length", "")
    if not re.fullmatch(r"[0-9]{1,9}", length) or int(length) > LONGEST_BODY:
        raise HTTPException(413, "That is more than this form can take.")


def new_session(world: World, customer_id: int | None) -> str:
    """Call inside a write."""
    token = secrets.token_urlsafe(24)
    world.db.execute(
        "INSERT INTO sessions VALUES (?, ?, '{}', '', ?)", (token, customer_id, commerce.stamp(world.now()))
    )
    return token


# --- forms -----------------------------------------------------------------------------------------------


def whole_number(text: str, largest: int = 10**9) -> int | None:
    """None if it is not one. `int` is too lenient: it accepts underscores and digits of other scripts."""
    return int(text) if re.fullmatch(r"[0-9]{1,10}", text) and int(text) <= largest else None


class Fields:
    """A submitted form. Reading a field validates it; errors are collected, to be shown next to the field."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self.errors: dict[str, str] = {}
        self.values: dict[str, str] = {}

    def get(self, name: str) -> str:
        value = self._data.get(name, "")
        return value if isinstance(value, str) else ""

    def names(self, prefix: str) -> list[str]:
        return [name for name in self._data if name.startswith(prefix)]

    def text(self, name: str, label: str, *, most: int = 100, needed: bool = True, lines: bool = False) -> str:
        value = self.get(name).replace("\r\n", "\n").strip()
        self.values[name] = value
        if needed and not value:
            self.errors[name] = f"{label} is required."
        elif len(value) > most:
            self.errors[name] = f"{label} must be at most {most:,} characters."
        elif any(ord(char) < 32 and not (lines and char in "\n\t") for char in value):
            self.errors[name] = f"{label} has characters that cannot be used."
        return value

    def email(self, name: str = "email") -> str:
        value = self.text(name, "Email")
        if name not in self.errors and not re.fullmatch(r"[^@\s<>\"]+@[^@\s<>\"]+\.[A-Za-z]{2,}", value):
            self.errors[name] = "Enter a valid email address, such as name@example.com."
        return value

    def choice(self, name: str, label: str, options: Sequence[str]) -> str:
        value = self.get(name)
        self.values[name] = value[:100]
        if value not in options:
            self.errors[name] = f"Choose a {label.lower()}."
        return value

    def number(self, name: str, label: str, low: int, high: int) -> int:
        value = self.get(name).strip()
        self.values[name] = value[:20]
        number = whole_number(value)
        if number is None or not low <= number <= high:
            self.errors[name] = f"{label} must be a whole number from {low} to {high}."
            return low
        return number

    def ticked(self, name: str) -> bool:
        on = bool(self.get(name))
        self.values[name] = "1" if on else ""
        return on

    def refuse(self) -> None:
        """For forms that cannot show an error next to the field."""
        if self.errors:
            raise HTTPException(422, " ".join(self.errors.values()))


def safe_path(text: str) -> str:
    """A path on this site, else the account page: a link must not send a log-in elsewhere."""
    ok = text.startswith("/") and not text.startswith(("//", "/\\")) and all(ord(char) > 32 for char in text)
    return text if ok else "/account"


# --- the catalogue ------------------------------------------------------------------------------------------


Tree = tuple[list[Category], dict[int, Category]]
CategoryRows = tuple[tuple[int, int | None, str, str, int], ...]


def category_tree(world: World) -> Tree:
    """The departments, and every category by its id."""
    return _tree(_category_rows(world))


def _category_rows(world: World) -> CategoryRows:
    rows: Any = world.db.execute("SELECT id, parent_id, name, path, level FROM categories ORDER BY level, position")
    return tuple(rows)


# Categories hardly ever change and are on every page: what is built from them is cached by the rows themselves.
@lru_cache(maxsize=8)
def _tree(rows: CategoryRows) -> Tree:
    by_id: dict[int, Category] = {}
    departments: list[Category] = []
    for number, parent, name, path, level in rows:
        by_id[number] = category = Category(number, parent, name, path, level)
        (departments if parent is None else by_id[parent].children).append(category)
    return departments, by_id


@lru_cache(maxsize=8)
def _menu(rows: CategoryRows) -> Markup:
    return Markup(environment().get_template("_menu.html").render(departments=_tree(rows)[0]))


def product_options(world: World, product_id: int) -> dict[str, list[str]]:
    """The options a buyer has to choose, size before color."""
    options: dict[str, list[str]] = {}
    for name, value in world.db.execute(
        "SELECT name, value FROM product_options WHERE product_id = ? ORDER BY name DESC, position", (product_id,)
    ):
        options.setdefault(str(name), []).append(str(value))
    return options


# --- templates and files ---------------------------------------------------------------------------------

_MEDIA_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}


@cache
def static_files() -> tuple[str, dict[str, tuple[bytes, str]]]:
    """All files, with a digest of them that is part of their URL, so that browsers may cache them forever.

    Not Starlette's `StaticFiles`: it looks at the disk for every request, and its ETags and times would differ between
    machines.
    """
    found = {}
    for item in sorted((files(__package__) / "static").iterdir(), key=lambda item: item.name):
        suffix = item.name[item.name.rfind(".") :]
        found[item.name] = (item.read_bytes(), _MEDIA_TYPES[suffix])
    digest = hashlib.sha256()
    for name, (data, _) in found.items():
        digest.update(name.encode() + data)
    return digest.hexdigest()[:12], found


async def static_file(request: Request) -> Response:
    digest, found = static_files()
    if request.path_params["digest"] != digest or request.path_params["name"] not in found:
        raise HTTPException(404)
    data, media_type = found[request.path_params["name"]]
    return Response(data, media_type=media_type, headers={"cache-control": "public, max-age=31536000, immutable"})


def static_url(name: str) -> str:
    return f"/static/{static_files()[0]}/{name}"


@cache
def environment() -> jinja2.Environment:
    """Shared by all worlds: it holds compiled templates, no data."""
    env = jinja2.Environment(
        loader=jinja2.PackageLoader("webassay.sites.shop"),
        autoescape=True,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    env.filters["money"] = commerce.money
    env.filters["long_date"] = commerce.long_date
    env.globals.update(
        shop_name=SHOP_NAME,
        static_url=static_url,
        picture=picture,
        tenths=commerce.tenths_of_stars,
        states=commerce.STATES,
        shipping_methods=commerce.SHIPPING_METHODS,
        free_shipping_from=commerce.FREE_SHIPPING_FROM,
        shipping_names={method.code: method.name for method in commerce.SHIPPING_METHODS},
        payment_names=commerce.PAYMENT_METHODS,
    )
    return env
