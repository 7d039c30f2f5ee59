"""How long the tree of a page is, and how long looking at it takes.

    python scripts/bench_observe.py [--looks 20] [--lines-only]

To compare two versions of the package, run it once with each on the PYTHONPATH. The pages are the shop's and one of
2,000 elements.
"""

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Collection
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser.server import Handler, serving  # noqa: E402
from tests.worlds import arena  # noqa: E402

from webassay.browser.chromium import find_chromium  # noqa: E402
from webassay.browser.session import Browser, Session  # noqa: E402
from webassay.core.interaction import Action, ObservationPart  # noqa: E402

_ITEM = "<li class='item'><a href='#i{0}'>Item {0}</a> <span>text {0}</span> <button>Add {0}</button></li>"


class LongPage(Handler):
    def do_GET(self) -> None:
        if self.path == "/long":
            items = "".join(_ITEM.format(n) for n in range(500))
            self._send(f"<!doctype html><title>Long</title><ul>{items}</ul>".encode(), "text/html; charset=utf-8")
        else:
            super().do_GET()


async def milliseconds(session: Session, parts: Collection[ObservationPart], looks: int) -> float:
    taken = []
    for _ in range(looks + 3):
        started = time.perf_counter()
        await session.observe(parts)
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken[3:])


async def measure(session: Session, url: str, looks: int) -> tuple[int, int, float, float]:
    await session.act(Action.of("goto", url))
    seen = await session.observe(("tree", "pruned"))
    lines = str(seen.tree).count("\n") + 1, str(seen.pruned).count("\n") + 1
    if not looks:
        return (*lines, 0.0, 0.0)
    plain = await milliseconds(session, ("tree",), looks)
    return (*lines, plain, await milliseconds(session, ("tree", "boxes"), looks))


async def main(looks: int) -> None:
    print(f"{'page':<22}{'lines':>7}{'pruned':>8}{'tree ms':>9}{'boxes ms':>10}")
    total = [0, 0]
    async with Browser(find_chromium()) as browser:
        async with arena() as sites, sites.hold(["shop"], 0) as stage:
            base = stage.bases["shop"]
            async with browser.session(allowed_hosts=stage.allowed_hosts) as session:
                await session.open([base])
                links = [node.url for node in (await session.observe(("tree",))).nodes if node.role == "link"]
                first = {path: next(url for url in links if f"{base}{path}" in url) for path in ("/c/", "/p/")}
                more = {path: base + path for path in ("", "/search?q=steel", "/cart", "/contact")}
                for path, url in {**first, **more}.items():
                    found = await measure(session, url, looks)
                    print(f"{'shop ' + path:<22}{found[0]:>7}{found[1]:>8}{found[2]:>9.1f}{found[3]:>10.1f}")
                    total = [total[0] + found[0], total[1] + found[1]]
        print(f"{'shop, all':<22}{total[0]:>7}{total[1]:>8}")
        with serving(LongPage) as port:
            host = f"pages.localhost:{port}"
            async with browser.session(allowed_hosts={host}) as session:
                found = await measure(session, f"http://{host}/long", looks)
                print(f"{'2,000 elements':<22}{found[0]:>7}{found[1]:>8}{found[2]:>9.1f}{found[3]:>10.1f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--looks", type=int, default=20)
    parser.add_argument("--lines-only", action="store_true")
    given = parser.parse_args()
    asyncio.run(main(0 if given.lines_only else given.looks))
