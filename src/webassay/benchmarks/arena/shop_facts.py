"""Truth queries and draws that several shop templates share. Everything here is SQL over the pristine world."""

from collections.abc import Sequence
from typing import Any

from webassay.core.record import Json
from webassay.core.task import Expectation, PagePattern
from webassay.sites.kit import World
from webassay.sites.rng import Stream

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def pick(stream: Stream, rows: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    return stream.choice(rows) if rows else None


def customer(world: World, stream: Stream, *, orders: int = 8) -> dict[str, Any]:
    """Somebody with a history."""
    rows = world.rows(
        "SELECT c.id, c.email FROM customers AS c JOIN orders AS o ON o.customer_id = c.id"
        " GROUP BY c.id HAVING count(*) >= ? ORDER BY c.id",
        orders,
    )
    return stream.choice(rows)


def customer_id(world: World, email: Json) -> int:
    return int(world.scalar("SELECT id FROM customers WHERE email = ?", str(email)))


def named_products(world: World, condition: str, *params: str | int) -> list[dict[str, Any]]:
    """Products that their name alone tells apart, with what stands on their cards; `condition` may use p and r."""
    return world.rows(
        "SELECT p.*, r.review_count, r.rating_sum FROM products AS p JOIN product_ratings AS r ON r.product_id = p.id"
        f" WHERE ({condition}) AND p.name IN (SELECT name FROM products GROUP BY name HAVING count(*) = 1)"
        " ORDER BY p.id",
        *params,
    )


def shelves(world: World, low: int, high: int) -> list[dict[str, Any]]:
    """Categories that hold products themselves, with that many of them."""
    return world.rows(
        "SELECT c.id, c.path, c.name, parent.name AS parent, top.name AS top, count(*) AS products"
        " FROM categories AS c JOIN categories AS parent ON parent.id = c.parent_id"
        " JOIN categories AS top ON top.id = parent.parent_id JOIN products AS p ON p.category_id = c.id"
        " GROUP BY c.id HAVING count(*) BETWEEN ? AND ? ORDER BY c.id",
        low,
        high,
    )


def shelf_name(shelf: dict[str, Any]) -> str:
    return f"{shelf['top']} > {shelf['parent']} > {shelf['name']}"


def shelf_products(world: World, path: Json) -> list[dict[str, Any]]:
    return world.rows(
        "SELECT p.*, r.review_count, r.rating_sum FROM products AS p JOIN categories AS c ON c.id = p.category_id"
        " JOIN product_ratings AS r ON r.product_id = p.id WHERE c.path = ? ORDER BY p.position",
        str(path),
    )


def product_by_name(world: World, name: Json) -> dict[str, Any]:
    found = world.rows("SELECT * FROM products WHERE name = ?", str(name))
    assert len(found) == 1
    return found[0]


def order(world: World, number: Json) -> dict[str, Any]:
    found = world.row("SELECT * FROM orders WHERE number = ?", str(number))
    assert found is not None
    return found


def order_items(world: World, number: Json) -> list[dict[str, Any]]:
    return world.rows(
        "SELECT i.*, p.weight_grams, p.slug FROM order_items AS i JOIN orders AS o ON o.id = i.order_id"
        " JOIN products AS p ON p.id = i.product_id WHERE o.number = ? ORDER BY i.id",
        str(number),
    )


def one(value: Json, type: Any = None, **rest: Any) -> Expectation:
    """A list of one result."""
    return Expectation(type="list", items=(Expectation.of(value, type, **rest),))


def dollars(cents: int) -> Expectation:
    return Expectation(type="currency", value=f"{cents // 100}.{cents % 100:02d}", currency="USD")


def product_page(slug: str) -> PagePattern:
    return PagePattern(site="shop", path=f"/p/{slug}")


def order_page(number: Json) -> PagePattern:
    return PagePattern(site="shop", path=f"/account/orders/{number}")
