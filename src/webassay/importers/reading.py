"""Reading files that somebody else wrote: bounded, never outside their folder, every text well-formed."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from webassay.core.errors import InputError
from webassay.core.files import read_regular
from webassay.core.interaction import Goal, ResponseProtocol
from webassay.core.text import lines_of, well_formed, well_formed_json
from webassay.core.trajectory import BlobRef, NetworkLog, WritableBlobs

FREE_TEXT = ResponseProtocol(name="free", instructions="")

MAX_FILE = 256 * 1024 * 1024
MAX_PICTURE = 64 * 1024 * 1024
_HEAD = 4000
_PICTURES = (".png", ".jpg", ".jpeg", ".webp")


def printable(path: Path | str) -> str:
    """A path as messages show it; a file name need not be valid text."""
    return well_formed(str(path))


def head_of(path: Path) -> bytes:
    """The first bytes of a regular file: enough to recognize a format, however large the file is."""
    return bytes_of(path, _HEAD, cut=True)


@dataclass(frozen=True, slots=True)
class Source:
    """The folder a trajectory lives in. Nothing outside it is read, whatever names or links its files contain."""

    root: Path

    def has(self, name: str) -> bool:
        return (self.root / name).is_file()

    def file(self, name: str) -> Path:
        """A path named inside a file, resolved; it may not lead out of the folder."""
        try:
            path = (self.root / name).resolve()
            inside = path.is_relative_to(self.root.resolve())
        except (OSError, ValueError, RuntimeError) as error:  # a NUL, a name too long, a circle of links
            problem = f"{printable(name)!r:.300} is not a usable path ({error})."
            raise InputError(f"{printable(self.root)}: {problem}") from None
        if not inside:
            raise InputError(f"{printable(self.root)}: the path {printable(name)!r:.300} leads out of the folder.")
        return path

    def text(self, name: str) -> str:
        path = self.file(name)
        try:
            return bytes_of(path, MAX_FILE).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError(f"{printable(path)}: not UTF-8 text ({error.reason} at byte {error.start}).") from None

    def json(self, name: str) -> Any:
        try:
            return well_formed_json(json.loads(self.text(name)))
        except (ValueError, RecursionError) as error:
            raise InputError(f"{printable(self.root / name)}: not JSON ({error}).") from None

    def object(self, name: str) -> dict[str, Any]:
        value = self.json(name)
        if not isinstance(value, dict):
            raise InputError(f"{printable(self.root / name)}: a JSON object is expected.")
        return value

    def pictures(self, folder: str = ".") -> list[str]:
        """Names of the picture files in a folder, by the first number in each name."""
        place = self.file(folder)
        if not place.is_dir():
            return []
        found = [item.name for item in place.iterdir() if item.suffix.lower() in _PICTURES]
        return [str(Path(folder) / name) for name in sorted(found, key=_first_integer)]

    def picture(self, name: str, blobs: WritableBlobs) -> BlobRef:
        path = self.file(name)
        data = bytes_of(path, MAX_PICTURE)
        kind = media_type_of(data)
        if not kind:
            raise InputError(f"{printable(path)} is not a picture (PNG, JPEG, WebP or GIF).")
        return blobs.write(data, kind)


def har_in(folder: Path, blobs: WritableBlobs) -> NetworkLog | None:
    """The network log beside a trajectory, where there is exactly one."""
    names = [item.name for item in folder.iterdir() if item.suffix == ".har" and item.is_file()]
    return network_log(Source(folder), names[0], blobs)[0] if len(names) == 1 else None


def network_log(source: Source, name: str, blobs: WritableBlobs) -> tuple[NetworkLog, list[dict[str, Any]]]:
    """A HAR file as it is, and its entries."""
    path = source.file(name)
    data = bytes_of(path, MAX_FILE)
    try:
        record = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{printable(path)}: not JSON ({error}).") from None
    log = record.get("log") if isinstance(record, dict) else None
    entries = log.get("entries") if isinstance(log, dict) else None
    if not isinstance(entries, list):
        raise InputError(f"{printable(path)} is not a HAR file: `log.entries` is missing.")
    made = NetworkLog(format="har", blob=blobs.write(data, "application/json"), count=len(entries))
    return made, [whole for entry in entries if isinstance(whole := well_formed_json(entry), dict)]


def bytes_of(path: Path, limit: int, *, cut: bool = False) -> bytes:
    try:
        return read_regular(path, limit, cut=cut, hint="Import the whole folder of the trajectory.")
    except InputError as error:
        raise InputError(printable(error.message), hint=error.hint) from None


def _first_integer(name: str) -> tuple[int, str]:
    found = re.search(r"\d{1,18}", name)
    return (int(found[0]) if found else -1, name)


def by_number(names: Sequence[str], pattern: re.Pattern[str], *, first: int, pages: int) -> list[str | None]:
    """The picture of each page, None where a page has none.

    `pattern` finds the number in a name, and page 0 has the number `first`. Numbers that cannot be those of the pages
    (missing, twice, beyond `pages`, as times of day are) say no more than the order.
    """
    found = [pattern.fullmatch(Path(name).stem) for name in names]
    numbered = {int(each[1]) - first: name for each, name in zip(found, names, strict=True) if each}
    if len(numbered) < len(names) or not all(0 <= page < pages for page in numbered):
        return list(names)
    return [numbered.get(page) for page in range(max(numbered, default=-1) + 1)]


def media_type_of(data: bytes) -> str:
    """By the first bytes; empty if it is not a picture that models accept."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return "image/gif" if data[:4] == b"GIF8" else ""


def json_lines(text: str, place: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """One object a line, with the number of the line; empty lines are skipped."""
    for number, line in enumerate(lines_of(text), 1):
        if not line.strip():
            continue
        try:
            row = well_formed_json(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise InputError(f"{printable(place)}, line {number}: not JSON ({error}).") from None
        if not isinstance(row, dict):
            raise InputError(f"{printable(place)}, line {number}: an object is expected.")
        yield number, row


# --- values ---------------------------------------------------------------------------------------------


def goal(instruction: str, url: str) -> Goal:
    return Goal(instruction=instruction, start_urls=(url,) if url else (), protocol=FREE_TEXT, modality="screenshot")


def required(record: Mapping[str, Any], key: str, where: Path) -> str:
    value = record.get(key)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{printable(where)}: `{key}` must be text and not empty.")
    return value


def optional(record: Mapping[str, Any], *keys: str) -> str:
    """The first of these that says something, as text."""
    values = (record.get(key) for key in keys)
    return next((str(value) for value in values if value not in (None, "", [], {}) and value is not False), "")


def number(record: Mapping[str, Any], key: str) -> float:
    value = record.get(key)
    return float(value) if isinstance(value, int | float) else 0.0


def texts(record: Mapping[str, Any], key: str, where: Path) -> list[str]:
    value = record.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise InputError(f"{printable(where)}: `{key}` must be a list of texts.")
    return ["" if item is None else str(item) for item in value]
