"""How fast verdicts are appended, and what a report over very many of them costs in time and memory.

python scripts/bench_store.py [--verdicts 10000 100000 400000] [--appended 5000] [--keep FOLDER]

Ten agents on two hundred templates, as many instances as it takes; every verdict has seven findings, as the rules make
them. A report is measured in a process of its own, from opening the ledger to the JSON text, as `Workbench.report`
makes it: with a second process where the ledger is large.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from webassay.core.interaction import Action, Goal, ResponseProtocol, Usage
from webassay.core.task import ResponseCheck, Task
from webassay.core.trajectory import AgentInfo, Ending, RecordedObservation, Step, Trajectory
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Aspect, Finding, Fingerprint, Verdict
from webassay.play.plan import plan
from webassay.store import Store
from webassay.store.columns import insert_trajectory, insert_verdict

AGENTS = (*(f"agent-{number}" for number in range(9)), "naive-zero")
TEMPLATES = 200
PROTOCOL = ResponseProtocol(name="arena", instructions="Answer in JSON.")
CHECKS = ("response.format", "response.action", "response.status", "response.results", "activity.pages",
          "activity.evidence", "state.collateral")  # fmt: skip


def tasks(count: int) -> list[Task]:
    return [
        Task(
            id=f"shop.template-{number % TEMPLATES}.w0s0.{number // TEMPLATES}",
            benchmark="arena",
            template=f"shop.template-{number % TEMPLATES}",
            kind=("retrieve", "mutate", "navigate", "unachievable")[number % 4],
            goal=Goal(instruction=f"Task {number}.", start_urls=("__SHOP__/",), protocol=PROTOCOL),
            checks=(ResponseCheck(action="retrieve"),),
            sites=(("shop", "forum", "wiki", "hosting")[number % TEMPLATES % 4],),
            chore=("massive_memory", "calculation", "long_term_memory", "others")[number % TEMPLATES % 4],
            difficulty=("easy", "medium", "hard")[number % TEMPLATES % 3],
        )
        for number in range(count)
    ]


def trajectory(unit: UnitOfWork, task: Task, draw: random.Random) -> Trajectory:
    seen = RecordedObservation(url="http://shop.test/", title="Shop")
    steps = tuple(
        Step(
            index=index,
            seen=seen,
            actions=(Action.of(draw.choice(("click", "hover")), "12"),),
            error="There is no element 12." if draw.random() < 0.1 else "",
            usage=Usage(calls=1, input_tokens=3000 + draw.randrange(500), output_tokens=90, cost_usd=draw.random()),
        )
        for index in range(draw.randrange(2, 9))
    )
    return Trajectory(
        id=f"{unit.id}/0",
        task_id=task.id,
        template=task.template,
        benchmark=task.benchmark,
        goal=task.goal,
        agent=AgentInfo(name=unit.agent, model="openai:some-model"),
        started_at="2026-01-01T00:00:00+00:00",
        seconds=round(10 * draw.random(), 3),
        steps=steps,
        answer='{"action": "retrieve", "status": "SUCCESS", "results": [1]}',
        ending=Ending(kind="answered"),
    )


def verdict(unit: UnitOfWork, task: Task, draw: random.Random) -> Verdict:
    status = "pass" if draw.random() < 0.3 + 0.05 * AGENTS.index(unit.agent) else "fail"
    failing = {draw.choice(CHECKS)} if status == "fail" else set()
    findings = tuple(
        Finding(
            check=check,
            status="fail" if check in failing else "pass",
            message="What was expected is there, as far as this check can tell." * (1 + (check in failing)),
            expected=["Elmstead Mini Serving Spoon Set", 14.95],
            actual=["Elmstead Mini Serving Spoon Set", 14.95],
            code="mismatch" if check in failing else "",
        )
        for check in CHECKS
    )
    return Verdict(
        trajectory_id=f"{unit.id}/0",
        task_id=task.id,
        status=status,
        aspects={
            "side_effects": Aspect(value=0.0, note="rows changed unasked"),
            "outcome": Aspect(value=status == "pass"),
            "response_format": Aspect(value="strict"),
            "checkpoint_reach": Aspect(value=round(draw.random(), 3)),
        },
        findings=findings,
        fingerprint=Fingerprint(
            grader="rules",
            version="0.1.0",
            source="sha256:0",
            key=task.content_hash(),
            settings={"activity": "enforce"},
        ),
    )


def work(count: int) -> Iterator[tuple[UnitOfWork, Task]]:
    chosen = tasks(count // len(AGENTS))
    known = {task.id: task for task in chosen}
    return ((unit, known[unit.task_id]) for unit in plan(chosen, AGENTS, baselines=["naive-zero"]))


def append(folder: Path, count: int) -> None:
    """Each in a transaction of its own, as a run does it; making the records is not counted."""
    made = list(work(count))
    draw = random.Random(0)
    played = [trajectory(unit, task, draw) for unit, task in made]
    found = [verdict(unit, task, draw) for unit, task in made]
    with Store.create(folder / "append") as store:
        store.plan(unit for unit, _ in made)
        clocks = [(time.perf_counter(), time.process_time())]
        for (unit, _), one in zip(made, played, strict=True):
            store.add_trajectory(unit.id, one)
        clocks.append((time.perf_counter(), time.process_time()))
        for one in found:
            store.add_verdict(one)
        clocks.append((time.perf_counter(), time.process_time()))
    for what, before, after, one in (
        ("trajectories", clocks[0], clocks[1], played[0]),
        ("verdicts", clocks[1], clocks[2], found[0]),
    ):
        wall, cpu = (count / (end - start) for start, end in zip(before, after, strict=True))
        size = len(one.to_json())
        print(
            f"{wall:9,.0f} {what} of {size:,} bytes appended per second, one per transaction ({cpu:,.0f} by CPU time)"
        )


def fill(place: Path, count: int) -> None:
    """In big transactions: only the reading is measured."""
    draw = random.Random(0)
    with Store.create(place) as store:
        made = list(work(count))
        store.plan(unit for unit, _ in made)
        for start in range(0, len(made), 5000):
            with store._writing():
                for unit, task in made[start : start + 5000]:
                    played, found = trajectory(unit, task, draw), verdict(unit, task, draw)
                    insert_trajectory(store._db, store._next("trajectory"), unit.id, 0, played)
                    insert_verdict(store._db, store._next("verdict"), found, store.blobs, time="")


REPORT = """
import sys, time, resource
from pathlib import Path
from webassay.analysis.results.report_text import to_json
from webassay.analysis.numbers.rows import rows_of
from webassay.store import Store
from webassay.workbench import Workbench
def peak():
    # Linux hands ru_maxrss down from the parent process; VmHWM is this one's own.
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
    return int(next(line for line in status.read_text().splitlines() if line.startswith("VmHWM")).split()[1]) / 1024
