"""Text read off pictures, for trajectories that come without any. Needs the extra `ocr`; slow (seconds a picture)."""

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

from webassay.core.errors import GradingError, InputError, boundary


def picture_reader() -> Callable[[bytes], str]:
    """For `VerifierResources.read_picture` and `facts`. The model is loaded with the first picture."""
    if importlib.util.find_spec("rapidocr") is None:
        raise InputError("Reading screenshots needs the package rapidocr.", hint="pip install 'webassay[ocr]'")
    engine: Any = None

    def read(picture: bytes) -> str:
        nonlocal engine
        with boundary(GradingError, "reading a screenshot"):
            if engine is None:
                # An optional extra that takes seconds to load.
                engine = importlib.import_module("rapidocr").RapidOCR(params={"Global.log_level": "error"})
            return "\n".join(engine(picture).txts or ())

    return read
