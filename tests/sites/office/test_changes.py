"""The forms of the back office, filled in as with a browser: what they answer, and the rows that they change."""

from html import unescape

import httpx
import pytest

from tests.sites.office.visits import (
    CATALOG,
    MANAGER,
    OWNER,
    SALES,
    VIEWER,
    added,
    edited,
    filled_in,
    forms_on,
    one,
    problems,
    refused,
    removed,
    submit,
    ticks,
    told,
)
from tests.sites.shop_visits import ADDRESS, MARCUS, NORA, content, one_id
from tests.sites.visitors import visitor
from webassay.sites.admin.app import _ROUTES
from webassay.sites.kit import Row, World


def pending(world: World) -> Row:
    return one(world, "SELECT * FROM orders WHERE status = 'pending' ORDER BY id DESC")


# --- orders and invoices ----------------------------------------------------------------------------------

SHIP = {"carrier": "UPS", "tracking": "1Z999"}


@pytest.mark.parametrize("kind", ["billing", "shipping"])
async def test_one_address_of_an_order_is_changed(owner, world, kind):
    order = pending(world)
    before = one(world, "SELECT * FROM order_addresses WHERE order_id = ? AND kind = ?", order["id"], kind)
    path = f"/orders/{order['number']}/address/{kind}"
    assert f'href="{path}"' in (await owner.get(f"/orders/{order['number']}")).text
    answer = await submit(owner, path, ADDRESS)
    assert await told(owner, answer) == (f"/orders/{order['number']}", f"The {kind} address was saved.")
    assert edited(world) == {
        ("order_addresses", order["id"], kind): {
            name: (before[name], value) for name, value in ADDRESS.items() if before[name] != value
        }
    }
    page = (await owner.get(f"/orders/{order['number']}")).text
    assert "Nora Castellano<br>12 Test Lane<br>Apt 9<br>Austin, Texas 78701<br>" in page


async def test_an_address_with_mistakes_is_shown_again_with_what_is_wrong(owner, world):
    wrong = {"first_name": " ", "region": "", "postcode": "78701-000-12", "phone": "5" * 31}
    answer = await submit(owner, f"/orders/{pending(world)['number']}/address/shipping", wrong)
    assert problems(answer) == {
        "first_name": "First name is required.",
        "region": "Choose a state.",
        "postcode": "ZIP code must be at most 10 characters.",
        "phone": "Phone number must be at most 30 characters.",
    }
    (form,) = [form for form in forms_on(answer.text) if not form.action]
    assert (form.fields["postcode"], form.fields["region"]) == ("78701-000-12", "")
    assert content(world) == []


@pytest.mark.parametrize("kind", ["billing", "shipping"])
async def test_a_parcel_that_is_on_its_way_keeps_its_addresses(owner, world, kind):
    number = pending(world)["number"]
    path = f"/orders/{number}/address/{kind}"
    await submit(owner, f"/orders/{number}/ship", SHIP)
    before = content(world)
    for answer in (await owner.get(path), await owner.post(path, data=ADDRESS)):
        assert refused(answer) == (409, f"Order # {number} has been shipped already.")
    assert path not in (await owner.get(f"/orders/{number}")).text
    assert content(world) == before


async def test_an_order_has_two_kinds_of_addresses(owner, world):
    answer = await owner.post(f"/orders/{pending(world)['number']}/address/holiday", data=ADDRESS)
    assert refused(answer) == (404, "There is no such address.")
    assert content(world) == []


LATE: tuple[tuple[str, str, dict[str, str], str, dict[str, str], str], ...] = (
    ("pending", "invoice", {}, "invoice", {}, "has an invoice already."),
    ("pending", "cancel", {}, "cancel", {}, "is canceled and cannot be canceled."),
    ("pending", "cancel", {}, "ship", SHIP, "is canceled and cannot be shipped."),
    ("pending", "cancel", {}, "address/billing", ADDRESS, "is canceled and cannot be changed."),
    ("pending", "ship", SHIP, "address/shipping", ADDRESS, "has been shipped already."),
    ("pending", "ship", SHIP, "ship", SHIP, "has been shipped already."),
    ("pending", "ship", SHIP, "cancel", {}, "is processing and cannot be canceled."),
    ("pending", "hold", {}, "hold", {}, "is on hold and cannot be put on hold."),
    ("pending", "hold", {}, "invoice", {}, "is on hold and cannot be invoiced."),
    ("processing", "hold", {}, "refund", {"amount": "1", "reason": "Goodwill"}, "is on hold and cannot be refunded."),
)


