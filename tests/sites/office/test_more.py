"""Attribute sets, links between products, configurations of simple products, rules that end, tracking that follows."""

import pytest

from tests.sites.office.visits import VIEWER, added, edited, one, refused, removed, submit, told
from tests.sites.shop_visits import NORA, buy, content, one_id, product
from tests.sites.visitors import visitor
from webassay.sites.kit import Row, World

# --- attribute sets and links -----------------------------------------------------------------------------


async def test_the_grid_filters_by_attribute_set_and_sorts_by_the_last_update(owner, world):
    item = product(world, "attribute_set = 'Default'")
    await submit(owner, f"/products/{item['id']}", {"attribute_set": "Electrical", "stock": "77"})
    assert edited(world) == {
        ("products", item["id"]): {"attribute_set": ("Default", "Electrical"), "stock": (item["stock"], 77)}
    }
    page = (await owner.get("/products?attribute_set=Electrical&sort=updated&dir=desc&show-sku=1&show-updated=1")).text
    assert page.index(item["sku"]) < page.index("</tr>", page.index("<tbody>")), "the first row"
    count = world.scalar("SELECT count(*) FROM products WHERE attribute_set = 'Electrical'")
    assert f"{count} products found" in page


def links(world: World, product_id: int, kind: str) -> list[Row]:
    return world.rows(
        "SELECT * FROM product_links WHERE product_id = ? AND kind = ? ORDER BY position", product_id, kind
    )


@pytest.mark.parametrize("kind", ["related", "upsell", "crosssell"])
async def test_a_link_is_added_last_and_removed(owner, world, kind):
    item, other = product(world), product(world, "id = 3000 OR id = 900")
    path = f"/products/{item['id']}"
    place = len(links(world, item["id"], kind)) + 1
    await submit(owner, path, {"kind": kind, "sku": other["sku"]}, to=f"{path}/links")
    assert added(world) == [
        ("product_links", {"product_id": item["id"], "kind": kind, "linked_id": other["id"], "position": place})
    ]
    answer = await submit(owner, path, {"kind": kind, "linked": str(other["id"])}, to=f"{path}/links/remove")
    assert (await told(owner, answer))[0] == path
    assert content(world) == []


@pytest.mark.parametrize(
    ("kind", "sku", "status", "says"),
    [
        ("related", "NO-SUCH", 409, "There is no product with this SKU."),
        ("related", "itself", 409, "A product cannot be linked to itself."),
        ("beside", "NO-SUCH", 404, "There is no such kind of link."),
    ],
)
async def test_what_cannot_be_linked(owner, world, kind, sku, status, says):
    item = product(world)
    data = {"kind": kind, "sku": item["sku"] if sku == "itself" else sku}
    assert refused(await owner.post(f"/products/{item['id']}/links", data=data)) == (status, says)
    data = {"kind": kind, "linked": "999999"}
    assert refused(await owner.post(f"/products/{item['id']}/links/remove", data=data)) == (
        404, "There is no such link.",
    )  # fmt: skip
    assert content(world) == []


async def test_what_is_linked_already_is_not_linked_again(owner, world):
    link = one(world, "SELECT l.*, p.sku, p.name FROM product_links AS l JOIN products AS p ON p.id = l.linked_id")
    data = {"kind": link["kind"], "sku": link["sku"]}
    answer = await owner.post(f"/products/{link['product_id']}/links", data=data)
    assert refused(answer) == (409, f"{link['name']} is there already.")
    assert content(world) == []


async def test_the_storefront_shows_what_is_linked(owner, customer, world):
    item = product(world, "id NOT IN (SELECT product_id FROM product_options) AND stock > 5")
    others = {
        kind: product(world, "stock > 0 AND category_id <> 1", place)
        for place, kind in enumerate(("related", "upsell", "crosssell"), 40)
    }
    with world.write() as db:
        db.execute("DELETE FROM product_links")
    for kind, other in others.items():
        await owner.post(f"/products/{item['id']}/links", data={"kind": kind, "sku": other["sku"]})
    page = (await customer.get(f"/p/{item['slug']}")).text
    related, like = page.index("<h2>Related Products</h2>"), page.index("<h2>You may also like</h2>")
    assert related < page.index(others["related"]["slug"]) < like < page.index(others["upsell"]["slug"])
    assert others["crosssell"]["slug"] not in page
    await buy(customer, item)
    cart = (await customer.get("/cart")).text
    assert cart.index("Goes well with these") < cart.index(others["crosssell"]["slug"])
    await owner.post("/bulk/products", data={"action": "disable", f"pick-{others['crosssell']['id']}": "1"})
    assert "Goes well with these" not in (await customer.get("/cart")).text


