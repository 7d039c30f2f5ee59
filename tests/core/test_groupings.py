"""Groupings: what a task is in, and how a new one gets from a plug-in into every form of a report."""

from importlib.metadata import EntryPoint

import pytest

from tests.support import samples
from webassay.analysis.numbers.rows import ResultRow, rows_of
from webassay.analysis.results.page import to_html
from webassay.analysis.results.report import Names, summarize
from webassay.analysis.results.report_text import to_markdown
from webassay.analysis.results.spreadsheet import to_csv
from webassay.analysis.results.tables import tables
from webassay.compose import registries
from webassay.core import registry
from webassay.core.errors import InputError
from webassay.core.groupings import GROUPINGS, Grouping, groups_of_task, ordered
from webassay.core.report import Report
from webassay.play.plan import plan
from webassay.store import Store

SHELF = Grouping("shelf", "Where the book stands.", lambda task: "top" if task.id.endswith("0") else "bottom")
"""What a plug-in declares, and all that it declares."""


def planned(path) -> list[ResultRow]:
    """What a store gives back of a plan that the plug-in's grouping was asked for."""
    with Store.create(path) as store:
        tasks = [samples.task(id=f"t{number}") for number in range(4)]
        store.plan(plan(tasks, ["clerk"], groupings=(*GROUPINGS, SHELF)))
        return list(rows_of(store.rows("rules")))


@pytest.fixture
def report(tmp_path) -> Report:
    return summarize(planned(tmp_path / "run"))


def test_a_plug_ins_grouping_is_in_the_report_without_the_plug_in(report):
    groups = report.agents[0].groups
    shelves = {group.name: group.success.counts.planned for group in groups if group.dimension == "shelf"}
    assert shelves == {"top": 1, "bottom": 3}
    assert [(one.name, one.title) for one in report.groupings][-1] == ("shelf", "shelf")


def test_a_plug_ins_title_is_shown_while_it_is_installed(tmp_path):
    known = Grouping("shelf", "", SHELF.of_task, title="the book's shelf", shown_alone=True)
    report = summarize(planned(tmp_path / "run"), names=Names(groupings=(known,)))
    assert report.groupings[-1].title == "the book's shelf" and report.groupings[-1].shown_alone
    assert "## By the book's shelf" in to_markdown(report)


@pytest.mark.parametrize(
    ("write", "expected"),
    [(to_markdown, "## By shelf"), (to_html, "<h3>By shelf</h3>"), (to_csv, "clerk,shelf,bottom,3")],
    ids=["markdown", "html", "csv"],
)
def test_every_format_shows_a_plug_ins_grouping(report, write, expected):
    assert expected in write(report)


def test_tables_and_data_frames_have_a_plug_ins_grouping(tmp_path):
    rows = planned(tmp_path / "run")
    assert [row.as_dict()["shelf"] for row in rows] == ["top", "bottom", "bottom", "bottom"]
    scored = [ResultRow(agent="a", task_id="t", status="pass", sites=("shop",), groups=row.groups) for row in rows]
    (shelves,) = [table for table in tables(scored, [SHELF]).tables if table.name == "shelf × site"]
    assert {(cell.row, cell.share.units) for cell in shelves.cells if cell.column == "shop"} >= {
        ("top", 1),
        ("bottom", 3),
    }


def test_an_entry_point_declares_a_grouping(monkeypatch):
    point = EntryPoint("shelf", f"{__name__}:SHELF", "webassay.groupings")
    monkeypatch.setattr(registry, "entry_points", lambda group: [point] if group == point.group else [])
    groupings = registries.GROUPINGS
    found = type(groupings)("grouping", groupings._find, modules=groupings._modules, group=groupings.group)
    assert list(found) == [*GROUPINGS, SHELF]


@pytest.mark.parametrize(
    ("answer", "groups"),
    [("top", ["top"]), (["top", "low"], ["top", "low"]), ((3,), ["3"]), ("", None), ([], None), (["", "low"], ["low"])],
)
def test_a_task_is_in_one_group_or_several_or_none(answer, groups):
    kept = groups_of_task(samples.task(), [Grouping("shelf", "", lambda task: answer)])
    assert kept.get("shelf") == groups


def test_a_grouping_that_breaks_is_named():
    broken = Grouping("shelf", "", lambda task: [1 / 0])
    with pytest.raises(InputError, match=r"grouping shelf cannot place the task shop\.count\.0"):
        groups_of_task(samples.task(), [broken])


def test_our_own_come_first():
    assert ordered(["zeta", "kind", "alpha", "site"]) == ["site", "kind", "alpha", "zeta"]
