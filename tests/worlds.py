"""Where tests keep built worlds, so that each is built once on a machine and not once in every process."""

import tempfile
from pathlib import Path

CACHE = Path(tempfile.gettempdir()) / "webassay-test-cache"
