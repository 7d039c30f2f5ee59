"""Reading the shop: every kind of page, lists and their tools, search."""

import html
import re
from pathlib import Path

import httpx
import pytest

from tests.sites.shop_visits import MARCUS, NORA, content, visitor
from tests.sites.visitors import fresh
from webassay.arena.shop.queries import on_front_page
from webassay.compose.registries import TEMPLATES
from webassay.sites.kit import World
from webassay.sites.shop import SITE
from webassay.sites.shop.commerce import money, weight
from webassay.sites.shop.listing import SORTS
from webassay.sites.web.dates import long_date


@pytest.fixture(scope="module")
def world():
    opened = fresh(SITE)
    yield opened
    assert content(opened) == [], "reading changes nothing"
    opened.close()


def slugs(page: httpx.Response) -> list[str]:
    return re.findall(r'class="card-name" href="/p/([^"]+)"', page.text)


def shelf(world: World, fewest: int = 40) -> str:
    path: str = world.scalar(
        "SELECT c.path FROM categories AS c JOIN products AS p ON p.category_id = c.id"
        " GROUP BY c.id HAVING count(*) >= ? ORDER BY c.id LIMIT 1",
        fewest,
    )
    return path


OPEN = [
    "/", "/c/kitchen-dining", "/c/kitchen-dining/coffee-tea", "/c/kitchen-dining/coffee-tea/tea-kettles",
    "/search?q=kettle", "/search?q=", "/search?q=%2B%2B", "/search?q=xyzzyplugh", "/search/suggest?q=ket", "/cart",
    "/cart/mini", "/account/login", "/account/register", "/contact", "/contact-information", "/about",
    "/shipping-and-returns",
]  # fmt: skip
PRIVATE = [
    "/account", "/account/edit", "/account/orders", "/account/addresses", "/account/addresses/new",
    "/account/wishlist", "/account/reviews", "/account/newsletter",
]  # fmt: skip


@pytest.mark.parametrize("path", OPEN)
async def test_open_pages(path, guest):
    assert (await guest.get(path)).status_code == 200


@pytest.mark.parametrize("path", PRIVATE)
async def test_private_pages_ask_for_a_login_and_come_back(world, path):
    async with visitor(world) as guest:
        away = await guest.get(path)
        assert away.status_code == 303
        assert httpx.URL(away.headers["location"]).params["next"] == path
    async with visitor(world, NORA) as nora:
        assert (await nora.get(path)).status_code == 200


@pytest.mark.parametrize("path", ["/p/no-such-thing", "/c/no-such-place", "/nothing", "/c/", "/static/0/shop.css"])
async def test_unknown_places_are_404_and_look_like_the_shop(path, guest):
    page = await guest.get(path)
    assert page.status_code == 404
    assert "Tallybrook" in page.text and "Page not found" in page.text


async def test_static_files_are_kept_for_ever_under_their_digest(guest):
    home = await guest.get("/")
    for url in re.findall(r'(?:href|src)="(/static/[^"]+)"', home.text):
        answer = await guest.get(url)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    assert home.headers["cache-control"] == "private, no-cache"
    assert (
        "script-src" in home.headers["content-security-policy"]
        or "default-src 'self'" in (home.headers["content-security-policy"])
    )


async def test_nothing_comes_from_elsewhere(nora):
    for path in OPEN + PRIVATE:
        page = await nora.get(path)
        assert not re.findall(r'(?:src|href|action)="(?:https?:)?//', page.text), path


# --- lists -----------------------------------------------------------------------------------------------


