"""The storefront as an application over one world."""

from collections.abc import Mapping

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from webassay.core.errors import InputError
from webassay.sites.kit import World
from webassay.sites.shop import account_pages as account
from webassay.sites.shop import cart_pages as cart
from webassay.sites.shop import catalogue_pages as catalogue
from webassay.sites.shop.web import COOKIE, Handler, Visit, endpoint, new_session, static_file

_REASONS = {
    400: "Bad request",
    403: "Not allowed",
    404: "Page not found",
    405: "Not possible here",
    409: "That did not work",
    413: "Too much",
    422: "Please check your entries",
}


def make_app(world: World) -> ASGIApp:
    app = Starlette(routes=list(_ROUTES), exception_handlers={HTTPException: _error_page})
    app.state.world = world
    return _WithHeaders(app)


def log_in(world: World, user: str) -> dict[str, str]:
    customer_id = world.scalar("SELECT id FROM customers WHERE email = ?", user)
    if customer_id is None:
        raise InputError(f"The shop has no customer {user}.", hint="Customers are named by their email address.")
    with world.write():
        return {COOKIE: new_session(world, customer_id)}


def whoami(world: World, cookies: Mapping[str, str]) -> str:
    return (
        world.scalar(
            "SELECT c.email FROM sessions AS s JOIN customers AS c ON c.id = s.customer_id WHERE s.token = ?",
            cookies.get(COOKIE, ""),
        )
        or ""
    )


async def _error_page(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    visit = Visit(request)
    reason = _REASONS.get(error.status_code, "Something went wrong")
    # Without a message of ours, `detail` is the bare name of the status.
    custom = error.detail if " " in error.detail and error.detail != "Not Found" else ""
    if visit.wants_json:
        return JSONResponse({"error": custom or reason}, error.status_code)
    return visit.render("error.html", error.status_code, reason=reason, detail=custom, code=error.status_code)


class _WithHeaders:
    """Adds the headers that every response has."""

    HEADERS = (
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"same-origin"),
        (b"x-frame-options", b"SAMEORIGIN"),
        (
            b"content-security-policy",
            b"default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'self';"
            b" form-action 'self'",
        ),
    )

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *self.HEADERS]
            await send(message)

        await self._app(scope, receive, with_headers)


def _page(template: str) -> Handler:
    async def show(visit: Visit) -> Response:
        return visit.render(template)

    return show


def _get(path: str, handler: Handler) -> Route:
    return Route(path, endpoint(handler), methods=["GET"])


def _post(path: str, handler: Handler) -> Route:
    return Route(path, endpoint(handler), methods=["POST"])


def _both(path: str, handler: Handler) -> Route:
    return Route(path, endpoint(handler), methods=["GET", "POST"])


def _own(path: str, handler: Handler, *methods: str) -> Route:
    """For logged-in customers only."""
    return Route(path, endpoint(handler, customers_only=True), methods=list(methods or ("GET",)))


_ROUTES = (
    _get("/", catalogue.home),
    _get("/c/{path:path}", catalogue.category),
    _get("/search", catalogue.search),
    _get("/search/suggest", catalogue.suggest),
    _get("/p/{slug}", catalogue.product),
    _get("/p/{slug}/reviews", catalogue.product_reviews),
    _post("/p/{slug}/review", catalogue.write_review),
    _get("/cart", cart.cart),
    _get("/cart/mini", cart.mini_cart),
    _post("/cart/add", cart.add),
    _post("/cart/update", cart.update),
    _post("/cart/remove", cart.remove),
    _post("/cart/clear", cart.clear),
    _own("/checkout/shipping", cart.checkout_shipping, "GET", "POST"),
    _own("/checkout/payment", cart.checkout_payment, "GET", "POST"),
    _own("/checkout/review", cart.checkout_review),
    _own("/checkout/place", cart.place_order, "POST"),
    _own("/checkout/success/{number}", cart.checkout_success),
    _both("/account/login", account.login),
    _both("/account/register", account.register),
    _post("/account/logout", account.logout),
    _own("/account", account.dashboard),
    _own("/account/edit", account.edit, "GET", "POST"),
    _own("/account/orders", account.orders),
    _own("/account/orders/{number}", account.order),
    _own("/account/orders/{number}/cancel", account.cancel_order, "POST"),
    _own("/account/orders/{number}/reorder", account.reorder, "POST"),
    _own("/account/addresses", account.addresses),
    _own("/account/addresses/new", account.new_address, "GET", "POST"),
    _own("/account/addresses/{id}/edit", account.edit_address, "GET", "POST"),
    _own("/account/addresses/{id}/delete", account.delete_address, "POST"),
    _own("/account/wishlist", account.wishlist),
    _own("/account/reviews", account.my_reviews),
    _own("/account/newsletter", account.newsletter_settings, "GET", "POST"),
    _own("/wishlist/add", account.add_wish, "POST"),
    _own("/wishlist/remove", account.remove_wish, "POST"),
    _own("/wishlist/to-cart", account.wish_to_cart, "POST"),
    _post("/newsletter", account.subscribe),
    _both("/contact", account.contact),
    _get("/contact-information", _page("contact_information.html")),
    _get("/shipping-and-returns", _page("shipping.html")),
    _get("/about", _page("about.html")),
    Route("/static/{digest}/{name}", static_file, methods=["GET"]),
)
