"""Draws and truth queries that several templates share. All SQL over the pristine world."""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any
from weakref import WeakKeyDictionary

from webassay.arena.kit.dates import MONTHS
from webassay.arena.shop.pages import ORDERS_ON_A_PAGE
from webassay.core.task import PagePattern
from webassay.sites.kit import Row, SqlValue, World
from webassay.sites.rng import Stream

_FOUND: WeakKeyDictionary[World, dict[tuple[Any, ...], list[Row]]] = WeakKeyDictionary()


def rows(world: World, sql: str, *params: SqlValue) -> list[Row]:
    """A draw may be made thousands of times, and a pristine world always answers the same: asked once."""
    known = _FOUND.setdefault(world, {})
    if (sql, *params) not in known:
        known[(sql, *params)] = world.rows(sql, *params)
    return known[(sql, *params)]


# --- draws ------------------------------------------------------------------------------------------------


def shopper(world: World, stream: Stream, fewest: int = 8, most: int = 60) -> str:
    """The e-mail address of a customer with that many orders."""
    return customer(world, stream, f"{_WITH_ORDERS} GROUP BY c.id HAVING count(*) BETWEEN ? AND ?", fewest, most)


def customer(world: World, stream: Stream, which: str, *params: SqlValue) -> str:
    """The e-mail address of a customer. `which` is the rest of the query after `FROM customers AS c`: `WHERE …`."""
    found = rows(world, f"SELECT c.email FROM customers AS c {which} ORDER BY c.id", *params)
    return str(stream.choice(found)["email"])


_WITH_ORDERS = "JOIN orders AS o ON o.customer_id = c.id"


def place(world: World, stream: Stream, low: int, high: int, levels: Sequence[int] = (1, 2, 3)) -> tuple[str, str]:
    """Name and path of a department, category or shelf (level 1, 2, 3) with that many products."""
    found = rows(
        world,
        "SELECT c.path, concat_ws(' > ', top.name, middle.name, c.name) AS name FROM categories AS c"
        " LEFT JOIN categories AS middle ON middle.id = c.parent_id"
        " LEFT JOIN categories AS top ON top.id = middle.parent_id"
        " JOIN categories AS shelf ON shelf.path = c.path OR shelf.path LIKE c.path || '/%'"
        " JOIN products AS p ON p.category_id = shelf.id"
        f" WHERE c.level IN ({', '.join(str(level) for level in levels)})"
        " GROUP BY c.id HAVING count(*) BETWEEN ? AND ? ORDER BY c.id",
        low, high,
    )  # fmt: skip
    chosen = stream.choice(found)
    return str(chosen["name"]), str(chosen["path"])


# --- products ---------------------------------------------------------------------------------------------

_PRODUCTS = (
    "SELECT p.*, r.review_count, r.rating_sum, c.path AS shelf,"
    " EXISTS (SELECT 1 FROM product_options AS o WHERE o.product_id = p.id) AS has_options"
    " FROM products AS p JOIN product_ratings AS r ON r.product_id = p.id JOIN categories AS c ON c.id = p.category_id"
)


def products(world: World, path: str) -> list[Row]:
    """Those of a department, category or shelf, with what their cards show, in the order of the shop. `price_cents` is
    today's price; on sale, `list_price_cents` is the old one."""
    return rows(world, f"{_PRODUCTS} WHERE c.path = ? OR c.path LIKE ? ORDER BY p.position, p.id", path, f"{path}/%")


def find_products(world: World, condition: str, *params: str | int) -> list[Row]:
    """`condition` stands after WHERE; p is the product, r its ratings. Rows have the columns of products, and
    `review_count`, `rating_sum` (both 0 without reviews), `shelf` and `has_options`. No two have the same name."""
    return rows(world, f"{_PRODUCTS} WHERE {condition} ORDER BY p.id", *params)


def on_front_page(world: World) -> frozenset[str]:
    """Names of the products that everybody has seen before they begin: nothing can be asked for by these."""
    shown = (
        "p.list_price_cents IS NOT NULL ORDER BY r.review_count DESC, p.id",
        "p.position = 1 ORDER BY p.first_available DESC, p.id",
        "r.review_count >= 20 ORDER BY r.rating_sum * 1000 / r.review_count DESC, p.id",
    )
    found = (rows(world, f"{_PRODUCTS} WHERE p.enabled AND p.stock > 0 AND {which} LIMIT 4") for which in shown)
    return frozenset(row["name"] for some in found for row in some)


def product(world: World, name: str) -> Row:
    (found,) = rows(world, f"{_PRODUCTS} WHERE p.name = ?", name)
    return found


