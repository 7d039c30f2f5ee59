"""Ways that honest solvers may go, by plain requests: what they show has to be enough. And draws that are fair."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.sites.hosted import HostedVisitor
from tests.sites.visitors import fresh
from tests.support.worlds import worlds as open_worlds
from webassay.arena.admin import bulk, following, office, orders, products, reading, together
from webassay.arena.admin.longlists import WholeList
from webassay.arena.kit.instances import instances
from webassay.arena.kit.template import Template, Worlds
from webassay.arena.shop import catalog, checkout, comparing, packages, queries, writing
from webassay.arena.shop.orders import DearestPurchase
from webassay.compose.registries import TEMPLATES
from webassay.core.served import ServedCount, ServedRecord
from webassay.core.task import EvidenceCheck, ResponseCheck, Task
from webassay.environments.arena import counted_in
from webassay.grading.rules.seen import check_evidence
from webassay.sites import admin, shop
from webassay.sites.admin import grids
from webassay.sites.counting import is_counted
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream
from webassay.sites.web.grids import Grid


@pytest.fixture(scope="module")
def worlds() -> Worlds:
    return open_worlds(0)


class Reader(HostedVisitor):
    """Loads pages of a site, and has them recorded as the arena does."""

    def __init__(self, world: World, user: str = "") -> None:
        super().__init__(world.site, user, world)

    async def get(self, path: str, **query: object) -> str:
        """The page's text."""
        page = await super().get(f"{path}?{urlencode(query)}" if query else path)
        assert self.record().served[-1].status == 200, f"{path} {query}: {page}"
        return page

    async def get_all(self, path: str, **query: object) -> None:
        """Every page of a list."""
        number = 1
        while ">Next<" in await self.get(path, **query, p=number):
            number += 1

    def show(self, page: str) -> None:
        scope = {"method": "GET", "path": "/", "query_string": b"", "headers": []}
        start = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]}
        self.hosted.recorder.note(scope, [start, {"type": "http.response.body", "body": page.encode()}])

    def record_for(self, task: Task) -> ServedRecord:
        """With the values that the task asks for, where they were counted."""
        wanted = [ServedCount(one["table"], list(map(tuple, one["rows"])), one["value"]) for one in counted_in(task)]
        recorder = self.hosted.recorder
        counts = [one for one in wanted if is_counted(self.world, one, recorder.computed)]
        return ServedRecord.unpack(recorder.pack(counts)()[0])


def missing(task: Task, **readers: Reader) -> str:
    """What the readers have not seen; empty if it is enough."""
    checks = [check for check in task.checks if isinstance(check, EvidenceCheck)]
    records = {site: reader.record_for(task) for site, reader in readers.items()}
    findings = check_evidence(checks, records, task.goal.instruction)
    return " ".join(finding.message for finding in findings if finding.status != "pass")


def drawn(template: type[Template], worlds: Worlds, count: int) -> list[tuple[Task, Template]]:
    tasks = instances(template, worlds, count, seed=4)
    return [(task, template.from_parameters(task.parameters)) for task in tasks]


def days(first: str, last: str) -> dict[str, str]:
    return {"created_from": office.typed(first), "created_to": office.typed(last)}


# --- ways that count ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("template", [orders.BusiestBuyers, orders.SentElsewhere])
async def test_nobody_has_to_look_at_orders_that_do_not_count(worlds, template):
    for task, one in drawn(template, worlds, 3):
        reader = Reader(worlds["admin"], one.user)
        for status in office.STATUSES:
            if status != "canceled":
                await reader.get_all("/orders", **days(one.first, one.last), status=status, limit=100)
        assert missing(task, admin=reader) == ""


@pytest.mark.parametrize("period", ["year", "month", "day"])
async def test_a_report_counts_whatever_its_periods(worlds, period):
    for task, one in drawn(orders.CouponDiscount, worlds, 2):
        span = {"from": f"01/01/{one.year}", "to": f"12/31/{one.year}"}
        reader = Reader(worlds["admin"], one.user)
        await reader.get_all("/reports/coupons", report=1, period=period, status="complete", **span)
        assert missing(task, admin=reader) == ""
    if period != "year":  # The months are what is asked for.
        for task, one in drawn(orders.OrdersByMonth, worlds, 2):
            months = office.months_from(one.month, one.count)
            span = {"from": f"{months[0]}-01", "to": office.month_span(months[-1])[1]}
            reader = Reader(worlds["admin"], one.user)
            await reader.get_all("/reports/orders", report=1, period=period, status=one.status.lower(), **span)
            assert missing(task, admin=reader) == ""


async def test_discounts_can_be_read_from_the_orders_themselves(worlds):
    task, one = min(drawn(orders.CouponDiscount, worlds, 6), key=lambda pair: len(_discounted(pair[1], worlds)))
    reader = Reader(worlds["admin"], one.user)
    *most, last = _discounted(one, worlds)
    for order in most:
        await reader.get(f"/orders/{order['number']}")
    assert missing(task, admin=reader) != ""
    await reader.get(f"/orders/{last['number']}")
    assert missing(task, admin=reader) == ""


