"""Products, their stock, options and links; categories; the values of attributes."""

import re

from starlette.exceptions import HTTPException
from starlette.responses import Response

from webassay.sites.admin.web import OfficeVisit, shop_address
from webassay.sites.kit import Row, World
from webassay.sites.receipts import carried, carrying, ours, ours_all
from webassay.sites.shop.seeding.catalog import ATTRIBUTE_SETS, slug_of
from webassay.sites.shop.web import category_tree, product_options
from webassay.sites.web.dates import stamp
from webassay.sites.web.forms import FormFields, safe_path, whole_number
from webassay.sites.web.grids import picked

MOST_STOCK = 99_999
ATTRIBUTES = ("Size", "Color")
LINKS = {"related": "Related Products", "upsell": "Up-Sell Products", "crosssell": "Cross-Sell Products"}

# --- products ---------------------------------------------------------------------------------------------


def _product(visit: OfficeVisit) -> Row:
    return visit.one("SELECT * FROM products WHERE id = ?", visit.number(), what="product")


def _shelves(world: World) -> dict[int, str]:
    """Where products can stand: the number of each shelf, and its place in words."""
    departments, _ = category_tree(world)
    return {
        shelf.id: carried(" > ".join((top.name, middle.name, shelf.name)), top.name, middle.name, shelf.name)
        for top in departments
        for middle in top.children
        for shelf in middle.children
    }


_text = carrying(str)
_SETS = ours_all({name: name for name in ATTRIBUTE_SETS})


@carrying
def _dollars(cents: int | None) -> str:
    return "" if cents is None else f"{cents // 100}.{cents % 100:02d}"


def _shown(product: Row) -> dict[str, str]:
    """As the form shows it."""
    return {
        "name": product["name"], "sku": product["sku"], "price": _dollars(product["price_cents"]),
        "before": _dollars(product["list_price_cents"]), "stock": _text(product["stock"]),
        "weight": _text(product["weight_oz"]), "brand": product["brand"], "color": product["color"],
        "size": product["size"], "category": str(product["category_id"]), "description": product["description"],
        "highlights": product["highlights"], "enabled": "1" if product["enabled"] else "",
        "attribute_set": product["attribute_set"],
    }  # fmt: skip


def _read(visit: OfficeVisit, form: FormFields, own: int) -> Row:
    shelves = _shelves(visit.world)
    row: Row = {
        "name": form.text("name", "Name", most=200),
        "sku": form.text("sku", "SKU", most=20),
        "price_cents": form.cents("price", "Price"),
        "list_price_cents": form.cents("before", "Regular price") if form.get("before").strip() else None,
        "stock": form.number("stock", "Quantity", 0, MOST_STOCK),
        "weight_oz": form.number("weight", "Weight", 1, 100_000),
        "brand": form.text("brand", "Brand", most=60),
        "color": form.text("color", "Color", most=40, needed=False),
        "size": form.text("size", "Size", most=40, needed=False),
        "category_id": whole_number(form.choice("category", "category", [str(one) for one in shelves])),
        "description": form.text("description", "Description", most=4000, lines=True),
        "highlights": form.text("highlights", "Highlights", most=2000, needed=False, lines=True),
        "enabled": int(form.ticked("enabled")),
        "attribute_set": form.choice("attribute_set", "attribute set", ATTRIBUTE_SETS),
    }
    form.values.setdefault("before", "")
    if "sku" not in form.errors and not re.fullmatch(r"[A-Za-z0-9-]+", row["sku"]):
        form.errors["sku"] = "A SKU has letters, digits and hyphens only."
    elif visit.world.scalar("SELECT 1 FROM products WHERE sku = ? AND id <> ?", row["sku"], own):
        form.errors["sku"] = ours("Another product has this SKU.")
    before = row["list_price_cents"]
    if before is not None and not form.errors and before <= row["price_cents"]:
        form.errors["before"] = "The regular price must be higher than the price."
    return row