def best(found: Sequence[Row], measure: Callable[[Row], int]) -> Row | None:
    """The row with the highest measure; None without a clear winner among several."""
    ranked = sorted(found, key=measure, reverse=True)
    if len(ranked) < 2 or measure(ranked[0]) == measure(ranked[1]):
        return None
    return ranked[0]


price = itemgetter("price_cents")


def tenths(row: Row) -> int:
    """The average rating as the cards show it, times ten; 0 without reviews."""
    total, count = int(row["rating_sum"]), int(row["review_count"])
    return (20 * total + count) // (2 * count) if count else 0


def product_page(slug: str) -> PagePattern:
    return PagePattern(site="shop", path=f"/p/{slug}")


def place_page(path: str) -> PagePattern:
    return PagePattern(site="shop", path=f"/c/{path}")


# --- reviews ----------------------------------------------------------------------------------------------


def reviews(world: World, name: str) -> list[Row]:
    """Those that the product's page shows, in its order."""
    return rows(
        world,
        "SELECT v.* FROM reviews AS v JOIN products AS p ON p.id = v.product_id"
        " WHERE p.name = ? AND v.status = 'approved' ORDER BY v.created_at DESC, v.id DESC",
        name,
    )


def found_helpful(review: Row) -> int:
    """By how many people."""
    return int(review["helpful"] or 0)


def voted_on(review: Row) -> int:
    return int(review["votes"] or 0)


# --- carts and coupons ------------------------------------------------------------------------------------

TODAY = "2026-03-01"
"""The day on which every world of the shop starts."""


def cart(world: World, email: str) -> list[Row]:
    """In the order of the page, with each article's department and what its pieces cost."""
    return rows(
        world,
        "SELECT k.product_id, k.options, k.quantity, p.name, p.slug, p.price_cents * k.quantity AS goods_cents,"
        " top.id AS department_id FROM cart_items AS k JOIN customers AS c ON c.id = k.customer_id"
        " JOIN products AS p ON p.id = k.product_id JOIN categories AS shelf ON shelf.id = p.category_id"
        " JOIN categories AS middle ON middle.id = shelf.parent_id JOIN categories AS top ON top.id = middle.parent_id"
        " WHERE c.email = ? ORDER BY k.id",
        email,
    )


def with_cart(world: World, stream: Stream, fewest: int = 2) -> str:
    """The e-mail address of a customer with that many articles in the cart."""
    which = "JOIN cart_items AS k ON k.customer_id = c.id GROUP BY c.id HAVING count(*) >= ?"
    return customer(world, stream, which, fewest)


def without_cart(world: World, stream: Stream, fewest: int, most: int) -> str:
    """The e-mail address of a customer with an empty cart and that many orders."""
    empty = "WHERE c.id NOT IN (SELECT customer_id FROM cart_items WHERE customer_id IS NOT NULL)"
    which = f"{_WITH_ORDERS} {empty} GROUP BY c.id HAVING count(*) BETWEEN ? AND ?"
    return customer(world, stream, which, fewest, most)


def current_coupons(world: World) -> list[Row]:
    """In the order of the list."""
    return rows(world, "SELECT * FROM coupons WHERE ? BETWEEN starts_on AND ends_on ORDER BY ends_on, code", TODAY)


