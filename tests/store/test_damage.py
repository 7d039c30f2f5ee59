"""Damage to a run directory is named, and costs no more than its unit."""

import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import apsw
import pytest

from tests.store.test_store import attempt, unit
from tests.support import samples
from webassay.core.errors import StoreError
from webassay.core.trajectory import RecordedObservation, Step
from webassay.store import LEDGER, Store
from webassay.store.integrity.repair import check, repair
from webassay.store.integrity.salvage import _cell_starts, _Pages, _varint
from webassay.store.integrity.seals import NUMBERED, SEALED
from webassay.store.integrity.wal import read_wal

UNITS = 6
TABLES = (*SEALED, "trajectory_record", "verdict_record")


def fill(run: Path) -> Path:
    """Every unit was played; the first one twice, and graded twice."""
    with Store.create(run) as store:
        store.set("selection", '{"benchmark": "arena"}')
        store.plan([unit(number) for number in range(UNITS)])
        for number in range(UNITS):
            play(store, number)
        play(store, 0)
    return run


def play(store: Store, number: int) -> None:
    one, again = unit(number), store.attempts(unit(number).id)
    picture = store.blobs.write(f"a picture of {number}, {again}".encode(), "image/png")
    step = Step(index=0, seen=RecordedObservation(url="http://shop.test/", screenshot=picture))
    played = attempt(one, again).model_copy(update={"steps": (step,)})
    status = "pass" if number % 2 else "fail"
    store.add_episode(one.id, played, [samples.verdict(trajectory_id=played.id, status=status, replies={"a": number})])


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    return fill(tmp_path_factory.mktemp("whole") / "run")


@pytest.fixture
def run(whole, tmp_path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "run"))


def sql(run: Path, query: str) -> None:
    with apsw.Connection(str(run / LEDGER)) as db:
        db.execute(query)
    db.close()


def numbers(run: Path) -> dict[str, object]:
    with Store.open(run, thorough=True) as store:
        return {f"{row.agent}/{row.task_id}/{row.trial}": row for row in store.rows("rules")}


def content(run: Path) -> list[object]:
    """Everything that was ever written, read without any of our checks."""
    db = apsw.Connection(str(run / LEDGER))
    try:
        found = [db.pragma("user_version")]
        for table in TABLES:
            names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            cells = ", ".join(f"typeof({name}), CAST({name} AS BLOB)" for name in names)
            found.append(db.execute(f"SELECT {cells} FROM {table} NOT INDEXED").fetchall())
        return found
    finally:
        db.close()


def test_a_whole_run_is_whole(run):
    assert check(run) == []
    assert len(numbers(run)) == UNITS


COLUMNS = [(table, column) for table in NUMBERED for column in SEALED[table] if column != "ordinal"]


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_every_column_is_sealed(run, whole, table, column):
    db = apsw.Connection(str(run / LEDGER))
    value = db.execute(f"SELECT {column} FROM {table} WHERE ordinal = 3").get
    changed = value + 1 if isinstance(value, int | float) else bytes([*value[:-1], value[-1] ^ 1]) if isinstance(
        value, bytes) else f"{value}x"  # fmt: skip
    db.execute(f"UPDATE {table} SET {column} = ? WHERE ordinal = 3", (changed,))
    db.close()
    with Store.open(run) as store:
        assert store.damage.units, store.damage
        (hurt,) = store.damage.units
        left = {f"{row.agent}/{row.task_id}/{row.trial}": row for row in store.rows("rules")}
    assert len(left) == UNITS - 1
    expected = numbers(whole)
    assert all(left[name] == expected[name] for name in left)
    assert hurt.startswith("oracle/shop.count.2") and "oracle/shop.count.2/0" not in left
    assert len(check(run)) == 1


KEPT = [
    *((table, column) for table, column in [*COLUMNS, *((table, "seal") for table in NUMBERED)]),
    ("unit", "record"), ("trajectory_record", "record"), ("verdict_record", "record"),
]  # fmt: skip


