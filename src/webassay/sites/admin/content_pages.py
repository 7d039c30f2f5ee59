"""Reviews, pages, price rules, coupons, customers, users: what is read, decided and written."""

import re

from starlette.exceptions import HTTPException
from starlette.responses import Response

from webassay.sites.admin.rights import ROLES
from webassay.sites.admin.web import OfficeVisit, shop_address
from webassay.sites.kit import Row, World
from webassay.sites.receipts import ours, written
from webassay.sites.shop.web import move_subscription
from webassay.sites.web.dates import stamp
from webassay.sites.web.forms import FormFields, safe_path, whole_number
from webassay.sites.web.grids import picked

REVIEW_ACTIONS = {"approve": "approved", "reject": "rejected"}
LARGEST_DISCOUNT = 90

# --- reviews ----------------------------------------------------------------------------------------------


def _review(visit: OfficeVisit) -> Row:
    return visit.one(
        "SELECT v.*, p.id AS product_key, p.name AS product, p.sku FROM reviews AS v"
        " JOIN products AS p ON p.id = v.product_id WHERE v.id = ?",
        visit.number(), what="review",
    )  # fmt: skip


async def review(visit: OfficeVisit) -> Response:
    return visit.render("review.html", review=_review(visit), may=visit.may_change("reviews"), errors={}, values={})


async def decide_review(visit: OfficeVisit) -> Response:
    """Approves, rejects or deletes."""
    found = _review(visit)
    action = visit.request.path_params["action"]
    if action not in (*REVIEW_ACTIONS, "delete"):
        raise HTTPException(404)
    with visit.world.write():
        _decide(visit.world, found["id"], action)
    done = {"approve": "approved", "reject": "rejected", "delete": "deleted"}[action]
    return visit.go("/reviews/pending" if action == "delete" else f"/reviews/{found['id']}", f"The review was {done}.")


def _decide(world: World, review_id: int, action: str) -> None:
    """Call inside a write."""
    if action == "delete":
        world.db.execute("DELETE FROM reviews WHERE id = ?", (review_id,))
    else:
        world.db.execute("UPDATE reviews SET status = ? WHERE id = ?", (REVIEW_ACTIONS[action], review_id))


async def bulk_reviews(visit: OfficeVisit) -> Response:
    form = await visit.form()
    back = safe_path(form.get("back"), "/reviews")
    action = form.get("action")
    numbers = picked(form)
    if action not in (*REVIEW_ACTIONS, "delete"):
        return visit.go(back, "Please choose an action.")
    if not numbers:
        return visit.go(back, "Please select some reviews.")
    with visit.world.write():
        there = [n for n in numbers if visit.world.scalar("SELECT 1 FROM reviews WHERE id = ?", n)]
        for number in there:
            _decide(visit.world, number, action)
    verb = {"approve": "approved", "reject": "rejected", "delete": "deleted"}[action]
    return visit.go(back, f"{len(there)} {'review was' if len(there) == 1 else 'reviews were'} {verb}.")


async def review_stars(visit: OfficeVisit) -> Response:
    """The rating as a picture, which is the only place where it stands."""
    rating = _review(visit)["rating"]
    written(rating)
    stars = "".join(
        f'<path transform="translate({place * 34} 0)" d="M17 2l4.6 10 10.9 1.2-8.1 7.4 2.3 10.7L17 25.8 7.3 31.3'
        f' 9.6 20.6 1.5 13.2 12.4 12z" fill="{"#d98a00" if place < rating else "#d5d9dd"}"/>'
        for place in range(5)
    )
    picture = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 170 34" width="170" height="34">{stars}</svg>'
    return Response(picture, media_type="image/svg+xml", headers={"cache-control": "private, no-cache"})


# --- pages ------------------------------------------------------------------------------------------------


async def edit_page(visit: OfficeVisit) -> Response:
    found = visit.one("SELECT * FROM cms_pages WHERE id = ?", visit.number(), what="page")
    return await _page(visit, found)


async def new_page(visit: OfficeVisit) -> Response:
    return await _page(visit, None)


