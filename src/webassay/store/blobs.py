"""Pictures, page trees, network logs and model replies: one file each, named by the hash of its content."""

import contextlib
import errno
import hashlib
import os
import stat
import time
from pathlib import Path
from typing import BinaryIO

from webassay.core.errors import StoreError
from webassay.core.record import blob_hash
from webassay.core.trajectory import BlobRef
from webassay.store.failures import translate_errors

_MOST_REMEMBERED = 200_000

_Identity = tuple[int, int, int, int]
"""Device, inode, size and time of change: as long as these stay the same, so does the file."""


class BlobFolder:
    """A blob is written under a temporary name and renamed, so one that exists is whole. Every file is hashed before
    its content is first handed out; within a process that is paid once per file."""

    def __init__(self, path: Path, *, writable: bool = True) -> None:
        self.path = path
        self._writable = writable
        self._verified: dict[_Identity, str] = {}

    def write(self, data: bytes, media_type: str) -> BlobRef:
        ref = BlobRef(hash=blob_hash(data), media_type=media_type, size=len(data))
        place = self._place(ref)
        if not self._writable:
            raise StoreError(f"{self.path} was opened for reading only.")
        if not self._holds(place, ref):
            with translate_errors(place):
                place.parent.mkdir(parents=True, exist_ok=True)
                temporary = place.with_name(f".{place.name}.{os.getpid()}.{time.monotonic_ns()}")
                try:
                    temporary.write_bytes(data)
                    temporary.replace(place)
                finally:
                    temporary.unlink(missing_ok=True)
        return ref

    def read(self, ref: BlobRef) -> bytes:
        with self.open(ref) as stream, translate_errors(self._place(ref)):
            return stream.read()

    def open(self, ref: BlobRef) -> BinaryIO:
        """The verified content, from its beginning. A real file wherever there is one, so that it can be mapped."""
        place = self._place(ref)
        if not place.exists():
            raise StoreError(f"{place} is missing.", hint="Was the blobs folder copied along?")
        with translate_errors(place), contextlib.ExitStack() as stack:
            stream = stack.enter_context(_open_regular(place))
            if not self._is_sound(stream, ref):
                raise StoreError(f"{place} is damaged: its content does not match its name.")
            stack.pop_all()
            return stream

    def _holds(self, place: Path, ref: BlobRef) -> bool:
        """A damaged file is not kept: whoever has the content writes it again."""
        try:
            with _open_regular(place) as stream:
                return self._is_sound(stream, ref)
        except OSError:
            return False

    def _is_sound(self, stream: BinaryIO, ref: BlobRef) -> bool:
        found = os.fstat(stream.fileno())
        identity = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
        if self._verified.get(identity) == ref.hash:
            return True
        digest = hashlib.sha256()
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
        stream.seek(0)
        if f"sha256:{digest.hexdigest()}" != ref.hash:
            return False
        if len(self._verified) >= _MOST_REMEMBERED:
            self._verified.clear()
        self._verified[identity] = ref.hash
        return True

    def _place(self, ref: BlobRef) -> Path:
        digest = ref.hash.removeprefix("sha256:")
        if len(digest) != 64 or not all(c in "0123456789abcdef" for c in digest):
            raise StoreError(f"{ref.hash!r} is not the name of a blob.")
        return self.path / digest[:2] / digest[2:]


def _open_regular(place: Path) -> BinaryIO:
    """A regular file and no link: a run directory may be somebody else's, and a pipe in it would hold us for ever."""
    stream = os.fdopen(os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC), "rb")
    if stat.S_ISREG(os.fstat(stream.fileno()).st_mode) and not place.parent.is_symlink():
        return stream
    stream.close()
    raise OSError(errno.EINVAL, "not a regular file of this folder")
