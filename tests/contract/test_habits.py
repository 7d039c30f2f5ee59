"""House rules that a machine can hold us to."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "webassay"
FILES = sorted(SOURCE.rglob("*.py"))

MAY_CATCH_ALL = {"core/errors.py"}
MAY_READ_ENVIRONMENT = {"llm/providers.py", "agents/cells/cell.py", "environments/live.py"}


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def tree_of(path: Path) -> ast.Module:
    """Parsed when it is needed: the trees of all modules at once take gigabytes."""
    return ast.parse(path.read_text())


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_broad_except(path):
    tree = tree_of(path)
    if name_of(path) in MAY_CATCH_ALL:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and not _raises(node):
            names = {part.id for part in ast.walk(node.type) if isinstance(part, ast.Name)} if node.type else {""}
            assert not names & {"", "Exception", "BaseException"}, f"{name_of(path)}:{node.lineno}"


def _raises(handler: ast.ExceptHandler) -> bool:
    """Cleaning up and raising again hides nothing."""
    return isinstance(handler.body[-1], ast.Raise) and handler.body[-1].exc is None


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_only_the_command_line_prints_reads_the_environment_or_imports_late(path):
    tree = tree_of(path)
    if path.is_relative_to(SOURCE / "cli"):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in {"print", "eval", "exec", "compile"}, f"{name_of(path)}:{node.lineno}"
        if isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv"}:
            assert name_of(path) in MAY_READ_ENVIRONMENT, f"{name_of(path)}:{node.lineno}"
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for inner in ast.walk(node):
                module = getattr(inner, "module", "") or ""
                if isinstance(inner, ast.ImportFrom) and module.startswith("webassay"):
                    raise AssertionError(f"{name_of(path)}:{inner.lineno} imports {module} inside a function")


def test_whoever_opens_a_run_is_told_what_is_damaged():
    """`store.runs.open_run` tells; a store that is opened past it would leave units out without a word."""
    rooms = ("compose", "faultbench", "study", "workbench", "doors", "cli")
    assert not [
        name_of(path) for room in rooms for path in (SOURCE / room).rglob("*.py") if "Store.open(" in path.read_text()
    ]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_modules_stay_readable(path):
    assert len(path.read_text().splitlines()) <= 600


MAX_LINES, MAX_PARAMETERS, MAX_COMMAND_BODY = 60, 7, 30


def is_command(path: Path, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """The options of a command are its interface, so their number is not a smell."""
    return path.parent.name == "cli" and any("Annotated" in ast.dump(arg) or _is_alias(arg) for arg in _named(function))


def _named(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    given = function.args
    return [arg for arg in (*given.posonlyargs, *given.args, *given.kwonlyargs) if arg.arg not in ("self", "cls")]


def _is_alias(arg: ast.arg) -> bool:
    """`workers: Workers`: an alias of an annotated option."""
    name = ast.unparse(arg.annotation).rpartition(".")[2] if arg.annotation else ""
    return name in {"Out", "Workers", "Instances", "Runs", "Benchmark", "ModelName"}


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_functions_stay_short(path):
    tree = tree_of(path)
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        place, lines = f"{name_of(path)}:{node.lineno} {node.name}", node.end_lineno - node.lineno + 1
        if is_command(path, node):
            first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
            assert node.end_lineno - first.lineno < MAX_COMMAND_BODY, f"{place}: a command parses, calls and prints"
        else:
            assert lines <= MAX_LINES, f"{place} has {lines} lines"
            assert len(_named(node)) <= MAX_PARAMETERS, f"{place} has {len(_named(node))} parameters"


def test_no_file_names_a_place_of_one_machine():
    import re

    pattern = re.compile(r"(?<![\w.])/(?:work|root|home/\w+|Users/\w+)/")
    hits = []
    for folder in ("src", "tests", "docs", "scripts", "examples", ".ci"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".md", ".toml", ".sh", ".json", ".html", ".js", ".css", ""} and path.is_file():
                text = path.read_text(errors="replace")
                hits += [f"{path.relative_to(ROOT)}: {found}" for found in pattern.findall(text)]
    assert not hits


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def test_a_lock_names_no_host_and_pins_everything(name):
    text = (ROOT / name).read_text()
    assert "://" not in text and "index" not in text.lower()
    pinned = [line for line in text.splitlines() if line and not line.startswith((" ", "#"))]
    assert pinned and all("==" in line for line in pinned)
    assert text.count("--hash=sha256:") >= len(pinned)
