"""The template of docs/writing-tasks.md, taken from the page and proved."""

import json
import re
from pathlib import Path

import pytest

from tests.e2e.test_cli import refused, webassay

PAGE = (Path(__file__).parents[2] / "docs" / "writing-tasks.md").read_text(encoding="utf-8")


@pytest.fixture
def chores(tmp_path: Path) -> Path:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    file = tmp_path / "chores.py"
    file.write_text(code, encoding="utf-8")
    return file


def test_the_example_is_proved_from_its_file(chores: Path) -> None:
    (proof,) = json.loads(webassay("check", f"{chores}:CheapProducts", "-n", "1", "--json").stdout)
    assert proof["template"] == "shop.cheap-products"
    assert proof["problems"] == []
    columns = {name: (one["held"], one["tried"]) for name, one in proof["columns"].items()}
    assert all(held == tried > 0 for held, tried in columns.values()), columns


def test_a_name_that_is_taken(chores: Path) -> None:
    chores.write_text(chores.read_text().replace("shop.cheap-products", "shop.low-reviews"))
    done = webassay("check", f"{chores}:CheapProducts")
    refused(done, "is called shop.low-reviews, which is taken", "Give it a name of its own")
