"""WebChoreArena's tables, small set and checkpoints."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import samples
from webassay.agents.models.prompts import tips_for
from webassay.analysis.numbers.rows import ResultRow, row_of
from webassay.analysis.results.tables import OVERALL, tables, tables_document
from webassay.benchmarks import chores
from webassay.core.errors import InputError
from webassay.core.summary import TrajectorySummary, UnitResult, UnitSummary, VerdictSummary
from webassay.core.task import Task
from webassay.core.trajectory import AgentInfo
from webassay.play.plan import metadata
from webassay.workbench import Selection, Workbench

DATA = Path(__file__).parents[3] / "shared" / "data" / "webchorearena"


def raw(number: int = 10010, **changes: Any) -> dict[str, Any]:
    return {
        "task_id": number, "sites": ["shopping_admin"], "intent": "Count them.", "intent_template": "Count them.",
        "instantiation_dict": {}, "start_url": "__SHOPPING_ADMIN__/admin/dashboard/", "storage_state": None,
        "start_url_lite": "__SHOPPING_ADMIN__/sales/order/?status=a", "required_obs": "text",
        "type_main": "massive_memory", "type_sub": "calc",
        "eval": {"eval_types": ["string_match"], "reference_answers": {"exact_match": "3"}}, **changes,
    }  # fmt: skip


def one(tmp_path: Path, **changes: Any) -> Task:
    (tmp_path / "tasks.json").write_text(json.dumps([raw(**changes)]))
    return chores.load(tmp_path / "tasks.json")[0]


def test_the_page_near_the_goal_is_a_checkpoint(tmp_path: Path) -> None:
    (checkpoint,) = one(tmp_path).checkpoints
    assert checkpoint.name == chores.INFERRED and "inferred" in checkpoint.name
    (page,) = checkpoint.visits
    assert (page.site, page.path, page.query) == ("shopping_admin", "/sales/order(/.*)?", {"status": "a"})
    assert one(tmp_path, start_url_lite="__SHOPPING_ADMIN__/admin/dashboard").checkpoints == ()
    assert one(tmp_path, start_url_lite="http://172.16.2.7:8888/x").checkpoints == ()
    assert one(tmp_path, start_url_lite="").checkpoints == ()


def test_reports_know_both_types_and_the_observation(tmp_path: Path) -> None:
    told = UnitSummary.told(metadata(one(tmp_path)))
    assert told.groups == {"chore": ("massive_memory", "calculation"), "observation": ("text",)}
    single = UnitSummary.told(metadata(one(tmp_path, type_sub="")))
    assert single.groups["chore"] == ("massive_memory",)


def test_the_small_set_by_name(tmp_path: Path) -> None:
    file = tmp_path / "tasks.json"
    file.write_text(json.dumps([raw(10010), raw(10020), raw(10030)]))
    bench = Workbench(cache=tmp_path / "cache")
    selection = Selection(benchmark="webchorearena-small", file=str(file))
    with pytest.raises(InputError, match=r"small_set_ids\.txt"):
        bench.tasks(selection)
    (tmp_path / "small_set_ids.txt").write_text("10030\n10010\n")
    assert [task.id for task in bench.tasks(selection)] == ["webchorearena.10030", "webchorearena.10010"]


@pytest.mark.external
@pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data/webchorearena is not there")
def test_published_counts() -> None:
    """Checkpoints on as many tasks as the paper's Table B has, but for the shop."""
    tasks = chores.load(DATA / "test_webchore.raw.json")
    counts: dict[str, int] = {}
    for task in tasks:
        site = "cross" if len(task.sites) > 1 or task.id[14] == "5" else task.sites[0]
        counts[site] = counts.get(site, 0) + bool(task.checkpoints)
    assert (counts["shopping_admin"], counts["reddit"], counts["gitlab"]) == (132, 76, 122)
    small = chores.small_set(tasks, (DATA / "small_set_ids.txt").read_text())
    types = {name: sum(f"chore:{name}" in task.tags for task in small) for name in chores._CHORES.values()}
    assert types == {"massive_memory": 36, "calculation": 46, "long_term_memory": 49, "others": 11}
    assert len(small) == 102


