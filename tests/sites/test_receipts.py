"""Receipts: what the sites vouch for, what they never do, and what visitors can plant."""

import html
import re
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import pytest

from tests.sites import notes_site
from tests.sites.hosted import HostedVisitor, lines_of
from tests.sites.office.visits import OWNER
from tests.sites.shop_visits import NORA, product
from tests.sites.visitors import fresh
from webassay.arena.kit.instances import instances
from webassay.arena.kit.key import Key, cell, shown
from webassay.compose.registries import TEMPLATES as REGISTERED
from webassay.core.served import ECHO, ServedCount, ServedRecord
from webassay.core.task import EvidenceCheck
from webassay.grading.rules.seen import check_evidence
from webassay.sites import admin, home, shop
from webassay.sites.admin.web import ORDER_STATUSES
from webassay.sites.counting import is_counted
from webassay.sites.receipts import Receipts, carried, collect, finished, ours, stop, written
from webassay.sites.web.assets import environment

pytestmark = pytest.mark.asyncio

SECRET = ("Zebrafish 77", "$20.78")
BOTH = " ".join(SECRET)


def sees(visitor: HostedVisitor, key: Key, goal: str = "") -> bool:
    findings = check_evidence(key.evidence, {"": visitor.record()}, goal)
    return all(finding.status == "pass" for finding in findings)


# --- what visitors plant --------------------------------------------------------------------------------------

SHOP = {
    "a search": "/search?q=Zebrafish+77+%2420.78",
    "each field one half": "/search/advanced?name=Zebrafish+77&description=%2420.78",
    "a refused field": "/search/advanced?name=Zebrafish+77&min=%2420.78x",
    "a price filter": "/search?q=lamp&price=20.78-99",
    "an error page": "/search?q=lamp&sort=Zebrafish+77+%2420.78",
    "an address": "/p/Zebrafish+77+%2420.78",
    "a suggestion": "/search/suggest?q=Zebrafish+77+%2420.78",
}
OFFICE = {
    "a keyword": "/orders?q=Zebrafish+77+%2420.78",
    "two chips": "/reviews?title=Zebrafish+77&nickname=%2420.78",
    "a range": "/orders?number=Zebrafish+77&total_from=20.78",
    "a refused range": "/orders?total_from=Zebrafish+77+%2420.78",
    "a page number": "/orders?p=%2420.78",
    "no such setting": "/orders?Zebrafish=77+%2420.78",
    "an export": "/orders/export?q=Zebrafish+77+%2420.78",
    "a report": "/reports/orders?report=1&period=month&from=Zebrafish+77&to=%2420.78",
}


@pytest.mark.parametrize(("site", "user", "path"), [
    *(pytest.param(shop.SITE, NORA, path, id=name) for name, path in SHOP.items()),
    *(pytest.param(admin.SITE, OWNER, path, id=name) for name, path in OFFICE.items()),
    pytest.param(home.SITE, "", "/calculator?expression=20.78%2B0", id="a sum"),
])  # fmt: skip
async def test_what_an_address_says_is_no_evidence(site, user, path):
    visitor = HostedVisitor(site, user)
    await visitor.get(path, referer="http://x/Zebrafish+77+%2420.78", **{"user-agent": BOTH})
    for together in ("item", "page"):
        assert not sees(visitor, Key.seen_any(shown(SECRET[0], together=together), shown("20.78"), shown(SECRET[1])))


