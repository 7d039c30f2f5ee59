"""How fast the verifier is against a model of fixed latency, over a real socket, and what it needs in memory.

    python scripts/bench_verifier.py [--trajectories 200] [--frames 50] [--concurrency 16] [--latency 0.5] [--faults 0]

The model answers in a process of its own. The ideal is the number of calls, times the latency, over the
concurrency: every slot busy all the time.
"""

import argparse
import asyncio
import multiprocessing
import resource
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.support.verifier_world import Faults, author, many

from webassay.judging.judges.batch import verify_many
from webassay.judging.judges.universal import UNIVERSAL, UniversalOptions
from webassay.judging.ledger import Models
from webassay.judging.universal.profile import PROFILES
from webassay.judging.universal.resources import VerifierResources
from webassay.llm.client import close, retrying
from webassay.llm.providers import connect
from webassay.llm.replay import Script, replaying


def serve(pipe: Connection, faults: int, latency: float) -> None:
    async def run() -> None:
        async with replaying(Script(author(Faults(every=faults, delay=latency)))) as server:
            pipe.send(server.url)
            await asyncio.to_thread(pipe.recv)
            pipe.send(len(server.asked))

    asyncio.run(run())


def megabytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


async def bench(args: argparse.Namespace, url: str) -> None:
    model = connect(f"openai:judge@{url}", env={})
    resources = VerifierResources(limit=asyncio.Semaphore(args.concurrency))
    judge = UNIVERSAL.prepare(Models.one(retrying(model)), UniversalOptions(profile=args.profile), resources)
    calls, peaks, seen = 0, [], set()

    def sink(verdict) -> None:
        nonlocal calls
        assert verdict.trajectory_id not in seen, "judged twice"
        seen.add(verdict.trajectory_id)
        calls += int(verdict.aspects["calls"].value or 0)
        peaks.append(megabytes())

    # Loading the provider's SDK takes seconds and is not what is measured.
    await verify_many(many(1, 2), judge, sink=lambda verdict: None)
    started, cpu = time.perf_counter(), time.process_time()
    items = many(args.trajectories, args.frames, side=args.side)
    tally = await verify_many(items, judge, sink=sink, at_once=2 * args.concurrency)
    seconds = time.perf_counter() - started
    used = time.process_time() - cpu
    await close(model)
    ideal = calls * args.latency / args.concurrency
    print(f"profile {args.profile}, {args.trajectories} trajectories of {args.frames} screenshots")
    print(f"  judged {tally.judged}, faulted {tally.faulted}, lost {args.trajectories - len(seen)}, calls {calls}")
    print(
        f"  {seconds:.1f} s, {60 * len(seen) / seconds:.1f} trajectories a minute, {calls / seconds:.1f} calls a second"
    )
    print(f"  ideal at {args.latency:g} s and {args.concurrency} at once: {ideal:.1f} s, reached {ideal / seconds:.0%}")
    print(f"  our own time {1000 * used / max(calls, 1):.1f} ms per call")
    print(f"  peak memory {peaks[len(peaks) // 5]} MB after a fifth, {peaks[-1]} MB at the end")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trajectories", type=int, default=200)
    parser.add_argument("--frames", type=int, default=50)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--latency", type=float, default=0.5)
    parser.add_argument("--faults", type=int, default=0, help="every so manyth call goes wrong")
    parser.add_argument("--profile", choices=sorted(PROFILES), default="webassay")
    parser.add_argument("--side", type=int, default=160, help="pixels of a screenshot's side")
    args = parser.parse_args()
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs, args.faults, args.latency))
    server.start()
    try:
        asyncio.run(bench(args, ours.recv()))
        ours.send("stop")
        print(f"  questions that reached the model: {ours.recv()}")
    finally:
        server.join(10)


if __name__ == "__main__":
    main()
