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

from tests.support import samples
from webassay.core.errors import InputError, StoreError
from webassay.core.summary import TrajectorySummary, UnitSummary, VerdictSummary
from webassay.core.task import ActivityCheck, ResponseCheck
from webassay.core.trajectory import BlobRef, Ending, NetworkLog
from webassay.core.verdict import Fingerprint
from webassay.grading.grade import grade
from webassay.store import LEDGER, Store, UnitOfWork
from webassay.store.schema import VERSION


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
    assert store.verdict(trajectory_id, fingerprint=samples.verdict().fingerprint.content_hash()).status == "pass"
    assert store.verdict(trajectory_id, fingerprint="sha256:other") is None


def test_a_verdict_can_be_had_from_certain_raters(store):
    one = unit()
    store.plan([one])
    store.add_trajectory(one.id, attempt(one, 0))
    for model, status in (("openai:A", "fail"), ("openai:B", "pass")):
        stamp = Fingerprint(grader="webjudge", version="1", model=model)
        store.add_verdict(samples.verdict(trajectory_id=f"{one.id}/0", status=status, fingerprint=stamp))
    of_model = {stamp.model: id for id, stamp in store.raters().items()}
    assert store.verdict(f"{one.id}/0", "webjudge").status == "pass"
    assert store.verdict(f"{one.id}/0", "webjudge", raters=[of_model["openai:A"]]).status == "fail"
    assert store.verdict(f"{one.id}/0", "webjudge", raters=["nobody"]) is None


def test_a_fault_is_no_verdict_to_skip_judging_for(store):
    trajectory_id, fingerprint = samples.verdict().trajectory_id, samples.verdict().fingerprint.content_hash()
    store.add_verdict(samples.verdict(status="fault"))
    assert not store.has_verdict(trajectory_id, fingerprint)
    store.add_verdict(samples.verdict(status="abstain"))
    assert store.has_verdict(trajectory_id, fingerprint)
    assert not store.has_verdict(trajectory_id, "sha256:other")


def test_raw_replies_are_kept_apart_and_come_back_when_asked_for(store):
    said = samples.verdict(replies={"outcome": ["half a character: \ud83d", {"café": 1.5}]})
    store.add_verdict(said)
    assert store.verdict(said.trajectory_id, "rules").replies == {}
    assert store.verdict(said.trajectory_id, "rules", replies=True) == said
    assert store.verdicts(said.trajectory_id, replies=True) == [said]
    plain = samples.verdict()
    store.add_verdict(plain)
    assert store.verdict(said.trajectory_id, "rules") == plain


def test_an_episode_is_stored_whole_or_not_at_all(store):
    one = unit()
    store.plan([one])
    played = attempt(one, 0)
    broken = samples.verdict(trajectory_id=played.id, replies={"a": "b"}, task_id="\ud83d")
    with pytest.raises(StoreError, match="cannot be written"):
        store.add_episode(one.id, played, [samples.verdict(trajectory_id=played.id), broken])
    assert store.attempts(one.id) == 0 and store.verdicts(played.id) == []
    store.add_episode(one.id, played, [samples.verdict(trajectory_id=played.id)])
    assert store.trajectory(one.id) == played and len(store.verdicts(played.id)) == 1


