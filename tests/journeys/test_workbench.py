"""Everything the command line does, from Python."""

import asyncio
import subprocess
import sys

import pytest

from tests.support.worlds import CACHE
from webassay import GradeOptions, ModelOptions, PlayOptions, Selection, Workbench, run_sync
from webassay.core.errors import InputError
from webassay.workbench import Progress

ONE = Selection(templates=("shop.price-of-nothing",), instances=1)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("workbench") / "run"
    told: list[Progress] = []
    bench = Workbench(cache=CACHE, on_progress=told.append)
    run_sync(bench.run(out, ["oracle", "naive-zero", "naive-na"], ONE, PlayOptions(workers=1)))
    return out, told


@pytest.mark.browser
class TestRun:
    def test_progress_comes_by_callback(self, run):
        told = [progress for progress in run[1] if progress.doing == "episodes"]
        assert [(one.done, one.total) for one in told] == [(1, 3), (2, 3), (3, 3)]
        assert told[-1].counts == {"pass": 1, "fail": 2}

    def test_rows_are_flat_dictionaries(self, run):
        rows = Workbench().rows([run[0]])
        assert {(row["agent"], row["status"], row["baseline"]) for row in rows} == {
            ("oracle", "pass", False), ("naive-zero", "fail", True), ("naive-na", "fail", True),
        }  # fmt: skip
        assert len({tuple(row) for row in rows}) == 1, "the same columns in every row"
        assert all(isinstance(value, str | int | float | bool | None) for row in rows for value in row.values())

    def test_a_report_is_a_record_and_says_how_it_ended(self, run):
        report = Workbench().report([run[0]], title="mine")
        assert (report.title, report.agents[0].name, report.agents[0].success.counts.passed) == ("mine", "oracle", 1)
        ended = {one.agent: one for one in Workbench().endings(run[0])}
        assert "NOT_FOUND_ERROR" in ended["oracle"].message and ended["oracle"].kind == "answered"

    def test_grading_again_changes_nothing(self, run):
        graded = list(Workbench(cache=CACHE).grade(run[0], GradeOptions(agents=("oracle",))))
        assert [(one.unit.agent, one.verdict.status, one.changed) for one in graded] == [("oracle", "pass", False)]
        with pytest.raises(InputError, match="no episode of nosuch"):
            list(Workbench(cache=CACHE).grade(run[0], GradeOptions(tasks=("nosuch",))))

    def test_it_works_inside_a_running_loop(self, run):
        """As in a notebook, where a cell may use the synchronous edge."""
        bench = Workbench(cache=CACHE)

        async def cell():
            return run_sync(bench.run(run[0], ["oracle"], ONE))

        assert asyncio.run(cell()) is None


def test_importing_webassay_loads_nothing():
    code = "import sys, webassay; print(sorted({'pydantic', 'asyncio', 'numpy', 'apsw', 'rich'} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_what_is_exported_is_there():
    import webassay

    for name in webassay.__all__:
        assert getattr(webassay, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = webassay.Nothing


def test_every_kind_describes_itself():
    for name, registry in Workbench().kinds().items():
        for thing in registry:
            assert thing.summary and "\n" not in thing.summary and thing.summary[-1] == ".", f"{name}: {thing.name}"


def test_settings_of_a_model_outrank_its_preset():
    given = ModelOptions("openai:x", preset="generic/gpt-4o", own_settings={"temperature": "0.7", "stop": "a+b"})
    assert (given.settings.temperature, given.settings.max_tokens, given.settings.stop) == (0.7, 2000, ("a", "b"))
    with pytest.raises(InputError, match="no setting 'heat'"):
        _ = ModelOptions("openai:x", own_settings={"heat": "1"}).settings