def taken_off(coupon: Row, goods: Sequence[Row]) -> int | None:
    """What a coupon takes off a cart, in cents; None if it does not work for it."""
    cost = sum(line["goods_cents"] for line in goods if coupon["department_id"] in (None, line["department_id"]))
    if cost == 0 or cost < coupon["minimum_cents"]:
        return None
    value = int(coupon["value"])
    return int((cost * value + 50) // 100 if coupon["kind"] == "percent" else min(cost, value))


def methods_used(world: World) -> list[str]:
    """How orders have been sent, so that it is known what it costs."""
    return [row["method"] for row in rows(world, "SELECT DISTINCT shipping_method AS method FROM orders ORDER BY 1")]


def shipping_cents(world: World, method: str, goods: int) -> int:
    """What the shop has always charged: the same for everybody, or nothing from the lowest value on that was free."""
    known = rows(world, "SELECT shipping_cents, subtotal_cents FROM orders WHERE shipping_method = ?", method)
    free = [one["subtotal_cents"] for one in known if one["shipping_cents"] == 0]
    if method == "standard" and goods >= FREE_FROM and free:
        return 0
    return max(int(one["shipping_cents"]) for one in known)


FREE_FROM = 7500
"""Said on every page."""


def tax_rate(world: World, region: str) -> int | None:
    """In hundredths of a percent, as it follows from the taxes of earlier orders to that state; None if it does not."""
    known = rows(
        world,
        "SELECT o.subtotal_cents - o.discount_cents AS goods, o.tax_cents AS tax FROM orders AS o"
        " JOIN order_addresses AS a ON a.order_id = o.id AND a.kind = 'shipping' WHERE a.region = ?",
        region,
    )
    fitting = [
        rate for rate in range(1001) if all((one["goods"] * rate + 5000) // 10000 == one["tax"] for one in known)
    ]
    return fitting[0] if len(fitting) == 1 else None


# --- customers and their orders -----------------------------------------------------------------------------


def customer_id(world: World, email: str) -> int:
    return int(rows(world, "SELECT id FROM customers WHERE email = ?", email)[0]["id"])


def orders_of(world: World, email: str) -> list[Row]:
    """The newest first, as the list shows them."""
    return rows(
        world,
        "SELECT o.* FROM orders AS o JOIN customers AS c ON c.id = o.customer_id WHERE c.email = ?"
        " ORDER BY o.created_at DESC, o.id DESC",
        email,
    )


def list_page(world: World, email: str, number: str) -> int:
    """On which page of the list an order stands."""
    numbers = [one["number"] for one in orders_of(world, email)]
    return numbers.index(number) // ORDERS_ON_A_PAGE + 1


def order(world: World, number: str) -> Row:
    (found,) = rows(world, "SELECT * FROM orders WHERE number = ?", number)
    return found


def orders_with(world: World, email: str, product: str) -> list[Row]:
    """The customer's orders that contain a product of that name."""
    numbers = {
        row["order_id"]
        for row in rows(
            world,
            "SELECT i.order_id FROM order_items AS i JOIN orders AS o ON o.id = i.order_id"
            " JOIN customers AS c ON c.id = o.customer_id WHERE c.email = ? AND i.name = ?",
            email, product,
        )
    }  # fmt: skip
    return [one for one in orders_of(world, email) if one["id"] in numbers]


def order_items(world: World, number: str) -> list[Row]:
    """In the order of the page."""
    return rows(
        world,
        "SELECT i.*, p.weight_oz, p.slug, p.origin, p.warranty_months,"
        " i.unit_price_cents * i.quantity AS subtotal_cents FROM order_items AS i JOIN orders AS o ON o.id = i.order_id"
        " JOIN products AS p ON p.id = i.product_id WHERE o.number = ? ORDER BY i.id",
        number,
    )


total, unit_price, subtotal = map(itemgetter, ("total_cents", "unit_price_cents", "subtotal_cents"))


def some_order(world: World, stream: Stream, email: str, condition: str) -> str:
    """The number of one of the customer's orders. `condition` is about its lines, called i."""
    found = rows(
        world,
        "SELECT o.number FROM orders AS o JOIN customers AS c ON c.id = o.customer_id"
        f" JOIN order_items AS i ON i.order_id = o.id WHERE c.email = ? GROUP BY o.id HAVING {condition} ORDER BY o.id",
        email,
    )
    return str(stream.choice(found)["number"])


def order_page(number: str, status: int = 200) -> PagePattern:
    return PagePattern(site="shop", path=f"/account/orders/{number}", status=status)


ORDER_LIST = PagePattern(site="shop", path="/account/orders")


def orders_during(world: World, email: str, period: str) -> list[Row]:
    """Those whose date begins with `2025-`, say, or `2025-03`; the newest first."""
    return [one for one in orders_of(world, email) if one["created_at"].startswith(period)]


def month_of_orders(world: World, stream: Stream, email: str, condition: str) -> tuple[str, str]:
    """A month as `March 2025` and as `2025-03`. `condition` is about all of the month's orders, called o."""
    months = rows(
        world,
        "SELECT substr(o.created_at, 1, 7) AS month FROM orders AS o JOIN customers AS c ON c.id = o.customer_id"
        f" WHERE c.email = ? GROUP BY 1 HAVING {condition} ORDER BY 1",
        email,
    )
    chosen = str(stream.choice(months)["month"])
    year, month = chosen.split("-")
    return f"{MONTHS[int(month) - 1]} {year}", chosen


def address_book(world: World, email: str) -> list[Row]:
    return rows(world, "SELECT * FROM addresses WHERE customer_id = ? ORDER BY id", customer_id(world, email))


def as_sorted(product: Row) -> tuple[int, int]:
    """The order of a list of products that is sorted by price."""
    return product["price_cents"], product["id"]
