"""Reports: sums over a range of days, shown once somebody has asked for them."""

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.responses import Response

from webassay.sites.admin.web import ORDER_STATUSES, OfficeVisit
from webassay.sites.kit import Row, SqlValue, World
from webassay.sites.receipts import ours
from webassay.sites.web.forms import FormFields
from webassay.sites.web.grids import Column
from webassay.sites.web.lists import Paging, same_list

PERIODS = {"day": "Day", "month": "Month", "year": "Year"}
_LENGTH = {"day": 10, "month": 7, "year": 4}
LINES_ON_A_PAGE = 1000
BEST = 5
"""How many bestsellers each period has."""


@dataclass(frozen=True)
class SalesReport:
    name: str
    title: str
    columns: tuple[Column, ...]
    source: str
    """SQL after FROM. `{where}` stands for the range of days and the status."""
    day: str = ""
    """The column with the day; empty: the report is about all time."""
    by_period: bool = False
    """Whether there is a line for each day, month or year."""
    by_status: bool = False
    group: str = ""
    order: str = "1"
    key: str = ""
    """SQL of the primary key of the row that a line is about, so that receipts know it."""
    sums: bool = False
    """Whether the last line adds everything up."""


def _cents(name: str, label: str, sql: str) -> Column:
    return Column(name, label, f"ifnull(sum({sql}), 0)", "money")


def _average(status: str) -> str:
    """The average of the stars, empty if there are none. Pending reviews never count."""
    return f"iif(sum(v.status {status}), printf('%.2f', avg(iif(v.status {status}, v.rating, NULL))), '')"


_INTERVAL = Column("interval", "Interval", "{period}")
_ORDERS = "orders AS o WHERE {where}"
_PIECES = "(SELECT sum(i.quantity) FROM order_items AS i WHERE i.order_id = o.id)"

REPORTS = (
    SalesReport(
        "orders", "Orders",
        (_INTERVAL, Column("orders", "Orders", "count(*)", "number"),
         Column("pieces", "Sales Items", f"ifnull(sum({_PIECES}), 0)", "number"),
         _cents("total", "Sales Total", "o.total_cents"), _cents("discount", "Sales Discount", "o.discount_cents"),
         _cents("shipping", "Sales Shipping", "o.shipping_cents"), _cents("tax", "Sales Tax", "o.tax_cents"),
         _cents("canceled", "Canceled", "iif(o.status = 'canceled', o.total_cents, 0)")),
        _ORDERS, "o.created_at", by_period=True, by_status=True, group="1", sums=True,
    ),
    SalesReport(
        "tax", "Tax",
        (_INTERVAL, Column("state", "Ship-to State", "a.region"), Column("orders", "Orders", "count(*)", "number"),
         _cents("tax", "Tax Amount", "o.tax_cents")),
        "orders AS o JOIN order_addresses AS a ON a.order_id = o.id AND a.kind = 'shipping'"
        " WHERE {where} AND o.tax_cents > 0",
        "o.created_at", by_period=True, by_status=True, group="1, 2", order="1, 2", sums=True,
    ),
    SalesReport(
        "invoiced", "Invoiced",
        (_INTERVAL, Column("orders", "Invoices", "count(*)", "number"),
         _cents("total", "Total Invoiced", "o.total_cents"),
         _cents("paid", "Paid", "iif(n.status = 'paid', o.total_cents, 0)"),
         _cents("open", "Not Paid", "iif(n.status = 'open', o.total_cents, 0)")),
        "invoices AS n JOIN orders AS o ON o.id = n.order_id WHERE {where}",
        "n.created_at", by_period=True, group="1", sums=True,
    ),
    SalesReport(
        "refunds", "Refunds",
        (_INTERVAL, Column("refunds", "Credit Memos", "count(*)", "number"),
         _cents("total", "Total Refunded", "r.amount_cents")),
        "refunds AS r WHERE {where}", "r.created_at", by_period=True, group="1", sums=True,
    ),
    SalesReport(
        "coupons", "Coupons",
        (_INTERVAL, Column("code", "Coupon Code", "o.coupon_code"), Column("uses", "Uses", "count(*)", "number"),
         _cents("subtotal", "Sales Subtotal", "o.subtotal_cents"),
         _cents("discount", "Sales Discount", "o.discount_cents"), _cents("total", "Sales Total", "o.total_cents")),
        f"{_ORDERS} AND o.coupon_code <> ''", "o.created_at", by_period=True, by_status=True, group="1, 2",
        order="1, 2", sums=True,
    ),
    SalesReport(
        "bestsellers", "Bestsellers",
        (_INTERVAL, Column("product", "Product", "i.name"), Column("price", "Price", "p.price_cents", "money"),
         Column("pieces", "Order Quantity", "sum(i.quantity)", "number")),
        "orders AS o JOIN order_items AS i ON i.order_id = o.id JOIN products AS p ON p.id = i.product_id"
        " WHERE {where} AND o.status <> 'canceled'",
        "o.created_at", by_period=True, group="1, i.product_id", order="1, 4 DESC, 2", key="p.id",
    ),
    SalesReport(
        "customers", "Customers by Order Total",
        (_INTERVAL, Column("customer", "Customer", "c.first_name || ' ' || c.last_name"),
         Column("email", "Email", "c.email"), Column("orders", "Orders", "count(*)", "number"),
         _cents("total", "Order Total", "o.total_cents")),
        "orders AS o JOIN customers AS c ON c.id = o.customer_id WHERE {where}",
        "o.created_at", by_period=True, by_status=True, group="1, c.id", order="1, 5 DESC, 3",
        key="c.id",
    ),
    SalesReport(
        "new-accounts", "New Accounts",
        (_INTERVAL, Column("accounts", "New Accounts", "count(*)", "number")),
        "customers AS c WHERE {where}", "c.created_at", by_period=True, group="1", sums=True,
    ),
    SalesReport(
        "reviews-by-product", "Reviews by Products",
        (Column("product", "Product", "p.name"), Column("sku", "SKU", "p.sku"),
         Column("reviews", "Reviews", "count(*)", "number"),
         Column("average", "Average", _average("<> 'pending'")),
         Column("approved", "Approved Average", _average("= 'approved'")),
         Column("last", "Last Review", "max(v.created_at)", "time")),
        "reviews AS v JOIN products AS p ON p.id = v.product_id WHERE {where}",
        "v.created_at", group="v.product_id", order="3 DESC, 1", key="p.id",
    ),
    SalesReport(
        "reviews-by-customer", "Reviews by Customers",
        (Column("customer", "Customer", "c.first_name || ' ' || c.last_name"), Column("email", "Email", "c.email"),
         Column("reviews", "Reviews", "count(*)", "number")),
        "reviews AS v JOIN customers AS c ON c.id = v.customer_id WHERE {where}",
        "v.created_at", group="c.id", order="3 DESC, 2", key="c.id",
    ),
    SalesReport(
        "search-terms", "Search Terms",
        (Column("term", "Search Query", "s.term"), Column("results", "Results", "s.results", "number"),
         Column("uses", "Uses", "s.uses", "number")),
        "search_terms AS s WHERE {where}", order="3 DESC, 1",
    ),
    SalesReport(
        "low-stock", "Low Stock",
        (Column("product", "Product", "p.name"), Column("sku", "SKU", "p.sku"),
         Column("stock", "Quantity", "p.stock", "number")),
        "products AS p WHERE {where} AND p.stock <= 10", order="3, 1", key="p.id",
    ),
)  # fmt: skip
_BY_NAME = {report.name: report for report in REPORTS}


