"""What is being played right now, beside the ledger: one small file for each episode, and a wish to stop.

The ledger knows an episode when it is over. Until then its runner notes here which page its agent is on. Whoever looks
on may ask the runner to stop: it then begins no other episode. A run directory may be somebody else's, so whatever is
read here is taken for text.
"""

import shutil
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import msgspec

from webassay.core.errors import WebassayError
from webassay.core.files import read_regular, write_whole

FOLDER = "live"
STOP = "stop"
MOST_NOTES = 100
_MOST_TEXT = 2000


class LiveNote(msgspec.Struct, frozen=True):
    """Where one episode is."""

    trajectory: str
    step: int
    url: str = ""
    title: str = ""
    screenshot: str = ""
    """The hash of its picture."""
    at: Annotated[float, msgspec.Meta(ge=0, le=1e11)] = 0.0
    """When it was noted, in seconds since 1970."""

    @property
    def unit(self) -> str:
        return self.trajectory.rpartition("/")[0]


_decode = msgspec.json.Decoder(LiveNote).decode


class LiveNotes:
    """Kept by the one who writes the ledger. Whatever goes wrong here, the run goes on."""

    def __init__(self, run: Path) -> None:
        self._folder = run / FOLDER
        self.clear()
        with suppress(OSError):
            self._folder.mkdir()

    def note(self, trajectory: str, step: int, url: str, title: str, screenshot: str) -> None:
        made = LiveNote(trajectory, step, url[:_MOST_TEXT], title[:_MOST_TEXT], screenshot, time.time())
        with suppress(OSError, WebassayError):
            write_whole(self._place(trajectory), msgspec.json.encode(made))

    def forget(self, trajectory: str) -> None:
        with suppress(OSError):
            self._place(trajectory).unlink(missing_ok=True)

    @property
    def stop_is_wanted(self) -> bool:
        return stop_is_wanted(self._folder.parent)

    def clear(self) -> None:
        if self._folder.is_symlink():
            self._folder.unlink()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _place(self, trajectory: str) -> Path:
        return self._folder / f"{sha256(trajectory.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.json"


def live_notes(run: Path) -> list[LiveNote]:
    """By name. Files that are no notes are passed over."""
    found = []
    for place in sorted((run / FOLDER).glob("*.json"))[:MOST_NOTES]:
        with suppress(OSError, WebassayError, msgspec.MsgspecError):
            found.append(_decode(read_regular(place)))
    return sorted(found, key=lambda note: note.trajectory)


def ask_to_stop(run: Path) -> None:
    """The runner begins no other episode; those that it is playing come to their end."""
    with suppress(FileNotFoundError):
        (run / FOLDER / STOP).touch()


def stop_is_wanted(run: Path) -> bool:
    return (run / FOLDER / STOP).exists()
