from collections.abc import Iterator

import pytest

from tests.environments.live.running import StandIn, all_of_them, running


@pytest.fixture
def sites() -> Iterator[dict[str, StandIn]]:
    found = all_of_them()
    with running(*found.values()):
        yield found
