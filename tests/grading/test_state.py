"""Required rows and collateral damage."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import samples
from webassay.core.errors import TaskError
from webassay.core.task import Expectation, ExpectedChange, StateCheck, load_tasks
from webassay.core.trajectory import MemoryBlobs, RowChange, RowsResult
from webassay.grading.grade import DEFAULT_POLICY, Policy, grade

COLUMNS = {
    "orders": {"id": "journal", "customer": "content", "total": "content", "note": "content", "made_at": "journal"},
    "items": {"id": "journal", "order_id": "content", "sku": "content", "quantity": "content"},
    "addresses": {"id": "journal", "street": "content", "city": "content", "changed_at": "journal",
                  "seen": "telemetry"},
    "sorted": {"id": "journal", "place": "journal", "changed_at": "journal"},
    "views": {"id": "telemetry", "count": "telemetry"},
}  # fmt: skip
NEW = itertools.count(900)


def inserted(table, **row):
    row = {"id": next(NEW), **row}
    return RowChange(table=table, key={"id": row["id"]}, after=row)


def updated(table, before, **changes):
    return RowChange(table=table, key={"id": before["id"]}, before=before, after={**before, **changes})


def deleted(table, **row):
    return RowChange(table=table, key={"id": row["id"]}, before=row)


def graded(expected, changes, policy=DEFAULT_POLICY, sites=("shop",), **more):
    probes = [RowsResult(site="shop", changes=tuple(changes), columns=COLUMNS)]
    probes += [RowsResult(site=site, changes=tuple(rows), columns=COLUMNS) for site, rows in more.items()]
    task = samples.task(checks=[StateCheck(changes=tuple(expected))], sites=sites)
    return grade(task, samples.trajectory(probes=tuple(probes)), MemoryBlobs(), policy)


def expected(operation, table, where=None, values=None, **rest):
    said = {column: Expectation.of(value) for column, value in (values or {}).items()}
    return ExpectedChange(site="shop", table=table, operation=operation, where=where or {}, values=said, **rest)


HOME = {"id": 7, "street": "Mill Lane 1", "city": "Leeds", "changed_at": 10, "seen": 3}
MOVE = expected("update", "addresses", {"id": 7}, {"city": "York"})
ORDER = expected("insert", "orders", values={"customer": "anna", "total": 12.5})


class TestRequired:
    def test_an_update_and_nothing_to_do(self):
        assert graded([], []).status == "pass"
        verdict = graded([MOVE], [updated("addresses", HOME, city="York", changed_at=11, seen=4)])
        assert verdict.status == "pass"
        assert verdict.aspects["side_effects"].value == 0
        both = expected("update", "addresses", {"id": 7}, {"city": "York", "street": "Mill Lane 1"})
        assert graded([both], [updated("addresses", HOME, city="York")]).status == "pass"

    @pytest.mark.parametrize(
        "changes",
        [
            [],
            [updated("addresses", HOME, city="Hull")],
            [updated("addresses", HOME, city="York", street="Mill Lane 2")],
            [updated("addresses", {**HOME, "id": 8}, city="York")],
            [updated("addresses", HOME, changed_at=11)],
            [inserted("addresses", street="Mill Lane 1", city="York")],
            [deleted("addresses", **HOME)],
        ],
    )
    def test_not_that_update(self, changes):
        assert graded([MOVE], changes).status == "fail"

    def test_what_was_so_before_is_not_done_by_saving_it_again(self):
        stay = expected("update", "addresses", {"id": 7}, {"city": "Leeds"})
        both = expected("update", "addresses", {"id": 7}, {"city": "Leeds", "changed_at": 11})
        for key in (stay, both):
            verdict = graded([key], [updated("addresses", HOME, changed_at=11)])
            assert verdict.status == "fail"
            assert verdict.aspects["side_effects"].value == 0
        missing = next(f for f in verdict.findings if f.code == "missing_change")
        assert "it was so before" in missing.message

    def test_a_journal_column_can_be_asked_for(self):
        key = expected("update", "addresses", {"id": 7}, {"changed_at": 11})
        assert graded([key], [updated("addresses", HOME, changed_at=11)]).status == "pass"
        assert graded([key], [updated("addresses", HOME, changed_at=12)]).status == "fail"
        assert graded([key], [updated("addresses", HOME, changed_at=11, city="York")]).status == "fail"
        moved = updated("sorted", {"id": 1, "place": 3, "changed_at": 1}, changed_at=2)
        place = expected("update", "sorted", {"id": 1}, {"place": 3})
        assert graded([place], [moved]).status == "fail"

    def test_an_insert_accounts_for_every_content_column(self):
        whole = inserted("orders", customer="anna", total=12.5, note=None, made_at=5)
        assert graded([ORDER], [whole]).status == "pass"
        assert graded([ORDER], [inserted("orders", customer="anna", total=12.5, note="hurry")]).status == "fail"
        assert graded([ORDER], [inserted("orders", customer="anna", total=12.51)]).status == "fail"

    @pytest.mark.parametrize("written", [
        "522 JÜNIPER-COURT!!!", "522 juniper court", "522 Juniper Court.", " 522 Juniper Court", "522  Juniper Court",
        "522 Ju\u0301niper Court", "522 Juniper Ct", 522, None,
    ])  # fmt: skip
    def test_what_was_written_is_compared_as_it_stands(self, written):
        move = expected("update", "addresses", {"id": 7}, {"street": "522 Juniper Court"})
        either = expected("update", "addresses", {"id": 7}, {"street": Expectation(
            any_of=(Expectation.of("1 Juniper Court"), Expectation.of("522 Juniper Court")))})  # fmt: skip
        for key in (move, either):
            assert graded([key], [updated("addresses", HOME, street=written)]).status == "fail"
            assert graded([key], [updated("addresses", HOME, street="522 Juniper Court")]).status == "pass"

    def test_a_key_may_be_lenient(self):
        lenient = Expectation.of("522 Juniper Court", lenient=True)
        move = expected("update", "addresses", {"id": 7}, {"street": lenient})
        assert graded([move], [updated("addresses", HOME, street="522 JUNIPER-COURT!!!")]).status == "pass"
        assert graded([move], [updated("addresses", HOME, street="523 Juniper Court")]).status == "fail"
        pattern = expected("update", "addresses", {"id": 7}, {"street": Expectation(pattern="522 juniper (court|ct)")})
        assert graded([pattern], [updated("addresses", HOME, street="522 Juniper Ct")]).status == "pass"

    @pytest.mark.parametrize(("wanted", "written", "status"), [
        (1, 1, "pass"), (1, 1.0, "pass"), (True, 1, "pass"), (None, None, "pass"), (12.5, 12.5, "pass"),
        (0, False, "pass"), (1, "1", "fail"), ("1", 1, "fail"), (1, 2, "fail"), (12.5, "12.50", "fail"),
        (None, "", "fail"), ("", None, "fail"),
    ])  # fmt: skip
    def test_numbers_and_texts_are_not_the_same(self, wanted, written, status):
        move = expected("update", "addresses", {"id": 7}, {"street": wanted})
        assert graded([move], [updated("addresses", HOME, street=written)]).status == status

    def test_a_delete_and_as_often_as_asked(self):
        gone = expected("delete", "addresses", {"id": 7})
        assert graded([gone], [deleted("addresses", **HOME)]).status == "pass"
        assert graded([gone], [deleted("addresses", **{**HOME, "id": 8})]).status == "fail"
        twice = expected("insert", "orders", values={"customer": "anna", "total": 1}, count=2)
        rows = [inserted("orders", customer="anna", total=1) for _ in range(3)]
        assert [graded([twice], rows[:n]).status for n in (1, 2, 3)] == ["fail", "pass", "fail"]

    def test_the_finding_names_the_nearest_row(self):
        verdict = graded([MOVE], [updated("addresses", HOME, city="Hull")])
        missing = next(f for f in verdict.findings if f.code == "missing_change")
        assert "city" in missing.message and "Hull" in missing.message

    def test_a_greedy_choice_would_miss_this(self):
        anyone = ExpectedChange(
            site="shop", table="orders", operation="insert",
            values={"customer": Expectation(anything=True), "total": Expectation.of(1)},
        )  # fmt: skip
        anna = expected("insert", "orders", values={"customer": "anna", "total": 1})
        rows = [inserted("orders", customer="anna", total=1), inserted("orders", customer="bert", total=1)]
        assert graded([anyone, anna], rows).status == "pass"
        assert graded([anyone, anna], rows[::-1]).status == "pass"


TWO = Expectation.of(2)


class TestLinks:
    ORDER = expected("insert", "orders", values={"customer": "anna", "total": 1}, label="order")
    ITEM = ExpectedChange(
        site="shop", table="items", operation="insert",
        values={"order_id": Expectation(same_as="order.id"), "sku": Expectation.of("A1"), "quantity": TWO},
    )  # fmt: skip

    def test_links_lead_to_the_right_row(self):
        order = inserted("orders", customer="anna", total=1)
        item = inserted("items", order_id=order.key["id"], sku="A1", quantity=2)
        assert graded([self.ORDER, self.ITEM], [order, item]).status == "pass"
        assert graded([self.ITEM, self.ORDER], [item, order]).status == "pass"
        # To the right one only.
        order = inserted("orders", customer="anna", total=1)
        stray = inserted("items", order_id=1, sku="A1", quantity=2)
        verdict = graded([self.ORDER, self.ITEM], [order, stray])
        assert verdict.status == "fail"
        assert verdict.aspects["side_effects"].value == 1
        # A missing target leaves the rest to be found.
        verdict = graded([self.ORDER, self.ITEM, MOVE], [updated("addresses", HOME, city="York")])
        codes = [f.code for f in verdict.findings if f.check == "state.required"]
        assert codes == ["missing_change", "missing_change", ""]

    def test_two_alike_are_told_apart_by_their_links(self):
        orders = [inserted("orders", customer="anna", total=1) for _ in range(2)]
        item = inserted("items", order_id=orders[1].key["id"], sku="A1", quantity=2)
        other = expected("insert", "orders", values={"customer": "anna", "total": 1})
        for wanted in itertools.permutations([self.ORDER, other, self.ITEM]):
            assert graded(wanted, [*orders, item]).status == "pass"

    def test_a_link_to_nowhere_is_refused_when_the_task_is_loaded(self):
        task = samples.task(checks=[StateCheck(changes=(self.ORDER, self.ITEM))])
        broken = task.to_json().replace('"label":"order"', '"label":"other"')
        with pytest.raises(TaskError, match="same_as"):
            load_tasks(f"[{broken}]", "tasks.json")


class TestCollateralDamage:
    @pytest.mark.parametrize(
        "change",
        [
            inserted("orders", customer="anna", total=3),
            updated("addresses", HOME, street="x"),
            deleted("addresses", **HOME),
            inserted("orders"),
            RowChange(table="unclassed", key={"k": 1}, after={"k": 1, "v": 2}),
        ],
    )
    def test_any_other_change_fails_and_is_named(self, change):
        verdict = graded([], [change])
        damage = next(f for f in verdict.findings if f.code == "collateral_damage")
        assert verdict.status == "fail"
        assert change.table in damage.message and str(next(iter(change.key.values()))) in damage.message
        assert verdict.aspects["side_effects"].value == 1

    @pytest.mark.parametrize(
        "change",
        [
            updated("addresses", HOME, seen=99),
            updated("addresses", HOME, changed_at=99, seen=99),
            inserted("views", count=1),
            deleted("views", id=1, count=1),
        ],
    )
    def test_traces_of_looking_are_no_damage(self, change):
        assert graded([], [change]).status == "pass"

    def test_damage_elsewhere_or_beside_a_right_change(self):
        verdict = graded([], [], sites=("shop", "forum"), forum=[inserted("orders", customer="anna")])
        assert verdict.status == "fail"
        assert any("forum" in f.message for f in verdict.findings if f.status == "fail")
        changes = [updated("addresses", HOME, city="York"), deleted("addresses", **{**HOME, "id": 9})]
        assert graded([MOVE], changes).status == "fail"
        probes = (RowsResult(site="shop", changes=(deleted("addresses", **HOME),), columns=COLUMNS),)
        verdict = grade(samples.task(), samples.trajectory(probes=probes), MemoryBlobs())
        assert any(f.code == "collateral_damage" for f in verdict.findings)

    def test_policies(self):
        change = [deleted("addresses", **HOME)]
        assert graded([], change, Policy(collateral="off")).status == "pass"
        reported = graded([], change, Policy(collateral="report"))
        assert reported.status == "pass"
        assert any(f.code == "reported.collateral_damage" for f in reported.findings)
        assert graded([], change, Policy(collateral="enforce")).status == "fail"


class TestFaults:
    def test_what_is_a_fault(self):
        task = samples.task(checks=[StateCheck()], sites=("shop", "forum"))
        some = samples.trajectory(probes=(RowsResult(site="shop", changes=()),))
        assert grade(task, samples.trajectory(), MemoryBlobs()).status == "fault"
        assert grade(task, some, MemoryBlobs()).status == "fault"
        wrong = expected("update", "addresses", {"id": 7}, {"town": "York"})
        assert graded([wrong], [updated("addresses", HOME, changed_at=11)]).status == "fault"


@given(st.permutations(range(6)), st.permutations(range(6)))
def test_no_order_decides(wanted_order, row_order):
    wanted = [expected("insert", "orders", values={"customer": f"c{n // 2}", "total": n % 2}) for n in range(6)]
    rows = [inserted("orders", customer=f"c{n // 2}", total=n % 2) for n in range(6)]
    assert graded([wanted[n] for n in wanted_order], [rows[n] for n in row_order]).status == "pass"
