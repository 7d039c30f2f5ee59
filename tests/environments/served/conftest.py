from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.environments.served.playing import written
from webassay.browser.devtools.chromium import find_chromium
from webassay.browser.session import Browser
from webassay.core.errors import BrowserError


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    try:
        executable = find_chromium()
    except BrowserError as error:
        pytest.skip(str(error))
    async with Browser(executable) as browser:
        yield browser


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """The application that docs/served.md shows."""
    return written("served.md", tmp_path) / "notes"
