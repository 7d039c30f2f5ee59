"""The shop's people and products, and what a visit changed."""

from collections.abc import Mapping
from typing import Any

import httpx

from tests.sites.visitors import HOST, content, visitor
from webassay.sites.kit import World
from webassay.sites.shop.seeding.customers import REGULARS
from webassay.sites.shop.web import WEB
from webassay.sites.snapshots import ChangedRow

__all__ = ["HOST", "content", "visitor"]  # For the tests of the shop, which get everything from here.

NORA, MARCUS, PRIYA, WALT = (email for *_, email in REGULARS)
COOKIE = WEB.sessions.cookie
ADDRESS = {
    "first_name": "Nora", "last_name": "Castellano", "street": "12 Test Lane", "street2": "Apt 9", "city": "Austin",
    "region": "TX", "postcode": "78701", "phone": "512-555-0100",
}  # fmt: skip


def summary(world: World) -> list[tuple[str, str]]:
    """Table and operation of every change of content, in order."""
    return [(change.table, _operation(change)) for change in content(world)]


def _operation(change: ChangedRow) -> str:
    return "insert" if change.before is None else "delete" if change.after is None else "update"


def differing(change: ChangedRow) -> dict[str, tuple[Any, Any]]:
    return {
        name: (change.before[name], change.after[name])
        for name in change.before
        if change.before[name] != change.after[name]
    }


def picked(row: Mapping[str, Any] | None, *names: str) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


def one_id(world: World, email: str) -> int:
    number: int = world.scalar("SELECT id FROM customers WHERE email = ?", email)
    return number


def product(world: World, condition: str = "1", place: int = 0) -> dict[str, Any]:
    """One without options that is in stock."""
    found = world.row(
        f"SELECT * FROM products WHERE ({condition}) AND stock > 20"
        " AND id NOT IN (SELECT product_id FROM product_options) ORDER BY id LIMIT 1 OFFSET ?",
        place,
    )
    assert found is not None
    return found


async def buy(client: httpx.AsyncClient, item: dict[str, Any], quantity: int = 1) -> None:
    answer = await client.post("/cart/add", data={"product_id": item["id"], "quantity": quantity})
    assert answer.status_code == 303
