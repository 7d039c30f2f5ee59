"""Which rows of a site were written in one episode: in order, by which request, at which step.

It is made around the site, in its server process (`sites/touched.py`). The row diff says where an episode ended; this
says how it got there, so that what was changed and changed back is not forgotten.
"""

import zlib
from typing import Any, Literal, Self

import msgspec

LARGEST = 128 * 1024 * 1024
"""Bytes of an unpacked record; more than one can hold that was made by us."""

TOUCHED_TYPE = "application/vnd.webassay.touched+zlib"

Values = dict[str, Any]
"""Column to value. A long text is cut, and says so at its end."""


class TouchedRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A row that one transaction left different from how it found it."""

    table: str
    key: Values
    before: Values | None
    """None: it was not there. Of an updated row, both have the columns that changed; of others, all of them."""
    after: Values | None
    """None: it was deleted. Where `before` and `after` are both empty, the record had no room for values."""

    @property
    def operation(self) -> Literal["insert", "update", "delete"]:
        return "insert" if self.before is None else "delete" if self.after is None else "update"


class TouchingRequest(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A request that wrote something."""

    site: str
    method: str
    path: str
    """With its query."""
    at: float
    """Seconds since the world opened, as in `core.served`."""
    step: int | None = None
    """The step that was carried out last when it arrived; None: before the agent began. A program that drives the
    browser from outside has steps only once they are noticed, so there it is the next one."""
    rows: tuple[TouchedRow, ...] = ()
    more: int = 0
    """Rows for which there was no room."""


class TransientWrite(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What was changed and changed back, in one row."""

    table: str
    key: Values
    pristine: Values | None
    """The columns as they were, and are again; None: there was no such row, and there is none."""
    meanwhile: Values | None
    """What they were last before they were changed back; None: the row was gone."""
    steps: tuple[int, ...] = ()
    """Those at which these columns were written."""
    noticed: str = ""
    """What somebody else will have noticed, in words of the site; empty: nobody."""
    own: bool = False
    """It is the visitor's own affair, such as a cart."""


class TouchedRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    requests: tuple[TouchingRequest, ...] = ()
    transient: tuple[TransientWrite, ...] = ()
    """Those that somebody will have noticed come first."""
    unlisted: int = 0
    """More of them, for which there was no room."""
    columns: dict[str, dict[str, Literal["content", "journal", "telemetry"]]] = {}
    """How the site classes each column of the tables in here."""
    version: Literal[1] = 1

    def by_step(self) -> dict[int | None, list[TouchingRequest]]:
        found: dict[int | None, list[TouchingRequest]] = {}
        for request in self.requests:
            found.setdefault(request.step, []).append(request)
        return found

    def pack(self) -> bytes:
        return zlib.compress(msgspec.json.encode(self))

    @classmethod
    def unpack(cls, data: bytes) -> Self:
        """Raises ValueError or `zlib.error` if it is damaged."""
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(data, LARGEST)
        if not unpacking.eof:
            raise ValueError("the record is incomplete, or too large")
        return msgspec.json.decode(text, type=cls)