@pytest.mark.parametrize(("table", "column"), KEPT)
def test_the_same_bytes_of_another_type_are_not_what_was_written(run, whole, table, column):
    """One bit tells text from bytes."""
    other = {"text": "BLOB", "blob": "TEXT", "integer": "TEXT", "real": "TEXT", "null": "BLOB"}
    db = apsw.Connection(str(run / LEDGER))
    kind = db.execute(f"SELECT typeof({column}) FROM {table} WHERE ordinal = 3").get
    value = "x''" if kind == "null" else f"CAST({column} AS {other[kind]})"
    db.execute(f"UPDATE {table} SET {column} = {value} WHERE ordinal = 3")
    changed = db.execute(f"SELECT typeof({column}) FROM {table} WHERE ordinal = 3").get != kind
    db.close()
    # A column of numbers makes a number of it again.
    assert len(check(run)) == changed
    left, expected = numbers(run), numbers(whole)
    assert len(left) == UNITS - changed
    assert all(left[name] == expected[name] for name in left)
    repair(run)
    assert all(row == expected[name] for name, row in numbers(run).items() if row.verdict is not None)


@pytest.mark.parametrize("table", [*NUMBERED, "trajectory_record", "verdict_record"])
def test_a_lost_row_is_missed(run, table):
    sql(run, f"DELETE FROM {table} WHERE ordinal = 4")
    found = check(run)
    assert [damage.unit for damage in found] == [unit(3).id]
    assert len(numbers(run)) == UNITS - 1


def test_a_damaged_unit_is_played_again_and_then_costs_nothing(run, whole):
    sql(run, "UPDATE trajectory_record SET record = record || ' ' WHERE ordinal = 2")
    with Store.open(run, writable=True, thorough=True) as store:
        assert [one.task_id for one in store.unfinished()] == ["shop.count.1"]
        play(store, 1)
        assert store.count_unfinished() == 0
    assert numbers(run).keys() == numbers(whole).keys()
    (found,) = check(run)
    assert found.redone and not found.unit


def test_a_damaged_verdict_is_given_again_and_no_older_one_counts(run):
    with Store.open(run, writable=True) as store:
        name = store.trajectory(unit(2).id).id
        store.add_verdict(samples.verdict(trajectory_id=name, status="pass"))
    sql(run, f"UPDATE verdict SET status = 'pasS' WHERE ordinal = {UNITS + 2}")
    assert unit(2).id not in numbers(run)
    with Store.open(run, writable=True, thorough=True) as store:
        assert [one.id for one, _ in store.ungraded()] == [unit(2).id]
        store.add_verdict(samples.verdict(trajectory_id=name, status="pass"))
    assert numbers(run)[unit(2).id].verdict.status == "pass"


def test_a_damaged_row_of_the_plan_is_planned_again_with_its_episodes(run, whole):
    sql(run, "UPDATE unit SET summary = '{}' WHERE ordinal = 2")
    assert len(numbers(run)) == UNITS - 1
    with Store.open(run, writable=True, thorough=True) as store:
        store.plan([unit(number) for number in range(UNITS)])
        assert store.count_unfinished() == 0
    assert numbers(run) == numbers(whole)
    assert check(run) == []


@pytest.mark.parametrize("how", ["cut", "flipped", "gone"])
def test_a_damaged_blob_costs_its_unit(run, how):
    place = sorted((run / "blobs").glob("*/*"))[3]
    data = place.read_bytes()
    place.unlink()
    if how != "gone":
        place.write_bytes(data[:-1] if how == "cut" else bytes([data[0] ^ 4]) + data[1:])
    found = check(run)
    assert len(found) == 1 and place.name in found[0].message
    assert len(numbers(run)) == UNITS - bool(found[0].unit)