async def _page(visit: OfficeVisit, found: Row | None) -> Response:
    context: Row = {"page": found, "may": visit.may_change("content"), "store": shop_address(visit.world)}
    if visit.request.method == "GET":
        return visit.render("page.html", errors={}, values=found or {"enabled": 1}, **context)
    form = await visit.form()
    title = form.text("title", "Title")
    key = form.text("url_key", "URL key", most=60)
    content = form.text("content", "Content", most=10_000, lines=True)
    enabled = int(form.ticked("enabled"))
    own = found["id"] if found else 0
    if "url_key" not in form.errors and not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", key):
        form.errors["url_key"] = "A URL key has small letters and digits, with hyphens between them."
    elif visit.world.scalar("SELECT 1 FROM cms_pages WHERE url_key = ? AND id <> ?", key, own):
        form.errors["url_key"] = "Another page has this URL key."
    if form.errors:
        return visit.render("page.html", 422, errors=form.errors, values=form.values, **context)
    with visit.world.write() as db:
        now = stamp(visit.world.now())
        if found is None:
            db.execute(
                "INSERT INTO cms_pages (title, url_key, content, enabled, updated_at) VALUES (?, ?, ?, ?, ?)",
                (title, key, content, enabled, now),
            )
        else:
            db.execute(
                "UPDATE cms_pages SET title = ?, url_key = ?, content = ?, enabled = ?, updated_at = ? WHERE id = ?",
                (title, key, content, enabled, now, own),
            )
    return visit.go("/pages", "You saved the page.")


async def bulk_pages(visit: OfficeVisit) -> Response:
    form = await visit.form()
    back = safe_path(form.get("back"), "/pages")
    numbers = picked(form)
    if form.get("action") not in ("enable", "disable") or not numbers:
        return visit.go(back, "Please choose an action and select some pages.")
    wanted, changed = int(form.get("action") == "enable"), 0
    with visit.world.write() as db:
        for number in numbers:
            db.execute(
                "UPDATE cms_pages SET enabled = ?, updated_at = ? WHERE id = ? AND enabled <> ?",
                (wanted, stamp(visit.world.now()), number, wanted),
            )
            changed += db.changes()
    return visit.go(back, f"{changed} {'page was' if changed == 1 else 'pages were'} updated.")


# --- price rules ------------------------------------------------------------------------------------------


def departments(world: World) -> dict[str, str]:
    rows = world.rows("SELECT id, name FROM categories WHERE level = 1 ORDER BY position")
    return {str(row["id"]): row["name"] for row in rows}


def _days(form: FormFields) -> tuple[str, str]:
    first, last = form.date("starts_on", "The first day"), form.date("ends_on", "The last day")
    if not {"starts_on", "ends_on"} & set(form.errors) and last < first:
        form.errors["ends_on"] = "The last day is before the first."
    return first, last


def _department(form: FormFields, known: dict[str, str]) -> int | None:
    return whole_number(form.choice("department_id", "department", ("", *known)))


async def edit_rule(visit: OfficeVisit) -> Response:
    return await _rule(visit, visit.one("SELECT * FROM price_rules WHERE id = ?", visit.number(), what="rule"))


async def new_rule(visit: OfficeVisit) -> Response:
    return await _rule(visit, None)


async def _rule(visit: OfficeVisit, found: Row | None) -> Response:
    known = departments(visit.world)
    context: Row = {"rule": found, "departments": known, "may": visit.may_change("marketing")}
    if visit.request.method == "GET":
        return visit.render("price_rule.html", errors={}, values=_with_days(found) if found else {}, **context)
    if found is not None and found["status"] == "active":
        raise HTTPException(409, "This rule is active. End it before you change it.")
    form = await visit.form()
    row = {
        "name": form.text("name", "Rule name"),
        "department_id": _department(form, known),
        "percent": form.number("percent", "Discount", 1, LARGEST_DISCOUNT),
    }
    row["starts_on"], row["ends_on"] = _days(form)
    if form.errors:
        return visit.render("price_rule.html", 422, errors=form.errors, values=form.values, **context)
    with visit.world.write() as db:
        if found is None:
            db.execute(
                "INSERT INTO price_rules (name, department_id, percent, starts_on, ends_on, status)"
                " VALUES (?, ?, ?, ?, ?, 'inactive')",
                tuple(row.values()),
            )
        else:
            names = ", ".join(f"{name} = ?" for name in row)
            db.execute(f"UPDATE price_rules SET {names} WHERE id = ?", (*row.values(), found["id"]))
    return visit.go("/price-rules", "You saved the rule.")


