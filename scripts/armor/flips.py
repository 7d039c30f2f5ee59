"""Random flips, truncations and deletions in run directories of real episodes.

Every change of content must be reported by `webassay store check`, must cost no more than the units it lies in, and
must leave every other number as it was. What SQLite cannot read any more must be repaired without inventing anything.
Damaged units are played again, and must get the verdicts of the undamaged run.
"""

import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import apsw
from scripts.armor.report import Report

from webassay import PlayOptions, Selection, run_sync
from webassay.core.errors import StoreError, WebassayError
from webassay.core.summary import UnitResult
from webassay.store import LEDGER, Store
from webassay.store.integrity.repair import check, repair
from webassay.store.integrity.seals import SEALED
from webassay.workbench import Workbench

CASES = 10_000
PLAYED_AGAIN = 50
AT_ONCE = 5
"""Units damaged in one directory before it is continued: starting a browser for each would take most of the time."""
AGENTS = ("oracle", "naive-zero")
TASKS = Selection(
    instances=1, templates=("shop.open-cheapest", "shop.change-address", "shop.price-of-nothing", "shop.order-weight")
)
TABLES = (*SEALED, "trajectory_record", "verdict_record")

Numbers = dict[str, UnitResult]


def play(run: Path) -> None:
    run_sync(Workbench().run(run, AGENTS, TASKS, PlayOptions(workers=2)))


def leave_open(run: Path, copy: Path) -> None:
    """What a killed run leaves: its newest rows are in the log."""
    with Store.open(run, writable=True) as store:
        for _, trajectory in store.trajectories():
            verdict = store.verdict(trajectory.id)
            assert verdict is not None
            store.add_verdict(verdict)
        shutil.copytree(run, copy)


def numbers(store: Store) -> Numbers:
    return {f"{row.agent}/{row.task_id}/{row.trial}": row for row in store.rows("rules")}


def content(run: Path) -> object:
    """Everything in the ledger, read without any check of ours; an error stands for itself."""
    db = apsw.Connection(str(run / LEDGER))
    try:
        found = [db.pragma("user_version")]
        for table in TABLES:
            names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            cells = ", ".join(f"typeof({name}), CAST({name} AS BLOB)" for name in names)
            found.append(db.execute(f"SELECT {cells} FROM {table} NOT INDEXED").fetchall())
        return found
    except (apsw.Error, UnicodeDecodeError) as error:
        return type(error).__name__
    finally:
        db.close()


# --- damage ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Damaged:
    place: str
    data: bytes | None
    """None: the file is gone."""
    how: str


def damages(run: Path, draw: random.Random) -> Iterator[Damaged]:
    blobs = [str(path.relative_to(run)) for path in sorted((run / "blobs").glob("*/*"))]
    ledgers = [name for name in (LEDGER, f"{LEDGER}-wal") if (run / name).exists()]
    while True:
        kind = draw.random()
        place = draw.choice(blobs) if kind < 0.25 else draw.choice(ledgers)
        data = bytearray((run / place).read_bytes())
        if kind < 0.02 or (place.endswith("-wal") and kind > 0.99):
            yield Damaged(place, None, "deleted")
        elif kind < 0.04 or kind > 0.97:
            yield Damaged(place, bytes(data[: draw.randrange(len(data))]), "cut")
        elif kind > 0.94:
            start = draw.randrange(len(data))
            length = min(draw.choice((2, 16, 200, 5000)), len(data) - start)
            data[start : start + length] = draw.randbytes(length)
            yield Damaged(place, bytes(data), "overwritten")
        else:
            spots = [(draw.randrange(len(data)), draw.randrange(8)) for _ in range(draw.choice((1, 1, 1, 2, 3)))]
            for at, bit in spots:
                data[at] ^= 1 << bit
            said = ", ".join(f"bit {bit} of byte {at} ({data[at]:#04x} now)" for at, bit in spots)
            yield Damaged(place, bytes(data), f"flipped {said} of")