@pytest.mark.parametrize(
    ("status", "first", "form", "late", "late_form", "says"), LATE, ids=[f"{case[1]}-{case[3]}" for case in LATE]
)
async def test_whoever_comes_second_hears_why_not_and_changes_nothing(
    world, status, first, form, late, late_form, says
):
    order = one(world, "SELECT * FROM orders WHERE status = ? ORDER BY id DESC", status)
    at = f"/orders/{order['number']}"

    async def fill_in(client: httpx.AsyncClient, action: str, typed: dict[str, str]) -> dict[str, str]:
        if typed:
            return await filled_in(client, f"{at}/{action}", typed)
        return await filled_in(client, at, {}, f"{at}/{action}")

    async with visitor(world, SALES) as quick, visitor(world, MANAGER) as slow:
        waiting = await fill_in(slow, late, late_form)
        done = await quick.post(f"{at}/{first}", data=await fill_in(quick, first, form))
        assert done.status_code == 303
        before = content(world)
        answer = await slow.post(f"{at}/{late}", data=waiting)
    assert answer.status_code == 409
    assert says in refused(answer)[1] and order["number"] in refused(answer)[1]
    assert before != [] and content(world) == before


async def test_money_is_refunded_once(world):
    order = one(world, "SELECT * FROM orders WHERE status = 'processing' ORDER BY id DESC")
    path = f"/orders/{order['number']}/refund"
    everything = {"amount": f"{order['total_cents'] / 100:.2f}", "reason": "Goodwill"}
    async with visitor(world, SALES) as quick, visitor(world, MANAGER) as slow:
        waiting = await filled_in(slow, path, everything)
        where, says = await told(quick, await submit(quick, path, everything))
        assert where == f"/orders/{order['number']}" and "was refunded with credit memo 4" in says
        before = content(world)
        answer = await slow.post(path, data=waiting)
    assert refused(answer) == (409, f"Order # {order['number']} is closed and cannot be refunded.")
    assert content(world) == before
    assert sorted(change.table for change in before) == ["orders", "refunds"]


async def test_invoices_are_marked_as_paid_unless_they_are(owner, world):
    newest = world.rows("SELECT * FROM invoices ORDER BY created_at DESC, id DESC LIMIT 100")
    unpaid = [invoice for invoice in newest if invoice["status"] == "open"][:2]
    paid = [invoice for invoice in newest if invoice["status"] == "paid"][:2]
    answer = await submit(
        owner, "/invoices?limit=100", {"action": "paid", **ticks(unpaid), **ticks(paid)}, "/bulk/invoices"
    )
    assert await told(owner, answer) == ("/invoices?limit=100&p=1", "2 invoices were marked as paid.")
    assert edited(world) == {("invoices", row["id"]): {"status": ("open", "paid")} for row in unpaid}
    assert "<td>Paid</td>" in (await owner.get(f"/invoices/{unpaid[0]['id']}")).text
    answer = await submit(owner, "/invoices?limit=100", {"action": "paid", **ticks(paid)}, "/bulk/invoices")
    assert (await told(owner, answer))[1] == "0 invoices were marked as paid."
    assert len(edited(world)) == 2


# --- people -----------------------------------------------------------------------------------------------


def first_customers(world: World, subscribed: bool, count: int) -> list[Row]:
    """Of those that the grid shows on its first page."""
    rows = world.rows("SELECT * FROM customers ORDER BY id LIMIT 100")
    emails = {row["email"].lower() for row in world.rows("SELECT email FROM newsletter_subscribers")}
    return [row for row in rows if (row["email"].lower() in emails) == subscribed][:count]


async def test_customers_are_subscribed_unless_they_are(owner, world):
    new, old = first_customers(world, False, 2), first_customers(world, True, 1)
    typed = {"action": "subscribe", **ticks(new), **ticks(old)}
    answer = await submit(owner, "/customers?limit=100", typed, "/bulk/customers")
    assert await told(owner, answer) == ("/customers?limit=100&p=1", "2 customers were subscribed.")
    rows = added(world)
    assert [(table, row["email"], row["subscribed_at"][:16]) for table, row in rows] == [
        ("newsletter_subscribers", email, "2026-03-01 09:00") for email in sorted(row["email"] for row in new)
    ]


async def test_customers_are_unsubscribed_if_they_are_subscribed(owner, world):
    (never,), (old,) = first_customers(world, False, 1), first_customers(world, True, 1)
    row = one(world, "SELECT * FROM newsletter_subscribers WHERE email = ?", old["email"])
    typed = {"action": "unsubscribe", **ticks([never, old])}
    answer = await submit(owner, "/customers?limit=100", typed, "/bulk/customers")
    assert (await told(owner, answer))[1] == "1 customer was unsubscribed."
    assert removed(world) == [("newsletter_subscribers", row)]


