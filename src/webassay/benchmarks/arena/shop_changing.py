"""Shop chores that change something, and chores that cannot be done."""

import re
from typing import Any

from webassay.benchmarks.arena import shop_facts as facts
from webassay.benchmarks.arena import shop_solutions as solutions
from webassay.benchmarks.arena.template import Key, Parameters, Template
from webassay.core.record import Json
from webassay.core.task import Expectation, ExpectedChange, PagePattern
from webassay.sites.kit import World
from webassay.sites.rng import Stream

STREETS = (
    "Larkspur Lane", "Old Quarry Road", "Weir Street", "Juniper Court", "Harbor View Drive", "Millstone Avenue",
    "Foxglove Terrace", "Station Street", "Cedar Hollow Road", "Fairmount Place", "Bellweather Way", "Tanner Street",
)  # fmt: skip
REVIEW_TITLES = (
    "Better than the last one", "Does what it says", "Would buy again", "Not quite what I hoped for",
    "Solid and simple", "My neighbor wants one too", "Good, with one small flaw", "Fine for the price",
)  # fmt: skip
REVIEW_TEXTS = (
    "I have used it nearly every day for two weeks and have nothing to complain about so far.",
    "It arrived a day early and was well packed. The color is a little darker than in the picture.",
    "Sturdier than I expected. I only wish that the instructions were easier to read.",
    "It is fine, but the one that I had before was easier to clean, so I am of two minds about it.",
    "Bought it for my daughter, who has taken it everywhere since. That says enough, I think.",
)
NICKNAMES = ("Quiet Otter", "Marlow", "Tess from Ohio", "B. Underhill", "paperkite", "Rosalind K")
INVENTED = (
    "Moonquartz Cloud Slippers", "Thunderpine Espresso Anvil", "Glasswing Kite Umbrella", "Velvet Comet Night Light",
    "Saltspire Marble Ukulele", "Pocketwhale Travel Sink", "Emberfold Paper Stove", "Driftglass Reading Canoe",
    "Sunmoth Solar Mittens", "Ironlace Garden Harp", "Quillfrost Ice Typewriter", "Hollowbell Singing Kettlebell",
)  # fmt: skip


# --- the cart and the wish list -------------------------------------------------------------------------


def _optionless(world: World, path: Json) -> list[dict[str, Any]]:
    """Of a shelf, if nothing on it asks for a size or a color to be picked and everything is in stock."""
    products = facts.shelf_products(world, path)
    choosing = world.scalar(
        "SELECT count(*) FROM product_options AS o JOIN products AS p ON p.id = o.product_id"
        " JOIN categories AS c ON c.id = p.category_id WHERE c.path = ?",
        str(path),
    )
    return [] if choosing else [product for product in products if product["stock"] >= 10]


def _tenths(product: dict[str, Any]) -> int:
    """The average rating as it is shown on the cards, times ten."""
    total, count = product["rating_sum"], product["review_count"]
    return (20 * total + count) // (2 * count) if count else 0


def _well_rated(world: World, path: Json, tenths: Json) -> list[dict[str, Any]]:
    good = [product for product in _optionless(world, path) if _tenths(product) >= int(str(tenths))]
    return sorted(good, key=lambda product: int(product["price_cents"]))


def _draw_cart(world: World, stream: Stream) -> Parameters | None:
    user = facts.customer(world, stream, orders=4)["email"]
    shelf, tenths = stream.choice(facts.shelves(world, 14, 40)), stream.choice((40, 42, 44, 45))
    every = [product for product in facts.shelf_products(world, shelf["path"]) if _tenths(product) >= tenths]
    good = _well_rated(world, shelf["path"], tenths)
    if len(good) < 2 or len(every) != len(good) or good[0]["price_cents"] == good[1]["price_cents"]:
        return None
    held = world.scalar("SELECT count(*) FROM cart_items WHERE customer_id = ?", facts.customer_id(world, user))
    if held:
        return None
    return {
        "user": user,
        "shelf": facts.shelf_name(shelf),
        "path": shelf["path"],
        "rating": f"{tenths // 10}.{tenths % 10}",
        "tenths": tenths,
        "quantity": stream.between(2, 4),
    }


def _key_cart(world: World, p: Parameters) -> Key:
    product = _well_rated(world, p["path"], p["tenths"])[0]
    return Key(
        changes=(
            ExpectedChange(
                site="shop",
                table="cart_items",
                operation="insert",
                values={
                    "customer_id": Expectation.of(facts.customer_id(world, p["user"])),
                    "product_id": Expectation.of(product["id"]),
                    "options": Expectation.of(""),
                    "quantity": Expectation.of(p["quantity"]),
                },
            ),
        )
    )


