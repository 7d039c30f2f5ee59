"""What every site is made of: a schema, a seed, a web application, and a world to run it in.

A `Snapshot` is a site's pristine database as bytes, built once from one integer. A `World` shares those bytes and keeps
the pages that it writes to itself. Everything an episode can change lives on pages: rows, full-text indexes, counters,
the clock. So a reset forgets the written pages, which undoes every kind of change alike; and what an episode changed is
the set of rows that differ from the snapshot, whatever wrote them.

The site itself knows nothing of this. It reads `world.db`, writes inside `world.write()`, and asks `world.now()`.
"""

import fcntl
import hashlib
import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TextIO, get_args
from weakref import WeakValueDictionary

import apsw
from starlette.types import ASGIApp

from webassay.core.errors import InputError, SiteError, boundary
from webassay.core.files import write_whole
from webassay.core.touched import TouchedRecord
from webassay.sites.pages import DatabasePages
from webassay.sites.receipts import QuerySource, collected, inked
from webassay.sites.snapshots import ChangedRow, Snapshot, TableShape, followed, quoted, schema_of, tables_of
from webassay.sites.snapshots import Row as Row
from webassay.sites.snapshots import SqlValue as SqlValue  # For sites, which need nothing else from there.
from webassay.sites.snapshots import json_value as json_value
from webassay.sites.touched import Asked, TouchLog
from webassay.sites.touched import Noticed as Noticed

log = logging.getLogger(__name__)

ColumnClass = Literal["content", "journal", "telemetry"]

TICK_SECONDS = 1
"""How far the clock moves with every write."""
MOST_SOURCES = 2000


def classes(*, content: str = "", journal: str = "", telemetry: str = "") -> dict[str, ColumnClass]:
    """A table's columns by class; each argument lists names, separated by spaces."""
    found: dict[str, ColumnClass] = dict.fromkeys(content.split(), "content")
    found |= dict.fromkeys(journal.split(), "journal")
    found |= dict.fromkeys(telemetry.split(), "telemetry")
    return found


def _nobody(world: "World", user: str) -> dict[str, str]:
    raise InputError(f"Nobody can log in on the {world.site.name} site.")


@dataclass(frozen=True, kw_only=True)
class Site:
    """An ordinary web application over SQLite, and what it takes to copy it."""

    name: str
    """Also the first label of the host name."""
    schema: str
    """CREATE statements. Every table has a primary key that is never NULL."""
    columns: Mapping[str, Mapping[str, ColumnClass]]
    """The class of every stored column of every table. Virtual tables, their shadow tables and generated columns are
    left out: they are derived, so the truth must also be in an ordinary column."""
    seed: Callable[..., None]
    """Given the database and a number; and one of `scales`, if that is asked for."""
    make_app: Callable[["World"], ASGIApp]
    """Called again after a reset, so that nothing the application remembers outlives an episode."""
    start_time: int
    """Where the clock of a fresh world stands, in epoch seconds."""
    scales: tuple[str, ...] = ()
    """Other sizes than the usual one that it can be built in. A site without any always has the same size."""
    package: str = ""
    """The package that holds the site, by default that of `seed`. If one of its files changes, cached data is built
    again."""
    log_in: Callable[["World", str], dict[str, str]] = _nobody
    """Logs a user in and returns the cookies; writes telemetry and journal columns only."""
    whoami: Callable[["World", Mapping[str, str]], str] = lambda world, cookies: ""
    """The user these cookies belong to, or the empty text."""
    log_in_path: str = "/account/login"
    """Where its visitors log in by hand."""
    credentials: Callable[[str], Mapping[str, str]] = lambda user: {}
    """What a seeded user types to log in by hand: the name of each field, and what goes there."""
    some_users: str = ""
    """A query for users to try it as, with a word about each."""
    title: str = ""
    """What visitors call it."""
    summary: str = ""
    events: Mapping[str, Callable[["World", "SiteRequest"], bool]] = field(default_factory=dict)
    """What may happen while somebody visits, by `World.meanwhile`, just before a request is answered. Each says whether
    it did: not every request gives occasion for it."""
    noticed: Mapping[str, Noticed] = field(default_factory=dict)
    """What others notice as soon as it is written: by `table` where a row comes or goes, by `table.column` where it is
    changed. Nobody else's day is harmed by other things that are put back as they were."""
    own: tuple[str, ...] = ()
    """Tables, and `table.column`, that are the visitor's own affair, such as a cart: whoever takes back what they did
    there has done nothing to anybody."""
    shares: "Site | None" = None
    """The site whose database this one uses, with its schema, columns, seed and clock. Both can be open together: what
    one of them changes, the other shows."""

    @property
    def has_accounts(self) -> bool:
        return self.log_in is not _nobody

    @property
    def owner(self) -> "Site":
        """Whose database it is."""
        return self.shares or self


