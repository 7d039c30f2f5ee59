"""Which orders can still be sent back, and how much of them."""

from datetime import date, timedelta

from webassay.sites.kit import Row, World
from webassay.sites.receipts import carrying, ours
from webassay.sites.shop.commerce import RETURN_DAYS
from webassay.sites.shop.pricing import today
from webassay.sites.web.dates import long_date


def last_day(order: Row) -> str:
    day: str = _days_later(order["created_at"])
    return day


@carrying
def _days_later(day: str) -> str:
    return (date.fromisoformat(day[:10]) + timedelta(days=RETURN_DAYS)).isoformat()


def why_not_returnable(world: World, order: Row) -> str:
    """In words; empty if something of it can be returned."""
    if order["status"] != "complete":
        return f"Only complete orders can be returned, and this one is {order['status']}."
    if today(world) > last_day(order):
        return ours("This order could be returned until {}.").format(carrying(long_date)(last_day(order)))
    if not any(item["left"] for item in returnable(world, order)):
        return "Everything in this order has been returned."
    return ""


def returnable(world: World, order: Row) -> list[Row]:
    """The order's articles, each with the number of pieces that are `left` to return."""
    return world.rows(
        "SELECT i.*, i.quantity - (SELECT ifnull(sum(r.quantity), 0) FROM return_items AS r"
        " JOIN returns AS t ON t.id = r.return_id WHERE r.order_item_id = i.id"
        " AND t.status NOT IN ('refused', 'withdrawn')) AS left FROM order_items AS i WHERE i.order_id = ?"
        " ORDER BY i.id",
        order["id"],
    )
