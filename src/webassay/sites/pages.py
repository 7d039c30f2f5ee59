"""A database whose pages are shared bytes until they are written.

A world costs the time and the memory of the pages that it reads and writes, not of all that there are.
"""

from collections.abc import Mapping
from itertools import count
from typing import cast

import apsw

_SIZE_AT = slice(16, 18)
_CACHE_KIB = 64 * 1024
"""More than a world of the usual size has: a page is then read once and stays in SQLite's cache."""


class DatabasePages:
    """The content of a database file: shared bytes, and on top of them pages of its own. SQLite reads and writes it
    through the methods whose names begin with x."""

    def __init__(self, shared: bytes, own: Mapping[int, bytes] | None = None, end: int | None = None) -> None:
        size = int.from_bytes(shared[_SIZE_AT], "big")
        self.page_size = 65536 if size == 1 else size
        self.shared = shared
        self._own = dict(own or {})
        self._end = len(shared) if end is None else end

    def copy(self) -> "DatabasePages":
        return DatabasePages(self.shared, self._own, self._end)

    def page(self, number: int) -> bytes:
        """Pages are numbered from 1, as in SQLite. Past the end there is nothing."""
        own = self._own.get(number)
        if own is not None:
            return own
        start = (number - 1) * self.page_size
        return self.shared[start : min(start + self.page_size, self._end)]

    def differing(self, other: "DatabasePages") -> set[int]:
        """The numbers of the pages that are not the same in another state of the same shared bytes."""
        if self.shared is not other.shared:
            raise ValueError("These pages do not have the same origin.")
        last = max(self._end, other._end) // self.page_size
        past_one_end = range(min(self._end, other._end) // self.page_size + 1, last + 1)
        suspects = self._own.keys() | other._own.keys() | set(past_one_end)
        return {number for number in suspects if self.page(number) != other.page(number)}

    def connect(self) -> apsw.Connection:
        """A connection that changes these pages. Only one at a time: none of them looks for the work of others."""
        db = apsw.Connection(self.file_name(), vfs=_VFS.vfs_name)
        db.pragma("locking_mode", "exclusive")
        db.pragma("journal_mode", "memory")
        db.pragma("synchronous", "off")
        db.pragma("cache_size", -_CACHE_KIB)
        return db

    def file_name(self) -> str:
        """A name under which SQLite can open them, once: for ATTACH on a connection to other pages."""
        return _VFS.expect(self)

    # --- what SQLite calls ---

    def xRead(self, amount: int, offset: int) -> bytes:
        own = self._own.get(offset // self.page_size + 1)
        if own is not None:
            start = offset % self.page_size
            return own[start : start + amount]
        return self.shared[offset : min(offset + amount, self._end)]

    def xWrite(self, data: bytes, offset: int) -> None:
        if offset % self.page_size or len(data) != self.page_size:
            raise apsw.IOError(f"SQLite wrote {len(data)} bytes at {offset}, which is not a page.")
        self._own[offset // self.page_size + 1] = data
        self._end = max(self._end, offset + len(data))

    def xTruncate(self, end: int) -> None:
        # What is cut off is blank if the file grows again, whatever the shared bytes hold there.
        for number in range(end // self.page_size + 1, self._end // self.page_size + 1):
            self._own[number] = b""
        self._end = end

    def xFileSize(self) -> int:
        return self._end

    def xSync(self, flags: int) -> None: ...

    def xLock(self, level: int) -> None: ...

    def xUnlock(self, level: int) -> None: ...

    def xCheckReservedLock(self) -> bool:
        return False

    def xFileControl(self, op: int, pointer: int) -> bool:
        return False

    def xSectorSize(self) -> int:
        return self.page_size

    def xDeviceCharacteristics(self) -> int:
        return 0

    def xClose(self) -> None: ...


class _PagesVFS(apsw.VFS):
    vfs_name = "webassay-pages"

    def __init__(self) -> None:
        super().__init__(self.vfs_name, "")
        self._numbers = count(1)
        self._expected: dict[str, DatabasePages] = {}

    def expect(self, pages: DatabasePages) -> str:
        name = f"pages-{next(self._numbers)}"
        self._expected[name] = pages
        return name

    def xOpen(self, name: "str | apsw.URIFilename | None", flags: list[int]) -> apsw.VFSFile:
        if name is None:  # A large sort: a temporary file as usual.
            return super().xOpen(name, flags)
        file = name.filename() if isinstance(name, apsw.URIFilename) else name
        flags[1] = flags[0]
        return cast(apsw.VFSFile, self._expected.pop(file))

    def xFullPathname(self, name: str) -> str:
        return name

    def xAccess(self, pathname: str, flags: int) -> bool:
        return False  # There is never a journal that someone left.

    def xDelete(self, filename: str, syncdir: bool) -> None: ...


_VFS = _PagesVFS()