def _draw_wishes(world: World, stream: Stream) -> Parameters | None:
    user = facts.customer(world, stream)["email"]
    orders = world.rows(
        "SELECT o.number FROM orders AS o JOIN customers AS c ON c.id = o.customer_id"
        " JOIN order_items AS i ON i.order_id = o.id WHERE c.email = ?"
        " AND NOT EXISTS (SELECT 1 FROM wishlist_items AS w JOIN order_items AS j ON j.product_id = w.product_id"
        " WHERE w.customer_id = c.id AND j.order_id = o.id)"
        " GROUP BY o.id HAVING count(*) BETWEEN 2 AND 5 AND count(DISTINCT i.product_id) = count(*) ORDER BY o.id",
        user,
    )
    found = facts.pick(stream, orders)
    return None if found is None else {"user": user, "order": found["number"]}


def _key_wishes(world: World, p: Parameters) -> Key:
    person = Expectation.of(facts.customer_id(world, p["user"]))
    return Key(
        changes=tuple(
            ExpectedChange(
                site="shop",
                table="wishlist_items",
                operation="insert",
                values={"customer_id": person, "product_id": Expectation.of(item["product_id"])},
            )
            for item in facts.order_items(world, p["order"])
        )
    )


# --- the account ----------------------------------------------------------------------------------------


def _draw_address(world: World, stream: Stream) -> Parameters | None:
    user = facts.customer(world, stream, orders=4)["email"]
    return {
        "user": user,
        "street": f"{stream.between(11, 989)} {stream.choice(STREETS)}",
        "postcode": str(stream.between(10_001, 98_999)),
    }


def _key_address(world: World, p: Parameters) -> Key:
    address = world.scalar(
        "SELECT id FROM addresses WHERE customer_id = ? AND is_default_shipping", facts.customer_id(world, p["user"])
    )
    return Key(
        changes=(
            ExpectedChange(
                site="shop",
                table="addresses",
                operation="update",
                where={"id": address},
                values={"street": Expectation.of(p["street"]), "postcode": Expectation.of(p["postcode"])},
            ),
        )
    )


# --- orders and reviews ---------------------------------------------------------------------------------


def _latest_order(world: World, user: Json) -> dict[str, Any]:
    found = world.row(
        "SELECT o.* FROM orders AS o JOIN customers AS c ON c.id = o.customer_id WHERE c.email = ?"
        " ORDER BY o.created_at DESC, o.id DESC LIMIT 1",
        str(user),
    )
    assert found is not None
    return found


def _draw_review(world: World, stream: Stream) -> Parameters | None:
    user = facts.customer(world, stream, orders=4)["email"]
    items = facts.order_items(world, _latest_order(world, user)["number"])
    prices = sorted((item["unit_price_cents"] for item in items), reverse=True)
    if len(prices) < 2 or prices[0] == prices[1]:
        return None
    return {
        "user": user,
        "stars": stream.between(1, 5),
        "title": stream.choice(REVIEW_TITLES),
        "text": stream.choice(REVIEW_TEXTS),
        "nickname": stream.choice(NICKNAMES),
    }


def _key_review(world: World, p: Parameters) -> Key:
    items = facts.order_items(world, _latest_order(world, p["user"])["number"])
    dearest = max(items, key=lambda item: int(item["unit_price_cents"]))
    values = {name: Expectation.of(p[name]) for name in ("title", "text", "nickname")}
    values |= {
        "product_id": Expectation.of(dearest["product_id"]),
        "customer_id": Expectation.of(facts.customer_id(world, p["user"])),
        "rating": Expectation.of(p["stars"]),
        "status": Expectation.of("pending"),
    }
    return Key(changes=(ExpectedChange(site="shop", table="reviews", operation="insert", values=values),))


def _own_orders(world: World, status: str) -> list[dict[str, Any]]:
    return world.rows(
        "SELECT c.email, o.number, o.id FROM orders AS o JOIN customers AS c ON c.id = o.customer_id"
        " WHERE o.status = ? ORDER BY o.id",
        status,
    )


def _draw_cancel(world: World, stream: Stream) -> Parameters | None:
    """A pending order, named by something in it that its owner bought only once."""
    chosen = facts.pick(stream, _own_orders(world, "pending"))
    if chosen is None:
        return None
    item = stream.choice(facts.order_items(world, chosen["number"]))
    bought = world.scalar(
        "SELECT count(DISTINCT o.id) FROM order_items AS i JOIN orders AS o ON o.id = i.order_id"
        " JOIN customers AS c ON c.id = o.customer_id WHERE c.email = ? AND i.name = ?",
        chosen["email"],
        item["name"],
    )
    return {"user": chosen["email"], "product": item["name"]} if bought == 1 else None


