"""The back office: what its grids, forms and reports do, who may use them, and what the storefront then shows."""

import csv
import io
import re

import pytest

from tests.sites.office.visits import CATALOG, MANAGER, OWNER, SALES, VIEWER, submit
from tests.sites.shop_visits import NORA, content, differing, one_id, product, summary
from tests.sites.visiting import visit
from tests.sites.visitors import visitor
from tests.support.worlds import arena
from webassay.sites import shop
from webassay.sites.admin import grids
from webassay.sites.admin.reports import REPORTS
from webassay.sites.kit import World
from webassay.sites.shop.seeding.customers import PASSWORD as CUSTOMER_PASSWORD
from webassay.sites.shop.seeding.office import PASSWORD
from webassay.sites.web.grids import read_grid

EVERY_GRID = [value for value in vars(grids).values() if isinstance(value, grids.Grid)]


def order(world: World, status: str, place: int = 0) -> dict[str, object]:
    found = world.row("SELECT * FROM orders WHERE status = ? ORDER BY id DESC LIMIT 1 OFFSET ?", status, place)
    assert found is not None
    return found


def status_of(world: World, number: object) -> str:
    status: str = world.scalar("SELECT status FROM orders WHERE number = ?", str(number))
    return status


# --- who --------------------------------------------------------------------------------------------------


async def test_a_customer_is_nobody_here(world):
    with world.write():
        token = shop.SITE.log_in.__self__.start(world, one_id(world, NORA))  # type: ignore[attr-defined]
    async with visitor(world) as guest:
        for cookie in ("tallybrook_session", "backoffice_session"):
            answer = await guest.get("/orders", headers={"cookie": f"{cookie}={token}"})
            assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=%2Forders")
        answer = await guest.post("/login", data={"username": NORA, "password": CUSTOMER_PASSWORD})
        assert answer.status_code == 422
        assert "The user name or the password is not correct." in answer.text


async def test_staff_log_in_and_out_with_a_name_and_a_password(world):
    async with visitor(world) as client:
        answer = await client.post("/login?next=/orders", data={"username": OWNER, "password": PASSWORD})
        assert answer.headers["location"] == "/orders"
        assert "Greta Holm (Owner)" in (await client.get("/orders")).text
        await client.post("/logout")
        assert (await client.get("/orders")).status_code == 303
    assert summary(world) == []


FORBIDDEN = (
    (SALES, "/products/1", {"name": "x"}, "may look at products, but not change them"),
    (SALES, "/bulk/products", {"action": "disable", "pick-1": "1"}, "may look at products, but not change them"),
    (SALES, "/bulk/reviews", {"action": "delete", "pick-1": "1"}, "may not see reviews"),
    (CATALOG, "/orders/100001/comment", {"comment": "x"}, "may not see orders"),
    (CATALOG, "/price-rules/new", {"name": "x"}, "may look at price rules, but not change them"),
    (VIEWER, "/orders/100001/hold", {}, "may look at orders, but not change them"),
    (VIEWER, "/pages/1", {"title": "x"}, "may look at pages, but not change them"),
    (MANAGER, "/users/2", {"role": "owner"}, "may not see users"),
)


@pytest.mark.parametrize(("user", "path", "form", "says"), FORBIDDEN)
async def test_a_role_may_do_no_more_than_it_says(world, user, path, form, says):
    async with visitor(world, user) as client:
        answer = await client.post(path, data=form)
        assert answer.status_code == 403
        assert says in answer.text
    assert content(world) == []


async def test_the_menu_and_the_buttons_are_those_of_the_role(world):
    async with visitor(world, SALES) as client:
        page = (await client.get("/")).text
        assert "Orders" in page and "All Reviews" not in page
        assert (await client.get("/reviews")).status_code == 403
        page = (await client.get("/products/1")).text
        assert "Your role, Sales, may look at products, but not change them." in page
        assert ">Save<" not in page
        account = (await client.get("/account")).text
        assert "Rights of the Role Sales" in account


# --- grids ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("grid", EVERY_GRID, ids=lambda grid: grid.path)
def test_every_column_of_a_grid_can_be_sorted_and_shown(world, grid):
    for column in grid.columns:
        for way in ("asc", "desc"):
            page = read_grid(world, grid, {"sort": column.name, "dir": way, f"show-{column.name}": "1"})
            assert [one.name for one in page.shown] == [column.name]
            values = [row[column.name] for row in page.rows]
            keys = [(value is not None, value.lower() if isinstance(value, str) else value) for value in values]
            if column.kind == "choice":
                labels = [column.text(row).casefold() for row in page.rows]
                assert labels == sorted(labels, reverse=way == "desc"), column.name
            elif not column.sorted_by:
                assert keys == sorted(keys, reverse=way == "desc"), column.name


