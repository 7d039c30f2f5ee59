from pathlib import Path

import pytest

from tests.environments.served.playing import written


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """The application that docs/served.md shows."""
    return written("served.md", tmp_path) / "notes"
