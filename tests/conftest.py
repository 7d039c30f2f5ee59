"""Settings for every test."""

import signal

import pytest
from hypothesis import settings

# A shell that starts the tests in the background has SIGINT ignored, and Python then does not set its handler.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes depends on what else the machine does; timing belongs in the benches.
settings.register_profile("webassay", deadline=None)
settings.load_profile("webassay")

ONE_WORKER_EACH = (
    "tests.e2e.test_killed",
    "tests.e2e.test_model_arena",
    "tests.e2e.test_model_agents",
    "tests.browser",
)
"""What these set up for a whole module (browsers, servers, a run to compare with) is not worth doing twice."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        module = item.module.__name__
        if module.startswith(ONE_WORKER_EACH):
            item.add_marker(pytest.mark.xdist_group(module))