def expected_order(world: World, path: str, sort: str, down: bool) -> list[str]:
    products = world.rows(
        "SELECT p.*, r.review_count, r.rating_sum FROM products AS p JOIN product_ratings AS r ON r.product_id = p.id"
        " JOIN categories AS c ON c.id = p.category_id WHERE c.path = ? OR c.path LIKE ? || '/%' ORDER BY p.id",
        path, path,
    )  # fmt: skip
    keys = {
        "position": lambda p: p["position"],
        "name": lambda p: p["name"].lower(),
        "price": lambda p: p["price_cents"],
        "rating": lambda p: p["rating_sum"] * 10**6 // p["review_count"] if p["review_count"] else 0,
        "newest": lambda p: p["first_available"],
    }
    # Stable, so that ties stay in the order of their ids whichever way the list runs.
    return [p["slug"] for p in sorted(products, key=keys[sort], reverse=down)]


@pytest.mark.parametrize("sort", [name for name in SORTS if name != "relevance"])
@pytest.mark.parametrize("direction", ["asc", "desc"])
async def test_pages_of_a_list_hold_every_product_once_in_order(world, sort, direction, guest):
    path = shelf(world)
    expected = expected_order(world, path, sort, direction == "desc")
    found: list[str] = []
    page_number = 1
    while len(found) < len(expected):
        page = await guest.get(f"/c/{path}", params={"sort": sort, "dir": direction, "p": page_number})
        shown = slugs(page)
        last = len(found) + len(shown)
        assert f"Items {len(found) + 1}-{last} of {len(expected)}" in page.text
        found += shown
        page_number += 1
    assert found == expected


async def test_a_department_lists_what_stands_on_its_shelves(world, guest):
    page = await guest.get("/c/pet-supplies", params={"limit": 36, "sort": "price"})
    assert slugs(page) == expected_order(world, "pet-supplies", "price", False)[:36]


@pytest.mark.parametrize("limit", [12, 24, 36])
async def test_page_sizes(world, limit, guest):
    page = await guest.get(f"/c/{shelf(world)}", params={"limit": limit})
    assert len(slugs(page)) == limit
    beyond = await guest.get(f"/c/{shelf(world)}", params={"limit": limit, "p": 999999})
    assert beyond.status_code == 200 and "Next" not in beyond.text


@pytest.mark.parametrize(
    ("price", "low", "high"),
    [("20-39.99", 2000, 3999), ("20-", 2000, 10**9), ("-25.5", 0, 2550), ("15-15", 1500, 1500)],
)
async def test_price_filter_includes_both_ends(world, price, low, high, guest):
    path = "home-living"
    expected = world.scalar(
        "SELECT count(*) FROM products AS p JOIN categories AS c ON c.id = p.category_id"
        " WHERE c.path LIKE ? || '/%' AND p.price_cents BETWEEN ? AND ?",
        path, low, high,
    )  # fmt: skip
    page = await guest.get(f"/c/{path}", params={"price": price})
    assert (f"of {expected}<" if expected else "No items") in page.text


async def test_price_fields_lead_to_the_price_filter(guest):
    moved = await guest.get("/c/electronics", params={"min": "$30", "max": "69", "sort": "price", "p": "3"})
    assert moved.status_code == 303
    assert httpx.URL(moved.headers["location"]).params == httpx.QueryParams({"sort": "price", "price": "30-69"})


async def test_subcategory_filter_and_its_counts(world, guest):
    page = await guest.get("/c/electronics/audio")
    for row in world.rows(
        "SELECT c.id, c.name, count(*) AS n FROM categories AS c JOIN products AS p ON p.category_id = c.id"
        " WHERE c.path LIKE 'electronics/audio/%' GROUP BY c.id"
    ):
        assert f'?cat={row["id"]}">{html.escape(row["name"])}</a> <span class="count">({row["n"]}<' in page.text
        narrowed = await guest.get("/c/electronics/audio", params={"cat": row["id"]})
        assert f"of {row['n']}<" in narrowed.text
    elsewhere = world.scalar("SELECT id FROM categories WHERE path = 'grocery/snacks'")
    assert (await guest.get("/c/electronics/audio", params={"cat": elsewhere})).status_code == 400


