"""Shop chores that end in an answer or on a page."""

from collections import Counter
from typing import Any

from webassay.benchmarks.arena import shop_facts as facts
from webassay.benchmarks.arena import shop_solutions as solutions
from webassay.benchmarks.arena.template import Key, Parameters, Template
from webassay.core.task import Checkpoint, Expectation, PagePattern
from webassay.sites.kit import World
from webassay.sites.rng import Stream

# --- reviews --------------------------------------------------------------------------------------------


def _reviewed_product(world: World, stream: Stream, low: int, high: int) -> str | None:
    found = facts.pick(stream, facts.named_products(world, "r.review_count BETWEEN ? AND ?", low, high))
    return None if found is None else str(found["name"])


def _ratings(world: World, product: object) -> Counter[int]:
    rows = world.rows(
        "SELECT v.rating FROM reviews AS v JOIN products AS p ON p.id = v.product_id"
        " WHERE p.name = ? AND v.status = 'approved'",
        str(product),
    )
    return Counter(row["rating"] for row in rows)


def _draw_low_reviews(world: World, stream: Stream) -> Parameters | None:
    product = _reviewed_product(world, stream, 18, 60)
    return None if product is None else {"product": product, "stars": stream.between(2, 3)}


def _key_low_reviews(world: World, p: Parameters) -> Key:
    counted = _ratings(world, p["product"])
    few = sum(number for rating, number in counted.items() if rating <= int(str(p["stars"])))
    page = facts.product_page(facts.product_by_name(world, p["product"])["slug"])
    return Key(results=facts.one(few), checkpoints=(Checkpoint(name="product page", visits=(page,)),))


def _draw_distribution(world: World, stream: Stream) -> Parameters | None:
    product = _reviewed_product(world, stream, 25, 90)
    return None if product is None else {"product": product}


def _key_distribution(world: World, p: Parameters) -> Key:
    counted = _ratings(world, p["product"])
    numbers = tuple(Expectation.of(counted[stars]) for stars in (5, 4, 3, 2, 1))
    return Key(results=Expectation(type="list", items=numbers, ordered=True))


def _nicknames(world: World, product: object, stars: object) -> list[str]:
    rows = world.rows(
        "SELECT v.nickname FROM reviews AS v JOIN products AS p ON p.id = v.product_id"
        " WHERE p.name = ? AND v.status = 'approved' AND v.rating = ? ORDER BY v.id",
        str(product),
        int(str(stars)),
    )
    return [row["nickname"] for row in rows]


def _draw_nicknames(world: World, stream: Stream) -> Parameters | None:
    product, stars = _reviewed_product(world, stream, 14, 50), stream.between(1, 3)
    if product is None:
        return None
    names = _nicknames(world, product, stars)
    usable = 2 <= len(names) <= 8 and len({name.casefold() for name in names}) == len(names)
    return {"product": product, "stars": stars} if usable else None


def _key_nicknames(world: World, p: Parameters) -> Key:
    return Key(results=Expectation.of(_nicknames(world, p["product"], p["stars"])))


# --- the catalogue --------------------------------------------------------------------------------------


def _draw_shelf_total(world: World, stream: Stream) -> Parameters | None:
    shelf = stream.choice(facts.shelves(world, 14, 40))
    prices = sorted(product["price_cents"] for product in facts.shelf_products(world, shelf["path"]))
    first = stream.below(len(prices) - 8)
    low, high = prices[first] // 500 * 5, -(-prices[first + stream.between(4, 7)] // 500) * 5
    inside = [price for price in prices if low * 100 <= price <= high * 100]
    # A price on the very edge would leave open whether it counts.
    if not 4 <= len(inside) <= 16 or low * 100 in inside or high * 100 in inside:
        return None
    return {"shelf": facts.shelf_name(shelf), "path": shelf["path"], "low": low, "high": high}


def _key_shelf_total(world: World, p: Parameters) -> Key:
    low, high = int(str(p["low"])) * 100, int(str(p["high"])) * 100
    prices = (product["price_cents"] for product in facts.shelf_products(world, p["path"]))
    total = sum(price for price in prices if low <= price <= high)
    return Key(results=Expectation(type="list", items=(facts.dollars(total),)))


