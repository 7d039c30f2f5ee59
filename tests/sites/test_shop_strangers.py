"""Forms from other sites, and forms with nonsense in them."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sites.shop_visits import (
    ADDRESS,
    MARCUS,
    NORA,
    content,
    pristine,
    visitor,
)
from webassay.sites.kit import World
from webassay.sites.shop import SITE
from webassay.sites.shop.web import whole_number


@pytest.fixture
def world() -> Iterator[World]:
    opened = World(SITE, 0, pristine())
    yield opened
    opened.close()


# --- strangers -------------------------------------------------------------------------------------------

FORMS = [
    ("/cart/add", {"product_id": "1", "quantity": "1"}),
    ("/cart/clear", {}),
    ("/newsletter", {"email": "a@example.com"}),
    ("/contact", {"name": "a", "email": "a@example.com", "message": "a"}),
    ("/account/newsletter", {"subscribed": "1"}),
    ("/account/addresses/new", ADDRESS),
    ("/wishlist/add", {"product_id": "1"}),
    ("/account/logout", {}),
]


@pytest.mark.parametrize(("path", "form"), FORMS)
@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
async def test_forms_of_other_sites_are_refused(
    world: World, path: str, form: dict[str, str], headers: dict[str, str]
) -> None:
    async with visitor(world, MARCUS) as marcus:
        assert (await marcus.post(path, data=form, headers=headers)).status_code == 403
    assert content(world) == []


async def test_forms_cannot_be_sent_by_a_link_or_without_end(world: World) -> None:
    async with visitor(world, MARCUS) as marcus:
        assert (await marcus.get("/cart/clear")).status_code == 405
        assert (await marcus.post("/contact", data={"message": "x" * 70000})).status_code == 413
        many = await marcus.post("/contact", data={f"field{i}": "x" for i in range(300)})
        assert many.status_code == 400
        upload = await marcus.post("/contact", files={"message": ("a.txt", b"hello")}, data={"name": "a"})
        assert upload.status_code in (400, 422)
    assert content(world) == []


# --- laws ------------------------------------------------------------------------------------------------

WILD = st.text(max_size=60) | st.sampled_from(
    ["'; DROP TABLE orders; --", "{{7*7}}", "\x00", "🦊" * 20, "-1", "9" * 25]
)


@given(path=st.sampled_from([path for path, _ in FORMS]), values=st.lists(WILD, min_size=8, max_size=8))
@settings(max_examples=30, deadline=None)
async def test_wild_entries_never_break_a_form(path: str, values: list[str]) -> None:
    names = ("product_id", "quantity", "email", "name", "message", "street", "region", "item_id")
    world = World(SITE, 0, pristine())
    try:
        async with visitor(world, NORA) as nora:
            form = {name: value.encode(errors="replace").decode() for name, value in zip(names, values, strict=True)}
            answer = await nora.post(path, data=form)
            assert answer.status_code in (303, 400, 403, 404, 409, 413, 422)
            page = await nora.get("/account")
            assert page.status_code in (200, 303)
    finally:
        world.close()


@given(st.text(max_size=12))
def test_whole_numbers_are_plain_digits(text: str) -> None:
    number = whole_number(text)
    assert number is None or (text.isascii() and text.isdigit() and int(text) == number)