def test_embedded_sites_have_tips() -> None:
    assert tips_for("shop") and tips_for("home") and not tips_for("admin"), "docs/agents.md says which"


def row(agent: str, task: str, passed: bool, **rest: Any) -> ResultRow:
    told = {"sites": ("shopping",), "groups": {"chore": ("calculation",)}, "benchmark": "b", **rest}
    return ResultRow(agent=agent, task_id=task, status="pass" if passed else "fail", **told)


def test_a_task_of_two_types_counts_under_both() -> None:
    made = tables(
        [
            row("a", "1", True, groups={"chore": ("calculation", "massive_memory")}),
            row("a", "2", False),
            row("a", "3", True, sites=("reddit",), modality="tree"),
            ResultRow(agent="a", task_id="4", status="abstain", groups={"chore": ("calculation",)}),
        ]
    )
    types = {(cell.row, cell.column): (cell.passed, cell.share.units) for cell in made.tables[0].cells}
    assert types == {
        ("calculation", "shopping"): (1, 2), ("calculation", "reddit"): (1, 1), ("calculation", OVERALL): (2, 3),
        ("massive_memory", "shopping"): (1, 1), ("massive_memory", OVERALL): (1, 1),
        (OVERALL, "shopping"): (1, 2), (OVERALL, "reddit"): (1, 1), (OVERALL, OVERALL): (2, 3),
    }  # fmt: skip
    assert [table.name for table in made.tables] == ["chore × site", "modality × site"]


def test_modality_is_what_the_agent_saw() -> None:
    """On the same tree tasks, with and without pictures: the paper's Table 2."""

    def played(agent: str, settings: dict[str, Any]) -> ResultRow:
        trajectory = samples.trajectory(agent=AgentInfo(name=agent, settings=settings))
        summaries = (TrajectorySummary.of(trajectory), VerdictSummary.of(samples.verdict()))
        unit = UnitSummary.told(metadata(samples.task()))
        return row_of(UnitResult(agent, "shop.count.0", 0, unit, *summaries))

    pictures = "generic[modality=tree+screenshot]"
    rows = [
        played("generic", {"modality": None}),
        played(pictures, {"modality": "tree+screenshot"}),
        played("theirs", {"modality": "smell"}),
        played("oracle", {}),
    ]
    assert {row.modality for row in rows} == {"tree"}
    (table,) = [one for one in tables(rows).tables if one.name == "modality × site"]
    assert {(cell.agent, cell.row) for cell in table.cells if cell.row != OVERALL} == {
        ("generic", "tree"), (pictures, "tree+screenshot"), ("theirs", "tree"), ("oracle", "tree"),
    }  # fmt: skip


def test_tools_and_two_benchmarks() -> None:
    made = tables(
        [
            row("a", "1", True, tools={"calculator": 2}),
            row("a", "2", False),
            row("a", "3", False, benchmark="c"),
            row("d", "3", True, benchmark="c"),
        ]
    )
    everything, calculator = made.tools[:2]
    assert (calculator.tool, calculator.calls, calculator.using) == ("calculator", 2, 1)
    assert (everything.with_tool.value, everything.without_tool.value) == (1.0, 0.0)
    assert [(one.agent, one.benchmark, one.share.value) for one in made.benchmarks] == [
        ("a", "b", 0.5), ("a", "c", 0.0), ("d", "c", 1.0),
    ]  # fmt: skip
    figure = tables_document(made).sections[-1]
    assert figure.title == "One benchmark against another" and "<svg" in figure.picture


def test_tables_from_published_outcomes(tmp_path: Path) -> None:
    (tmp_path / "tasks.json").write_text(json.dumps([raw(10010), raw(10020)]))
    table = tmp_path / "outcomes.csv"
    table.write_text("task,agent,outcome\n10010,x,1\n10020,x,0\n")
    bench = Workbench(cache=tmp_path / "cache")
    made = json.loads(bench.tables([table], benchmark=f"webchorearena={tmp_path / 'tasks.json'}").json)
    names = [one["name"] for one in made["tables"]]
    assert names == ["kind × site", "chore × site", "modality × site", "observation × site"]
    assert len(made["tables"][1]["cells"]) == 6
