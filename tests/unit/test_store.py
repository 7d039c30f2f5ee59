"""The run directory: what is in it is whole, and what is not is missing, never wrong."""

import errno
import hashlib
import multiprocessing
import os
import signal
import time
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit import samples
from webassay.core.errors import InputError, StoreError
from webassay.core.trajectory import BlobRef, Ending
from webassay.store import LEDGER, Store, UnitOfWork


@pytest.fixture
def store(tmp_path):
    with Store.create(tmp_path / "run") as opened:
        yield opened


def unit(number: int = 0, agent: str = "oracle") -> UnitOfWork:
    return UnitOfWork(agent=agent, task_id=f"shop.count.{number}", metadata={"template": "shop.count"})


def attempt(of: UnitOfWork, number: int, kind: str = "answered"):
    return samples.trajectory(id=f"{of.id}/{number}", task_id=of.task_id, ending=Ending(kind=kind))


def test_resume_is_plan_minus_store(store):
    units = [unit(number) for number in range(3)]
    store.plan(units)
    store.add_trajectory(units[1].id, attempt(units[1], 0))
    assert [left.id for left in store.unfinished()] == [units[0].id, units[2].id]


def test_a_plan_only_grows(store):
    store.plan([unit(0), unit(1)])
    store.plan([unit(1), unit(2)])
    assert [planned.task_id for planned in store.units()] == ["shop.count.0", "shop.count.1", "shop.count.2"]


def test_a_fault_is_tried_again_and_the_good_attempt_counts(store):
    one = unit()
    store.plan([one])
    store.add_trajectory(one.id, attempt(one, 0, "fault"))
    assert list(store.unfinished()) == [one]
    store.add_trajectory(one.id, attempt(one, 1))
    store.add_trajectory(one.id, attempt(one, 2, "fault"))
    assert list(store.unfinished()) == []
    assert store.trajectory(one.id).id == f"{one.id}/1"
    assert store.attempts(one.id) == 3


def test_an_agent_that_crashes_is_finished_not_retried(store):
    one = unit()
    store.plan([one])
    store.add_trajectory(one.id, attempt(one, 0, "agent_crashed"))
    assert list(store.unfinished()) == []


def test_the_newest_verdict_of_a_grader_counts_and_old_ones_stay(store):
    store.add_verdict(samples.verdict(status="fail"))
    store.add_verdict(samples.verdict(status="pass"))
    trajectory_id = samples.verdict().trajectory_id
    assert store.verdict(trajectory_id, "rules").status == "pass"
    assert [found.status for found in store.verdicts(trajectory_id)] == ["fail", "pass"]
    assert store.verdict(trajectory_id, "another") is None
    assert store.has_verdict(trajectory_id, samples.verdict().fingerprint.content_hash())


@settings(max_examples=25, deadline=None)
@given(data=st.binary(max_size=2000))
def test_blobs_come_back_as_they_went_in(tmp_path_factory, data):
    with Store.create(tmp_path_factory.mktemp("run") / "r") as store:
        ref = store.blobs.write(data, "application/octet-stream")
        assert store.blobs.write(data, "application/octet-stream") == ref
        assert store.blobs.read(ref) == data
        with store.blobs.open(ref) as stream:
            assert stream.read() == data


def test_a_damaged_blob_is_never_read_as_a_whole_one(store):
    ref = store.blobs.write(b"hello", "text/plain")
    place = next(path for path in (store.path / "blobs").rglob("*") if path.is_file())
    place.write_bytes(b"hel")
    with pytest.raises(StoreError, match="damaged"):
        store.blobs.read(ref)


@pytest.mark.parametrize("name", ["sha256:../../etc/passwd", "sha256:", "x" * 64, "sha256:" + "g" * 64])
def test_a_blob_name_cannot_lead_out_of_the_folder(store, name):
    with pytest.raises(StoreError, match="not the name of a blob"):
        store.blobs.read(BlobRef(hash=name, media_type="", size=0))


