"""Steps per second through the gymnasium environment, against `Episode` used directly, in turns.

python scripts/bench_gym.py [--steps 200] [--parts tree screenshot]
"""

import argparse
import dataclasses
import tempfile
import time
from pathlib import Path
from statistics import median

import gymnasium

import webassay.doors.gym
from webassay import Selection, Workbench, run_sync
from webassay.core.interaction import ObservationPart
from webassay.core.trajectory import MemoryBlobs
from webassay.play.episode import Episode, Limits, Recording

CACHE = Path(tempfile.gettempdir()) / "webassay-bench-cache"
TEMPLATE = "shop.low-reviews"
ACTIONS = ("scroll(0, 200)", "goto('{base}/search?q=cinnamon')", "go_back()", "hover('9')")
ROUNDS = 3


def action(number: int, base: str) -> str:
    return ACTIONS[number % len(ACTIONS)].format(base=base)


async def directly(steps: int, parts: tuple[ObservationPart, ...]) -> tuple[float, float]:
    bench = Workbench(cache=CACHE)
    task = bench.tasks(Selection(templates=(TEMPLATE,), instances=1))[0]
    async with bench.open_arena() as context:
        limits, recording = Limits(steps=steps + 1), Recording(parts=())
        context = dataclasses.replace(context, blobs=MemoryBlobs(), limits=limits, recording=recording)
        async with Episode(task, context, id="warm") as episode:
            await episode.observe(parts)
        start = time.perf_counter()
        async with Episode(task, context, id="direct") as episode:
            await episode.observe(parts)
            opened = time.perf_counter()
            for number in range(steps):
                await episode.step(action(number, episode.bases["shop"]))
                await episode.observe(parts)
            done = time.perf_counter()
    return opened - start, steps / (done - opened)


def through_gymnasium(steps: int, parts: tuple[ObservationPart, ...]) -> tuple[float, float]:
    env = gymnasium.make(
        webassay.doors.gym.ID, templates=(TEMPLATE,), instances=1, parts=parts, max_steps=steps + 1, cache=CACHE
    )
    env.reset(seed=0)  # starts the browser and the sites
    start = time.perf_counter()
    env.reset(seed=0)
    opened = time.perf_counter()
    for number in range(steps):
        env.step(action(number, "http://shop.localhost"))
    done = time.perf_counter()
    env.close()
    return opened - start, steps / (done - opened)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--parts", nargs="*", default=["tree"])
    given = parser.parse_args()
    parts = tuple(given.parts)
    found: dict[str, list[tuple[float, float]]] = {"Episode": [], "gymnasium": []}
    for _ in range(ROUNDS):
        found["Episode"].append(run_sync(directly(given.steps, parts)))
        found["gymnasium"].append(through_gymnasium(given.steps, parts))
    print(f"{given.steps} steps, parts {', '.join(parts)}, median of {ROUNDS}")
    for name, measured in found.items():
        reset, speed = median(one[0] for one in measured), median(one[1] for one in measured)
        print(f"  {name:10} {speed:6.1f} steps per second, {1000 * reset:5.0f} ms to reset")


if __name__ == "__main__":
    main()
