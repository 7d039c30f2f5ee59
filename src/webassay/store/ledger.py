"""The ledger: the plan, what was played, and what graders found.

What lets a run survive `kill -9` at any moment:

- Blobs are written first, and a blob that exists is whole.
- An episode is one transaction: its trajectory and its verdicts, or neither.
- Nothing is ever changed or deleted. A unit played again gets another attempt, a trajectory graded again gets another
  verdict, and the newest one counts.
- There is one writer at a time, guarded by a lock of the operating system that dies with its process.

So resuming is subtraction: the plan's units minus those with a finished attempt.

Records are kept as text next to the columns that are searched. Every row has a seal over its columns, every record and
blob a hash. Seals are checked when a ledger is opened, unless sums over its pages prove already that it is whole;
records and blobs are checked whenever they are read. `inspection` says what becomes of a row that fails. A record that
fails later is a `StoreError` that names it; readers of many rows tell an `on_damage` callback instead, and go on.
"""

import contextlib
import difflib
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec
from pydantic import ValidationError

from webassay.core.errors import InputError, StoreError
from webassay.core.record import Record
from webassay.core.summary import Attempt, UnitResult, read_trajectory_summary, read_unit_summary, read_verdict_summary
from webassay.core.trajectory import BlobRef, Trajectory
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Fingerprint, Verdict
from webassay.store.blobs import BlobFolder
from webassay.store.columns import insert_sealed, insert_trajectory, insert_unit, insert_verdict
from webassay.store.connections import (
    connect_to_read,
    connect_to_write,
    is_being_written,
    is_empty,
    is_open_here,
    refuse_name,
    refuse_strange_files,
    take_lock,
)
from webassay.store.failures import (
    OnDamage,
    confine,
    damaged_error,
    structural_error,
    translate_errors,
    unreadable_error,
)
from webassay.store.integrity.inspection import Damage, Inspection, inspect
from webassay.store.integrity.seals import NUMBERED, digest, seal
from webassay.store.integrity.structure import check_structure
from webassay.store.integrity.sums import sums_fit, write_sums
from webassay.store.integrity.wal import frames_of_index, is_all_known, read_wal
from webassay.store.overview import AgentWords, TemplateSums, agent_words, template_sums
from webassay.store.schema import VERSION, has_our_tables, make_tables

LEDGER = "ledger.sqlite"

R = TypeVar("R", bound=Record)
Agents = Collection[str] | None
"""Only units of these agents; None: of all."""
Places = tuple[int, int]
"""The first and the last unit, by their places in the plan, which count from 1."""
ALL = (1, 1 << 62)

