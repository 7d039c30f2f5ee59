"""What is sold, and for how much: coupons, price rules, products and categories, changed in the back office."""

from decimal import ROUND_HALF_UP, Decimal

import httpx
import pytest

from tests.sites.office.visits import (
    added,
    edited,
    forms_on,
    lines_of,
    one,
    problems,
    refused,
    removed,
    submit,
    ticks,
    told,
)
from tests.sites.shop_visits import buy, content, product
from webassay.sites.kit import Row, World

# --- coupons and price rules ------------------------------------------------------------------------------

SUNNY = {
    "code": "sunny33", "kind": "percent", "value": "33", "department_id": "", "minimum": "20", "starts_on": "2/1/2026",
    "ends_on": "2026-04-01",
}  # fmt: skip


async def test_a_new_coupon_takes_off_what_it_says(owner, customer, world):
    assert await told(owner, await submit(owner, "/coupons/new", SUNNY)) == ("/coupons", "You saved the rule.")
    assert added(world) == [
        ("coupons", {"code": "SUNNY33", "kind": "percent", "value": 33, "department_id": None, "minimum_cents": 2000,
                     "starts_on": "2026-02-01", "ends_on": "2026-04-01"}),
    ]  # fmt: skip
    item = product(world, "price_cents = 4999")
    await buy(customer, item)
    await customer.post("/cart/coupon", data={"code": "SUNNY33"})
    assert "-$16.50" in (await customer.get("/cart")).text, "33 % of $49.99, rounded"


async def test_a_code_is_given_once_however_it_is_written(owner, world):
    known: str = world.scalar("SELECT code FROM coupons ORDER BY code")
    for code in (known, known.lower()):
        answer = await submit(owner, "/coupons/new", SUNNY | {"code": code})
        assert problems(answer) == {"code": "There is already such a code."}
    assert added(world) == []


@pytest.mark.parametrize(
    ("wrong", "field", "says"),
    [
        ({"code": "10% off"}, "code", "A coupon code has letters and digits only."),
        ({"code": ""}, "code", "Coupon code is required."),
        ({"value": "91"}, "value", "The percentage must be a whole number from 1 to 90."),
        ({"kind": "amount", "value": ""}, "value", "The amount must be an amount from $0.01 to $1,000,000.00."),
        ({"minimum": "much"}, "minimum", "The minimum must be an amount from $0.00 to $1,000,000.00."),
        ({"starts_on": "2/30/2026"}, "starts_on", "The first day must be a date such as 03/31/2026."),
        ({"ends_on": "1/31/2026"}, "ends_on", "The last day is before the first."),
    ],
)
async def test_a_coupon_with_a_mistake_is_not_made(owner, world, wrong, field, says):
    assert problems(await submit(owner, "/coupons/new", SUNNY | wrong)) == {field: says}
    assert content(world) == []


@pytest.mark.parametrize(
    ("kind", "typed", "becomes"),
    [
        ("percent", {"value": "7", "ends_on": "12/31/2026"}, {"value": 7, "ends_on": "2026-12-31"}),
        ("percent", {"kind": "shipping", "value": ""}, {"kind": "shipping", "value": 0}),
        ("amount", {"value": "$12.34", "minimum": "1,000"}, {"value": 1234, "minimum_cents": 100_000}),
        ("shipping", {"kind": "amount", "value": "3"}, {"kind": "amount", "value": 300}),
    ],
)
async def test_a_coupon_is_changed(owner, world, kind, typed, becomes):
    before = one(world, "SELECT * FROM coupons WHERE kind = ? AND department_id IS NULL ORDER BY code", kind)
    answer = await submit(owner, f"/coupons/{before['code']}", typed)
    assert await told(owner, answer) == ("/coupons", "You saved the rule.")
    assert edited(world) == {
        ("coupons", before["code"]): {name: (before[name], value) for name, value in becomes.items()}
    }


