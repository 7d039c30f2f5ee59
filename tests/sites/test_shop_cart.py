"""Cart and checkout: each form changes exactly the rows it should, for the right people, and nothing else."""

from typing import Any

import httpx
import pytest

from tests.sites.shop_visits import (
    ADDRESS,
    COOKIE,
    MARCUS,
    NORA,
    PRIYA,
    buy,
    content,
    differing,
    one_id,
    picked,
    product,
    summary,
    visitor,
)
from webassay.sites.shop import SITE
from webassay.sites.shop.commerce import TAX_RATES
from webassay.sites.shop.seeding.customers import PASSWORD

# --- the cart --------------------------------------------------------------------------------------------


async def test_adding_to_the_cart(world, nora):
    item = product(world)
    answer = await nora.post("/cart/add", data={"product_id": item["id"], "quantity": "2"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/cart")
    [change] = content(world)
    assert (change.table, change.before) == ("cart_items", None)
    assert picked(change.after, "customer_id", "visitor", "product_id", "options", "quantity") == (
        one_id(world, NORA), "", item["id"], "", 2,
    )  # fmt: skip
    await buy(nora, item, 3)
    [change] = content(world)
    assert picked(change.after, "quantity") == (5,)
    page = (await nora.get("/cart")).text
    assert "You added" in page
    assert "You added" not in (await nora.get("/cart")).text, "said once"


async def test_adding_with_a_script(world, guest):
    item = product(world)
    answer = await guest.post(
        "/cart/add", data={"product_id": item["id"], "quantity": "1"}, headers={"accept": "application/json"}
    )
    assert answer.json()["count"] == 1
    too_many = await guest.post(
        "/cart/add", data={"product_id": item["id"], "quantity": "0"}, headers={"accept": "application/json"}
    )
    assert (too_many.status_code, "Quantity" in too_many.json()["error"]) == (422, True)


async def test_options_must_be_chosen_and_exist(world, nora):
    shirt = world.row("SELECT * FROM products WHERE picture = 'shirt' AND stock > 5 ORDER BY id LIMIT 1")
    values = {
        name: world.scalar(
            "SELECT value FROM product_options WHERE product_id = ? AND name = ? ORDER BY position", shirt["id"], name
        )
        for name in ("Size", "Color")
    }
    order = {"product_id": shirt["id"], "quantity": 1}
    for wrong in ({}, {"option_Size": values["Size"]}, {"option_Size": "XXXXL", "option_Color": values["Color"]}):
        assert (await nora.post("/cart/add", data=order | wrong)).status_code == 422
    assert content(world) == []
    right = {f"option_{name}": value for name, value in values.items()}
    assert (await nora.post("/cart/add", data=order | right)).status_code == 303
    [change] = content(world)
    assert picked(change.after, "options") == (f"Size: {values['Size']}, Color: {values['Color']}",)


async def test_the_stock_is_that_of_all_sizes_together(world, nora):
    shirt = world.row("SELECT * FROM products WHERE picture = 'shirt' AND stock BETWEEN 3 AND 60 ORDER BY id LIMIT 1")
    sizes, colors = (
        [
            row["value"]
            for row in world.rows(
                "SELECT value FROM product_options WHERE product_id = ? AND name = ? ORDER BY position",
                shirt["id"], name,
            )
        ]
        for name in ("Size", "Color")
    )  # fmt: skip
    small, large = ({"option_Size": size, "option_Color": colors[0]} for size in sizes[:2])
    order = {"product_id": shirt["id"]}
    first = await nora.post("/cart/add", data=order | small | {"quantity": shirt["stock"]})
    assert first.status_code == 303
    over = await nora.post("/cart/add", data=order | large | {"quantity": 1})
    assert (over.status_code, f"Only {shirt['stock']} of" in over.text) == (409, True)
    item = world.scalar("SELECT id FROM cart_items WHERE product_id = ?", shirt["id"])
    assert (await nora.post("/cart/update", data={f"quantity_{item}": shirt["stock"] - 1})).status_code == 303
    assert (await nora.post("/cart/add", data=order | large | {"quantity": 1})).status_code == 303
    assert (await nora.post("/cart/update", data={f"quantity_{item}": shirt["stock"]})).status_code == 409


@pytest.mark.parametrize(
    "quantity", ["0", "-1", "100", "1.5", "abc", "", " ", "1e3", "99999999999999999999", "٣", "1_0"]
)
async def test_quantities_that_make_no_sense(world, quantity, nora):
    item = product(world)
    answer = await nora.post("/cart/add", data={"product_id": item["id"], "quantity": quantity})
    assert answer.status_code == 422
    assert "Quantity must be a whole number from 1 to 99" in answer.text
    assert content(world) == []


async def test_no_more_than_there_is(world, nora):
    few = world.row(
        "SELECT * FROM products WHERE stock BETWEEN 3 AND 9"
        " AND id NOT IN (SELECT product_id FROM product_options) LIMIT 1"
    )
    gone = world.row(
        "SELECT * FROM products WHERE stock = 0 AND id NOT IN (SELECT product_id FROM product_options) LIMIT 1"
    )
    assert (await nora.post("/cart/add", data={"product_id": gone["id"], "quantity": 1})).status_code == 409
    await buy(nora, few, few["stock"])
    once_more = await nora.post("/cart/add", data={"product_id": few["id"], "quantity": 1})
    assert once_more.status_code == 409
    assert f"Only {few['stock']} of" in once_more.text
    [change] = content(world)
    assert picked(change.after, "quantity") == (few["stock"],)


@pytest.mark.parametrize("number", ["0", "999999", "x", "", "-1", "1 OR 1=1", "9" * 30])
async def test_unknown_products_cannot_be_bought(world, number, nora):
    assert (await nora.post("/cart/add", data={"product_id": number, "quantity": 1})).status_code == 404
    assert content(world) == []


async def test_updating_removing_and_clearing(world, marcus):
    customer = one_id(world, MARCUS)
    items = world.rows("SELECT * FROM cart_items WHERE customer_id = ? ORDER BY id", customer)
    assert len(items) >= 2
    first, second = items[:2]
    answer = await marcus.post("/cart/update", data={f"quantity_{first['id']}": 3})
    assert answer.status_code == 303
    assert [differing(change) for change in content(world)] == (
        [] if first["quantity"] == 3 else [{"quantity": (first["quantity"], 3)}]
    )
    await marcus.post("/cart/update", data={f"quantity_{first['id']}": first["quantity"]})
    assert content(world) == [], "undone"
    await marcus.post("/cart/update", data={f"quantity_{first['id']}": 0})
    assert summary(world) == [("cart_items", "delete")]
    await marcus.post("/cart/remove", data={"item_id": second["id"]})
    assert {change.key["id"] for change in content(world)} == {first["id"], second["id"]}
    await marcus.post("/cart/clear")
    assert summary(world) == [("cart_items", "delete")] * len(items)
    assert (await marcus.post("/cart/remove", data={"item_id": second["id"]})).status_code == 404


async def test_other_peoples_carts_are_out_of_reach(world):
    item = world.row("SELECT * FROM cart_items WHERE customer_id = ?", one_id(world, MARCUS))
    for user in (NORA, ""):
        async with visitor(world, user) as other:
            assert (await other.post("/cart/remove", data={"item_id": item["id"]})).status_code == 404
            assert (await other.post("/cart/update", data={f"quantity_{item['id']}": 9})).status_code == 404
            assert (await other.post("/cart/clear")).status_code == 303
    assert content(world) == []


async def test_a_visitors_cart_is_kept_apart_and_joins_at_the_login(world):
    item, other = product(world), product(world, place=1)
    async with visitor(world) as guest, visitor(world) as stranger:
        await buy(guest, item, 2)
        await buy(guest, other)
        assert "You have no items" in (await stranger.get("/cart")).text
        [change, _] = content(world)
        assert picked(change.after, "customer_id") == (None,)
        async with visitor(world, NORA) as nora:
            await buy(nora, item)
        before = guest.cookies[COOKIE]
        answer = await guest.post("/account/login", data={"email": NORA.upper(), "password": PASSWORD})
        assert answer.status_code == 303
        assert guest.cookies[COOKIE] != before, "a new token with every login"
        assert SITE.whoami(world, {COOKIE: before}) == ""
    owned = world.rows(
        "SELECT product_id, quantity, visitor FROM cart_items WHERE customer_id = ?", one_id(world, NORA)
    )
    assert sorted((row["product_id"], row["quantity"], row["visitor"]) for row in owned) == sorted(
        [(item["id"], 3, ""), (other["id"], 1, "")]
    )


async def test_an_estimate_changes_nothing(world, marcus):
    page = await marcus.get("/cart", params={"state": "TX", "method": "express"})
    assert "$12.95" in page.text and "Order Total" in page.text
    assert (await marcus.get("/cart", params={"state": "ZZ", "method": "express"})).status_code == 422
    assert content(world) == []


# --- checkout --------------------------------------------------------------------------------------------


async def check_out(client: httpx.AsyncClient, shipping: dict[str, Any], payment: dict[str, Any]) -> str:
    answer = await client.post("/checkout/shipping", data=shipping)
    assert (answer.status_code, answer.headers["location"]) == (303, "/checkout/payment")
    answer = await client.post("/checkout/payment", data=payment)
    assert (answer.status_code, answer.headers["location"]) == (303, "/checkout/review")
    assert (await client.get("/checkout/review")).status_code == 200
    answer = await client.post("/checkout/place")
    assert answer.status_code == 303
    return answer.headers["location"].rsplit("/", 1)[1]


async def test_placing_an_order(world, nora):
    nora_id = one_id(world, NORA)
    items = [product(world), product(world, place=5)]
    home = world.row("SELECT * FROM addresses WHERE customer_id = ? AND is_default_shipping", nora_id)
    await buy(nora, items[0], 2)
    await buy(nora, items[1])
    number = await check_out(
        nora, {"address": home["id"], "method": "express"}, {"payment": "transfer", "billing": "same"}
    )
    page = (await nora.get(f"/checkout/success/{number}")).text
    assert number in page
    assert number in (await nora.get("/account/orders")).text
    again = await nora.post("/checkout/place")
    assert again.headers["location"] == "/cart", "an empty cart cannot be ordered twice"
    assert summary(world) == [("order_addresses", "insert")] * 2 + [("order_items", "insert")] * 2 + [
        ("orders", "insert")
    ]
    order = next(change.after for change in content(world) if change.table == "orders")
    subtotal = 2 * items[0]["price_cents"] + items[1]["price_cents"]
    tax = (subtotal * TAX_RATES.get(home["region"], 0) + 5000) // 10000
    assert picked(
        order, "customer_id", "status", "shipping_method", "payment_method", "subtotal_cents", "shipping_cents",
        "tax_cents", "total_cents",
    ) == (nora_id, "pending", "express", "transfer", subtotal, 1295, tax, subtotal + 1295 + tax)  # fmt: skip
    lines = [change.after for change in content(world) if change.table == "order_items"]
    assert [picked(line, "product_id", "sku", "unit_price_cents", "quantity") for line in lines] == [
        (item["id"], item["sku"], item["price_cents"], quantity) for item, quantity in zip(items, (2, 1), strict=True)
    ]
    for change in content(world):
        if change.table == "order_addresses":
            assert picked(change.after, "street", "city", "region") == picked(home, "street", "city", "region")


async def test_the_first_address_that_is_kept_is_the_default(world):
    with world.write() as db:
        db.execute("DELETE FROM addresses WHERE customer_id = ?", (one_id(world, NORA),))
    async with visitor(world, NORA) as nora:
        await buy(nora, product(world))
        shipping = ADDRESS | {"address": "new", "method": "standard", "save": "1"}
        await check_out(nora, shipping, {"payment": "cod", "billing": "same"})
    kept = world.row("SELECT * FROM addresses WHERE customer_id = ?", one_id(world, NORA))
    assert kept is not None and picked(kept, "is_default_billing", "is_default_shipping") == (1, 1)


async def test_a_new_address_can_be_kept(world, nora):
    await buy(nora, product(world))
    saved = world.scalar("SELECT id FROM addresses WHERE customer_id = ?", one_id(world, NORA))
    shipping = ADDRESS | {"address": "new", "method": "standard", "save": "1"}
    await check_out(nora, shipping, {"payment": "cod", "billing": saved})
    [saved] = [change.after for change in content(world) if change.table == "addresses"]
    assert picked(saved, *ADDRESS) == tuple(ADDRESS.values())
    assert picked(saved, "is_default_billing", "is_default_shipping") == (0, 0)
    kinds = {
        change.after["kind"]: change.after["street"]
        for change in content(world)
        if change.table == "order_addresses" and change.after
    }
    assert kinds["shipping"] == "12 Test Lane" and kinds["billing"] != "12 Test Lane"


async def test_checkout_keeps_its_order_and_asks_for_everything(world):
    async with visitor(world) as guest:
        assert "/account/login" in (await guest.get("/checkout/shipping")).headers["location"]
    async with visitor(world, NORA) as nora:
        assert (await nora.get("/checkout/shipping")).headers["location"] == "/cart"
        await buy(nora, product(world))
        for path in ("/checkout/payment", "/checkout/review"):
            assert (await nora.get(path)).headers["location"] == "/checkout/shipping"
        assert (await nora.post("/checkout/place")).headers["location"] == "/checkout/shipping"
        empty = await nora.post("/checkout/shipping", data={"address": "new", "method": "standard"})
        assert empty.status_code == 422
        assert "Street address is required." in empty.text and "Choose a state." in empty.text
        foreign = world.scalar("SELECT id FROM addresses WHERE customer_id = ?", one_id(world, PRIYA))
        for shipping in ({"address": foreign, "method": "standard"}, ADDRESS | {"address": "new", "method": "drone"}):
            assert (await nora.post("/checkout/shipping", data=shipping)).status_code == 422
    assert summary(world) == [("cart_items", "insert")]
