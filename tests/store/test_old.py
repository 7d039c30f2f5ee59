"""A run directory made before the ledger had columns: it opens unchanged, moves once, and says what it said."""

import json
import shutil
from pathlib import Path

import apsw
import pytest

from webassay.analysis.numbers.rows import row_of
from webassay.analysis.results.report import summarise
from webassay.core.errors import StoreError
from webassay.core.report import Report
from webassay.core.task import load_tasks
from webassay.core.verdict import Verdict
from webassay.grading.grade import grade
from webassay.store import LEDGER, MIGRATIONS, Store

FIXTURES = Path(__file__).parents[1] / "fixtures"
BROKEN = "oracle/shop.open-cheapest.w0s0.0/0"
"""This unit was answered, then played again with a fault."""


@pytest.fixture
def old(tmp_path) -> Path:
    """Most of its pictures were left out; nothing here looks at them."""
    return Path(shutil.copytree(FIXTURES / "run-v1", tmp_path / "run"))


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def content(store: Store) -> dict[str, object]:
    return {
        "units": list(store.units()),
        "trajectories": list(store.trajectories()),
        "verdicts": [store.verdicts(name, replies=True) for name in store.trajectory_ids()],
        "rows": list(store.rows("rules")),
    }


def decided(verdict: Verdict) -> tuple[object, ...]:
    """Without the words, which may be changed, and the grader's own hash."""
    findings = [(finding.check, finding.status, finding.code) for finding in verdict.findings]
    aspects = {name: aspect.value for name, aspect in verdict.aspects.items()}
    return verdict.status, verdict.fingerprint.key, findings, aspects


def in_version_1(folder: Path) -> list[str]:
    with apsw.Connection(str(folder / LEDGER)) as db:
        return [str(text) for (text,) in db.execute("SELECT record FROM verdict")]


def test_reading_changes_nothing(old):
    before = files(old)
    with Store.open(old) as store:
        found = content(store)
        assert store.setting("offline") == "false"
    assert files(old) == before
    assert [len(found[name]) for name in ("units", "trajectories", "verdicts", "rows")] == [4, 4, 4, 4]
    with Store.open(old) as store:
        assert content(store) == found


def test_writing_moves_it_once_and_loses_nothing(old):
    with Store.open(old) as store:
        found = content(store)
    records = in_version_1(old)
    with Store.open(old, writable=True) as store:
        assert content(store) == found
        kept = [verdict for own in found["verdicts"] for verdict in own]
        assert sorted(kept, key=Verdict.to_json) == sorted(map(Verdict.from_json, records), key=Verdict.to_json)
    with apsw.Connection(str(old / LEDGER)) as db:
        assert [name for (name,) in db.execute("SELECT name FROM migration ORDER BY name")] == [
            step.name for step in MIGRATIONS
        ]
        assert db.execute("SELECT count(*) FROM verdict_record WHERE record LIKE '%Thoughts:%'").get == 0
    after = files(old)
    with Store.open(old) as store:
        assert content(store) == found
    assert files(old) == after


def test_the_attempts_go_on_where_they_were(old):
    with Store.open(old, writable=True) as store:
        assert store.attempts(BROKEN) == 2
        assert store.trajectory(BROKEN).id == f"{BROKEN}/0"
        assert store.count_unfinished() == 0


def test_replies_moved_into_blobs(old):
    with Store.open(old, writable=True) as store:
        judged = list(store.newest_verdicts("agenttrek", replies=True))
        assert len(judged) == 4
        assert all("café" in json.dumps(verdict.replies, ensure_ascii=False) for verdict in judged)
        assert all(verdict.replies == {} for verdict in store.newest_verdicts("agenttrek"))
        assert all(store.has_verdict(v.trajectory_id, v.fingerprint.content_hash()) for v in judged)


@pytest.mark.parametrize("writable", [False, True])
def test_graded_again_it_gets_the_same_verdicts(old, writable):
    tasks = {task.id: task for task in load_tasks((FIXTURES / "run-v1-tasks.json").read_text(), "the fixture")}
    with Store.open(old, writable=writable) as store:
        for unit, trajectory in store.trajectories():
            before = store.verdict(trajectory.id, "rules")
            again = grade(tasks[unit.task_id], trajectory, store.blobs)
            assert decided(again) == decided(before)


def test_its_report_is_the_one_that_was_printed_then(old):
    with Store.open(old) as store:
        report = summarise([row_of(result) for result in store.rows("rules")], title="fx")
    assert report == Report.from_json((FIXTURES / "run-v1-report.json").read_text())


def test_a_ledger_that_cannot_be_moved_is_left_as_it_was(old):
    with apsw.Connection(str(old / LEDGER)) as db:
        db.execute("UPDATE trajectory SET record = '{}' WHERE attempt = 1")
        before = db.execute("SELECT group_concat(record) FROM unit").get
    for writable in (False, True):
        with pytest.raises(StoreError, match="Trajectory"):
            Store.open(old, writable=writable)
    with apsw.Connection(str(old / LEDGER)) as db:
        assert db.execute("SELECT group_concat(record) FROM unit").get == before
