"""A world is a copy: it can be compared with what it was, and put back, exactly."""

import dataclasses
import fcntl
import importlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sites.notes_site import SITE
from webassay.compose.registries import SITES
from webassay.core.errors import SiteError
from webassay.core.trajectory import ColumnClass
from webassay.sites import kit
from webassay.sites.kit import Site, World, build, snapshot
from webassay.sites.pages import DatabasePages
from webassay.sites.snapshots import ChangedRow, Snapshot

DATA = build(SITE, 0)
PRISTINE = Snapshot(DatabasePages(DATA))


@pytest.fixture
def world() -> Iterator[World]:
    opened = World(SITE, 0, PRISTINE)
    yield opened
    opened.close()


def proven_clean(world: World) -> None:
    assert world.db.serialize("main") == DATA
    assert world.diff() == []
    assert world.checksum() == World(SITE, 0, PRISTINE).checksum()


def test_sites_and_records_class_columns_alike() -> None:
    assert get_args(kit.ColumnClass) == get_args(ColumnClass)


# --- laws ------------------------------------------------------------------------------------------------

TEXTS = st.sampled_from(["", "a", "A", "ä", "Ä", "milk", "x" * 5000, "nul\0inside", "'; DROP TABLE note; --"])
VALUES = st.one_of(
    st.none(),
    TEXTS,
    st.integers(min_value=-(2**63), max_value=2**63 - 1),
    st.sampled_from([0, 1, 1.0, -0.0, 1.5, float("inf"), 2.0**70]),
    st.binary(max_size=20),
)
NOTE_IDS = st.integers(min_value=1, max_value=45)
TAG_NAMES = st.sampled_from(["Tag1", "tag1", "TAG2", "Tag3", "new", "NEW"])
GROUPS = st.sampled_from(["a", "b"])
SETTINGS = st.sampled_from(["theme", "Theme", "limit", "new"])


def statement(sql: str, *values: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[str, tuple[Any, ...]]]:
    return st.tuples(st.just(sql), st.tuples(*values))


STATEMENTS = st.one_of(
    statement("INSERT INTO note (author, body, weight, photo, loose) VALUES (?, ?, ?, ?, ?)", TEXTS, *[VALUES] * 4),
    statement("INSERT OR REPLACE INTO note (id, author, body) VALUES (?, ?, ?)", NOTE_IDS, TEXTS, VALUES),
    statement("UPDATE note SET body = ? WHERE id = ?", VALUES, NOTE_IDS),
    statement("UPDATE note SET author = upper(author), loose = ? WHERE id < ?", VALUES, NOTE_IDS),
    statement("UPDATE note SET loose = CAST(loose AS REAL) WHERE id = ?", NOTE_IDS),
    statement("UPDATE note SET id = id + 100 WHERE id = ?", NOTE_IDS),
    statement("DELETE FROM note WHERE id = ?", NOTE_IDS),
    statement("DELETE FROM note"),
    statement("INSERT OR REPLACE INTO tag VALUES (?, ?, nullif(?, 45) % 12)", TAG_NAMES, GROUPS, NOTE_IDS),
    statement('UPDATE tag SET name = ? WHERE name = ? AND "group" = ?', TAG_NAMES, TAG_NAMES, GROUPS),
    statement("DELETE FROM tag WHERE name = ?", TAG_NAMES),
    statement("INSERT OR REPLACE INTO setting VALUES (?, ?)", SETTINGS, VALUES),
    statement("UPDATE setting SET value = ?", VALUES),
    statement("DELETE FROM setting"),
    statement("INSERT INTO note_search (note_search) VALUES ('optimize')"),
)
EPISODES = st.lists(st.tuples(st.lists(STATEMENTS, max_size=5), st.booleans()), max_size=6)


class _Undo(Exception):
    pass


def play(world: World, episode: list[tuple[list[tuple[str, tuple[Any, ...]]], bool]]) -> None:
    for statements, kept in episode:
        try:
            with world.write() as db:
                for sql, values in statements:
                    with suppress(apsw.ConstraintError, apsw.MismatchError):
                        db.execute(sql, values)
                if not kept:
                    raise _Undo
        except _Undo:
            pass


def exact(value: Any) -> tuple[str, str]:
    return type(value).__name__, repr(value)