async def test_price_and_subcategory_filters_work_together(world, guest):
    shelf = world.scalar("SELECT id FROM categories WHERE path LIKE 'electronics/audio/%' ORDER BY id")
    inside = world.rows(
        "SELECT slug FROM products WHERE category_id = ? AND price_cents BETWEEN 2000 AND 8000 ORDER BY position", shelf
    )
    narrowed = {"cat": shelf, "price": "20-80", "limit": "36"}
    found = slugs(await guest.get("/c/electronics/audio", params=narrowed))
    assert found == [row["slug"] for row in inside][:36]
    assert 0 < len(found) < world.scalar("SELECT count(*) FROM products WHERE category_id = ?", shelf)


async def test_price_bands_add_up(world, guest):
    page = await guest.get("/c/grocery")
    bands = re.findall(r'\?price=([^"]+)">[^<]+</a> <span class="count">\((\d+)<', page.text)
    total = world.scalar(
        "SELECT count(*) FROM products AS p JOIN categories AS c ON c.id = p.category_id WHERE c.path LIKE 'grocery/%'"
    )
    assert sum(int(count) for _, count in bands) == total
    for band, count in bands:
        assert f"of {count}<" in (await guest.get("/c/grocery", params={"price": band})).text


@pytest.mark.parametrize(
    "query", ["p=0", "p=-1", "p=abc", "p=1_0", "p=٣", "sort=evil", "dir=up", "limit=1000", "price=abc", "price=1-2-3",
              "cat=999999", "cat=x", "price=1%27--", "p=99999999999999999999999"],
)  # fmt: skip
async def test_settings_that_make_no_sense_are_refused(query, guest):
    page = await guest.get(f"/c/electronics?{query}")
    assert page.status_code == 400
    assert "This address does not work" in page.text
    (again,) = re.findall(r'href="([^"]+)">Show this page without the setting', page.text)
    assert (await guest.get(f"/c/electronics{again}")).status_code == 200


async def test_a_wrong_setting_is_answered_with_those_that_are_possible(guest):
    page = await guest.get("/c/electronics?limit=243&sort=price")
    assert '"243" is not a possible number of items per page.' in html.unescape(page.text)
    offered = re.findall(r'<li><a href="(\?[^"]+)">(\d+)</a></li>', page.text)
    assert [size for _, size in offered] == ["12", "24", "36"]
    for address, _ in offered:
        assert (await guest.get(f"/c/electronics{html.unescape(address)}")).status_code == 200


async def test_cards_show_what_the_rows_say(world, guest):
    path = shelf(world)
    page = (await guest.get(f"/c/{path}", params={"limit": 36})).text
    cards = page.split('<li class="card">')[1:]
    assert len(cards) == 36
    for card in cards:
        slug = re.search(r'href="/p/([^"]+)"', card)
        product = world.row(
            "SELECT p.*, r.* FROM products AS p JOIN product_ratings AS r ON r.product_id = p.id WHERE slug = ?",
            slug[1],
        )
        assert html.escape(product["name"], quote=False) in html.unescape(card).replace("&", "&amp;")
        assert money(product["price_cents"]) in card
        assert ("Out of stock" in card) == (product["stock"] == 0)
        if product["review_count"]:
            assert f">{product['review_count']} review" in card
            assert f"{product['rating_sum'] / product['review_count'] + 1e-9:.1f} out of 5 stars" in card


# --- search ----------------------------------------------------------------------------------------------


async def test_search_finds_all_words_names_first(world, guest):
    page = await guest.get("/search", params={"q": "coffee grinders", "limit": 36})
    names = [world.scalar("SELECT name FROM products WHERE slug = ?", slug).lower() for slug in slugs(page)]
    assert len(names) >= 12
    in_name = ["coffee" in name and "grinder" in name for name in names]
    assert in_name == sorted(in_name, reverse=True) and in_name[0]
    again = await guest.get("/search", params={"q": "  GRINDER for the Coffee ", "limit": 36})
    assert sorted(slugs(again)) == sorted(slugs(page))


