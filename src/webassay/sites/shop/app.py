"""The storefront: which address leads to which page."""

from functools import partial

from starlette.types import ASGIApp

from webassay.sites.kit import World
from webassay.sites.shop import account_pages as account
from webassay.sites.shop import cart_pages as cart
from webassay.sites.shop import catalog_pages as catalog
from webassay.sites.shop import return_pages as returns
from webassay.sites.shop.web import WEB
from webassay.sites.web.app import page, route


def make_app(world: World) -> ASGIApp:
    return WEB.app(world, _ROUTES)


_own = partial(route, members_only=True)

_ROUTES = (
    route("/", catalog.home),
    route("/c/{path:path}", catalog.category),
    route("/search", catalog.search),
    route("/search/suggest", catalog.suggest),
    route("/search/advanced", catalog.advanced_search),
    route("/coupons", catalog.offers),
    route("/p/{slug}", catalog.product),
    route("/p/{slug}/reviews", catalog.product_reviews),
    route("/p/{slug}/label.svg", catalog.product_label),
    route("/p/{slug}/review", catalog.write_review, "POST"),
    route("/cart", cart.cart),
    route("/cart/mini", cart.mini_cart),
    route("/cart/add", cart.add, "POST"),
    route("/cart/update", cart.update, "POST"),
    route("/cart/remove", cart.remove, "POST"),
    route("/cart/clear", cart.clear, "POST"),
    route("/cart/coupon", cart.apply_coupon, "POST"),
    route("/cart/coupon/remove", cart.remove_coupon, "POST"),
    _own("/checkout/shipping", cart.checkout_shipping, "GET", "POST"),
    _own("/checkout/payment", cart.checkout_payment, "GET", "POST"),
    _own("/checkout/review", cart.checkout_review),
    _own("/checkout/place", cart.place_order, "POST"),
    _own("/checkout/success/{number}", cart.checkout_success),
    route("/account/login", account.login, "GET", "POST"),
    route("/account/register", account.register, "GET", "POST"),
    route("/account/logout", account.logout, "POST"),
    _own("/account", account.dashboard),
    _own("/account/edit", account.edit, "GET", "POST"),
    _own("/account/orders", account.orders),
    _own("/account/orders/{number}", account.order),
    _own("/account/orders/{number}/cancel", account.cancel_order, "GET", "POST"),
    _own("/account/orders/{number}/reorder", account.reorder, "POST"),
    _own("/account/orders/{number}/return", returns.start, "GET", "POST"),
    _own("/account/returns", returns.listed),
    _own("/account/returns/{number}", returns.one),
    _own("/account/returns/{number}/withdraw", returns.withdraw, "GET", "POST"),
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
    route("/newsletter", account.subscribe, "POST"),
    route("/contact", account.contact, "GET", "POST"),
    page("/contact-information", "contact_information.html"),
    page("/shipping-and-returns", "shipping.html"),
    route("/about", catalog.cms_page),
    route("/pages/{key}", catalog.cms_page),
)