def _render(visit: OfficeVisit, product: Row | None, status: int = 200, form: FormFields | None = None) -> Response:
    world = visit.world
    return visit.render(
        "product.html", status, product=product, shelves=_shelves(world), may=visit.may_change("products"),
        values=form.values if form else _shown(product) if product else {"enabled": "1", "attribute_set": "Default"},
        errors=form.errors if form else {}, store=shop_address(world), sets=_SETS,
        options=product_options(world, product["id"]) if product else {},
        free=_free_values(world, product["id"]) if product else {},
        links=_links(world, product["id"]) if product else {}, link_kinds=LINKS,
    )  # fmt: skip


async def edit(visit: OfficeVisit) -> Response:
    product = _product(visit)
    if visit.request.method == "GET":
        return _render(visit, product)
    form = await visit.form()
    row = _read(visit, form, product["id"])
    if form.errors:
        return _render(visit, product, 422, form)
    changed = {name: value for name, value in row.items() if value != product[name]}
    if {"price_cents", "list_price_cents"} & set(changed):
        changed["price_rule_id"] = None
    if changed:
        changed["updated_at"] = stamp(visit.world.now())
        with visit.world.write() as db:
            db.execute(
                f"UPDATE products SET {', '.join(f'{name} = ?' for name in changed)} WHERE id = ?",
                (*changed.values(), product["id"]),
            )
    return visit.go(f"/products/{product['id']}", "You saved the product.")


async def create(visit: OfficeVisit) -> Response:
    if visit.request.method == "GET":
        return _render(visit, None)
    form = await visit.form()
    row = _read(visit, form, 0)
    if form.errors:
        return _render(visit, None, 422, form)
    with visit.world.write() as db:
        number: int = visit.world.scalar("SELECT ifnull(max(id), 0) + 1 FROM products")
        slug = slug_of(row["name"])[:80].strip("-") or f"product-{number}"
        if visit.world.scalar("SELECT 1 FROM products WHERE slug = ?", slug):
            slug = f"{slug}-{number}"
        position: int = visit.world.scalar(
            "SELECT ifnull(max(position), 0) + 1 FROM products WHERE category_id = ?", row["category_id"]
        )
        made = {
            **row, "id": number, "slug": slug, "position": position, "picture": "box", "origin": "",
            "warranty_months": 0, "first_available": stamp(visit.world.now())[:10],
            "updated_at": stamp(visit.world.now()),
        }  # fmt: skip
        db.execute(
            f"INSERT INTO products ({', '.join(made)}) VALUES ({', '.join('?' * len(made))})",
            tuple(made.values()),
        )
    return visit.go(f"/products/{number}", "You saved the product.")


async def bulk(visit: OfficeVisit) -> Response:
    form = await visit.form()
    back = safe_path(form.get("back"), "/products")
    setting = {"enable": "enabled = 1", "disable": "enabled = 0", "sold-out": "stock = 0"}.get(form.get("action"))
    numbers = picked(form)
    if setting is None:
        return visit.go(back, "Please choose an action.")
    if not numbers:
        return visit.go(back, "Please select some products.")
    with visit.world.write() as db:
        marks = ", ".join("?" * len(numbers))
        db.execute(
            f"UPDATE products SET {setting}, updated_at = ? WHERE id IN ({marks})", (stamp(visit.world.now()), *numbers)
        )
        count = db.changes()
    return visit.go(back, f"{count} {'product was' if count == 1 else 'products were'} updated.")


# --- options ----------------------------------------------------------------------------------------------


def _free_values(world: World, product_id: int) -> dict[str, list[str]]:
    """For each attribute, the values that the product does not offer yet."""
    has = product_options(world, product_id)
    rows = world.rows("SELECT attribute, value FROM attribute_values ORDER BY attribute DESC, position")
    return {
        name: [row["value"] for row in rows if row["attribute"] == name and row["value"] not in has.get(name, [])]
        for name in ATTRIBUTES
    }


async def add_option(visit: OfficeVisit) -> Response:
    product = _product(visit)
    form = await visit.form()
    name = form.get("option")
    free = _free_values(visit.world, product["id"])
    if name not in free:
        raise HTTPException(404, "There is no such attribute.")
    value = form.get("value")
    if value not in free[name]:
        raise HTTPException(409, f"Choose a {name.lower()} that this product does not offer yet.")
    with visit.world.write() as db:
        db.execute(
            "INSERT INTO product_options SELECT ?, ?, ?, ifnull(max(position), 0) + 1 FROM product_options"
            " WHERE product_id = ? AND name = ?",
            (product["id"], name, value, product["id"], name),
        )
        _touch(visit, product)
    return visit.go(f"/products/{product['id']}", f"The {name.lower()} {value} was added.")


