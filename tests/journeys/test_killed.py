"""`kill -9` of the runner, the site server and the browser in the middle of a run: nothing is lost, nothing changes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from webassay.store import LEDGER, Store

pytestmark = [pytest.mark.long, pytest.mark.browser]

AGENTS = ("oracle", "naive-fixed-path")
TEMPLATES = ("shop.open-cheapest", "shop.change-address", "shop.price-of-nothing")
SELECTION = ["-n", "1", *(word for name in TEMPLATES for word in ("--template", name))]
DEADLINE = 100


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
            found[unit.id] = (
                trajectory.ending.kind,
                verdict.status,
                [(f.check, f.status, f.code) for f in verdict.findings],
            )
        return found


def children(pid: int) -> dict[int, str]:
    """Every process below this one, with its command line."""
    parents, lines = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                lines[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except (OSError, IndexError):
                continue
    below, queue = {}, [pid]
    while queue:
        one = queue.pop()
        for child, parent in parents.items():
            if parent == one and child not in below:
                below[child] = lines[child]
                queue.append(child)
    return below


def finished(out: Path) -> int:
    if not (out / LEDGER).exists():
        return 0
    with Store.open(out) as store:
        return store.count_units() - store.count_unfinished()


def start_and_wait_for_one(out: Path) -> subprocess.Popen:
    runner = subprocess.Popen(command(out), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        if runner.poll() is not None:
            raise AssertionError(f"ended by itself: {runner.stderr.read().decode()}")
        try:
            if finished(out) >= 1:
                return runner
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
    assert len(undisturbed) == 6
    assert {status for name, (_, status, _) in undisturbed.items() if name.startswith("oracle")} == {"pass"}


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes through /proc")
def test_the_runner_killed(tmp_path, undisturbed):
    out = tmp_path / "run"
    runner = start_and_wait_for_one(out)
    below = children(runner.pid)
    os.kill(runner.pid, signal.SIGKILL)
    runner.wait()
    runner.stderr.close()
    done = finished(out)
    with Store.open(out) as store:
        before = {unit.id: store.attempts(unit.id) for unit in store.units()}
    assert 1 <= done < len(undisturbed)
    wait_for_end_of(below)
    run(out)
    assert verdicts(out) == undisturbed
    with Store.open(out) as store:
        again = [name for name, attempts in before.items() if attempts and store.attempts(name) != attempts]
    assert not again, "what was finished was played again"


def wait_for_end_of(processes: dict[int, str]) -> None:
    """The site server and the browser end by themselves when their runner is gone."""
    end = time.monotonic() + 20
    left = set(processes)
    while left and time.monotonic() < end:
        left = {pid for pid in left if Path(f"/proc/{pid}").exists() and "Z" not in _state(pid)}
        time.sleep(0.05)
    assert not left, {pid: processes[pid][:120] for pid in left}


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes through /proc")
@pytest.mark.parametrize("victim", ["webassay.sites.server", "--headless"])
def test_the_site_server_or_the_browser_killed(tmp_path, undisturbed, victim):
    out = tmp_path / "run"
    runner = start_and_wait_for_one(out)
    # The browser's own main process: its children carry a --type.
    below = [pid for pid, line in children(runner.pid).items() if victim in line and "--type=" not in line]
    assert below
    for pid in below:
        os.kill(pid, signal.SIGKILL)
    _, said = runner.communicate(timeout=DEADLINE)
    assert runner.returncode == 0, said.decode()
    run(out)
    assert verdicts(out) == undisturbed
