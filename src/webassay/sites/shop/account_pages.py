"""Log-in and everything behind it; contact and newsletter."""

from starlette.exceptions import HTTPException
from starlette.responses import Response

from webassay.sites.kit import Row, World
from webassay.sites.receipts import carried, ours
from webassay.sites.shop.cart_pages import ADDRESS_FIELDS, adopt_cart, make_default, put_in_cart, read_address
from webassay.sites.shop.returning import why_not_returnable
from webassay.sites.shop.seeding.customers import password_hash
from webassay.sites.shop.web import ShopVisit, move_subscription
from webassay.sites.web.dates import stamp
from webassay.sites.web.forms import FormFields, safe_path, whole_number
from webassay.sites.web.lists import Paging, one_of

ORDER_PAGE_SIZES = (10, 20)
REVIEWS_ON_A_PAGE = 10
SHORTEST_PASSWORD = 8

# --- log-in ----------------------------------------------------------------------------------------------


async def login(visit: ShopVisit) -> Response:
    after = safe_path(visit.request.query_params.get("next", ""), "/account")
    if visit.customer is not None:
        return visit.go(after)
    if visit.request.method == "GET":
        return visit.render("login.html", errors={}, values={})
    form = await visit.form()
    email, password = form.text("email", "Email"), form.get("password")
    found = visit.world.row("SELECT * FROM customers WHERE email = ?", email)
    if found is None or found["password_hash"] != password_hash(found["id"], password):
        form.errors["email"] = "The email or the password is not correct."
        return visit.render("login.html", 422, errors=form.errors, values=form.values)
    with visit.world.write():
        _enter(visit, found["id"])
    return visit.go(after)


async def register(visit: ShopVisit) -> Response:
    if visit.request.method == "GET":
        return visit.render("register.html", errors={}, values={})
    form = await visit.form()
    first, last = form.text("first_name", "First name", most=60), form.text("last_name", "Last name", most=60)
    email = form.email()
    password = _new_password(form)
    subscribe = form.ticked("newsletter")
    if "email" not in form.errors and _email_taken(visit.world, email, 0):
        form.errors["email"] = ours("There is already an account with this email.")
    if form.errors:
        return visit.render("register.html", 422, errors=form.errors, values=form.values)
    with visit.world.write() as db:
        now = stamp(visit.world.now())
        number: int = visit.world.scalar("SELECT ifnull(max(id), 0) + 1 FROM customers")
        db.execute(
            "INSERT INTO customers VALUES (?, ?, ?, ?, ?, ?, NULL)",
            (number, email, first, last, password_hash(number, password), now),
        )
        if subscribe:
            db.execute("INSERT OR IGNORE INTO newsletter_subscribers VALUES (?, ?)", (email, now))
        _enter(visit, number)
    return visit.go("/account", f"Welcome, {first}! Your account was created.")


async def logout(visit: ShopVisit) -> Response:
    return visit.log_out("/")


def _enter(visit: ShopVisit, customer_id: int) -> None:
    """Call inside a write."""
    adopt_cart(visit, visit.token or "-", customer_id)
    visit.switch_session(customer_id)
    visit.world.db.execute(
        "UPDATE customers SET last_login_at = ? WHERE id = ?", (stamp(visit.world.now()), customer_id)
    )


def _new_password(form: FormFields) -> str:
    password = form.get("password")
    if not SHORTEST_PASSWORD <= len(password) <= 200:
        form.errors["password"] = f"The password must have at least {SHORTEST_PASSWORD} characters."
    elif password != form.get("confirm"):
        form.errors["confirm"] = "The two passwords are not the same."
    return password


def _email_taken(world: World, email: str, by_other_than: int) -> bool:
    return bool(world.scalar("SELECT 1 FROM customers WHERE email = ? AND id <> ?", email, by_other_than))


# --- the account -----------------------------------------------------------------------------------------


async def dashboard(visit: ShopVisit) -> Response:
    defaults = {row["kind"]: row for row in _default_addresses(visit)}
    return visit.render(
        "account_dashboard.html", orders=_orders(visit, 5, 0), defaults=defaults, subscribed=_subscribed(visit)
    )


async def edit(visit: ShopVisit) -> Response:
    customer = visit.world.row("SELECT * FROM customers WHERE id = ?", visit.customer_id) or {}
    if visit.request.method == "GET":
        return visit.render("account_edit.html", errors={}, values=customer)
    form = await visit.form()
    first, last = form.text("first_name", "First name", most=60), form.text("last_name", "Last name", most=60)
    email = form.email()
    if "email" not in form.errors and _email_taken(visit.world, email, customer["id"]):
        form.errors["email"] = ours("There is already an account with this email.")
    hashed = customer["password_hash"]
    if form.get("password"):
        if hashed != password_hash(customer["id"], form.get("current_password")):
            form.errors["current_password"] = "The current password is not correct."
        hashed = password_hash(customer["id"], _new_password(form))
    if form.errors:
        return visit.render("account_edit.html", 422, errors=form.errors, values=form.values)
    with visit.world.write() as db:
        db.execute(
            "UPDATE customers SET first_name = ?, last_name = ?, email = ?, password_hash = ? WHERE id = ?",
            (first, last, email, hashed, customer["id"]),
        )
        move_subscription(visit.world, customer["email"], email)
    return visit.go("/account", "Your account information was saved.")


