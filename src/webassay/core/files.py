"""Files that other processes may be reading, that somebody else made, or that a killed process left behind."""

import contextlib
import os
import re
import secrets
import shutil
import stat
import tempfile
from pathlib import Path

from webassay.core.errors import InputError


def write_whole(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Writes the file completely or not at all, and creates its folder if needed.

    The data goes into a temporary file in the same folder, which then replaces `path`: readers see the old file or the
    new one, never a part of either, and two writers cannot mix. On any error the temporary file is removed and `path`
    is as it was.

    `durable` also survives a power failure, after which some file systems have the new name but not the content. It
    costs milliseconds, so it is for files that cannot be made again and are not checked when they are read.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}.part")
    try:
        with part.open("xb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


# --- temporary folders ------------------------------------------------------------------------------------------


def own_prefix(kind: str) -> str:
    """For the name of a temporary folder, so that it says whose it is."""
    return f"webassay-{kind}-{_process_space()}-{os.getpid()}-"


_OWNED = re.compile(r"webassay-[a-z]+-(\d+)-(\d+)-\w+")


def clear_abandoned(place: Path | None = None) -> int:
    """Removes the temporary folders of processes that were killed; returns how many. Only ours, and only where their
    process is known to be gone: processes of another container cannot be seen from here."""
    count = 0
    for folder in (place or Path(tempfile.gettempdir())).glob("webassay-*"):
        owner = _OWNED.fullmatch(folder.name)
        if owner is None or int(owner[1]) != _process_space() or _is_alive(int(owner[2])):
            continue
        with contextlib.suppress(OSError):
            found = folder.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid():
                shutil.rmtree(folder, ignore_errors=True)
                count += 1
    return count


def _process_space() -> int:
    """Within which process numbers mean something; 0 where there is only one such space."""
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return 0


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


# --- files of others --------------------------------------------------------------------------------------------


LARGEST = 256 << 20
"""Bytes of a file that somebody gives us to read whole."""


def read_regular(path: Path, limit: int = LARGEST, *, cut: bool = False, hint: str = "") -> bytes:
    """Refuses pipes and devices, which could block forever or never end. `cut`: only the beginning is wanted."""
    try:
        # Not blocking, and checked on what was opened, so that a file swapped for a pipe cannot hang us.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise InputError(f"{path} is not a regular file.", hint="Pipes, devices and folders are not read.")
            data = file.read(limit if cut else limit + 1)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist.", hint=hint) from None
    except (OSError, ValueError) as error:  # a NUL in a name is a ValueError
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"{path} cannot be read: {why}.", hint=hint) from None
    if len(data) > limit and not cut:
        raise InputError(f"{path} is larger than {limit >> 20} MB.")
    return data


def leads_out(path: Path, root: Path) -> bool:
    """Whether links on the way take it out of the folder that it was given with."""
    try:
        return not path.resolve().is_relative_to(root.resolve())
    except (OSError, ValueError, RuntimeError):  # a circle of links, a NUL
        return True
