"""The shop as it is built, for each test that changes it."""

import pytest

from tests.sites.shop_visits import MARCUS, NORA
from tests.sites.visitors import fresh, visitor
from webassay.sites import shop


@pytest.fixture
def world():
    opened = fresh(shop.SITE)
    yield opened
    opened.close()


@pytest.fixture
async def guest(world):
    async with visitor(world) as client:
        yield client


@pytest.fixture
async def nora(world):
    async with visitor(world, NORA) as client:
        yield client


@pytest.fixture
async def marcus(world):
    async with visitor(world, MARCUS) as client:
        yield client
