"""Settings for every test."""

import os
import signal
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from hypothesis import settings

from webassay.browser.devtools.chromium import find_chromium
from webassay.browser.session import Browser
from webassay.core.errors import BrowserError

# Whatever a test starts finds the worlds that another one built, and the user's own cache stays as it is.
os.environ["XDG_CACHE_HOME"] = str(Path(tempfile.gettempdir()) / "webassay-test-cache")

# A shell that starts the tests in the background has SIGINT ignored, and Python then does not set its handler.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes depends on what else the machine does; timing belongs in the benches.
settings.register_profile("webassay", deadline=None)
settings.load_profile("webassay")

ONE_WORKER_EACH = (
    "tests.browser",
    "tests.contract.test_arena_tasks",
    "tests.journeys.test_faultbench",
    "tests.journeys.test_gym",
    "tests.journeys.test_killed",
    "tests.journeys.test_model_agents",
    "tests.journeys.test_model_arena",
    "tests.journeys.test_plugin",
    "tests.journeys.test_replayed",
    "tests.journeys.test_workbench",
    "tests.sites",
    "tests.analysis.test_episode_page_browser",
)
"""What these set up for a whole module (browsers, servers, a run to compare with) is not worth doing twice."""
ONE_WORKER = "tests.viewer"
"""All of its modules look at one run with one browser."""


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """One Chromium for all tests of a process."""
    try:
        executable = find_chromium()
    except BrowserError as error:
        pytest.skip(str(error))
    async with Browser(executable) as browser:
        yield browser


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.pluginmanager.hasplugin("xdist"):
        return
    for item in items:
        module = item.module.__name__
        if module.startswith(ONE_WORKER):
            item.add_marker(pytest.mark.xdist_group(ONE_WORKER))
        elif module.startswith(ONE_WORKER_EACH):
            item.add_marker(pytest.mark.xdist_group(module))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Versions of pytest and xdist that do not fit each other spread the groups, and only the time shows it."""
    if session.config.getoption("loadgroup", False):
        spread = [item for item in session.items if item.get_closest_marker("xdist_group") and "@" not in item.nodeid]
        if spread:
            raise pytest.UsageError(f"pytest-xdist does not keep groups together: {spread[0].nodeid} has lost its own.")
