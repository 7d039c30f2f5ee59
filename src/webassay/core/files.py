"""Writing files that other processes may be reading."""

import os
import secrets
from pathlib import Path


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
