"""Commands are found by looking, built in and installed; the help screen shows them in groups and fits the screen."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from webassay.cli.command import COMMANDS, GROUPS, by_group

GREET = '''
from typing import Annotated

import typer

from webassay.cli import common
from webassay.cli.command import LOOK, Command
from webassay.cli.options import selects, shows


@shows
@selects("template", instances=2)
def greet(selection: object, name: Annotated[str, typer.Argument(help="Whom to greet.")]) -> None:
    """Greet somebody.

    Example: `webassay greet Anna`
    """
    common.say(f"Hello {name}: {selection.instances} instances.")


GREET = Command("greet", LOOK, "Greet somebody.", greet)
OWN = Command("own", "Of our own", "A group of its own.", {"greet": greet})
'''


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder on Python's path with a package that adds three commands; one cannot be imported."""
    about = tmp_path / "greeting-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n")
    points = ("greet = greeting:GREET", "own = greeting:OWN", "broken = broken:NOTHING", "run = greeting:GREET")
    (about / "entry_points.txt").write_text("\n".join(["[webassay.commands]", *points]))
    (tmp_path / "greeting.py").write_text(GREET)
    (tmp_path / "broken.py").write_text("raise RuntimeError('out of order')\n")
    return tmp_path


def webassay(*words: str, path: Path, flags: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    where = os.pathsep.join([str(path), *filter(None, sys.path)])
    env = {**os.environ, "PYTHONPATH": where, "COLUMNS": "100"}
    return subprocess.run(
        [sys.executable, *flags, "-m", "webassay", *words], capture_output=True, text=True, env=env, check=False
    )


def test_every_built_in_command_is_in_one_of_the_groups():
    shown = {name for title in GROUPS for name in by_group()[title]}
    assert set(COMMANDS.built_in()) <= shown
    assert {"demo", "run", "grade", "verify", "report", "tasks"} <= shown


def test_an_installed_package_adds_commands_and_a_broken_one_stops_nothing(installed):
    screen = webassay("--help", path=installed)
    assert screen.returncode == 0, screen.stderr
    look = screen.stdout.split("Look at results:")[1].split("\n\n")[0]
    assert "greet " in look and "Greet somebody." in look
    assert "Of our own:" in screen.stdout
    assert "broken" in screen.stdout.split("Cannot be loaded:")[1]
    assert "out of order" in " ".join(screen.stdout.split())
    called = webassay("greet", "Anna", path=installed)
    assert (called.returncode, called.stdout) == (0, "Hello Anna: 2 instances.\n"), called.stderr
    own = webassay("own", "greet", "--help", path=installed)
    assert "--template" in own.stdout and "--markdown" in own.stdout and "Whom to greet." in own.stdout
    broken = webassay("broken", path=installed)
    assert broken.returncode == 2
    assert "error: The command broken (package greeting) cannot be used" in broken.stderr


def test_calling_one_command_imports_no_package_that_adds_another(installed):
    done = webassay("run", "--help", path=installed, flags=("-X", "importtime"))
    assert "--agent" in done.stdout, "the built-in command keeps its name"
    assert "greeting" not in done.stderr and "broken" not in done.stderr


def test_help_fits_one_screen_and_loads_nothing_heavy(tmp_path):
    done = webassay("--help", path=tmp_path, flags=("-X", "importtime"))
    lines = done.stdout.splitlines()
    assert len(lines) <= 48 and max(map(len, lines)) <= 100
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert not loaded & {"pydantic", "rich", "asyncio", "webassay.workbench", "webassay.compose"}
