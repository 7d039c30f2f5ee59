"""Who has a ledger open keeps SQLite's locks on it. Closing any handle on the file, or on the index of its log, would
drop all of them at once, and the next process to come would cut the index off under the feet of the writer."""

import contextlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.store.test_damage import fill, play
from webassay.store import LEDGER, Store
from webassay.store.integrity import sums
from webassay.store.integrity.sums import sums_fit

SHARED = (LEDGER, 0x40000002, 510)
IN_USE = (f"{LEDGER}-shm", 128, 1)
"""What SQLite locks for as long as a connection is there."""

FREE = """
import fcntl, sys
name, start, length = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with open(name, "r+b") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, length, start)
    except OSError:
        sys.exit(3)
"""


def is_locked(run: Path, name: str, start: int, length: int) -> bool:
    """As another process sees it."""
    asked = subprocess.run([sys.executable, "-ISc", FREE, run / name, str(start), str(length)], check=False, timeout=60)
    assert asked.returncode in (0, 3)
    return asked.returncode == 3


@pytest.fixture
def killed(tmp_path) -> Path:
    """A run whose writer died: its last episodes are in the log."""
    run = fill(tmp_path / "run")
    with Store.open(run, writable=True) as store:
        play(store, 1)
        return shutil.copytree(run, tmp_path / "killed")


@pytest.mark.parametrize("writable", [True, False])
def test_who_goes_on_after_a_killed_writer_keeps_them(killed, writable):
    with Store.open(killed, writable=writable) as store:
        assert is_locked(killed, *SHARED) and is_locked(killed, *IN_USE)
        assert not store.damage.items


def test_so_does_who_opens_a_ledger_again_in_one_process(killed):
    with contextlib.ExitStack() as opened:
        for _ in range(2):
            opened.enter_context(Store.open(killed))
        Store.open(killed).close()
        assert is_locked(killed, *SHARED) and is_locked(killed, *IN_USE)


def test_a_reader_that_checks_the_sums_leaves_them(tmp_path, monkeypatch):
    monkeypatch.setattr(sums, "SMALLEST", 0)
    run = fill(tmp_path / "run")
    with Store.open(run):
        assert sums_fit(run / LEDGER)
        Store.open(run).close()
        assert is_locked(run, *SHARED)
    assert not is_locked(run, *SHARED)