def _draw_heaviest(world: World, stream: Stream) -> Parameters | None:
    shelf = stream.choice(facts.shelves(world, 8, 16))
    weights = sorted((product["weight_grams"] for product in facts.shelf_products(world, shelf["path"])), reverse=True)
    # The pages round; what is nearly as heavy could look the same.
    return None if weights[0] - weights[1] < 20 else {"shelf": facts.shelf_name(shelf), "path": shelf["path"]}


def _key_heaviest(world: World, p: Parameters) -> Key:
    products = facts.shelf_products(world, p["path"])
    heaviest = max(products, key=lambda product: int(product["weight_grams"]))
    return Key(results=facts.one(heaviest["sku"]))


def _draw_most_reviewed(world: World, stream: Stream) -> Parameters | None:
    shelf, count = stream.choice(facts.shelves(world, 14, 40)), stream.between(3, 5)
    reviews = sorted((product["review_count"] for product in facts.shelf_products(world, shelf["path"])), reverse=True)
    clear = reviews[count - 1] > reviews[count]
    return {"shelf": facts.shelf_name(shelf), "path": shelf["path"], "count": count} if clear else None


def _key_most_reviewed(world: World, p: Parameters) -> Key:
    count = int(str(p["count"]))
    products = sorted(facts.shelf_products(world, p["path"]), key=lambda product: -int(product["review_count"]))
    total = sum(product["price_cents"] for product in products[:count])
    return Key(results=Expectation(type="list", items=(facts.dollars(total),)))


def _draw_cheapest(world: World, stream: Stream) -> Parameters | None:
    shelf, reviews = stream.choice(facts.shelves(world, 14, 60)), stream.choice((5, 8, 10, 12, 15))
    prices = sorted(
        product["price_cents"]
        for product in facts.shelf_products(world, shelf["path"])
        if product["review_count"] >= reviews
    )
    if len(prices) < 2 or prices[0] == prices[1]:
        return None
    return {"shelf": facts.shelf_name(shelf), "path": shelf["path"], "reviews": reviews}


def _key_cheapest(world: World, p: Parameters) -> Key:
    products = [
        product
        for product in facts.shelf_products(world, p["path"])
        if product["review_count"] >= int(str(p["reviews"]))
    ]
    return Key(page=(facts.product_page(min(products, key=lambda product: int(product["price_cents"]))["slug"]),))


# --- one's own orders -----------------------------------------------------------------------------------


def _orders_between(world: World, user: object, first: str, last: str) -> list[dict[str, Any]]:
    return world.rows(
        "SELECT o.* FROM orders AS o JOIN customers AS c ON c.id = o.customer_id"
        " WHERE c.email = ? AND substr(o.created_at, 1, 7) BETWEEN ? AND ? ORDER BY o.id",
        str(user),
        first,
        last,
    )


def _draw_month(world: World, stream: Stream) -> Parameters | None:
    user = facts.customer(world, stream, orders=15)["email"]
    months = world.rows(
        "SELECT substr(o.created_at, 1, 7) AS month FROM orders AS o JOIN customers AS c ON c.id = o.customer_id"
        " WHERE c.email = ? GROUP BY 1 HAVING sum(o.status <> 'canceled') >= 2 ORDER BY 1",
        user,
    )
    found = facts.pick(stream, months)
    if found is None:
        return None
    year, month = found["month"].split("-")
    return {"user": user, "month": f"{facts.MONTHS[int(month) - 1]} {year}", "year_month": found["month"]}


def _key_month(world: World, p: Parameters) -> Key:
    month = str(p["year_month"])
    orders = _orders_between(world, p["user"], month, month)
    total = sum(order["total_cents"] for order in orders if order["status"] != "canceled")
    listing = PagePattern(site="shop", path="/account/orders")
    return Key(
        results=Expectation(type="list", items=(facts.dollars(total),)),
        checkpoints=(Checkpoint(name="order history", visits=(listing,)),),
    )


