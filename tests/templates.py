"""The arena's own templates, without those that installed packages may add."""

from webassay.benchmarks.arena.template import Template, templates_in
from webassay.registry import modules_of

TEMPLATES: tuple[type[Template], ...] = tuple(
    dict.fromkeys(one for module in modules_of("webassay.benchmarks.arena") for one in templates_in(module))
)