async def listed(visit: OfficeVisit) -> Response:
    return visit.render("reports.html", reports=REPORTS)


async def show(visit: OfficeVisit) -> Response:
    report = _BY_NAME.get(visit.request.path_params["name"])
    if report is None:
        raise HTTPException(404, "There is no such report.")
    query = visit.request.query_params
    fields = FormFields(query)
    asked = "report" in query or not report.day
    rows: list[list[str]] = []
    if asked:
        period = fields.choice("period", "period", tuple(PERIODS)) if report.by_period else "day"
        status = fields.choice("status", "status", ("", *ORDER_STATUSES)) if report.by_status else ""
        first = fields.date("from", "The first day") if report.day else ""
        last = fields.date("to", "The last day") if report.day else ""
        if not fields.errors and last < first:
            fields.errors["to"] = "The last day is before the first."
        if not fields.errors:
            rows = _lines(visit.world, report, period, status, (first, last))
    paging = Paging.at(query.get("p", "1"), LINES_ON_A_PAGE, len(rows))
    return visit.render(
        "report.html", 422 if fields.errors else 200, report=report, periods=PERIODS, paging=paging,
        rows=rows[paging.skipped : paging.skipped + paging.size], page_url=lambda number: same_list(query, p=number),
        asked=asked and not fields.errors, values=fields.values if asked else {"period": "day"}, errors=fields.errors,
    )  # fmt: skip


def _lines(world: World, report: SalesReport, period: str, status: str, days: tuple[str, str]) -> list[list[str]]:
    conditions, params = ["1"], []
    if report.day:
        conditions.append(f"substr({report.day}, 1, 10) BETWEEN ? AND ?")
        params += list(days)
    if status:
        conditions.append("o.status = ?")
        params.append(status)
    sliced = f"substr({report.day}, 1, {_LENGTH[period]})"
    columns = ", ".join(f"{column.sql.replace('{period}', sliced)} AS {column.name}" for column in report.columns)
    source = report.source.replace("{where}", " AND ".join(conditions))
    group = f" GROUP BY {report.group}" if report.group else ""
    columns += f", {report.key} AS key" if report.key else ""
    found = world.rows(f"SELECT {columns} FROM {source}{group} ORDER BY {report.order}", *params)
    if report.name == "bestsellers":
        found = _first_of_each(found)
    lines = [[column.text(row) for column in report.columns] for row in found]
    if report.sums and found:
        lines.append(_sums(report, found))
    return lines


def _first_of_each(rows: list[Row]) -> list[Row]:
    counts: dict[SqlValue, int] = {}
    kept = []
    for row in rows:
        counts[row["interval"]] = counts.get(row["interval"], 0) + 1
        if counts[row["interval"]] <= BEST:
            kept.append(row)
    return kept


def _sums(report: SalesReport, rows: Sequence[Row]) -> list[str]:
    line = [ours("Total")]
    for column in report.columns[1:]:
        adds = column.kind in ("number", "money")
        total = sum(row[column.name] for row in rows) if adds else ""
        line.append(column.text({column.name: total}))
    return line
