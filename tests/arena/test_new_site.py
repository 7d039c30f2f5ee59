"""A new site is two folders, its pages and its chores. Nothing else names it: no list, no table, no lock."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DEPOT = Path(__file__).parent / "depot"
ENTRY_POINTS = """
[webassay.sites]
depot = depot_site:SITE
[webassay.chores]
depot = depot_chores:CHORES
[webassay.templates]
depot.parcels-on-shelf = depot_chores:ParcelsOnShelf
"""

Python = Callable[..., str]


def _built_in(folder: Path) -> Path:
    """A copy of the repository in which the two folders stand beside those of the other sites."""
    for part in ("src", "docs/flow.md", "tests/contract/test_imports.py", "scripts/generate_docs.py"):
        source, target = ROOT / part, folder / part
        target.parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, target)
    shutil.copytree(DEPOT / "site", folder / "src/webassay/sites/depot")
    shutil.copytree(DEPOT / "chores", folder / "src/webassay/arena/depot")
    return folder / "src"


def _installed(folder: Path) -> Path:
    """A package of somebody else's, as pip would leave it."""
    shutil.copytree(DEPOT / "site", folder / "depot_site")
    shutil.copytree(DEPOT / "chores", folder / "depot_chores")
    about = folder / "depot-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: depot\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    return folder


def _python(folder: Path, path: Path) -> Python:
    def run(*words: object) -> str:
        places = [str(path), *(place for place in sys.path if place != str(ROOT))]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(places), "COLUMNS": "200"}
        command = [sys.executable, *map(str, words)]
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="module", params=[_built_in, _installed])
def python(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Python:
    folder = tmp_path_factory.mktemp("depot")
    return _python(folder, request.param(folder))


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Python:
    folder = tmp_path_factory.mktemp("copy")
    return _python(folder, _built_in(folder))


@pytest.mark.parametrize("kind", ["sites", "chores", "templates"])
def test_it_is_listed(python: Python, kind: str) -> None:
    assert "depot" in python("-m", "webassay", "list", kind)


def test_its_log_in_is_a_wall_for_whoever_has_no_account(python: Python) -> None:
    told = python("-c", (
        "from webassay import Selection, Workbench\n"
        "(task,) = Workbench().tasks(Selection(templates=('depot.parcels-on-shelf',), instances=1,"
        " obstacles=('log-in-wall',)))\n"
        "evidence = [check for check in task.checks if check.kind == 'evidence']\n"
        "print(task.kind, [sight.texts for check in evidence for sight in check.sights()])"
    ))  # fmt: skip
    assert told == "unachievable [('Depot Members',)]\n"


def test_the_fault_bench_knows_what_can_be_done_wrong_there(python: Python) -> None:
    told = python("-c", (
        "from webassay.compose.setup import Setup, default_cache\n"
        "from webassay.faultbench.plan import BenchOptions, Planner\n"
        "options = BenchOptions(templates=('depot.parcels-on-shelf',), codes=('5.1', '6.1'))\n"
        "planner = Planner(Setup(cache=default_cache()), options)\n"
        "for jobs in planner.jobs.values():\n"
        "    occasion = planner.occasion(jobs[0], 'mistake')\n"
        "    print(jobs[0].mistake.name, jobs[0].mistake.retold and jobs[0].mistake.retold(occasion))"
    ))  # fmt: skip
    underspecified = "underspecified How many parcels lie on the shelf that I told you about?"
    assert told.splitlines() == [underspecified, "unasked-change None"]


def test_the_import_table_holds_as_it_stands(copied: Python) -> None:
    copied("-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "depot or every_row", "tests/contract/test_imports.py")


def test_the_reference_names_it(copied: Python) -> None:
    copied("scripts/generate_docs.py")
    assert "| `depot` |" in copied("-c", "print(open('docs/reference/names.md').read())")


@pytest.mark.browser
@pytest.mark.timeout(300)
def test_its_chores_are_proved_and_its_wall_is_recognized(python: Python, tmp_path: Path) -> None:
    assert "Everything holds" in python("-m", "webassay", "check", "depot.parcels-on-shelf", "-n", "1")
    tasks = ("--template", "depot.parcels-on-shelf", "-n", "1", "--obstacles", "log-in-wall")
    python("-m", "webassay", "run", "-a", "oracle", *tasks, "-o", tmp_path / "run")
    assert '"pass"' in python("-m", "webassay", "grade", tmp_path / "run", "--json")
