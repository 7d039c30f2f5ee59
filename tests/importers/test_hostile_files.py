"""Files and folders of others: pipes, devices, links and archives that burst are refused."""

import contextlib
import io
import json
import os
import random
import zipfile
from pathlib import Path

import pytest

from tests.support import samples
from webassay.core.errors import GradingError, InputError, StoreError, WebassayError
from webassay.core.files import clear_abandoned, own_prefix, read_regular
from webassay.core.logs import LogLayout
from webassay.core.trajectory import MemoryBlobs, NetworkLog
from webassay.grading.logs import grade_log
from webassay.grading.network.events import events
from webassay.store import LEDGER, Store
from webassay.workbench import Selection, Workbench

EVENT = json.dumps({
    "type": "resource-snapshot",
    "snapshot": {"request": {"method": "GET", "url": "http://shop.test/", "headers": []},
                 "response": {"status": 200, "headers": [], "content": {}}},
})  # fmt: skip


def archive(data: bytes, how: int = zipfile.ZIP_DEFLATED, name: str = "trace.network") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", how) as made:
        made.writestr(name, data)
    return out.getvalue()


def read(data: bytes) -> list[object]:
    blobs = MemoryBlobs()
    ref = blobs.write(data, "application/octet-stream")
    return list(events(NetworkLog(format="playwright-trace", blob=ref), blobs))


class TestArchives:
    def test_an_ordinary_one_is_read(self):
        lines = (EVENT + "\n").encode() * 1000
        assert len(read(archive(lines))) == 1000
        assert len(read(lines)) == 1000

    def test_one_that_bursts_is_refused_before_it_is_unpacked(self):
        # What it says of itself is a lie that would be noticed; what it really holds is 300 MB.
        with pytest.raises(GradingError, match="would unpack to"):
            read(archive(b" " * 300_000_000))

    def test_one_that_lies_about_its_size_is_refused_too(self):
        data = bytearray(archive(b" " * 30_000_000))
        size = (30_000_000).to_bytes(4, "little")
        small = (1000).to_bytes(4, "little")
        with pytest.raises(GradingError, match="cannot be read"):
            read(bytes(data).replace(size, small))

    @pytest.mark.parametrize("seed", range(60))
    def test_flipped_bits_are_an_error_of_ours(self, seed):
        draw = random.Random(seed)
        how = draw.choice([zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2, zipfile.ZIP_STORED])
        data = bytearray(archive((EVENT + "\n").encode() * 50, how))
        for _ in range(draw.randrange(1, 4)):
            data[draw.randrange(4, len(data))] ^= 1 << draw.randrange(8)
        with contextlib.suppress(GradingError):
            read(bytes(data))

    # An archive holds the time, so its bytes are no name that two workers would agree on.
    @pytest.mark.parametrize(
        "data",
        [b"PK\x03\x04", b"PK\x03\x04" + bytes(100), archive(b"", name="../trace.network")],
        ids=["cut", "zeros", "outside"],
    )
    def test_what_is_no_trace_is_said(self, data):
        with pytest.raises(GradingError, match="cannot be read"):
            read(data)

    def test_a_line_without_end_is_refused(self):
        with pytest.raises(GradingError, match="a line of more than"):
            read(b" " * 70_000_000)


# --- files ----------------------------------------------------------------------------------------------------


def pipe(place: Path) -> Path:
    os.mkfifo(place)
    return place


def device(place: Path) -> Path:
    place.symlink_to("/dev/zero")
    return place


def circle(place: Path) -> Path:
    place.symlink_to(place)
    return place


STRANGE = [pipe, device, circle, lambda place: place.mkdir() or place]


@pytest.mark.parametrize("make", STRANGE)
def test_only_regular_files_are_read(tmp_path, make):
    with pytest.raises(InputError):
        read_regular(make(tmp_path / "given.json"))
    with pytest.raises(InputError, match="does not exist"):
        read_regular(tmp_path / "nothing")
    with pytest.raises(InputError):
        read_regular(Path("a\0b"))