async def test_search_by_sku_and_brand(world, guest):
    product = world.row("SELECT * FROM products WHERE id = 1234")
    assert slugs(await guest.get("/search", params={"q": product["sku"]})) == [product["slug"]]
    branded = await guest.get("/search", params={"q": product["brand"]})
    total = world.scalar("SELECT count(*) FROM products WHERE brand = ?", product["brand"])
    assert f"of {total}<" in branded.text


async def test_search_can_be_narrowed_like_a_category(world, guest):
    page = await guest.get("/search", params={"q": "mug", "price": "10-20", "sort": "price", "dir": "desc"})
    prices = [world.scalar("SELECT price_cents FROM products WHERE slug = ?", slug) for slug in slugs(page)]
    assert prices and prices == sorted(prices, reverse=True)
    assert all(1000 <= price <= 2000 for price in prices)
    nothing = await guest.get("/search", params={"q": "mug", "price": "0-0.01"})
    assert "No products match these filters" in nothing.text


@pytest.mark.parametrize(
    "text", ['"', "*", "NEAR(", "a OR b", "name:mug", "^x", "{y}", "-z", "mug AND", "'; DROP TABLE products; --"]
)
async def test_search_words_are_no_operators(text, guest):
    assert (await guest.get("/search", params={"q": text})).status_code == 200
    assert (await guest.get("/search/suggest", params={"q": text})).status_code == 200


async def test_search_escapes_and_has_an_end(guest):
    page = await guest.get("/search", params={"q": "<script>alert(1)</script>"})
    assert "<script>alert" not in page.text and "did not match any products" in page.text
    assert (await guest.get("/search", params={"q": "x" * 129})).status_code == 400


async def test_suggestions_lead_to_products(guest):
    found = (await guest.get("/search/suggest", params={"q": "insulated wat"})).json()["suggestions"]
    assert 1 <= len(found) <= 6
    for suggestion in found:
        assert "Insulated" in suggestion["name"]
        assert (await guest.get(suggestion["url"])).status_code == 200


# --- products --------------------------------------------------------------------------------------------


async def test_product_page_tells_everything(world, guest):
    product = world.row(
        "SELECT p.*, r.review_count FROM products AS p JOIN product_ratings AS r ON r.product_id = p.id"
        " WHERE r.review_count > 25 AND p.stock > 10 AND p.color <> '' AND p.size <> '' ORDER BY p.id LIMIT 1"
    )
    page = html.unescape((await guest.get(f"/p/{product['slug']}")).text)
    for expected in (
        product["name"], f"SKU: {product['sku']}", money(product["price_cents"]), *product["description"].split("\n"),
        weight(product["weight_oz"]), long_date(product["first_available"]), "In stock", product["brand"],
        f"Reviews ({product['review_count']})", *product["highlights"].split("\n"),
    ):  # fmt: skip
        assert expected in page


