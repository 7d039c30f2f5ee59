"""What the site's own record costs: CPU of a step, bytes of an episode, time to grade it.

python -m scripts.bench_record [--instances 1] [--difficulty extreme] [--templates shop.month-spend …]

Every task is played twice by the oracle, once recorded and once not, in turns. What recording costs is the difference
of the site server's CPU time, which does nothing else differently; a step's CPU is that of everything that runs: the
runner, the site server and Chromium. Linux only (/proc).
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from webassay import Selection, Task, Workbench
from webassay.agents.oracle import Oracle
from webassay.arena.kit.mistakes import mistakes
from webassay.browser.devtools.chromium import find_chromium
from webassay.browser.session import Browser
from webassay.compose.registries import TEMPLATES
from webassay.compose.tasks import sites
from webassay.core.served import ServedRecord
from webassay.core.trajectory import MemoryBlobs, ServedResult, Trajectory
from webassay.environments.arena import Arena
from webassay.grading.grade import grade
from webassay.play.episode import EpisodeContext, play
from webassay.sites.kit import Site
from webassay.sites.recording import Recorder
from webassay.sites.shop import SITE

CACHE = Path(tempfile.gettempdir()) / "webassay-bench-cache"
TICK = os.sysconf("SC_CLK_TCK")

NOTHING = ServedRecord().pack()


class Unrecorded(Recorder):
    def note(self, *given: object) -> None: ...

    def pack(self, *given: object) -> Callable[[], tuple[bytes, int, int]]:
        return lambda: (NOTHING, 0, 0)


def unrecorded() -> Site:
    """The shop, for a site server that imports it from here: then it records no site."""
    process = sys.modules["__main__"]
    if process.__spec__ is not None and process.__spec__.name == "webassay.sites.server":
        vars(process)["Recorder"] = Unrecorded
    return SITE


def cpu(pid: int) -> float:
    """Seconds of a process and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICK


def precise_cpu(pid: int) -> float:
    """Seconds of a process, by the nanosecond: all its threads."""
    total = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        total += int((thread / "schedstat").read_text().split()[0])
    return total / 1e9


def everything() -> float:
    """Seconds of this process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(place.name))
    found = [os.getpid()]
    for pid in found:
        found += children.get(pid, [])
    total = 0.0
    for pid in found:
        try:
            total += cpu(pid)
        except OSError:
            continue
    return total


@dataclass
class Played:
    trajectory: Trajectory
    server_cpu: float
    all_cpu: float


async def played(task: Task, arena: Arena, browser: Browser, blobs: MemoryBlobs) -> Played:
    solve = TEMPLATES.get(task.template).from_parameters(task.parameters).solve
    pid = (await arena.stats())["pid"]
    context = EpisodeContext(browser=browser, environment=arena, blobs=blobs)
    before, all_before = precise_cpu(pid), everything()
    trajectory = await play(task, Oracle(solve), context, id=task.id)
    return Played(trajectory, precise_cpu(pid) - before, everything() - all_before)


def percentile_95(values: list[float]) -> float:
    return quantiles(values, n=20, method="inclusive")[-1] if len(values) > 1 else values[0]


def grading_seconds(task: Task, trajectory: Trajectory, blobs: MemoryBlobs) -> float:
    taken = []
    for _ in range(5):
        start = time.process_time()
        grade(task, trajectory, blobs)
        taken.append(time.process_time() - start)
    return median(taken)


def without_a_fact(task: Task, trajectory: Trajectory, blobs: MemoryBlobs) -> list[Trajectory]:
    """The episode, had its sites not shown the first fact, and had they not shown the last."""
    found = [wrong for name, wrong in mistakes(task, trajectory, blobs) if name.startswith("never saw")]
    return found[:1] + found[1:][-1:]


async def measure(tasks: list[Task]) -> None:
    shares, extra, sizes, grading, unseen, facts, passed, steps = [], [], [], [], [], [], 0, 0
    blobs = MemoryBlobs()
    with_record = Arena(sites(), cache=CACHE)
    without = Arena({**sites(), "shop": "scripts.bench_record:SHOP"}, cache=CACHE)
    async with Browser(find_chromium()) as browser, with_record, without:
        for arena in (with_record, without):  # The first episode of a server pays for what is imported lazily.
            await played(tasks[0], arena, browser, blobs)
        for number, task in enumerate(tasks):
            order = (with_record, without) if number % 2 else (without, with_record)
            result = {arena: await played(task, arena, browser, blobs) for arena in order}
            on, off = result[with_record], result[without]
            count = len(on.trajectory.steps)
            more = on.server_cpu - off.server_cpu
            (probe,) = on.trajectory.probed(ServedResult)
            shares.append(more / off.all_cpu)
            extra.append(more / count)
            sizes.append(float(probe.blob.size))
            grading.append(grading_seconds(task, on.trajectory, blobs))
            unseen += [grading_seconds(task, found, blobs) for found in without_a_fact(task, on.trajectory, blobs)]
            passed += grade(task, on.trajectory, blobs).status == "pass"
            facts.append(sum(len(check.facts) for check in task.checks if check.kind == "evidence"))
            steps += count
            print(
                f"  {task.id:48} {count:4} steps {1000 * off.all_cpu / count:6.0f} ms a step"
                f" +{1000 * more / count:5.1f} ms = {100 * shares[-1]:5.1f} %"
                f" {sizes[-1] / 1000:8.1f} kB {facts[-1]:4} facts {1000 * grading[-1]:6.1f} ms to grade",
                flush=True,
            )
    print(f"\n{len(tasks)} tasks, {steps} steps, {passed} passed; medians of pairs, and 95th percentiles")
    print(f"  {100 * median(shares):6.2f} % of a step's CPU ({percentile_95(shares) * 100:.2f} %): at most 5")
    print(f"  {1000 * median(extra):6.2f} ms of CPU per step")
    print(f"  {median(sizes) / 1000:6.1f} kB per episode ({percentile_95(sizes) / 1000:.1f} kB): at most 1000")
    print(
        f"  {1000 * median(grading):6.1f} ms to grade an episode ({1000 * percentile_95(grading):.1f} ms): at most 20"
    )
    print(
        f"  {1000 * median(unseen):6.1f} ms where a fact was not shown"
        f" ({1000 * percentile_95(unseen):.1f} ms, at most {1000 * max(unseen):.1f} of {len(unseen)})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=1)
    parser.add_argument("--world-seed", type=int, default=0)
    parser.add_argument("--difficulty", default="")
    parser.add_argument("--templates", nargs="*", default=())
    given = parser.parse_args()
    chosen = {"difficulty": given.difficulty} if given.difficulty else {}
    selection = Selection(
        instances=given.instances, world_seed=given.world_seed, templates=tuple(given.templates), **chosen
    )
    asyncio.run(measure(list(Workbench(cache=CACHE).tasks(selection))))


SHOP = unrecorded()

if __name__ == "__main__":
    main()
