"""Orders, addresses, wish list, reviews, account: who may change what, and exactly which rows that changes."""

import re

import httpx
import pytest

from tests.sites.shop_visits import (
    ADDRESS,
    COOKIE,
    HOST,
    MARCUS,
    NORA,
    PRIYA,
    content,
    differing,
    one_id,
    picked,
    product,
    summary,
    visitor,
)
from webassay.core.errors import InputError
from webassay.sites.shop import SITE
from webassay.sites.shop.commerce import money
from webassay.sites.shop.seeding.customers import PASSWORD, password_hash
from webassay.sites.web.forms import safe_path

# --- orders ----------------------------------------------------------------------------------------------


async def test_canceling_a_pending_order(world, nora):
    order = world.row("SELECT * FROM orders WHERE customer_id = ? AND status = 'pending'", one_id(world, NORA))
    done = world.row("SELECT * FROM orders WHERE customer_id = ? AND status = 'complete'", one_id(world, NORA))
    assert "Cancel Order" in (await nora.get(f"/account/orders/{order['number']}")).text
    assert "Cancel Order" not in (await nora.get(f"/account/orders/{done['number']}")).text
    for ask in (nora.get, nora.post):
        assert (await ask(f"/account/orders/{done['number']}/cancel")).status_code == 409
    asked = (await nora.get(f"/account/orders/{order['number']}/cancel")).text
    assert "Yes, Cancel This Order" in asked
    assert money(order["total_cents"]) in asked
    assert content(world) == []
    assert (await nora.post(f"/account/orders/{order['number']}/cancel")).status_code == 303
    assert (await nora.post(f"/account/orders/{order['number']}/cancel")).status_code == 409
    [change] = content(world)
    assert (change.table, differing(change)) == ("orders", {"status": ("pending", "canceled")})


async def test_the_list_of_orders_has_two_sizes(world, nora):
    numbers = [
        row["number"]
        for row in world.rows(
            "SELECT number FROM orders WHERE customer_id = ? ORDER BY created_at DESC", one_id(world, NORA)
        )
    ]
    for address, expected in (
        ("/account/orders", numbers[:10]),
        ("/account/orders?limit=20", numbers[:20]),
        ("/account/orders?limit=20&p=2", numbers[20:40]),
    ):
        page = (await nora.get(address)).text
        assert re.findall(r"View Order (\d+)", page) == expected
    assert "limit=20&amp;p=2" in (await nora.get("/account/orders?limit=20")).text
    assert (await nora.get("/account/orders?limit=500")).status_code == 400


async def test_reordering_fills_the_cart(world, nora):
    order = world.row(
        "SELECT o.* FROM orders AS o WHERE customer_id = ? AND NOT EXISTS (SELECT 1 FROM order_items AS i"
        " JOIN products AS p ON p.id = i.product_id WHERE i.order_id = o.id AND p.stock < i.quantity)"
        " ORDER BY id LIMIT 1",
        one_id(world, NORA),
    )
    assert (await nora.post(f"/account/orders/{order['number']}/reorder")).headers["location"] == "/cart"
    expected = world.rows("SELECT product_id, options, quantity FROM order_items WHERE order_id = ?", order["id"])
    assert [picked(change.after, "product_id", "options", "quantity") for change in content(world)] == [
        tuple(row.values()) for row in expected
    ]


async def test_other_peoples_orders_are_forbidden(world, nora):
    number = world.scalar(
        "SELECT number FROM orders WHERE customer_id = ? AND status = 'pending'", one_id(world, PRIYA)
    )
    assert (await nora.get(f"/account/orders/{number}")).status_code == 403
    assert (await nora.get(f"/account/orders/{number}/cancel")).status_code == 403
    for action in ("cancel", "reorder"):
        assert (await nora.post(f"/account/orders/{number}/{action}")).status_code == 403
    assert (await nora.get("/account/orders/424242")).status_code == 404
    assert (await nora.get(f"/checkout/success/{number}")).status_code == 404
    assert content(world) == []


# --- addresses -------------------------------------------------------------------------------------------


async def test_adding_an_address(world, nora):
    answer = await nora.post("/account/addresses/new", data=ADDRESS)
    assert answer.headers["location"] == "/account/addresses"
    [change] = content(world)
    assert picked(change.after, "customer_id", *ADDRESS, "is_default_billing", "is_default_shipping") == (
        one_id(world, NORA), *ADDRESS.values(), 0, 0,
    )  # fmt: skip