async def my_reviews(visit: ShopVisit) -> Response:
    """All of them, with what became of those that are not published."""
    total: int = visit.world.scalar("SELECT count(*) FROM reviews WHERE customer_id = ?", visit.customer_id)
    paging = Paging.at(visit.request.query_params.get("p", "1"), REVIEWS_ON_A_PAGE, total)
    reviews = visit.world.rows(
        "SELECT v.*, p.id AS product, p.name, p.slug FROM reviews AS v JOIN products AS p ON p.id = v.product_id"
        " WHERE v.customer_id = ? ORDER BY v.created_at DESC, v.id DESC LIMIT ? OFFSET ?",
        visit.customer_id, paging.size, paging.skipped,
    )  # fmt: skip
    return visit.render("account_reviews.html", reviews=reviews, paging=paging, query=visit.request.query_params)


# --- orders ----------------------------------------------------------------------------------------------


async def orders(visit: ShopVisit) -> Response:
    total: int = visit.world.scalar("SELECT count(*) FROM orders WHERE customer_id = ?", visit.customer_id)
    query = visit.request.query_params
    sizes = [str(size) for size in ORDER_PAGE_SIZES]
    paging = Paging.at(query.get("p", "1"), int(one_of("limit", query.get("limit", sizes[0]), sizes)), total)
    rows = _orders(visit, paging.size, paging.skipped)
    return visit.render("account_orders.html", orders=rows, paging=paging, sizes=ORDER_PAGE_SIZES, query=query)


async def order(visit: ShopVisit) -> Response:
    found = own_order(visit)
    addresses = {
        row["kind"]: row for row in visit.world.rows("SELECT * FROM order_addresses WHERE order_id = ?", found["id"])
    }
    items = visit.world.rows(
        "SELECT i.*, p.slug FROM order_items AS i JOIN products AS p ON p.id = i.product_id"
        " WHERE i.order_id = ? ORDER BY i.id",
        found["id"],
    )
    returns = visit.world.rows("SELECT * FROM returns WHERE order_id = ? ORDER BY id", found["id"])
    messages = visit.world.rows(
        "SELECT comment, created_at FROM order_comments WHERE order_id = ? AND notified ORDER BY id", found["id"]
    )
    return visit.render(
        "account_order.html", order=found, items=items, addresses=addresses, returns=returns,
        why_not=why_not_returnable(visit.world, found), messages=messages,
        shipment=visit.world.row("SELECT * FROM shipments WHERE order_id = ?", found["id"]),
        refunded=visit.world.scalar("SELECT sum(amount_cents) FROM refunds WHERE order_id = ?", found["id"]),
    )  # fmt: skip


async def cancel_order(visit: ShopVisit) -> Response:
    """Asks first."""
    found = own_order(visit)
    if found["status"] != "pending":
        raise HTTPException(409, f"Order # {found['number']} is {found['status']} and can no longer be canceled.")
    if visit.request.method == "GET":
        return visit.render("account_cancel.html", order=found)
    with visit.world.write() as db:
        db.execute("UPDATE orders SET status = 'canceled' WHERE id = ?", (found["id"],))
    return visit.go(f"/account/orders/{found['number']}", f"Order # {found['number']} was canceled.")


async def reorder(visit: ShopVisit) -> Response:
    """Puts what can still be bought into the cart, and names the rest."""
    found = own_order(visit)
    missing = []
    with visit.world.write():
        for item in visit.world.rows("SELECT * FROM order_items WHERE order_id = ? ORDER BY id", found["id"]):
            product = visit.world.row(
                "SELECT *, stock * enabled AS stock FROM products WHERE id = ?", item["product_id"]
            )
            try:
                put_in_cart(visit, product or {}, item["options"], item["quantity"])
            except HTTPException as problem:
                missing.append(problem.detail)
    notice = f"The items of order # {found['number']} were added to your cart."
    if missing:
        notice = carried(f"Not everything could be added: {' '.join(missing)}", *missing)
    return visit.go("/cart", notice)


