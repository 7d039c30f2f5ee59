"""What no site may fall for: forms from elsewhere, forms with nonsense in them, requests nobody should send."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sites.shop_visits import ADDRESS, MARCUS, NORA
from tests.sites.visitors import HOST, content, fresh, visitor
from webassay.sites import admin, forum, home, shop
from webassay.sites.kit import Site
from webassay.sites.web.app import LONGEST_BODY


@dataclass(frozen=True)
class Target:
    site: Site
    user: str
    pages: tuple[str, ...]
    forms: tuple[tuple[str, dict[str, str]], ...]
    """Each would change something."""
    long_field: str = ""


SHOP = Target(
    shop.SITE,
    MARCUS,
    ("/", "/cart", "/account", "/contact", "/search?q=lamp", "/coupons", "/search/advanced", "/account/returns"),
    (
        ("/contact", {"name": "a", "email": "a@example.com", "message": "a"}),
        ("/cart/add", {"product_id": "1", "quantity": "1"}),
        ("/cart/clear", {}),
        ("/newsletter", {"email": "a@example.com"}),
        ("/account/newsletter", {"subscribed": "1"}),
        ("/account/addresses/new", ADDRESS),
        ("/wishlist/add", {"product_id": "1"}),
        ("/account/logout", {}),
    ),
    long_field="message",
)
HOME = Target(
    home.SITE,
    "",
    ("/", "/accounts", "/calculator", "/scratchpad"),
    (("/scratchpad", {"text": "a"}), ("/scratchpad/1/edit", {"text": "b"}), ("/scratchpad/1/delete", {})),
    long_field="text",
)
ADMIN = Target(
    admin.SITE,
    "greta.holm",
    ("/", "/orders", "/orders/100001", "/products/1", "/reviews", "/customers/1", "/pages/1", "/reports/search-terms"),
    (
        ("/orders/100001/comment", {"comment": "a"}),
        ("/bulk/orders", {"action": "cancel", "pick-1": "1"}),
        ("/bulk/products", {"action": "disable", "pick-1": "1"}),
        ("/reviews/1/delete", {}),
        ("/bulk/reviews", {"action": "delete", "pick-2": "1"}),
        ("/attributes/Color", {"value": "a"}),
        ("/customers/1", {"first_name": "a", "last_name": "b", "email": "a@example.com"}),
        ("/categories/1", {"name": "a"}),
        ("/logout", {}),
    ),
    long_field="comment",
)
FORUM = Target(
    forum.SITE,
    "juniper_hale",
    ("/", "/all/top?t=week", "/forums", "/search?q=lamp", "/account", "/account/messages", "/u/ines_okafor", "/submit"),
    (
        ("/submit", {"forum": "books", "kind": "text", "title": "a", "body": "b"}),
        ("/s/4/hide", {"x": "1"}),
        ("/f/books/subscribe", {"x": "1"}),
        ("/forums/new", {"name": "brand_new", "title": "a", "description": "a"}),
        ("/account", {"bio": "a"}),
        ("/u/ines_okafor/message", {"subject": "a", "text": "a"}),
        ("/u/ines_okafor/block", {"x": "1"}),
        ("/account/logout", {"x": "1"}),
    ),
    long_field="body",
)
TARGETS = (SHOP, HOME, ADMIN, FORUM)
FORMS = [pytest.param(target, path, form, id=path) for target in TARGETS for path, form in target.forms]
each_form = pytest.mark.parametrize(("target", "path", "form"), FORMS)
each_site = pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.site.name)


@pytest.fixture
def world(target):
    opened = fresh(target.site)
    if target is HOME:
        with opened.write() as db:
            db.execute("INSERT INTO notes VALUES (1, 'kept', '2026-03-01 09:00:00')")
    yield opened
    opened.close()


@pytest.fixture
async def client(world, target):
    async with visitor(world, target.user) as opened:
        yield opened


# --- strangers -------------------------------------------------------------------------------------------


STRANGERS: tuple[dict[str, str], ...] = (
    {"origin": "http://evil.example"},
    {"origin": "null"},
    {"origin": ""},
    {"origin": "http://[::1"},
    {"origin": f"{HOST}.evil.example"},
    {"origin": f"{HOST}@evil.example"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
)


@each_form
async def test_forms_of_other_sites_are_refused(client, world, path, form):
    """With all origins at once: to compare the whole database takes longer than to ask."""
    before = world.db.serialize("main")
    for headers in STRANGERS:
        answer = await client.post(path, data=form, headers=headers)
        assert answer.status_code == 403, headers
        assert "another site" in answer.text, headers
    assert world.db.serialize("main") == before


@each_form
async def test_the_same_forms_work_from_the_site_itself(client, world, path, form):
    """So the refusals above are for the reason they give."""
    before = world.db.serialize("main")
    assert (await client.post(path, data=form, headers={"sec-fetch-site": "same-origin"})).status_code == 303
    assert world.db.serialize("main") != before


@each_form
@pytest.mark.parametrize("referer", ["http://[::1", "//", "\\", "", "about:blank", "http://evil.example/account"])
async def test_a_referer_is_never_trusted(target, world, path, form, referer):
    async with visitor(world) as guest:
        answer = await guest.post(path, data=form, headers={"referer": referer})
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/") and not answer.headers["location"].startswith("//")


# --- nonsense --------------------------------------------------------------------------------------------


@each_site
async def test_forms_have_an_end(client, world, target):
    path, form = target.forms[0]

    async def endless() -> AsyncIterator[bytes]:
        yield b"a=b"

    for size in (LONGEST_BODY, 1_000_000):
        assert (await client.post(path, data={**form, target.long_field: "x" * size})).status_code == 413
    assert (await client.post(path, content=endless())).status_code == 413
    assert (await client.post(path, data={f"field{i}": "x" for i in range(300)})).status_code == 400
    upload = await client.post(path, files={target.long_field: ("a.txt", b"hello")})
    assert upload.status_code in (400, 422)
    assert content(world) == []


@each_site
async def test_other_methods_are_refused_in_words(client, world, target):
    before = world.db.serialize("main")
    for path, method in [(path, "GET") for path, _ in target.forms] + [("/", "PUT"), ("/", "DELETE"), ("/", "PATCH")]:
        answer = await client.request(method, path)
        assert answer.status_code in (200, 405), path
        if answer.status_code == 405:
            assert "Not possible here" in answer.text
    assert (await client.request("PROPFIND", "/")).status_code == 405
    assert world.db.serialize("main") == before


@each_site
@pytest.mark.parametrize(
    "path",
    [
        "/%00",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/static/x/../app.py",
        "/static/000000000000/web.css",
        "/" + "a" * 5000,
    ],
)
async def test_strange_addresses_lead_nowhere(client, target, path):
    answer = await client.get(path)
    assert answer.status_code == 404
    assert "Page not found" in answer.text


@each_site
async def test_strange_cookies_are_nobody(world, target):
    name = {
        "shop": "tallybrook_session",
        "home": "doorstep_session",
        "admin": "backoffice_session",
        "forum": "porchlight_session",
    }[target.site.name]
    front = "/login" if target is ADMIN else "/"
    async with visitor(world) as guest:
        plain = (await guest.get(front)).text
        for value in ("x", "' OR 1=1 --", "a" * 4000, '"; drop', "%00"):
            answer = await guest.get(front, headers={"cookie": f"{name}={value}; {name}=y"})
            assert (answer.status_code, answer.text) == (200, plain)


WILD = st.text(max_size=60) | st.sampled_from(
    ["'; DROP TABLE orders; --", "{{7*7}}", "\x00", "🦊" * 20, "-1", "9" * 25, "<script>alert(1)</script>"]
)
NAMES = (
    "product_id",
    "quantity",
    "email",
    "name",
    "message",
    "street",
    "region",
    "item_id",
    "text",
    "comment",
    "value",
    "action",
)


entered = given(
    case=st.sampled_from([(target, path) for target in TARGETS for path, _ in target.forms]),
    values=st.lists(WILD, min_size=len(NAMES), max_size=len(NAMES)),
)


@entered
@settings(max_examples=20)
async def test_wild_entries_never_break_a_form(case, values):
    await enter(case, values)


@pytest.mark.slow
@entered
@settings(max_examples=300)
async def test_many_wild_entries_never_break_a_form(case, values):
    await enter(case, values)


async def enter(case: tuple[Target, str], values: list[str]) -> None:
    target, path = case
    world = fresh(target.site)
    try:
        async with visitor(world, NORA if target is SHOP else target.user) as client:
            form = {name: value.encode(errors="replace").decode() for name, value in zip(NAMES, values, strict=True)}
            answer = await client.post(path, data=form)
            assert answer.status_code in (303, 400, 403, 404, 409, 413, 422)
            for page in target.pages:
                shown = await client.get(page)
                assert shown.status_code in (200, 303)
                assert "<script>alert" not in shown.text
    finally:
        world.close()
