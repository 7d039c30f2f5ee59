"""Draws, truths and facts that several templates of the back office share."""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from webassay.arena.kit.dates import MONTHS
from webassay.arena.kit.key import Key, cell, fact, shown
from webassay.arena.shop.facts import amount
from webassay.arena.shop.queries import rows
from webassay.core.task import Fact, PagePattern, Sight
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream

__all__ = ["MONTHS", "amount", "rows"]

CHIEFS = ("greta.holm", "owen.baptiste")
"""Who may do everything that is asked for."""
STATUSES = {
    "pending": "Pending", "processing": "Processing", "complete": "Complete", "canceled": "Canceled",
    "on hold": "On Hold", "closed": "Closed",
}  # fmt: skip


def chief(stream: Stream) -> str:
    return stream.choice(CHIEFS)


def plain(cents: int) -> str:
    """As one types it: 1234.50."""
    return f"{cents // 100}.{cents % 100:02d}"


def page(path: str, status: int = 200) -> PagePattern:
    return PagePattern(site="admin", path=path, status=status)


def typed(day: str) -> str:
    """2026-02-03 as one types it: 02/03/2026."""
    return f"{day[5:7]}/{day[8:10]}/{day[:4]}"


def days(column: str, first: str, last: str) -> dict[str, str]:
    """The two filters of a column with days, filled in."""
    return {f"{column} from": typed(first), f"{column} to": typed(last)}


def month_span(month: str) -> tuple[str, str]:
    """The first and the last day of 2026-02."""
    first = date.fromisoformat(f"{month}-01")
    last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
    return first.isoformat(), last.isoformat()


def span_of(months: Sequence[str]) -> tuple[str, str]:
    """The first day of the first month and the last day of the last."""
    return month_span(months[0])[0], month_span(months[-1])[1]


def months_from(month: str, count: int) -> list[str]:
    found = [date.fromisoformat(f"{month}-01")]
    while len(found) < count:
        found.append((found[-1] + timedelta(days=31)).replace(day=1))
    return [one.isoformat()[:7] for one in found]


def some_days(stream: Stream, *months: int, since: int = 2022) -> tuple[str, str]:
    """The first and the last day of one of these numbers of months."""
    count = stream.choice(months)
    # Not so late that the last of them is in the future.
    last = 2026 * 12 - count
    start = stream.between(since * 12, last)
    return span_of(months_from(f"{start // 12}-{start % 12 + 1:02d}", count))


def days_in_a_row(stream: Stream, count: int) -> tuple[str, str]:
    """The first and the last of so many days since 2022."""
    start, end = date(2022, 1, 1), date(2026, 2, 28)
    first = start + timedelta(days=stream.between(0, (end - start).days - count))
    return first.isoformat(), (first + timedelta(days=count - 1)).isoformat()


def in_words(month: str) -> str:
    return f"{MONTHS[int(month[5:7]) - 1]} {month[:4]}"


# --- truths -----------------------------------------------------------------------------------------------

_ORDERS = (
    "SELECT o.*, b.first_name || ' ' || b.last_name AS bill_to, s.first_name || ' ' || s.last_name AS ship_to"
    " FROM orders AS o JOIN order_addresses AS b ON b.order_id = o.id AND b.kind = 'billing'"
    " JOIN order_addresses AS s ON s.order_id = o.id AND s.kind = 'shipping'"
)


def during(world: World, sql: str, made: str, first: str, last: str) -> list[Row]:
    """What was made on these days, the newest first, as grids list it; `made` is the table or its alias."""
    of_these_days = f"WHERE substr({made}.created_at, 1, 10) BETWEEN ? AND ?"
    return rows(world, f"{sql} {of_these_days} ORDER BY {made}.created_at DESC, {made}.id DESC", first, last)


def orders(world: World, first: str, last: str) -> list[Row]:
    return during(world, _ORDERS, "o", first, last)


def orders_with(world: World, status: str) -> list[Row]:
    return rows(world, f"{_ORDERS} WHERE o.status = ? ORDER BY o.created_at DESC, o.id DESC", status)