async def remove_option(visit: OfficeVisit) -> Response:
    product = _product(visit)
    form = await visit.form()
    name, value = form.get("option"), form.get("value")
    options = product_options(visit.world, product["id"])
    if value not in options.get(name, []):
        raise HTTPException(404, "This product does not offer that.")
    if len(options[name]) == 1:
        raise HTTPException(409, f"A product keeps at least one {name.lower()}.")
    with visit.world.write() as db:
        db.execute(
            "DELETE FROM product_options WHERE product_id = ? AND name = ? AND value = ?", (product["id"], name, value)
        )
        _touch(visit, product)
    return visit.go(f"/products/{product['id']}", f"The {name.lower()} {value} was removed.")


def _touch(visit: OfficeVisit, product: Row) -> None:
    visit.world.db.execute("UPDATE products SET updated_at = ? WHERE id = ?", (stamp(visit.world.now()), product["id"]))


# --- links ------------------------------------------------------------------------------------------------


def _links(world: World, product_id: int) -> dict[str, list[Row]]:
    rows = world.rows(
        "SELECT l.product_id, l.kind, l.linked_id, p.id, p.name, p.sku, p.price_cents FROM product_links AS l"
        " JOIN products AS p ON p.id = l.linked_id WHERE l.product_id = ? ORDER BY l.position",
        product_id,
    )
    return {title: [row for row in rows if row["kind"] == kind] for kind, title in LINKS.items()}


async def add_link(visit: OfficeVisit) -> Response:
    product = _product(visit)
    form = await visit.form()
    kind, sku = form.get("kind"), form.get("sku").strip()
    if kind not in LINKS:
        raise HTTPException(404, "There is no such kind of link.")
    linked = visit.world.row("SELECT id, name FROM products WHERE sku = ?", sku)
    if linked is None:
        raise HTTPException(409, "There is no product with this SKU.")
    if linked["id"] == product["id"]:
        raise HTTPException(409, "A product cannot be linked to itself.")
    there = "SELECT 1 FROM product_links WHERE product_id = ? AND kind = ? AND linked_id = ?"
    if visit.world.scalar(there, product["id"], kind, linked["id"]):
        raise HTTPException(409, f"{linked['name']} is there already.")
    with visit.world.write() as db:
        db.execute(
            "INSERT INTO product_links SELECT ?, ?, ?, ifnull(max(position), 0) + 1 FROM product_links"
            " WHERE product_id = ? AND kind = ?",
            (product["id"], kind, linked["id"], product["id"], kind),
        )
        _touch(visit, product)
    return visit.go(f"/products/{product['id']}", f"{linked['name']} was added to {LINKS[kind]}.")


async def remove_link(visit: OfficeVisit) -> Response:
    product = _product(visit)
    form = await visit.form()
    kind, linked = form.get("kind"), whole_number(form.get("linked")) or 0
    with visit.world.write() as db:
        db.execute(
            "DELETE FROM product_links WHERE product_id = ? AND kind = ? AND linked_id = ?",
            (product["id"], kind, linked),
        )
        if not db.changes():
            raise HTTPException(404, "There is no such link.")
        _touch(visit, product)
    return visit.go(f"/products/{product['id']}", f"The product was removed from {LINKS[kind]}.")


# --- attributes -------------------------------------------------------------------------------------------


async def attributes(visit: OfficeVisit) -> Response:
    return _render_attributes(visit)


def _render_attributes(
    visit: OfficeVisit, status: int = 200, form: FormFields | None = None, bad: str = ""
) -> Response:
    values = {
        name: visit.world.rows(
            "SELECT v.attribute, v.value, (SELECT count(*) FROM product_options AS o WHERE o.name = v.attribute"
            " AND o.value = v.value) AS products FROM attribute_values AS v WHERE attribute = ? ORDER BY position",
            name,
        )
        for name in ATTRIBUTES
    }
    return visit.render(
        "attributes.html", status, attributes=values, may=visit.may_change("products"), bad=bad,
        errors=form.errors if form else {}, values=form.values if form else {},
    )  # fmt: skip


