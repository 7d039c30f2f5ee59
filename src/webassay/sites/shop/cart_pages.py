"""Cart and checkout."""

import itertools
import json
from collections.abc import Iterable
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

from webassay.sites.kit import Row, World
from webassay.sites.receipts import ours
from webassay.sites.shop.commerce import PAYMENT_METHODS, SHIPPING_METHODS, STATES
from webassay.sites.shop.pricing import applied, cart_totals, find_coupon, problem_with, subtotal
from webassay.sites.shop.seeding.orders import FIRST_NUMBER
from webassay.sites.shop.web import ShopVisit, product_options
from webassay.sites.web.dates import stamp
from webassay.sites.web.forms import FormFields, safe_path, whole_number

MOST_OF_ONE = 99
METHOD_CODES = tuple(method.code for method in SHIPPING_METHODS)
ADDRESS_FIELDS = ("first_name", "last_name", "street", "street2", "city", "region", "postcode", "phone")


# --- the cart --------------------------------------------------------------------------------------------


async def cart(visit: ShopVisit) -> Response:
    """With `state` and `method` in the URL, it also estimates shipping and tax."""
    return _show_cart(visit)


def _show_cart(visit: ShopVisit, status: int = 200, form: FormFields | None = None) -> Response:
    items = cart_items(visit)
    query = visit.request.query_params
    estimate = None
    if items and query.get("state"):
        fields = FormFields(query)
        region = fields.choice("state", "state", tuple(STATES))
        method = fields.choice("method", "shipping method", METHOD_CODES)
        fields.refuse()
        estimate = cart_totals(visit, items, method, region)
    return visit.render(
        "cart.html", status, items=items, subtotal=subtotal(items), estimate=estimate, query=query,
        applied=applied(visit, items), errors=form.errors if form else {}, values=form.values if form else {},
        extras=_extras(visit, items),
    )  # fmt: skip


def _extras(visit: ShopVisit, items: list[Row]) -> list[Row]:
    """What is offered beside the goods in the cart."""
    there = tuple(item["product_id"] for item in items)
    marks = ", ".join("?" * len(there))
    return visit.world.rows(
        "SELECT DISTINCT p.slug, p.name, p.price_cents FROM product_links AS l JOIN products AS p ON p.id = l.linked_id"
        f" WHERE l.kind = 'crosssell' AND l.product_id IN ({marks}) AND p.id NOT IN ({marks}) AND p.enabled"
        " AND p.stock > 0 ORDER BY l.position, p.id LIMIT 4",
        *there, *there,
    )  # fmt: skip


async def mini_cart(visit: ShopVisit) -> Response:
    items = cart_items(visit)
    return visit.render("_mini_cart.html", items=items, subtotal=subtotal(items))


async def apply_coupon(visit: ShopVisit) -> Response:
    """One code at a time: another one takes its place."""
    form = await visit.form()
    code = form.text("code", "Discount code", most=30)
    items = cart_items(visit)
    coupon = find_coupon(visit.world, code) if code and not form.errors else None
    if not form.errors and not items:
        form.errors["code"] = "Your cart is empty."
    elif not form.errors and coupon is None:
        form.errors["code"] = f"There is no discount code {code}."
    elif coupon is not None and (problem := problem_with(visit, coupon, items)):
        form.errors["code"] = problem
    if form.errors or coupon is None:
        return _show_cart(visit, 422, form)
    visit.ensure_session()
    with visit.world.write() as db:
        db.execute("DELETE FROM cart_coupons WHERE customer_id IS ? AND visitor = ?", visit.cart_owner)
        db.execute(
            "INSERT INTO cart_coupons (customer_id, visitor, code) VALUES (?, ?, ?)", (*visit.cart_owner, coupon.code)
        )
    return visit.go("/cart", f"The discount code {coupon.code} was applied.")


async def remove_coupon(visit: ShopVisit) -> Response:
    code = applied(visit, cart_items(visit))
    if code is None:
        raise HTTPException(404, "There is no discount code in your cart.")
    with visit.world.write() as db:
        db.execute("DELETE FROM cart_coupons WHERE customer_id IS ? AND visitor = ?", visit.cart_owner)
    return visit.go("/cart", f"The discount code {code.coupon.code} was removed.")


async def add(visit: ShopVisit) -> Response:
    form = await visit.form()
    quantity = form.number("quantity", "Quantity", 1, MOST_OF_ONE)
    product = visit.world.row(
        "SELECT * FROM products WHERE id = ? AND enabled", whole_number(form.get("product_id")) or 0
    )
    if product is None:
        raise HTTPException(404, "We could not find this product.")
    options = _chosen_options(visit.world, form, product)
    try:
        form.refuse()
        visit.ensure_session()
        with visit.world.write():
            put_in_cart(visit, product, options, quantity)
    except HTTPException as problem:
        if visit.wants_json:
            return visit.json({"error": problem.detail}, problem.status_code)
        raise
    message = f"You added {product['name']} to your shopping cart."
    if visit.wants_json:
        return visit.json({"message": message, "count": visit.cart_count()})
    return visit.go("/cart", message)