def test_discounts_are_sorted_by_what_they_are_worth(world):
    grid = next(grid for grid in EVERY_GRID if grid.path == "/coupons")
    page = read_grid(world, grid, {"sort": "value", "dir": "asc", "limit": "100"})
    shown = [row["value"] for row in page.rows]
    percents = [int(text[:-1]) for text in shown if text.endswith("%")]
    dollars = [float(text[1:].replace(",", "")) for text in shown if text.startswith("$")]
    assert percents == sorted(percents) and len(set(percents)) > 2
    assert dollars == sorted(dollars) and len(set(dollars)) > 1


@pytest.mark.parametrize("grid", EVERY_GRID, ids=lambda grid: grid.path)
def test_a_filter_keeps_exactly_the_rows_that_fit(world, grid):
    """What the first row shows finds that row, and fewer or as many as there are."""
    everything = read_grid(world, grid, {})
    if not everything.rows:
        return
    row = everything.rows[0]
    for column in grid.columns:
        if row[column.name] in (None, ""):
            continue
        typed = str(row[column.name])
        if column.kind == "money":
            typed = column.text(row)
        if column.kind in ("date", "time"):
            typed = typed[:10]
        names = (f"{column.name}_from", f"{column.name}_to") if column.is_range else (column.name,)
        found = read_grid(world, grid, dict.fromkeys(names, typed) | {"limit": "100"})
        assert found.errors == {}
        assert 1 <= found.paging.total <= everything.paging.total
        fitting = {column.text(one)[: len(column.text(row))] for one in found.rows if column.kind == "money"}
        assert fitting <= {column.text(row)}


async def test_what_is_wrong_with_a_filter_stands_next_to_it(owner):
    assert (await owner.get("/orders?total_from=9,999,999,999,999,999,999")).status_code == 422
    answer = await owner.get("/orders?total_from=cheap&created_to=yesterday")
    assert answer.status_code == 422
    assert "Enter an amount such as 24.99." in answer.text
    assert "Enter a date such as 03/31/2026." in answer.text
    assert 'value="cheap"' in answer.text
    for wrong in ("colour=red", "sort=nothing", "limit=7", "dir=up", "p=x"):
        assert (await owner.get(f"/orders?{wrong}")).status_code == 400


async def test_the_export_has_every_row_that_is_left_and_no_formula(owner, world):
    with world.write() as db:
        db.execute("UPDATE order_addresses SET first_name = '=1+1' WHERE order_id = 9000 AND kind = 'billing'")
    answer = await owner.get("/orders/export?status=pending&show-number=1&show-total=1&show-bill_to=1")
    lines = list(csv.reader(io.StringIO(answer.text)))
    assert lines[0] == ["ID", "Bill-to Name", "Grand Total"]
    assert len(lines) == 1 + world.scalar("SELECT count(*) FROM orders WHERE status = 'pending'")
    answer = await owner.get("/orders/export?number=109000")
    assert "'=1+1" in answer.text
    assert "attachment" in answer.headers["content-disposition"]


async def test_a_whole_page_of_rows_can_be_ticked(owner, world):
    rows = world.rows("SELECT id FROM orders WHERE status = 'pending' ORDER BY id LIMIT 100")
    ticked = {f"pick-{row['id']}": "1" for row in rows}
    back = "/orders?status=pending&limit=100"
    answer = await owner.post("/bulk/orders", data={"action": "hold", "back": back, **ticked})
    assert answer.headers["location"] == back
    assert "100 orders were put on hold." in (await owner.get(back)).text
    assert [differing(change) for change in content(world)] == [{"status": ("pending", "on hold")}] * 100


async def test_bulk_actions_name_what_cannot_be_done(owner, world):
    pending, complete = order(world, "pending"), order(world, "complete")
    ticked = {f"pick-{one['id']}": "1" for one in (pending, complete)}
    await owner.post("/bulk/orders", data={"action": "cancel", **ticked})
    page = (await owner.get("/orders")).text
    assert f"1 order was canceled. Order # {complete['number']} is complete and cannot be canceled." in page
    for form in ({"action": "cancel"}, {"action": "explode", **ticked}):
        await owner.post("/bulk/orders", data=form)
        assert "Please " in (await owner.get("/orders")).text
    assert len(content(world)) == 1