FORMS = {
    "a refused message": (shop.SITE, NORA, "/contact", {"name": SECRET[0], "email": "x", "message": SECRET[1]}, ""),
    "a long message": (shop.SITE, NORA, "/contact", {"name": BOTH, "email": "x", "message": "😀" * 2500 + BOTH}, ""),
    "signs of the record": (shop.SITE, NORA, "/contact", {"name": f"{ECHO[1]} {BOTH}", "email": "x"}, ""),
    "a sent message": (shop.SITE, NORA, "/contact", {"name": BOTH, "email": "a@b.co", "message": BOTH}, "/contact"),
    "a name": (shop.SITE, NORA, "/account/edit", {"first_name": SECRET[0], "last_name": SECRET[1], "email": "a@b.co"},
               "/account"),
    "a name in an address": (shop.SITE, NORA, "/account/addresses/new", {
        "first_name": SECRET[0], "last_name": "A", "street": SECRET[1], "city": "Austin", "region": "TX",
        "postcode": "78701", "phone": "1"}, "/account/addresses"),
    "a page of the shop": (admin.SITE, OWNER, "/pages/new", {"title": SECRET[0], "url_key": "a", "content": BOTH,
                           "enabled": "1"}, "/pages"),
    "a coupon": (admin.SITE, OWNER, "/coupons/new", {"code": "ZEBRAFISH77", "kind": "amount", "value": "20.78",
                 "department_id": "", "minimum": "20.78", "starts_on": "01/01/2026", "ends_on": "12/31/2026"},
                 "/coupons"),
    "a note": (home.SITE, "", "/scratchpad", {"text": BOTH}, "/scratchpad"),
}  # fmt: skip


@pytest.mark.parametrize(("site", "user", "path", "form", "then"), FORMS.values(), ids=FORMS)
async def test_what_a_form_says_is_no_evidence(site, user, path, form, then):
    visitor = HostedVisitor(site, user)
    said = await visitor.post(path, **form)
    said += await visitor.get(then) if then else ""
    assert any(word in said for word in ("Zebrafish", "ZEBRAFISH", "Thank you")), "it was shown"
    texts = *SECRET, "20.78", "ZEBRAFISH77", "Zebrafish"
    assert not sees(visitor, Key.seen_any(*(shown(text, together="page") for text in texts)))


# --- what the visitor wrote -----------------------------------------------------------------------------------


async def test_a_written_cell_vouches_for_nothing_and_its_row_still_does():
    """An order's address is a table WITHOUT ROWID; the name on top of its page is computed from two cells."""
    visitor = HostedVisitor(admin.SITE, OWNER)
    world = visitor.world
    order = world.row("SELECT * FROM orders AS o WHERE status = 'pending' AND NOT EXISTS"
                      " (SELECT 1 FROM shipments WHERE order_id = o.id) LIMIT 1")  # fmt: skip
    before = world.row("SELECT * FROM order_addresses WHERE order_id = ? AND kind = 'billing'", order["id"])
    form = {name: value for name, value in before.items() if name not in ("order_id", "kind")}
    await visitor.post(f"/orders/{order['number']}/address/billing", **{**form, "street": BOTH})
    await visitor.get(f"/orders/{order['number']}")
    await visitor.get(f"/orders?number={order['number']}")
    row = order["id"], "billing"
    assert not sees(visitor, Key.read(cell("order_addresses", row, "street")))
    assert not sees(visitor, Key.seen(SECRET[0], together="page"))
    assert sees(visitor, Key.read(cell("order_addresses", row, "postcode"), cell("orders", order["id"], "number")))
    assert sees(visitor, Key.seen(order["number"], f"{before['first_name']} {before['last_name']}"))


async def test_what_the_site_fills_in_for_a_new_row_counts():
    """The number of a return is journal: no visitor chooses it. Its reason is theirs."""
    visitor = HostedVisitor(shop.SITE, NORA)
    world = visitor.world
    order = world.row(
        "SELECT * FROM orders WHERE customer_id = (SELECT id FROM customers WHERE email = ?) AND status = 'complete'"
        " ORDER BY created_at DESC LIMIT 1", NORA)  # fmt: skip
    with world.write() as db:
        number = world.scalar("SELECT max(id) + 1 FROM returns")
        db.execute("INSERT INTO returns VALUES (?, 'R7777', ?, ?, ?, '', 'requested', '2026-03-01 00:00:00')",
                   (number, order["id"], order["customer_id"], BOTH))  # fmt: skip
        db.execute(
            "INSERT INTO return_items SELECT ?, id, 1 FROM order_items WHERE order_id = ? LIMIT 1",
            (number, order["id"]),
        )
    await visitor.get("/account/returns")
    assert sees(visitor, Key.seen("R7777"))
    assert not sees(visitor, Key.seen(SECRET[0], together="page"))