@pytest.mark.parametrize("grid", ["orders", "invoices", "products", "customers", "reviews", "reviews/pending", "pages"])
async def test_a_bulk_action_needs_an_action_and_rows(owner, world, grid):
    (form,) = [form for form in forms_on((await owner.get(f"/{grid}")).text) if form.action == f"/bulk/{grid}"]
    box, action = next(iter(form.boxes)), form.choices["action"][1]
    for typed in ({"action": action}, {"action": "", box: "1"}):
        where, says = await told(owner, await submit(owner, f"/{grid}", typed, f"/bulk/{grid}"))
        assert where == f"/{grid}?p=1" and says.startswith("Please ")
    assert content(world) == []


async def test_a_customer_gets_another_name_and_email(owner, customer, world):
    number = one_id(world, NORA)
    typed = {"last_name": "O’Castellano", "email": "nora.new@example.com"}
    answer = await submit(owner, f"/customers/{number}", typed)
    assert await told(owner, answer) == (f"/customers/{number}", "You saved the customer.")
    assert edited(world) == {
        ("customers", number): {"last_name": ("Castellano", "O’Castellano"), "email": (NORA, "nora.new@example.com")}
    }
    page = unescape((await customer.get("/account")).text)
    assert "O’Castellano" in page and "nora.new@example.com" in page


async def test_two_customers_do_not_have_the_same_email(owner, world):
    path = f"/customers/{one_id(world, NORA)}"
    answer = await submit(owner, path, {"email": MARCUS.upper()})
    assert problems(answer) == {"email": "Another customer has this email."}
    answer = await submit(owner, path, {"email": "nora", "first_name": ""})
    assert problems(answer) == {
        "first_name": "First name is required.",
        "email": "Enter a valid email address, such as name@example.com.",
    }
    assert content(world) == []


def staff(world: World, username: str) -> int:
    number: int = world.scalar("SELECT id FROM admins WHERE username = ?", username)
    return number


async def test_a_user_sees_what_the_new_role_sees_at_once(owner, world):
    number = staff(world, SALES)
    async with visitor(world, SALES) as lena:
        assert (await lena.get("/orders")).status_code == 200
        answer = await submit(owner, f"/users/{number}", {"role": "catalog"})
        assert await told(owner, answer) == ("/users", "You saved the user.")
        assert edited(world) == {("admins", number): {"role": ("sales", "catalog")}}
        page = (await lena.get("/")).text
        assert "Lena Sato (Catalog)" in page and "All Reviews" in page and "Invoices" not in page
        assert refused(await lena.get("/orders")) == (403, "Your role, Catalog, may not see orders.")
        assert (await submit(lena, "/products/1", {"stock": "77"})).status_code == 303


async def test_somebody_stays_the_owner(owner, world):
    own = staff(world, OWNER)
    answer = await submit(owner, f"/users/{own}", {"role": "manager"})
    assert problems(answer) == {"role": "Somebody has to be the owner."}
    assert content(world) == []
    await submit(owner, f"/users/{staff(world, MANAGER)}", {"role": "owner"})
    assert (await submit(owner, f"/users/{own}", {"role": "viewer"})).status_code == 303
    assert edited(world) == {
        ("admins", staff(world, MANAGER)): {"role": ("manager", "owner")},
        ("admins", own): {"role": ("owner", "viewer")},
    }
    assert refused(await owner.get("/users")) == (403, "Your role, Viewer, may not see users.")


# --- reviews ----------------------------------------------------------------------------------------------


def review(world: World, status: str) -> Row:
    """The newest of its product, so that the storefront shows it first, and its only one with these words."""
    return one(
        world,
        "SELECT v.*, p.slug FROM reviews AS v JOIN products AS p ON p.id = v.product_id WHERE v.status = ? AND NOT"
        " EXISTS (SELECT 1 FROM reviews AS o WHERE o.product_id = v.product_id AND o.id <> v.id"
        " AND (o.created_at >= v.created_at OR o.text = v.text)) ORDER BY v.id",
        status,
    )  # fmt: skip


def rating(world: World, product_id: int) -> tuple[int, int]:
    row = one(world, "SELECT * FROM product_ratings WHERE product_id = ?", product_id)
    return row["review_count"], row["rating_sum"]