def _key_cancel(world: World, p: Parameters) -> Key:
    number = world.scalar(
        "SELECT o.id FROM order_items AS i JOIN orders AS o ON o.id = i.order_id"
        " JOIN customers AS c ON c.id = o.customer_id WHERE c.email = ? AND i.name = ?",
        str(p["user"]),
        str(p["product"]),
    )
    return Key(
        changes=(
            ExpectedChange(
                site="shop",
                table="orders",
                operation="update",
                where={"id": number},
                values={"status": Expectation.of("canceled")},
            ),
        )
    )


# --- what cannot be done --------------------------------------------------------------------------------


def _draw_invented(world: World, stream: Stream) -> Parameters | None:
    product = stream.choice(INVENTED)
    known = world.scalar("SELECT count(*) FROM products WHERE name LIKE ?", f"%{product.split()[0]}%")
    return None if known else {"product": product}


def _key_invented(world: World, p: Parameters) -> Key:
    # Any word of the name will do; whoever never searched for one of them has not looked.
    words = "|".join(re.escape(word) for word in str(p["product"]).split())
    searched = PagePattern(site="shop", path="/search", query={"q": rf"(?is).*({words}).*"})
    return Key(status=("NOT_FOUND_ERROR",), visits=((searched,),))


def _draw_too_late(world: World, stream: Stream) -> Parameters | None:
    chosen = facts.pick(stream, _own_orders(world, stream.choice(("complete", "canceled"))))
    return None if chosen is None else {"user": chosen["email"], "order": chosen["number"]}


def _key_too_late(world: World, p: Parameters) -> Key:
    return Key(status=("ACTION_NOT_ALLOWED_ERROR",), visits=((facts.order_page(p["order"]),),))


def _draw_sold_out(world: World, stream: Stream) -> Parameters | None:
    user = facts.customer(world, stream, orders=4)["email"]
    found = facts.pick(stream, facts.named_products(world, "p.stock = 0"))
    return None if found is None else {"user": user, "product": found["name"]}


def _key_sold_out(world: World, p: Parameters) -> Key:
    page = facts.product_page(facts.product_by_name(world, p["product"])["slug"])
    return Key(status=("ACTION_NOT_ALLOWED_ERROR",), visits=((page,),))


CHANGING: tuple[Template, ...] = (
    Template(
        name="cart-cheapest-well-rated",
        site="shop",
        kind="mutate",
        chore="calculation",
        instruction="Put {quantity} pieces of the cheapest product in {shelf} with an average rating of at least "
        "{rating} stars into my cart.",
        draw=_draw_cart,
        key=_key_cart,
        solve=solutions.cart_cheapest_well_rated,
    ),
    Template(
        name="wish-for-order",
        site="shop",
        kind="mutate",
        chore="long_term_memory",
        instruction="Add every article of my order {order} to my wish list.",
        draw=_draw_wishes,
        key=_key_wishes,
        solve=solutions.wish_for_order,
    ),
    Template(
        name="change-address",
        site="shop",
        kind="mutate",
        chore="others",
        instruction='I have moved within the city. In my default shipping address, change the street to "{street}" and '
        'the ZIP code to "{postcode}", and leave the rest as it is.',
        draw=_draw_address,
        key=_key_address,
        solve=solutions.change_address,
        difficulty="easy",
    ),
    Template(
        name="review-dearest",
        site="shop",
        kind="mutate",
        chore="long_term_memory",
        instruction="Write a review of the most expensive article (price of a single piece) in my latest order: "
        '{stars} stars, nickname "{nickname}", title "{title}", text "{text}"',
        draw=_draw_review,
        key=_key_review,
        solve=solutions.review_dearest,
    ),
    Template(
        name="cancel-order-with",
        site="shop",
        kind="mutate",
        chore="others",
        instruction='Cancel the order with which I bought "{product}".',
        draw=_draw_cancel,
        key=_key_cancel,
        solve=solutions.cancel_order_with,
    ),
    Template(
        name="price-of-nothing",
        site="shop",
        kind="unachievable",
        chore="others",
        instruction='What does the "{product}" cost?',
        draw=_draw_invented,
        key=_key_invented,
        solve=solutions.price_of_nothing,
        difficulty="easy",
    ),
    Template(
        name="cancel-too-late",
        site="shop",
        kind="unachievable",
        chore="others",
        instruction="Cancel my order {order}.",
        draw=_draw_too_late,
        key=_key_too_late,
        solve=solutions.cancel_too_late,
    ),
    Template(
        name="cart-sold-out",
        site="shop",
        kind="unachievable",
        chore="others",
        instruction='Put one "{product}" into my cart.',
        draw=_draw_sold_out,
        key=_key_sold_out,
        solve=solutions.cart_sold_out,
    ),
)