READERS = {
    "tasks": lambda bench, place: bench.tasks(Selection(benchmark=str(place))),
    "goals": lambda bench, place: bench.tasks(Selection(benchmark="open", file=str(place))),
    "webarena": lambda bench, place: bench.tasks(Selection(benchmark="webarena", file=str(place))),
    "verified": lambda bench, place: bench.tasks(Selection(benchmark="webarena-verified", file=str(place))),
    "labels": lambda bench, place: bench.label(place.parent / "run", place, "anna"),
    "import": lambda bench, place: bench.import_trajectories([place], place.parent / "out"),
    "report": lambda bench, place: bench.report([place]),
    "grade": lambda bench, place: list(bench.grade(place)),
    "check": lambda bench, place: bench.check_store(place),
    "repair": lambda bench, place: bench.repair_store(place),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("make", STRANGE[:3])
def test_wherever_a_file_is_read_a_pipe_is_refused(tmp_path, make, reader):
    place = make(tmp_path / "given.json")
    with pytest.raises(WebassayError):
        READERS[reader](Workbench(cache=tmp_path / "cache"), place)


def run_directory(place: Path) -> Path:
    with Store.create(place) as store:
        store.blobs.write(b"a picture", "image/png")
    return place


@pytest.mark.parametrize("name", [LEDGER, f"{LEDGER}-wal", ".lock"])
@pytest.mark.parametrize("make", [pipe, device])
def test_strange_files_in_a_run_directory(tmp_path, name, make):
    run = run_directory(tmp_path / "run")
    (run / name).unlink(missing_ok=True)
    make(run / name)
    for writable in (False, True):
        try:
            Store.open(run, writable=writable).close()
        except (InputError, StoreError):
            continue
        assert name == ".lock"  # nothing is read from it


@pytest.mark.parametrize("make", [pipe, device])
def test_a_blob_that_is_no_file_is_damage(tmp_path, make):
    run = run_directory(tmp_path / "run")
    (place,) = (run / "blobs").glob("*/*")
    place.unlink()
    make(place)
    (found,) = Workbench(cache=tmp_path / "cache").check_store(run)
    assert place.name in found.message


def test_a_link_that_leads_out_of_a_log_folder_is_refused(tmp_path):
    place = tmp_path / "logs" / "107"
    place.mkdir(parents=True)
    (tmp_path / "secret.json").write_text('{"task_type": "RETRIEVE"}')
    (place / "agent_response.json").symlink_to(tmp_path / "secret.json")
    (place / "network.har").write_text('{"log": {"entries": []}}')
    verdict = grade_log(place, samples.task(), LogLayout(bases={}, ports={}))
    assert verdict.status == "fault" and "leads out" in verdict.findings[0].message
    (place / "agent_response.json").unlink()
    os.mkfifo(place / "agent_response.json")
    verdict = grade_log(place, samples.task(), LogLayout(bases={}, ports={}))
    assert verdict.status == "fault" and "not a regular file" in verdict.findings[0].message


# --- what killed processes leave ------------------------------------------------------------------------------


def test_folders_of_the_dead_are_cleared_and_no_others(tmp_path):
    mine = tmp_path / f"{own_prefix('session')}abc"
    dead = tmp_path / f"{own_prefix('profile').rsplit('-', 2)[0]}-{2**22 + 1}-abc"
    elsewhere = tmp_path / f"webassay-profile-1-{2**22 + 1}-abc"
    other = tmp_path / "webassay-profile-notes"
    target = tmp_path / "target"
    for folder in (mine, dead, elsewhere, other, target):
        folder.mkdir()
        (folder / "file").write_text("x")
    link = tmp_path / f"{own_prefix('profile').rsplit('-', 2)[0]}-{2**22 + 1}-link"
    link.symlink_to(target)
    assert clear_abandoned(tmp_path) == 1
    assert not dead.exists()
    assert all((folder / "file").exists() for folder in (mine, elsewhere, other, target))