async def update(visit: ShopVisit) -> Response:
    """Sets all quantities of the cart page at once; 0 removes an item."""
    form = await visit.form()
    items = {f"quantity_{item['id']}": item for item in cart_items(visit)}
    wanted = {name: form.number(name, "Quantity", 0, MOST_OF_ONE) for name in form.names("quantity_")}
    form.refuse()
    if not wanted or not set(wanted) <= set(items):
        raise HTTPException(404, "This item is no longer in your cart.")
    _check_stocks([{**item, "quantity": wanted.get(name, item["quantity"])} for name, item in items.items()])
    with visit.world.write() as db:
        for name, quantity in wanted.items():
            if quantity == 0:
                db.execute("DELETE FROM cart_items WHERE id = ?", (items[name]["id"],))
            else:
                db.execute("UPDATE cart_items SET quantity = ? WHERE id = ?", (quantity, items[name]["id"]))
    return visit.go("/cart", "Your cart was updated.")


async def remove(visit: ShopVisit) -> Response:
    form = await visit.form()
    number = whole_number(form.get("item_id"))
    item = next((item for item in cart_items(visit) if item["id"] == number), None)
    if item is None:
        raise HTTPException(404, "This item is no longer in your cart.")
    with visit.world.write() as db:
        db.execute("DELETE FROM cart_items WHERE id = ?", (item["id"],))
    return visit.go(safe_path(form.get("next"), "/cart"), f"{item['name']} was removed from your cart.")


async def clear(visit: ShopVisit) -> Response:
    if cart_items(visit):
        with visit.world.write() as db:
            for table in ("cart_items", "cart_coupons"):
                db.execute(f"DELETE FROM {table} WHERE customer_id IS ? AND visitor = ?", visit.cart_owner)
    return visit.go("/cart", "Your cart is now empty.")


def cart_items(visit: ShopVisit) -> list[Row]:
    return visit.world.rows(
        "SELECT c.id, c.product_id, c.options, c.quantity, p.sku, p.slug, p.name, p.price_cents, p.picture,"
        " p.list_price_cents, p.stock * p.enabled AS stock, p.color, p.category_id FROM cart_items AS c"
        " JOIN products AS p ON p.id = c.product_id"
        " WHERE c.customer_id IS ? AND c.visitor = ? ORDER BY c.id",
        *visit.cart_owner,
    )


def put_in_cart(visit: ShopVisit, product: Row, options: str, quantity: int) -> None:
    """Adds to what is already there. Call inside a write."""
    owner = visit.cart_owner
    there = visit.world.row(
        "SELECT id, quantity FROM cart_items WHERE customer_id IS ? AND visitor = ? AND product_id = ? AND options = ?",
        *owner, product["id"], options,
    )  # fmt: skip
    total = quantity + (there["quantity"] if there else 0)
    _check_options(visit.world, product["id"], product["name"], options)
    chosen: int = visit.world.scalar(
        "SELECT ifnull(sum(quantity), 0) FROM cart_items WHERE customer_id IS ? AND visitor = ? AND product_id = ?",
        *owner, product["id"],
    )  # fmt: skip
    _check_stock(product, chosen + quantity)
    if there:
        visit.world.db.execute("UPDATE cart_items SET quantity = ? WHERE id = ?", (total, there["id"]))
    else:
        visit.world.db.execute(
            "INSERT INTO cart_items (customer_id, visitor, product_id, options, quantity, added_at)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (*owner, product["id"], options, quantity, stamp(visit.world.now())),
        )


def adopt_cart(visit: ShopVisit, visitor: str, customer_id: int) -> None:
    """Moves what a visitor chose before logging in into the customer's cart. Call inside a write."""
    db = visit.world.db
    # The index allows one code a customer: an older one stays.
    db.execute(
        "UPDATE OR IGNORE cart_coupons SET customer_id = ?, visitor = '' WHERE customer_id IS NULL AND visitor = ?",
        (customer_id, visitor),
    )
    db.execute("DELETE FROM cart_coupons WHERE customer_id IS NULL AND visitor = ?", (visitor,))
    for item in visit.world.rows("SELECT * FROM cart_items WHERE customer_id IS NULL AND visitor = ?", visitor):
        there = visit.world.row(
            "SELECT id, quantity FROM cart_items WHERE customer_id = ? AND product_id = ? AND options = ?",
            customer_id, item["product_id"], item["options"],
        )  # fmt: skip
        if there:
            total = min(there["quantity"] + item["quantity"], MOST_OF_ONE)
            db.execute("UPDATE cart_items SET quantity = ? WHERE id = ?", (total, there["id"]))
            db.execute("DELETE FROM cart_items WHERE id = ?", (item["id"],))
        else:
            db.execute("UPDATE cart_items SET customer_id = ?, visitor = '' WHERE id = ?", (customer_id, item["id"]))