async def test_a_code_stays_as_it_was_given(owner, world):
    before = one(world, "SELECT * FROM coupons WHERE kind = 'percent' ORDER BY code")
    for code, says in (("RAINY33", f"{before['code']} cannot be changed"), ("", "Coupon code is required.")):
        form = {name: "" if value is None else str(value) for name, value in before.items()}
        answer = await owner.post(f"/coupons/{before['code']}", data={**form, "minimum": "0", "code": code})
        assert answer.status_code == 422 and says in answer.text
    assert content(world) == []


async def test_a_price_rule_is_added_and_changed(owner, world):
    typed = {
        "name": "Half Off",
        "department_id": "1",
        "percent": "50",
        "starts_on": "3/1/2026",
        "ends_on": "3/9/2026",
    }
    answer = await submit(owner, "/price-rules/new", typed)
    assert await told(owner, answer) == ("/price-rules", "You saved the rule.")
    row = {"id": 25, "name": "Half Off", "department_id": 1, "percent": 50, "starts_on": "2026-03-01",
           "ends_on": "2026-03-09", "status": "inactive"}  # fmt: skip
    assert added(world) == [("price_rules", row)]
    answer = await submit(owner, "/price-rules/25", {"department_id": "", "percent": "45"})
    assert await told(owner, answer) == ("/price-rules", "You saved the rule.")
    assert added(world) == [("price_rules", {**row, "department_id": None, "percent": 45})]
    answer = await submit(owner, "/price-rules/25", {"percent": "0", "ends_on": "2/28/2026"})
    assert problems(answer) == {
        "percent": "Discount must be a whole number from 1 to 90.",
        "ends_on": "The last day is before the first.",
    }
    assert added(world) == [("price_rules", {**row, "department_id": None, "percent": 45})]


async def test_a_rule_marks_down_the_goods_of_its_department_that_are_not_on_sale(owner, customer, world):
    rule = one(world, "SELECT * FROM price_rules WHERE department_id IS NOT NULL ORDER BY id")
    path = f"/price-rules/{rule['id']}"
    early = await submit(owner, path, to=f"{path}/apply")
    assert refused(early) == (409, "This rule is not for today, so it cannot be applied.")
    assert content(world) == []
    await submit(owner, path, {"percent": "15", "starts_on": "3/1/2026", "ends_on": "3/1/2026"})
    marked = world.rows(
        "WITH RECURSIVE below (id) AS (SELECT ? UNION SELECT c.id FROM categories AS c JOIN below ON c.parent_id ="
        " below.id) SELECT * FROM products WHERE category_id IN below AND list_price_cents IS NULL ORDER BY id",
        rule["department_id"],
    )  # fmt: skip
    answer = await submit(owner, path, to=f"{path}/apply")
    assert await told(owner, answer) == ("/price-rules", f"The rule was applied to {len(marked):,} products.")
    now = {
        row["id"]: int((Decimal(row["price_cents"]) * 85 / 100).quantize(Decimal(1), ROUND_HALF_UP)) for row in marked
    }
    changed = edited(world)
    assert changed.pop(("price_rules", rule["id"])) == {
        "percent": (rule["percent"], 15),
        "starts_on": (rule["starts_on"], "2026-03-01"),
        "ends_on": (rule["ends_on"], "2026-03-01"),
        "status": ("inactive", "active"),
    }
    assert changed == {
        ("products", row["id"]): {
            "price_cents": (row["price_cents"], now[row["id"]]), "list_price_cents": (None, row["price_cents"]),
        }
        for row in marked
    }  # fmt: skip
    assert len(marked) > 100
    page = (await customer.get(f"/p/{marked[0]['slug']}")).text
    for cents in (marked[0]["price_cents"], now[marked[0]["id"]]):
        assert f"${cents / 100:,.2f}" in page
    before = content(world)
    assert refused(await owner.post(f"{path}/apply")) == (409, "This rule has been applied already.")
    assert content(world) == before
    assert f"{path}/apply" not in (await owner.get(path)).text


# --- products ---------------------------------------------------------------------------------------------


def with_options(world: World, name: str, count: str) -> Row:
    """A product that offers so many values."""
    return one(
        world,
        "SELECT * FROM products WHERE stock > 0 AND id IN (SELECT product_id FROM product_options WHERE name = ?"
        f" GROUP BY product_id HAVING count(*) {count}) ORDER BY id",
        name,
    )  # fmt: skip


