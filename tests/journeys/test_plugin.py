"""examples/plugin, installed into a fresh environment, and each of its things used through the command line."""

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "examples" / "plugin"

pytestmark = [pytest.mark.long, pytest.mark.browser, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def webassay(tmp_path_factory: pytest.TempPathFactory):
    """A new environment with the plugin in it. Third-party packages are borrowed from this one by a path, so that
    the test needs no index; webassay and the plugin are installed by pip as a user would."""
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

    def run(*words: object, code: int = 0) -> str:
        command = [python, "-m", "webassay", *map(str, words)]
        env = {**os.environ, "PYTHONPATH": "", "COLUMNS": "200"}
        done = subprocess.run(command, cwd=home, env=env, capture_output=True, text=True, timeout=300)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    return run


def rows(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def test_everything_it_adds_is_listed(webassay):
    for kind, *names in (
        ("agents", "table-reader", "column=number (default 2)"),
        ("benchmarks", "library"),
        ("environments", "static-pages"),
        ("graders", "lenient"),
        ("importers", "transcript"),
        ("judges", "mentions"),
        ("sites", "board"),
        ("templates", "shop.cheap-products", "board.sell-cheaper"),
    ):
        listed = webassay("list", kind, "--options")
        assert [name for name in names if name not in listed] == []
    assert "Did you mean table-reader" in webassay("run", "-a", "table-raeder", "-o", "x", code=2)


def test_its_agent_plays_its_benchmark_in_its_environment_and_its_judge_judges(webassay, tmp_path):
    out = tmp_path / "library"
    webassay("run", "-b", "library", "-a", "table-reader", "-a", "table-reader[column=3]", "-o", out)
    graded = rows(webassay("grade", out, "--json"))
    assert {(row["agent"], row["status"]) for row in graded} == {
        ("table-reader", "pass"), ("table-reader[column=3]", "fail"),
    }  # fmt: skip
    assert len(graded) == 6
    own = rows(webassay("grade", out, "--grader", "lenient", "--json"))
    assert [row["status"] for row in own] == [row["status"] for row in graded]
    assert "lenient" in webassay("report", out, "--grader", "lenient")
    assert rows(webassay("grade", out, "--json")) == graded, "the rules decide as before"
    judged = rows(webassay("verify", out, "--judge", "mentions[words=ines]", "--json"))
    assert sorted(row["status"] for row in judged) == ["fail"] * 5 + ["pass"]


def test_its_importer_reads_what_the_judge_then_judges(webassay, tmp_path):
    said = {"goal": "Say hello.", "actions": ["type hello"], "answer": "hello", "agent": "parrot"}
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "one.transcript.json").write_text(json.dumps(said))
    (tmp_path / "in" / "two.transcript.json").write_text("{")
    told = webassay("import", tmp_path / "in", "-o", tmp_path / "run")
    assert "1 imported" in told and "1 skipped" in told and "two.transcript.json" in told
    (judged,) = rows(webassay("verify", tmp_path / "run", "--judge", "mentions[words=hello]", "--json"))
    assert judged["status"] == "pass"


@pytest.mark.parametrize("template", ["shop.cheap-products", "board.sell-cheaper"])
def test_its_templates_are_proved_like_any_other(webassay, template):
    """The second one is played on the package's own site."""
    assert template in webassay("check", template, "-n", "1", "--world-seed", "3")
