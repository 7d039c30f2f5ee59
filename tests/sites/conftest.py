"""The shop as it is built, for each test that changes it."""

from collections.abc import Iterator

import pytest

from tests.sites.visitors import fresh
from webassay.sites import shop
from webassay.sites.kit import World


@pytest.fixture
def world() -> Iterator[World]:
    opened = fresh(shop.SITE)
    yield opened
    opened.close()
