"""One forum for all tests of a file, as new for each; and some of its people."""

import pytest

from tests.sites.forum.visits import INES, JUNIPER, MODERATOR
from tests.sites.visitors import fresh, visitor
from webassay.sites.forum import SITE


@pytest.fixture(scope="module")
def opened():
    world = fresh(SITE)
    yield world
    world.close()


@pytest.fixture
def world(opened):
    opened.reset()
    return opened


@pytest.fixture
async def guest(world):
    async with visitor(world) as client:
        yield client


@pytest.fixture
async def juniper(world):
    async with visitor(world, JUNIPER) as client:
        yield client


@pytest.fixture
async def ines(world):
    async with visitor(world, INES) as client:
        yield client


@pytest.fixture
async def moderator(world):
    async with visitor(world, MODERATOR) as client:
        yield client