def _discounted(one: orders.CouponDiscount, worlds: Worlds) -> list[Row]:
    placed = office.orders(worlds["admin"], f"{one.year}-01-01", f"{one.year}-12-31")
    return [row for row in placed if row["coupon_code"] == one.code and row["status"] == "complete"]


async def test_orders_can_be_counted_row_by_row(worlds):
    for task, one in drawn(orders.OrdersByMonth, worlds, 2):
        months = office.months_from(one.month, one.count)
        span = days(f"{months[0]}-01", office.month_span(months[-1])[1])
        hasty, reader = (Reader(worlds["admin"], one.user) for _ in range(2))
        await hasty.get("/orders", **span, status=one.status.lower(), limit=20)
        assert missing(task, admin=hasty) != ""
        await reader.get_all("/orders", **span, status=one.status.lower(), limit=50)
        assert missing(task, admin=reader) == ""


async def test_nobody_has_to_look_at_what_is_not_in_stock(worlds):
    with_gaps = [pair for pair in drawn(reading.StockOfBrand, worlds, 40) if _sold_out(pair[1], worlds)]
    assert with_gaps
    for task, one in with_gaps[:3]:
        reader = Reader(worlds["admin"], one.user)
        await reader.get_all("/products", name=one.brand, price_from=one.least, stock_from=1, limit=100)
        assert missing(task, admin=reader) == ""


def _sold_out(one: reading.StockOfBrand, worlds: Worlds) -> bool:
    sql = "SELECT stock FROM products WHERE instr(lower(name), lower(?)) AND price_cents >= ?"
    return any(row["stock"] == 0 for row in office.rows(worlds["admin"], sql, one.brand, one.least * 100))


async def test_an_advanced_search_in_vain_says_what_was_sought(worlds):
    for task, one in drawn(catalog.PriceOfNothing, worlds, 3):
        reader = Reader(worlds["shop"])
        page = await reader.get("/search/advanced", name=one.product)
        assert f"Product Name: {escape(one.product)}" in page
        assert missing(task, shop=reader) == ""


async def test_an_advanced_search_with_a_limit_shows_nothing_about_what_exists(worlds):
    for task, one in drawn(catalog.PriceOfNothing, worlds, 3):
        reader = Reader(worlds["shop"])
        page = await reader.get("/search/advanced", name=one.product, price="0-0.01")
        assert "No products match these filters." in page
        assert missing(task, shop=reader) != ""


def test_an_address_that_has_an_account_is_bad_data_or_not_allowed(worlds):
    ((task, _),) = drawn(writing.EmailTaken, worlds, 1)
    (response,) = [check for check in task.checks if isinstance(check, ResponseCheck)]
    assert set(response.status) == {"DATA_VALIDATION_ERROR", "ACTION_NOT_ALLOWED_ERROR"}


# --- in other forms -----------------------------------------------------------------------------------------


def asked_for(
    grid: Grid, typed: Mapping[str, str], chosen: Mapping[str, str], columns: Sequence[str]
) -> dict[str, str]:
    """The address of a grid, from what a person fills in and ticks."""
    by_label = {str(column.label): column for column in grid.columns}
    query = {f"show-{by_label[label].name}": "1" for label in columns}
    for label, value in typed.items():
        known, _, end = (label, "", "") if label in by_label else label.rpartition(" ")
        query[by_label[known].name + (f"_{end}" if end else "")] = value
    for label, value in chosen.items():
        choices = by_label[label].choices
        query[by_label[label].name] = next(code for code, name in choices.items() if name == value)
    return query


def _lists() -> Iterator[tuple[str, Callable[[Any], tuple[Mapping[str, str], Mapping[str, str], Sequence[str]]]]]:
    """Retrieving templates that read a grid: what is filled in, what is chosen, and the columns that it takes."""
    for template in TEMPLATES:
        if issubclass(template, WholeList):
            yield template.name, lambda one: (one.typed(), one.chosen(), one.needed_columns)
    bought = ("Bill-to Name", "Ship-to Name", "Grand Total")
    for name in ("admin.sent-elsewhere", "admin.busiest-buyers"):
        yield name, lambda one: (office.days("Purchase Date", one.first, one.last), {}, bought)
    yield "admin.refunds-for", lambda one: (
        {"Reason": one.reason, **office.days("Created", one.first, one.last)}, {}, ("Refunded",))  # fmt: skip
    yield "admin.stock-of-brand", lambda one: (
        {"Name": one.brand, "Price from": str(one.least)}, {}, ("Quantity", "Price"))  # fmt: skip
    yield "admin.customers-of-states", lambda one: ({}, {}, ("Name", "State"))
    for name in ("admin.highest-of-each-month", "admin.orders-by-month"):
        yield name, lambda one: (_span(one), {"Status": getattr(one, "status", "Complete")}, ("Grand Total",))
    yield "admin.tracking-of-largest", lambda one: ({}, {}, ("Tracking Number",))
    yield "admin.coupon-discount", lambda one: ({"Coupon Code": one.code}, {"Status": "Complete"}, ("Discount",))


