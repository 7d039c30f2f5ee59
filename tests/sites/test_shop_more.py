"""Coupons, returns, advanced search, labels: each form changes exactly the rows it should, for the right people."""

import html
import re
from typing import Any

import pytest

from tests.sites.shop_visits import (
    MARCUS,
    NORA,
    PRIYA,
    buy,
    content,
    one_id,
    picked,
    product,
    summary,
    visitor,
)
from webassay.sites.kit import World
from webassay.sites.shop.coupons import Coupon, OrderLine


def coupon(world: World, condition: str) -> dict[str, Any]:
    found = world.row(f"SELECT * FROM coupons WHERE {condition} ORDER BY code LIMIT 1")
    assert found is not None
    return found


NOW = "starts_on <= '2026-03-01' AND ends_on >= '2026-03-01'"
FOR_ALL = f"{NOW} AND department_id IS NULL AND kind = 'percent'"

# --- coupons ---------------------------------------------------------------------------------------------


async def test_a_coupon_is_applied_shown_replaced_and_removed(world, nora):
    code = coupon(world, FOR_ALL)
    item = product(world, "price_cents > 5000")
    pieces = -(-code["minimum_cents"] // item["price_cents"]) or 1
    await buy(nora, item, pieces)
    answer = await nora.post("/cart/coupon", data={"code": code["code"].lower()})
    assert answer.status_code == 303
    change = next(change for change in content(world) if change.table == "cart_coupons")
    assert picked(change.after, "customer_id", "code") == (one_id(world, NORA), code["code"])
    off = (item["price_cents"] * pieces * code["value"] + 50) // 100
    page = (await nora.get("/cart")).text
    assert f"-${off // 100:,}.{off % 100:02d}" in page
    await nora.post("/cart/coupon", data={"code": code["code"]})
    assert summary(world).count(("cart_coupons", "insert")) == 1
    assert (await nora.post("/cart/coupon/remove")).status_code == 303
    assert (await nora.post("/cart/coupon/remove")).status_code == 404
    assert summary(world) == [("cart_items", "insert")]


@pytest.mark.parametrize(
    ("condition", "says"),
    [
        ("ends_on < '2026-03-01'", "expired on"),
        ("starts_on > '2026-03-01'", "is valid from"),
        (f"{NOW} AND minimum_cents > 2000", "for at least"),
    ],
)
async def test_a_coupon_that_does_not_work_says_why_and_is_not_lost(world, condition, says, nora):
    code = coupon(world, condition)
    cheap = world.row(
        "SELECT p.* FROM products AS p JOIN categories AS c ON c.id = p.category_id JOIN categories AS m"
        " ON m.id = c.parent_id WHERE p.stock > 9 AND price_cents < 2000 AND ifnull(?, m.parent_id) = m.parent_id"
        " AND p.id NOT IN (SELECT product_id FROM product_options) ORDER BY p.id LIMIT 1",
        code["department_id"],
    )
    assert cheap is not None
    await buy(nora, cheap)
    answer = await nora.post("/cart/coupon", data={"code": code["code"]})
    assert answer.status_code == 422
    assert says in answer.text
    assert f'value="{code["code"]}"' in answer.text
    unknown = await nora.post("/cart/coupon", data={"code": "NOSUCHCODE"})
    assert (unknown.status_code, "There is no discount code NOSUCHCODE." in unknown.text) == (422, True)
    assert (await nora.post("/cart/coupon", data={"code": ""})).status_code == 422
    assert summary(world) == [("cart_items", "insert")]


async def test_a_coupon_for_a_department_leaves_other_goods_alone(world, nora):
    code = coupon(world, f"{NOW} AND department_id IS NOT NULL AND kind = 'percent'")
    other = world.row(
        "SELECT p.* FROM products AS p JOIN categories AS c ON c.id = p.category_id JOIN categories AS m"
        " ON m.id = c.parent_id WHERE p.stock > 9 AND m.parent_id <> ?"
        " AND p.id NOT IN (SELECT product_id FROM product_options) ORDER BY p.id LIMIT 1",
        code["department_id"],
    )
    assert other is not None
    await buy(nora, other)
    answer = await nora.post("/cart/coupon", data={"code": code["code"]})
    assert (answer.status_code, " only." in answer.text) == (422, True)


async def test_an_order_keeps_its_coupon_and_adds_up(world, nora):
    code = coupon(world, FOR_ALL)
    item = product(world, "price_cents > 5000")
    pieces = -(-code["minimum_cents"] // item["price_cents"]) or 1
    await buy(nora, item, pieces)
    await nora.post("/cart/coupon", data={"code": code["code"]})
    address = world.scalar("SELECT id FROM addresses WHERE customer_id = ? AND is_default_shipping",
                           one_id(world, NORA))  # fmt: skip
    await nora.post("/checkout/shipping", data={"address": address, "method": "express"})
    await nora.post("/checkout/payment", data={"payment": "invoice", "billing": "same"})
    assert "Discount" in (await nora.get("/checkout/review")).text
    placed = await nora.post("/checkout/place")
    number = placed.headers["location"].rsplit("/", 1)[1]
    page = (await nora.get(f"/account/orders/{number}")).text
    assert f"Discount ({code['code']})" in page
    order = world.row("SELECT * FROM orders WHERE number = ?", number)
    goods = item["price_cents"] * pieces
    assert order["discount_cents"] == (goods * code["value"] + 50) // 100
    assert order["total_cents"] == goods - order["discount_cents"] + 1295 + order["tax_cents"]
    assert world.scalar("SELECT count(*) FROM cart_coupons") == 0


async def test_a_visitors_coupon_comes_along_at_log_in(world, guest):
    code = coupon(world, FOR_ALL)
    item = product(world, "price_cents > 5000")
    await buy(guest, item, -(-code["minimum_cents"] // item["price_cents"]) or 1)
    await guest.post("/cart/coupon", data={"code": code["code"]})
    await guest.post("/account/login", data={"email": NORA, "password": "tally-Brook-2026"})
    assert code["code"] in (await guest.get("/cart")).text
    assert world.rows("SELECT customer_id, visitor FROM cart_coupons") == [
        {"customer_id": one_id(world, NORA), "visitor": ""}
    ]


async def test_coupons_are_listed_page_by_page(world, guest):
    found: list[str] = []
    for number in range(1, 16):
        page = (await guest.get(f"/coupons?show=all&p={number}")).text
        found += re.findall(r'data-label="Code"><strong>(\w+)<', page)
    today = (await guest.get("/coupons")).text
    assert (await guest.get("/coupons?show=some")).status_code == 400
    assert found == [row["code"] for row in world.rows("SELECT code FROM coupons ORDER BY ends_on, code")]
    assert coupon(world, "ends_on < '2026-03-01'")["code"] + "<" not in today


def test_a_discount_is_never_more_than_the_goods():
    lines = [OrderLine(500, 1, 1), OrderLine(250, 2, 2)]
    amount = Coupon("A", "amount", 2000, None, 0, "2026-01-01", "2026-02-01")
    assert amount.discount(lines) == 1000
    part = Coupon("B", "percent", 15, 2, 0, "2026-01-01", "2026-02-01", "Toys")
    assert part.discount(lines) == 75
    assert part.problem(lines[:1], "2026-01-01") == "The code B is for Toys only."
    assert part.problem(lines, "2026-02-01") == ""
    assert "expired on February 1, 2026" in part.problem(lines, "2026-02-02")


# --- returns ---------------------------------------------------------------------------------------------


def returnable_order(world: World) -> dict[str, Any]:
    found = world.row(
        "SELECT o.*, c.email FROM orders AS o JOIN customers AS c ON c.id = o.customer_id WHERE o.status = 'complete'"
        " AND o.created_at > '2026-01-05' AND o.id NOT IN (SELECT order_id FROM returns)"
        " AND (SELECT count(*) FROM order_items AS i WHERE i.order_id = o.id) >= 2 ORDER BY o.id LIMIT 1"
    )
    assert found is not None
    return found


async def test_a_return_is_asked_for_shown_and_withdrawn(world):
    order = returnable_order(world)
    first, second = world.rows("SELECT * FROM order_items WHERE order_id = ? ORDER BY id LIMIT 2", order["id"])
    path = f"/account/orders/{order['number']}/return"
    async with visitor(world, order["email"]) as customer:
        assert "Return Items" in (await customer.get(f"/account/orders/{order['number']}")).text
        form = {f"quantity_{first['id']}": first["quantity"], f"quantity_{second['id']}": 0}
        others = world.rows("SELECT id FROM order_items WHERE order_id = ? AND id > ?", order["id"], second["id"])
        form |= {f"quantity_{other['id']}": 0 for other in others}
        for wrong in (
            {"reason": ""},
            {"reason": "Because"},
            {"reason": "Does not fit", f"quantity_{first['id']}": first["quantity"] + 1},
            {"reason": "Does not fit", f"quantity_{first['id']}": 0},
            {"reason": "Does not fit", "comment": "x" * 1001},
        ):
            answer = await customer.post(path, data={**form, "comment": "Too small.", **wrong})
            assert answer.status_code == 422
        assert content(world) == []
        answer = await customer.post(path, data={**form, "reason": "Does not fit", "comment": "Too small."})
        number = answer.headers["location"].rsplit("/", 1)[1]
        assert summary(world) == [("return_items", "insert"), ("returns", "insert")]
        items, returned = content(world)
        assert picked(items.after, "order_item_id", "quantity") == (first["id"], first["quantity"])
        assert picked(returned.after, "order_id", "reason", "comment", "status") == (
            order["id"], "Does not fit", "Too small.", "requested",
        )  # fmt: skip
        assert number in (await customer.get("/account/returns")).text
        again = await customer.post(path, data={**form, "reason": "Does not fit"})
        assert again.status_code == 422, "it has been returned already"
        assert (await customer.get(f"/account/returns/{number}/withdraw")).status_code == 200
        assert (await customer.post(f"/account/returns/{number}/withdraw")).status_code == 303
        assert (await customer.post(f"/account/returns/{number}/withdraw")).status_code == 409
        assert (await customer.get(path)).status_code == 200, "so it can be returned after all"
    async with visitor(world, PRIYA) as other:
        for foreign in (f"/account/returns/{number}", f"/account/returns/{number}/withdraw", path):
            assert (await other.get(foreign)).status_code == 403
        assert (await other.get("/account/returns/R1")).status_code == 404


@pytest.mark.parametrize(
    ("condition", "says"),
    [
        ("o.status = 'pending'", "Only complete orders can be returned"),
        ("o.status = 'complete' AND o.created_at < '2025-06-01'", "could be returned until"),
    ],
)
async def test_what_cannot_be_returned_says_why(world, condition, says):
    order = world.row(
        "SELECT o.number, c.email FROM orders AS o JOIN customers AS c ON c.id = o.customer_id"
        f" WHERE {condition} ORDER BY o.id DESC LIMIT 1"
    )
    async with visitor(world, order["email"]) as customer:
        assert "Return Items" not in (await customer.get(f"/account/orders/{order['number']}")).text
        answer = await customer.get(f"/account/orders/{order['number']}/return")
        assert (answer.status_code, says in answer.text) == (409, True)


# --- advanced search -------------------------------------------------------------------------------------


def found_by(page: str) -> int:
    match = re.search(r"Items \d+-\d+ of (\d+)", page)
    return int(match[1]) if match else 0


@pytest.mark.parametrize(
    ("query", "condition"),
    [
        ({"brand": "KETTLEWICK"}, "brand = 'Kettlewick'"),
        ({"sku": "kit-1"}, "sku LIKE 'KIT-1%'"),
        ({"on_sale": "1", "in_stock": "1"}, "list_price_cents IS NOT NULL AND stock > 0"),
        ({"description": "auto shut-off"}, "lower(description || ' ' || highlights) LIKE '%auto shut-off%'"),
        ({"min": "10", "max": "$19.99", "brand": "Oakmere"},
         "price_cents BETWEEN 1000 AND 1999 AND brand = 'Oakmere'"),
    ],
)  # fmt: skip
async def test_advanced_search_finds_what_fits_everything(world, query, condition, guest):
    page = await guest.get("/search/advanced", params=query, follow_redirects=True)
    assert found_by(page.text) == world.scalar(f"SELECT count(*) FROM products WHERE {condition}") > 0


async def test_advanced_search_keeps_what_was_typed(guest):
    assert (await guest.get("/search/advanced")).status_code == 200
    empty = await guest.get("/search/advanced?name=&min=&max=")
    assert (empty.status_code, "Fill in at least one field." in empty.text) == (422, True)
    wrong = await guest.get("/search/advanced?name=kettle&min=cheap")
    assert (wrong.status_code, "Enter a price" in wrong.text, 'value="kettle"' in wrong.text) == (422, True, True)
    again = await guest.get("/search/advanced?name=kettle&price=10-20&change=1")
    assert all(f'value="{text}"' in again.text for text in ("kettle", "10", "20"))
    strange = await guest.get("/search/advanced", params={"name": '" OR *', "description": "%_'"})
    assert strange.status_code == 200


# --- labels, votes, moderation ---------------------------------------------------------------------------


async def test_origin_and_warranty_are_in_the_picture_alone(world, guest):
    """Every card says the same: only its lines differ."""
    items = world.rows("SELECT * FROM products WHERE origin IN ('Estonia', 'Taiwan') ORDER BY id LIMIT 12")
    said = set()
    for item in items:
        page = (await guest.get(f"/p/{item['slug']}")).text
        assert item["origin"] not in page and f"/p/{item['slug']}/label.svg" in page
        card = await guest.get(f"/p/{item['slug']}/label.svg")
        assert card.headers["content-type"] == "image/svg+xml"
        brand, sku, *rest = re.findall(r"<text[^>]*>([^<]*)</text>", card.text)
        assert (html.unescape(brand), sku) == (item["brand"], item["sku"])
        said.add(tuple(rest))
        # The box that has lines in it stands before its text.
        ticked = re.findall(r"<path d=\"M\d+ \d+l[^>]*><text[^>]*>([^<]*)</text>", card.text)
        assert ticked == [item["origin"], str(item["warranty_months"])]
    assert len(said) == 1


async def test_what_is_not_published_is_seen_by_its_writer_alone(world):
    review = world.row(
        "SELECT v.*, c.email, p.slug FROM reviews AS v JOIN customers AS c ON c.id = v.customer_id"
        " JOIN products AS p ON p.id = v.product_id WHERE v.status = 'rejected' ORDER BY v.created_at DESC LIMIT 1"
    )
    async with visitor(world, review["email"]) as writer:
        pages = [(await writer.get(f"/account/reviews?p={number}")).text for number in range(1, 8)]
        assert any("Not published" in page for page in pages)
    async with visitor(world, MARCUS) as other:
        assert "Not published" not in (await other.get(f"/p/{review['slug']}")).text
