"""Both ways to build a cell keep the same things out of sight; where neither works, nothing is played."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from webassay.agents.cells import cell
from webassay.agents.cells.cell import ProgramCell, in_bwrap, in_our_own, need_cell
from webassay.core.errors import InputError

LOOK = """
import json, os, pathlib, sys
secret, notes, parent = map(pathlib.Path, sys.argv[1:])
def tried(deed):
    try:
        return deed()
    except OSError as error:
        return type(error).__name__
print(json.dumps({
    "secret": tried(lambda: sorted(os.listdir(secret))),
    "parent": tried(lambda: os.listdir(parent)),
    "processes": len([name for name in os.listdir("/proc") if name.isdigit()]),
    "usr": tried(lambda: pathlib.Path("/usr/mine").write_text("x")),
    "notes": tried(lambda: (notes / "mine").write_text("x")),
}))
"""


@pytest.mark.parametrize("builder", [in_bwrap, in_our_own], ids=["bwrap", "our own"])
def test_what_is_hidden_is_hidden(builder, tmp_path, monkeypatch):
    if refused := cell._tried(builder([], ["true"], Path("/"))):
        pytest.skip(f"it cannot be built here: {refused}")
    monkeypatch.setattr(cell, "_bwrap_works", lambda: builder is in_bwrap)
    secret, notes = tmp_path / "secret", tmp_path / "notes"
    secret.mkdir()
    notes.mkdir()
    (secret / "key").write_text("42")
    words = [sys.executable, "-c", LOOK, str(secret), str(notes), f"/proc/{os.getpid()}/fd"]
    command = ProgramCell(hidden=(secret,), writable=(notes,)).command(words)
    done = subprocess.run(command, capture_output=True, check=True, timeout=60)
    found = json.loads(done.stdout)
    assert found["secret"] in ([], "FileNotFoundError")
    assert found["parent"] == "FileNotFoundError" and found["processes"] <= 3
    assert found["usr"] in ("OSError", "PermissionError")
    assert found["notes"] == 1 and (notes / "mine").read_text() == "x"


def test_where_no_cell_can_be_built_nothing_is_played(monkeypatch):
    monkeypatch.setattr(cell, "why_not", lambda: "namespaces are switched off")
    with pytest.raises(InputError, match=r"namespaces are switched off[\s\S]*--trust-agent"):
        need_cell("mine.py:Agent")
