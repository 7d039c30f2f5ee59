"""The ledger: the plan, what was played, and what graders found.

What lets a run survive `kill -9` at any moment:

- Blobs are written first, and a blob that exists is whole.
- An episode is one transaction: its trajectory and its verdicts, or neither.
- Nothing is ever changed or deleted. A unit played again gets another attempt, a trajectory graded again gets another
  verdict, and the newest one counts.
- There is one writer at a time, guarded by a lock of the operating system that dies with its process.

So resuming is subtraction: the plan's units minus those with a finished attempt.

Records are kept as text next to the columns that are searched. The text is hashed when it is added and checked
whenever it is read. A row that fails the check is a `StoreError` that names it; readers that go over many rows take
an `on_damage` callback, which is told instead, and go on with the next row.
"""

import contextlib
import fcntl
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Self, TypeVar

import apsw
import msgspec
from pydantic import ValidationError

from webassay.core.errors import InputError, StoreError
from webassay.core.interaction import Goal
from webassay.core.record import Record
from webassay.core.summary import (
    Attempt,
    UnitResult,
    read_trajectory_summary,
    read_unit_summary,
    read_verdict_summary,
)
from webassay.core.trajectory import BlobRef, Trajectory
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Fingerprint, Verdict
from webassay.store.blobs import BlobFolder
from webassay.store.columns import checksum, digest, insert, insert_trajectory, insert_verdict, unit_row
from webassay.store.failures import translate_errors
from webassay.store.migrations import MIGRATIONS

LEDGER = "ledger.sqlite"

R = TypeVar("R", bound=Record)
Agents = Collection[str] | None
"""Only units of these agents; None: of all."""
OnDamage = Callable[[StoreError], None]
"""Told about a row that cannot be used; without it the error is raised."""

_PAGE = 64
"""Rows fetched at a time. Nothing is held open between two pages, so whoever reads may also write."""

_COUNTED = "(SELECT ordinal FROM trajectory WHERE unit_ordinal = u.ordinal ORDER BY faulted, attempt DESC LIMIT 1)"
"""The attempt of a unit that counts: the newest that did not fault, else the newest."""
_FINISHED = "EXISTS (SELECT 1 FROM trajectory WHERE unit_ordinal = u.ordinal AND faulted = 0)"
_OF_AGENTS = "(:agents IS NULL OR u.agent IN (SELECT value FROM json_each(:agents)))"
_VERDICTS = (
    "SELECT v.ordinal, CAST(r.record AS BLOB), v.hash, v.replies, v.trajectory FROM verdict v "
    "LEFT JOIN verdict_record r ON r.ordinal = v.ordinal "
)