def cpu():
    # Of the second process too, which reads half of a large ledger.
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)
own = peak()
started, busy = time.perf_counter(), cpu()
if sys.argv[2] == "rows":
    with Store.open(Path(sys.argv[1])) as store:
        for row in rows_of(store.rows("rules")):
            pass
    text = ""
else:
    text = to_json(Workbench().report(sys.argv[1]))
seconds, busy = time.perf_counter() - started, cpu() - busy
memory = f"{peak():.0f} MB at the peak, {own:.0f} MB of them before it began"
print(f"{seconds:7.2f} s ({busy:.2f} s CPU)   {memory}; {len(text) / 1e6:.1f} MB of JSON")
"""


def report(place: Path, count: int) -> None:
    size = (place / "ledger.sqlite").stat().st_size
    print(f"{count:9,} verdicts, a ledger of {size / 1e6:,.0f} MB")
    for what in ("rows", "report"):
        done = subprocess.run(
            [sys.executable, "-c", REPORT, str(place), what], capture_output=True, text=True, check=True
        )
        print(f"    {what:8} {done.stdout.rstrip()}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verdicts", type=int, nargs="*", default=[10_000, 100_000, 400_000])
    parser.add_argument("--appended", type=int, default=5000)
    parser.add_argument("--keep", type=Path, help="Keep the ledgers here, to measure them again.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        append(Path(folder), given.appended)
        for count in given.verdicts:
            place = (given.keep or Path(folder)) / str(count)
            if not place.exists():
                fill(place, count)
            report(place, count)


if __name__ == "__main__":
    main()
