"""`kill -9` of the runner, the site server and the browser in the middle of a run: nothing is lost, nothing changes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.process_tree import command as command_of
from tests.support.process_tree import pids, wait_until_ended
from webassay.store import LEDGER, Store

pytestmark = [pytest.mark.long, pytest.mark.browser]

AGENTS = ("oracle", "naive-fixed-path")
TEMPLATES = ("shop.open-cheapest", "shop.change-address")
SELECTION = ["-n", "1", *(word for name in TEMPLATES for word in ("--template", name))]
DEADLINE = 240
needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes through /proc")


def command(out: Path) -> list[str]:
    agents = [word for agent in AGENTS for word in ("-a", agent)]
    return [sys.executable, "-m", "webassay", "run", *agents, "-o", str(out), *SELECTION, "-w", "1"]


def run(out: Path) -> None:
    done = subprocess.run(command(out), capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert done.returncode == 0, done.stderr


def verdicts(out: Path) -> dict[str, tuple]:
    """Status and findings of every unit, without what is new every time (addresses, attempt numbers)."""
    with Store.open(out) as store:
        found = {}
        for unit in store.units():
            trajectory = store.trajectory(unit.id)
            verdict = store.verdict(trajectory.id, "rules")
            findings = [(f.check, f.status, f.code) for f in verdict.findings]
            found[unit.id] = (trajectory.ending.kind, verdict.status, findings)
        return found


def finished(out: Path) -> int:
    if not (out / LEDGER).exists():
        return 0
    with Store.open(out) as store:
        return store.count_units() - store.count_unfinished()


def start(out: Path) -> subprocess.Popen:
    return subprocess.Popen(command(out), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def wait_for(runner: subprocess.Popen, out: Path, count: int) -> None:
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        if runner.poll() is not None:
            raise AssertionError(f"ended by itself: {runner.stderr.read().decode()}")
        try:
            if finished(out) >= count:
                return
        except Exception:  # noqa: BLE001 - the ledger is being made
            pass
        time.sleep(0.02)
    runner.kill()
    raise AssertionError("nothing was finished in time")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    out = tmp_path_factory.mktemp("undisturbed") / "run"
    run(out)
    return verdicts(out)


def test_an_undisturbed_run_has_every_unit(undisturbed):
    assert len(undisturbed) == 4
    assert {status for name, (_, status, _) in undisturbed.items() if name.startswith("oracle")} == {"pass"}


@needs_proc
def test_the_runner_killed(tmp_path, undisturbed):
    out = tmp_path / "run"
    runner = start(out)
    wait_for(runner, out, 1)
    below = pids(runner.pid)[1:]
    os.kill(runner.pid, signal.SIGKILL)
    runner.wait()
    runner.stderr.close()
    done = finished(out)
    with Store.open(out) as store:
        before = {unit.id: store.attempts(unit.id) for unit in store.units()}
    assert 1 <= done < len(undisturbed)
    wait_until_ended(below)  # The site server and the browser end by themselves when their runner is gone.
    run(out)
    assert verdicts(out) == undisturbed
    with Store.open(out) as store:
        again = [name for name, attempts in before.items() if attempts and store.attempts(name) != attempts]
    assert not again, "what was finished was played again"


@needs_proc
def test_the_site_server_and_then_the_browser_killed(tmp_path, undisturbed):
    out = tmp_path / "run"
    runner = start(out)
    for finished_before, victim in enumerate(("webassay.sites.server", "--headless"), 1):
        wait_for(runner, out, finished_before)
        # The browser's own main process: its children carry a --type.
        below = [pid for pid in pids(runner.pid)[1:] if victim in command_of(pid) and "--type=" not in command_of(pid)]
        assert below
        for pid in below:
            os.kill(pid, signal.SIGKILL)
    _, said = runner.communicate(timeout=DEADLINE)
    assert runner.returncode == 0, said.decode()
    run(out)
    assert verdicts(out) == undisturbed
