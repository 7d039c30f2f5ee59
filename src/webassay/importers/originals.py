"""The files that a trajectory was read from, kept as blobs, so that it can be given back byte for byte."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from webassay.core.errors import InputError
from webassay.core.trajectory import BlobRef, Blobs, Trajectory, WritableBlobs
from webassay.importers.reading import MAX_FILE, Source, bytes_of, media_type_of, printable

FILES = "files"
"""The key in a trajectory's provenance."""
MOST_FILES = 5000


def keep_files(source: Source, names: Iterable[str], blobs: WritableBlobs) -> dict[str, Any]:
    """Name to blob. Names are those inside the folder, and lead nowhere else."""
    found: dict[str, Any] = {}
    for name in names:
        data = bytes_of(source.file(name), MAX_FILE)
        kind = media_type_of(data) or ("application/json" if name.endswith(".json") else "text/plain")
        found[Path(name).as_posix()] = blobs.write(data, kind).model_dump()
    return found


def all_files(source: Source) -> list[str]:
    """Every regular file below the folder whose name is text; links are left alone."""
    found: list[str] = []
    waiting = [source.root]
    while waiting and len(found) <= MOST_FILES:
        for item in sorted(waiting.pop().iterdir()):
            if item.is_symlink() or not str(item).isprintable():
                continue
            if item.is_dir():
                waiting.append(item)
            elif item.is_file():
                found.append(item.relative_to(source.root).as_posix())
    if len(found) > MOST_FILES:
        raise InputError(
            f"{printable(source.root)} has more than {MOST_FILES} files.", hint="Import its folders one by one."
        )
    return sorted(found)


def write_originals(trajectory: Trajectory, blobs: Blobs, folder: Path) -> bool:
    """False if the trajectory does not come with its files."""
    files = trajectory.provenance.get(FILES)
    if not isinstance(files, Mapping) or not files:
        return False
    write_files(folder, {name: blobs.read(BlobRef.model_validate(ref)) for name, ref in files.items()})
    return True


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Into a new folder. A name that leads out of it is refused: run directories come from others, too."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise InputError(f"{printable(folder)} already exists.", hint="Choose a new folder.") from None
    except OSError as error:
        raise InputError(f"{printable(folder)} cannot be written: {error.strerror}.") from None
    for name, data in files.items():
        path = Source(folder).file(name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        except OSError as error:
            raise InputError(f"{printable(path)} cannot be written: {error.strerror}.") from None


def picture_name(stem: str, ref: BlobRef) -> str:
    ending = {"image/png": "png", "image/webp": "webp", "image/gif": "gif"}.get(ref.media_type, "jpg")
    return f"{stem}.{ending}"