WRITES = {
    "replaced as it was": ("REPLACE INTO tag SELECT * FROM tag", True),
    "replaced": ("REPLACE INTO tag SELECT name, \"group\", 3 FROM tag", False),
    "gone and back": ("CREATE TEMP TABLE t AS SELECT * FROM tag; DELETE FROM tag; INSERT INTO tag SELECT * FROM t",
                      True),
    "another table": ("UPDATE note SET body = 'x'", True),
}  # fmt: skip


@pytest.mark.parametrize(("sql", "vouched"), WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("query", ['SELECT name, "group", note FROM tag', "SELECT max(note) AS note FROM tag"])
async def test_a_value_counts_where_the_pristine_world_has_it(sql, vouched, query):
    world = fresh(notes_site.SITE)
    with world.write() as db:
        db.execute(f"PRAGMA defer_foreign_keys = ON; {sql}")
    receipts = Receipts(world)
    token = collect(receipts)
    try:
        row = world.row(query)
        assert receipts.note(row["note"]) is vouched
    finally:
        stop(token)


@pytest.mark.parametrize("query", ["SELECT shout FROM loud WHERE shout LIKE 'ZEBRA%'",
                                   "SELECT body FROM note_search WHERE note_search MATCH 'zebra'",
                                   "SELECT shout, length, id FROM note WHERE shout LIKE 'ZEBRA%'"])  # fmt: skip
async def test_no_view_index_or_generated_column_hides_who_wrote_it(query):
    world = fresh(notes_site.SITE)
    with world.write() as db:
        db.execute("INSERT INTO note (author, body) VALUES ('ann', 'zebra')")
    receipts = Receipts(world)
    token = collect(receipts)
    try:
        assert not receipts.note(next(iter(world.row(query).values())))
    finally:
        stop(token)


# --- what keeps its origin ------------------------------------------------------------------------------------


async def test_what_is_made_of_vouched_parts_is_vouched_for_and_nothing_else():
    world = fresh(shop.SITE)
    receipts = Receipts(world)
    token = collect(receipts)
    try:
        found = world.row("SELECT id, name, price_cents, stock FROM products LIMIT 1")
        name, price = found["name"], found["price_cents"]
        good = [
            name, ours("Only {} of {}").format(price, name), name.lower(), name.split(" ")[0], name[:5], price * 3 // 2,
            -price, sum([price, price]), carried(str(price), price), {**found}["name"], ours("The end"),
            world.scalar("SELECT count(*) FROM products"),
        ]  # fmt: skip
        bad = [f"{name}", "typed", 7, name + " typed", ours("{}").format("typed"), ours("a").replace("a", "typed"),
               carried("typed", name, "typed"), str(price)]  # fmt: skip
        assert [receipts.note(one) for one in good] == [True] * len(good)
        assert [receipts.note(one) for one in bad] == [False] * len(bad)
        assert receipts.cells() == {("products", name): {(found["id"],): None} for name in ("name", "price_cents")}
        assert written({"a": [name, "typed", None, True]}) == {"a": [name, ECHO[0] + "typed" + ECHO[1], None, True]}
    finally:
        stop(token)


WRITTEN = {
    "{{ row.name }}": "Chair", "{{ row['name']|upper }}": "CHAIR", "{{ typed }}": "<typed>", "A {{ 'b' }} c": "A b c",
    "{{ row.name ~ ' x' }}": "Chair x", "{{ row.name ~ typed }}": "<Chairtyped>", "{{ names['Chair'] }}": "<typed>",
    "{{ known[row.name] }}": "Seat", "{{ names.get(row.name) }}": "<typed>", "{{ rows|length }}": "2",
    "{{ []|length }}": "0",
    "{{ 'Yes' if typed else 'No' }}": "Yes",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m('b') }} {{ m(typed) }}": "b <typed>",
    "<a href='{{ row.name }}' title='{{ typed }}'>x</a>": "<a href='Chair' title='<typed>'>x</a>",
}  # fmt: skip


