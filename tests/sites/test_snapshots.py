"""Rows are looked for only on pages that changed; what is found must be what comparing every row finds."""

from contextlib import closing, suppress
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webassay.sites.snapshots import Change, Snapshot, compared, copy_of, tables_of

SCHEMA = """
CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, note TEXT, amount);
CREATE INDEX item_by_name ON item (name);
CREATE TABLE named (name TEXT NOT NULL COLLATE NOCASE PRIMARY KEY, value);
CREATE TABLE flat (a INTEGER, b TEXT, c TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;
CREATE TABLE posing (_rowid_ TEXT NOT NULL PRIMARY KEY, value);
CREATE TABLE blank (id INTEGER PRIMARY KEY, value);
"""
ROWS = 600
EDGES = (-(2**63), -1, 0, 127, 128, 2**35, 2**62, 2**63 - 1)


def _pristine() -> Snapshot:
    db = apsw.Connection(":memory:")
    db.execute(SCHEMA)
    with db:
        for number in range(1, ROWS + 1):
            long = "x" * (9000 if number % 97 == 0 else number % 60)
            db.execute("INSERT INTO item VALUES (?, ?, ?, ?)", (number, f"Item {number}", long, number))
            db.execute("INSERT INTO named VALUES (?, ?)", (f"Name {number}", number))
            db.execute("INSERT INTO flat VALUES (?, ?, ?)", (number, f"b{number}", "y" * 40))
            db.execute("INSERT INTO posing VALUES (?, ?)", (f"p{number}", number))
        for edge in EDGES:
            db.execute("INSERT OR IGNORE INTO item VALUES (?, 'edge', '', 0)", (edge,))
    db.execute("VACUUM")
    return Snapshot(db.serialize("main"))


PRISTINE = _pristine()


def every_row_compared(current: bytes) -> list[Change]:
    with closing(copy_of(current)) as db:
        db.execute("ATTACH ':memory:' AS pristine")
        db.deserialize("pristine", PRISTINE.data)
        return [change for table in tables_of(db) for change in compared(db, table)]


def after(*statements: tuple[str, tuple[Any, ...]]) -> bytes:
    with closing(copy_of(PRISTINE.data)) as db:
        for sql, values in statements:
            with suppress(apsw.ConstraintError, apsw.MismatchError):
                db.execute(sql, values)
        return db.serialize("main")


IDS = st.one_of(st.integers(1, ROWS + 50), st.sampled_from(EDGES))
TEXTS = st.sampled_from(["", "ITEM 3", "item 3", "short", "z" * 700, "w" * 5000, "v" * 20000])
SPANS = st.integers(1, ROWS)


def statement(sql: str, *values: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[str, tuple[Any, ...]]]:
    return st.tuples(st.just(sql), st.tuples(*values))


STATEMENTS = st.one_of(
    statement("UPDATE item SET name = ? WHERE id = ?", TEXTS, IDS),
    statement("UPDATE item SET name = upper(name) WHERE id = ?", IDS),
    statement("UPDATE item SET amount = CAST(amount AS REAL) WHERE id = ?", IDS),
    statement("UPDATE item SET note = ? WHERE id = ?", TEXTS, IDS),
    statement("UPDATE item SET note = substr(note, 1, 8990) || 'end' WHERE id % 97 = 0 AND id < ?", IDS),
    statement("UPDATE item SET id = -id WHERE id = ?", IDS),
    statement("INSERT INTO item VALUES (?, ?, ?, 1)", IDS, TEXTS, TEXTS),
    statement("DELETE FROM item WHERE id BETWEEN ?1 AND ?1 + 80", SPANS),
    statement("DELETE FROM item"),
    statement("INSERT OR REPLACE INTO item VALUES (?, 'again', ?, NULL)", IDS, TEXTS),
    statement("UPDATE named SET name = upper(name) WHERE value = ?", SPANS),
    statement("DELETE FROM named WHERE value BETWEEN ?1 AND ?1 + 120", SPANS),
    statement("INSERT OR REPLACE INTO named VALUES ('name ' || ?, ?)", SPANS, TEXTS),
    statement("UPDATE flat SET c = ? WHERE a = ?", TEXTS, SPANS),
    statement("DELETE FROM flat WHERE a > ?", SPANS),
    statement("UPDATE posing SET value = ? WHERE value = ?", TEXTS, SPANS),
    statement("INSERT INTO blank (value) VALUES (?)", TEXTS),
    statement("VACUUM"),
)


@settings(deadline=None, max_examples=150)
@given(st.lists(STATEMENTS, max_size=8))
def test_changed_pages_hold_every_row_that_differs(statements: list[tuple[str, tuple[Any, ...]]]) -> None:
    current = after(*statements)
    assert PRISTINE.diff(current) == every_row_compared(current)


def test_the_tables_are_large_enough_to_have_pages_of_every_kind() -> None:
    kinds = {kind for table in ("item", "named", "flat") for kind in PRISTINE._pages[table].values()}
    assert kinds == {"leaf", "internal", "overflow"}
    assert len(PRISTINE._pages["item"]) > 20


def test_rows_whose_pages_were_freed_are_gone_though_the_bytes_are_still_there() -> None:
    current = after(("DELETE FROM item", ()))
    changes = PRISTINE.diff(current)
    assert {change.key["id"] for change in changes} == {*range(1, ROWS + 1), *EDGES}
    assert all(change.after is None for change in changes)


@pytest.mark.parametrize("edge", EDGES)
def test_any_rowid_is_read_from_its_page(edge: int) -> None:
    current = after(("UPDATE item SET name = 'changed' WHERE id = ?", (edge,)))
    (change,) = PRISTINE.diff(current)
    assert change.key == {"id": edge}
    assert change.after is not None and change.after["name"] == "changed"


def test_one_change_suspects_the_rows_of_a_page_not_the_table() -> None:
    current = after(("UPDATE item SET amount = -1 WHERE id = 300", ()))
    with closing(copy_of(current)) as db:
        (item,) = (table for table in tables_of(db) if table.name == "item")
        suspects = PRISTINE._suspects(db, item, current, PRISTINE._changed_pages(current))
    assert suspects is not None
    assert 300 in suspects.old and 300 in suspects.new
    assert len(suspects.old) < ROWS / 3