async def test_pages_of_reviews_hold_every_approved_review_once(world, guest):
    product = world.row(
        "SELECT p.id, p.slug FROM products AS p JOIN product_ratings AS r ON r.product_id = p.id"
        " WHERE r.review_count BETWEEN 31 AND 60 ORDER BY p.id LIMIT 1"
    )
    expected = [
        (row["title"], str(row["rating"]), row["nickname"], long_date(row["created_at"]), row["text"])
        for row in world.rows(
            "SELECT * FROM reviews WHERE product_id = ? AND status = 'approved' ORDER BY created_at DESC, id DESC",
            product["id"],
        )
    ]
    pattern = re.compile(
        r"<h3>(.*?)</h3>\s*<p class=\"review-meta\">"
        r".*?Rating: (\d) out of 5 stars.*?<strong>(.*?)</strong> on (.*?)</p>"
        r"\s*<p class=\"review-text\">(.*?)</p>",
        re.DOTALL,
    )
    for address in ("/p/{slug}?reviews={n}", "/p/{slug}/reviews?reviews={n}"):
        found = []
        for n in range(1, -(-len(expected) // 10) + 1):
            page = await guest.get(address.format(slug=product["slug"], n=n))
            found += [tuple(html.unescape(part) for part in match) for match in pattern.findall(page.text)]
        assert found == expected
    assert (await guest.get(f"/p/{product['slug']}?reviews=abc")).status_code == 400


async def test_options_are_offered_where_there_are_any(world, guest):
    slug = world.scalar("SELECT slug FROM products WHERE picture = 'shirt' AND stock > 0 ORDER BY id LIMIT 1")
    page = (await guest.get(f"/p/{slug}")).text
    for value in world.rows(
        "SELECT value FROM product_options WHERE product_id = (SELECT id FROM products WHERE slug = ?)", slug
    ):
        assert f"<option>{value['value']}</option>" in page


# --- the account -----------------------------------------------------------------------------------------


async def test_order_history_is_complete_and_newest_first(world, nora):
    expected = [
        (row["number"], long_date(row["created_at"]), money(row["total_cents"]), row["status"].capitalize())
        for row in world.rows(
            "SELECT * FROM orders WHERE customer_id = (SELECT id FROM customers WHERE email = ?)"
            " ORDER BY created_at DESC",
            NORA,
        )
    ]
    pattern = re.compile(
        r'"Order #">(\d+)</td>.*?"Date">(.*?)</td>.*?"Order Total">(.*?)</td>.*?class="status [\w ]+">([\w ]+)<'
    )
    found = []
    for n in range(1, -(-len(expected) // 10) + 1):
        page = await nora.get("/account/orders", params={"p": n})
        assert f"of {len(expected)} total" in page.text
        found += pattern.findall(page.text)
    assert found == expected


async def test_order_page_tells_everything(world, marcus):
    order = world.row(
        "SELECT o.* FROM orders AS o JOIN customers AS c ON c.id = o.customer_id"
        " WHERE c.email = ? ORDER BY o.id LIMIT 1",
        MARCUS,
    )
    page = html.unescape((await marcus.get(f"/account/orders/{order['number']}")).text)
    for name in ("subtotal_cents", "shipping_cents", "tax_cents", "total_cents"):
        assert money(order[name]) in page
    for item in world.rows("SELECT * FROM order_items WHERE order_id = ?", order["id"]):
        assert item["name"] in page and item["sku"] in page and money(item["unit_price_cents"]) in page
        assert money(item["unit_price_cents"] * item["quantity"]) in page
    for address in world.rows("SELECT * FROM order_addresses WHERE order_id = ?", order["id"]):
        assert address["street"] in page and address["postcode"] in page


async def test_what_was_looked_at_is_shown_again(world, nora):
    first, second = (row["slug"] for row in world.rows("SELECT slug FROM products ORDER BY id LIMIT 2"))
    await nora.get(f"/p/{first}")
    page = (await nora.get(f"/p/{second}")).text
    assert first in page.split("<h2>Recently viewed</h2>")[1]


def test_what_is_said_to_show_a_feature_exists():
    """The table of features in the docs names templates and tests."""
    here = Path(__file__).parent
    tests = "".join(file.read_text() for file in here.glob("test_shop_*.py"))
    docs = (here.parents[1] / "docs" / "sites.md").read_text()
    shop = docs.partition("## shop")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| [^|]+ \| \d+ \| [^|]+ \| ([^|]+) \|$", shop, re.MULTILINE)
    assert len(rows) == 17
    for name in re.findall(r"`([^`]+)`", " ".join(rows)):
        assert f"def {name}(" in tests or f"shop.{name}" in TEMPLATES, name


async def test_what_tasks_take_for_the_front_page_is_on_it(world, guest):
    names = re.findall(r'class="card-name" href="[^"]+">([^<]+)<', (await guest.get("/")).text)
    assert {html.unescape(name) for name in names} == on_front_page(world) != set()
