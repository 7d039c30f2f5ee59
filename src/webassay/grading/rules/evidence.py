"""Makes values storable in findings."""

import json
from typing import Any

from webassay.compare import depth
from webassay.core.record import Json

_KEPT = 4000


def keepable(value: Any) -> Json:
    """The value itself if it is short, storable JSON; otherwise shortened text."""
    if value is None or isinstance(value, bool):
        return value
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False) if depth(value) <= 64 else repr(value)[:_KEPT]
        text.encode("utf-8")
    except (ValueError, TypeError, RecursionError):
        return repr(value)[:_KEPT].encode("utf-8", "replace").decode()
    return value if len(text) <= _KEPT else f"{text[:_KEPT]}…"