def values_of(world: World, product_id: int, name: str) -> list[Row]:
    return world.rows(
        "SELECT * FROM product_options WHERE product_id = ? AND name = ? ORDER BY position", product_id, name
    )


async def offered(customer: httpx.AsyncClient, item: Row, name: str) -> list[str]:
    page = (await customer.get(f"/p/{item['slug']}")).text
    form = next(form for form in forms_on(page) if form.action == "/cart/add")
    return [value for value in form.choices[f"option_{name}"] if value]


@pytest.mark.parametrize("name", ["Color", "Size"])
async def test_a_value_is_no_longer_offered(owner, customer, world, name):
    item = with_options(world, name, "> 2")
    values = values_of(world, item["id"], name)
    path = f"/products/{item['id']}"
    typed = {"option": name, "value": values[1]["value"]}
    answer = await submit(owner, path, typed, f"{path}/options/remove")
    assert await told(owner, answer) == (path, f"The {name.lower()} {values[1]['value']} was removed.")
    assert removed(world) == [("product_options", values[1])]
    assert await offered(customer, item, name) == [row["value"] for row in (values[0], *values[2:])]
    again = await owner.post(f"{path}/options/remove", data=typed)
    assert refused(again) == (404, "This product does not offer that.")
    assert removed(world) == [("product_options", values[1])]


async def test_the_last_value_stays(owner, world):
    item = with_options(world, "Color", "= 1")
    (only,) = values_of(world, item["id"], "Color")
    path = f"/products/{item['id']}"
    answer = await submit(owner, path, {"option": "Color", "value": only["value"]}, f"{path}/options/remove")
    assert refused(answer) == (409, "A product keeps at least one color.")
    assert content(world) == []


async def test_a_value_is_offered_after_the_others(owner, customer, world):
    item = with_options(world, "Color", "= 2")
    values = values_of(world, item["id"], "Color")
    free: str = world.scalar(
        "SELECT value FROM attribute_values WHERE attribute = 'Color' AND value NOT IN"
        " (SELECT value FROM product_options WHERE product_id = ?) ORDER BY position",
        item["id"],
    )
    path = f"/products/{item['id']}"
    typed = {"option": "Color", "value": free}
    answer = await submit(owner, path, typed, f"{path}/options")
    assert await told(owner, answer) == (path, f"The color {free} was added.")
    row = {"product_id": item["id"], "name": "Color", "value": free, "position": values[-1]["position"] + 1}
    assert added(world) == [("product_options", row)]
    assert await offered(customer, item, "Color") == [*(row["value"] for row in values), free]
    again = await owner.post(f"{path}/options", data=typed)
    assert refused(again) == (409, "Choose a color that this product does not offer yet.")
    unknown = await owner.post(f"{path}/options", data={"option": "Color", "value": "Ultraviolet"})
    assert refused(unknown) == (409, "Choose a color that this product does not offer yet.")
    wrong = await owner.post(f"{path}/options", data={"option": "Shape", "value": "Round"})
    assert refused(wrong) == (404, "There is no such attribute.")
    assert added(world) == [("product_options", row)]


@pytest.mark.parametrize(("name", "new"), [("Color", "Ultraviolet"), ("Size", "XXXS")])
async def test_an_attribute_gets_a_value(owner, world, name, new):
    last: int = world.scalar("SELECT max(position) FROM attribute_values WHERE attribute = ?", name)
    answer = await submit(owner, "/attributes", {"value": f" {new} "}, f"/attributes/{name}")
    assert await told(owner, answer) == ("/attributes", f"The {name.lower()} {new} was added.")
    assert added(world) == [("attribute_values", {"attribute": name, "value": new, "position": last + 1})]
    assert new in (await owner.get("/attributes")).text