async def test_a_new_default_replaces_the_old_one(world, nora):
    nora_id = one_id(world, NORA)
    old = world.scalar("SELECT id FROM addresses WHERE customer_id = ? AND is_default_shipping", nora_id)
    await nora.post("/account/addresses/new", data=ADDRESS | {"is_default_shipping": "1"})
    inserted, updated = sorted(content(world), key=lambda change: change.before is not None)
    assert picked(inserted.after, "is_default_billing", "is_default_shipping") == (0, 1)
    assert updated.key == {"id": old}
    assert differing(updated) == {"is_default_shipping": (1, 0)}


async def test_editing_and_deleting_an_address(world, nora):
    nora_id = one_id(world, NORA)
    spare = world.row(
        "SELECT * FROM addresses WHERE customer_id = ? AND NOT is_default_shipping AND NOT is_default_billing", nora_id
    ) or world.row("SELECT * FROM addresses WHERE customer_id = ?", nora_id)
    default = world.row("SELECT * FROM addresses WHERE customer_id = ? AND is_default_shipping", nora_id)
    assert spare is not None and default is not None
    same = {name: default[name] for name in ADDRESS}
    answer = await nora.post(f"/account/addresses/{default['id']}/edit", data=same | {"city": "El Paso"})
    assert answer.status_code == 303
    [change] = content(world)
    assert differing(change) == {"city": (default["city"], "El Paso")}, "the only default stays the default"
    assert (await nora.post(f"/account/addresses/{default['id']}/delete")).status_code == 409
    await nora.post("/account/addresses/new", data=ADDRESS)
    added = world.scalar("SELECT max(id) FROM addresses")
    assert (await nora.post(f"/account/addresses/{added}/delete")).status_code == 303
    assert [change.key for change in content(world)] == [{"id": default["id"]}]


async def test_other_peoples_addresses_are_forbidden(world, nora):
    foreign = world.scalar("SELECT id FROM addresses WHERE customer_id = ?", one_id(world, PRIYA))
    assert (await nora.get(f"/account/addresses/{foreign}/edit")).status_code == 403
    assert (await nora.post(f"/account/addresses/{foreign}/edit", data=ADDRESS)).status_code == 403
    assert (await nora.post(f"/account/addresses/{foreign}/delete")).status_code == 403
    for unknown in ("999999", "x", "9" * 40, "-1"):
        assert (await nora.get(f"/account/addresses/{unknown}/edit")).status_code == 404
    assert content(world) == []


@pytest.mark.parametrize(
    "wrong",
    [{"street": ""}, {"street": "x" * 101}, {"region": "XX"}, {"region": ""}, {"city": "a\x00b"}, {"postcode": " "}],
)
async def test_addresses_are_checked(world, wrong, nora):
    answer = await nora.post("/account/addresses/new", data=ADDRESS | wrong)
    assert answer.status_code == 422
    assert 'class="field-error"' in answer.text
    assert content(world) == []


# --- wish list -------------------------------------------------------------------------------------------


async def test_the_wish_list(world, nora):
    wished = {row["product_id"] for row in world.rows("SELECT product_id FROM wishlist_items")}
    item = product(world, f"id NOT IN ({', '.join(map(str, wished))})")
    assert "Add to Wish List" in (await nora.get(f"/p/{item['slug']}")).text
    await nora.post("/wishlist/add", data={"product_id": item["id"]})
    [change] = content(world)
    assert picked(change.after, "customer_id", "product_id") == (one_id(world, NORA), item["id"])
    await nora.post("/wishlist/add", data={"product_id": item["id"]})
    assert content(world) == [change], "once is enough"
    number = change.key["id"]
    await nora.post("/wishlist/to-cart", data={"item_id": number})
    assert summary(world) == [("cart_items", "insert")]
    assert (await nora.post("/wishlist/remove", data={"item_id": number})).status_code == 404
    foreign = world.scalar("SELECT id FROM wishlist_items WHERE customer_id = ?", one_id(world, PRIYA))
    assert (await nora.post("/wishlist/remove", data={"item_id": foreign})).status_code == 403
    own = world.scalar("SELECT id FROM wishlist_items WHERE customer_id = ?", one_id(world, NORA))
    await nora.post("/wishlist/remove", data={"item_id": own})
    assert summary(world) == [("cart_items", "insert"), ("wishlist_items", "delete")]


