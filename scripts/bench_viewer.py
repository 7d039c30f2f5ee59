"""How long the viewer takes: to be imported, and to answer its first pages on a store of very many episodes.

python scripts/bench_viewer.py [--episodes 100000] [--keep FOLDER]

The ledger is the one of scripts/bench_store.py. Everything is measured in a process of its own: the import, and then
a viewer that has just been started, asked over a socket. CPU time is that of the whole process, wall time what a
browser would wait.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_store import fill

IMPORT = """
import time
wall, busy = time.perf_counter(), time.process_time()
import webassay.viewer
print(f"import webassay.viewer: {time.perf_counter() - wall:.2f} s ({time.process_time() - busy:.2f} s CPU)")
"""

PAGES = """
import asyncio, http.client, sys, time
from urllib.parse import urlsplit
from webassay.viewer import serve
from webassay.workbench import Workbench

def ask(address):
    place = urlsplit(address)
    def get(path, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", place.port)
        connection.request("GET", path, headers={"host": place.netloc, **headers})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer, body
    entry, _ = get(f"{place.path}?{place.query}")
    cookie = entry.headers["set-cookie"].partition(";")[0]
    for path in ("/", "/", "/episodes", "/episodes?status=fail&site=shop", "/tasks?sort=differ", "/compare",
                 "/search?q=hover", "/live/now"):
        wall, busy = time.perf_counter(), time.process_time()
        answer, body = get(path, cookie=cookie)
        assert answer.status == 200, (path, answer.status)
        took = f"{time.perf_counter() - wall:6.2f} s ({time.process_time() - busy:.2f} s CPU)"
        print(f"{path:34} {took}, {len(body) / 1e3:,.0f} kB", flush=True)

async def main():
    address = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve(Workbench().shelf([sys.argv[1]]), ready=address.set_result))
    await asyncio.to_thread(ask, await address)
    serving.cancel()

asyncio.run(main())
"""


def own_process(source: str, *words: str) -> None:
    done = subprocess.run([sys.executable, "-c", source, *words], capture_output=True, text=True, check=False)
    print(done.stdout.rstrip() or done.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=100_000)
    parser.add_argument("--keep", type=Path, help="Keep the ledger here, to measure it again.")
    given = parser.parse_args()
    for _ in range(3):
        own_process(IMPORT)
    with tempfile.TemporaryDirectory() as folder:
        place = (given.keep or Path(folder)) / str(given.episodes)
        if not place.exists():
            fill(place, given.episodes)
        own_process(PAGES, str(place))


if __name__ == "__main__":
    main()