@pytest.mark.parametrize(("name", "same"), [("Color", "nAVY"), ("Size", "xl")])
async def test_an_attribute_has_a_value_once_whatever_its_case(owner, world, name, same):
    answer = await submit(owner, "/attributes", {"value": same}, f"/attributes/{name}")
    assert problems(answer) == {"value": f"There is already a {name.lower()} {same}."}
    answer = await submit(owner, "/attributes", {"value": " "}, f"/attributes/{name}")
    assert problems(answer) == {"value": "Value is required."}
    assert content(world) == []


KETTLE = {
    "name": "Quiet Test Kettle", "sku": "KIT-TEST1", "price": "41.50", "before": "$1,050", "stock": "3", "weight": "40",
    "brand": "Ostrander", "color": "Red", "size": "2 qt", "description": "It boils.\nTwice.",
    "highlights": "Quiet\nRed", "category": "3",
}  # fmt: skip


async def test_a_new_product_is_in_the_storefront(owner, customer, world):
    number: int = world.scalar("SELECT max(id) + 1 FROM products")
    place: int = world.scalar("SELECT max(position) + 1 FROM products WHERE category_id = 3")
    answer = await submit(owner, "/products/new", KETTLE)
    assert await told(owner, answer) == (f"/products/{number}", "You saved the product.")
    row = {
        "id": number, "sku": "KIT-TEST1", "slug": "quiet-test-kettle", "category_id": 3, "position": place,
        "name": "Quiet Test Kettle", "brand": "Ostrander", "color": "Red", "size": "2 qt", "price_cents": 4150,
        "list_price_cents": 105_000, "weight_oz": 40, "stock": 3, "first_available": "2026-03-01",
        "description": "It boils.\nTwice.", "highlights": "Quiet\nRed", "picture": "box", "origin": "",
        "warranty_months": 0, "enabled": 1, "attribute_set": "Default", "price_rule_id": None,
        "updated_at": world.scalar("SELECT max(updated_at) FROM products"),
    }  # fmt: skip
    assert added(world) == [("products", row)]
    page = (await customer.get("/p/quiet-test-kettle")).text
    for text in ("<h1>Quiet Test Kettle</h1>", "$41.50", "$1,050.00", "Only 3 left in stock", "SKU: KIT-TEST1",
                 "No reviews yet", '<p class="description">Twice.</p>', "<li>Quiet</li><li>Red</li>"):  # fmt: skip
        assert text in page
    for path in ("/search?q=quiet test kettle", "/search?q=kit-test1", "/c/kitchen-dining?sort=newest"):
        assert "/p/quiet-test-kettle" in (await customer.get(path)).text, path
    await submit(owner, "/products/new", KETTLE | {"sku": "KIT-TEST2"})
    (_, twin) = added(world)
    assert row["updated_at"] < twin[1].pop("updated_at")
    row.pop("updated_at")
    assert twin == ("products", {**row, "id": number + 1, "sku": "KIT-TEST2", "position": place + 1,
                                 "slug": f"quiet-test-kettle-{number + 1}"})  # fmt: skip


async def test_a_product_with_mistakes_is_not_made(owner, world):
    wrong = {"sku": "KIT TEST", "price": "free", "stock": "-1", "brand": "", "category": ""}
    assert problems(await submit(owner, "/products/new", KETTLE | wrong)) == {
        "sku": "A SKU has letters, digits and hyphens only.",
        "price": "Price must be an amount from $0.01 to $1,000,000.00.",
        "stock": "Quantity must be a whole number from 0 to 99999.",
        "brand": "Brand is required.",
        "category": "Choose a category.",
    }
    taken: str = world.scalar("SELECT sku FROM products WHERE id = 1")
    answer = await submit(owner, "/products/new", KETTLE | {"sku": taken})
    assert problems(answer) == {"sku": "Another product has this SKU."}
    answer = await submit(owner, "/products/new", KETTLE | {"before": "41.50"})
    assert problems(answer) == {"before": "The regular price must be higher than the price."}
    assert content(world) == []


