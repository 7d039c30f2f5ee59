"""A run directory: one ledger (SQLite) and one folder of blobs, named by their hash.

What makes it survive `kill -9` at any moment:

- A blob is written beside its place and renamed into it; a blob that exists is whole. Reading checks the hash.
- A trajectory or a verdict is one row, added in one transaction, after the blobs that it names.
- Nothing is ever changed or deleted: a unit that is played again gets another attempt, a trajectory that is
  graded again gets another verdict. The newest one counts.
- One writer at a time, held by a lock of the operating system, which dies with its process.

So resuming is subtraction: the plan's units, less those with a finished attempt.
"""

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Self

import apsw
from pydantic import Field, ValidationError

from webassay.core.errors import InputError, StoreError
from webassay.core.record import Json, Record, blob_hash
from webassay.core.trajectory import BlobRef, Trajectory
from webassay.core.verdict import Verdict

LEDGER = "ledger.sqlite"

MIGRATIONS: tuple[tuple[str, str], ...] = (
    (
        "001-ledger",
        """
        CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE unit (
            id TEXT PRIMARY KEY, ordinal INTEGER NOT NULL UNIQUE, record TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE trajectory (
            id TEXT PRIMARY KEY, unit TEXT NOT NULL, attempt INTEGER NOT NULL, faulted INTEGER NOT NULL,
            record TEXT NOT NULL, UNIQUE (unit, attempt)
        ) WITHOUT ROWID;
        CREATE TABLE verdict (
            ordinal INTEGER PRIMARY KEY, trajectory TEXT NOT NULL, grader TEXT NOT NULL, fingerprint TEXT NOT NULL,
            record TEXT NOT NULL
        );
        CREATE INDEX verdict_of ON verdict (trajectory, grader, ordinal);
        """,
    ),
)
"""Named, applied in order, never edited once released."""


class UnitOfWork(Record):
    """One episode to be played. It fully determines its work."""

    agent: str
    task_id: str
    trial: int = 0
    seed: int = 0
    facts: dict[str, Json] = Field(default_factory=dict)
    """What reports need to know of the task (template, kind, sites, chore); never its checks."""

    @property
    def id(self) -> str:
        return f"{self.agent}/{self.task_id}/{self.trial}"


