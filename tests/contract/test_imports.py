"""The import graph equals the table in docs/flow.md."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "webassay"


@cache
def table() -> dict[str, list[str]]:
    text = (ROOT / "docs" / "flow.md").read_text()
    block = text.split("<!-- imports:begin -->")[1].split("<!-- imports:end -->")[0]
    rows = re.findall(r"^\| ([\w.]+(?:\.\*)?) \| ?([^|]*)\|$", block, flags=re.M)
    return {name: [part.strip() for part in allowed.split(",") if part.strip()] for name, allowed in rows[1:]}


@cache
def modules() -> dict[str, Path]:
    found = {}
    for path in SOURCE.rglob("*.py"):
        parts = list(path.relative_to(SOURCE).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        if parts:
            found[".".join(parts)] = path
    return found


@cache
def imports_of(path: Path) -> set[str]:
    """Modules of ours that are imported, at any depth, also for type checking only."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.split(".")[0] == "webassay"}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            if node.module and node.module.split(".")[0] == "webassay":
                # `from webassay.core import task` means webassay.core.task
                found |= {
                    f"{node.module}.{alias.name}" if is_module(f"{node.module}.{alias.name}") else node.module
                    for alias in node.names
                }
    return {name.removeprefix("webassay").lstrip(".") for name in found} - {""}


@cache
def is_module(name: str) -> bool:
    place = SOURCE.parent / name.replace(".", "/")
    return place.with_suffix(".py").exists() or (place / "__init__.py").exists()


def row_of(module: str, rows: dict[str, list[str]]) -> str:
    """The longest row that the module belongs to; `sites.*` is any package in `sites` without a row of its own."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        if ".".join(parts[:length]) in rows:
            return ".".join(parts[:length])
        wildcard = ".".join((*parts[: length - 1], "*"))
        if wildcard in rows and is_package(".".join(parts[:length])):
            return wildcard
    raise AssertionError(f"{module} stands in no row of docs/flow.md")


@cache
def is_package(name: str) -> bool:
    return (SOURCE / name.replace(".", "/") / "__init__.py").exists()


def own_package(module: str, row: str) -> str:
    """What `self` means in a row with a wildcard."""
    return ".".join(module.split(".")[: row.count(".") + 1])


def allowed(imported: str, may: list[str]) -> bool:
    return any(imported == name or imported.startswith(name + ".") for name in may)


def test_the_table_is_read():
    assert table()["importers"] == ["importers", "core"]
    assert len(table()) >= 20


@pytest.mark.parametrize("module", sorted(modules()))
def test_module_imports_only_what_its_row_allows(module):
    rows = table()
    row = row_of(module, rows)
    may = [own_package(module, row) if name == "self" else name for name in rows[row]]
    wrong = {name for name in imports_of(modules()[module]) if not allowed(name, may)}
    assert not wrong, f"{module} imports {sorted(wrong)}; its row allows {may}"


def test_every_row_is_a_module():
    present = set(modules())
    assert {row.removesuffix(".*") for row in table()} <= present


def test_nothing_below_the_agents_knows_the_key():
    """What an agent can reach by imports, however deep, holds neither keys nor graders."""
    graph = {name: imports_of(path) for name, path in modules().items()}
    reached, queue = set(), [name for name in graph if name.split(".")[0] == "agents"]
    while queue:
        name = queue.pop()
        if name not in reached:
            reached.add(name)
            queue.extend(graph.get(name, ()))
    forbidden = {
        "core.task",
        "grading",
        "sites",
        "store",
        "arena",
        "benchmarks",
        "environments",
        "compose",
        "workbench",
    }
    assert not {name for name in reached if name in forbidden or name.split(".")[0] in forbidden}


def floors() -> dict[str, int]:
    text = (ROOT / "docs" / "flow.md").read_text()
    return {room: int(floor) for floor, room in re.findall(r"^\| (\d) \| `(\w+)/` \|", text, flags=re.M)}


def test_every_room_stands_on_a_floor():
    assert set(floors()) == {path.parent.name for path in SOURCE.glob("*/__init__.py")}


def test_no_room_imports_from_its_own_floor_or_above():
    floor = floors()
    wrong = set()
    for module, path in modules().items():
        room = module.split(".")[0]
        others = {name.split(".")[0] for name in imports_of(path)} & set(floor)
        wrong |= {f"{room} imports {other}" for other in others - {room} if floor[other] >= floor.get(room, 99)}
    assert not wrong
