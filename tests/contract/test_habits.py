"""House rules that a machine can hold us to."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "webassay"
FILES = sorted(SOURCE.rglob("*.py"))

MAY_CATCH_ALL = {"core/errors.py"}
MAY_READ_ENVIRONMENT = {"llm/providers.py", "agents/cells/cell.py", "environments/live.py"}


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


MAX_FILE, MAX_LINES, MAX_PARAMETERS, MAX_COMMAND_BODY = 600, 60, 7, 30


def is_command(path: Path, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """The options of a command are its interface, so their number is not a smell."""
    return path.parent.name == "commands" and any(
        "Annotated" in ast.dump(arg) or _is_alias(arg) for arg in _named(function)
    )


def _named(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    given = function.args
    return [arg for arg in (*given.posonlyargs, *given.args, *given.kwonlyargs) if arg.arg not in ("self", "cls")]


def _is_alias(arg: ast.arg) -> bool:
    """`workers: Workers`: an alias of an annotated option."""
    name = ast.unparse(arg.annotation).rpartition(".")[2] if arg.annotation else ""
    return name in {"Out", "Workers", "Instances", "Runs", "Benchmark", "ModelName"}


def too_long(path: Path, node: ast.AST) -> Iterator[str]:
    """Functions stay short."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        lines, parameters = node.end_lineno - node.lineno + 1, len(_named(node))
        if is_command(path, node):
            first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
            if node.end_lineno - first.lineno >= MAX_COMMAND_BODY:
                yield f"{node.name}: a command parses, calls and prints"
        elif lines > MAX_LINES:
            yield f"{node.name} has {lines} lines"
        elif parameters > MAX_PARAMETERS:
            yield f"{node.name} has {parameters} parameters"


def too_broad(path: Path, node: ast.AST) -> Iterator[str]:
    """Whoever catches everything raises it again; cleaning up in between hides nothing."""
    if isinstance(node, ast.ExceptHandler) and name_of(path) not in MAY_CATCH_ALL:
        last = node.body[-1]
        names = {part.id for part in ast.walk(node.type) if isinstance(part, ast.Name)} if node.type else {""}
        if names & {"", "Exception", "BaseException"} and not (isinstance(last, ast.Raise) and last.exc is None):
            yield "catches everything"


def for_the_command_line(path: Path, node: ast.AST) -> Iterator[str]:
    """Only the command line prints, reads the environment or imports late."""
    if path.is_relative_to(SOURCE / "cli"):
        return
    called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    if called in {"print", "eval", "exec", "compile"}:
        yield f"calls {called}"
    read = node.attr if isinstance(node, ast.Attribute) else ""
    if read in {"environ", "getenv"} and name_of(path) not in MAY_READ_ENVIRONMENT:
        yield f"reads {read}"
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        for inner in ast.walk(node):
            if isinstance(inner, ast.ImportFrom) and (inner.module or "").startswith("webassay"):
                yield f"imports {inner.module} inside a function"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_module_keeps_the_house_rules(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MAX_FILE
    rules = (too_long, too_broad, for_the_command_line)
    assert not [
        f"{name_of(path)}:{node.lineno} {problem}"
        for node in ast.walk(ast.parse(text))
        for rule in rules
        for problem in rule(path, node)
    ]


def test_whoever_opens_a_run_is_told_what_is_damaged():
    """`store.runs.open_run` tells; a store that is opened past it would leave units out without a word."""
    rooms = ("compose", "faultbench", "study", "workbench", "doors", "cli")
    assert not [
        name_of(path) for room in rooms for path in (SOURCE / room).rglob("*.py") if "Store.open(" in path.read_text()
    ]


def test_no_file_names_a_place_of_one_machine():
    pattern = re.compile(r"(?<![\w.])/(?:work|root|home/\w+|Users/\w+)/")
    hits = []
    for folder in ("src", "tests", "docs", "scripts", "examples", ".ci"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".md", ".toml", ".sh", ".json", ".html", ".js", ".css", ""} and path.is_file():
                text = path.read_text(errors="replace")
                hits += [f"{path.relative_to(ROOT)}: {found}" for found in pattern.findall(text)]
    assert not hits


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-models.lock", "requirements-dev.lock"])
def test_a_lock_names_no_host_and_pins_everything(name):
    text = (ROOT / name).read_text()
    assert "://" not in text and "index" not in text.lower()
    pinned = [line for line in text.splitlines() if line and not line.startswith((" ", "#"))]
    assert pinned and all("==" in line for line in pinned)
    assert text.count("--hash=sha256:") >= len(pinned)
