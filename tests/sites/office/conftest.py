"""One back office for all tests of a file, as new for each; its owner; and a customer of the shop beside it."""

import pytest

from tests.sites.office.visits import OWNER
from tests.sites.shop_visits import NORA
from tests.sites.visitors import fresh, visitor
from webassay.sites import admin, shop
from webassay.sites.kit import World


@pytest.fixture(scope="module")
def opened():
    world = fresh(admin.SITE)
    yield world
    world.close()


@pytest.fixture
def world(opened):
    opened.reset()
    return opened


@pytest.fixture
async def owner(world):
    async with visitor(world, OWNER) as client:
        yield client


@pytest.fixture
async def customer(world):
    """In the storefront, on the same database."""
    async with visitor(World(shop.SITE, 0, world.snapshot, beside=world), NORA) as client:
        yield client
