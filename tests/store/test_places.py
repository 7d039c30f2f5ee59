"""Where a run directory may be, and who may write to it: what is refused is refused at once, and in words."""

import fcntl
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from webassay.core.errors import InputError, StoreError
from webassay.store import LEDGER, Store
from webassay.store.connections import is_being_written, take_lock
from webassay.store.integrity.repair import check, repair

LATIN_1 = os.fsdecode(b"caf\xe9")


@pytest.mark.parametrize("use", [Store.create, Store.open, check, repair])
def test_a_name_that_is_not_utf_8_is_refused(tmp_path, use):
    Store.create(tmp_path / "run").close()
    place = (tmp_path / "run").rename(tmp_path / LATIN_1)
    with pytest.raises(InputError, match="is not UTF-8"):
        use(place)


def test_no_folder_is_made_under_such_a_name(tmp_path):
    with pytest.raises(InputError, match="is not UTF-8"):
        Store.create(tmp_path / LATIN_1)
    assert not list(tmp_path.iterdir())


def test_a_folder_with_nothing_but_a_lock_is_empty(tmp_path):
    take_lock(tmp_path).close()
    Store.create(tmp_path).close()
    assert (tmp_path / LEDGER).is_file()


# --- one writer -------------------------------------------------------------------------------------------------


@pytest.fixture
def looking(tmp_path):
    """A reader that looks at the lock just now."""
    take_lock(tmp_path).close()
    with (tmp_path / ".lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield lock


def test_one_reader_does_not_take_another_for_a_writer(tmp_path, looking):
    assert not is_being_written(tmp_path)
    fcntl.flock(looking, fcntl.LOCK_EX)
    assert is_being_written(tmp_path)


def test_a_writer_waits_for_a_reader_that_looks(tmp_path, looking):
    waited = []

    def wait(seconds):
        waited.append(seconds)
        fcntl.flock(looking, fcntl.LOCK_UN)

    with take_lock(tmp_path, wait=wait):
        assert is_being_written(tmp_path)
    assert len(waited) == 1


def test_a_writer_gives_up_after_half_a_second(tmp_path):
    waited = []
    with take_lock(tmp_path), pytest.raises(InputError, match="Another webassay process"):
        take_lock(tmp_path, wait=waited.append)
    assert sum(waited) == pytest.approx(0.5)


# --- directories of somebody else's -----------------------------------------------------------------------------


WRITE = """
import os, sys
from pathlib import Path
from webassay.core.errors import StoreError
from webassay.store import Store
from webassay.store.integrity.repair import repair
if os.geteuid() == 0:
    os.setuid(65534)
for write in (lambda run: Store.open(run, writable=True), repair):
    try:
        write(Path(sys.argv[1]))
    except StoreError as error:
        print(error)
"""


@pytest.mark.parametrize("locked_before", [True, False])
def test_who_may_not_write_is_told_to_copy_the_directory(locked_before):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        run = Path(folder) / "run"
        Store.create(run).close()
        (run / ".lock").chmod(0o666)
        if not locked_before:
            (run / ".lock").unlink()
        run.chmod(0o555)
        found = subprocess.run([sys.executable, "-c", WRITE, str(run)], capture_output=True, text=True, check=True)
        run.chmod(0o755)
        said = found.stdout.splitlines()
        assert len(said) == 2
        assert all(line.startswith(f"{run} is read-only. Copy the run directory") for line in said)


def test_a_suggested_command_can_be_pasted(tmp_path):
    run = tmp_path / "my runs"
    Store.create(run).close()
    (run / LEDGER).write_bytes(b"garbage!" * 512)
    with pytest.raises(StoreError, match="is damaged") as error:
        Store.open(run)
    assert f"`webassay store repair '{run}'`" in error.value.hint