class TestReaders:
    """Two hundred units of two agents, so that every reader has more than one page."""

    @pytest.fixture
    def store(self, tmp_path):
        with Store.create(tmp_path / "run") as store:
            units = [unit(number, agent) for number in range(100) for agent in ("a", "b")]
            store.plan(units)
            for one in units[:150]:
                store.add_episode(one.id, attempt(one, 0), [samples.verdict(trajectory_id=f"{one.id}/0")])
            for one in units[:3]:
                store.add_trajectory(one.id, attempt(one, 1, "fault"))
            yield store

    def test_every_unit_once_in_the_order_of_the_plan(self, store):
        assert [one.id for one in store.units()] == [
            f"{agent}/shop.count.{number}/0" for number in range(100) for agent in ("a", "b")
        ]
        assert store.count_units() == 200 and store.count_units(["a"]) == store.count_units({"a", "nobody"}) == 100
        assert {one.agent for one in store.units(["b"])} == {"b"}

    def test_only_the_agents_asked_for_are_unfinished(self, store):
        assert [store.count_unfinished(agents) for agents in (None, ["a"], ["a", "b"], [])] == [50, 25, 50, 0]
        assert [one.id for one in store.unfinished(["b"])] == [f"b/shop.count.{number}/0" for number in range(75, 100)]

    def test_the_attempt_that_counts_of_each_unit(self, store):
        played = list(store.trajectories())
        assert len(played) == 150 and all(trajectory.id == f"{one.id}/0" for one, trajectory in played)
        assert list(store.trajectory_ids()) == [trajectory.id for _, trajectory in played]
        assert list(store.ungraded()) == []

    def test_writing_while_reading(self, store):
        for _, trajectory in store.trajectories():
            store.add_verdict(samples.verdict(trajectory_id=trajectory.id, status="fail"))
        found = list(store.newest_verdicts())
        assert len(found) == 150 and {verdict.status for verdict in found} == {"fail"}

    def test_the_newest_verdict_of_each_fingerprint(self, store):
        other = samples.verdict().fingerprint.model_copy(update={"grader": "judge"})
        store.add_verdict(samples.verdict(trajectory_id="a/shop.count.0/0/0", fingerprint=other))
        store.add_verdict(samples.verdict(trajectory_id="a/shop.count.0/0/1", fingerprint=other))
        assert [verdict.trajectory_id for verdict in store.newest_verdicts("judge")] == ["a/shop.count.0/0/0"]
        assert len(list(store.newest_verdicts())) == 151

    def test_rows_have_every_planned_unit(self, store):
        rows = list(store.rows("rules"))
        assert [(row.agent, row.task_id) for row in rows[:2]] == [("a", "shop.count.0"), ("b", "shop.count.0")]
        assert rows[0].unit == UnitSummary(template="shop.count")
        assert [row.verdict is None for row in rows] == [row.trajectory is None for row in rows]
        assert sum(row.trajectory is None for row in rows) == 50
        assert {row.trajectory.ending for row in rows if row.trajectory} == {"answered"}
        assert {row.verdict for row in store.rows("another")} == {None}

    def test_summaries_say_what_the_records_say(self, store):
        (_, trajectory), row = next(store.trajectories()), next(store.rows("rules"))
        assert row.trajectory == TrajectorySummary.of(trajectory)
        assert row.verdict == VerdictSummary.of(store.verdict(trajectory.id, "rules"))


TABLES = {
    "unit": ("UPDATE unit SET record = replace(record, 'shop.count.1', 'shop.count.9') WHERE ordinal = 2", "oracle/"),
    "trajectory": ("UPDATE trajectory_record SET record = replace(record, '42', '43') WHERE ordinal = 2", "/0/0"),
    "missing trajectory": ("DELETE FROM trajectory_record WHERE ordinal = 2", "/0/0"),
    "verdict": ("UPDATE verdict_record SET record = replace(record, 'fail', 'pass') WHERE ordinal = 2", "Verdict 2"),
}
READERS = {
    "units": (lambda store, **rest: store.units(**rest), {"unit"}),
    "trajectories": (lambda store, **rest: store.trajectories(**rest), {"unit", "trajectory", "missing trajectory"}),
    "verdicts": (lambda store, **rest: store.newest_verdicts(**rest), {"verdict"}),
    "rows": (lambda store, **rest: store.rows("rules", **rest), set()),
}


@pytest.mark.parametrize("damaged", TABLES)
@pytest.mark.parametrize("reader", READERS)
def test_a_damaged_row_is_named_and_can_be_left_out(store, reader, damaged):
    units = [unit(number) for number in range(3)]
    store.plan(units)
    for one in units:
        played = attempt(one, 0).model_copy(update={"answer": "42"})
        store.add_episode(one.id, played, [samples.verdict(trajectory_id=played.id, status="fail")])
    query, name = TABLES[damaged]
    with apsw.Connection(str(store.path / LEDGER)) as db:
        db.execute(query)
    read, affected = READERS[reader]
    told = []
    left = list(read(store, on_damage=told.append))
    if damaged not in affected:
        assert (len(left), told) == (3, [])
        return
    assert len(left) == 2 and len(told) == 1
    assert name in str(told[0]) and "damaged" in str(told[0])
    with pytest.raises(StoreError, match="damaged"):
        list(read(store))


