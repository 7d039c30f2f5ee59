"""Connections to a ledger: for one writer, for readers beside it, and for readers of what is read-only."""

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

import apsw

from webassay.core.errors import InputError
from webassay.core.files import own_prefix
from webassay.store.failures import read_only_error, translate_errors

_LOCK = ".lock"
_TRIES, _PAUSE = 25, 0.02
"""A reader that looks whether somebody writes holds the lock for a moment: a writer tries for half a second."""


def refuse_name(folder: Path) -> None:
    try:
        str(folder).encode()
    except UnicodeEncodeError:
        raise InputError(
            f"The path {folder} is not UTF-8, and a ledger cannot be opened under such a name.",
            hint="Rename the folder, or give another one.",
        ) from None


def is_empty(folder: Path) -> bool:
    """But for the lock: a process that was killed before it wrote anything leaves that behind."""
    return all(entry.name == _LOCK for entry in folder.iterdir())


def refuse_strange_files(ledger: Path) -> None:
    """A run directory may be somebody else's: its ledger is a regular file in it, and so is what SQLite puts beside."""
    for end in ("", "-wal", "-shm", "-journal"):
        place = ledger.with_name(f"{ledger.name}{end}")
        if place.is_symlink() or (place.exists() and not stat.S_ISREG(place.lstat().st_mode)):
            raise InputError(f"{place} is not a regular file.", hint="Links and pipes in a run directory are not read.")


def connect_to_write(ledger: Path) -> apsw.Connection:
    db = apsw.Connection(str(ledger), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
    db.set_busy_timeout(10_000)
    db.pragma("journal_mode", "wal")
    db.pragma("synchronous", "normal")
    db.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # only now is its log looked at
    return db


def connect_to_read(ledger: Path) -> apsw.Connection:
    db = apsw.Connection(str(ledger), flags=apsw.SQLITE_OPEN_READWRITE)
    db.set_busy_timeout(10_000)
    try:
        db.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        db.close()
        return _connect_without_writing(ledger)
    return db


def _connect_without_writing(ledger: Path) -> apsw.Connection:
    """Beside a ledger SQLite keeps an index of its log, which cannot be made here. Without a log none is needed; with
    one, a copy of both is read."""
    log = ledger.with_name(f"{ledger.name}-wal")
    if not log.exists() or not log.stat().st_size:
        place = quote(os.fsencode(ledger.absolute()))
        return apsw.Connection(f"file:{place}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    with tempfile.TemporaryDirectory(prefix=own_prefix("ledger")) as folder:
        for path in (ledger, log):
            shutil.copyfile(path, Path(folder) / path.name)
        return temporary_copy(apsw.Connection(str(Path(folder) / ledger.name)))


def temporary_copy(db: apsw.Connection) -> apsw.Connection:
    """A copy that goes when it is closed; what does not fit into its cache is kept in a temporary file."""
    copy = apsw.Connection("")
    with copy.backup("main", db, "main") as backup:
        backup.step()
    db.close()
    return copy


def take_lock(folder: Path, *, wait: Callable[[float], object] = time.sleep) -> BinaryIO:
    """Held by the one writer; the system lets go of it when the process dies."""
    if not os.access(folder, os.W_OK):
        raise read_only_error(folder)
    with translate_errors(folder / _LOCK):
        how = os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        lock = os.fdopen(os.open(folder / _LOCK, how, 0o644), "rb")
    for _ in range(_TRIES):
        if _locked(lock, fcntl.LOCK_EX):
            return lock
        wait(_PAUSE)
    lock.close()
    raise InputError(f"Another webassay process is writing to {folder}.", hint="Wait for it, or give another --out.")


def is_being_written(folder: Path) -> bool:
    with contextlib.suppress(OSError), os.fdopen(os.open(folder / _LOCK, os.O_RDONLY | os.O_NONBLOCK), "rb") as lock:
        return not _locked(lock, fcntl.LOCK_SH)
    return False


def is_open_here(ledger: Path) -> bool:
    """Whether a connection of this process has it open."""
    place = str(ledger.resolve())
    for db in apsw.connections():
        with contextlib.suppress(apsw.ConnectionClosedError):  # Another thread may close one meanwhile.
            if db.filename == place:
                return True
    return False


def _locked(lock: BinaryIO, how: int) -> bool:
    try:
        fcntl.flock(lock, how | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