_STATUSES = frozenset(("pass", "fail", "abstain", "fault"))
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

    def __init__(self, path: Path, *, writable: bool, thorough: bool = False) -> None:
        self.path = path
        self._ledger = path / LEDGER
        self.blobs = BlobFolder(path / "blobs", writable=writable)
        self.damage = Inspection()
        self._changed = False
        self._lock = take_lock(path) if writable else None
        try:
            with translate_errors(self._ledger):
                self._open(writable, thorough)
        except BaseException:
            self._drop_lock()
            raise

    @classmethod
    def create(cls, path: Path, *, thorough: bool = False) -> Self:
        """A new run directory, or an existing one to continue."""
        cls.check_place(path)
        with translate_errors(path):
            path.mkdir(parents=True, exist_ok=True)
        return cls(path, writable=True, thorough=thorough)

    @staticmethod
    def check_place(path: Path) -> None:
        """Raises if a run directory could not be made there, or continued."""
        refuse_name(path)
        if path.exists() and not path.is_dir():
            raise InputError(f"{path} is a file, not a run directory.", hint="Give another --out.")
        if path.is_dir() and not is_empty(path) and not (path / LEDGER).exists():
            raise InputError(
                f"{path} is not empty and not a run directory.", hint="Give a new --out; nothing was written."
            )

    @classmethod
    def open(cls, path: Path, *, writable: bool = False, thorough: bool = False) -> Self:
        """Readers do not see damaged units; a writer sees them as not played or not graded yet. `thorough` also reads
        every record and blob."""
        if not (path / LEDGER).is_file():
            raise InputError(f"{path} is not a run directory: it has no {LEDGER}.", hint=_meant(path))
        refuse_name(path)
        return cls(path, writable=writable, thorough=thorough)

    def close(self) -> None:
        self._db.close()
        if self._changed and not self.damage.items:
            write_sums(self._ledger)
        self._drop_lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def changes(self) -> int:
        """Another number as soon as another process has written to the ledger."""
        with translate_errors(self._ledger):
            return int(self._db.pragma("data_version"))

    # --- settings and plan --------------------------------------------------------------------------------

    def setting(self, key: str) -> str | None:
        """None if there is none, or if it is damaged."""
        if key in self.damage.settings:
            return None
        found = self._one("SELECT value FROM setting WHERE key = :key", key=key)
        return None if found is None else str(found[0])

    def set(self, key: str, value: str) -> None:
        with self._writing():
            insert_sealed(self._db, "setting", {"key": key, "value": value})
        self.damage.settings.discard(key)

    def plan(self, units: Iterable[UnitOfWork]) -> None:
        """Adds what is not planned yet; a plan only grows."""
        with self._writing():
            for unit in units:
                if not self._db.execute("SELECT 1 FROM unit WHERE id = ?", (unit.id,)).fetchall():
                    insert_unit(self._db, self._place_for(unit.id), unit)

    def _place_for(self, unit_id: str) -> int:
        """A new number, or the one that its damaged row had, which its trajectories still point to."""
        self._db.execute("DELETE FROM main.unit WHERE id = ?", (unit_id,))
        query = (
            "SELECT t.unit_ordinal FROM main.trajectory t WHERE t.unit = ? "
            "AND NOT EXISTS (SELECT 1 FROM main.unit WHERE ordinal = t.unit_ordinal) LIMIT 1"
        )
        found: list[tuple[Any, ...]] = self._db.execute(query, (unit_id,)).fetchall()
        if found and self.damage.items:
            self._db.execute("DELETE FROM temp.bad_unit WHERE ordinal = ?", found[0])
            return int(found[0][0])
        return self._next("unit")

    def units(self, agents: Agents = None, *, on_damage: OnDamage | None = None) -> Iterator[UnitOfWork]:
        """In the order of the plan."""
        return self._units("", agents, on_damage)

    def unfinished(self, agents: Agents = None, *, on_damage: OnDamage | None = None) -> Iterator[UnitOfWork]:
        """Planned, and without an attempt that ended by itself: faults are tried again."""
        return self._units(f"AND NOT {_FINISHED}", agents, on_damage)

    def count_units(self, agents: Agents = None) -> int:
        return self._count(f"FROM unit u WHERE {_OF_AGENTS}", agents=_json_list(agents))

    def count_unfinished(self, agents: Agents = None) -> int:
        return self._count(f"FROM unit u WHERE {_OF_AGENTS} AND NOT {_FINISHED}", agents=_json_list(agents))

    # --- adding -------------------------------------------------------------------------------------------

    def attempts(self, unit_id: str) -> int:
        """A number that none of its attempts has, also no damaged one."""
        number = self._count("FROM main.trajectory WHERE unit = :unit", unit=unit_id)
        taken = "FROM main.trajectory WHERE (unit = :unit AND attempt = :number) OR id = :id"
        while self._count(taken, unit=unit_id, number=number, id=f"{unit_id}/{number}"):
            number += 1
        return number

    def add_episode(self, unit_id: str, trajectory: Trajectory, verdicts: Sequence[Verdict]) -> None:
        """A played episode and what was found in it, all or nothing."""
        with self._writing():
            insert_trajectory(self._db, self._next("trajectory"), unit_id, self.attempts(unit_id), trajectory)
            for verdict in verdicts:
                insert_verdict(self._db, self._next("verdict"), verdict, self.blobs, time=_now())

    def add_trajectory(self, unit_id: str, trajectory: Trajectory) -> None:
        self.add_episode(unit_id, trajectory, ())

    def add_verdict(self, verdict: Verdict) -> None:
        """Its raw replies go into a blob."""
        self.add_verdicts([verdict])

    def add_verdicts(self, verdicts: Iterable[Verdict]) -> None:
        """All of them or none."""
        with self._writing():
            for verdict in verdicts:
                insert_verdict(self._db, self._next("verdict"), verdict, self.blobs, time=_now())

    # --- trajectories -------------------------------------------------------------------------------------

    def trajectory(self, unit_id: str) -> Trajectory | None:
        """The attempt of this unit that counts."""
        return self._trajectory("t.unit = :name ORDER BY t.faulted, t.attempt DESC LIMIT 1", unit_id)

    def trajectory_by_id(self, trajectory_id: str) -> Trajectory | None:
        """Any attempt, also one that does not count."""
        return self._trajectory("t.id = :name", trajectory_id)

    def _trajectory(self, condition: str, name: str) -> Trajectory | None:
        query = (
            "SELECT t.id, CAST(r.record AS BLOB), t.hash FROM trajectory t "
            f"LEFT JOIN trajectory_record r ON r.ordinal = t.ordinal WHERE {condition}"
        )
        row = self._one(query, name=name)
        return None if row is None else self._record(Trajectory, *row)

    def attempt(self, trajectory_id: str) -> Attempt | None:
        return next(iter(self._attempts("id = ?", trajectory_id)), None)

    def attempts_at(self, unit_id: str) -> list[Attempt]:
        """Every attempt of a unit, oldest first."""
        return self._attempts("unit = ? ORDER BY attempt", unit_id)

    def attempts_named(self, part: str) -> list[Attempt]:
        """Attempts with this text in their ids; at most a hundred."""
        return self._attempts("instr(id, ?) > 0 ORDER BY ordinal LIMIT 100", part)

    def latest_attempts(self, count: int) -> list[Attempt]:
        """Newest first."""
        return self._attempts("ordinal > 0 ORDER BY ordinal DESC LIMIT ?", count)

    def played_again(self) -> dict[str, tuple[int, int]]:
        """Units with more than one attempt: how many, and the unit's place in the plan (0 if it has none)."""
        place = "COALESCE((SELECT ordinal FROM unit WHERE id = t.unit), 0)"
        query = (
            f"SELECT unit, COUNT(*), {place} FROM trajectory t GROUP BY unit HAVING COUNT(*) > 1 ORDER BY MIN(ordinal)"
        )
        with translate_errors(self._ledger):
            return {str(unit): (int(count), int(place)) for unit, count, place in self._db.execute(query)}

    def _attempts(self, condition: str, value: str | int) -> list[Attempt]:
        with translate_errors(self._ledger):
            query = f"SELECT id, unit, ending, steps, seconds, time FROM trajectory WHERE {condition}"
            return [Attempt(*row) for row in self._db.execute(query, (value,))]

    def trajectories(
        self, agents: Agents = None, *, on_damage: OnDamage | None = None
    ) -> Iterator[tuple[UnitOfWork, Trajectory]]:
        """The attempt that counts of each unit, in the order of the plan."""
        return self._played("", agents, on_damage)

    def ungraded(
        self, agents: Agents = None, *, on_damage: OnDamage | None = None
    ) -> Iterator[tuple[UnitOfWork, Trajectory]]:
        """Those of them that nobody has graded at all."""
        return self._played("AND NOT EXISTS (SELECT 1 FROM verdict WHERE trajectory = t.id)", agents, on_damage)

    def texts(self, after: int, size: int = _PAGE) -> list[tuple[int, str, bytes]]:
        """The attempts that count, behind this place in the plan, unread: place, unit, record; no damaged ones."""
        query = (
            "SELECT u.ordinal, u.id, CAST(r.record AS BLOB), t.hash FROM unit u "
            f"JOIN trajectory t ON t.ordinal = {_COUNTED} JOIN trajectory_record r ON r.ordinal = t.ordinal "
            "WHERE u.ordinal > ? ORDER BY u.ordinal LIMIT ?"
        )
        with translate_errors(self._ledger):
            found: list[tuple[Any, ...]] = self._db.execute(query, (after, size)).fetchall()
        return [(place, unit, record) for place, unit, record, stamp in found if digest(record) == stamp]

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
        return (name for _, name in self._paged(query, size=1000, agents=_json_list(agents)))

    # --- verdicts -----------------------------------------------------------------------------------------

    def verdict(
        self,
        trajectory_id: str,
        grader: str = "",
        *,
        raters: Collection[str] = (),
        fingerprint: str = "",
        replies: bool = False,
    ) -> Verdict | None:
        """The newest one of that grader, or with that fingerprint (its content hash). `raters`: as for `rows`."""
        query = (
            f"{_VERDICTS} WHERE v.trajectory = :trajectory AND (:grader = '' OR v.grader = :grader) "
            "AND (:raters IS NULL OR v.rater IN (SELECT value FROM json_each(:raters))) "
            "AND (:fingerprint = '' OR v.fingerprint = :fingerprint) ORDER BY v.ordinal DESC LIMIT 1"
        )
        wanted = {"trajectory": trajectory_id, "grader": grader, "fingerprint": fingerprint}
        found = self._one(query, raters=_json_list(raters or None), **wanted)
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
            with confine(on_damage):
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
            names = [str(name) for (name,) in self._db.execute("SELECT DISTINCT rater FROM verdict ORDER BY rater")]
        return {name: stamp for name in names if (stamp := self._fingerprint(name)) is not None}

    def _fingerprint(self, rater: str) -> Fingerprint | None:
        """From the list of raters or, where that is damaged, from one of the verdicts."""
        query = "SELECT CAST(example AS BLOB), seal FROM rater WHERE id = :id"
        found = self._one(query, id=rater)
        try:
            if found is not None and seal("rater", {"id": rater, "example": found[0].decode()}) == found[1]:
                return Fingerprint.from_json(found[0])
        except (ValidationError, UnicodeDecodeError) as error:
            raise unreadable_error(self._ledger, "Fingerprint", f"of {rater}", str(error)) from error
        of_rater = self._one(f"{_VERDICTS} WHERE v.rater = :rater ORDER BY v.ordinal DESC LIMIT 1", rater=rater)
        return None if of_rater is None else self._verdict(of_rater, replies=False).fingerprint

    def has_decided(self, grader: str) -> bool:
        """Whether a grader of this name has called anything a pass or a failure."""
        query = "FROM verdict WHERE grader = :grader AND status IN ('pass', 'fail') LIMIT 1"
        return bool(self._count(query, grader=grader))

    def rows(
        self, grader: str, *, raters: Collection[str] = (), places: Places = ALL, on_damage: OnDamage | None = None
    ) -> Iterator[UnitResult]:
        """Every planned unit with the summaries of the attempt that counts and of the grader's newest verdict on it.

        `raters` are ids: only their verdicts count. Nothing but summaries is read, one row at a time. A large ledger
        may be read in parts, by several processes.
        """
        chosen = "AND rater IN (SELECT value FROM json_each(:raters))" if raters else ""
        query = (
            "SELECT u.ordinal, u.agent, u.task, u.trial, CAST(u.summary AS BLOB), "
            "CAST(t.summary AS BLOB), CAST(v.summary AS BLOB) "
            f"FROM unit u LEFT JOIN trajectory t ON t.ordinal = {_COUNTED} "
            "LEFT JOIN verdict v ON v.ordinal = "
            f"(SELECT max(ordinal) FROM verdict WHERE trajectory_ordinal = t.ordinal AND grader = :grader {chosen}) "
            "WHERE u.ordinal BETWEEN :first AND :last ORDER BY u.ordinal"
        )
        last, summary = None, None
        with translate_errors(self._ledger):
            asked = {"grader": grader, "raters": _json_list(raters), "first": places[0], "last": places[1]}
            for row in self._db.execute(query, asked):
                # In place, and not in a function of its own: a report spends a quarter of its time here.
                unit, agent, task, trial, told, played, found = row
                try:
                    if type(agent) is not str or type(task) is not str or type(trial) is not int:
                        raise TypeError("the agent, the task or the trial has the wrong type")
                    verdict = None if found is None else read_verdict_summary(found)
                    if verdict is not None and verdict.status not in _STATUSES:
                        raise TypeError(f"a verdict has the status {verdict.status!r:.100}")
                    trajectory = None if played is None else read_trajectory_summary(played)
                    if told != last or summary is None:
                        # Every agent plays a task before the next one comes: the same text comes many times in a row.
                        last, summary = told, read_unit_summary(told)
                    yield UnitResult(agent, task, trial, summary, trajectory, verdict)
                except (msgspec.MsgspecError, TypeError, RecursionError) as error:
                    with confine(on_damage):
                        raise unreadable_error(
                            self._ledger, "a summary of UnitOfWork", self._unit_id(unit), str(error)
                        ) from error

    def overview(self, grader: str, raters: Collection[str] = ()) -> tuple[list[TemplateSums], dict[str, AgentWords]]:
        """The sums of `rows`, made by SQLite."""
        with translate_errors(self._ledger):
            return template_sums(self._db, grader, _json_list(raters or None)), agent_words(self._db)

    # --- writing, inside ----------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """All or nothing. Not apsw's own: a full disk rolls back by itself, and rolling back again hides why."""
        with translate_errors(self._ledger):
            self._db.execute("BEGIN IMMEDIATE")
            self._changed = True
            before = dict(self.damage.rows)
            try:
                yield
                for table in NUMBERED:
                    if self.damage.rows.get(table) != before.get(table):
                        insert_sealed(self._db, "tally", {"name": table, "rows": self.damage.rows[table]})
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                    self.damage.rows = before

    def _next(self, table: str) -> int:
        self.damage.rows[table] = self.damage.rows.get(table, 0) + 1
        return self.damage.rows[table]

    # --- reading, inside ----------------------------------------------------------------------------------

    def _units(self, condition: str, agents: Agents, on_damage: OnDamage | None) -> Iterator[UnitOfWork]:
        query = (
            "SELECT u.ordinal, u.id, CAST(u.record AS BLOB), u.hash FROM unit u "
            f"WHERE u.ordinal > :after AND {_OF_AGENTS} {condition} ORDER BY u.ordinal LIMIT :size"
        )
        for _, name, record, stamp in self._paged(query, agents=_json_list(agents)):
            with confine(on_damage):
                yield self._record(UnitOfWork, name, record, stamp)

    def _played(
        self, condition: str, agents: Agents, on_damage: OnDamage | None
    ) -> Iterator[tuple[UnitOfWork, Trajectory]]:
        query = (
            "SELECT u.ordinal, u.id, CAST(u.record AS BLOB), u.hash, t.id, CAST(r.record AS BLOB), t.hash "
            f"FROM unit u JOIN trajectory t ON t.ordinal = {_COUNTED} "
            "LEFT JOIN trajectory_record r ON r.ordinal = t.ordinal "
            f"WHERE u.ordinal > :after AND {_OF_AGENTS} {condition} ORDER BY u.ordinal LIMIT :size"
        )
        for _, *row in self._paged(query, agents=_json_list(agents)):
            with confine(on_damage):
                yield self._record(UnitOfWork, *row[:3]), self._record(Trajectory, *row[3:])

    def _verdict(self, row: tuple[Any, ...], replies: bool) -> Verdict:
        ordinal, record, stamp, reference, trajectory_id = row
        verdict = self._record(Verdict, f"{ordinal} of {trajectory_id}", record, stamp)
        if not (replies and reference):
            return verdict
        try:
            kept = json.loads(self.blobs.read(BlobRef.from_json(reference)))
        except (ValidationError, ValueError, RecursionError) as error:
            raise unreadable_error(
                self._ledger, "the replies of Verdict", f"{ordinal} of {trajectory_id}", str(error)[:200]
            ) from error
        return verdict.model_copy(update={"replies": kept})

    def _unit_id(self, ordinal: int) -> str:
        found = self._one("SELECT id FROM unit WHERE ordinal = :ordinal", ordinal=ordinal)
        return str(found[0]) if found else str(ordinal)

    def _record(self, kind: type[R], name: str, record: bytes | None, stamp: bytes) -> R:
        if record is None or digest(record) != stamp:
            raise damaged_error(self._ledger, kind.__name__, name)
        try:
            return kind.from_json(record)
        except ValidationError as error:
            raise unreadable_error(self._ledger, kind.__name__, name, error.errors()[0]["msg"]) from error

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

    def _open(self, writable: bool, thorough: bool) -> None:
        refuse_strange_files(self._ledger)
        logged = self._may_have_a_log(writable)
        expected = frames_of_index(self._ledger) if logged else 0
        self._db = connect_to_write(self._ledger) if writable else connect_to_read(self._ledger)
        known = not logged or is_all_known(self._db, self._ledger, expected)
        lost = "" if known else read_wal(self._ledger, expected).damage
        try:
            self._make_or_refuse(writable, lost)
            if not (writable or thorough) and sums_fit(self._ledger):
                return
            # In one transaction, so that what a writer adds meanwhile is not seen in part.
            self._db, indexes = check_structure(self._db, self._ledger, writable=writable)
            self._db.execute("BEGIN")
            try:
                self.damage = inspect(self._db, self.blobs, hide_units=not writable, complete=thorough)
            finally:
                self._db.execute("COMMIT")
        except BaseException:
            self._db.close()
            raise
        self.damage.items += indexes
        if self._db.pragma("user_version") != VERSION:
            self.damage.items.append(Damage("version: the number is not what was written. Nothing depends on it."))
        if lost:
            self.damage.items.append(Damage(f"{self._ledger.name}-wal: {lost}. The last writes are lost."))

    def _may_have_a_log(self, writable: bool) -> bool:
        """One that a living writer is writing to, or that this process has open, is not looked at."""
        left = [self._ledger.with_name(f"{self._ledger.name}{end}") for end in ("-wal", "-shm")]
        if not any(path.exists() for path in left) or is_open_here(self._ledger):
            return False
        return writable or not is_being_written(self.path)

    def _make_or_refuse(self, writable: bool, lost: str) -> None:
        """The tables of a new ledger are made; a ledger of another version is refused."""
        if has_our_tables(self._db) or self._db.pragma("user_version") == VERSION:
            return
        if self._db.execute("SELECT 1 FROM sqlite_schema").fetchall():
            raise StoreError(
                f"{self.path} was written by another version of webassay, and cannot be read by this one.",
                hint="Play the run again with another --out; the directory was left as it is.",
            )
        if any(self.blobs.path.glob("*/*")):
            raise structural_error(self._ledger, "it is empty, although there are blobs")
        if lost:
            raise structural_error(self._ledger, f"all of it was in its log, which is damaged: {lost}")
        if not writable:
            raise StoreError(f"{self.path} has no complete ledger.", hint="Run `webassay run` on it again.")
        with self._writing():
            make_tables(self._db)
            for table in NUMBERED:
                insert_sealed(self._db, "tally", {"name": table, "rows": 0})

    def _drop_lock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def _meant(path: Path) -> str:
    runs = [place.parent for place in path.parent.glob(f"*/{LEDGER}")]
    close = difflib.get_close_matches(path.name, [run.name for run in runs], n=1)
    return f"Did you mean {path.with_name(close[0])}?" if close else "`webassay run` makes one."


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _json_list(agents: Agents) -> str | None:
    return None if agents is None else json.dumps(list(agents))