# --- orders -----------------------------------------------------------------------------------------------


async def test_an_order_goes_from_pending_to_closed(owner, world):
    number = order(world, "pending")["number"]
    await owner.post(f"/orders/{number}/hold")
    assert status_of(world, number) == "on hold"
    assert (await owner.post(f"/orders/{number}/cancel")).status_code == 409
    await owner.post(f"/orders/{number}/unhold")
    assert status_of(world, number) == "pending"
    await owner.post(f"/orders/{number}/invoice")
    assert status_of(world, number) == "processing"
    await owner.post(f"/orders/{number}/ship", data={"carrier": "UPS", "tracking": "1Z999"})
    assert status_of(world, number) == "complete"
    total = world.scalar("SELECT total_cents FROM orders WHERE number = ?", str(number))
    too_much = await owner.post(f"/orders/{number}/refund", data={"amount": "999999.00", "reason": "Goodwill"})
    assert too_much.status_code == 422 and "must be an amount from" in too_much.text
    await owner.post(f"/orders/{number}/refund", data={"amount": f"{total / 100:.2f}", "reason": "Goodwill"})
    assert status_of(world, number) == "closed"
    page = (await owner.get(f"/orders/{number}")).text
    assert "1Z999" in page and "Goodwill" in page
    assert (await owner.get(f"/orders/{number}/refund")).status_code == 409


async def test_unknown_things_are_not_found(owner):
    for path in ("/orders/7", "/orders/x", "/products/0", "/reviews/x", "/customers/99999", "/pages/77", "/reports/x",
                 "/invoices/0", "/price-rules/x", "/coupons/NOTHING", "/users/99", "/categories/9999"):  # fmt: skip
        assert (await owner.get(path)).status_code == 404, path
    for path in ("/orders/100001/explode", "/reviews/1/explode", "/attributes/Taste"):
        assert (await owner.post(path, data={"value": "x"})).status_code == 404, path


# --- what the storefront shows ----------------------------------------------------------------------------


async def test_the_storefront_shows_what_happened_to_an_order(owner, customer, world):
    number = world.scalar(
        "SELECT number FROM orders WHERE status = 'pending' AND customer_id = ? ORDER BY id DESC", one_id(world, NORA)
    )
    await owner.post(f"/orders/{number}/comment", data={"comment": "Comes on Friday.", "notified": "1"})
    await owner.post(f"/orders/{number}/comment", data={"comment": "Difficult person."})
    await owner.post(f"/orders/{number}/ship", data={"carrier": "FedEx", "tracking": "FX-77"})
    page = (await customer.get(f"/account/orders/{number}")).text
    assert "Comes on Friday." in page and "FedEx, tracking number FX-77" in page and "Processing" in page
    assert "Difficult person." not in page


async def test_a_product_is_sold_as_the_back_office_says(owner, customer, world):
    item = product(world, "list_price_cents IS NULL")
    await submit(owner, f"/products/{item['id']}", {"price": "39", "before": "41.50"})
    page = (await customer.get(f"/p/{item['slug']}")).text
    assert "$39.00" in page and "$41.50" in page
    await owner.post("/bulk/products", data={"action": "disable", f"pick-{item['id']}": "1"})
    assert (await customer.get(f"/p/{item['slug']}")).status_code == 404
    assert f"/p/{item['slug']}" not in (await customer.get(f"/search?q={item['sku']}")).text
    assert (await customer.post("/cart/add", data={"product_id": item["id"], "quantity": "1"})).status_code == 404


async def test_the_stars_of_a_review_are_in_a_picture_alone(owner, world):
    review = world.row("SELECT * FROM reviews WHERE status = 'pending' ORDER BY id")
    page = (await owner.get(f"/reviews/{review['id']}")).text
    assert "out of 5" not in page and f"/reviews/{review['id']}/stars.svg" in page
    stars = (await owner.get(f"/reviews/{review['id']}/stars.svg")).text
    assert stars.count("#d98a00") == review["rating"]


async def test_the_votes_on_a_review_are_a_bar_and_a_number_beside_it(owner, world):
    voted = world.row("SELECT * FROM reviews WHERE votes > 20 AND helpful > 10 AND status = 'rejected' ORDER BY id")
    said = f"{voted['helpful']} of {voted['votes']} found this review helpful"
    page = (await owner.get(f"/reviews/{voted['id']}")).text
    assert page.count(f'aria-label="{said}"') == 1 and f">{said}</span>" in page
    silent: int = world.scalar("SELECT id FROM reviews WHERE votes IS NULL ORDER BY id")
    assert "Nobody has voted on this review" in (await owner.get(f"/reviews/{silent}")).text


