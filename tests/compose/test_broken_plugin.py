"""A package that breaks when it is loaded is nobody's business who wants nothing of it."""

import os
import subprocess
import sys

import pytest

KINDS = ("agents", "benchmarks", "environments", "formats", "graders", "importers", "judges", "sites", "templates")

WANTS_ALL = """
from webassay.workbench.grade import benchmark_with_logs
from webassay.compose.builder import expand
from webassay.compose.setup import Setup
from webassay.compose.tasks import _sources, sites

setup = Setup(tell=print)
assert "shop" in sites(setup.tell)
assert len(_sources(setup).templates(())) > 100
assert "naive-zero" in expand(["naive"], setup.tell)
assert benchmark_with_logs("webarena-verified").name == "webarena-verified"
"""


@pytest.fixture
def python(tmp_path):
    """Where an installed package adds one of everything and ends the process as soon as it is loaded."""
    about = tmp_path / "exiting-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: exiting\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "".join(f"[webassay.{kind}]\nbroken = exiting:THING\n" for kind in KINDS) + "[webassay.agents]\noracle = x:Y\n"
    )
    (tmp_path / "exiting.py").write_text("import sys\nsys.exit('bye')\n")

    def run(*words: str, code: int = 0) -> str:
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]), "COLUMNS": "200"}
        done = subprocess.run([sys.executable, *words], env=env, capture_output=True, text=True, timeout=120)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    return run


def test_whatever_looks_at_all_of_a_kind_leaves_it_out_and_says_so(python):
    told = python("-c", WANTS_ALL).splitlines()
    assert len(told) == 3
    for kind, line in zip(("site", "template", "agent"), told, strict=True):
        assert line.startswith(f"Left out: The {kind} broken (package exiting) cannot be used: ")


def test_the_list_says_what_is_broken_and_what_is_hidden(python):
    listed = python("-m", "webassay", "list", "agents", "--options")
    assert "oracle\tThe reference solution" in listed and "route=text" in listed
    assert "broken\tThe agent broken (package exiting) cannot be used" in listed
    assert "oracle (package exiting)\thidden by the built-in one" in listed


def test_whoever_names_it_hears_why(python, tmp_path):
    said = python("-m", "webassay", "run", "-a", "broken", "-o", str(tmp_path / "run"), code=2)
    assert "The agent broken (package exiting) cannot be used" in said and "it tried to end the process (bye)" in said
