"""Sums over the pages of a closed ledger: proof in a moment that its rows, trees and indexes are what was written.

Checking every seal and every index of a hundred thousand verdicts takes longer than the report about them. So whoever
closes a sound ledger writes down a checksum of every page but those of records, which have hashes of their own. If all
sums fit, a reader need not look any further. If one does not, or if there are none, nothing follows from that: the
seals are checked, and they tell what is damaged.
"""

import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import apsw
import msgspec

from webassay.core.errors import WebassayError
from webassay.core.files import read_regular, write_whole
from webassay.store.integrity.seals import digest

_OF_RECORDS = ("trajectory_record", "verdict_record")
_LONGEST = 256
"""Pages that share a sum."""
SMALLEST = 16 << 20
"""Bytes: the seals of a smaller ledger are checked in no time."""


class _Sums(msgspec.Struct, array_like=True):
    page_size: int
    file_size: int
    runs: list[tuple[int, int, int]]
    """Adjacent pages: the first, how many, and their sum."""


_decode = msgspec.msgpack.Decoder(_Sums).decode


def place_of(ledger: Path) -> Path:
    return ledger.with_suffix(".sums")


def write_sums(ledger: Path) -> None:
    """The ledger must be closed. If this fails, readers check the seals."""
    if _has_log(ledger) or ledger.stat().st_size < SMALLEST:
        return
    with suppress(OSError, apsw.Error), closing(apsw.Connection(str(ledger), apsw.SQLITE_OPEN_READONLY)) as db:
        size = int(db.pragma("page_size"))
        with _open_pages(ledger) as file:
            runs = [(first, count, _sum(file, size, first, count)) for first, count in _runs(_pages(db))]
        data = msgspec.msgpack.encode(_Sums(size, ledger.stat().st_size, runs))
        write_whole(place_of(ledger), digest(data) + data)


def sums_fit(ledger: Path) -> bool:
    if _has_log(ledger):
        return False
    try:
        data = read_regular(place_of(ledger))
        if digest(data[32:]) != data[:32]:
            return False
        sums = _decode(data[32:])
        with _open_pages(ledger) as file:
            if file.xFileSize() != sums.file_size:
                return False
            return all(_sum(file, sums.page_size, first, count) == found for first, count, found in sums.runs)
    except (OSError, apsw.Error, WebassayError, msgspec.MsgspecError):
        return False


@contextmanager
def _open_pages(ledger: Path) -> Iterator[apsw.VFSFile]:
    """Through SQLite: closing a handle of ours would drop every lock that connections of this process have on it."""
    file = apsw.VFSFile("", str(ledger), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    try:
        yield file
    finally:
        file.xClose()


def _has_log(ledger: Path) -> bool:
    """What counts may be in there, and not in the ledger."""
    logs = (ledger.with_name(f"{ledger.name}{end}") for end in ("-wal", "-journal"))
    return any(log.exists() and log.stat().st_size for log in logs)


def _pages(db: apsw.Connection) -> Iterator[int]:
    yield 1  # the header, and the list of tables
    names = db.execute("SELECT name FROM sqlite_schema WHERE rootpage > 0").fetchall()
    for (name,) in names:
        if name not in _OF_RECORDS:
            yield from (int(page) for (page,) in db.execute("SELECT pageno FROM dbstat WHERE name = ?", (name,)))
    yield from (int(page) for (page,) in db.execute("SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'"))


def _runs(pages: Iterable[int]) -> list[tuple[int, int]]:
    """Adjacent pages together: the first, and how many."""
    runs: list[tuple[int, int]] = []
    for page in sorted(set(pages)):
        first, count = runs[-1] if runs else (page, 0)
        if page == first + count and count < _LONGEST:
            runs[-1:] = [(first, count + 1)]
        else:
            runs.append((page, 1))
    return runs


def _sum(file: apsw.VFSFile, size: int, first: int, count: int) -> int:
    return zlib.crc32(file.xRead(size * count, size * (first - 1)))