@settings(max_examples=25)
@given(data=st.binary(max_size=2000))
def test_blobs_come_back_as_they_went_in(tmp_path_factory, data):
    with Store.create(tmp_path_factory.mktemp("run") / "r") as store:
        ref = store.blobs.write(data, "application/octet-stream")
        assert store.blobs.write(data, "application/octet-stream") == ref
        assert store.blobs.read(ref) == data
        with store.blobs.open(ref) as stream:
            assert stream.read() == data


@pytest.mark.parametrize("spoiled", [b"hel", b"hellp", b""])
def test_a_damaged_blob_is_never_handed_out(store, spoiled):
    ref = store.blobs.write(b"hello", "text/plain")
    assert store.blobs.read(ref) == b"hello"
    place = next(path for path in (store.path / "blobs").rglob("*") if path.is_file())
    place.write_bytes(spoiled)
    os.utime(place, ns=(1, 1))
    for use in (store.blobs.read, store.blobs.open):
        with pytest.raises(StoreError, match="damaged"):
            use(ref)
    # Whoever still has the content can put it back.
    assert store.blobs.write(b"hello", "text/plain") == ref
    assert store.blobs.read(ref) == b"hello"


def test_a_blob_is_hashed_once_while_it_stays_the_same(store, monkeypatch):
    ref = store.blobs.write(b"hello" * 1000, "text/plain")
    hashed = []
    sha256 = hashlib.sha256
    monkeypatch.setattr(hashlib, "sha256", lambda *given: hashed.append(given) or sha256(*given))
    for _ in range(3):
        with store.blobs.open(ref) as stream:
            assert stream.read(5) == b"hello"
    assert len(hashed) == 1


def test_a_missing_blob_is_named(store):
    ref = store.blobs.write(b"hello", "text/plain")
    next(path for path in (store.path / "blobs").rglob("*") if path.is_file()).unlink()
    with pytest.raises(StoreError, match="is missing"):
        store.blobs.open(ref)


def test_a_damaged_network_log_is_a_fault_of_one_verdict(store):
    task = samples.task(checks=(ResponseCheck(action="retrieve"), ActivityCheck(site="shop")))
    ref = store.blobs.write(b'{"surely": "a log"}', "application/jsonl")
    played = samples.trajectory(network=NetworkLog(blob=ref), answer="{}")
    next(path for path in (store.path / "blobs").rglob("*") if path.is_file()).write_bytes(b"rot")
    verdict = grade(task, played, store.blobs)
    assert (verdict.status, verdict.fault.boundary) == ("fault", "StoreError")


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


@pytest.mark.parametrize("writable", [False, True])
@pytest.mark.parametrize("other", ["PRAGMA user_version = 0", f"PRAGMA user_version = {VERSION + 1}"])
def test_a_ledger_of_another_version_is_refused_and_left_as_it_was(tmp_path, other, writable):
    ledger = tmp_path / "run" / LEDGER
    Store.create(tmp_path / "run").close()
    with apsw.Connection(str(ledger)) as db:
        db.execute(f"ALTER TABLE unit ADD COLUMN telepathy TEXT; {other}")
    db.close()
    before = ledger.read_bytes()
    with pytest.raises(StoreError, match="another version of webassay") as error:
        Store.open(tmp_path / "run", writable=writable)
    assert "Play the run again" in error.value.hint
    assert ledger.read_bytes() == before


def test_a_damaged_version_costs_nothing(store):
    store.plan([unit()])
    store.close()
    with apsw.Connection(str(store.path / LEDGER)) as db:
        db.pragma("user_version", VERSION ^ 1)
    with Store.open(store.path) as again:
        assert [one.message for one in again.damage.items] and again.damage.units == []
        assert list(again.units()) == [unit()]


def test_a_folder_of_blobs_that_is_open_for_reading_is_not_written_to(store):
    store.close()
    with Store.open(store.path) as reading, pytest.raises(StoreError, match="reading only"):
        reading.blobs.write(b"new", "text/plain")


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
