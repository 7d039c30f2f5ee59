"""A judge's version is raised when its verdicts may change: each version is pinned to the source it depends on.

    python -m tests.contract.test_judge_versions     # writes the pins again

Comments, docstrings and formatting do not count, and neither does what a judge never imports.
"""

import ast
import hashlib
import importlib.util
import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from tests.support.judging_samples import BUILT_IN, JUDGES

PINS = Path(__file__).with_name("judge_versions.json")
PACKAGE = "webassay.judging"
CANNOT_MOVE_A_VERDICT = frozenset(("webassay.judging.plan",))
"""Every judge imports it, but only to say what judging would cost."""


def path_of(module: str) -> Path | None:
    spec = importlib.util.find_spec(module)
    return Path(spec.origin) if spec is not None and spec.origin else None


def imports_of(tree: ast.AST) -> Iterator[str]:
    """Modules of `judging` that are imported when this one runs; imports for type checking alone are not."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in {
            n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)
        }:
            continue
        if isinstance(node, ast.ImportFrom) and node.module and f"{node.module}.".startswith(f"{PACKAGE}."):
            named = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if is_module(name) else node.module for name in named)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if f"{alias.name}.".startswith(f"{PACKAGE}."))
        else:
            yield from imports_of(node)


def is_module(name: str) -> bool:
    parent = path_of(name.rpartition(".")[0])
    here = parent.parent / name.rpartition(".")[2] if parent and parent.name == "__init__.py" else None
    return here is not None and (here.with_suffix(".py").is_file() or (here / "__init__.py").is_file())


def modules_behind(module: str) -> list[str]:
    found, queue = set(), [module]
    while queue:
        name = queue.pop()
        path = path_of(name)
        if name not in found and name not in CANNOT_MOVE_A_VERDICT and path is not None:
            found.add(name)
            queue.extend(imports_of(ast.parse(path.read_text(encoding="utf-8"))))
    return sorted(found)


def normal_form(node: Any) -> Any:
    """The syntax tree as plain data: no positions, no bare strings (docstrings), nothing that only some versions of
    Python write down (empty fields, `type_params`)."""
    if isinstance(node, ast.AST):
        fields = {name: normal_form(value) for name, value in ast.iter_fields(node) if name not in ("ctx", "kind")}
        return [type(node).__name__, {name: value for name, value in fields.items() if value not in (None, [])}]
    if isinstance(node, list):
        return [normal_form(one) for one in node if not is_bare_string(one)]
    return repr(node) if isinstance(node, bytes | complex | type(...)) else node


def is_bare_string(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def source_hash(sources: dict[str, str]) -> str:
    forms = {name: normal_form(ast.parse(text)) for name, text in sources.items()}
    return "sha256:" + hashlib.sha256(json.dumps(forms, sort_keys=True).encode()).hexdigest()


def home_of(judge: Any) -> str:
    """Options are declared in the judge's own module."""
    return judge.options.__module__


@lru_cache
def pins() -> dict[str, Any]:
    made = {}
    for judge in map(JUDGES.get, BUILT_IN):
        behind = modules_behind(home_of(judge))
        sources = {name: path.read_text(encoding="utf-8") for name in behind if (path := path_of(name))}
        made[judge.name] = {"version": judge.version, "source": source_hash(sources), "modules": behind}
    return made


ADVICE = (
    "If a verdict of {name} can change, raise its `version`. "
    "Then write the pins again: python -m tests.contract.test_judge_versions"
)


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_source_of_a_judge_is_the_source_of_its_version(name):
    pinned, now = json.loads(PINS.read_text()).get(name), pins()[name]
    assert now == pinned, f"The source behind {name} changed. {ADVICE.format(name=name)}"


def test_no_pin_is_left_over():
    assert set(json.loads(PINS.read_text())) == set(BUILT_IN)


def test_a_judge_is_pinned_to_what_it_uses_and_nothing_else():
    known = {name: set(pin["modules"]) for name, pin in pins().items()}
    assert known["webvoyager"] == {
        f"{PACKAGE}.{name}"
        for name in ("case", "judges.base", "judges.webvoyager", "ledger", "parsers", "pictures", "prompts")
    }  # fmt: skip
    stages = ("record.findings", "universal.rubric", "universal.outcome", "universal.verify")
    assert {f"{PACKAGE}.{name}" for name in stages} <= known["universal"]
    assert f"{PACKAGE}.parsers" not in known["universal"]


SOURCE = '''
"""What it does."""
LIMIT: int = 3
"""Of something."""


def judge(text: str) -> bool:
    """Says so."""
    return "success" in text and len(text) > LIMIT  # why
'''


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ("# why", "# because", False),
        ("Says so.", "Says something else.", False),
        ('"""Of something."""', "", False),
        (' and len(text) > LIMIT', '\\\n        and (len(text) > LIMIT)', False),
        ('"success"', "'success'", False),
        ("LIMIT: int = 3", "LIMIT: int = 4", True),
        ("> LIMIT", ">= LIMIT", True),
        ('"success"', 'b"success"', True),
    ],
)  # fmt: skip
def test_only_what_can_change_a_verdict_counts(old, new, counts):
    changed = SOURCE.replace(old, new)
    assert changed != SOURCE
    assert (source_hash({"m": changed}) != source_hash({"m": SOURCE})) is counts


if __name__ == "__main__":
    PINS.write_text(json.dumps(pins(), indent=1) + "\n")
    print(f"{len(pins())} judges pinned in {PINS.name}")
