"""Rows are looked for only on pages that changed; what is found must be what comparing every row finds."""

from collections.abc import Sequence
from contextlib import closing, suppress
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webassay.sites.pages import DatabasePages
from webassay.sites.snapshots import ChangedRow, Snapshot, compared, tables_of

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


def _pristine() -> bytes:
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
    return db.serialize("main")


DATA = _pristine()
PRISTINE = Snapshot(DatabasePages(DATA))


def in_memory(data: bytes) -> apsw.Connection:
    """The whole database copied, which is SQLite's own way."""
    db = apsw.Connection(":memory:")
    db.deserialize("main", data)
    return db


def carried_out(db: apsw.Connection, statements: Sequence[tuple[str, tuple[Any, ...]]]) -> None:
    for sql, values in statements:
        with suppress(apsw.ConstraintError, apsw.MismatchError):
            db.execute(sql, values)


def everything_in(db: apsw.Connection) -> list[list[Any]]:
    """Rows, and where they lie. What a page that was freed still holds is left to SQLite."""
    queries = (*(f"SELECT * FROM {table.name}" for table in tables_of(db)), "SELECT * FROM dbstat")
    return [db.execute(query).fetchall() for query in queries]


def after(*statements: tuple[str, tuple[Any, ...]]) -> DatabasePages:
    pages = DatabasePages(DATA)
    with closing(pages.connect()) as db:
        carried_out(db, statements)
    return pages


def every_row_compared(statements: Sequence[tuple[str, tuple[Any, ...]]]) -> list[ChangedRow]:
    with closing(in_memory(DATA)) as db:
        carried_out(db, statements)
        db.execute("ATTACH ':memory:' AS pristine")
        db.deserialize("pristine", DATA)
        return [change for table in tables_of(db) for change in compared(db, table)]


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


@settings(max_examples=150)
@given(st.lists(STATEMENTS, max_size=8))
def test_changed_pages_hold_every_row_that_differs(statements):
    assert PRISTINE.diff(after(*statements)) == every_row_compared(statements)


@settings(max_examples=100)
@given(st.lists(STATEMENTS, max_size=8), st.lists(STATEMENTS, max_size=3))
def test_shared_pages_are_the_database_that_a_copy_in_memory_is(committed, rolled_back):
    with closing(DatabasePages(DATA).connect()) as shared, closing(in_memory(DATA)) as whole:
        for db in (shared, whole):
            carried_out(db, committed)
            db.execute("BEGIN")
            carried_out(db, [statement for statement in rolled_back if statement[0] != "VACUUM"])
            db.execute("ROLLBACK")
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert everything_in(shared) == everything_in(whole)


@settings(max_examples=50)
@given(st.lists(STATEMENTS, max_size=6), st.lists(STATEMENTS, max_size=6))
def test_what_others_did_is_left_out(others, ours):
    left = Snapshot(after(*others))
    with closing(in_memory(DATA)) as db:
        carried_out(db, others)
        started = db.serialize("main")
        carried_out(db, ours)
        db.execute("ATTACH ':memory:' AS pristine")
        db.deserialize("pristine", started)
        expected = [change for table in tables_of(db) for change in compared(db, table)]
    assert left.diff(after(*others, *ours)) == expected


def test_copies_of_pages_know_nothing_of_each_other():
    first = after(("UPDATE item SET name = 'first' WHERE id = 3", ()))
    second = first.copy()
    with closing(second.connect()) as db:
        db.execute("UPDATE item SET name = 'second' WHERE id = 3")
    names = []
    for pages in (DatabasePages(DATA), first, second):
        with closing(pages.connect()) as db:
            names.append(db.execute("SELECT name FROM item WHERE id = 3").get)
    assert names == ["Item 3", "first", "second"]


def test_pages_of_another_origin_cannot_be_compared():
    other = bytes(bytearray(DATA))
    with pytest.raises(ValueError, match="origin"):
        PRISTINE.diff(DatabasePages(other))


def test_the_tables_are_large_enough_to_have_pages_of_every_kind():
    kinds = {kind for table in ("item", "named", "flat") for kind in PRISTINE._owners[table].values()}
    assert kinds == {"leaf", "internal", "overflow"}
    assert len(PRISTINE._owners["item"]) > 20


def test_rows_whose_pages_were_freed_are_gone_though_the_bytes_are_still_there():
    current = after(("DELETE FROM item", ()))
    changes = PRISTINE.diff(current)
    assert {change.key["id"] for change in changes} == {*range(1, ROWS + 1), *EDGES}
    assert all(change.after is None for change in changes)


@pytest.mark.parametrize("edge", EDGES)
def test_any_rowid_is_read_from_its_page(edge):
    current = after(("UPDATE item SET name = 'changed' WHERE id = ?", (edge,)))
    (change,) = PRISTINE.diff(current)
    assert change.key == {"id": edge}
    assert change.after is not None and change.after["name"] == "changed"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE item SET amount = -1 WHERE id = ?",
        "UPDATE named SET value = -1 WHERE value = ?",
        "UPDATE flat SET c = 'changed' WHERE a = ?",
        "UPDATE posing SET value = -1 WHERE value = ?",
    ],
)
def test_a_changed_row_is_found_wherever_it_lies(statement):
    """Also on an inner page, where tables WITHOUT ROWID keep some of their rows."""
    for number in range(1, ROWS + 1):
        (change,) = PRISTINE.diff(after((statement, (number,))))
        assert change.before is not None and number in change.before.values()


def test_one_change_suspects_the_rows_of_a_page_not_the_table():
    current = after(("UPDATE item SET amount = -1 WHERE id = 300", ()))
    with closing(current.copy().connect()) as db:
        (item,) = (table for table in tables_of(db) if table.name == "item")
        suspects = PRISTINE._suspects(db, item, current, PRISTINE.pages.differing(current))
    assert 300 in suspects.old and 300 in suspects.new
    assert len(suspects.old) < ROWS / 3