async def apply_rule(visit: OfficeVisit) -> Response:
    """Marks down what the rule is for, and is not marked down already."""
    rule = visit.one("SELECT * FROM price_rules WHERE id = ?", visit.number(), what="rule")
    today = stamp(visit.world.now())[:10]
    if rule["status"] == "active":
        raise HTTPException(409, "This rule has been applied already.")
    if not rule["starts_on"] <= today <= rule["ends_on"]:
        raise HTTPException(409, "This rule is not for today, so it cannot be applied.")
    with visit.world.write() as db:
        db.execute(
            "UPDATE products SET list_price_cents = price_cents, price_rule_id = ?, updated_at = ?,"
            " price_cents = max(1, (price_cents * (100 - ?) + 50) / 100) WHERE list_price_cents IS NULL"
            " AND category_id IN (SELECT k.id FROM categories AS k JOIN categories AS m ON m.id = k.parent_id"
            " WHERE k.level = 3 AND (? IS NULL OR m.parent_id = ?))",
            (rule["id"], stamp(visit.world.now()), rule["percent"], rule["department_id"], rule["department_id"]),
        )
        count = db.changes()
        db.execute("UPDATE price_rules SET status = 'active' WHERE id = ?", (rule["id"],))
    return visit.go("/price-rules", f"The rule was applied to {count:,} product{'' if count == 1 else 's'}.")


async def end_rule(visit: OfficeVisit) -> Response:
    """Gives back their prices to those that the rule marked down, unless somebody has changed them since."""
    rule = visit.one("SELECT * FROM price_rules WHERE id = ?", visit.number(), what="rule")
    if rule["status"] != "active":
        raise HTTPException(409, "This rule is not active.")
    with visit.world.write() as db:
        db.execute(
            "UPDATE products SET price_cents = list_price_cents, list_price_cents = NULL, price_rule_id = NULL,"
            " updated_at = ? WHERE price_rule_id = ?",
            (stamp(visit.world.now()), rule["id"]),
        )
        count = db.changes()
        db.execute("UPDATE price_rules SET status = 'inactive' WHERE id = ?", (rule["id"],))
    return visit.go("/price-rules", f"The rule was ended. Products that got their prices back: {count:,}.")


async def edit_coupon(visit: OfficeVisit) -> Response:
    code = visit.request.path_params["code"]
    return await _coupon(visit, visit.one("SELECT * FROM coupons WHERE code = ?", code, what="coupon"))


async def new_coupon(visit: OfficeVisit) -> Response:
    return await _coupon(visit, None)


def _coupon_values(found: Row) -> dict[str, object]:
    percent, dollars = ours("{:g}"), ours("{:.2f}")
    value = percent.format(found["value"]) if found["kind"] == "percent" else dollars.format(found["value"] / 100)
    return {**_with_days(found), "value": value, "minimum": dollars.format(found["minimum_cents"] / 100)}


def _with_days(found: Row) -> Row:
    """Its days as the form asks for them: 03/31/2026."""
    form, days = ours("{}/{}/{}"), {name: found[name] for name in ("starts_on", "ends_on")}
    return {**found, **{name: form.format(day[5:7], day[8:10], day[:4]) for name, day in days.items()}}


async def _coupon(visit: OfficeVisit, found: Row | None) -> Response:
    known = departments(visit.world)
    context: Row = {"coupon": found, "departments": known, "may": visit.may_change("marketing")}
    if visit.request.method == "GET":
        values = _coupon_values(found) if found else {}
        return visit.render("coupon.html", errors={}, values=values, **context)
    form = await visit.form()
    code = form.text("code", "Coupon code", most=20).upper()
    kind = form.choice("kind", "discount", ("percent", "amount", "shipping"))
    value = 0
    if kind == "percent":
        value = form.number("value", "The percentage", 1, LARGEST_DISCOUNT)
    elif kind == "amount":
        value = form.cents("value", "The amount")
    form.values.setdefault("value", form.get("value")[:20])
    department = _department(form, known)
    minimum = form.cents("minimum", "The minimum", 0)
    first, last = _days(form)
    if "code" not in form.errors and (wrong := _wrong_code(visit.world, code, found)):
        form.errors["code"] = wrong
    if form.errors:
        return visit.render("coupon.html", 422, errors=form.errors, values=form.values, **context)
    row = (kind, value, department, minimum, first, last)
    with visit.world.write() as db:
        if found is None:
            db.execute("INSERT INTO coupons VALUES (?, ?, ?, ?, ?, ?, ?)", (code, *row))
        else:
            db.execute(
                "UPDATE coupons SET kind = ?, value = ?, department_id = ?, minimum_cents = ?, starts_on = ?,"
                " ends_on = ? WHERE code = ?",
                (*row, found["code"]),
            )
    return visit.go("/coupons", "You saved the rule.")


