"""What counts as seen on the shop's pages, against what Chromium shows of them."""

from collections import Counter
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.sites.browsing import Served, serving
from tests.sites.shop_visits import MARCUS, one_id
from webassay.core.served import plain
from webassay.sites.shop import SITE
from webassay.sites.visible import Nodes, read_page

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

HIDDEN_WORDS = """() => [...document.querySelectorAll('body [hidden], body [aria-hidden=true]')]
    .map(element => element.textContent).join(' ')"""


NAMES = """() => [...document.querySelectorAll('*')].flatMap(element =>
    ['aria-label', 'alt', 'title', 'placeholder', 'value'].map(name => element.getAttribute(name) || ''))
    .concat([document.title], [...document.querySelectorAll('option, textarea')].map(element => element.textContent))"""
WITHOUT_DECORATION = """() => { document.querySelectorAll('[aria-hidden=true]').forEach(element => element.remove());
    return document.body.innerText }"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop() -> AsyncIterator[Served]:
    async with serving(SITE) as served:
        yield served


def tokens_of(page: str) -> Counter[str]:
    nodes = Nodes()
    number = read_page(page, "text/html", nodes)
    assert number is not None
    every = nodes.all()

    def texts(number: int) -> list[str]:
        parts = every[number].parts
        return [text for part in parts for text in ([part] if isinstance(part, str) else texts(part))]

    return Counter(token for text in texts(number) for token in plain(text).split())


async def test_all_that_chromium_shows_is_seen_and_nothing_that_it_hides(shop: Served) -> None:
    # Without scripts, because the record knows what was served and not what scripts made of it.
    async with shop.open(MARCUS, java_script_enabled=False) as (world, page):
        me = one_id(world, MARCUS)
        order = world.scalar("SELECT number FROM orders WHERE customer_id = ? ORDER BY id DESC", me)
        product = world.scalar(
            "SELECT p.slug FROM products AS p JOIN product_ratings AS r ON r.product_id = p.id"
            " WHERE r.review_count > 30 ORDER BY p.id LIMIT 1"
        )
        choosing = world.scalar(
            "SELECT p.slug FROM products AS p JOIN product_options AS o ON o.product_id = p.id ORDER BY p.id LIMIT 1"
        )
        paths = [
            "/", "/c/electronics/audio?price=20-80", "/search?q=lamp", "/search?q=xyzzy", f"/p/{product}?reviews=2",
            f"/p/{choosing}", f"/p/{product}/reviews?reviews=2", "/cart", "/account", "/account/orders",
            f"/account/orders/{order}", "/account/addresses", "/account/addresses/new", "/account/edit", "/nowhere",
            "/shipping-and-returns", "/contact", "/account/wishlist",
        ]  # fmt: skip
        for path in paths:
            answer = await page.goto(path)
            assert answer is not None
            ours = tokens_of(await answer.text())
            hidden = set(plain(await page.evaluate(HIDDEN_WORDS)).split())
            named = set(plain(" ".join(await page.evaluate(NAMES))).split())
            shown = Counter(plain(await page.evaluate(WITHOUT_DECORATION)).split())
            assert not shown - ours, f"{path}: Chromium shows more: {shown - ours}"
            hidden -= set(shown)
            assert not (hidden & set(ours)) - named, f"{path}: hidden, and seen: {hidden & set(ours)}"
