"""Documentation that can be generated is not stale, and links lead somewhere."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def generator():
    spec = importlib.util.spec_from_file_location("generate_docs", ROOT / "scripts" / "generate_docs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_what_the_code_says():
    for path, text in generator().rendered().items():
        assert path.exists(), f"{path.name} is missing: run `make docs`"
        assert path.read_text() == text, f"{path.name} is stale: run `make docs`"


PAGES = [path for folder in ("", "docs", "docs/decisions", "docs/reference") for path in (ROOT / folder).glob("*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_make_target_that_the_docs_name_exists():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.M))
    for page in PAGES:
        named = set(re.findall(r"`make ([a-z-]+)`", page.read_text()))
        assert named <= targets, f"{page.name}: {named - targets}"


def test_every_test_that_the_docs_name_exists():
    named = {found for page in PAGES for found in re.findall(r"(tests/[\w/]+\.py)::(\w+)", page.read_text())}
    assert named
    for place, name in sorted(named):
        assert f"def {name}(" in (ROOT / place).read_text(), f"{place}::{name}"
