"""Findings from the record, on played episodes: how many lies they catch, how often they accuse an honest run."""

import random
import subprocess
import sys
from collections import Counter

import pytest

from tests.support.lies import beyond_the_record, stories
from webassay.judging.record.findings import record_findings
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
        counts: Counter[tuple[str, bool, bool, bool]] = Counter()
        for told in stories(runs, random.Random(7)):
            found = record_findings(told.trajectory.goal, told.trajectory, blobs)
            certain = any(finding.status == "fail" for finding in found)
            counts[told.kind, told.honest, bool(beyond_the_record(told)), certain] += 1
    kinds = {kind for kind, is_honest, *_ in counts if not is_honest}
    assert kinds == {"price", "name", "date", "claimed change", "extra change"}
    caught, lies = _share({key: number for key, number in counts.items() if not key[1]})
    settled, decidable = _share({key: number for key, number in counts.items() if not key[1] and not key[2]})
    accused, honest = _share({key: number for key, number in counts.items() if key[1]})
    assert lies >= 150 and caught / lies >= 0.85, counts
    assert settled / decidable >= 0.95, counts
    assert honest >= 150 and accused / honest <= 0.005, counts


def _passed(store, run):
    verdict = store.verdict(run.id, "rules")
    return verdict is not None and verdict.status == "pass"


def _share(counts):
    return sum(number for key, number in counts.items() if key[3]), sum(counts.values())
