"""Calls of the workbench from Python: one path or name in place of a list, and places written in several ways."""

import os

import pytest

from tests.workbench.test_graders import A, make
from webassay.core.errors import InputError
from webassay.workbench import Workbench


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return make(tmp_path / "run", {"clerk": ["pfp"]}, [A])


@pytest.mark.parametrize("kind", [str, os.fspath, lambda path: path])
def test_a_single_run_needs_no_list(run, kind):
    bench = Workbench()
    assert bench.rows(kind(run)) == bench.rows([run])
    assert bench.report(kind(run), graders="universal").title == "run"
    assert bench.errors(kind(run)).json == bench.errors([run]).json


async def test_a_single_agent_needs_no_list(tmp_path):
    with pytest.raises(InputError, match="There is no agent 'oracel'"):
        await Workbench().run(tmp_path / "out", "oracel")


def test_a_run_is_called_by_its_folder_however_it_is_written(run, monkeypatch):
    monkeypatch.chdir(run)
    assert {row["run"] for row in Workbench().rows(["."])} == {"run"}
    assert Workbench().report(["."]).title == "run"


def test_a_run_counts_once_however_often_it_is_given(run):
    bench = Workbench()
    (run.parent / "link").symlink_to(run)
    several = ["run", run, run / ".." / "run", "link"]
    assert len(bench.rows(several)) == len(bench.rows(run)) == 3
    assert bench.report(several).counts == bench.report(run).counts


def test_links_in_a_circle_are_no_run(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(InputError, match="is not a run directory"):
        Workbench().rows(tmp_path / "a")
