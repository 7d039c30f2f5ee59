"""Whole runs on applications of others: planned, played, resumed, graded again, reported."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.worlds import CACHE
from webassay import GradeOptions, PlayOptions, Selection, Workbench
from webassay.agents.cells.cell import ProgramCell, why_not
from webassay.compose.tasks import key_files
from webassay.core.errors import InputError

AGENT = "tests.environments.served.playing:Chores"
PLAY = PlayOptions(workers=2, trust_agent=True)
UNKIND = Path(__file__).with_name("unkind")

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


@pytest.mark.browser
async def test_an_application_in_the_form_of_infinity(tmp_path):
    folder = shutil.copytree(UNKIND, tmp_path / "unkind")
    bench, run = Workbench(cache=CACHE), tmp_path / "run"
    selection = Selection(benchmark=f"infinity:{folder}")
    await bench.run(run, [AGENT], Selection(benchmark=f"infinity:{folder}", limit=2), PLAY)
    found = {row["task_id"]: row["status"] for row in bench.rows([run])}
    assert found == {"unkind.real.task_e1": "pass", "unkind.real.task_m1": "fail"}
    report = bench.report([run])
    assert report.agents[0].success.counts.passed == 1
    with pytest.raises(InputError, match="other options"):
        await bench.run(run, [AGENT], selection, PLAY)

    # Grading again, from the files alone: neither the server nor a verifier is executed.
    for program in folder.rglob("server.py"):
        program.write_text("raise SystemExit(1)")
    graded = list(bench.grade(run, GradeOptions()))
    assert [(one.verdict.status, one.changed) for one in graded] == [("pass", False), ("fail", False)]
    verifier = folder / "real-tasks" / "task_e1.py"
    marker = tmp_path / "executed"
    verifier.write_text(f"open({str(marker)!r}, 'w')\n")
    statuses = [one.verdict.status for one in bench.grade(run, GradeOptions())]
    assert statuses == ["fault", "fail"] and not marker.exists()


def test_an_agent_that_is_not_trusted_cannot_read_the_keys(tmp_path):
    if why_not():
        pytest.skip(why_not())
    folder = shutil.copytree(UNKIND, tmp_path / "apps" / "unkind")
    file = tmp_path / "apps" / "tasks.json"
    file.write_text("[]")
    for selection, secret in (
        (Selection(benchmark=f"infinity:{folder}"), folder / "real-tasks.json"),
        (Selection(benchmark="webarena", file=str(file)), file),
        (Selection(benchmark=str(file)), file),
    ):
        shown = ProgramCell(writable=(tmp_path,)).command(["cat", str(secret)])
        assert subprocess.run(shown, capture_output=True, check=True).stdout == secret.read_bytes()
        hidden = ProgramCell(hidden=key_files(selection), writable=(tmp_path,)).command(["cat", str(secret)])
        assert subprocess.run(hidden, capture_output=True, check=False).stdout == b""
    assert key_files(Selection(benchmark="mine.py:tasks")) == (Path("mine.py"),)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("infinity", "holds neither real-tasks.json"),
        ("infinity:/nowhere", "/nowhere holds neither"),
        ("served:/nowhere", "/nowhere does not exist"),
        ("served", "No application was named"),
    ],
)
async def test_a_folder_that_is_not_there(tmp_path, name, says):
    with pytest.raises(InputError, match=says):
        await Workbench(cache=CACHE).run(tmp_path / "run", ["naive-zero"], Selection(benchmark=name), PLAY)
    assert not (tmp_path / "run").exists()


async def test_tasks_without_their_server(tmp_path):
    (tmp_path / "real-tasks").mkdir()
    (tmp_path / "real-tasks" / "a.py").write_text("")
    (tmp_path / "real-tasks.json").write_text(
        json.dumps([{"id": "a", "instruction": "Do it.", "verify": "real-tasks/a.py"}])
    )
    with pytest.raises(InputError, match=r"has no server\.py"):
        selection = Selection(benchmark=f"infinity:{tmp_path}")
        await Workbench(cache=CACHE).run(tmp_path / "run", ["naive-zero"], selection, PLAY)