@dataclass(frozen=True)
class Neighbor:
    """Another site that is open next to this one, as a page of links would show it."""

    name: str
    title: str
    summary: str
    base: str
    """Its address, without a slash at the end."""
    account: Mapping[str, str] = field(default_factory=dict)
    """What the visitor of this session types to log in there; empty if they have no account."""


@dataclass(frozen=True)
class SiteRequest:
    """A request, before the site answers it."""

    path: str
    fields: Mapping[str, str]
    """Those of its form."""
    cookies: Mapping[str, str]


class World:
    """A private, writable copy of a site. Serves one request at a time."""

    def __init__(self, site: Site, seed: int, snapshot: Snapshot, beside: "World | None" = None) -> None:
        """`beside`: the open world of another site on the same database. It keeps the database; this one looks in."""
        self.site = site
        self.seed = seed
        self.snapshot = snapshot
        self.neighbors: tuple[Neighbor, ...] = ()
        """Set by whoever opens several sites together, because addresses are known only then."""
        self._keeper = beside or self
        self._writing = False
        self._others_left = snapshot
        """The snapshot as it would be now if nobody but others had changed anything."""
        if beside is None:
            self._db = self._fresh()

    @property
    def db(self) -> apsw.Connection:
        return self._keeper._db

    def _fresh(self) -> apsw.Connection:
        self._pages = self.snapshot.pages.copy()
        db = self._pages.connect()
        db.execute("PRAGMA foreign_keys = ON")
        db.set_commit_hook(self._may_commit)
        self._before: apsw.Connection | None = None
        self._by_others = False
        owner = self.site.owner
        self._touches = TouchLog(
            self.snapshot.followed(owner.name, owner.columns), self._untouched_db, owner.noticed, owner.own
        )
        db.preupdate_hook(self._touches.hear)
        return db

    def _may_commit(self) -> bool:
        if not self._writing:
            raise SiteError(f"The {self.site.name} site wrote outside World.write().")
        return False

    # --- what the site uses ---

    def now(self) -> int:
        """Epoch milliseconds. Only writes advance it."""
        # The clock is the file's user_version, so it rolls back with a transaction and is copied with the file.
        ticks: int = self.db.pragma("user_version")
        return (self.site.start_time + ticks * TICK_SECONDS) * 1000

    @contextmanager
    def write(self) -> Iterator[apsw.Connection]:
        """A transaction, one tick after the previous one. All or nothing."""
        keeper = self._keeper
        if keeper._writing:
            raise SiteError(f"The {self.site.name} site opened a write inside a write.")
        keeper._writing = True
        try:
            self.db.execute("BEGIN IMMEDIATE")
            try:
                # Not cached: the text differs every time and would evict useful statements.
                ticks = self.db.pragma("user_version") + 1
                self.db.execute(f"PRAGMA user_version = {ticks}", can_cache=False)
                yield self.db
                touches = keeper._touches.settle(self.db)
                self.db.execute("COMMIT")
                keeper._touches.keep(touches, by_others=keeper._by_others)
            finally:
                if self.db.in_transaction:
                    self.db.execute("ROLLBACK")
                keeper._touches.drop()
        finally:
            keeper._writing = False

    def meanwhile(self, change: Callable[[apsw.Connection], object]) -> None:
        """Something that others do, such as buying what the visitor looks at. `diff` leaves it out."""
        keeper = self._keeper
        keeper._by_others = True
        try:
            with self.write() as db:
                change(db)
        finally:
            keeper._by_others = False
        pages = keeper._others_left.pages.copy()
        with closing(pages.connect()) as db:
            change(db)
        keeper._others_left = Snapshot(pages)
        keeper._before = None

    def rows(self, sql: str, *params: SqlValue) -> list[Row]:
        """While a request is answered, their values know where they come from: see `receipts`."""
        cursor = self.db.execute(sql, params)
        first = cursor.fetchone()
        if first is None:
            return []
        # Ask for the names before the last row, because SQLite forgets them after it.
        if collected() is None:
            names = [column[0] for column in cursor.get_description()]
            return [dict(zip(names, row, strict=True)) for row in (first, *cursor)]
        source = self._source(sql, cursor)
        return list(inked(source, params, (first, *cursor)))

    def _source(self, sql: str, cursor: apsw.Cursor) -> QuerySource:
        sources = self.snapshot.sources
        source = sources.get(sql)
        if source is None:
            if len(sources) >= MOST_SOURCES:  # The texts of visitors' own filters.
                sources.clear()
            source = sources[sql] = QuerySource(sql, cursor.description_full, self.snapshot.keys, self.snapshot.reads)
        return source

    def row(self, sql: str, *params: SqlValue) -> Row | None:
        found = self.rows(sql, *params)
        return found[0] if found else None

    def scalar(self, sql: str, *params: SqlValue) -> Any:
        """The first column of the first row; None if there is no row."""
        cursor = self.db.execute(sql, params)
        found = cursor.fetchone()
        if found is None or collected() is None:
            return None if found is None else found[0]
        source = self._source(sql, cursor)
        return next(inked(source, params, (found,)))[source.names[0]]

    # --- what receipts ask ---

    @property
    def touched(self) -> set[str]:
        """The tables that have been written to."""
        return self._keeper._touches.tables

    def row_before(self, table: str, key: tuple[SqlValue, ...]) -> Row | None:
        """The row as it would be now if nobody but others had changed anything."""
        where = " AND ".join(f"{quoted(column)} IS ?" for column in self.snapshot.keys[table])
        cursor = self._untouched_db().execute(f"SELECT * FROM {quoted(table)} WHERE {where}", key)
        found = cursor.fetchone()
        return None if found is None else dict(zip([name for name, _ in cursor.get_description()], found, strict=True))

    def computed_before(self, sql: str, params: tuple[SqlValue, ...]) -> set[tuple[Any, ...]]:
        """What the query would find then."""
        return set(self._untouched_db().execute(sql, params).fetchall())

    def is_journal(self, table: str, column: str) -> bool:
        """Whether nobody but the site fills it."""
        return self.site.owner.columns.get(table, {}).get(column) == "journal"

    def without_visitor(self) -> apsw.Connection:
        """A copy of the database as it would be then."""
        return self._keeper._others_left.pages.copy().connect()

    def _untouched_db(self) -> apsw.Connection:
        keeper = self._keeper
        if keeper._before is None:
            keeper._before = self.without_visitor()
        return keeper._before

    # --- what the environment uses ---

    def answering(self, asked: Asked) -> None:
        """Whatever is written from now on is written for this request."""
        self._keeper._touches.asked = asked

    def touched_rows(self) -> TouchedRecord | None:
        """What was written, in order. None: the world that keeps the database has it."""
        return self._touches.record(self.site.owner.columns) if self._keeper is self else None

    def reset(self) -> None:
        """Back to the snapshot: rows, clock, counters, indexes, schema, temporary tables."""
        with boundary(SiteError, f"Resetting the {self.site.name} world"):
            keeper = self._keeper
            keeper.close()
            keeper._writing = False
            keeper._others_left = keeper.snapshot
            keeper._db = keeper._fresh()

    def close(self) -> None:
        if self._keeper is self:
            self._db.close(True)

    def diff(self) -> list[ChangedRow]:
        """The rows that differ from the snapshot; edits that cancel out do not count, and neither does what others did.
        Of worlds that share a database, the one that keeps it has all of them, so that none is told twice."""
        if self._keeper is not self:
            return []
        with boundary(SiteError, f"Comparing the {self.site.name} world with its snapshot"):
            if self.db.in_transaction:
                raise SiteError(f"The {self.site.name} world is in the middle of a write.")
            if schema_of(self.db) != self.snapshot.schema:
                raise SiteError(f"The {self.site.name} site changed its schema; its rows cannot be compared.")
            return self._others_left.diff(self._pages)

    def canonical_dump(self) -> str:
        """Every ordinary table, sorted by name and key, as text: equal content gives equal text, whatever the file."""
        lines = [f"clock {self.now()}"]
        for table in tables_of(self.db):
            lines.append(f"table {table.name} {json.dumps(table.columns)}")
            order = ", ".join(f"{quoted(column)} COLLATE BINARY" for column in table.key)
            listed = ", ".join(quoted(column) for column in table.columns)
            for row in self.db.execute(f"SELECT {listed} FROM main.{quoted(table.name)} ORDER BY {order}"):
                lines.append(json.dumps([json_value(value) for value in row], ensure_ascii=False))
        return "\n".join(lines) + "\n"

    def checksum(self) -> str:
        return hashlib.sha256(self.canonical_dump().encode()).hexdigest()