def _draw_status(world: World, stream: Stream) -> Parameters | None:
    user = facts.customer(world, stream, orders=12)["email"]
    status = stream.choice(("complete", "canceled", "processing"))
    return {"user": user, "status": status} if _with_status(world, user, status) else None


def _with_status(world: World, user: object, status: object) -> list[dict[str, Any]]:
    return [order for order in _orders_between(world, user, "0000-00", "9999-99") if order["status"] == status]


def _key_status(world: World, p: Parameters) -> Key:
    orders = _with_status(world, p["user"], p["status"])
    total = sum(order["total_cents"] for order in orders)
    fields = {"count": Expectation.of(len(orders)), "total": facts.dollars(total)}
    return Key(results=Expectation(type="list", items=(Expectation(type="object", fields=fields),)))


def _draw_dearest(world: World, stream: Stream) -> Parameters | None:
    user, year = facts.customer(world, stream)["email"], stream.between(2023, 2025)
    orders = _orders_between(world, user, f"{year}-01", f"{year}-12")
    prices = sorted((row["unit_price_cents"] for row in _items(world, orders)), reverse=True)
    if not 3 <= len(orders) <= 8 or len(prices) < 2 or prices[0] == prices[1]:
        return None
    return {"user": user, "year": year}


def _items(world: World, orders: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [item for order in orders for item in facts.order_items(world, order["number"])]


def _key_dearest(world: World, p: Parameters) -> Key:
    orders = _orders_between(world, p["user"], f"{p['year']}-01", f"{p['year']}-12")
    dearest = max(_items(world, orders), key=lambda item: int(item["unit_price_cents"]))
    return Key(
        results=facts.one(dearest["sku"]),
        checkpoints=tuple(
            Checkpoint(name=f"order {order['number']}", visits=(facts.order_page(order["number"]),)) for order in orders
        ),
    )


def _draw_order_weight(world: World, stream: Stream) -> Parameters | None:
    user = facts.customer(world, stream)["email"]
    orders = world.rows(
        "SELECT o.number FROM orders AS o JOIN customers AS c ON c.id = o.customer_id"
        " JOIN order_items AS i ON i.order_id = o.id WHERE c.email = ?"
        " GROUP BY o.id HAVING count(*) BETWEEN 3 AND 6 ORDER BY o.id",
        user,
    )
    found = facts.pick(stream, orders)
    return None if found is None else {"user": user, "order": found["number"]}


def _key_order_weight(world: World, p: Parameters) -> Key:
    items = facts.order_items(world, p["order"])
    grams = sum(item["weight_grams"] * item["quantity"] for item in items)
    return Key(
        results=facts.one(grams),
        checkpoints=tuple(Checkpoint(name=item["sku"], visits=(facts.product_page(item["slug"]),)) for item in items),
    )


def _draw_order_with(world: World, stream: Stream) -> Parameters | None:
    user = facts.customer(world, stream)["email"]
    bought = world.rows(
        "SELECT i.name, o.number FROM order_items AS i JOIN orders AS o ON o.id = i.order_id"
        " JOIN customers AS c ON c.id = o.customer_id WHERE c.email = ?"
        " GROUP BY i.product_id HAVING count(DISTINCT o.id) = 1 ORDER BY i.product_id",
        user,
    )
    found = facts.pick(stream, bought)
    return None if found is None else {"user": user, "product": found["name"]}


def _key_order_with(world: World, p: Parameters) -> Key:
    number = world.scalar(
        "SELECT o.number FROM order_items AS i JOIN orders AS o ON o.id = i.order_id"
        " JOIN customers AS c ON c.id = o.customer_id WHERE c.email = ? AND i.name = ?",
        str(p["user"]),
        str(p["product"]),
    )
    return Key(page=(facts.order_page(number),))


READING: tuple[Template, ...] = (
    Template(
        name="low-reviews",
        site="shop",
        kind="retrieve",
        chore="massive_memory",
        instruction='How many reviews of "{product}" give it {stars} stars or fewer? Answer with one number.',
        draw=_draw_low_reviews,
        key=_key_low_reviews,
        solve=solutions.low_reviews,
    ),
    Template(
        name="rating-distribution",
        site="shop",
        kind="retrieve",
        chore="massive_memory",
        instruction='How are the ratings of "{product}" distributed? Answer with five numbers: how many reviews give '
        "5, 4, 3, 2 and 1 stars, in that order.",
        draw=_draw_distribution,
        key=_key_distribution,
        solve=solutions.rating_distribution,
        difficulty="hard",
    ),
    Template(
        name="critical-reviewers",
        site="shop",
        kind="retrieve",
        chore="massive_memory",
        instruction='Who gave "{product}" exactly {stars} stars? List the nicknames of these reviewers.',
        draw=_draw_nicknames,
        key=_key_nicknames,
        solve=solutions.critical_reviewers,
    ),
    Template(
        name="price-range-total",
        site="shop",
        kind="retrieve",
        chore="calculation",
        instruction="What would it cost to buy one of each product in {shelf} that is priced between ${low} and "
        "${high}? Answer with the sum of the prices, without shipping and tax.",
        draw=_draw_shelf_total,
        key=_key_shelf_total,
        solve=solutions.price_range_total,
    ),
    Template(
        name="heaviest-product",
        site="shop",
        kind="retrieve",
        chore="massive_memory",
        instruction="Which product in {shelf} weighs the most? Answer with its SKU.",
        draw=_draw_heaviest,
        key=_key_heaviest,
        solve=solutions.heaviest_product,
        difficulty="hard",
    ),
    Template(
        name="most-reviewed-total",
        site="shop",
        kind="retrieve",
        chore="calculation",
        instruction="Take the {count} products in {shelf} that have the most reviews. What do they cost together? "
        "Answer with the sum of their prices.",
        draw=_draw_most_reviewed,
        key=_key_most_reviewed,
        solve=solutions.most_reviewed_total,
    ),
    Template(
        name="month-spend",
        site="shop",
        kind="retrieve",
        chore="calculation",
        instruction="How much did my orders of {month} come to in total, with shipping and tax? "
        "Leave canceled orders out.",
        draw=_draw_month,
        key=_key_month,
        solve=solutions.month_spend,
    ),
    Template(
        name="orders-by-status",
        site="shop",
        kind="retrieve",
        chore="massive_memory",
        instruction="How many of my orders have the status {status}, and what do they come to in total? Answer with "
        'one object with the keys "count" and "total".',
        draw=_draw_status,
        key=_key_status,
        solve=solutions.orders_by_status,
    ),
    Template(
        name="dearest-purchase",
        site="shop",
        kind="retrieve",
        chore="long_term_memory",
        instruction="Of everything that I ordered in {year}, canceled orders included, which article had the highest "
        "price for a single piece? Answer with its SKU.",
        draw=_draw_dearest,
        key=_key_dearest,
        solve=solutions.dearest_purchase,
    ),
    Template(
        name="order-weight",
        site="shop",
        kind="retrieve",
        chore="long_term_memory",
        instruction="My order {order} is to be shipped on in one parcel. What do all of its articles weigh together, "
        "every piece counted, by the shipping weights on the product pages? Answer with the number of grams.",
        draw=_draw_order_weight,
        key=_key_order_weight,
        solve=solutions.order_weight,
        difficulty="hard",
    ),
    Template(
        name="open-cheapest",
        site="shop",
        kind="navigate",
        chore="others",
        instruction="Open the page of the cheapest product in {shelf} that has at least {reviews} reviews.",
        draw=_draw_cheapest,
        key=_key_cheapest,
        solve=solutions.open_cheapest,
        difficulty="easy",
    ),
    Template(
        name="open-order-with",
        site="shop",
        kind="navigate",
        chore="long_term_memory",
        instruction='Open the page of the order with which I bought "{product}".',
        draw=_draw_order_with,
        key=_key_order_with,
        solve=solutions.open_order_with,
    ),
)
