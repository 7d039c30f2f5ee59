"""A small fault bench, really played: what it holds, that it is the same again, and that judges can be scored on it."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from webassay import Workbench, run_sync
from webassay.core.errors import InputError
from webassay.core.trajectory import RowsResult
from webassay.faultbench.generate import LABELS, Player
from webassay.faultbench.journal import JOURNAL
from webassay.faultbench.score import load
from webassay.store import Store
from webassay.workbench import BenchOptions

pytestmark = [pytest.mark.long, pytest.mark.browser, pytest.mark.timeout(900)]

OPTIONS = BenchOptions(
    trajectories=8,
    codes=("2.2", "3.3", "6.1", "7.2"),
    templates=("shop.change-address", "shop.cart-sold-out", "shop.order-weight"),
    workers=2,
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench") / "one"
    return folder, run_sync(Workbench().make_faultbench(folder, OPTIONS))


def test_pairs_of_a_mistake_and_an_honest_run(made):
    folder, bench = made
    _, labels = load(folder)
    assert bench.trajectories == len(labels) == OPTIONS.trajectories
    assert set(bench.codes) == set(OPTIONS.codes)
    assert (bench.seen_by_rules, bench.disagreements) == (bench.rules_agree, ())
    pairs = {}
    for label in labels:
        pairs.setdefault(label.pair, []).append(label)
    for one, other in pairs.values():
        assert one.task_id == other.task_id
        assert sorted([bool(one.code), bool(other.code)]) == [False, True]
        assert one.steps == other.steps
        honest = one if not one.code else other
        assert (honest.outcome, honest.rules, honest.step) == (True, "pass", None)


def test_the_label_is_what_happened(made):
    folder, _ = made
    _, labels = load(folder)
    with Store.open(folder) as store:
        by_id = {trajectory.id: trajectory for _, trajectory in store.trajectories()}
    assert set(by_id) == {label.trajectory_id for label in labels}
    for label in labels:
        run = by_id[label.trajectory_id]
        assert run.agent.name == "player" and not run.agent.settings
        changed = any(rows.counts(change) for rows in run.probed(RowsResult) for change in rows.changes)
        if label.code == "2.2":
            assert json.loads(run.answer)["status"] == "SUCCESS" and not changed
        if label.code == "3.3":
            assert json.loads(run.answer)["results"] == []
        if label.code == "6.1":
            assert changed and label.step < len(run.steps) - 1
        if label.code == "7.2":
            assert "There is no action" in run.steps[label.step].error
            assert label.outcome is True


def started(folder):
    words = ["faultbench", "generate", "-o", str(folder), "-n", str(OPTIONS.trajectories)]
    words += [word for code in OPTIONS.codes for word in ("--code", code)]
    words += [word for name in OPTIONS.templates for word in ("--template", name)]
    return subprocess.Popen([sys.executable, "-m", "webassay", *words], stdout=subprocess.DEVNULL)


def lines(folder):
    file = folder / JOURNAL
    return file.read_bytes().splitlines(keepends=True) if file.exists() else []


def ended_by(process, signal, folder, count):
    """Once so many pairs are over."""
    while len([line for line in lines(folder) if line.endswith(b"\n")]) < 1 + count:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal)
    return process.wait()


@pytest.mark.parametrize(
    ("how", "code"),
    [(signal.SIGKILL, -signal.SIGKILL), pytest.param(signal.SIGINT, 130, marks=pytest.mark.slow)],
    ids=["killed", "interrupted"],
)
def test_a_bench_that_was_ended_goes_on_and_is_the_same(tmp_path, made, how, code, monkeypatch):
    folder, (whole, bench) = tmp_path / "again", made
    assert ended_by(started(folder), how, folder, 1) == code
    kept = [line for line in lines(folder) if line.endswith(b"\n")]
    with (folder / JOURNAL).open("ab") as file:
        file.write(b'{"job": "half a li')
    with pytest.raises(InputError, match="other options"):
        run_sync(Workbench().make_faultbench(folder, replace(OPTIONS, seed=1)))
    assert lines(folder)[: len(kept)] == kept
    played = []

    async def pair(player, job):
        played.append(job.key)
        return await original(player, job)

    original = Player.pair
    monkeypatch.setattr(Player, "pair", pair)
    again = run_sync(Workbench().make_faultbench(folder, replace(OPTIONS, workers=1)))
    assert played and not {json.loads(line)["job"] for line in kept[1:]} & set(played)
    assert again.labels == bench.labels
    assert load(folder)[1] == load(whole)[1]
    assert not (folder / JOURNAL).exists()


def test_a_finished_bench_is_not_made_again(made):
    folder, bench = made
    before = (folder / LABELS).stat().st_mtime_ns
    assert run_sync(Workbench().make_faultbench(folder, OPTIONS)) == bench
    assert (folder / LABELS).stat().st_mtime_ns == before
    with pytest.raises(InputError, match="another fault bench"):
        run_sync(Workbench().make_faultbench(folder, replace(OPTIONS, seed=1)))


def test_judges_are_scored(made, tmp_path):
    folder, _ = made
    _, labels = load(folder)
    perfect = tmp_path / "perfect.jsonl"
    perfect.write_text(
        "".join(
            json.dumps({"trajectory_id": one.trajectory_id, "outcome": one.outcome, "code": one.code, "step": one.step})
            + "\n"
            for one in labels
        )
    )
    listed = Workbench().score_faultbench(folder, [f"perfect={perfect}"])
    rows = {(row[0], row[1]): row for row in listed.sections[0].rows}
    assert rows["perfect", "all"][4].startswith("1.00")
    assert rows["rules", "all"][4].startswith("1.00")
    assert rows["always pass", "all"][5] == "100 %"
    assert ("facts alone", "test") in rows
