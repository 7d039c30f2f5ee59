"""The shop in a real browser: what scripts add, what keys can do, and what accessibility checkers find."""

import re

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.sites.browsing import DESKTOP, PHONE, faults, serious, serving, too_wide
from tests.sites.shop_visits import MARCUS, NORA, WALT, content, one_id, picked, product, summary
from webassay.sites.kit import World
from webassay.sites.shop import SITE

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop():
    async with serving(SITE) as served:
        yield served


def busy_product(world: World) -> str:
    slug: str = world.scalar(
        "SELECT p.slug FROM products AS p JOIN product_ratings AS r ON r.product_id = p.id"
        " WHERE r.review_count > 30 AND p.stock > 20 AND p.id NOT IN (SELECT product_id FROM product_options)"
        " ORDER BY p.id LIMIT 1"
    )
    return slug


@pytest.mark.long
@pytest.mark.parametrize("size", [DESKTOP, pytest.param(PHONE, marks=pytest.mark.slow)], ids=["desktop", "phone"])
async def test_the_catalog_has_no_serious_accessibility_fault(shop, size):
    async with shop.open(MARCUS, viewport=size) as (world, page):
        slug = busy_product(world)
        shirt = world.scalar("SELECT slug FROM products WHERE picture = 'shirt' AND stock > 0 ORDER BY id LIMIT 1")
        assert not await faults(
            page,
            [
                "/",
                "/c/electronics/audio?price=20-80",
                "/search?q=xyzzy",
                f"/p/{shirt}",
                f"/p/{slug}?reviews=2",
                "/cart",
            ],
        )


@pytest.mark.long
@pytest.mark.slow
async def test_the_account_has_no_serious_accessibility_fault(shop):
    async with shop.open(MARCUS) as (world, page):
        order = world.scalar("SELECT number FROM orders WHERE customer_id = ? ORDER BY id DESC", one_id(world, MARCUS))
        paths = [
            "/account", "/account/orders", f"/account/orders/{order}", "/account/addresses", "/account/addresses/new",
            "/account/edit", "/account/wishlist", "/account/reviews", "/account/newsletter", "/account/returns",
        ]  # fmt: skip
        assert not await faults(page, paths)


@pytest.mark.long
@pytest.mark.slow
async def test_the_checkout_has_no_serious_accessibility_fault(shop):
    async with shop.open(MARCUS) as (_, page):
        assert not await faults(page, ["/cart?state=TX&method=express", "/checkout/shipping"])
        await page.get_by_label("New address").check()
        assert await serious(page) == []
        await page.goto("/checkout/shipping")
        await page.get_by_role("button", name="Continue to Payment").click()
        assert await serious(page) == []
        await page.get_by_label("Bank Transfer").check()
        await page.get_by_role("button", name="Continue to Review").click()
        assert await serious(page) == []
        await page.get_by_role("button", name="Place Order").click()
        assert await serious(page) == []


@pytest.mark.long
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
async def test_forms_and_what_they_refuse_have_no_serious_accessibility_fault(shop, size):
    """Returns, coupons, the shipping estimate, advanced search: the empty form and the one with what is wrong."""
    async with shop.open(WALT, viewport=size) as (world, page):
        customer = one_id(world, WALT)
        order = world.scalar(
            "SELECT number FROM orders WHERE customer_id = ? AND status = 'complete' AND created_at > '2026-01-01'"
            " AND id NOT IN (SELECT order_id FROM returns) ORDER BY id DESC",
            customer,
        )
        back = world.scalar("SELECT number FROM returns WHERE customer_id = ? ORDER BY id DESC", customer)
        paths = [f"/account/orders/{order}/return", f"/account/returns/{back}", "/account/returns", "/coupons?show=all"]
        assert not await faults(page, paths)
        await page.goto(f"/account/orders/{order}/return")
        await page.get_by_label("Reason").select_option(index=1)
        await page.get_by_role("button", name="Request Return").click()
        await expect(page.get_by_text("Enter at least one item to return")).to_be_visible()
        assert await serious(page) == []
        slug = busy_product(world)
        await page.goto(f"/p/{slug}")
        await page.get_by_role("button", name="Add to Cart").first.click()
        await expect(page.get_by_role("link", name="View cart")).to_be_visible()
        await page.goto("/cart")
        await page.get_by_role("textbox", name="Discount Code").fill("NOSUCHCODE")
        await page.get_by_role("button", name="Apply Discount").click()
        await expect(page.get_by_text("There is no discount code NOSUCHCODE.")).to_be_visible()
        assert await serious(page) == []
        await page.get_by_role("combobox", name="State").select_option("TX")
        await page.get_by_role("button", name="Estimate").click()
        await expect(page.get_by_text("Tax", exact=False).first).to_be_visible()
        assert await serious(page) == []


