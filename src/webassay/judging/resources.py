"""What the verifications of one run share."""

import asyncio
from dataclasses import dataclass, field
from typing import Protocol

from webassay.judging.rubric import FrozenRubric, RubricCache


class ReadPicture(Protocol):
    """Reads the text off a screenshot (OCR)."""

    @property
    def name(self) -> str:
        """With its version: it is part of the fingerprint, because another reader finds other words."""
        ...

    def __call__(self, picture: bytes) -> str: ...


@dataclass(frozen=True)
class VerifierResources:
    limit: asyncio.Semaphore | None = None
    """On concurrent calls to models."""
    rubrics: RubricCache = field(default_factory=RubricCache)
    rubric: FrozenRubric | None = None
    """Used instead of a generated one. Trajectories of any other task are refused."""
    read_picture: ReadPicture | None = None
    """For pages that were recorded without text."""