async def test_a_product_is_changed_where_something_else_was_typed(owner, world):
    row = one(world, "SELECT * FROM products WHERE list_price_cents IS NOT NULL ORDER BY id")
    answer = await submit(owner, f"/products/{row['id']}", {"before": "", "stock": "12", "enabled": None})
    assert await told(owner, answer) == (f"/products/{row['id']}", "You saved the product.")
    assert edited(world) == {
        ("products", row["id"]): {
            "list_price_cents": (row["list_price_cents"], None), "stock": (row["stock"], 12), "enabled": (1, 0),
        }
    }  # fmt: skip


async def test_products_are_sold_out_together(owner, customer, world):
    rows = world.rows("SELECT * FROM products WHERE stock > 0 ORDER BY id LIMIT 3")
    answer = await submit(owner, "/products?limit=100", {"action": "sold-out", **ticks(rows)}, "/bulk/products")
    assert await told(owner, answer) == ("/products?limit=100&p=1", "3 products were updated.")
    assert edited(world) == {("products", row["id"]): {"stock": (row["stock"], 0)} for row in rows}
    assert "Out of stock" in (await customer.get(f"/p/{rows[0]['slug']}")).text


# --- categories -------------------------------------------------------------------------------------------


async def test_a_new_category_stands_after_its_siblings(owner, customer, world):
    above = one(world, "SELECT * FROM categories WHERE level = 2 ORDER BY id")
    number: int = world.scalar("SELECT max(id) + 1 FROM categories")
    place: int = world.scalar("SELECT max(position) + 1 FROM categories WHERE parent_id = ?", above["id"])
    answer = await submit(owner, "/categories/new", {"name": "Pots & Samovars", "parent": str(above["id"])})
    assert await told(owner, answer) == ("/categories", "The category Pots & Samovars was saved.")
    row = {"id": number, "parent_id": above["id"], "name": "Pots & Samovars", "path": f"{above['path']}/pots-samovars",
           "level": 3, "position": place}  # fmt: skip
    assert added(world) == [("categories", row)]
    assert [line[2:] for line in lines_of((await owner.get("/categories")).text) if line[2] == row["name"]] == [
        ["Pots & Samovars", "0"]
    ]
    assert "<h1>Pots &amp; Samovars</h1>" in (await customer.get(f"/c/{row['path']}")).text
    assert "Pots &amp; Samovars" in (await customer.get("/")).text
    await submit(owner, "/products/1", {"category": str(number)})
    slug: str = world.scalar("SELECT slug FROM products WHERE id = 1")
    assert f"/p/{slug}" in (await customer.get(f"/c/{row['path']}")).text


async def test_a_category_without_a_good_name_is_not_made(owner, world):
    shelf = one(world, "SELECT * FROM categories WHERE level = 3 ORDER BY id")
    parent = str(shelf["parent_id"])
    for name, says in (
        (shelf["name"].upper(), "There is a category with this name."),
        (f"{shelf['name']}!", "There is a category with such a name."),
        ("&!", "A name needs letters or digits."),
        ("", "Name is required."),
    ):
        assert problems(await submit(owner, "/categories/new", {"name": name, "parent": parent})) == {"name": says}
    answer = await submit(owner, "/categories/new", {"name": "Samovars"})
    assert problems(answer) == {"parent": "Choose a parent category."}
    assert content(world) == []


@pytest.mark.parametrize("level", [1, 2, 3])
async def test_a_category_is_renamed_and_keeps_its_address(owner, customer, world, level):
    row, sibling = world.rows(
        "SELECT * FROM categories WHERE level = ? AND ifnull(parent_id, 0) IN (0, 1, 2) ORDER BY id LIMIT 2", level
    )
    answer = await submit(owner, f"/categories/{row['id']}", {"name": "Samovars"})
    assert await told(owner, answer) == ("/categories", "The category Samovars was saved.")
    assert edited(world) == {("categories", row["id"]): {"name": (row["name"], "Samovars")}}
    assert "<h1>Samovars</h1>" in (await customer.get(f"/c/{row['path']}")).text
    answer = await submit(owner, f"/categories/{row['id']}", {"name": sibling["name"].lower()})
    assert problems(answer) == {"name": "There is a category with this name."}
    assert len(edited(world)) == 1
