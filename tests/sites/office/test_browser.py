"""The back office in a real browser: what scripts add, and what accessibility checkers find."""

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.sites.browsing import DESKTOP, PHONE, faults, serving, too_wide
from tests.sites.office.visits import OWNER
from tests.sites.shop_visits import summary
from webassay.sites.admin import SITE
from webassay.sites.kit import World

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def office():
    async with serving(SITE) as served:
        yield served


def paths(world: World) -> list[str]:
    pending = world.scalar("SELECT number FROM orders WHERE status = 'pending' ORDER BY id DESC")
    review = world.scalar("SELECT id FROM reviews WHERE status = 'pending' ORDER BY id")
    shirt = world.scalar("SELECT product_id FROM product_options ORDER BY product_id")
    voted = world.scalar("SELECT id FROM reviews WHERE status = 'rejected' AND votes > 10 ORDER BY id")
    complete = world.scalar("SELECT number FROM orders WHERE status = 'complete' ORDER BY id DESC")
    code = world.scalar("SELECT code FROM coupons ORDER BY code")
    return [
        "/", "/orders?status=pending&sort=total", "/orders?total_from=x", f"/orders/{pending}", f"/reviews/{review}",
        f"/products/{shirt}", "/reports/orders?report=1&period=month&from=1/1/2025&to=6/30/2025&status=", "/reports",
        "/categories", "/attributes", "/customers/1", "/coupons/new", "/price-rules/new", "/pages/2", "/account",
        f"/reviews/{voted}", "/reports/reviews-by-product?report=1&from=1/1/2025&to=3/1/2026&p=2", "/reports/low-stock",
        f"/orders/{pending}/ship", f"/orders/{complete}/refund", f"/orders/{pending}/address/shipping", "/invoices/1",
        "/shipments/1", "/products/new", "/categories/1", "/categories/new", "/price-rules/1", f"/coupons/{code}",
        "/pages/new", "/users", "/users/2", "/customers?show-lifetime=1&show-email=1", "/refunds", "/reviews/pending",
    ]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(
    "chosen", [slice(0, 15), pytest.param(slice(15, None), marks=pytest.mark.slow)], ids=["one-of-each-kind", "others"]
)
async def test_no_page_has_a_serious_accessibility_fault(office, chosen):
    async with office.open(OWNER) as (world, page):
        assert not await faults(page, [*paths(world)[chosen], "/nowhere"])
    async with office.open() as (_, page):
        assert not await faults(page, ["/login"])


@pytest.mark.long
async def test_pages_fit_the_screen(office):
    for size in (DESKTOP, PHONE):
        async with office.open(OWNER, viewport=size) as (world, page):
            assert not await too_wide(page, paths(world))


async def test_one_box_ticks_all_rows_of_the_page(office):
    async with office.open(OWNER) as (world, page):
        await page.goto("/orders?status=pending")
        await page.get_by_label("Select all on this page").check()
        await page.get_by_label("Action").select_option("Hold")
        await page.get_by_role("button", name="Submit").click()
        await expect(page.get_by_role("status")).to_contain_text("20 orders were put on hold.")
        assert summary(world) == [("orders", "update")] * 20


async def test_a_filter_and_a_number_of_rows_work_together(office):
    async with office.open(OWNER) as (_, page):
        await page.goto("/orders")
        await page.get_by_text("Filters", exact=True).click()
        await page.get_by_role("combobox", name="Status", exact=True).select_option("Canceled")
        await page.get_by_role("button", name="Apply Filters").click()
        await page.get_by_label("Rows per page").select_option("100")
        await expect(page.get_by_role("list", name="Active filters")).to_contain_text("Status: Canceled")
        # The list of filters stands above the rows: it can be there before all of them are.
        await expect(page.get_by_role("row")).to_have_count(101)
