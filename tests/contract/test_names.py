"""Names and English: what a native engineer would expect to read, as far as a machine can tell."""

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "webassay"
FILES = sorted(SOURCE.rglob("*.py"))
PROSE = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]

BRITISH = re.compile(
    r"\b("
    r"(?:mis)?behaviour\w*|colour\w*|favour\w*|neighbour\w*|honour\w*|labour\w*|flavour\w*|"
    r"armour\w*|rumour\w*|recognis\w*|organis\w*|normalis\w*|serialis\w*|summaris\w*|initialis\w*|minimis\w*|optimis\w*|"
    r"maximis\w*|capitalis\w*|randomis\w*|parametris\w*|authoris\w*|customis\w*|generalis\w*|memoris\w*|utilis\w*|visualis\w*|"
    r"synchronis\w*|standardis\w*|apologis\w*|analys(?:e|ed|ing)|catalogues?|dialogues?|centre[sd]?|licence[sd]?|"
    r"label(?:led|ling)|cancell(?:ed|ing)|model(?:led|ling)|travel(?:led|ling)|metres?|grey\w*|whilst|judgement\w*|"
    r"cheques?|jewellery|fulfil|enrol|programme[sd]?|artefacts?|ageing|unlabelled|signalled|signalling|tunnelled"
    r")\b",
    re.IGNORECASE,
)
NOT_OURS = re.compile(r"\.cancell(?:ed|ing)\(\)")
"""How asyncio spells its own methods."""
DATA = {
    "src/webassay/compare/quantities.py": {"metre"},
    "src/webassay/compare/text.py": {"centre"},
}
"""Words that a file reads, not ours to spell."""
MAX_MODULES = 26


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def classes() -> dict[str, list[str]]:
    """Every class that others can name, and where it stands."""
    found = defaultdict(list)
    for path in FILES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(name_of(path))
    return found


def test_no_class_name_stands_twice():
    assert not {name: places for name, places in classes().items() if len(places) > 1}


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Also the strings below fields and constants."""
    for node in ast.walk(tree):
        for one in getattr(node, "body", ()) if not isinstance(node, ast.Lambda | ast.IfExp) else ():
            if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str):
                yield one.lineno, one.value.value


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_docstring_begins_with_of(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not [line for line, text in docstrings(tree) if text.lstrip().startswith("Of ")]


def prose(path: Path) -> str:
    """What is ours to spell. What a page of a site says and what its data is drawn by are fixed by content hashes: of
    a site's code only names, comments and docstrings count."""
    text = path.read_text(encoding="utf-8")
    if path.is_relative_to(SOURCE / "sites"):
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        words = [token.string for token in tokens if token.type in (tokenize.NAME, tokenize.COMMENT)]
        text = "\n".join([*words, *(docstring for _, docstring in docstrings(ast.parse(text)))])
    if path.name == "names.md" and path.parent.name == "reference":
        text = "\n".join(line for line in text.splitlines() if not line.startswith("| `shop` |"))
    return NOT_OURS.sub("", text)


@pytest.mark.parametrize("path", [*FILES, *PROSE], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_spelling_is_american(path):
    spelled = {word.group(0) for word in BRITISH.finditer(prose(path))}
    assert not sorted(spelled - DATA.get(path.relative_to(ROOT).as_posix(), set()))


def test_no_folder_is_a_heap():
    heaps = {}
    for folder in {path.parent for path in FILES}:
        modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
        if len(modules) > MAX_MODULES:
            heaps[folder.relative_to(SOURCE).as_posix()] = len(modules)
    assert not heaps