def test_settings_and_lists_of_raters_can_be_lost(run, whole):
    sql(run, "UPDATE setting SET value = '{}'; UPDATE rater SET example = example || ' '; UPDATE tally SET rows = 3")
    with Store.open(run) as store:
        assert store.setting("selection") is None and "selection" in store.damage.settings
        assert len(store.raters()) == 1
        assert store.damage.units == []
    assert numbers(run) == numbers(whole)


def test_a_damaged_index_is_made_again(run, whole):
    db = apsw.Connection(str(run / LEDGER))
    root = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'trajectory_that_counts'").get
    db.close()
    data = bytearray((run / LEDGER).read_bytes())
    data[root * 4096 - 1] ^= 2
    (run / LEDGER).write_bytes(data)
    assert numbers(run) == numbers(whole)
    assert any("index" in damage.message for damage in check(run))
    with Store.open(run, writable=True):
        pass
    assert check(run) == []


def spoil_pages(run: Path, *numbers: int) -> None:
    data = bytearray((run / LEDGER).read_bytes())
    for number in numbers:
        data[(number - 1) * 4096 : (number - 1) * 4096 + 8] = b"\xff" * 8
    (run / LEDGER).write_bytes(data)


@pytest.mark.parametrize("table", ["sqlite_schema", *NUMBERED])
def test_a_ledger_that_sqlite_cannot_read_stops_with_one_message_and_can_be_repaired(run, whole, table):
    db = apsw.Connection(str(run / LEDGER))
    root = (
        1 if table == "sqlite_schema" else db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).get
    )
    db.close()
    expected = numbers(whole)
    spoil_pages(run, root)
    for writable in (False, True):
        with pytest.raises(StoreError, match=r"ledger\.sqlite is damaged") as caught:
            Store.open(run, writable=writable)
        assert "store repair" in caught.value.hint
    assert len(check(run)) == 1
    made = repair(run)
    assert made.kept_as.exists() and made.lost == []
    assert numbers(run) == expected
    assert check(run) == []


def test_repair_takes_what_is_whole_and_leaves_the_rest(run, whole):
    sql(run, "UPDATE verdict SET summary = 'x' WHERE ordinal = 1")
    sql(run, "UPDATE trajectory_record SET record = 'x' WHERE ordinal = 2")
    made = repair(run)
    assert made.recovered == {"unit": UNITS, "trajectory": UNITS, "verdict": UNITS}
    assert len(made.lost) == 2
    left, expected = numbers(run), numbers(whole)
    assert left[unit(1).id].trajectory is None
    assert all(left[name] == expected[name] for name in left if name != unit(1).id)
    assert check(run) == []


def test_a_row_can_be_made_again_from_its_record(run, whole):
    sql(run, "UPDATE trajectory SET steps = 77 WHERE ordinal = 2; UPDATE unit SET agent = 'x' WHERE ordinal = 3")
    assert repair(run).lost == []
    assert numbers(run) == numbers(whole)


def spoil(run: Path, table: str, column: str, ordinal: int, value: object) -> None:
    """As a flipped bit does: the row changes, and no index hears of it."""
    place = str(run / LEDGER)
    db = apsw.Connection(place)
    schema = db.execute("SELECT * FROM sqlite_schema WHERE tbl_name = ?", (table,)).fetchall()
    db.pragma("writable_schema", True)
    db.execute("DELETE FROM sqlite_schema WHERE tbl_name = ? AND type = 'index'", (table,))
    loose = "replace(replace(sql, 'NOT NULL UNIQUE', ''), ', UNIQUE (unit, attempt)', '')"
    db.execute(f"UPDATE sqlite_schema SET sql = {loose} WHERE name = ?", (table,))
    db.close()
    db = apsw.Connection(place)
    db.execute(f"UPDATE {table} SET {column} = ? WHERE ordinal = ?", (value, ordinal))
    db.pragma("writable_schema", True)
    db.execute("DELETE FROM sqlite_schema WHERE tbl_name = ?", (table,))
    db.executemany("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", schema)
    db.close()


