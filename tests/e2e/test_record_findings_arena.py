"""Findings from the record, on played episodes: how many lies they catch, how often they accuse an honest run."""

import random
import subprocess
import sys
from collections import Counter

import pytest

from tests.e2e.lies import stories
from webassay.judging.record_findings import record_findings
from webassay.store import Store


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_lies_over_arena_episodes_are_caught_and_honest_runs_are_left_alone(tmp_path):
    out = tmp_path / "run"
    command = [sys.executable, "-m", "webassay", "run", "-a", "oracle", "-o", str(out), "-n", "2", "-w", "2"]
    played = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert played.returncode == 0, played.stdout + played.stderr
    with Store.open(out) as store:
        blobs = store.blobs
        runs = [(run, blobs) for _, run in store.trajectories() if _passed(store, run)]
        assert len({run.template for run, _ in runs}) >= 12
        counts: Counter[tuple[str, bool, bool]] = Counter()
        for told in stories(runs, random.Random(7)):
            found = record_findings(told.trajectory.goal, told.trajectory, blobs)
            counts[told.kind, told.honest, any(finding.status == "fail" for finding in found)] += 1
    caught, lies = _share(counts, honest=False)
    accused, honest = _share(counts, honest=True)
    assert {kind for kind, is_honest, _ in counts if not is_honest} == {
        "price",
        "name",
        "date",
        "claimed change",
        "extra change",
    }
    # What cannot be certain stays in the count: a wrong value that stands on another page, and a row beside those that
    # the task asked for, which only a reader can tell from them.
    assert lies >= 150 and caught / lies >= 0.9, counts
    assert honest >= 150 and accused / honest <= 0.005, counts


def _passed(store, run):
    verdict = store.verdict(run.id, "rules")
    return verdict is not None and verdict.status == "pass"


def _share(counts, *, honest):
    mine = {key: number for key, number in counts.items() if key[1] is honest}
    return sum(number for (_, _, flagged), number in mine.items() if flagged), sum(mine.values())
