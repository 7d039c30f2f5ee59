"""How long it takes to open, reset and compare a world, and what one more of them costs.

    python scripts/bench_state.py                                   # the shop
    python scripts/bench_state.py bench_state:SMALL bench_state:LARGE   # made-up data of 5 and 20 MB

Every figure stands beside that of another way to do the same, measured in turns in the same run.
"""

import argparse
import asyncio
import contextlib
import importlib
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

import apsw
from starlette.applications import Starlette

from webassay.environments.arena import Arena
from webassay.sites.kit import Site, World, snapshot
from webassay.sites.rng import Stream
from webassay.sites.snapshots import Snapshot, compared, tables_of

ROUNDS = 30
WORLDS = 20


def _made_up(name: str, megabytes: int) -> Site:
    def seed(db: apsw.Connection, number: int) -> None:
        stream = Stream(number, name)
        words = [f"word{place}" for place in range(997)]
        for table, share in (("review", 7), ("item", 2), ("visit", 1)):
            for place in range(megabytes * 190 * share):
                text = " ".join(stream.choice(words) for _ in range(60))
                db.execute(f"INSERT INTO {table} VALUES (?, ?, ?)", (place, stream.below(1000), text))

    tables = ("review", "item", "visit")
    return Site(
        name=name,
        schema="".join(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, n INTEGER, body TEXT);" for table in tables),
        columns={table: {"id": "journal", "n": "content", "body": "content"} for table in tables},
        seed=seed,
        make_app=lambda world: Starlette(),
        log_in=lambda world, user: {},
        whoami=lambda world, cookies: "",
        start_time=0,
    )


SMALL = _made_up("small", 5)
LARGE = _made_up("large", 20)


def episode(world: World) -> int:
    """A few writes, each in its own transaction, in as many tables: what a typical episode leaves behind."""
    written = 0
    for table in tables_of(world.db):
        if written == 6:
            break
        text = next((c for c, kind in world.site.columns[table.name].items() if kind != "journal"), None)
        if text is None or text in table.key:
            continue
        key, name = f'"{table.key[0]}"', f'"{table.name}"'
        with contextlib.suppress(apsw.ConstraintError), world.write() as db:
            db.execute(f'UPDATE {name} SET "{text}" = "{text}" || 1 WHERE {key} = (SELECT max({key}) FROM {name})')
            written += db.changes()
    return written


