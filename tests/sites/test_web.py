"""The kit's parts: lists, numbers, paths, sessions, static files, headers, error pages."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.exceptions import HTTPException

from tests.sites.visitors import fresh, visitor
from webassay.core.errors import InputError
from webassay.sites import home, shop
from webassay.sites.web.forms import FormFields, safe_path, whole_number
from webassay.sites.web.lists import Paging, one_of, same_list

each_site = pytest.mark.parametrize("site", [home.SITE, shop.SITE], ids=lambda site: site.name)


# --- lists -----------------------------------------------------------------------------------------------


@given(st.integers(1, 50), st.integers(0, 500))
def test_the_pages_hold_every_item_once(size, total):
    pages = Paging.at("1", size, total).pages
    shown = [n for page in range(1, pages + 1) for n in _items(Paging.at(str(page), size, total))]
    assert shown == list(range(1, total + 1))


def _items(paging: Paging) -> range:
    assert paging.skipped == paging.first - 1
    return range(paging.first, paging.last + 1)


@given(st.integers(1, 10**9), st.integers(1, 50), st.integers(0, 500))
def test_beyond_the_end_is_the_last_page(asked, size, total):
    paging = Paging.at(str(asked), size, total)
    assert paging.page == min(asked, paging.pages)


@pytest.mark.parametrize("text", ["", "0", "-1", "x", "1.0", "1_0", "١", "9" * 11, " 1"])
def test_anything_else_is_no_page(text):
    with pytest.raises(HTTPException) as caught:
        Paging.at(text, 10, 100)
    assert caught.value.status_code == 400 and "is not a page number" in caught.value.detail


def test_a_list_with_other_settings_begins_at_its_first_page():
    query = {"q": "a b", "sort": "price", "p": "3"}
    assert same_list(query, sort="name") == "?q=a+b&sort=name"
    assert same_list(query, sort=None) == "?q=a+b"
    assert same_list(query, p=4) == "?q=a+b&sort=price&p=4"


def test_a_setting_is_one_of_the_known():
    assert one_of("sort", "name", ("name", "price")) == "name"
    with pytest.raises(HTTPException, match=r'"x" is not a possible sort order\.'):
        one_of("sort", "x", ("name", "price"))


# --- what is sent ----------------------------------------------------------------------------------------


@given(st.text(max_size=12))
def test_whole_numbers_are_plain_digits(text):
    number = whole_number(text)
    assert number is None or (text.isascii() and text.isdigit() and int(text) == number)


@given(st.text(max_size=20))
def test_a_safe_path_stays_on_the_site(text):
    path = safe_path(text, "/else")
    assert path in (text, "/else")
    assert re.match(r"/(?![/\\])", path) or path == "/"
    assert not re.search(r"[\x00-\x20]", path)


def test_a_form_says_what_is_wrong_with_each_field():
    form = FormFields({"a": " ", "b": "x" * 11, "c": "a\x07b", "d": "one\r\ntwo", "e": "9", "f": "no"})
    form.text("a", "A")
    form.text("b", "B", most=10)
    form.text("c", "C")
    assert form.text("d", "D", lines=True) == "one\ntwo"
    form.number("e", "E", 1, 5)
    form.email("f")
    assert form.errors == {
        "a": "A is required.",
        "b": "B must be at most 10 characters.",
        "c": "C has characters that cannot be used.",
        "e": "E must be a whole number from 1 to 5.",
        "f": "Enter a valid email address, such as name@example.com.",
    }
    with pytest.raises(HTTPException) as caught:
        form.refuse()
    assert caught.value.status_code == 422


# --- every site ------------------------------------------------------------------------------------------


@each_site
async def test_every_answer_has_the_same_headers(site):
    world = fresh(site)
    async with visitor(world) as guest:
        page = (await guest.get("/")).text
        files = re.findall(r'(?:href|src)="(/static/[^"]+)"', page)
        assert any(name.endswith(".css") for name in files)
        for path in ("/", "/nowhere", *files):
            answer = await guest.get(path)
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "same-origin"
            assert "default-src 'self'" in answer.headers["content-security-policy"]
        style = (await guest.get(next(name for name in files if name.endswith(".css")))).text
        assert style.startswith("/* What all sites look like") and style.count(":root") >= 1
    world.close()


@each_site
async def test_an_error_page_says_what_happened_in_both_languages(site):
    world = fresh(site)
    async with visitor(world) as guest:
        page = await guest.get("/nowhere")
        assert page.status_code == 404
        assert "<h1>Page not found</h1>" in page.text and "Skip to content" in page.text
        data = await guest.get("/nowhere", headers={"accept": "application/json"})
        assert (data.status_code, data.json()) == (404, {"error": "Page not found"})
    world.close()


@each_site
async def test_a_page_never_learns_the_real_time(site):
    """Neither from a header, nor from a cookie that ends."""
    world = fresh(site)
    async with visitor(world) as guest:
        answers = [await guest.get("/"), await guest.post("/account/logout"), await guest.get("/nowhere")]
    for answer in answers:
        assert not {"date", "last-modified", "etag"} & set(answer.headers)
        assert "expires" not in answer.headers.get("set-cookie", "") or "1970" in answer.headers["set-cookie"]
    world.close()


@each_site
def test_only_a_known_user_can_be_logged_in(site):
    world = fresh(site)
    with pytest.raises(InputError, match=r"no user|Nobody can log in"):
        site.log_in(world, "nobody")
    assert world.diff() == []
    world.close()
