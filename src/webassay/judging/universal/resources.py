"""What the verifications of one run share."""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

from webassay.judging.record.ocr import PictureReader
from webassay.judging.universal.rubric import FrozenRubric, RubricCache, Rubrics, Validities, ValidityCache


@dataclass(frozen=True)
class VerifierResources:
    limit: asyncio.Semaphore | None = None
    """On concurrent calls to models."""
    rubrics: Rubrics = field(default_factory=RubricCache)
    validities: Validities = field(default_factory=ValidityCache)
    """Whether tasks are valid, by their text alone."""
    rubric: FrozenRubric | None = None
    """Used instead of a generated one. Trajectories of any other task are refused."""
    rubric_model: str = ""
    """Its name, so that a rehearsal finds the rubrics that are kept."""
    outcome_model: str = ""
    """Its name, so that a rehearsal finds the validities that are kept; by default that of the rubrics' model."""
    read_picture: PictureReader | None = None
    """For pages that were recorded without text."""


def reading_once(read: PictureReader | None) -> Callable[[bytes], str] | None:
    """Reading takes seconds, and the same picture is read for several purposes."""
    if read is None:
        return None
    known: dict[bytes, str] = {}

    def once(picture: bytes) -> str:
        key = hashlib.sha256(picture).digest()
        if key not in known:
            known[key] = read(picture)
        return known[key]

    return once