# --- building --------------------------------------------------------------------------------------------


def snapshot(site: Site, seed: int, cache: Path | None, scale: str = "") -> Snapshot:
    """The site's pristine database, from the cache if possible; an unusable cache is built again. `scale`: one of the
    site's, or empty for the usual size; a site of one size keeps it."""
    site = site.owner
    scale = scale if site.scales else ""
    if scale and scale not in site.scales:
        raise InputError(f"There is no scale {scale!r}.", hint=f"The {site.name} site has {', '.join(site.scales)}.")
    if cache is None:
        return Snapshot(DatabasePages(build(site, seed, scale)))
    name = f"{site.name}-{seed}" + (f"-{scale}" if scale else "")
    path = cache / f"{name}-{_fingerprint(site, seed, scale)}.snapshot"
    found = _IN_USE.get(path)
    if found is None:
        found = _IN_USE[path] = Snapshot(DatabasePages(_read_or_build(site, seed, scale, path)))
    return found


_IN_USE: WeakValueDictionary[Path, Snapshot] = WeakValueDictionary()
"""What an open world has is not read from the disk again."""


def _read_or_build(site: Site, seed: int, scale: str, path: Path) -> bytes:
    data = _read_cached(path)
    if data is not None:
        return data
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_name(f"{path.name.rsplit('-', 1)[0]}.lock").open("a+")
    except OSError as error:
        log.warning("No cache in %s: %s", path.parent, error)
        return build(site, seed, scale)
    with lock:
        _wait_for_turn(lock, path.name)
        data = _read_cached(path)
        if data is None:
            data = build(site, seed, scale)
            _write_cached(path, data)
    return data


