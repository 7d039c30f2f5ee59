"""Whole episodes of the oracle on the shop: steps per second, episodes per minute, and where the time goes.

python scripts/bench_episodes.py [--instances 1] [--workers 1 2 4]
"""

import argparse
import asyncio
import resource
import tempfile
import time
from pathlib import Path
from statistics import median

from webassay import PlayOptions, Selection, Workbench
from webassay.store import Store

CACHE = Path(tempfile.gettempdir()) / "webassay-bench-cache"


async def measure(workers: int, instances: int) -> None:
    bench, selection = Workbench(cache=CACHE), Selection(instances=instances)
    bench.tasks(selection)  # The first time, the worlds are built.
    with tempfile.TemporaryDirectory() as folder:
        own = resource.getrusage(resource.RUSAGE_SELF)
        start = time.perf_counter()
        await bench.run(Path(folder) / "run", ["oracle"], selection, PlayOptions(workers=workers))
        seconds = time.perf_counter() - start
        spent = resource.getrusage(resource.RUSAGE_SELF)
        store = Store.open(Path(folder) / "run")
        played = [trajectory for _, trajectory in store.trajectories()]
        steps = [step for trajectory in played for step in trajectory.steps]
        passed = sum(store.verdict(t.id, "rules").status == "pass" for t in played)
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    runner = (spent.ru_utime + spent.ru_stime) - (own.ru_utime + own.ru_stime)
    print(f"\n{workers} in parallel: {len(played)} episodes, {passed} passed, {len(steps)} steps in {seconds:.1f} s")
    print(f"  {len(steps) / seconds:8.2f} steps per second")
    print(f"  {60 * len(played) / seconds:8.1f} episodes per minute")
    print(f"  {1000 * runner / len(steps):8.1f} ms of the runner's own CPU per step")
    print(f"  {size / len(played) / 1e6:8.2f} MB stored per episode")
    for part in ("observe", "decide", "act", "settle"):
        print(f"  {1000 * median(getattr(step.timing, part) for step in steps):8.1f} ms {part} (median of a step)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=1)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4])
    given = parser.parse_args()
    for workers in given.workers:
        asyncio.run(measure(workers, given.instances))


if __name__ == "__main__":
    main()