def _check_stocks(items: Iterable[Row]) -> None:
    """Checks a whole cart: the stock is that of all sizes and colors together."""
    by_product: dict[int, list[Row]] = {}
    for item in items:
        by_product.setdefault(item["product_id"], []).append(item)
    for lines in by_product.values():
        _check_stock(lines[0], sum(line["quantity"] for line in lines))


def _check_stock(product: Row, quantity: int) -> None:
    if quantity and product["stock"] == 0:
        raise HTTPException(409, ours("{} is out of stock.").format(product["name"]))
    if quantity > product["stock"]:
        raise HTTPException(409, f"Only {product['stock']} of {product['name']} are left in stock.")
    if quantity > MOST_OF_ONE:
        raise HTTPException(409, f"You can order at most {MOST_OF_ONE} of {product['name']} at once.")


def _check_options(world: World, product_id: int, name: str, chosen: str) -> None:
    """What somebody chose may no longer be offered."""
    offered = product_options(world, product_id)
    every = itertools.product(*([f"{option}: {value}" for value in values] for option, values in offered.items()))
    if chosen not in {", ".join(one) for one in every}:
        raise HTTPException(409, f"{name} no longer comes {f'in {chosen}' if chosen else 'without a choice'}.")


def _chosen_options(world: World, form: FormFields, product: Row) -> str:
    options = product_options(world, product["id"])
    return ", ".join(f"{name}: {form.choice(f'option_{name}', name, values)}" for name, values in options.items())


# --- checkout --------------------------------------------------------------------------------------------


async def checkout_shipping(visit: ShopVisit) -> Response:
    items = cart_items(visit)
    if not items:
        return visit.go("/cart", "Your cart is empty.")
    errors: dict[str, str] = {}
    values: dict[str, str] = {}
    status = 200
    if visit.request.method == "POST":
        form = await visit.form()
        address = _picked_address(visit, form, "address")
        method = form.choice("method", "shipping method", METHOD_CODES)
        if not form.errors:
            save = form.get("address") == "new" and form.ticked("save")
            _keep(visit, {"shipping": address, "method": method, "save": save})
            return visit.go("/checkout/payment")
        errors, values, status = form.errors, form.values, 422
    return visit.render(
        "checkout_shipping.html", status, items=items, subtotal=subtotal(items), addresses=_addresses(visit),
        errors=errors, values=values,
        methods=[(method, cart_totals(visit, items, method.code, "").shipping) for method in SHIPPING_METHODS],
    )  # fmt: skip


async def checkout_payment(visit: ShopVisit) -> Response:
    items = cart_items(visit)
    if not items or "shipping" not in visit.checkout:
        return visit.go("/checkout/shipping")
    errors: dict[str, str] = {}
    values: dict[str, str] = {}
    status = 200
    if visit.request.method == "POST":
        form = await visit.form()
        payment = form.choice("payment", "payment method", list(PAYMENT_METHODS))
        billing = visit.checkout["shipping"]
        if form.get("billing") != "same":
            billing = _picked_address(visit, form, "billing", may_be_new=False)
        if not form.errors:
            _keep(visit, visit.checkout | {"payment": payment, "billing": billing})
            return visit.go("/checkout/review")
        errors, values, status = form.errors, form.values, 422
    return visit.render(
        "checkout_payment.html", status, items=items, addresses=_addresses(visit), errors=errors, values=values,
        sums=cart_totals(visit, items, visit.checkout["method"], visit.checkout["shipping"]["region"]),
    )  # fmt: skip


async def checkout_review(visit: ShopVisit) -> Response:
    items = cart_items(visit)
    if not items or "payment" not in visit.checkout:
        return visit.go("/checkout/shipping")
    sums = cart_totals(visit, items, visit.checkout["method"], visit.checkout["shipping"]["region"])
    return visit.render("checkout_review.html", items=items, sums=sums, checkout=visit.checkout)


async def place_order(visit: ShopVisit) -> Response:
    items = cart_items(visit)
    if not items:
        return visit.go("/cart", "Your cart is empty.")
    if "payment" not in visit.checkout:
        return visit.go("/checkout/shipping")
    for item in items:
        _check_options(visit.world, item["product_id"], item["name"], item["options"])
    _check_stocks(items)
    with visit.world.write():
        number = _add_order(visit, items)
    return visit.go(f"/checkout/success/{number}")