def milliseconds(ways: Mapping[str, Callable[[], object]], prepare: Callable[[], object]) -> dict[str, float]:
    """Median of each way, in turns, so that a busy machine is busy for all of them."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            prepare()
            start = time.perf_counter()
            way()
            taken[name].append((time.perf_counter() - start) * 1000)
    return {name: median(times) for name, times in taken.items()}


def line(title: str, name: str, value: float, unit: str) -> None:
    print(f"  {title:22} {name:44} {value:8.2f} {unit}")


def show(title: str, times: Mapping[str, float]) -> None:
    ours = next(iter(times.values()))
    for name, value in times.items():
        line(title, name, value, "ms" if value == ours else f"ms {value / ours:6.1f} x")
        title = ""


def copy_of(data: bytes) -> apsw.Connection:
    db = apsw.Connection(":memory:")
    db.deserialize("main", data)
    return db


def _inverted_changeset(recording: apsw.Session, world: World) -> None:
    world.db.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    world._writing = True
    apsw.Changeset.apply(apsw.Changeset.invert(recording.changeset()), world.db)
    world._writing = False
    world.db.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 1)


def bench_world(site: Site, cache: Path) -> Snapshot:
    start = time.perf_counter()
    pristine = snapshot(site, 0, cache)
    print(f"\n{site.name}: {len(pristine.pages.shared) / 1e6:.1f} MB, built in {time.perf_counter() - start:.1f} s")
    del pristine  # What is in use is not read again.
    start = time.perf_counter()
    pristine = snapshot(site, 0, cache)
    world = World(site, 0, pristine)
    line("world", "from the snapshot on the disk", (time.perf_counter() - start) * 1000, "ms")
    world.diff()  # What is known of the snapshot's pages is found once.
    rows = sum(world.scalar(f'SELECT count(*) FROM "{table.name}"') for table in tables_of(world.db))
    print(f"  {rows} rows; a typical episode writes {episode(world)} of them")
    recording: list[apsw.Session] = []

    def dirty() -> None:
        world.reset()
        recording[:] = [apsw.Session(world.db, "main")]
        recording[0].attach()
        episode(world)

    def by_backup() -> None:
        source, target = copy_of(pristine.pages.shared), apsw.Connection(":memory:")
        with target.backup("main", source, "main") as backup:
            backup.step()

    resets = {
        "pages shared until written (used)": world.reset,
        "copy of the whole snapshot": lambda: copy_of(pristine.pages.shared).close(),
        "inverted changeset, triggers off": lambda: _inverted_changeset(recording[0], world),
        "backup from another database": by_backup,
    }
    show("reset", milliseconds(resets, dirty))

    def every_table() -> None:
        db = copy_of(world.db.serialize("main"))
        db.execute("ATTACH ':memory:' AS pristine")
        db.deserialize("pristine", pristine.pages.shared)
        for table in tables_of(db):
            list(compared(db, table))

    def session_diff() -> None:
        db = copy_of(world.db.serialize("main"))
        db.execute("ATTACH ':memory:' AS pristine")
        db.deserialize("pristine", pristine.pages.shared)
        session = apsw.Session(db, "main")
        for table in tables_of(db):
            session.attach(table.name)
            session.diff("pristine", table.name)
        session.changeset()

    diffs = {
        "rows on pages that differ (used)": world.diff,
        "every table": every_table,
        "Session.diff, every table (misses some)": session_diff,
    }
    show("row diff", milliseconds(diffs, dirty))
    return pristine


def resident(pid: int) -> float | None:
    """Megabytes; None where there is no /proc."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return None
    return next(int(line.split()[1]) / 1024 for line in status.read_text().splitlines() if line.startswith("VmRSS"))


async def bench_server(name: str, path: str) -> None:
    together = {"shop": "webassay.sites.shop:SITE", "admin": "webassay.sites.admin:SITE"}
    if name in together:
        async with Arena(together) as arena:
            for _ in range(2):  # The first builds the world.
                start = time.perf_counter()
                async with arena.hold(list(together)):
                    pass
            taken = (time.perf_counter() - start) * 1000
            line("shop and back office", "open and close together, over the socket", taken, "ms")
    async with Arena({name: path}) as arena, contextlib.AsyncExitStack() as kept:
        async with arena.hold([name]):
            pass
        pid = (await arena.stats())["pid"]
        start = time.perf_counter()
        for _ in range(WORLDS):
            async with arena.hold([name]):
                pass
        each = (time.perf_counter() - start) / WORLDS
        line("world for an episode", "open and close, over the socket", each * 1000, f"ms {1 / each:6.0f} /s")
        before = resident(pid)
        start = time.perf_counter()
        for _ in range(WORLDS):
            await kept.enter_async_context(arena.hold([name]))
        each = (time.perf_counter() - start) / WORLDS
        line("", f"open {WORLDS} side by side", each * 1000, f"ms {1 / each:6.0f} /s")
        after = resident(pid)
        if before is not None and after is not None:
            line("memory", "of one more world", (after - before) / WORLDS, "MB")
            line("", "of the server with one snapshot", before, "MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sites", nargs="*", default=["webassay.sites.shop:SITE"], help="module:attribute")
    for path in parser.parse_args().sites:
        module, _, attribute = path.partition(":")
        site = getattr(importlib.import_module(module), attribute)
        with tempfile.TemporaryDirectory() as cache:
            bench_world(site, Path(cache))
        asyncio.run(bench_server(site.name, path))


if __name__ == "__main__":
    sys.exit(main())