def naive_rows(world: World, table: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """A table read whole, row by row, into Python: by key."""
    keys = {"note": ["id"], "tag": ["name", "group"], "setting": ["name"], "session": ["token"], "audit": ["id"]}
    ascii_only = str.maketrans({chr(upper): chr(upper + 32) for upper in range(65, 91)})
    columns = ", ".join(f'"{name}"' for name in SITE.columns[table])
    # The key of a tag is compared without regard to case, by SQLite's idea of case.
    fold = (lambda v: v.translate(ascii_only)) if table == "tag" else (lambda v: v)
    found = world.rows(f"SELECT {columns} FROM {table}")
    return {tuple(fold(row[column]) for column in keys[table]): row for row in found}


def naive_diff(world: World) -> set[tuple[Any, ...]]:
    old, new = World(SITE, 0, PRISTINE), world
    changes = set()
    for table in SITE.columns:
        before, after = naive_rows(old, table), naive_rows(new, table)
        for key in before.keys() | after.keys():
            one, other = before.get(key), after.get(key)
            if one is None or other is None or any(exact(one[name]) != exact(other[name]) for name in one):
                changes.add((table, *[row and tuple((n, exact(v)) for n, v in row.items()) for row in (one, other)]))
    return changes


def as_set(changes: list[ChangedRow]) -> set[tuple[Any, ...]]:
    def items(row: dict[str, Any] | None) -> Any:
        return row and tuple((name, exact(value)) for name, value in row.items())

    found = {(change.table, items(change.before), items(change.after)) for change in changes}
    assert len(found) == len(changes), "no change is told twice"
    return found


@settings(max_examples=150)
@given(EPISODES)
def test_the_difference_is_exact_and_reset_is_the_identity(episode: Any) -> None:
    world = World(SITE, 0, PRISTINE)
    play(world, episode)
    assert as_set(world.diff()) == naive_diff(world)
    world.reset()
    proven_clean(world)
    world.close()


@settings(max_examples=40)
@given(EPISODES, EPISODES)
def test_what_happened_before_a_reset_leaves_no_trace(first: Any, second: Any) -> None:
    used, fresh = World(SITE, 0, PRISTINE), World(SITE, 0, PRISTINE)
    play(used, first)
    used.reset()
    play(used, second)
    play(fresh, second)
    assert used.canonical_dump() == fresh.canonical_dump()
    assert used.db.serialize("main") == fresh.db.serialize("main")


# --- comparing -------------------------------------------------------------------------------------------


def test_an_update_shows_the_whole_row_before_and_after(world: World) -> None:
    before = world.row("SELECT name, value FROM setting WHERE name = 'limit'")
    with world.write() as db:
        db.execute("UPDATE setting SET value = 4 WHERE name = 'limit'")
    assert world.diff() == [ChangedRow("setting", {"name": "limit"}, before, {"name": "limit", "value": 4})]


def test_what_others_do_is_no_change_of_the_visitors(world: World) -> None:
    with world.write() as db:
        db.execute("UPDATE note SET body = 'mine' WHERE id = 7")
    world.meanwhile(lambda db: db.execute("UPDATE note SET body = 'theirs', weight = 99 WHERE id IN (7, 8)"))
    assert world.scalar("SELECT body FROM note WHERE id = 8") == "theirs"
    assert world.diff() == [], "the last word about both is theirs"
    with world.write() as db:
        db.execute("UPDATE note SET body = 'mine again' WHERE id = 8")
    (change,) = world.diff()
    assert (change.before or {})["body"] == "theirs"
    world.reset()
    proven_clean(world)


def test_edits_that_cancel_out_are_no_change(world: World) -> None:
    with world.write() as db:
        db.execute("UPDATE setting SET value = 4 WHERE name = 'limit'")
        db.execute("INSERT INTO setting VALUES ('new', 1)")
    with world.write() as db:
        db.execute("UPDATE setting SET value = 3 WHERE name = 'limit'")
        db.execute("DELETE FROM setting WHERE name = 'new'")
    assert world.diff() == []


@pytest.mark.parametrize(
    ("sql", "column"),
    [
        ("UPDATE note SET author = upper(author) WHERE id = 1", "author"),
        ("UPDATE note SET loose = 1.0 WHERE id = 1", "loose"),
        ("UPDATE note SET loose = '1' WHERE id = 1", "loose"),
        ("UPDATE note SET photo = '' WHERE id = 1", "photo"),
    ],
)
def test_what_compares_equal_in_sql_can_still_be_a_change(world: World, sql: str, column: str) -> None:
    with world.write() as db:
        db.execute(sql)
    (change,) = world.diff()
    assert change.before and change.after
    assert [name for name in change.before if exact(change.before[name]) != exact(change.after[name])] == [column]


def test_a_half_read_query_is_in_nobodys_way(world: World) -> None:
    half_read = world.db.execute("SELECT * FROM note")
    next(half_read)
    with world.write() as db:
        db.execute("DELETE FROM setting WHERE name = 'theme'")
    assert [change.table for change in world.diff()] == ["setting"]
    world.reset()
    proven_clean(world)


def test_a_temporary_table_does_not_hide_the_real_one(world: World) -> None:
    with world.write() as db:
        db.execute("UPDATE setting SET value = 9 WHERE name = 'limit'")
        db.execute("CREATE TEMP TABLE setting AS SELECT * FROM main.setting WHERE 0")
    assert [change.table for change in world.diff()] == ["setting"]
    world.reset()
    assert world.scalar("SELECT count(*) FROM setting") == 2


@pytest.mark.parametrize(
    "sql", ["CREATE TABLE extra (id INTEGER PRIMARY KEY)", "DROP TABLE audit", "ALTER TABLE note ADD COLUMN extra",
            "DROP TRIGGER note_gone", "CREATE INDEX extra ON note (body)"],
)  # fmt: skip
def test_a_changed_schema_is_detected_and_undone(world: World, sql: str) -> None:
    with world.write() as db:
        db.execute(sql)
    with pytest.raises(SiteError, match="changed its schema"):
        world.diff()
    world.reset()
    proven_clean(world)


def test_no_comparing_in_the_middle_of_a_write(world: World) -> None:
    with world.write(), pytest.raises(SiteError, match="middle of a write"):
        world.diff()


def _big_site() -> Site:
    def seed(db: apsw.Connection, number: int) -> None:
        rows = ((place, place * 7 % 501, "word " * (place % 3 * 1500)) for place in range(3000))
        db.executemany("INSERT INTO big VALUES (?, ?, ?)", rows)

    schema = "CREATE TABLE big (id INTEGER PRIMARY KEY, n INTEGER, body TEXT); CREATE INDEX big_n ON big (n);"
    columns = {"big": {"id": "journal", "n": "content", "body": "content"}}
    return dataclasses.replace(SITE, name="big", schema=schema, columns=columns, seed=seed)


def test_one_changed_letter_is_found_in_a_deep_tree_with_overflow_pages() -> None:
    site = _big_site()
    pristine = Snapshot(DatabasePages(build(site, 0)))
    world = World(site, 0, pristine)
    for place in range(2, 3000, 333):
        with world.write() as db:
            db.execute("UPDATE big SET body = body || '!' WHERE id = ?", (place,))
        (change,) = world.diff()
        assert change.key == {"id": place}
        world.reset()
    with world.write() as db:
        db.execute("DELETE FROM big WHERE id % 2")
        db.execute("INSERT INTO big SELECT id + 10000, n, body FROM big WHERE id < 1000")
    changes = world.diff()
    assert sum(change.after is None for change in changes) == 1500
    assert sum(change.before is None for change in changes) == 500
    assert len(changes) == 2000


# --- the clock and the write -----------------------------------------------------------------------------


def test_the_clock_moves_with_writes_only(world: World) -> None:
    start = world.now()
    assert start == SITE.start_time * 1000
    assert world.now() == start
    with world.write():
        assert world.now() == start + 1000
    with world.write() as db:
        db.execute("DELETE FROM setting")
        assert world.now() == start + 2000
    with pytest.raises(_Undo), world.write():
        raise _Undo
    assert world.now() == start + 2000
    world.reset()
    assert world.now() == start


def test_a_write_is_all_or_nothing_and_never_nested(world: World) -> None:
    with pytest.raises(_Undo), world.write() as db:
        db.execute("DELETE FROM note")
        raise _Undo
    with pytest.raises(SiteError, match="inside a write"), world.write(), world.write():
        pass
    proven_clean(world)
    with world.write() as db:
        db.execute("DELETE FROM note WHERE id = 1")
    assert world.scalar("SELECT count(*) FROM note") == 38


def test_a_write_that_breaks_a_deferred_rule_is_undone(world: World) -> None:
    with pytest.raises(apsw.ConstraintError), world.write() as db:
        db.execute("PRAGMA defer_foreign_keys = ON")
        db.execute("UPDATE tag SET note = 999")
    proven_clean(world)


def test_writing_past_the_clock_is_refused(world: World) -> None:
    with pytest.raises(SiteError, match="outside World"):
        world.db.execute("DELETE FROM note")
    world.db.execute("BEGIN")
    world.db.execute("DELETE FROM note")
    with pytest.raises(SiteError, match="outside World"):
        world.db.execute("COMMIT")
    proven_clean(world)


def test_a_reset_puts_back_counters_and_search(world: World) -> None:
    def add() -> int:
        with world.write() as db:
            db.execute("INSERT INTO note (author, body) VALUES ('ann', 'xylophone')")
            return db.last_insert_rowid()

    first = add()
    assert first == 41, "the highest id ever given counts, not the highest that is left"
    assert world.scalar("SELECT count(*) FROM note_search WHERE note_search MATCH 'xylophone'") == 1
    world.reset()
    assert world.scalar("SELECT count(*) FROM note_search WHERE note_search MATCH 'xylophone'") == 0
    assert world.scalar("SELECT count(*) FROM note_search WHERE note_search MATCH 'piano'") > 0
    assert add() == first


def test_reading(world: World) -> None:
    assert world.rows("SELECT name, value FROM setting ORDER BY name") == [
        {"name": "limit", "value": 3},
        {"name": "theme", "value": "light"},
    ]
    assert world.rows("SELECT * FROM setting WHERE 0") == []
    assert world.row("SELECT value FROM setting WHERE name = ?", "theme") == {"value": "light"}
    assert world.row("SELECT value FROM setting WHERE name = ?", "nothing") is None
    assert world.scalar("SELECT value FROM setting WHERE name = ?", "limit") == 3
    assert world.scalar("SELECT value FROM setting WHERE name = ?", "nothing") is None


def test_two_worlds_are_two(world: World) -> None:
    other = World(SITE, 0, PRISTINE)
    with world.write() as db:
        db.execute("DELETE FROM note")
    proven_clean(other)


# --- building --------------------------------------------------------------------------------------------


def test_the_same_seed_makes_the_same_world_and_another_seed_another() -> None:
    assert build(SITE, 0) == DATA
    assert World(SITE, 1, Snapshot(DatabasePages(build(SITE, 1)))).checksum() != World(SITE, 0, PRISTINE).checksum()


def test_the_dump_shows_every_value_unmistakably(world: World) -> None:
    with world.write() as db:
        db.execute("UPDATE setting SET value = ? WHERE name = 'limit'", (b"\x00\xff",))
        db.execute("UPDATE setting SET value = ? WHERE name = 'theme'", (float("-inf"),))
    lines = world.canonical_dump().splitlines()
    assert '["limit", {"blob": "AP8="}]' in lines
    assert '["theme", {"real": "-inf"}]' in lines
    assert lines[0] == f"clock {world.now()}"


def with_schema(schema: str, columns: dict[str, dict[str, Any]]) -> Site:
    return dataclasses.replace(SITE, schema=schema, columns=columns, seed=lambda db, seed: None)


REFUSED: list[tuple[str, dict[str, dict[str, Any]], str]] = [
    ("CREATE TABLE t (a)", {"t": {"a": "content"}}, "t has no primary key"),
    ("CREATE TABLE t (a TEXT PRIMARY KEY)", {"t": {"a": "content"}}, r"t\.a may be NULL"),
    ("CREATE TABLE t (a INTEGER PRIMARY KEY DESC)", {"t": {"a": "content"}}, r"t\.a may be NULL"),
    ("CREATE TABLE t (a INTEGER PRIMARY KEY, b)", {"t": {"a": "content"}}, r"t\.b has no class"),
    ("CREATE TABLE t (a INTEGER PRIMARY KEY)", {}, r"t\.a has no class"),
    ("CREATE TABLE t (a INTEGER PRIMARY KEY)", {"t": {"a": "content", "b": "content"}}, r"t\.b does not exist"),
    ("CREATE TABLE t (a INTEGER PRIMARY KEY)", {"t": {"a": "content"}, "u": {}}, "u does not exist"),
    ("CREATE TABLE t (a INTEGER PRIMARY KEY)", {"t": {"a": "secret"}}, "unknown class secret"),
    ("CREATE VIRTUAL TABLE t USING fts5(a)", {"t": {"a": "content"}}, "t does not exist, or is virtual"),
    ("CREATE TABEL t", {}, "Building the notes world from seed 0"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "columns", "message"), REFUSED)
def test_a_site_that_could_not_be_compared_is_refused(schema: str, columns: Any, message: str) -> None:
    with pytest.raises(SiteError, match=message):
        build(with_schema(schema, columns), 0)


@pytest.mark.parametrize(
    "key", ["a INTEGER PRIMARY KEY", "a TEXT NOT NULL PRIMARY KEY", "a, PRIMARY KEY (a)) WITHOUT ROWID --"]
)
def test_a_key_that_is_never_null_will_do(key: str) -> None:
    assert build(
        with_schema(
            f"CREATE TABLE t ({key}\n)" if "--" not in key else f"CREATE TABLE t ({key}", {"t": {"a": "content"}}
        ),
        0,
    )


def test_broken_seeding_says_which_world() -> None:
    def dangling(db: apsw.Connection, seed: int) -> None:
        db.execute("INSERT INTO tag VALUES ('t', 'a', 999)")

    def broken(db: apsw.Connection, seed: int) -> None:
        raise KeyError("colour")

    with pytest.raises(SiteError, match="dangling reference in tag"):
        build(dataclasses.replace(SITE, seed=dangling), 5)
    with pytest.raises(SiteError, match="notes world from seed 5: 'colour'"):
        build(dataclasses.replace(SITE, seed=broken), 5)


# --- the cache -------------------------------------------------------------------------------------------


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Seeds of the worlds that were really built."""
    made: list[int] = []

    def counting(site: Site, seed: int, scale: str = "") -> bytes:
        made.append(seed)
        return build(site, seed)

    monkeypatch.setattr(kit, "build", counting)
    return made


def test_a_world_is_built_once(tmp_path: Path, builds: list[int]) -> None:
    cache = tmp_path / "not" / "there" / "yet"
    assert snapshot(SITE, 0, cache).pages.shared == snapshot(SITE, 0, cache).pages.shared == DATA
    assert builds == [0]
    assert snapshot(SITE, 1, cache).pages.shared != DATA
    assert builds == [0, 1]
    snapshot(SITE, 0, None)
    assert builds == [0, 1, 0]


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-1], lambda data: b"", lambda data: data[:999] + b"!" + data[1000:]]
)
def test_a_damaged_cache_is_made_again(tmp_path: Path, builds: list[int], damage: Callable[[bytes], bytes]) -> None:
    snapshot(SITE, 0, tmp_path)
    (path,) = tmp_path.glob("*.snapshot")
    path.write_bytes(damage(path.read_bytes()))
    assert snapshot(SITE, 0, tmp_path).pages.shared == DATA
    assert snapshot(SITE, 0, tmp_path).pages.shared == DATA
    assert builds == [0, 0]


def test_another_schema_is_another_snapshot(tmp_path: Path, builds: list[int]) -> None:
    snapshot(SITE, 0, tmp_path)
    snapshot(dataclasses.replace(SITE, schema=SITE.schema + "-- another\n"), 0, tmp_path)
    assert builds == [0, 0]
    assert len(list(tmp_path.glob("*.snapshot"))) == 1, "what nobody can use any more is thrown away"


def test_what_was_not_used_for_long_or_is_too_much_is_thrown_away(
    tmp_path: Path, builds: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        snapshot(SITE, number, tmp_path)
        (file,) = tmp_path.glob(f"notes-{number}-*.snapshot")
        os.utime(file, (time.time() - 1000 * (4 - number),) * 2)
    monkeypatch.setattr(kit, "OLDEST_CACHED", 3500)
    snapshot(SITE, 1, tmp_path)  # Used again, so it is young.
    snapshot(SITE, 4, tmp_path)

    def kept() -> set[str]:
        return {file.name.split("-")[1] for file in tmp_path.glob("*.snapshot")}

    assert kept() == {"1", "2", "3", "4"}
    monkeypatch.setattr(kit, "MOST_CACHED", 3 * file.stat().st_size)
    snapshot(SITE, 5, tmp_path)
    assert kept() == {"1", "4", "5"}
    assert builds == [0, 1, 2, 3, 4, 5]


SEEDING = "from tests.sites.notes_site import seed as fill\ndef seed(db, number): fill(db, number)\n"


@pytest.fixture
def two_sites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Site]:
    """The sites `a` and `b` with a kit of their own, all of it on disk where a test can edit it."""
    for file in ("kit.py", "rng.py", "server.py", "web/forms.py", "web/templates/page.html"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("one")
    monkeypatch.setattr(kit, "__file__", str(tmp_path / "kit.py"))
    monkeypatch.syspath_prepend(str(tmp_path))
    sites = {}
    for name in ("site_a", "site_b"):
        (tmp_path / name / "seeding" / "deep").mkdir(parents=True)
        (tmp_path / name / "__init__.py").write_text("")
        (tmp_path / name / "seeding" / "__init__.py").write_text(SEEDING)
        (tmp_path / name / "words.toml").write_text("one")
        (tmp_path / name / "page.html").write_text("one")
        for module in (name, f"{name}.seeding"):
            monkeypatch.delitem(sys.modules, module, raising=False)
        seed = importlib.import_module(f"{name}.seeding").seed
        sites[name] = dataclasses.replace(SITE, name=name, seed=seed, package=name)
    return sites


@pytest.mark.parametrize(
    ("file", "rebuilt"),
    [
        ("kit.py", {"site_a", "site_b"}),
        ("rng.py", {"site_a", "site_b"}),
        ("web/forms.py", {"site_a", "site_b"}),
        ("web/templates/page.html", set()),
        ("server.py", set()),
        ("site_a/words.toml", {"site_a"}),
        ("site_a/page.html", set()),
        ("site_b/__init__.py", {"site_b"}),
        ("site_b/seeding/deep/more.toml", {"site_b"}),
        ("site_c/words.toml", set()),
    ],
)
def test_data_depends_on_the_kit_and_on_its_own_site(
    tmp_path: Path, two_sites: dict[str, Site], builds: list[int], file: str, rebuilt: set[str]
) -> None:
    cache = tmp_path / "cache"
    for site in two_sites.values():
        snapshot(site, 0, cache)
    before = {path.name for path in cache.glob("*.snapshot")}
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("# another\n")
    for site in two_sites.values():
        snapshot(site, 0, cache)
    made = {path.name.split("-")[0] for path in cache.glob("*.snapshot") if path.name not in before}
    assert made == rebuilt
    assert len(builds) == 2 + len(rebuilt)


def test_every_built_in_site_names_its_own_package() -> None:
    for site in SITES:
        assert site.package == f"webassay.sites.{site.name}"


def test_a_site_that_names_no_package_is_the_package_of_its_seed() -> None:
    assert SITE.package == ""
    assert kit._home_of(SITE) == Path(__file__).parent


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path, builds: list[int]) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    assert snapshot(SITE, 0, in_the_way / "cache").pages.shared == DATA
    assert builds == [0]


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert snapshot(SITE, 0, tmp_path).pages.shared == DATA
    assert [path.suffix for path in tmp_path.iterdir()] == [".lock"]


def test_whoever_waits_for_a_world_says_for_which_process(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    snapshot(SITE, 0, tmp_path)
    (lock,) = tmp_path.glob("*.lock")
    assert lock.read_text() == str(os.getpid())
    for path in tmp_path.glob("*.snapshot"):
        path.unlink()
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        waiting = threading.Thread(target=snapshot, args=(SITE, 0, tmp_path))
        with caplog.at_level("WARNING"):
            waiting.start()
            while not caplog.messages:
                waiting.join(0.01)
    waiting.join()
    assert caplog.messages == [f"Waiting for process {os.getpid()}, which is making the world {SITE.name}-0."]


def test_many_that_want_the_same_world_wait_for_one_builder(tmp_path: Path, builds: list[int]) -> None:
    found: list[Snapshot] = []
    threads = [threading.Thread(target=lambda: found.append(snapshot(SITE, 0, tmp_path))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one.pages.shared for one in found] == [DATA] * 4
    assert builds == [0]
