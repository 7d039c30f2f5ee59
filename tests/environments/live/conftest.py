from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from tests.environments.live.running import StandIn, all_of_them, running
from webassay.browser.devtools.chromium import find_chromium
from webassay.browser.session import Browser
from webassay.core.errors import BrowserError


@pytest.fixture
def sites() -> Iterator[dict[str, StandIn]]:
    found = all_of_them()
    with running(*found.values()):
        yield found


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    try:
        executable = find_chromium()
    except BrowserError as error:
        pytest.skip(str(error))
    async with Browser(executable) as browser:
        yield browser
