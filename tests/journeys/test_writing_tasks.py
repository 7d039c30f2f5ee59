"""The template of docs/writing-tasks.md, taken from the page and proved."""

import json
import re
from pathlib import Path

import pytest

from tests.journeys.test_cli import Done, refused, webassay
from webassay.compose.registries import TEMPLATES

PAGE = (Path(__file__).parents[2] / "docs" / "writing-tasks.md").read_text(encoding="utf-8")


pytestmark = pytest.mark.long


@pytest.fixture
def chores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)  # pictures of what failed are put where one is
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


@pytest.mark.browser
def test_the_example_is_played_graded_and_shown_from_its_file(chores: Path) -> None:
    def anew(*words: str) -> Done:
        TEMPLATES._installed.clear()  # as in another process
        return webassay(*words)

    template = ("--template", f"{chores}:CheapProducts")
    anew("run", "-a", "oracle", "-o", "run", "-n", "1", *template)
    refused(anew("grade", "run"), "There is no template 'shop.cheap-products'", "FILE.py:CLASS")
    (graded,) = anew("grade", "run", "--json", *template).stdout.splitlines()
    assert json.loads(graded)["status"] == "pass"
    assert "could not be built again" in anew("show", "run", "shop.cheap-products").stdout
    assert "could not be built again" not in anew("show", "run", "shop.cheap-products", *template).stdout


def test_a_template_that_raises_or_whose_name_is_taken(chores: Path) -> None:
    code = chores.read_text().replace("queries.place(", "queries.shelf_of_somebody(")
    chores.write_text(code)
    line = code[: code.index("shelf_of_somebody")].count("\n") + 1
    refused(webassay("check", f"{chores}:CheapProducts"), "shelf_of_somebody", f"(chores.py, line {line})")
    chores.write_text(chores.read_text().replace("shop.cheap-products", "shop.low-reviews"))
    done = webassay("check", f"{chores}:CheapProducts")
    refused(done, "is called shop.low-reviews, which is taken", "Give it a name of its own")


def test_the_tables_that_keys_may_name() -> None:
    found = json.loads(webassay("tasks", "tables", "shop", "--json").stdout)
    assert {"table": "wishlist_items", "column": "product_id", "form": "integer", "counts": "content"} in found
    assert found == json.loads(webassay("tasks", "tables", "admin", "--json").stdout), "the back office has the same"
    refused(webassay("tasks", "tables", "shp"), "There is no site 'shp'", "shop")


def test_a_world_can_be_asked_and_not_changed() -> None:
    def asked(sql: str, *more: str) -> Done:
        return webassay("tasks", "query", "shop", sql, "--world-seed", "5", "--scale", "small", *more)

    (row,) = json.loads(asked("SELECT count(*) AS orders, NULL AS unknown FROM orders", "--json").stdout)
    assert row["orders"] > 100 and row["unknown"] is None
    assert asked("SELECT 7 AS seven, NULL AS unknown").stdout.split("\n")[0].strip() == "7"
    assert asked("SELECT 1 FROM orders WHERE 0").returncode == 0
    refused(asked("DELETE FROM orders"), "readonly")
    refused(asked("SELEC 1"), "syntax error", "tasks tables shop")


def test_a_page_can_be_looked_at_as_agents_see_it() -> None:
    done = webassay("tasks", "look", "admin", "/")
    assert "textbox 'User Name', required" in done.stdout
    refused(webassay("tasks", "look", "admin", "/", "--user", "nobody"), "no user 'nobody'")


def test_an_instance_of_ones_own_template_can_be_read_with_its_key(chores: Path) -> None:
    task = json.loads(webassay("tasks", "show", f"{chores}:CheapProducts").stdout)
    assert task["template"] == "shop.cheap-products"
    assert "Answer with one number" in task["goal"]["instruction"]
    assert {"response", "evidence"} <= {check["kind"] for check in task["checks"]}


def test_a_solution_that_raises_names_the_line_of_its_author(chores: Path) -> None:
    code = chores.read_text().replace("answer(sum(card.cents <", "answer(sum(card.pence <", 1)
    chores.write_text(code)
    line = code[: code.index("card.pence")].count("\n") + 1
    done = webassay("check", f"{chores}:CheapProducts", "-n", "1", "--json")
    problems = " ".join(json.loads(done.stdout)[0]["problems"])
    assert f"has no attribute 'pence' (chores.py, line {line})" in problems
    assert "cannot be read" not in problems, "that there is no answer goes without saying"
