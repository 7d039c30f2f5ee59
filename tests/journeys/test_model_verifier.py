"""The verifier over a real socket, with a model that is slow, over its rate, cut off and not always JSON."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.support.judging_samples import prepared
from tests.support.verifier_world import Faults, author, judged_by, many
from webassay.judging.judges.batch import verify_many
from webassay.judging.universal.resources import VerifierResources
from webassay.llm.client import Patience, close, retrying
from webassay.llm.providers import connect
from webassay.llm.replay import Script, replaying
from webassay.store import Store

ROOT = Path(__file__).parents[2]


async def hurry(_seconds):
    await asyncio.sleep(0)


@asynccontextmanager
async def over(server, concurrency):
    model = connect(f"openai:judge@{server.url}", env={})
    patient = retrying(model, Patience(attempts=12, first=0.0, sleep=hurry))
    yield prepared("universal", patient, resources=VerifierResources(limit=asyncio.Semaphore(concurrency)))
    await close(model)


async def test_faults_on_the_wire_lose_nothing_and_change_nothing():
    items = list(many(trajectories=10, frames=12))
    verdicts = []
    async with replaying(Script(author(Faults(every=7)))) as server, over(server, 8) as judge:
        tally = await verify_many(items, judge, sink=verdicts.append, at_once=6)
        asked = len(server.asked)
    assert (tally.judged, tally.faulted) == (10, 0)
    assert Counter(verdict.trajectory_id for verdict in verdicts) == Counter(run.id for run, _ in items)
    assert asked > sum(verdict.aspects["calls"].value for verdict in verdicts), "some calls had to be made again"
    for verdict in verdicts:
        assert judged_by(verdict) == (verdict.trajectory_id.endswith("0"), 1.0 if verdict.status == "pass" else 0.5)
        assert not verdict.replies["degraded"]


@pytest.mark.long
async def test_killed_and_continued_over_the_wire(tmp_path):
    """`kill -9` in the middle; the next run judges what is left, once."""
    async with replaying(Script(author(Faults(every=0, delay=0.01)))) as server:
        program = [sys.executable, "-m", "tests.support.verifier_world", str(tmp_path), server.url, "12"]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "src")))}
        process = await asyncio.create_subprocess_exec(*program, cwd=ROOT, env=env, stdout=subprocess.PIPE)
        for _ in range(3):
            assert await process.stdout.readline(), "the batch ended before it was killed"
        process.send_signal(signal.SIGKILL)
        await process.communicate()
        before = finished(tmp_path)
        assert 3 <= len(before) < 12
        done = await asyncio.to_thread(subprocess.run, program, cwd=ROOT, env=env, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
    after = finished(tmp_path)
    assert len(after) == 12 and set(after.values()) == {1} and set(before) <= set(after)


def finished(path):
    with Store.open(path / "run") as store:
        ids = [run.id for run, _ in many(trajectories=12, frames=6, blobs=store.blobs, write=False)]
        return {id: len(kept) for id in ids if (kept := store.verdicts(id))}


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_two_hundred_long_trajectories_with_faults_in_flat_memory():
    import resource

    verdicts, peaks = [], []

    def sink(verdict):
        verdicts.append((verdict.trajectory_id, verdict.status))
        server.asked.clear()  # the server lives in this process, and its memory is not what is measured
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)

    async with replaying(Script(author(Faults(every=29, stall=30.0)))) as server, over(server, 16) as judge:
        tally = await verify_many(many(trajectories=200, frames=50, side=160), judge, sink=sink, at_once=16)
    assert (tally.judged, tally.faulted) == (200, 0)
    assert len(dict(verdicts)) == 200 and {status for _, status in verdicts} == {"pass", "fail"}
    assert peaks[-1] - peaks[40] < 40, f"from {peaks[40]} to {peaks[-1]} MB"
    assert json.dumps(verdicts)
