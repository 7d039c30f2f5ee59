"""What all records share: frozen, closed to unknown keys, and hashed by content.

The hash is of a canonical JSON text, never of Python objects, so that two machines, two Python
versions and a file read back from disk agree on it.
"""

import hashlib
import json
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, JsonValue

Json = JsonValue


class Record(BaseModel):
    """A value. Two records with the same content are equal, wherever they came from.

    A field with `Field(exclude_if=…)` is left out of the JSON, and so of the hash, where it has its default.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    def content_hash(self) -> str:
        return content_hash(self.model_dump(mode="json"))

    def to_json(self) -> str:
        return self.model_dump_json()

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        return cls.model_validate_json(text)


def canonical_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def content_hash(value: Any) -> str:
    """`sha256:` and 64 hex digits, of the canonical JSON text."""
    # surrogatepass: a lone surrogate in a page's text must not make a trajectory unhashable.
    return "sha256:" + hashlib.sha256(canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()


def blob_hash(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()