async def checkout_success(visit: ShopVisit) -> Response:
    order = visit.world.row(
        "SELECT * FROM orders WHERE number = ? AND customer_id = ?",
        visit.request.path_params["number"], visit.customer_id,
    )  # fmt: skip
    if order is None:
        raise HTTPException(404, "We could not find this order.")
    return visit.render("checkout_success.html", order=order)


def read_address(form: FormFields) -> dict[str, str]:
    return {
        "first_name": form.text("first_name", "First name", most=60),
        "last_name": form.text("last_name", "Last name", most=60),
        "street": form.text("street", "Street address"),
        "street2": form.text("street2", "Apartment or suite", needed=False),
        "city": form.text("city", "City"),
        "region": form.choice("region", "state", tuple(STATES)),
        "postcode": form.text("postcode", "ZIP code", most=10),
        "phone": form.text("phone", "Phone number", most=30),
    }


def _add_order(visit: ShopVisit, items: list[Row]) -> str:
    """Creates the order with its items and addresses, and empties the cart. Call inside a write."""
    world, draft = visit.world, visit.checkout
    sums = cart_totals(visit, items, draft["method"], draft["shipping"]["region"])
    code = applied(visit, items)
    order_id: int = world.scalar("SELECT ifnull(max(id), 0) + 1 FROM orders")
    number = str(FIRST_NUMBER + order_id)
    world.db.execute(
        "INSERT INTO orders VALUES (?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (order_id, number, visit.customer_id, stamp(world.now()), draft["method"], draft["payment"],
         code.coupon.code if code and not code.problem else "", sums.subtotal, sums.discount, sums.shipping, sums.tax,
         sums.total),
    )  # fmt: skip
    for item in items:
        world.db.execute(
            "INSERT INTO order_items (order_id, product_id, sku, name, options, unit_price_cents, quantity,"
            " list_price_cents) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (order_id, item["product_id"], item["sku"], item["name"], item["options"], item["price_cents"],
             item["quantity"], item["list_price_cents"]),
        )  # fmt: skip
    for kind in ("shipping", "billing"):
        address = [draft[kind][name] for name in ADDRESS_FIELDS]
        world.db.execute(
            "INSERT INTO order_addresses VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (order_id, kind, *address)
        )
    if draft["save"]:
        address = [draft["shipping"][name] for name in ADDRESS_FIELDS]
        world.db.execute(
            "INSERT INTO addresses (customer_id, first_name, last_name, street, street2, city, region, postcode, phone,"
            " is_default_billing, is_default_shipping) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)",
            (visit.customer_id, *address),
        )
        make_default(visit, world.db.last_insert_rowid(), False, False)
    for table in ("cart_items", "cart_coupons"):
        world.db.execute(f"DELETE FROM {table} WHERE customer_id = ?", (visit.customer_id,))
    world.db.execute("UPDATE sessions SET checkout = '{}' WHERE token = ?", (visit.token,))
    return number


def make_default(visit: ShopVisit, address_id: int, billing: bool, shipping: bool) -> None:
    """Exactly one address is the default of each kind, so it can only be replaced. Call inside a write."""
    for column, wanted in (("is_default_billing", billing), ("is_default_shipping", shipping)):
        there_is_one = visit.world.scalar(
            f"SELECT 1 FROM addresses WHERE customer_id = ? AND {column} AND id <> ?", visit.customer_id, address_id
        )
        if wanted or not there_is_one:
            visit.world.db.execute(
                f"UPDATE addresses SET {column} = (id = ?) WHERE customer_id = ?", (address_id, visit.customer_id)
            )


def _addresses(visit: ShopVisit) -> list[Row]:
    return visit.world.rows(
        "SELECT * FROM addresses WHERE customer_id = ? ORDER BY is_default_shipping DESC, id", visit.customer_id
    )


def _picked_address(visit: ShopVisit, form: FormFields, name: str, may_be_new: bool = True) -> dict[str, str]:
    """One of the customer's addresses, or one that was typed in."""
    saved = {str(row["id"]): row for row in _addresses(visit)}
    picked = form.choice(
        name, f"{name} address" if name == "billing" else name, [*saved, *(["new"] if may_be_new else [])]
    )
    if picked == "new":
        return read_address(form)
    return {field: saved[picked][field] for field in ADDRESS_FIELDS} if picked in saved else {}


def _keep(visit: ShopVisit, draft: dict[str, Any]) -> None:
    with visit.world.write() as db:
        db.execute("UPDATE sessions SET checkout = ? WHERE token = ?", (json.dumps(draft), visit.token))
