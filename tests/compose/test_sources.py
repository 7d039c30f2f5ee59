"""What an agent is made of: the files that it was written in, and nothing that is installed."""

import sys

import pytest

from webassay.compose.sources import files_of

AGENT = (
    "import json\nimport helper\nfrom parts import first\nfrom .beside import other\nimport numpy\n\nclass Agent: ...\n"
)


@pytest.fixture
def written(tmp_path):
    (tmp_path / "parts").mkdir()
    texts = {"agent.py": AGENT, "helper.py": "import deeper", "deeper.py": "", "beside.py": "x = 1", "chores.py": "1"}
    texts |= {"parts/__init__.py": "pass", "parts/first.py": "import agent"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text or "pass")
    return tmp_path


def test_a_file_and_what_it_imports_are_what_an_agent_is_made_of(written):
    before = files_of(f"{written}/agent.py:Agent[skill=1]")
    assert set(before) == {"agent.py", "helper.py", "deeper.py", "beside.py", "parts/__init__.py", "parts/first.py"}
    (written / "chores.py").write_text("2")
    assert files_of(f"{written}/agent.py:Agent") == before, "a file that it does not import is not of it"
    (written / "deeper.py").write_text("2")
    now = files_of(f"{written}/agent.py:Agent")
    assert {name for name in now if now[name] != before[name]} == {"deeper.py"}


def test_a_module_is_found_where_python_looks(written, monkeypatch):
    monkeypatch.syspath_prepend(str(written))
    assert set(files_of("parts.first:Agent")) >= {"parts/__init__.py", "parts/first.py", "agent.py"}
    assert files_of("webassay.agents.human:HUMAN") == {} == files_of("oracle")


def test_of_a_program_the_files_that_its_command_names(written):
    script = f"{written}/helper.py"
    assert set(files_of(f"cmd:mine={sys.executable} {script} --fast nosuch.py")) == {script, "deeper.py"}
    assert files_of("cmd:'no end") == {}


def test_what_cannot_be_read_is_hashed_all_the_same(tmp_path):
    (tmp_path / "broken.py").write_text("class (:")
    assert set(files_of(f"{tmp_path}/broken.py:Agent")) == {"broken.py"}
    assert files_of(f"{tmp_path}/nosuch.py:Agent") == {}