def test_two_writers_are_refused_and_a_reader_is_not(store):
    with pytest.raises(InputError, match="Another webassay process"):
        Store.open(store.path, writable=True)
    with Store.open(store.path) as reader:
        assert list(reader.units()) == []


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("dear reader")
    with pytest.raises(InputError, match="not empty"):
        Store.create(tmp_path)
    with pytest.raises(InputError, match="not a run directory"):
        Store.open(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_corrupt_ledger_is_named_and_not_touched(tmp_path):
    with Store.create(tmp_path / "run") as store:
        store.plan([unit(number) for number in range(200)])
    place = tmp_path / "run" / LEDGER
    spoiled = b"garbage!" * 512 + place.read_bytes()[4096:]
    place.write_bytes(spoiled)
    with pytest.raises(StoreError, match=r"ledger\.sqlite is damaged"):
        Store.open(tmp_path / "run")
    assert place.read_bytes() == spoiled


def test_a_record_of_another_shape_is_a_store_error(store):
    store.plan([unit()])
    with apsw.Connection(str(store.path / LEDGER)) as db:
        spoiled = '{"surprise": 1}'
        db.execute("UPDATE unit SET record = ?, hash = ?", (spoiled, hashlib.sha256(spoiled.encode()).digest()))
    with pytest.raises(StoreError, match="UnitOfWork"):
        list(store.units())


def test_a_ledger_from_the_future_is_refused(tmp_path):
    Store.create(tmp_path / "run").close()
    with apsw.Connection(str(tmp_path / "run" / LEDGER)) as db:
        db.execute("INSERT INTO migration VALUES ('999-telepathy')")
    with pytest.raises(StoreError, match="newer webassay"):
        Store.open(tmp_path / "run")


def test_a_full_disk_is_said_and_nothing_is_lost(tmp_path, monkeypatch):
    with Store.create(tmp_path / "run") as store:
        units = [unit(number) for number in range(400)]
        store.plan(units)
        store._db.pragma("max_page_count", 40)
        with pytest.raises(StoreError, match="The disk is full") as caught:
            for planned in units:
                store.add_trajectory(planned.id, attempt(planned, 0))
        assert "run the same command again" in caught.value.hint
        finished = len(list(store.trajectories()))
        store._db.pragma("max_page_count", 1_000_000)
        assert store.count_unfinished() == 400 - finished

        def no_room(self, data):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(Path, "write_bytes", no_room)
        with pytest.raises(StoreError, match="The disk is full"):
            store.blobs.write(b"a picture", "image/jpeg")
    assert not list((tmp_path / "run" / "blobs").rglob(".*"))


def _write_for_ever(path, ready):
    with Store.create(path) as store:
        store.plan([unit(number) for number in range(10_000)])
        for number, planned in enumerate(store.units()):
            ref = store.blobs.write(os.urandom(200_000), "image/jpeg")
            record = attempt(planned, 0).model_copy(update={"provenance": {"blob": ref.model_dump()}})
            store.add_trajectory(planned.id, record)
            if number == 3:
                ready.set()


@pytest.mark.parametrize("delay", [0.0, 0.013, 0.04, 0.11])
def test_killed_at_any_moment_nothing_half_written_is_read(tmp_path, delay):
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    writer = context.Process(target=_write_for_ever, args=(tmp_path / "run", ready))
    writer.start()
    assert ready.wait(30)
    time.sleep(delay)
    os.kill(writer.pid, signal.SIGKILL)
    writer.join()
    with Store.create(tmp_path / "run") as store:
        finished = list(store.trajectories())
        assert len(finished) >= 4
        for _, trajectory in finished:
            assert len(store.blobs.read(BlobRef.model_validate(trajectory.provenance["blob"]))) == 200_000
        assert store.count_unfinished() == 10_000 - len(finished)
