"""SQLite's write-ahead log, read by ourselves.

SQLite stops at the first frame that does not check and forgets the rest without a word. What a killed run left there is
its newest episodes, so damage has to be told apart from the ordinary end of the log.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import apsw

_HEADER, _FRAME = 32, 24
_MAGIC = (0x377F0682, 0x377F0683)


@dataclass
class Wal:
    page_size: int = 0
    pages: dict[int, bytes] = field(default_factory=dict)
    """By number, as of the last transaction that was committed."""
    size: int = 0
    """Pages of the ledger after that; 0: nothing was committed."""
    frames: int = 0
    damage: str = ""


def read_wal(ledger: Path, expected: int = 0) -> Wal:
    """Every frame, checked; empty if there is no log. `expected`: at least so many frames must be there."""
    try:
        data = _place(ledger, "wal").read_bytes()
    except FileNotFoundError:
        data = b""
    found = _read(data) if data else Wal()
    if not found.damage and found.frames < expected:
        found.damage = f"its end is missing: {expected - found.frames} of {expected} frames"
    return found


def is_all_known(db: apsw.Connection, ledger: Path, expected: int) -> bool:
    """Whether SQLite, which has just opened the ledger, took all of the log. A look at the heads of the frames tells;
    checking the frames themselves takes us long, and is needed only where this says no."""
    try:
        known, _ = db.wal_checkpoint("main", apsw.SQLITE_CHECKPOINT_NOOP)
    except apsw.Error:
        return False
    place = _place(ledger, "wal")
    if not place.exists() or place.stat().st_size <= _HEADER:
        return expected == 0
    with place.open("rb") as log:
        size = int.from_bytes(log.read(_HEADER)[8:12])
        if known <= 0 or known < expected or not 512 <= size <= 65536:
            return False
        log.seek(0)
        salts = log.read(_HEADER)[16:24]
        log.seek(_HEADER + known * (_FRAME + size))
        while head := log.read(_FRAME):
            if _is_of_this_log(head, int.from_bytes(salts[:4]), int.from_bytes(salts[4:])):
                return False
            log.seek(size, 1)
    return True


def _place(ledger: Path, end: str) -> Path:
    return ledger.with_name(f"{ledger.name}-{end}")


def _read(data: bytes) -> Wal:
    if len(data) < _HEADER:
        return Wal(damage="it is cut off")
    magic, _, page_size, _, salt_1, salt_2, *kept = struct.unpack(">8I", data[:_HEADER])
    order = ">" if magic & 1 else "<"
    sums = _checksum(data[:24], (0, 0), order)
    if magic not in _MAGIC or sums != tuple(kept) or page_size < 512:
        return Wal(damage="its header is not what was written")
    found, uncommitted = Wal(page_size), {}
    step = _FRAME + page_size
    for start in range(_HEADER, len(data), step):
        frame = data[start : start + step]
        whole = len(frame) == step
        sums = _checksum(frame[:8] + frame[_FRAME:], sums, order) if whole else sums
        if not whole or struct.unpack(">4I", frame[8:_FRAME]) != (salt_1, salt_2, *sums):
            if any(_is_of_this_log(part, salt_1, salt_2) for part in _frames(data, start, step)):
                found.damage = f"frame {found.frames + 1} is not what was written; what follows it is lost"
            break
        number, size = struct.unpack(">2I", frame[:8])
        uncommitted[number] = frame[_FRAME:]
        found.frames += 1
        if size:
            found.pages.update(uncommitted)
            found.size = size
            uncommitted = {}
    return found


def _frames(data: bytes, start: int, step: int) -> Iterator[bytes]:
    return (data[at : at + _FRAME] for at in range(start, len(data), step))


def _is_of_this_log(frame: bytes, salt_1: int, salt_2: int) -> bool:
    """A log is overwritten from its beginning, with new salts: whatever has the old ones is no loss."""
    if len(frame) < 16:
        return True
    one, two = struct.unpack(">2I", frame[8:16])
    return bool(one == salt_1 or two == salt_2)


def _checksum(data: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    one, two = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data[: len(data) // 4 * 4])
    for even, odd in zip(words[::2], words[1::2], strict=False):
        one = (one + even + two) & 0xFFFFFFFF
        two = (two + odd + one) & 0xFFFFFFFF
    return one, two


def frames_of_index(ledger: Path) -> int:
    """How many frames of the log a killed run left, by SQLite's index of it; none if all of them are in the ledger
    already. Only for a ledger that nobody in this process has open: closing the index drops the locks on it, and then
    the next process to open the ledger cuts it off, which ends whoever is using it."""
    try:
        index = _place(ledger, "shm").read_bytes()[:136]
    except OSError:
        return 0
    if len(index) < 136 or index[:48] != index[48:96] or not index[12]:
        return 0
    (frames,) = struct.unpack("=I", index[16:20])
    (copied,) = struct.unpack("=I", index[96:100])
    return 0 if copied >= frames else int(frames)
