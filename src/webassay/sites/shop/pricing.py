"""What a visitor's cart comes to, with the code that was entered."""

from collections.abc import Sequence
from dataclasses import dataclass

from webassay.sites.kit import Row, World
from webassay.sites.shop.commerce import Totals, totals
from webassay.sites.shop.coupons import Coupon, OrderLine
from webassay.sites.shop.web import ShopVisit, category_tree
from webassay.sites.web.dates import stamp

_COUPON = "SELECT k.*, d.name AS department_name FROM coupons AS k LEFT JOIN categories AS d ON d.id = k.department_id"


@dataclass(frozen=True)
class Applied:
    """The code in the cart. One that has stopped working stays there, takes nothing off, and says why."""

    coupon: Coupon
    problem: str
    discount: int


def find_coupon(world: World, code: str) -> Coupon | None:
    found = world.row(f"{_COUPON} WHERE k.code = ?", code)
    return None if found is None else Coupon.of(found)


def coupons(world: World, condition: str = "1", *params: str | int) -> list[Coupon]:
    """Those that end first come first."""
    return [Coupon.of(row) for row in world.rows(f"{_COUPON} WHERE {condition} ORDER BY k.ends_on, k.code", *params)]


def problem_with(visit: ShopVisit, coupon: Coupon, items: Sequence[Row]) -> str:
    return coupon.problem(_lines(visit.world, items), today(visit.world))


def applied(visit: ShopVisit, items: Sequence[Row]) -> Applied | None:
    code = visit.world.scalar("SELECT code FROM cart_coupons WHERE customer_id IS ? AND visitor = ?", *visit.cart_owner)
    coupon = find_coupon(visit.world, code) if code else None
    if coupon is None or not items:
        return None
    problem = problem_with(visit, coupon, items)
    return Applied(coupon, problem, 0 if problem else coupon.discount(_lines(visit.world, items)))


def subtotal(items: Sequence[Row]) -> int:
    return sum(item["price_cents"] * item["quantity"] for item in items)


def cart_totals(visit: ShopVisit, items: Sequence[Row], method: str, region: str) -> Totals:
    code = applied(visit, items)
    works = code is not None and not code.problem
    return totals(
        [(item["price_cents"], item["quantity"]) for item in items],
        method,
        region,
        code.discount if code else 0,
        free_shipping=works and code is not None and code.coupon.free_shipping,
    )


def today(world: World) -> str:
    return stamp(world.now())[:10]


def _lines(world: World, items: Sequence[Row]) -> list[OrderLine]:
    _, by_id = category_tree(world)
    lines = []
    for item in items:
        category = by_id[item["category_id"]]
        while category.parent_id is not None:
            category = by_id[category.parent_id]
        lines.append(OrderLine(item["price_cents"], item["quantity"], category.id))
    return lines