class Store:
    """Open a run directory with `Store.create` or `Store.open`; close it, or use it in a `with`."""

    def __init__(self, path: Path, *, writable: bool) -> None:
        self.path = path
        self._lock: BinaryIO | None = None
        if writable:
            self._take_lock()
        try:
            with _named(path / LEDGER):
                flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE if writable else apsw.SQLITE_OPEN_READWRITE
                self._db = apsw.Connection(str(path / LEDGER), flags=flags)
                self._db.set_busy_timeout(10_000)
                if writable:
                    self._db.pragma("journal_mode", "wal")
                    self._db.pragma("synchronous", "normal")
                self._migrate(writable)
        except BaseException:
            self._drop_lock()
            raise

    @classmethod
    def create(cls, path: Path) -> Self:
        """A new run directory, or an old one to go on with."""
        if path.exists() and not path.is_dir():
            raise InputError(f"{path} is a file, not a run directory.", hint="Give another --out.")
        if path.is_dir() and any(path.iterdir()) and not (path / LEDGER).exists():
            raise InputError(
                f"{path} is not empty and not a run directory.", hint="Give a new --out; nothing was written."
            )
        with _named(path):
            path.mkdir(parents=True, exist_ok=True)
        return cls(path, writable=True)

    @classmethod
    def open(cls, path: Path, *, writable: bool = False) -> Self:
        if not (path / LEDGER).is_file():
            raise InputError(f"{path} is not a run directory: it has no {LEDGER}.", hint="`webassay run` makes one.")
        return cls(path, writable=writable)

    def close(self) -> None:
        self._db.close()
        self._drop_lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- settings and plan --------------------------------------------------------------------------------

    def setting(self, key: str) -> str | None:
        with _named(self.path / LEDGER):
            for (value,) in self._db.execute("SELECT value FROM setting WHERE key = ?", (key,)):
                return str(value)
        return None

    def set(self, key: str, value: str) -> None:
        with _named(self.path / LEDGER), self._transaction():
            self._db.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (key, value))

    def plan(self, units: Sequence[UnitOfWork]) -> None:
        """Adds what is not planned yet; a plan only grows."""
        with _named(self.path / LEDGER), self._transaction():
            known = {row[0] for row in self._db.execute("SELECT id FROM unit")}
            new = [unit for unit in units if unit.id not in known]
            self._db.executemany(
                "INSERT INTO unit VALUES (?, ?, ?)",
                [(unit.id, len(known) + number, unit.to_json()) for number, unit in enumerate(new)],
            )

    def units(self) -> list[UnitOfWork]:
        with _named(self.path / LEDGER):
            rows = self._db.execute("SELECT record FROM unit ORDER BY ordinal")
            return [UnitOfWork.from_json(record) for (record,) in rows]

    def unfinished(self) -> list[UnitOfWork]:
        """Planned, and without an attempt that ended by itself: faults are tried again."""
        with _named(self.path / LEDGER):
            rows = self._db.execute(
                "SELECT record FROM unit WHERE NOT EXISTS "
                "(SELECT 1 FROM trajectory WHERE trajectory.unit = unit.id AND NOT faulted) ORDER BY ordinal"
            )
            return [UnitOfWork.from_json(record) for (record,) in rows]

    # --- trajectories and verdicts ------------------------------------------------------------------------

    def attempts(self, unit_id: str) -> int:
        with _named(self.path / LEDGER):
            return int(self._db.execute("SELECT count(*) FROM trajectory WHERE unit = ?", (unit_id,)).get)

    def add_trajectory(self, unit_id: str, trajectory: Trajectory) -> None:
        with _named(self.path / LEDGER), self._transaction():
            self._db.execute(
                "INSERT INTO trajectory VALUES (?, ?, ?, ?, ?)",
                (
                    trajectory.id,
                    unit_id,
                    self.attempts(unit_id),
                    trajectory.ending.kind == "fault",
                    trajectory.to_json(),
                ),
            )

    def add_verdict(self, verdict: Verdict) -> None:
        with _named(self.path / LEDGER), self._transaction():
            fingerprint = verdict.fingerprint
            self._db.execute(
                "INSERT INTO verdict (trajectory, grader, fingerprint, record) VALUES (?, ?, ?, ?)",
                (verdict.trajectory_id, fingerprint.grader, fingerprint.content_hash(), verdict.to_json()),
            )

    def trajectories(self) -> Iterator[tuple[UnitOfWork, Trajectory]]:
        """The attempt of each unit that counts: the newest that did not fault, else the newest."""
        for unit in self.units():
            found = self.trajectory(unit.id)
            if found is not None:
                yield unit, found

    def trajectory(self, unit_id: str) -> Trajectory | None:
        with _named(self.path / LEDGER):
            rows = self._db.execute(
                "SELECT record FROM trajectory WHERE unit = ? ORDER BY faulted, attempt DESC LIMIT 1", (unit_id,)
            )
            return next((Trajectory.from_json(record) for (record,) in rows), None)

    def trajectory_by_id(self, trajectory_id: str) -> Trajectory | None:
        with _named(self.path / LEDGER):
            rows = self._db.execute("SELECT record FROM trajectory WHERE id = ?", (trajectory_id,))
            return next((Trajectory.from_json(record) for (record,) in rows), None)

    def verdict(self, trajectory_id: str, grader: str) -> Verdict | None:
        """The newest one of that grader."""
        with _named(self.path / LEDGER):
            rows = self._db.execute(
                "SELECT record FROM verdict WHERE trajectory = ? AND grader = ? ORDER BY ordinal DESC LIMIT 1",
                (trajectory_id, grader),
            )
            return next((Verdict.from_json(record) for (record,) in rows), None)

    def verdicts(self, trajectory_id: str) -> list[Verdict]:
        with _named(self.path / LEDGER):
            rows = self._db.execute(
                "SELECT record FROM verdict WHERE trajectory = ? ORDER BY ordinal", (trajectory_id,)
            )
            return [Verdict.from_json(record) for (record,) in rows]

    def has_verdict(self, trajectory_id: str, fingerprint: str) -> bool:
        with _named(self.path / LEDGER):
            query = "SELECT EXISTS (SELECT 1 FROM verdict WHERE trajectory = ? AND fingerprint = ?)"
            return bool(self._db.execute(query, (trajectory_id, fingerprint)).get)

    # --- blobs ----------------------------------------------------------------------------------------------

    def write(self, data: bytes, media_type: str) -> BlobRef:
        ref = BlobRef(hash=blob_hash(data), media_type=media_type, size=len(data))
        place = self._place(ref)
        if not place.exists():
            with _named(place):
                place.parent.mkdir(parents=True, exist_ok=True)
                beside = place.with_name(f".{place.name}.{os.getpid()}.{time.monotonic_ns()}")
                try:
                    beside.write_bytes(data)
                    beside.replace(place)
                finally:
                    beside.unlink(missing_ok=True)
        return ref

    def read(self, ref: BlobRef) -> bytes:
        with self.open_blob(ref) as stream:
            data = stream.read()
        if blob_hash(data) != ref.hash:
            raise StoreError(f"{self._place(ref)} is damaged: its content does not have its name's hash.")
        return data

    def open_blob(self, ref: BlobRef) -> BinaryIO:
        try:
            return self._place(ref).open("rb")
        except FileNotFoundError:
            raise StoreError(f"{self._place(ref)} is missing.", hint="Was the blobs folder copied along?") from None

    def _place(self, ref: BlobRef) -> Path:
        digest = ref.hash.removeprefix("sha256:")
        if len(digest) != 64 or not all(c in "0123456789abcdef" for c in digest):
            raise StoreError(f"{ref.hash!r} is not the name of a blob.")
        return self.path / "blobs" / digest[:2] / digest[2:]

    # --- inside ---------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing. Not apsw's own: a full disk rolls back by itself, and rolling back again hides why."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def _take_lock(self) -> None:
        with _named(self.path / ".lock"):
            self._lock = (self.path / ".lock").open("ab")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._drop_lock()
            raise InputError(
                f"Another webassay process is writing to {self.path}.", hint="Wait for it, or give another --out."
            ) from None

    def _drop_lock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _migrate(self, writable: bool) -> None:
        applied: set[str] = set()
        if self._db.table_exists("main", "migration"):
            applied = {row[0] for row in self._db.execute("SELECT name FROM migration")}
        unknown = applied - {name for name, _ in MIGRATIONS}
        if unknown:
            raise StoreError(
                f"{self.path} was written by a newer webassay (it knows {', '.join(sorted(unknown))}).",
                hint="Update webassay to read it.",
            )
        pending = [(name, sql) for name, sql in MIGRATIONS if name not in applied]
        if pending and not writable:
            raise StoreError(f"{self.path} has no complete ledger.", hint="Run `webassay run` on it again.")
        for name, sql in pending:
            with self._transaction():
                self._db.execute("CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY) WITHOUT ROWID")
                self._db.execute(sql)
                self._db.execute("INSERT INTO migration VALUES (?)", (name,))