COLLISIONS = [
    ("unit", "id", 1, unit(1).id),
    ("trajectory", "id", 1, f"{unit(0).id}/1"),
    ("trajectory", "unit", 2, unit(2).id),
    ("trajectory", "unit", 7, unit(3).id),
    ("trajectory", "attempt", 1, 1),
    ("trajectory", "attempt", 7, 0),
]
"""Values that another row has, in every column that must not repeat; rows 1 and 7 are attempts of one unit."""


@pytest.mark.parametrize(("table", "column", "ordinal", "value"), COLLISIONS)
def test_two_rows_that_a_flipped_bit_made_alike(run, whole, table, column, ordinal, value):
    spoil(run, table, column, ordinal, value)
    try:
        left = numbers(run)
    except StoreError as error:
        assert "store repair" in error.hint
        with pytest.raises(StoreError, match="two of its rows"):
            Store.open(run, writable=True)
    else:
        assert all(row == numbers(whole)[name] for name, row in left.items())
    assert check(run)
    assert repair(run).lost == []
    assert check(run) == []
    assert numbers(run) == numbers(whole)
    assert_same_attempts(run, whole)


def assert_same_attempts(run: Path, whole: Path) -> None:
    with Store.open(run) as store, Store.open(whole) as before:
        for number in range(UNITS):
            assert store.attempts_at(unit(number).id) == before.attempts_at(unit(number).id)
        assert list(store.newest_verdicts()) == list(before.newest_verdicts())


def test_a_trajectory_that_names_another_unit_costs_its_own(run):
    sql(run, f"UPDATE trajectory SET unit = '{unit(3).id}' WHERE ordinal = 7")
    with Store.open(run) as store:
        assert store.damage.units == [unit(0).id]
    assert numbers(run).keys() == {unit(number).id for number in range(1, UNITS)}


def test_a_unit_that_was_planned_again_with_another_record_is_there_once(run, whole):
    sql(run, f"UPDATE unit SET id = '{unit(0).id}8' WHERE ordinal = 1")
    with Store.open(run, writable=True) as store:
        store.plan([unit(0).model_copy(update={"metadata": {"template": "new"}})])
    repair(run)
    assert check(run) == []
    assert numbers(run).keys() == numbers(whole).keys()
    assert_same_attempts(run, whole)


def test_an_attempt_with_a_damaged_number_does_not_count_before_a_newer_one(run, whole):
    sql(run, "UPDATE trajectory SET attempt = 4 WHERE ordinal = 1")
    repair(run)
    assert_same_attempts(run, whole)


@pytest.mark.parametrize("table", NUMBERED)
def test_a_row_with_the_number_of_another_one_is_recovered(run, whole, table):
    """SQLite keeps the number of a row outside of its columns."""
    pages = _Pages(run / LEDGER)
    columns = len(SEALED[table]) + (1 if table != "unit" else 2)  # the seal, and the record of a unit
    data = bytearray((run / LEDGER).read_bytes())
    for number in range(1, pages.count + 1):
        page = pages.page(number)
        for start in _cell_starts(page, 100 if number == 1 else 0):
            cell = pages._cell(page, start, page[0])
            if page[0] == 13 and cell is not None and len(cell.values) == columns and cell.rowid == 3:
                data[(number - 1) * pages.size + _varint(page, start)[1]] = 2
    assert data != (run / LEDGER).read_bytes()
    (run / LEDGER).write_bytes(data)
    assert check(run)
    assert repair(run).lost == []
    assert numbers(run) == numbers(whole)
    assert_same_attempts(run, whole)
    assert check(run) == []


@pytest.mark.parametrize("seed", range(4))
def test_no_flipped_bit_passes_silently(run, whole, seed):
    draw, expected, before = random.Random(seed), numbers(whole), content(whole)
    data = (run / LEDGER).read_bytes()
    for _ in range(12):
        spoiled, place = bytearray(data), draw.randrange(len(data))
        spoiled[place] ^= 1 << draw.randrange(8)
        (run / LEDGER).write_bytes(spoiled)
        try:
            changed = content(run) != before
        except (apsw.Error, UnicodeDecodeError):
            changed = True
        assert not changed or check(run), place
        try:
            left = numbers(run)
        except StoreError as error:
            assert "store repair" in error.hint
            continue
        assert len(left) >= UNITS - 1
        assert all(left[name] == expected[name] for name in left), place


