"""What was played of a fault bench that is not finished: a line for every pair, written when it is over.

Whoever starts the same command again reads it, and plays what is missing. A line that was being written when the
process ended is dropped, and its pair is played again.
"""

import json
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from webassay.core.errors import InputError, boundary
from webassay.core.record import Json, Record
from webassay.faultbench.records import Excluded
from webassay.play.work import Played

JOURNAL = "unfinished.jsonl"
_VERSION = 1


class PlayedPair(Record):
    wrong: Played
    honest: Played
    step: int
    """Index of the step in which the mistake was made."""


class _Line(Record):
    job: str
    pair: PlayedPair | None = None
    excluded: Excluded | None = None


class FaultJournal:
    """Open it with `with`. `options`: what decides what the bench is; another bench is not continued."""

    def __init__(self, folder: Path, options: Json) -> None:
        self._file = folder / JOURNAL
        self._head = json.dumps({"version": _VERSION, "options": options}, sort_keys=True)
        self._known: dict[str, PlayedPair | Excluded] = {}
        self._end = 0
        if self._file.exists():
            self._read()

    def _read(self) -> None:
        with self._file.open("rb") as stream:
            lines = (line for line in stream if line.endswith(b"\n"))
            head = next(lines, b"")
            if head and head.decode(errors="replace").strip() != self._head:
                raise InputError(
                    f"{self._file.parent} holds a fault bench begun with other options or by another version.",
                    hint="Give the same options to finish it, or another --out.",
                )
            self._end = len(head)
            with boundary(InputError, f"{self._file} cannot be read (give another --out)"):
                for line in lines:
                    self._end += len(line)
                    found = _Line.from_json(line)
                    if (result := found.pair or found.excluded) is not None:
                        self._known[found.job] = result

    def __enter__(self) -> Self:
        self._stream = self._file.open("ab")
        self._stream.truncate(self._end)
        if not self._end:
            self._append(self._head)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()

    def __len__(self) -> int:
        return len(self._known)

    def get(self, job: str) -> PlayedPair | Excluded | None:
        return self._known.get(job)

    def add(self, job: str, result: PlayedPair | Excluded) -> None:
        if isinstance(result, Excluded):
            line = _Line(job=job, excluded=result)
        else:
            line = _Line(job=job, pair=result)
        self._append(line.to_json())

    def _append(self, text: str) -> None:
        self._stream.write(f"{text}\n".encode())
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def remove(self) -> None:
        """The bench is finished."""
        self._file.unlink(missing_ok=True)