class Store:
    """Get one with `Store.create` or `Store.open`; close it, or use it in a `with`."""

    def __init__(self, path: Path, *, writable: bool) -> None:
        self.path = path
        self._ledger = path / LEDGER
        self.blobs = BlobFolder(path / "blobs", writable=writable)
        self._lock: BinaryIO | None = None
        if writable:
            self._take_lock()
        try:
            with translate_errors(self._ledger):
                self._db = self._connect(writable)
                self._migrate(writable)
        except BaseException:
            self._drop_lock()
            raise

    @classmethod
    def create(cls, path: Path) -> Self:
        """A new run directory, or an existing one to continue."""
        if path.exists() and not path.is_dir():
            raise InputError(f"{path} is a file, not a run directory.", hint="Give another --out.")
        if path.is_dir() and any(path.iterdir()) and not (path / LEDGER).exists():
            raise InputError(
                f"{path} is not empty and not a run directory.", hint="Give a new --out; nothing was written."
            )
        with translate_errors(path):
            path.mkdir(parents=True, exist_ok=True)
        return cls(path, writable=True)

    @classmethod
    def open(cls, path: Path, *, writable: bool = False) -> Self:
        """An old ledger is brought up to date when opened for writing; for reading, a temporary copy of it is."""
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
        found = self._one("SELECT value FROM setting WHERE key = :key", key=key)
        return None if found is None else str(found[0])

    def set(self, key: str, value: str) -> None:
        with self._writing():
            self._db.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (key, value))

    def plan(self, units: Iterable[UnitOfWork]) -> None:
        """Adds what is not planned yet; a plan only grows."""
        with self._writing():
            for unit in units:
                insert(self._db, "unit", unit_row(unit), "ON CONFLICT (id) DO NOTHING")

    def units(self, agents: Agents = None, *, on_damage: OnDamage | None = None) -> Iterator[UnitOfWork]:
        """In the order of the plan."""
        return self._units("", agents, on_damage)

    def unfinished(self, agents: Agents = None, *, on_damage: OnDamage | None = None) -> Iterator[UnitOfWork]:
        """Planned, and without an attempt that ended by itself: faults are tried again."""
        return self._units(f"AND NOT {_FINISHED}", agents, on_damage)

    def count_units(self, agents: Agents = None) -> int:
        return self._count(f"FROM unit u WHERE {_OF_AGENTS}", agents=_listed(agents))

    def count_unfinished(self, agents: Agents = None) -> int:
        return self._count(f"FROM unit u WHERE {_OF_AGENTS} AND NOT {_FINISHED}", agents=_listed(agents))

    # --- adding -------------------------------------------------------------------------------------------

    def attempts(self, unit_id: str) -> int:
        return self._count("FROM trajectory WHERE unit = :unit", unit=unit_id)

    def add_episode(self, unit_id: str, trajectory: Trajectory, verdicts: Sequence[Verdict]) -> None:
        """A played episode and what was found in it, all or nothing."""
        with self._writing():
            insert_trajectory(self._db, unit_id, self.attempts(unit_id), trajectory)
            for verdict in verdicts:
                insert_verdict(self._db, verdict, self.blobs, time=_now())

    def add_trajectory(self, unit_id: str, trajectory: Trajectory) -> None:
        with self._writing():
            insert_trajectory(self._db, unit_id, self.attempts(unit_id), trajectory)

    def add_verdict(self, verdict: Verdict) -> None:
        """Its raw replies go into a blob of their own."""
        self.add_verdicts([verdict])

    def add_verdicts(self, verdicts: Iterable[Verdict]) -> None:
        """All of them or none."""
        with self._writing():
            for verdict in verdicts:
                insert_verdict(self._db, verdict, self.blobs, time=_now())

    # --- trajectories -------------------------------------------------------------------------------------

    def trajectory(self, unit_id: str) -> Trajectory | None:
        """The attempt of this unit that counts."""
        query = (
            "SELECT t.id, CAST(r.record AS BLOB), t.hash FROM trajectory t "
            "LEFT JOIN trajectory_record r ON r.ordinal = t.ordinal "
            "WHERE t.unit = :unit ORDER BY t.faulted, t.attempt DESC LIMIT 1"
        )
        found = self._one(query, unit=unit_id)
        return None if found is None else self._record(Trajectory, *found)

    def trajectory_by_id(self, trajectory_id: str) -> Trajectory | None:
        """Any attempt, also one that does not count."""
        query = (
            "SELECT t.id, CAST(r.record AS BLOB), t.hash FROM trajectory t "
            "LEFT JOIN trajectory_record r ON r.ordinal = t.ordinal WHERE t.id = :id"
        )
        found = self._one(query, id=trajectory_id)
        return None if found is None else self._record(Trajectory, *found)

    def attempt(self, trajectory_id: str) -> Attempt | None:
        return next(iter(self._attempts("id = ?", trajectory_id)), None)

    def attempts_at(self, unit_id: str) -> list[Attempt]:
        """Every attempt of a unit, oldest first."""
        return self._attempts("unit = ? ORDER BY attempt", unit_id)

    def attempts_named(self, part: str) -> list[Attempt]:
        """Attempts with this text in their ids; at most a hundred."""
        return self._attempts("instr(id, ?) > 0 ORDER BY ordinal LIMIT 100", part)

    def played_again(self) -> dict[str, int]:
        """Units with more than one attempt, each with how many."""
        query = "SELECT unit, COUNT(*) FROM trajectory GROUP BY unit HAVING COUNT(*) > 1 ORDER BY MIN(ordinal)"
        with translate_errors(self._ledger):
            return {str(unit): int(count) for unit, count in self._db.execute(query)}

    def _attempts(self, condition: str, value: str) -> list[Attempt]:
        with translate_errors(self._ledger):
            query = f"SELECT id, unit, ending, steps, seconds, time FROM trajectory WHERE {condition}"
            return [Attempt(*row) for row in self._db.execute(query, (value,))]

    def trajectories(
        self, agents: Agents = None, *, on_damage: OnDamage | None = None
    ) -> Iterator[tuple[UnitOfWork, Trajectory]]:
        """Of each unit the attempt that counts, in the order of the plan."""
        return self._played("", agents, on_damage)

    def ungraded(
        self, agents: Agents = None, *, on_damage: OnDamage | None = None
    ) -> Iterator[tuple[UnitOfWork, Trajectory]]:
        """Those of them that nobody has graded at all."""
        return self._played("AND NOT EXISTS (SELECT 1 FROM verdict WHERE trajectory = t.id)", agents, on_damage)

    def find_trajectory(self, name: str) -> tuple[str, str] | None:
        """Its id and its task's, by its own id or by a unit's; of a unit, the attempt that counts."""
        of_unit = "SELECT id, task FROM trajectory WHERE unit = :name ORDER BY faulted, attempt DESC LIMIT 1"
        found = self._one("SELECT id, task FROM trajectory WHERE id = :name", name=name)
        found = found or self._one(of_unit, name=name)
        return None if found is None else (str(found[0]), str(found[1]))

    def trajectory_ids(self, agents: Agents = None) -> Iterator[str]:
        """Like `trajectories`, without reading any."""
        query = (
            f"SELECT u.ordinal, t.id FROM unit u JOIN trajectory t ON t.ordinal = {_COUNTED} "
            f"WHERE u.ordinal > :after AND {_OF_AGENTS} ORDER BY u.ordinal LIMIT :size"
        )
        return (name for _, name in self._paged(query, size=1000, agents=_listed(agents)))

    def goals(self, agents: Agents = None, *, on_damage: OnDamage | None = None) -> Iterator[tuple[str, Goal]]:
        """Like `trajectories`, with each id and goal alone; the steps are not parsed."""
        query = _played_query("t.id, CAST(r.record AS BLOB), t.hash")
        for _, name, record, seal in self._paged(query, agents=_listed(agents)):
            with _confined(on_damage):
                yield name, self._goal(name, record, seal)

    # --- verdicts -----------------------------------------------------------------------------------------

    def verdict(
        self, trajectory_id: str, grader: str = "", *, fingerprint: str = "", replies: bool = False
    ) -> Verdict | None:
        """The newest one of that grader, or with that fingerprint (its content hash)."""
        query = (
            f"{_VERDICTS} WHERE v.trajectory = :trajectory AND (:grader = '' OR v.grader = :grader) "
            "AND (:fingerprint = '' OR v.fingerprint = :fingerprint) ORDER BY v.ordinal DESC LIMIT 1"
        )
        found = self._one(query, trajectory=trajectory_id, grader=grader, fingerprint=fingerprint)
        return None if found is None else self._verdict(found, replies)

    def verdicts(self, trajectory_id: str, *, replies: bool = False) -> list[Verdict]:
        """Everything that was ever found in one trajectory, oldest first."""
        with translate_errors(self._ledger):
            query = f"{_VERDICTS} WHERE v.trajectory = ? ORDER BY v.ordinal"
            found = self._db.execute(query, (trajectory_id,)).fetchall()
        return [self._verdict(row, replies) for row in found]

    def newest_verdicts(
        self, grader: str = "", *, replies: bool = False, on_damage: OnDamage | None = None
    ) -> Iterator[Verdict]:
        """On the attempts that count: the newest of each trajectory and fingerprint, in the order they were made."""
        query = (
            f"{_VERDICTS} WHERE v.ordinal > :after AND (:grader = '' OR v.grader = :grader) "
            "AND v.ordinal = (SELECT max(ordinal) FROM verdict "
            "WHERE fingerprint = v.fingerprint AND trajectory = v.trajectory) "
            "AND v.trajectory = (SELECT id FROM trajectory WHERE unit = v.unit ORDER BY faulted, attempt DESC LIMIT 1) "
            "ORDER BY v.ordinal LIMIT :size"
        )
        for row in self._paged(query, grader=grader):
            with _confined(on_damage):
                yield self._verdict(row, replies)

    def has_verdict(self, trajectory_id: str, fingerprint: str) -> bool:
        """Whether this grader, with these settings and this key, has decided; a fault is no decision."""
        query = (
            "FROM verdict WHERE fingerprint = :fingerprint AND trajectory = :trajectory AND status <> 'fault' LIMIT 1"
        )
        return bool(self._count(query, fingerprint=fingerprint, trajectory=trajectory_id))

    # --- for reports --------------------------------------------------------------------------------------

    def raters(self) -> dict[str, Fingerprint]:
        """Everybody who gave a verdict: the id, and the fingerprint of one of the verdicts."""
        with translate_errors(self._ledger):
            found = self._db.execute("SELECT id, example FROM rater ORDER BY id").fetchall()
        try:
            return {str(name): Fingerprint.from_json(str(example)) for name, example in found}
        except ValidationError as error:
            raise self._unreadable("Fingerprint", "of a rater", error.errors()[0]["msg"]) from error

    def has_decided(self, grader: str) -> bool:
        """Whether a grader of this name has called anything a pass or a failure."""
        query = "FROM verdict WHERE grader = :grader AND status IN ('pass', 'fail') LIMIT 1"
        return bool(self._count(query, grader=grader))

    def rows(
        self, grader: str, *, raters: Collection[str] = (), on_damage: OnDamage | None = None
    ) -> Iterator[UnitResult]:
        """Every planned unit with the summaries of the attempt that counts and of the grader's newest verdict on it.

        `raters` are ids: only their verdicts count. Nothing but summaries is read, one row at a time.
        """
        chosen = "AND rater IN (SELECT value FROM json_each(:raters))" if raters else ""
        query = (
            "SELECT u.ordinal, u.agent, u.task, u.trial, CAST(u.summary AS BLOB), u.summary_check, "
            "CAST(t.summary AS BLOB), t.summary_check, CAST(v.summary AS BLOB), v.summary_check "
            f"FROM unit u LEFT JOIN trajectory t ON t.ordinal = {_COUNTED} "
            "LEFT JOIN verdict v ON v.ordinal = "
            f"(SELECT max(ordinal) FROM verdict WHERE trajectory_ordinal = t.ordinal AND grader = :grader {chosen}) "
            "ORDER BY u.ordinal"
        )
        with translate_errors(self._ledger):
            for row in self._db.execute(query, {"grader": grader, "raters": _listed(raters)}):
                try:
                    result = self._unit_result(row)
                except StoreError as error:
                    if on_damage is None:
                        raise
                    on_damage(error)
                else:
                    yield result

    # --- writing, inside ----------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """All or nothing. Not apsw's own: a full disk rolls back by itself, and rolling back again hides why."""
        with translate_errors(self._ledger):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    # --- reading, inside ----------------------------------------------------------------------------------

    def _units(self, condition: str, agents: Agents, on_damage: OnDamage | None) -> Iterator[UnitOfWork]:
        query = (
            "SELECT u.ordinal, u.id, CAST(u.record AS BLOB), u.hash FROM unit u "
            f"WHERE u.ordinal > :after AND {_OF_AGENTS} {condition} ORDER BY u.ordinal LIMIT :size"
        )
        for _, name, record, seal in self._paged(query, agents=_listed(agents)):
            with _confined(on_damage):
                yield self._record(UnitOfWork, name, record, seal)

    def _played(
        self, condition: str, agents: Agents, on_damage: OnDamage | None
    ) -> Iterator[tuple[UnitOfWork, Trajectory]]:
        columns = "u.id, CAST(u.record AS BLOB), u.hash, t.id, CAST(r.record AS BLOB), t.hash"
        for _, *row in self._paged(_played_query(columns, condition), agents=_listed(agents)):
            with _confined(on_damage):
                yield self._record(UnitOfWork, *row[:3]), self._record(Trajectory, *row[3:])

    def _verdict(self, row: tuple[Any, ...], replies: bool) -> Verdict:
        ordinal, record, seal, reference, trajectory_id = row
        verdict = self._record(Verdict, f"{ordinal} of {trajectory_id}", record, seal)
        if not (replies and reference):
            return verdict
        kept = json.loads(self.blobs.read(BlobRef.from_json(reference)))
        return verdict.model_copy(update={"replies": kept})

    def _goal(self, name: str, record: bytes | None, seal: bytes) -> Goal:
        try:
            goal = _JUST_THE_GOAL(self._sound("Trajectory", name, record, seal)).goal
            return Goal.from_json(bytes(goal))
        except (msgspec.MsgspecError, ValidationError) as error:
            raise self._unreadable("Trajectory", name, str(error)) from error

    def _unit_result(self, row: tuple[Any, ...]) -> UnitResult:
        unit, agent, task, trial, told, told_check, played, played_check, found, found_check = row
        if checksum(told) != told_check:
            raise self._damaged("the summary of UnitOfWork", self._id(unit))
        if played is not None and checksum(played) != played_check:
            raise self._damaged("the summary of the Trajectory of", self._id(unit))
        if found is not None and checksum(found) != found_check:
            raise self._damaged("the summary of the Verdict on", self._id(unit))
        try:
            return UnitResult(
                agent,
                task,
                trial,
                read_unit_summary(told),
                None if played is None else read_trajectory_summary(played),
                None if found is None else read_verdict_summary(found),
            )
        except msgspec.MsgspecError as error:
            raise self._unreadable("a summary of UnitOfWork", self._id(unit), str(error)) from error

    def _id(self, ordinal: int) -> str:
        """Of a unit."""
        found = self._one("SELECT id FROM unit WHERE ordinal = :ordinal", ordinal=ordinal)
        return str(found[0]) if found else str(ordinal)

    def _record(self, kind: type[R], name: str, record: bytes | None, seal: bytes) -> R:
        text = self._sound(kind.__name__, name, record, seal)
        try:
            return kind.from_json(text)
        except ValidationError as error:
            raise self._unreadable(kind.__name__, name, error.errors()[0]["msg"]) from error

    def _sound(self, kind: str, name: object, text: bytes | None, seal: bytes) -> bytes:
        if text is None or digest(text) != seal:
            raise self._damaged(kind, name)
        return text

    def _damaged(self, kind: str, name: object) -> StoreError:
        return StoreError(
            f"{self._ledger}: {kind} {name} is damaged: it is not what was written.",
            hint="Nothing was changed. Restore a copy of the ledger.",
        )

    def _unreadable(self, kind: str, name: object, why: str) -> StoreError:
        return StoreError(
            f"{self._ledger}: this webassay cannot read {kind} {name}: {why}.",
            hint="Nothing was changed. It may have been written by another version.",
        )

    def _one(self, query: str, **parameters: object) -> tuple[Any, ...] | None:
        with translate_errors(self._ledger):
            return next(iter(self._db.execute(query, parameters)), None)

    def _count(self, condition: str, **parameters: object) -> int:
        with translate_errors(self._ledger):
            return int(self._db.execute(f"SELECT count(*) FROM (SELECT 1 {condition})", parameters).get)

    def _paged(self, query: str, *, size: int = _PAGE, **parameters: object) -> Iterator[tuple[Any, ...]]:
        """The first column is what the rows are ordered by."""
        after = -1
        while True:
            with translate_errors(self._ledger):
                rows = self._db.execute(query, {**parameters, "after": after, "size": size})
                page: list[tuple[Any, ...]] = rows.fetchall()
            yield from page
            if len(page) < size:
                return
            after = page[-1][0]

    # --- opening ------------------------------------------------------------------------------------------

    def _connect(self, writable: bool) -> apsw.Connection:
        flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if writable else 0)
        db = apsw.Connection(str(self._ledger), flags=flags)
        db.set_busy_timeout(10_000)
        if writable:
            db.pragma("journal_mode", "wal")
            db.pragma("synchronous", "normal")
        return db

    def _migrate(self, writable: bool) -> None:
        applied: set[str] = set()
        if self._db.table_exists("main", "migration"):
            applied = {row[0] for row in self._db.execute("SELECT name FROM migration")}
        unknown = applied - {step.name for step in MIGRATIONS}
        if unknown:
            raise StoreError(
                f"{self.path} was written by a newer webassay (it knows {', '.join(sorted(unknown))}).",
                hint="Update webassay to read it.",
            )
        pending = [step for step in MIGRATIONS if step.name not in applied]
        if pending and not writable:
            if not applied:
                raise StoreError(f"{self.path} has no complete ledger.", hint="Run `webassay run` on it again.")
            self._db = _copied(self._db)
        for step in pending:
            with self._writing():
                self._db.execute("CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY) WITHOUT ROWID")
                self._db.execute(step.sql)
                if step.move is not None:
                    step.move(self._db, self.blobs)
                self._db.execute("INSERT INTO migration VALUES (?)", (step.name,))

    def _take_lock(self) -> None:
        with translate_errors(self.path / ".lock"):
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


class _JustTheGoal(msgspec.Struct):
    goal: msgspec.Raw


_JUST_THE_GOAL = msgspec.json.Decoder(_JustTheGoal).decode


def _played_query(columns: str, condition: str = "") -> str:
    return (
        f"SELECT u.ordinal, {columns} FROM unit u JOIN trajectory t ON t.ordinal = {_COUNTED} "
        "LEFT JOIN trajectory_record r ON r.ordinal = t.ordinal "
        f"WHERE u.ordinal > :after AND {_OF_AGENTS} {condition} ORDER BY u.ordinal LIMIT :size"
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _listed(agents: Agents) -> str | None:
    return None if agents is None else json.dumps(list(agents))


@contextlib.contextmanager
def _confined(on_damage: OnDamage | None) -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        if on_damage is None:
            raise
        on_damage(error)


def _copied(db: apsw.Connection) -> apsw.Connection:
    """A copy that goes when it is closed; what does not fit into its cache is kept in a temporary file."""
    copy = apsw.Connection("")
    with copy.backup("main", db, "main") as backup:
        backup.step()
    db.close()
    return copy