@pytest.mark.parametrize(("template", "said"), WRITTEN.items())
async def test_templates_say_what_rows_and_they_themselves_say(template, said):
    world = fresh(shop.SITE)
    receipts = Receipts(world)
    token = collect(receipts)
    try:
        row = {**world.row("SELECT id, 'Chair' AS name FROM products LIMIT 1")}
        given = {"row": row, "typed": "typed", "rows": [row, row], "names": {"Chair": "typed"},
                 "known": {"Chair": ours("Seat")}}  # fmt: skip
        page = finished(environment("webassay.sites.shop", {}).from_string(template).render(given))
        assert page == said.replace("<typed>", "typed").replace("<Chairtyped>", "Chairtyped")
        assert receipts.vouched == said.replace("<typed>", f"{ECHO[0]}typed{ECHO[1]}").replace(
            "<Chairtyped>", f"{ECHO[0]}Chairtyped{ECHO[1]}"
        )
    finally:
        stop(token)


# --- cells, in whatever form ----------------------------------------------------------------------------------


async def test_a_row_knows_what_its_query_computed_for_it_and_what_was_made_of_its_columns():
    visitor = HostedVisitor(admin.SITE, OWNER)
    order = visitor.world.row("SELECT * FROM orders ORDER BY created_at DESC, id DESC LIMIT 1")

    await visitor.get("/orders?show-bill_to=1")
    await visitor.get("/products?show-category=1")
    await visitor.get("/reports/customers?report=1&period=year&from=01/01/2015&to=12/31/2026")
    assert sees(visitor, Key.read(cell("orders", order["id"], "=bill_to"), cell("orders", order["id"])))
    assert not sees(visitor, Key.read(cell("orders", order["id"], "=ship_to")))
    assert sees(visitor, Key.read(cell("products", 1, "=category")))
    assert not any(shown.table == "customers" and shown.column == "=total" for shown in visitor.record().cells), (
        "groups"
    )


@pytest.mark.parametrize("path", [
    "/orders?show-total=1&limit=20", "/orders/export?show-total=1", "/orders?sort=total&dir=asc&limit=100",
    "/orders?total_from=0.01&total_to=20&sort=total&dir=asc&show-status=1&show-total=1",
])  # fmt: skip
async def test_a_cell_counts_with_any_columns_in_any_order_and_in_an_export(path):
    visitor = HostedVisitor(admin.SITE, OWNER)
    kind = "created_at DESC, id DESC" if "sort" not in path else "total_cents, id"
    row = visitor.world.row(f"SELECT * FROM orders ORDER BY {kind} LIMIT 1")
    page = await visitor.get(path)
    assert row["number"] not in page or "show" not in path, "its number is hidden"
    assert sees(visitor, Key.read(cell("orders", row["id"], "total_cents")))
    assert not sees(visitor, Key.read(cell("orders", row["id"], "tax_cents")))


async def test_the_record_says_which_answer_showed_a_cell_first():
    visitor = HostedVisitor(admin.SITE, OWNER)
    row = visitor.world.row("SELECT id FROM orders ORDER BY created_at DESC, id DESC LIMIT 1")
    for path in ("/products", "/orders?show-total=1&limit=20", "/orders/export?show-total=1"):
        await visitor.get(path)
    record = visitor.record()
    (totals,) = [one for one in record.cells if (one.table, one.column) == ("orders", "total_cents")]
    assert [record.served[number].path for number in totals.first[:2]] == ["/orders?show-total=1&limit=20"] * 2
    assert len(totals.first) == len(totals.rows) and (row["id"],) == totals.rows[0]


async def test_an_export_is_read_as_rows():
    visitor = HostedVisitor(admin.SITE, OWNER)
    rows = visitor.world.rows("SELECT * FROM orders ORDER BY id DESC LIMIT 2")
    await visitor.get("/orders/export?created_from=02/15/2026")
    assert sees(visitor, Key.seen(rows[0]["number"], ORDER_STATUSES[rows[0]["status"]]))
    assert not sees(visitor, Key.seen(rows[0]["number"], rows[1]["number"]))