async def test_a_wish_needs_a_login_and_leads_back(world, guest):
    item = product(world)
    answer = await guest.post(
        "/wishlist/add", data={"product_id": item["id"]}, headers={"referer": f"{HOST}/p/{item['slug']}"}
    )
    assert httpx.URL(answer.headers["location"]).params["next"] == f"/p/{item['slug']}"
    assert content(world) == []


# --- reviews ---------------------------------------------------------------------------------------------

REVIEW = {"nickname": "Nora", "title": "Sturdy", "text": "Holds up well.\nWould buy again.", "rating": "4"}


@pytest.mark.parametrize("user", [NORA, ""])
async def test_writing_a_review(world, user):
    item = product(world)
    async with visitor(world, user) as client:
        before = (await client.get(f"/p/{item['slug']}?reviews=1")).text
        answer = await client.post(f"/p/{item['slug']}/review", data=REVIEW)
        assert answer.headers["location"] == f"/p/{item['slug']}"
        assert "submitted for moderation" in (await client.get(f"/p/{item['slug']}")).text
        after = (await client.get(f"/p/{item['slug']}?reviews=1")).text
        assert re.findall("Reviews 1-.*", before) == re.findall("Reviews 1-.*", after), (
            "not shown before it is approved"
        )
    [change] = content(world)
    assert picked(change.after, "product_id", "customer_id", "nickname", "rating", "title", "text", "status") == (
        item["id"], one_id(world, NORA) if user else None, "Nora", 4, "Sturdy", REVIEW["text"], "pending",
    )  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [
        {"rating": "6"},
        {"rating": "0"},
        {"rating": ""},
        {"rating": "4.5"},
        {"title": ""},
        {"text": "x" * 2001},
        {"nickname": "x" * 51},
    ],
)
async def test_reviews_are_checked_and_nothing_typed_is_lost(world, wrong, nora):
    item = product(world)
    answer = await nora.post(f"/p/{item['slug']}/review", data=REVIEW | wrong)
    assert answer.status_code == 422
    assert 'class="field-error"' in answer.text
    if "title" not in wrong:
        assert 'value="Sturdy"' in answer.text
    assert content(world) == []


async def test_markup_in_a_review_stays_text(world, nora):
    item = product(world)
    evil = "<script>alert('x')</script><img src=x onerror=alert(1)>"
    await nora.post(f"/p/{item['slug']}/review", data=REVIEW | {"title": evil, "text": evil, "nickname": "<b>x</b>"})
    with world.write() as db:
        db.execute("UPDATE reviews SET status = 'approved' WHERE id = (SELECT max(id) FROM reviews)")
    for path in (f"/p/{item['slug']}?reviews=1", f"/p/{item['slug']}/reviews", "/account/reviews"):
        page = (await nora.get(path)).text
        assert "&lt;script&gt;" in page
        assert "<script>alert" not in page and "<img src=x" not in page


async def test_an_approved_review_counts(world, nora):
    item = product(world)
    sums = "SELECT review_count, rating_sum FROM product_ratings WHERE product_id = ?"
    before = world.row(sums, item["id"])
    await nora.post(f"/p/{item['slug']}/review", data=REVIEW)
    number = world.scalar("SELECT max(id) FROM reviews")
    for change, count, total in (
        ("UPDATE reviews SET status = 'approved' WHERE id = ?", 1, 4),
        ("UPDATE reviews SET rating = 1 WHERE id = ?", 1, 1),
        ("UPDATE reviews SET status = 'rejected' WHERE id = ?", 0, 0),
        ("UPDATE reviews SET status = 'approved' WHERE id = ?", 1, 1),
        ("DELETE FROM reviews WHERE id = ?", 0, 0),
    ):
        with world.write() as db:
            db.execute(change, (number,))
        assert world.row(sums, item["id"]) == {
            "review_count": before["review_count"] + count,
            "rating_sum": before["rating_sum"] + total,
        }


# --- account, newsletter, contact ------------------------------------------------------------------------


async def test_logging_in_and_out_changes_no_content(world, guest):
    for email, password in ((NORA, "wrong"), ("nobody@example.com", PASSWORD), ("", ""), (NORA, PASSWORD + " ")):
        answer = await guest.post("/account/login", data={"email": email, "password": password})
        assert answer.status_code == 422
        assert "not correct" in answer.text and PASSWORD not in answer.text
    answer = await guest.post("/account/login?next=/account/orders", data={"email": NORA, "password": PASSWORD})
    assert (answer.status_code, answer.headers["location"]) == (303, "/account/orders")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=lax" in cookie and "Domain" not in cookie
    token = {COOKIE: guest.cookies[COOKIE]}
    assert SITE.whoami(world, token) == NORA
    assert (await guest.post("/account/logout")).status_code == 303
    assert SITE.whoami(world, token) == ""
    assert (await guest.get("/account")).status_code == 303
    assert summary(world) == []