def _orders(visit: ShopVisit, count: int, skip: int) -> list[Row]:
    return visit.world.rows(
        "SELECT o.*, a.first_name || ' ' || a.last_name AS ship_to FROM orders AS o"
        " JOIN order_addresses AS a ON a.order_id = o.id AND a.kind = 'shipping'"
        " WHERE o.customer_id = ? ORDER BY o.created_at DESC, o.id DESC LIMIT ? OFFSET ?",
        visit.customer_id, count, skip,
    )  # fmt: skip


def own_order(visit: ShopVisit) -> Row:
    """The order that the address names."""
    found = visit.world.row("SELECT * FROM orders WHERE number = ?", visit.request.path_params["number"])
    if found is None:
        raise HTTPException(404, "We could not find this order.")
    if found["customer_id"] != visit.customer_id:
        raise HTTPException(403, ours("This order belongs to another customer."))
    return found


# --- addresses -------------------------------------------------------------------------------------------


async def addresses(visit: ShopVisit) -> Response:
    rows = visit.world.rows("SELECT * FROM addresses WHERE customer_id = ? ORDER BY id", visit.customer_id)
    return visit.render("account_addresses.html", addresses=rows)


async def new_address(visit: ShopVisit) -> Response:
    if visit.request.method == "GET":
        customer = visit.customer or {}
        values = {"first_name": customer["first_name"], "last_name": customer["last_name"]}
        return visit.render("account_address.html", title="Add New Address", errors={}, values=values)
    form = await visit.form()
    fields = read_address(form)
    billing, shipping = form.ticked("is_default_billing"), form.ticked("is_default_shipping")
    if form.errors:
        return visit.render(
            "account_address.html", 422, title="Add New Address", errors=form.errors, values=form.values
        )
    with visit.world.write() as db:
        number: int = visit.world.scalar("SELECT ifnull(max(id), 0) + 1 FROM addresses")
        db.execute(
            "INSERT INTO addresses VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)",
            (number, visit.customer_id, *(fields[name] for name in ADDRESS_FIELDS)),
        )
        make_default(visit, number, billing, shipping)
    return visit.go("/account/addresses", "The address was saved.")


async def edit_address(visit: ShopVisit) -> Response:
    found = _own_address(visit)
    if visit.request.method == "GET":
        return visit.render("account_address.html", title="Edit Address", errors={}, values=found)
    form = await visit.form()
    fields = read_address(form)
    billing, shipping = form.ticked("is_default_billing"), form.ticked("is_default_shipping")
    if form.errors:
        return visit.render("account_address.html", 422, title="Edit Address", errors=form.errors, values=form.values)
    with visit.world.write() as db:
        db.execute(
            f"UPDATE addresses SET {', '.join(f'{name} = ?' for name in ADDRESS_FIELDS)} WHERE id = ?",
            (*(fields[name] for name in ADDRESS_FIELDS), found["id"]),
        )
        make_default(visit, found["id"], billing, shipping)
    return visit.go("/account/addresses", "The address was saved.")


async def delete_address(visit: ShopVisit) -> Response:
    found = _own_address(visit)
    if found["is_default_billing"] or found["is_default_shipping"]:
        raise HTTPException(409, "A default address cannot be deleted. Make another one the default first.")
    with visit.world.write() as db:
        db.execute("DELETE FROM addresses WHERE id = ?", (found["id"],))
    return visit.go("/account/addresses", "The address was deleted.")


def _own_address(visit: ShopVisit) -> Row:
    number = whole_number(visit.request.path_params["id"])
    found = visit.world.row("SELECT * FROM addresses WHERE id = ?", number)
    if found is None:
        raise HTTPException(404, "We could not find this address.")
    if found["customer_id"] != visit.customer_id:
        raise HTTPException(403, "This address belongs to another customer.")
    return found


def _default_addresses(visit: ShopVisit) -> list[Row]:
    return visit.world.rows(
        "SELECT 'billing' AS kind, a.* FROM addresses AS a WHERE customer_id = ? AND is_default_billing UNION ALL"
        " SELECT 'shipping', a.* FROM addresses AS a WHERE customer_id = ? AND is_default_shipping",
        visit.customer_id, visit.customer_id,
    )  # fmt: skip


# --- wish list -------------------------------------------------------------------------------------------


async def wishlist(visit: ShopVisit) -> Response:
    items = visit.world.rows(
        "SELECT w.id AS item_id, w.added_at, p.*, p.stock * p.enabled AS stock, r.review_count, r.rating_sum,"
        " EXISTS (SELECT 1 FROM product_options AS o WHERE o.product_id = p.id) AS has_options"
        " FROM wishlist_items AS w JOIN products AS p ON p.id = w.product_id"
        " JOIN product_ratings AS r ON r.product_id = p.id WHERE w.customer_id = ? ORDER BY w.added_at DESC, w.id DESC",
        visit.customer_id,
    )
    return visit.render("account_wishlist.html", items=items)


