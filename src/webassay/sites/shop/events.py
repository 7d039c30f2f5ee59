"""What may happen in the shop while somebody is shopping."""

import re

from webassay.sites.kit import SiteRequest, World
from webassay.sites.shop.web import WEB
from webassay.sites.web.forms import whole_number


def sold_out(world: World, asked: SiteRequest) -> bool:
    """Others buy the last pieces of what the visitor is about to put into the cart or to order."""
    taken = _about_to_take(world, asked)
    if taken:
        world.meanwhile(lambda db: db.executemany("UPDATE products SET stock = 0 WHERE id = ?", taken))
    return bool(taken)


def _about_to_take(world: World, asked: SiteRequest) -> list[tuple[int]]:
    number = re.fullmatch(r"/account/orders/([^/]+)/reorder", asked.path)
    if number is not None:
        sql = "SELECT i.product_id FROM order_items AS i JOIN orders AS o ON o.id = i.order_id WHERE o.number = ?"
        found = world.db.execute(sql, (number[1],))
    elif asked.path == "/cart/add":
        found = world.db.execute("SELECT id FROM products WHERE id = ?", (_number(asked, "product_id"),))
    elif asked.path == "/wishlist/to-cart":
        found = world.db.execute("SELECT product_id FROM wishlist_items WHERE id = ?", (_number(asked, "item_id"),))
    elif asked.path == "/checkout/place":
        sql = "SELECT k.product_id FROM cart_items AS k JOIN customers AS c ON c.id = k.customer_id WHERE c.email = ?"
        found = world.db.execute(sql, (WEB.sessions.whoami(world, asked.cookies),))
    else:
        return []
    return [(int(row[0]),) for row in found]


def _number(asked: SiteRequest, field: str) -> int | None:
    return whole_number(asked.fields.get(field, ""))