@pytest.mark.parametrize(("path", "status", "counted"), [
    ("/orders?status=pending", "pending", True), ("/orders?status=complete", "pending", False),
    ("/reports/orders?report=1&period=year&status=pending&from=01/01/2015&to=12/31/2026", "pending", True),
    ("/orders?status=pending&total_from=50", "pending", False),
])  # fmt: skip
async def test_a_count_is_known_from_any_query_to_which_every_row_contributes(path, status, counted):
    visitor = HostedVisitor(admin.SITE, OWNER)
    world = visitor.world
    rows = [(row["id"],) for row in world.rows("SELECT id FROM orders WHERE status = ? ORDER BY id", status)]
    value = len(rows)
    if "year" in path:
        rows = [(row["id"],) for row in world.rows(
            "SELECT id FROM orders WHERE status = ? AND created_at > '2026' ORDER BY id", status)]  # fmt: skip
        value = len(rows)
    await visitor.get(path)
    wanted = ServedCount("orders", rows[:20], value)
    assert is_counted(world, wanted, visitor.hosted.recorder.computed) is counted
    wrong = ServedCount("orders", rows[:20], value + 1)
    assert not is_counted(world, wrong, visitor.hosted.recorder.computed)


# --- every page -----------------------------------------------------------------------------------------------

NOBODY = 0.12
"""Of the words of a page, how many may have nobody to vouch for them: paging, what is chosen, typed, or lost."""


PAGES = {
    "shop": "/ /p/{slug} /search?q=lamp /account /account/orders /account/orders/{number} /account/reviews"
    " /account/wishlist /account/addresses /coupons?show=all /cart",
    "admin": "/ /orders /orders/{number} /products /products/7 /customers /customers/7 /reviews /reviews/7 /coupons"
    " /categories /reports/low-stock?report=1 /invoices /shipments /refunds /pages /users",
}


def pages_of(visitor: HostedVisitor) -> list[str]:
    world = visitor.world
    order = world.row("SELECT number FROM orders WHERE customer_id = (SELECT id FROM customers WHERE email = ?)", NORA)
    return PAGES[world.site.name].format(slug=product(world)["slug"], **order).split()


@pytest.mark.parametrize(("site", "user"), [(shop.SITE, NORA), (admin.SITE, OWNER)])
async def test_the_pages_of_our_sites_know_where_their_words_come_from(site, user):
    visitor = HostedVisitor(site, user)
    for path in pages_of(visitor):
        await visitor.get(path)
    record = visitor.record()
    for served in record.served:
        text = " ".join(lines_of(record, served))
        said, echoed = (
            text.split(),
            [word for part in text.split(ECHO[0])[1:] for word in part.split(ECHO[1])[0].split()],
        )
        assert served.status == 200 and said
        assert len(echoed) <= NOBODY * len(said), (served.path, echoed)


UNKNOWN = {
    ("categories", "name"): "a product's shelf, category and department: three rows of one table, known by the product",
    ("order_items", "name"): "bestsellers: any of the lines that were added up",
    ("orders", "coupon_code"): "the report on coupons: any of the orders that were added up",
    ("order_addresses", "region"): "the report on taxes: any of the addresses that were added up",
}
"""Columns that pages show without the row they are from, and why."""


@contextmanager
def unknown_rows(monkeypatch) -> Iterator[set[tuple[str, str]]]:
    """Collects what is written of which nobody knows the row."""
    unknown: set[tuple[str, str]] = set()

    def note(receipts: Receipts, value: object, noted=Receipts.note) -> bool:
        for line, place in [value.ink] if noted(receipts, value) and value.ink and len(value.ink) == 2 else []:
            if isinstance(place, int) and line.source.origins[place] and not line.source.cell(line.values, place):
                unknown.add(line.source.origins[place])
        return noted(receipts, value)

    with monkeypatch.context() as patched:
        patched.setattr(Receipts, "note", note)
        yield unknown


@pytest.mark.parametrize(("site", "user"), [(shop.SITE, NORA), (admin.SITE, OWNER)])
async def test_the_cells_of_our_pages_know_their_rows(site, user, monkeypatch):
    visitor = HostedVisitor(site, user)
    with unknown_rows(monkeypatch) as unknown:
        for path in pages_of(visitor):
            await visitor.get(path)
    assert unknown <= UNKNOWN.keys(), sorted(unknown)


_NUMBERED = ((r"/p/[^/]+", "/p/."), (r"/c/.+", "/c/."), (r"/(coupons|returns)/\w+", "/./."), (r"/\d+", "/."))


