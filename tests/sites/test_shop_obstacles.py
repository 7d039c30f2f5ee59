"""The shop behind obstacles that concern what it is about: a log-in before everything, goods that sell out."""

import httpx
import pytest
import pytest_asyncio

from tests.sites.shop_visits import NORA, one_id, product
from tests.sites.visiting import changed, visit
from tests.sites.visitors import fresh
from tests.support.worlds import CACHE
from webassay.environments.arena import Arena, ArenaStage
from webassay.sites.obstacles import named
from webassay.sites.shop import SITE
from webassay.sites.shop.seeding.customers import PASSWORD
from webassay.sites.shop.seeding.office import PASSWORD as OFFICE_PASSWORD

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def arena():
    async with Arena({"shop": "webassay.sites.shop:SITE"}, cache=CACHE) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def stage(arena):
    async with arena.hold(["shop"], logins={"shop": NORA}) as held:
        yield held


@pytest.fixture(scope="module")
def truth():
    return fresh(SITE)


def nora(stage: ArenaStage) -> httpx.AsyncClient:
    client = visit(stage, "shop")
    client.headers["cookie"] = "; ".join(f"{cookie.name}={cookie.value}" for cookie in stage.cookies)
    return client


# --- the wall --------------------------------------------------------------------------------------------


async def test_a_wall_lets_nobody_in_but_those_who_log_in(stage):
    await stage.obstruct("shop", named(["log-in-wall"], 0))
    async with nora(stage) as client:
        assert (await client.get("/")).status_code == 200, "the start page is still there"
        for path in ("/search?q=lamp&p=2", "/account/register", "/account/orders"):
            away = await client.get(path)
            assert away.status_code == 302
            assert away.headers["location"].startswith("/account/login?next=%2F")
        wall = (await client.get("/search?q=lamp&p=2")).headers["location"]
        assert "Registered Customers" in (await client.get(wall)).text, "an earlier log-in does not count"
        assert (await client.post(wall, data={"email": NORA, "password": "guess"})).status_code == 422
        assert (await client.get("/about")).status_code == 302
        entered = await client.post(wall, data={"email": NORA, "password": PASSWORD})
        assert (entered.status_code, entered.headers["location"]) == (303, "/search?q=lamp&p=2")
        assert (await client.get("/about")).status_code == 200
    assert set(await changed(stage)) <= {"customers"}, "no more than when they were here last"


async def test_the_wall_of_the_back_office_is_its_own_log_in():
    sites = {"shop": "webassay.sites.shop:SITE", "admin": "webassay.sites.admin:SITE"}
    async with Arena(sites, cache=CACHE) as arena, arena.hold(["admin"], logins={"admin": "greta.holm"}) as held:
        await held.obstruct("admin", named(["log-in-wall"], 0))
        async with visit(held, "admin") as client:
            client.headers["cookie"] = "; ".join(f"{cookie.name}={cookie.value}" for cookie in held.cookies)
            assert (await client.get("/")).status_code == 200
            away = await client.get("/orders")
            assert (away.status_code, away.headers["location"]) == (302, "/login?next=%2Forders")
            assert "For the staff" in (await client.get(away.headers["location"])).text
            typed = {"username": "greta.holm", "password": OFFICE_PASSWORD}
            entered = await client.post(away.headers["location"], data=typed)
            assert (entered.status_code, entered.headers["location"]) == (303, "/orders")
            assert (await client.get("/orders")).status_code == 200


async def test_what_a_page_loads_by_itself_is_not_walled_off(stage):
    await stage.obstruct("shop", named(["log-in-wall"], 0))
    async with nora(stage) as client:
        for _ in range(2):
            assert (await client.get("/cart/mini", headers={"sec-fetch-dest": "empty"})).status_code == 200
        assert [(await client.get("/about")).status_code for _ in range(2)] == [200, 302]


# --- sold out --------------------------------------------------------------------------------------------


async def test_what_somebody_reaches_for_sells_out_and_that_is_no_change_of_theirs(stage, truth):
    await stage.obstruct("shop", named(["sold-out"], 0))
    first, second = product(truth), product(truth, place=1)
    async with nora(stage) as client:
        assert "In stock" in (await client.get(f"/p/{first['slug']}")).text
        for _ in range(2):
            answer = await client.post("/cart/add", data={"product_id": first["id"], "quantity": 1})
            assert answer.status_code == 409
            assert "is out of stock" in answer.text
        assert "Out of stock" in (await client.get(f"/p/{first['slug']}")).text
        assert await changed(stage) == {}
        answer = await client.post("/cart/add", data={"product_id": second["id"], "quantity": 1})
        assert answer.status_code == 303, "only once"
    assert await changed(stage) == {"cart_items": 1}


async def test_it_sells_out_before_a_reorder_and_from_the_wish_list(stage, truth):
    number, count = truth.db.execute(
        "SELECT o.number, count(*) FROM orders AS o JOIN order_items AS i ON i.order_id = o.id WHERE o.customer_id = ?"
        " GROUP BY o.id ORDER BY count(*) DESC, o.id LIMIT 1",
        (one_id(truth, NORA),),
    ).fetchone() or ("", 0)
    assert int(str(count)) > 1
    async with nora(stage) as client:
        await stage.obstruct("shop", named(["sold-out"], 0))
        await client.post(f"/account/orders/{number}/reorder", data={"x": "1"})
        assert (await client.get("/cart")).text.count("is out of stock") == count
        assert await changed(stage) == {}


async def test_it_sells_out_before_an_order_is_placed(stage, truth):
    async with nora(stage) as client:
        await client.post("/cart/clear", data={"x": "1"})
        await client.post("/cart/add", data={"product_id": product(truth)["id"], "quantity": 1})
        before = await changed(stage)
        await stage.obstruct("shop", named(["sold-out"], 0))
        await client.get("/checkout/shipping")
        address = truth.scalar("SELECT id FROM addresses WHERE customer_id = ?", one_id(truth, NORA))
        await client.post("/checkout/shipping", data={"address": address, "method": "standard"})
        await client.post("/checkout/payment", data={"payment": "invoice", "billing": "same"})
        refused = await client.post("/checkout/place", data={"x": "1"})
        assert (refused.status_code, "is out of stock" in refused.text) == (409, True)
        assert await changed(stage) == before


async def test_an_event_without_occasion_waits(stage, truth):
    await stage.obstruct("shop", named(["sold-out"], 0))
    async with nora(stage) as client:
        await client.post("/newsletter", data={"email": "ann@example.com"})
        await client.post("/cart/add", data={"product_id": "no number", "quantity": 1})
        answer = await client.post("/cart/add", data={"product_id": product(truth)["id"], "quantity": 1})
        assert answer.status_code == 409


# --- a lost field ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
async def test_the_site_asks_for_a_lost_field_and_keeps_the_others(stage, seed):
    await stage.obstruct("shop", named(["form-loses-field"], seed))
    form = {"name": "Ann Lee", "email": "ann@example.com", "message": "Where is my parcel?"}
    async with nora(stage) as client:
        asked = await client.post("/contact", data=form)
        assert asked.status_code == 422
        assert asked.text.count("is required.") == 1
        assert (form["name"] in asked.text) != (form["message"] in asked.text)
        assert await changed(stage) == {}
        assert (await client.post("/contact", data=form)).status_code == 303
    assert await changed(stage) == {"contact_messages": 1}