@pytest.mark.parametrize(
    "place", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "/a b"]
)
async def test_a_login_never_leads_elsewhere(place, guest):
    assert safe_path(place, "/account") == "/account"
    answer = await guest.post("/account/login", params={"next": place}, data={"email": NORA, "password": PASSWORD})
    assert answer.headers["location"] == "/account"


def test_log_in_and_whoami(world):
    cookies = SITE.log_in(world, MARCUS)
    assert SITE.whoami(world, cookies) == MARCUS
    assert SITE.whoami(world, {}) == SITE.whoami(world, {COOKIE: "made up"}) == ""
    assert content(world) == []
    with pytest.raises(InputError, match="no user"):
        SITE.log_in(world, "nobody@example.com")


async def test_registering(world, guest):
    form = {
        "first_name": "Ada", "last_name": "Quill", "email": "ada@example.com", "password": "long enough",
        "confirm": "long enough", "newsletter": "1",
    }  # fmt: skip
    for wrong in (
        {"email": "ada"},
        {"email": NORA.upper()},
        {"password": "short", "confirm": "short"},
        {"confirm": "other"},
    ):
        assert (await guest.post("/account/register", data=form | wrong)).status_code == 422
    assert content(world) == []
    assert (await guest.post("/account/register", data=form)).headers["location"] == "/account"
    assert "Welcome, Ada!" in (await guest.get("/account")).text
    assert (await guest.get("/account/orders")).status_code == 200
    assert summary(world) == [("customers", "insert"), ("newsletter_subscribers", "insert")]
    customer = content(world)[0].after
    assert picked(customer, "email", "password_hash") == ("ada@example.com", password_hash(501, "long enough"))


async def test_editing_the_account(world, nora):
    form = {"first_name": "Nora", "last_name": "Castellano-Vega", "email": NORA}
    assert (await nora.post("/account/edit", data=form | {"email": PRIYA})).status_code == 422
    wrong = {"password": "another one", "confirm": "another one", "current_password": "guess"}
    assert (await nora.post("/account/edit", data=form | wrong)).status_code == 422
    assert content(world) == []
    await nora.post("/account/edit", data=form)
    [change] = content(world)
    assert differing(change) == {"last_name": ("Castellano", "Castellano-Vega")}
    await nora.post("/account/edit", data=form | wrong | {"current_password": PASSWORD})
    [change] = content(world)
    assert picked(change.after, "password_hash") == (password_hash(one_id(world, NORA), "another one"),)


async def test_the_newsletter(world, nora):
    await nora.post("/account/newsletter", data={"subscribed": "1"})
    [change] = content(world)
    assert picked(change.after, "email") == (NORA,)
    await nora.post("/account/newsletter", data={"subscribed": "1"})
    assert len(content(world)) == 1
    await nora.post("/account/newsletter", data={})
    assert content(world) == []
    await nora.post("/newsletter", data={"email": "new@example.com"})
    await nora.post("/newsletter", data={"email": "NEW@example.com"})
    assert summary(world) == [("newsletter_subscribers", "insert")]
    for wrong in ("", "x", "a@b", "a b@example.com", "x" * 95 + "@example.com"):
        assert (await nora.post("/newsletter", data={"email": wrong})).status_code == 422
    assert len(content(world)) == 1


async def test_the_contact_form(world, nora):
    form = {"name": "Nora", "email": NORA, "phone": "", "order_number": "100123", "message": "Where is it?\r\nThanks"}
    page = (await nora.get("/contact")).text
    assert f'value="{NORA}"' in page
    for wrong in ({"message": ""}, {"email": "x"}, {"message": "x" * 4001}, {"name": " "}):
        assert (await nora.post("/contact", data=form | wrong)).status_code == 422
    assert content(world) == []
    await nora.post("/contact", data=form)
    [change] = content(world)
    assert picked(change.after, "name", "email", "phone", "order_number", "message") == (
        "Nora", NORA, "", "100123", "Where is it?\nThanks",
    )  # fmt: skip