@pytest.mark.parametrize(
    ("was", "action", "becomes", "shown"),
    [
        ("pending", "approve", "approved", 1),
        ("rejected", "approve", "approved", 1),
        ("pending", "reject", "rejected", 0),
        ("approved", "reject", "rejected", -1),
    ],
)
async def test_the_storefront_shows_the_reviews_that_were_approved(
    owner, customer, world,
    was, action, becomes, shown
):  # fmt: skip
    found = review(world, was)
    at = f"/reviews/{found['id']}"
    count, stars = rating(world, found["product_id"])
    page = unescape((await customer.get(f"/p/{found['slug']}?reviews=1")).text)
    assert (found["text"] in page) == (was == "approved")
    answer = await submit(owner, at, to=f"{at}/{action}")
    assert await told(owner, answer) == (at, f"The review was {becomes}.")
    assert edited(world) == {("reviews", found["id"]): {"status": (was, becomes)}}
    assert rating(world, found["product_id"]) == (count + shown, stars + shown * found["rating"])
    page = unescape((await customer.get(f"/p/{found['slug']}?reviews=1")).text)
    assert (found["text"] in page) == (becomes == "approved")
    assert f"Reviews ({count + shown})" in page
    assert f"{at}/{action}" not in {form.action for form in forms_on((await owner.get(at)).text)}


@pytest.mark.parametrize(("action", "becomes"), [("reject", "rejected"), ("approve", "approved")])
async def test_reviews_that_wait_are_decided_together(owner, world, action, becomes):
    waiting = world.rows("SELECT * FROM reviews WHERE status = 'pending' ORDER BY created_at DESC, id DESC")
    chosen = waiting[:3]
    answer = await submit(owner, "/reviews/pending", {"action": action, **ticks(chosen)}, "/bulk/reviews/pending")
    assert await told(owner, answer) == ("/reviews/pending?p=1", f"3 reviews were {becomes}.")
    assert edited(world) == {("reviews", row["id"]): {"status": ("pending", becomes)} for row in chosen}
    assert f">{len(waiting) - 3} reviews found<" in (await owner.get("/reviews/pending")).text


async def test_a_review_is_deleted(owner, world):
    row = one(world, "SELECT * FROM reviews WHERE status = 'approved' ORDER BY id")
    count, stars = rating(world, row["product_id"])
    answer = await submit(owner, f"/reviews/{row['id']}", to=f"/reviews/{row['id']}/delete")
    assert await told(owner, answer) == ("/reviews/pending", "The review was deleted.")
    assert removed(world) == [("reviews", row)]
    assert rating(world, row["product_id"]) == (count - 1, stars - row["rating"])


# --- pages ------------------------------------------------------------------------------------------------


async def test_pages_are_taken_from_the_storefront_and_put_back(owner, customer, world):
    pages = world.rows("SELECT * FROM cms_pages WHERE url_key IN ('cookies', 'careers') ORDER BY id")
    answer = await submit(owner, "/pages", {"action": "disable", **ticks(pages)}, "/bulk/pages")
    assert await told(owner, answer) == ("/pages?p=1", "2 pages were updated.")
    assert edited(world) == {("cms_pages", page["id"]): {"enabled": (1, 0)} for page in pages}
    assert (await customer.get("/pages/cookies")).status_code == 404
    assert (await customer.get("/pages/gift-cards")).status_code == 200
    answer = await submit(owner, "/pages", {"action": "enable", **ticks(pages[:1])}, "/bulk/pages")
    assert (await told(owner, answer))[1] == "1 page was updated."
    assert list(edited(world)) == [("cms_pages", pages[1]["id"])]
    assert (await customer.get(f"/pages/{pages[0]['url_key']}")).status_code == 200


async def test_a_page_is_written_and_rewritten(owner, customer, world):
    text = {"title": "Opening Hours", "url_key": "hours", "content": "From 9 to 5.\n\nNot on Sundays."}
    assert await told(owner, await submit(owner, "/pages/new", text)) == ("/pages", "You saved the page.")
    ((table, row),) = added(world)
    assert table == "cms_pages"
    assert {name: row[name] for name in (*text, "enabled")} == {**text, "enabled": 1}
    assert "<p>From 9 to 5.</p>" in (await customer.get("/pages/hours")).text
    answer = await submit(owner, "/pages/new", text)
    assert problems(answer) == {"url_key": "Another page has this URL key."}
    await submit(owner, f"/pages/{row['id']}", {"url_key": "opening-hours", "enabled": None})
    ((_, again),) = added(world)
    assert {**again, "updated_at": ""} == {**row, "url_key": "opening-hours", "enabled": 0, "updated_at": ""}
    assert again["updated_at"] > row["updated_at"]
    assert (await customer.get("/pages/opening-hours")).status_code == 404