async def test_pages_and_rules_reach_the_storefront(owner, customer, world):
    missing = world.scalar("SELECT id FROM cms_pages WHERE url_key = 'no-route'")
    page = {"title": "Wrong turn", "url_key": "no-route", "content": "Nothing.", "enabled": "1"}
    await owner.post(f"/pages/{missing}", data=page)
    nowhere = (await customer.get("/nowhere")).text
    assert "Wrong turn" in nowhere and "Nothing." in nowhere
    rule = {"name": "All Down", "department_id": "", "percent": "50", "starts_on": "2/1/2026", "ends_on": "4/1/2026"}
    await owner.post("/price-rules/new", data=rule)
    number = world.scalar("SELECT max(id) FROM price_rules")
    item = world.row("SELECT * FROM products WHERE list_price_cents IS NULL AND price_cents = 1999")
    await owner.post(f"/price-rules/{number}/apply")
    assert "$10.00" in (await customer.get(f"/p/{item['slug']}")).text


# --- reports ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.name)
async def test_a_report_waits_until_it_is_asked_for(owner, report):  # type: ignore[no-untyped-def]
    first = (await owner.get(f"/reports/{report.name}")).text
    assert ("<tbody>" in first) == (not report.day)
    if report.day:
        wrong = await owner.get(f"/reports/{report.name}?report=1&period=month&from=13/45/2025&to=&status=")
        assert wrong.status_code == 422 and "must be a date" in wrong.text
        shown = await owner.get(f"/reports/{report.name}?report=1&period=month&from=1/1/2025&to=12/31/2025&status=")
        assert shown.status_code == 200 and "<tbody>" in shown.text


async def test_the_pages_of_a_report_hold_every_line_once(owner, world):
    asked = "/reports/reviews-by-product?report=1&from=1/1/2016&to=3/1/2026"
    skus: list[str] = []
    for number in range(1, 6):
        page = (await owner.get(f"{asked}&p={number}")).text
        skus += re.findall(r"<td>([A-Z]{3}-[0-9]+)</td>", page)
        if 'rel="next"' not in page:
            break
    assert number > 1
    assert sorted(skus) == sorted(
        row["sku"] for row in world.rows("SELECT sku FROM products WHERE id IN (SELECT product_id FROM reviews)")
    )
    assert (await owner.get(f"{asked}&p=x")).status_code == 400


async def test_no_report_gives_away_the_stars_of_a_review_that_waits(owner, world):
    alone = world.row(
        "SELECT p.sku, substr(v.created_at, 1, 10) AS day FROM reviews AS v JOIN products AS p ON p.id = v.product_id"
        " WHERE v.status = 'pending' AND (SELECT count(*) FROM reviews AS o WHERE o.product_id = v.product_id"
        " AND substr(o.created_at, 1, 10) = substr(v.created_at, 1, 10)) = 1 ORDER BY v.id"
    )
    asked = f"/reports/reviews-by-product?report=1&from={alone['day']}&to={alone['day']}"
    line = (await owner.get(asked)).text.partition(f"<td>{alone['sku']}</td>")[2].partition("</tr>")[0]
    assert line.startswith('<td class="amount">1</td><td></td><td></td>')


# --- together ---------------------------------------------------------------------------------------------


async def test_shop_and_back_office_are_one_database_in_one_episode():
    """What one changes the other shows; it is told once, by the site that was named first."""
    async with arena() as sites:
        for first, second in (("shop", "admin"), ("admin", "shop")):
            async with sites.hold([first, second], logins={"admin": OWNER, "shop": NORA}) as stage:
                async with visit(stage, "admin") as staff, visit(stage, "shop") as guest:
                    form = {"title": "Tally ho", "url_key": "about", "content": "Us.", "enabled": "1"}
                    token = next(one.value for one in stage.cookies if one.name == "backoffice_session")
                    origin = {"origin": stage.bases["admin"], "cookie": f"backoffice_session={token}"}
                    answer = await staff.post("/pages/2", data=form, headers=origin)
                    assert answer.headers["location"] == "/pages"
                    assert "Tally ho" in (await guest.get("/about")).text
                seen = await stage._server.call("probe", 60, label=stage.label, cookies={})
                changed = {site: {row["table"] for row in found["changes"]} for site, found in seen.items()}
                assert "cms_pages" in changed[first]
                assert changed[second] == set()
