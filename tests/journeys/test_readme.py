"""The example in the README is run as it stands there."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.journeys.test_cli import webassay

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.browser


def example() -> str:
    text = (ROOT / "README.md").read_text()
    block = text.split("<!-- example:begin -->")[1].split("<!-- example:end -->")[0]
    return re.search(r"```python\n(.*?)```", block, flags=re.S).group(1)


def test_ones_own_agent_in_a_few_lines(tmp_path):
    code = example()
    lines = [line for line in code.splitlines() if line.strip()]
    assert len(lines) <= 12
    (tmp_path / "searcher.py").write_text(code)
    command = [sys.executable, "-m", "webassay", "run", "--agent", "searcher.py:Searcher", "--out", "run",
               "--template", "shop.price-of-nothing", "-n", "1"]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    graded = webassay("grade", str(tmp_path / "run"), "--json")
    # It searched for what does not exist and said so: the one kind of task that it can do.
    assert json.loads(graded.stdout)["status"] == "pass", graded.stdout