# --- what stays as it is ----------------------------------------------------------------------------------

FORMS_WITH_VALUES = (
    ("/products/{}", "SELECT min(id) FROM products GROUP BY list_price_cents IS NULL, size = '', highlights = ''"),
    ("/customers/{}", "SELECT id FROM customers LIMIT 3"),
    ("/coupons/{}", "SELECT min(code) FROM coupons GROUP BY kind, department_id IS NULL"),
    ("/price-rules/{}", "SELECT min(id) FROM price_rules GROUP BY department_id IS NULL"),
    ("/categories/{}", "SELECT min(id) FROM categories GROUP BY level"),
    ("/users/{}", "SELECT id FROM admins"),
    ("/orders/{}/address/billing", "SELECT number FROM orders WHERE status = 'pending' LIMIT 3"),
    ("/orders/{}/address/shipping", "SELECT number FROM orders WHERE status = 'processing' LIMIT 3"),
)


@pytest.mark.parametrize(("path", "which"), FORMS_WITH_VALUES, ids=[path for path, _ in FORMS_WITH_VALUES])
async def test_a_form_that_is_saved_as_it_was_opened_changes_nothing(owner, world, path, which):
    keys = [key for (key,) in world.db.execute(which)]
    assert keys
    for key in keys:
        assert (await submit(owner, path.format(key))).status_code == 303
    assert content(world) == []


RULE = {"name": "x", "department_id": "", "percent": "5", "starts_on": "3/1/2026", "ends_on": "3/9/2026"}
FORBIDDEN: tuple[tuple[str, dict[str, str], str], ...] = (
    ("/orders/{number}/hold", {}, "may look at orders"),
    ("/bulk/invoices", {"action": "paid", "pick-{invoice}": "1"}, "may look at orders"),
    ("/bulk/products", {"action": "disable", "pick-1": "1"}, "may look at products"),
    ("/categories/3", {"name": "Samovars"}, "may look at products"),
    ("/attributes/Color", {"value": "Ultraviolet"}, "may look at products"),
    ("/customers/9", {"first_name": "A", "last_name": "B", "email": "a@example.com"}, "may look at customers"),
    ("/bulk/reviews", {"action": "delete", "pick-1": "1"}, "may look at reviews"),
    ("/price-rules/new", RULE, "may look at price rules"),
    ("/bulk/pages", {"action": "disable", "pick-2": "1"}, "may look at pages"),
    ("/users/5", {"role": "owner"}, "may not see users"),
)


@pytest.mark.parametrize(("path", "form", "says"), FORBIDDEN, ids=[case[0] for case in FORBIDDEN])
async def test_a_viewer_changes_nothing_that_the_owner_could(owner, world, path, form, says):
    invoice: int = world.scalar("SELECT id FROM invoices WHERE status = 'open' ORDER BY id")
    path = path.format(number=pending(world)["number"])
    form = {name.format(invoice=invoice): value for name, value in form.items()}
    async with visitor(world, VIEWER) as ivy:
        status, reason = refused(await ivy.post(path, data=form))
        assert status == 403 and says in reason
        assert content(world) == []
    assert (await owner.post(path, data=form)).status_code == 303
    assert len(content(world)) == 1


async def test_no_form_at_all_is_open_to_a_viewer(world):
    params = {"number": pending(world)["number"], "kind": "billing", "action": "hold", "id": "1", "attribute": "Color",
              "code": "BROOK20"}  # fmt: skip
    paths = {route.path.format(**params) for route in _ROUTES if "POST" in (route.methods or ())}
    async with visitor(world, VIEWER) as ivy:
        answers = {path: (await ivy.post(path)).status_code for path in sorted(paths - {"/login", "/logout"})}
    assert len(answers) > 25 and set(answers.values()) == {403}
    assert content(world) == []


async def test_a_catalog_manager_leaves_prices_and_people_alone(world):
    async with visitor(world, CATALOG) as tomas:
        assert "Add New Rule" not in (await tomas.get("/price-rules")).text
        for path in ("/price-rules/1", "/coupons/BROOK20"):
            assert not any(form.has_button for form in forms_on((await tomas.get(path)).text) if not form.action), path
        assert (await tomas.get("/customers")).status_code == 403
        assert (await submit(tomas, "/pages/2", {"title": "Us"})).status_code == 303
    assert list(edited(world)) == [("cms_pages", 2)]
