"""What receipts cost and cover: CPU of answers and of reading them for the record, its size, and the words of pages.

python -m scripts.bench_receipts [--rounds 40] [--step-ms 75]

Every page is asked for with receipts and without, in turns, each in a world of its own. Costs are differences of CPU
time of one process, with 95 % intervals of the mean of the pairs. `--step-ms` is the CPU of a whole step, which
`bench_record` prints; of that they are said to be a share. A word is vouched for if a row or the site itself says it,
and an echo otherwise.
"""

import argparse
import asyncio
import tempfile
import time
from math import sqrt
from pathlib import Path
from statistics import mean, stdev

from webassay.core.served import ECHO, ServedRecord
from webassay.sites import admin, server, shop
from webassay.sites.kit import Site, World, snapshot
from webassay.sites.receipts import collect
from webassay.sites.recording import Recorder

CACHE = Path(tempfile.gettempdir()) / "webassay-bench-cache"
USERS = {"shop": "SELECT email AS user FROM customers ORDER BY id LIMIT 1",
         "admin": "SELECT username AS user FROM admins ORDER BY id LIMIT 1"}  # fmt: skip
PAGES = {
    "shop": {"category": "/c/{path}?limit=36", "product": "/p/{slug}", "orders": "/account/orders",
             "order": "/account/orders/{number}", "form": "/account/addresses/new", "search": "/search?q=steel"},
    "admin": {"grid of 20": "/orders", "grid of 100": "/orders?limit=100", "order": "/orders/{any_number}",
              "product form": "/products/7", "report": "/reports/orders?report=1&period=month&from=01/01/2023"
              "&to=12/31/2025", "export": "/orders/export"},
}  # fmt: skip
FEW = {"export": 3}
"""Rounds of what takes long."""


class Visit:
    """A world with or without receipts, and what its answers cost."""

    def __init__(self, site: Site, receipts: bool) -> None:
        self.world = World(site, 0, snapshot(site, 0, CACHE))
        self.receipts = receipts
        self.user = str(self.world.scalar(USERS[site.name]))
        self.hosted = server.HostedWorld(self.world)
        self.hosted.recorder.hand_over()
        self.cookies = site.log_in(self.world, self.user)

    async def get(self, path: str) -> float:
        """Seconds of CPU, until it is read for a record of its own."""
        place, _, query = path.partition("?")
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        scope = {
            "type": "http", "method": "GET", "path": place, "raw_path": place.encode(), "query_string": query.encode(),
            "headers": [(b"host", b"x"), (b"accept", b"text/html"), (b"cookie", cookie.encode())], "scheme": "http",
            "http_version": "1.1", "server": ("x", 80), "client": None, "root_path": "",
        }  # fmt: skip
        server.collect = collect if self.receipts else lambda receipts: collect(None)  # type: ignore[attr-defined]
        self.hosted.recorder = recorder = Recorder()
        recorder.hand_over()
        begun = time.process_time()
        start, *_ = await self.hosted.answer(scope, b"")
        recorder.pack()()
        spent = time.process_time() - begun
        if start["status"] != 200:
            raise SystemExit(f"{path} gives {start['status']}.")
        return spent

    def record(self) -> tuple[ServedRecord, int]:
        """Of the last page, and how long it is."""
        packed, _, _ = self.hosted.recorder.pack()()
        return ServedRecord.unpack(packed), len(packed)


def paths(world: World, user: str) -> dict[str, str]:
    """The pages, with the most that there is of each."""
    found = world.row("SELECT path FROM categories AS c JOIN products AS p ON p.category_id = c.id"
                      " GROUP BY c.id ORDER BY count(*) DESC, c.id") or {}  # fmt: skip
    found |= world.row("SELECT slug FROM products AS p JOIN product_ratings AS r ON r.product_id = p.id"
                       " ORDER BY review_count DESC, p.id") or {}  # fmt: skip
    found |= world.row("SELECT number AS any_number FROM orders ORDER BY id") or {}
    found |= world.row("SELECT o.number FROM orders AS o JOIN customers AS c ON c.id = o.customer_id WHERE c.email = ?"
                       " ORDER BY o.id", user) or {"number": ""}  # fmt: skip
    return {name: path.format(**found) for name, path in PAGES[world.site.name].items()}


async def measure(site: Site, rounds: int, step: float) -> None:
    with_them, without = Visit(site, True), Visit(site, False)
    print(f"\n{site.name}: milliseconds of CPU, without receipts and what they add (95 % interval)")
    words = echoed = 0
    for name, path in paths(with_them.world, with_them.user).items():
        pairs = []
        for number in range(FEW.get(name, rounds) + 1):
            order = (with_them, without) if number % 2 else (without, with_them)
            spent = {visit.receipts: await visit.get(path) for visit in order}
            pairs.append((spent[False] * 1000, (spent[True] - spent[False]) * 1000))
        (record, size), (_, plain_size) = with_them.record(), without.record()
        echoed, words = echoed + counted(record)[0], words + counted(record)[1]
        print(f"  {name:14} {costs(pairs[1:], step)}; record {size:,} bytes, {plain_size:,} without", flush=True)
    print(f"  {1 - echoed / words:.1%} of {words:,} words are vouched for; {echoed:,} are echoes")


def costs(pairs: list[tuple[float, float]], step: float) -> str:
    added = [more for _, more in pairs]  # The first pair, which warms up, is not among them.
    half = 1.96 * stdev(added) / sqrt(len(added))
    said = f"{mean(plain for plain, _ in pairs):7.1f} {mean(added):+7.2f} ± {half:.2f}"
    return f"{said}, {mean(added) / step:+.1%} of a step, at most {(mean(added) + half) / step:+.1%}" if step else said


def counted(record: ServedRecord) -> tuple[int, int]:
    """Words that are echoes, and all words."""
    lines = [part for node in record.nodes for part in node.parts if isinstance(part, str)]
    echoes = [part.partition(ECHO[1])[0] for line in lines for part in line.split(ECHO[0])[1:]]
    return sum(len(echo.split()) for echo in echoes), sum(len(line.split()) for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--step-ms", type=float, default=0.0)
    given = parser.parse_args()
    for site in (shop.SITE, admin.SITE):
        asyncio.run(measure(site, given.rounds, given.step_ms))


if __name__ == "__main__":
    main()