class StoreBlobs:
    """The blobs of a store, as graders and judges read them."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def read(self, ref: BlobRef) -> bytes:
        return self._store.read(ref)

    def open(self, ref: BlobRef) -> BinaryIO:
        return self._store.open_blob(ref)

    def write(self, data: bytes, media_type: str) -> BlobRef:
        return self._store.write(data, media_type)


@contextlib.contextmanager
def _named(place: Path) -> Iterator[None]:
    """What the disk or SQLite says, as a message that names the file and what to do."""
    try:
        yield
    except apsw.FullError as error:
        raise StoreError(f"The disk is full: {place}.", hint="Make room and run the same command again.") from error
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise StoreError(
            f"{place} is damaged: {error}.",
            hint="Nothing was changed. Put a copy back, or start a new run with another --out.",
        ) from error
    except ValidationError as error:
        raise StoreError(
            f"{place} holds a {error.title} that this webassay cannot read: {error.errors()[0]['msg']}.",
            hint="Nothing was changed. It may have been written by another version.",
        ) from error
    except apsw.Error as error:
        raise StoreError(f"{place}: {error}.") from error
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise StoreError(f"The disk is full: {place}.", hint="Make room and run the same command again.") from error
        raise StoreError(f"{place}: {error.strerror or error}.") from error
