"""The arena's own templates, without those that installed packages may add."""

from typing import Any

import pytest

from webassay.arena.kit.template import Template, templates_in
from webassay.core.registry import modules_of

TEMPLATES: tuple[type[Template], ...] = tuple(
    dict.fromkeys(one for module in modules_of("webassay.arena") for one in templates_in(module))
)


def sampled(*always: str) -> list[Any]:
    """The names of all templates: these in every run of the tests, the others with the slow ones."""
    names = sorted(template.name for template in TEMPLATES)
    return [pytest.param(name, marks=[] if name in always else [pytest.mark.slow], id=name) for name in names]
