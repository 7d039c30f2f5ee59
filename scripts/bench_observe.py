"""How long the tree of a page is, and what looking at it costs Chromium.

    python scripts/bench_observe.py [--looks 20] [--lines-only] [--only shop,list-200,elements-20000]

Milliseconds of processor time of all of Chromium's processes for one observation (tree and boxes): of a page that did
not change since the last one, after a text came and another went, and after the content was written again by innerHTML.
To compare two versions of the package, run it in turns with each on the PYTHONPATH.
"""

import argparse
import asyncio
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts.bench_browser import listing  # noqa: E402
from tests.browser.server import Handler, serving  # noqa: E402
from tests.support.process_tree import cpu_seconds  # noqa: E402
from tests.support.worlds import arena  # noqa: E402

from webassay.browser.devtools.chromium import find_chromium  # noqa: E402
from webassay.browser.session import Browser, Session  # noqa: E402
from webassay.core.interaction import Action, ObservationPart  # noqa: E402

PAGES = ("list-12", "list-200", "list-2000", "elements-2000", "elements-20000")
PARTS: tuple[ObservationPart, ...] = ("tree", "boxes")
CHANGES = {
    "unchanged": "",
    "changed": "globalThis.note ??= document.body.appendChild(document.createElement('p'));"
    " note.textContent = Math.random();",
    "rewritten": "globalThis.note = undefined; document.body.innerHTML = document.body.innerHTML;",
}
_ITEM = "<li class='item'><a href='#i{0}'>Item {0}</a> <span>text {0}</span> <button>Add {0}</button></li>"


class Lists(Handler):
    """/elements-N: about N elements, four an item; /list-N: N cards of thirteen elements."""

    def do_GET(self) -> None:
        kind, _, count = self.path[1:].partition("-")
        if kind == "elements":
            items = "".join(_ITEM.format(n) for n in range(int(count) // 4))
            self._send(f"<!doctype html><title>Long</title><ul>{items}</ul>".encode(), "text/html; charset=utf-8")
        elif kind == "list":
            self._send(f"<!doctype html><title>Cards</title>{listing(int(count))}".encode(), "text/html; charset=utf-8")
        else:
            super().do_GET()


async def processor_ms(browser: Browser, session: Session, change: str, looks: int) -> float:
    """The median of one look, apart from what the change itself takes."""
    page = session._context.active
    taken = []
    for _ in range(looks + 2):
        if change:
            await page.evaluate(page.main_frame, f"{change} document.body.offsetHeight")
            await asyncio.sleep(0.05)
        page = session._context.active
        before = cpu_seconds(browser.pid)
        await session.observe(PARTS)
        taken.append((cpu_seconds(browser.pid) - before) * 1000)
    return statistics.median(taken[2:])


async def measure(browser: Browser, session: Session, name: str, url: str, looks: int) -> tuple[int, int]:
    await session.act(Action.of("goto", url))
    seen = await session.observe(("tree", "pruned"))
    lines = str(seen.tree).count("\n") + 1, str(seen.pruned).count("\n") + 1
    costs = [await processor_ms(browser, session, change, looks) for change in CHANGES.values()] if looks else []
    print(f"{name:<24}{lines[0]:>7}{lines[1]:>8}" + "".join(f"{cost:>11.1f}" for cost in costs), flush=True)
    return lines


async def measure_shop(browser: Browser, looks: int) -> None:
    async with arena() as sites, sites.hold(["shop"], 0) as stage:
        base = stage.bases["shop"]
        async with browser.session(allowed_hosts=stage.allowed_hosts) as session:
            await session.open([base])
            links = [node.url for node in (await session.observe(("tree",))).nodes if node.role == "link"]
            first = {path: next(url for url in links if f"{base}{path}" in url) for path in ("/c/", "/p/")}
            more = {path: base + path for path in ("", "/search?q=steel", "/cart", "/contact")}
            total = [0, 0]
            for path, url in {**first, **more}.items():
                # One page stands for all: they are much alike.
                lines = await measure(browser, session, f"shop {path}", url, looks if "search" in path else 0)
                total = [total[0] + lines[0], total[1] + lines[1]]
    print(f"{'shop, all':<24}{total[0]:>7}{total[1]:>8}")


async def main(looks: int, only: list[str]) -> None:
    print(f"{'page':<24}{'lines':>7}{'pruned':>8}" + "".join(f"{name:>11}" for name in CHANGES if looks))
    async with Browser(find_chromium()) as browser:
        if not only or "shop" in only:
            await measure_shop(browser, looks)
        with serving(Lists) as port:
            host = f"pages.localhost:{port}"
            async with browser.session(allowed_hosts={host}) as session:
                for name in PAGES:
                    if not only or name in only:
                        await measure(browser, session, name, f"http://{host}/{name}", looks)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--looks", type=int, default=20)
    parser.add_argument("--lines-only", action="store_true")
    parser.add_argument("--only", default="", help="some of the pages, with commas: shop, " + ", ".join(PAGES))
    given = parser.parse_args()
    asyncio.run(main(0 if given.lines_only else given.looks, given.only.split(",") if given.only else []))