# --- options ----------------------------------------------------------------------------------------------


async def test_a_simple_product_becomes_configurable(owner, customer, world):
    item = product(world, "id NOT IN (SELECT product_id FROM product_options) AND stock > 5")
    path = f"/products/{item['id']}"
    assert "This is a simple product." in (await owner.get(path)).text
    color = world.scalar("SELECT value FROM attribute_values WHERE attribute = 'Color' ORDER BY position LIMIT 1")
    await buy(customer, item)
    await submit(owner, path, {"option": "Color", "value": color}, to=f"{path}/options")
    options = [row for table, row in added(world) if table == "product_options"]
    assert options == [{"product_id": item["id"], "name": "Color", "value": color, "position": 1}]
    assert "This is a simple product." not in (await owner.get(path)).text
    assert f"<option>{color}</option>" in (await customer.get(f"/p/{item['slug']}")).text
    answer = await customer.post("/cart/add", data={"product_id": str(item["id"]), "quantity": "1"})
    assert answer.status_code in (303, 422)
    mine = [row for table, row in added(world) if table == "cart_items"]
    assert [(row["options"], row["quantity"]) for row in mine] == [("", 1)], "what was there before, and no more"


async def test_what_is_no_longer_offered_cannot_be_ordered(owner, customer, world):
    bought = one(
        world,
        "SELECT o.number, o.id AS order_number, i.* FROM order_items AS i JOIN orders AS o ON o.id = i.order_id"
        " JOIN products AS p ON p.id = i.product_id WHERE i.options <> '' AND p.stock > 9 AND p.enabled",
    )
    with world.write() as db:
        db.execute("UPDATE orders SET customer_id = ? WHERE id = ?", (one_id(world, NORA), bought["order_number"]))
    size, color = (part.partition(": ")[2] for part in bought["options"].split(", "))
    gone = ("Size", size) if len(sizes_of(world, bought["product_id"])) > 1 else ("Color", color)
    await customer.post(f"/account/orders/{bought['number']}/reorder")
    with world.write() as db:
        db.execute(
            "DELETE FROM product_options WHERE product_id = ? AND name = ? AND value = ?",
            (bought["product_id"], *gone),
        )
    says = f"{bought['name']} no longer comes in {bought['options']}."
    answer = await customer.post(f"/account/orders/{bought['number']}/reorder")
    assert says in (await customer.get(answer.headers["location"])).text.replace("&#39;", "'").replace("&amp;", "&")


def sizes_of(world: World, product_id: int) -> list[Row]:
    return world.rows("SELECT * FROM product_options WHERE product_id = ? AND name = 'Size'", product_id)


# --- orders -----------------------------------------------------------------------------------------------


async def test_an_order_shows_what_its_articles_cost_before_the_sale(owner, customer, world):
    item = one(
        world,
        "SELECT i.*, o.number FROM order_items AS i JOIN orders AS o ON o.id = i.order_id"
        " WHERE i.list_price_cents IS NOT NULL",
    )
    assert item["list_price_cents"] > item["unit_price_cents"]
    page = (await owner.get(f"/orders/{item['number']}")).text
    row = page[page.index(f"<td>{item['sku']}</td>") :]
    before, now = (f"${item[name] / 100:,.2f}" for name in ("list_price_cents", "unit_price_cents"))
    assert row.startswith(f'<td>{item["sku"]}</td><td class="amount">{before}</td><td class="amount">{now}</td>')


async def test_a_parcel_gets_its_tracking_number_later(owner, world):
    order = one(world, "SELECT * FROM orders WHERE status = 'pending' ORDER BY id DESC")
    await submit(owner, f"/orders/{order['number']}/ship", {"carrier": "UPS", "tracking": ""})
    shipment = one(world, "SELECT * FROM shipments WHERE order_id = ?", order["id"])
    assert "UPS, no tracking number" in (await owner.get(f"/orders/{order['number']}")).text
    path = f"/shipments/{shipment['id']}"
    assert (await submit(owner, path, {"tracking": ""})).status_code == 422
    answer = await submit(owner, path, {"carrier": "DHL", "tracking": "DH1234"})
    assert await told(owner, answer) == (path, "The tracking information was saved.")
    now = one(world, "SELECT carrier, tracking FROM shipments WHERE order_id = ?", order["id"])
    assert now == {"carrier": "DHL", "tracking": "DH1234"}