def _wrong_code(world: World, code: str, found: Row | None) -> str:
    if not re.fullmatch(r"[A-Z0-9]+", code):
        return "A coupon code has letters and digits only."
    if found is not None and code != found["code"]:
        return f"The code {found['code']} cannot be changed. Create a new rule instead."
    if found is None and world.scalar("SELECT 1 FROM coupons WHERE code = ?", code):
        return "There is already such a code."
    return ""


# --- people -----------------------------------------------------------------------------------------------


async def customer(visit: OfficeVisit) -> Response:
    found = visit.one("SELECT * FROM customers WHERE id = ?", visit.number(), what="customer")
    world, number = visit.world, found["id"]
    context: Row = {
        "customer": found,
        "addresses": world.rows("SELECT * FROM addresses WHERE customer_id = ? ORDER BY id", number),
        "orders": world.rows("SELECT * FROM orders WHERE customer_id = ? ORDER BY id DESC LIMIT 20", number),
        "totals": world.row(
            "SELECT count(*) AS orders, ifnull(sum(iif(status = 'canceled', 0, total_cents)), 0) AS cents"
            " FROM orders WHERE customer_id = ?", number),
        "wishes": world.rows(
            "SELECT p.id, p.name FROM wishlist_items AS w JOIN products AS p ON p.id = w.product_id"
            " WHERE w.customer_id = ? ORDER BY w.id", number),
        "may": visit.may_change("customers"),
    }  # fmt: skip
    if visit.request.method == "GET":
        return visit.render("customer.html", errors={}, values=found, **context)
    form = await visit.form()
    first, last = form.text("first_name", "First name", most=60), form.text("last_name", "Last name", most=60)
    email = form.email()
    if "email" not in form.errors and world.scalar(
        "SELECT 1 FROM customers WHERE email = ? AND id <> ?", email, number
    ):
        form.errors["email"] = "Another customer has this email."
    if form.errors:
        return visit.render("customer.html", 422, errors=form.errors, values=form.values, **context)
    with world.write() as db:
        db.execute(
            "UPDATE customers SET first_name = ?, last_name = ?, email = ? WHERE id = ?", (first, last, email, number)
        )
        move_subscription(world, found["email"], email)
    return visit.go(f"/customers/{number}", "You saved the customer.")


async def bulk_customers(visit: OfficeVisit) -> Response:
    form = await visit.form()
    back = safe_path(form.get("back"), "/customers")
    action, numbers = form.get("action"), picked(form)
    if action not in ("subscribe", "unsubscribe") or not numbers:
        return visit.go(back, "Please choose an action and select some customers.")
    changed = 0
    with visit.world.write() as db:
        for number in numbers:
            if action == "subscribe":
                db.execute(
                    "INSERT OR IGNORE INTO newsletter_subscribers SELECT email, ? FROM customers WHERE id = ?",
                    (stamp(visit.world.now()), number),
                )
            else:
                db.execute(
                    "DELETE FROM newsletter_subscribers WHERE email = (SELECT email FROM customers WHERE id = ?)",
                    (number,),
                )
            changed += db.changes()
    return visit.go(back, f"{changed} {'customer was' if changed == 1 else 'customers were'} {action}d.")


async def user(visit: OfficeVisit) -> Response:
    found = visit.one("SELECT * FROM admins WHERE id = ?", visit.number(), what="user")
    roles = {name: role.name for name, role in ROLES.items()}
    context: Row = {"person": found, "roles": roles}
    if visit.request.method == "GET":
        return visit.render("user.html", errors={}, values=found, **context)
    form = await visit.form()
    role = form.choice("role", "role", tuple(roles))
    owners: int = visit.world.scalar("SELECT count(*) FROM admins WHERE role = 'owner' AND id <> ?", found["id"])
    if not form.errors and role != "owner" and not owners:
        form.errors["role"] = "Somebody has to be the owner."
    if form.errors:
        return visit.render("user.html", 422, errors=form.errors, values=form.values, **context)
    with visit.world.write() as db:
        db.execute("UPDATE admins SET role = ? WHERE id = ?", (role, found["id"]))
    return visit.go("/users", "You saved the user.")
