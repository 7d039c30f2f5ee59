"""What the disk and SQLite report, in words that name the file and say what to do."""

import contextlib
import errno
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from webassay.core.errors import StoreError

OnDamage = Callable[[StoreError], None]
"""Told about a row that cannot be used; without it the error is raised."""


@contextlib.contextmanager
def confine(on_damage: OnDamage | None) -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        if on_damage is None:
            raise
        on_damage(error)


@contextlib.contextmanager
def translate_errors(place: Path) -> Iterator[None]:
    try:
        yield
    except apsw.FullError as error:
        raise _disk_full(place) from error
    except _UNREADABLE as error:
        raise structural_error(place, str(error)) from error
    except ValidationError as error:
        raise StoreError(
            f"{place} holds a {error.title} that this version of webassay cannot read: {error.errors()[0]['msg']}.",
            hint="Nothing was changed. It may have been written by another version.",
        ) from error
    except PydanticSerializationError as error:
        raise StoreError(f"A record cannot be written to {place}: {error}.") from error
    except apsw.ReadOnlyError as error:
        raise read_only_error(place) from error
    except apsw.Error as error:
        raise StoreError(f"{place}: {error}.") from error
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise _disk_full(place) from error
        raise StoreError(f"{place}: {error.strerror or error}.") from error


_UNREADABLE = (apsw.NotADBError, apsw.CorruptError, apsw.FormatError, apsw.SQLError, UnicodeDecodeError)
"""SQL of ours that fails does so because the tables are not what they were."""


def structural_error(place: Path, why: str) -> StoreError:
    """Beyond single rows: nothing in the file can be relied on."""
    run = shlex.quote(str(place.parent))
    return StoreError(
        f"{place} is damaged, and SQLite cannot read it: {why}.",
        hint=f"Nothing was changed. `webassay store repair {run}` recovers every intact row.",
    )


def damaged_error(ledger: Path, kind: str, name: object) -> StoreError:
    return StoreError(
        f"{ledger}: {kind} {name} is damaged: it is not what was written.",
        hint=f"Nothing was changed. `webassay store check {shlex.quote(str(ledger.parent))}` lists all damage.",
    )


def unreadable_error(ledger: Path, kind: str, name: object, why: str) -> StoreError:
    return StoreError(
        f"{ledger}: this version of webassay cannot read {kind} {name}: {why}.",
        hint="Nothing was changed. It may have been written by another version.",
    )


def read_only_error(place: Path) -> StoreError:
    return StoreError(
        f"{place} is read-only.", hint="Copy the run directory to a place where you may write, and use the copy."
    )


def _disk_full(place: Path) -> StoreError:
    return StoreError(f"The disk is full: {place}.", hint="Free some space and run the same command again.")