def _span(one: Any) -> dict[str, str]:
    return office.days("Purchase Date", *office.span_of(office.months_from(one.month, one.count)))


GRIDS = {grid.path: grid for grid in vars(grids).values() if isinstance(grid, Grid)}
LISTS = dict(_lists())


@pytest.mark.parametrize("name", LISTS)
async def test_a_list_can_be_read_from_a_file_with_any_columns(worlds, name):
    ((task, one),) = drawn(next(known for known in TEMPLATES if known.name == name), worlds, 1)
    paths = {"admin.refunds-for": "/refunds", "admin.stock-of-brand": "/products",
             "admin.customers-of-states": "/customers", "admin.tracking-of-largest": "/shipments"}  # fmt: skip
    path = getattr(one, "path", paths.get(name, "/orders"))
    reader = Reader(worlds["admin"], one.user)
    await reader.get(path, limit=20)
    assert missing(task, admin=reader) != ""
    query = asked_for(GRIDS[path], *LISTS[name](one))
    assert query.keys() != {f"show-{column.name}" for column in GRIDS[path].columns if column.shown}
    await reader.get(f"{path}/export", **query)
    assert missing(task, admin=reader) == ""


# --- what is no evidence ------------------------------------------------------------------------------------


def test_a_number_in_a_name_is_not_the_number_that_was_sought(worlds):
    ((task, one),) = drawn(together.HiddenReviews, worlds, 1)
    (response,) = [check for check in task.checks if isinstance(check, ResponseCheck)]
    counts = {name: count.value for name, count in response.results.items[0].fields.items()}
    reader = Reader(worlds["shop"])
    reader.show(f"<ul><li>{escape(one.product)}, {counts['all']} oz, {counts['shown']} reviews</li></ul>")
    assert "0 of 2 facts" in missing(task, shop=reader, admin=Reader(worlds["admin"]))

    for template in (together.WishForTop, reading.BestOfMonths):
        ((task, one),) = drawn(template, worlds, 1)
        reader = Reader(worlds["admin"])
        for month in office.months_from(one.month, getattr(one, "count", 1)):
            best = office.bestsellers(worlds["admin"], month)[0]
            reader.show(f"<ul><li>{escape(best['name'])}, {best['pieces']} oz</li></ul>")
        assert missing(task, admin=reader, shop=Reader(worlds["shop"])) != ""


# --- draws --------------------------------------------------------------------------------------------------


def test_the_order_with_the_dearest_article_cost_at_least_as_much(worlds):
    for _, one in drawn(DearestPurchase, worlds, 150):
        orders = queries.orders_during(worlds["shop"], one.user, f"{one.year}-")
        items = [item for order in orders for item in queries.order_items(worlds["shop"], order["number"])]
        dearest = max(items, key=queries.unit_price)
        (total,) = (row["total_cents"] for row in orders if row["id"] == dearest["order_id"])
        assert total >= dearest["unit_price_cents"], one


def test_the_longest_warranty_is_never_the_longest_that_a_card_can_have(worlds):
    for _, one in drawn(packages.OpenLongestWarranty, worlds, 20):
        listed = queries.products(worlds["shop"], one.path)
        assert max(row["warranty_months"] for row in listed if row["price_cents"] < one.below * 100) < 60


def test_customers_have_written_beside_guests(worlds):
    for _, one in drawn(bulk.RejectOfProductLine, worlds, 12):
        days = "v.customer_id > 0 AND v.status <> 'rejected' AND substr(v.created_at, 1, 10) BETWEEN ? AND ?"
        written = office.reviews(worlds["admin"], days, one.first, one.last)
        assert any(row["sku"].startswith(one.code) for row in written)


def test_any_tab_but_the_one_in_front_may_hold_what_is_asked_for(worlds):
    places = Counter()
    for _, one in drawn(comparing.CheapestByWeight, worlds, 100):
        products = [queries.find_products(worlds["shop"], "p.slug = ?", slug)[0] for slug in one.slugs]
        places[products.index(min(products, key=lambda row: row["price_cents"] / row["weight_oz"]))] += 1
        assert len(products) >= 5
    assert not places[0], "a click at random would buy it"
    assert all(places[place] >= 8 for place in range(1, 5))


def test_refunds_are_asked_for_only_until_today(worlds):
    assert all(one.last <= queries.TODAY for _, one in drawn(reading.RefundsFor, worlds, 60))


def test_a_world_in_which_little_happened_has_no_instances_but_no_faults_either():
    world = fresh(admin.SITE)
    with world.write() as db:
        db.execute("UPDATE orders SET created_at = '2015-01-01 00:00:00', shipping_method = 'standard'")
        db.execute("DELETE FROM product_options WHERE product_id <> (SELECT min(product_id) FROM product_options)")
    barren = {"admin": world, "shop": World(shop.SITE, 0, world.snapshot, beside=world)}
    for template in (following.HomeOfBest, products.MoreVariety, reading.BestOfMonths, checkout.OrderToAddress):
        for number in range(50):
            assert template.drawn(barren, Stream(number)) is None
    world.close()
