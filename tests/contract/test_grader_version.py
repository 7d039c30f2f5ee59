"""The version of the rules is raised by hand, and this test keeps that honest.

Verdicts of two versions never share a leaderboard, so a reworded comment must not raise the version and a changed rule
must. The pin is a hash of the code alone: comments, docstrings, formatting and where a module stands do not count.

When it fails: raise `VERSION` in grading/grade.py if any verdict can change (and say so under "Grading changes" in the
changelog), then run `python -m tests.contract.test_grader_version`, which writes the pin again.
"""

import ast
import hashlib
import json
from pathlib import Path

import pytest

from webassay.grading.grade import VERSION

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "webassay"
PIN = Path(__file__).parent / "grader_version.json"
NOT_RULES = {"reference.py"}


def files() -> list[Path]:
    graders = [path for path in sorted((SOURCE / "grading").rglob("*.py")) if path.name not in NOT_RULES]
    # How a response is read, which status there is and which row counts is decided next to the records.
    core = [
        SOURCE / "core" / name
        for name in ("interaction.py", "legacy.py", "protocols.py", "served.py", "trajectory.py", "verdict.py")
    ]
    return [*sorted((SOURCE / "compare").glob("*.py")), *graders, *core]


def shape(node: object) -> object:
    """The syntax tree as plain data. Not `ast.dump`, whose output differs between versions of Python."""
    if isinstance(node, ast.JoinedStr):
        # Python 3.12 ends some of them with an empty text, which says nothing.
        return ["JoinedStr", [shape(part) for part in node.values if getattr(part, "value", None) != ""]]
    if isinstance(node, ast.AST):
        fields = {name: shape(value) for name, value in ast.iter_fields(node) if name != "kind"}
        return [type(node).__name__, {name: value for name, value in fields.items() if value not in (None, [])}]
    if isinstance(node, list):
        return [shape(one) for one in node if not is_prose(one) and not isinstance(one, ast.Import | ast.ImportFrom)]
    return node if node is None or isinstance(node, int | str) else repr(node)


def is_prose(node: object) -> bool:
    """A docstring, of a module, class, function or attribute."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def hash_of(sources: dict[str, str]) -> str:
    code = {name: shape(ast.parse(text)) for name, text in sources.items()}
    return hashlib.sha256(json.dumps(code, sort_keys=True).encode()).hexdigest()


def current() -> dict[str, str]:
    sources = {path.name: path.read_text(encoding="utf-8") for path in files()}
    return {"version": VERSION, "code": hash_of(sources)}


def test_the_version_was_reconsidered_when_the_rules_changed():
    assert current() == json.loads(PIN.read_text()), (
        "The rules changed. Raise VERSION in grading/grade.py if a verdict can change, "
        "then run `python -m tests.contract.test_grader_version`."
    )


@pytest.mark.parametrize(
    "reworded",
    [
        "def f(x):  # a comment\n    return x + 1\n",
        'def f(x):\n    """A docstring."""\n    return (x\n            + 1)\n',
        '"""A module."""\ndef f(x): return x + 1\n',
    ],
)
def test_prose_and_formatting_do_not_count(reworded):
    assert hash_of({"a.py": reworded}) == hash_of({"a.py": "def f(x):\n    return x + 1\n"})


@pytest.mark.parametrize(
    "changed", ["def f(x):\n    return x + 2\n", "def f(x):\n    return x - 1\n", "def g(x):\n    return x + 1\n"]
)
def test_code_counts(changed):
    assert hash_of({"a.py": changed}) != hash_of({"a.py": "def f(x):\n    return x + 1\n"})


if __name__ == "__main__":
    PIN.write_text(json.dumps(current(), indent=2) + "\n")
