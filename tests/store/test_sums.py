"""A large ledger that was closed is proved whole by sums over its pages. Where they do not fit, seals are checked."""

import random
import shutil
from pathlib import Path

import apsw
import pytest

from tests.store.test_damage import UNITS, fill, play, sql
from webassay.store import LEDGER, Store, ledger
from webassay.store.integrity import sums
from webassay.store.integrity.sums import place_of, sums_fit


@pytest.fixture(autouse=True)
def every_size(monkeypatch):
    monkeypatch.setattr(sums, "SMALLEST", 0)


@pytest.fixture
def run(tmp_path) -> Path:
    return fill(tmp_path / "run")


@pytest.fixture
def no_seals(monkeypatch):
    """Whoever checks seals fails."""

    def checked(*_: object, **__: object) -> None:
        raise AssertionError("the seals were checked")

    monkeypatch.setattr(ledger, "inspect", checked)


def pages_of(run: Path) -> dict[int, str]:
    db = apsw.Connection(str(run / LEDGER))
    found = dict(db.execute("SELECT pageno, name FROM dbstat").fetchall())
    db.close()
    return found


def flip(run: Path, place: int) -> None:
    data = bytearray((run / LEDGER).read_bytes())
    data[place] ^= 1 << (place % 8)
    (run / LEDGER).write_bytes(data)


def test_what_was_closed_is_proved_whole_and_reads_the_same(run):
    with Store.open(run) as store:
        quick = list(store.rows("rules"))
    place_of(run / LEDGER).unlink()
    with Store.open(run) as store:
        assert list(store.rows("rules")) == quick and len(quick) == UNITS


def test_seals_are_not_checked_where_the_sums_fit(run, no_seals):
    with Store.open(run) as store:
        assert len(list(store.rows("rules"))) == UNITS
    for how in ({"writable": True}, {"thorough": True}):
        with pytest.raises(AssertionError, match="seals were checked"):
            Store.open(run, **how)


def test_a_flip_on_any_page_but_those_of_records_breaks_them(run):
    pages, size = pages_of(run), 4096
    whole = (run / LEDGER).read_bytes()
    draw = random.Random(5)
    for number, name in pages.items():
        flip(run, (number - 1) * size + draw.randrange(size))
        assert sums_fit(run / LEDGER) == name.endswith("_record"), name
        (run / LEDGER).write_bytes(whole)


def test_a_damaged_row_is_named_as_without_sums(run):
    db = apsw.Connection(str(run / LEDGER))
    summary = db.execute("SELECT summary FROM verdict WHERE ordinal = 3").get
    db.close()
    flip(run, (run / LEDGER).read_bytes().index(summary.encode()) + 3)
    with Store.open(run) as store:
        assert len(store.damage.units) == 1
        assert len(list(store.rows("rules"))) == UNITS - 1


def test_a_writer_that_was_killed_leaves_sums_that_do_not_fit(run, tmp_path):
    with Store.open(run, writable=True) as store:
        play(store, 1)
        killed = shutil.copytree(run, tmp_path / "killed")
    assert not sums_fit(killed / LEDGER)
    with Store.open(killed) as store:
        assert store.attempts_at("oracle/shop.count.1/0")[-1:] and not store.damage.items
    assert sums_fit(run / LEDGER)


def test_a_ledger_with_damage_gets_no_sums(run):
    sql(run, "UPDATE unit SET task = 'other' WHERE ordinal = 2")
    with Store.open(run, writable=True) as store:
        assert store.damage.items
        play(store, 3)
    assert not sums_fit(run / LEDGER)


@pytest.mark.parametrize("content", [b"", b"\0" * 31, b"\0" * 64, None])
def test_whatever_is_in_their_place_proves_nothing(run, content):
    place = place_of(run / LEDGER)
    if content is None:
        place.write_bytes(place.read_bytes()[:-1])
    else:
        place.write_bytes(content)
    assert not sums_fit(run / LEDGER)
    place.unlink()
    place.mkdir()
    assert not sums_fit(run / LEDGER)
    with Store.open(run, writable=True) as store:
        play(store, 1)  # sums cannot be written there; all else goes on
    with Store.open(run) as store:
        assert len(list(store.rows("rules"))) == UNITS