async def add_wish(visit: ShopVisit) -> Response:
    form = await visit.form()
    number = whole_number(form.get("product_id")) or 0
    product = visit.world.row("SELECT * FROM products WHERE id = ? AND enabled", number)
    if product is None:
        raise HTTPException(404, "We could not find this product.")
    there = visit.world.scalar(
        "SELECT 1 FROM wishlist_items WHERE customer_id = ? AND product_id = ?", visit.customer_id, product["id"]
    )
    if there:
        return visit.go("/account/wishlist", f"{product['name']} is already in your wish list.")
    with visit.world.write() as db:
        db.execute(
            "INSERT INTO wishlist_items (customer_id, product_id, added_at) VALUES (?, ?, ?)",
            (visit.customer_id, product["id"], stamp(visit.world.now())),
        )
    return visit.go("/account/wishlist", f"{product['name']} was added to your wish list.")


async def remove_wish(visit: ShopVisit) -> Response:
    item = _own_wish(visit, await visit.form())
    with visit.world.write() as db:
        db.execute("DELETE FROM wishlist_items WHERE id = ?", (item["item_id"],))
    return visit.go("/account/wishlist", f"{item['name']} was removed from your wish list.")


async def wish_to_cart(visit: ShopVisit) -> Response:
    item = _own_wish(visit, await visit.form())
    if visit.world.scalar("SELECT 1 FROM product_options WHERE product_id = ?", item["id"]):
        return visit.go(f"/p/{item['slug']}", f"Please choose the options of {item['name']}.")
    with visit.world.write() as db:
        put_in_cart(visit, item, "", 1)
        db.execute("DELETE FROM wishlist_items WHERE id = ?", (item["item_id"],))
    return visit.go("/cart", f"{item['name']} was moved to your cart.")


def _own_wish(visit: ShopVisit, form: FormFields) -> Row:
    found = visit.world.row(
        "SELECT w.id AS item_id, w.customer_id, p.*, p.stock * p.enabled AS stock"
        " FROM wishlist_items AS w JOIN products AS p ON p.id = w.product_id"
        " WHERE w.id = ?",
        whole_number(form.get("item_id")),
    )
    if found is None:
        raise HTTPException(404, "This item is no longer in your wish list.")
    if found["customer_id"] != visit.customer_id:
        raise HTTPException(403, "This wish list belongs to another customer.")
    return found


# --- newsletter and contact ------------------------------------------------------------------------------


async def newsletter_settings(visit: ShopVisit) -> Response:
    if visit.request.method == "GET":
        return visit.render("account_newsletter.html", subscribed=_subscribed(visit))
    form = await visit.form()
    email = (visit.customer or {})["email"]
    wanted = form.ticked("subscribed")
    if wanted != _subscribed(visit):
        with visit.world.write() as db:
            if wanted:
                db.execute("INSERT INTO newsletter_subscribers VALUES (?, ?)", (email, stamp(visit.world.now())))
            else:
                db.execute("DELETE FROM newsletter_subscribers WHERE email = ?", (email,))
    state = "You are subscribed to our newsletter." if wanted else "You are not subscribed to our newsletter."
    return visit.go("/account/newsletter", state)


async def subscribe(visit: ShopVisit) -> Response:
    form = await visit.form()
    email = form.email()
    form.refuse()
    if visit.world.scalar("SELECT 1 FROM newsletter_subscribers WHERE email = ?", email):
        return visit.go("/", "This email address is already subscribed.")
    with visit.world.write() as db:
        db.execute("INSERT INTO newsletter_subscribers VALUES (?, ?)", (email, stamp(visit.world.now())))
    return visit.go("/", "Thank you for subscribing to our newsletter.")


def _subscribed(visit: ShopVisit) -> bool:
    email = (visit.customer or {})["email"]
    return bool(visit.world.scalar("SELECT 1 FROM newsletter_subscribers WHERE email = ?", email))


async def contact(visit: ShopVisit) -> Response:
    if visit.request.method == "GET":
        customer = visit.customer
        name = f"{customer['first_name']} {customer['last_name']}" if customer else ""
        values = {"name": name, "email": customer["email"] if customer else ""}
        return visit.render("contact.html", errors={}, values=values)
    form = await visit.form()
    row = (
        form.text("name", "Name"),
        form.email(),
        form.text("phone", "Phone number", most=30, needed=False),
        form.text("order_number", "Order number", most=20, needed=False),
        form.text("message", "Message", most=4000, lines=True),
    )
    if form.errors:
        return visit.render("contact.html", 422, errors=form.errors, values=form.values)
    with visit.world.write() as db:
        db.execute(
            "INSERT INTO contact_messages (name, email, phone, order_number, message, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (*row, stamp(visit.world.now())),
        )
    return visit.go("/contact", "Thank you for your message. We answer within one business day.")