def _wait_for_turn(lock: TextIO, name: str) -> None:
    """If two processes need the same world, one builds and the other waits. A crash releases the lock too."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        log.warning("Waiting for process %s, which is making the world %s.", lock.read() or "?", name.rsplit("-", 1)[0])
        fcntl.flock(lock, fcntl.LOCK_EX)
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()


def build(site: Site, seed: int, scale: str = "") -> bytes:
    """Seeds a new database, checks that the site keeps its promises, and packs it."""
    with boundary(SiteError, f"Building the {site.name} world from seed {seed}"):
        db = apsw.Connection(":memory:")
        db.execute(site.schema)
        _check_tables(site, db)
        with db:
            site.seed(db, seed, *([scale] if scale else []))
        broken = db.execute("PRAGMA foreign_key_check").fetchone()
        if broken is not None:
            raise SiteError(f"The {site.name} site's data has a dangling reference in {broken[0]}, row {broken[1]}.")
        db.execute("PRAGMA user_version = 0")
        db.execute("VACUUM")
        return db.serialize("main")


def _check_tables(site: Site, db: apsw.Connection) -> None:
    tables = tables_of(db)
    problems = []
    for table in tables:
        if not table.key:
            problems.append(f"table {table.name} has no primary key")
        elif nullable := _nullable_keys(db, table):
            problems.append(f"key column {table.name}.{nullable[0]} may be NULL")
        classed = site.columns.get(table.name, {})
        problems += [f"column {table.name}.{name} has no class" for name in table.columns if name not in classed]
        problems += [f"column {table.name}.{name} does not exist" for name in classed if name not in table.columns]
    known = {table.name for table in tables}
    problems += [f"table {name} does not exist, or is virtual" for name in site.columns if name not in known]
    for name, classes in site.columns.items():
        problems += [f"{name}.{column} has the unknown class {kind}" for column, kind in classes.items()
                     if kind not in get_args(ColumnClass)]  # fmt: skip
    try:
        followed(db, site.columns)
    except ValueError as problem:
        problems.append(str(problem))
    names = set(known) | {f"{name}.{column}" for name in known for column in site.columns.get(name, {})}
    problems += [f"{name} does not exist" for name in (*site.noticed, *site.own) if name not in names]
    if problems:
        raise SiteError(f"The {site.name} site cannot be used: {'; '.join(problems)}.")


def _nullable_keys(db: apsw.Connection, table: TableShape) -> list[str]:
    """Unless told otherwise, SQLite allows NULL keys, any number of them; such rows cannot be told apart."""
    indexed = db.execute("SELECT 1 FROM pragma_index_list(?, 'main') WHERE origin = 'pk'", (table.name,)).fetchone()
    if indexed is None:  # The key is the rowid itself.
        return []
    info = db.execute("SELECT name FROM pragma_table_xinfo(?, 'main') WHERE pk AND NOT \"notnull\"", (table.name,))
    return [name for (name,) in info]


_NO_DATA = {".html", ".css", ".js", ".svg", ".pyc"}


def _fingerprint(site: Site, seed: int, scale: str = "") -> str:
    """A hash of everything the data depends on: the site's own files and the kit's, not those of other sites.
    Templates and styles are left out: they create no rows."""
    digest = hashlib.sha256()
    digest.update(json.dumps([site.name, site.schema, seed, scale, apsw.sqlite_lib_version()]).encode())
    kit = Path(__file__).parent
    for root in (kit / "kit.py", kit / "rng.py", kit / "web", _home_of(site)):
        for file in sorted(root.rglob("*")) if root.is_dir() else [root]:
            if file.is_file() and file.suffix not in _NO_DATA:
                digest.update(f"{file.relative_to(root.parent)}\0".encode())
                digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]


def _home_of(site: Site) -> Path:
    """The folder of the site's package, or its only file."""
    module = Path(sys.modules[site.package or site.seed.__module__].__file__ or "")
    return module.parent if (module.parent / "__init__.py").exists() else module


