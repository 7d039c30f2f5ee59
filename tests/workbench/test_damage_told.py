"""Whoever reads a run hears what is damaged in it and left out, and hears it once."""

import shlex

import pytest
from typer.testing import CliRunner

from tests.store.test_damage import UNITS, fill, sql
from webassay.cli import app
from webassay.workbench import Workbench

READERS = {
    "rows": lambda bench, run: bench.rows([run]),
    "errors": lambda bench, run: bench.errors([run]),
    "agentlab_table": lambda bench, run: bench.agentlab_table([run]),
    "endings": lambda bench, run: list(bench.endings(run)),
    "outcome": lambda bench, run: bench.outcome(run),
    "mistakes": lambda bench, run: bench.mistakes(run),
    "graders": lambda bench, run: bench.graders([run]),
    "leaderboard": lambda bench, run: bench.leaderboard([run]),
    "tables": lambda bench, run: bench.tables([run]),
    "units": lambda bench, run: bench.units(run),
}


@pytest.fixture
def damaged(tmp_path):
    run = fill(tmp_path / "my run")
    sql(run, "UPDATE trajectory SET steps = steps + 1 WHERE ordinal IN (3, 4)")
    return run


@pytest.mark.parametrize("reader", READERS)
def test_damage_is_told_once(damaged, reader):
    told = []
    READERS[reader](Workbench(on_notice=told.append), damaged)
    (said,) = told
    assert said.startswith("2 units are damaged and left out")
    assert f"`webassay store check {shlex.quote(str(damaged))}`" in said


def test_a_report_says_it_itself(damaged):
    told = []
    report = Workbench(on_notice=told.append).report([damaged])
    assert [said[:19] for said in report.warnings if "damaged" in said] == ["2 units are damaged"]
    assert not told


def test_what_is_whole_needs_no_notice(tmp_path):
    run, told = fill(tmp_path / "run"), []
    assert len(Workbench(on_notice=told.append).rows([run])) == UNITS
    assert not told


def test_a_command_that_opens_a_run_twice_says_it_once(damaged, tmp_path):
    done = CliRunner().invoke(app, ["show", str(damaged), "shop.count.0", "--html", str(tmp_path / "page.html")])
    assert done.exit_code == 0
    assert done.stderr.count("2 units are damaged") == 1
