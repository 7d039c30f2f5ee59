"""Every block of the README is run as it stands there, but on fewer tasks, section by section, in one folder."""

import ast
import asyncio
import inspect
import json
import os
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

from tests.analysis.test_protocols import verified
from tests.environments.served.playing import written
from tests.support import verified_logs
from tests.support.worlds import CACHE
from webassay.analysis.episode.view import EpisodeView
from webassay.benchmarks.verified import _fetched
from webassay.llm.replay import Script, replaying
from webassay.workbench import Run, Workbench

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", README, flags=re.M | re.S))
MODEL = "http://127.0.0.1:8000/v1"
TASKS = 3
"""Of the ten that a reader plays: more would only repeat what these show."""
RUN = ("My agent", "My model", "My tasks", "My site", "My logs", "In CI", "From Python")
"""As the tests below do, in the order of the page."""

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.timeout(900), pytest.mark.xdist_group("readme")]


def blocks(section: str, language: str = "") -> list[str]:
    body = SECTIONS[section].replace("--limit 10", f"--limit {TASKS}")
    found = re.findall(r"^```(\w*)\n(.*?)^```", body, flags=re.M | re.S)
    return [text for kind, text in found if kind == language]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("readme")
    program = place / "webassay"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m webassay "$@"\n')
    program.chmod(0o755)
    return place


def shell(commands: str, folder: Path, cache: Path = CACHE, code: int = 0) -> str:
    """The exit code of every command counts."""
    told = {"PATH": f"{folder}:{os.environ['PATH']}", "WEBASSAY_CACHE": str(cache)}
    words = ["sh", "-ec", commands]
    done = subprocess.run(words, cwd=folder, env={**os.environ, **told}, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout


def test_no_block_is_left_out() -> None:
    """The two commands before the sections are what whoever runs this test has used."""
    assert [title for title, body in SECTIONS.items() if "```" in body] == list(RUN)
    before = README.split("\n## ")[0]
    targets = re.findall(r"^make ([a-z]+) ", before, flags=re.M)
    assert before.count("```") == 2 and targets == ["demo", "test"]
    assert all(f"\n{target}: " in (ROOT / "Makefile").read_text() for target in targets)


def test_my_agent(folder: Path) -> None:
    (code,), (commands,) = blocks("My agent", "python"), blocks("My agent")
    assert len([line for line in code.splitlines() if line]) <= 10
    (folder / "searcher.py").write_text(code)
    shell(commands, folder)
    rows = Workbench().rows(folder / "runs" / "first")
    ends = {row["ending"] for row in rows if row["agent"] == "searcher"}
    assert ends <= {"answered", "gave_up"}, "it copes with every page that it meets"
    assert {row["status"] for row in rows if row["agent"] == "oracle"} == {"pass"}
    assert sorted(row["agent"] for row in rows) == ["oracle"] * TASKS + ["searcher"] * TASKS
    failed = sum(row["status"] == "fail" for row in rows)
    assert len(list((folder / "runs" / "first-episodes").iterdir())) == failed


def test_in_ci(folder: Path) -> None:
    """The toy does not reach what is asked of it, as the page says."""
    (command,) = blocks("In CI")
    shell(command, folder, code=4)
    suites = (folder / "runs" / "junit.xml").read_text()
    assert 'testsuite name="searcher"' in suites and "oracle" not in suites


@pytest.mark.parametrize("section", ["My model", "My site"])
async def test_a_model_of_ones_own(section: str, folder: Path) -> None:
    written("served.md", folder)
    (command,) = blocks(section)
    assert MODEL in command
    refusal = "<action>report_infeasible('No.', 'NOT_FOUND_ERROR')</action>"
    async with replaying(Script(lambda messages: refusal)) as model:
        await asyncio.to_thread(shell, command.replace(MODEL, model.url), folder)
    out = re.search(r"--out (\S+)", command)[1]
    assert {row["ending"] for row in Workbench().rows(folder / out)} == {"gave_up"}


def test_my_tasks(folder: Path) -> None:
    page = (ROOT / "docs" / "writing-tasks.md").read_text(encoding="utf-8")
    (folder / "chores.py").write_text(re.search(r"```python\n(.*?)```", page, flags=re.S)[1])
    shell(blocks("My tasks")[0], folder)


def test_my_logs(folder: Path) -> None:
    bench, cache = Workbench(), folder / "cache"
    bench.export_trajectories(folder / "runs" / "first", folder / "trajectories", "online-mind2web")
    key = verified(1, ["red"])
    tasks = _fetched(cache)
    tasks.parent.mkdir(parents=True)
    tasks.write_text(json.dumps([key]))
    answer, trace = verified_logs.right_log(key)
    verified_logs.write(folder / "logs", 1, {**answer, "retrieved_data": ["red"]}, trace)
    told = shell(blocks("My logs")[0], folder, cache)
    assert f"{2 * TASKS} imported" in told and "1 logs: 1 pass" in told


async def test_from_python(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """As cells of a notebook, which may await."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("WEBASSAY_CACHE", str(CACHE))
    names: dict[str, object] = {}
    for cell in blocks("From Python", "python"):
        code = compile(cell, "README.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        made = types.FunctionType(code, names)()
        if inspect.isawaitable(made):
            await made
    assert capsys.readouterr().out == "pass\n"
    run = names["run"]
    assert isinstance(run, Run) and len(run.frame()) == 6
    assert isinstance(run.episode(run.units()[0].unit), EpisodeView)
