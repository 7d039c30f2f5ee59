"""The back office: which address leads to which page."""

from functools import partial

from starlette.responses import Response
from starlette.types import ASGIApp

from webassay.sites.admin import content_pages as content
from webassay.sites.admin import grids, reports
from webassay.sites.admin import order_pages as orders
from webassay.sites.admin import product_pages as products
from webassay.sites.admin.web import WEB, OfficeVisit, grid_routes, office
from webassay.sites.kit import Row, World
from webassay.sites.shop.seeding.office import admin_password_hash
from webassay.sites.web.app import route
from webassay.sites.web.dates import stamp
from webassay.sites.web.forms import safe_path


def make_app(world: World) -> ASGIApp:
    return WEB.app(world, _ROUTES)


async def login(visit: OfficeVisit) -> Response:
    after = safe_path(visit.request.query_params.get("next", ""), "/")
    if visit.user is not None:
        return visit.go(after)
    if visit.request.method == "GET":
        return visit.render("login.html", errors={}, values={})
    form = await visit.form()
    username, password = form.text("username", "User name"), form.get("password")
    found = visit.world.row("SELECT * FROM admins WHERE username = ?", username)
    if found is None or found["password_hash"] != admin_password_hash(found["id"], password):
        form.errors["username"] = "The user name or the password is not correct."
        return visit.render("login.html", 422, errors=form.errors, values=form.values)
    with visit.world.write() as db:
        visit.switch_session(found["id"])
        db.execute("UPDATE admins SET last_login_at = ? WHERE id = ?", (stamp(visit.world.now()), found["id"]))
    return visit.go(after)


async def logout(visit: OfficeVisit) -> Response:
    return visit.log_out("/login")


async def account(visit: OfficeVisit) -> Response:
    return visit.render("account.html")


async def dashboard(visit: OfficeVisit) -> Response:
    """What the visitor's role may see of it."""
    world, sees = visit.world, visit.role.sees
    context: Row = {"sums": None, "last": [], "best": [], "terms": [], "pending": 0}
    if "reports" in sees:
        context["sums"] = world.row(
            "SELECT sum(total_cents) AS sales, CAST(round(avg(total_cents)) AS INTEGER) AS average,"
            " sum(tax_cents) AS tax, sum(shipping_cents) AS shipping, count(*) AS orders"
            " FROM orders WHERE status <> 'canceled'"
        )
        context["terms"] = world.rows("SELECT * FROM search_terms ORDER BY uses DESC, term LIMIT 5")
        context["best"] = world.rows(
            "SELECT i.name, sum(i.quantity) AS pieces FROM order_items AS i JOIN orders AS o ON o.id = i.order_id"
            " WHERE o.status <> 'canceled' GROUP BY i.product_id ORDER BY pieces DESC, i.name LIMIT 5"
        )
    if "orders" in sees:
        context["last"] = world.rows(
            "SELECT o.id, o.number, o.total_cents, o.created_at, c.first_name || ' ' || c.last_name AS customer"
            " FROM orders AS o JOIN customers AS c ON c.id = o.customer_id ORDER BY o.id DESC LIMIT 5"
        )
    if "reviews" in sees:
        context["pending"] = world.scalar("SELECT count(*) FROM reviews WHERE status = 'pending'")
    return visit.render("dashboard.html", **context)


_orders = partial(office, area="orders")
_products = partial(office, area="products")
_reviews = partial(office, area="reviews")
_marketing = partial(office, area="marketing")
_content = partial(office, area="content")


_ROUTES = (
    route("/", dashboard, members_only=True),
    route("/login", login, "GET", "POST"),
    route("/logout", logout, "POST"),
    route("/account", account, members_only=True),
    *grid_routes(grids.ORDERS, "orders"),
    _orders("/bulk/orders", orders.bulk, "POST"),
    _orders("/orders/{number}", orders.view),
    _orders("/orders/{number}/comment", orders.comment, "POST"),
    _orders("/orders/{number}/invoice", orders.invoice, "POST"),
    _orders("/orders/{number}/ship", orders.ship, "GET", "POST"),
    _orders("/orders/{number}/refund", orders.refund, "GET", "POST"),
    _orders("/orders/{number}/address/{kind}", orders.address, "GET", "POST"),
    _orders("/orders/{number}/{action}", orders.change_status, "POST"),
    *grid_routes(grids.INVOICES, "orders"),
    _orders("/bulk/invoices", orders.mark_paid, "POST"),
    _orders("/invoices/{id}", orders.show_invoice),
    *grid_routes(grids.SHIPMENTS, "orders"),
    _orders("/shipments/{id}", orders.shipment, "GET", "POST"),
    *grid_routes(grids.REFUNDS, "orders"),
    *grid_routes(grids.PRODUCTS, "products", new="Add Product"),
    _products("/bulk/products", products.bulk, "POST"),
    _products("/products/new", products.create, "GET", "POST"),
    _products("/products/{id}", products.edit, "GET", "POST"),
    _products("/products/{id}/options", products.add_option, "POST"),
    _products("/products/{id}/options/remove", products.remove_option, "POST"),
    _products("/products/{id}/links", products.add_link, "POST"),
    _products("/products/{id}/links/remove", products.remove_link, "POST"),
    _products("/categories", products.categories),
    _products("/categories/new", products.new_category, "GET", "POST"),
    _products("/categories/{id}", products.edit_category, "GET", "POST"),
    _products("/attributes", products.attributes),
    _products("/attributes/{attribute}", products.add_value, "POST"),
    *grid_routes(grids.CUSTOMERS, "customers"),
    office("/bulk/customers", content.bulk_customers, "POST", area="customers"),
    office("/customers/{id}", content.customer, "GET", "POST", area="customers"),
    *grid_routes(grids.REVIEWS, "reviews"),
    *grid_routes(grids.PENDING_REVIEWS, "reviews"),
    _reviews("/bulk/reviews", content.bulk_reviews, "POST"),
    _reviews("/bulk/reviews/pending", content.bulk_reviews, "POST"),
    _reviews("/reviews/{id}", content.review),
    _reviews("/reviews/{id}/stars.svg", content.review_stars),
    _reviews("/reviews/{id}/{action}", content.decide_review, "POST"),
    *grid_routes(grids.PRICE_RULES, "marketing", new="Add New Rule"),
    _marketing("/price-rules/new", content.new_rule, "GET", "POST"),
    _marketing("/price-rules/{id}", content.edit_rule, "GET", "POST"),
    _marketing("/price-rules/{id}/apply", content.apply_rule, "POST"),
    _marketing("/price-rules/{id}/end", content.end_rule, "POST"),
    *grid_routes(grids.COUPONS, "marketing", new="Add New Rule"),
    _marketing("/coupons/new", content.new_coupon, "GET", "POST"),
    _marketing("/coupons/{code}", content.edit_coupon, "GET", "POST"),
    *grid_routes(grids.PAGES, "content", new="Add New Page"),
    _content("/bulk/pages", content.bulk_pages, "POST"),
    _content("/pages/new", content.new_page, "GET", "POST"),
    _content("/pages/{id}", content.edit_page, "GET", "POST"),
    office("/reports", reports.listed, area="reports"),
    office("/reports/{name}", reports.show, area="reports"),
    *grid_routes(grids.USERS, "staff"),
    office("/users/{id}", content.user, "GET", "POST", area="staff"),
)
