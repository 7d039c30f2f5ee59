"""What the shop shows, for the facts of keys: written as its pages write it."""

from collections.abc import Sequence

from webassay.arena.kit.key import Key, fact, picture, shown
from webassay.arena.shop.pages import FEW_ORDERS, MONTHS, REVIEWS_ON_A_PAGE
from webassay.arena.shop.queries import ORDER_LIST, tenths
from webassay.core.task import Fact, Sight
from webassay.sites.kit import Row

SAMPLE = 60
"""How many rows of a very long list stand for all of it."""
LIST = Key.checkpoint("order history", ORDER_LIST)


def amount(cents: int) -> str:
    return f"${cents // 100:,}.{cents % 100:02d}"


def weight(ounces: int) -> str:
    pounds, rest = divmod(ounces, 16)
    return " ".join(["Weight", *[f"{pounds} lb"] * (pounds > 0), *[f"{rest} oz"] * (rest > 0 or not pounds)])


def _reviews(product: Row) -> str:
    count = product["review_count"]
    return "No reviews yet" if not count else "1 review" if count == 1 else f"{count} reviews"


# Cards and product pages say these things in the same words.


def priced(product: Row) -> Sight:
    return shown(product["name"], amount(product["price_cents"]))


def reviewed(product: Row) -> Sight:
    return shown(product["name"], _reviews(product))


def priced_and_reviewed(product: Row) -> Sight:
    return shown(product["name"], amount(product["price_cents"]), _reviews(product))


def rated(product: Row) -> Sight:
    stars = tenths(product)
    return shown(
        product["name"],
        amount(product["price_cents"]),
        f"{stars // 10}.{stars % 10} out of 5 stars" if stars else "No reviews yet",
    )


def weighed(product: Row) -> Sight:
    return shown(product["sku"], weight(product["weight_oz"]), together="page")


def card(product: Row) -> Sight:
    """The picture of the card that lies in the package."""
    return picture(f"/p/{product['slug']}/label.svg")


def seen(sights: Sequence[Sight]) -> Key:
    """All of these."""
    return Key.all_of(Key.seen_any(sight) for sight in sights)


def sample(rows: Sequence[Row]) -> Sequence[Row]:
    """Evenly spread: who has read the list has read these."""
    return rows if len(rows) <= SAMPLE else [rows[place * len(rows) // SAMPLE] for place in range(SAMPLE)]


# --- reviews ----------------------------------------------------------------------------------------------


def review(row: Row) -> Sight:
    return shown(row["title"], row["nickname"], f"Rating: {row['rating']} out of 5 stars")


def votes(row: Row) -> Sight:
    return shown(row["title"], row["nickname"], f"{row['helpful']} of {row['votes']} found this review helpful")


def read_reviews(rows: Sequence[Row]) -> Key:
    """One of each page, since nobody can see a part of one, and the last."""
    return seen([review(row) for row in (*rows[::REVIEWS_ON_A_PAGE], rows[-1])])


# --- orders -----------------------------------------------------------------------------------------------


def order_total(order: Row) -> Fact:
    """In the list, or on the order's own page."""
    total, status = amount(order["total_cents"]), str(order["status"])
    return fact(
        shown(order["number"], total, status), shown(f"Order # {order['number']}", total, status, together="page")
    )


def order_status(order: Row) -> Fact:
    return fact(
        shown(order["number"], order["status"]), shown(f"Order # {order['number']}", order["status"], together="page")
    )


def read_orders(orders: Sequence[Row], those: Sequence[Row]) -> Key:
    """The list, of which nobody sees less than a page; and each of those."""
    pages = (*orders[::FEW_ORDERS], orders[-1])
    return Key.seen_share(1.0, dict.fromkeys(order_total(order) for order in (*pages, *those)))


def bought(item: Row) -> Sight:
    """A line of an order."""
    return shown(item["name"], item["sku"], amount(item["unit_price_cents"]), f"Ordered: {item['quantity']}")


def discount(order: Row) -> Sight:
    """On the order's own page: what a coupon took off, if there was one."""
    saved = (f"-{amount(order['discount_cents'])}",) if order["discount_cents"] else ()
    return shown(f"Order # {order['number']}", *saved, "Items Ordered", together="page")


# --- coupons ----------------------------------------------------------------------------------------------


def long_date(day: str) -> str:
    return f"{MONTHS[int(day[5:7]) - 1]} {int(day[8:10])}, {day[:4]}"


def coupon(row: Row) -> Sight:
    """A line of the list of coupons."""
    return shown(row["code"], long_date(row["ends_on"]))