MOST_CACHED = 2 << 30
OLDEST_CACHED = 30 * 24 * 3600
"""Seconds since it was last used."""


def _evict(newest: Path) -> None:
    """Worlds of seeds that were drawn are hardly ever wanted again, and each takes some megabytes."""
    found = []
    for file in newest.parent.glob("*.snapshot"):
        with suppress(OSError):  # Another process may clear up as well.
            about = file.stat()
            found.append((about.st_mtime, about.st_size, file))
    room, now = MOST_CACHED, time.time()
    for used, size, file in sorted(found, reverse=True):
        room -= size
        if file != newest and (room < 0 or now - used > OLDEST_CACHED):
            file.unlink(missing_ok=True)
            file.with_name(f"{file.name.rsplit('-', 1)[0]}.lock").unlink(missing_ok=True)


def _read_cached(path: Path) -> bytes | None:
    """None if the file is missing, truncated or damaged."""
    try:
        stored = path.read_bytes()
    except OSError:
        return None
    with suppress(OSError):
        os.utime(path)  # So that what is used is kept.
    digest, data = stored[:32], stored[32:]
    if hashlib.sha256(data).digest() != digest:
        log.warning("%s is damaged and will be built again.", path)
        return None
    return data


def _write_cached(path: Path, data: bytes) -> None:
    """A full disk only means building the data again at the next start."""
    try:
        write_whole(path, hashlib.sha256(data).digest() + data)
    except OSError as error:
        log.warning("The cache in %s cannot be written: %s", path.parent, error)
        return
    _evict(path)
    name = path.name.rsplit("-", 1)[0]
    for old in path.parent.glob(f"{name}-*.snapshot"):
        if old != path and old.name.count("-") == path.name.count("-"):  # Those of another scale have one more.
            old.unlink(missing_ok=True)