def order(world: World, number: str) -> Row:
    return rows(world, f"{_ORDERS} WHERE o.number = ?", number)[0]


def brands(world: World, most: int) -> list[Row]:
    """Those with twenty products or more, in a small shop with eight, each of which has the brand in its name."""
    for least in (20, 8):
        found = rows(
            world,
            "SELECT brand FROM products GROUP BY brand HAVING count(*) BETWEEN ? AND ? AND sum(instr(name, brand) > 0)"
            " = count(*) ORDER BY brand",
            least, most,
        )  # fmt: skip
        if len(found) >= 5:
            return found
    return found


def product(world: World, sku: str) -> Row:
    return rows(world, "SELECT * FROM products WHERE sku = ?", sku)[0]


def bestsellers(world: World, month: str) -> list[Row]:
    """What was sold in a month, in the order of the report."""
    return rows(
        world,
        "SELECT p.id, i.name, p.price_cents, sum(i.quantity) AS pieces FROM orders AS o JOIN order_items AS i"
        " ON i.order_id = o.id JOIN products AS p ON p.id = i.product_id WHERE substr(o.created_at, 1, 7) = ?"
        " AND o.status <> 'canceled' GROUP BY p.id ORDER BY pieces DESC, i.name",
        month,
    )


def departments(world: World) -> dict[str, int]:
    """Name to id."""
    return {one["name"]: one["id"] for one in rows(world, "SELECT * FROM categories WHERE level = 1 ORDER BY id")}


# --- facts ------------------------------------------------------------------------------------------------


def listed(table: str, found: Iterable[Row], key: str = "id") -> list[Sight]:
    """That these rows stood somewhere, with whatever columns: by a filter one knows the others."""
    return [cell(table, row[key]) for row in found]


def order_total(order: Row) -> Sight:
    return cell("orders", order["id"], "total_cents")


def bestseller(product: Row) -> Sight:
    """In the report. Price and pieces stand side by side there: the name alone may contain the number of pieces."""
    return shown(product["name"], f"{amount(product['price_cents'])} {product['pieces']}", site="admin")


def invoice_total(invoice: Row) -> Sight:
    """That of its order."""
    return cell("orders", invoice["order_id"], "total_cents")


def order_status(order: Row) -> Sight:
    return cell("orders", order["id"], "status")


def seen(sights: Iterable[Sight | Fact]) -> Key:
    return Key.seen_share(1.0, dict.fromkeys(one if isinstance(one, Fact) else fact(one) for one in sights))


def spread(found: list[Row], most: int = 40) -> list[Row]:
    """Evenly spread: who has read the list has read these."""
    return found if len(found) <= most else [found[place * len(found) // most] for place in range(most)]


# --- papers and reviews -----------------------------------------------------------------------------------


def invoices(world: World, first: str, last: str) -> list[Row]:
    sql = (
        "SELECT i.*, o.number AS order_number, o.created_at AS ordered, o.total_cents,"
        " b.first_name || ' ' || b.last_name AS bill_to FROM invoices AS i JOIN orders AS o ON o.id = i.order_id"
        " JOIN order_addresses AS b ON b.order_id = o.id AND b.kind = 'billing'"
    )
    return during(world, sql, "i", first, last)


def reviews(world: World, condition: str, *params: str) -> list[Row]:
    """The newest first, as the grid lists them; `condition` may use v and p."""
    return rows(
        world,
        "SELECT v.*, substr(v.created_at, 1, 10) AS day, p.name AS product, p.sku FROM reviews AS v"
        f" JOIN products AS p ON p.id = v.product_id WHERE {condition} ORDER BY v.created_at DESC, v.id DESC",
        *params,
    )


def reviews_between(world: World, first: str, last: str) -> list[Row]:
    """Without their texts, since there may be very many."""
    columns = "v.id, v.nickname, v.title, v.customer_id, p.sku, p.name"
    sql = f"SELECT {columns} FROM reviews AS v JOIN products AS p ON p.id = v.product_id"
    return during(world, sql, "v", first, last)