@pytest.mark.long
async def test_the_open_pages_have_no_serious_accessibility_fault(shop):
    async with shop.open() as (_, page):
        paths = [
            "/account/login", "/account/register", "/contact", "/contact-information", "/about",
            "/shipping-and-returns", "/nowhere", "/c/grocery?p=x", "/coupons", "/search/advanced?min=cheap&change=1",
        ]  # fmt: skip
        assert not await faults(page, paths)


async def test_pages_fit_the_screen(shop):
    for size in (DESKTOP, PHONE):
        async with shop.open(MARCUS, viewport=size) as (world, page):
            paths = [
                "/", "/c/electronics/audio", f"/p/{busy_product(world)}", "/cart", "/account/orders", "/coupons",
                "/search/advanced", "/account/returns",
            ]  # fmt: skip
            assert not await too_wide(page, paths)


async def test_the_menu_opens_by_pointing(shop):
    async with shop.open() as (_, page):
        await page.goto("/")
        shelf = page.get_by_role("link", name="Table Lamps")
        await expect(shelf).to_be_hidden()
        await page.get_by_role("navigation", name="Departments").get_by_role("link", name="Home & Living").hover()
        await expect(shelf).to_be_visible()
        await expect(page.get_by_role("button", name="Show Home & Living menu")).to_have_attribute(
            "aria-expanded", "true"
        )
        await shelf.click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Table Lamps")


async def test_the_menu_opens_by_its_button(shop):
    for size in (DESKTOP, PHONE):
        async with shop.open(viewport=size) as (_, page):
            await page.goto("/")
            if size is PHONE:
                await page.get_by_role("button", name="Menu", exact=True).click()
            await page.get_by_role("button", name="Show Electronics menu").click()
            await page.get_by_role("link", name="Keyboards").click()
            assert page.url.endswith("/c/electronics/computer-accessories/keyboards")


async def test_shopping_with_the_keyboard_alone(shop):
    async with shop.open(NORA) as (world, page):
        press = page.keyboard.press
        await page.goto("/")
        await press("Tab")
        await expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
        await page.get_by_role("navigation", name="Departments").get_by_role("link", name="Kitchen & Dining").focus()
        await press("ArrowRight")
        await expect(page.get_by_role("link", name="Home & Living").first).to_be_focused()
        await press("ArrowLeft")
        await press("ArrowDown")
        await expect(page.get_by_role("link", name="Coffee & Tea", exact=True)).to_be_focused()
        await press("Escape")
        await expect(page.get_by_role("link", name="Coffee & Tea", exact=True)).to_be_hidden()
        await press("ArrowDown")
        await press("ArrowDown")
        await expect(page.get_by_role("link", name="Coffee Grinders")).to_be_focused()
        await press("Enter")
        await page.wait_for_url("**/coffee-grinders")

        item = product(world, "category_id = (SELECT id FROM categories WHERE name = 'Coffee Grinders')")
        await page.get_by_role("combobox", name="Search the entire store").focus()
        await page.keyboard.type(item["sku"])
        await press("Enter")
        await page.get_by_role("link", name=item["name"]).focus()
        await press("Enter")
        await page.get_by_label("Quantity", exact=True).focus()
        await press("ArrowUp")
        await press("Enter")
        await expect(page.get_by_role("status")).to_contain_text("You added")
        await page.get_by_role("link", name="Cart 2 items").focus()
        await press("Enter")
        await page.get_by_role("link", name="Proceed to Checkout").focus()
        await press("Enter")
        await page.get_by_label("Express Shipping").focus()
        await press("Space")
        await press("Enter")
        await page.get_by_label("Cash on Delivery").focus()
        await press("Space")
        await press("Enter")
        await page.get_by_role("button", name="Place Order").focus()
        await press("Enter")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Thank you for your purchase!")
        [line] = [change.after for change in content(world) if change.table == "order_items"]
        assert picked(line, "product_id", "quantity") == (item["id"], 2)


async def test_the_cart_is_filled_without_leaving_the_page(shop):
    async with shop.open(NORA) as (world, page):
        await page.goto("/c/kitchen-dining/coffee-tea")
        here = page.url
        card = page.get_by_role("listitem").filter(has=page.get_by_role("button", name="Add to Cart")).first
        name = await card.get_by_role("link").first.text_content()
        await card.get_by_role("button", name="Add to Cart").click()
        await expect(page.get_by_role("status")).to_contain_text(f"You added {name}")
        await expect(page.get_by_role("link", name="Cart 1 item", exact=True)).to_be_visible()
        assert page.url == here
        await page.get_by_role("button", name="Show cart summary").click()
        await expect(page.get_by_role("region", name="Cart summary")).to_contain_text(str(name))
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("region", name="Cart summary")).to_be_hidden()
        assert summary(world) == [("cart_items", "insert")]


