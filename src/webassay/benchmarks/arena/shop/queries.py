"""Draws and truth queries that several templates share. All SQL over the pristine world."""

from collections.abc import Sequence

from webassay.core.task import PagePattern
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream

# --- draws ------------------------------------------------------------------------------------------------


def pick(stream: Stream, rows: Sequence[Row]) -> Row | None:
    return stream.choice(rows) if rows else None


def shopper(world: World, stream: Stream, *, orders: int = 8) -> str:
    """The e-mail address of a customer with at least that many orders."""
    rows = world.rows(
        "SELECT c.email FROM customers AS c JOIN orders AS o ON o.customer_id = c.id"
        " GROUP BY c.id HAVING count(*) >= ? ORDER BY c.id",
        orders,
    )
    return str(stream.choice(rows)["email"])


def shelf(world: World, stream: Stream, low: int, high: int) -> tuple[str, str]:
    """Name and path of a category that holds that many products itself."""
    rows = world.rows(
        "SELECT c.path, c.name, parent.name AS parent, top.name AS top"
        " FROM categories AS c JOIN categories AS parent ON parent.id = c.parent_id"
        " JOIN categories AS top ON top.id = parent.parent_id JOIN products AS p ON p.category_id = c.id"
        " GROUP BY c.id HAVING count(*) BETWEEN ? AND ? ORDER BY c.id",
        low,
        high,
    )
    found = stream.choice(rows)
    return f"{found['top']} > {found['parent']} > {found['name']}", str(found["path"])


# --- products ---------------------------------------------------------------------------------------------


def named_products(world: World, condition: str, *params: str | int) -> list[Row]:
    """Products with a name that no other has, with what their cards show; `condition` may use p and r."""
    return world.rows(
        "SELECT p.*, r.review_count, r.rating_sum FROM products AS p JOIN product_ratings AS r ON r.product_id = p.id"
        f" WHERE ({condition}) AND p.name IN (SELECT name FROM products GROUP BY name HAVING count(*) = 1)"
        " ORDER BY p.id",
        *params,
    )


def shelf_products(world: World, path: str) -> list[Row]:
    return world.rows(
        "SELECT p.*, r.review_count, r.rating_sum FROM products AS p JOIN categories AS c ON c.id = p.category_id"
        " JOIN product_ratings AS r ON r.product_id = p.id WHERE c.path = ? ORDER BY p.position",
        path,
    )


def product_page(slug: str) -> PagePattern:
    return PagePattern(site="shop", path=f"/p/{slug}")


def page_of_product(world: World, name: str) -> PagePattern:
    """Of a product with a name that no other has."""
    (slug,) = (row["slug"] for row in world.rows("SELECT slug FROM products WHERE name = ?", name))
    return product_page(slug)


# --- customers and their orders -----------------------------------------------------------------------------


def customer_id(world: World, email: str) -> int:
    return int(world.scalar("SELECT id FROM customers WHERE email = ?", email))


def orders_of(world: World, email: str) -> list[Row]:
    return world.rows(
        "SELECT o.* FROM orders AS o JOIN customers AS c ON c.id = o.customer_id WHERE c.email = ? ORDER BY o.id", email
    )


def orders_with(world: World, email: str, product: str) -> list[Row]:
    """The customer's orders that contain a product of that name."""
    return world.rows(
        "SELECT DISTINCT o.* FROM order_items AS i JOIN orders AS o ON o.id = i.order_id"
        " JOIN customers AS c ON c.id = o.customer_id WHERE c.email = ? AND i.name = ? ORDER BY o.id",
        email,
        product,
    )


def order_items(world: World, number: str) -> list[Row]:
    return world.rows(
        "SELECT i.*, p.weight_grams, p.slug FROM order_items AS i JOIN orders AS o ON o.id = i.order_id"
        " JOIN products AS p ON p.id = i.product_id WHERE o.number = ? ORDER BY i.id",
        number,
    )


def dearest(items: Sequence[Row]) -> Row | None:
    """The item with the highest price for a single piece; None without a clear winner among several."""
    ranked = sorted(items, key=lambda item: int(item["unit_price_cents"]), reverse=True)
    if len(ranked) < 2 or ranked[0]["unit_price_cents"] == ranked[1]["unit_price_cents"]:
        return None
    return ranked[0]


def order_page(number: str) -> PagePattern:
    return PagePattern(site="shop", path=f"/account/orders/{number}")
