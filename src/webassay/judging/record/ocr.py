"""Reads text off screenshots, for trajectories recorded without any. Needs the extra `ocr`; seconds per picture."""

import importlib
import importlib.metadata
import importlib.util
import threading
from dataclasses import dataclass, field
from typing import Any, Protocol

from webassay.core.errors import GradingError, boundary
from webassay.core.trajectory import Trajectory

_PACKAGES = ("rapidocr", "onnxruntime")


class PictureReader(Protocol):
    """Reads the text off a screenshot."""

    @property
    def name(self) -> str:
        """With its version, as part of the fingerprint: another reader finds other words."""
        ...

    def __call__(self, picture: bytes) -> str: ...


def reader() -> PictureReader | None:
    """For `VerifierResources.read_picture`. None if the extra is not installed."""
    if any(importlib.util.find_spec(package) is None for package in _PACKAGES):
        return None
    return _RapidOcr(f"rapidocr {importlib.metadata.version('rapidocr')}")


def lacks_text(trajectory: Trajectory) -> bool:
    """Whether some page was recorded as a picture only, so that a reader would have something to do."""
    pages = [step.seen for step in trajectory.steps]
    if trajectory.last_seen is not None:
        pages.append(trajectory.last_seen)
    return any(page.screenshot and not page.text and not page.tree for page in pages)


@dataclass
class _RapidOcr:
    name: str
    _engine: Any = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, picture: bytes) -> str:
        # Trajectories are read in several threads; the engine is one, and takes seconds to load.
        with self._lock, boundary(GradingError, "reading a screenshot"):
            if self._engine is None:
                self._engine = importlib.import_module("rapidocr").RapidOCR(params={"Global.log_level": "error"})
            return "\n".join(self._engine(picture).txts or ())
