"""Run directories opened so that damage is found, and what a person is told about it."""

import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from webassay.core.errors import InputError
from webassay.core.progress import OnNotice
from webassay.store import LEDGER, Damage, Store
from webassay.store.integrity.repair import RepairReport, check, repair

__all__ = [
    "Damage",
    "RepairReport",
    "check",
    "damage_notices",
    "extend_run",
    "is_run",
    "open_run",
    "open_runs",
    "remove_empty",
    "repair",
]

MOST_READ = 512_000_000
"""Bytes of records, pictures and logs that are read before numbers are given: a second or two. In a larger run
directory only the rows behind the numbers are checked; `webassay store check` reads everything."""


def is_run(path: Path) -> bool:
    return (path / LEDGER).is_file()


def open_run(run: Path, tell: OnNotice, *, writable: bool = False, thorough: bool | None = None) -> Store:
    """`tell` hears what is damaged, so that nobody gives numbers without saying what they leave out. `thorough`: None
    is as far as a second or two allow."""
    if thorough is None:
        thorough = is_run(run) and _size(run) <= MOST_READ
    store = Store.open(run, writable=writable, thorough=thorough)
    try:
        for said in damage_notices(store):
            tell(said)
    except BaseException:
        store.close()
        raise
    return store


@contextmanager
def open_runs(runs: Mapping[str, Path], tell: OnNotice) -> Iterator[dict[str, Store]]:
    with ExitStack() as stack:
        yield {name: stack.enter_context(open_run(path, tell)) for name, path in runs.items()}


@contextmanager
def extend_run(out: Path) -> Iterator[Store]:
    """A run directory to add to. One that was made for a call that turns out to be wrong goes again."""
    made = [path for path in (out, *out.parents) if not path.exists()]
    store = Store.create(out, thorough=True)
    try:
        with store:
            yield store
    except InputError:
        if made and not store.damage.rows.get("trajectory"):
            shutil.rmtree(out, ignore_errors=True)
            remove_empty(made[1:])
        raise


def remove_empty(folders: Sequence[Path]) -> None:
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


def _size(run: Path) -> int:
    places: Sequence[Path] = [run / LEDGER, *(run / "blobs").glob("??/*")]
    return sum(place.stat().st_size for place in places if place.is_file())


def damage_notices(store: Store, *, played_now: bool = False) -> list[str]:
    """Nothing if everything is whole. `played_now`: whoever asks plays or grades again what is damaged."""
    units = len(store.damage.units)
    others = sum(not damage.unit and not damage.redone for damage in store.damage.items)
    check = f"`webassay store check {shlex.quote(str(store.path))}` says what is wrong."
    said = []
    if units:
        are = "unit is" if units == 1 else "units are"
        again = "it" if units == 1 else "them"
        done = "played or graded again" if played_now else f"left out; `webassay run …` plays {again} again"
        said.append(f"{units} {are} damaged and {done}. {check}")
    if others:
        items = "damaged item affects" if others == 1 else "damaged items affect"
        said.append(f"{others} other {items} no known unit; {check}")
    return said
