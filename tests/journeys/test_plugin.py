"""examples/plugin, installed into a fresh environment, and each of its things used through the command line."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "examples" / "plugin"

pytestmark = [pytest.mark.long, pytest.mark.browser, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory):
    """A new environment with the plugin in it; runs its Python. Third-party packages are borrowed from this one by a
    path, so that the test needs no index; webassay and the plugin are installed by pip as a user would."""
    home = tmp_path_factory.mktemp("plugin")
    venv.create(home / "env", with_pip=True)
    python = home / "env" / "bin" / "python"
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    theirs = Path(subprocess.check_output([python, "-c", ask], text=True).strip())
    ours = [path for path in sys.path if path.endswith("site-packages")]
    (theirs / "borrowed.pth").write_text("\n".join(ours) + "\n")
    shutil.copytree(PLUGIN, home / "source", ignore=shutil.ignore_patterns("dist", "*.egg-info", "__pycache__"))
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, ROOT, home / "source"], check=True, timeout=300)
    shipped = fingerprint(theirs / "webassay")

    def run(*words: object, code: int = 0) -> str:
        env = {**os.environ, "PYTHONPATH": "", "COLUMNS": "200"}
        command = [python, *map(str, words)]
        done = subprocess.run(command, cwd=home, env=env, capture_output=True, text=True, timeout=300)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    yield run
    assert fingerprint(theirs / "webassay") == shipped, "files touched outside the plugin's own: 0"


@pytest.fixture(scope="module")
def webassay(installed):
    return partial(installed, "-m", "webassay")


@pytest.fixture(scope="module")
def library(webassay, tmp_path_factory: pytest.TempPathFactory):
    """A run of its benchmark in its environment: by its agent, with two settings."""
    out = tmp_path_factory.mktemp("runs") / "library"
    webassay("run", "-b", "library", "-a", "table-reader", "-a", "table-reader[column=3]", "-o", out)
    return out


def fingerprint(folder: Path) -> dict[Path, str]:
    files = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def rows(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


ADDED = {
    "agents": "table-reader",
    "benchmarks": "library",
    "chores": "board",
    "doors": "policy",
    "environments": "static-pages",
    "formats": "one-line",
    "graders": "lenient",
    "groupings": "shelf",
    "importers": "transcript",
    "judges": "mentions",
    "providers": "parrot",
    "sites": "board",
    "templates": "board.sell-cheaper",
}


def test_the_plugin_adds_one_of_every_kind_that_the_page_promises():
    page = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    promised = set(re.findall(r"`(webassay\.[a-z]+)` \| 0 \|", page))
    plugin = tomllib.loads((PLUGIN / "pyproject.toml").read_text(encoding="utf-8"))
    assert set(plugin["project"]["entry-points"]) == promised == {f"webassay.{kind}" for kind in (*ADDED, "commands")}


@pytest.mark.parametrize("kind", ADDED)
def test_everything_it_adds_is_listed(webassay, kind):
    assert ADDED[kind] in webassay("list", kind, "--options")


def test_a_setting_of_its_agent_is_explained_and_a_misspelled_name_answered(webassay):
    assert "column=number (default 2)" in webassay("list", "agents", "--options")
    assert "Did you mean table-reader" in webassay("run", "-a", "table-raeder", "-o", "x", code=2)


def test_its_agent_plays_its_benchmark_in_its_environment_and_its_judge_judges(webassay, library):
    graded = rows(webassay("grade", library, "--json"))
    assert {(row["agent"], row["status"]) for row in graded} == {
        ("table-reader", "pass"), ("table-reader[column=3]", "fail"),
    }  # fmt: skip
    assert len(graded) == 6
    own = rows(webassay("grade", library, "--grader", "lenient", "--json"))
    assert [row["status"] for row in own] == [row["status"] for row in graded]
    assert "lenient" in webassay("report", library, "--grader", "lenient")
    assert rows(webassay("grade", library, "--json")) == graded, "the rules decide as before"
    judged = rows(webassay("verify", library, "--judge", "mentions[words=ines]", "--json"))
    assert sorted(row["status"] for row in judged) == ["fail"] * 5 + ["pass"]


def test_its_grouping_its_format_and_its_command_show_the_run(webassay, library):
    report = webassay("report", library, "--markdown")
    assert "By shelf" in report and "| nature |" in report and "| travel |" in report
    assert "table-reader: 3 passed" in webassay("report", library, "--format", "one-line")
    assert "longest" in webassay("--help")
    assert "table-reader" in webassay("longest", library)


def test_its_model_is_asked(webassay, tmp_path):
    everybody = "Ines, Tomas or Oluchi"
    webassay("run", "-b", "library", "-a", "knowledge", "--model", f"parrot:{everybody}", "-o", tmp_path / "run")
    own = rows(webassay("grade", tmp_path / "run", "--grader", "lenient", "--json"))
    assert [row["status"] for row in own] == ["pass"] * 3


POLICY = """
import asyncio
from webassay.doors.plan import SeatSettings
from webassay_example.door import evaluate
settings = SeatSettings(templates=("board.sell-cheaper",), instances=1, parts=("tree",))
print(asyncio.run(evaluate(lambda prompt: "send_msg_to_user('done')", settings)))
"""


def test_its_door_opens_its_site(installed):
    assert "{'board.sell-cheaper.w0s0.0': 0.0}" in installed("-c", POLICY)


def test_its_importer_reads_what_the_judge_then_judges(webassay, tmp_path):
    said = {"goal": "Say hello.", "actions": ["type hello"], "answer": "hello", "agent": "parrot"}
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "one.transcript.json").write_text(json.dumps(said))
    (tmp_path / "in" / "two.transcript.json").write_text("{")
    told = webassay("import", tmp_path / "in", "-o", tmp_path / "run")
    assert "1 imported" in told and "1 skipped" in told and "two.transcript.json" in told
    (judged,) = rows(webassay("verify", tmp_path / "run", "--judge", "mentions[words=hello]", "--json"))
    assert judged["status"] == "pass"


# The other one is the template of docs/writing-tasks.md in another file, which test_writing_tasks.py proves.
@pytest.mark.parametrize(
    "template", [pytest.param("shop.cheap-products", marks=pytest.mark.slow), "board.sell-cheaper"]
)
def test_its_templates_are_proved_like_any_other(webassay, template):
    """The second one is played on the package's own site."""
    assert template in webassay("check", template, "-n", "1", "--world-seed", "3")