# --- a run that was killed ------------------------------------------------------------------------------------

KILLED = """
import os, sys
from pathlib import Path
from tests.store.test_damage import fill, play
from webassay.store import Store
run = Path(sys.argv[1])
fill(run)
store = Store.open(run, writable=True)
for number in range(3):
    play(store, number)
os._exit(9)
"""


@pytest.fixture(scope="module")
def killed(tmp_path_factory) -> Path:
    run = tmp_path_factory.mktemp("killed") / "run"
    subprocess.run([sys.executable, "-c", KILLED, str(run)], check=False)
    assert (run / f"{LEDGER}-wal").stat().st_size > 4096
    return run


def test_the_log_of_a_killed_run_is_read(killed, tmp_path):
    run = Path(shutil.copytree(killed, tmp_path / "run"))
    assert check(run) == []
    with Store.open(run) as store:
        assert len(store.attempts_at(unit(0).id)) == 3


@pytest.mark.parametrize("how", ["header", "frame", "salt", "cut", "cut between frames", "gone"])
def test_a_damaged_log_is_not_forgotten_silently(killed, tmp_path, how):
    run = Path(shutil.copytree(killed, tmp_path / "run"))
    place = run / f"{LEDGER}-wal"
    data = bytearray(place.read_bytes())
    at = {"header": 17, "frame": 32 + 24 + 100, "salt": 32 + 9}.get(how)
    if at is not None:
        data[at] ^= 1
    cut = {"cut": len(data) - 100, "cut between frames": len(data) - 4096 - 24}.get(how, len(data))
    if how == "gone":
        place.unlink()
    else:
        place.write_bytes(data[:cut])
    assert any("wal" in damage.message for damage in check(run))


def test_a_log_may_be_cut_at_any_byte(killed, tmp_path):
    """Also in the head of a frame, between its salts and its sums."""
    data = (killed / f"{LEDGER}-wal").read_bytes()
    ledger = tmp_path / LEDGER
    log = tmp_path / f"{LEDGER}-wal"
    log.write_bytes(data)
    whole = read_wal(ledger)
    assert whole.frames > 2 and not whole.damage
    frame = 24 + whole.page_size
    for end in (32, 32 + frame, len(data) - frame):
        for cut in [*range(end + 1, end + 30), end + frame - 1]:
            log.write_bytes(data[:cut])
            found = read_wal(ledger, whole.frames)
            assert found.damage, cut
            assert found.frames == (end - 32) // frame
    for cut in range(1, 33):
        log.write_bytes(data[:cut])
        assert read_wal(ledger, whole.frames).damage, cut


READ = """
import os, sys
from pathlib import Path
from webassay.store import Store
import webassay.store.integrity.repair
os.setuid(65534)
with Store.open(Path(sys.argv[1]), thorough=True) as store:
    print(len(list(store.rows("rules"))), len(store.attempts_at("oracle/shop.count.0/0")), len(store.damage.items))
"""


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize(("kind", "attempts"), [("whole", 2), ("killed", 3)])
def test_a_directory_that_nobody_may_write_can_be_read(kind, attempts, request):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        run = Path(shutil.copytree(request.getfixturevalue(kind), Path(folder) / "run"))
        (run / f"{LEDGER}-shm").unlink(missing_ok=True)
        run.chmod(0o555)
        found = subprocess.run([sys.executable, "-c", READ, str(run)], capture_output=True, text=True, check=True)
        assert found.stdout.split() == [str(UNITS), str(attempts), "0"]
        assert not (run / f"{LEDGER}-shm").exists()