class Bench:
    """One undamaged run and a copy of it that is damaged again and again."""

    def __init__(self, run: Path, scratch: Path) -> None:
        self.run, self.copy = run, scratch / f"{run.name}-damaged"
        shutil.copytree(run, self.copy)
        with Store.open(run, thorough=True) as store:
            self.numbers = numbers(store)
        # Opening it may have moved its log into the ledger: what is damaged is the run as it was.
        shutil.rmtree(run)
        shutil.copytree(self.copy, run)
        self.content = self._content()
        self.faults: dict[str, list[str]] = {name: [] for name in FAULTS}
        self.counted: Counter[str] = Counter()

    def _content(self) -> object:
        found = content(self.copy)
        self._restore()
        return found

    def _restore(self) -> None:
        for place in self.copy.glob("*ledger*"):
            place.unlink()
        for place in self.run.glob("ledger*"):
            shutil.copyfile(place, self.copy / place.name)

    def _apply(self, damaged: Damaged) -> None:
        place = self.copy / damaged.place
        if damaged.data is None:
            place.unlink()
        else:
            place.write_bytes(damaged.data)

    def _undo(self, damaged: Damaged) -> None:
        if damaged.place.startswith("blobs"):
            shutil.copyfile(self.run / damaged.place, self.copy / damaged.place)
        self._restore()

    def case(self, damaged: Damaged) -> None:
        name = f"{damaged.how} {damaged.place}"
        self._apply(damaged)
        changed = damaged.place.startswith("blobs")
        if not changed:
            changed = content(self.copy) != self.content
            self._restore()
            self._apply(damaged)
        reported = True
        try:
            with Store.open(self.copy, thorough=True) as store:
                self._compare(name, numbers(store), store.damage.units)
                reported = bool(store.damage.items)
        except StoreError:
            self.counted["SQLite could not read it"] += 1
            self._repair(name, damaged)
        if changed and not reported and not check(self.copy):
            self.faults["silent"].append(name)
        self.counted["content changed and reported" if changed else "nothing that anybody reads was touched"] += 1
        self._undo(damaged)

    def _compare(self, name: str, left: Numbers, named: list[str]) -> None:
        lost = self.numbers.keys() - left.keys()
        if any(left[unit] != self.numbers[unit] for unit in left if left[unit].verdict is not None):
            self.faults["wrong"].append(name)
        if len(lost) > len(named):
            self.faults["spread"].append(f"{name}: {len(lost)} units, {len(named)} named")
        self.counted[f"units that it cost: {min(len(lost), 3)}{'+' if len(lost) > 3 else ''}"] += 1

    def _repair(self, name: str, damaged: Damaged) -> None:
        self._restore()
        self._apply(damaged)
        try:
            repair(self.copy)
            with Store.open(self.copy, thorough=True) as store:
                left = numbers(store)
        except WebassayError:
            self.counted["nothing in it could be repaired"] += 1
            return
        whole = [unit for unit, row in left.items() if row.verdict is not None]
        if any(left[unit] != self.numbers.get(unit) for unit in whole):
            self.faults["invented"].append(name)
        share = len(whole) / len(self.numbers)
        self.counted[f"repaired: {'every unit' if share == 1 else 'some units'}"] += 1


FAULTS = {
    "silent": "changes of content that nothing reported",
    "wrong": "units whose numbers differ without a word",
    "spread": "damages that cost more units than they name",
    "invented": "repaired units that differ from the undamaged ones",
}


# --- playing again --------------------------------------------------------------------------------------------


def spoil_units(run: Path, draw: random.Random, count: int) -> int:
    """One damage in each of so many units, in a row, a record or a blob; how many it cost."""
    with Store.open(run) as store:
        units = [(unit.id, trajectory) for unit, trajectory in store.trajectories()]
    for unit, trajectory in draw.sample(units, min(count, len(units))):
        how = draw.choice(("row", "record", "log", "verdict"))
        db = apsw.Connection(str(run / LEDGER))
        if how == "row":
            db.execute("UPDATE trajectory SET faulted = 1 - faulted WHERE unit = ?", (unit,))
        elif how == "verdict":
            db.execute("UPDATE verdict SET status = iif(status = 'pass', 'fail', 'pass') WHERE unit = ?", (unit,))
        elif how == "record":
            db.execute(
                "UPDATE trajectory_record SET record = replace(record, '\"steps\"', '\"stepz\"') WHERE ordinal = "
                "(SELECT ordinal FROM trajectory WHERE unit = ?)",
                (unit,),
            )
        db.close()
        if how == "log":
            assert trajectory.network is not None
            digest = trajectory.network.blob.hash.removeprefix("sha256:")
            with (run / "blobs" / digest[:2] / digest[2:]).open("ab") as log:
                log.write(b'{"method": "GET"}\n')
    with Store.open(run, thorough=True) as store:
        return len(store.damage.units)


def play_again(report: Report, run: Path, scratch: Path, draw: random.Random) -> None:
    with Store.open(run) as store:
        expected = {unit: row.verdict and row.verdict.status for unit, row in numbers(store).items()}
    wanted, done, wrong = report.cases(PLAYED_AGAIN), 0, []
    while done < wanted:
        copy = scratch / f"again-{done}"
        shutil.copytree(run, copy)
        done += spoil_units(copy, draw, min(AT_ONCE, wanted - done))
        play(copy)
        with Store.open(copy, thorough=True) as store:
            found = {unit: row.verdict and row.verdict.status for unit, row in numbers(store).items()}
        wrong += [unit for unit in expected if found.get(unit) != expected[unit]]
        shutil.rmtree(copy)
    report.must(f"other verdicts after {done} damaged units were played again", len(wrong), 0, wrong)


def run(report: Report) -> None:
    draw = random.Random(report.seed)
    with tempfile.TemporaryDirectory(prefix="webassay-flips-") as folder:
        scratch = Path(folder)
        play(scratch / "whole")
        leave_open(scratch / "whole", scratch / "killed")
        benches = [Bench(scratch / name, scratch) for name in ("whole", "killed")]
        sources = [damages(bench.run, draw) for bench in benches]
        total = report.cases(CASES)
        for number in range(total):
            benches[number % 2].case(next(sources[number % 2]))
        report.say(f"  {total:,} damages in two run directories of {len(benches[0].numbers)} units")
        report.counts(sum((bench.counted for bench in benches), Counter()))
        for name, what in FAULTS.items():
            found = [case for bench in benches for case in bench.faults[name]]
            report.must(what, len(found), 0, found)
        play_again(report, scratch / "whole", scratch, draw)