async def test_who_may_only_look_gets_no_form(world):
    order = one(world, "SELECT * FROM orders WHERE status = 'pending' ORDER BY id DESC")
    shipment = one(world, "SELECT * FROM shipments")
    async with visitor(world, VIEWER) as viewer:
        for action in ("ship", "address/billing"):
            answer = await viewer.get(f"/orders/{order['number']}/{action}")
            assert refused(answer) == (403, "Your role, Viewer, may look at orders, but not change them.")
        page = await viewer.get(f"/shipments/{shipment['id']}")
        assert page.status_code == 200 and "Save Tracking Information" not in page.text
    assert content(world) == []


# --- rules, categories, people ----------------------------------------------------------------------------


async def test_a_rule_that_ends_gives_back_the_prices_that_nobody_has_changed(owner, world):
    rule = one(world, "SELECT * FROM price_rules WHERE department_id IS NOT NULL ORDER BY id")
    path = f"/price-rules/{rule['id']}"
    await submit(owner, path, {"starts_on": "3/1/2026", "ends_on": "3/1/2026"})
    assert refused(await owner.post(f"{path}/end")) == (409, "This rule is not active.")
    await submit(owner, path, to=f"{path}/apply")
    marked = world.rows("SELECT * FROM products WHERE price_rule_id = ? ORDER BY id", rule["id"])
    assert len(marked) > 100
    assert refused(await owner.post(path, data={"name": "x"})) == (
        409, "This rule is active. End it before you change it.",
    )  # fmt: skip
    touched = marked[0]
    await submit(owner, f"/products/{touched['id']}", {"price": "0.50"})
    answer = await submit(owner, path, to=f"{path}/end")
    count = len(marked) - 1
    assert await told(owner, answer) == (
        "/price-rules", f"The rule was ended. Products that got their prices back: {count:,}.",
    )  # fmt: skip
    changed = edited(world)
    assert set(changed) == {("price_rules", rule["id"]), ("products", touched["id"])}
    assert changed["products", touched["id"]] == {
        "price_cents": (touched["list_price_cents"], 50),
        "list_price_cents": (None, touched["list_price_cents"]),
    }
    assert "status" not in changed["price_rules", rule["id"]]


async def test_the_storefront_finds_a_category_by_its_new_name(owner, customer, world):
    shelf = one(world, "SELECT * FROM categories WHERE level = 3")
    item = product(world, f"category_id = {shelf['id']}")
    await submit(owner, f"/categories/{shelf['id']}", {"name": "Zyzzyvas"})
    assert item["slug"] in (await customer.get("/search?q=zyzzyvas&limit=36")).text
    await submit(owner, f"/categories/{shelf['id']}", {"name": shelf["name"]})
    assert item["slug"] not in (await customer.get("/search?q=zyzzyvas")).text
    assert content(world) == []


async def test_the_newsletter_follows_a_customer_to_the_new_address(owner, world):
    person = one(world, "SELECT c.* FROM customers AS c JOIN newsletter_subscribers AS n ON n.email = c.email")
    await submit(owner, f"/customers/{person['id']}", {"email": "moved@example.com"})
    emails = {row["email"] for row in world.rows("SELECT email FROM newsletter_subscribers")}
    assert "moved@example.com" in emails and person["email"] not in emails


async def test_a_grid_finds_a_name_with_an_accent(owner, world):
    person = one(world, "SELECT * FROM customers")
    await submit(owner, f"/customers/{person['id']}", {"first_name": "Émile", "last_name": "Ångström"})
    for asked in ("q=%C3%89mile", "name=%C3%85ngstr%C3%B6m"):
        assert "1 customer found" in (await owner.get(f"/customers?{asked}")).text


async def test_pages_that_are_enabled_already_are_not_updated(owner, world):
    before = world.rows("SELECT * FROM cms_pages ORDER BY id")
    answer = await owner.post("/bulk/pages", data={"action": "enable", "pick-1": "1", "pick-2": "1"})
    assert await told(owner, answer) == ("/pages", "0 pages were updated.")
    assert world.rows("SELECT * FROM cms_pages ORDER BY id") == before
    assert removed(world) == []
