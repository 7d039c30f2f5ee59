"""Finds what is not what was written, and leaves exactly that out.

Every row is read and its seal checked when a ledger is opened. A row that fails costs its unit. Where there is such a
row, views in front of the tables hide it, so that no query has to know about damage:

- who reads numbers does not see damaged units at all, and is told how many there are;
- who works on the run (playing, grading, judging) sees those units as not played or not judged yet. Once that is done
  again, the newer row counts, and the damaged one costs nothing any more.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import apsw
import msgspec

from webassay.core.errors import StoreError
from webassay.core.trajectory import BlobRef
from webassay.store.blobs import BlobFolder
from webassay.store.integrity.seals import NUMBERED, SEALED, digest, scan, text


class Damage(NamedTuple):
    message: str
    unit: str = ""
    """The id of the unit that it costs; empty if it costs none, or if nobody can tell which."""
    redone: bool = False
    """The unit has been played or judged again since."""


@dataclass
class Inspection:
    items: list[Damage] = field(default_factory=list)
    settings: set[str] = field(default_factory=set)
    """Names of settings that cannot be read."""
    rows: dict[str, int] = field(default_factory=dict)
    """The highest number that a row of each table was given."""
    complete: bool = False
    """Records and blobs were read too."""

    @property
    def units(self) -> list[str]:
        return list(dict.fromkeys(damage.unit for damage in self.items if damage.unit))


@dataclass
class _Row:
    """A row that cannot be used. Its values may be wrong; None: it is not there at all."""

    why: str
    values: dict[str, Any] | None = None


def inspect(db: apsw.Connection, blobs: BlobFolder, *, hide_units: bool, complete: bool) -> Inspection:
    """Afterwards the views are in place. `complete` also reads every record and blob that a row refers to."""
    made = Inspection(complete=complete)
    bad = {table: _scanned(db, table, made) for table in SEALED}
    if complete:
        for table in NUMBERED:
            bad[table] |= _bad_records(db, table, bad[table], blobs)
    if any(bad[table] for table in NUMBERED):
        _Hiding(db, made).run(bad, hide_units=hide_units)
    return made


# --- rows -----------------------------------------------------------------------------------------------------


def _scanned(db: apsw.Connection, table: str, made: Inspection) -> dict[int, _Row]:
    found = scan(db, table)
    if table not in NUMBERED:
        for row in found.broken:
            _tell_of_a_name(table, text(row[0]), made)
        return {}
    rows = (dict(zip(SEALED[table], row, strict=True)) for row in found.broken)
    bad = {row["ordinal"]: _Row("the row is not what was written", row) for row in rows}
    return bad | _lost(db, table, found.rows, found.last, made)


def _tell_of_a_name(table: str, name: str, made: Inspection) -> None:
    if table == "setting":
        made.settings.add(name)
    again = "" if table == "setting" else " It can be rebuilt from the others."
    made.items.append(Damage(f"{table} {name}: the row is not what was written.{again}"))


_MOST_LOST = 1_000_000


def _lost(db: apsw.Connection, table: str, count: int, last: int, made: Inspection) -> dict[int, _Row]:
    """Rows that the tally knows and the table does not have."""
    found = db.execute("SELECT rows FROM main.tally WHERE name = ? AND typeof(rows) = 'integer'", (table,)).fetchall()
    expected = int(found[0][0]) if found else 0  # type: ignore[arg-type]
    if not 0 <= expected <= last + _MOST_LOST:
        expected = 0
    made.rows[table] = max(last, expected)
    if not found:
        made.items.append(Damage(f"tally {table}: the row is lost. It can be rebuilt from the others."))
    if count >= expected:
        return {}
    known = {ordinal for (ordinal,) in db.execute(f"SELECT ordinal FROM main.{table} NOT INDEXED")}
    return {ordinal: _Row("the row is lost") for ordinal in range(1, expected + 1) if ordinal not in known}


# --- records and blobs ----------------------------------------------------------------------------------------


def _bad_records(db: apsw.Connection, table: str, bad: dict[int, _Row], blobs: BlobFolder) -> dict[int, _Row]:
    found: dict[int, _Row] = {}
    known: dict[str, str] = {}
    columns = ("ordinal", "hash", *(["replies"] if table == "verdict" else []))
    query = f"SELECT {', '.join(columns)} FROM main.{table} WHERE ordinal = ?"
    # One by one: a row that is known to be bad may hold text that cannot be read.
    every_row: Any = db.execute(f"SELECT ordinal FROM main.{table} NOT INDEXED")
    for (ordinal,) in every_row:
        if ordinal in bad:
            continue
        values = dict(zip(columns, db.execute(query, (ordinal,)).fetchall()[0], strict=True))
        record = read_record(db, table, ordinal)
        why = ""
        if record is None or digest(record) != values["hash"]:
            why = "the record is not what was written"
        else:
            names = _blobs_of(table, record, values)
            why = next((said for name in names if (said := _blob(name, blobs, known))), "")
        if why:
            every = SEALED[table]
            whole = db.execute(f"SELECT {', '.join(every)} FROM main.{table} WHERE ordinal = ?", (ordinal,))
            found[ordinal] = _Row(why, dict(zip(every, whole.fetchall()[0], strict=True)))
    return found


def read_record(db: apsw.Connection, table: str, ordinal: int) -> bytes | None:
    place = "unit" if table == "unit" else f"{table}_record"
    try:
        # A bit can make text into bytes that are the same: nobody wrote that either.
        query = f"SELECT CAST(record AS BLOB) FROM main.{place} WHERE ordinal = ? AND typeof(record) = 'text'"
        return db.execute(query, (ordinal,)).get  # type: ignore[no-any-return]
    except apsw.CorruptError:
        return None  # The pages of this record alone: the tables that everything else needs are whole.


class _Ref(msgspec.Struct):
    hash: str


class _Seen(msgspec.Struct):
    tree: _Ref | None = None
    screenshot: _Ref | None = None
    text: _Ref | None = None


class _Step(msgspec.Struct):
    seen: _Seen


class _Kept(msgspec.Struct):
    """A network log or a probe."""

    blob: _Ref | None = None


class _Trajectory(msgspec.Struct):
    id: str
    steps: tuple[_Step, ...] = ()
    last_seen: _Seen | None = None
    network: _Kept | None = None
    probes: tuple[_Kept, ...] = ()


class _Verdict(msgspec.Struct):
    trajectory_id: str


_read_trajectory = msgspec.json.Decoder(_Trajectory).decode
_read_verdict = msgspec.json.Decoder(_Verdict).decode
_read_ref = msgspec.json.Decoder(_Ref).decode


def _blobs_of(table: str, record: bytes, values: dict[str, Any]) -> Iterator[str]:
    """By the fields that hold them: what an agent wrote may look like the name of a blob too."""
    try:
        if table == "verdict" and values["replies"]:
            yield _read_ref(values["replies"]).hash
        if table != "trajectory":
            return
        found = _read_trajectory(record)
    except (msgspec.MsgspecError, TypeError, RecursionError):
        return  # Written by another version, or by somebody else; whoever reads it says so.
    seen = [step.seen for step in found.steps] + ([found.last_seen] if found.last_seen else [])
    refs = [ref for one in seen for ref in (one.tree, one.screenshot, one.text)]
    refs += [one.blob for one in (found.network, *found.probes) if one is not None]
    yield from (ref.hash for ref in refs if ref is not None)


def _blob(name: str, blobs: BlobFolder, known: dict[str, str]) -> str:
    """What is wrong with it."""
    if name not in known:
        known[name] = ""
        try:
            blobs.open(BlobRef(hash=name, media_type="", size=0)).close()
        except StoreError as error:
            known[name] = error.message.rstrip(".")
    return known[name]


# --- hiding ---------------------------------------------------------------------------------------------------

_NEWER_ATTEMPT = (
    "SELECT 1 FROM main.trajectory WHERE unit_ordinal = :unit AND faulted = 0 AND ordinal > :ordinal "
    "AND ordinal NOT IN (SELECT ordinal FROM bad_trajectory)"
)
_NEWER_VERDICT = (
    "SELECT 1 FROM main.verdict WHERE trajectory_ordinal = :played AND ordinal > :ordinal "
    "AND (:grader IS NULL OR grader = :grader) AND ordinal NOT IN (SELECT ordinal FROM bad_verdict)"
)


class _Hiding:
    """Says which unit each bad row costs, and puts views before the tables that leave it out."""

    def __init__(self, db: apsw.Connection, made: Inspection) -> None:
        self.db, self.made = db, made
        self.units: set[int] = set()

    def run(self, bad: dict[str, dict[int, _Row]], *, hide_units: bool) -> None:
        for table in NUMBERED:
            self.db.execute(f"CREATE TEMP TABLE bad_{table} (ordinal INTEGER PRIMARY KEY)")
            self.db.executemany(f"INSERT INTO bad_{table} VALUES (?)", [(ordinal,) for ordinal in bad[table]])
        for ordinal, row in bad["unit"].items():
            self._unit(ordinal, row)
        for ordinal, row in bad["trajectory"].items():
            self._trajectory(ordinal, row)
        for ordinal, row in bad["verdict"].items():
            self._verdict(ordinal, row)
        if hide_units:
            self.db.executemany("INSERT OR IGNORE INTO bad_unit VALUES (?)", [(unit,) for unit in self.units])
            self._follow("trajectory", "unit")
            self._follow("verdict", "trajectory")
        for table in NUMBERED:
            self.db.execute(
                f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} "
                f"WHERE ordinal NOT IN (SELECT ordinal FROM bad_{table})"
            )

    def _follow(self, table: str, parent: str) -> None:
        self.db.execute(
            f"INSERT OR IGNORE INTO bad_{table} SELECT ordinal FROM main.{table} "
            f"WHERE {parent}_ordinal IN (SELECT ordinal FROM bad_{parent})"
        )

    def _unit(self, ordinal: int, row: _Row) -> None:
        name = "" if row.values is None else text(row.values["id"])
        if not name:
            name = text(
                self._get("SELECT CAST(unit AS BLOB) FROM main.trajectory WHERE unit_ordinal = ?", ordinal) or b""
            )
        self._tell(f"unit {name or ordinal}", row, name or f"unit {ordinal}")

    def _trajectory(self, ordinal: int, row: _Row) -> None:
        if row.values is None:
            name = self._lost_name("trajectory", ordinal)
            unit = self._unit_called(name.rpartition("/")[0])
        else:
            name = text(row.values["id"])
            unit = self._owner(ordinal, row.values)
        what = f"trajectory {name or ordinal}"
        if unit is None:
            self._tell(what, row)
        elif self._get(_NEWER_ATTEMPT, {"unit": unit, "ordinal": ordinal}):
            self._tell(what, row, redone=True)
        else:
            # None of its older attempts may count in its place.
            self.db.execute(
                "INSERT OR IGNORE INTO bad_trajectory SELECT ordinal FROM main.trajectory WHERE unit_ordinal = ?",
                (unit,),
            )
            self._cost(what, row, unit)

    def _verdict(self, ordinal: int, row: _Row) -> None:
        if row.values is None:
            name, grader = self._lost_name("verdict", ordinal), None
            played = self._trajectory_called(name)
        else:
            name, grader = text(row.values["trajectory"]), self._known_grader(text(row.values["grader"]))
            played = self._trajectory_called(name) or self._ordinal(row.values["trajectory_ordinal"])
        what = f"verdict {ordinal} on {name or 'an unknown trajectory'}"
        unit = self._ordinal(self._get("SELECT unit_ordinal FROM main.trajectory WHERE ordinal = ?", played))
        if played is None or unit is None:
            self._tell(what, row)
        elif self._get("SELECT 1 FROM bad_trajectory WHERE ordinal = ?", played):
            self._tell(what, row, self._name(unit) if unit in self.units else "", redone=unit not in self.units)
        elif self._get(_NEWER_ATTEMPT, {"unit": unit, "ordinal": played}) or self._get(
            _NEWER_VERDICT, {"played": played, "ordinal": ordinal, "grader": grader}
        ):
            self._tell(what, row, redone=True)
        else:
            older = "SELECT ordinal FROM main.verdict WHERE trajectory_ordinal = ?"
            self.db.execute(f"INSERT OR IGNORE INTO bad_verdict {older}", (played,))
            self._cost(what, row, unit)

    def _cost(self, what: str, row: _Row, unit: int) -> None:
        self.units.add(unit)
        self._tell(what, row, self._name(unit))

    def _tell(self, what: str, row: _Row, unit: str = "", *, redone: bool = False) -> None:
        message = f"{what}: {row.why}." + (" It has been redone since, so nothing is lost." if redone else "")
        self.made.items.append(Damage(message, unit, redone))

    # --- who is meant -------------------------------------------------------------------------------------

    def _lost_name(self, table: str, ordinal: int) -> str:
        """The row is gone, but its record lies elsewhere and may still tell."""
        record = read_record(self.db, table, ordinal) or b""
        try:
            return _read_trajectory(record).id if table == "trajectory" else _read_verdict(record).trajectory_id
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return ""

    def _owner(self, ordinal: int, values: dict[str, Any]) -> int | None:
        """The unit of a trajectory. A whole record comes first: a flipped bit can turn one unit's id into another's."""
        whole = digest(read_record(self.db, "trajectory", ordinal) or b"") == values["hash"]
        said = self._lost_name("trajectory", ordinal).rpartition("/")[0] if whole else ""
        named = self._unit_called(said) or self._unit_called(text(values["unit"]))
        return named or self._ordinal(values["unit_ordinal"])

    def _unit_called(self, name: str) -> int | None:
        return self._ordinal(self._get("SELECT ordinal FROM main.unit WHERE id = ?", name))

    def _trajectory_called(self, name: str) -> int | None:
        return self._ordinal(self._get("SELECT ordinal FROM main.trajectory WHERE id = ?", name))

    def _known_grader(self, name: str) -> str | None:
        query = (
            "SELECT 1 FROM main.verdict WHERE grader = ? AND ordinal NOT IN (SELECT ordinal FROM bad_verdict) LIMIT 1"
        )
        return name if self._get(query, name) else None

    def _name(self, unit: int) -> str:
        return text(self._get("SELECT CAST(id AS BLOB) FROM main.unit WHERE ordinal = ?", unit) or str(unit))

    @staticmethod
    def _ordinal(value: Any) -> int | None:
        return value if isinstance(value, int) else None

    def _get(self, query: str, value: Any) -> Any:
        return next(iter(self.db.execute(query, value if isinstance(value, dict) else (value,))), (None,))[0]
