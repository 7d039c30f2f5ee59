"""A large ledger is read by two processes, and the report is the same."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workbench.test_attempts import played
from webassay.core.unit import UnitOfWork
from webassay.store import Store

# In a process of its own: forking the one that runs the tests, which has threads, would not be safe.
PROGRAM = """
import json, os, sys, threading
from pathlib import Path
from webassay.core.errors import StoreError
from webassay.workbench import Workbench, parallel_reading

run, case = Path(sys.argv[1]), sys.argv[2]
parallel_reading.WORTH_A_PROCESS = 1 << 60 if case == "alone" else 0
here = os.getpid()
if case == "another thread":
    threading.Thread(target=threading.Event().wait, daemon=True).start()
taken = []
take_in, open_run = parallel_reading._taken_in, parallel_reading.open_run
def taking_in(store, rater, places):
    taken.append(places)
    if case == "it dies" and os.getpid() != here:
        os._exit(9)
    return take_in(store, rater, places)
def opening(run, tell, thorough):
    if case == "it cannot open the ledger" and os.getpid() != here:
        raise StoreError("There is no memory left.")
    return open_run(run, tell, thorough=thorough)
parallel_reading._taken_in, parallel_reading.open_run = taking_in, opening
made = Workbench().report([run])
print(json.dumps({"report": made.to_json(), "taken": taken}))
"""
LAST = 1 << 62


def reported(run: Path, case: str) -> tuple[str, list[list[int]]]:
    done = subprocess.run([sys.executable, "-c", PROGRAM, run, case], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return found["report"], found["taken"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("halves") / "run"
    units = [UnitOfWork(agent=agent, task_id=f"t{n}", trial=0, seed=0) for n in range(9) for agent in ("one", "two")]
    with Store.create(place) as store:
        store.plan(units)
        for number, unit in enumerate(units[:-1]):
            # Some are played again, on both sides of the middle.
            for status in ["fault", "pass"] if number % 5 == 0 else ["pass"] if number % 3 else ["fail"]:
                played(store, unit, status)  # type: ignore[arg-type]
    return place


@pytest.fixture(scope="module")
def alone(run: Path) -> str:
    report, taken = reported(run, "alone")
    assert taken == [[1, LAST]]
    assert "4 of the units that passed did so when they were played again" in report
    return report


@pytest.mark.parametrize(
    ("case", "read"),
    [
        ("together", [[1, 9]]),
        ("it dies", [[1, 9], [10, LAST]]),
        ("it cannot open the ledger", [[1, 9], [10, LAST]]),
        ("another thread", [[1, LAST]]),
    ],
)
def test_the_report_is_that_of_one_process(run: Path, alone: str, case: str, read: list[list[int]]) -> None:
    """What this process read itself shows who did the work."""
    report, taken = reported(run, case)
    assert report == alone
    forks = sys.platform == "linux" and len(os.sched_getaffinity(0)) > 1
    assert taken == (read if forks else [[1, LAST]])
