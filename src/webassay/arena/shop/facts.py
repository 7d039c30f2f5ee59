"""What has been seen of the shop, for the facts of keys: cells, wherever and however they were shown."""

from collections.abc import Sequence

from webassay.arena.kit.dates import MONTHS
from webassay.arena.kit.key import Key, Known, cell, picture, shown
from webassay.arena.shop.pages import FEW_ORDERS, REVIEWS_ON_A_PAGE
from webassay.arena.shop.queries import ORDER_LIST
from webassay.core.task import Sight
from webassay.sites.kit import Row

SAMPLE = 60
"""How many rows of a very long list stand for all of it."""
LIST = Key.checkpoint("order history", ORDER_LIST)


def amount(cents: int) -> str:
    return f"${cents // 100:,}.{cents % 100:02d}"


def priced(product: Row) -> Sight:
    return cell("products", product["id"], "price_cents")


def reviewed(product: Row) -> Sight:
    """Where there are no reviews, that is what cards and product pages say."""
    if not product["review_count"]:
        return shown(product["name"], "No reviews yet")
    return cell("product_ratings", product["id"], "review_count")


def priced_and_reviewed(product: Row) -> list[Sight]:
    return [priced(product), reviewed(product)]


def rated(product: Row) -> list[Sight]:
    stars = cell("product_ratings", product["id"], "rating_sum")
    return [priced(product), stars if product["review_count"] else reviewed(product)]


def weighed(product: Row) -> Sight:
    return cell("products", product["id"], "weight_oz")


def card(product: Row) -> Sight:
    """The picture of the card that lies in the package."""
    return picture(f"/p/{product['slug']}/label.svg")


def seen(sights: Sequence[Known]) -> Key:
    """All of these."""
    return Key.all_of(Key.seen_any(sight) for sight in sights)


def sample(rows: Sequence[Row]) -> Sequence[Row]:
    """Evenly spread: who has read the list has read these."""
    return rows if len(rows) <= SAMPLE else [rows[place * len(rows) // SAMPLE] for place in range(SAMPLE)]


# --- reviews ----------------------------------------------------------------------------------------------


def review(row: Row) -> Sight:
    return cell("reviews", row["id"], "rating")


def votes(row: Row) -> Sight:
    return cell("reviews", row["id"], "helpful")


def read_reviews(rows: Sequence[Row]) -> Key:
    """One of each page, since nobody can see a part of one, and the last."""
    return seen([review(row) for row in (*rows[::REVIEWS_ON_A_PAGE], rows[-1])])


# --- orders -----------------------------------------------------------------------------------------------


def order_status(order: Row) -> Sight:
    return cell("orders", order["id"], "status")


def order_total(order: Row) -> tuple[Sight, ...]:
    """With its status: canceled orders may not count."""
    return cell("orders", order["id"], "total_cents"), order_status(order)


def read_orders(orders: Sequence[Row], those: Sequence[Row]) -> Key:
    """The list, of which nobody sees less than a page; and each of those."""
    pages = (*orders[::FEW_ORDERS], orders[-1])
    return Key.seen_share(1.0, dict.fromkeys(order_total(order) for order in (*pages, *those)))


def bought(item: Row) -> tuple[Sight, ...]:
    """A line of an order."""
    return tuple(cell("order_items", item["id"], column) for column in ("unit_price_cents", "quantity"))


def discount(order: Row) -> Sight:
    """On the order's own page: what a coupon took off, or that none did."""
    if not order["discount_cents"]:
        return shown(f"Order # {order['number']}", "Items Ordered", together="page")
    return cell("orders", order["id"], "discount_cents")


# --- coupons ----------------------------------------------------------------------------------------------


def long_date(day: str) -> str:
    return f"{MONTHS[int(day[5:7]) - 1]} {int(day[8:10])}, {day[:4]}"


def coupon(row: Row) -> Sight:
    """Until when it works."""
    return cell("coupons", row["code"], "ends_on")
