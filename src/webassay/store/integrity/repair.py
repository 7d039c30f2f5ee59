"""`webassay store check` and `webassay store repair`: what is damaged in a run directory, and what can be had back."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
from pydantic import ValidationError

from webassay.core.errors import InputError, StoreError
from webassay.core.trajectory import BlobRef, Trajectory
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Verdict
from webassay.store.blobs import BlobFolder
from webassay.store.columns import insert_sealed, trajectory_row, unit_row, verdict_row
from webassay.store.connections import refuse_name, refuse_strange_files, take_lock
from webassay.store.failures import translate_errors
from webassay.store.integrity.inspection import Damage
from webassay.store.integrity.salvage import Salvage, salvage
from webassay.store.integrity.seals import NUMBERED, digest, seal, text
from webassay.store.ledger import LEDGER, Store
from webassay.store.schema import make_tables

_BITS = 40
_ATTEMPTS = 100
"""How many bits of a damaged number, and how many numbers of an attempt, are tried."""


def check(path: Path) -> list[Damage]:
    """Every damage in a run directory. Everything is read, and nothing is changed."""
    try:
        with Store.open(path, thorough=True) as store:
            found = list(store.damage.items)
    except StoreError as error:
        found = [Damage(str(error))]
    named = "\n".join(damage.message for damage in found)
    blobs = BlobFolder(path / "blobs", writable=False)
    return found + [Damage(why) for why in _bad_blobs(blobs) if why.rstrip(".") not in named]


def _bad_blobs(blobs: BlobFolder) -> Iterator[str]:
    """Also those that no row speaks of: a run that was killed leaves some."""
    for place in sorted(blobs.path.glob("??/*")):
        if place.name.startswith("."):
            continue  # Half written when its run was killed.
        try:
            blobs.open(BlobRef(hash=f"sha256:{place.parent.name}{place.name}", media_type="", size=0)).close()
        except StoreError as error:
            yield error.message


@dataclass
class RepairReport:
    kept_as: Path
    """The damaged ledger."""
    recovered: dict[str, int] = field(default_factory=dict)
    """Rows by table."""
    lost: list[str] = field(default_factory=list)
    """What was there and could not be had back, as far as anybody can tell."""


def repair(path: Path) -> RepairReport:
    """A new ledger of every row whose hash fits; the damaged one is kept beside it."""
    ledger = path / LEDGER
    if not ledger.is_file():
        raise InputError(f"{path} is not a run directory: it has no {LEDGER}.")
    refuse_name(path)
    refuse_strange_files(ledger)
    lock = take_lock(path)
    new = path / ".ledger.repaired"
    try:
        with translate_errors(ledger):
            found = salvage(ledger)
            if not found.rows["unit"] and not found.broken:
                raise StoreError(f"{ledger} has no intact row.", hint="Nothing was changed.")
            new.unlink(missing_ok=True)
            db = apsw.Connection(str(new))
            try:
                made = _Rebuilding(db, found, BlobFolder(path / "blobs"), path).run()
            finally:
                db.close()
            _exchange(ledger, new, made.kept_as)
            return made
    finally:
        new.unlink(missing_ok=True)
        lock.close()


def _exchange(ledger: Path, new: Path, kept_as: Path) -> None:
    # The log first: a new ledger must never meet the log of the old one.
    for end in ("-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            ledger.with_name(f"{ledger.name}{end}").rename(kept_as.with_name(f"{kept_as.name}{end}"))
    ledger.rename(kept_as)
    new.rename(ledger)


class _Rebuilding:
    def __init__(self, db: apsw.Connection, found: Salvage, blobs: BlobFolder, path: Path) -> None:
        self.db, self.found, self.blobs = db, found, blobs
        number = 1
        while (kept_as := path / f"ledger.damaged-{number}.sqlite").exists():
            number += 1
        self.made = RepairReport(kept_as)

    def run(self) -> RepairReport:
        make_tables(self.db)
        self._mend()
        self.db.execute("BEGIN")
        for table in ("setting", "rater"):
            for row in self.found.rows[table].values():
                insert_sealed(self.db, table, row)
        for table, insert in (("unit", self._unit), ("trajectory", self._trajectory), ("verdict", self._verdict)):
            count = 0
            for _, row in sorted(self.found.rows[table].items()):
                count += insert(count + 1, dict(row))
            self.made.recovered[table] = count
            insert_sealed(self.db, "tally", {"name": table, "rows": count})
            expected = self.found.rows["tally"].get(table, {}).get("rows", 0)
            if expected > count:
                self.made.lost.append(f"{expected - count} of {expected} rows of the table {table}")
        self.db.execute("COMMIT")
        return self.made

    def _unit(self, ordinal: int, row: dict[str, Any]) -> bool:
        insert_sealed(self.db, "unit", {**row, "ordinal": ordinal})
        return True

    def _trajectory(self, ordinal: int, row: dict[str, Any]) -> bool:
        record = self.found.records.get(row["hash"])
        if record is None:
            return False
        row |= {"ordinal": ordinal, "unit_ordinal": self._number_of_unit(row["unit"])}
        row["attempt"] = self._free_attempt(row["unit"], row["attempt"])
        insert_sealed(self.db, "trajectory", row)
        self.db.execute("INSERT INTO trajectory_record VALUES (?, ?)", (ordinal, record.decode()))
        return True

    def _verdict(self, ordinal: int, row: dict[str, Any]) -> bool:
        record = self.found.records.get(row["hash"])
        query = "SELECT ordinal, unit, agent FROM trajectory WHERE id = ?"
        played: list[tuple[Any, ...]] = self.db.execute(query, (row["trajectory"],)).fetchall()
        if record is None or not played:
            return False
        of_trajectory = dict(zip(("trajectory_ordinal", "unit", "agent"), played[0], strict=True))
        insert_sealed(self.db, "verdict", {**row, **of_trajectory, "ordinal": ordinal})
        self.db.execute("INSERT INTO verdict_record VALUES (?, ?)", (ordinal, record.decode()))
        return True

    def _free_attempt(self, unit: str, attempt: Any) -> int:
        """As it says, unless that is damaged so that another attempt has it."""
        query = "SELECT attempt FROM trajectory WHERE unit = ?"
        taken = {number for (number,) in self.db.execute(query, (unit,))}
        return attempt if isinstance(attempt, int) and attempt not in taken else max(taken, default=-1) + 1

    def _number_of_unit(self, name: str) -> int | None:
        found: list[tuple[Any, ...]] = self.db.execute("SELECT ordinal FROM unit WHERE id = ?", (name,)).fetchall()
        return int(found[0][0]) if found else None

    # --- rows whose record is whole, although their columns are not ---------------------------------------

    def _mend(self) -> None:
        rows = self.found.rows
        taken = {table: {row["hash"] for row in rows[table].values()} for table in NUMBERED}
        names = {table: {row["id"] for row in rows[table].values()} for table in ("unit", "trajectory")}
        # Units first: they tell whose a trajectory is.
        for table, row in sorted(self.found.broken, key=lambda one: NUMBERED.index(one[0])):
            record = _as_bytes(row["record"]) if table == "unit" else self.found.records.get(row["hash"])
            if record is None or digest(record) != row["hash"] or row["hash"] in taken[table]:
                continue
            with contextlib.suppress(ValidationError):
                written = self._as_written(table, row)
                mended = self._made_again(table, written, record)
                if mended.get("id") not in names.get(table, ()):  # else it has been planned again since
                    taken[table].add(row["hash"])
                    rows[table].setdefault(written["ordinal"], mended)

    def _as_written(self, table: str, row: dict[str, Any]) -> dict[str, Any]:
        """With the number of the row, its unit or its attempt put right: no record tells these, but the seal proves
        them, if nothing else in the row is damaged."""
        guesses: list[dict[str, Any]] = [{"ordinal": row["ordinal"] ^ (1 << bit)} for bit in range(_BITS)]
        if table == "trajectory":
            guesses += [{"attempt": number} for number in range(_ATTEMPTS)]
            unit = self.found.rows["unit"].get(row["unit_ordinal"])
            guesses += [] if unit is None else [{"unit": unit["id"]}]
        return next((row | one for one in guesses if seal(table, row | one) == row["seal"]), row)

    def _made_again(self, table: str, row: dict[str, Any], record: bytes) -> dict[str, Any]:
        """The record itself stays as it is, and so does its hash."""
        known: dict[str, Any] = {"ordinal": row["ordinal"], "hash": row["hash"]}
        if table == "unit":
            return {**unit_row(UnitOfWork.from_json(record)), **known, "record": record.decode()}
        if table == "trajectory":
            columns, _ = trajectory_row(text(row["unit"]), row["attempt"], Trajectory.from_json(record))
            return {**columns, **known, "unit_ordinal": None}
        verdict = Verdict.from_json(record)
        columns, _, rater = verdict_row(self.db, verdict, self.blobs, time=text(row["time"]))
        return {**columns, **known, "rater": rater, "trajectory_ordinal": None, "replies": text(row["replies"])}


def _as_bytes(value: Any) -> bytes | None:
    return value.encode() if isinstance(value, str) else None
