"""Page numbers: whatever is asked for, the pages are a partition of the list."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.exceptions import HTTPException

from webassay.sites.shop.paging import Paging


@given(st.integers(1, 50), st.integers(0, 500))
def test_the_pages_hold_every_item_once(size: int, total: int) -> None:
    pages = Paging.at("1", size, total).pages
    shown = [n for page in range(1, pages + 1) for n in _items(Paging.at(str(page), size, total))]
    assert shown == list(range(1, total + 1))


def _items(paging: Paging) -> range:
    assert paging.skipped == paging.first - 1
    return range(paging.first, paging.last + 1)


@given(st.integers(1, 10**9), st.integers(1, 50), st.integers(0, 500))
def test_beyond_the_end_is_the_last_page(asked: int, size: int, total: int) -> None:
    paging = Paging.at(str(asked), size, total)
    assert paging.page == min(asked, paging.pages)


@pytest.mark.parametrize("text", ["", "0", "-1", "x", "1.0", "1_0", "١", "9" * 11, " 1"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(HTTPException) as caught:
        Paging.at(text, 10, 100)
    assert caught.value.status_code == 400 and "is not a page number" in caught.value.detail
