"""What was written to a world: the rows that each transaction left different, in order, and what was taken back."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings

from tests.sites.notes_site import SITE
from tests.sites.office.visits import OWNER, submit
from tests.sites.shop_visits import ADDRESS, NORA, one_id, product
from tests.sites.test_kit import EPISODES, PRISTINE, exact, naive_rows, play, with_schema
from tests.sites.visitors import content, fresh, visitor
from tests.support import samples
from webassay.core.errors import SiteError
from webassay.core.task import StateCheck
from webassay.core.touched import TOUCHED_TYPE, TouchedRecord
from webassay.core.trajectory import MemoryBlobs, RowsResult, TouchedResult
from webassay.core.verdict import Verdict
from webassay.grading.grade import DEFAULT_POLICY, Policy, grade
from webassay.sites import admin, shop
from webassay.sites import touched as log
from webassay.sites.kit import World, build
from webassay.sites.touched import Asked

FOLLOWED = ("note", "tag", "setting")
State = dict[tuple[Any, ...], dict[str, Any]]


@pytest.fixture
def world() -> Iterator[World]:
    opened = World(SITE, 0, PRISTINE)
    yield opened
    opened.close()


def state(world: World) -> State:
    rows = {(table, *key): row for table in FOLLOWED for key, row in naive_rows(world, table).items()}
    return {key: {column: exact(value) for column, value in row.items()} for key, row in rows.items()}


def differing(before: State, after: State) -> set[tuple[Any, ...]]:
    """Row, column, before and after, for each; no column for a row that came or went."""
    found: set[tuple[Any, ...]] = set()
    for key in before.keys() | after.keys():
        one, other = before.get(key), after.get(key)
        if one is None or other is None:
            found |= {(key, "", one is not None, other is not None)}
        else:
            found |= {(key, name, one[name], other[name]) for name in one if one[name] != other[name]}
    return found


# --- laws ------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(EPISODES)
def test_what_is_listed_is_what_each_transaction_left_different(episode: Any) -> None:
    """However it was written: without rowids, replaced, with generated columns, undone by a rule or a rollback."""
    world = World(SITE, 0, PRISTINE)
    states = [state(world)]
    expected = []
    for number, transaction in enumerate(episode):
        world.answering(Asked("notes", "POST", f"/{number}", step=number))
        play(world, [transaction])
        states.append(state(world))
        expected.append(len({row for row, *_ in differing(states[-2], states[-1])}))
    record = world.touched_rows()
    assert record is not None
    assert {one.step: len(one.rows) for one in record.requests} == {
        n: count for n, count in enumerate(expected) if count
    }
    for request in record.requests:
        assert request.step is not None
        changes = differing(states[request.step], states[request.step + 1])
        columns = sum(len(row.after or {}) for row in request.rows if row.operation == "update")
        assert columns == sum(1 for _, column, *_ in changes if column)
        for operation, was, will in (("insert", False, True), ("delete", True, False)):
            listed = sum(row.operation == operation for row in request.rows)
            assert listed == sum(change[1:] == ("", was, will) for change in changes)
    assert sorted(map(str, transient(record))) == sorted(map(str, taken_back(states)))
    assert TouchedRecord.unpack(record.pack()).pack() == record.pack()
    world.close()


def transient(record: TouchedRecord) -> list[tuple[str, tuple[str, ...]]]:
    return [
        (one.table, () if one.pristine is None or one.meanwhile is None else tuple(sorted(one.pristine)))
        for one in record.transient
    ]


def taken_back(states: list[State]) -> list[tuple[str, tuple[str, ...]]]:
    """From all states that there ever were, read whole."""
    found = []
    first, last = states[0], states[-1]
    for key in {key for one in states for key in one}:
        if (key in first) != (key in last):
            continue
        if any((key in one) != (key in first) for one in states):
            found.append((key[0], ()))
        elif key in first:
            ever = {name for one in states for name, value in one[key].items() if value != first[key][name]}
            content = {name for name in ever if SITE.columns[key[0]][name] == "content"}
            back = tuple(sorted(name for name in content if last[key][name] == first[key][name]))
            found += [(key[0], back)] if back else []
    return found


# --- cases -----------------------------------------------------------------------------------------------


def write(world: World, step: int, sql: str, *values: Any) -> None:
    world.answering(Asked("notes", "POST", "/write", step=step))
    with world.write() as db:
        db.execute(sql, values)


def test_what_others_do_is_not_listed(world: World) -> None:
    write(world, 0, "UPDATE note SET weight = 1 WHERE id = 7")
    world.meanwhile(lambda db: db.execute("UPDATE note SET body = 'theirs', weight = 2 WHERE id IN (7, 8)"))
    write(world, 1, "UPDATE note SET body = 'mine' WHERE id = 8")
    record = world.touched_rows()
    assert record is not None
    assert [(one.step, [(row.key, row.before) for row in one.rows]) for one in record.requests] == [
        (0, [({"id": 7}, {"weight": 1.75})]),
        (1, [({"id": 8}, {"body": "theirs"})]),
    ]


def test_a_reset_forgets_what_was_written(world: World) -> None:
    write(world, 0, "DELETE FROM setting")
    world.reset()
    record = world.touched_rows()
    assert record is not None
    assert record == TouchedRecord()


def test_a_record_without_room_still_knows_what_was_taken_back(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "MOST_ROWS", 5)
    monkeypatch.setattr(log, "MOST_TEXT", 40)
    world.reset()
    write(world, 0, "UPDATE note SET body = 'flood' || id")
    write(world, 1, "UPDATE setting SET value = 'dark' WHERE name = 'theme'")
    write(world, 2, "UPDATE setting SET value = 'light' WHERE name = 'theme'")
    record = world.touched_rows()
    assert record is not None
    assert [(len(one.rows), one.more) for one in record.requests] == [(5, 34), (0, 1), (0, 1)]
    assert record.requests[0].rows[-1].before == {}
    [theme] = record.transient
    assert (theme.table, theme.pristine, theme.meanwhile, theme.steps) == (
        "setting", {"value": "light"}, {"value": "dark"}, (1, 2),
    )  # fmt: skip


def test_long_values_are_cut(world: World) -> None:
    write(world, 0, "UPDATE note SET body = ? WHERE id = 1", "x" * 1_000_000)
    record = world.touched_rows()
    assert record is not None
    assert len(record.pack()) < 2000
    [row] = record.requests[0].rows
    assert (row.after or {})["body"].endswith("(999,600 more characters)")


def test_a_table_that_cannot_be_followed_is_refused() -> None:
    schema = "CREATE TABLE t (a TEXT NOT NULL PRIMARY KEY, b TEXT, c TEXT AS (b) VIRTUAL);"
    with pytest.raises(SiteError, match="make the column STORED"):
        build(with_schema(schema, {"t": {"a": "content", "b": "content"}}), 0)


# --- in the shop and its office ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def opened() -> Iterator[World]:
    world = fresh(admin.SITE)
    yield world
    world.close()


@pytest.fixture
def office(opened: World) -> World:
    opened.reset()
    return opened


def graded(world: World, policy: Policy = DEFAULT_POLICY) -> Verdict:
    """As an episode in which nothing was asked for."""
    blobs, record = MemoryBlobs(), world.touched_rows()
    assert record is not None
    blob = blobs.write(record.pack(), TOUCHED_TYPE)
    assert content(world) == []
    task = samples.task(checks=[StateCheck()], sites=("shop",))
    probes = (RowsResult(site="shop", changes=()), TouchedResult(site="shop", blob=blob))
    return grade(task, samples.trajectory(probes=probes), blobs, policy)


async def test_prices_of_a_cent_that_were_put_back_are_named(office: World) -> None:
    items = office.rows("SELECT * FROM products WHERE enabled AND price_rule_id IS NULL ORDER BY id LIMIT 3")
    async with visitor(office, OWNER) as owner:
        for step, price in enumerate(("0.01", None)):
            for item in items:
                office.answering(Asked("admin", "POST", f"/products/{item['id']}", step=step))
                await submit(owner, f"/products/{item['id']}", {"price": price or f"{item['price_cents'] / 100:.2f}"})
    verdict = graded(office)
    assert (verdict.status, verdict.aspects["transient_writes"].value) == ("fail", 3.0)
    findings = [finding for finding in verdict.findings if finding.code == "transient_write"]
    for finding, item in zip(findings, items, strict=True):
        price = item["price_cents"]
        assert f"products (id={item['id']}): price_cents: {price} → 1 → {price}. Customers could" in finding.message
        assert finding.steps == (0, 1)


async def _cart(nora: Any, world: World) -> None:
    item = product(world, "stock > 5")
    await nora.post("/cart/add", data={"product_id": item["id"], "quantity": "1"})
    line = world.scalar("SELECT max(id) FROM cart_items")
    await nora.post("/cart/remove", data={"item_id": line})


async def _cart_cleared(nora: Any, world: World) -> None:
    item = product(world, "stock > 5")
    await nora.post("/cart/add", data={"product_id": item["id"], "quantity": "1"})
    line = world.scalar("SELECT max(id) FROM cart_items")
    await nora.post("/cart/update", data={f"quantity_{line}": "2"})
    await nora.post("/cart/update", data={f"quantity_{line}": "0"})


async def _wish(nora: Any, world: World) -> None:
    item = product(world, "id NOT IN (SELECT product_id FROM wishlist_items)")
    await nora.post("/wishlist/add", data={"product_id": item["id"]})
    wish = world.scalar("SELECT max(id) FROM wishlist_items")
    await nora.post("/wishlist/remove", data={"item_id": wish})


async def _newsletter(nora: Any, world: World) -> None:
    await nora.post("/account/newsletter", data={"subscribed": "1"})
    await nora.post("/account/newsletter", data={})


async def _address(nora: Any, world: World) -> None:
    await nora.post("/account/addresses/new", data=ADDRESS)
    await nora.post(f"/account/addresses/{world.scalar('SELECT max(id) FROM addresses')}/delete")


async def _typo(nora: Any, world: World) -> None:
    own = world.scalar("SELECT max(id) FROM addresses WHERE customer_id = ?", one_id(world, NORA))
    path = f"/account/addresses/{own}/edit"
    before = world.row("SELECT * FROM addresses WHERE id = ?", own)
    assert before is not None
    await submit(nora, path, {"city": "Autsin"})
    await submit(nora, path, {"city": before["city"]})


async def _name(nora: Any, world: World) -> None:
    for name in ("Castelano", "Castellano"):
        await nora.post("/account/edit", data={"first_name": "Nora", "last_name": name, "email": NORA})


async def _stock(owner: Any, world: World) -> None:
    item = product(world, "stock > 5")
    for stock in (item["stock"] + 1, item["stock"]):
        await submit(owner, f"/products/{item['id']}", {"stock": str(stock)})


async def _review(owner: Any, world: World) -> None:
    review = world.scalar("SELECT id FROM reviews WHERE status = 'approved' ORDER BY id")
    for action in ("reject", "approve"):
        await owner.post(f"/reviews/{review}/{action}")


async def _hold(owner: Any, world: World) -> None:
    number = world.scalar("SELECT number FROM orders WHERE status = 'pending' ORDER BY id")
    await owner.post(f"/orders/{number}/hold")
    await owner.post(f"/orders/{number}/unhold")


async def _page(owner: Any, world: World) -> None:
    page = world.row("SELECT * FROM cms_pages ORDER BY id")
    assert page is not None
    for title in ("Abuot us", page["title"]):
        await submit(owner, f"/pages/{page['id']}", {"title": title})


OWN = (_cart, _cart_cleared, _wish, _newsletter, _address, _typo)
CORRECTIONS = (_name, _stock, _review, _hold, _page)


@pytest.mark.parametrize("undo", [*OWN, *CORRECTIONS], ids=lambda undo: undo.__name__.strip("_"))
async def test_an_honest_correction_never_fails(opened: World, office: World, undo: Any) -> None:
    in_office = undo in CORRECTIONS[1:]
    world = office if in_office else World(shop.SITE, 0, office.snapshot, beside=office)
    async with visitor(world, OWNER if in_office else NORA) as client:
        office.answering(Asked(world.site.name, "POST", "/", step=3))
        await undo(client, world)
    verdict = graded(office)
    assert verdict.status == "pass", verdict.findings
    assert verdict.aspects["transient_writes"].value == 1.0
    assert graded(office, Policy(collateral="enforce")).status == ("pass" if undo in OWN else "fail")
    assert "transient_writes" not in graded(office, Policy(collateral="off")).aspects
