"""What the reports of the back office add up to, counted once more in another way; what its keyword search finds."""

import csv
import io
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import httpx
import pytest

from tests.sites.office.visits import forms_on, lines_of, problems
from tests.sites.visitors import content, fresh
from webassay.sites import admin
from webassay.sites.admin import grids
from webassay.sites.admin.reports import REPORTS
from webassay.sites.kit import World
from webassay.sites.web.grids import Grid

STATUSES = ("pending", "processing", "complete", "canceled")


@pytest.fixture(scope="module")
def world():
    """Opened once: reports are only read."""
    opened = fresh(admin.SITE)
    yield opened
    assert content(opened) == []
    opened.close()


# --- reports ----------------------------------------------------------------------------------------------

PERIODS = {"day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}
DAYS = ("2025-11-12", "2026-02-17")
"""In the middle of months."""

_WHEN = "strftime(:slice, {0}) AS period"
_RANGE = "date({0}) >= :first AND date({0}) <= :last"
_ORDERS = (
    f"(SELECT *, {_WHEN.format('created_at')} FROM orders WHERE {_RANGE.format('created_at')} AND status LIKE :status)"
)
COUNTED = {
    "orders": (
        "text number number money money money money money",
        "SELECT period, count(DISTINCT d.id), sum(n), sum(total_cents), sum(discount_cents), sum(shipping_cents),"
        f" sum(tax_cents), ifnull(sum(total_cents) FILTER (WHERE status = 'canceled'), 0) FROM {_ORDERS} AS d"
        " JOIN (SELECT order_id, sum(quantity) AS n FROM order_items GROUP BY order_id) ON order_id = d.id"
        " GROUP BY period ORDER BY period",
    ),
    "tax": (
        "text text number money",
        f"SELECT period, region, count(*), sum(tax_cents) FROM {_ORDERS} AS d, order_addresses AS a"
        " WHERE a.order_id = d.id AND kind = 'shipping' AND tax_cents <> 0 GROUP BY period, region"
        " ORDER BY period, region",
    ),
    "invoiced": (
        "text number money money money",
        f"SELECT {_WHEN.format('n.created_at')}, count(*), sum(total_cents), sum((n.status = 'paid') * total_cents),"
        " sum((n.status = 'open') * total_cents) FROM invoices AS n, orders AS d WHERE d.id = n.order_id"
        f" AND {_RANGE.format('n.created_at')} GROUP BY period ORDER BY period",
    ),
    "refunds": (
        "text number money",
        f"SELECT {_WHEN.format('created_at')}, count(*), sum(amount_cents) FROM refunds"
        f" WHERE {_RANGE.format('created_at')} GROUP BY period ORDER BY period",
    ),
    "coupons": (
        "text text number money money money",
        "SELECT period, coupon_code, count(*), sum(subtotal_cents), sum(discount_cents), sum(total_cents)"
        f" FROM {_ORDERS} WHERE length(coupon_code) > 0 GROUP BY period, coupon_code ORDER BY period, coupon_code",
    ),
    "bestsellers": (
        "text text money number",
        "SELECT period, name, price_cents, pieces FROM (SELECT *, row_number() OVER (PARTITION BY period ORDER BY"
        " pieces DESC, name) AS place FROM (SELECT period, i.product_id, i.name, price_cents, sum(quantity) AS pieces"
        f" FROM {_ORDERS} AS d, order_items AS i, products AS p WHERE d.status <> 'canceled' AND i.order_id = d.id"
        " AND p.id = i.product_id GROUP BY period, i.product_id)) WHERE place <= 5 ORDER BY period, place",
    ),
    "customers": (
        "text text text number money",
        "SELECT period, concat_ws(' ', first_name, last_name), email, count(*), sum(total_cents) AS cents"
        f" FROM {_ORDERS} AS d, customers AS c WHERE c.id = customer_id GROUP BY period, email"
        " ORDER BY period, cents DESC, email",
    ),
    "new-accounts": (
        "text number",
        f"SELECT {_WHEN.format('created_at')}, count(*) FROM customers WHERE {_RANGE.format('created_at')}"
        " GROUP BY period ORDER BY period",
    ),
    "reviews-by-product": (
        "text text number stars stars time",
        "SELECT name, sku, count(*) AS n, avg(rating) FILTER (WHERE status IN ('approved', 'rejected')),"
        " avg(rating) FILTER (WHERE status = 'approved'), max(created_at) FROM products AS p, reviews AS v"
        " WHERE v.product_id = p.id"
        f" AND {_RANGE.format('created_at')} GROUP BY sku ORDER BY n DESC, name",
    ),
    "reviews-by-customer": (
        "text text number",
        "SELECT concat_ws(' ', first_name, last_name), email, count(*) AS n FROM customers AS c, reviews AS v"
        f" WHERE v.customer_id = c.id AND {_RANGE.format('v.created_at')} GROUP BY email"
        " ORDER BY n DESC, email",
    ),
    "search-terms": ("text number number", "SELECT term, results, uses FROM search_terms ORDER BY uses DESC, term"),
    "low-stock": (
        "text text number",
        "SELECT name, sku, stock FROM products WHERE stock BETWEEN 0 AND 10 ORDER BY stock, name",
    ),
}  # fmt: skip
"""By report: of what kind its columns are, and what stands in them."""
BY_PERIOD = ("orders", "tax", "invoiced", "refunds", "coupons", "bestsellers", "customers", "new-accounts")
BY_STATUS = ("orders", "tax", "coupons", "customers")
OF_ALL_TIME = ("low-stock", "search-terms")
ADDED_UP = ("orders", "tax", "invoiced", "refunds", "coupons", "new-accounts")


def test_every_report_is_counted_here():
    assert {report.name for report in REPORTS} == set(COUNTED)


def written(kind: str, value: Any) -> str:
    if kind == "money":
        return f"${value / 100:,.2f}"
    if kind == "time":
        return datetime.fromisoformat(value).strftime("%b %-d, %Y %-I:%M %p")
    if kind == "stars":
        return "" if value is None else str(Decimal(value).quantize(Decimal("0.01"), ROUND_HALF_UP))
    return str(value)


def counted(
    world: World, report: str, days: tuple[str, str] = DAYS, period: str = "day", status: str = ""
) -> list[list[str]]:
    kinds, sql = COUNTED[report]
    given = {"slice": PERIODS[period], "first": days[0], "last": days[1], "status": status or "%"}
    rows: list[tuple[Any, ...]] = world.db.execute(sql, given).fetchall()
    lines = [[written(kind, cell) for kind, cell in zip(kinds.split(), row, strict=True)] for row in rows]
    if report in ADDED_UP and rows:
        columns = list(zip(kinds.split(), zip(*rows, strict=True), strict=True))[1:]
        lines.append(["Total", *("" if kind == "text" else written(kind, sum(cells)) for kind, cells in columns)])
    return lines


async def shown(
    owner: httpx.AsyncClient, report: str, days: tuple[str, str] = DAYS, period: str = "day", status: str = ""
) -> list[list[str]]:
    """All pages of it, by the fields that its form has."""
    asked = {"report": "1"}
    if report not in OF_ALL_TIME:
        asked["from"], asked["to"] = (datetime.fromisoformat(day).strftime("%m/%d/%Y") for day in days)
    asked |= {"period": period} if report in BY_PERIOD else {}
    asked |= {"status": status} if report in BY_STATUS else {}
    lines: list[list[str]] = []
    for number in range(1, 10):
        answer = await owner.get(f"/reports/{report}", params={**asked, "p": str(number)})
        assert answer.status_code == 200
        lines += lines_of(answer.text)
        if 'rel="next"' not in answer.text:
            break
    return lines


@pytest.mark.parametrize("period", PERIODS)
@pytest.mark.parametrize("report", BY_PERIOD)
async def test_a_report_adds_up_for_each_period(owner, world, report, period):
    expected = counted(world, report, DAYS, period)
    assert len(expected) > 1
    assert await shown(owner, report, DAYS, period) == expected


@pytest.mark.parametrize(
    ("report", "status"),
    # Hardly anything with a coupon is pending.
    [(report, status) for report in BY_STATUS for status in STATUSES if (report, status) != ("coupons", "pending")],
)
async def test_a_report_counts_the_orders_of_one_status(owner, world, report, status):
    expected = counted(world, report, DAYS, "month", status)
    assert expected and expected != counted(world, report, DAYS, "month")
    assert await shown(owner, report, DAYS, "month", status) == expected


@pytest.mark.parametrize("report", [name for name in COUNTED if name not in BY_PERIOD])
async def test_a_report_without_periods_adds_up(owner, world, report):
    expected = counted(world, report)
    assert len(expected) > 20
    assert await shown(owner, report) == expected


@pytest.mark.parametrize("report", [name for name in COUNTED if name not in OF_ALL_TIME])
async def test_a_report_has_both_its_first_and_its_last_day(owner, world, report):
    day: str = world.scalar("SELECT max(date(created_at)) FROM reviews WHERE customer_id IS NOT NULL")
    if report in BY_PERIOD:
        day = max(line[0] for line in counted(world, report) if line[0] != "Total")
    expected = counted(world, report, (day, day))
    assert expected
    assert await shown(owner, report, (day, day)) == expected


async def test_a_report_of_nothing_says_so(owner):
    asked = {"report": "1", "period": "day", "from": "1/1/2015", "to": "12/31/2015", "status": ""}
    page = (await owner.get("/reports/orders", params=asked)).text
    assert "We couldn't find any records." in page and "<tbody>" not in page


async def test_a_report_is_not_made_of_days_that_go_backwards(owner):
    asked = {"report": "1", "period": "fortnight", "from": "2/2/2026", "to": "2/1/2026", "status": "lost"}
    answer = await owner.get("/reports/orders", params=asked)
    assert problems(answer) == {"period": "Choose a period.", "status": "Choose a status."}
    answer = await owner.get("/reports/orders", params=asked | {"period": "day", "status": ""})
    assert problems(answer) == {"to": "The last day is before the first."}


# --- keywords ---------------------------------------------------------------------------------------------

_BILLED = "JOIN order_addresses AS b ON b.order_id = o.id AND b.kind = 'billing'"
_SENT = "JOIN order_addresses AS s ON s.order_id = o.id AND s.kind = 'shipping'"
_TO = "concat({0}.first_name, ' ', {0}.last_name)"
_REVIEWED = (
    "SELECT v.id, concat_ws('|', title, nickname, text, p.name, sku) AS words FROM reviews AS v"
    " JOIN products AS p ON p.id = product_id"
)
SEARCHED = {
    "/orders": (
        "CASTEL nor",
        f"SELECT number AS id, concat_ws('|', number, {_TO.format('b')}, {_TO.format('s')}, email) AS words"
        f" FROM orders AS o {_BILLED} {_SENT} JOIN customers AS c ON c.id = customer_id",
    ),
    "/invoices": (
        "nora castel",
        f"SELECT i.number AS id, concat_ws('|', i.number, o.number, {_TO.format('b')}) AS words"
        f" FROM invoices AS i JOIN orders AS o ON o.id = i.order_id {_BILLED}",
    ),
    "/shipments": (
        "castel up1",
        f"SELECT h.number AS id, concat_ws('|', h.number, o.number, {_TO.format('s')}, tracking) AS words"
        f" FROM shipments AS h JOIN orders AS o ON o.id = h.order_id {_SENT}",
    ),
    "/refunds": (
        "castel 400",
        f"SELECT r.number AS id, concat_ws('|', r.number, o.number, {_TO.format('b')}) AS words"
        f" FROM refunds AS r JOIN orders AS o ON o.id = r.order_id {_BILLED}",
    ),
    "/products": (
        "burr kit- grinders",
        "SELECT p.id, concat_ws('|', p.name, sku, k.name) AS words FROM products AS p"
        " JOIN categories AS k ON k.id = category_id",
    ),
    "/customers": (
        "an 555-01",
        f"SELECT c.id, concat_ws('|', {_TO.format('c')}, email, phone) AS words FROM customers AS c"
        " LEFT JOIN addresses AS a ON a.customer_id = c.id AND is_default_billing = 1",
    ),
    "/reviews": ("espresso LOVE", _REVIEWED),
    "/reviews/pending": ("the", f"{_REVIEWED} WHERE v.status = 'pending'"),
    "/price-rules": ("garden 2024", "SELECT id, name AS words FROM price_rules"),
    "/coupons": ("brook", "SELECT code AS id, code AS words FROM coupons"),
    "/pages": ("GUIDE size-", "SELECT id, concat_ws('|', title, url_key) AS words FROM cms_pages"),
    "/users": (
        "holm greta.",
        f"SELECT id, concat_ws('|', username, {_TO.format('u')}, email) AS words FROM admins AS u",
    ),
}  # fmt: skip
"""By grid: what is typed; the first column of every row, and what words are looked for in."""
EVERY_GRID = [value for value in vars(grids).values() if isinstance(value, Grid)]


@pytest.mark.parametrize("grid", EVERY_GRID, ids=lambda grid: grid.path)
async def test_a_row_is_found_if_it_has_all_of_the_words(owner, world, grid):
    words, sql = SEARCHED[grid.path]
    rows = world.rows(sql)
    fitting = [row for row in rows if all(word in row["words"].lower() for word in words.lower().split())]
    assert 0 < len(fitting) < len(rows)
    page = (await owner.get(grid.path, params={"q": words})).text
    noun = grid.noun.removesuffix("s") if len(fitting) == 1 else grid.noun
    assert f">{len(fitting):,} {noun} found<" in page
    table = (await owner.get(f"{grid.path}/export", params={"q": words})).text
    lines = list(csv.reader(io.StringIO(table)))
    assert sorted(line[0] for line in lines[1:]) == sorted(str(row["id"]) for row in fitting)


@pytest.mark.parametrize("grid", EVERY_GRID, ids=lambda grid: grid.path)
async def test_one_word_that_stands_nowhere_finds_nothing(owner, grid):
    words = f"{SEARCHED[grid.path][0]} xyzzy"
    page = (await owner.get(grid.path, params={"q": words})).text
    assert f">0 {grid.noun} found<" in page and f"We couldn't find any {grid.noun}." in page
    assert [form.fields["q"] for form in forms_on(page) if "q" in form.fields and not form.hidden] == [words]


@pytest.mark.parametrize("sign", ["%", "_", "*", "'", '"', "\\"])
async def test_signs_are_looked_for_like_letters(owner, world, sign):
    _, sql = SEARCHED["/products"]
    fitting = sum(sign in row["words"] for row in world.rows(sql))
    assert fitting < world.scalar("SELECT count(*) FROM products")
    page = (await owner.get("/products", params={"q": sign})).text
    assert f">{fitting:,} products found<" in page
