"""Archives that somebody packed: unpacked into a temporary folder, within bounds, and never outside it."""

import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from webassay.core.errors import InputError, boundary
from webassay.core.files import own_prefix
from webassay.importers.reading import Source, printable

MOST_FILES = 200_000
MOST_BYTES = 16 << 30
LARGEST_FILE = 2 << 30
LONGEST_HEADER = 1 << 20
MOST_GROWTH = 200
"""How many times its own size an archive may take, beyond `FREE_GROWTH`: logs that repeat themselves take 20 to 100."""
FREE_GROWTH = 256 << 20
_ENDINGS = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")
_CHUNK = 1 << 20
_BOUNDS = (
    f"The limits are {MOST_BYTES >> 30} GB in all, {LARGEST_FILE >> 30} GB per file, and beyond {FREE_GROWTH >> 20} MB"
    f" {MOST_GROWTH} times the archive's own size. Unpack it yourself if you trust it, and import the folder."
)


def is_archive(path: Path) -> bool:
    return path.is_file() and path.name.lower().endswith(_ENDINGS)


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """A folder with the archive's regular files, called like the archive; gone afterwards."""
    with tempfile.TemporaryDirectory(prefix=own_prefix("import")) as place:
        name = next(path.name[: -len(end)] for end in sorted(_ENDINGS, key=len, reverse=True) if _ends(path, end))
        folder = Path(place) / (name or "archive")
        folder.mkdir()
        with boundary(InputError, f"{printable(path)} cannot be unpacked"):
            (_unzip if _ends(path, ".zip") else _untar)(path, _Room(folder, path))
        yield folder


def _ends(path: Path, ending: str) -> bool:
    return path.name.lower().endswith(ending)


class _Room:
    """What is left of the bounds. Sizes are counted as they come: an archive can lie about them."""

    def __init__(self, folder: Path, archive: Path) -> None:
        self.folder = Source(folder)
        self.archive = archive
        self.files = 0
        self.bytes = 0
        self.most = min(MOST_BYTES, max(FREE_GROWTH, MOST_GROWTH * archive.stat().st_size))

    def expect(self, size: int, total: int) -> None:
        """What the archive itself says of its next file, or of all of them, before anything is unpacked."""
        if size > LARGEST_FILE or total > self.most:
            said = f"{max(size, total):,} bytes in an archive of {self.archive.stat().st_size:,}"
            raise InputError(f"{printable(self.archive)} is too large to unpack: {said}.", hint=_BOUNDS)

    def take(self, name: str, data: IO[bytes]) -> None:
        self.files += 1
        if self.files > MOST_FILES:
            raise InputError(f"{printable(self.archive)} holds more than {MOST_FILES:,} files.")
        place = self.folder.file(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        size = 0
        with place.open("xb") as file:
            while chunk := data.read(_CHUNK):
                size += len(chunk)
                self.bytes += len(chunk)
                self.expect(size, self.bytes)
                if self.bytes % (64 * _CHUNK) < _CHUNK and shutil.disk_usage(place.parent).free < LARGEST_FILE // 4:
                    raise InputError(f"There is not enough disk space to unpack {printable(self.archive)}.")
                file.write(chunk)


def _unzip(path: Path, room: _Room) -> None:
    with zipfile.ZipFile(path) as archive:
        sizes = [entry.file_size for entry in archive.infolist()]
        room.expect(max(sizes, default=0), sum(sizes))
        for entry in archive.infolist():
            if not entry.is_dir():
                with archive.open(entry) as data:
                    room.take(entry.filename, data)


class _Entry(tarfile.TarInfo):
    """Long names and attributes stand before an entry, and are read into memory as a whole."""

    def _refuse_long(self) -> None:
        if self.size > LONGEST_HEADER:
            raise InputError(
                f"An entry's name or attributes take {self.size:,} bytes; the limit is {LONGEST_HEADER:,}."
            )

    def _proc_pax(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        self._refuse_long()
        return super()._proc_pax(archive)  # type: ignore[misc, no-any-return]

    def _proc_gnulong(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        self._refuse_long()
        return super()._proc_gnulong(archive)  # type: ignore[misc, no-any-return]


def _untar(path: Path, room: _Room) -> None:
    """Regular files only: links and devices are not what a trajectory is made of."""
    with tarfile.open(path, tarinfo=_Entry) as archive:
        for entry in archive:
            data = archive.extractfile(entry) if entry.isreg() else None
            if data is not None:
                room.expect(entry.size, room.bytes + entry.size)
                room.take(entry.name, data)