@pytest.mark.long
@pytest.mark.parametrize(("site", "user"), [(shop.SITE, NORA), (admin.SITE, OWNER)])
async def test_wherever_a_link_leads_cells_know_their_rows(site, user, monkeypatch):
    """One page of each kind, and each report, with what it shows."""
    visitor, seen = HostedVisitor(site, user), set()
    queue = [*pages_of(visitor), *(f"{path}/export?limit=20" for path in ("/orders", "/products", "/reviews"))]
    with unknown_rows(monkeypatch) as unknown:
        for path in queue:  # It grows on the way.
            kind = path.partition("?")[0]
            for numbered, one in _NUMBERED:
                kind = re.sub(numbered, one, kind)
            if kind in seen:
                continue
            seen.add(kind)
            asked = (
                f"{path}?report=1&period=year&from=01/01/2025&to=12/31/2025" if path.startswith("/reports/") else path
            )
            page = await visitor.get(asked)
            found = re.findall(r'href="(/[^"#]*)', page)
            queue += [html.unescape(link) for link in found if "logout" not in link and "/static/" not in link]
    assert len(seen) >= 25
    assert unknown <= UNKNOWN.keys(), sorted(unknown)


# --- keys ---------------------------------------------------------------------------------------------------

ATTACKED = (
    "shop.month-spend",
    "shop.card-origin",
    "shop.dearest-year",
    "admin.orders-by-month",
    "admin.busiest-buyers",
)


@pytest.mark.parametrize("name", ATTACKED)
async def test_who_knows_the_key_cannot_plant_its_evidence(name):
    worlds = {site.name: fresh(site) for site in (shop.SITE, admin.SITE, home.SITE)}
    task = next(iter(instances(next(one for one in REGISTERED if one.name == name), worlds, 1)))
    checks = [check for check in task.checks if isinstance(check, EvidenceCheck)]
    texts = [" ".join(sight.texts) for check in checks for sight in check.sights() if sight.texts]
    records = {}
    for site, user, address, form in ((shop.SITE, NORA, "/search/advanced?name={}&description={}", "/contact"),
                                      (admin.SITE, OWNER, "/orders?q={}&coupon={}", "/pages/new")):  # fmt: skip
        visitor = HostedVisitor(site, user)
        for text in texts[:20]:
            half = len(text) // 2
            await visitor.get(address.format(quote(text[:half]), quote(text[half:])))
            await visitor.get(address.format(quote(text), ""))
        said = "\n".join(texts)
        await visitor.post(form, name=said, email="x", message=said, title="A", url_key="a", content=said, enabled=1)
        await visitor.get("/contact" if site is shop.SITE else "/pages/7")
        records[site.name] = visitor.record()
    findings = check_evidence(checks, records, task.goal.instruction)
    assert "fail" in {finding.status for finding in findings}
    assert all(finding.actual == 0 for finding in findings)


# Three templates in small: what a page with a hidden column, a file, and a filtered report are enough for.
SMALL = {
    "a hidden column": ("/orders?status=pending&show-total=1&limit=100", "total_cents", None),
    "a file": ("/orders/export?status=pending&show-total=1", "total_cents", None),
    "a filtered report": (
        "/reports/orders?report=1&period=year&status=pending&from=01/01/2026&to=12/31/2026",
        "status",
        1,
    ),
}


@pytest.mark.parametrize(("path", "column", "counted"), SMALL.values(), ids=SMALL)
async def test_a_task_can_ask_for_cells_and_for_what_is_counted(path, column, counted):
    visitor = HostedVisitor(admin.SITE, OWNER)
    rows = visitor.world.rows(
        "SELECT id FROM orders WHERE status = 'pending' AND created_at > '2026' ORDER BY created_at DESC LIMIT 60"
    )
    if counted:
        counted = visitor.world.scalar("SELECT count(*) FROM orders WHERE status = 'pending' AND created_at > '2026'")
    how = {"or_counted": counted} if counted else {"share": 0.9}
    (check,) = Key.read_rows("orders", [row["id"] for row in rows], column, **how).evidence
    await visitor.get("/orders?status=complete")
    for status in ("fail", "pass"):
        found = await visitor.hosted.probe({}, [one.model_dump(mode="json") for one in check.counts()])
        record = ServedRecord.unpack(b64decode(found["served"]["record"]))
        (finding,) = check_evidence([check], {"admin": record})
        assert finding.status == status
        await visitor.get(path)