async def test_a_refusal_is_shown_where_one_is(shop):
    async with shop.open(NORA) as (world, page):
        few = world.row(
            "SELECT * FROM products WHERE stock BETWEEN 3 AND 9"
            " AND id NOT IN (SELECT product_id FROM product_options) ORDER BY id LIMIT 1"
        )
        await page.goto(f"/p/{few['slug']}")
        await page.get_by_label("Quantity", exact=True).fill("50")
        await page.get_by_role("button", name="Add to Cart").first.click()
        await expect(page.get_by_role("status")).to_contain_text(f"Only {few['stock']} of")
        assert content(world) == []


async def test_quantity_buttons(shop):
    async with shop.open() as (world, page):
        await page.goto(f"/p/{busy_product(world)}")
        quantity = page.get_by_label("Quantity", exact=True)
        await page.get_by_role("button", name="Increase Quantity").click()
        await page.get_by_role("button", name="Increase Quantity").click()
        await expect(quantity).to_have_value("3")
        for _ in range(5):
            await page.get_by_role("button", name="Decrease Quantity").click()
        await expect(quantity).to_have_value("1")


async def test_reviews_are_paged_in_place_with_an_address_of_their_own(shop):
    async with shop.open() as (world, page):
        slug = busy_product(world)
        await page.goto(f"/p/{slug}")
        reviews = page.get_by_role("tabpanel", name=re.compile("Reviews"))
        await expect(reviews).to_be_hidden()
        await page.get_by_role("tab", name=re.compile("Reviews")).click()
        await expect(reviews).to_contain_text("Reviews 1-10 of")
        await page.evaluate("window.same = true")
        await reviews.get_by_role("link", name="Next").click()
        await expect(reviews).to_contain_text("Reviews 11-20 of")
        assert "reviews=2" in page.url
        assert await page.evaluate("window.same") is True
        shown = await reviews.get_by_role("listitem").all_text_contents()
        await page.reload()
        await expect(reviews).to_contain_text("Reviews 11-20 of")
        assert await reviews.get_by_role("listitem").all_text_contents() == shown
        await reviews.get_by_role("link", name="Page 3", exact=True).click()
        await expect(reviews).to_contain_text("Reviews 21-30 of")
        await page.go_back()
        await expect(reviews).to_contain_text("Reviews 11-20 of")


async def test_sorting_and_suggestions(shop):
    async with shop.open() as (_, page):
        await page.goto("/c/grocery/snacks")
        await page.get_by_label("Sort By").select_option("Price")
        await page.wait_for_url("**sort=price**")
        await page.get_by_role("link", name="Set Descending Direction").click()
        await page.wait_for_url("**dir=desc**")
        await page.get_by_label("Show", exact=True).select_option("24")
        await page.wait_for_url("**limit=24**")
        await expect(page.get_by_text("Items 1-24 of")).to_be_visible()
        search = page.get_by_role("combobox", name="Search the entire store")
        await search.press_sequentially("dark choc")
        options = page.get_by_role("option").filter(visible=True)
        await expect(options.first).to_contain_text("Dark Chocolate")
        await search.press("ArrowDown")
        name = await options.first.text_content()
        await search.press("Enter")
        await expect(page.get_by_role("heading", level=1)).to_have_text(str(name))


async def test_everything_works_without_scripts(shop):
    async with shop.open(NORA, java_script_enabled=False) as (world, page):
        item = product(world)
        await page.goto(f"/search?q={item['sku']}")
        await page.get_by_role("link", name=item["name"]).click()
        await expect(page.get_by_role("heading", name="Customer Reviews")).to_be_visible()
        await page.get_by_role("button", name="Add to Cart").first.click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Shopping Cart")
        await page.get_by_role("link", name="Proceed to Checkout").click()
        await page.get_by_role("button", name="Continue to Payment").click()
        await page.get_by_label("Bank Transfer").check()
        await page.get_by_role("button", name="Continue to Review").click()
        await page.get_by_role("button", name="Place Order").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Thank you for your purchase!")
        await page.goto("/c/electronics")
        await page.get_by_label("Sort By").select_option("Price")
        await page.get_by_role("button", name="Apply", exact=True).click()
        await page.get_by_label("From $").fill("20")
        await page.get_by_role("button", name="Apply Price").click()
        assert "sort=price" in page.url and "price=20-" in page.url
        assert ("orders", "insert") in summary(world)
