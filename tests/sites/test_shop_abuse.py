"""The shop's forms, each filled in with nonsense in its own fields, sent by the wrong people, or for other people's
things: a clean refusal, nobody else's rows, and nothing about the inside."""

import re
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.sites.shop_visits import ADDRESS, MARCUS, NORA, content, one_id, visitor
from tests.sites.visitors import fresh
from webassay.sites.kit import World
from webassay.sites.shop import SITE

ADDRESS_FIELDS = tuple(ADDRESS)
POSTED: dict[str, tuple[str, ...]] = {
    "/cart/coupon": ("code",),
    "/cart/coupon/remove": ("code",),
    "/cart/add": ("product_id", "quantity", "option_Size", "option_Color"),
    "/cart/update": ("quantity_1", "quantity_99999", "quantity_x"),
    "/cart/remove": ("item_id", "next"),
    "/account/orders/{order}/return": ("quantity_{item}", "quantity_1", "reason", "comment"),
    "/account/orders/{order}/reorder": ("x",),
    "/account/orders/{order}/cancel": ("x",),
    "/account/returns/{back}/withdraw": ("x",),
    "/account/addresses/new": (*ADDRESS_FIELDS, "is_default_billing"),
    "/account/addresses/{address}/edit": ADDRESS_FIELDS,
    "/account/edit": ("first_name", "last_name", "email", "current_password", "password", "confirm"),
    "/account/newsletter": ("subscribed",),
    "/account/register": ("first_name", "last_name", "email", "password", "confirm", "newsletter"),
    "/account/login": ("email", "password"),
    "/newsletter": ("email",),
    "/contact": ("name", "email", "phone", "order_number", "message"),
    "/p/{slug}/review": ("nickname", "title", "text", "rating"),
    "/wishlist/to-cart": ("item_id",),
    "/checkout/shipping": ("address", "method", *ADDRESS_FIELDS, "save"),
    "/checkout/payment": ("payment", "billing"),
    "/checkout/place": ("x",),
}
ASKED: dict[str, tuple[str, ...]] = {
    "/cart": ("state", "method"),
    "/search": ("q", "cat", "price", "sort", "p", "limit", "min", "max"),
    "/search/suggest": ("q",),
    "/search/advanced": (
        "name", "brand", "sku", "description", "min", "max", "price", "in_stock", "sort", "p", "change",
    ),
    "/coupons": ("show", "p"),
    "/account/orders": ("p", "limit"),
    "/account/returns": ("p",),
    "/account/reviews": ("p",),
    "/account/login": ("next",),
    "/p/{slug}": ("reviews",),
    "/p/{slug}/reviews": ("reviews",),
    "/c/home-garden": ("price", "cat", "sort", "p", "limit"),
}  # fmt: skip
WILD = st.text(max_size=60) | st.sampled_from(
    [
        "'; DROP TABLE coupons; --", "{{7*7}}", "\x00", "🦊" * 20, "-1", "0", "1", "9" * 25, "1e9", "٣", "nan", "%",
        "<script>alert(1)</script>", '"><img src=x>', "new", "standard", "TX", "//evil.example", "\\\\evil.example",
        "a@example.com", " ", "x" * 5000,
    ]
)  # fmt: skip
FINE = {200, 303, 400, 403, 404, 409, 413, 422}
INSIDE = re.compile(r"Traceback|[Ss][Qq][Ll]ite|apsw|webassay|starlette|\.py\b|SELECT |password_hash")


def places(world: World) -> dict[str, Any]:
    """Of Nora's: what stands in addresses."""
    nora = one_id(world, NORA)
    order, item = world.db.execute(
        "SELECT o.number, i.id FROM orders AS o JOIN order_items AS i ON i.order_id = o.id WHERE o.customer_id = ?"
        " ORDER BY o.created_at DESC LIMIT 1",
        (nora,),
    ).fetchone() or (None, None)
    return {
        "order": order,
        "item": item,
        "back": world.scalar("SELECT number FROM returns WHERE customer_id = ? ORDER BY id DESC", nora) or "R1",
        "address": world.scalar("SELECT id FROM addresses WHERE customer_id = ?", nora),
        "slug": world.scalar("SELECT slug FROM products ORDER BY id LIMIT 1"),
    }


