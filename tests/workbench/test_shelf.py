"""Runs side by side: what is kept, what is read again, and sums that are a report's."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.episodes import make_run, sample_task
from tests.support.samples import trajectory
from webassay.analysis.results.facets import counted, facet, names_in, narrowed
from webassay.analysis.results.heat import heat_map
from webassay.core.errors import InputError
from webassay.core.interaction import Action, Usage
from webassay.core.trajectory import AgentInfo, Ending, RecordedObservation, Step
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Finding, Fingerprint, Verdict
from webassay.store import Store
from webassay.workbench import Workbench, look
from webassay.workbench.search import search

Planned = tuple[str, str, int, str]
"""Agent, template, task, what became of it."""

PLANS = st.lists(
    st.tuples(
        st.sampled_from(["careful", "hasty", "naive-zero"]),
        st.sampled_from(["", "shop.buy", "shop.read"]),
        st.integers(0, 2),
        st.sampled_from(["pass", "fail", "abstain", "fault", "missing", "ungraded", "broke"]),
    ),
    max_size=25,
)


def fill(run: Path, planned: list[Planned], *, trial: int = 0) -> None:
    with Store.create(run) as store:
        for number, (agent, template, task, became) in enumerate(planned):
            name = f"{template or 'own'}.{task}"
            metadata = {"template": template, "benchmark": "arena", "sites": ["shop"], "kind": "mutate"}
            unit = UnitOfWork(agent=agent, task_id=name, trial=trial + number, metadata=metadata)
            store.plan([unit])
            if became == "missing":
                continue
            seen = RecordedObservation(url="http://shop/", title=f"Page {number}")
            usage = Usage(calls=1, cost_usd=number / 7) if number % 3 else None
            steps = tuple(
                Step(index=index, seen=seen, actions=(Action.of("noop"),), usage=usage, thought=f"Thought {number}")
                for index in range(number % 4)
            )
            kind = "fault" if became == "broke" else "answered"
            made = trajectory(
                id=f"{unit.id}/0", task_id=name, template=template, benchmark="arena", steps=steps,
                agent=AgentInfo(name=agent, model=f"model-{agent}"), seconds=number / 3, ending=Ending(kind=kind),
            )  # fmt: skip
            finding = Finding(check="response.results", status="fail", message="Wrong.", code="mismatch")
            status = became if became in ("pass", "fail", "fault") else "abstain"
            verdict = Verdict(
                trajectory_id=made.id, task_id=name, status=status,
                findings=(finding,) if became == "fail" else (), fingerprint=Fingerprint(grader="rules", version="1"),
            )  # fmt: skip
            store.add_episode(unit.id, made, [] if became in ("ungraded", "broke") else [verdict])


@given(planned=PLANS)
def test_the_first_page_says_what_the_report_says(tmp_path_factory, planned):
    place = tmp_path_factory.mktemp("shelf") / "run"
    fill(place, planned)
    shelf = Workbench(cache=place).shelf([place])
    try:
        run, rater = shelf.run("run"), shelf.rater()
        seen, report = run.overview(rater), run.report(rater)
    finally:
        shelf.close()
    assert seen.counts == report.counts
    assert (seen.templates, seen.benchmarks) == (report.templates, report.benchmarks)
    own = {agent.name: agent for agent in report.agents}
    assert {agent.name for agent in seen.agents} == set(own)
    for agent in seen.agents:
        other = own[agent.name]
        assert agent.counts == other.success.counts
        assert (agent.baseline, agent.success.units) == (other.baseline, other.success.macro.units)
        effort = other.efficiency
        pairs = [(agent.steps, effort.steps.mean), (agent.seconds, effort.seconds.mean)]
        pairs += [(getattr(agent.success, end), getattr(other.success.macro, end)) for end in ("value", "low", "high")]
        pairs += [(agent.cost or 0.0, effort.cost_usd.total)]
        for mine, theirs in pairs:
            assert (mine is None) == (theirs is None) and mine == pytest.approx(theirs)


PLAN: list[Planned] = [
    ("careful", "shop.buy", 0, "pass"), ("hasty", "shop.buy", 0, "fail"),
    ("careful", "shop.read", 1, "pass"), ("hasty", "shop.read", 1, "pass"), ("hasty", "shop.read", 2, "missing"),
]  # fmt: skip


@pytest.fixture
def run(tmp_path) -> Path:
    fill(tmp_path / "run", PLAN)
    return tmp_path / "run"


@pytest.fixture
def shelf(run):
    shelf = Workbench(cache=run / "cache").shelf([run])
    yield shelf
    shelf.close()


def test_only_run_directories_are_taken(tmp_path):
    with pytest.raises(InputError, match="is not a run directory"):
        Workbench(cache=tmp_path).shelf([tmp_path])


def test_what_is_added_meanwhile_is_seen(shelf, run):
    rater = shelf.rater()
    assert len(shelf.entries(rater)) == 5
    first = shelf.run("run").rows(rater)
    assert shelf.run("run").rows(rater) is first, "kept as long as nothing changes"
    fill(run, [("careful", "shop.buy", 7, "fail")], trial=90)
    kept = shelf.run("run")._kept
    for key, one in list(kept.items()):
        kept[key] = one._replace(took=0.0)
    assert len(shelf.entries(rater)) == 6


def test_a_run_that_is_gone_is_said_to_be(shelf, run):
    (run / "ledger.sqlite").rename(run / "elsewhere")
    with pytest.raises(InputError, match="is gone"), shelf.run("run").open():
        pass


def test_agents_of_several_runs_are_told_apart_and_found_by_either_name(tmp_path):
    for name in ("first", "second"):
        fill(tmp_path / name, PLAN)
    shelf = Workbench(cache=tmp_path).shelf([tmp_path / "first", tmp_path / "second"])
    rater = shelf.rater()
    assert {one.agent for one in shelf.entries(rater)} == {
        f"{agent} ({run})" for agent in ("careful", "hasty") for run in ("first", "second")
    }
    assert len(look.narrow(shelf, rater, {"agent": ("hasty",)}).units) == 6
    assert len(look.narrow(shelf, rater, {"agent": ("hasty (first)",)}).units) == 3
    assert len(look.narrow(shelf, rater, {"agent": ("hasty",), "run": ("second",)}).units) == 3
    shelf.close()


def test_facets_narrow_down_and_count_what_the_others_leave(shelf):
    rater = shelf.rater()
    assert {"run", "agent", "status", "failure", "site", "kind"} <= set(look.facet_names(shelf, rater))
    found = look.narrow(shelf, rater, {"agent": ("hasty",), "status": ("fail",)})
    assert [one.unit for one in found.units] == ["hasty/shop.buy.0/1"]
    assert found.facets["status"] == {"fail": 1, "pass": 1, "missing": 1}, "to choose another one instead"
    assert found.facets["failure"] == {"response.results:mismatch": 1}
    assert look.narrow(shelf, rater, {"failure": ("response.results:mismatch",)}).units == found.units
    assert look.narrow(shelf, rater, {"nobody-knows": ("x",)}).units == []


@given(planned=PLANS)
def test_every_value_of_a_facet_finds_as_many_as_it_counts(planned):
    from webassay.analysis.numbers.rows import ResultRow

    rows = [
        ResultRow(agent=agent, task_id=f"{task}", status="pass" if became == "pass" else "fail", template=template,
                  sites=("shop",), findings=((became, ""), (became, ""), ("x", "y")))
        for agent, template, task, became in planned
    ]  # fmt: skip
    for name, counts in counted(rows, names_in(rows)).items():
        for value, count in counts.items():
            fits = narrowed(rows, {name: (value,)})
            assert sum(fits) == count == sum(value in facet(name)(row) for row in rows)


def test_a_heat_map_puts_first_where_those_who_try_differ(shelf):
    units = shelf.entries(shelf.rater())
    made = look.heat(units, "template").sorted("differ")
    assert [(row.name, row.spread) for row in made.rows] == [("shop.buy", 1.0), ("shop.read", 0.0)]
    assert made.agents == ("careful", "hasty")
    assert [(cell.passed, cell.scored, cell.planned) for cell in made.rows[1].cells] == [(1, 1, 1), (1, 1, 2)]
    tasks = look.heat(units, "task").sorted("hard")
    assert tasks.rows[0].name == "shop.buy.0" and tasks.rows[-1].name == "shop.read.2"
    assert heat_map([], lambda row: row.task_id, ()).rows == ()


class TestSearch:
    def test_it_goes_on_where_its_time_was_up(self, shelf):
        rater = shelf.rater()
        found = search(shelf, rater, "page", {})
        assert {hit.where for hit in found.hits} == {"title"} and not found.onward
        units, onward, calls = [], "", 0
        while calls == 0 or onward:
            part = search(shelf, rater, "page", {}, since=onward, patience=-1.0)
            units += [hit.unit for hit in part.hits]
            onward, calls = part.onward, calls + 1
        assert units == [hit.unit for hit in found.hits] and calls > 2

    def test_it_finds_thoughts_and_findings_of_those_that_are_wanted(self, shelf):
        rater = shelf.rater()
        (hit,) = search(shelf, rater, "MISMATCH", {}).hits
        assert (hit.unit, hit.where, hit.match, hit.step) == ("hasty/shop.buy.0/1", "finding", "mismatch", None)
        (hit,) = search(shelf, rater, "thought 1", {"status": ("fail",)}).hits
        assert (hit.where, hit.step, hit.after) == ("thought", 1, "")
        assert search(shelf, rater, "thought 1", {"status": ("pass",)}).hits == []

    @pytest.mark.parametrize("since", ["9.1", "x", "0.x", "-1.0", "0.99999999999999999999999999999", "١.0"])
    def test_a_place_that_is_none_is_the_beginning(self, shelf, since):
        assert search(shelf, shelf.rater(), "page", {}, since=since).looked_at == 4

    def test_pages_are_read_too(self, tmp_path):
        run = make_run(tmp_path / "made")
        shelf = Workbench(cache=tmp_path).shelf([run])
        hits = search(shelf, shelf.rater(), "button 'cancel'", {}).hits
        assert [(hit.where, hit.step) for hit in hits][:1] == [("page", 1)]
        shelf.close()


def test_a_key_that_cannot_be_built_again_says_why(tmp_path):
    run = make_run(tmp_path / "made")
    task = sample_task()
    shelf = Workbench(cache=tmp_path).shelf([run])
    view = look.task_view(shelf.run("run"), task.id)
    said = [(line.what, line.text) for line in view.asked]
    assert ("answer", "mutate, status SUCCESS") in said and ("last page", "shop:/orders") in said
    assert ("rows", "A change in orders of shop where id = 7: status = canceled") in said
    assert "There is no task" in look.task_view(shelf.run("run"), "other").missing
    shelf.close()
    (tmp_path / "made-tasks.json").unlink()
    shelf = Workbench(cache=tmp_path).shelf([run])
    assert "could not be built again" in look.task_view(shelf.run("run"), task.id).missing
    shelf.close()