async def add_value(visit: OfficeVisit) -> Response:
    name = visit.request.path_params["attribute"]
    if name not in ATTRIBUTES:
        raise HTTPException(404, "There is no such attribute.")
    form = await visit.form()
    value = form.text("value", "Value", most=40)
    there = "SELECT 1 FROM attribute_values WHERE attribute = ? AND value = ? COLLATE NOCASE"
    if "value" not in form.errors and visit.world.scalar(there, name, value):
        form.errors["value"] = f"There is already a {name.lower()} {value}."
    if form.errors:
        return _render_attributes(visit, 422, form, name)
    with visit.world.write() as db:
        db.execute(
            "INSERT INTO attribute_values SELECT ?, ?, ifnull(max(position), 0) + 1 FROM attribute_values"
            " WHERE attribute = ?",
            (name, value, name),
        )
    return visit.go("/attributes", f"The {name.lower()} {value} was added.")


# --- categories -------------------------------------------------------------------------------------------


async def categories(visit: OfficeVisit) -> Response:
    departments, _ = category_tree(visit.world)
    counts = {
        row["category_id"]: row["n"]
        for row in visit.world.rows("SELECT category_id, count(*) AS n FROM products GROUP BY category_id")
    }
    return visit.render("categories.html", departments=departments, counts=counts, may=visit.may_change("products"))


async def edit_category(visit: OfficeVisit) -> Response:
    found = visit.one("SELECT * FROM categories WHERE id = ?", visit.number(), what="category")
    context: Row = {"category": found, "parents": {}, "may": visit.may_change("products")}
    if visit.request.method == "GET":
        return visit.render("category.html", errors={}, values=found, **context)
    form = await visit.form()
    name = _category_name(visit, form, found["parent_id"], found["id"])
    if form.errors:
        return visit.render("category.html", 422, errors=form.errors, values=form.values, **context)
    with visit.world.write() as db:
        db.execute("UPDATE categories SET name = ? WHERE id = ?", (name, found["id"]))
    return visit.go("/categories", f"The category {name} was saved.")


async def new_category(visit: OfficeVisit) -> Response:
    """A shelf: products stand nowhere else."""
    parents = {
        str(middle.id): f"{top.name} > {middle.name}"
        for top in category_tree(visit.world)[0]
        for middle in top.children
    }
    context: Row = {"category": None, "parents": parents, "may": visit.may_change("products")}
    if visit.request.method == "GET":
        return visit.render("category.html", errors={}, values={}, **context)
    form = await visit.form()
    parent = whole_number(form.choice("parent", "parent category", tuple(parents))) or 0
    name = _category_name(visit, form, parent, 0)
    above = visit.world.scalar("SELECT path FROM categories WHERE id = ?", parent)
    path = f"{above}/{slug_of(name)}"
    if not form.errors and visit.world.scalar("SELECT 1 FROM categories WHERE path = ?", path):
        form.errors["name"] = "There is a category with such a name."
    if form.errors:
        return visit.render("category.html", 422, errors=form.errors, values=form.values, **context)
    with visit.world.write() as db:
        db.execute(
            "INSERT INTO categories (parent_id, name, path, level, position)"
            " SELECT ?, ?, ?, 3, ifnull(max(position), 0) + 1 FROM categories WHERE parent_id = ?",
            (parent, name, path, parent),
        )
    return visit.go("/categories", f"The category {name} was saved.")


def _category_name(visit: OfficeVisit, form: FormFields, parent: int | None, own: int) -> str:
    name = form.text("name", "Name", most=60)
    taken = "SELECT 1 FROM categories WHERE parent_id IS ? AND name = ? COLLATE NOCASE AND id <> ?"
    if "name" not in form.errors and visit.world.scalar(taken, parent, name, own):
        form.errors["name"] = "There is a category with this name."
    elif "name" not in form.errors and not slug_of(name):
        form.errors["name"] = "A name needs letters or digits."
    return name