def owners(world: World) -> set[object]:
    """Whose rows changed."""
    rows = [change.after or change.before or {} for change in content(world)]
    return {row["customer_id"] for row in rows if row.get("customer_id") is not None}


@pytest.fixture(scope="module")
def shared():
    opened = fresh(SITE)
    yield opened
    opened.close()


def entries(names: tuple[str, ...], values: list[str], where: dict[str, Any]) -> dict[str, str]:
    return {
        name.format(**where): value.encode(errors="replace").decode()
        for name, value in zip(names, values, strict=False)
    }


WILD_VALUES = st.lists(WILD, min_size=11, max_size=11)
BRIEFLY = settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(path=st.sampled_from(list(POSTED)), values=WILD_VALUES, member=st.booleans())
@BRIEFLY
async def test_wild_entries_are_taken_or_refused_and_change_nobody_elses_rows(shared, path, values, member):
    shared.reset()
    where = places(shared)
    async with visitor(shared, NORA if member else "") as client:
        answer = await client.post(path.format(**where), data=entries(POSTED[path], values, where))
        assert answer.status_code in FINE - {200}
        assert not INSIDE.search(answer.text)
        assert "<script>alert" not in answer.text and '"><img src=x>' not in answer.text
        location = answer.headers.get("location", "/")
        assert location.startswith("/") and not location.startswith(("//", "/\\"))
        assert (await client.get("/cart")).status_code == 200
    assert owners(shared) <= ({one_id(shared, NORA)} if member else set())


@given(path=st.sampled_from(list(ASKED)), values=WILD_VALUES)
@BRIEFLY
async def test_wild_addresses_are_answered_or_refused_and_change_nothing(shared, path, values):
    shared.reset()
    where = places(shared)
    async with visitor(shared, NORA) as client:
        asked = urlencode(entries(ASKED[path], values, where))
        answer = await client.get(f"{path.format(**where)}?{asked}")
        assert answer.status_code in FINE
        assert not INSIDE.search(answer.text)
        assert "<script>alert" not in answer.text and '"><img src=x>' not in answer.text
    assert content(shared) == []


NO_FORMS = (b"", b"=", b"%", b"code=%ED%A0%80", b"code=%FF%FE&reason=%00", b"&" * 500, b"a" * 3000, b"code=a&code=b")


@pytest.mark.parametrize("path", POSTED)
async def test_bodies_that_are_no_forms_are_refused_cleanly(shared, path):
    shared.reset()
    form = {"content-type": "application/x-www-form-urlencoded"}
    where = places(shared)
    async with visitor(shared, NORA) as client:
        for body in NO_FORMS:
            sized = {**form, "content-length": str(len(body))}
            answer = await client.post(path.format(**where), content=body, headers=sized)
            assert answer.status_code in FINE - {200}, body
            assert not INSIDE.search(answer.text), body
    assert owners(shared) <= {one_id(shared, NORA)}


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/account/orders/{order}/return", {"reason": "Damaged", "quantity_{item}": "1"}),
        ("/account/orders/{order}/reorder", {"x": "1"}),
        ("/account/orders/{order}/cancel", {"x": "1"}),
        ("/account/returns/{back}/withdraw", {"x": "1"}),
        ("/account/addresses/{address}/edit", ADDRESS),
        ("/account/addresses/{address}/delete", {"x": "1"}),
    ],
)
async def test_other_peoples_things_stay_theirs_and_are_not_shown(shared, path, form):
    shared.reset()
    where = places(shared)
    street = shared.scalar("SELECT street FROM addresses WHERE id = ?", where["address"])
    data = {name.format(**where): value for name, value in form.items()}
    async with visitor(shared, MARCUS) as marcus:
        answers = [await marcus.post(path.format(**where), data=data), await marcus.get(path.format(**where))]
    assert answers[0].status_code in (403, 404)
    assert all(answer.status_code in (403, 404, 405) for answer in answers)
    assert not any(NORA in answer.text or street in answer.text for answer in answers)
    assert content(shared) == []


@pytest.mark.parametrize("path", [path for path in POSTED if path.startswith(("/account/orders", "/account/returns"))])
async def test_guests_are_sent_to_the_log_in(shared, path):
    shared.reset()
    async with visitor(shared) as guest:
        answer = await guest.post(path.format(**places(shared)), data={"x": "1"})
    assert (answer.status_code, answer.headers["location"][:14]) == (303, "/account/login")
    assert content(shared) == []
